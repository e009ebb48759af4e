"""Laws of the workers' means beside the log-normal one, for all checks.

The module also formats them. A law is listed beside a number where the data do not reject it against the best of them: its likelihood ratio
to the best is within 3.84, the 5 % point of chi-squared with one degree of freedom (Wilks 1938).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import expit

from calibration.checks.finding import NEARLY, Explains, other_laws
from calibration.inference.formatting import shown_time
from calibration.models.durations.exposure import CensoredDurations, WorkerTotals
from calibration.models.durations.fit import DurationFit, fit_durations
from calibration.models.durations.laws import (
    ANYWHERE,
    MIN_SPREAD,
    SPREADS,
    ExtendedModel,
    Grid,
    fit_on_grid,
    gamma_rates,
)
from calibration.models.durations.maximum import DurationMaximum
from calibration.user_model.model import OtherLaw
from metrics.arrays import Floats

UNEVEN = "times away vary otherwise than the model says"
"""Fact that rhythms, fading interest, drop-outs and other laws all explain.

Differing days and hours explain it as well.
"""
REJECTS = 2 * NEARLY
SHORT_TAIL, TWO_KINDS, HEAVY_TAIL = "short tail", "two kinds", "heavy tail"
MAX_PIECES, MAX_WORKERS = 200_000, 5000
"""Largest numbers of pieces and workers for laws that need a matrix.

The matrix is that of people and means.
"""
TAIL_DF = 5.0
"""Degrees of freedom of errors under a heavy tail.

It does not grow with the number of workers, because few of them are in the tail.
"""
FURTHEST_MEAN = math.log(100.0)
"""Multiple of the median at which a heavy tail without a mean is cut."""
_NEARLY_ZERO = 1e-4


def is_small(exposure: CensoredDurations) -> bool:
    """Return whether all laws can be fitted.

    It needs few enough rows and people, and no person missing for never having come.
    """
    few = len(exposure.event) <= MAX_PIECES and exposure.units <= MAX_WORKERS
    return few and exposure.seen_by_seconds is None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Laws:
    """Fits of other laws of the workers' means to the same data.

    Attributes
    ----------
    top : DurationMaximum
        The log-normal law.
    others : mapping of str to Extended
        By name.
    """

    top: DurationMaximum
    others: Mapping[str, ExtendedModel]

    def gain(self, name: str) -> float:
        """Return a law's log-likelihood less that of the log-normal law."""
        return self.others[name].loglik - self.top.top.loglik

    @property
    def best(self) -> float:
        """Highest log-likelihood of all laws."""
        return max(self.top.top.loglik, *(law.loglik for law in self.others.values()))


@lru_cache(maxsize=2)
def laws_beside(exposure: CensoredDurations) -> Laws:
    """Fit every law of the workers' means, once for all checks of a fit."""
    totals = exposure.totals()
    top, grid = fit_durations(totals), Grid.of(totals)
    sigma = max(top.sigma, MIN_SPREAD)
    start, free = (top.mu, math.log(sigma)), (ANYWHERE, SPREADS)
    near = (np.abs(grid.log_mean - top.mu) <= FURTHEST_MEAN).astype(np.float64)
    short = fit_on_grid(SHORT_TAIL, grid, generalised_gamma, (*start, 0.5), (*free, (0.0, 4.0)), near)
    apart = (top.mu - 0.7 * sigma, math.log(0.6 * sigma), math.log(1.5 * sigma), 0.0)
    kinds = fit_on_grid(TWO_KINDS, grid, two_kinds, apart, (*free, SPREADS, (-4.0, 4.0)))
    heavy = fit_on_grid(HEAVY_TAIL, grid, log_t, (*start, 1.0), (*free, (-3.0, 4.0)), near)
    laws = (short, kinds, heavy, gamma_rates(totals, top))
    return Laws(top=top, others={law.name: law for law in laws})


def tail_of_three(totals: WorkerTotals, top: DurationMaximum) -> ExtendedModel:
    """Fit Student's t of log A with 3 degrees of freedom.

    No real tail is heavier, and few people cannot rule it out.
    """
    grid = Grid.of(totals)
    near = (np.abs(grid.log_mean - top.mu) <= FURTHEST_MEAN).astype(np.float64)
    start = (top.mu, math.log(max(0.75 * top.sigma, MIN_SPREAD)))
    return fit_on_grid(HEAVY_TAIL, grid, _log_t_of_three, start, (ANYWHERE, SPREADS), near)


def listed(
    model: ExtendedModel,
    fit: DurationFit,
    *,
    explains: Explains,
    most_df: float = math.inf,
    sd_has_end: bool = True,
) -> dict[str, tuple[OtherLaw, ...]]:
    """Return M and S under another law, as rows of `sensitivity`.

    Parameters
    ----------
    model : ExtendedModel
        The law.
    fit : DurationFit
        Whose names they have.
    explains : {'better', 'as well'}
        Beside the model of the fit.
    most_df : float
        Degrees of freedom of its errors, at most.
    sd_has_end : bool
        Whether data can bound S under this law from above.
    """
    error = model.error(most_df)
    intervals = error.intervals(0.95) if error else ((None, None),) * 2
    values = np.exp(model.values(model.point)[:2]).tolist()
    of_mean, of_sd = intervals[:2]
    ends = (of_mean, of_sd if sd_has_end else (of_sd[0], None))
    return other_laws(model.name, explains, dict(zip(fit.parameters, values, strict=False)), ends)


def numbers_under(model: ExtendedModel) -> str:
    """Return a clause with mean and standard deviation under a law."""
    mean, sd = np.exp(model.values(model.point)[:2]).tolist()
    return f"the mean would be {shown_time(mean)} and the standard deviation {shown_time(sd)}"


def numbers_of(fit: DurationFit) -> str:
    """Return a clause with mean and standard deviation of the fit."""
    mean, sd = fit.estimates[:2].tolist()
    return f"mean {shown_time(mean)}, standard deviation {shown_time(sd)}"


def generalised_gamma(log_mean: Floats, point: Floats) -> Floats:
    """Return the log density of Stacy's generalised gamma law of A at log means.

    Stacy's law (1962) in Prentice's form (1974) of log A has mu, log sigma and q. It is known up to a
    constant.

    q = 0 is log-normal, q = sigma gamma, q = 1 Weibull: a shorter tail than the log-normal one for q > 0.
    """
    mu, log_sigma, q = point
    z = (log_mean - mu) / math.exp(log_sigma)
    if abs(q) < _NEARLY_ZERO:
        return np.asarray(-z * z / 2)
    return np.asarray((q * z - np.expm1(np.clip(q * z, None, 700.0))) / q**2)


def two_kinds(log_mean: Floats, point: Floats) -> Floats:
    """Return the log density of a mixture of two normal laws of log A.

    They share sigma; the parameters are mu of the first, log sigma, the log of the distance, and the logit of
    the first's share.
    """
    mu, log_sigma, log_apart, logit_share = point
    sigma, share = math.exp(log_sigma), float(expit(logit_share))
    first = math.log(share) - ((log_mean - mu) / sigma) ** 2 / 2
    second = math.log1p(-share) - ((log_mean - mu - math.exp(log_apart)) / sigma) ** 2 / 2
    return np.asarray(np.logaddexp(first, second), dtype=np.float64)


def log_t(log_mean: Floats, point: Floats) -> Floats:
    """Return the log density of Student's t of log A.

    It is heavier than the normal at both ends; its parameters are mu, log sigma and log (degrees of freedom -
    2).
    """
    mu, log_sigma, log_more = point
    df = 2 + math.exp(log_more)
    return np.asarray(-(df + 1) / 2 * np.log1p(((log_mean - mu) / math.exp(log_sigma)) ** 2 / df))


def _log_t_of_three(log_mean: Floats, point: Floats) -> Floats:
    return log_t(log_mean, np.array([*point, 0.0]))
