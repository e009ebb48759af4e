"""Ballots of a collection, and classes of people, shared by the checks of intents."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import pandas as pd

from calibration.models.intents import IntentBallots, normalised
from metrics.arrays import Bools, Indices

Ballots: TypeAlias = Sequence[tuple[Indices, Bools]]
"""Voters (w,) and their ticks (w, intents), by topic."""


@lru_cache(maxsize=2)
def ballots_of(data: IntentBallots) -> Ballots:
    """Return the ballots of each topic."""
    return list(_ballots(data.votes, data.counts, data.voters))


def _ballots(
    votes: pd.DataFrame, counts: pd.DataFrame, voters: "pd.Index[str]"
) -> Iterator[tuple[Indices, Bools]]:
    """Yield the voters (w,) and their ticks (w, intents) of each topic."""
    intents = {topic: pd.Index(rows["intent"]) for topic, rows in counts.groupby("topic")}
    for topic, rows in votes[votes["topic"].isin(list(intents))].groupby("topic"):
        who, worker = np.unique(voters.get_indexer(rows["worker"]), return_inverse=True)
        ticked = np.zeros((len(who), len(intents[topic])), dtype=bool)
        index = intents[topic].get_indexer(rows["intent"])
        ticked[worker[index >= 0], index[index >= 0]] = True
        yield who, ticked


def largest_change(fewer: pd.DataFrame, more: pd.DataFrame) -> str:
    """Return a clause on the largest change of a probability between two counts.

    For example: `intent I of T, 0.5 instead of 0.4`.
    """
    both = fewer.merge(more, on=["topic", "intent"], suffixes=("", "_all"))
    code = pd.factorize(both["topic"])[0]
    without, with_all = (
        normalised((both[f"votes{of}"] + 0.5).to_numpy(np.float64)[None], code)[0] for of in ("", "_all")
    )
    index = int(np.abs(with_all - without).argmax())
    row = both.iloc[index]
    return f"intent {row['intent']} of {row['topic']}, {without[index]:.2f} instead of {with_all[index]:.2f}"
