"""What people did with the streams they follow: from the database to visits and readings, some people at a time."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from study_app.export.readings import logged_events
from study_app.logs.dwell import LoggedEvent, PageReading, read_page, server_times
from study_app.logs.visit_record import LoggedPage, Visit, visits_of
from study_app.protocol.items import SIDE, Item, UpdateStream, places_of
from study_app.store.models import EPOCH, MILLISECOND, Assignment, PageLoad, Slot, System, Task, Topic, Worker
from study_app.store.task_models import Follow, StoredStream, StreamView
from study_app.tasks.kinds import kinds_with


class _FollowRow(NamedTuple):
    """A follow as it is stored."""

    id: int
    worker: str
    task_id: int
    topic_id: int
    topic: str
    system_id: int
    system: str
    started_at: datetime
    ends_at: datetime
    stopped_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskClock:
    """What a task with streams says of time: stream seconds in a wall second, and the idle time; and its language."""

    factor: float
    idle_seconds: float
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamText:
    """The updates of a stream without their words.

    Attributes
    ----------
    start : float
        When the event began, in seconds since 1970.
    items : tuple of Item
        Newest first.
    chars : tuple of int
        Counted characters of the oldest updates together, from none to all.
    """

    start: float
    items: tuple[Item, ...]
    chars: tuple[int, ...]

    @classmethod
    def of(cls, stream: UpdateStream, language: str) -> "StreamText":
        """Take what is needed of a stream."""
        items = stream.items(1, len(stream.updates), language) if stream.updates else ()
        lengths = (item.chars for item in reversed(items))
        return cls(start=stream.start, items=items, chars=tuple(accumulate(lengths, initial=0)))

    def shown(self, first: int, last: int) -> tuple[Item, ...]:
        """Return the updates in places ``first`` to ``last``, newest first; () for ``last`` before ``first``."""
        newest = len(self.items)
        return self.items[newest - last : newest - first + 1]

    def update(self, place: int) -> Item:
        """Return the update in a place."""
        return self.items[len(self.items) - place]

    def end_offset(self, place: int, upto: int) -> int:
        """Return the counted characters from the top to the end of the update in a place, when ``upto`` is the top."""
        return self.chars[upto] - self.chars[place - 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewLog:
    """One page of a stream: as it was served, and what its log tells.

    Attributes
    ----------
    key, entry, after, upto
        As `study_app.store.task_models.StreamView` has them.
    read : frozenset of int
        Places that its form named as read.
    left_ms : int or None
        When that form was sent, in milliseconds since 1970.
    times : dict of int to int
        Number of an event -> when it happened, in milliseconds since 1970.
    reading : PageReading
        What was on its screen during visits.
    """

    key: str
    entry: str
    after: int
    upto: int
    read: frozenset[int]
    left_ms: int | None
    times: dict[int, int]
    reading: PageReading


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowLog:
    """One follow from enrolment to its end, or as far as it has come.

    ``views`` are in the order in which they were served, ``visits`` in order of time; the page of a sign is a place
    in ``views``.
    """

    worker: str
    topic: str
    system: str
    clock: TaskClock
    text: StreamText
    started_at: datetime
    ended_at: datetime
    views: tuple[ViewLog, ...]
    visits: tuple[Visit, ...]
    exhausted: tuple[bool, ...]

    def visit_number(self, at: int) -> int:
        """Return the number (from 1) of the visit during which something happened."""
        return bisect_right(self.visits, at, key=lambda visit: visit.start)


def task_clocks(session: Session, study_id: int) -> dict[int, TaskClock]:
    """Return task by row -> its clock, for tasks with streams."""
    rows = session.execute(
        select(Task.id, Task.config, Task.language).where(
            Task.study_id == study_id, Task.kind.in_(kinds_with("stream"))
        )
    )
    return {
        task: TaskClock(factor=config["clock_factor"], idle_seconds=config["idle_seconds"], language=language)
        for task, config, language in rows
    }


class StreamTexts:
    """The streams of a study, each read when somebody who followed it comes up."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[tuple[int, int], StreamText] = {}

    def get(self, topic: int, system: int, language: str) -> StreamText:
        """Return a system's stream of an event, both by row."""
        if (topic, system) not in self._known:
            content = self._session.scalars(
                select(StoredStream.content).where(
                    StoredStream.topic_id == topic, StoredStream.system_id == system
                )
            ).one()
            self._known[topic, system] = StreamText.of(UpdateStream.of(content), language)
        return self._known[topic, system]


def follow_logs(
    session: Session,
    workers: Sequence[int],
    clocks: Mapping[int, TaskClock],
    texts: StreamTexts,
    *,
    now: datetime,
) -> list[FollowLog]:
    """Return the follows of some people, in order of the workers' arrival.

    They end ``now`` at the latest, and when the worker stopped for good: nobody could come back after that.
    """
    views = _views(session, workers)
    of_streams = exists().where(StreamView.key == PageLoad.key)
    events = logged_events(session, workers, PageLoad.showing_id.is_(None) & of_streams)
    return [
        _follow_log(
            row,
            views[row.id],
            events,
            clock=clocks[row.task_id],
            text=texts.get(row.topic_id, row.system_id, clocks[row.task_id].language),
            now=now,
        )
        for row in _follow_rows(session, workers)
    ]


def _follow_rows(session: Session, workers: Sequence[int]) -> list[_FollowRow]:
    rows = (
        select(
            Follow.id,
            Worker.pseudonym,
            Task.id,
            Topic.id,
            Topic.name,
            System.id,
            System.name,
            Follow.started_at,
            Follow.ends_at,
            Worker.stopped_at,
        )
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .join(Slot.topic)
        .join(Topic.task)
        .join(System, System.id == Follow.system_id)
        .where(Worker.id.in_(workers))
        .order_by(Worker.number, Task.position, Slot.position)
    )
    return list(map(_FollowRow._make, session.execute(rows)))


def _views(session: Session, workers: Sequence[int]) -> defaultdict[int, list[StreamView]]:
    """Return follow -> its pages in the order in which they were served."""
    rows = (
        select(StreamView)
        .join(StreamView.follow)
        .join(Follow.slot)
        .join(Slot.assignment)
        .where(Assignment.worker_id.in_(workers))
        .order_by(StreamView.served_at, StreamView.id)
    )
    views: defaultdict[int, list[StreamView]] = defaultdict(list)
    for view in session.scalars(rows):
        views[view.follow_id].append(view)
    return views


def _follow_log(
    row: _FollowRow,
    stored: Sequence[StreamView],
    events: Mapping[str, Sequence[LoggedEvent]],
    *,
    clock: TaskClock,
    text: StreamText,
    now: datetime,
) -> FollowLog:
    ended_at = min(row.ends_at, row.stopped_at or now, now)
    pages = [_page(view, events.get(view.key, ())) for view in stored]
    visits = visits_of(
        pages,
        started_ms=_milliseconds(row.started_at),
        ended_ms=_milliseconds(ended_at),
        idle_ms=round(1000 * clock.idle_seconds),
    )
    alive, pauses = defaultdict[int, set[int]](set), defaultdict[int, set[int]](set)
    for visit in visits:
        for sign in visit.signs:
            alive[sign.page].add(sign.number)
        pauses[visit.signs[-1].page].add(visit.signs[-1].number)
    views = [
        _view_log(view, _until(page, visits), text, alive=alive[place], pauses=pauses[place])
        for place, (view, page) in enumerate(zip(stored, pages, strict=True))
    ]
    return FollowLog(
        worker=row.worker,
        topic=row.topic,
        system=row.system,
        clock=clock,
        text=text,
        started_at=row.started_at,
        ended_at=ended_at,
        views=tuple(views),
        visits=tuple(visits),
        exhausted=_exhausted(views, visits),
    )


def _page(view: StreamView, events: Sequence[LoggedEvent]) -> LoggedPage:
    served_ms = _milliseconds(view.served_at)
    return LoggedPage(
        served_ms=served_ms,
        left_ms=None if view.left_at is None else _milliseconds(view.left_at),
        events=events,
        times=server_times(events, served_ms),
    )


def _until(page: LoggedPage, visits: Sequence[Visit]) -> LoggedPage:
    """Return what a page logged until the last visit was over."""
    known = bisect_right(page.times, visits[-1].end) if visits else 0
    return replace(page, events=page.events[:known], times=page.times[:known])


def _view_log(
    view: StreamView, page: LoggedPage, text: StreamText, *, alive: set[int], pauses: set[int]
) -> ViewLog:
    """Read one page; the heartbeats that are no sign of life do not count. ``pauses``: where visits ended."""
    events = [event for event in page.events if event.kind != "beat" or event.number in alive]
    shown = text.shown(view.first, view.last) if view.first else ()
    return ViewLog(
        key=view.key,
        entry=view.entry,
        after=view.after,
        upto=view.upto,
        read=frozenset(view.read),
        left_ms=page.left_ms,
        times={event.number: at for event, at in zip(page.events, page.times, strict=True)},
        reading=read_page(events, {SIDE: shown}, pauses=pauses),
    )


def _exhausted(views: Sequence[ViewLog], visits: Sequence[Visit]) -> tuple[bool, ...]:
    """Say of each visit whether the oldest of the updates that were new on its last page had been seen by its end."""
    seen_at: dict[int, int] = {}
    for view in views:
        for item, number in ((key, one.wholly_seen) for (_, key), one in view.reading.items.items()):
            if number is not None:
                _note_earliest(seen_at, places_of([item]), view.times[number])
        if view.left_ms is not None:
            _note_earliest(seen_at, view.read, view.left_ms)
    last_views = [views[max(visit.pages)] for visit in visits]
    return tuple(
        view.upto <= view.after or seen_at.get(view.after + 1, visit.end + 1) <= visit.end
        for view, visit in zip(last_views, visits, strict=True)
    )


def _note_earliest(seen_at: dict[int, int], places: set[int] | frozenset[int], at: int) -> None:
    for place in places:
        seen_at[place] = min(at, seen_at.get(place, at))


def _milliseconds(time: datetime) -> int:
    return (time - EPOCH) // MILLISECOND
