"""Visits of the followers of streams, cut from the activity of their pages; pure.

The rules, where the log leaves a choice:

- A sign of life is whatever a page logged while it was visible, that it was hidden or closed then, and its form. A page
  that opens hidden (in a tab behind others, or fetched before anybody asked for it) is not visible. A page without
  script reports its visit by its form only: then it was served and sent by somebody. So was a page that followed
  another's form within the gap: the older updates, when somebody asked for them.
- A visit is a run of signs over all pages, tabs and devices, no two neighbours of which are more than
  `VISIT_GAP_SECONDS` apart. In each somebody does something: heartbeats, and that a page goes out of sight, are no
  visit by themselves.
- While a visible page logs nothing but heartbeats for longer than the study's idle time, nobody is there: the signs
  end with the last event before it, and that the page then goes out of sight is no sign either. A missing number
  may have been anything; a heartbeat after it counts as something done.
- Between serving and form of a page without script nothing is known. Up to the idle time it was a stay.
- Enrolling is a sign: the visit that begins within the gap after it begins with it.
- A visit that goes on after the follow's end is cut there.

All times are milliseconds since 1970.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from study_app.logs.activity_kernels import (
    ACT,
    AT,
    EVENT,
    FLAGS,
    FOLLOW,
    GAP_MS,
    IDLE,
    KEPT,
    PAGE,
    PLAIN,
    SIGN_KIND,
    SIGN_NUMBER,
    EventKernels,
)
from study_app.logs.event_arrays import (
    BEAT,
    BLUR,
    CLOSE,
    HIDDEN,
    KIND,
    LEAVE,
    NUMBER,
    OPEN,
    EventArrays,
    Int64s,
)

_LEFT = (HIDDEN, CLOSE, LEAVE)
_GOING = (*_LEFT, BLUR)


class StreamPages(NamedTuple):
    """Stream pages, grouped by follow, in the order in which they were served.

    Attributes
    ----------
    follow : array of int, shape (pages,)
        Index of the follow.
    served_ms, left_ms : array of int, shape (pages,)
        When each was served, and when its form was sent (-1: never).
    """

    follow: Int64s
    served_ms: Int64s
    left_ms: Int64s


class FollowTimes(NamedTuple):
    """Enrolment and end of follows, and their idle time.

    The idle time is the longest time in which a visible page may log nothing but heartbeats.
    """

    started_ms: Int64s
    ended_ms: Int64s
    idle_ms: Int64s


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """Visit to a stream, with its activity.

    Attributes
    ----------
    follow : int
        Index of the follow.
    signs : array of int, shape (signs, 7)
        Signs of life in order of time; never empty.
    is_cut : bool
        The follow ended while it went on.
    """

    follow: int
    signs: Int64s
    is_cut: bool

    @property
    def start(self) -> int:
        """Time of the first activity."""
        return int(self.signs[0, AT])

    @property
    def end(self) -> int:
        """Time of the last activity, or of the follow's end if that is earlier."""
        return int(self.signs[-1, AT])

    @property
    def pages(self) -> frozenset[int]:
        """Indices of the pages of the visit."""
        return frozenset(self.signs[:, PAGE].tolist())

    def end_reason(self, *, exhausted: bool) -> str:
        """Return the reason of the end; ``exhausted``: nothing new was left to see."""
        last = self.signs[-1]
        reasons = {
            "study_end": self.is_cut,
            "exhausted": exhausted,
            "idle": last[FLAGS] & IDLE,
            "left": last[SIGN_KIND] in _LEFT,
        }
        return next((reason for reason, holds in reasons.items() if holds), "lost")

    @property
    def is_left_by_form(self) -> bool:
        """True if the form of the visit's last page was sent."""
        on_last = self.signs[:, PAGE] == self.signs[-1, PAGE]
        return bool((on_last & (self.signs[:, SIGN_KIND] == LEAVE)).any())


def visits_of(
    events: EventArrays, at: Int64s, pages: StreamPages, follows: FollowTimes, loops: EventKernels = PLAIN
) -> list[Visit]:
    """Cut the visits of follows from the events and forms of their pages.

    Parameters
    ----------
    events : EventArrays
        Logged events of the pages.
    at : array of int, shape (events,)
        When each happened: `study_app.logs.logged_events.server_times`.

    Returns
    -------
    list of Visit
        Follow by follow in order of time; they never overlap, and lie more than the gap apart.
    """
    idle_ms = follows.idle_ms[pages.follow]
    logged = _logged(events, at, pages, idle_ms, loops)
    signs = _in_order(np.concatenate([logged, _of_forms(events, at, pages, idle_ms)]))
    runs = [run for run in _runs(signs) if (run[:, FLAGS] & ACT).any()]
    visits: list[Visit] = []
    known: set[int] = set()
    for run in runs:
        follow = int(run[0, FOLLOW])
        signs_of_run = run
        if follow not in known and run[0, AT] - follows.started_ms[follow] <= GAP_MS:
            signs_of_run = np.vstack([_enrolment(run[0], follows.started_ms[follow]), run])
        known.add(follow)
        if signs_of_run[0, AT] <= follows.ended_ms[follow]:
            visits.append(_visit(signs_of_run, int(follows.ended_ms[follow])))
    return visits


def _enrolment(first: Int64s, started_ms: int) -> Int64s:
    """Return the activity of an enrolment."""
    return np.array([first[FOLLOW], started_ms, first[PAGE], 0, OPEN, ACT, -1])


def _runs(signs: Int64s) -> list[Int64s]:
    """Split activity in order of time at gaps that end a visit."""
    parted = (np.diff(signs[:, FOLLOW]) != 0) | (np.diff(signs[:, AT]) > GAP_MS)
    return np.split(signs, np.flatnonzero(parted) + 1) if len(signs) else []


def _visit(run: Int64s, ended_ms: int) -> Visit:
    """Return the visit of a run that begins before the follow's end."""
    signs = run[run[:, AT] <= ended_ms]
    last = signs[-1]
    is_open = last[SIGN_KIND] not in _GOING and not last[FLAGS] & IDLE
    goes_on = len(signs) < len(run)
    if goes_on:
        beat = last.copy()
        beat[[AT, SIGN_KIND, FLAGS]] = ended_ms, BEAT, 0
        signs = np.vstack([signs, beat])
    is_cut = goes_on or bool(is_open and ended_ms - last[AT] <= GAP_MS)
    return Visit(follow=int(last[FOLLOW]), signs=signs, is_cut=is_cut)


def activity_rows(visits: Sequence[Visit], loops: EventKernels = PLAIN) -> tuple[Int64s, Int64s]:
    """Return the rows of table activity and their kinds as indices of `KINDS`.

    Rows are in order of time.

    An event of a kind that the table does not have stands as `beat`, and only where the visit begins, ends or falls
    idle with it, or no row is within a heartbeat of it. The form stands as `close` where the visit ends with it; that the page
    goes out of sight after that stands as `beat`. A page that was out of sight for no time at all was in sight.
    """
    if not visits:
        return np.zeros((0, EVENT + 1), np.int64), np.zeros(0, np.int64)
    signs = np.concatenate([visit.signs for visit in visits])
    first = np.cumsum([0, *(len(visit.signs) for visit in visits)])
    kinds = np.full(len(signs), -1, np.int64)
    away = np.full(int(signs[:, PAGE].max()) + 1, -1)
    loops.tell_activity(first, signs, away, kinds)
    is_known = kinds >= 0
    return signs[is_known], kinds[is_known]


def _in_order(signs: Int64s) -> Int64s:
    """Return activity by follow, in order of time."""
    return signs[np.lexsort((signs[:, SIGN_NUMBER], signs[:, PAGE], signs[:, AT], signs[:, FOLLOW]))]


def _logged(
    events: EventArrays, at: Int64s, pages: StreamPages, idle_ms: Int64s, loops: EventKernels
) -> Int64s:
    """Return the activity that pages logged."""
    flags = np.zeros(len(at), np.int8)
    loops.watch(events, at, idle_ms, flags)
    kept = np.flatnonzero(flags & KEPT)
    page = np.repeat(np.arange(len(idle_ms)), np.diff(events.first))[kept]
    log = events.log[kept]
    columns = (pages.follow[page], at[kept], page, log[:, NUMBER], log[:, KIND], flags[kept], kept)
    return np.column_stack(columns).astype(np.int64)


def _of_forms(events: EventArrays, at: Int64s, pages: StreamPages, idle_ms: Int64s) -> Int64s:
    """Return the activity of forms, and of pages without a log served after a form."""
    signs: list[tuple[int, ...]] = []
    for page in np.flatnonzero((pages.left_ms >= 0) | (np.diff(events.first) == 0)).tolist():
        of_page = slice(events.first[page], events.first[page + 1])
        follow, served, left = (int(column[page]) for column in pages)
        begin, end = int(events.first[page]), int(events.first[page + 1])
        if begin < end and not (events.log[of_page, KIND] == LEAVE).any():
            before = begin - 1 + int(np.searchsorted(at[of_page], left, side="right"))
            number = int(events.log[before, NUMBER]) if before >= begin else 0
            signs.append((follow, left, page, number, LEAVE, 0, before if number else -1))
        elif begin == end and (left >= 0 or _follows_a_form(page, pages)):
            signs.append((follow, served, page, 0, OPEN, ACT, -1))
            if left >= 0 and left - served <= idle_ms[page]:
                beats = range(served + GAP_MS, left, GAP_MS)
                signs += [(follow, beat, page, 0, BEAT, 0, -1) for beat in beats]
                signs.append((follow, left, page, 0, LEAVE, 0, -1))
    return np.array(signs, np.int64).reshape(-1, EVENT + 1)


def _follows_a_form(page: int, pages: StreamPages) -> bool:
    """Return whether a page was served right after a form of its follow."""
    forms = pages.left_ms[(pages.follow == pages.follow[page]) & (pages.left_ms >= 0)]
    since = pages.served_ms[page] - forms
    return bool(((since >= 0) & (since <= GAP_MS)).any())
