"""Spread of patience between people, by a log-normal law.

From preferences, ties are left out, since people differ in how often they give them: a preference is for the first summary with the log
odds b D + a, where b is log-normal over people, and a is what all judges of the pair agree on beyond M, shrunk to what their votes can tell.
From stops, each person stops evenly up to the own patience.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from scipy.sparse import csr_array
from scipy.special import roots_hermitenorm

from calibration.inference.heterogeneity import SPREADS, FittedPopulation, fit_crowd
from calibration.inference.results import CalibrationResult
from calibration.inference.uncertainty import LikelihoodCurve
from calibration.models.patience.pairs import JudgedSummaries, Judgments
from calibration.models.patience.preferences import ProfileMaximum
from calibration.models.patience.stops import PATIENCES, Stops, logliks_of_people
from metrics.arrays import Floats

NAME = "patience_chars_spread"
SLOPES = np.linspace(-2, 2, 41)
"""Grid of the logarithm of a person's slope over that of all."""
_NODES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PatienceSpread:
    """Fitted log-normal spread of patience over people.

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
        """Likeliest coefficient of variation."""
        return float(self.cv[int(self.drop.argmin())])

    def result(self, source: str) -> CalibrationResult:
        """Return parameter ``patience_chars_spread``, estimated from ``source``."""
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


@lru_cache(maxsize=2)
def spread_from_preferences(pairs: JudgedSummaries, optimum: ProfileMaximum) -> PatienceSpread | None:
    """Fit a log-normal patience over judges, by quadrature over their slopes.

    Parameters
    ----------
    pairs : JudgedSummaries
        What was judged.
    optimum : ProfileMaximum
        Where the likelihood of one patience for all is highest.

    Returns
    -------
    PatienceSpread or None
        None where nobody knows who judged, there is one person, or no decay.
    """
    judgments = pairs.judgments
    if optimum.kappa == 0 or judgments is None or len(judgments.people) < 2:
        return None
    slopes = fit_crowd(logliks_of_slopes(pairs, judgments, optimum), SLOPES)
    nodes, weights = roots_hermitenorm(_NODES)
    patience = np.exp(PATIENCES) / optimum.kappa
    whole = pairs.differences(np.array([optimum.kappa]))[0]
    own = pairs.differences(1 / patience)
    scale = optimum.slope * _size(whole, pairs) / np.array([_size(row, pairs) for row in own])
    offset = _beyond_m(pairs, optimum)
    tables = [
        logliks_of_preferences(
            judgments, (own * (scale * math.exp(slopes.centre + slopes.spread * node))[:, None]).T + offset
        )
        for node in nodes
    ]
    table = np.logaddexp.reduce(
        [
            by_patience + math.log(weight / weights.sum())
            for by_patience, weight in zip(tables, weights, strict=True)
        ]
    )
    return _spread(fit_crowd(table, np.log(patience)), len(judgments.people), len(judgments.pair))


@lru_cache(maxsize=2)
def spread_from_stops(stops: Stops, patience: float) -> PatienceSpread | None:
    """Fit a log-normal patience over readers; None for one reader or no bound."""
    if math.isinf(patience) or len(stops.people) < 2:
        return None
    grid = math.log(patience) + PATIENCES
    crowd = fit_crowd(logliks_of_people(stops, np.exp(grid)), grid)
    return _spread(crowd, len(stops.people), len(stops.low))


def _spread(crowd: FittedPopulation, people: int, rows: int) -> PatienceSpread:
    """Convert the log-scale spread of a population to a coefficient of variation."""
    cv = np.sqrt(np.expm1(SPREADS**2))
    cv[0] = 0.0
    return PatienceSpread(
        cv=cv,
        drop=2 * (crowd.profile.max() - crowd.profile),
        median=math.exp(crowd.centre),
        people=people,
        rows=rows,
    )


def logliks_of_slopes(pairs: JudgedSummaries, judgments: Judgments, optimum: ProfileMaximum) -> Floats:
    """Return each person's log-likelihood of preferences at `SLOPES`, (people, g)."""
    difference = pairs.differences(np.array([optimum.kappa]))[0]
    return logliks_of_preferences(
        judgments, np.outer(optimum.slope * difference, np.exp(SLOPES)) + _beyond_m(pairs, optimum)
    )


def logliks_of_preferences(judgments: Judgments, log_odds: Floats) -> Floats:
    """Return each person's log-likelihood of preferences at g laws.

    The shape changes from (p, g) to (people, g).
    """
    shape = (len(judgments.people), len(log_odds))
    place = (judgments.worker, judgments.pair)
    lead = csr_array((judgments.lead, place), shape=shape)
    decided = csr_array((np.abs(judgments.lead), place), shape=shape)
    half = log_odds / 2
    return np.asarray(lead @ half - decided @ np.logaddexp(half, -half))


def _beyond_m(pairs: JudgedSummaries, optimum: ProfileMaximum) -> Floats:
    """Return the judges' agreement on each pair beyond M, in log odds, (p, 1).

    It is one Newton step on each pair, shrunk by the variance over pairs that Pearson's residuals leave.
    """
    log_odds = optimum.slope * pairs.differences(np.array([optimum.kappa]))[0]
    decided = pairs.votes.first + pairs.votes.second
    lead = np.tanh(log_odds / 2)
    score = (pairs.votes.first - pairs.votes.second - decided * lead) / 2
    weight = decided * (1 - lead**2) / 4
    variance = float((score**2 - weight).sum() / max((weight**2).sum(), 1e-300))
    shift = score / (weight + 1 / variance) if variance > 0 else np.zeros(len(score))
    return np.asarray(shift[:, None])


def _size(differences: Floats, pairs: JudgedSummaries) -> float:
    return float(np.sqrt(differences**2 @ pairs.votes.total / pairs.votes.total.sum())) or 1.0
