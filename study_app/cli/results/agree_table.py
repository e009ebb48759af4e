"""The table that `prefcal agree` prints for people."""

import math
from collections.abc import Iterable

import pandas as pd

from calibration.agree.study import AgreementTables
from calibration.agree.too_few import tells
from study_app.cli.output import table_text

CONVENTIONS = ("against", "half", "drop", "weighted")
HEADS = {
    "primary": "Primary comparison, as planned",
    "family": "Comparisons",
    "exploratory": "Exploratory comparisons",
}


def agreement_text(found: AgreementTables) -> str:
    """Put the agreement of every task into tables, with the sentences that they need."""
    parts: list[str] = []
    for task, rows in found.agreement.groupby("task", sort=False):
        comparisons = found.comparisons
        of_task = comparisons[comparisons["task"] == task] if len(comparisons) else comparisons
        parts.append("\n".join(_task_lines(str(task), rows, of_task)))
    return "\n\n".join(parts) + "\n"


def number(value: float, digits: int = 3) -> str:
    """Print a number, a dash where it is undefined."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def p_value(p: float) -> str:
    """Print a p value, never as zero."""
    return "<0.001" if p < 0.001 else number(p)


def interval(low: float, high: float) -> str:
    """Print an interval, a dash where it is undefined."""
    return "-" if math.isnan(low) else f"[{low:.3f}, {high:.3f}]"


def _task_lines(task: str, rows: pd.DataFrame, comparisons: pd.DataFrame) -> Iterable[str]:
    counted = rows[rows["exclusions"] == "applied"]
    everybody = rows[rows["exclusions"] == "none"]
    first = counted.iloc[0]
    seconds = first["mean_decision_seconds"]
    decided = "" if math.isnan(seconds) else f", {seconds:.1f} s a decision"
    yield (
        f"Task {task} ({first['language']}): {first['judgments']} judgments by {first['workers']} workers on"
        f" {first['pairs']} pairs of {_queries(int(first['queries']))}{decided}"
    )
    yield ""
    columns = ["measure", "fit", "agreement", "95 %", *CONVENTIONS[1:], "equal scores"]
    drawn = counted["draws"].notna().any()
    columns += ["draws"] if drawn else []
    columns += ["with excluded"] if len(everybody) else []
    rows_shown = _measure_rows(counted, everybody, drawn=drawn)
    yield table_text(columns, [*rows_shown, *_ceiling_rows(counted, columns)])
    yield (
        "agreement counts every tie against the measure, as the paper does;"
        f" {first['vote_ties']} of {first['pairs']} pairs are tied in the votes. Intervals are over queries."
    )
    if not tells(first):
        yield "Too few pairs with a majority, or queries, to say anything by; the ceiling of so few is none either."
    if counted["low"].isna().any() or (len(comparisons) and comparisons["low"].isna().any()):
        yield "-: no interval, since all queries are alike or there is only one; too few to say, not certainty."
    if drawn:
        count = int(counted["draws"].max())
        yield f"draws: 95 % of the agreements when the fitted parameters are drawn anew ({count} times)."
    if counted["converted"].any():
        yield "(converted): judged for another kind of collection; shown for comparison only."
    if len(everybody):
        yield (
            f"with excluded: the agreement when excluded workers count too ({everybody.iloc[0]['workers']} in all)."
        )
    yield from _comparison_lines(comparisons)


def _queries(number: int) -> str:
    return "1 query" if number == 1 else f"{number} queries"


def _measure_rows(rows: pd.DataFrame, everybody: pd.DataFrame, *, drawn: bool) -> Iterable[list[str]]:
    with_excluded = everybody[everybody["ties"] == "against"].set_index("measure")["agreement"]
    for (measure, fit), of_measure in rows.groupby(["measure", "fit"], sort=False):
        by_ties = of_measure.set_index("ties")
        against = by_ties.loc["against"]
        yield [
            str(measure),
            str(fit).replace("_", " "),
            number(against["agreement"]),
            interval(against["low"], against["high"]),
            *(number(by_ties.loc[ties, "agreement"]) for ties in CONVENTIONS[1:]),
            str(against["metric_ties"]),
            *([interval(against["draw_low"], against["draw_high"])] if drawn else []),
            *([number(with_excluded[measure])] if len(with_excluded) else []),
        ]


def _ceiling_rows(rows: pd.DataFrame, columns: list[str]) -> Iterable[list[str]]:
    by_ties = rows[rows["measure"] == rows["measure"].iloc[0]].set_index("ties")
    against = by_ties.loc["against"]
    for name, column in (("a second panel", "ceiling"), ("a perfect measure", "perfect")):
        cells = [
            f"ceiling: {name}",
            "",
            number(against[column]),
            interval(against[f"{column}_low"], against[f"{column}_high"]),
            *(number(by_ties.loc[ties, column]) for ties in CONVENTIONS[1:]),
        ]
        yield cells + [""] * (len(columns) - len(cells))


def _comparison_lines(comparisons: pd.DataFrame) -> Iterable[str]:
    """Yield a table for each standing, the primary comparison first."""
    for standing, rows in comparisons.groupby("standing", sort=False) if len(comparisons) else ():
        yield ""
        yield f"{HEADS[str(standing)]} (paired by query{_correction(rows)}):"
        yield ""
        yield table_text(
            ["measure", "against", "difference", "95 %", "p", "p sign flips", "detectable"],
            [
                [
                    row.measure,
                    row.against,
                    f"{row.difference:+.3f}",
                    interval(row.low, row.high),
                    p_value(row.p_holm),
                    p_value(row.p_sign_flip),
                    number(row.minimum_detectable),
                ]
                for row in rows.itertuples()
            ],
        ).rstrip("\n")
    if len(comparisons):
        yield "detectable: the smallest true difference that four of five such studies would find."


def _correction(rows: pd.DataFrame) -> str:
    """Say how p was corrected."""
    if len(rows) == 1:
        return ""
    if rows["p_holm"].notna().any():
        return "; p corrected by Holm"
    if rows["p_t"].isna().all():
        return ", without variation between queries, so without p"
    return ", none of the family, so without p"
