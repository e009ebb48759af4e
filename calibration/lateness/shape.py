"""Do the shares of useful updates fall geometrically? Shares level by level, their errors, a test, a picture.

The test compares the shares pi_g with the fitted m_g by the likelihood ratio G = 2 sum n_g KL(pi_g, m_g). Answers of a
worker belong together, so G is no chi-square; it is referred to Rao and Scott's second-order correction (1984):
F = G / tr(D V) with nu = tr(D V)^2 / tr(D V D V) and nu (w - 1) degrees of freedom, where V is the worker-clustered
covariance of pi - m (the fit's own error included) and D = diag(n / (m (1 - m))). Levels that the model expects fewer
than five yeses or noes of are taken together with their neighbours.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy
from scipy.stats import f as f_distribution
from statsmodels.stats.proportion import proportion_confint

from calibration.inference.clusters import between_clusters
from calibration.inference.drawing import finish
from calibration.inference.goodness import REJECTED
from calibration.inference.results import LEVEL, GoodnessOfFit
from calibration.inference.wording import shown_level, shown_p
from calibration.lateness.likelihood import LatenessCounts, chances, scores_and_information
from metrics.arrays import Floats

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


def shape_test(decay: float, p0: float, counts: LatenessCounts) -> GoodnessOfFit | None:
    """Test the geometric shape.

    Parameters
    ----------
    decay, p0 : float
        Estimates.
    counts : LatenessCounts
        What they were fitted to.

    Returns
    -------
    GoodnessOfFit or None
        None where nothing can be compared: fewer than three levels or groups of levels, L = 0, p0 = 1, one worker,
        or workers who do not differ at all.
    """
    if counts.workers < 2 or decay == 0 or p0 == 1:
        return None
    group = _groups(decay, p0, counts)
    free = 1 if decay == 1 else 2
    if group.max() + 1 <= free:
        return None
    ratio, residual, weight = _residuals(decay, p0, counts, group)
    w = counts.workers
    scaled = np.sqrt(weight)[:, None] * between_clusters(residual) * np.sqrt(weight)
    mean, square = np.trace(scaled), (scaled**2).sum()
    if square == 0:
        return None
    nu = mean**2 / square
    statistic = float(ratio / mean)
    p_value = float(f_distribution.sf(statistic, nu, nu * (w - 1)))
    verdict = "do not fall" if p_value < REJECTED else "fall"
    caution = "" if p_value < REJECTED else " as far as these answers can tell"
    return GoodnessOfFit(
        test="geometric_decay",
        statistic=statistic,
        p_value=p_value,
        n_boot=0,
        sentence=f"The shares of useful updates {verdict} geometrically with lateness{caution} "
        f"(likelihood ratio corrected for workers, F = {statistic:.2f}, {shown_p(p_value)}).",
    )


def _groups(decay: float, p0: float, counts: LatenessCounts) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    """Return the group of each level, from 0; neighbours are together where too little is expected of one."""
    p = chances(decay, p0, counts.level)
    group = np.zeros(len(p), dtype=np.intp)
    current, yes, no = 0, 0.0, 0.0
    for place, (asked, chance) in enumerate(zip(counts.total_asked, p, strict=True)):
        group[place] = current
        yes, no = yes + asked * chance, no + asked * (1 - chance)
        if min(yes, no) >= LEAST_EXPECTED:
            current, yes, no = current + 1, 0.0, 0.0
    return np.minimum(group, max(current - 1, 0))


def _residuals(
    decay: float, p0: float, counts: LatenessCounts, group: "np.ndarray[tuple[int], np.dtype[np.intp]]"
) -> tuple[float, Floats, Floats]:
    """Return G, each worker's part of pi - m, (w, groups), and the weights n / (m (1 - m)), (groups,)."""
    member = (group == np.arange(group.max() + 1)[:, None]).astype(np.float64)
    p = chances(decay, p0, counts.level)
    n = member @ counts.total_asked
    share, fitted = member @ counts.total_useful / n, member @ (counts.total_asked * p) / n
    ratio = 2 * (n @ (xlogy(share, share / fitted) + xlogy(1 - share, (1 - share) / (1 - fitted))))
    scores, information = scores_and_information(decay, p0, counts)
    slopes = member @ (counts.total_asked * p * np.stack([counts.level, np.ones_like(p)])).T / n[:, None]
    if decay == 1:  # on the edge only p0 moves
        scores, information, slopes = scores[:, 1:], information[:, 1:, 1:], slopes[:, 1:]
    moved = np.linalg.solve(information.sum(axis=0), scores.T)
    residual = (counts.useful - counts.asked * p) @ member.T / n - (slopes @ moved).T
    return float(ratio), residual, n / (fitted * (1 - fitted))


def plot_shares(ax: "Axes", counts: LatenessCounts, decay: float, p0: float, *, level: float = LEVEL) -> None:
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
    ax.plot(fine, chances(decay, p0, fine), color="#0072B2", label=f"fitted: {p0:.2f} x {decay:.2f}^lateness")
    ax.set_xticks(shares.level)
    ax.set_xlabel("visits late")
    ax.set_ylabel("share still of use")
    ax.set_ylim(0, 1)
    finish(ax, "Lateness decay: updates still of use", "the curve should pass through the intervals")
