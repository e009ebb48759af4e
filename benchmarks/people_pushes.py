"""Push streams and their judges outside the model, drawn without the simulators and likelihoods of the package."""

from typing import Any

import numpy as np
import pandas as pd

Tables = dict[str, pd.DataFrame]
Rng = np.random.Generator


def pushes(
    rng: Rng,
    *,
    topics: int = 40,
    people: int = 50,
    each: int = 20,
    days: int = 10,
    power: float = 1.0,
    sharp: float = 0.3,
    unexplained: float = 0.0,
    own: float = 0.2,
    left_sd: float = 0.0,
    always_left: float = 0.0,
    ties: float = 0.6,
    weights: tuple[float, ...] = (1.0, 0.5, 0.3, 0.5, 0.4),
    noise: float = 0.6,
    by_day: bool = False,
    gain_power: float = 1.0,
    gain_by_day: bool = False,
) -> Tables:
    """Draw cells of five streams a topic, and judgments of pairs of them.

    Pain grows with the count to this power, 0 for any push at all.

    ``noise``: how many pushes that are not relevant a stream has a day. ``by_day``: pain grows with that power of each day's pushes. Gain
    grows with what is relevant to ``gain_power``, or is that of a day with anything relevant (``gain_by_day``). People lean to the left
    side by log odds of their own (``left_sd``), or take it always (a share ``always_left``).
    """
    cells, judged = [], []
    values, of_days = np.empty((topics, 5, 5)), np.empty((topics, 5, 3))
    for topic in range(topics):
        silent = rng.random(days) < 0.3
        for system in range(5):
            found = rng.poisson(0.8 * rng.lognormal(-0.2, 0.6), days) * ~silent
            pushed = rng.poisson(noise * rng.lognormal(-0.2, 0.7), days)
            nothing = found + pushed == 0
            gain = (found * rng.choice([0.5, 1.0], days)).sum()
            values[topic, system] = (
                gain,
                (pushed * ~silent).sum(),
                (nothing & ~silent).sum(),
                (pushed * silent).sum(),
                (nothing & silent).sum(),
            )
            day = (pushed > 0) if power == 0 else pushed**power
            of_days[topic, system] = (day * ~silent).sum(), (day * silent).sum(), (found > 0).sum()
    names = ("gain", "nonrelevant_eventful", "silent_eventful", "nonrelevant_silent", "silent_silent")
    couples = [(one, other) for one in range(5) for other in range(one)]
    for topic in range(topics):
        for one, other in couples:
            cells += [
                (f"T{topic}", f"T{topic}/{one}-{other}", f"s{s}", days, "track", *values[topic, s])
                for s in (one, other)
            ]
    feel = values.copy()
    feel[..., 0] **= gain_power
    for place in (1, 3):
        feel[..., place] = (values[..., place] > 0) if power == 0 else values[..., place] ** power
    if by_day:
        feel[..., [1, 3]] = of_days[..., :2]
    if gain_by_day:
        feel[..., 0] = of_days[..., 2]
    liking = unexplained * rng.standard_normal((topics, 5))
    sign = np.array([1, -1, -1, -1, 1])
    for person in range(people):
        mine = np.array(weights) + own * rng.standard_normal(5)
        lean = left_sd * rng.standard_normal() if left_sd else 0.0
        lean = 50.0 if always_left and rng.random() < always_left else lean
        for _ in range(each):
            topic, (one, other) = int(rng.integers(topics)), couples[rng.integers(len(couples))]
            left, right = (one, other) if rng.random() < 0.5 else (other, one)
            worth = [sharp * (feel[topic, s] * sign @ mine) + liking[topic, s] for s in (left, right)]
            choice = _choice(np.array([worth[0] - worth[1] + lean]), rng, ties)[0]
            judged.append(
                (
                    f"w{person}",
                    "push",
                    f"T{topic}",
                    f"T{topic}/{one}-{other}",
                    f"s{left}",
                    f"s{right}",
                    choice,
                )
            )
    columns = ["topic", "pair", "system", "days", "convention", *names]
    return {
        "push_cells": pd.DataFrame(cells, columns=columns).assign(task="push"),
        "preferences": _preferences(judged),
    }


def _choice(odds: np.ndarray, rng: Rng, ties: float = 0.6) -> np.ndarray:
    """Draw who is preferred: each side as e to half of the log odds, a tie with this weight."""
    weight = np.stack([np.exp(odds / 2), np.exp(-odds / 2), np.full(len(odds), ties)])
    drawn = (rng.random(len(odds)) > (weight / weight.sum(axis=0)).cumsum(axis=0)[:2]).sum(axis=0)
    return np.array(["left", "right", "equally_good"])[drawn]


def _preferences(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    names = ["worker", "task", "topic", "pair", "system_left", "system_right", "choice"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.assign(judgment=[f"j{number}" for number in range(len(frame))])
