"""Uncertainty of estimates: replicates, a symmetric error, a likelihood curve.

Each gives intervals at any level, draws and a covariance after the fit, and holds no raw answers. An open end of an
interval is None.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

import numpy as np
from scipy.special import expit, ndtr, stdtrit

from metrics.arrays import Floats

Interval: TypeAlias = tuple[float | None, float | None]


class Scale(StrEnum):
    """Working scale, on which a parameter's error is symmetric."""

    IDENTITY = "identity"
    INVERSE = "inverse"
    LOG = "log"
    LOGIT = "logit"
    ARCTANH = "arctanh"

    def natural(self, working: Floats) -> Floats:
        """Return values on the natural scale; on `INVERSE` nonpositive ones are infinite."""
        if self is Scale.IDENTITY:
            return working
        if self is Scale.LOG:
            with np.errstate(over="ignore"):
                return np.asarray(np.exp(working), dtype=np.float64)
        if self is Scale.LOGIT:
            return np.asarray(expit(working), dtype=np.float64)
        if self is Scale.ARCTANH:
            return np.asarray(np.tanh(working), dtype=np.float64)
        natural = np.full(np.shape(working), np.inf)
        np.divide(1.0, working, out=natural, where=np.asarray(working) > 0)
        return natural

    def slope(self, natural: float) -> float:
        """Return d natural / d working at a natural value; 1 on `IDENTITY`."""
        if self is Scale.LOG:
            return natural
        if self is Scale.LOGIT:
            return natural * (1 - natural)
        if self is Scale.ARCTANH:
            return 1 - natural**2
        return -(natural**2) if self is Scale.INVERSE else 1.0

    def interval(self, low: float, high: float) -> Interval:
        """Convert an interval to the natural scale; an infinite end is open."""
        ends = sorted(float(self.natural(np.array(end))) for end in (low, high))
        return finite_or_none(ends[0]), finite_or_none(ends[1])


Scales: TypeAlias = Scale | tuple[Scale, ...]
"""Working scale of all parameters, or one for each."""


def scale_of_each(scale: Scales, count: int) -> tuple[Scale, ...]:
    """Return the working scale of each of ``count`` parameters."""
    return (scale,) * count if isinstance(scale, Scale) else scale


def naturally(working: Floats, scale: Scales) -> Floats:
    """Convert (n, k) values of k parameters to their natural scales."""
    each = scale_of_each(scale, working.shape[1])
    return np.stack([own.natural(working[:, index]) for index, own in enumerate(each)], axis=1)


class Uncertainty(Protocol):
    """Uncertainty of all parameters of a fit, by one method."""

    @property
    def scale(self) -> Scales:
        """Return the working scales of the parameters."""

    @property
    def cov(self) -> Floats:
        """Return the covariance on the working scales, (k, k)."""

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return an interval of each parameter, on its natural scale."""

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw from the sampling distribution, on the natural scale, (n, k)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicates:
    """Bootstrap replicates or posterior draws: percentile intervals.

    A bootstrap of few clusters is too narrow by sqrt((c - 1) / c) and by the difference of z and t; with ``clusters``
    the percentiles are moved outwards by as much (the expanded percentile interval of Hesterberg 2015, 5.3).

    Attributes
    ----------
    values : (n, k) ndarray of float
        On the working scale.
    scale : Scale or tuple of Scale
        The working scale of all parameters, or of each.
    clusters : int or None
        How many were resampled; None for posterior draws.
    """

    values: Floats
    scale: Scales = Scale.IDENTITY
    clusters: int | None = None

    @property
    def cov(self) -> Floats:
        """Covariance of the replicates, (k, k); nan for parameters infinite in one."""
        with np.errstate(invalid="ignore"):
            return np.atleast_2d(np.cov(self.values, rowvar=False))

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return the percentiles that leave (1 - level) / 2 on either side.

        They leave (1 - level) / 2 on either side, or follow the degrees of freedom of the clusters.
        """
        tail = self._tail(level)
        low, high = np.quantile(self.values, [tail, 1 - tail], axis=0)
        scales = scale_of_each(self.scale, len(low))
        return tuple(scale.interval(*ends) for scale, *ends in zip(scales, low, high, strict=True))

    def _tail(self, level: float) -> float:
        if self.clusters is None:
            return (1 - level) / 2
        c = self.clusters
        return float(ndtr(-math.sqrt(c / (c - 1)) * stdtrit(c - 1, (1 + level) / 2)))

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw replicates with replacement."""
        return naturally(self.values[rng.integers(len(self.values), size=n)], self.scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentT:
    """Symmetric error on the working scale: estimate +- t standard errors.

    Attributes
    ----------
    centre : (k,) ndarray of float
        Estimates on the working scale.
    cov : (k, k) ndarray of float
        Their covariance.
    df : float
        Degrees of freedom of Student's t; inf for the normal.
    scale : Scale or tuple of Scale
        The working scale of all parameters, or of each.
    most : float
        On the working scale, what no parameter can exceed: 1 of a share or a kappa.
    """

    centre: Floats
    cov: Floats
    df: float
    scale: Scales = Scale.IDENTITY
    most: float = np.inf

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return estimate +- t standard errors, cut at ``most``, on the natural scale."""
        reach = stdtrit(self.df, (1 + level) / 2) * np.sqrt(np.diag(self.cov))
        scales = scale_of_each(self.scale, len(self.centre))
        ends = zip(scales, self.centre - reach, np.minimum(self.centre + reach, self.most), strict=True)
        return tuple(scale.interval(*pair) for scale, *pair in ends)

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw from a multivariate normal on the working scale."""
        return naturally(rng.multivariate_normal(self.centre, self.cov, size=n), self.scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelihoodCurve:
    """Profile likelihood of one parameter, scaled by a design effect.

    interval = {x : 2 (l_max - l(x)) <= max(design_effect t_df^2, z^2)}

    An estimated design effect may come out far below 1 by chance; so the interval is never shorter than the one of
    independent data.

    Attributes
    ----------
    grid : (m,) ndarray of float
        Ascending values on the working scale. The set is open where it reaches an end of the grid.
    drop : (m,) ndarray of float
        2 (l_max - l(x)) at the grid; 0 at the maximum, which is on the grid.
    design_effect : float
        How many times larger the variance is than the model's.
    df : float
        Degrees of freedom of Student's t; inf for the chi-squared limit.
    scale : Scale
        The working scale.
    floor : float or None
        The least value there is, which then stands for an open lower end.
    """

    grid: Floats
    drop: Floats
    df: float
    design_effect: float = 1.0
    scale: Scale = Scale.IDENTITY
    floor: float | None = None

    @property
    def _weights(self) -> Floats:
        weights = np.exp(-self.drop / max(self.design_effect, 1.0) / 2) * np.gradient(self.grid)
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    @property
    def cov(self) -> Floats:
        """Variance under the curve taken as a density, (1, 1)."""
        mean = self._weights @ self.grid
        return np.array([[self._weights @ (self.grid - mean) ** 2]])

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return the hull of the set within the drop of log-likelihood.

        Its ends are interpolated between grid points on the root of the drop.
        """
        t, z = (float(stdtrit(df, (1 + level) / 2)) for df in (self.df, math.inf))
        limit = max(math.sqrt(self.design_effect) * t, z)
        inside = np.flatnonzero(np.sqrt(self.drop) <= limit)
        first, last = int(inside[0]), int(inside[-1])
        low = self.floor if first == 0 else self._crossing(first - 1, first, limit)
        high = None if last == len(self.grid) - 1 else self._crossing(last + 1, last, limit)
        ends = [None if end is None else float(self.scale.natural(np.array(end))) for end in (low, high)]
        return ((ends[1], ends[0]) if self.scale is Scale.INVERSE else (ends[0], ends[1]),)

    def _crossing(self, outside: int, inside: int, limit: float) -> float:
        root = np.sqrt(self.drop[[outside, inside]])
        share = (limit - root[1]) / (root[0] - root[1])
        return float(self.grid[inside] + share * (self.grid[outside] - self.grid[inside]))

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw from the curve taken as a density on the working scale."""
        return self.scale.natural(rng.choice(self.grid, size=(n, 1), p=self._weights))


def finite_or_none(end: float) -> float | None:
    """Return a finite number, or None for an infinite one."""
    return end if math.isfinite(end) else None
