"""Agreement of one task: rows by measure and convention, and names in words."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import pandas as pd

from calibration.agree.measures.variants import ParameterOrigin, VariantRole
from calibration.agree.result import (
    ComparisonBasis,
    NamedComparisons,
    comparable_rows,
    extreme_measures,
    judged_things,
    leading_ties,
    wanted_by_study,
    without_constant,
)
from metrics.agreement.agreement import Ties
from study_app.report.folder import ReportInputs
from study_app.report.page import pluralise, quantity

FAIR_FITS = (ParameterOrigin.CROSS_FITTED, ParameterOrigin.OTHER_DATA)
SUMMARIES, RANKED = "summaries", "ranked"
STREAM_FAMILIES = ("push", "updates", "msu")
PREFERRED = ("M@preferences", "M@stops")
"""Fitted measures that are shown before others."""
SOURCES = {
    "M@preferences": "fitted to the preferences",
    "M@stops": "fitted to how far people read",
    "M@grid": "of highest agreement",
}
PLACES = {"study_file": "in the study file", "analysis": "at analysis"}
"""Words for where a comparison was named, by column ``named``.

Other comparisons were made by default, or their origin is unknown.
"""
PARTS = {
    "": "",
    "first layer only": ", first layer only",
    "second layers only": ", second layers only",
    "uniform P": ", every intent equally probable",
    "fitted P": ", intents as voted by these workers",
}
Row: TypeAlias = "pd.Series[object]"
MIN_BAND_QUERIES = 5
"""Fewest queries for a band of a curve.

With fewer, a band is narrow wherever these happen to be alike.
"""
MIN_RANKED_SYSTEMS = 6
"""Fewest systems for a meaningful rank correlation.

With four, one order in 24 is equal by chance.
"""
TOO_FEW = "too few to say"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskResult:
    """Agreement results of one task.

    Attributes
    ----------
    task : str
        Its name.
    rows : DataFrame
        Rows of agreement.csv with exclusions applied.
    unexcluded : DataFrame
        Its rows with excluded workers counted; empty where nobody was excluded.
    comparisons : DataFrame
        Those by majorities.
    curve, pairs, disagreements : DataFrame
        Rows of the other tables; empty where there are none.
    wanted : Wanted
        Which comparisons were named, by the measures' names.
    """

    task: str
    rows: pd.DataFrame
    unexcluded: pd.DataFrame
    comparisons: pd.DataFrame
    curve: pd.DataFrame
    pairs: pd.DataFrame
    disagreements: pd.DataFrame
    wanted: NamedComparisons = field(default_factory=NamedComparisons)

    @property
    def measures(self) -> list[str]:
        """Every measure, in the order of the table."""
        return list(dict.fromkeys(self.rows["measure"].tolist()))

    @property
    def topics_counted(self) -> str:
        """Number of queries or topics in words, as in `8 queries`.

        Topics are counted where no queries were asked.
        """
        row = self.row(self.main)
        words = ("topic", "topics") if row["family"] in STREAM_FAMILIES else ("query", "queries")
        return pluralise(row["queries"], *words)

    @property
    def main(self) -> str:
        """First measure of the table, which stands for all where all are equal."""
        return self.measures[0]

    @property
    def named(self) -> str | None:
        """The first measure that the study names; None where it names none."""
        return next((name for name in self.wanted.names if name in self.measures), None)

    @property
    def primary_measure(self) -> str:
        """The measure that is shown first: the one named, else that of highest agreement."""
        return self.named or next(iter(self.best), self.main)

    @property
    def ties(self) -> Ties:
        """The convention for ties that leads."""
        return leading_ties(self.rows)

    @property
    def things(self) -> tuple[str, str]:
        """Noun of the judged things, singular and plural: systems, or items."""
        return judged_things(self.pairs) if len(self.pairs) else ("system", "systems")

    @property
    def ceiling_is_of_fewer(self) -> bool:
        """True if the ceilings are of fewer pairs than the agreements."""
        row = self.row(self.main)
        return not row["no_ceiling"] and int(row["pairs_there"]) < int(row["pairs"])

    @property
    def named_comparisons(self) -> list[Row]:
        """Named comparisons, the primary first, seen from `asked` where it takes part."""
        if self.comparisons.empty:
            return []
        rows = self.comparisons[self.comparisons["named"].isin(PLACES)]
        return [_turned(row) if row["against"] == self.primary_measure else row for _, row in rows.iterrows()]

    @property
    def fitted(self) -> str | None:
        """Measure with fitted parameters, fairly comparable with the main one, or None."""
        fair = self.rows[
            (self.rows["role"] == VariantRole.FITTED)
            & self.rows["fit"].isin(FAIR_FITS)
            & (self.rows["family"] == self.row(self.main)["family"])
            & ~self.rows["measure"].str.endswith("fitted P")
        ]
        if fair.empty:
            return None
        names: list[str] = fair["measure"].tolist()
        return next((name for name in names if name.startswith(PREFERRED)), names[0])

    @property
    def of_two(self) -> str:
        """Description of what the ceilings compare: two people, or two votes.

        It is votes where the voters are unknown.
        """
        is_known = not pd.isna(self.row(self.main)["workers"])
        return "the votes of two people or more" if is_known else "two votes or more"

    @property
    def fair(self) -> pd.DataFrame:
        """Rows of the measures that an answer may name, the highest first."""
        return comparable_rows(self.rows)

    @property
    def best(self) -> list[str]:
        """Those of highest agreement; several if equal."""
        return extreme_measures(self.fair)

    def row(self, measure: str, ties: str | None = None) -> Row:
        """Return one row of agreement, by default under the leading convention for ties."""
        ties = ties or self.ties
        rows = self.rows[(self.rows["measure"] == measure) & (self.rows["ties"] == ties)]
        return without_constant(rows).iloc[0]

    def comparison(self, measure: str, against: str | None = None) -> "Row | None":
        """Return the comparison of a measure with another, or None.

        The default is the main measure.

        Where the study compared the other one with the measure, the signs are turned.
        """
        if self.comparisons.empty:
            return None
        against = against or self.main
        first, second = self.comparisons["measure"], self.comparisons["against"]
        rows = self.comparisons[(first == measure) & (second == against)]
        if len(rows):
            return rows.iloc[0]
        rows = self.comparisons[(first == against) & (second == measure)]
        return _turned(rows.iloc[0]) if len(rows) else None

    def in_words(self, measure: str) -> str:
        """Describe a measure; its name where there is nothing to add."""
        row = self.row(measure)
        if row["family"] != SUMMARIES or pd.isna(row["patience_chars"]):
            return measure
        chars = f"({quantity(float(row['patience_chars']))} characters)"
        source = SOURCES.get(measure.removesuffix(" in sample"))
        if source is not None:
            return f"M at the patience {source} {chars}"
        part = PARTS.get(measure.partition(" ")[2])
        whose = "a patience that was named" if row["role"] == VariantRole.NAMED else "the paper’s patience"
        return measure if part is None else f"M at {whose} {chars}{part}"


def task_results(material: ReportInputs) -> Iterator[TaskResult]:
    """Yield what was found for each task, in the order of agreement.csv."""
    if material.agreement is None:
        return
    for task, rows in material.agreement.groupby("task", sort=False):
        applied = rows["exclusions"] == "applied"
        named = material.record.get("named", {}).get(str(task), {})
        compared = _of_task(material.comparisons, task)
        yield TaskResult(
            task=str(task),
            rows=rows[applied],
            unexcluded=rows[~applied],
            comparisons=compared[compared["by"] == ComparisonBasis.MAJORITY]
            if "by" in compared
            else compared,
            curve=_of_task(material.curve, task),
            pairs=_of_task(material.pairs, task),
            disagreements=_of_task(material.disagreements, task),
            wanted=replace(wanted_by_study(named), at_analysis=bool(named.get("at_analysis"))),
        )


def _turned(row: Row) -> Row:
    """Return a comparison the other way round."""
    turned = row.copy()
    turned["measure"], turned["against"] = row["against"], row["measure"]
    turned["difference"], turned["low"], turned["high"] = (-row[end] for end in ("difference", "high", "low"))
    return turned


def _of_task(frame: pd.DataFrame | None, task: object) -> pd.DataFrame:
    return pd.DataFrame() if frame is None else frame[frame["task"] == task]


def over_few(systems: int) -> str:
    """Return the remark on a rank correlation over too few systems, or nothing."""
    return f" ({pluralise(systems, 'system')}, {TOO_FEW})" if systems < MIN_RANKED_SYSTEMS else ""
