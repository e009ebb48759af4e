"""The formulas of the time-aware measures, for each cell of a window and a subtopic.

Source: Singh, Nejdl, Anand: History by Diversity: Helping Historians search News Archives (CHIIR 2016), the section on
time-aware measures. T windows, C subtopics; rel(j|c,t) is rel(j|c) if the document at rank j lies in window t, else 0.
For plain intent-aware measures give these functions a `Listing.without_windows`.
"""

from typing import Literal, TypeAlias

import numpy as np

from metrics.ranked.topics import Floats, Ints, JudgedTopic, Listing, summed

Gains: TypeAlias = Literal["binary", "graded"]
Stop: TypeAlias = Literal["literal", "half", "graded"]
Within: TypeAlias = Literal["pc", "counts", "uniform_in_t", "given"]


def ndcg_cells(listing: Listing, k: int, gains: Gains) -> Floats:
    """(T, C): nDCG@k of the list in each window for each subtopic.

    DCG = sum_{j<=k} (2^rel(j|c,t) - 1) / log(1 + j);  nDCG = DCG / DCG of the best list;  0 in an empty cell

    The best list has the cell's documents at the top, the largest grade first.

    Parameters
    ----------
    listing : Listing
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


def err_cells(listing: Listing, k: int, stop: Stop) -> Floats:
    """(T, C): ERR@k of the list in each window for each subtopic.

    ERR = sum_{r<=k} 1/r rel(r|c,t) prod_{i<r} (1 - rel(i|c,t))

    where rel is the probability that a reader with this interest stops at a document, see `_stop_probability`.
    """
    top = listing.top(k)
    found = np.zeros((top.topic.p_window.size, top.grades.shape[1]))
    still_reading = np.ones_like(found)
    for rank, window, stops in zip(top.rank, top.window, _stop_probability(top.grades, stop), strict=True):
        found[window] += still_reading[window] * stops / rank
        still_reading[window] *= 1 - stops
    return found


def precision(listing: Listing, k: int | Ints) -> Floats:
    """Precision@k at one depth or at several: a number, or an array like ``k``.

    P = sum_t P(t|q) 1/|C| sum_c 1/k sum_{j<=k} rel(j|c,t)

    Weighs all subtopics alike, whatever P(c|q).
    """
    topic = listing.topic
    relevant = (listing.grades > 0).sum(axis=1) * topic.p_window[listing.window]
    total = np.concatenate([[0.0], np.cumsum(relevant)])
    places = np.searchsorted(listing.rank, k, side="right")
    return np.asarray(total[places] / (k * topic.p_subtopic.size))


def within_windows(topic: JudgedTopic, within: Within) -> Floats:
    """(T, C): P(c|q,t).

    Parameters
    ----------
    topic : JudgedTopic
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


def renormalised(topic: JudgedTopic) -> Floats:
    """(T, C): P(c|q) over the subtopics that have relevant documents in the window; 0 where these have none."""
    weights = topic.p_subtopic * (topic.documents > 0)
    total = weights.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return shares


def _gain(grades: Ints, gains: Gains) -> Floats:
    """2^rel - 1; what is not relevant gains 0."""
    relevant = np.maximum(grades, 0) if gains == "graded" else grades > 0
    return np.asarray(np.exp2(relevant.astype(np.float64)) - 1)


def _stop_probability(grades: Ints, stop: Stop) -> Floats:
    """1 at a relevant document (literal), 0.5 (half), or (2^g - 1) / 8 (graded); else 0."""
    if stop == "graded":
        return _gain(grades, "graded") / 8
    return np.where(grades > 0, 1.0 if stop == "literal" else 0.5, 0.0)
