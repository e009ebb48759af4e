"""What to know before using a lateness decay: whether the shares fall geometrically, edges, few answers.

Do the shares of useful updates fall geometrically? Shares level by level, their errors, a test, a picture.

The test compares the shares pi_g with the fitted m_g by the likelihood ratio G = 2 sum n_g KL(pi_g, m_g). Answers of a
worker belong together, so G is no chi-square; it is referred to Rao and Scott's second-order correction (1984):
F = G / tr(D V) with nu = tr(D V)^2 / tr(D V D V) and nu (w - 1) degrees of freedom, where V is the clustered
covariance of pi - m (the fit's own error included; of workers, and of nuggets crossed with them) and D = diag(n / (m (1 - m))). Levels that the model expects fewer
than five yeses or noes of are taken together with their neighbours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import fdtrc, ndtri, xlogy

from calibration.inference.clusters import between_clusters, without_negative
from calibration.inference.goodness import REJECTED
from calibration.inference.results import LEVEL, GoodnessOfFit, info, warning
from calibration.inference.wording import finish, shown_level, shown_p
from calibration.lateness.floor import FloorsLeftOpen
from calibration.lateness.laws import BetterLaw, ChosenCurve, Law, nugget_test
from calibration.lateness.likelihood import LatenessCounts, chances, maximum, scores_and_information, slopes
from calibration.user_model.model import FLOOR, LATENESS, USE_IN_TIME, Diagnostic
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
    square = float(ndtri((1 + level) / 2)) ** 2 / effective  # Wilson's score interval
    centre = (share + square / 2) / (1 + square)
    reach = np.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    return LevelShares(level=counts.level, asked=n, share=share, low=centre - reach, high=centre + reach)


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
    p_value = float(fdtrc(nu, nu * (counts.clusters - 1), statistic))
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


FEW_WORKERS = 20
FEW_NUGGETS = 10
FEW_LATE_ANSWERS = 5
NUGGETS_DIFFER = 0.03
"""A p-value below it is taken as a sign of nuggets that differ; the test is cautious, chance brings about 2 %."""
UNPAIRED_SHARE = 0.2


def notes_on_fit(choice: ChosenCurve, counts: LatenessCounts) -> Iterator[Diagnostic]:
    """Yield what to know before using the curve that was chosen for ``counts``."""
    yield from _edge_notes(choice.decay, choice.p0, choice.counts)
    yield from _sample_notes(counts)
    yield from _nugget_notes(counts)
    yield from _law_notes(choice)
    test = shape_test(choice.decay, choice.p0, choice.counts, choice.floor)
    explained = choice.found is not None and choice.found.law == "own decay"
    if test is not None and test.p_value < REJECTED and not explained:
        yield warning("not_geometric", test.sentence)
    if choice.floors is not None:
        yield _floors_note(choice.decay, choice.floors)


def _law_notes(choice: ChosenCurve) -> Iterator[Diagnostic]:
    found = choice.found
    if found is None:
        return
    if choice.floor is not None or (choice.curve is not None and found.nearly("floor")):
        yield warning("lateness_floor", _floor_sentence(choice, found))
    if found.law == "careless" or found.nearly("careless"):
        yield warning("careless_workers", _careless_sentence(choice, found))
    if found.law == "own decay" or found.nearly("own decay"):
        yield warning("workers_decay_differently", _own_decay_sentence(found))


def _evidence(found: BetterLaw, law: Law) -> str:
    if law == found.law:
        return f"likelihood ratio {found.ratios[law]:.1f}, {shown_p(found.p_value)}"
    return f"nearly as well: likelihood ratio {found.ratios[law]:.1f} against {found.ratios[found.law]:.1f}"


def _floor_sentence(choice: ChosenCurve, found: BetterLaw) -> str:
    curve, (decay, p0) = choice.curve, choice.plain
    if curve is None:
        return ""
    evidence = f"A decay to a floor explains the answers better than one to 0 ({_evidence(found, 'floor')}): "
    if choice.floor is None:
        return f"{evidence}some updates may keep their use however late they come, with a floor of {curve.floor:.2f} and L {curve.decay:.2f}."
    return (
        f"{evidence}some updates keep their use however late they come. {LATENESS}, {USE_IN_TIME} and {FLOOR} belong together "
        f"as p0 (floor + (1 - floor) L^lateness): use all three. Without a floor L would be {decay:.2f} and p0 {p0:.2f}."
    )


def _careless_sentence(choice: ChosenCurve, found: BetterLaw) -> str:
    workers = len(found.careless.posterior)
    counts = (
        choice.counts if found.law == "careless" else choice.counts.weighted(1 - found.careless.posterior)
    )
    decay, p0 = maximum(counts.level, counts.total_asked, counts.total_useful)
    with_all, p0_with_all = choice.plain
    apart, together = ("", ", which the model holds")[:: -1 if choice.is_in_earnest else 1]
    return (
        f"About {found.careless.share * workers:.0f} of {workers} workers answer alike however late the update is, as if they did not look "
        f"({_evidence(found, 'careless')}). The others have L {decay:.2f} and p0 {p0:.2f}{apart}; all of them together L {with_all:.2f} and p0 "
        f"{p0_with_all:.2f}{together}. Look at what else these workers answered before you exclude anybody."
    )


def _own_decay_sentence(found: BetterLaw) -> str:
    return (
        f"Workers differ in how lateness matters to them ({_evidence(found, 'own decay')}); the decay of the average is then not "
        f"geometric, and L is the geometric decay closest to it, not the mean of the workers' own, which is about {found.mean_decay:.2f}."
    )


def _floors_note(decay: float, floors: FloorsLeftOpen) -> Diagnostic:
    reach = float(ndtri((1 + LEVEL) / 2))
    floor = floors.largest_floor(reach)
    if floor == 0:
        return info("floor_left_open", "The answers leave no room for a floor under which use does not fall.")
    with_it = float(np.exp(np.interp(floor, floors.floor, floors.log_decay)))
    return info(
        "floor_left_open",
        f"Whether some updates keep their use however late they come cannot be told: a floor of up to {floor:.2f} agrees with the "
        f"answers, and with that one L would be {with_it:.2f} instead of {decay:.2f}. The lower end of the interval allows for it; to know more, ask "
        "about later updates, or more of them.",
    )


def _edge_notes(decay: float, p0: float, counts: LatenessCounts) -> Iterator[Diagnostic]:
    late = counts.total_useful[1:].sum()
    if decay == 0:
        yield warning(
            "decay_at_zero",
            f"None of {counts.total_asked[1:].sum():.0f} late updates was of use: L is 0 and its interval is a "
            "one-sided bound.",
        )
    elif late < FEW_LATE_ANSWERS:
        yield warning("few_late_yeses", f"Only {late:.0f} late updates were of use: L rests on these alone.")
    if decay == 1:
        yield warning(
            "decay_at_one",
            "Late updates were of use at least as often as those in time: L is 1 and its interval is a one-sided bound.",
        )
    if p0 == 1:
        yield info(
            "certain_in_time",
            "Every update in time was of use: p0 is 1 and its interval is a one-sided bound.",
        )


def _sample_notes(counts: LatenessCounts) -> Iterator[Diagnostic]:
    if counts.workers < 2:
        yield warning(
            "one_worker",
            "With a single worker nothing is known about differences between workers: there is no interval.",
        )
    elif counts.workers < FEW_WORKERS:
        yield warning("few_workers", f"{counts.workers} workers are few to tell how much workers differ.")
    if len(counts.level) < 3:
        yield warning(
            "one_late_level",
            f"All late updates were late by the same number of visits ({counts.level[1]:.0f}): that the decay is geometric cannot be tested.",
        )
    unpaired, by_chance = _unpaired(counts)
    if unpaired > by_chance + UNPAIRED_SHARE:
        yield warning(
            "different_workers",
            f"{unpaired:.0%} of the answers on late updates are by workers who were never asked about one in time: "
            "differences between workers may look like lateness.",
        )


def _unpaired(counts: LatenessCounts) -> tuple[float, float]:
    """Return the share of late answers by workers never asked about an update in time, and what chance alone would make of it.

    Of a worker with one answer nobody can know whether chance or the design chose its lateness, so these count as the design's.
    """
    asked = counts.asked.sum(axis=1)
    late = asked - counts.asked[:, 0]
    share_late = late.sum() / asked.sum()
    by_chance = (asked * share_late**asked)[asked > 1].sum()
    return float(late[counts.asked[:, 0] == 0].sum() / late.sum()), float(by_chance / late.sum())


def _nugget_notes(counts: LatenessCounts) -> Iterator[Diagnostic]:
    by_nugget = counts.by_nugget
    if by_nugget is None or counts.workers < 2:
        return
    nuggets = by_nugget.workers
    if nuggets < 2:
        yield warning(
            "one_nugget",
            "All answers are on a single nugget: nothing is known about differences between nuggets, and the interval is of this one.",
        )
    elif nuggets < FEW_NUGGETS:
        yield warning("few_nuggets", f"{nuggets} nuggets are few to tell how much nuggets differ.")
    test = nugget_test(counts)
    if test is not None and test.p_value < NUGGETS_DIFFER:
        yield warning(
            "nuggets_differ",
            f"Some nuggets are of use more often than others, whoever is asked and however late ({shown_p(test.p_value)}): the "
            f"intervals allow for {test.nuggets} nuggets drawn from many; they are of the shares of all of these, and L "
            "within a single nugget may be smaller. Ask about more nuggets.",
        )
