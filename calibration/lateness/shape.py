"""Do the shares of useful updates fall geometrically? Shares level by level, their errors, a test, a picture.

The test compares the shares pi_g with the fitted m_g by the likelihood ratio G = 2 sum n_g KL(pi_g, m_g). Answers of a
worker belong together, so G is no chi-square; it is referred to Rao and Scott's second-order correction (1984):
F = G / tr(D V) with nu = tr(D V)^2 / tr(D V D V) and nu (w - 1) degrees of freedom, where V is the clustered
covariance of pi - m (the fit's own error included; of workers, and of nuggets crossed with them) and D = diag(n / (m (1 - m))). Levels that the model expects fewer
than five yeses or noes of are taken together with their neighbours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import xlogy
from scipy.stats import f as f_distribution
from statsmodels.stats.proportion import proportion_confint

from calibration.inference.clusters import between_clusters, without_negative
from calibration.inference.drawing import finish
from calibration.inference.goodness import REJECTED
from calibration.inference.results import LEVEL, GoodnessOfFit
from calibration.inference.wording import shown_level, shown_p
from calibration.lateness.likelihood import LatenessCounts, chances, scores_and_information, slopes
from metrics.arrays import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_EXPECTED = 5.0
GREY = "0.35"


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelShares:
    """Shares of useful updates by level, worker-clustered.

    Attributes
    ----------
    level, asked, share : (k,) ndarray of float
        lambda, questions, share of yeses.
    low, high : (k,) ndarray of float
        Interval of each share: Wilson's with the questions divided by the design effect.
    """

    level: Floats
    asked: Floats
    share: Floats
    low: Floats
    high: Floats


def level_shares(counts: LatenessCounts, level: float = LEVEL) -> LevelShares:
    """Return the share of every level with its interval."""
    n, share = counts.total_asked, counts.total_useful / counts.total_asked
    effect = np.ones_like(n)
    w = counts.workers
    model = n * share * (1 - share)
    if w > 1:
        residual = counts.useful - counts.asked * share
        clustered = np.diag(between_clusters(residual))
        np.divide(clustered, model, out=effect, where=model > 0)
    effective = n / np.maximum(effect, 1.0)
    low, high = proportion_confint(share * effective, effective, alpha=1 - level, method="wilson")
    return LevelShares(level=counts.level, asked=n, share=share, low=low, high=high)


def shape_test(
    decay: float, p0: float, counts: LatenessCounts, floor: float | None = None
) -> GoodnessOfFit | None:
    """Test the geometric shape, or that of a geometric decay to a floor.

    Parameters
    ----------
    decay, p0, floor : float
        Estimates.
    counts : LatenessCounts
        What they were fitted to.

    Returns
    -------
    GoodnessOfFit or None
        None where nothing can be compared: no more levels or groups of levels than parameters, L = 0, p0 = 1, one worker,
        or workers who do not differ at all.
    """
    if counts.workers < 2 or decay == 0 or p0 == 1:
        return None
    curve = _Curve(decay, p0, floor)
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
    statistic = float(ratio / mean)
    p_value = float(f_distribution.sf(statistic, nu, nu * (counts.clusters - 1)))
    return GoodnessOfFit(
        test="geometric_decay",
        statistic=statistic,
        p_value=p_value,
        n_boot=0,
        sentence=_sentence(statistic, p_value, floor),
    )


def _sentence(statistic: float, p_value: float, floor: float | None) -> str:
    law = "geometrically with lateness" if floor is None else "geometrically to a floor"
    how = f"(likelihood ratio corrected for workers and nuggets, F = {statistic:.2f}, {shown_p(p_value)})"
    if p_value < REJECTED:
        return f"The shares of useful updates do not fall {law} {how}."
    return f"That the shares of useful updates fall {law} is not contradicted by these answers {how}."


class _Curve(NamedTuple):
    """A fitted curve."""

    decay: float
    p0: float
    floor: float | None

    @property
    def free(self) -> int:
        """How many parameters moved; on the edge L = 1 only p0."""
        return (1 if self.decay == 1 else 2) + (self.floor is not None)

    def chances(self, counts: LatenessCounts) -> Floats:
        """(k,) chances of a yes."""
        return chances(self.decay, self.p0, counts.level, self.floor or 0.0)


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
    decay, p0, floor = curve
    member, p = _member(group), curve.chances(counts)
    n = member @ counts.total_asked
    moving = slice(int(decay == 1), 2 if floor is None else 3)  # on the edge only p0 moves
    moved_by = (
        member @ (counts.total_asked * p * slopes(decay, counts.level, floor or 0.0)[moving]).T / n[:, None]
    )
    whole = scores_and_information(decay, p0, counts, floor or 0.0)[1].sum(axis=0)[moving, moving]

    def residual(of: LatenessCounts) -> Floats:
        scores = scores_and_information(decay, p0, of, floor or 0.0)[0][:, moving]
        own = (of.useful - of.asked * p) @ member.T / n
        return np.asarray(own - (moved_by @ np.linalg.solve(whole, scores.T)).T)

    cov = between_clusters(residual(counts))
    by_nugget, by_couple = counts.by_nugget, counts.by_couple
    if by_nugget is None or by_couple is None or by_nugget.workers < 2:
        return cov
    of_nuggets, of_couples = (between_clusters(residual(of)) for of in (by_nugget, by_couple))
    return np.asarray(cov + without_negative(of_nuggets - of_couples))


def plot_shares(
    ax: "Axes", counts: LatenessCounts, estimates: Sequence[float], *, level: float = LEVEL
) -> None:
    """Draw the shares with their intervals and the fitted curve."""
    shares = level_shares(counts, level)
    errors = np.stack([shares.share - shares.low, shares.high - shares.share])
    ax.errorbar(
        shares.level,
        shares.share,
        yerr=np.maximum(errors, 0.0),
        fmt="o",
        color="black",
        ecolor=GREY,
        capsize=3,
        label=f"answers, {shown_level(level)} interval",
    )
    fine = np.linspace(0, shares.level.max(), 200)
    decay, p0, *floor = estimates
    curve = (
        f"{decay:.2f}^lateness"
        if not floor
        else f"({floor[0]:.2f} + {1 - floor[0]:.2f} x {decay:.2f}^lateness)"
    )
    ax.plot(fine, chances(decay, p0, fine, *floor), color="#0072B2", label=f"fitted: {p0:.2f} x {curve}")
    ax.set_xticks(shares.level)
    ax.set_xlabel("visits late")
    ax.set_ylabel("share still of use")
    ax.set_ylim(0, 1)
    finish(ax, "Lateness decay: updates still of use", "the curve should pass through the intervals")
