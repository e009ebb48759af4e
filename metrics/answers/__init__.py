"""Generated answers (RAG): nuggets, support of citations, sentences and words."""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "AnswerCollection",
    "AnswerRun",
    "AnswerSentence",
    "CitationPrecision",
    "CitationRecall",
    "CitedSentences",
    "JudgedNugget",
    "NuggetsAll",
    "NuggetsAllStrict",
    "NuggetsVital",
    "NuggetsVitalStrict",
    "NuggetsWeighted",
    "Support",
    "SupportStrict",
    "Words",
    "score_answers",
]

if TYPE_CHECKING:
    from metrics.answers.judged import AnswerCollection, AnswerRun, AnswerSentence, JudgedNugget
    from metrics.answers.measures import (
        CitationPrecision,
        CitationRecall,
        CitedSentences,
        NuggetsAll,
        NuggetsAllStrict,
        NuggetsVital,
        NuggetsVitalStrict,
        NuggetsWeighted,
        Support,
        SupportStrict,
        Words,
    )
    from metrics.answers.score import score_answers
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".judged", ".measures", ".score")
