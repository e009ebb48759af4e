"""What an agreement is, before it is written and after it is read: what was asked for, its tables, and what a row of them tells.

`calibration.agree.agree_tables` makes it from a folder of tables; docs/agreement.md lists the columns.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

import pandas as pd
from pydantic import JsonValue

from calibration.user_model.model import Diagnostic
from metrics.agreement.agreement import Ties
from metrics.errors import pluralise
from metrics.results import HasSummary, Overview

FEWEST_PAIRS = 10
"""Pairs with a majority from which an agreement is a finding; as many with two votes or more make a ceiling."""
FEWEST_QUERIES = 2
"""Queries, likewise."""
MOST_LOG_ODDS = 20.0
"""A wider interval of log odds, from end to end, tells nothing."""
MOST_TIED = 0.3
"""Share of a measure's pairs with equal scores beyond which a tie counts half in what leads: else its agreement is that of its ties."""
FARTHEST = 1.0
"""No two agreements are farther apart."""
MOST_SHARED = 0.1
"""Share of names that stand in several topics below which they name items of a topic and no systems."""
DIFFERENCE_COLUMNS = (
    "second_panel_difference",
    "second_panel_difference_low",
    "second_panel_difference_high",
)
"""Columns of agreement.csv: how much more often a measure agrees than a second panel, and the ends of the interval."""
Row: TypeAlias = "pd.Series[object]"
"""A row of agreement.csv."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """What messages call that with which an agreement is asked for: options of the command, or arguments of the function.

    Attributes
    ----------
    files : str
        Collections and runs, as a cure.
    scores, model : str
        Scores of one's own, and a user model, as something to give.
    named, added : str
        Measures to compare, and measures to add.
    rank : str
        What says which system people prefer.
    """

    files: str
    scores: str
    model: str
    named: str
    added: str
    rank: str


OPTIONS = Arguments(
    files="name its files with --collection KIND=PATH and --run NAME=PATH",
    scores="--scores",
    model="--model FILE, as prefcal fit writes it",
    named="--primary, --compare",
    added="--measure",
    rank="prefcal rank",
)
KEYWORDS = Arguments(
    files="name its files with collection={KIND: PATH} and runs={NAME: PATH}",
    scores="scores=FRAME",
    model="model=MODEL, as prefcal.fit returns it",
    named="primary, compare",
    added="measures",
    rank="prefcal.rank",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedComparisons:
    """What a study or a command names.

    Attributes
    ----------
    primary : (str, str) or None
        The measure, and what it is compared with.
    compare : tuple of str
        The measures of the family; the first is what the others are compared with, a single one is compared with the
        first measure of the table. Empty, and no primary comparison: every two measures.
    at_analysis : bool
        They were named when the answers were there, and not in the study file.
    """

    primary: tuple[str, str] | None = None
    compare: tuple[str, ...] = ()
    at_analysis: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Every measure that is named."""
        return tuple(dict.fromkeys((*(self.primary or ()), *self.compare)))

    def without(self, names: Collection[str]) -> "NamedComparisons":
        """Return the same without some measures; a primary comparison needs both of its own."""
        keeps_primary = self.primary is not None and not set(self.primary) & set(names)
        return replace(
            self,
            primary=self.primary if keeps_primary else None,
            compare=tuple(name for name in self.compare if name not in names),
        )

    def renamed(self, names: Mapping[str, str]) -> "NamedComparisons":
        """Return the same by other names."""
        primary = None if self.primary is None else (names[self.primary[0]], names[self.primary[1]])
        compare = tuple(dict.fromkeys(names[name] for name in self.compare))
        return replace(self, primary=primary, compare=compare)


def wanted_by_study(protocol: Mapping[str, JsonValue]) -> NamedComparisons:
    """Return what a task's protocol names as `primary` and `compare`."""
    primary, compare = protocol.get("primary"), protocol.get("compare")
    pair = tuple(map(str, primary)) if isinstance(primary, list) else ()
    return NamedComparisons(
        primary=(pair[0], pair[1]) if len(pair) == 2 else None,
        compare=tuple(map(str, compare)) if isinstance(compare, list) else (),
    )


class ComparisonRole(StrEnum):
    """What a comparison was made for."""

    PRIMARY = "primary"
    FAMILY = "family"
    EXPLORATORY = "exploratory"


class NamedAt(StrEnum):
    """Where a comparison was named."""

    STUDY_FILE = "study_file"
    ANALYSIS = "analysis"
    NOWHERE = "nowhere"


class ComparisonBasis(StrEnum):
    """What a comparison is by: the majority's choices, all votes for a measure's choice, or a model of the votes."""

    MAJORITY = "majority"
    WEIGHTED = "weighted"
    VOTES = "votes"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AgreementTables(HasSummary):
    """What `prefcal agree` writes. It prints as the first lines of its `summary`.

    Attributes
    ----------
    agreement : DataFrame
        One row per task, measure, treatment of exclusions and convention for ties.
    comparisons : DataFrame
        One row per task and comparison, the primary one first.
    curve : DataFrame
        One row per task, measure, convention and value of the parameter that varies.
    pairs : DataFrame
        One row per pair: votes, and the score difference under every measure.
    disagreements : DataFrame
        One row per pair on which the measure asked about and the votes disagree most, with texts.
    wanted : mapping of str to Wanted
        By task, which comparisons were named.
    notes : tuple of str
        What is missing and why, one sentence each.
    diagnostics : mapping of str to tuple of Diagnostic
        By task, what to know of its judgments before using its numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> import prefcal
    >>> votes = pd.DataFrame(
    ...     {
    ...         "worker": ["w1", "w2", "w3"] * 2,
    ...         "task": "lists",
    ...         "topic": ["t1"] * 3 + ["t2"] * 3,
    ...         "pair": "A-B",
    ...         "system_left": "A",
    ...         "system_right": "B",
    ...         "choice": ["left", "left", "right", "left", "right", "left"],
    ...     }
    ... )
    >>> scores = pd.DataFrame(
    ...     {
    ...         "run": ["A", "B"] * 2,
    ...         "topic": ["t1"] * 2 + ["t2"] * 2,
    ...         "metric": "nDCG",
    ...         "value": [0.6, 0.4, 0.3, 0.5],
    ...     }
    ... )
    >>> found = prefcal.agree({"preferences": votes}, scores=scores)
    >>> found.pairs[["topic", "votes", "vote_share"]].to_dict("list")
    {'topic': ['t1', 't2'], 'votes': [3, 3], 'vote_share': [0.6666666666666666, 0.6666666666666666]}
    """

    agreement: pd.DataFrame
    comparisons: pd.DataFrame
    curve: pd.DataFrame
    pairs: pd.DataFrame
    disagreements: pd.DataFrame
    wanted: Mapping[str, NamedComparisons]
    notes: tuple[str, ...]
    diagnostics: Mapping[str, tuple[Diagnostic, ...]]

    def frame(self) -> pd.DataFrame:
        """Return the agreement by task, measure and convention for ties, excluded workers left out; all columns are in ``agreement``."""
        applied = self.agreement.query("exclusions == 'applied'")
        return applied.set_index(["task", "measure", "ties"])[["agreement", "low", "high", "fit", "pairs"]]

    def overview(self) -> Overview:
        """Return the agreement of every measure by the leading convention for ties, the ceilings, and what is missing and why."""
        applied = self.agreement.query("exclusions == 'applied'")
        leads = {task: leading_ties(rows) for task, rows in applied.groupby("task")}
        leading = applied[applied["ties"] == applied["task"].map(leads)]
        shown = leading[["task", "measure", "agreement", "low", "high", "fit", "pairs"]]
        ceilings = leading.drop_duplicates("task")
        limits = [_ceilings_in_words(one) for one in ceilings.to_dict("records")]
        known = [one.sentence for of_task in self.diagnostics.values() for one in of_task]
        return Overview(shown, ".3f", [*limits, *self.notes, *dict.fromkeys(known)])

    def summary(self) -> str:
        """Return the overview as text."""
        return self.overview().as_text()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The diagnostics that are warnings, each with its task and name."""
        return tuple(
            f"{task}: {one.name}: {one.sentence}"
            for task, of_task in self.diagnostics.items()
            for one in of_task
            if one.severity == "warning"
        )


def _ceilings_in_words(row: Mapping[Hashable, Any]) -> str:
    """Say how often another panel, and a measure that knew what most people prefer, would agree with these votes."""
    if row["no_ceiling"]:
        return f"{row['task']}: no ceiling: {row['no_ceiling']}."
    of = (
        f"{whose} {row[name]:.3f} [{row[f'{name}_low']:.3f}, {row[f'{name}_high']:.3f}]"
        for whose, name in (("a second panel", "ceiling"), ("a perfect measure", "perfect"))
    )
    ties = f"{row['vote_ties']} of {pluralise(row['pairs'], 'pair')} tied in the votes"
    there = f"of {row['pairs_there']:,} of {pluralise(row['pairs'], 'pair')}"
    return f"{row['task']}: ceilings {there}: {', '.join(of)}; {ties}."


def decided(row: Row) -> int:
    """Return how many pairs have a majority."""
    return int(row["pairs"] - row["vote_ties"])


def has_enough_pairs(row: Row) -> bool:
    """Say whether there are pairs and queries enough for a finding."""
    return decided(row) >= FEWEST_PAIRS and int(row["queries"]) >= FEWEST_QUERIES


def cannot_be_told(row: Mapping[str, Any]) -> bool:
    """Say whether the interval of a comparison by the model of votes is so wide that its numbers mean nothing.

    Its ends are log odds a standard difference. Those of ±10 are odds of 22,000 to 1, which no study of people can show: some votes
    follow a measure nearly without exception, or two measures are nearly one.
    """
    return bool(row["by"] == ComparisonBasis.VOTES and row["high"] - row["low"] > MOST_LOG_ODDS)


def often_tied(rows: pd.DataFrame) -> dict[str, float]:
    """Return the measures whose scores tie on many pairs but not on all, with the share of pairs.

    Parameters
    ----------
    rows : DataFrame
        Rows of agreement.csv, of one task and treatment of exclusions.
    """
    of_measure = rows.drop_duplicates("measure").set_index("measure")
    share = of_measure["metric_ties"] / of_measure["pairs"]
    return {str(name): float(value) for name, value in share.items() if MOST_TIED < value < 1}


def leading_ties(rows: pd.DataFrame) -> Ties:
    """Return the convention that leads: `half` where a measure's scores are often tied (`often_tied`), else that of the paper."""
    return "half" if often_tied(rows) else "against"


def judged_things(pairs: pd.DataFrame) -> tuple[str, str]:
    """Return what pairs are of, singular and plural: systems, or items where names hardly ever stand in two topics.

    Parameters
    ----------
    pairs : DataFrame
        With topic, system_a, system_b.
    """
    places = pd.concat(
        [pairs[["topic", side]].set_axis(["topic", "name"], axis=1) for side in ("system_a", "system_b")]
    )
    topics = places.drop_duplicates().groupby("name").size()
    is_item = len(set(places["topic"])) > 1 and (topics > 1).mean() < MOST_SHARED
    return ("item", "items") if is_item else ("system", "systems")


def beyond_perfect(rows: pd.DataFrame, ties: Ties) -> Iterator[str]:
    """Yield what a measure that agrees more often than a perfect one is estimated to owes that to; nothing without any.

    Parameters
    ----------
    rows : DataFrame
        Rows of agreement.csv, of one task, with exclusions applied.
    ties : str
        The convention.
    """
    leading = rows[(rows["ties"] == ties) & (rows["fit"] != "in_sample")]
    above = leading[leading["agreement_there"] > leading["perfect"]]
    if above.empty:
        return
    best = above.loc[above["agreement_there"].idxmax()]
    who = (
        f"{best['measure']} does"
        if len(above) == 1
        else f"{len(above)} measures do, {best['measure']} most often"
    )
    there = f"{100 * best['agreement_there']:.1f} %"
    votes = best["judgments"] / best["pairs"]
    if best["agreement_there"] > best["perfect_high"]:
        cause = (
            "which is beyond the interval of that estimate. A measure can only do so that knows these very votes, or where some people"
            " judge many pairs and it follows them: see what its scores were made from"
        )
    else:
        cause = (
            f"which is within the interval of that estimate: with {votes:.1f} votes a pair nobody can tell how often the side that most people"
            " prefer has them"
        )
    yield f"{who} so in {there} there, {cause}."


def undetectable_note(detectable: float) -> str:
    """Say that a study can tell no difference of two agreements; nothing where it can, or where that is unknown.

    Parameters
    ----------
    detectable : float
        The smallest true difference that four of five such studies would find.
    """
    if not detectable > FARTHEST:
        return ""
    return (
        "So small a study can tell no difference here: four of five would find only one that is larger than any two"
        " agreements can be apart."
    )
