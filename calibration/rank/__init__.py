"""Ranking of systems by preferences: win rates, worths, duels and rank ranges.

It turns table preferences, with workers where some are excluded, into a `Ranking`, whose frames `folder` writes and reads.
`crossed` gives simultaneous intervals when topics and people are both samples, and the ranks that these leave open. Uses `calibration.inference` and
`calibration.tables`; knows nothing of measures.
"""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = ["Ranking", "rank_systems", "read_ranking", "write_ranking"]

if TYPE_CHECKING:
    from calibration.rank.folder import Ranking, read_ranking, write_ranking
    from calibration.rank.ranking import rank_systems
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".folder", ".ranking")
