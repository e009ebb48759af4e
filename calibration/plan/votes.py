"""Votes of a planned study: what people like, who judges what, and what they say.

In a query q every system s is liked by v_qs ~ N(0, 1). The log odds of a pair are strength (v_qs - v_qr) / sqrt(2), plus what a
person likes more than others do, times a person's own factor; votes follow Davidson's model (`calibration.inference.davidson`).
Tastes and factors are a person's in all queries that they judge.
"""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calibration.inference.davidson import choice_probabilities
from calibration.plan.simulation import people_needed
from metrics.agreement.agreement import Ties, pair_credit
from metrics.agreement.people import Error, VotesByPerson, crossing
from metrics.arrays import Floats, Ints, Places


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Who judges, and what they are like.

    Attributes
    ----------
    strength : float
        Log odds of a pair of usual distance: how decided people are. At 1.2 and 14 workers the majority of a pair
        holds 69 % of the votes.
    tie_weight : float
        nu of Davidson's model; at 0.6 about a fifth of the judgments are ties.
    sensitivity_sd : float
        Standard deviation of the log of a person's own factor on all log odds.
    query_spread : float
        Standard deviation over queries of a measure's correlation with what people like, on Fisher's scale.
    taste_sd : float
        Standard deviation of a person's own liking of a system, alike in all queries that they judge, where what everybody likes has
        1.
    drop_out : float
        Share of people who leave somewhere on their way; nobody takes their place.
    """

    strength: float = 1.2
    tie_weight: float = 0.6
    sensitivity_sd: float = 0.3
    query_spread: float = 0.2
    taste_sd: float = 0.0
    drop_out: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How many judge what.

    Attributes
    ----------
    queries, pairs, workers : int
        Queries; pairs of a query, of the fewest systems that make so many; people who judge each pair.
    fewest_pairs : int or None
        Queries have from so many pairs to ``pairs``, each number as likely; None: all alike.
    queries_each : int
        That a person judges.
    pairs_each : int or None
        Of each of these queries; None for all pairs.
    """

    queries: int
    pairs: int
    workers: int
    fewest_pairs: int | None = None
    queries_each: int = 1
    pairs_each: int | None = None

    @property
    def people(self) -> int:
        """How many people that takes."""
        return people_needed(
            self.queries,
            self.pairs,
            self.workers,
            queries_each=self.queries_each,
            pairs_each=self.pairs_each,
        )

    def judges(self) -> Ints:
        """Return who judges, (queries, pairs, workers); they take turns, so that nobody has a pair twice."""
        each = min(self.pairs_each or self.pairs, self.pairs)
        part = np.arange(self.pairs) // each
        parts = part[-1] + 1
        team = np.arange(self.queries)[:, None] * parts + part
        return np.asarray((team[..., None] * self.workers + np.arange(self.workers)) % self.people)


def systems_for(pairs: int) -> int:
    """Return the fewest systems that make so many pairs: 7 for 21."""
    return math.ceil((1 + math.sqrt(1 + 8 * pairs)) / 2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlannedVotes:
    """What people of some queries like and how they voted.

    Attributes
    ----------
    liked : (queries, systems) ndarray of float
        What everybody likes.
    pairs : (p, 2) ndarray of int
        Systems of each pair.
    place : (n, 2) ndarray of int
        Query and pair of each judgment, in this order.
    vote : (n,) ndarray of float
        1, 0.5 or 0 for the first system.
    person : (n,) ndarray of int
        Whose it is.
    """

    liked: Floats
    pairs: Places
    place: Ints
    vote: Floats
    person: Ints

    def difference(self, scores: Floats) -> Floats:
        """Return the difference of a measure's (queries, systems) scores in every pair that was judged."""
        query, pair = self._judged.T
        first, second = self.pairs[pair].T
        return np.asarray(scores[query, first] - scores[query, second])

    def by_person(self) -> VotesByPerson:
        """Return the votes as `prefcal agree` takes them."""
        judged, pair = np.unique(self._code, return_inverse=True)
        query, person = (np.unique(code, return_inverse=True)[1] for code in (self.place[:, 0], self.person))
        return VotesByPerson(pair=pair, for_a=self.vote, crossing=crossing(query, person))

    @property
    def _code(self) -> Ints:
        return np.asarray(self.place[:, 0] * len(self.pairs) + self.place[:, 1])

    @property
    def _judged(self) -> Ints:
        """(judged pairs, 2) query and pair."""
        code = np.unique(self._code)
        return np.stack([code // len(self.pairs), code % len(self.pairs)], axis=1)
