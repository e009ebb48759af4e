"""The best system of a task with adaptive pairs: how probable that is, and how far it is above the second.

The posterior is that of `calibration.rank.best`, from which pairs were drawn. It takes votes for independent, and they are not: judgments of a
topic share the topic, and those of a person the person. So the votes count as fewer than they are,

    1 / phi of each,    phi = max(1, median over systems j of V(best - j) / V_0(best - j))

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
    CoupleVotes,
    best_posterior,
    couple_votes,
    model_variances,
    variances_of_differences,
)
from calibration.rank.crossed import StandardErrors
from calibration.rank.judgments import JudgedSystems
from calibration.rank.worths import Worths
from metrics.arrays import Floats

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
    errors = None if worths is None else worths.covariances.of_differences().errors()
    if errors is not None:
        leader = int(_most_likely(posterior)[1].argmax())
        posterior = best_posterior(votes.counted_as(1 / _votes_a_vote(votes, errors, leader)))
    order, p_best = _most_likely(posterior)
    best, second = (int(place) for place in order[:2])
    reach = float("nan")
    if errors is not None:
        variance = variances_of_differences(posterior.covariance)[best, second]
        reach = float(stdtrit(errors.df[best, second], (1 + level) / 2) * np.sqrt(variance))
    difference = float(posterior.worth[best] - posterior.worth[second])
    return BestSystem(
        system=judged.systems[best],
        second=judged.systems[second],
        probability=float(p_best[best]),
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        judgments=len(judged.left),
        uniform=uniform,
    )


def _most_likely(posterior: BestPosterior) -> tuple[Floats, Floats]:
    """Return the systems, the most likely best first, and the probability of each."""
    p_best = posterior.probabilities(np.random.default_rng(int(posterior.votes.total.sum())), draws=DRAWS)
    return np.lexsort((-posterior.worth, -p_best)), p_best


def _votes_a_vote(votes: CoupleVotes, errors: StandardErrors, leader: int) -> float:
    """Return phi: how many votes are worth one independent vote; 1 where no variance is known."""
    ratio = errors.standard_error[leader] ** 2 / np.where(
        np.arange(votes.systems) == leader, np.nan, model_variances(votes)[leader]
    )
    known = ratio[~np.isnan(ratio)]
    return max(1.0, float(np.median(known))) if len(known) else 1.0
