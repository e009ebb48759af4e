"""Which form of decay explains preferences better: linear, as in M, or exponential, exp(-x / L).

The two are not nested; so by Cox's test (1961): how much better the exponential explains the votes, against how much it would if the
linear one were true, in units of what the votes of topics leave to chance.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from calibration.inference.clusters import between_clusters
from calibration.inference.davidson import Votes, choice_probabilities
from calibration.patience.pairs import Decay, JudgedSummaries
from calibration.patience.profile import KappaProfile, kappa_grid, maximised, profile_at
from calibration.patience.scores import BestPlace, score_rows
from metrics.arrays import Floats

REJECTED = 0.06
"""A p-value below it says that the exponential form explains decisively better."""
NEARLY = 1.92
"""Log-likelihood, times the design effect, by which it may explain less and is left open: half the chi-squared that chance exceeds in one of twenty."""


class DecayForm(NamedTuple):
    """What preferences say of the form.

    Attributes
    ----------
    scale : float
        Counted characters after which worth has fallen to 1 / e, in the exponential form that explains most; may be infinite.
    gain : float
        Log-likelihood of the exponential form over that of the linear one.
    p_value : float
        How often it would explain as much better if the linear form were true.
    profile : KappaProfile
        Of the exponential form.
    design_effect : float
        How many times larger the variance of kappa is than the model's, at least 1.
    """

    scale: float
    gain: float
    p_value: float
    profile: KappaProfile
    design_effect: float

    @property
    def is_told(self) -> bool:
        """Whether the exponential form explains decisively better."""
        return self.gain > 0 and self.p_value < REJECTED

    @property
    def is_open(self) -> bool:
        """Whether it explains the preferences nearly as well or better, but not decisively."""
        return self.gain > -NEARLY * self.design_effect and not self.is_told


def decay_form(pairs: JudgedSummaries, linear: BestPlace, loglik: float, design_effect: float) -> DecayForm:
    """Test the linear form against the exponential one.

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
    """
    profile = _profile(pairs, pairs.votes, "exponential")
    gained = float(profile.loglik[profile.best])
    chances = _log_chances(pairs, linear, "linear")
    first, second, ties = pairs.votes.total * np.exp(chances)
    expected = Votes(first=first, second=second, ties=ties)
    rival = _log_chances(pairs, _best(_profile(pairs, expected, "exponential")), "exponential")
    ratio = np.where(np.isfinite(rival), rival - chances, 0.0)
    mean = (np.exp(chances) * ratio).sum(axis=0)
    surprise = gained - loglik - float(pairs.votes.total @ mean)
    error = np.sqrt(_variance(pairs, linear, ratio - mean))
    p_value = float(stdtr(max(len(pairs.topics) - 1, 1), -surprise / error)) if error > 0 else 1.0
    kappa = _best(profile).kappa
    scale = 1 / kappa if kappa > 0 else np.inf
    return DecayForm(scale, gained - loglik, p_value, profile, max(1.0, design_effect))


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
