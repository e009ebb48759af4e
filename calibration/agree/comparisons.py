"""Comparisons of measures: by agreement over queries, and in a model of votes or of graded answers.

The agreement of majorities asks for the sign of a difference only. A model of the votes (`calibration.agree.slopes`) uses how large the
differences are and how clear the votes; one of graded answers also how much better people found a side.

Where sides were not drawn by lot, the agreements that are compared are those without the effect of the side: what the side adds to every
vote (`calibration.inference.sides`) times what a vote for system_a adds to the credit of its pair (`VotesByPerson.gain`) is taken off.
"""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from calibration.agree.judged_task import JudgedTask, testable, wide_tastes
from calibration.agree.measures.variants import ParameterOrigin, ScoredMeasure, VariantRole
from calibration.agree.result import ComparisonBasis, ComparisonRole, NamedComparisons, NamedWhen
from calibration.agree.slopes import SlopeDifference, graded_slope_difference, slope_difference
from metrics.agreement.agreement import QueryMean, Ties, agreement, mean_by_query, pair_credit
from metrics.agreement.comparison import compare, holm
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedComparison:
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
    named_comparisons : Wanted
        By the measures' full names.
    variants : sequence of ScoredMeasure
        The default one first.
    constant : collection of str
        Measures that score the systems of every pair alike. They agree with nobody, whatever people prefer, and are
        compared by name only; no vote decides which these are, so leaving them out chooses nothing after looking.
    """
    fair = [
        scored_measure.measure
        for scored_measure in variants
        if scored_measure.fit is not ParameterOrigin.IN_SAMPLE and scored_measure.measure not in constant
    ]
    native = [
        scored_measure.measure
        for scored_measure in variants
        if scored_measure.measure in fair
        and not scored_measure.converted
        and scored_measure.role is not VariantRole.NAMED
    ]
    if not named_comparisons.names:
        converted = {scored_measure.measure for scored_measure in variants if scored_measure.converted}
        every = list(itertools.combinations(fair, 2))
        return [
            PlannedComparison(
                standing=standing,
                measure=measure,
                against=against,
                in_family=is_member,
                named=NamedWhen.NOWHERE,
            )
            for is_member, standing in ((True, ComparisonRole.FAMILY), (False, ComparisonRole.EXPLORATORY))
            for against, measure in every
            if is_member == (not converted & {against, measure})
        ]
    main = named_comparisons.primary[0] if named_comparisons.primary else variants[0].measure
    family, reference = _family(named_comparisons, native, main)
    main = main if named_comparisons.primary else reference
    standing = ComparisonRole.FAMILY if named_comparisons.primary is None else ComparisonRole.EXPLORATORY
    where = NamedWhen.ANALYSIS if named_comparisons.at_analysis else NamedWhen.STUDY_FILE
    of_family = where if named_comparisons.compare else NamedWhen.NOWHERE
    made = (
        []
        if named_comparisons.primary is None
        else [(ComparisonRole.PRIMARY, *named_comparisons.primary, named_comparisons.at_analysis, where)]
    )
    made += [(standing, scored_measure, reference, True, of_family) for scored_measure in family]
    made += [
        (ComparisonRole.EXPLORATORY, scored_measure, main, False, NamedWhen.NOWHERE)
        for scored_measure in fair
    ]
    first: dict[frozenset[str], PlannedComparison] = {}
    for why, measure, against, in_family, named in made:
        if measure != against:
            couple = PlannedComparison(
                standing=why, measure=measure, against=against, in_family=in_family, named=named
            )
            first.setdefault(frozenset({measure, against}), couple)
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
        ComparisonBasis.VOTES: (
            "",
            [
                _of_slopes(task, differences[scored_measure.measure], differences[scored_measure.against])
                for scored_measure in made
            ],
        ),
    }
    if ordinal and (strength := task.strength) is not None and not task.no_grades:
        ways[ComparisonBasis.GRADES] = (
            "",
            [
                _of_slopes(task, differences[couple.measure], differences[couple.against], strength)
                for couple in made
            ],
        )
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
            result = replace(
                result, difference=math.nan, standard_error=math.nan, p_t=math.nan, p_sign_flip=math.nan
            )
        low, high = result.confidence_interval()
        rows.append(
            {
                "difference": result.difference,
                "low": low,
                "high": high,
                "minimum_detectable": result.minimum_detectable(),
                "queries": result.queries,
                "p_t": result.p_t,
                "p_sign_flip": result.p_sign_flip,
            }
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


def _of_slopes(task: JudgedTask, first: Floats, second: Floats, strength: Floats | None = None) -> Row:
    """Compare two measures by slopes, in log odds per standard difference; by graded answers with their strength."""
    votes, swapped = task.votes, task.is_swapped if task.side is not None and task.side.is_separable else None
    slopes: SlopeDifference = (
        slope_difference(votes, first, second, is_swapped=swapped)
        if strength is None
        else graded_slope_difference(votes, strength, first, second, is_swapped=swapped)
    )
    reach = slopes.error.half_width()
    return {
        "difference": slopes.difference,
        "low": slopes.difference - reach,
        "high": slopes.difference + reach,
        "minimum_detectable": slopes.error.minimum_detectable(),
        "queries": votes.crossing.queries,
        "p_t": slopes.error.p_value(slopes.difference),
        "p_sign_flip": math.nan,
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


def _family(
    named_comparisons: NamedComparisons, native: Sequence[str], main: str
) -> tuple[Sequence[str], str]:
    """Return the measures of the family, and the measures to compare them with.

    Converted measures enter the family only by name.
    """
    if not named_comparisons.compare:
        return [name for name in native if name != main], main
    return (
        (named_comparisons.compare, main)
        if len(named_comparisons.compare) == 1
        else (named_comparisons.compare[1:], named_comparisons.compare[0])
    )
