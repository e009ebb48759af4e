"""Do the shares of useful updates fall geometrically?

The test compares the shares pi_g with the fitted m_g by the likelihood ratio G = 2 sum n_g KL(pi_g, m_g). Answers of a
worker belong together, so G is no chi-square; it is referred to Rao and Scott's second-order correction (1984):
F = G / tr(D V) with nu = tr(D V)^2 / tr(D V D V) and nu (c - 1) degrees of freedom, where V is the clustered covariance of pi - m
(the fit's own error included; of workers, nuggets and topics), c the fewest of these, and D = diag(n / (m (1 - m))). Levels that the
model expects fewer than five yeses or noes of are taken together with their neighbours.
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

LEAST_EXPECTED = 5.0


def check_form(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Test whether the shares fall geometrically; any better law that is named says more."""
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
    """F of the shares against the fitted ones, and how often chance brings about as much."""

    statistic: float
    p_value: float


def shape_test(decay: float, p0: float, counts: LatenessCounts) -> ShapeTest | None:
    """Test the geometric shape.

    Parameters
    ----------
    decay, p0 : float
        Estimates.
    counts : LatenessCounts
        What they were fitted to.

    Returns
    -------
    ShapeTest or None
        None where nothing can be compared: no more levels or groups of levels than parameters, L = 0, p0 = 1, one worker,
        or workers who do not differ at all.
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
    clusters = min([counts.workers, *(int(way.max()) + 1 for way in counts.shared_ways)])
    statistic = float(ratio / mean)
    p_value = float(fdtrc(nu, nu * (clusters - 1), statistic))
    return ShapeTest(statistic=statistic, p_value=p_value)


class _Curve(NamedTuple):
    """A fitted curve."""

    decay: float
    p0: float

    @property
    def free(self) -> int:
        """How many parameters moved; on the edge L = 1 only p0."""
        return 1 if self.decay == 1 else 2

    def chances(self, counts: LatenessCounts) -> Floats:
        """(k,) chances of a yes."""
        return useful_probabilities(self.decay, self.p0, counts.level)


def _groups(curve: _Curve, counts: LatenessCounts) -> Ints:
    """Return the group of each level, from 0; neighbours are together where too little is expected of one."""
    p = curve.chances(counts)
    group = np.zeros(len(p), dtype=np.intp)
    current, yes, no = 0, 0.0, 0.0
    for place, (asked, chance) in enumerate(zip(counts.total_asked, p, strict=True)):
        group[place] = current
        yes, no = yes + asked * chance, no + asked * (1 - chance)
        if min(yes, no) >= LEAST_EXPECTED:
            current, yes, no = current + 1, 0.0, 0.0
    return np.minimum(group, max(current - 1, 0))


def _ratio(curve: _Curve, counts: LatenessCounts, group: Ints) -> tuple[float, Floats]:
    """Return G, and the weights n / (m (1 - m)), (groups,)."""
    member = _member(group)
    n = member @ counts.total_asked
    share = member @ counts.total_useful / n
    fitted = member @ (counts.total_asked * curve.chances(counts)) / n
    ratio = 2 * (n @ (xlogy(share, share / fitted) + xlogy(1 - share, (1 - share) / (1 - fitted))))
    return float(ratio), n / (fitted * (1 - fitted))


def _member(group: Ints) -> Floats:
    return np.asarray(group == np.arange(group.max() + 1)[:, None], dtype=np.float64)


def _residual_covariance(curve: _Curve, counts: LatenessCounts, group: Ints) -> Floats:
    """Return the (groups, groups) covariance of pi - m."""
    decay, p0 = curve
    member, p = _member(group), curve.chances(counts)
    n = member @ counts.total_asked
    moving = slice(int(decay == 1), 2)  # on the edge only p0 moves
    moved_by = member @ (counts.total_asked * p * slopes(decay, counts.level)[moving]).T / n[:, None]
    whole = scores_and_information(decay, p0, counts)[1].sum(axis=0)[moving, moving]

    def residual(of: LatenessCounts) -> Floats:
        scores = scores_and_information(decay, p0, of)[0][:, moving]
        own = (of.useful - of.asked * p) @ member.T / n
        return np.asarray(own - (moved_by @ np.linalg.solve(whole, scores.T)).T)

    cov = cluster_covariance(residual(counts))
    beyond = np.zeros_like(cov)
    for way in counts.shared_ways:
        of_way, of_both = (
            cluster_covariance(residual(of))
            for of in (counts.by(way), counts.by(counts.worker_of_cells, way))
        )
        part = without_negative(of_way - of_both - beyond)
        cov, beyond = cov + part, beyond + part
    return np.asarray(cov)
