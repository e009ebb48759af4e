"""The likelihood of patience from preferences: its profile, how judgments pull at it, and its form of decay.

The profile likelihood of kappa = 1 / L: Davidson's model with slope and tie weight maximised at each kappa.

How judgments pull at patience, slope and tie weight, and how much of that people and topics have in common.

Judgments of a topic share its summaries, and judgments of a person the person's patience. So the variance is clustered by topics
and by people at once; where nobody judges more than one topic that is the one by topics.

Which form of decay explains preferences better: linear, as in M, or exponential, exp(-x / L), or hyperbolic, 1 / (1 + x / L), or a step at L.

They are not nested; so by Cox's test (1961): how much better the other form explains the votes, against how much it would if the
linear one were true, in units of what the votes of topics leave to chance.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from calibration.inference.clusters import between_clusters, crossed_variance, jackknife_groups
from calibration.inference.davidson import DavidsonFit, Votes, choice_probabilities, fit_davidson
from calibration.patience.pairs import Decay, JudgedSummaries
from metrics.arrays import Bools, Floats, Ints

GRID_POINTS = 81
GRID_END = 8.0
"""The largest kappa, in units of 1 / longest offset."""
ZOOMS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class KappaProfile:
    """The profile likelihood of kappa: ascending (m,) ndarrays of kappa, slope, log tie weight, log-likelihood."""

    kappa: Floats
    slope: Floats
    log_tie: Floats
    loglik: Floats

    @property
    def best(self) -> int:
        """Index of the maximum; of several, the smallest kappa."""
        return int(self.loglik.argmax())

    def with_points(self, other: "KappaProfile") -> "KappaProfile":
        """Return both together, in order of kappa, each kappa once."""
        kappa, first = np.unique(np.concatenate([self.kappa, other.kappa]), return_index=True)
        joined = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])[first]
            for name in ("slope", "log_tie", "loglik")
        }
        return KappaProfile(kappa=kappa, **joined)


def profile_at(
    kappa: Floats, differences: Floats, votes: Votes, start: tuple[Floats, Floats] | None = None
) -> KappaProfile:
    """Return the profile at every kappa, with the (k, p) differences of the pairs there."""
    fit = fit_davidson(differences, votes, start)
    return KappaProfile(kappa=kappa, slope=fit.slope, log_tie=fit.log_tie, loglik=fit.loglik)


def maximised(
    pairs: JudgedSummaries,
    votes: Votes,
    profile: KappaProfile,
    used: Bools | None = None,
    decay: Decay = "linear",
) -> KappaProfile:
    """Add points around the maximum of a profile until it is found to a four thousandth of the grid's spacing."""
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
    """Return kappa fitted without each topic, or without each group of `calibration.inference.clusters.jackknife_groups`.

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
    """Return the kappa that are tried first, ascending from 0."""
    return np.linspace(0, GRID_END / pairs.summaries.longest_offset, GRID_POINTS)


def _kappa_of(pairs: JudgedSummaries, differences: Floats, used: Bools, whole: DavidsonFit) -> float:
    """Return the best kappa of some pairs, starting from the fits of all."""
    votes = pairs.votes.of(used)
    if not (votes.first + votes.second).any():
        return 0.0
    start = (whole.slope, whole.log_tie) if votes.ties.any() else None
    profile = profile_at(kappa_grid(pairs), differences[:, used], votes, start)
    profile = maximised(pairs, votes, profile, used)
    return float(profile.kappa[profile.best])


class BestPlace(NamedTuple):
    """Where a likelihood stands: kappa, slope and log tie weight."""

    kappa: float
    slope: float
    log_tie: float


class Rows(NamedTuple):
    """What was judged, a row per judgment, or a row per pair where nobody knows who judged.

    Attributes
    ----------
    scores : (n, 3) ndarray of float
        Gradient of each row's log-likelihood, in the order of `BestPlace`.
    topic, worker : (n,) ndarray of int
        What each row is clustered by; the topic again where nobody knows who judged.
    """

    scores: Floats
    topic: Ints
    worker: Ints


class ClusterDesign(NamedTuple):
    """How many times larger variances are than the model's, and what is left to tell that from.

    Attributes
    ----------
    kappa, slope : float
        Of kappa, and of the slope at a given kappa; 1 for a single topic.
    df : int
        One less than the topics, or than the people where these judge several topics and are fewer.
    crossed : bool
        Somebody judged several topics.
    """

    kappa: float
    slope: float
    df: int
    crossed: bool


def score_rows(pairs: JudgedSummaries, place: BestPlace) -> Rows:
    """Return what every row pulls at the three parameters."""
    kappa = np.array([place.kappa])
    difference = pairs.differences(kappa)[0]
    by_kappa = place.slope * pairs.difference_slopes(kappa)[0]
    first, second, tie = choice_probabilities(place.slope * difference, np.asarray(place.log_tie))
    lead = first - second
    if pairs.judgments is None:
        n, votes = pairs.votes.total, pairs.votes
        residual, tied = votes.first - votes.second - n * lead, votes.ties - n * tie
        topic = worker = pairs.topic
    else:
        of, given = pairs.judgments.pair, pairs.judgments.lead
        residual, tied = given - lead[of], (given == 0) - tie[of]
        by_kappa, difference = by_kappa[of], difference[of]
        topic, worker = pairs.topic[of], pairs.judgments.worker
    scores = np.stack([residual * by_kappa / 2, residual * difference / 2, tied], axis=1)
    return Rows(scores=scores, topic=topic, worker=worker)


def information(pairs: JudgedSummaries, place: BestPlace) -> Floats:
    """Return minus the expected second derivatives, (3, 3); the last row and column are 0 where nobody saw a tie."""
    kappa = np.array([place.kappa])
    difference = pairs.differences(kappa)[0]
    by_kappa = place.slope * pairs.difference_slopes(kappa)[0]
    first, second, tie = choice_probabilities(place.slope * difference, np.asarray(place.log_tie))
    n, lead = pairs.votes.total, first - second
    odds = np.stack([by_kappa / 2, difference / 2])
    matrix = np.zeros((3, 3))
    matrix[:2, :2] = odds * (n * (first + second - lead**2)) @ odds.T
    matrix[:2, 2] = matrix[2, :2] = -odds @ (n * lead * tie)
    matrix[2, 2] = n @ (tie * (1 - tie))
    return matrix


def design(pairs: JudgedSummaries, place: BestPlace) -> ClusterDesign:
    """Return the design effects at the maximum of the likelihood."""
    rows, matrix = score_rows(pairs, place), information(pairs, place)
    topics, people = len(pairs.topics), len(np.unique(rows.worker))
    crossed = pairs.judgments is not None and _cells(rows) > people
    if topics < 2:
        return ClusterDesign(1.0, 1.0, 0, crossed)
    df = max(min(topics, people) - 1, 1) if crossed else topics - 1
    return ClusterDesign(_effect(rows, matrix, 0), _effect(rows, matrix[1:, 1:], 1), df, crossed)


def _cells(rows: Rows) -> int:
    """Return how many couples of a person and a topic there are."""
    return int(np.unique(np.stack([rows.worker, rows.topic]), axis=1).shape[1])


def _effect(rows: Rows, matrix: Floats, first: int) -> float:
    """Return clustered over model variance of the parameter ``first``, given those before it."""
    model = np.linalg.pinv(matrix, hermitian=True)
    if model[0, 0] <= 0:
        return 1.0
    influence = rows.scores[:, first:] @ model[0]
    return crossed_variance(influence, rows.topic, rows.worker) / float(model[0, 0])


REJECTED: MappingProxyType[Decay, float] = MappingProxyType(
    {"exponential": 0.06, "hyperbolic": 0.06, "step": 0.005}
)
"""Form -> a p-value below it says that it explains decisively better. A step has a choice of many places, so it is asked for more."""
LEAST_GAIN: MappingProxyType[Decay, float] = MappingProxyType(
    {"exponential": 0.0, "hyperbolic": 0.0, "step": 3.0}
)
"""Form -> log-likelihood, times the design effect, by which it has to explain more then."""
NEARLY = 1.92
"""Log-likelihood, times the design effect, by which it may explain less and is left open: half the chi-squared that chance exceeds in one of twenty."""
BOUNDED = 3.84
"""Log-likelihood, times the design effect, that the shortest length tried has to lose for a form to bound its length."""


class DecayForm(NamedTuple):
    """What preferences say of another form than the linear one.

    Attributes
    ----------
    decay : str
        Which.
    scale : float
        Counted characters after which worth has fallen to 1 / e, to a half (hyperbolic), or to nothing (step), where that form explains most; may be infinite.
    gain : float
        Log-likelihood of the form over that of the linear one.
    p_value : float
        How often it would explain as much better if the linear form were true.
    profile : KappaProfile
        Of the form.
    design_effect : float
        How many times larger the variance of kappa is than the model's, at least 1.
    """

    decay: Decay
    scale: float
    gain: float
    p_value: float
    profile: KappaProfile
    design_effect: float

    @property
    def is_told(self) -> bool:
        """Whether the form explains decisively better."""
        least = LEAST_GAIN[self.decay] * self.design_effect
        return self.gain > least and self.p_value < REJECTED[self.decay]

    @property
    def is_open(self) -> bool:
        """Whether it explains the preferences nearly as well or better, but not decisively.

        A hyperbolic form also has to bound its length: few votes never exclude that worth falls like 1 / x, that is with any half-length.
        """
        loglik = self.profile.loglik
        free = self.decay == "hyperbolic" and loglik.max() - loglik[-1] < BOUNDED * self.design_effect
        return self.gain > -NEARLY * self.design_effect and not self.is_told and not free


def decay_form(
    pairs: JudgedSummaries, linear: BestPlace, loglik: float, design_effect: float, decay: Decay
) -> DecayForm:
    """Test the linear form against another one.

    Parameters
    ----------
    pairs : JudgedSummaries
        What was judged.
    linear : BestPlace
        The best place of the linear form.
    loglik : float
        Log-likelihood there.
    design_effect : float
        Of kappa.
    decay : str
        The other form.
    """
    profile = _profile(pairs, pairs.votes, decay)
    gained = float(profile.loglik[profile.best])
    chances = _log_chances(pairs, linear, "linear")
    first, second, ties = pairs.votes.total * np.exp(chances)
    expected = Votes(first=first, second=second, ties=ties)
    rival = _log_chances(pairs, _best(_profile(pairs, expected, decay)), decay)
    ratio = np.where(np.isfinite(rival), rival - chances, 0.0)
    mean = (np.exp(chances) * ratio).sum(axis=0)
    surprise = gained - loglik - float(pairs.votes.total @ mean)
    error = np.sqrt(_variance(pairs, linear, ratio - mean))
    p_value = float(stdtr(max(len(pairs.topics) - 1, 1), -surprise / error)) if error > 0 else 1.0
    kappa = _best(profile).kappa
    scale = 1 / kappa if kappa > 0 else np.inf
    return DecayForm(decay, scale, gained - loglik, p_value, profile, max(1.0, design_effect))


def _profile(pairs: JudgedSummaries, votes: Votes, decay: Decay) -> KappaProfile:
    """Return the profile likelihood of a form."""
    grid = kappa_grid(pairs)
    return maximised(pairs, votes, profile_at(grid, pairs.differences(grid, decay), votes), decay=decay)


def _best(profile: KappaProfile) -> BestPlace:
    """Return the highest place of a form."""
    best = profile.best
    return BestPlace(float(profile.kappa[best]), float(profile.slope[best]), float(profile.log_tie[best]))


def _log_chances(pairs: JudgedSummaries, place: BestPlace, decay: Decay) -> Floats:
    """Return the log-probabilities of first, second and tie, (3, p)."""
    difference = pairs.differences(np.array([place.kappa]), decay)[0]
    chances = np.stack(choice_probabilities(place.slope * difference, np.asarray(place.log_tie)))
    return np.log(np.maximum(chances, 1e-300))


def _variance(pairs: JudgedSummaries, place: BestPlace, ratio: Floats) -> float:
    """Return the variance of the summed log ratios of what was voted, without what the fit of the linear form takes up.

    By topics, and never below the one of independent judgments. It is for people who are alike.
    """
    rows = score_rows(pairs, place)
    if pairs.judgments is None:
        votes = np.stack([pairs.votes.first, pairs.votes.second, pairs.votes.ties])
        each = (votes * ratio).sum(axis=0)
    else:
        kind = np.select([pairs.judgments.lead > 0, pairs.judgments.lead < 0], [0, 1], 2)
        each = ratio[kind, pairs.judgments.pair]
    own = each - rows.scores @ np.linalg.lstsq(rows.scores, each, rcond=None)[0]
    sums = np.bincount(rows.topic, own).astype(np.float64)
    return max(float((own**2).sum()), float(between_clusters(sums)) if len(sums) > 1 else 0.0)
