"""Measures of push notifications, with days, pool and contingency cells."""

from typing import TYPE_CHECKING

from metrics import lazily

__all__ = [
    "CELLS",
    "ELG",
    "INSTANCES",
    "NCG",
    "T11U",
    "Contingency",
    "Created",
    "PushCell",
    "PushCollection",
    "PushRun",
    "SilencePrecision",
    "SilenceRecall",
    "days_between",
    "score_push",
    "score_push_days",
]

if TYPE_CHECKING:
    from metrics.push.score import (
        CELLS,
        ELG,
        INSTANCES,
        NCG,
        T11U,
        Contingency,
        PushCell,
        SilencePrecision,
        SilenceRecall,
        score_push,
        score_push_days,
    )
    from metrics.push.streams import Created, PushCollection, PushRun, days_between
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".streams", ".score")
