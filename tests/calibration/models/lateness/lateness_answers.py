"""Answers about late updates for tests, written down or drawn."""

import numpy as np
import pandas as pd

from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.simulate import LatenessRaters, simulate_lateness_counts
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES


def table(*answers: tuple[str, int, bool]) -> pd.DataFrame:
    """Return table lateness from (worker, visits late, useful), each about another nugget."""
    rows = pd.DataFrame(answers, columns=["worker", "visits_late", "useful"])
    nuggets = [f"N{place}" for place in range(len(rows))]
    return check_frame(rows.assign(topic="E", nugget=nuggets), TABLES["lateness"])


def repeated(*levels: tuple[int, int, int], workers: int = 10) -> pd.DataFrame:
    """Return (level, asked, useful) as answers handed round the workers."""
    rows = [(late, number < useful) for late, asked, useful in levels for number in range(asked)]
    return table(*[(f"w{place % workers}", *row) for place, row in enumerate(rows)])


def drawn(seed: int, **raters) -> LatenessCounts:
    return simulate_lateness_counts(LatenessRaters(**raters), np.random.default_rng([seed, 11]))


def names(fit) -> set[str]:
    return {note.name for note in fit.diagnostics if note.name != "floor_left_open"}
