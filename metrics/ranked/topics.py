"""Judgments of a topic as arrays, and cells of time windows and subtopics.

R relevant documents, C subtopics, T windows with relevant documents. Only those windows count; what lies in another
one, or in none, is relevant to nothing. rel(j|c,t) is rel(j|c) if the document at rank j lies in window t, else 0. For
plain intent-aware measures give the formulas a `RelevantRanks.without_windows`.

Source: Singh, Nejdl, Anand: History by Diversity: Helping Historians search News Archives (CHIIR 2016), the section on
time-aware measures.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from metrics.arrays import Floats, Ints, summed
from metrics.ranked.lists import RankedCollection

Shares: TypeAlias = Mapping[str, Mapping[str, Mapping[str, float]]]
"""P(c|q,t) by topic, window and subtopic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedTopic:
    """Judgments of one topic as arrays, for any number of ranked lists.

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
    grades : (R, C) ndarray of float
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
    grades: Floats
    window: Ints
    p_subtopic: Floats
    p_window: Floats
    p_within: Floats | None = None

    @property
    def documents(self) -> Ints:
        """Number of relevant documents by window and subtopic, (T, C)."""
        return summed(self.grades > 0, self.window, self.p_window.size).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantRanks:
    """Ranks, windows and grades of a list's m relevant documents, from the top down.

    Attributes
    ----------
    topic : RankedTopic
        What is relevant.
    rank : (m,) ndarray of int
        Where each relevant document stands, from 1, ascending.
    grades : (m, C) ndarray of float
        Its grade for each subtopic.
    window : (m,) ndarray of int
        Index of its window.
    reached : (T,) ndarray of float
        Rank of the first document of each window, relevant or not; inf where there is none.
    """

    topic: RankedTopic
    rank: Ints
    grades: Floats
    window: Ints
    reached: Floats

    def top(self, k: int | None) -> "RelevantRanks":
        """Return the relevant documents of the first k entries; None: of all."""
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

    def without_windows(self) -> "RelevantRanks":
        """Return the same list with all documents in one window of P(t|q) = 1.

        Plain measures score this list.
        """
        topic = replace(
            self.topic, window=np.zeros_like(self.topic.window), p_window=np.ones(1), p_within=None
        )
        reached = self.reached.min(keepdims=True, initial=np.inf)
        return replace(self, topic=topic, window=np.zeros_like(self.window), reached=reached)


def judged_topics(collection: RankedCollection, within: Shares | None = None) -> list[RankedTopic]:
    """Convert judgments into arrays, topic by topic.

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


def relevant_ranks(topic: RankedTopic, documents: tuple[str, ...]) -> RelevantRanks:
    """Look up the relevant documents of a ranked list, best first."""
    relevant = [
        (rank, topic.rows[document])
        for rank, document in enumerate(documents, start=1)
        if document in topic.rows
    ]
    rank, row = np.array(relevant, dtype=np.int64).reshape(-1, 2).T
    reached = np.full(topic.p_window.size, np.inf)
    windows = [topic.windows.get(topic.window_of.get(document, ""), -1) for document in documents]
    for index, window in reversed(list(enumerate(windows))):
        if window >= 0:
            reached[window] = index + 1
    return RelevantRanks(
        topic=topic, rank=rank, grades=topic.grades[row], window=topic.window[row], reached=reached
    )


def _judged_topic(collection: RankedCollection, topic: str, within: Shares | None) -> RankedTopic:
    """Convert the judgments of one topic into arrays."""
    relevant, subtopics = collection.relevant(topic), collection.subtopics(topic)
    windows = sorted({_window(collection, document) for document in relevant})
    index = {window: place for place, window in enumerate(windows)}
    window = np.array([index[_window(collection, document)] for document in relevant], dtype=np.int64)
    judged = [collection.grades[topic].get(subtopic, {}) for subtopic in subtopics]
    grades = [[of.get(document, 0) for of in judged] for document in relevant]
    return RankedTopic(
        name=topic,
        window_of=collection.windows,
        windows=index,
        rows={document: row for row, document in enumerate(relevant)},
        grades=np.array(grades, dtype=np.float64).reshape(len(relevant), len(subtopics)),
        window=window,
        p_subtopic=_p_subtopic(collection, topic, subtopics),
        p_window=np.bincount(window, minlength=len(windows)) / max(len(relevant), 1),
        p_within=None if within is None else _p_within(topic, windows, subtopics, within),
    )


def _window(collection: RankedCollection, document: str) -> str:
    """Return the window of a relevant document, nameless where no times are known."""
    return collection.windows[document] if collection.is_timed else ""


def _p_subtopic(collection: RankedCollection, topic: str, subtopics: tuple[str, ...]) -> Floats:
    """Return P(c|q), as given for the topic or else uniform."""
    given = collection.probability.get(topic)
    if not given:
        return np.full(len(subtopics), 1 / len(subtopics))
    return np.array([given.get(subtopic, 0.0) for subtopic in subtopics], dtype=np.float64)


def _p_within(topic: str, windows: list[str], subtopics: tuple[str, ...], within: Shares) -> Floats:
    """Return the given P(c|q,t)."""
    shares = np.zeros((len(windows), len(subtopics)))
    for row, window in enumerate(windows):
        given = within.get(topic, {}).get(window)
        if given is None:
            raise ValueError(f"P(c|q,t) of topic {topic} and window {window} is not given")
        shares[row] = [given.get(subtopic, 0.0) for subtopic in subtopics]
    return shares


Gains: TypeAlias = Literal["binary", "graded"]
Stop: TypeAlias = Literal["literal", "half", "graded"]
Within: TypeAlias = Literal["pc", "counts", "uniform_in_t", "given"]


def ndcg_cells(listing: RelevantRanks, k: int, gains: Gains) -> Floats:
    """Return nDCG@k in each window for each subtopic, (T, C).

    DCG = sum_{j<=k} (2^rel(j|c,t) - 1) / log(1 + j);  nDCG = DCG / DCG of the best list;  0 in an empty cell

    The best list has the cell's documents at the top, the largest grade first.

    Parameters
    ----------
    listing : RelevantRanks
        The whole list.
    k : int
        Depth, from 1.
    gains : {'binary', 'graded'}
        rel is 1 for a relevant document, or its grade.
    """
    topic, top = listing.topic, listing.top(k)
    windows = topic.p_window.size
    dcg = summed(_gain(top.grades, gains) / np.log2(1 + top.rank)[:, None], top.window, windows)
    window = np.sort(topic.window)
    rank = 1 + np.arange(window.size) - np.searchsorted(window, window)
    best = np.lexsort((-topic.grades, np.broadcast_to(topic.window[:, None], topic.grades.shape)), axis=0)
    discount = (rank <= k) / np.log2(1 + rank)
    grades = np.take_along_axis(topic.grades, best, axis=0)
    ideal = summed(_gain(grades, gains) * discount[:, None], window, windows)
    return np.divide(dcg, ideal, out=np.zeros_like(dcg), where=ideal > 0)


def err_cells(listing: RelevantRanks, k: int, stop: Stop) -> Floats:
    """Return ERR@k in each window for each subtopic, (T, C).

    ERR = sum_{r<=k} 1/r rel(r|c,t) prod_{i<r} (1 - rel(i|c,t))

    where rel is the probability that a reader with this interest stops at a document, see `_stop_probability`.
    """
    top = listing.top(k)
    cells = np.zeros((top.topic.p_window.size, top.grades.shape[1]))
    still_reading = np.ones_like(cells)
    for rank, window, stops in zip(top.rank, top.window, _stop_probability(top.grades, stop), strict=True):
        cells[window] += still_reading[window] * stops / rank
        still_reading[window] *= 1 - stops
    return cells


def precision(listing: RelevantRanks, k: int | Ints) -> Floats:
    """Return precision@k at one depth or at several, shaped like ``k``.

    P = sum_t P(t|q) 1/|C| sum_c 1/k sum_{j<=k} rel(j|c,t)

    Weighs all subtopics alike, whatever P(c|q).
    """
    topic = listing.topic
    relevant = (listing.grades > 0).sum(axis=1) * topic.p_window[listing.window]
    total = np.concatenate([[0.0], np.cumsum(relevant)])
    places = np.searchsorted(listing.rank, k, side="right")
    return np.asarray(total[places] / (k * topic.p_subtopic.size))


def within_windows(topic: RankedTopic, within: Within) -> Floats:
    """Return P(c|q,t), (T, C).

    Parameters
    ----------
    topic : RankedTopic
        With ``p_within``, if that is wanted.
    within : {'pc', 'counts', 'uniform_in_t', 'given'}
        P(c|q) in every window; the share of c in the window's relevant judgments; equal over the subtopics that have
        relevant documents in the window; or what the caller gave.

    Raises
    ------
    ValueError
        If it was to be given and was not.
    """
    if within == "given":
        if topic.p_within is None:
            raise ValueError("P(c|q,t) is not given: pass within={topic: {window: {subtopic: P}}}")
        return topic.p_within
    if within == "pc":
        return np.broadcast_to(topic.p_subtopic, topic.documents.shape)
    weights = topic.documents if within == "counts" else topic.documents > 0
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)


def renormalised(topic: RankedTopic) -> Floats:
    """Return P(c|q) over the subtopics relevant in each window, (T, C).

    It is 0 where no document in the window is relevant.
    """
    weights = topic.p_subtopic * (topic.documents > 0)
    total = weights.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return shares


def _gain(grades: Floats, gains: Gains) -> Floats:
    """Return the gain 2^rel - 1, 0 for non-relevant documents."""
    relevant = np.maximum(grades, 0) if gains == "graded" else grades > 0
    return np.asarray(np.exp2(relevant.astype(np.float64)) - 1)


def _stop_probability(grades: Floats, stop: Stop) -> Floats:
    """Return the probability to stop at a document, 0 at non-relevant ones.

    At a relevant document it is 1 (literal), 0.5 (half) or (2^g - 1) / 8 (graded).
    """
    if stop == "graded":
        return _gain(grades, "graded") / 8
    return np.where(grades > 0, 1.0 if stop == "literal" else 0.5, 0.0)
