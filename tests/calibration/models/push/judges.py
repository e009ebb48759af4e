"""Judgments of push streams by simulated people, and the notes on a fit to them."""

import numpy as np
from scipy.stats import binom

from calibration.models.push.judgments import PushJudgments
from calibration.models.push.simulate import PushJudges, simulate_push_judgments


def drawn(seed: int = 1, topics: int = 30, **judges) -> PushJudgments:
    return simulate_push_judgments(topics, PushJudges(**judges), np.random.default_rng([seed, 23]))


def names(fit) -> set[str]:
    return {note.name for note in fit.diagnostics}


def by_chance(studies: int, coverage: float = 0.93) -> float:
    """Return the share that so many studies with this coverage fall below in one of a thousand lots."""
    return float(binom.ppf(0.001, studies, coverage) / studies)
