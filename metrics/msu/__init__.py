"""Modeled Stream Utility: simulated users who return to a stream of updates."""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "MSU",
    "GivenUsers",
    "MSUPerSecond",
    "MSUStandardError",
    "Population",
    "SimulatedUsers",
    "score_msu",
]

if TYPE_CHECKING:
    from metrics.msu.measures import MSU, MSUPerSecond, MSUStandardError
    from metrics.msu.score import score_msu
    from metrics.msu.trails import GivenUsers, Population, SimulatedUsers
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".measures", ".trails", ".score")
