"""Patience L from preferences, by the profile likelihood of differences of M.

The estimate is the L at which differences of M best explain the preferences.

For each kappa = 1 / L, Davidson's model (`calibration.inference.choice`) is fitted to M_L(R) - M_L(R'); slope and tie weight
are free for each kappa, since the scale of M changes with it. The estimate is the kappa of the highest profile
likelihood. Judgments of a topic share its summaries and those of a person the person's patience, so the error is clustered by both:

    {kappa : 2 (l_max - l(kappa)) <= max(d t_df^2, z^2)}

The design effect d is the ratio of the clustered to the model's own variance of kappa; df counts topics, and people where these are fewer,
by their shares of the judgments (`calibration.inference.clusters.unequal_variance`). Model and grid: Kato, Sakai, Yamamoto and Iwata (SIGIR
2016); ties: Davidson (1970).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import fdtri

from calibration.inference.choice import (
    MAX_SCALED_SLOPE,
    DavidsonFit,
    Votes,
    choice_probabilities,
    fit_davidson,
)
from calibration.inference.clusters import couple_codes, crossed_unequal, jackknife_groups
from calibration.inference.formatting import label_axes, shown_level
from calibration.inference.results import (
    LEVEL,
    CalibrationResult,
    NotIdentifiedError,
    info,
    on_single,
    warning,
)
from calibration.inference.uncertainty import LikelihoodCurve, Scale
from calibration.models.patience.pairs import Decay, JudgedSummaries
from calibration.user_model.model import Diagnostic
from metrics.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "patience_chars_preferences"
NOTHING_SHOWS = "nothing shows that M matters"
"""Prefix of the reason why no method finds a patience from preferences."""
UNRELATED = 0.05
"""Level of the test that judgments are related to M.

Judgments unrelated to M would yield a number this often.
"""
MIN_DF = 6
"""Smallest degrees of freedom of that test.

The design effect of two topics is too uncertain to refuse a fit.
"""
SEPARATED = 0.999
"""Share of the largest slope from which a slope counts as infinite."""
GRID_POINTS = 81
GRID_END = 8.0
"""Largest kappa, in units of 1 / longest offset."""
ZOOMS = 6
DEEPEST_DROP = 20.0


class ProfileMaximum(NamedTuple):
    """Maximum of the profile likelihood: kappa, slope and log tie weight."""

    kappa: float
    slope: float
    log_tie: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KappaProfile:
    """Profile likelihood of kappa, with slope and tie weight at each kappa.

    All are (m,) ndarrays; kappa ascends.
    """

    kappa: Floats
    slope: Floats
    log_tie: Floats
    loglik: Floats

    @property
    def best(self) -> int:
        """Index of the maximum; of several, the smallest kappa."""
        return int(self.loglik.argmax())

    def with_points(self, other: "KappaProfile") -> "KappaProfile":
        """Return the union of two profiles in order of kappa, each kappa once."""
        kappa, first = np.unique(np.concatenate([self.kappa, other.kappa]), return_index=True)
        columns = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])[first]
            for name in ("slope", "log_tie", "loglik")
        }
        return KappaProfile(kappa=kappa, **columns)


def profile_at(
    kappa: Floats, differences: Floats, votes: Votes, start: tuple[Floats, Floats] | None = None
) -> KappaProfile:
    """Return the profile at each kappa, given the differences of the pairs, (k, p)."""
    fit = fit_davidson(differences, votes, start)
    return KappaProfile(kappa=kappa, slope=fit.slope, log_tie=fit.log_tie, loglik=fit.loglik)


def maximised(
    pairs: JudgedSummaries,
    votes: Votes,
    profile: KappaProfile,
    used: Bools | None = None,
    decay: Decay = "linear",
) -> KappaProfile:
    """Refine a profile around its maximum, to a four thousandth of the grid's spacing."""
    for _ in range(ZOOMS):
        low, best, high = profile.kappa[
            np.clip(profile.best + np.array([-1, 0, 1]), 0, len(profile.kappa) - 1)
        ]
        # The best is among them to the last digit: with a neighbour that differs by rounding alone, the next round would look on one side only.
        kappa = np.unique([np.linspace(low, best, 5), np.linspace(best, high, 5)])
        differences = pairs.differences(kappa, decay)
        nearby = (
            np.full(len(kappa), profile.slope[profile.best]),
            np.full(len(kappa), profile.log_tie[profile.best]),
        )
        profile = profile.with_points(
            profile_at(kappa, differences if used is None else differences[:, used], votes, nearby)
        )
    return profile


def without_each_group(pairs: JudgedSummaries, differences: Floats) -> Floats:
    """Return kappa fitted without each topic or group of topics.

    `calibration.inference.clusters.jackknife_groups` makes the groups.

    Parameters
    ----------
    pairs : JudgedSummaries
        Of at least two topics.
    differences : (`GRID_POINTS`, p) ndarray of float
        Of all pairs at the grid of kappa from 0 to `GRID_END` / longest offset.

    Returns
    -------
    (groups,) ndarray of float
        0 where no decay explains the other topics best, or nobody preferred a system there.
    """
    groups = jackknife_groups(pairs.topic)
    whole = fit_davidson(differences, pairs.votes)
    return np.array(
        [_kappa_of(pairs, differences, groups != group, whole) for group in range(groups.max() + 1)]
    )


def kappa_grid(pairs: JudgedSummaries) -> Floats:
    """Return the kappa of the first search, ascending from 0."""
    return np.linspace(0, GRID_END / pairs.summaries.longest_offset, GRID_POINTS)


def _kappa_of(pairs: JudgedSummaries, differences: Floats, used: Bools, whole: DavidsonFit) -> float:
    """Return the best kappa of some pairs, starting from the fits of all pairs."""
    votes = pairs.votes.of(used)
    if not (votes.first + votes.second).any():
        return 0.0
    start = (whole.slope, whole.log_tie) if votes.ties.any() else None
    profile = profile_at(kappa_grid(pairs), differences[:, used], votes, start)
    profile = maximised(pairs, votes, profile, used)
    return float(profile.kappa[profile.best])


class Rows(NamedTuple):
    """Judgments as rows, or pairs as rows where workers are unknown.

    Attributes
    ----------
    scores : (n, 3) ndarray of float
        Gradient of each row's log-likelihood, in the order of `ProfileMaximum`.
    topic, worker : (n,) ndarray of int
        What each row is clustered by; the topic again where nobody knows who judged.
    judged : (n,) ndarray of float
        Judgments.
    """

    scores: Floats
    topic: Ints
    worker: Ints
    judged: Floats


class DesignEffects(NamedTuple):
    """Design effects of the three parameters, with degrees of freedom.

    A design effect is the clustered variance over the model's.

    Attributes
    ----------
    kappa, slope : float
        Of kappa, and of the slope at a given kappa; 1 for a single topic.
    df : float
        One less than the topics, or than the people where these judge several topics and are fewer; less where shares of the
        judgments are unequal.
    crossed : bool
        Somebody judged several topics.
    """

    kappa: float
    slope: float
    df: float
    crossed: bool


def score_rows(pairs: JudgedSummaries, optimum: ProfileMaximum) -> Rows:
    """Return the score of every row in the three parameters."""
    kappa = np.array([optimum.kappa])
    difference = pairs.differences(kappa)[0]
    by_kappa = optimum.slope * pairs.difference_slopes(kappa)[0]
    first, second, tie = choice_probabilities(optimum.slope * difference, np.asarray(optimum.log_tie))
    lead = first - second
    if pairs.judgments is None:
        judged = n = pairs.votes.total
        votes = pairs.votes
        residual, tied = votes.first - votes.second - n * lead, votes.ties - n * tie
        topic = worker = pairs.topic
    else:
        of, given = pairs.judgments.pair, pairs.judgments.lead
        residual, tied = given - lead[of], (given == 0) - tie[of]
        by_kappa, difference = by_kappa[of], difference[of]
        topic, worker = pairs.topic[of], pairs.judgments.worker
        judged = np.ones(len(of))
    scores = np.stack([residual * by_kappa / 2, residual * difference / 2, tied], axis=1)
    return Rows(scores=scores, topic=topic, worker=worker, judged=judged)


def information(pairs: JudgedSummaries, optimum: ProfileMaximum) -> Floats:
    """Return the expected information of the three parameters, (3, 3).

    The last row and column are 0 without observed ties.
    """
    kappa = np.array([optimum.kappa])
    difference = pairs.differences(kappa)[0]
    by_kappa = optimum.slope * pairs.difference_slopes(kappa)[0]
    first, second, tie = choice_probabilities(optimum.slope * difference, np.asarray(optimum.log_tie))
    n, lead = pairs.votes.total, first - second
    odds = np.stack([by_kappa / 2, difference / 2])
    matrix = np.zeros((3, 3))
    matrix[:2, :2] = odds * (n * (first + second - lead**2)) @ odds.T
    matrix[:2, 2] = matrix[2, :2] = -odds @ (n * lead * tie)
    matrix[2, 2] = n @ (tie * (1 - tie))
    return matrix


def design(pairs: JudgedSummaries, optimum: ProfileMaximum) -> DesignEffects:
    """Return the design effects at the maximum of the likelihood."""
    rows, matrix = score_rows(pairs, optimum), information(pairs, optimum)
    topics, people = len(pairs.topics), len(np.unique(rows.worker))
    cells = int(couple_codes(rows.worker, rows.topic).max()) + 1
    several = pairs.judgments is not None and cells > people
    if topics < 2:
        return DesignEffects(1.0, 1.0, 0, several)
    kappa, df = _effect(rows, matrix, 0, crossed=several)
    slope, _ = _effect(rows, matrix[1:, 1:], 1, crossed=several)
    return DesignEffects(kappa, slope, df, several)


def _effect(rows: Rows, matrix: Floats, first: int, *, crossed: bool) -> tuple[float, float]:
    """Return the design effect of one parameter given those before it, with its df.

    It is the clustered variance over the model's.
    """
    model = np.linalg.pinv(matrix, hermitian=True)
    influence = rows.scores[:, first:] @ model[0]
    both = crossed_unequal(influence, rows.topic, rows.worker, rows.judged)
    df = min(both.df) if crossed else both.df[0]
    return (both.variance / float(model[0, 0]) if model[0, 0] > 0 else 1.0), max(df, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PreferencesFit(CalibrationResult):
    """Patience fitted to preferences, with its profile likelihood.

    It also has the model's expected votes of each pair.

    Attributes
    ----------
    kappa : (m,) ndarray of float
        Ascending values of 1 / L, from 0.
    drop : (m,) ndarray of float
        Twice the log-likelihood lost there.
    log_odds : (p,) ndarray of float
        b D of each pair.
    votes : (p,) ndarray of float
        Judgments of each pair.
    place : ProfileMaximum
        Where the likelihood is highest.
    """

    kappa: Floats
    drop: Floats
    log_odds: Floats
    votes: Floats
    place: ProfileMaximum

    def simulate(self, rng: np.random.Generator) -> Votes:
        """Return votes drawn from the fitted model for the same pairs, as many for each."""
        tie_weight = self.details["tie_weight"]
        log_tie = np.log([tie_weight]) if tie_weight else np.array([-np.inf])
        chances = choice_probabilities(self.log_odds, log_tie)
        drawn = rng.multinomial(self.votes.astype(np.int64), np.stack(chances, axis=1)).astype(np.float64)
        return Votes(first=drawn[:, 0], second=drawn[:, 1], ties=drawn[:, 2])

    def plot_profile(self, ax: "Axes", *, level: float = LEVEL) -> None:
        """Plot the profile likelihood over patience, with the interval's cut."""
        drop = self.drop / max(1.0, self.details["design_effect"])
        shown = (self.kappa > 0) & (drop <= DEEPEST_DROP)
        patience = 1 / self.kappa[shown]
        ax.plot(patience, drop[shown], color="#0072b2", marker=".", label="profile likelihood")
        if drop[0] <= DEEPEST_DROP:
            ax.axhline(drop[0], color="0.6", linestyle=":", label="no decay")
        ends = [end for end in next(iter(self.conf_int(level).values())) if end is not None]
        for end, label in zip(ends, (f"{shown_level(level)} interval", "_"), strict=False):
            ax.axvline(end, color="0.25", linestyle="--", linewidth=0.8, label=label)
        wide = patience.max() > 10 * patience.min()
        ax.set(
            xscale="log" if wide else "linear",
            ylim=(0, None),
            xlabel="patience L (counted characters)",
            ylabel="2 x log-likelihood lost, over the design effect",
        )
        label_axes(
            ax,
            "Patience from preferences: profile likelihood",
            "the lowest point is the estimate; a flat curve tells little",
        )


def fit_patience_from_preferences(pairs: JudgedSummaries, *, n_workers: int) -> PreferencesFit:
    """Fit the patience that explains the preferences best.

    Parameters
    ----------
    pairs : JudgedSummaries
        Judged pairs with the positions of their summaries.
    n_workers : int
        How many people gave the votes.

    Returns
    -------
    PreferencesFit
        With parameter ``patience_chars_preferences``, infinite where kappa = 0 is best. Its details: slope, tie_weight,
        lr_no_decay (twice the gain in log-likelihood over kappa = 0), lr_no_relation (over slope = 0),
        design_effect, topics and misfit (`misfit`).

    Raises
    ------
    NotIdentifiedError
        If M does not tell the systems apart at all, nobody preferred a system, nothing shows that M matters, the metric runs
        against the preferences (slope <= 0), or preferences follow M with hardly an exception.
    """
    _check_votes(pairs)
    grid = kappa_grid(pairs)
    differences = pairs.differences(grid)
    if not differences.any():
        raise NotIdentifiedError("M is the same for both summaries of every pair, at every patience")
    profile = maximised(pairs, pairs.votes, profile_at(grid, differences, pairs.votes))
    best = profile.best
    _check_separation(pairs, profile)
    optimum = ProfileMaximum(
        float(profile.kappa[best]), float(profile.slope[best]), float(profile.log_tie[best])
    )
    clusters = design(pairs, optimum)
    unrelated = float(fit_davidson(np.zeros((1, len(pairs.votes.ties))), pairs.votes).loglik[0])
    details = {
        "slope": float(profile.slope[best]),
        "tie_weight": float(np.exp(profile.log_tie[best])),
        "lr_no_decay": float(2 * (profile.loglik[best] - profile.loglik[0])),
        "lr_no_relation": float(2 * (profile.loglik[best] - unrelated)),
        "design_effect": clusters.kappa,
        "topics": float(len(pairs.topics)),
    }
    _check_relation(details, clusters)
    kappa = optimum.kappa
    log_odds = optimum.slope * pairs.differences(profile.kappa[[best]])[0]
    details["misfit"] = misfit(log_odds, pairs.votes)
    return PreferencesFit(
        parameters=MappingProxyType({NAME: 1 / kappa if kappa > 0 else math.inf}),
        unit="counted characters",
        method="preference likelihood",
        uncertainty=MappingProxyType(
            {"likelihood_ratio": likelihood_curve(profile, clusters)} if len(pairs.topics) > 1 else {}
        ),
        loglik=float(profile.loglik[best]),
        n_free=3 if pairs.votes.ties.any() else 2,
        n_workers=n_workers,
        n_rows=int(pairs.votes.total.sum()),
        details=MappingProxyType(details),
        diagnostics=(_beyond_m(details["misfit"]), *_edges(pairs, profile)),
        kappa=profile.kappa,
        drop=2 * (profile.loglik.max() - profile.loglik),
        log_odds=log_odds,
        votes=pairs.votes.total,
        place=optimum,
    )


def _check_votes(pairs: JudgedSummaries) -> None:
    if not (pairs.votes.first + pairs.votes.second).any():
        raise NotIdentifiedError("every judgment is a tie: nobody preferred a system")
    if not pairs.summaries.longest_offset:
        raise NotIdentifiedError("no summary has an iUnit of any importance")


def _check_separation(pairs: JudgedSummaries, profile: KappaProfile) -> None:
    """Raise if preferences follow M with hardly an exception.

    The slope then has no maximum, and kappa may be any value of a range.
    """
    differences = pairs.differences(profile.kappa)
    spread = np.sqrt(differences**2 @ pairs.votes.total / pairs.votes.total.sum())
    endless = np.abs(profile.slope) * spread >= SEPARATED * MAX_SCALED_SLOPE
    if not endless[profile.best]:
        return
    kappa = profile.kappa[endless]
    longest = f"{1 / kappa.min():.0f} characters" if kappa.min() > 0 else "no bound"
    raise NotIdentifiedError(
        f"the preferences follow M with hardly an exception at patiences from {1 / kappa.max():.0f} characters to {longest}: the "
        "likelihood cannot choose among them (complete separation); more judges of each pair would choose"
    )


def _check_relation(details: Mapping[str, float], clusters: DesignEffects) -> None:
    """Raise unless preferences are related to M, by more than 2 F(2, df).

    It refuses a slope and a kappa that explain nothing.
    """
    ratio = details["lr_no_relation"] / max(1.0, clusters.slope)
    bound = 2 * float(fdtri(2, max(clusters.df, MIN_DF), 1 - UNRELATED))
    if ratio < bound:
        raise NotIdentifiedError(
            f"{NOTHING_SHOWS} to these people, at any patience (likelihood ratio {ratio:.1f} over no relation, "
            f"below {bound:.1f}): they may have answered without reading, or there are too few judgments"
        )
    if details["slope"] <= 0:
        raise NotIdentifiedError(
            "the metric runs against the preferences: even at the best patience people prefer what scores lower"
        )


def likelihood_curve(profile: KappaProfile, clusters: DesignEffects) -> LikelihoodCurve:
    """Return a profile as the uncertainty of kappa, divided by the design effect."""
    return LikelihoodCurve(
        grid=profile.kappa,
        drop=2 * (profile.loglik.max() - profile.loglik),
        design_effect=clusters.kappa,
        df=clusters.df,
        scale=Scale.INVERSE,
    )


def _beyond_m(misfit: float) -> Diagnostic:
    """Yield a note on agreement of judges that M leaves unexplained.

    The interval allows for it.
    """
    return info(
        "beyond_m",
        f"The answers to a pair vary {misfit:.2f} times as much as M explains; 1 would be a full explanation. "
        "The interval allows for the rest: other properties of a summary that people like or dislike.",
    )


def _edges(pairs: JudgedSummaries, profile: KappaProfile) -> Iterator[Diagnostic]:
    """Yield notes on an estimate at an end of the grid, or without an interval."""
    kappa = profile.kappa[profile.best]
    if kappa == 0:
        yield warning(
            "infinite_patience",
            "The preferences are explained best without any decay: the patience has no upper bound.",
        )
    if kappa == profile.kappa[-1]:
        yield warning(
            "end_of_grid", "The best patience is the shortest one tried; the true one may be shorter still."
        )
    yield from on_single("topic", len(pairs.topics))


def misfit(log_odds: Floats, votes: Votes) -> float:
    """Return Pearson's chi-squared of p pairs over p - 1 degrees of freedom.

    Ties are left out.

    sum_pairs (v_1 - v_2 - (n - t) tanh(b D / 2))^2 / ((n - t) (1 - tanh(b D / 2)^2)) / (p - 1)

    Parameters
    ----------
    log_odds : (p,) ndarray of float
        b D.
    votes : Votes
        Of the pairs; those with nothing but ties are left out.
    """
    preferred = votes.first + votes.second
    used = preferred > 0
    lead = np.tanh(log_odds[used] / 2)
    residual = votes.first[used] - votes.second[used] - preferred[used] * lead
    variance = np.maximum(preferred[used] * (1 - lead**2), 1e-12)
    return float((residual**2 / variance).sum() / max(used.sum() - 1, 1))
