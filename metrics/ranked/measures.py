"""Time-aware and intent-aware measures of ranked lists, as values.

Source: Singh, Nejdl, Anand: History by Diversity: Helping Historians search News Archives (CHIIR 2016), the section on
time-aware measures and its table. The formulas of cells are in `metrics.ranked.topics`, measures of coverage in
`metrics.ranked.named`, scoring in `metrics.ranked.score`.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias

import numpy as np

from metrics.arrays import Ints
from metrics.ranked.topics import (
    Gains,
    RelevantRanks,
    Stop,
    Within,
    err_cells,
    ndcg_cells,
    precision,
    renormalised,
    within_windows,
)
from metrics.registry import Measure, ParameterRange, changed_parameters, measure

Reading: TypeAlias = Literal["table", "text"]
Depth: TypeAlias = Annotated[int, ParameterRange(1, math.inf, "be 1 or more")]
Persistence: TypeAlias = Annotated[float, ParameterRange(0, math.nextafter(1, 0), "be from 0 to below 1")]

SOURCE = "Singh, Nejdl and Anand, CHIIR 2016"
DEPTH = "k"
"""Parameter that stands behind the name, as in ``IA-P@10``."""
COMPAT_DEPTHS = np.arange(1, 1001)
"""Depths at which rank-biased overlap is summed; the authors' own."""
MAX_GRADE_OF_GAINS = 50
"""Largest grade g for which sums of 2^g - 1 are exact."""
MAX_GRADE_OF_STOP = 3
"""Largest grade g for which (2^g - 1) / 8 is a probability."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class RankedMeasure(Measure, ABC):
    """Base of the measures of ranked lists.

    A topic without relevant documents scores 0 in all of them.
    """

    family = "ranked"
    timed: ClassVar[bool] = False
    """True if documents must have windows."""
    by_subtopic: ClassVar[bool] = False
    """True if relevance is to each subtopic, and not to any."""

    @property
    def largest_grade(self) -> int | None:
        """Largest grade that the measure is defined for; None: any."""
        return None

    @abstractmethod
    def value(self, listing: RelevantRanks) -> float:
        """Score the list of one topic."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MeasureAtDepth(RankedMeasure):
    """Base of the measures of the top of a list.

    Attributes
    ----------
    k : int
        Depth, from 1. A shorter list counts as if nothing relevant followed.
    """

    by_subtopic = True

    k: Depth = 10

    @property
    def column(self) -> str:
        """Column name, always with the depth: ``TIA-P@10``.

        Another parameter appears where it differs from its default: ``IA-nDCG(gains=graded)@10``.
        """
        return f"{self.name}{changed_parameters(self, behind=DEPTH)}@{self.k}"


@measure
class IAP(MeasureAtDepth):
    """Mean over subtopics of the precision for each.

    IA-P@k = 1/|C| sum_c 1/k sum_{j<=k} rel(j|c)

    Examples
    --------
    >>> IAP(k=5).column
    'IA-P@5'
    """

    name = "IA-P"
    source = f"{SOURCE}, IA-Precision"
    definition = "Precision for one subtopic, mean over subtopics."

    def value(self, listing: RelevantRanks) -> float:
        """Score the list of one topic."""
        return float(precision(listing.without_windows(), self.k))


@measure
class TIAP(MeasureAtDepth):
    """Precision in each window, weighted by P(t|q).

    TIA-P@k = sum_t P(t|q) 1/|C| sum_c 1/k sum_{j<=k} rel(j|c,t)

    Examples
    --------
    >>> TIAP(k=5)
    TIAP(k=5)
    """

    timed = True
    name = "TIA-P"
    source = f"{SOURCE}, TIA-Precision"
    definition = "Precision for one subtopic in one window, mean over subtopics, weighted by P(window|query)."

    def value(self, listing: RelevantRanks) -> float:
        """Score the list of one topic."""
        return float(precision(listing, self.k))


@measure
class IANDCG(MeasureAtDepth):
    """Weighted mean of nDCG over subtopics, with weights P(c|q).

    IA-nDCG@k = sum_c P(c|q) nDCG(q, k|c)

    Attributes
    ----------
    gains : {'binary', 'graded'}
        2^1 - 1 for every relevant document, or 2^g - 1 (grades up to 50).

    Examples
    --------
    >>> IANDCG(k=5, gains="graded")
    IANDCG(k=5, gains='graded')
    """

    name = "IA-nDCG"
    source = f"{SOURCE}, IA-NDCG"
    definition = "nDCG for one subtopic, weighted by P(subtopic|query)."

    gains: Gains = "binary"

    @property
    def largest_grade(self) -> int | None:
        """50 with graded gains."""
        return MAX_GRADE_OF_GAINS if self.gains == "graded" else None

    def value(self, listing: RelevantRanks) -> float:
        """Score the list of one topic."""
        (values,) = ndcg_cells(listing.without_windows(), self.k, self.gains)
        return float(values @ listing.topic.p_subtopic)


@measure
class TIANDCG(IANDCG):
    """Weighted mean of nDCG over windows and subtopics, by P(t|q) and P(c|q).

    TIA-nDCG@k = sum_t P(t|q) sum_c P(c|q) nDCG(q, k|c,t)

    Attributes
    ----------
    reading : {'table', 'text'}
        The formula of the paper's table, above, or that of its text, whose nDCG(q, k|c) is the same in every window, so
        that the measure is IA-nDCG.
    renorm : bool
        Divide P(c|q) in each window by its sum over the subtopics that have relevant documents there, so that a perfect
        list scores 1. Otherwise a cell without documents counts as 0.

    Examples
    --------
    >>> TIANDCG(k=5, renorm=True)
    TIANDCG(k=5, renorm=True)
    """

    timed = True
    name = "TIA-nDCG"
    source = f"{SOURCE}, TIA-NDCG"
    definition = "nDCG for one subtopic in one window, weighted by P(subtopic|query) and P(window|query)."

    reading: Reading = "table"
    renorm: bool = False

    def __post_init__(self) -> None:
        """Check that no option is idle."""
        Measure.__post_init__(self)
        if self.renorm and self.reading == "text":
            raise ValueError("renorm has no meaning with reading='text', which has no windows")

    def value(self, listing: RelevantRanks) -> float:
        """Score the list of one topic."""
        if self.reading == "text":
            return IANDCG.value(self, listing)
        topic = listing.topic
        weights = renormalised(topic) if self.renorm else topic.p_subtopic
        return float(topic.p_window @ (weights * ndcg_cells(listing, self.k, self.gains)).sum(axis=1))


@measure
class IAERR(MeasureAtDepth):
    """Weighted mean of expected reciprocal rank over subtopics, by P(c|q).

    IA-ERR@k = sum_{r<=k} 1/r sum_c P(c|q) rel(r|c) prod_{i<r} (1 - rel(i|c))

    Attributes
    ----------
    err : {'literal', 'half', 'graded'}
        The probability rel of stopping at a relevant document: 1, as the formula says; 0.5, as TREC's ERR-IA has it; or
        (2^g - 1) / 8 (grades up to 3).

    Examples
    --------
    >>> IAERR(err="half").column
    'IA-ERR(err=half)@10'
    """

    name = "IA-ERR"
    source = f"{SOURCE}, IA-ERR"
    definition = (
        "1/rank of the document where a reader who wants one subtopic stops, weighted by P(subtopic|query)."
    )

    err: Stop = "literal"

    @property
    def largest_grade(self) -> int | None:
        """3 with graded probabilities."""
        return MAX_GRADE_OF_STOP if self.err == "graded" else None

    def value(self, listing: RelevantRanks) -> float:
        """Score the list of one topic."""
        (values,) = err_cells(listing.without_windows(), self.k, self.err)
        return float(values @ listing.topic.p_subtopic)


@measure
class TIAERR(IAERR):
    """Weighted mean of expected reciprocal rank over windows and subtopics.

    The weights are P(t|q) and P(c|q).

    TIA-ERR@k = sum_{r<=k} 1/r sum_t P(t|q) sum_c P(c|q) rel(r|c,t) prod_{i<r} (1 - rel(i|c,t))       (table)

    TIA-ERR@k = sum_{r<=k} 1/r sum_t P(t|q) sum_c P(c|q,t) rel(r|c) prod_{i<r} (1 - rel(i|c))         (text)

    Attributes
    ----------
    reading : {'table', 'text'}
        Which of the two.
    within : {'pc', 'counts', 'uniform_in_t', 'given'}
        P(c|q,t) of the text's formula, see `metrics.ranked.topics.within_windows`. With ``pc``, which is P(c|q), the
        text's TIA-ERR is IA-ERR.

    Examples
    --------
    The formula of the paper's text in place of its table's:

    >>> TIAERR(reading="text").column
    'TIA-ERR(reading=text)@10'
    """

    timed = True
    name = "TIA-ERR"
    source = f"{SOURCE}, TIA-ERR"
    definition = (
        "1/rank of the document where a reader who wants one subtopic from one window stops, "
        "weighted by P(subtopic|query) and P(window|query)."
    )

    reading: Reading = "table"
    within: Within = "pc"

    def __post_init__(self) -> None:
        """Check that no option is idle."""
        Measure.__post_init__(self)
        if self.within != "pc" and self.reading == "table":
            raise ValueError("within has no meaning with reading='table', whose formula has no P(c|q,t)")

    def value(self, listing: RelevantRanks) -> float:
        """Score the list of one topic."""
        topic = listing.topic
        if self.reading == "table":
            return float(topic.p_window @ err_cells(listing, self.k, self.err) @ topic.p_subtopic)
        (values,) = err_cells(listing.without_windows(), self.k, self.err)
        return float(topic.p_window @ within_windows(topic, self.within) @ values)


@measure
class TIAAP(RankedMeasure):
    """Average of TIA-P at the ranks of relevant documents.

    Its mean over topics, topic `all`, is TIA-MAP.

    TIA-AP = sum_k TIA-P@k rel(k) / |R|;  rel(k): relevant to any subtopic;  R: all relevant documents

    Attributes
    ----------
    k : int or None
        Cut the sum at this depth, from 1; None: the whole list.

    Examples
    --------
    >>> TIAAP().column
    'TIA-AP'
    """

    timed = True
    by_subtopic = True
    name = "TIA-AP"
    source = f"{SOURCE}, TIA-AvgPrecision"
    definition = "TIA-P averaged over the relevant documents; its mean over topics is TIA-MAP."

    k: Depth | None = None

    @property
    def column(self) -> str:
        """``TIA-AP`` for the whole list, ``TIA-AP@10`` for a cut one."""
        return self.name if self.k is None else f"{self.name}@{self.k}"

    def value(self, listing: RelevantRanks) -> float:
        """Score the list of one topic."""
        ranks = listing.top(self.k).rank
        return float(precision(listing, ranks).sum() / max(len(listing.topic.rows), 1))


@measure
class RBP(RankedMeasure):
    """Rank-biased precision: expected rate of gain of a reader with persistence p.

    The reader goes on from each entry to the next with probability p.

    RBP = (1 - p) sum_j p^(j-1) rel(j);  rel(j): relevant to any subtopic (grade above 0), 1 or 0

    Moffat and Zobel, TOIS 2008, eq. 2. The gain of a perfect endless list is 1; nothing is added for what stands below the list.

    Attributes
    ----------
    p : float
        Persistence, from 0 to below 1; that of people is fitted as ``rbp_p``.
    k : int or None
        Cut the sum at this depth, from 1; None: the whole list.

    Examples
    --------
    >>> RBP(p=0.95).column
    'RBP(p=0.95)'
    """

    name = "RBP"
    source = "Moffat and Zobel, TOIS 2008, eq. 2"
    definition = "Relevant documents, each weighted by the chance that a reader of persistence p gets to it."

    p: Persistence = 0.8
    k: Depth | None = None

    @property
    def column(self) -> str:
        """Column name in the notation of ir_measures: ``RBP(p=0.8)@10``.

        It always shows the persistence.
        """
        depth = "" if self.k is None else f"@{self.k}"
        return f"{self.name}{changed_parameters(self, behind=DEPTH, always='p')}{depth}"

    def value(self, listing: RelevantRanks) -> float:
        """Score the list of one topic."""
        return float((1 - self.p) * (self.p ** (listing.top(self.k).rank - 1.0)).sum())


@measure
class Compat(RankedMeasure):
    """Compatibility: rank-biased overlap with the most similar ideal list.

    Compat = RBO(list, ideal) / RBO(ideal, ideal)

    RBO(a, b) = sum_{d=1..D} p^(d-1) |a_d and b_d| / d / sum_{d=1..D} p^(d-1),  D = 1,000;  a_d: the first d entries of a

    Clarke, Vtyurina and Smucker, TOIS 2021. An ideal list has every document of a grade above 0, the largest grade first, whatever
    numbers the grades are; equal grades stand in the order of the list, and documents that the list has not come after those. A
    document that is judged for several subtopics has its largest grade.

    Attributes
    ----------
    p : float
        Persistence, from 0 to below 1.
    normalize : bool
        Divide by RBO(ideal, ideal), so that an ideal list scores 1 however short it is. The earlier papers of the authors do not.

    Examples
    --------
    >>> Compat(p=0.8).column
    'Compat(p=0.8)'
    """

    name = "Compat"
    source = "Clarke, Vtyurina and Smucker, TOIS 2021"
    definition = "Rank-biased overlap of the list with the ideal list that is most like it."

    p: Persistence = 0.95
    normalize: bool = True

    @property
    def column(self) -> str:
        """Column name in the notation of ir_measures: ``Compat(p=0.95)``.

        It always shows the persistence.
        """
        return f"{self.name}{changed_parameters(self, always='p')}"

    def value(self, listing: RelevantRanks) -> float:
        """Score the list of one topic."""
        relevant = len(listing.topic.rows)
        if not relevant:
            return 0.0
        both = np.maximum(listing.rank, _ideal_rank(listing))
        overlap = np.searchsorted(np.sort(both), COMPAT_DEPTHS, side="right")
        weights = self.p ** (COMPAT_DEPTHS - 1.0)
        similarity = float(weights @ (overlap / COMPAT_DEPTHS))
        best = float(weights @ (np.minimum(COMPAT_DEPTHS, relevant) / COMPAT_DEPTHS))
        return similarity / (best if self.normalize else float(weights.sum()))


def _ideal_rank(listing: RelevantRanks) -> Ints:
    """Return each listed relevant document's rank, from 1, in the nearest ideal list.

    The nearest ideal list is the one most similar to the ranked list.
    """
    judged, grade = np.sort(listing.topic.grades.max(axis=1)), listing.grades.max(axis=1)
    larger = judged.size - np.searchsorted(judged, grade, side="right")
    by_grade = np.argsort(-grade, kind="stable")
    first = np.searchsorted(-grade[by_grade], -grade)
    rank = np.empty_like(by_grade)
    rank[by_grade] = np.arange(by_grade.size)
    return np.asarray(1 + larger + rank - first, dtype=np.int64)
