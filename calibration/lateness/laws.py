"""Other laws than p0_u L^lambda against each other: a floor, careless people, workers who decay differently.

Workers differ in p0 (logit p0_u normal), and everything here allows for it, because it does no harm to L. Beside that law stand three, each with one
number more:

- floor: p0_u (f + (1 - f) L^lambda), some updates keep their use however late they come;
- careless: a share of the workers answers whatever is asked, each with a chance of yes of their own, uniform on [0, 1];
- own decay: logit L_u is normal over workers.

Which of them explains best is told by the likelihood of each worker's answers, integrated by Gauss-Hermite quadrature. Each
number is on the edge of its range where the plain law holds, so a likelihood ratio has half a chi-squared with one degree of freedom (Self and
Liang 1987); with three laws to choose from p is three times that of the best.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaln, expit, logit, roots_hermitenorm
from scipy.stats import chi2

from calibration.inference.careless import CarelessClass, careless_class
from calibration.lateness.likelihood import LatenessCounts
from calibration.lateness.nuggets import thinned
from metrics.arrays import Floats

Law: TypeAlias = Literal["floor", "careless", "own decay"]
_P0_NODES, _DECAY_NODES = 21, 11
_BOUNDS = [(-6.0, 8.0), (-3.0, 1.5), (-8.0, 8.0)]
"""Of logit p0, the log of its deviation over workers, and logit L."""
NEARLY = 6.0
"""A likelihood ratio that is lower by less explains nearly as well."""
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
        return law != self.law and self.ratios[law] > max(self.ratios[self.law] - NEARLY, NEARLY)

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
        lambda point: float(_by_worker(point, some).sum()),
        np.array([logit(p0), np.log(0.5), logit(decay)]),
        [],
    )
    tops: dict[Law, tuple[Floats, float]] = {
        "floor": _with_more("floor", plain, lambda p: float(_by_worker(p, some, floor=expit(p[3])).sum())),
        "careless": _top(
            lambda point: careless_class(_by_worker(point, some), careless_answers).loglik, plain, []
        ),
        "own decay": _with_more(
            "own decay", plain, lambda p: float(_by_worker(p, some, decay_sd=np.exp(p[3])).sum())
        ),
    }
    ratios = {law: max(0.0, 2 * (top - loglik)) for law, (_, top) in tops.items()}
    ratios["floor"] /= max(1.0, floor_effect)
    best = max(ratios, key=ratios.__getitem__)
    own = tops["own decay"][0]
    return BetterLaw(
        law=best,
        ratios=ratios,
        p_value=min(1.0, len(ratios) * float(chi2.sf(ratios[best], 1)) / 2),
        careless=careless_class(_by_worker(tops["careless"][0], counts), _careless(counts)),
        decay=float(expit(own[2])),
        decay_sd=float(np.exp(own[3])),
    )


def _with_more(law: Law, plain: Floats, height: Callable[[Floats], float]) -> tuple[Floats, float]:
    start, bounds = _START[law]
    return _top(height, np.append(plain, start), [bounds])


def _top(
    height: Callable[[Floats], float], start: Floats, more: list[tuple[float, float]]
) -> tuple[Floats, float]:
    """Return where a log-likelihood is highest, and how high it is there."""
    options: Any = {"ftol": 1e-7, "maxiter": 60}
    bounds: Any = _BOUNDS + more
    first: Any = start
    top = minimize(lambda point: -height(point), first, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(top.x), -float(top.fun)


def _careless(counts: LatenessCounts) -> Floats:
    """Return the (w,) log-likelihoods of answers with a chance of yes of one's own, uniform on [0, 1]."""
    yes, no = counts.useful.sum(axis=1), (counts.asked - counts.useful).sum(axis=1)
    return np.asarray(betaln(yes + 1, no + 1))


def _by_worker(point: Floats, counts: LatenessCounts, *, floor: float = 0.0, decay_sd: float = 0.0) -> Floats:
    """Return the (w,) log-likelihoods of each worker's answers at (logit p0, log sd, logit L)."""
    x, log_weight = _nodes(_P0_NODES)
    z, log_weight_of_decay = _nodes(_DECAY_NODES) if decay_sd else (np.zeros(1), np.zeros(1))
    p0 = expit(point[0] + np.exp(point[1]) * x)
    left = expit(point[2] + decay_sd * z)[:, None] ** counts.level
    p = (p0[:, None, None] * (floor + (1 - floor) * left)).reshape(-1, len(counts.level))
    p = np.clip(p, _SMALLEST, 1 - _SMALLEST)
    terms = counts.useful @ np.log(p).T + (counts.asked - counts.useful) @ np.log1p(-p).T
    terms += (log_weight[:, None] + log_weight_of_decay).ravel()
    most = terms.max(axis=1)
    return np.asarray(most + np.log(np.exp(terms - most[:, None]).sum(axis=1)))


def _nodes(count: int) -> tuple[Floats, Floats]:
    """Return nodes of a standard normal, and the logarithms of their weights."""
    x, weight = roots_hermitenorm(count)
    return x, np.log(weight / weight.sum())
