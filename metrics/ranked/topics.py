"""Judgments of a topic as arrays, made once for many runs, and what a ranked list has of them.

R relevant documents, C subtopics, T windows with relevant documents. Only those windows count; what lies in another
one, or in none, is relevant to nothing. Nothing here is a measure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from metrics.ranked.lists import RankedCollection

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Shares: TypeAlias = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Topic -> window -> subtopic -> P(c|q,t)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTopic:
    """What a ranked list is compared with.

    Attributes
    ----------
    name : str
        Of the topic.
    window_of : mapping of str to str
        Document, relevant or not, -> its window.
    windows : mapping of str to int
        Index of each window.
    rows : mapping of str to int
        Index of each relevant document.
    grades : (R, C) ndarray of int
        Grade of each relevant document for each subtopic; 0 or less: not relevant to it.
    window : (R,) ndarray of int
        Index of the window of each relevant document.
    p_subtopic : (C,) ndarray of float
        P(c|q), as given or uniform.
    p_window : (T,) ndarray of float
        P(t|q): share of the relevant documents that lie in each window.
    p_within : (T, C) ndarray of float, optional
        P(c|q,t), where the caller gave it.
    """

    name: str
    window_of: Mapping[str, str]
    windows: Mapping[str, int]
    rows: Mapping[str, int]
    grades: Ints
    window: Ints
    p_subtopic: Floats
    p_window: Floats
    p_within: Floats | None = None

    @property
    def documents(self) -> Ints:
        """(T, C): how many relevant documents each subtopic has in each window."""
        return summed(self.grades > 0, self.window, self.p_window.size).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a ranked list has of a topic's relevant documents: ``m`` of them, from the top down.

    Attributes
    ----------
    topic : JudgedTopic
        What is relevant.
    rank : (m,) ndarray of int
        Where each relevant document stands, from 1, ascending.
    grades : (m, C) ndarray of int
        Its grade for each subtopic.
    window : (m,) ndarray of int
        Index of its window.
    reached : (T,) ndarray of float
        Rank of the first document of each window, relevant or not; inf where there is none.
    """

    topic: JudgedTopic
    rank: Ints
    grades: Ints
    window: Ints
    reached: Floats

    def top(self, k: int | None) -> "Listing":
        """Return what the first k documents have; None: the whole list."""
        if k is None:
            return self
        kept = int(np.searchsorted(self.rank, k, side="right"))
        return replace(
            self,
            rank=self.rank[:kept],
            grades=self.grades[:kept],
            window=self.window[:kept],
            reached=np.where(self.reached <= k, self.reached, np.inf),
        )

    def without_windows(self) -> "Listing":
        """Return the same list where every document lies in one window of P(t|q) = 1: what plain measures see."""
        topic = replace(
            self.topic, window=np.zeros_like(self.topic.window), p_window=np.ones(1), p_within=None
        )
        reached = self.reached.min(keepdims=True, initial=np.inf)
        return replace(self, topic=topic, window=np.zeros_like(self.window), reached=reached)


def judged_topics(collection: RankedCollection, within: Shares | None = None) -> list[JudgedTopic]:
    """Turn judgments into arrays, topic by topic.

    Parameters
    ----------
    collection : RankedCollection
        Judgments.
    within : mapping of topic to mapping of window to mapping of subtopic to float, optional
        P(c|q,t), for every window with a relevant document; a subtopic that is missing has 0.

    Raises
    ------
    ValueError
        If ``within`` lacks a topic or window.
    """
    return [_judged_topic(collection, topic, within) for topic in collection.grades]


def listing(topic: JudgedTopic, documents: tuple[str, ...]) -> Listing:
    """Look up a ranked list, best first."""
    found = [(rank, topic.rows[one]) for rank, one in enumerate(documents, start=1) if one in topic.rows]
    rank, row = np.array(found, dtype=np.int64).reshape(-1, 2).T
    reached = np.full(topic.p_window.size, np.inf)
    windows = [topic.windows.get(topic.window_of.get(one, ""), -1) for one in documents]
    for place, window in reversed(list(enumerate(windows))):
        if window >= 0:
            reached[window] = place + 1
    return Listing(
        topic=topic, rank=rank, grades=topic.grades[row], window=topic.window[row], reached=reached
    )


def summed(values: NDArray[np.generic], group: Ints, groups: int) -> Floats:
    """Add up rows of values, (n, C), by group, (n,) indices into (groups,); an empty group has 0."""
    totals = np.zeros((groups, values.shape[1]))
    np.add.at(totals, group, values)
    return totals


def _judged_topic(collection: RankedCollection, topic: str, within: Shares | None) -> JudgedTopic:
    """Turn the judgments of one topic into arrays."""
    relevant, subtopics = collection.relevant(topic), collection.subtopics(topic)
    windows = sorted({collection.windows[one] for one in relevant})
    index = {window: place for place, window in enumerate(windows)}
    window = np.array([index[collection.windows[one]] for one in relevant], dtype=np.int64)
    judged = [collection.grades[topic].get(subtopic, {}) for subtopic in subtopics]
    grades = [[of.get(one, 0) for of in judged] for one in relevant]
    return JudgedTopic(
        name=topic,
        window_of=collection.windows,
        windows=index,
        rows={one: row for row, one in enumerate(relevant)},
        grades=np.array(grades, dtype=np.int64).reshape(len(relevant), len(subtopics)),
        window=window,
        p_subtopic=_p_subtopic(collection, topic, subtopics),
        p_window=np.bincount(window, minlength=len(windows)) / max(len(relevant), 1),
        p_within=None if within is None else _p_within(topic, windows, subtopics, within),
    )


def _p_subtopic(collection: RankedCollection, topic: str, subtopics: tuple[str, ...]) -> Floats:
    """P(c|q): as given for the topic, else uniform."""
    given = collection.probability.get(topic)
    if not given:
        return np.full(len(subtopics), 1 / len(subtopics))
    return np.array([given.get(subtopic, 0.0) for subtopic in subtopics], dtype=np.float64)


def _p_within(topic: str, windows: list[str], subtopics: tuple[str, ...], within: Shares) -> Floats:
    """P(c|q,t), as given."""
    shares = np.zeros((len(windows), len(subtopics)))
    for row, window in enumerate(windows):
        given = within.get(topic, {}).get(window)
        if given is None:
            raise ValueError(f"P(c|q,t) of topic {topic} and window {window} is not given")
        shares[row] = [given.get(subtopic, 0.0) for subtopic in subtopics]
    return shares
