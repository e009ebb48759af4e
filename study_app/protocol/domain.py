"""Rules of a study: showings, repeats, exclusion, flags, visits and lateness.

Pure functions without SQL, clock or state. Random choices come from the study's seed and the worker's number,
so a study can be replayed. Flags mark judgments made without care; no rule excludes anybody for a flag.

Visits and lateness are those of Baruah, Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR
2015), section 3: a nugget that became known exactly at a visit could have been told then.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from statistics import mean
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pandas as pd

System = TypeVar("System")
"""A system as the caller names it: by row or by name."""
EXCLUSION_RULE = 2
"""Version of `exclusion_reasons`, stored beside every result. Version 1 judged each task for itself."""
MIN_VALIDATIONS = 3
"""Fewest repeats from which a worker's consistency is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTally:
    """Pair of systems, with how often each was shown on the left.

    Done and live slots count.
    """

    pair: int
    system_a: int
    system_b: int
    a_left: int = 0
    b_left: int = 0

    @property
    def shown(self) -> int:
        """Number of showings."""
        return self.a_left + self.b_left


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedShowing:
    """Planned pair page: its sides, and the index of the showing it repeats."""

    pair: int
    left: int
    right: int
    repeats: int | None = None


def rng_for(seed: int, worker: int, purpose: str) -> Random:
    """Return the random generator of one worker for one purpose."""
    return Random(f"{seed}/{worker}/{purpose}")


def topic_order(count: int, rng: Random) -> list[int]:
    """Return the random order (indices from 0) of the queries in a worker's list."""
    return rng.sample(range(count), count)


def has_room(taken: int, limit: int | None) -> bool:
    """Return whether a query can take one more worker.

    ``taken`` counts slots done and live, None is no limit.
    """
    return limit is None or taken < limit


def planned_showings(
    tallies: Sequence[PairTally], *, pairs: int | None, validation: int, swapped: bool, rng: Random
) -> list[PlannedShowing]:
    """Plan a slot's pair pages: pairs, order, sides and repeats.

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
    """Return the ``count`` least shown pairs in random order, all for None.

    Ties are broken at random.
    """
    shuffled = rng.sample(tallies, len(tallies))
    if count is None:
        return shuffled
    least = sorted(shuffled, key=lambda tally: tally.shown)[:count]
    return rng.sample(least, len(least))


def balanced_sides(tally: PairTally, rng: Random) -> tuple[int, int]:
    """Return (left, right): the order shown less often so far, or a random one."""
    a_first = tally.a_left < tally.b_left or (tally.a_left == tally.b_left and rng.random() < 0.5)
    return (tally.system_a, tally.system_b) if a_first else (tally.system_b, tally.system_a)


def with_repeats(
    originals: Sequence[PlannedShowing], count: int, *, swapped: bool, rng: Random
) -> list[PlannedShowing]:
    """Insert validation pairs, spread evenly over the last third of the pages.

    Each repeats an earlier pair. No pair is repeated twice and none right after its original; so there are at
    most as many repeats as originals, and none for a single pair. When the last third is too short for them,
    they take what they need.
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
    """Return the system that a choice prefers, None for a tie."""
    return {"left": left, "right": right}.get(choice)


def is_consistent(first: tuple[str, System, System], second: tuple[str, System, System]) -> bool:
    """Return whether two answers (choice, left, right) to one pair agree.

    They agree on the same system, or on a tie both times.
    """
    return preferred(*first) == preferred(*second)


def exclusion_reasons(
    *, searches: Sequence[tuple[float, float]], validations: Sequence[tuple[bool, float]]
) -> tuple[str, ...]:
    """Return the reasons of rule `EXCLUSION_RULE` to exclude a worker, () for none.

    Rule of two-layered-summaries §4.2. A worker is judged by all tasks together, each search and each repeat held against its own task's number. With one number
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


CLOSE = 1e-6
"""Relative difference above which two sums differ, whatever the rounding.

Below it exact means are compared, at ten times the cost.
"""


def _is_short(pairs: Sequence[tuple[float, float]]) -> bool:
    """Return whether the mean observed value is below the mean required value.

    Close values are compared exactly, so that equal is equal.
    """
    had, wanted = sum(one for one, _ in pairs), sum(one for _, one in pairs)
    if abs(had - wanted) > CLOSE * max(1.0, wanted):
        return had < wanted
    return mean(one for one, _ in pairs) < mean(one for _, one in pairs)


MIN_DECISION_SECONDS = 3.0
"""Fewest seconds that `study check` assumes for an answer alone, without reading."""
MIN_TIMED = 3
"""Fewest timed judgments from which their times are judged."""
HURRIED_SHARE = 0.5
MIN_STRAIGHT = 8
"""Fewest equal judgments that raise a flag.

Sides are random, so 8 of 8 on one side have a chance of 1 in 128.
"""
FLAGS = ("dwell", "straight_lining")
SHARED = "shared_submission"
"""Flag of workers whose platform submission another id used, too."""


def is_hurried(seconds: Sequence[float]) -> bool | None:
    """Return whether at least `HURRIED_SHARE` of judgments took too little time.

    Too little is below `MIN_DECISION_SECONDS`. Returns None for fewer than `MIN_TIMED` judgments.
    """
    if len(seconds) < MIN_TIMED:
        return None
    return sum(one < MIN_DECISION_SECONDS for one in seconds) / len(seconds) >= HURRIED_SHARE


def is_straight(choices: Sequence[str]) -> bool | None:
    """Return whether all judgments, or all preferences' sides, are alike.

    Returns None for too few.
    """
    if len(choices) < MIN_STRAIGHT:
        return None
    sides = [choice for choice in choices if choice in {"left", "right"}]
    return len(set(choices)) == 1 or (len(sides) >= MIN_STRAIGHT and len(set(sides)) == 1)


def flags_by_worker(preferences: "pd.DataFrame") -> Mapping[str, Mapping[str, bool]]:
    """Return the flags of each worker over all tasks.

    A flag without enough judgments to decide it is absent.

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
    flags: dict[str, dict[str, bool]] = {}
    for worker, given in choices.items():
        judged = {"dwell": is_hurried(seconds.get(worker, ())), "straight_lining": is_straight(given)}
        flags[worker] = {flag: up for flag, up in judged.items() if up is not None}
    return flags


VISIT_GAP_SECONDS = 60
"""Longest gap between activities of one visit, in seconds of wall-clock time."""
LATENESS_CLASSES = 4
"""Classes of lateness, asked about equally often: 0, 1, 2 and 3 or more visits late."""
VISIT_GAP = timedelta(seconds=VISIT_GAP_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsefulQuestionDraw:
    """Possible question about an update: its index, its one nugget, its visits late."""

    place: int
    nugget: str
    visits_late: int


def is_same_visit(last_sign: datetime, now: datetime) -> bool:
    """Return whether a page loaded ``now`` belongs to the visit of an activity."""
    return now - last_sign <= VISIT_GAP


def stream_time(started_at: datetime, start: float, factor: float, now: datetime) -> float:
    """Return the time in a stream (seconds since 1970) at a moment of wall-clock time.

    Parameters
    ----------
    started_at : datetime
        When its follower enrolled, which is when the stream begins for them.
    start : float
        When the event began, in seconds since 1970.
    factor : float
        How many seconds of the event pass in one of the wall clock.
    """
    return start + factor * (now - started_at).total_seconds()


def follow_length(event_seconds: float, days: float, factor: float) -> timedelta:
    """Return the wall-clock time for which a stream is followed.

    It is the stream's days, or until the event ends if that is earlier.
    """
    return timedelta(seconds=min(event_seconds, days * 86_400) / factor)


def visits_late(known: float, visits: Sequence[float]) -> int:
    """Return the lateness in visits of a nugget: k - min{j : known <= s_j}.

    Parameters
    ----------
    known : float
        Time at which the nugget became known.
    visits : (k + 1,) sequence of float
        s_0 ... s_k, ascending, on the same clock; 0 comes back for a nugget that became known after s_k.
    """
    could_have_told = bisect_left(visits, known)
    return max(0, len(visits) - 1 - could_have_told)


def fewest(tallies: Mapping[int, int], limit: int | None) -> list[int]:
    """Return the systems with the fewest followers among those below the limit.

    Returns all when none is below.
    """
    below = {system: number for system, number in tallies.items() if limit is None or number < limit}
    open_to = below or tallies
    least = min(open_to.values())
    return [system for system, number in open_to.items() if number == least]


def single_new_nuggets(
    read_now: Iterable[int], read_before: Iterable[int], nuggets: Mapping[int, Sequence[str]]
) -> list[tuple[int, str]]:
    """Return (index, nugget) of each update with exactly one new nugget.

    Parameters
    ----------
    read_now : iterable of int
        Indices of updates read in this visit, where newer ones were read first.
    read_before : iterable of int
        Indices of updates read in earlier visits.
    nuggets : mapping of int to sequence of str
        Nuggets of each update, by its index; updates without any may be missing.
    """
    known = {name for place in read_before for name in nuggets.get(place, ())}
    single = []
    for place in sorted(read_now, reverse=True):
        new = [name for name in nuggets.get(place, ()) if name not in known]
        if len(new) == 1:
            single.append((place, new[0]))
        known.update(new)
    return single


def drawn_questions(
    candidates: Collection[UsefulQuestionDraw], asked: Mapping[int, int], count: int, rng: Random
) -> list[UsefulQuestionDraw]:
    """Sample at most ``count`` questions, balanced over the classes of lateness.

    Parameters
    ----------
    candidates : collection of UsefulQuestionDraw
        Possible questions.
    asked : mapping of int to int
        Number of questions asked so far in the study, by visits late.
    count : int
        How many questions there may be.
    rng : Random
        Decides between equals.
    """
    tally = [0] * LATENESS_CLASSES
    for late, number in asked.items():
        tally[lateness_class(late)] += number
    left = rng.sample(list(candidates), len(candidates))
    drawn: list[UsefulQuestionDraw] = []
    while left and len(drawn) < count:
        one = min(left, key=lambda candidate: tally[lateness_class(candidate.visits_late)])
        left.remove(one)
        drawn.append(one)
        tally[lateness_class(one.visits_late)] += 1
    return drawn


def lateness_class(late: int) -> int:
    """Return the class of a number of visits late: 3 stands for 3 and more."""
    return min(late, LATENESS_CLASSES - 1)
