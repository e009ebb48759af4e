"""Pure: signs in a worker's judgments that nobody looked. They are flags: no rule leaves anybody out for them.

Search time and repeated pairs, by which workers are left out of analyses, are in `study_app.protocol.domain`.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

MIN_DECISION_SECONDS = 3.0
"""The quickest that `study check` reckons with for an answer alone, without any reading."""
MIN_TIMED = 3
"""From so many judgments on the time that they took is looked at."""
HURRIED_SHARE = 0.5
MIN_STRAIGHT = 8
"""From so many alike on it is a flag: sides are drawn by lot, so all of 8 on one side is one chance in 128."""

FLAGS = ("dwell", "straight_lining")


def is_hurried(seconds: Sequence[float]) -> bool | None:
    """Say whether at least `HURRIED_SHARE` of judgments took less than `MIN_DECISION_SECONDS`; None for too few."""
    if len(seconds) < MIN_TIMED:
        return None
    return sum(one < MIN_DECISION_SECONDS for one in seconds) / len(seconds) >= HURRIED_SHARE


def is_straight(choices: Sequence[str]) -> bool | None:
    """Say whether all judgments are the same option, or all of those for a side the same side; None for too few."""
    if len(choices) < MIN_STRAIGHT:
        return None
    sides = [choice for choice in choices if choice in {"left", "right"}]
    return len(set(choices)) == 1 or (len(sides) >= MIN_STRAIGHT and len(set(sides)) == 1)


def flags_by_worker(preferences: pd.DataFrame) -> Mapping[str, Mapping[str, bool]]:
    """Return worker -> flag -> whether it is up, over all tasks; a flag that too few judgments speak for or against is absent.

    Parameters
    ----------
    preferences : DataFrame
        Table preferences. A repeat is no sign of hurry, it may be recognised; neither is an answer that was changed
        later, whose time is that of the change. Both count for straight-lining.
    """
    first_met = preferences["validation_of"].isna() & (preferences["revision"] == 1)
    timed = preferences[first_met & preferences["decision_seconds"].notna()]
    seconds = timed.groupby("worker")["decision_seconds"].agg(list).to_dict()
    choices = preferences.groupby("worker")["choice"].agg(list).to_dict()
    found: dict[str, dict[str, bool]] = {}
    for worker, given in choices.items():
        judged = {"dwell": is_hurried(seconds.get(worker, ())), "straight_lining": is_straight(given)}
        found[worker] = {flag: up for flag, up in judged.items() if up is not None}
    return found
