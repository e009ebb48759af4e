"""Measures of push notifications, with days, pool and contingency cells."""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "ELG",
    "NCG",
    "T11U",
    "Contingency",
    "Created",
    "PushCell",
    "PushCollection",
    "PushRun",
    "SilencePrecision",
    "SilenceRecall",
    "score_push",
    "score_push_days",
]

if TYPE_CHECKING:
    from metrics.push.contingency import Contingency, PushCell
    from metrics.push.measures import ELG, NCG, T11U, SilencePrecision, SilenceRecall
    from metrics.push.score import score_push, score_push_days
    from metrics.push.streams import Created, PushCollection, PushRun
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".streams", ".measures", ".contingency", ".score")
