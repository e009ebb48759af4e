"""The agreement of one task, as the report asks for it: rows by measure and convention, and measures in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibration.variants import Fit, Role
from study_app.report.figures import scatter
from study_app.report.folder import Material
from study_app.report.page import Figure
from study_app.report.wording import counted, percent, points, points_interval, quantity

FAIR_FITS = (Fit.CROSS_FITTED, Fit.OTHER_DATA)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskResult:
    """What was found for one task.

    Attributes
    ----------
    task : str
        Its name.
    rows : DataFrame
        Rows of agreement.csv with exclusions applied.
    unexcluded : DataFrame
        Its rows with excluded workers counted; empty where nobody was excluded.
    comparisons, curve, pairs : DataFrame
        Rows of the other tables; empty where there are none.
    """

    task: str
    rows: pd.DataFrame
    unexcluded: pd.DataFrame
    comparisons: pd.DataFrame
    curve: pd.DataFrame
    pairs: pd.DataFrame

    @property
    def measures(self) -> list[str]:
        """Every measure, in the order of the table."""
        return list(dict.fromkeys(self.rows["measure"].tolist()))

    @property
    def main(self) -> str:
        """The measure that the others are compared with."""
        return self.measures[0]

    @property
    def fitted(self) -> str | None:
        """The measure at a fitted patience that may fairly be shown: from preferences, else from stops."""
        fair = self.rows[
            (self.rows["role"] == Role.FITTED)
            & self.rows["fit"].isin(FAIR_FITS)
            & self.rows["measure"].str.startswith(("M@preferences", "M@stops"))
        ]
        return str(fair["measure"].iloc[0]) if len(fair) else None

    def row(self, measure: str, ties: str = "against") -> "pd.Series[object]":
        """Return one row of agreement."""
        return self.rows[(self.rows["measure"] == measure) & (self.rows["ties"] == ties)].iloc[0]

    def comparison(self, measure: str) -> "pd.Series[object] | None":
        """Return the comparison of a measure with the main one, None where there is none."""
        if self.comparisons.empty:
            return None
        found = self.comparisons[self.comparisons["measure"] == measure]
        return found.iloc[0] if len(found) else None

    def in_words(self, measure: str) -> str:
        """Say what a measure is."""
        row = self.row(measure)
        patience = row["patience_chars"]
        if row["role"] == Role.SCORES:
            return measure
        if row["role"] == Role.FITTED and not measure.endswith("fitted P"):
            source = {
                "M@preferences": "fitted to the preferences",
                "M@stops": "fitted to how far people read",
                "M@grid": "of highest agreement",
            }[measure.removesuffix(" in sample")]
            return f"M at the patience {source} ({quantity(float(patience))} characters)"
        words = measure.partition(" ")[2]
        part = {
            "": "",
            "first layer only": ", first layer only",
            "second layers only": ", second layers only",
            "uniform P": ", every intent equally probable",
            "fitted P": ", intents as voted by these workers",
        }[words]
        return f"M at the paper’s patience ({quantity(float(patience))} characters){part}"


def task_results(material: Material) -> Iterator[TaskResult]:
    """Yield what was found for each task, in the order of agreement.csv."""
    if material.agreement is None:
        return
    for task, rows in material.agreement.groupby("task", sort=False):
        applied = rows["exclusions"] == "applied"
        yield TaskResult(
            task=str(task),
            rows=rows[applied],
            unexcluded=rows[~applied],
            comparisons=_of_task(material.comparisons, task),
            curve=_of_task(material.curve, task),
            pairs=_of_task(material.pairs, task),
        )


def scatters(result: TaskResult, measures: Sequence[str], key: str) -> Iterator[Figure]:
    """Yield the scatter of the paper's Fig. 3 for each measure whose differences stand in pairs.csv."""
    for number, measure in enumerate(measures):
        difference = _differences(result, measure)
        if difference is None:
            continue
        row, comparison = result.row(measure), result.comparison(measure)
        change = ""
        if comparison is not None and measure != result.main:
            interval = points_interval(comparison["low"], comparison["high"])
            change = f" ({points(comparison['difference'])}; {interval})"
        yield Figure(
            title=f"{measure}: {percent(row['agreement'])}{change}",
            svg=scatter(
                difference,
                result.pairs["vote_share"].to_numpy(np.float64),
                key=f"{key}-scatter-{number}",
                measure="M" if row["role"] != Role.SCORES else "score",
            ),
            alt=(
                f"Vote share against score difference for {counted(row['pairs'], 'pair')} under {measure}:"
                f" {percent(row['agreement'])} lie in the quadrants of agreement, {row['tied_pairs']} are tied."
            ),
            caption=f"{result.in_words(measure)}.",
        )


def _differences(result: TaskResult, measure: str) -> NDArray[np.float64] | None:
    """Return the score difference of every pair under a measure, None where pairs.csv lacks it."""
    column = f"difference {measure}"
    if column not in result.pairs.columns or result.pairs[column].isna().any():
        return None
    return np.asarray(result.pairs[column], dtype=np.float64)


def _of_task(frame: pd.DataFrame | None, task: object) -> pd.DataFrame:
    return pd.DataFrame() if frame is None else frame[frame["task"] == task]
