"""Patience L from preferences: the L at which differences of M explain best who preferred what.

For each kappa = 1 / L, Davidson's model (`calibration.inference.davidson`) is fitted to M_L(R) - M_L(R'); slope and tie weight
are free for each kappa, since the scale of M changes with it. The estimate is the kappa of the highest profile
likelihood. Judgments of one topic share its summaries, so the topic is the unit of every interval:

- ``likelihood_ratio`` (default): {kappa : 2 (l_max - l(kappa)) <= max(d t_{Q-1}^2, z^2)}. The design effect d is the
  ratio of the topic-clustered to the model's own variance of kappa.
- ``jackknife``: kappa +- t_{Q-1} standard errors from leaving out one topic at a time.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from calibration.inference.clusters import jackknife_covariance, jackknife_groups, sandwich
from calibration.inference.davidson import DavidsonFit, Votes, choice_probabilities, fit_davidson
from calibration.inference.results import NotIdentifiedError, warning
from calibration.inference.uncertainty import LikelihoodCurve, Scale, StudentT, Uncertainty
from calibration.patience.pairs import JudgedSummaries
from calibration.patience.preference_result import PreferencesFit, misfit
from calibration.user_model.model import Diagnostic
from metrics.arrays import Bools, Floats

NAME = "patience_chars_preferences"
GRID_POINTS = 81
GRID_END = 8.0
"""The largest kappa, in units of 1 / longest offset."""
ZOOMS = 6
WEAK_LIKELIHOOD_RATIO = 10.0


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


def fit_patience_from_preferences(
    pairs: JudgedSummaries, *, n_workers: int, with_jackknife: bool = True
) -> PreferencesFit:
    """Fit the patience that explains the preferences best.

    Parameters
    ----------
    pairs : JudgedSummaries
        Judged pairs with the positions of their summaries.
    n_workers : int
        How many people gave the votes.
    with_jackknife : bool
        Offer the interval method ``jackknife`` too, which takes most of the time.

    Returns
    -------
    PreferencesFit
        With parameter ``patience_chars_preferences``, infinite where kappa = 0 is best. Its details: slope, tie_weight,
        lr_no_decay (twice the gain in log-likelihood over kappa = 0), lr_no_relation (over slope = 0),
        design_effect and topics.

    Raises
    ------
    NotIdentifiedError
        If M does not tell the systems apart at all, nobody preferred a system, or the metric runs against the
        preferences (slope <= 0).
    """
    _check_votes(pairs)
    grid = _grid(pairs)
    differences = pairs.differences(grid)
    if not differences.any():
        raise NotIdentifiedError("M is the same for both summaries of every pair, at every patience")
    profile = _maximised(pairs, pairs.votes, _profile(grid, differences, pairs.votes))
    best = profile.best
    if profile.slope[best] <= 0:
        raise NotIdentifiedError(
            "the metric runs against the preferences: even at the best patience people prefer what scores lower"
        )
    effect = _design_effect(pairs, profile)
    unrelated = float(fit_davidson(np.zeros((1, len(pairs.votes.ties))), pairs.votes).loglik[0])
    details = {
        "slope": float(profile.slope[best]),
        "tie_weight": float(np.exp(profile.log_tie[best])),
        "lr_no_decay": float(2 * (profile.loglik[best] - profile.loglik[0])),
        "lr_no_relation": float(2 * (profile.loglik[best] - unrelated)),
        "design_effect": effect,
        "topics": float(len(pairs.topics)),
    }
    kappa = float(profile.kappa[best])
    log_odds = profile.slope[best] * pairs.differences(profile.kappa[[best]])[0]
    return PreferencesFit(
        parameters=MappingProxyType({NAME: 1 / kappa if kappa > 0 else math.inf}),
        unit="counted characters",
        method="preference likelihood",
        uncertainty=_uncertainty(pairs, profile, differences if with_jackknife else None, effect),
        loglik=float(profile.loglik[best]),
        n_free=3 if pairs.votes.ties.any() else 2,
        n_workers=n_workers,
        n_rows=int(pairs.votes.total.sum()),
        details=MappingProxyType(details),
        diagnostics=tuple(_diagnostics(pairs, profile, details)),
        kappa=profile.kappa,
        drop=2 * (profile.loglik.max() - profile.loglik),
        log_odds=log_odds,
        votes=pairs.votes.total,
        misfit=misfit(log_odds, pairs.votes),
    )


def _check_votes(pairs: JudgedSummaries) -> None:
    if not (pairs.votes.first + pairs.votes.second).any():
        raise NotIdentifiedError("every judgment is a tie: nobody preferred a system")
    if not pairs.summaries.longest_offset:
        raise NotIdentifiedError("no summary has an iUnit of any importance")


def _profile(
    kappa: Floats, differences: Floats, votes: Votes, start: tuple[Floats, Floats] | None = None
) -> KappaProfile:
    fit = fit_davidson(differences, votes, start)
    return KappaProfile(kappa=kappa, slope=fit.slope, log_tie=fit.log_tie, loglik=fit.loglik)


def _maximised(
    pairs: JudgedSummaries, votes: Votes, profile: KappaProfile, used: Bools | None = None
) -> KappaProfile:
    """Add points around the maximum of a profile until it is found to 1e-5 of the grid's spacing or so."""
    for _ in range(ZOOMS):
        low, high = max(profile.best - 1, 0), min(profile.best + 1, len(profile.kappa) - 1)
        kappa = np.linspace(profile.kappa[low], profile.kappa[high], 9)
        differences = pairs.differences(kappa)
        nearby = (
            np.full(len(kappa), profile.slope[profile.best]),
            np.full(len(kappa), profile.log_tie[profile.best]),
        )
        profile = profile.with_points(
            _profile(kappa, differences if used is None else differences[:, used], votes, nearby)
        )
    return profile


def _design_effect(pairs: JudgedSummaries, profile: KappaProfile) -> float:
    """Return how many times larger the variance of kappa is for what judgments of a topic have in common.

    V_cluster / V_model of kappa at the maximum, with V_model = I^-1 and
    V_cluster = I^-1 (Q / (Q - 1) sum_q s_q s_q') I^-1; 1 where it cannot be told.
    """
    scores, information = scores_and_information(
        pairs, profile.kappa[profile.best], profile.slope[profile.best], profile.log_tie[profile.best]
    )
    model = np.linalg.pinv(information)
    if len(scores) < 2 or model[0, 0] <= 0:
        return 1.0
    return float(sandwich(scores, information)[0, 0] / model[0, 0])


def scores_and_information(
    pairs: JudgedSummaries, kappa: float, slope: float, log_tie: float
) -> tuple[Floats, Floats]:
    """Return the score of every topic and the expected information, in (kappa, slope, log tie weight).

    Returns
    -------
    (topics, 3) ndarray of float
        Gradient of each topic's log-likelihood; the sum over topics is the gradient of all.
    (3, 3) ndarray of float
        Minus the expected second derivatives. Where nobody saw a tie, the last row and column are 0.
    """
    difference = pairs.differences(np.array([kappa]))[0]
    by_kappa = slope * pairs.difference_slopes(np.array([kappa]))[0]
    first, second, tie = choice_probabilities(slope * difference, np.asarray(log_tie))
    n, lead = pairs.votes.total, first - second
    residual = pairs.votes.first - pairs.votes.second - n * lead
    score = np.stack([residual * by_kappa / 2, residual * difference / 2, pairs.votes.ties - n * tie], axis=1)
    by_topic = np.zeros((len(pairs.topics), 3))
    np.add.at(by_topic, pairs.topic, score)
    odds = np.stack([by_kappa / 2, difference / 2])
    information = np.zeros((3, 3))
    information[:2, :2] = odds * (n * (first + second - lead**2)) @ odds.T
    information[:2, 2] = information[2, :2] = -odds @ (n * lead * tie)
    information[2, 2] = n @ (tie * (1 - tie))
    return by_topic, information


def _uncertainty(
    pairs: JudgedSummaries, profile: KappaProfile, differences: Floats | None, effect: float
) -> MappingProxyType[str, Uncertainty]:
    """Return the likelihood-ratio set, and with differences the jackknife; nothing for a single topic."""
    if len(pairs.topics) < 2:
        return MappingProxyType({})
    curve = LikelihoodCurve(
        grid=profile.kappa,
        drop=2 * (profile.loglik.max() - profile.loglik),
        design_effect=effect,
        df=len(pairs.topics) - 1,
        scale=Scale.INVERSE,
    )
    if differences is None:
        return MappingProxyType({"likelihood_ratio": curve})
    replicates = without_each_group(pairs, differences)
    jackknife = StudentT(
        centre=profile.kappa[[profile.best]],
        cov=jackknife_covariance(replicates[:, None]),
        df=len(replicates) - 1,
        scale=Scale.INVERSE,
    )
    return MappingProxyType({"likelihood_ratio": curve, "jackknife": jackknife})


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


def _grid(pairs: JudgedSummaries) -> Floats:
    return np.linspace(0, GRID_END / pairs.summaries.longest_offset, GRID_POINTS)


def _kappa_of(pairs: JudgedSummaries, differences: Floats, used: Bools, whole: DavidsonFit) -> float:
    """Return the best kappa of some pairs, starting from the fits of all."""
    votes = pairs.votes.of(used)
    if not (votes.first + votes.second).any():
        return 0.0
    start = (whole.slope, whole.log_tie) if votes.ties.any() else None
    profile = _profile(_grid(pairs), differences[:, used], votes, start)
    profile = _maximised(pairs, votes, profile, used)
    return float(profile.kappa[profile.best])


def _diagnostics(
    pairs: JudgedSummaries, profile: KappaProfile, details: dict[str, float]
) -> Iterator[Diagnostic]:
    kappa = profile.kappa[profile.best]
    if kappa == 0:
        yield warning(
            "infinite_patience",
            "The preferences are explained best without any decay: the patience has no upper bound.",
        )
    elif details["lr_no_decay"] < WEAK_LIKELIHOOD_RATIO:
        yield warning(
            "weak_decay",
            "The preferences hardly tell this patience from no limit at all (likelihood ratio "
            f"{details['lr_no_decay']:.1f}, below {WEAK_LIKELIHOOD_RATIO:g}).",
        )
    if kappa == profile.kappa[-1]:
        yield warning(
            "end_of_grid", "The best patience is the shortest one tried; the true one may be shorter still."
        )
    if len(pairs.topics) < 2:
        yield warning(
            "one_topic",
            "With a single topic nothing is known about differences between topics: there is no interval.",
        )
    if pairs.left_out:
        yield warning(
            "pairs_without_positions", f"{pairs.left_out} judged pairs have no positions and are left out."
        )
