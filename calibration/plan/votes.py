"""Simulated votes of a planned study: judges, sizes, preferences and drop-outs.

In a query q every system s is liked by v_qs ~ N(0, 1). The log odds of a pair are strength (v_qs - v_qr) / sqrt(2), plus what a
person likes more than others do, times a person's own factor; votes follow Davidson's model (`calibration.inference.choice`).
Tastes and factors are a person's in all queries that they judge.
"""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from calibration.inference.choice import choice_probabilities
from calibration.plan.simulation import people_needed
from metrics.agreement.crossed_errors import VotesByPerson, crossing
from metrics.arrays import Bools, Floats, Indices, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePopulation:
    """Parameters of a population of simulated judges.

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
    """Numbers of queries, pairs and workers of a study.

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
    def judgments(self) -> int:
        """Number of judgments if nobody leaves.

        It uses the mean number of pairs where queries differ in it.
        """
        pairs = (self.pairs + (self.fewest_pairs or self.pairs)) / 2
        return round(self.queries * pairs * self.workers)

    @property
    def people(self) -> int:
        """Number of people needed."""
        return people_needed(
            self.queries,
            self.pairs,
            self.workers,
            queries_each=self.queries_each,
            pairs_each=self.pairs_each,
        )

    def judges(self) -> Ints:
        """Return the judges of each pair, (queries, pairs, workers).

        Workers take turns, so that none judges a pair twice.
        """
        each = min(self.pairs_each or self.pairs, self.pairs)
        part = np.arange(self.pairs) // each
        parts = part[-1] + 1
        team = np.arange(self.queries)[:, None] * parts + part
        return np.asarray((team[..., None] * self.workers + np.arange(self.workers)) % self.people)


def systems_for(pairs: int) -> int:
    """Return the smallest number of systems with this many pairs: 7 for 21."""
    return math.ceil((1 + math.sqrt(1 + 8 * pairs)) / 2)


class PlannedVotes(NamedTuple):
    """Preferences of people on some queries, and their votes.

    ``liked`` (queries, systems): what everybody likes. ``pairs`` (p, 2): the systems of each pair. ``votes`` (queries, p, workers):
    1, 0.5 or 0 for the first system, NaN for none. ``judges``, of that shape: whose they are.
    """

    liked: Floats
    pairs: Indices
    votes: Floats
    judges: Ints

    @property
    def judged(self) -> Ints:
        """Query and pair of every judged pair, (n, 2)."""
        return np.argwhere(~np.isnan(self.votes).all(axis=2))

    def difference(self, scores: Floats) -> Floats:
        """Return a measure's score difference in every judged pair.

        The input scores are (queries, systems).
        """
        query, pair = self.judged.T
        first, second = self.pairs[pair].T
        return np.asarray(scores[query, first] - scores[query, second])

    def by_person(self) -> VotesByPerson:
        """Return the votes as `prefcal agree` reads them."""
        made = ~np.isnan(self.votes)
        query, pair, _ = np.nonzero(made)
        return VotesByPerson(
            pair=_without_holes(query * len(self.pairs) + pair),
            for_a=self.votes[made],
            crossing=crossing(_without_holes(query), _without_holes(self.judges[made])),
        )


def _without_holes(code: Ints) -> Ints:
    return np.asarray((np.cumsum(np.bincount(code) > 0) - 1)[code])


def draw_votes(
    sizes: Sizes, people: JudgePopulation, rng: np.random.Generator, *, quality: Floats | None = None
) -> PlannedVotes:
    """Draw the preferences of people and their votes.

    Parameters
    ----------
    sizes : Sizes
        Of the study.
    people : JudgePopulation
        What people are like.
    rng : Generator
        Of every draw.
    quality : (systems,) ndarray of float, optional
        What people like of each system on average over queries; all alike without it.
    """
    systems = systems_for(sizes.pairs)
    every = np.array(list(combinations(range(systems), 2)))
    pairs = every[np.sort(rng.choice(len(every), sizes.pairs, replace=False))]
    liked, judges = rng.standard_normal((sizes.queries, systems)), sizes.judges()
    liked = liked if quality is None else liked + quality
    own = np.exp(people.sensitivity_sd * rng.standard_normal(judges.max() + 1))[judges]
    more = (liked[:, pairs[:, 0]] - liked[:, pairs[:, 1]])[..., None]
    if people.taste_sd:
        taste = people.taste_sd * rng.standard_normal((judges.max() + 1, systems))
        more = more + (taste[:, pairs[:, 0]] - taste[:, pairs[:, 1]])[judges, np.arange(len(pairs))[:, None]]
    log_odds = people.strength / math.sqrt(2) * more * own
    first, second, _ = choice_probabilities(log_odds, np.asarray(math.log(people.tie_weight)))
    drawn = rng.random(first.shape)
    votes = np.where(drawn < first, 1.0, np.where(drawn < first + second, 0.0, 0.5))
    if sizes.fewest_pairs is not None:
        votes[_not_asked(sizes, rng)] = np.nan
    if people.drop_out:
        votes[_left_undone(judges, people.drop_out, rng)] = np.nan
    return PlannedVotes(liked, pairs, votes, judges)


def _not_asked(sizes: Sizes, rng: np.random.Generator) -> Bools:
    """Draw the mask of pairs that are not in the study, (queries, pairs)."""
    asked = rng.integers(
        sizes.fewest_pairs or sizes.pairs, sizes.pairs, size=(sizes.queries, 1), endpoint=True
    )
    return np.asarray(rng.random((sizes.queries, sizes.pairs)).argsort(axis=1) >= asked)


def _left_undone(judges: Ints, drop_out: float, rng: np.random.Generator) -> Bools:
    """Draw the mask of judgments lost by drop-outs.

    Queries come one after another, each query's pairs in random order.
    """
    person, query = judges.ravel(), np.repeat(np.arange(len(judges)), judges[0].size)
    order = np.lexsort((rng.random(person.size), query, person))
    work = np.bincount(person)
    done = np.where(rng.random(work.size) < drop_out, rng.random(work.size) * work, work)
    step = np.empty(person.size)
    step[order] = np.arange(person.size) - (np.cumsum(work) - work)[person[order]]
    return np.asarray((step >= done[person]).reshape(judges.shape))
