"""Visits and readings of followed streams, read from the database."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np
from sqlalchemy import BigInteger, select, type_coerce
from sqlalchemy.orm import Session

from study_app.export.event_log import EventLog, PageItems, SideItems, TextItems, milliseconds
from study_app.logs.activity_kernels import EVENT
from study_app.logs.event_arrays import BEAT, KIND, WHOLLY_SEEN, Int64s, ItemReadings
from study_app.logs.visit_record import FollowTimes, StreamPages, Visit, activity_rows, visits_of
from study_app.protocol.streams import SIDE, UpdateStream
from study_app.store.models import Assignment, PageLoad, Slot, System, Task, Topic, Worker
from study_app.store.task_models import Follow, StoredStream, StreamView
from study_app.tasks.kinds import kinds_with


class _FollowRow(NamedTuple):
    """Row of a follow."""

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
    """Clock of a task with streams: stream seconds a second, idle time, and language."""

    factor: float
    idle_seconds: float
    language: str


class StreamText(TextItems):
    """Updates of a stream, newest first.

    Attributes
    ----------
    start : float
        Start of the event, in seconds since 1970.
    end_chars : array of int, shape (updates + 1,)
        Counted characters of the oldest updates together, from none to all.
    """

    def __init__(self, stream: UpdateStream, language: str) -> None:
        super().__init__(stream.items(1, len(stream.updates), language) if stream.updates else ())
        self.start = stream.start
        self.end_chars = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.chars[::-1])])

    def shown(self, first: int, last: int) -> SideItems:
        """Return the updates ``first`` to ``last``, newest first.

        The list is empty for ``last`` before ``first``.
        """
        newest = len(self.items)
        return SideItems(self, newest - last, max(newest - first + 1, newest - last))


class ViewRow(NamedTuple):
    """Page of a stream as stored, with the row of its page load.

    The row is None without a log.
    """

    follow: int
    key: str
    served_ms: int
    entry: str
    after: int
    upto: int
    first: int
    last: int
    read: list[int]
    left_ms: int | None
    page: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowLog:
    """Follow from enrolment to its end, or to now.

    ``visits`` has each visit in order of time, and whether nothing new was left to see at its end.
    """

    worker: str
    topic: str
    system: str
    clock: TaskClock
    text: StreamText
    started_at: datetime
    ended_at: datetime
    visits: tuple[tuple[Visit, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLogs:
    """Follows of some workers and their pages, in order of the pseudonyms.

    Attributes
    ----------
    follows : sequence of FollowLog
        Each follow.
    views : sequence of ViewRow
        Their pages by follow, in the order of serving; the page of an activity is an index of these.
    follow : array of int, shape (views,)
        Index of the follow of each page.
    screens : PageItems
        Events and items of the pages.
    happened_ms : array of int, shape (events,)
        Time of each event, in milliseconds since 1970.
    activity : (array of int, shape (rows, 7), array of int, shape (rows,))
        Activity, and the kinds of its rows: `study_app.logs.visit_record.activity_rows`.
    read : ItemReadings
        Items read during visits.
    """

    follows: Sequence[FollowLog]
    views: Sequence[ViewRow]
    follow: Int64s
    screens: PageItems
    happened_ms: Int64s
    activity: tuple[Int64s, Int64s]
    read: ItemReadings


def task_clocks(session: Session, study_id: int) -> dict[int, TaskClock]:
    """Return the clocks of tasks with streams, by row."""
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
    """Streams of a study, each read when its first follower is exported."""

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
            self._known[topic, system] = StreamText(UpdateStream.of(content), language)
        return self._known[topic, system]


def stream_logs(
    session: Session,
    workers: Sequence[int],
    log: EventLog,
    clocks: Mapping[int, TaskClock],
    texts: StreamTexts,
    *,
    now: datetime,
) -> StreamLogs:
    """Return the follows of some workers and what their pages logged.

    They end ``now`` at the latest, and when the worker stopped for good, since a worker cannot come back
    after that.
    """
    rows, stored = _follow_rows(session, workers), _views(session, workers)
    views = [view for row in rows for view in stored[row.id]]
    follow = np.repeat(np.arange(len(rows)), [len(stored[row.id]) for row in rows])
    shown = [texts.get(row.topic_id, row.system_id, clocks[row.task_id].language) for row in rows]
    showings = [
        {SIDE: shown[of].shown(view.first, view.last)} if view.first else {}
        for of, view in zip(follow.tolist(), views, strict=True)
    ]
    screens = log.screens([view.page or 0 for view in views], showings)
    pages = StreamPages(
        follow=follow,
        served_ms=np.array([view.served_ms for view in views], np.int64),
        left_ms=np.array([-1 if view.left_ms is None else view.left_ms for view in views], np.int64),
    )
    ends = [min(row.ends_at, row.stopped_at or now, now) for row in rows]
    follows = FollowTimes(
        started_ms=np.array([milliseconds(row.started_at) for row in rows], np.int64),
        ended_ms=np.array(list(map(milliseconds, ends)), np.int64),
        idle_ms=np.array([round(1000 * clocks[row.task_id].idle_seconds) for row in rows], np.int64),
    )
    at = log.happened(screens.events, pages.served_ms)
    visits = visits_of(screens.events, at, pages, follows, log.loops)
    read = _read(log, screens, at, follow, visits)
    seen_at = _seen_at(screens, at, read, views, follow, shown)
    visits_by_follow: defaultdict[int, list[tuple[Visit, bool]]] = defaultdict(list)
    for visit in visits:
        has_seen_all = _is_exhausted(visit, views[max(visit.pages)], seen_at[visit.follow])
        visits_by_follow[visit.follow].append((visit, has_seen_all))
    return StreamLogs(
        follows=[
            FollowLog(
                worker=row.worker,
                topic=row.topic,
                system=row.system,
                clock=clocks[row.task_id],
                text=text,
                started_at=row.started_at,
                ended_at=end,
                visits=tuple(visits_by_follow[index]),
            )
            for index, (row, text, end) in enumerate(zip(rows, shown, ends, strict=True))
        ],
        views=views,
        follow=follow,
        screens=screens,
        happened_ms=at,
        activity=activity_rows(visits, log.loops),
        read=read,
    )


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
        .order_by(Worker.pseudonym, Task.position, Slot.position)
    )
    return list(map(_FollowRow._make, session.execute(rows)))


def _views(session: Session, workers: Sequence[int]) -> defaultdict[int, list[ViewRow]]:
    """Return the pages of each follow in the order of serving."""
    rows = (
        select(
            StreamView.follow_id,
            StreamView.key,
            type_coerce(StreamView.served_at, BigInteger),
            StreamView.entry,
            StreamView.after,
            StreamView.upto,
            StreamView.first,
            StreamView.last,
            StreamView.read,
            type_coerce(StreamView.left_at, BigInteger),
            PageLoad.id,
        )
        .join(StreamView.follow)
        .join(Follow.slot)
        .join(Slot.assignment)
        .outerjoin(PageLoad, (PageLoad.key == StreamView.key) & PageLoad.showing_id.is_(None))
        .where(Assignment.worker_id.in_(workers))
        .order_by(StreamView.served_at, StreamView.id)
    )
    views: defaultdict[int, list[ViewRow]] = defaultdict(list)
    for row in session.execute(rows):
        views[row[0]].append(ViewRow._make(row))
    return views


def _read(
    log: EventLog, screens: PageItems, at: Int64s, follow: Int64s, visits: Sequence[Visit]
) -> ItemReadings:
    """Read the pages until the last visit was over, without idle heartbeats."""
    events = screens.events
    is_alive, is_pause = np.zeros(len(at), bool), np.zeros(len(at), bool)
    over = np.full(int(follow.max(initial=-1)) + 1, -1)
    for visit in visits:
        signs = visit.signs[visit.signs[:, EVENT] >= 0, EVENT]
        is_alive[signs] = True
        is_pause[visit.signs[-1:, EVENT][visit.signs[-1:, EVENT] >= 0]] = True
        over[visit.follow] = visit.end
    passed = (events.log[:, KIND] == BEAT) & ~is_alive
    passed |= at > np.repeat(over[follow], np.diff(events.first))
    read = ItemReadings.unread(events, screens.shown, len(log.layouts))
    log.loops.read_pages(events, screens.shown, passed, is_pause, read)
    return read


def _seen_at(
    screens: PageItems,
    at: Int64s,
    read: ItemReadings,
    views: Sequence[ViewRow],
    follow: Int64s,
    texts: Sequence[StreamText],
) -> list[dict[int, int]]:
    """Return the times at which updates were wholly seen, or named by a form.

    They are by index, for each follow.
    """
    seen_at: list[dict[int, int]] = [{} for _ in texts]
    seen = np.flatnonzero(read.notes[:, WHOLLY_SEEN] >= 0)
    whose = follow[screens.page_of_item[seen]].tolist()
    for one, item, when in zip(
        whose, screens.place_in_text(seen).tolist(), at[read.notes[seen, WHOLLY_SEEN]].tolist(), strict=True
    ):
        _note_earliest(seen_at[one], len(texts[one].items) - item, when)
    for one, view in zip(follow.tolist(), views, strict=True):
        if view.left_ms is not None:
            for position in view.read:
                _note_earliest(seen_at[one], position, view.left_ms)
    return seen_at


def _note_earliest(seen_at: dict[int, int], place: int, at: int) -> None:
    seen_at[place] = min(at, seen_at.get(place, at))


def _is_exhausted(visit: Visit, last: ViewRow, seen_at: Mapping[int, int]) -> bool:
    """Return whether the oldest new update of a visit's last page was seen by its end."""
    return last.upto <= last.after or seen_at.get(last.after + 1, visit.end + 1) <= visit.end
