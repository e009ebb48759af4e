"""How people differ in patience: its log-normal law, and judges who answer by chance.

The law is log-normal; its spread is said as a coefficient of variation.

Ties are left out here, since people differ in how often they give them: a preference is for the first summary with the log odds
b D + a, where a is what all judges of the pair agree on beyond M, shrunk to what their votes can tell.
"""

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import roots_hermitenorm

from calibration.inference.clusters import chance_of_common
from calibration.inference.davidson import choice_probabilities
from calibration.inference.people import SPREADS, FittedCrowd, fit_crowd, fit_crowds
from calibration.inference.results import CalibrationResult
from calibration.inference.uncertainty import LikelihoodCurve
from calibration.patience.pairs import JudgedSummaries, Judgments
from calibration.patience.profile import BestPlace
from metrics.arrays import Bools, Floats

NAME = "patience_chars_spread"


@dataclass(frozen=True, slots=True, kw_only=True)
class PatienceSpread:
    """A log-normal patience over people.

    Attributes
    ----------
    cv : (m,) ndarray of float
        Coefficients of variation that were tried, ascending from 0.
    drop : (m,) ndarray of float
        Twice the log-likelihood lost there.
    median : float
        Of people's patience.
    people, rows : int
        How many, and how much they did.
    """

    cv: Floats
    drop: Floats
    median: float
    people: int
    rows: int

    @property
    def best(self) -> float:
        """The likeliest coefficient of variation."""
        return float(self.cv[int(self.drop.argmin())])

    def result(self, source: str) -> CalibrationResult:
        """Return parameter ``patience_chars_spread``; ``source`` says what it is from."""
        curve = LikelihoodCurve(grid=self.cv, drop=self.drop, df=self.people - 1, floor=0.0)
        return CalibrationResult(
            parameters=MappingProxyType({NAME: self.best}),
            unit="coefficient of variation",
            method=f"from {source}: log-normal over people",
            uncertainty=MappingProxyType({"likelihood_ratio": curve}),
            n_workers=self.people,
            n_rows=self.rows,
            details=MappingProxyType({"median": self.median}),
        )


def spread_of(crowd: FittedCrowd, people: int, rows: int) -> PatienceSpread:
    """Return the spread of a crowd, which is on the log scale, as a coefficient of variation."""
    cv = np.sqrt(np.expm1(SPREADS**2))
    cv[0] = 0.0
    return PatienceSpread(
        cv=cv,
        drop=2 * (crowd.profile.max() - crowd.profile),
        median=math.exp(crowd.centre),
        people=people,
        rows=rows,
    )


def spread_of_logs(cv: float) -> float:
    """Return the standard deviation of the logarithm of a log-normal with this coefficient of variation."""
    return math.sqrt(math.log1p(cv**2))


DIFFERS = 0.02
"""A p-value below it says that patience differs."""
CHANCE_RATIO = 8.0
"""A likelihood ratio above it says that some answer by chance."""
SLOPES = np.linspace(-2, 2, 41)
"""Logarithms of a person's slope over that of all."""
PATIENCES = np.linspace(-2.4, 2.4, 81)
"""Logarithms of a person's patience over that of all."""
_NODES = 5


class ByChance(NamedTuple):
    """People who answer by chance.

    Attributes
    ----------
    share : float
        Of all people; 0 where nothing shows that there are any.
    people : (w,) ndarray of bool
        Who they are, more probably than not.
    """

    share: float
    people: Bools


def chance_that_alike(pairs: JudgedSummaries, judgments: Judgments, place: BestPlace) -> float:
    """Return p of the hypothesis that all have one patience.

    The score of kappa, of each vote against the other votes on the pair, so that what all like about a summary does not count; and
    without what a person's own slope explains.
    """
    kappa = np.array([place.kappa])
    difference = pairs.differences(kappa)[0]
    by_kappa = place.slope * pairs.difference_slopes(kappa)[0]
    first, second, _ = choice_probabilities(place.slope * difference, np.asarray(place.log_tie))
    variance = (first + second - (first - second) ** 2)[judgments.pair]
    mean = (pairs.votes.first - pairs.votes.second) / np.maximum(pairs.votes.total, 1)
    of, by = difference[judgments.pair], by_kappa[judgments.pair]
    own = np.bincount(judgments.worker, variance * of**2)
    shared = np.bincount(judgments.worker, variance * of * by) / np.maximum(own, 1e-300)
    score = (judgments.lead - mean[judgments.pair]) * (by - shared[judgments.worker] * of)
    return chance_of_common(score / max(np.abs(score).max(), 1e-300), judgments.worker)


def who_answers_by_chance(
    pairs: JudgedSummaries, judgments: Judgments, place: BestPlace
) -> tuple[ByChance, FittedCrowd]:
    """Return who answers by chance, and the crowd of slopes (over that of all) of the others."""
    table, by_chance = _slopes_table(pairs, judgments, place)
    alone, beside = fit_crowds(table, SLOPES, by_chance)
    if 2 * (beside.loglik - alone.loglik) < CHANCE_RATIO:
        return ByChance(0.0, np.zeros(len(table), dtype=np.bool_)), alone
    return ByChance(float(beside.shares[0]), beside.posterior[:, 0] > 0.5), beside


def patience_spread(
    pairs: JudgedSummaries, judgments: Judgments, place: BestPlace, slopes: FittedCrowd
) -> PatienceSpread:
    """Fit a log-normal patience over people, by quadrature over the slopes that they have."""
    nodes, weights = roots_hermitenorm(_NODES)
    patience = np.exp(PATIENCES) / place.kappa
    whole = pairs.differences(np.array([place.kappa]))[0]
    own = pairs.differences(1 / patience)
    scale = place.slope * _size(whole, pairs) / np.array([_size(row, pairs) for row in own])
    offset = _beyond_m(pairs, place)
    tables = [
        _loglik(
            judgments, (own * (scale * math.exp(slopes.centre + slopes.spread * node))[:, None]).T + offset
        )
        for node in nodes
    ]
    table = np.logaddexp.reduce(
        [one + math.log(weight / weights.sum()) for one, weight in zip(tables, weights, strict=True)]
    )
    return spread_of(
        fit_crowd(table, np.log(patience)), len(np.unique(judgments.worker)), len(judgments.pair)
    )


def _slopes_table(pairs: JudgedSummaries, judgments: Judgments, place: BestPlace) -> tuple[Floats, Floats]:
    """Return the log-likelihood of each person at each of `SLOPES`, and by chance."""
    difference = pairs.differences(np.array([place.kappa]))[0]
    log_odds = np.outer(place.slope * difference, np.exp(SLOPES)) + _beyond_m(pairs, place)
    nothing = np.zeros((len(difference), 1))
    return _loglik(judgments, log_odds), _loglik(judgments, nothing)


def _loglik(judgments: Judgments, log_odds: Floats) -> Floats:
    """Return the log-likelihood of each person's preferences at each of g laws, (p, g) -> (people, g)."""
    shape = (len(judgments.people), len(log_odds))
    place = (judgments.worker, judgments.pair)
    lead = csr_array((judgments.lead, place), shape=shape)
    decided = csr_array((np.abs(judgments.lead), place), shape=shape)
    half = log_odds / 2
    return np.asarray(lead @ half - decided @ np.logaddexp(half, -half))


def _beyond_m(pairs: JudgedSummaries, place: BestPlace) -> Floats:
    """Return what the judges of each pair agree on beyond M, in log odds, (p, 1).

    A step of Newton's method on each pair, shrunk by the variance over pairs that Pearson's residuals leave.
    """
    log_odds = place.slope * pairs.differences(np.array([place.kappa]))[0]
    decided = pairs.votes.first + pairs.votes.second
    lead = np.tanh(log_odds / 2)
    score = (pairs.votes.first - pairs.votes.second - decided * lead) / 2
    weight = decided * (1 - lead**2) / 4
    variance = float((score**2 - weight).sum() / max((weight**2).sum(), 1e-300))
    shift = score / (weight + 1 / variance) if variance > 0 else np.zeros(len(score))
    return np.asarray(shift[:, None])


def _size(differences: Floats, pairs: JudgedSummaries) -> float:
    return float(np.sqrt(differences**2 @ pairs.votes.total / pairs.votes.total.sum())) or 1.0
