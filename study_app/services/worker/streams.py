"""Following of streams: enrolling, serving pages, updates read, and leaving."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    or_,
    select,
    type_coerce,
    update,
)
from sqlalchemy.orm import Session, aliased

from study_app.logs.logged_events import LoggedEvent, server_times, wholly_seen
from study_app.protocol.domain import (
    fewest,
    follow_length,
    is_same_visit,
    stream_time,
)
from study_app.protocol.steps import Step
from study_app.protocol.streams import SIDE, UpdateStream, key_of, places_of
from study_app.services.worker.slots import queue_for
from study_app.services.worker.worker_progress import WorkerProgress
from study_app.store.models import EPOCH, MILLISECOND, Assignment, PageLoad, Slot, StoredEvent, Worker
from study_app.store.study_cache import (
    CachedTask,
    FollowRow,
    StreamViewRow,
    StudyCache,
    columns,
    insert_row,
    update_rows,
)
from study_app.store.task_models import Follow, StreamView
from study_app.study.entries import FollowedTask

MAX_LOADS = 100
"""Most page loads of a stream in which read updates are looked up.

With more loads, updates may come again.
"""

WAS_USED = or_(StreamView.left_at.is_not(None), exists().where(PageLoad.key == StreamView.key))
"""Condition that a page logged something, or its form was sent."""

# Written once: these run with every page of a stream.
_VIEWS = select(*columns(StreamView, StreamViewRow))
_OF_FOLLOW = StreamView.follow_id == bindparam("follow")
_LATEST = aliased(StreamView)
_LATEST_ID = select(func.max(StreamView.id)).where(_OF_FOLLOW).scalar_subquery()
_LATEST_AND_ABOVE = (
    select(WAS_USED, *columns(StreamView, StreamViewRow))
    .join(_LATEST, _LATEST.id == _LATEST_ID)
    .where(
        _OF_FOLLOW,
        or_(
            StreamView.id == _LATEST.id,
            and_(or_(StreamView.visit == _LATEST.visit, StreamView.last > _LATEST.after), WAS_USED),
        ),
    )
    .order_by(StreamView.id.desc())
    .limit(bindparam("most"))
)
_PAGE = aliased(StreamView)
_VISIT_OF_PAGE = _VIEWS.join(_PAGE, _PAGE.visit == StreamView.visit).where(
    _OF_FOLLOW, _PAGE.follow_id == bindparam("follow"), _PAGE.key == bindparam("page")
)
_EVENTS = (
    select(
        PageLoad.key,
        StoredEvent.number,
        StoredEvent.kind,
        StoredEvent.page_ms,
        StoredEvent.wall_ms,
        StoredEvent.detail,
        type_coerce(StoredEvent.received_at, BigInteger),
    )
    .join(PageLoad, PageLoad.id == StoredEvent.page_load_id)
    .where(PageLoad.key.in_(bindparam("keys", expanding=True)))
    .order_by(StoredEvent.page_load_id, StoredEvent.number)
)
_NEW_FOLLOW, _NEW_VIEW = insert(Follow), insert(StreamView)
_LEFT = (
    update(StreamView)
    .where(StreamView.id == bindparam("view"))
    .values(read=bindparam("places"), left_at=bindparam("now"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedStream:
    """Stream that a worker follows: its row, its updates, and its task's entry."""

    follow: FollowRow
    stream: UpdateStream
    entry: FollowedTask

    def time(self, now: datetime) -> float:
        """Return the time in the stream, in seconds since 1970."""
        return stream_time(self.follow.started_at, self.stream.start, self.entry.clock_factor, now)

    def upto(self, now: datetime) -> int:
        """Return the index of the newest update so far, 0 for none."""
        return self.stream.newest_index(self.time(now))


def followed(session: Session, plans: StudyCache, progress: WorkerProgress, step: Step) -> FollowedStream:
    """Return the stream that the worker follows at a step."""
    follow = progress.follow(step)
    return FollowedStream(
        follow=follow,
        stream=plans.stream(session, progress.plan, progress.slot(step).topic_id, follow.system_id),
        entry=progress.task(step).following,
    )


def enrol(
    session: Session, plans: StudyCache, progress: WorkerProgress, step: Step, *, now: datetime
) -> FollowRow:
    """Enrol the worker for an event, with the system that has the fewest followers.

    Enrolling again changes nothing. The slot is taken for good: for other workers it is done.
    """
    slot, task = progress.slot(step), progress.task(step)
    if slot.id in progress.follows:
        return progress.follows[slot.id]
    queue_for(session, task)
    rng = progress.rng(f"system {task.number}.{slot.position}")
    tallies = follower_tallies(session, task, slot.topic_id)[slot.topic_id]
    system = rng.choice(fewest(tallies, task.following.workers_per_stream))
    stream = plans.stream(session, progress.plan, slot.topic_id, system)
    length = follow_length(stream.end - stream.start, task.following.days, task.following.clock_factor)
    row = {"slot_id": slot.id, "system_id": system, "started_at": now, "ends_at": now + length}
    follow = FollowRow(insert_row(session, _NEW_FOLLOW, row), slot.id, system, now, now + length)
    update_rows(session, slot, done_at=follow.ends_at, expires_at=follow.ends_at)
    return follow


def follower_tallies(session: Session, task: CachedTask, *topics: int) -> dict[int, dict[int, int]]:
    """Count the followers of each system by topic, without workers who withdrew.

    All topics are counted where none is named.
    """
    topic_ids = topics or [topic.id for topic in task.topics]
    counted = (
        select(Slot.topic_id, Follow.system_id, func.count())
        .select_from(Follow)
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Slot.topic_id.in_(topic_ids), Worker.withdrawn_at.is_(None))
        .group_by(Slot.topic_id, Follow.system_id)
    )
    tallies = {topic: dict.fromkeys(task.systems, 0) for topic in topic_ids}
    for topic, system, number in session.execute(counted):
        tallies[topic][system] = number
    return tallies


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedPage:
    """Page of a stream to be served, with the indices of updates on it read before."""

    view: StreamViewRow
    read: frozenset[int]


def open_view(
    session: Session,
    followed_stream: FollowedStream,
    *,
    key: str,
    entry: str,
    below: int | None,
    now: datetime,
) -> ServedPage:
    """Store and return the next page of a stream.

    The caller holds the worker's lock, so that no two visits begin at once.

    Parameters
    ----------
    key : str
        Key of the page load.
    entry : str
        Source of the arrival, if this begins a visit: own, reminder or invitation.
    below : int or None
        Show updates older than this index, if it is one of the visit that goes on.
    """
    latest, newer = _latest_and_above(session, followed_stream)
    logs, upto = _logged(session, newer), followed_stream.upto(now)
    read = _places(newer, logs)
    if latest is None:
        visit, after, below = 1, 0, None
    elif is_same_visit(_last_sign([latest, *(v for v in newer if v.visit == latest.visit)], logs), now):
        visit, after, entry = latest.visit, latest.after, latest.entry
        below = below if below and latest.after + 1 < below <= upto else None
    else:
        visit, after, below = latest.visit + 1, max(read | {latest.after}), None
    first, last = _portion(after, upto, below, followed_stream.entry.updates_per_page)
    row: dict[str, Any] = {"follow_id": followed_stream.follow.id, "key": key, "served_at": now}
    row |= {"visit": visit, "entry": entry, "after": after, "upto": upto, "first": first, "last": last}
    row |= {"read": [], "left_at": None}
    view = StreamViewRow(insert_row(session, _NEW_VIEW, row), **row)
    return ServedPage(view=view, read=frozenset(position for position in read if first <= position <= last))


def _portion(after: int, upto: int, below: int | None, size: int) -> tuple[int, int]:
    """Return the oldest and newest index of a page; (0, 0) when nothing is new."""
    last = upto if below is None else below - 1
    return (max(after + 1, last - size + 1), last) if last > after else (0, 0)


def _views(
    session: Session, query: Select[Any], followed_stream: FollowedStream, **values: object
) -> list[StreamViewRow]:
    return [
        StreamViewRow(*row)
        for row in session.connection().execute(query, {"follow": followed_stream.follow.id, **values})
    ]


def _latest_and_above(
    session: Session, followed_stream: FollowedStream
) -> tuple[StreamViewRow | None, Sequence[StreamViewRow]]:
    """Return the latest view, and the views that show what its visit has read.

    These are the views of its visit, with earlier ones that showed something above what had been read before
    them. Views of which only the serving is known are left out, and of the others the newest are taken: the
    page costs the same however often it was loaded.
    """
    values = {"follow": followed_stream.follow.id, "most": MAX_LOADS + 1}
    rows = session.connection().execute(_LATEST_AND_ABOVE, values).all()
    views = [StreamViewRow(*row[1:]) for row in rows]
    used = [view for view, row in zip(views, rows, strict=True) if row[0]]
    return next(iter(views), None), used[:MAX_LOADS][::-1]


def _last_sign(views: Sequence[StreamViewRow], logs: Mapping[str, Sequence[LoggedEvent]]) -> datetime:
    """Return the last activity of views: a page served, an event on it, its form.

    Events count when they happened: a phone may send them the next day, a moment before the worker comes
    back.
    """
    signs = [moment for view in views for moment in (view.served_at, view.left_at) if moment is not None]
    for view in views:
        if view.key in logs:
            served = (view.served_at - EPOCH) // MILLISECOND
            signs.append(EPOCH + server_times(logs[view.key], served)[-1] * MILLISECOND)
    return max(signs)


def places_read(session: Session, views: Iterable[StreamViewRow]) -> set[int]:
    """Return the indices of updates read: named by a form, or fully seen in the log."""
    showing = [view for view in views if view.last]
    return _places(showing, _logged(session, showing))


def _places(views: Iterable[StreamViewRow], logs: Mapping[str, Sequence[LoggedEvent]]) -> set[int]:
    read = set()
    for view in views:
        if view.last:
            shown = {(SIDE, key_of(place)) for place in range(view.first, view.last + 1)}
            read |= places_of(key for _, key in wholly_seen(logs.get(view.key, ()), shown))
            read.update(view.read)
    return read


def _logged(session: Session, views: Collection[StreamViewRow]) -> Mapping[str, Sequence[LoggedEvent]]:
    """Return the events of each page load that has some, by number."""
    logs: defaultdict[str, list[LoggedEvent]] = defaultdict(list)
    if views:
        keys = [view.key for view in views]
        for key, *event in session.connection().execute(_EVENTS, {"keys": keys}).all():
            logs[key].append(LoggedEvent(*event))
    return logs


def send_read(
    session: Session, followed_stream: FollowedStream, *, page: str, keys: Iterable[str], now: datetime
) -> StreamViewRow | None:
    """Store the updates that a stream page's form names as read.

    Earlier reads stay stored; updates that were not displayed are left out.

    Returns
    -------
    StreamViewRow or None
        The page, None when it was never served.
    """
    views = _views(session, _VISIT_OF_PAGE, followed_stream, page=page)
    view = next((followed_stream for followed_stream in views if followed_stream.key == page), None)
    if view is None:
        return None
    shown = {position for each in views for position in range(each.first, each.last + 1)}
    view.read, view.left_at = sorted({*view.read, *(places_of(keys) & shown)}), now
    session.connection().execute(_LEFT, {"view": view.id, "places": view.read, "now": now})
    return view
