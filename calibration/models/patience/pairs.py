"""Judged pairs of summaries as arrays: votes, and M at any patience.

M_L = sum_i P(i|q) sum_u g_i(u) max(0, 1 - offset(u) / L) depends on a summary's positions only, and on L only
through kappa = 1 / L, in which every M is piecewise linear and kappa = 0 (no decay) an ordinary point.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from calibration.inference.choice import Votes
from calibration.inference.results import NotIdentifiedError
from metrics.arrays import Bools, Floats, Ints
from metrics.summaries.trailtext import Probabilities

Decay: TypeAlias = Literal["linear", "exponential", "hyperbolic", "step"]
"""Form of the decay of worth with the offset x, in units of 1 / kappa.

The forms are max(0, 1 - kappa x), as in M, exp(-kappa x), 1 / (1 + kappa x), and 1 up to 1 / kappa and 0
beyond.
"""
_KEYS = ["task", "topic", "system_a", "system_b"]


def worth(depth: Floats, decay: Decay) -> Floats:
    """Return the remaining worth at offsets in units of the patience."""
    match decay:
        case "linear":
            return np.maximum(0.0, 1 - depth)
        case "exponential":
            return np.exp(-depth)
        case "hyperbolic":
            return 1 / (1 + depth)
        case "step":
            return (depth < 1).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summaries:
    """iUnits that the readers of s summaries meet, with offsets and weights.

    Other positions do not matter to M.

    Attributes
    ----------
    summary : (n,) ndarray of int
        The summary of each met iUnit, from 0.
    offset : (n,) ndarray of float
        Counted characters up to and including it.
    weight : (n,) ndarray of float
        P(i|q) times importance.
    count : int
        s; a summary without any met iUnit has M = 0.
    """

    summary: Ints
    offset: Floats
    weight: Floats
    count: int

    @property
    def longest_offset(self) -> float:
        """Largest offset with a weight; 0 without any."""
        return float(self.offset[self.weight != 0].max(initial=0.0))

    def m(self, kappa: Floats, decay: Decay = "linear") -> Floats:
        """Return M of every summary at every kappa = 1 / L: (k,) -> (k, s)."""
        return self._summed(self.weight * worth(np.outer(kappa, self.offset), decay))

    def m_slope(self, kappa: Floats) -> Floats:
        """Return dM / dkappa of every summary: (k,) -> (k, s).

        It is the slope from the right where M bends.
        """
        reached = np.outer(kappa, self.offset) < 1
        return self._summed(-self.weight * self.offset * reached)

    def _summed(self, values: Floats) -> Floats:
        rows = [np.bincount(self.summary, row, self.count) for row in values]
        return np.array(rows, dtype=np.float64).reshape(len(values), self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgments:
    """Votes on pairs, one row per judgment.

    Attributes
    ----------
    people : tuple of str
        Pseudonyms.
    worker, pair : (j,) ndarray of int
        Indices into ``people`` and into the pairs.
    lead : (j,) ndarray of float
        1 for the first summary, -1 for the second, 0 for a tie.
    """

    people: tuple[str, ...]
    worker: Ints
    pair: Ints
    lead: Floats

    def votes(self, pairs: int) -> Votes:
        """Return the votes of each of a number of pairs."""
        first, second, ties = (
            np.bincount(self.pair, self.lead == lead, pairs).astype(np.float64) for lead in (1, -1, 0)
        )
        return Votes(first=first, second=second, ties=ties)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedSummaries:
    """Pairs of summaries with their votes.

    Attributes
    ----------
    topics : tuple of str
        Names of the topics.
    topic : (p,) ndarray of int
        Topic of each pair, an index into ``topics``.
    first, second : (p,) ndarray of int
        The two summaries of each pair.
    votes : Votes
        Of each pair.
    summaries : Summaries
        Where their iUnits stand.
    left_out : int
        Pairs without positions, which are not among the p.
    judgments : Judgments or None
        Who gave the votes, where that is known.
    voted, uniform : int
        Topics whose P(i|q) is from votes, and topics all of whose intents count the same.
    """

    topics: tuple[str, ...]
    topic: Ints
    first: Ints
    second: Ints
    votes: Votes
    summaries: Summaries
    left_out: int
    judgments: Judgments | None = None
    voted: int = 0
    uniform: int = 0

    def differences(self, kappa: Floats, decay: Decay = "linear") -> Floats:
        """Return M(first) - M(second) of every pair at every kappa: (k,) -> (k, p)."""
        m = self.summaries.m(kappa, decay)
        return m[:, self.first] - m[:, self.second]

    def difference_slopes(self, kappa: Floats) -> Floats:
        """Return the derivatives of `differences` by kappa: (k,) -> (k, p)."""
        slope = self.summaries.m_slope(kappa)
        return slope[:, self.first] - slope[:, self.second]

    def of_judgments(self, used: Bools) -> "JudgedSummaries":
        """Return the same pairs with the votes of some judgments."""
        if self.judgments is None:
            return self
        kept = replace(
            self.judgments,
            worker=self.judgments.worker[used],
            pair=self.judgments.pair[used],
            lead=self.judgments.lead[used],
        )
        return replace(self, judgments=kept, votes=kept.votes(len(self.topic)))


def summary_pairs(
    votes: pd.DataFrame,
    positions: pd.DataFrame,
    probabilities: Probabilities,
    *,
    judged: pd.DataFrame | None = None,
) -> JudgedSummaries:
    """Combine pairs, votes and positions.

    Parameters
    ----------
    votes : DataFrame
        As `calibration.tables.preferences.pair_votes` returns it.
    positions : DataFrame
        Table positions. A pair needs rows for its topic, and rows for each of its systems in any topic; a system
        that has rows elsewhere but none for this topic meets nothing there and has M = 0.
    probabilities : mapping of topic to mapping of intent to float
        P(i|q); an intent that is not in it has 0.
    judged : DataFrame, optional
        As `calibration.tables.preferences.judged_pairs` returns it: who gave the votes.

    Raises
    ------
    NotIdentifiedError
        If no pair has positions.
    """
    by_task = positions["task"].notna().all() if "task" in positions else False
    task_key = ["task"] if by_task else []
    known = _known(votes, positions, task_key)
    if not known.any():
        raise NotIdentifiedError("no judged pair has positions of both its summaries")
    kept = votes[known].reset_index(drop=True)
    topics = sorted(kept["topic"].unique())
    keys = [*task_key, "topic", "system"]
    firsts, seconds = (
        kept[[*task_key, "topic", side]].set_axis(keys, axis="columns") for side in ("system_a", "system_b")
    )
    index = pd.MultiIndex.from_frame(pd.concat([firsts, seconds]).drop_duplicates())
    return JudgedSummaries(
        topics=tuple(topics),
        topic=pd.Index(topics).get_indexer(kept["topic"]),
        first=index.get_indexer(pd.MultiIndex.from_frame(firsts)),
        second=index.get_indexer(pd.MultiIndex.from_frame(seconds)),
        votes=Votes(
            first=kept["votes_a"].to_numpy(np.float64),
            second=kept["votes_b"].to_numpy(np.float64),
            ties=(kept["equally_good"] + kept["equally_bad"]).to_numpy(np.float64),
        ),
        summaries=_summaries(
            positions, index.get_indexer(pd.MultiIndex.from_frame(positions[keys])), probabilities, len(index)
        ),
        left_out=int((~known).sum()),
        judgments=None if judged is None else _judgments(kept, judged),
    )


def _judgments(pairs: pd.DataFrame, judged: pd.DataFrame) -> Judgments:
    """Return the judgments of the pairs that have positions."""
    index = pd.MultiIndex.from_frame(pairs[_KEYS])
    place = index.get_indexer(pd.MultiIndex.from_frame(judged[_KEYS]))
    rows = judged[place >= 0]
    worker, people = pd.factorize(rows["worker"], sort=True)
    lead = np.select([rows["vote"] == "votes_a", rows["vote"] == "votes_b"], [1.0, -1.0], 0.0)
    return Judgments(people=tuple(people), worker=worker, pair=place[place >= 0], lead=lead)


def _known(votes: pd.DataFrame, positions: pd.DataFrame, task_key: list[str]) -> Bools:
    """Return which pairs have positions.

    Their topic must have positions, and so must both systems in some topic.
    """
    known = _within(votes[[*task_key, "topic"]], positions[[*task_key, "topic"]])
    for side in ("system_a", "system_b"):
        systems = votes[[*task_key, side]].set_axis([*task_key, "system"], axis="columns")
        known &= _within(systems, positions[[*task_key, "system"]])
    return known


def _within(rows: pd.DataFrame, others: pd.DataFrame) -> Bools:
    return np.asarray(pd.MultiIndex.from_frame(rows).isin(pd.MultiIndex.from_frame(others)), dtype=np.bool_)


def _summaries(
    positions: pd.DataFrame, summary: Ints, probabilities: Mapping[str, Mapping[str, float]], count: int
) -> Summaries:
    intents = zip(positions["topic"], positions["intent"], strict=True)
    share = np.array([probabilities.get(topic, {}).get(intent, 0.0) for topic, intent in intents])
    judged = summary >= 0
    return Summaries(
        summary=summary[judged],
        offset=positions["offset_chars"].to_numpy(np.float64)[judged],
        weight=(share * positions["importance"].to_numpy(np.float64))[judged],
        count=count,
    )


def given_probabilities(
    intents: pd.DataFrame | None, fallback: Probabilities, positions: pd.DataFrame
) -> dict[str, dict[str, float]]:
    """Return P(i|q) of every topic with positions, uniform without any source.

    The collection's values come first, then the fallback.

    Parameters
    ----------
    intents : DataFrame or None
        Table intents; a topic without any probability in it has none.
    fallback : mapping of topic to mapping of intent to float
        Fitted from votes.
    positions : DataFrame
        For the topics, and for their intents where nothing else names them.
    """
    intents_of_topic = positions.groupby("topic")["intent"].unique()
    shares = {
        str(topic): dict.fromkeys(map(str, names), 1 / len(names))
        for topic, names in intents_of_topic.items()
    }
    if intents is not None:
        offered = intents[intents["topic"].isin(list(shares))]
        for topic, rows in offered.groupby("topic"):
            shares[str(topic)] = dict.fromkeys(rows["intent"].tolist(), 1 / len(rows))
    shares |= {topic: dict(fallback[topic]) for topic in shares if topic in fallback}
    if intents is not None:
        for topic, rows in offered[offered["probability"].notna()].groupby("topic"):
            shares[str(topic)] = dict(zip(rows["intent"], rows["probability"], strict=True))
    return shares
