"""Which law stands for the answers: other laws, nuggets that differ, and the choice between them.

A test whether nuggets differ in how often they are of use, whoever is asked and however late they come.

With r_uj the sum of (y - p) / (1 - p) over the answers y of worker u on nugget j, p the share of useful updates at their lateness (what a
nugget's own p0 moves, per unit), and workers independent of each other,

    T = sum_{u != v} a_uv,    a_uv = sum_j r_uj r_vj

has mean 0 where nuggets do not differ, but for what the fitted shares take away, and variance 2 sum_{u != v} a_uv^2: workers who differ in
how often anything is of use to them do not move it. A score test of a variance (Liang 1987), nearly chi-squared with as many degrees
of freedom as nuggets.

Other laws than p0_u L^lambda against each other: a floor, careless people, workers who decay differently.

Workers differ in p0 (logit p0_u normal), and everything here allows for it, because it does no harm to L. Beside that law stand three, each with one
number more:

- floor: p0_u (f + (1 - f) L^lambda), some updates keep their use however late they come;
- careless: a share of the workers answers whatever is asked, each with a chance of yes of their own, uniform on [0, 1];
- own decay: logit L_u is normal over workers.

Which of them explains best is told by the likelihood of each worker's answers, integrated by Gauss-Hermite quadrature. Each
number is on the edge of its range where the plain law holds, so a likelihood ratio has half a chi-squared with one degree of freedom (Self and
Liang 1987); with three laws to choose from p is three times that of the best.

Which curve stands for the answers: a plain decay, one to a floor, or that of the workers who answer in earnest.

The plain one stands unless another law explains the answers decisively better. Where workers decay differently it
stands too, with a warning: it is the geometric curve closest to that of all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaln, chdtrc, expit, logit, logsumexp, roots_hermitenorm

from calibration.inference.people import CarelessClass, careless_class
from calibration.lateness.floor import (
    FlooredDecay,
    FloorsLeftOpen,
    fit_floor,
    floor_design_effect,
    floors_left_open,
)
from calibration.lateness.likelihood import LatenessCounts, maximum
from metrics.arrays import Floats

MOST_WORKERS = 1000
"""Above so many, only so many of them, evenly chosen, enter a test: they are plenty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NuggetTest:
    """How far nuggets differ.

    Attributes
    ----------
    nuggets : int
        That were asked about.
    p_value : float
        How often chance brings about as much.
    """

    nuggets: int
    p_value: float


def nugget_test(counts: LatenessCounts) -> NuggetTest | None:
    """Test whether nuggets differ; None where no nugget was asked of two workers, or all were the same."""
    counts = thinned(counts)
    crossing, by_nugget = counts.crossing, counts.by_nugget
    if crossing is None or by_nugget is None or by_nugget.workers < 2:
        return None
    share = counts.total_useful / counts.total_asked
    weight = 1 / (1 - counts.total_useful / (counts.total_asked + 1))
    residual = np.zeros((counts.workers, by_nugget.workers))
    residual[crossing.worker, crossing.nugget] = (crossing.useful - crossing.asked * share) @ weight
    together = residual @ residual.T
    np.fill_diagonal(together, 0.0)
    deviation = np.sqrt(2 * (together**2).sum())
    if deviation == 0:
        return None
    own = (residual**2).sum(axis=0)
    fitted = share * (1 - share) * weight**2 @ ((by_nugget.asked**2).sum(axis=0) / counts.total_asked)
    effective = own.sum() ** 2 / (own**2).sum()
    value = effective + np.sqrt(2 * effective) * (together.sum() + fitted) / deviation
    return NuggetTest(nuggets=by_nugget.workers, p_value=float(chdtrc(effective, value)))


def thinned(counts: LatenessCounts) -> LatenessCounts:
    """Return the answers of at most `MOST_WORKERS` workers."""
    if counts.workers <= MOST_WORKERS:
        return counts
    return counts.of(np.linspace(0, counts.workers - 1, MOST_WORKERS).astype(np.intp))


Law: TypeAlias = Literal["floor", "careless", "own decay"]
_Height: TypeAlias = tuple[float, Floats]
_P0_NODES, _DECAY_NODES = 21, 11
_BOUNDS = [(-6.0, 8.0), (-3.0, 1.5), (-8.0, 8.0)]
"""Of logit p0, the log of its deviation over workers, and logit L."""
NEARLY = 6.0
"""A likelihood ratio that is lower by less explains nearly as well."""
LEAST = 3.0
"""A likelihood ratio below it explains nothing."""
_SMALLEST = 1e-12
"""The smallest chance of a yes, and of a no, that is looked at."""
_START: dict[Law, tuple[float, tuple[float, float]]] = {
    "floor": (logit(0.05), (-9.0, 3.0)),
    "own decay": (np.log(0.3), (-4.0, 1.5)),
}
"""Where the search of one number more begins, and its bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BetterLaw:
    """A law that explains the answers better than that of all.

    Attributes
    ----------
    law : {'floor', 'careless', 'own decay'}
        Which.
    ratios : mapping of str to float
        Law -> 2 (its log-likelihood - that of the plain law).
    p_value : float
        How often chance brings about as much.
    careless : CarelessClass
        Who is careless if somebody is.
    decay, decay_sd : float
        L of a typical worker, and the standard deviation of logit L over workers, if they have their own.
    """

    law: Law
    ratios: Mapping[Law, float]
    p_value: float
    careless: CarelessClass
    decay: float
    decay_sd: float

    def nearly(self, law: Law) -> bool:
        """Tell whether a law that is not the best explains nearly as well."""
        return law != self.law and self.ratios[law] > max(self.ratios[self.law] - NEARLY, LEAST)

    @property
    def mean_decay(self) -> float:
        """The mean over workers of their own L."""
        x, log_weight = _nodes(_DECAY_NODES)
        return float(np.exp(log_weight) @ expit(logit(self.decay) + self.decay_sd * x))


def better_law(decay: float, p0: float, counts: LatenessCounts, *, floor_effect: float = 1.0) -> BetterLaw:
    """Compare the laws.

    Parameters
    ----------
    decay, p0 : float in (0, 1)
        Where the search begins.
    counts : LatenessCounts
        The answers; of more than `MOST_WORKERS` workers only so many are compared.
    floor_effect : float
        How many times larger the variance of a floor is because nuggets differ: its likelihood ratio is divided by it.
    """
    some = thinned(counts)
    careless_answers = _careless(some)
    plain, loglik = _top(
        lambda point: _height(point, some), np.array([logit(p0), np.log(0.5), logit(decay)]), []
    )
    tops: dict[Law, tuple[Floats, float]] = {
        "floor": _with_more("floor", plain, lambda point: _height(point, some, "floor")),
        "careless": _top(lambda point: _height(point, some, careless=careless_answers), plain, []),
        "own decay": _with_more("own decay", plain, lambda point: _height(point, some, "own decay")),
    }
    ratios = {law: max(0.0, 2 * (top - loglik)) for law, (_, top) in tops.items()}
    ratios["floor"] /= max(1.0, floor_effect)
    best = max(ratios, key=ratios.__getitem__)
    own = tops["own decay"][0]
    return BetterLaw(
        law=best,
        ratios=ratios,
        p_value=min(1.0, len(ratios) * float(chdtrc(1, ratios[best])) / 2),
        careless=careless_class(_by_worker(tops["careless"][0], counts), _careless(counts)),
        decay=float(expit(own[2])),
        decay_sd=float(np.exp(own[3])),
    )


def _with_more(law: Law, plain: Floats, height: Callable[[Floats], _Height]) -> tuple[Floats, float]:
    start, bounds = _START[law]
    return _top(height, np.append(plain, start), [bounds])


def _top(
    height: Callable[[Floats], _Height], start: Floats, more: list[tuple[float, float]]
) -> tuple[Floats, float]:
    """Return where a log-likelihood is highest, and how high it is there."""

    def loss(point: Floats) -> _Height:
        loglik, slope = height(point)
        return -loglik, -slope

    arguments: Any = {"jac": True, "method": "L-BFGS-B", "bounds": _BOUNDS + more}
    top = minimize(loss, start, options={"ftol": 1e-8, "maxiter": 100}, **arguments)
    return np.asarray(top.x), -float(top.fun)


def _careless(counts: LatenessCounts) -> Floats:
    """Return the (w,) log-likelihoods of answers with a chance of yes of one's own, uniform on [0, 1]."""
    yes, no = counts.useful.sum(axis=1), (counts.asked - counts.useful).sum(axis=1)
    return np.asarray(betaln(yes + 1, no + 1))


def _height(
    point: Floats, counts: LatenessCounts, law: Law | None = None, careless: Floats | None = None
) -> _Height:
    """Return the log-likelihood at (logit p0, log sd, logit L, one number more), and its slope by Fisher's identity."""
    p, slopes, log_weight = _people(point, counts.level, law)
    terms = _terms(counts, p, log_weight)
    most = terms.max(axis=1, keepdims=True)
    shares = np.exp(terms - most)
    total = shares.sum(axis=1, keepdims=True)
    by_worker = (most + np.log(total))[:, 0]
    loglik, in_earnest = float(by_worker.sum()), np.ones(counts.workers)
    if careless is not None:
        mixed = careless_class(by_worker, careless)
        loglik, in_earnest = mixed.loglik, 1 - mixed.posterior
    shares *= in_earnest[:, None] / total
    rise = shares.T @ counts.useful - (shares.T @ (counts.asked - counts.useful)) * (p / (1 - p))
    return loglik, (slopes * rise).sum(axis=(1, 2))


def _by_worker(point: Floats, counts: LatenessCounts) -> Floats:
    """Return the (w,) log-likelihoods of each worker's answers under the plain law."""
    p, _, log_weight = _people(point, counts.level, None)
    return np.asarray(logsumexp(_terms(counts, p, log_weight), axis=1))


def _terms(counts: LatenessCounts, p: Floats, log_weight: Floats) -> Floats:
    """Return the (w, m) logarithms of each kind of people times the likelihood of each worker's answers as one of them."""
    return np.asarray(
        counts.useful @ np.log(p).T + (counts.asked - counts.useful) @ np.log1p(-p).T + log_weight
    )


def _people(point: Floats, level: Floats, law: Law | None) -> tuple[Floats, Floats, Floats]:
    """Return m kinds of people: their chances of a yes (m, k), slopes of the logs of these (q, m, k), how many they are (log, m)."""
    x, log_share = _nodes(_P0_NODES)
    z, log_share_of_decay = _nodes(_DECAY_NODES if law == "own decay" else 1)
    floor = float(expit(point[3])) if law == "floor" else 0.0
    decay_sd = float(np.exp(point[3])) if law == "own decay" else 0.0
    apart = np.exp(point[1]) * x
    p0, decay = expit(point[0] + apart), expit(point[2] + decay_sd * z)
    left = decay[:, None] ** level
    share = floor + (1 - floor) * left
    p = np.clip(p0[:, None, None] * share, _SMALLEST, 1 - _SMALLEST)
    by_p0, by_decay = 1 - p0[:, None, None], (1 - floor) * level * left * (1 - decay[:, None]) / share
    slopes = [by_p0, by_p0 * apart[:, None, None], by_decay]
    if law == "floor":
        slopes.append((1 - left) / share * floor * (1 - floor))
    if law == "own decay":
        slopes.append(by_decay * decay_sd * z[:, None])
    flat = (len(slopes), p.shape[0] * p.shape[1], len(level))
    stacked = np.stack([np.broadcast_to(slope, p.shape) for slope in slopes]).reshape(flat)
    return p.reshape(flat[1:]), stacked, (log_share[:, None] + log_share_of_decay).ravel()


@lru_cache
def _nodes(count: int) -> tuple[Floats, Floats]:
    """Return nodes of a standard normal, and the logarithms of their weights."""
    x, weight = roots_hermitenorm(count)
    return x, np.log(weight / weight.sum())


DECISIVE = 0.02
"""A p-value below it makes another law the better one."""
_LEAST, _MOST = 1e-3, 1 - 1e-3
"""A decay to a floor outside of these is a step, or no decay."""
_FEWEST_IN_EARNEST = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenCurve:
    """What stands for the answers.

    Attributes
    ----------
    decay, p0 : float
        L and p0.
    floor : float or None
        f, where the decay is to one.
    counts : LatenessCounts
        What they were fitted to: each worker's answers count as often as the worker is in earnest.
    plain : (float, float)
        L and p0 without a floor, of all workers.
    found : BetterLaw or None
        The law that explains better than the plain one; None where none does.
    curve : FlooredDecay or None
        The best decay to a floor, where that is a curve of its own.
    floors : FloorsLeftOpen or None
        Floors that the answers leave open, where none was found and there are levels enough to tell.
    is_in_earnest : bool
        The curve is that of the workers in earnest.
    """

    decay: float
    p0: float
    floor: float | None = None
    counts: LatenessCounts
    plain: tuple[float, float]
    found: BetterLaw | None = None
    curve: FlooredDecay | None = None
    floors: FloorsLeftOpen | None = None
    is_in_earnest: bool = False

    @property
    def estimates(self) -> list[float]:
        """L, p0 and, where there is one, f."""
        return [self.decay, self.p0, *([] if self.floor is None else [self.floor])]


def chosen_curve(counts: LatenessCounts) -> ChosenCurve:
    """Choose the curve."""
    plain = maximum(counts.level, counts.total_asked, counts.total_useful)
    decay, p0 = plain
    choice = ChosenCurve(decay=decay, p0=p0, counts=counts, plain=plain)
    if counts.workers < 2 or not 0 < decay < 1 or p0 == 1:
        return choice
    curve = fit_floor(counts)
    is_curve = min(curve.decay, curve.p0, curve.floor) > _LEAST and max(curve.decay, curve.p0) < _MOST
    effect = floor_design_effect(curve, counts)
    found = better_law(decay, p0, counts, floor_effect=effect)
    choice = replace(choice, curve=curve if is_curve else None)
    if found.p_value >= DECISIVE:
        enough = len(counts.level) > 2
        return replace(choice, floors=floors_left_open(curve, effect, counts) if enough else None)
    choice = replace(choice, found=found)
    if found.law == "floor" and is_curve:
        return replace(choice, decay=curve.decay, p0=curve.p0, floor=curve.floor)
    return _in_earnest(choice, found) if found.law == "careless" else choice


def _in_earnest(choice: ChosenCurve, found: BetterLaw) -> ChosenCurve:
    """Return the curve of the workers in earnest, where there are enough of them."""
    in_earnest = 1 - found.careless.posterior
    if in_earnest.sum() < _FEWEST_IN_EARNEST:
        return choice
    counts = choice.counts.weighted(in_earnest)
    decay, p0 = maximum(counts.level, counts.total_asked, counts.total_useful)
    return replace(choice, decay=decay, p0=p0, counts=counts, is_in_earnest=True)
