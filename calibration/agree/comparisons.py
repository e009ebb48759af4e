"""Which measures are compared with which, and how: the primary comparison, the named family, and what is exploratory."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.names import Wanted
from calibration.agree.measures.variants import Fit, Role, Variant
from metrics.agreement.agreement import agreement
from metrics.agreement.comparison import Comparison, compare, holm
from metrics.arrays import Floats

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
    "named",
)


FARTHEST = 1.0
"""No two agreements are farther apart."""


def nothing_detectable(detectable: float) -> str:
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


class Standing(StrEnum):
    """What a comparison was made for."""

    PRIMARY = "primary"
    FAMILY = "family"
    EXPLORATORY = "exploratory"


class NamedAt(StrEnum):
    """Where a comparison was named."""

    STUDY_FILE = "study_file"
    ANALYSIS = "analysis"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Couple:
    """One comparison that is to be made; those of the family are corrected together, whatever their standing."""

    standing: Standing
    measure: str
    against: str
    in_family: bool
    named: NamedAt


def couples(wanted: Wanted, variants: Sequence[Variant], *, constant: Collection[str] = ()) -> list[Couple]:
    """Return the comparisons to be made, the primary one first.

    Every measure that is not fitted in sample is compared once with what its standing asks for: the family with its
    first measure, all others with the main measure. With a primary comparison all others are exploratory. One that was
    named at analysis is a member of the family: it may have been chosen by looking.

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
    where = NamedAt.ANALYSIS if wanted.at_analysis else NamedAt.STUDY_FILE
    of_family = where if wanted.compare else NamedAt.NOWHERE
    made = [] if wanted.primary is None else [(Standing.PRIMARY, *wanted.primary, wanted.at_analysis, where)]
    made += [(standing, one, reference, True, of_family) for one in family]
    made += [(Standing.EXPLORATORY, one, main, False, NamedAt.NOWHERE) for one in fair]
    first: dict[frozenset[str], Couple] = {}
    for why, measure, against, in_family, named in made:
        if measure != against:
            couple = Couple(standing=why, measure=measure, against=against, in_family=in_family, named=named)
            first.setdefault(frozenset({measure, against}), couple)
    return list(first.values())


def comparison_rows(
    task: JudgedTask,
    made: Sequence[Couple],
    differences: Mapping[str, Floats],
    rng: np.random.Generator,
) -> list[Row]:
    """Make the comparisons, under the paper's convention.

    Holm's correction is over the family; a primary comparison of the study file needs none, and others outside the family get none. One
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
        [couple.standing is Standing.PRIMARY and not couple.in_family for couple in made],
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
        | {"p_holm": p_holm, "named": str(couple.named)}
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
