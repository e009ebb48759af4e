"""Small studies that several tests of patience are about, made by hand or drawn from known parameters."""

from functools import lru_cache

import numpy as np
import pandas as pd

from calibration.models.patience.pairs import JudgedSummaries, summary_pairs
from calibration.models.patience.simulate import SimulatedJudges, simulate_preferences, simulate_summaries
from calibration.tables.files import check_frame
from calibration.tables.preferences import VOTES, judged_pairs, pair_votes
from calibration.tables.tables import TABLES


def positions(*rows: tuple[str, str, str, float, int], task: str | None = None) -> pd.DataFrame:
    """Return table positions of rows (topic, system, iunit, importance, offset), of one intent ``i``."""
    frame = pd.DataFrame(rows, columns=["topic", "system", "iunit", "importance", "offset_chars"])
    return check_frame(frame.assign(intent="i", task=task), TABLES["positions"])


def votes(*rows: tuple[str, str, str, int, int, int]) -> pd.DataFrame:
    """Return votes of rows (topic, system_a, system_b, votes_a, votes_b, ties)."""
    frame = pd.DataFrame(
        rows, columns=["topic", "system_a", "system_b", "votes_a", "votes_b", "equally_good"]
    )
    return frame.assign(task="t", pair="p", equally_bad=0)[
        ["task", "topic", "pair", "system_a", "system_b", *VOTES]
    ]


ONE_INTENT = {f"q{number}": {"i": 1.0} for number in range(9)}


@lru_cache(maxsize=16)
def collection(topics: int, seed: int) -> tuple[pd.DataFrame, dict[str, dict[str, float]]]:
    """Draw seven systems' summaries: table positions, and P(i|q)."""
    tables, probabilities = simulate_summaries(topics, np.random.default_rng(seed))
    return tables["positions"], probabilities


def drawn_pairs(judges: SimulatedJudges, *, topics: int = 8, seed: int = 0) -> JudgedSummaries:
    """Draw what judges preferred of one of five collections."""
    table, probabilities = collection(topics, seed % 5)
    preferences = simulate_preferences(table, probabilities, judges, np.random.default_rng([seed, 1]))
    return summary_pairs(pair_votes(preferences), table, probabilities, judged=judged_pairs(preferences))
