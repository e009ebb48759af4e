"""Checks of the linear decay of stops: exponential decay, straight survival curve.

The check of the curve compares its mean squared distance from the fitted line with the distances of simulated readers of the same texts,
fitted anew; p is from a scaled chi-squared with the mean and the variance of the simulated distances. The exponential decay is compared
with the line by likelihood: if the line is true, a gain of g or more has probability at most exp(-g) (Markov's inequality).
"""

import math
from functools import lru_cache

import numpy as np

from calibration.checks.finding import REJECTED, Finding, explains_at
from calibration.checks.patience.careless_stops import NOT_A_LINE
from calibration.checks.patience.patience_differs import stop_residuals
from calibration.checks.patience.simulated import chance_of_distance
from calibration.inference.clusters import p_shared_effect
from calibration.inference.formatting import format_p
from calibration.models.patience.stops import (
    LAPSES,
    PATIENCES,
    Stops,
    StopsFit,
    curve_positions,
    line_fits,
    logliks_of_people,
    simulated_stops,
    survival_curves,
)
from calibration.user_model.model import OtherLaw, plain_name
from metrics.arrays import Floats

SIMULATIONS = 99


def check_exponential(fit: StopsFit, stops: Stops) -> Finding | None:
    """Compare an exponential decay with the line; None if the line is likelier."""
    if math.isinf(fit.estimates[0]) or _texts_differ(stops):
        return None
    scale, gain = exponential_gain(stops, float(fit.estimates[0]))
    if gain <= 0:
        return None
    p_value = math.exp(-gain)
    line_patience = 1 / float(line_fits(np.exp(-fit.positions[None] / scale), fit.positions)[0])
    law = OtherLaw(
        law="exponential decay",
        estimate=line_patience,
        explains=explains_at(p_value),
    )
    return Finding(
        name="decay_exponential",
        p_value=p_value,
        explains=NOT_A_LINE,
        gain=gain,
        sentence=f"Stops fall off exponentially rather than along a line (log-likelihood {gain:.1f} higher, {format_p(p_value)}): a share of 1/e still reads after {scale:.0f} "
        f"characters. The reported L, {fit.estimates[0]:.0f}, is that of the nearest line, not this 1/e length.",
        sensitivity={plain_name(next(iter(fit.parameters))): (law,)},
    )


def _texts_differ(stops: Stops) -> bool:
    """Return whether texts differ: stops are then no independent draws of one curve."""
    return p_shared_effect(stop_residuals(stops), stops.text) < REJECTED


def exponential_gain(stops: Stops, patience: float) -> tuple[float, float]:
    """Return the 1/e length of an exponential law, and its log-likelihood gain."""
    scale = patience * np.exp(PATIENCES)
    linear = logliks_of_people(stops, scale).sum(axis=0).max()
    low, high = (np.exp(-ends[:, None] / scale) for ends in (stops.low, stops.high))
    has_width = stops.high > stops.low
    width = np.where(has_width, stops.high - stops.low, 1.0)[:, None]
    likelihood = np.where(
        stops.stopped[:, None], np.where(has_width[:, None], (low - high) / width, high / scale), low
    )
    lapse_likelihood = np.where(stops.stopped, 1 / stops.length, 0.5)[:, None]
    loglik = np.log((1 - LAPSES) * likelihood + LAPSES * lapse_likelihood).sum(axis=0)
    return float(scale[loglik.argmax()]), float(loglik.max() - linear)


def check_straight_curve(fit: StopsFit, stops: Stops) -> Finding | None:
    """Test whether the survival curve is a line; checks of causes explain more."""
    patience = float(fit.estimates[0])
    if math.isinf(patience) or _texts_differ(stops):
        return None
    distance = _distance(fit.curve, fit.positions, patience)
    p_value = chance_of_distance(distance, _simulated_distances(stops, patience))
    return Finding(
        name="straight_survival_curve",
        p_value=p_value,
        explains=NOT_A_LINE,
        sentence=f"The share still reading differs from the fitted line by {math.sqrt(distance):.3f} (root mean square; {format_p(p_value)} by {SIMULATIONS} simulated studies)"
        f"{': people differ in patience, or some of them always finish.' if p_value < REJECTED else ': a line describes it.'}",
    )


@lru_cache(maxsize=1)
def _simulated_distances(stops: Stops, patience: float) -> list[float]:
    """Return the distances of simulated studies; cached for the parameters of one fit."""
    rng = np.random.default_rng(1)
    return [_simulated_distance(stops.length, patience, rng) for _ in range(SIMULATIONS)]


def _simulated_distance(text_chars: Floats, patience: float, rng: np.random.Generator) -> float:
    read, stopped = simulated_stops(text_chars, patience, rng)
    positions = curve_positions(read)
    curve = survival_curves(read, stopped, np.ones((1, len(read))), positions)
    kappa = float(line_fits(curve, positions)[0])
    return _distance(curve[0], positions, 1 / kappa if kappa > 0 else math.inf)


def _distance(curve: Floats, positions: Floats, patience: float) -> float:
    return float(np.mean((curve - np.maximum(0.0, 1 - positions / patience)) ** 2))
