"""The posterior of which system is the best, and the couples to judge next so that it is soon known.

The model is Davidson's with an effect of the side (Davidson and Beaver 1977), as for worths. Worths have the prior N(0, tau^2), with tau
estimated from the votes (empirical Bayes: tau^2 is the mean of w^2 and its posterior variance). The posterior is normal at its mode, with
the inverse of the information as covariance. Then

    p_i = P(w_i is the largest)

and the next couple is that of the largest worths of two posterior draws, the second drawn again until it differs from the first
(top-two Thompson sampling, Russo 2020):

    P(couple i, j) = p_i p_j / (1 - p_i) + p_j p_i / (1 - p_j)

Which couple is shown depends on earlier votes only, so the likelihood is that of any other study; win rates are not, since systems that
lost early are not shown again. Where votes are not transitive (`is_intransitive`), half of the couples come from double Thompson sampling
(Wu and Liu 2016), which knows no worths: both systems come from draws of the share of every couple, Beta(1 + wins, 1 + losses).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import chdtrc

from calibration.inference.choice import choice_shares
from calibration.rank.crossed import variances_of_differences
from metrics.arrays import Floats, Ints

SIDE_SD, LOG_TIE_SD, LOG_TIE_MEAN = 2.0, 2.0, float(np.log(0.5))
"""Normal priors of the side effect and of log nu: weak beside a few votes, enough to keep both finite."""
SMALLEST_SD, LARGEST_SD = 0.1, 3.0
"""Bounds of tau."""
DRAWS = 1000
"""Posterior draws from which the probabilities are counted: a probability of .5 is known to .016."""
DUELING_DRAWS = 200
_STEPS, _LARGEST_STEP, _CLOSE = 50, 2.0, 1e-6
_ROUNDS = 3
_NO_PRIOR = 1e4
"""Variance of worths that tells nothing."""
MIN_VOTES = 5
"""Smallest number of votes of a couple by which circles are seen."""
_INTRANSITIVE = 0.001
"""Probability of such votes, were they transitive, below which they are not taken as such; it is asked again with every worker."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CoupleVotes:
    """Votes of c ordered couples of s systems.

    Attributes
    ----------
    left, right : (c,) ndarray of int
        The systems, from 0.
    for_left, for_right, ties : (c,) ndarray of float
        How many votes.
    systems : int
        s.
    """

    left: Ints
    right: Ints
    for_left: Floats
    for_right: Floats
    ties: Floats
    systems: int

    @property
    def total(self) -> Floats:
        """(c,) votes of each ordered couple."""
        return self.for_left + self.for_right + self.ties

    def counted_as(self, share: float) -> "CoupleVotes":
        """Return the same votes, each counted as a share of one."""
        return replace(
            self,
            for_left=share * self.for_left,
            for_right=share * self.for_right,
            ties=share * self.ties,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class BestPosterior:
    """Posterior of the worths of s systems.

    Attributes
    ----------
    votes : CoupleVotes
        From which it is.
    worth : (s,) ndarray of float
        Mode of the log worths.
    covariance : (s, s) ndarray of float
        Of the worths.
    side, log_tie : float
        Modes of the side effect and of log nu.
    """

    votes: CoupleVotes
    worth: Floats
    covariance: Floats
    side: float
    log_tie: float

    def probabilities(self, rng: np.random.Generator, draws: int = DRAWS) -> Floats:
        """Return the probability that each system is the best, (s,), counted over posterior draws."""
        root = np.linalg.cholesky(self.covariance)
        drawn = self.worth + rng.standard_normal((draws, len(self.worth))) @ root.T
        return np.asarray(np.bincount(drawn.argmax(axis=1), minlength=len(self.worth)) / draws)

    @cached_property
    def is_intransitive(self) -> bool:
        """Whether the votes of couples differ more from one scale of worths than chance has it.

        The sum over couples with `MIN_VOTES` or more of (votes for the first less those for the second - expected)^2 / variance, both ways
        round together, beyond the `_INTRANSITIVE` quantile of chi squared with as many degrees of freedom. Couples with fewer votes tell nothing
        of a circle and add noise.
        """
        votes, n = self.votes, self.votes.total
        shares = choice_shares(
            self.worth[votes.left] - self.worth[votes.right] + self.side, np.asarray(self.log_tie)
        )
        lead = shares.first - shares.second
        ends = np.stack([votes.left, votes.right])
        couple = np.unique(ends.min(axis=0) * votes.systems + ends.max(axis=0), return_inverse=True)[1]
        off = np.where(votes.left < votes.right, 1, -1) * (votes.for_left - votes.for_right - n * lead)
        variance = n * (shares.first + shares.second - lead**2)
        is_known = np.bincount(couple, n) >= MIN_VOTES
        distance = (np.bincount(couple, off) ** 2 / np.bincount(couple, variance))[is_known].sum()
        return bool(is_known.any() and chdtrc(is_known.sum(), distance) < _INTRANSITIVE)


def couple_votes(left: Ints, right: Ints, for_left: Floats, systems: int) -> CoupleVotes:
    """Count the votes of every ordered couple.

    Parameters
    ----------
    left, right : (n,) ndarray of int
        Systems of each judgment.
    for_left : (n,) ndarray of float
        1 where the left one was preferred, 0 where the right one was, 0.5 for a tie.
    systems : int
        How many there are.
    """
    keys, couple = np.unique(left * systems + right, return_inverse=True)
    counts = [np.bincount(couple, for_left == vote, len(keys)).astype(np.float64) for vote in (1.0, 0.0, 0.5)]
    return CoupleVotes(
        left=keys // systems,
        right=keys % systems,
        for_left=counts[0],
        for_right=counts[1],
        ties=counts[2],
        systems=systems,
    )


def best_posterior(votes: CoupleVotes) -> BestPosterior:
    """Return the posterior of the worths, with tau estimated from the votes.

    Parameters
    ----------
    votes : CoupleVotes
        Of at least one judgment.
    """
    systems = votes.systems
    point, variance = np.append(np.zeros(systems + 1), LOG_TIE_MEAN), 1.0
    covariance = np.eye(systems)
    for _ in range(_ROUNDS):
        point, covariance = _mode(votes, point, variance)
        centred = point[:systems] - point[:systems].mean()
        spread = np.trace(covariance) - covariance.sum() / systems
        variance = float(
            np.clip((centred @ centred + spread) / max(1, systems - 1), SMALLEST_SD**2, LARGEST_SD**2)
        )
    return BestPosterior(
        votes=votes,
        worth=point[:systems],
        covariance=covariance[:systems, :systems],
        side=float(point[systems]),
        log_tie=float(point[-1]),
    )


def model_variances(votes: CoupleVotes) -> Floats:
    """Return the variances of all differences of worths by the likelihood alone, (s, s), as if votes were independent."""
    systems = votes.systems
    start = np.append(np.zeros(systems + 1), LOG_TIE_MEAN)
    covariance = _mode(votes, start, _NO_PRIOR)[1][:systems, :systems]
    return variances_of_differences(covariance)


def _mode(votes: CoupleVotes, start: Floats, variance: float) -> tuple[Floats, Floats]:
    """Return the mode of (w, side, log nu) and the inverse of the information there, by Newton's method."""
    systems, n = votes.systems, votes.total
    precision = np.append(np.full(systems, 1 / variance), [1 / SIDE_SD**2, 1 / LOG_TIE_SD**2])
    centre = np.append(np.zeros(systems + 1), LOG_TIE_MEAN)
    design = np.zeros((len(n), systems + 1))
    row = np.arange(len(n))
    design[row, votes.left] += 1
    design[row, votes.right] -= 1
    design[:, systems] = 1
    point = start
    for _ in range(_STEPS):
        shares = choice_shares(design @ point[:-1], np.asarray(point[-1]))
        lead = shares.first - shares.second
        gradient = np.append(
            design.T @ ((votes.for_left - votes.for_right - n * lead) / 2), votes.ties.sum() - n @ shares.tie
        )
        gradient -= precision * (point - centre)
        information = np.zeros((systems + 2, systems + 2))
        information[:-1, :-1] = (design.T * (n * (shares.first + shares.second - lead**2) / 4)) @ design
        information[:-1, -1] = information[-1, :-1] = -design.T @ (n * lead * shares.tie) / 2
        information[-1, -1] = n @ (shares.tie * (1 - shares.tie))
        information += np.diag(precision)
        step = np.linalg.solve(information, gradient)
        longest = float(np.abs(step).max())
        point = point + step * min(1.0, _LARGEST_STEP / max(longest, _CLOSE))
        if longest < _CLOSE:
            break
    return point, np.asarray(np.linalg.inv(information), dtype=np.float64)


def couple_chances(posterior: BestPosterior, rng: np.random.Generator) -> Floats:
    """Return the probability that each couple is the next to judge, (s, s), symmetric, 0 on the diagonal, 2 in sum."""
    chances = _top_two(posterior.probabilities(rng))
    if posterior.is_intransitive:
        chances = (chances + _double_thompson(posterior.votes, rng)) / 2
    return chances


def _top_two(p_best: Floats) -> Floats:
    """Return P(couple) of top-two Thompson sampling, see the module."""
    p = np.maximum(p_best, 1e-9)
    p /= p.sum()
    ordered = np.outer(p / np.maximum(1 - p, 1e-9), p)
    np.fill_diagonal(ordered, 0)
    both = ordered + ordered.T
    return np.asarray(2 * both / both.sum())


def _double_thompson(votes: CoupleVotes, rng: np.random.Generator) -> Floats:
    """Return P(couple) of double Thompson sampling, counted over draws.

    The first system beats most others in a draw of all shares; the second has the largest share against it in another draw.
    """
    systems = votes.systems
    wins = np.ones((systems, systems))
    np.add.at(wins, (votes.left, votes.right), votes.for_left + votes.ties / 2)
    np.add.at(wins, (votes.right, votes.left), votes.for_right + votes.ties / 2)
    chosen = np.zeros((systems, systems))
    for _ in range(DUELING_DRAWS):
        share = rng.beta(wins, wins.T)
        upper = np.triu(share, 1)
        share = upper + np.tril(1 - upper.T, -1)
        beaten = (share > 0.5).sum(axis=1) + rng.random(systems) / 2
        first = int(beaten.argmax())
        against = rng.beta(wins[:, first], wins[first])
        against[first] = -1
        chosen[first, int(against.argmax())] += 1
    both = chosen + chosen.T
    return np.asarray(2 * both / both.sum())
