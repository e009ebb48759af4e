"""Which measures are compared with which, and how: the primary comparison, the named family, and what is exploratory."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.named_measures import Wanted
from calibration.agree.measures.variants import Fit, Role, Variant
from metrics.agreement.agreement import agreement
from metrics.agreement.comparison import Comparison, compare, holm

Row = dict[str, Any]

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
)


class Standing(StrEnum):
    """What a comparison was made for."""

    PRIMARY = "primary"
    FAMILY = "family"
    EXPLORATORY = "exploratory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Couple:
    """One comparison that is to be made; those of the family are corrected together, whatever their standing."""

    standing: Standing
    measure: str
    against: str
    in_family: bool


def couples(wanted: Wanted, variants: Sequence[Variant], *, constant: Collection[str] = ()) -> list[Couple]:
    """Return the comparisons to be made, the primary one first.

    Every measure that is not fitted in sample is compared once with what its standing asks for: the family with its
    first measure, all others with the main measure. With a primary comparison all others are exploratory.

    Parameters
    ----------
    wanted : Wanted
        By the measures' full names.
    variants : sequence of Variant
        The main measure first.
    constant : collection of str
        Measures that score the systems of every pair alike. They agree with nobody, whatever people prefer, and are
        compared by name only; no vote decides which these are, so leaving them out chooses nothing after looking.
    """
    main = variants[0].measure
    fair = [one.measure for one in variants if one.fit is not Fit.IN_SAMPLE and one.measure not in constant]
    native = [
        one.measure
        for one in variants
        if one.measure in fair and not one.converted and one.role is not Role.NAMED
    ]
    family, reference = _family(wanted, native, main)
    standing = Standing.FAMILY if wanted.primary is None else Standing.EXPLORATORY
    named = [] if wanted.primary is None else [(Standing.PRIMARY, *wanted.primary, False)]
    named += [(standing, one, reference, True) for one in family]
    named += [(Standing.EXPLORATORY, one, main, False) for one in fair]
    first: dict[frozenset[str], Couple] = {}
    for why, measure, against, in_family in named:
        if measure != against:
            couple = Couple(standing=why, measure=measure, against=against, in_family=in_family)
            first.setdefault(frozenset({measure, against}), couple)
    return list(first.values())


def comparison_rows(
    task: JudgedTask,
    made: Sequence[Couple],
    differences: Mapping[str, NDArray[np.float64]],
    rng: np.random.Generator,
) -> list[Row]:
    """Make the comparisons, under the paper's convention.

    Holm's correction is over the family; the primary comparison needs none, and others outside the family get none. One
    without variation between queries has no p and counts in the family all the same: which these are was seen in the data.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count.
    made : sequence of Couple
        Which.
    differences : mapping of str to (pairs,) ndarray of float
        Measure -> score differences of the pairs.
    rng : Generator
        Source of the sign flips.
    """
    mean = {name: agreement(one, task.share, task.topics).mean for name, one in differences.items()}
    results = [compare(mean[couple.measure], mean[couple.against], rng=rng) for couple in made]
    adjusted = np.full(len(made), np.nan)
    for group in (
        [couple.standing is Standing.PRIMARY for couple in made],
        [couple.in_family for couple in made],
    ):
        places = np.flatnonzero(group)
        p = np.array([results[place].p_t for place in places])
        adjusted[places] = np.where(np.isnan(p), np.nan, holm(np.nan_to_num(p, nan=1.0)))
    return [
        {
            "task": task.task,
            "standing": str(couple.standing),
            "measure": couple.measure,
            "against": couple.against,
        }
        | _numbers(result)
        | {"p_holm": p_holm}
        for couple, result, p_holm in zip(made, results, adjusted.tolist(), strict=True)
    ]


def _family(wanted: Wanted, native: Sequence[str], main: str) -> tuple[Sequence[str], str]:
    """Return the measures of the family and what they are compared with; converted ones are in it only by name."""
    if not wanted.compare:
        return native, main
    return (wanted.compare, main) if len(wanted.compare) == 1 else (wanted.compare[1:], wanted.compare[0])


def _numbers(result: Comparison) -> Row:
    low, high = result.confidence_interval()
    return {
        "difference": result.difference,
        "low": low,
        "high": high,
        "minimum_detectable": result.minimum_detectable(),
        "queries": result.queries,
        "p_t": result.p_t,
        "p_sign_flip": result.p_sign_flip,
    }
