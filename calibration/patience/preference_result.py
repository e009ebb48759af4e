"""The result of a patience fitted to preferences: its plot, its simulator, how much M leaves unexplained."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibration.inference.davidson import Votes, choice_probabilities
from calibration.inference.drawing import finish
from calibration.inference.results import LEVEL, CalibrationResult
from calibration.inference.wording import shown_level
from calibration.patience.spread import PatienceSpread
from metrics.arrays import Floats

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
