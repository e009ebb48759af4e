"""Patience L from preferences: the fit and its result.

The result of a patience fitted to preferences: its plot, its simulator, how much M leaves unexplained.

Patience L from preferences: the L at which differences of M explain best who preferred what.

For each kappa = 1 / L, Davidson's model (`calibration.inference.davidson`) is fitted to M_L(R) - M_L(R'); slope and tie weight
are free for each kappa, since the scale of M changes with it. The estimate is the kappa of the highest profile
likelihood. Judgments of one topic share its summaries and those of a person the person's patience (`calibration.patience.profile`):

- ``likelihood_ratio`` (default): {kappa : 2 (l_max - l(kappa)) <= max(d t_df^2, z^2)}. The design effect d is the
  ratio of the clustered to the model's own variance of kappa.
- ``jackknife``, where nobody judged several topics: kappa +- t_{Q-1} standard errors from leaving out one topic at a time.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtri

from calibration.inference.clusters import jackknife_covariance
from calibration.inference.davidson import LARGEST_SCALED_SLOPE, Votes, choice_probabilities, fit_davidson
from calibration.inference.results import LEVEL, CalibrationResult, NotIdentifiedError, info, warning
from calibration.inference.uncertainty import AnyForm, LikelihoodCurve, Scale, StudentT, Uncertainty
from calibration.inference.wording import finish, shown_level, shown_p
from calibration.patience.judges import (
    DIFFERS,
    PatienceSpread,
    chance_that_alike,
    patience_spread,
    who_answers_by_chance,
)
from calibration.patience.pairs import Decay, JudgedSummaries
from calibration.patience.profile import (
    NEARLY,
    BestPlace,
    ClusterDesign,
    DecayForm,
    KappaProfile,
    decay_form,
    design,
    kappa_grid,
    maximised,
    profile_at,
    without_each_group,
)
from calibration.user_model.model import Diagnostic
from metrics.arrays import Bools, Floats
from metrics.errors import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEEPEST_DROP = 20.0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PreferencesFit(CalibrationResult):
    """A patience fitted to preferences, with its profile likelihood and what the model expects of each pair.

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
    spread : PatienceSpread or None
        How patience differs between people; None where nobody knows who judged.
    """

    kappa: Floats
    drop: Floats
    log_odds: Floats
    votes: Floats
    spread: PatienceSpread | None = None

    def simulate(self, rng: np.random.Generator) -> Votes:
        """Return votes that the fitted model draws for the same pairs, as many for each."""
        tie_weight = self.details["tie_weight"]
        log_tie = np.log([tie_weight]) if tie_weight else np.array([-np.inf])
        chances = choice_probabilities(self.log_odds, log_tie)
        drawn = rng.multinomial(self.votes.astype(np.int64), np.stack(chances, axis=1)).astype(np.float64)
        return Votes(first=drawn[:, 0], second=drawn[:, 1], ties=drawn[:, 2])

    def plot_profile(self, ax: "Axes", *, level: float = LEVEL) -> None:
        """Draw the profile likelihood over patience, and where its interval ends."""
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
        finish(
            ax,
            "Patience from preferences: profile likelihood",
            "the lowest point is the estimate; a flat curve tells little",
        )


def misfit(log_odds: Floats, votes: Votes) -> float:
    """Return Pearson's chi-squared of p pairs over p - 1 degrees of freedom, for what preferences say beyond ties.

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


NAME = "patience_chars_preferences"
NOTHING_SHOWS = "nothing shows that M matters"
"""How the reason begins for which there is no patience from preferences by any method."""
WEAK_LIKELIHOOD_RATIO = 10.0
UNRELATED = 0.05
"""How often judgments that have nothing to do with M would give a number."""
LEAST_DF = 6
"""Degrees of freedom of that, where there are fewer: the design effect of two topics says too little to refuse by."""
SEPARATED = 0.999
"""Share of the largest slope from which on it has no end."""


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
        Offer the interval method ``jackknife`` too, which takes most of the time; it is never offered where people judged
        several topics, since it leaves out topics only.

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
    place = BestPlace(float(profile.kappa[best]), float(profile.slope[best]), float(profile.log_tie[best]))
    clusters = design(pairs, place)
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
    kappa = place.kappa
    notes, spread = _about_people(pairs, place)
    clear = details["lr_no_decay"] >= WEAK_LIKELIHOOD_RATIO
    decays: tuple[Decay, ...] = ("exponential", "hyperbolic", "step") if clear else ("exponential",)
    tested = () if notes or kappa == 0 else decays
    forms = [decay_form(pairs, place, float(profile.loglik[best]), clusters.kappa, decay) for decay in tested]
    if any(form.is_told for form in forms):
        notes.append(_other_decay(forms))
    log_odds = place.slope * pairs.differences(profile.kappa[[best]])[0]
    details["misfit"] = misfit(log_odds, pairs.votes)
    return PreferencesFit(
        parameters=MappingProxyType({NAME: 1 / kappa if kappa > 0 else math.inf}),
        unit="counted characters",
        method="preference likelihood",
        uncertainty=_uncertainty(pairs, profile, forms, differences if with_jackknife else None, clusters),
        loglik=float(profile.loglik[best]),
        n_free=3 if pairs.votes.ties.any() else 2,
        n_workers=n_workers,
        n_rows=int(pairs.votes.total.sum()),
        details=MappingProxyType(details),
        diagnostics=(*_diagnostics(pairs, profile, details), *notes),
        kappa=profile.kappa,
        drop=2 * (profile.loglik.max() - profile.loglik),
        log_odds=log_odds,
        votes=pairs.votes.total,
        spread=spread,
    )


def _check_votes(pairs: JudgedSummaries) -> None:
    if not (pairs.votes.first + pairs.votes.second).any():
        raise NotIdentifiedError("every judgment is a tie: nobody preferred a system")
    if not pairs.summaries.longest_offset:
        raise NotIdentifiedError("no summary has an iUnit of any importance")


def _check_separation(pairs: JudgedSummaries, profile: KappaProfile) -> None:
    """Raise where preferences follow M with hardly an exception: then every slope is too small, and kappa is any of a range."""
    differences = pairs.differences(profile.kappa)
    spread = np.sqrt(differences**2 @ pairs.votes.total / pairs.votes.total.sum())
    endless = np.abs(profile.slope) * spread >= SEPARATED * LARGEST_SCALED_SLOPE
    if not endless[profile.best]:
        return
    kappa = profile.kappa[endless]
    longest = f"{1 / kappa.min():.0f} characters" if kappa.min() > 0 else "no bound"
    raise NotIdentifiedError(
        f"the preferences follow M with hardly an exception at patiences from {1 / kappa.max():.0f} characters to {longest}: the "
        "likelihood cannot choose among them (complete separation); more judges of each pair would tell"
    )


def _check_relation(details: Mapping[str, float], clusters: ClusterDesign) -> None:
    """Raise unless people prefer what M scores higher, by more than 2 F(2, df): a slope and a kappa that explain nothing."""
    ratio = details["lr_no_relation"] / max(1.0, clusters.slope)
    bound = 2 * float(fdtri(2, max(clusters.df, LEAST_DF), 1 - UNRELATED))
    if ratio < bound:
        raise NotIdentifiedError(
            f"{NOTHING_SHOWS} to these people, at any patience (likelihood ratio {ratio:.1f} over no relation, "
            f"below {bound:.1f}): they may have answered without reading, or there are too few judgments"
        )
    if details["slope"] <= 0:
        raise NotIdentifiedError(
            "the metric runs against the preferences: even at the best patience people prefer what scores lower"
        )


def _uncertainty(
    pairs: JudgedSummaries,
    profile: KappaProfile,
    forms: Sequence[DecayForm],
    differences: Floats | None,
    clusters: ClusterDesign,
) -> MappingProxyType[str, Uncertainty]:
    """Return the likelihood-ratio set, and with differences the jackknife where nobody judged two topics; nothing for a single topic.

    Where another form of decay explains the votes nearly as well or better, but not decisively, the set holds that of its length too.
    """
    if len(pairs.topics) < 2:
        return MappingProxyType({})
    curve: Uncertainty = _curve(profile, clusters)
    others = tuple(_curve(form.profile, clusters) for form in forms if form.is_open)
    if others:
        curve = AnyForm(plain=curve, others=others)
    if differences is None or clusters.crossed:
        return MappingProxyType({"likelihood_ratio": curve})
    replicates = without_each_group(pairs, differences)
    jackknife = StudentT(
        centre=profile.kappa[[profile.best]],
        cov=jackknife_covariance(replicates[:, None]),
        df=len(replicates) - 1,
        scale=Scale.INVERSE,
    )
    return MappingProxyType({"likelihood_ratio": curve, "jackknife": jackknife})


def _curve(profile: KappaProfile, clusters: ClusterDesign) -> LikelihoodCurve:
    return LikelihoodCurve(
        grid=profile.kappa,
        drop=2 * (profile.loglik.max() - profile.loglik),
        design_effect=clusters.kappa,
        df=clusters.df,
        scale=Scale.INVERSE,
    )


def _about_people(pairs: JudgedSummaries, place: BestPlace) -> tuple[list[Diagnostic], PatienceSpread | None]:
    """Return how judges differ, and the spread of patience."""
    judgments = pairs.judgments
    if place.kappa == 0 or judgments is None or len(judgments.people) < 2:
        return [], None
    chance, slopes = who_answers_by_chance(pairs, judgments, place)
    rest = pairs.of_judgments(~chance.people[judgments.worker])
    reading = rest.judgments or judgments
    spread = patience_spread(rest, reading, place, slopes)
    notes = []
    if chance.people.any():
        notes.append(_by_chance(judgments.people, chance.people, place, _best_kappa(rest)))
    if chance_that_alike(rest, reading, place) < DIFFERS:
        notes.append(
            warning(
                "patience_differs",
                f"Patience differs between people by more than chance (coefficient of variation {spread.best:.2f}, half of them above "
                f"{spread.median:.0f} characters; see patience_chars_spread). The L given is the one with which M explains most; "
                "its interval counts people and topics as drawn from many.",
            )
        )
    return notes, spread


def _best_kappa(pairs: JudgedSummaries) -> float:
    grid = kappa_grid(pairs)
    profile = maximised(pairs, pairs.votes, profile_at(grid, pairs.differences(grid), pairs.votes))
    return float(profile.kappa[profile.best])


def _by_chance(people: tuple[str, ...], out: Bools, place: BestPlace, without: float) -> Diagnostic:
    named = listed([name for name, is_out in zip(people, out, strict=True) if is_out], most=5)
    other = f"{1 / without:.0f}" if without > 0 else "without a bound"
    return warning(
        "careless_workers",
        f"{out.sum()} of {len(people)} people ({named}) answer as if by chance: they are in this patience of {1 / place.kappa:.0f}; "
        f"without them it is {other}.",
    )


_FORMS: MappingProxyType[Decay, tuple[str, str]] = MappingProxyType(
    {
        "exponential": ("An exponential decay", "worth falls to 1/e after"),
        "hyperbolic": ("A hyperbolic decay, 1 / (1 + x / L),", "worth falls to a half after"),
        "step": ("A decay in one step", "nothing counts any more after"),
    }
)
"""Form -> how a sentence begins with it, and what its length is."""


def _other_decay(forms: Sequence[DecayForm]) -> Diagnostic:
    """Return the warning that the decay is not linear, with the form that explains most; a form that is further from the truth may have the smaller p."""
    told = [form for form in forms if form.is_told or (form.decay != "step" and form.gain > 0)]
    best, *rest = sorted(told, key=lambda form: -form.gain)
    near = [form for form in rest if form.gain > best.gain - NEARLY * form.design_effect]
    (what, length), p_value = _FORMS[best.decay], min(form.p_value for form in told)
    also = ("{} does nearly as well: {} {:.0f}. ".format(*_FORMS[form.decay], form.scale) for form in near)
    return warning(
        f"decay_{best.decay}",
        f"{what} explains the preferences better than the linear one of M (log-likelihood {best.gain:.1f} higher, "
        f"{shown_p(p_value)}): {length} {best.scale:.0f} characters. {''.join(also)}The L given is that of the closest line; do not "
        "read it as such a length.",
    )


def _diagnostics(
    pairs: JudgedSummaries, profile: KappaProfile, details: dict[str, float]
) -> Iterator[Diagnostic]:
    kappa = profile.kappa[profile.best]
    yield info(
        "beyond_m",
        f"The answers to a pair vary {details['misfit']:.2f} times as much as M explains; 1 would be all that people agree on. "
        "The interval allows for the rest, which people like or dislike about a summary beside its M.",
    )
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
