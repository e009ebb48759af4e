"""The rules of streams as pure functions: no SQL, no clock, no state. Beside `study_app.protocol.domain`.

Visits and lateness are those of Baruah, Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR 2015),
section 3: a nugget that became known exactly at a visit could have been told then.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

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
