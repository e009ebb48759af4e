"""Ranking of systems by preferences: win rates, worths, duels and rank ranges.

In comes the table preferences, with workers where some are excluded; out goes a `Ranking`, whose frames `folder` writes and reads.
`crossed` says how far many estimates may be off at once when topics and people are both samples, and which ranks that leaves open. Uses `calibration.inference` and
`calibration.tables`; knows nothing of measures.
"""

from typing import TYPE_CHECKING

from metrics import lazily

__all__ = ["Ranking", "rank_systems", "read_ranking", "write_ranking"]

if TYPE_CHECKING:
    from calibration.rank.folder import Ranking, read_ranking, write_ranking
    from calibration.rank.ranking import rank_systems
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".folder", ".ranking")
