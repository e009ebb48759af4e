"""Comparisons of measures: by agreement over queries, and in a model of votes or of graded answers.

The agreement of majorities asks for the sign of a difference only. A model of the votes (`calibration.agree.slopes`) uses how large the
differences are and how clear the votes; one of graded answers also how much better people found a side.

Where sides were not drawn by lot, the agreements that are compared are those without the effect of the side: what the side adds to every
vote (`calibration.inference.sides`) times what a vote for system_a adds to the credit of its pair (`VotesByPerson.gain`) is taken off.
"""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from calibration.agree.judged_task import JudgedTask, testable, wide_tastes
from calibration.agree.measures.variants import ParameterOrigin, ScoredMeasure, VariantRole
from calibration.agree.result import ComparisonBasis, ComparisonRole, NamedComparisons, NamedWhen
from calibration.agree.slopes import graded_slope_difference, slope_difference
from metrics.agreement.agreement import QueryMean, Ties, agreement, mean_by_query, pair_credit
from metrics.agreement.comparison import compare, holm
from metrics.agreement.crossed_errors import UNKNOWN, StandardError
from metrics.arrays import Floats

Row = dict[str, Any]
NO_P: Row = {"p_t": math.nan, "p_sign_flip": math.nan}
NO_INTERVAL: Row = {"low": math.nan, "high": math.nan, "minimum_detectable": math.nan}
COLUMNS = (
    "task",
    "standing",
    "measure",
    "against",
    "difference",
    "low",
    "high",
    "minimum_detectable",
    "queries",
    "p_t",
    "p_sign_flip",
    "p_holm",
    "named",
    "by",
    "ties",
)


class PlannedComparison(NamedTuple):
    """Comparison of a family that is corrected together, whatever its role."""

    standing: ComparisonRole
    measure: str
    against: str
    in_family: bool
    named: NamedWhen


def couples(
    named_comparisons: NamedComparisons, variants: Sequence[ScoredMeasure], *, constant: Collection[str] = ()
) -> list[PlannedComparison]:
    """Return the comparisons to be made, the primary one first.

    Where nothing is named, every two measures that are not fitted in sample are compared, all in one family but those whose judgments
    were made for another kind of collection. Else a named family is
    compared with its first measure, and all others with the measure asked about, outside the family: the first of the primary comparison,
    or that of the family. With a primary comparison all others are exploratory. One that was named at analysis is a member of
    the family: it may have been chosen by looking.

    Parameters
    ----------
    named_comparisons : NamedComparisons
        By the measures' full names.
    variants : sequence of ScoredMeasure
        The default one first.
    constant : collection of str
        Measures that score the systems of every pair alike. They agree with nobody, whatever people prefer, and are
        compared by name only; no vote decides which these are, so leaving them out chooses nothing after looking.
    """
    fair = [
        variant
        for variant in variants
        if variant.fit is not ParameterOrigin.IN_SAMPLE and variant.measure not in constant
    ]
    if not named_comparisons.names:
        every = [
            PlannedComparison(
                ComparisonRole.FAMILY if is_native else ComparisonRole.EXPLORATORY,
                second.measure,
                first.measure,
                in_family=is_native,
                named=NamedWhen.NOWHERE,
            )
            for first, second in itertools.combinations(fair, 2)
            for is_native in (not (first.converted or second.converted),)
        ]
        return sorted(every, key=lambda planned: not planned.in_family)
    primary, compare_names = named_comparisons.primary, named_comparisons.compare
    main = primary[0] if primary else variants[0].measure
    native = [each.measure for each in fair if not each.converted and each.role is not VariantRole.NAMED]
    reference, *family = compare_names if len(compare_names) > 1 else (main, *(compare_names or native))
    where = NamedWhen.ANALYSIS if named_comparisons.at_analysis else NamedWhen.STUDY_FILE
    of_family = where if compare_names else NamedWhen.NOWHERE
    made = [
        PlannedComparison(
            ComparisonRole.PRIMARY, *named, in_family=named_comparisons.at_analysis, named=where
        )
        for named in ([primary] if primary else ())
    ]
    standing = ComparisonRole.EXPLORATORY if primary else ComparisonRole.FAMILY
    made += [
        PlannedComparison(standing, measure, reference, in_family=True, named=of_family) for measure in family
    ]
    asked_about = main if primary else reference
    made += [
        PlannedComparison(
            ComparisonRole.EXPLORATORY, each.measure, asked_about, in_family=False, named=NamedWhen.NOWHERE
        )
        for each in fair
    ]
    first: dict[frozenset[str], PlannedComparison] = {}
    for planned in made:
        if planned.measure != planned.against:
            first.setdefault(frozenset({planned.measure, planned.against}), planned)
    return list(first.values())


def comparison_rows(
    task: JudgedTask,
    made: Sequence[PlannedComparison],
    differences: Mapping[str, Floats],
    rng: np.random.Generator,
    leading: Ties = "against",
    *,
    ordinal: bool = False,
) -> list[Row]:
    """Return the comparisons by majorities, by weighted votes, by the vote model, and on request by graded answers.

    Holm's correction is over the family, in each of these ways by itself; a primary comparison of the study file needs none,
    and others outside the family get none. One without variation between queries has no p and counts in the family all the same:
    which these are was seen in the data. With too few people or queries nothing has a p (`calibration.agree.judged_task`); where tastes
    differ widely (`wide_tastes`), majorities have no interval and no p either. Two measures that
    put the systems of every pair in the same order have no numbers: they agree with people alike, whatever people prefer.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count.
    made : sequence of PlannedComparison
        Which.
    differences : mapping of str to (pairs,) ndarray of float
        Measure -> score differences of the pairs.
    rng : Generator
        Source of the sign flips.
    leading : str
        The convention for ties of majorities.
    ordinal : bool
        Compare by graded answers, too, where they are graded.
    """
    ways: dict[ComparisonBasis, tuple[Ties | Literal[""], list[Row]]] = {
        ComparisonBasis.MAJORITY: (leading, _of_agreements(task, made, differences, leading, rng)),
        ComparisonBasis.WEIGHTED: ("weighted", _of_agreements(task, made, differences, "weighted", rng)),
        ComparisonBasis.VOTES: ("", _of_slopes(task, made, differences)),
    }
    if ordinal and task.strength is not None and not task.no_grades:
        ways[ComparisonBasis.GRADES] = ("", _of_slopes(task, made, differences, task.strength))
    is_tested, rows = testable(task.votes), list[Row]()
    for by, (ties, numbers) in ways.items():
        if not is_tested:
            numbers = [row | NO_P for row in numbers]  # noqa: PLW2901 - without p
        if by is ComparisonBasis.MAJORITY and any(wide_tastes(task.votes, differences)):
            numbers = [row | NO_P | NO_INTERVAL for row in numbers]  # noqa: PLW2901 - refused
        adjusted = _adjusted(made, np.array([row["p_t"] for row in numbers]))
        rows += [
            {
                "task": task.task,
                "standing": str(couple.standing),
                "measure": couple.measure,
                "against": couple.against,
                **row,
                "p_holm": p_holm,
                "named": str(couple.named),
                "by": str(by),
                "ties": ties,
            }
            for couple, row, p_holm in zip(made, numbers, adjusted.tolist(), strict=True)
        ]
    return rows


def in_same_order(first: Floats, second: Floats) -> bool:
    """Return whether two measures order the systems of every pair alike."""
    return bool(np.array_equal(np.sign(first), np.sign(second)))


def _of_agreements(
    task: JudgedTask,
    made: Sequence[PlannedComparison],
    differences: Mapping[str, Floats],
    ties: Ties,
    rng: np.random.Generator,
) -> list[Row]:
    """Compare agreements under one convention.

    Two measures with the same order of systems get no numbers.
    """
    votes = task.votes
    used = {name: differences[name] for couple in made for name in (couple.measure, couple.against)}
    agreements_by_name = {
        name: agreement_without_side(task, difference, ties) for name, difference in used.items()
    }
    rows = []
    for couple in made:
        (first, influence), (second, other) = (
            agreements_by_name[couple.measure],
            agreements_by_name[couple.against],
        )
        error = votes.crossing.error(influence - other, votes.weight)
        result = compare(first, second, error=error, exchange=not votes.crossing.is_crossed, rng=rng)
        if in_same_order(used[couple.measure], used[couple.against]):
            rows.append(_row(math.nan, UNKNOWN, result.queries))
        else:
            rows.append(
                _row(result.difference, error, result.queries, most=1.0, p_sign_flip=result.p_sign_flip)
            )
    return rows


def agreement_without_side(task: JudgedTask, difference: Floats, ties: Ties) -> tuple[QueryMean, Floats]:
    """Return agreement and influences of a measure, without any side effect.

    It only changes measures of tasks with a side effect to remove.
    """
    votes, side = task.votes, task.side
    influence = votes.influence(difference, ties)
    if side is None or not side.is_separable:
        return agreement(difference, task.share, task.topics, ties=ties).mean, influence
    towards_left = np.where(task.is_swapped, -1, 1) * votes.gain(difference, ties)
    added = np.bincount(votes.pair, towards_left * side.excess)
    credit = pair_credit(difference, task.share, ties=ties)
    own = (added.mean() - added)[votes.pair] * votes.weight
    return (
        mean_by_query(credit - added, task.topics),
        influence + own + side.influence(towards_left / len(added)),
    )


def _of_slopes(
    task: JudgedTask,
    made: Sequence[PlannedComparison],
    differences: Mapping[str, Floats],
    strength: Floats | None = None,
) -> list[Row]:
    """Compare measures by slopes, in log odds per standard difference; by graded answers with their strength."""
    votes, swapped = task.votes, task.is_swapped if task.side is not None and task.side.is_separable else None
    rows = []
    for couple in made:
        first, second = differences[couple.measure], differences[couple.against]
        slopes = (
            slope_difference(votes, first, second, is_swapped=swapped)
            if strength is None
            else graded_slope_difference(votes, strength, first, second, is_swapped=swapped)
        )
        rows.append(_row(slopes.difference, slopes.error, votes.crossing.queries))
    return rows


def _row(
    difference: float,
    error: StandardError,
    queries: int,
    *,
    most: float = math.inf,
    p_sign_flip: float = math.nan,
) -> Row:
    """Return the numbers of a comparison whose interval is cut at -``most`` and ``most``."""
    reach = error.half_width()
    low, high = np.clip([difference - reach, difference + reach], -most, most).tolist()
    return {
        "difference": difference,
        "low": low,
        "high": high,
        "minimum_detectable": error.minimum_detectable(),
        "queries": queries,
        "p_t": error.p_value(difference),
        "p_sign_flip": p_sign_flip,
    }


def _adjusted(made: Sequence[PlannedComparison], p: Floats) -> Floats:
    """Return Holm's p of every comparison, NaN outside the family.

    A primary comparison of the study file keeps its own p.
    """
    adjusted = np.full(len(made), np.nan)
    for group in (
        [couple.standing is ComparisonRole.PRIMARY and not couple.in_family for couple in made],
        [couple.in_family for couple in made],
    ):
        places = np.flatnonzero(group)
        adjusted[places] = np.where(np.isnan(p[places]), np.nan, holm(np.nan_to_num(p[places], nan=1.0)))
    return adjusted
