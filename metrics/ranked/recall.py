"""Subtopic recall of ranked lists, with and without time windows.

Source: Singh, Nejdl, Anand: History by Diversity: Helping Historians search News Archives (CHIIR 2016), the sections on
time-aware measures and on time-aware subtopic recall.
"""

from typing import Literal, TypeAlias

import numpy as np

from metrics.arrays import Bools
from metrics.ranked.measures import SOURCE, MeasureAtDepth
from metrics.ranked.topics import RelevantRanks
from metrics.registry import Share, measure

Covered: TypeAlias = Literal["relevant", "any"]


@measure
class SBR(MeasureAtDepth):
    """Share of the subtopics that the list covers.

    SBR@k = |subtopics(S)| / |subtopics(q)|

    Examples
    --------
    >>> SBR(k=5).column
    'SBR@5'
    """

    name = "SBR"
    source = f"{SOURCE}, SBR"
    definition = "Share of subtopics that the list covers."

    def value(self, listing: RelevantRanks) -> float:
        """Score the list of one topic."""
        subtopics, _ = _covered(listing.top(self.k), "relevant")
        return float(subtopics.mean())


@measure
class TSBR(MeasureAtDepth):
    """Share of the subtopics and windows, taken as one set, that the list covers.

    T-SBR@k = (|subtopics(S)| + |windows(S)|) / (|subtopics(q)| + |windows(q)|)

    Attributes
    ----------
    covered : {'relevant', 'any'}
        What covers a window: a relevant document in it, or any. Windows without relevant documents never count.

    Examples
    --------
    >>> TSBR(covered="any").column
    'T-SBR(covered=any)@10'
    """

    timed = True
    name = "T-SBR"
    source = f"{SOURCE}, T-SBR"
    definition = "Share of subtopics and windows, taken as one set, that the list covers."

    covered: Covered = "relevant"

    def value(self, listing: RelevantRanks) -> float:
        """Score the list of one topic."""
        subtopics, windows = _covered(listing.top(self.k), self.covered)
        return float((subtopics.sum() + windows.sum()) / (subtopics.size + windows.size))


@measure
class TIASBR(TSBR):
    """Weighted shares of the subtopics and of the windows that the list covers.

    TIA-SBR@k = alpha sum_{c in S} P(c|q) + (1 - alpha) sum_{t in S} P(t|q)

    Attributes
    ----------
    alpha : float
        Weight of subtopics against windows, in [0, 1]. The paper gives no value.

    Examples
    --------
    Subtopics alone:

    >>> TIASBR(alpha=1).column
    'TIA-SBR(alpha=1)@10'
    """

    name = "TIA-SBR"
    source = f"{SOURCE}, definition of TIA-SBR"
    definition = (
        "alpha * P(subtopic|query) of covered subtopics + (1 - alpha) * P(window|query) of covered windows."
    )

    alpha: Share = 0.5

    def value(self, listing: RelevantRanks) -> float:
        """Score the list of one topic."""
        subtopics, windows = _covered(listing.top(self.k), self.covered)
        topic = listing.topic
        return float(self.alpha * topic.p_subtopic @ subtopics + (1 - self.alpha) * topic.p_window @ windows)


def _covered(top: RelevantRanks, covered: Covered) -> tuple[Bools, Bools]:
    """Return masks of the subtopics, (C,), and windows, (T,), that a list covers."""
    subtopics = np.logical_or.reduce(top.grades > 0, axis=0)
    if covered == "any":
        return subtopics, np.isfinite(top.reached)
    windows = np.zeros(top.reached.size, dtype=np.bool_)
    windows[top.window] = True
    return subtopics, windows
