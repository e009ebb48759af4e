"""Pure: the pages of one follow -> signs of life -> visits.

The rules, where the log leaves a choice:

- A sign of life is whatever a page logged while it was visible, that it was hidden or closed then, and its form. A page
  that opens hidden (in a tab behind others, or fetched before anybody asked for it) is not visible. A page without
  script tells of its visit by its form only: then it was served and sent by somebody. So was a page that followed
  another's form within the gap: the older updates, when somebody asked for them.
- A visit is a run of signs over all pages, tabs and devices, no two neighbours of which are more than
  `VISIT_GAP_SECONDS` apart. In each somebody does something: heartbeats, and that a page goes out of sight, are no
  visit by themselves.
- While a visible page logs nothing but heartbeats for longer than the study's idle time, nobody is there: the signs
  end with the last event before it, and that the page then goes out of sight is no sign either. What a missing number
  was nobody knows; a heartbeat after it counts as something done.
- Of a page without script nobody knows what was between serving and form. Up to the idle time it was a stay.
- Enrolling is a sign: the visit that begins within the gap after it begins with it.
- What goes on after the follow's end is cut there.

All times are milliseconds since 1970.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from study_app.logs.dwell import LoggedEvent
from study_app.protocol.domain import VISIT_GAP_SECONDS

GAP_MS = 1000 * VISIT_GAP_SECONDS

_OUT_OF_SIGHT = frozenset({"hidden", "close"})
_LEFT = _OUT_OF_SIGHT | {"leave"}
_GOING = _LEFT | {"blur"}
_NOBODY = frozenset({"beat", "sleep"})
_ROWS = frozenset({"open", "beat", "hidden", "visible", "close"})
_HEARTBEAT_MS = 5_000


class Sign(NamedTuple):
    """A sign of life.

    ``page`` is the page's place among those of the follow, ``number`` that of the event (of the last event before it
    where it is none, 0 for none). ``is_act``: somebody did something. ``is_idle``: then nobody did for the idle time.
    """

    at: int
    page: int
    number: int
    kind: str
    is_act: bool
    is_idle: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedPage:
    """One page of a stream as it was served, and what came of it.

    Attributes
    ----------
    served_ms : int
        When it was served.
    left_ms : int or None
        When its form was sent.
    events : sequence of LoggedEvent
        By ascending number, each once.
    times : sequence of int
        When each happened: `study_app.logs.dwell.server_times`.
    """

    served_ms: int
    left_ms: int | None
    events: Sequence[LoggedEvent]
    times: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One stay.

    Attributes
    ----------
    start, end : int
        The first sign and the last, or the follow's end if that is between them.
    signs : tuple of Sign
        In order of time; never empty.
    is_cut : bool
        The follow ended while it went on.
    """

    start: int
    end: int
    signs: tuple[Sign, ...]
    is_cut: bool

    @property
    def pages(self) -> frozenset[int]:
        """The pages it was made of."""
        return frozenset(sign.page for sign in self.signs)

    def end_reason(self, *, exhausted: bool) -> str:
        """Say why it ended; ``exhausted``: nothing new was left to see."""
        last = self.signs[-1]
        reasons = {
            "study_end": self.is_cut,
            "exhausted": exhausted,
            "idle": last.is_idle,
            "left": last.kind in _LEFT,
        }
        return next((reason for reason, holds in reasons.items() if holds), "lost")

    @property
    def is_left_by_form(self) -> bool:
        """Whether the form of its last page was sent."""
        return any(sign.kind == "leave" and sign.page == self.signs[-1].page for sign in self.signs)


def visits_of(pages: Sequence[LoggedPage], *, started_ms: int, ended_ms: int, idle_ms: int) -> list[Visit]:
    """Cut a follow's visits.

    Parameters
    ----------
    pages : sequence of LoggedPage
        All pages of the follow in the order in which they were served.
    started_ms, ended_ms : int
        Enrolment and end.
    idle_ms : int
        Longest time in which a visible page may log nothing but heartbeats.

    Returns
    -------
    list of Visit
        In order of time; they never overlap, and lie more than the gap apart.
    """
    signs = [sign for place, page in enumerate(pages) for sign in _signs(place, page, idle_ms)]
    signs += _signs_after_forms(pages)
    runs = [run for run in _runs(sorted(signs, key=_order)) if any(sign.is_act for sign in run)]
    if runs and runs[0][0].at - started_ms <= GAP_MS:
        runs[0].insert(0, Sign(started_ms, runs[0][0].page, 0, "open", is_act=True))
    return [_visit(run, ended_ms) for run in runs if run[0].at <= ended_ms]


def activity_rows(visits: Iterable[Visit]) -> Iterator[tuple[int, int, str]]:
    """Yield (page, time, kind) of a follow's visits for table activity, in order of time.

    An event of a kind that the table does not have stands as `beat`, and only where the visit begins, ends or falls
    idle with it, or no row is within a heartbeat of it. The form stands as `close` where the visit ends with it. A page
    that was out of sight for no time at all was in sight.
    """
    away: dict[int, tuple[int, int, str]] = {}
    for visit in visits:
        yield from _activity_of(visit, away)


def _activity_of(visit: Visit, away: dict[int, tuple[int, int, str]]) -> Iterable[tuple[int, int, str]]:
    """Return the rows of one visit; ``away``: page -> its last row, where that says that it went out of sight."""
    rows: dict[tuple[int, int, str], None] = {}
    last_at = visit.start
    for sign, after in zip(visit.signs, [*visit.signs[1:], None], strict=True):
        is_near = after is not None and max(sign.at - last_at, after.at - sign.at) <= _HEARTBEAT_MS
        if sign.kind not in _ROWS and rows and is_near and not sign.is_idle:
            continue
        row = (sign.page, sign.at, _row_kind(sign, is_last=after is None, is_away=sign.page in away))
        gone = away.pop(sign.page, None)
        if row[2] in _OUT_OF_SIGHT:
            away[sign.page] = row
        elif gone is not None and gone[1] == sign.at:
            del rows[gone]
        rows[row] = None
        last_at = sign.at
    return rows


def _row_kind(sign: Sign, *, is_last: bool, is_away: bool) -> str:
    if sign.kind in _ROWS:
        return sign.kind
    return "close" if sign.kind == "leave" and is_last and not is_away else "beat"


def _order(sign: Sign) -> tuple[int, int, int]:
    return (sign.at, sign.page, sign.number)


def _runs(signs: Iterable[Sign]) -> list[list[Sign]]:
    """Part signs in order of time where they are more than the gap apart."""
    runs: list[list[Sign]] = []
    for sign in signs:
        if not runs or sign.at - runs[-1][-1].at > GAP_MS:
            runs.append([])
        runs[-1].append(sign)
    return runs


def _visit(run: Sequence[Sign], ended_ms: int) -> Visit:
    """Make a visit of a run that begins before the follow's end."""
    signs = [sign for sign in run if sign.at <= ended_ms]
    last = signs[-1]
    goes_on = len(signs) < len(run)
    if goes_on:
        signs.append(Sign(ended_ms, last.page, last.number, "beat", is_act=False))
    is_open = last.kind not in _GOING and not last.is_idle
    return Visit(
        start=signs[0].at,
        end=signs[-1].at,
        signs=tuple(signs),
        is_cut=goes_on or (is_open and ended_ms - last.at <= GAP_MS),
    )


def _signs(place: int, page: LoggedPage, idle_ms: int) -> Iterator[Sign]:
    """Yield the signs of life of one page."""
    if page.events:
        yield from _Watch(place, idle_ms).signs(page)
        if page.left_ms is not None and not any(event.kind == "leave" for event in page.events):
            before = [
                event.number for event, at in zip(page.events, page.times, strict=True) if at <= page.left_ms
            ]
            yield Sign(page.left_ms, place, max(before, default=0), "leave", is_act=False)
    elif page.left_ms is not None:
        yield Sign(page.served_ms, place, 0, "open", is_act=True)
        if page.left_ms - page.served_ms <= idle_ms:
            for at in range(page.served_ms + GAP_MS, page.left_ms, GAP_MS):
                yield Sign(at, place, 0, "beat", is_act=False)
            yield Sign(page.left_ms, place, 0, "leave", is_act=False)


def _signs_after_forms(pages: Sequence[LoggedPage]) -> Iterator[Sign]:
    """Yield the serving of pages that tell nothing themselves but were asked for right after a form."""
    forms = [page.left_ms for page in pages if page.left_ms is not None]
    for place, page in enumerate(pages):
        is_silent = not page.events and page.left_ms is None
        if is_silent and any(0 <= page.served_ms - form <= GAP_MS for form in forms):
            yield Sign(page.served_ms, place, 0, "open", is_act=True)


class _Watch:
    """Goes through the events of one page and keeps what is a sign of life.

    Heartbeats wait until the next event says whether somebody was there.
    """

    def __init__(self, place: int, idle_ms: int) -> None:
        self._place, self._idle_ms = place, idle_ms
        self._kept: list[Sign] = []
        self._beats: list[Sign] = []
        self._since: int | None = None
        self._until: int | None = None
        self._has_act = False

    def signs(self, page: LoggedPage) -> list[Sign]:
        """Return the page's signs."""
        visible, before = True, 0
        following = [*page.events[1:], None]
        for event, at, after in zip(page.events, page.times, following, strict=True):
            if event.kind == "open":
                visible = after is None or after.kind != "hidden" or after.number != event.number + 1
            elif event.kind in {"visible", "beat"}:
                visible = True
            if visible:
                self._take(event, at, is_after_hole=event.number != before + 1)
            visible = visible and event.kind not in _OUT_OF_SIGHT
            before = event.number
        self._settle(self._until)
        return self._kept

    def _take(self, event: LoggedEvent, at: int, *, is_after_hole: bool) -> None:
        """Take in one event of the visible page."""
        if self._until is None or at - self._until > GAP_MS:
            self._settle(self._until)
            self._since, self._has_act = at, False
        self._until = at
        is_act = event.kind not in _GOING and (is_after_hole or event.kind not in _NOBODY)
        sign = Sign(at, self._place, event.number, event.kind, is_act)
        if event.kind in _NOBODY and not is_act:
            self._beats.append(sign)
            return
        was_there = self._settle(at)
        if was_there or is_act:
            self._kept.append(sign)
        self._since, self._has_act = at, was_there or is_act

    def _settle(self, at: int | None) -> bool:
        """Keep the heartbeats that waited, or drop them when they lasted too long; return whether somebody was there."""
        was_there = at is None or self._since is None or at - self._since <= self._idle_ms
        if was_there:
            self._kept += self._beats
        elif self._beats and self._has_act:
            self._kept[-1] = self._kept[-1]._replace(is_idle=True)
        self._beats = []
        return was_there
