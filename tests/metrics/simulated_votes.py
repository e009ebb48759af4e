"""Simulated preferences with known truth, for the tests of agreement and its benchmark."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics.agreement.crossed_errors import VotesByPerson, crossing


@dataclass(frozen=True, kw_only=True)
class Votes:
    """Votes on pairs, what everybody prefers, and a metric that is a noisy view of it.

    Attributes
    ----------
    votes : (pairs, workers) array of 0, 0.5, 1
    preferred, difference : (pairs,) arrays
        Sign of the population's preference; score difference of the metric.
    query : (pairs,) array of str
    """

    votes: NDArray[np.float64]
    preferred: NDArray[np.float64]
    difference: NDArray[np.float64]
    query: NDArray[np.str_]

    @property
    def share(self):
        return self.votes.mean(axis=1)


def simulate(
    rng,
    *,
    queries=25,
    pairs=21,
    workers=14,
    strengths=lambda rng, size: rng.normal(size=size),
    ties=0.2,
    noise=0.8,
    query_spread=0.6,
) -> Votes:
    """Draw pairs whose strength of preference and whose metric error are shared in part within a query."""
    size = queries * pairs
    query = np.repeat([f"q{n:02d}" for n in range(queries)], pairs)
    strength = strengths(rng, size)
    quality = np.repeat(np.exp(query_spread * rng.normal(size=queries)), pairs)
    difference = strength + noise * quality * rng.normal(size=size)
    chance = 1 / (1 + np.exp(-strength))
    votes = (rng.random((size, workers)) < chance[:, np.newaxis]).astype(float)
    votes[rng.random((size, workers)) < ties] = 0.5
    return Votes(votes=votes, preferred=np.sign(strength), difference=difference, query=query)


@dataclass(frozen=True, kw_only=True)
class JudgedMeasures:
    """Votes with who gave them, and measures that explain as much of them as one says.

    Attributes
    ----------
    votes : VotesByPerson
    differences : (measures, pairs) array
        Score differences.
    lead : (n,) array
        Log odds of every vote for the first system.
    """

    votes: VotesByPerson
    differences: NDArray[np.float64]
    lead: NDArray[np.float64]

    def graded(self, rng, cuts=(0.4, 1.5)):
        """Draw signed strengths in place of the votes, by the cumulative-link model."""
        latent = self.lead + rng.logistic(size=self.lead.size)
        return np.sign(latent) * (np.abs(latent)[:, np.newaxis] > cuts).sum(axis=1)

    @property
    def first(self):
        return self.differences[0]

    @property
    def second(self):
        return self.differences[1]

    @property
    def query(self):
        """The query of every pair."""
        query = np.zeros(self.first.size, dtype=np.intp)
        query[self.votes.pair] = self.votes.crossing.query
        return query


def judged_measures(
    rng,
    *,
    queries=20,
    workers=8,
    pairs=6,
    slopes=(0.5, 0.5),
    taste=0.6,
    unexplained=0.6,
    ties=0.6,
    own_people=False,
) -> JudgedMeasures:
    """Draw the votes of people who judge everything, or of ``workers`` people of its own for each query.

    The log odds of a pair are b . D + u for a person with slopes b ~ N(slopes, taste^2), votes follow
    Davidson's model. A query has systems enough for its pairs; their scores and u are normal.

    Parameters
    ----------
    pairs : int or (int, int)
        Pairs of a query; of two numbers any from the first to the second.
    """
    low, high = (pairs, pairs) if isinstance(pairs, int) else pairs
    likes = np.array(slopes)[:, np.newaxis] + taste * rng.normal(
        size=(len(slopes), workers * (queries if own_people else 1))
    )
    rows, differences, made = [], [], 0
    for query in range(queries):
        number = int(rng.integers(low, high + 1))
        one, other = np.triu_indices(int(np.ceil((1 + np.sqrt(1 + 8 * number)) / 2)), 1)
        chosen = rng.permutation(one.size)[:number]
        values = rng.normal(size=(len(slopes) + 1, other.max() + 1))
        apart = (values[:, one] - values[:, other])[:, chosen]
        people = np.arange(workers) + (query * workers if own_people else 0)
        lead = np.einsum("mw,mp->pw", likes[:, people], apart[:-1]) + unexplained * apart[-1][:, np.newaxis]
        draw = rng.random(lead.shape) * (np.exp(lead / 2) + np.exp(-lead / 2) + ties)
        vote = np.where(draw < np.exp(lead / 2), 1.0, np.where(draw < np.exp(lead / 2) + ties, 0.5, 0.0))
        pair, worker = np.indices(lead.shape).reshape(2, -1)
        of_each = (pair + made, np.full(pair.size, query), people[worker], vote.ravel(), lead.ravel())
        rows.append(np.stack(of_each))
        differences.append(apart[:-1])
        made += number
    pair, query, worker, vote, leads = np.concatenate(rows, axis=1)
    return JudgedMeasures(
        votes=VotesByPerson(
            pair=pair.astype(np.intp),
            for_a=vote,
            crossing=crossing(query.astype(np.intp), worker.astype(np.intp)),
        ),
        differences=np.concatenate(differences, axis=1),
        lead=leads,
    )
