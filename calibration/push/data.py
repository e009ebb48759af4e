"""Votes of each pair of streams beside what a fitted model expects: goodness of fit and simulation.

A result keeps how many people chose which stream of each pair, without their names.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.inference.goodness import REJECTED, tested_by_simulation
from calibration.inference.results import GoodnessOfFit
from calibration.inference.wording import shown_p
from calibration.push.likelihood import ChoiceModel, Maximum, Ties, maximise
from calibration.push.pairs import SIGNS, PushJudgments
from calibration.tables.files import checked
from calibration.tables.tables import TABLES
from metrics.arrays import Floats

TASK = "pushes"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVotes:
    """Votes of m pairs, each in one direction whatever side its streams were on.

    Attributes
    ----------
    first, second : (m, 5) ndarray of float
        x of the two streams.
    topic : (m,) ndarray of int
        Number of the profile.
    votes : (m, 3) ndarray of float
        How often the first was better, the second, or neither.
    """

    first: Floats
    second: Floats
    topic: "np.ndarray[tuple[int], np.dtype[np.intp]]"
    votes: Floats

    @property
    def difference(self) -> Floats:
        """(m, 5): first minus second."""
        return self.first - self.second


def pair_votes_of(judgments: PushJudgments) -> PairVotes:
    """Count the votes of each pair, in the direction of its first judgment."""
    _, seen, pair = np.unique(judgments.pair, return_index=True, return_inverse=True)
    first, second = judgments.left[seen], judgments.right[seen]
    turned = judgments.first_is_left != judgments.first_is_left[seen][pair]
    vote = np.where(turned, -judgments.vote, judgments.vote)
    votes = np.zeros((len(seen), 3))
    np.add.at(votes, (pair, np.where(vote > 0, 0, np.where(vote < 0, 1, 2))), 1.0)
    return PairVotes(first=first, second=second, topic=judgments.topic[seen], votes=votes)


OUTCOMES = np.array([1.0, -1.0, 0.0])
"""The vote of each column of `PairVotes.votes`."""


def expected_shares(difference: Floats, maximum: Maximum, ties: Ties) -> Floats:
    """Return the probability of each outcome of each pair: (m, k) -> (m, 3), or (m, 2) without ties."""
    outcomes = OUTCOMES if maximum.tie is not None else OUTCOMES[:2]
    m = len(difference)
    model = ChoiceModel(
        design=np.repeat(difference, len(outcomes), axis=0),
        vote=np.tile(outcomes, m),
        ties=ties,
        times=np.ones(m * len(outcomes)),
    )
    return np.exp(model.terms(maximum.point).loglik).reshape(m, len(outcomes))


def unexplained_test(
    difference: Floats, votes: Floats, maximum: Maximum, ties: Ties, *, n_boot: int, seed: int
) -> GoodnessOfFit:
    """Test whether pairs are judged as their cells say, by the deviance of all pairs and a parametric bootstrap.

    Parameters
    ----------
    difference : (m, k) ndarray of float
        The columns that were fitted.
    votes : (m, 2 or 3) ndarray of float
        As many columns as the model has outcomes.
    maximum : Maximum
        The fit.
    ties : str
        How ties were treated.
    n_boot, seed : int
        Simulated data sets, each fitted again, and the seed of their simulation.
    """
    rng = np.random.default_rng(seed)
    shares, total = expected_shares(difference, maximum, ties), votes.sum(axis=1).astype(np.int64)
    observed = _deviance(votes, shares)
    simulated = [
        _refitted_deviance(difference, rng.multinomial(total, shares).astype(np.float64), maximum, ties)
        for _ in range(n_boot)
    ]

    def sentence(p_value: float) -> str:
        verdict = (
            "People prefer streams for more than their cells"
            if p_value < REJECTED
            else "The cells explain the preferences as far as these votes can tell"
        )
        return (
            f"{verdict} (deviance {observed:.1f} over {len(votes)} pairs, {shown_p(p_value)}); intervals allow for "
            "what is unexplained."
        )

    return tested_by_simulation("unexplained_preference", observed, simulated, sentence)


def _deviance(votes: Floats, shares: Floats) -> float:
    n = votes.sum(axis=1, keepdims=True)
    expected = n * shares
    seen = votes > 0
    return float(2 * (votes[seen] * np.log(votes[seen] / expected[seen])).sum())


def _refitted_deviance(difference: Floats, votes: Floats, start: Maximum, ties: Ties) -> float:
    outcomes = votes.shape[1]
    has_tie = start.tie is not None
    again = maximise(
        np.repeat(difference, outcomes, axis=0),
        np.tile(OUTCOMES[:outcomes], len(votes)),
        ties if has_tie else "drop",
        times=votes.ravel(),
        start=start.point,
    )
    return _deviance(votes, expected_shares(difference, again, ties))


def simulated_tables(
    pairs: PairVotes, shares: Floats, n: int, rng: np.random.Generator
) -> dict[str, pd.DataFrame]:
    """Draw tables preferences and push_cells of n judgments, pairs as often as they were judged, sides at random."""
    m = len(pairs.votes)
    pair = rng.choice(m, size=n, p=pairs.votes.sum(axis=1) / pairs.votes.sum())
    outcome = (rng.random((n, 1)) > shares[pair].cumsum(axis=1)[:, :-1]).sum(axis=1)
    swapped = rng.random(n) < 0.5
    on_left = np.where(swapped, 1 - outcome, outcome)
    tie = np.where(rng.random(n) < 0.5, "equally_good", "equally_bad")
    names = np.array([f"P{number}" for number in range(m)], dtype=object)
    topics = np.array([f"T{number}" for number in pairs.topic], dtype=object)
    preferences = pd.DataFrame(
        {
            "judgment": [f"J{number}" for number in range(n)],
            "worker": [f"W{number}" for number in range(n)],
            "task": TASK,
            "topic": topics[pair],
            "pair": names[pair],
            "system_left": np.where(swapped, "B", "A"),
            "system_right": np.where(swapped, "A", "B"),
            "choice": np.where(outcome == 2, tie, np.where(on_left == 0, "left", "right")),
        }
    )
    signs = np.array(list(SIGNS.values()))
    cells = [
        pd.DataFrame(x * signs, columns=list(SIGNS)).assign(
            task=TASK, topic=topics, pair=names, system=system
        )
        for system, x in (("A", pairs.first), ("B", pairs.second))
    ]
    return {
        "preferences": checked(preferences, TABLES["preferences"]),
        "push_cells": checked(pd.concat(cells, ignore_index=True), TABLES["push_cells"]),
    }
