"""Notes on a ranking, one sentence each, with names common to all commands.

A note ends with its name in brackets.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from calibration.inference.choice import choice_probabilities
from calibration.inference.sides import SideAdjustment
from calibration.inference.uneven_sides import uneven_sides
from calibration.rank.crossed import StandardErrors
from calibration.rank.judgments import Duels, JudgedShares, JudgedSystems, is_balanced
from calibration.rank.worths import Worths
from metrics.agreement.crossed_errors import MIN_CLUSTERS, MIN_EFFECTIVE
from metrics.arrays import Floats, Ints
from metrics.errors import join_names, pluralise

FEW_WORKERS = 8
"""Smallest (effective) number of people without note few_workers."""
_WORDS = {3: "three", 4: "four"}


def too_few(judged: JudgedSystems, rates: JudgedShares) -> str:
    """Return why people or topics are too few for any interval, or an empty string."""
    return "; ".join(sentence for sentence, _ in _scarcities(judged, rates))


def _scarcities(judged: JudgedSystems, rates: JudgedShares) -> list[tuple[str, str]]:
    """Return sentence and name of each note about too few people or topics."""
    if not rates.influence.is_few.all():
        return []
    if judged.fixed_topic is not None and judged.worker is None:
        return [
            (
                "the judges are unknown, and intervals within a topic are over people: too little to say who is ahead",
                "",
            )
        ]
    scarcities = []
    if judged.worker is not None:
        people = _load(judged.worker, "person", "people", rates.influence.effective_workers)
        scarcities += [(people, "few_workers")] if people else []
    if judged.fixed_topic is None:
        topics = _load(judged.topic, "topic", "topics", rates.influence.effective_topics)
        scarcities += [(topics, "few_topics")] if topics else []
    if scarcities:
        return scarcities
    least = _WORDS[MIN_CLUSTERS]
    if judged.fixed_topic is not None:
        return [(f"every item has fewer than {least} people", "few_workers")]
    # each system has too few of one or the other
    return [(f"every system has fewer than {least} people or topics", "few_workers, few_topics")]


def _load(cluster: Ints, single: str, plural: str, effective: Floats) -> str:
    """Return why the clusters of one kind are too few, or an empty string."""
    share = np.bincount(cluster) / len(cluster)
    count, least = pluralise(len(share), single, plural), float(effective.max())
    verb = "judged" if single == "person" else f"{'was' if len(share) == 1 else 'were'} judged"
    largest = f"{100 * share.max():.0f} % of the judgments"
    if len(share) < MIN_CLUSTERS:
        of_largest = "" if len(share) == 1 else f", {largest} by one" * (single == "person")
        of_largest = of_largest or ("" if len(share) == 1 else f", {largest} on one")
        return f"{count} {verb}{of_largest}: too few to say who is ahead ({_WORDS[MIN_CLUSTERS]} are needed)"
    if least < MIN_EFFECTIVE:
        whose = f"one of them gave {largest}" if single == "person" else f"one of them has {largest}"
        return (
            f"{count} {verb}, but {whose}, so they count as {least:.1f}: too few to say who is ahead"
            f" ({_WORDS[int(MIN_EFFECTIVE)]} of equal load are needed)"
        )
    return ""


def notes_on(
    judged: JudgedSystems,
    rates: JudgedShares,
    errors: StandardErrors,
    task_duels: Duels,
    adjustment: SideAdjustment | None,
) -> Iterator[str]:
    """Yield notes on the win rates and duels of a task."""
    few = rates.influence.is_few
    if few.all():
        names = ", ".join(name for _, name in _scarcities(judged, rates) if name)
        named = f" ({names})" if names else ""
        yield f"{too_few(judged, rates)}; there are no intervals and no p, and all ranks are left open{named}"
    else:
        yield from _on_few(judged, rates, task_duels)
    if not is_balanced(judged):
        where = "" if judged.fixed_topic is not None else " on every topic"
        yield f"not every couple was judged{where}; win rates are over those that were (unbalanced)"
    if (np.isnan(errors.df) & ~few).any():
        alike = "all topics are alike" if judged.fixed_topic is None else "everybody agreed"
        yield f"where there is no interval, {alike}: too little data to say, not certainty"
    if adjustment is not None:
        yield from _on_sides(judged, adjustment)
    elif not judged.has_drawn_sides:
        yield (
            "these tables do not state that sides were assigned at random; win rates keep the side effect, which so"
            " few judgments cannot estimate"
        )
    yield from _on_repeats(judged)


def _on_few(judged: JudgedSystems, rates: JudgedShares, task_duels: Duels) -> Iterator[str]:
    """Yield notes on estimates with too few topics or people."""
    few, few_duels = rates.influence.is_few, task_duels.shares.influence.is_few
    limit = f"fewer than {_WORDS[MIN_CLUSTERS]} people or topics, or effectively than {_WORDS[int(MIN_EFFECTIVE)]}"
    if judged.worker is None:
        limit = f"fewer than {_WORDS[MIN_CLUSTERS]} topics, or effectively than {_WORDS[int(MIN_EFFECTIVE)]}"
    elif judged.fixed_topic is not None:
        limit = limit.replace("people or topics", "people")
    if few.any():
        names = [judged.systems[index] for index in np.flatnonzero(few)]
        verb = "rests" if len(names) == 1 else "rest"
        yield f"{join_names(names, most=4)} {verb} on {limit}: no interval there, and the rank stays open"
    if few_duels.any():
        number = int(few_duels.sum())
        count = f"{number:,} of {pluralise(len(few_duels), 'duel')}"
        yield f"{count} rest{'s' * (number == 1)} on {limit}: no interval and no p there"
    effective = rates.influence.effective_workers
    if judged.worker is None or effective.min() >= FEW_WORKERS:
        return
    people = int(judged.worker.max()) + 1
    largest = np.bincount(judged.worker).max() / len(judged.worker)
    as_many = f"they count as {effective.min():.1f} of equal load" if people >= FEW_WORKERS else "that is few"
    yield (
        f"{pluralise(people, 'person', 'people')} judged, {100 * largest:.0f} % of the judgments by one: {as_many}, so"
        " intervals are wide (few_workers)"
    )


def _on_repeats(judged: JudgedSystems) -> Iterator[str]:
    """Yield a note on repeated judgments of the same person, pair and topic."""
    if judged.worker is None:
        return
    couples = len(judged.systems) ** 2
    key = (judged.topic * (int(judged.worker.max()) + 1) + judged.worker) * couples + judged.couple
    again = len(key) - len(pd.unique(key))
    if again:
        is_are = "is" if again == 1 else "are"
        yield (
            f"{pluralise(again, 'judgment')} {is_are} of a couple that the same person had judged on the same topic before, and no"
            " validation repeat: each counts as a vote"
        )


def _on_sides(judged: JudgedSystems, adjustment: SideAdjustment) -> Iterator[str]:
    """Yield a note on the treatment of sides that may not have been drawn by lot."""
    if not adjustment.is_separable:
        why = (
            "all answers for a side are for the same one"
            if _same_side(judged)
            else "no couple was seen both ways round"
        )
        if judged.is_tie.all():
            return
        yield f"{why}, so the side effect cannot be separated from the systems: win rates keep it (side_not_separable)"
    else:
        left = choice_probabilities(np.asarray(adjustment.side), np.asarray(-np.inf))[0]
        yield (
            "these tables do not state that sides were assigned at random, so win rates, duels and ranks are corrected for the side effect (between"
            f" equals, {100 * left:.1f} % of the answers for a side are for the left one); column win_rate_raw is not"
        )
    uneven = uneven_sides(judged.left, judged.right, judged.topic, judged.systems)
    if uneven is not None:
        yield f"{uneven.sentence} ({uneven.name})"


def _same_side(judged: JudgedSystems) -> bool:
    decided = judged.for_left[~judged.is_tie]
    return bool(decided.size) and bool((decided == decided[0]).all())


def notes_on_worths(worths: Worths | None, why_none: str, adjustment: SideAdjustment | None) -> Iterator[str]:
    """Yield notes on missing worths, or worths without a side effect."""
    if worths is None:
        yield f"no worths: {why_none}"
    elif np.isnan(worths.side):
        yield "side and worth cannot be separated, so the worths are not corrected for sides"
    elif adjustment is not None and not adjustment.is_separable:
        yield "the worths separate sides from systems only if all systems lie on one scale"
