"""Does use stop falling, with some updates useful however late they come?

The law is p(lambda) = p0 (f + (1 - f) L^lambda).

For each floor f the likelihood has its maximum in (log L, logit p0), found by Fisher's scoring for many floors at once. How far the
likelihood then lies below its top, in units of a chi-squared and divided by the design effect of f, says which floors the answers
leave open, and so which L (a profile likelihood of L with f as a nuisance).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtri, xlog1py, xlogy

from calibration.checks.finding import REJECTED, Finding, explains_at
from calibration.checks.lateness.crowd import NOT_GEOMETRIC, crowd_with, edge_ratio, is_inside
from calibration.inference.formatting import format_p
from calibration.inference.maximise import LogLikelihood, StoppingRule, maximise_newton
from calibration.inference.results import LEVEL
from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.error import DECAY, FLOOR, P0, clustered_error
from calibration.models.lateness.fit import LatenessFit
from calibration.models.lateness.likelihood import scores_and_information
from calibration.user_model.model import LATENESS, OtherLaw
from metrics.arrays import Floats
from metrics.errors import percent


def check_floor(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Compare a decay that levels off with one to 0, or return None.

    The result is None where lateness has too few levels to distinguish them.
    """
    if not is_inside(counts) or len(counts.level) < 3:
        return None
    curve = fit_floor(counts)
    effect = floor_design_effect(curve, counts)
    open_floors = floors_left_open(curve, effect, counts)
    reach = float(ndtri((1 + LEVEL) / 2))
    largest = open_floors.largest_floor(reach)
    ratio, p_value = edge_ratio(crowd_with("floor", counts), counts, effect)
    if largest == 0 and p_value > 0.5:
        return None
    decay = fit.estimates[0]
    at_best = curve.decay if curve.floor > 0 else float(np.exp(open_floors.log_decay[0]))
    low, high = open_floors.decays(reach)
    law = OtherLaw(
        law="floor",
        estimate=at_best,
        low=low,
        high=high,
        explains=explains_at(p_value),
    )
    with_largest = float(np.exp(np.interp(largest, open_floors.floor, open_floors.log_decay)))
    if p_value < REJECTED:
        sentence = (
            f"Use levels off at {percent(curve.floor)} of what it is in time ({format_p(p_value)}): with this floor L is {at_best:.2f}, "
            f"not {decay:.2f}."
        )
    else:
        sentence = (
            f"The answers do not show whether use levels off: a floor of up to {percent(largest)} agrees with them, and with it L would be "
            f"{with_largest:.2f}, not {decay:.2f}. Ask about later updates, or more of them."
        )
    return Finding(
        name="lateness_floor",
        p_value=p_value,
        explains=NOT_GEOMETRIC,
        gain=ratio / 2,
        sentence=sentence,
        sensitivity={LATENESS: (law,)},
    )


MAX_DOUBTED_FLOOR = 0.6
"""Largest floor that an interval of L allows for where none was found.

Lateness hardly matters with a larger floor.
"""
_DOUBTED = np.linspace(0, MAX_DOUBTED_FLOOR, 16)
_LARGEST = 0.95
_ZOOMS, _AT_ONCE = 3, 21
"""Rounds of the search for the best floor, and floors in each: to a thousandth."""
_RULE = StoppingRule(least_promise=1e-7, most_steps=20, slack=1e-12)
_LOWER_BOUNDS, _UPPER_BOUNDS = np.array([-30.0, -12.0]), np.array([-1e-6, 12.0])
"""Bounds of log L and logit p0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlooredDecay:
    """Maximum of the likelihood with a floor.

    Attributes
    ----------
    decay, p0, floor : float in (0, 1)
        L, p0 and f.
    loglik : float
        The log-likelihood there.
    """

    decay: float
    p0: float
    floor: float
    loglik: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorProfile:
    """Profile likelihood of the floor, with the L of each floor.

    Attributes
    ----------
    floor : (m,) ndarray of float
        f, ascending from 0.
    log_decay, error : (m,) ndarray of float
        log L of highest likelihood given f, and its standard error given f.
    drop : (m,) ndarray of float
        How far the likelihood lies below its top, 2 (l_max - l(f)) divided by the design effect.
    """

    floor: Floats
    log_decay: Floats
    error: Floats
    drop: Floats

    def least_log_decay(self, reach: float) -> float:
        """Return the smallest log L whose drop in likelihood is at most ``reach``^2."""
        room = np.sqrt(np.maximum(reach**2 - self.drop, 0.0))
        return float(np.where(self.drop <= reach**2, self.log_decay - room * self.error, np.inf).min())

    def decays(self, reach: float) -> tuple[float, float]:
        """Return the smallest and largest L within a likelihood drop of ``reach``^2."""
        room = np.sqrt(np.maximum(reach**2 - self.drop, 0.0))
        high = np.where(self.drop <= reach**2, self.log_decay + room * self.error, -np.inf).max()
        return float(np.exp(self.least_log_decay(reach))), float(min(1.0, np.exp(high)))

    def largest_floor(self, reach: float) -> float:
        """Return the largest floor whose drop is at most ``reach``^2."""
        return float(self.floor[self.drop <= reach**2].max(initial=0.0))


def fit_floor(counts: LatenessCounts) -> FlooredDecay:
    """Maximise the likelihood of (L, p0, f)."""
    low, high = 0.0, _LARGEST
    for _ in range(_ZOOMS):
        grid = np.linspace(low, high, _AT_ONCE)
        point, loglik = _given(grid, counts)
        best = int(loglik.argmax())
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, _AT_ONCE - 1)]
    decay, p0 = np.exp(point[best, 0]), expit(point[best, 1])
    return FlooredDecay(decay=float(decay), p0=float(p0), floor=float(grid[best]), loglik=float(loglik[best]))


def floor_design_effect(curve: FlooredDecay, counts: LatenessCounts) -> float:
    """Return the design effect of f over workers and nuggets, at least 1.

    It is the ratio of the variance with their differences to that without.
    """
    floor = max(curve.floor, 0.01)
    information = scores_and_information(curve.decay, curve.p0, counts, floor)[1].sum(axis=0)
    plain = np.linalg.pinv(information, hermitian=True)[FLOOR, FLOOR]
    error = clustered_error(curve.decay, curve.p0, counts, floor=floor, moving=(DECAY, P0, FLOOR))
    return float(max(1.0, error.cov[FLOOR, FLOOR] / plain))


def floors_left_open(curve: FlooredDecay, effect: float, counts: LatenessCounts) -> FloorProfile:
    """Return the profile of floors up to `MAX_DOUBTED_FLOOR`.

    Parameters
    ----------
    curve : FlooredDecay
        The maximum.
    effect : float
        The design effect of f.
    counts : LatenessCounts
        The answers, with three levels or more.
    """
    point, loglik = _given(_DOUBTED, counts)
    top = max(loglik.max(), curve.loglik if curve.floor <= MAX_DOUBTED_FLOOR else -np.inf)
    errors = [
        clustered_error(float(np.exp(a)), float(expit(b)), counts, floor=float(floor)).cov[0, 0]
        for (a, b), floor in zip(point, _DOUBTED, strict=True)
    ]
    return FloorProfile(
        floor=_DOUBTED, log_decay=point[:, 0], error=np.sqrt(errors), drop=2 * (top - loglik) / effect
    )


def _given(floor: Floats, counts: LatenessCounts) -> tuple[Floats, Floats]:
    """Return (log L, logit p0) at m floors, (m, 2), and the likelihoods, (m,).

    They are the likeliest at that floor.
    """
    asked, useful = counts.total_asked, counts.total_useful
    room = (1 - floor)[:, None]

    def chance(point: Floats) -> tuple[Floats, Floats]:
        left = room * np.exp(point[:, :1] * counts.level)
        share = floor[:, None] + left
        return expit(point[:, 1:]) * share, counts.level * left / share

    def look(point: Floats) -> LogLikelihood:
        p, _ = chance(point)
        return LogLikelihood((xlogy(useful, p) + xlog1py(asked - useful, -p)).sum(axis=1))

    def step(point: Floats, _: LogLikelihood) -> tuple[Floats, Floats]:
        p, by_decay = chance(point)
        design = np.stack([by_decay, np.broadcast_to(expit(-point[:, 1:]), p.shape)], axis=1)
        gradient = (design * ((useful - asked * p) / (1 - p))[:, None]).sum(axis=2)
        information = np.einsum("mk,mik,mjk->mij", asked * p / (1 - p), design, design)
        information += 1e-9 * np.eye(2)
        whole = np.linalg.solve(information, gradient[..., None])[..., 0]
        return whole, (gradient * whole).sum(axis=1)

    share = np.clip(useful[0] / asked[0], 0.05, 0.95)
    start = np.tile([-0.5, logit(share)], (len(floor), 1))
    top = maximise_newton(look, start, step, _RULE, (_LOWER_BOUNDS, _UPPER_BOUNDS))
    return top.point, np.asarray(top.place.loglik)
