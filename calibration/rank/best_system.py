"""The best system of a task with adaptive pairs: how probable that is, and how far it is above the second.

The posterior is that of `calibration.rank.best`, from which pairs were drawn. It takes votes for independent, and they are not: judgments of a
topic share the topic, and those of a person the person. So the votes count as fewer than they are,

    1 / phi of each,    phi = max(1, V(best - second) / V_0(best - second))

with V the variance over topics and people of the difference of two worths (`calibration.rank.worths`) and V_0 that by the likelihood as if votes
were independent. Difference and interval are those of that posterior, by Student's t with the degrees of freedom of V. Which systems
are the best and the second was chosen by the same votes: their difference by the likelihood is too large on average, and its interval covers too seldom.
The posterior draws all worths towards their mean as far as they are uncertain, and holds after such a choice (Efron 2011, "Tweedie's formula and selection
bias").
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from calibration.rank.best import (
    BestPosterior,
    best_posterior,
    couple_votes,
    model_variances,
)
from calibration.rank.crossed import variances_of_differences
from calibration.rank.judgments import JudgedSystems
from calibration.rank.worths import Worths

DRAWS = 20_000
"""Posterior draws from which the probability of the best system is counted: .95 is known to .0015."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestSystem:
    """The system that is most likely the best, where pairs were chosen to find it.

    Attributes
    ----------
    system, second : str
        It, and the one most likely the best without it.
    probability : float
        That it is the best.
    difference, low, high : float
        How far its log worth is above that of the second, with the interval over topics and people; NaN where there is none.
    judgments, uniform : int
        All judgments, and those of pairs that were drawn whatever the answers before were.
    """

    system: str
    second: str
    probability: float
    difference: float
    low: float
    high: float
    judgments: int
    uniform: int

    def sentence(self, level: float) -> str:
        """Say which system is the best, and how sure that is."""
        sure = f"{self.system} is the best with probability {format_share(self.probability)}"
        if np.isnan(self.low):
            return f"{sure} ({self.judgments:,} judgments)"
        return (
            f"{sure}: its log worth is {self.difference:.2f} above that of {self.second}"
            f" ({100 * level:.4g} % interval {self.low:.2f} to {self.high:.2f}; {self.judgments:,} judgments)"
        )


def format_share(share: float) -> str:
    """Write a probability with two digits, or as more than .99."""
    return "more than .99" if share > 0.995 else f"{share:.2f}".lstrip("0")


def best_system(judged: JudgedSystems, worths: Worths | None, level: float, *, uniform: int) -> BestSystem:
    """Return the system that is most likely the best.

    Parameters
    ----------
    judged : JudgedSystems
        All judgments, those of pairs that the answers chose too.
    worths : Worths or None
        Of the same judgments; without them there is no interval, and votes count in full.
    level : float
        Of the interval.
    uniform : int
        How many judgments are of pairs that were drawn whatever the answers were.
    """
    votes = couple_votes(judged.left, judged.right, judged.for_left, len(judged.systems))
    posterior = best_posterior(votes)
    best, second = _first_two(posterior)[0]
    df = float("nan")
    if worths is not None:
        errors = worths.covariances.of_differences().errors()
        variance = errors.standard_error[best, second] ** 2
        phi = float(np.fmax(1.0, variance / model_variances(votes)[best, second]))
        posterior, df = best_posterior(votes.counted_as(1 / phi)), float(errors.df[best, second])
    (best, second), probability = _first_two(posterior)
    variance = variances_of_differences(posterior.covariance)[best, second]
    reach = float(stdtrit(df, (1 + level) / 2) * np.sqrt(variance))
    difference = float(posterior.worth[best] - posterior.worth[second])
    return BestSystem(
        system=judged.systems[best],
        second=judged.systems[second],
        probability=probability,
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        judgments=len(judged.left),
        uniform=uniform,
    )


def _first_two(posterior: BestPosterior) -> tuple[tuple[int, int], float]:
    """Return the system that is most likely the best and the one most likely so without it, and the probability of the first."""
    p_best = posterior.probabilities(np.random.default_rng(int(posterior.votes.total.sum())), draws=DRAWS)
    best, second = np.lexsort((-posterior.worth, -p_best))[:2].tolist()
    return (best, second), float(p_best[best])
