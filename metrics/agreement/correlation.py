"""Correlation of two scorings of the same systems, with intervals over topics.

Larger scores are better throughout. Every function takes two arrays of one score a system; nothing here depends
on the order in which the systems stand, and two Series are paired by their labels. Memory of the AP correlations is of the order of
the square of the number of systems.
"""

import math
from collections.abc import Callable
from inspect import unwrap
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from metrics.arrays import Bools, Floats, align_rows

MAX_SYSTEMS = 10_000
"""Largest number of systems; all pairs of more would not fit into memory."""

FEW_SYSTEMS = 200
"""Largest number of systems whose pairs are all compared, not sorted."""
Scores = Floats
Relation = Bools


def kendall_tau_b(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau-b of two scorings.

    tau_b = (C - D) / sqrt((pairs untied in x) (pairs untied in y)); C concordant, D discordant pairs

    Kendall (1945), the coefficient of published system rankings; equal to tau-a without ties.

    Parameters
    ----------
    x, y : (n,) array_like of float
        One score a system, larger is better.

    Returns
    -------
    float
        In [-1, 1]; NaN for fewer than two systems or when all scores of one side are equal.

    Raises
    ------
    ValueError
        If the two differ in length or labels, or a score is NaN.

    Examples
    --------
    >>> kendall_tau_b([1, 2, 3, 5], [1, 3, 2, 5])
    0.6666666666666666
    """
    x, y = _validated(x, y)
    if x.size > FEW_SYSTEMS:
        from scipy.stats import kendalltau  # noqa: PLC0415 - takes as long to load as thousands of small coefficients

        # what scipy wraps around it, for axes and missing values, takes longer than the coefficient
        return float(unwrap(kendalltau)(x, y, method="asymptotic").statistic)
    above_x, above_y = _strictly_above(x), _strictly_above(y)
    untied = float(above_x.sum()) * float(above_y.sum())
    if not untied:
        return math.nan
    concordant = int((above_x & above_y).sum())
    discordant = int((above_x & above_y.T).sum())
    return (concordant - discordant) / math.sqrt(untied)


def tau_ap(x: ArrayLike, y: ArrayLike) -> float:
    """AP correlation of the ranking ``y`` under test with the reference ``x``.

    It is tau_AP, or tau_AP,a when ``y`` has ties.

    tau_AP = 2/(n-1) sum_{i=2..n} C(i)/(i-1) - 1

    where C(i) counts the systems above rank i that the reference places above it too (Yilmaz, Aslam and Robertson
    2008). With ties in ``y`` it is the mean of tau_AP over every order of each tied group (tau_AP,a of Urbano and
    Marrero 2017), computed exactly: a member of a group of t with p systems above it stands at rank p + k + 1,
    k = 0..t-1, each with probability 1/t, and then has any k of the others above it with equal chance.

    Parameters
    ----------
    x : (n,) array_like of float
        Reference scores; a tie in them leaves the coefficient undefined.
    y : (n,) array_like of float
        Scores under test.

    Returns
    -------
    float
        In [-1, 1]; NaN for fewer than two systems or with ties in ``x``.

    Raises
    ------
    ValueError
        If the two differ in length or labels, have more than `MAX_SYSTEMS` systems, or a score is NaN.

    Examples
    --------
    A swap among the best systems costs more than one among the worst.

    >>> best, worst = tau_ap([4, 3, 2, 1], [3, 4, 2, 1]), tau_ap([4, 3, 2, 1], [4, 3, 1, 2])
    >>> round(best, 3), round(worst, 3)
    (0.333, 0.778)
    """
    x, y = _validated(x, y)
    n = x.size
    if n < 2 or np.unique(x).size < n:
        return math.nan
    above_x, above_y = _strictly_above(x), _strictly_above(y)
    tied = ~(above_y | above_y.T)  # with oneself too, which above_x removes
    higher, group = above_y.sum(axis=1), tied.sum(axis=1)
    agreeing = (above_y & above_x).sum(axis=1)
    share_of_group = (tied & above_x).sum(axis=1) / np.maximum(group - 1, 1)
    harmonics = harmonic(n)
    reciprocals = harmonics[higher + group - 1] - harmonics[np.maximum(higher - 1, 0)]  # sum_k 1/(p+k)
    ratios = (group - (higher == 0)) - higher * reciprocals  # sum_k k/(p+k); there is no term at rank 1
    expected = (agreeing * reciprocals + share_of_group * ratios) / group
    return float(2 * expected.sum() / (n - 1) - 1)


def tau_ap_b(x: ArrayLike, y: ArrayLike) -> float:
    """Symmetric AP correlation with ties, tau_AP,b (Urbano and Marrero 2017).

    tau_AP,b = (h(x | y) + h(y | x)) / 2,  h(v | u) = mean over i not in v's first group of 2 c_i / p_i - 1

    where p_i systems stand strictly above i in v, and c_i of them strictly above i in u too. Without ties it is
    the mean of tau_AP with either ranking as the reference (Yilmaz et al. 2008).

    Parameters
    ----------
    x, y : (n,) array_like of float
        One score a system, larger is better.

    Returns
    -------
    float
        In [-1, 1]; NaN for fewer than two systems or when all scores of one side are equal.

    Raises
    ------
    ValueError
        If the two differ in length or labels, have more than `MAX_SYSTEMS` systems, or a score is NaN.
    """
    x, y = _validated(x, y)
    above_x, above_y = _strictly_above(x), _strictly_above(y)
    return (_half(above_y, above_x) + _half(above_x, above_y)) / 2


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's product-moment correlation of two scorings.

    r = sum (x - mean x)(y - mean y) / sqrt(sum (x - mean x)^2 sum (y - mean y)^2)

    Parameters
    ----------
    x, y : (n,) array_like of float
        One score a system.

    Returns
    -------
    float
        In [-1, 1]; NaN for fewer than two systems, when all scores of one side are equal, or with an infinite one.

    Raises
    ------
    ValueError
        If the two differ in length or labels, or a score is NaN.
    """
    x, y = _validated(x, y)
    if not (_varies(x) and _varies(y)):
        return math.nan
    u, v = (side / np.abs(side).max() for side in (x, y))  # scaled, so that no square overflows
    u, v = u - u.mean(), v - v.mean()
    return float(np.clip(u @ v / math.sqrt((u @ u) * (v @ v)), -1, 1))


# What `prefcal correlate` prints, in its order.
COEFFICIENTS: MappingProxyType[str, Callable[[ArrayLike, ArrayLike], float]] = MappingProxyType(
    {"tau-b": kendall_tau_b, "tau-AP": tau_ap, "tau-AP-sym": tau_ap_b, "pearson": pearson}
)


def correlate(x: ArrayLike, y: ArrayLike) -> dict[str, float]:
    """Return every coefficient that `prefcal correlate` prints, of two scorings.

    Parameters
    ----------
    x, y : (n,) array_like of float
        One score a system, larger is better; ``x`` is the reference of tau-AP. Two Series of pandas are paired by their
        labels, anything else by place.

    Returns
    -------
    dict of str to float
        tau-b, tau-AP, tau-AP-sym, pearson; NaN where one is undefined.

    Raises
    ------
    ValueError
        If the two differ in length or labels, have more than `MAX_SYSTEMS` systems, or a score is NaN.

    Examples
    --------
    >>> {name: round(value, 3) for name, value in correlate([1, 2, 3, 4], [1, 3, 2, 4]).items()}
    {'tau-b': 0.667, 'tau-AP': 0.667, 'tau-AP-sym': 0.667, 'pearson': 0.8}
    """
    return {name: coefficient(x, y) for name, coefficient in COEFFICIENTS.items()}


def bootstrap_interval(
    x: ArrayLike,
    y: ArrayLike,
    coefficient: Callable[[ArrayLike, ArrayLike], float] = kendall_tau_b,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Percentile interval of a correlation of mean scores, over resampled topics.

    Parameters
    ----------
    x, y : (runs, topics) array_like of float
        Scores of the same runs on the same topics by two measures.
    coefficient : callable
        Any function of two score vectors, such as those of this module.
    level : float
        Confidence level.
    resamples : int
        Number of times that as many topics are drawn with replacement, the same ones for ``x`` and ``y``.
    rng : Generator
        Source of the resamples.

    Returns
    -------
    (float, float)
        Lower and upper end; NaN where the coefficient is undefined in every resample (those where it is
        undefined are left out), or for fewer than two topics.

    Raises
    ------
    ValueError
        If shapes or labels differ or are not two-dimensional, or a score is NaN.

    Examples
    --------
    Four systems on six topics, by a measure and by the same measure with noise:

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x = np.arange(4)[:, None] + rng.normal(size=(4, 6))
    >>> low, high = bootstrap_interval(x, x + rng.normal(size=(4, 6)), resamples=200, rng=rng)
    >>> round(low, 3), round(high, 3)
    (0.667, 1.0)
    """
    x, y = (np.asarray(side, dtype=np.float64) for side in align_rows(x, y))
    if x.ndim != 2 or x.shape != y.shape:
        raise ValueError(f"x and y must be (runs, topics) arrays of one shape, got {x.shape} and {y.shape}")
    topics = x.shape[1]
    if topics < 2:
        return math.nan, math.nan
    counts = rng.multinomial(topics, np.full(topics, 1 / topics), size=resamples)
    values = np.array([coefficient((x * n).sum(axis=1), (y * n).sum(axis=1)) for n in counts])
    return percentile_interval(values, level)


def percentile_interval(values: Scores, level: float = 0.95) -> tuple[float, float]:
    """Return the percentiles around the central share of resampled values.

    NaN values are left out; the percentiles are NaN without other values.
    """
    values = values[~np.isnan(values)]
    if not values.size:
        return math.nan, math.nan
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _validated(x: ArrayLike, y: ArrayLike) -> tuple[Scores, Scores]:
    """Return both sides as vectors of one length without NaN."""
    x, y = (np.asarray(side, dtype=np.float64) for side in align_rows(x, y))
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"x and y must be vectors of one length, got shapes {x.shape} and {y.shape}")
    if np.isnan(x).any() or np.isnan(y).any():
        raise ValueError("x and y must not hold NaN")
    return x, y


def _varies(scores: Scores) -> bool:
    """Return whether all scores are finite and two of them differ."""
    return scores.size > 1 and bool(np.isfinite(scores).all()) and scores.min() < scores.max()


def _strictly_above(scores: Scores) -> Relation:
    """Return the (n, n) relation "j is strictly above i".

    It raises ValueError if the relation would be too large.
    """
    if scores.size > MAX_SYSTEMS:
        raise ValueError(f"there are {scores.size:,} systems, and {MAX_SYSTEMS:,} can be correlated")
    return scores[np.newaxis, :] > scores[:, np.newaxis]


def _half(above_test: Relation, above_reference: Relation) -> float:
    """Walk the ranking under test: h(test | reference) of `tau_ap_b`."""
    higher = above_test.sum(axis=1)
    if not higher.any():
        return math.nan
    walked = higher > 0
    agreeing = (above_test & above_reference).sum(axis=1)
    return float(np.mean(2 * agreeing[walked] / higher[walked] - 1))


def harmonic(n: int) -> Scores:
    """Return the harmonic numbers 1 + 1/2 + ... + 1/m for m = 0 to n."""
    return np.concatenate([[0.0], np.cumsum(1 / np.arange(1, n + 1))])
