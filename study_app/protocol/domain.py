"""The protocol's rules as pure functions: no SQL, no clock, no state.

What is drawn is drawn from the study's seed and the worker's number, so a study can be replayed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import mean
from typing import TypeVar

System = TypeVar("System")
"""However the caller names systems: by row or by name."""

EXCLUSION_RULE = 2
"""Version of `exclusion_reasons`; stands beside every result it is applied to. Version 1 judged each task for itself."""

MIN_VALIDATIONS = 3
"""Fewer repeats than this say nothing about a worker's consistency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTally:
    """A pair of systems, and how often it was shown so far with each on the left (done and live slots)."""

    pair: int
    system_a: int
    system_b: int
    a_left: int = 0
    b_left: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedShowing:
    """One pair page to be: sides, and the place (from 0) of the showing it repeats."""

    pair: int
    left: int
    right: int
    repeats: int | None = None


def drawn(seed: int, worker: int, purpose: str) -> Random:
    """Return the random numbers of one worker for one purpose."""
    return Random(f"{seed}/{worker}/{purpose}")


def topic_order(count: int, rng: Random) -> list[int]:
    """Return the order (indices from 0) in which a worker's list shows ``count`` queries."""
    return rng.sample(range(count), count)


def has_room(taken: int, limit: int | None) -> bool:
    """Say whether a query can take one more; ``taken`` counts slots done and live, None is no limit."""
    return limit is None or taken < limit


def planned_showings(
    tallies: Sequence[PairTally], *, pairs: int | None, validation: int, swapped: bool, rng: Random
) -> list[PlannedShowing]:
    """Plan a slot's pair pages: which pairs, in which order, on which sides, and which repeats.

    Parameters
    ----------
    tallies : sequence of PairTally
        Every pair of the query, in the order of the study file.
    pairs : int or None
        How many to show, the least shown first; None for all.
    validation : int
        How many repeats; see `with_repeats`.
    swapped : bool
        Whether a repeat swaps the sides.
    rng : Random
        From `drawn`.
    """
    chosen = least_shown(tallies, pairs, rng)
    originals = []
    for tally in chosen:
        left, right = balanced_sides(tally, rng)
        originals.append(PlannedShowing(pair=tally.pair, left=left, right=right))
    return with_repeats(originals, validation, swapped=swapped, rng=rng)


def least_shown(tallies: Sequence[PairTally], count: int | None, rng: Random) -> list[PairTally]:
    """Return the ``count`` pairs shown least so far (all for None) in random order; chance decides between equals."""
    shuffled = rng.sample(tallies, len(tallies))
    if count is None:
        return shuffled
    least = sorted(shuffled, key=lambda tally: tally.a_left + tally.b_left)[:count]
    return rng.sample(least, len(least))


def balanced_sides(tally: PairTally, rng: Random) -> tuple[int, int]:
    """Return (left, right): the order shown less often so far; chance decides when both are equal."""
    a_first = tally.a_left < tally.b_left or (tally.a_left == tally.b_left and rng.random() < 0.5)
    return (tally.system_a, tally.system_b) if a_first else (tally.system_b, tally.system_a)


def with_repeats(
    originals: Sequence[PlannedShowing], count: int, *, swapped: bool, rng: Random
) -> list[PlannedShowing]:
    """Put validation pairs among the originals: repeats of earlier ones, spread evenly over the last third.

    No pair is repeated twice and none right after its original; so there are at most as many repeats as originals,
    and none for a single pair. When the last third is too short for them, they take what they need.
    """
    count = min(count, len(originals)) if len(originals) > 1 else 0
    total = len(originals) + count
    tail = max(count, total // 3)
    start = total - tail
    places = {start + (number + 1) * tail // count - 1 for number in range(count)}
    pool = range(start - 1) if count < start else range(start)
    repeated = iter(sorted(rng.sample(pool, count)))
    fresh = iter(originals)
    planned: list[PlannedShowing] = []
    for number in range(total):
        if number in places:
            place = next(repeated)
            planned.append(_repeat(originals[place], place, swapped=swapped))
        else:
            planned.append(next(fresh))
    return planned


def _repeat(original: PlannedShowing, place: int, *, swapped: bool) -> PlannedShowing:
    left, right = (original.right, original.left) if swapped else (original.left, original.right)
    return PlannedShowing(pair=original.pair, left=left, right=right, repeats=place)


def preferred(choice: str, left: System, right: System) -> System | None:
    """Return the system a choice is for, None when it is for neither."""
    return {"left": left, "right": right}.get(choice)


def is_consistent(first: tuple[str, System, System], second: tuple[str, System, System]) -> bool:
    """Say whether two answers (choice, left, right) to one pair agree: the same system, or both times an equal option."""
    return preferred(*first) == preferred(*second)


def exclusion_reasons(
    *, searches: Sequence[tuple[float, float]], validations: Sequence[tuple[bool, float]]
) -> tuple[str, ...]:
    """Apply rule `EXCLUSION_RULE` (two-layered-summaries §4.2): why a worker is left out of analyses, () if not.

    A worker is judged by all tasks together, each search and each repeat held against its own task's number. With one number
    for all: the mean search is shorter than it; the consistent share of at least `MIN_VALIDATIONS` repeats is smaller.

    Parameters
    ----------
    searches : sequence of (float, float)
        Seconds of each search, and ``min_search_seconds`` of its task.
    validations : sequence of (bool, float)
        Of each validation pair answered, whether it was consistent, and ``min_consistency`` of its task. Repeats of a
        task that asks for none (0) are no evidence for or against anybody.
    """
    counted = [(consistent, least) for consistent, least in validations if least > 0]
    reasons = []
    if searches and _is_short(searches):
        reasons.append("search")
    if len(counted) >= MIN_VALIDATIONS and _is_short(counted):
        reasons.append("consistency")
    return tuple(reasons)


def _is_short(pairs: Sequence[tuple[float, float]]) -> bool:
    """Say whether the mean of what there was is below that of what was wanted; exact, so that equal is equal."""
    return mean(had for had, _ in pairs) < mean(wanted for _, wanted in pairs)
