"""Does patience differ between people?

The score test of a random effect (Commenges and Andersen 1995), by persons. Of judges: do the votes of a person pull kappa in one direction? Each vote is held against the other votes on its pair, so that what all
like about a summary does not count, and without what the person's own slope explains. Of readers: have a person's stops residuals in
common, 1 for a stop less the hazard on the way (Nelson and Aalen)?
"""

import numpy as np

from calibration.checks.finding import REJECTED, Finding
from calibration.checks.patience.careless_preferences import judges_in_earnest
from calibration.checks.patience.careless_stops import NOT_A_LINE, stops_in_earnest
from calibration.inference.choice import choice_probabilities
from calibration.inference.clusters import p_shared_effect
from calibration.inference.formatting import format_p
from calibration.inference.results import CalibrationResult
from calibration.models.patience.pairs import JudgedSummaries
from calibration.models.patience.preferences import PreferencesFit, ProfileMaximum
from calibration.models.patience.spread import PatienceSpread, spread_from_preferences, spread_from_stops
from calibration.models.patience.stops import Stops, StopsFit
from calibration.user_model.model import OtherLaw, plain_name
from metrics.arrays import Floats

NOT_ONE_LINE = "preferences not of one linear decay"
"""Fact that a patience that differs and another form of decay explain."""


def check_judges(fit: PreferencesFit, pairs: JudgedSummaries) -> Finding | None:
    """Test whether patience differs between judges."""
    pairs = judges_in_earnest(pairs, fit.place)
    if fit.place.kappa == 0 or pairs.judgments is None or len(set(pairs.judgments.worker.tolist())) < 2:
        return None
    p_value = chance_that_judges_alike(pairs, fit.place)
    spread = spread_from_preferences(pairs, fit.place) if p_value < REJECTED else None
    return None if spread is None else _finding(fit, p_value, spread, NOT_ONE_LINE)


def check_readers(fit: StopsFit, stops: Stops) -> Finding | None:
    """Test whether patience differs between readers."""
    patience = float(fit.estimates[0])
    if np.isinf(patience):
        return None
    stops = stops_in_earnest(stops, patience)
    p_value = p_shared_effect(stop_residuals(stops), stops.worker)
    spread = spread_from_stops(stops, patience) if p_value < REJECTED else None
    return None if spread is None else _finding(fit, p_value, spread, NOT_A_LINE)


def _finding(fit: CalibrationResult, p_value: float, spread: PatienceSpread, explains: str) -> Finding:
    name = plain_name(next(iter(fit.parameters)))
    median = OtherLaw(law="log-normal over people, median", estimate=spread.median, explains="better")
    return Finding(
        name="patience_differs",
        p_value=p_value,
        explains=explains,
        gain=float(spread.drop[0]) / 2,
        sentence=f"Patience differs between people ({format_p(p_value)}; coefficient of variation {spread.best:.2f}, see patience_chars_spread): half of "
        f"them have more than {spread.median:.0f} characters. The L given, {fit.estimates[0]:.0f}, is that of the one line that explains most.",
        sensitivity={name: (median,)},
    )


def chance_that_judges_alike(pairs: JudgedSummaries, optimum: ProfileMaximum) -> float:
    """Return p of the hypothesis that all judges have one patience."""
    judgments = pairs.judgments
    if judgments is None:
        return 1.0
    kappa = np.array([optimum.kappa])
    difference = pairs.differences(kappa)[0]
    by_kappa = optimum.slope * pairs.difference_slopes(kappa)[0]
    first, second, _ = choice_probabilities(optimum.slope * difference, np.asarray(optimum.log_tie))
    variance = (first + second - (first - second) ** 2)[judgments.pair]
    mean = (pairs.votes.first - pairs.votes.second) / np.maximum(pairs.votes.total, 1)
    of, by = difference[judgments.pair], by_kappa[judgments.pair]
    own = np.bincount(judgments.worker, variance * of**2)
    shared = np.bincount(judgments.worker, variance * of * by) / np.maximum(own, 1e-300)
    score = (judgments.lead - mean[judgments.pair]) * (by - shared[judgments.worker] * of)
    return p_shared_effect(score / max(np.abs(score).max(), 1e-300), judgments.worker)


def stop_residuals(stops: Stops) -> Floats:
    """Return each stop less the reader's cumulative hazard, (n,).

    They add up to 0. Stops at the same point, such as the end of a screen, share a hazard.
    """
    places, group = np.unique((stops.low + stops.high) / 2, return_inverse=True)
    here = np.bincount(group, stops.stopped, len(places))
    at_risk = np.bincount(group)[::-1].cumsum()[::-1]
    return np.asarray(stops.stopped - np.cumsum(here / at_risk)[group])
