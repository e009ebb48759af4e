"""The profile likelihood of kappa = 1 / L: Davidson's model with slope and tie weight maximised at each kappa."""

from dataclasses import dataclass

import numpy as np

from calibration.inference.clusters import jackknife_groups
from calibration.inference.davidson import DavidsonFit, Votes, fit_davidson
from calibration.patience.pairs import Decay, JudgedSummaries
from metrics.arrays import Bools, Floats

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
    """Add points around the maximum of a profile until it is found to 1e-5 of the grid's spacing or so."""
    for _ in range(ZOOMS):
        low, high = max(profile.best - 1, 0), min(profile.best + 1, len(profile.kappa) - 1)
        kappa = np.linspace(profile.kappa[low], profile.kappa[high], 9)
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
