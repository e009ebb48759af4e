"""Do some judges answer as if by chance?

A class of people whose preferences do not depend on M, beside people whose slopes are log-normal (McLachlan and Peel 2000). Its share is
on the edge of its range where nobody does, so the likelihood ratio has half a chi-squared (Self and Liang 1987).
"""

from functools import lru_cache

import numpy as np

from calibration.checks.finding import Finding, edge_p
from calibration.checks.patience.without import PeopleApart
from calibration.inference.heterogeneity import fit_crowds
from calibration.models.patience.pairs import JudgedSummaries
from calibration.models.patience.preferences import (
    PreferencesFit,
    ProfileMaximum,
    fit_patience_from_preferences,
)
from calibration.models.patience.spread import SLOPES, logliks_of_preferences, logliks_of_slopes


@lru_cache(maxsize=1)
def answers_by_chance(pairs: JudgedSummaries, optimum: ProfileMaximum) -> PeopleApart | None:
    """Find people who answer by chance, or return None.

    The result is None without judges' names or without a decay.
    """
    judgments = pairs.judgments
    if optimum.kappa == 0 or judgments is None or len(judgments.people) < 2:
        return None
    by_chance = logliks_of_preferences(judgments, np.zeros((len(pairs.topic), 1)))
    alone, beside = fit_crowds(logliks_of_slopes(pairs, judgments, optimum), SLOPES, by_chance)
    gain = max(beside.loglik - alone.loglik, 0.0)
    return PeopleApart(beside.posterior[:, 0] > 0.5, gain, edge_p(2 * gain))


def judges_in_earnest(pairs: JudgedSummaries, optimum: ProfileMaximum) -> JudgedSummaries:
    """Return the pairs without the votes of judges found to answer by chance."""
    chance, judgments = answers_by_chance(pairs, optimum), pairs.judgments
    if chance is None or judgments is None or not chance.is_clear:
        return pairs
    return pairs.of_judgments(~chance.people[judgments.worker])


def check_answers_by_chance(fit: PreferencesFit, pairs: JudgedSummaries) -> Finding | None:
    """Compare a class of random answers with slopes that differ."""
    chance, rest = answers_by_chance(pairs, fit.place), judges_in_earnest(pairs, fit.place)
    if chance is None or rest is pairs:
        return None
    return chance.finding(
        "answers_by_chance",
        f"answer as if by chance ({{}}): they are in this patience of {fit.estimates[0]:.0f}",
        fit,
        lambda: fit_patience_from_preferences(rest, n_workers=int((~chance.people).sum())),
    )
