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
    from metrics.ranked.score import (
        IAERR,
        IANDCG,
        IAP,
        RBP,
        SBR,
        TIAAP,
        TIAERR,
        TIANDCG,
        TIAP,
        TIASBR,
        TSBR,
        Compat,
        score_ranked,
    )
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".lists", ".score")
