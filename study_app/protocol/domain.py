"""Rules of a study: showings, repeats, exclusion, flags, visits and lateness.

Pure functions without SQL, clock or state. Random choices come from the study's seed and the worker's number,
so a study can be replayed. Flags mark judgments made without care; no worker is excluded for a flag.

Visits and lateness are those of Baruah, Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR
2015), section 3: a nugget that became known exactly at a visit counts as known in that visit.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from statistics import mean
from typing import TypeVar

System = TypeVar("System")
"""A system as the caller names it: by row or by name."""
EXCLUSION_RULE = 2
"""Version of `exclusion_reasons`, stored beside every result.

Version 1 judged each task separately.
"""
MIN_VALIDATIONS = 3
"""Fewest repeats, or gold pairs, from which a worker is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTally:
    """Pair of systems, with the number of showings of each on the left.

    Showings in done and in live slots count.
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
    """Planned pair page: its sides, and the index of the page it repeats, if any."""

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

    ``taken`` is the number of done and live slots; a ``limit`` of None is no limit.
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
        Number of pairs to show, those shown least so far; None for all.
    validation : int
        Number of repeats; see `with_repeats`.
    swapped : bool
        Whether a repeat swaps the sides.
    rng : Random
        From `rng_for`.
    """
    chosen = least_shown(tallies, pairs, rng)
    originals = []
    for tally in chosen:
        left, right = balanced_sides(tally, rng)
        originals.append(PlannedShowing(pair=tally.pair, left=left, right=right))
    return with_repeats(originals, validation, swapped=swapped, rng=rng)


def least_shown(tallies: Sequence[PairTally], count: int | None, rng: Random) -> list[PairTally]:
    """Return the ``count`` least displayed pairs in random order, or all for None.

    Ties are broken at random.
    """
    shuffled = rng.sample(tallies, len(tallies))
    if count is None:
        return shuffled
    least = sorted(shuffled, key=lambda tally: tally.shown)[:count]
    return rng.sample(least, len(least))


def balanced_sides(tally: PairTally, rng: Random) -> tuple[int, int]:
    """Return (left, right) in the order shown less often so far; random if equal."""
    a_first = tally.a_left < tally.b_left or (tally.a_left == tally.b_left and rng.random() < 0.5)
    return (tally.system_a, tally.system_b) if a_first else (tally.system_b, tally.system_a)


def with_repeats(
    originals: Sequence[PlannedShowing], count: int, *, swapped: bool, rng: Random
) -> list[PlannedShowing]:
    """Insert validation pairs, spread evenly over the last third of the pages.

    Each repeats an earlier pair. No pair is repeated twice, and none right after its original; so there are at
    most as many repeats as originals, and none for a single pair. If the last third is too short, the repeats
    begin earlier.
    """
    count = min(count, len(originals)) if len(originals) > 1 else 0
    total = len(originals) + count
    tail = max(count, total // 3)
    start = total - tail
    repeat_pages = {start + (number + 1) * tail // count - 1 for number in range(count)}
    pool = range(start - 1) if count < start else range(start)
    repeated = iter(sorted(rng.sample(pool, count)))
    fresh = iter(originals)
    planned: list[PlannedShowing] = []
    for page in range(total):
        if page in repeat_pages:
            index = next(repeated)
            planned.append(_repeat(originals[index], index, swapped=swapped))
        else:
            planned.append(next(fresh))
    return planned


def _repeat(original: PlannedShowing, index: int, *, swapped: bool) -> PlannedShowing:
    left, right = (original.right, original.left) if swapped else (original.left, original.right)
    return PlannedShowing(pair=original.pair, left=left, right=right, repeats=index)


def with_gold(
    planned: Sequence[PlannedShowing], gold: Sequence[PlannedShowing], rng: Random
) -> list[PlannedShowing]:
    """Insert gold pairs at random places after the first page; repeats keep what they repeat."""
    places = rng.sample(range(1, len(planned) + len(gold)), len(gold)) if planned else range(len(gold))
    known, others = iter(gold), iter(enumerate(planned))
    pages, moved = list[PlannedShowing](), dict[int, int]()
    for page in range(len(planned) + len(gold)):
        if page in places:
            pages.append(next(known))
            continue
        index, showing = next(others)
        moved[index] = page
        pages.append(showing if showing.repeats is None else replace(showing, repeats=moved[showing.repeats]))
    return pages


def preferred(choice: str, left: System, right: System) -> System | None:
    """Return the system that a choice prefers, None for a tie."""
    return {"left": left, "right": right}.get(choice)


def is_consistent(first: tuple[str, System, System], second: tuple[str, System, System]) -> bool:
    """Return whether two answers (choice, left, right) to one pair agree.

    They agree on the same system, or on a tie both times.
    """
    return preferred(*first) == preferred(*second)


def is_right(gold: str, choice: str) -> bool:
    """Return whether the answer to a gold pair is the known one; either tie is right where it is a tie."""
    return choice == gold or (gold == "equally_good" and choice == "equally_bad")


def exclusion_reasons(
    *,
    searches: Sequence[tuple[float, float]],
    validations: Sequence[tuple[bool, float]],
    golds: Sequence[tuple[bool, float]] = (),
) -> tuple[str, ...]:
    """Return the reasons to exclude a worker, () for none.

    Rule `EXCLUSION_RULE`, of two-layered-summaries §4.2, over all tasks together. The reason is "search" if the mean search is
    shorter than the mean of the tasks' minima, "consistency" if at least `MIN_VALIDATIONS` repeats are answered and the share of
    consistent ones is below the mean of the tasks' minima, and "gold" if that holds of gold pairs and the share of right answers.

    Parameters
    ----------
    searches : sequence of (float, float)
        Seconds of each search, and ``min_search_seconds`` of its task.
    validations : sequence of (bool, float)
        Consistency of each answered repeat, and ``min_consistency`` of its task. Repeats of a task whose minimum is 0
        do not count.
    golds : sequence of (bool, float)
        Rightness of each answered gold pair, and ``min_gold`` of its task, as for repeats.
    """
    reasons = ["search"] if searches and _is_short(searches) else []
    for reason, asked in (("consistency", validations), ("gold", golds)):
        counted = [(passed, minimum) for passed, minimum in asked if minimum > 0]
        if len(counted) >= MIN_VALIDATIONS and _is_short(counted):
            reasons.append(reason)
    return tuple(reasons)


CLOSE = 1e-6
"""Relative difference above which two sums differ in spite of rounding errors.

Closer sums are compared as exact means, at ten times the cost.
"""


def _is_short(pairs: Sequence[tuple[float, float]]) -> bool:
    """Return whether the mean observed value is below the mean required value.

    Close values are compared exactly, so that rounding does not make equal means differ.
    """
    observed, required = [value for value, _ in pairs], [minimum for _, minimum in pairs]
    total_observed, total_required = sum(observed), sum(required)
    if abs(total_observed - total_required) > CLOSE * max(1.0, total_required):
        return total_observed < total_required
    return mean(observed) < mean(required)


MIN_DECISION_SECONDS = 3.0
"""Seconds below which an answer counts as hurried.

`study check` assumes this for an answer without reading.
"""
MIN_TIMED = 3
"""Fewest timed judgments from which a worker's hurry is judged."""
HURRIED_SHARE = 0.5
"""Smallest share of hurried judgments that raises the flag ``dwell``."""
MIN_STRAIGHT = 8
"""Fewest judgments, all alike, that raise the flag ``straight_lining``.

Sides are random, so 8 of 8 on one side have a chance of 1 in 128.
"""
FLAGS = ("dwell", "straight_lining")
SHARED = "shared_submission"
"""Flag of workers whose platform submission was also used by another id."""


def is_hurried(seconds: Sequence[float]) -> bool | None:
    """Return whether at least `HURRIED_SHARE` of judgments took too little time.

    Too little is below `MIN_DECISION_SECONDS`; the result is None for fewer than `MIN_TIMED` judgments.
    """
    if len(seconds) < MIN_TIMED:
        return None
    return sum(duration < MIN_DECISION_SECONDS for duration in seconds) / len(seconds) >= HURRIED_SHARE


def is_straight(choices: Sequence[str]) -> bool | None:
    """Return whether all judgments are alike, ties aside if enough are for a side.

    Enough are `MIN_STRAIGHT`; the result is None for fewer judgments.
    """
    if len(choices) < MIN_STRAIGHT:
        return None
    sides = [choice for choice in choices if choice in {"left", "right"}]
    return len(set(choices)) == 1 or (len(sides) >= MIN_STRAIGHT and len(set(sides)) == 1)


VISIT_GAP_SECONDS = 60
"""Longest gap between activities of one visit, in seconds of wall-clock time."""
LATENESS_CLASSES = 4
"""Number of classes of lateness (0, 1, 2, 3 or more visits).

Each gets as many questions.
"""
VISIT_GAP = timedelta(seconds=VISIT_GAP_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsefulQuestionDraw:
    """Possible question about an update: its index, its one nugget, its visits late."""

    place: int
    nugget: str
    visits_late: int


def is_same_visit(last_sign: datetime, now: datetime) -> bool:
    """Return whether a page loaded ``now`` belongs to the visit of the last activity."""
    return now - last_sign <= VISIT_GAP


def stream_time(started_at: datetime, start: float, factor: float, now: datetime) -> float:
    """Return the stream time (seconds since 1970) at a wall-clock time.

    Parameters
    ----------
    started_at : datetime
        Time when the follower enrolled, at which the stream begins.
    start : float
        Start of the event, in seconds since 1970.
    factor : float
        Seconds of the event in one second of wall-clock time.
    """
    return start + factor * (now - started_at).total_seconds()


def follow_length(event_seconds: float, days: float, factor: float) -> timedelta:
    """Return the wall-clock time for which a stream is followed.

    A follow ends after ``days`` of the stream, or with the event if that is earlier.
    """
    return timedelta(seconds=min(event_seconds, days * 86_400) / factor)


def visits_late(known: float, visits: Sequence[float]) -> int:
    """Return the lateness in visits of a nugget: k - min{j : known <= s_j}.

    Parameters
    ----------
    known : float
        Time at which the nugget became known.
    visits : (k + 1,) sequence of float
        s_0 ... s_k, ascending, on the same clock. A nugget that became known after s_k is 0 visits late.
    """
    first_visit = bisect_left(visits, known)
    return max(0, len(visits) - 1 - first_visit)


def fewest(tallies: Mapping[int, int], limit: int | None) -> list[int]:
    """Return the systems with the fewest followers among those below the limit.

    If none is below the limit, all compete.
    """
    below = {system: number for system, number in tallies.items() if limit is None or number < limit}
    eligible = below or tallies
    least = min(eligible.values())
    return [system for system, number in eligible.items() if number == least]


def single_new_nuggets(
    read_now: Iterable[int], read_before: Iterable[int], nuggets: Mapping[int, Sequence[str]]
) -> list[tuple[int, str]]:
    """Return (index, nugget) of each update with exactly one new nugget.

    Parameters
    ----------
    read_now : iterable of int
        Indices of updates read in this visit; a higher index is newer and was read earlier.
    read_before : iterable of int
        Indices of updates read in earlier visits.
    nuggets : mapping of int to sequence of str
        Nuggets of each update, by its index; updates without any may be missing.
    """
    known = {nugget for update in read_before for nugget in nuggets.get(update, ())}
    single = []
    for update in sorted(read_now, reverse=True):
        new = [nugget for nugget in nuggets.get(update, ()) if nugget not in known]
        if len(new) == 1:
            single.append((update, new[0]))
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
        Largest number of questions.
    rng : Random
        Breaks ties.
    """
    tally = [0] * LATENESS_CLASSES
    for late, number in asked.items():
        tally[lateness_class(late)] += number
    remaining = rng.sample(list(candidates), len(candidates))
    questions: list[UsefulQuestionDraw] = []
    while remaining and len(questions) < count:
        question = min(remaining, key=lambda candidate: tally[lateness_class(candidate.visits_late)])
        remaining.remove(question)
        questions.append(question)
        tally[lateness_class(question.visits_late)] += 1
    return questions


def lateness_class(late: int) -> int:
    """Return the class of a number of visits late; class 3 is 3 or more."""
    return min(late, LATENESS_CLASSES - 1)
