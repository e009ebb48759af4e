"""Measures of generated answers, as values.

Sources: Pradeep et al.: Initial Nugget Evaluation Results for the TREC 2024 RAG Track with the AutoNuggetizer Framework
(arXiv 2411.09607), and `nuggetizer metrics`; Thakur et al.: Support Evaluation for the TREC 2024 RAG Track (arXiv 2504.15205, section
3.4), and the program of the track that counts its judgments. 0/0 is 0, as in both programs.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from metrics.answers.judged import AnswerSentence, JudgedNugget, JudgmentKind, SupportedSentence
from metrics.registry import Measure, changed_parameters, measure

NUGGETS_PAPER = "Pradeep et al., arXiv 2411.09607"
NUGGETIZER = f"{NUGGETS_PAPER}; nuggetizer metrics"
SUPPORT_PAPER = "Thakur et al., arXiv 2504.15205, section 3.4"

PARTIAL_CREDIT = 0.5
"""Credit of partial support, of a nugget or of a sentence."""
OKAY_WEIGHT = 0.5
"""Weight of a nugget that is not vital."""
FULL_SUPPORT = 2

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
WORD = re.compile(f"[{_UNSPACED}]|[^\\s\u3000-\u303f\uff00-\uff0f\uff1a-\uff20{_UNSPACED}]+")
"""Word: characters between blanks; each kana and ideograph is a word of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """Answer to one topic with its judgments; empty where there is no answer."""

    sentences: Sequence[AnswerSentence] = ()
    nuggets: Sequence[JudgedNugget] = ()
    support: Sequence[SupportedSentence] = ()


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class AnswerMeasure(Measure, ABC):
    """Base of the measures of answers.

    Attributes
    ----------
    needs : {'nuggets', 'support'} or None
        Judgments that it counts; None: it counts the answer itself.
    """

    family = "answers"
    needs: ClassVar[JudgmentKind | None] = None

    @abstractmethod
    def topic_value(self, answer: JudgedAnswer) -> float:
        """Return the score of the answer to one topic."""


def nugget_share(
    nuggets: Sequence[JudgedNugget], *, partial: float, okay: float = 1.0, vital_only: bool = False
) -> float:
    """Return the weighted share of nuggets that an answer has.

    sum w s / sum w: s is 1 for support, ``partial`` for partial support, else 0; w is 1 for a vital nugget, else ``okay``.
    """
    credit = {"support": 1.0, "partial_support": partial}
    weighted = [
        (1.0 if nugget.importance == "vital" else okay, credit.get(nugget.assignment, 0.0))
        for nugget in nuggets
        if not vital_only or nugget.importance == "vital"
    ]
    total = math.fsum(weight for weight, _ in weighted)
    return math.fsum(weight * value for weight, value in weighted) / total if total else 0.0


def sentence_support(
    sentences: Sequence[SupportedSentence], *, partial: float, citations: Literal["first", "all"]
) -> tuple[float, int, int]:
    """Return the summed support of sentences, how many were judged, and how many count.

    A sentence counts unless it cites and no citation looked at was judged. Its support is the mean over the judged citations looked at: 1
    for full, ``partial`` for partial, 0 for none.
    """
    credit = {0: 0.0, 1: partial, FULL_SUPPORT: 1.0}
    values = []
    uncited = 0
    for grades in sentences:
        uncited += not grades
        judged = [grade for grade in (grades[:1] if citations == "first" else grades) if grade >= 0]
        if judged:
            values.append(math.fsum(credit[grade] for grade in judged) / len(judged))
    return math.fsum(values), len(values), len(values) + uncited


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class NuggetMeasure(AnswerMeasure):
    """Base of the shares of nuggets that weigh alike.

    Attributes
    ----------
    partial : float
        Credit of partial support.
    vital_only : bool
        Whether only vital nuggets count.
    """

    needs = "nuggets"
    partial: ClassVar[float] = PARTIAL_CREDIT
    vital_only: ClassVar[bool] = False

    def topic_value(self, answer: JudgedAnswer) -> float:
        """Return the share of the nuggets that the answer has."""
        return nugget_share(answer.nuggets, partial=self.partial, vital_only=self.vital_only)


@measure
class NuggetsAll(NuggetMeasure):
    """nuggets-all = (supported + 0.5 partially supported) / nuggets.

    Examples
    --------
    >>> NuggetsAll().column
    'nuggets-all'
    """

    name = "nuggets-all"
    source = f"{NUGGETIZER}, all_score"
    definition = "Share of the nuggets that the answer has; half a nugget where partly."


@measure
class NuggetsAllStrict(NuggetMeasure):
    """nuggets-all-strict = supported / nuggets.

    Examples
    --------
    >>> NuggetsAllStrict().column
    'nuggets-all-strict'
    """

    name = "nuggets-all-strict"
    source = f"{NUGGETIZER}, strict_all_score"
    definition = "Share of the nuggets that the answer has in full."
    partial = 0.0


@measure
class NuggetsVital(NuggetMeasure):
    """nuggets-vital = (supported + 0.5 partially supported) / nuggets, vital ones alone.

    Examples
    --------
    >>> NuggetsVital().column
    'nuggets-vital'
    """

    name = "nuggets-vital"
    source = f"{NUGGETIZER}, vital_score"
    definition = "Share of the vital nuggets that the answer has; half a nugget where partly."
    vital_only = True


@measure
class NuggetsVitalStrict(NuggetMeasure):
    """nuggets-vital-strict = supported / nuggets, vital ones alone.

    Examples
    --------
    >>> NuggetsVitalStrict().column
    'nuggets-vital-strict'
    """

    name = "nuggets-vital-strict"
    source = f"{NUGGETIZER}, strict_vital_score"
    definition = "Share of the vital nuggets that the answer has in full."
    partial = 0.0
    vital_only = True


@measure
class NuggetsWeighted(AnswerMeasure):
    """nuggets-weighted = nuggets-all, a nugget that is not vital weighing 0.5.

    Attributes
    ----------
    strict : bool
        Partial support is none.

    Examples
    --------
    >>> NuggetsWeighted(strict=True).column
    'nuggets-weighted(strict=True)'
    """

    name = "nuggets-weighted"
    source = f"{NUGGETS_PAPER}, weighted score"
    definition = "Share of the nuggets that the answer has; okay nuggets weigh half."
    needs = "nuggets"
    strict: bool = False

    @property
    def column(self) -> str:
        """Column name: ``nuggets-weighted``, with parameters not at their defaults."""
        return f"{self.name}{changed_parameters(self)}"

    def topic_value(self, answer: JudgedAnswer) -> float:
        """Return the weighted share of all nuggets."""
        return nugget_share(answer.nuggets, partial=0 if self.strict else PARTIAL_CREDIT, okay=OKAY_WEIGHT)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CitationMeasure(AnswerMeasure):
    """Base of precision and recall of citations.

    Attributes
    ----------
    strict : bool
        Partial support is none.
    citations : {'first', 'all'}
        Look at the first citation of a sentence, as the track's assessors did, or at the mean over all that were judged.
    """

    needs = "support"
    strict: bool = False
    citations: Literal["first", "all"] = "first"

    @property
    def column(self) -> str:
        """Column name: ``citation-recall``, with parameters not at their defaults."""
        return f"{self.name}{changed_parameters(self)}"

    def counted(self, answer: JudgedAnswer) -> tuple[float, int, int]:
        """Return the support, the sentences judged, and those that count."""
        partial = 0 if self.strict else PARTIAL_CREDIT
        return sentence_support(answer.support, partial=partial, citations=self.citations)


@measure
class CitationPrecision(CitationMeasure):
    """citation-precision = sum of support / sentences whose citation was judged.

    Examples
    --------
    >>> CitationPrecision(citations="all").column
    'citation-precision(citations=all)'
    """

    name = "citation-precision"
    source = f"{SUPPORT_PAPER}, weighted precision"
    definition = "Support of a sentence that cites by its first source; half where partial."

    def topic_value(self, answer: JudgedAnswer) -> float:
        """Return the mean support of the sentences judged."""
        total, judged, _ = self.counted(answer)
        return total / judged if judged else 0.0


@measure
class CitationRecall(CitationMeasure):
    """citation-recall = sum of support / sentences, also those that cite nothing.

    Examples
    --------
    >>> CitationRecall(strict=True).column
    'citation-recall(strict=True)'
    """

    name = "citation-recall"
    source = f"{SUPPORT_PAPER}, weighted recall"
    definition = "Support of a sentence by its first source; 0 where it cites none."

    def topic_value(self, answer: JudgedAnswer) -> float:
        """Return the mean support of the sentences that count."""
        total, _, counted = self.counted(answer)
        return total / counted if counted else 0.0


@measure
class Support(AnswerMeasure):
    """support = sum of the support of judged citations / judged citations.

    Examples
    --------
    >>> Support().column
    'support'
    """

    name = "support"
    source = f"judgments as in {SUPPORT_PAPER}; the mean over citations is ours"
    definition = "Support that a citation gives to its sentence; half where partial."
    needs = "support"

    def topic_value(self, answer: JudgedAnswer) -> float:
        """Return the mean support of the judged citations."""
        return _mean_grade(answer.support, partial=PARTIAL_CREDIT)


@measure
class SupportStrict(AnswerMeasure):
    """support-strict = citations of full support / judged citations.

    Examples
    --------
    >>> SupportStrict().column
    'support-strict'
    """

    name = "support-strict"
    source = f"judgments as in {SUPPORT_PAPER}; the share of citations is ours"
    definition = "Share of the citations that support their sentence in full."
    needs = "support"

    def topic_value(self, answer: JudgedAnswer) -> float:
        """Return the share of the judged citations with full support."""
        return _mean_grade(answer.support, partial=0)


def _mean_grade(sentences: Sequence[SupportedSentence], *, partial: float) -> float:
    """Return the mean support of the judged citations of all sentences."""
    each = [(grade,) for grades in sentences for grade in grades]
    total, judged, _ = sentence_support(each, partial=partial, citations="first")
    return total / judged if judged else 0.0


@measure
class CitedSentences(AnswerMeasure):
    """cited-sentences = sentences with a citation / sentences.

    Examples
    --------
    >>> CitedSentences().column
    'cited-sentences'
    """

    name = "cited-sentences"
    source = "a count of the answer, ours"
    definition = "Share of the sentences that cite a source."

    def topic_value(self, answer: JudgedAnswer) -> float:
        """Return the share, NaN where sources are named for the whole answer alone."""
        cited = [sentence.is_cited for sentence in answer.sentences]
        if None in cited:
            return math.nan
        return sum(map(bool, cited)) / len(cited) if cited else 0.0


@measure
class Words(AnswerMeasure):
    """words = words of the answer, without marks of sources.

    Examples
    --------
    >>> Words().column
    'words'
    """

    name = "words"
    source = "a count of the answer, ours"
    definition = "Number of words: the length against which every other measure is held."

    def topic_value(self, answer: JudgedAnswer) -> float:
        """Return the number of words."""
        return float(sum(len(WORD.findall(sentence.text)) for sentence in answer.sentences))


MEASURES: tuple[type[AnswerMeasure], ...] = (
    NuggetsAll,
    NuggetsAllStrict,
    NuggetsVital,
    NuggetsVitalStrict,
    NuggetsWeighted,
    CitationPrecision,
    CitationRecall,
    Support,
    SupportStrict,
    CitedSentences,
    Words,
)
"""Every measure of the family, in the order in which the command line prints them."""
