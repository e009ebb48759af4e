"""Do some judges answer as if by chance?

A class of people whose preferences do not depend on M, beside people whose slopes are log-normal (McLachlan and Peel 2000). Its share is
on the edge of its range where nobody does, so the likelihood ratio has half a chi-squared (Self and Liang 1987).
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from calibration.checks.finding import REJECTED, Finding, edge_p
from calibration.checks.patience.without import law_without
from calibration.inference.formatting import format_p
from calibration.inference.heterogeneity import fit_crowds
from calibration.models.patience.pairs import JudgedSummaries
from calibration.models.patience.preferences import (
    PreferencesFit,
    ProfileMaximum,
    fit_patience_from_preferences,
)
from calibration.models.patience.spread import SLOPES, logliks_of_preferences, logliks_of_slopes
from metrics.arrays import Bools


class AnswersByChance(NamedTuple):
    """Class of people who answer by chance.

    Attributes
    ----------
    people : (w,) ndarray of bool
        Who answers more probably by chance than not.
    gain : float
        Log-likelihood that the class explains beyond slopes that differ.
    p_value : float
        How often it would explain as much if nobody did.
    """

    people: Bools
    gain: float
    p_value: float


@lru_cache(maxsize=1)
def answers_by_chance(pairs: JudgedSummaries, optimum: ProfileMaximum) -> AnswersByChance | None:
    """Find people who answer by chance, or return None.

    The result is None without judges' names or without a decay.
    """
    judgments = pairs.judgments
    if optimum.kappa == 0 or judgments is None or len(judgments.people) < 2:
        return None
    by_chance = logliks_of_preferences(judgments, np.zeros((len(pairs.topic), 1)))
    alone, beside = fit_crowds(logliks_of_slopes(pairs, judgments, optimum), SLOPES, by_chance)
    gain = max(beside.loglik - alone.loglik, 0.0)
    return AnswersByChance(beside.posterior[:, 0] > 0.5, gain, edge_p(2 * gain))


def judges_in_earnest(pairs: JudgedSummaries, optimum: ProfileMaximum) -> JudgedSummaries:
    """Return the pairs without the votes of judges found to answer by chance."""
    chance, judgments = answers_by_chance(pairs, optimum), pairs.judgments
    if chance is None or judgments is None or chance.p_value >= REJECTED or not chance.people.any():
        return pairs
    return pairs.of_judgments(~chance.people[judgments.worker])


def check_answers_by_chance(fit: PreferencesFit, pairs: JudgedSummaries) -> Finding | None:
    """Compare a class of random answers with slopes that differ."""
    chance = answers_by_chance(pairs, fit.place)
    if chance is None or not chance.people.any() or chance.p_value >= REJECTED or pairs.judgments is None:
        return None
    rest = pairs.of_judgments(~chance.people[pairs.judgments.worker])
    others = int((~chance.people).sum())
    law = law_without(
        f"without {chance.people.sum()} of {len(chance.people)} people",
        lambda: fit_patience_from_preferences(rest, n_workers=others),
    )
    (name, estimate), *_ = fit.parameters.items()
    return Finding(
        name="answers_by_chance",
        p_value=chance.p_value,
        gain=chance.gain,
        sentence=f"{chance.people.sum()} of {len(chance.people)} people answer as if by chance ({format_p(chance.p_value)}): they are in this patience of "
        f"{estimate:.0f}; {law.sentence}.",
        sensitivity=law.sensitivity(name),
    )
