"""Result of an agreement: named comparisons, tables, and reading of their rows.

`calibration.agree.agree_tables` computes it from a folder of tables; docs/agreement.md lists the columns.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeAlias

import pandas as pd
from pydantic import JsonValue

from calibration.judges.numbers import JudgeTables, judge_in_words
from calibration.tables.criteria import about_criterion
from calibration.user_model.model import Diagnostic
from metrics.agreement.agreement import Ties
from metrics.errors import join_names, pluralise
from metrics.results import HasSummary, Overview

MIN_PAIRS = 10
"""Smallest number of pairs for a finding or a ceiling.

A finding counts pairs with a majority; a ceiling counts pairs with two votes or more.
"""
MIN_QUERIES = 2
"""Least number of queries for a finding or a ceiling."""
MAX_LOG_ODDS = 20.0
"""Widest interval of log odds, from low to high, whose numbers mean anything."""
MAX_TIED_SHARE = 0.3
"""Largest share of a measure's pairs with tied scores that count against it.

Above it the leading convention is `half`, since the agreement would otherwise be that of the ties.
"""
EQUAL = 1e-9
"""Difference of two agreements that is none but rounding."""
FARTHEST = 1.0
"""Largest difference that two agreements can have."""
MIN_SHARED_NAMES = 0.1
"""Smallest share of names in several topics that makes them systems.

Below it the names are those of a topic's items.
"""
DIFFERENCE_COLUMNS = (
    "second_panel_difference",
    "second_panel_difference_low",
    "second_panel_difference_high",
)
"""Columns of agreement.csv: agreement less a second panel's, with its interval."""
Row: TypeAlias = "pd.Series[object]"
"""A row of agreement.csv."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """Names of the inputs of an agreement in messages: options or arguments.

    Attributes
    ----------
    files : str
        Hint for missing collections and runs.
    scores, model : str
        Scores of another tool, and a user model.
    named, added : str
        Measures to compare, and measures to add.
    rank : str
        Command or function that ranks systems by preference.
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
    """Comparisons of measures that a study file or a command names.

    Attributes
    ----------
    primary : (str, str) or None
        The measure, and the one that it is compared with.
    compare : tuple of str
        The measures of the family; the first is what the others are compared with, a single one is compared with the
        first measure of the table. Empty, and no primary comparison: every two measures.
    at_analysis : bool
        They were named after the answers were collected, not in the study file.
    """

    primary: tuple[str, str] | None = None
    compare: tuple[str, ...] = ()
    at_analysis: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All named measures, each once."""
        return tuple(dict.fromkeys((*(self.primary or ()), *self.compare)))

    def without(self, names: Collection[str]) -> "NamedComparisons":
        """Drop some measures; a primary comparison is kept if both of its measures are."""
        keeps_primary = self.primary is not None and not set(self.primary) & set(names)
        return replace(
            self,
            primary=self.primary if keeps_primary else None,
            compare=tuple(name for name in self.compare if name not in names),
        )

    def renamed(self, names: Mapping[str, str]) -> "NamedComparisons":
        """Rename the measures; ``names`` has the new name of each."""
        primary = None if self.primary is None else (names[self.primary[0]], names[self.primary[1]])
        compare = tuple(dict.fromkeys(names[name] for name in self.compare))
        return replace(self, primary=primary, compare=compare)


def wanted_by_study(protocol: Mapping[str, JsonValue]) -> NamedComparisons:
    """Read `primary` and `compare` from a task's protocol."""
    primary, compare = protocol.get("primary"), protocol.get("compare")
    pair = tuple(map(str, primary)) if isinstance(primary, list) else ()
    return NamedComparisons(
        primary=(pair[0], pair[1]) if len(pair) == 2 else None,
        compare=tuple(map(str, compare)) if isinstance(compare, list) else (),
    )


class ComparisonRole(StrEnum):
    """Role of a comparison in the analysis."""

    PRIMARY = "primary"
    FAMILY = "family"
    EXPLORATORY = "exploratory"


class NamedWhen(StrEnum):
    """Place where a comparison was named: study file or command."""

    STUDY_FILE = "study_file"
    ANALYSIS = "analysis"
    NOWHERE = "nowhere"


class ComparisonBasis(StrEnum):
    """Basis of a comparison: majority choices, weighted votes, or a model of votes or of graded answers."""

    MAJORITY = "majority"
    WEIGHTED = "weighted"
    VOTES = "votes"
    GRADES = "grades"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AgreementTables(HasSummary):
    """Result of `prefcal agree`, as tables.

    It prints as the first lines of its `summary`.

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
        The pairs on which the chosen measure and the votes disagree most, with texts.
    wanted : mapping of str to NamedComparisons
        Named comparisons by task.
    notes : tuple of str
        One sentence for each missing result, with the reason.
    diagnostics : mapping of str to tuple of Diagnostic
        Diagnostics of the judgments by task.
    judges : JudgeTables
        Judges that are no people beside those who judged.
    reading : DataFrame
        One row per task, system and quantity: seconds of reading, sources opened; no row where no page was logged.
    by : str or None
        The criterion whose answers were counted; None where the overall choices were.

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
    judges: JudgeTables = field(default_factory=JudgeTables)
    reading: pd.DataFrame = field(default_factory=pd.DataFrame)
    by: str | None = None

    @property
    def about(self) -> tuple[str, ...]:
        """The sentence that these are answers about a criterion, if they are."""
        return () if self.by is None else (about_criterion(self.by),)

    def frame(self) -> pd.DataFrame:
        """Return agreements without excluded workers; main columns only."""
        applied = self.agreement.query("exclusions == 'applied'")
        return applied.set_index(["task", "measure", "ties"])[["agreement", "low", "high", "fit", "pairs"]]

    def overview(self) -> Overview:
        """Return agreements by the leading tie convention, ceilings, notes, diagnostics."""
        applied = self.agreement.query("exclusions == 'applied'")
        ties = {task: leading_ties(rows) for task, rows in applied.groupby("task")}
        leading = applied[applied["ties"] == applied["task"].map(ties)]
        main = without_constant(leading)[["task", "measure", "agreement", "low", "high", "fit", "pairs"]]
        ceilings = leading.drop_duplicates("task")
        limits = [_ceilings_in_words(row) for row in ceilings.to_dict("records")]
        sentences = [
            diagnostic.sentence for diagnostics in self.diagnostics.values() for diagnostic in diagnostics
        ]
        judges = [f"{row['task']}: {judge_in_words(row)}" for row in self.judges.rows()]
        return Overview(main, ".3f", [*self.about, *limits, *judges, *self.notes, *dict.fromkeys(sentences)])

    def summary(self) -> str:
        """Return the overview as text."""
        return self.overview().as_text()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The diagnostics that are warnings, each with its task and name."""
        return tuple(
            f"{task}: {diagnostic.name}: {diagnostic.sentence}"
            for task, diagnostics in self.diagnostics.items()
            for diagnostic in diagnostics
            if diagnostic.severity == "warning"
        )


def _ceilings_in_words(row: Mapping[Hashable, Any]) -> str:
    """Format the ceilings: agreement of a second panel, and of a perfect measure."""
    if row["no_ceiling"]:
        return f"{row['task']}: no ceiling: {row['no_ceiling']}."
    ceilings = (
        f"{whose} {row[name]:.3f} [{row[f'{name}_low']:.3f}, {row[f'{name}_high']:.3f}]"
        for whose, name in (("a second panel", "ceiling"), ("a perfect measure", "perfect"))
    )
    ties = f"{row['vote_ties']} of {pluralise(row['pairs'], 'pair')} tied in the votes"
    pairs = f"of {row['pairs_there']:,} of {pluralise(row['pairs'], 'pair')}"
    return f"{row['task']}: ceilings {pairs}: {', '.join(ceilings)}; {ties}."


def decided(row: Row) -> int:
    """Count the pairs with a majority."""
    return int(row["pairs"] - row["vote_ties"])


def has_enough_pairs(row: Row) -> bool:
    """Return whether there are enough pairs and queries for a finding."""
    return decided(row) >= MIN_PAIRS and int(row["queries"]) >= MIN_QUERIES


def is_uninformative(row: Mapping[str, Any]) -> bool:
    """Return whether the model's interval is too wide to interpret.

    Its unit is log odds per standard deviation of the score difference. Log odds of ±10 are odds of 22,000 to 1, which no study of
    people can show: the votes follow a measure nearly without exception, or two measures are nearly equal.
    """
    in_log_odds = row["by"] in {ComparisonBasis.VOTES, ComparisonBasis.GRADES}
    return bool(in_log_odds and row["high"] - row["low"] > MAX_LOG_ODDS)


def often_tied(rows: pd.DataFrame) -> dict[str, float]:
    """Return the share of tied pairs of each measure with many, but not all, tied.

    Parameters
    ----------
    rows : DataFrame
        Rows of agreement.csv, of one task and treatment of exclusions.
    """
    by_measure = rows[["measure", "metric_ties", "pairs"]].drop_duplicates("measure").set_index("measure")
    share = by_measure["metric_ties"] / by_measure["pairs"]
    return {str(name): float(value) for name, value in share.items() if MAX_TIED_SHARE < value < 1}


def leading_ties(rows: pd.DataFrame) -> Ties:
    """Return the leading convention for ties.

    It is `half` if a measure's scores are often tied (`often_tied`), else `against`, as in the paper. A measure that ties on every pair
    decides nothing: its agreement cannot be estimated.
    """
    return "half" if often_tied(rows) else "against"


def comparable_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the measures that an answer may name, the highest first.

    They are not fitted in sample, are made for these judgments, and tell the systems of some pair apart; where no measure is and does, all of
    those not fitted in sample.

    Parameters
    ----------
    rows : DataFrame
        Rows of agreement.csv, of one task and treatment of exclusions.
    """
    fair = rows[(rows["ties"] == leading_ties(rows)) & (rows["fit"] != "in_sample")].dropna(
        subset="agreement"
    )
    plain = fair[~fair["converted"].astype(bool) & (fair["metric_ties"] < fair["pairs"])]
    return (fair if plain.empty else plain).sort_values("agreement", ascending=False, kind="stable")


def extreme_measures(rows: pd.DataFrame, *, highest: bool = True) -> list[str]:
    """Return the measures of highest, or lowest, agreement; several if equal."""
    agreements = rows["agreement"]
    extreme = agreements.max() if highest else agreements.min()
    return [str(name) for name in rows.loc[(agreements - extreme).abs() < EQUAL, "measure"]]


def counted_measures(rows: pd.DataFrame, comparable: pd.DataFrame) -> str:
    """Return in words how many measures an answer speaks of, and of which not."""
    fair = rows.loc[rows["fit"] != "in_sample", "measure"].unique()
    left_out = [name for name in fair if name not in set(comparable["measure"])]
    without = f" ({join_names(left_out, most=3)} not counted)" if left_out else ""
    return pluralise(len(comparable), "measure") + without


def without_constant(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows to print: no agreement of a measure that ties on every pair, since it cannot be estimated."""
    return rows.assign(agreement=rows["agreement"].where(rows["metric_ties"] < rows["pairs"]))


def judged_things(pairs: pd.DataFrame) -> tuple[str, str]:
    """Return the noun for the sides of pairs, singular and plural: system or item.

    Names that hardly ever occur in two topics belong to items.

    Parameters
    ----------
    pairs : DataFrame
        With topic, system_a, system_b.
    """
    names = pd.concat(
        [pairs[["topic", side]].set_axis(["topic", "name"], axis=1) for side in ("system_a", "system_b")]
    )
    topics = names.drop_duplicates().groupby("name").size()
    is_item = len(set(names["topic"])) > 1 and (topics > 1).mean() < MIN_SHARED_NAMES
    return ("item", "items") if is_item else ("system", "systems")


def beyond_perfect(rows: pd.DataFrame, ties: Ties) -> Iterator[str]:
    """Yield two sentences on measures above the estimated ceiling of a perfect one.

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
    measure, there, perfect = (
        best["measure"],
        f"{100 * best['agreement_there']:.1f} %",
        f"{100 * best['perfect']:.1f} %",
    )
    subject = (
        f"{measure} agrees with the majority in {there}, which is"
        if len(above) == 1
        else f"{len(above)} measures, most of all {measure} ({there}), agree with the majority"
    )
    yield (
        f"{subject} more often than a measure that knew what most people prefer is estimated to on the same pairs ({perfect})."
    )
    if best["agreement_there"] > best["perfect_high"]:
        yield (
            "That is beyond the interval of the estimate: only a measure made from these votes can do so, or one that"
            " follows people who judged many pairs; check the source of its scores."
        )
    else:
        yield (
            "That is within the interval of the estimate, and no contradiction: with"
            f" {best['judgments'] / best['pairs']:.1f} votes a pair the share of votes for the side that most people prefer is only"
            " roughly known."
        )


def undetectable_note(detectable: float) -> str:
    """Return a note if a study can detect no difference, or an empty string.

    Parameters
    ----------
    detectable : float
        Smallest true difference that four of five such studies would find; NaN if unknown.
    """
    if not detectable > FARTHEST:
        return ""
    return (
        "A study of this size can detect no difference here: four of five would find only one above the largest"
        " possible difference of two agreements."
    )
