"""The protocol's rules as pure functions, those of streams among them: no SQL, no clock, no state.

What is drawn is drawn from the study's seed and the worker's number, so a study can be replayed. Signs in a worker's
judgments that nobody looked are flags: no rule leaves anybody out for them.

Visits and lateness are those of Baruah, Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR 2015),
section 3: a nugget that became known exactly at a visit could have been told then.
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

    @property
    def shown(self) -> int:
        """How often it was shown."""
        return self.a_left + self.b_left


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
    least = sorted(shuffled, key=lambda tally: tally.shown)[:count]
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


CLOSE = 1e-6
"""Sums that differ by a larger share are different, however they were rounded; means to the last digit take ten times as long."""


def _is_short(pairs: Sequence[tuple[float, float]]) -> bool:
    """Say whether the mean of what there was is below that of what was wanted; exact where they are close, so that equal is equal."""
    had, wanted = sum(one for one, _ in pairs), sum(one for _, one in pairs)
    if abs(had - wanted) > CLOSE * max(1.0, wanted):
        return had < wanted
    return mean(one for one, _ in pairs) < mean(one for _, one in pairs)


MIN_DECISION_SECONDS = 3.0
"""The quickest that `study check` reckons with for an answer alone, without any reading."""
MIN_TIMED = 3
"""From so many judgments on the time that they took is looked at."""
HURRIED_SHARE = 0.5
MIN_STRAIGHT = 8
"""From so many alike on it is a flag: sides are drawn by lot, so all of 8 on one side is one chance in 128."""
FLAGS = ("dwell", "straight_lining")
SHARED = "shared_submission"
"""The flag of those who came under a submission of the platform under which another id came too."""


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


def flags_by_worker(preferences: "pd.DataFrame") -> Mapping[str, Mapping[str, bool]]:
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
    flags: dict[str, dict[str, bool]] = {}
    for worker, given in choices.items():
        judged = {"dwell": is_hurried(seconds.get(worker, ())), "straight_lining": is_straight(given)}
        flags[worker] = {flag: up for flag, up in judged.items() if up is not None}
    return flags


VISIT_GAP_SECONDS = 60
"""Signs of life further apart than this (on the wall clock) belong to two visits."""
LATENESS_CLASSES = 4
"""Questions are spread evenly over 0, 1, 2 and 3 or more visits late."""
VISIT_GAP = timedelta(seconds=VISIT_GAP_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question whether an update was still of use: its place, its one nugget, and how many visits late that came."""

    place: int
    nugget: str
    visits_late: int


def is_same_visit(last_sign: datetime, now: datetime) -> bool:
    """Say whether a page that is loaded ``now`` belongs to the visit with that last sign of life."""
    return now - last_sign <= VISIT_GAP


def stream_time(started_at: datetime, start: float, factor: float, now: datetime) -> float:
    """Return the time in a stream (seconds since 1970) at a moment of the wall clock.

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
    """Return for how long a stream is followed by the wall clock: its days, or until the event ends if that is earlier."""
    return timedelta(seconds=min(event_seconds, days * 86_400) / factor)


def visits_late(known: float, visits: Sequence[float]) -> int:
    """Return how many visits late a nugget is at the last of ``visits``: k - min{j : known <= s_j}.

    Parameters
    ----------
    known : float
        When the nugget became known.
    visits : (k + 1,) sequence of float
        s_0 ... s_k, ascending, on the same clock; 0 comes back for a nugget that became known after s_k.
    """
    could_have_told = bisect_left(visits, known)
    return max(0, len(visits) - 1 - could_have_told)


def fewest(tallies: Mapping[int, int], limit: int | None) -> list[int]:
    """Return the systems with the fewest followers, of those below the limit; of all when none is below."""
    below = {system: number for system, number in tallies.items() if limit is None or number < limit}
    open_to = below or tallies
    least = min(open_to.values())
    return [system for system, number in open_to.items() if number == least]


def single_new_nuggets(
    read_now: Iterable[int], read_before: Iterable[int], nuggets: Mapping[int, Sequence[str]]
) -> list[tuple[int, str]]:
    """Return (place, nugget) of each update of a visit that brought exactly one nugget nobody had told yet.

    Parameters
    ----------
    read_now : iterable of int
        Places read in this visit, where newer ones were read first.
    read_before : iterable of int
        Places read in earlier visits.
    nuggets : mapping of int to sequence of str
        Place -> nuggets of its update; a place without any may be missing.
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
    candidates: Collection[Asked], asked: Mapping[int, int], count: int, rng: Random
) -> list[Asked]:
    """Draw at most ``count`` questions so that every class of lateness is asked about equally often.

    Parameters
    ----------
    candidates : collection of Asked
        What could be asked.
    asked : mapping of int to int
        Visits late -> how often the study has asked so far.
    count : int
        How many questions there may be.
    rng : Random
        Decides between equals.
    """
    tally = [0] * LATENESS_CLASSES
    for late, number in asked.items():
        tally[lateness_class(late)] += number
    left = rng.sample(list(candidates), len(candidates))
    drawn: list[Asked] = []
    while left and len(drawn) < count:
        one = min(left, key=lambda candidate: tally[lateness_class(candidate.visits_late)])
        left.remove(one)
        drawn.append(one)
        tally[lateness_class(one.visits_late)] += 1
    return drawn


def lateness_class(late: int) -> int:
    """Return the class of a number of visits: 3 stands for 3 and more."""
    return min(late, LATENESS_CLASSES - 1)
