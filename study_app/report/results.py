"""The agreement of one task, as the report asks for it: rows by measure and convention, measures and findings in words.

What the numbers allow to say, from how many pairs, queries and systems on, stands here too (`finding`, `ranked_alike`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from calibration.agree.measures.variants import Fit, Role
from calibration.agree.result import (
    By,
    Wanted,
    decided,
    judged_things,
    leading_ties,
    tells,
    wanted_by_study,
)
from metrics.agreement.agreement import Ties
from metrics.arrays import Floats
from study_app.report.drawing.figures import MOST_SIGNS, scatter
from study_app.report.folder import ReportMaterial
from study_app.report.page import (
    Figure,
    counted,
    decimal,
    percent,
    percent_interval,
    points,
    points_interval,
    quantity,
)

FAIR_FITS = (Fit.CROSS_FITTED, Fit.OTHER_DATA)
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
"""Column ``named`` of comparisons.csv -> where that is; others were made by default, or nobody knows."""
NOTHING_NAMED = Wanted()
SIGNS = (
    "Each sign is a pair of systems for one query. Circles: measure and majority prefer the same system (shaded"
    " quadrants). Triangles: they prefer different ones. Crosses: equal scores or an equal vote. Differences and votes are"
    " of the first of the two systems by name."
)
COUNTED = (
    "Cells count the pairs of {plural}: the darker, the more, on a logarithmic scale. Measure and"
    " majority prefer the same one in the shaded quadrants. Differences and votes are of the first of the two by name."
)
PARTS = {
    "": "",
    "first layer only": ", first layer only",
    "second layers only": ", second layers only",
    "uniform P": ", every intent equally probable",
    "fitted P": ", intents as voted by these workers",
}
Row: TypeAlias = "pd.Series[object]"
FEWEST_FOR_BAND = 5
"""Queries from which a curve has a band: from fewer, it is narrow wherever these few happen to be alike."""
FEWEST_RANKED = 6
"""Systems from which a rank correlation is put into words: of four, one in 24 orders is the very same by chance."""
HATCHED = "Hatched: from the agreement of a second panel to that of a perfect measure."
"""How a figure with a ceiling is read."""
TOO_FEW = "too few to say"


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
    comparisons : DataFrame
        Those by majorities.
    curve, pairs, disagreements : DataFrame
        Rows of the other tables; empty where there are none.
    wanted : Wanted
        Which comparisons were named, by the measures' names.
    by_votes : DataFrame
        The same comparisons by votes, no majority taken.
    """

    task: str
    rows: pd.DataFrame
    unexcluded: pd.DataFrame
    comparisons: pd.DataFrame
    curve: pd.DataFrame
    pairs: pd.DataFrame
    disagreements: pd.DataFrame
    wanted: Wanted = NOTHING_NAMED
    by_votes: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def measures(self) -> list[str]:
        """Every measure, in the order of the table."""
        return list(dict.fromkeys(self.rows["measure"].tolist()))

    @property
    def topics_counted(self) -> str:
        """`8 queries`, or `8 topics` where nobody asked anything."""
        row = self.row(self.main)
        words = ("topic", "topics") if row["family"] in STREAM_FAMILIES else ("query", "queries")
        return counted(row["queries"], *words)

    @property
    def main(self) -> str:
        """The first measure of the table, which stands for the task where every measure has the same numbers."""
        return self.measures[0]

    @property
    def named(self) -> str | None:
        """The first measure that the study names; None where it names none."""
        return next((name for name in self.wanted.names if name in self.measures), None)

    @property
    def asked(self) -> str:
        """The measure that is shown first: the one named, else that of highest agreement."""
        return self.named or next(iter(self.best), self.main)

    @property
    def ties(self) -> Ties:
        """The convention for ties that leads."""
        return leading_ties(self.rows)

    @property
    def things(self) -> tuple[str, str]:
        """What pairs are of, singular and plural: systems, or items of a topic."""
        return judged_things(self.pairs) if len(self.pairs) else ("system", "systems")

    @property
    def ceiling_is_of_fewer(self) -> bool:
        """Whether the ceilings are of fewer pairs than the agreements."""
        row = self.row(self.main)
        return not row["no_ceiling"] and int(row["pairs_there"]) < int(row["pairs"])

    @property
    def named_comparisons(self) -> list[Row]:
        """The comparisons that were named, the primary one first, from the view of `asked` where it is in them."""
        if self.comparisons.empty:
            return []
        rows = self.comparisons[self.comparisons["named"].isin(PLACES)]
        return [_turned(row) if row["against"] == self.asked else row for _, row in rows.iterrows()]

    @property
    def fitted(self) -> str | None:
        """The measure with fitted parameters that may fairly be shown beside the main one; None without one."""
        fair = self.rows[
            (self.rows["role"] == Role.FITTED)
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
        """What the pairs of the ceilings have: votes of two people, or two votes where nobody knows whose they are."""
        is_known = not pd.isna(self.row(self.main)["workers"])
        return "the votes of two people or more" if is_known else "two votes or more"

    @property
    def best(self) -> list[str]:
        """The measures of highest agreement, those fitted in sample left out; several where they are equal."""
        fair = self.rows[(self.rows["ties"] == self.ties) & (self.rows["fit"] != Fit.IN_SAMPLE)]
        return list(fair[fair["agreement"] == fair["agreement"].max()]["measure"])

    @property
    def worst(self) -> str:
        """The measure of lowest agreement, those fitted in sample left out."""
        fair = self.rows[(self.rows["ties"] == self.ties) & (self.rows["fit"] != Fit.IN_SAMPLE)]
        return str(fair.sort_values("agreement", kind="stable")["measure"].iloc[0])

    @property
    def fair_measures(self) -> list[str]:
        """The measures that were not fitted in sample."""
        return list(dict.fromkeys(self.rows[self.rows["fit"] != Fit.IN_SAMPLE]["measure"].tolist()))

    def row(self, measure: str, ties: str | None = None) -> Row:
        """Return one row of agreement, by default under the leading convention for ties."""
        ties = ties or self.ties
        return self.rows[(self.rows["measure"] == measure) & (self.rows["ties"] == ties)].iloc[0]

    def comparison(self, measure: str, against: str | None = None) -> "Row | None":
        """Return the comparison of a measure with another, by default the main one; None where there is none.

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
        """Say what a measure is; its name where there is nothing to add."""
        row = self.row(measure)
        if row["family"] != SUMMARIES or pd.isna(row["patience_chars"]):
            return measure
        chars = f"({quantity(float(row['patience_chars']))} characters)"
        source = SOURCES.get(measure.removesuffix(" in sample"))
        if source is not None:
            return f"M at the patience {source} {chars}"
        part = PARTS.get(measure.partition(" ")[2])
        whose = "a patience that was named" if row["role"] == Role.NAMED else "the paper’s patience"
        return measure if part is None else f"M at {whose} {chars}{part}"


def task_results(material: ReportMaterial) -> Iterator[TaskResult]:
    """Yield what was found for each task, in the order of agreement.csv."""
    if material.agreement is None:
        return
    for task, rows in material.agreement.groupby("task", sort=False):
        applied = rows["exclusions"] == "applied"
        compared = _of_task(material.comparisons, task)
        votes = compared[compared["by"] != By.MAJORITY] if "by" in compared else pd.DataFrame()
        yield TaskResult(
            task=str(task),
            rows=rows[applied],
            unexcluded=rows[~applied],
            comparisons=compared.drop(votes.index),
            curve=_of_task(material.curve, task),
            pairs=_of_task(material.pairs, task),
            disagreements=_of_task(material.disagreements, task),
            wanted=_wanted(material.record, str(task)),
            by_votes=votes,
        )


def _wanted(record: Mapping[str, Any], task: str) -> Wanted:
    """Return which comparisons of a task agree.json says were named."""
    named = record.get("named", {}).get(task, {})
    return replace(wanted_by_study(named), at_analysis=bool(named.get("at_analysis")))


def scatters(
    result: TaskResult, measures: Sequence[str], key: str, against: str | None = None
) -> Iterator[Figure]:
    """Yield the scatter of the paper's Fig. 3 for each measure whose differences stand in pairs.csv; the first explains signs.

    Titles have the difference from the measure ``against``, by default the main one, where it was compared.
    """
    against, signs = against or result.main, SIGNS
    for number, measure in enumerate(measures, start=1):
        difference = _differences(result, measure)
        if difference is None:
            continue
        row, comparison = result.row(measure), result.comparison(measure, against)
        change = ""
        if comparison is not None and not math.isnan(comparison["difference"]):
            interval = points_interval(comparison["low"], comparison["high"])
            change = f" ({points(comparison['difference'])} against {against}; {interval})"
        yield Figure(
            name=f"{key}-pairs-{number}",
            title=f"{measure}: {percent(row['agreement'])}{change}",
            draw=partial(
                scatter,
                difference=difference,
                share=result.pairs["vote_share"].to_numpy(np.float64),
                measure="M" if row["family"] == SUMMARIES else measure,
                thing=result.things[0],
            ),
            alt=(
                f"Vote share against score difference for {counted(row['pairs'], 'pair')} under {measure}:"
                f" {percent(row['agreement'])} lie in the quadrants of agreement, {row['tied_pairs']}"
                f" {'is' if row['tied_pairs'] == 1 else 'are'} tied."
            ),
            caption=" ".join(filter(None, (_described(result, measure), _how_to_read(result, signs)))),
        )
        signs = ""


def _how_to_read(result: TaskResult, signs: str) -> str:
    """Say how a scatter is read; nothing where it was said."""
    if not signs:
        return ""
    singular, plural = result.things
    if len(result.pairs) > MOST_SIGNS:
        return COUNTED.format(plural=plural)
    return (
        signs.replace("pair of systems", f"pair of {plural}")
        .replace("two systems", f"two {plural}")
        .replace("same system", f"same {singular}")
    )


def _described(result: TaskResult, measure: str) -> str:
    words = result.in_words(measure)
    return "" if words == measure else f"{words}."


def _differences(result: TaskResult, measure: str) -> Floats | None:
    """Return the score difference of every pair under a measure, None where pairs.csv lacks it."""
    column = f"difference {measure}"
    if column not in result.pairs.columns or result.pairs[column].isna().any():
        return None
    return np.asarray(result.pairs[column], dtype=np.float64)


def _turned(row: Row) -> Row:
    """Return a comparison the other way round."""
    turned = row.copy()
    turned["measure"], turned["against"] = row["against"], row["measure"]
    turned["difference"], turned["low"], turned["high"] = (-row[end] for end in ("difference", "high", "low"))
    return turned


def _of_task(frame: pd.DataFrame | None, task: object) -> pd.DataFrame:
    return pd.DataFrame() if frame is None else frame[frame["task"] == task]


def ceiling(row: Row) -> tuple[float, float]:
    """Return the agreement of a second panel and of a perfect measure; NaN where the votes do not tell them."""
    return float(row["ceiling"]), float(row["perfect"])


def finding(result: TaskResult) -> str:
    """Say the agreement of the measure asked about with its interval, and that of a second panel where both have one.

    That it is more or fewer is claimed only where the two intervals do not meet.
    """
    row = result.row(result.asked)
    if not tells(row):
        return (
            f"Too few to say how well {result.named or _only(result)} agrees with the preferences:"
            f" {counted(decided(row), 'decided pair')}, {result.topics_counted}"
        )
    agreement = f"{percent(row['agreement'])} of the pairs ({percent_interval(row['low'], row['high'])})"
    sentence = f"{result.asked} agrees with the preferences on {agreement}"
    lowest = result.row(result.worst)
    if result.named is None and lowest["agreement"] < row["agreement"]:
        return (
            f"Of {len(result.fair_measures)} measures {result.asked} agrees most often with the preferences, on {percent(row['agreement'])} of"
            f" the pairs, and {result.worst} least often, on {percent(lowest['agreement'])}"
        )
    if math.isnan(row["ceiling"]) or math.isnan(row["low"]):
        return sentence
    panel = f"a second panel would on {percent(row['ceiling'])}"
    if result.ceiling_is_of_fewer:
        return (
            f"{sentence}; {panel} of the {quantity(float(row['pairs_there']))} pairs that have {result.of_two}, where {result.asked} does on"
            f" {percent(row['agreement_there'])}"
        )
    if row["high"] < row["ceiling_low"] or row["low"] > row["ceiling_high"]:
        word = "fewer" if row["high"] < row["ceiling_low"] else "more"
        return f"{sentence}, {word} than {panel}"
    return f"{sentence}; {panel} ({percent_interval(row['ceiling_low'], row['ceiling_high'])})"


def _only(result: TaskResult) -> str:
    return result.main if len(result.measures) == 1 else "any measure"


def ranked_alike(one: str, other: str, tau: float, interval: tuple[float, float], systems: int) -> str:
    """Say how alike two measures rank systems: in words only where both ends of the interval have the same words.

    Parameters
    ----------
    one, other : str
        The measures.
    tau : float
        Kendall's tau-b.
    interval : (float, float)
        Of tau; NaN where there is none.
    systems : int
        How many are ranked.
    """
    value = "no τ" if math.isnan(tau) else f"τ = {decimal(tau)}"
    if systems < FEWEST_RANKED:
        return f"{one} and {other}, {counted(systems, 'system')}, {TOO_FEW}: {value}"
    if math.isnan(interval[0]) or math.isnan(interval[1]):
        return f"{one} and {other} over {counted(systems, 'system')}: {value}, no interval"
    value += f" ({decimal(interval[0])} to {decimal(interval[1])})"
    words = {_alike(end) for end in interval}
    if len(words) > 1:
        return f"{one} and {other} over {counted(systems, 'system')}: {value}"
    return f"{one} and {other} rank systems {words.pop()}: {value}"


def over_few(systems: int) -> str:
    """Return what is put behind a rank correlation over too few systems; nothing behind others."""
    return f" ({counted(systems, 'system')}, {TOO_FEW})" if systems < FEWEST_RANKED else ""


def _alike(tau: float) -> str:
    words = ((0.7, "much alike"), (0.3, "somewhat alike"), (-0.3, "almost unrelatedly"))
    return next((word for least, word in words if tau >= least), "in opposite orders")
