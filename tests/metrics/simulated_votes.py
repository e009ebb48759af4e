"""Simulated preferences with known truth, for the tests of agreement and its benchmark."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
