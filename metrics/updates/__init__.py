"""Measures of the Temporal Summarization track for updates about events."""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "Comprehensiveness",
    "ExpectedGain",
    "ExpectedLatency",
    "ExpectedLatencyGain",
    "ExpectedVerbosity",
    "HarmonicMean",
    "LatencyComprehensiveness",
    "NormalisedGain",
    "NormalisedLatencyGain",
    "UpdateCount",
    "score_updates",
]

if TYPE_CHECKING:
    from metrics.updates.measures import (
        Comprehensiveness,
        ExpectedGain,
        ExpectedLatency,
        ExpectedLatencyGain,
        ExpectedVerbosity,
        HarmonicMean,
        LatencyComprehensiveness,
        NormalisedGain,
        NormalisedLatencyGain,
        UpdateCount,
    )
    from metrics.updates.score import score_updates
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".measures", ".score")
