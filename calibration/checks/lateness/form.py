"""Do the shares of useful updates fall geometrically?

The likelihood ratio G = 2 sum n_g KL(pi_g, m_g) compares the observed shares pi_g with the fitted m_g. Answers of one worker are
dependent, so G is not chi-squared; the test uses the second-order correction of Rao and Scott (1984):
F = G / tr(D V) with nu = tr(D V)^2 / tr(D V D V) and nu (c - 1) degrees of freedom. Here V is the covariance of pi - m, clustered by
workers, nuggets and topics, with the error of the fit; c is the smallest number of such clusters; D = diag(n / (m (1 - m))). Levels with
fewer than five expected yeses or noes are merged with their neighbours.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc, xlogy

from calibration.checks.finding import Finding
from calibration.checks.lateness.crowd import NOT_GEOMETRIC
from calibration.inference.clusters import cluster_covariance, without_negative
from calibration.inference.formatting import format_p
from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.fit import LatenessFit
from calibration.models.lateness.likelihood import scores_and_information, slopes, useful_probabilities
from metrics.arrays import Floats, Ints

MIN_EXPECTED = 5.0
"""Fewest expected yeses, and noes, in a group of levels."""


def check_form(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Test whether the shares of useful updates fall geometrically with lateness.

    The finding has no ``gain``, so that a check that names a better law comes first.
    """
    decay, p0 = fit.estimates.tolist()
    test = shape_test(decay, p0, counts)
    if test is None:
        return None
    return Finding(
        name="not_geometric",
        p_value=test.p_value,
        explains=NOT_GEOMETRIC,
        sentence="The shares of useful updates do not fall geometrically with lateness (likelihood ratio corrected for workers, nuggets and topics, "
        f"F = {test.statistic:.2f}, {format_p(test.p_value)}).",
    )


class ShapeTest(NamedTuple):
    """F statistic of the observed against the fitted shares, and its p-value."""

    statistic: float
    p_value: float


def shape_test(decay: float, p0: float, counts: LatenessCounts) -> ShapeTest | None:
    """Test the fitted geometric decay against the observed shares.

    Parameters
    ----------
    decay, p0 : float
        Estimates of L and p0.
    counts : LatenessCounts
        Answers that the estimates were fitted to.

    Returns
    -------
    ShapeTest or None
        None if there are no more groups of levels than parameters, if L = 0 or p0 = 1, for one worker, or if V is 0.
    """
    if counts.workers < 2 or decay == 0 or p0 == 1:
        return None
    curve = _Curve(decay, p0)
    group = _groups(curve, counts)
    if group.max() + 1 <= curve.free:
        return None
    ratio, weight = _ratio(curve, counts, group)
    root = np.sqrt(weight)
    scaled = root[:, None] * _residual_covariance(curve, counts, group) * root
    mean, square = np.trace(scaled), (scaled**2).sum()
    if square == 0:
        return None
    nu = mean**2 / square
    clusters = min([counts.workers, *(way.alone.workers for way in counts.shared_ways.values())])
    statistic = float(ratio / mean)
    p_value = float(fdtrc(nu, nu * (clusters - 1), statistic))
    return ShapeTest(statistic=statistic, p_value=p_value)


class _Curve(NamedTuple):
    """Fitted chance of a yes, p0 L^lambda."""

    decay: float
    p0: float

    @property
    def free(self) -> int:
        """Number of estimated parameters; on the edge L = 1 only p0."""
        return 1 if self.decay == 1 else 2

    def chances(self, counts: LatenessCounts) -> Floats:
        """Return the chance of a yes at each level, (k,)."""
        return useful_probabilities(self.decay, self.p0, counts.level)


def _groups(curve: _Curve, counts: LatenessCounts) -> Ints:
    """Return the group of each level, (k,), from 0.

    Neighbours with few expected answers share a group.
    """
    p = curve.chances(counts)
    group = np.zeros(len(p), dtype=np.intp)
    current, yes, no = 0, 0.0, 0.0
    for level, (asked, chance) in enumerate(zip(counts.total_asked, p, strict=True)):
        group[level] = current
        yes, no = yes + asked * chance, no + asked * (1 - chance)
        if min(yes, no) >= MIN_EXPECTED:
            current, yes, no = current + 1, 0.0, 0.0
    return np.minimum(group, max(current - 1, 0))


def _ratio(curve: _Curve, counts: LatenessCounts, group: Ints) -> tuple[float, Floats]:
    """Return G and the weights n / (m (1 - m)), (groups,)."""
    member = _member(group)
    n = member @ counts.total_asked
    share = member @ counts.total_useful / n
    fitted = member @ (counts.total_asked * curve.chances(counts)) / n
    ratio = 2 * (n @ (xlogy(share, share / fitted) + xlogy(1 - share, (1 - share) / (1 - fitted))))
    return float(ratio), n / (fitted * (1 - fitted))


def _member(group: Ints) -> Floats:
    """Return the indicators of group membership, (groups, k)."""
    return np.asarray(group == np.arange(group.max() + 1)[:, None], dtype=np.float64)


def _residual_covariance(curve: _Curve, counts: LatenessCounts, group: Ints) -> Floats:
    """Return the (groups, groups) covariance of pi - m."""
    decay, p0 = curve
    member, p = _member(group), curve.chances(counts)
    n = member @ counts.total_asked
    estimated = slice(int(decay == 1), 2)  # on the edge L = 1 only p0
    gradient = member @ (counts.total_asked * p * slopes(decay, counts.level)[estimated]).T / n[:, None]
    information = scores_and_information(decay, p0, counts)[1].sum(axis=0)[estimated, estimated]

    def residuals(clustered: LatenessCounts) -> Floats:
        scores = scores_and_information(decay, p0, clustered)[0][:, estimated]
        observed = (clustered.useful - clustered.asked * p) @ member.T / n
        return np.asarray(observed - (gradient @ np.linalg.solve(information, scores.T)).T)

    cov = cluster_covariance(residuals(counts))
    crossed = np.zeros_like(cov)
    for way in counts.shared_ways.values():
        cov_labels, cov_both = (cluster_covariance(residuals(clustered)) for clustered in way)
        added = without_negative(cov_labels - cov_both - crossed)
        cov, crossed = cov + added, crossed + added
    return np.asarray(cov)
