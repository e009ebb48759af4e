"""Does worth fall along a line?

Other forms are exp(-x / L), 1 / (1 + x / L), and all of it up to L and nothing beyond. The forms are not nested, so by Cox's test (1961): how much better the other form explains the votes, against how much it would if the
linear one were true, in units of what the votes of topics leave to chance. A step has a choice of many places; its p is never below
exp(-gain / design effect), which no gain of likelihood over the truth exceeds more often (Markov's inequality).

Another form has a length of its own. What it says about L is the line nearest to it: the L that the linear model would find in the votes that
the other form expects (the Kullback-Leibler projection, White 1982).
"""

import math
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from calibration.checks.finding import NEARLY, REJECTED, Finding
from calibration.checks.patience.patience_differs import NOT_ONE_LINE
from calibration.checks.patience.weak_decay import WEAK_LIKELIHOOD_RATIO
from calibration.inference.choice import Votes, choice_probabilities
from calibration.inference.clusters import cluster_covariance
from calibration.inference.formatting import format_p
from calibration.inference.uncertainty import finite_or_none
from calibration.models.patience.pairs import Decay, JudgedSummaries
from calibration.models.patience.preferences import (
    KappaProfile,
    PreferencesFit,
    ProfileMaximum,
    design,
    kappa_grid,
    likelihood_curve,
    maximised,
    profile_at,
    score_rows,
)
from calibration.user_model.model import OtherLaw, plain_name
from metrics.arrays import Floats

FORMS: tuple[Decay, ...] = ("exponential", "hyperbolic", "step")
_WORDS: MappingProxyType[Decay, tuple[str, str]] = MappingProxyType(
    {
        "exponential": ("An exponential decay", "worth falls to 1/e after"),
        "hyperbolic": ("A hyperbolic decay, 1 / (1 + x / L),", "worth falls to a half after"),
        "step": ("A decay in one step", "nothing counts any more after"),
    }
)
"""First words of a sentence and name of the length, by form."""


class DecayForm(NamedTuple):
    """Comparison of another form of decay with the line.

    Attributes
    ----------
    decay : str
        Which.
    scale : float
        Counted characters after which worth has fallen to 1 / e, to a half (hyperbolic), or to nothing (step), where that form explains most; may be infinite.
    gain : float
        Log-likelihood of the form over that of the linear one, divided by the design effect.
    p_value : float
        How often it would explain as much better if the linear form were true.
    profile : KappaProfile
        Of the form.
    """

    decay: Decay
    scale: float
    gain: float
    p_value: float
    profile: KappaProfile


def check_decay_form(fit: PreferencesFit, pairs: JudgedSummaries) -> Finding | None:
    """Compare other forms of decay with the line, or return None.

    The result is None if the decay is hardly identified.
    """
    if fit.place.kappa == 0 or fit.details["lr_no_decay"] < WEAK_LIKELIHOOD_RATIO or fit.loglik is None:
        return None
    forms = decay_forms(pairs, fit.place, fit.loglik)
    highest = max(0.0, *(form.gain for form in forms))
    near = sorted((form for form in forms if form.gain > highest - NEARLY), key=lambda form: -form.gain)
    if not near:
        return None
    p_value = near[0].p_value if near[0].gain > 0 else 1.0
    name, estimate = plain_name(next(iter(fit.parameters))), fit.estimates[0]
    lengths = ". ".join("{}: {} {:.0f} characters".format(*_WORDS[form.decay], form.scale) for form in near)
    nearest = {form.decay: nearest_line(pairs, _best(form.profile), form.decay) for form in near}
    lines = ", ".join(f"{nearest[form.decay]:.0f}" for form in near)
    if p_value < REJECTED:
        said = f"Worth does not fall along a line (log-likelihood {highest:.1f} higher, {format_p(p_value)}). {lengths}. "
    else:
        said = f"Another decay explains the preferences as well as the line. {lengths}. "
    return Finding(
        name=f"decay_{near[0].decay}" if p_value < REJECTED else "decay_form",
        p_value=p_value,
        explains=NOT_ONE_LINE,
        gain=highest,
        sentence=f"{said}The L given, {estimate:.0f}, is that of the nearest line (with these forms {lines}); do not read it as such a length.",
        sensitivity={name: tuple(_law(pairs, fit.place, form, nearest[form.decay]) for form in near)},
    )


def _law(pairs: JudgedSummaries, optimum: ProfileMaximum, form: DecayForm, nearest: float) -> OtherLaw:
    """Return the nearest L under a form, with a scaled interval.

    The interval is that of the form's length.
    """
    ((low, high),) = likelihood_curve(form.profile, design(pairs, optimum)).intervals(0.95)
    ratio = nearest / form.scale if math.isfinite(form.scale) else math.inf
    ends = (None if end is None or math.isinf(ratio) else end * ratio for end in (low, high))
    low, high = ends
    return OtherLaw(
        law=f"{form.decay} decay",
        estimate=finite_or_none(nearest),
        low=low,
        high=high,
        explains="better" if form.gain > 0 and form.p_value < REJECTED else "as well",
    )


@lru_cache(maxsize=1)
def decay_forms(pairs: JudgedSummaries, linear: ProfileMaximum, loglik: float) -> tuple[DecayForm, ...]:
    """Test the line against each other form.

    All parameters of a fit share the result.

    Parameters
    ----------
    pairs : JudgedSummaries
        What was judged.
    linear : ProfileMaximum
        The best place of the linear form.
    loglik : float
        Log-likelihood there.
    """
    effect = max(1.0, design(pairs, linear).kappa)
    return tuple(_decay_form(pairs, linear, loglik, effect, decay) for decay in FORMS)


def _decay_form(
    pairs: JudgedSummaries, linear: ProfileMaximum, loglik: float, effect: float, decay: Decay
) -> DecayForm:
    profile = _profile(pairs, pairs.votes, decay)
    best = _best(profile)
    gain = float(profile.loglik[profile.best]) - loglik
    chances = _log_chances(pairs, linear, "linear")
    rival = _log_chances(pairs, _best(_profile(pairs, _expected(pairs, chances), decay)), decay)
    ratio = np.where(np.isfinite(rival), rival - chances, 0.0)
    mean = (np.exp(chances) * ratio).sum(axis=0)
    surprise = gain - float(pairs.votes.total @ mean)
    error = np.sqrt(_variance(pairs, linear, ratio - mean))
    p_value = float(stdtr(max(len(pairs.topics) - 1, 1), -surprise / error)) if error > 0 else 1.0
    if decay == "step":
        p_value = max(p_value, math.exp(-max(gain, 0.0) / effect))
    return DecayForm(
        decay=decay,
        scale=1 / best.kappa if best.kappa > 0 else math.inf,
        gain=gain / effect,
        p_value=p_value,
        profile=profile,
    )


@lru_cache(maxsize=len(FORMS))
def nearest_line(pairs: JudgedSummaries, optimum: ProfileMaximum, decay: Decay) -> float:
    """Fit the line to the expected votes of a form; return its L, maybe infinite."""
    kappa = _best(_profile(pairs, _expected(pairs, _log_chances(pairs, optimum, decay)), "linear")).kappa
    return 1 / kappa if kappa > 0 else math.inf


def _expected(pairs: JudgedSummaries, log_chances: Floats) -> Votes:
    """Return the expected votes of as many judgments."""
    first, second, ties = pairs.votes.total * np.exp(log_chances)
    return Votes(first=first, second=second, ties=ties)


def _profile(pairs: JudgedSummaries, votes: Votes, decay: Decay) -> KappaProfile:
    """Return the profile likelihood of a form."""
    grid = kappa_grid(pairs)
    return maximised(pairs, votes, profile_at(grid, pairs.differences(grid, decay), votes), decay=decay)


def _best(profile: KappaProfile) -> ProfileMaximum:
    """Return the maximum of a form's profile."""
    best = profile.best
    return ProfileMaximum(
        float(profile.kappa[best]), float(profile.slope[best]), float(profile.log_tie[best])
    )


def _log_chances(pairs: JudgedSummaries, optimum: ProfileMaximum, decay: Decay) -> Floats:
    """Return the log-probabilities of first, second and tie, (3, p)."""
    difference = pairs.differences(np.array([optimum.kappa]), decay)[0]
    chances = np.stack(choice_probabilities(optimum.slope * difference, np.asarray(optimum.log_tie)))
    return np.log(np.maximum(chances, 1e-300))


def _variance(pairs: JudgedSummaries, optimum: ProfileMaximum, ratio: Floats) -> float:
    """Return the variance of the summed log ratios of the votes.

    It leaves out what the fit of the linear form absorbs. It is taken by topics, and never below that of
    independent judgments. It assumes that people are alike.
    """
    rows = score_rows(pairs, optimum)
    if pairs.judgments is None:
        votes = np.stack([pairs.votes.first, pairs.votes.second, pairs.votes.ties])
        each = (votes * ratio).sum(axis=0)
    else:
        kind = np.select([pairs.judgments.lead > 0, pairs.judgments.lead < 0], [0, 1], 2)
        each = ratio[kind, pairs.judgments.pair]
    own = each - rows.scores @ np.linalg.lstsq(rows.scores, each, rcond=None)[0]
    sums = np.bincount(rows.topic, own).astype(np.float64)
    return max(float((own**2).sum()), float(cluster_covariance(sums)) if len(sums) > 1 else 0.0)
