"""Printed numbers of people that a judge assists, beside those of people alone."""

import math
from collections.abc import Iterator

import pandas as pd

from calibration.judges.assist import MEANING
from study_app.cli.output import table_text, wrapped
from study_app.cli.results.agree_table import percent, percent_range

MAX_DIFFERENCES = 10
"""Differences that are printed; the file has all."""


def assisted_lines(rows: pd.DataFrame, name: str, *, level: float = 0.95, file: str) -> Iterator[str]:
    """Yield a sentence, a table and how to read it.

    Parameters
    ----------
    rows : DataFrame
        Rows of one task, as `calibration.judges.assist` names their columns.
    name : str
        Column that says what a number is of.
    level : float
        Of the intervals.
    file : str
        The file that has all of it.
    """
    if rows.empty:
        return
    first = rows.iloc[0]
    yield wrapped(
        f"Assisted by {first['judge']}: people's votes on {first['pairs_people']:,} pairs of {first['topics_people']:,} topics, its verdicts on"
        f" {first['pairs_judge']:,} pairs of {first['topics_judge']:,} topics."
    )
    yield ""
    is_single = rows["against"].isna() | (rows["against"] == "")
    shown = pd.concat([rows[is_single], rows[~is_single].head(MAX_DIFFERENCES)])
    share = f"{100 * level:.4g} %"
    yield table_text(
        [name, "people alone", share, "assisted", share, "width", "weight"],
        [_cells(row, name) for _, row in shown.iterrows()],
    ).rstrip("\n")
    yield ""
    more = len(rows) - len(shown)
    yield wrapped(
        f"{MEANING} width: how much wider (+) or narrower (-) the interval is; weight: how far the judge is followed, from 0 to 1."
        f"{f' {more:,} more differences' if more else ' All of it'}: {file}."
    )


def _cells(row: "pd.Series[object]", name: str) -> list[str]:
    def number(key: str) -> float:
        return float(str(row[key]))

    against = row["against"]
    label = f"{row[name]} less {against}" if isinstance(against, str) and against else str(row[name])
    ratio = number("width_ratio")
    return [
        label,
        percent(number("people")),
        percent_range(number("people_low"), number("people_high")),
        percent(number("estimate")),
        percent_range(number("low"), number("high")),
        "none"
        if math.isnan(ratio)
        else f"{100 * (ratio - 1):+.1f} %".replace("+0.0", "0.0").replace("-0.0", "0.0"),
        f"{number('weight'):.2f}",
    ]
