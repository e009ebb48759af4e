"""Measures of ranked lists: time-aware, intent-aware, and those of ir_measures."""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "IAERR",
    "IANDCG",
    "IAP",
    "RBP",
    "SBR",
    "TIAAP",
    "TIAERR",
    "TIANDCG",
    "TIAP",
    "TIASBR",
    "TSBR",
    "Compat",
    "RankedCollection",
    "RankedRun",
    "score_ranked",
]

if TYPE_CHECKING:
    from metrics.ranked.lists import RankedCollection, RankedRun
    from metrics.ranked.measures import IAERR, IANDCG, IAP, RBP, TIAAP, TIAERR, TIANDCG, TIAP, Compat
    from metrics.ranked.recall import SBR, TIASBR, TSBR
    from metrics.ranked.score import score_ranked
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".lists", ".measures", ".recall", ".score")
