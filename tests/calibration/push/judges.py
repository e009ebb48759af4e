"""Judgments of push streams by simulated people, and the notes on a fit to them."""

import numpy as np

from calibration.push.pairs import PushJudgments
from calibration.push.simulate import PushJudges, simulate_push_judgments


def drawn(seed: int = 1, topics: int = 30, **judges) -> PushJudgments:
    return simulate_push_judgments(topics, PushJudges(**judges), np.random.default_rng([seed, 23]))


def names(fit) -> set[str]:
    return {note.name for note in fit.diagnostics}
