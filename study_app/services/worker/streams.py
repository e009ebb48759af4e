"""Following a stream: enrolling, serving a page of it, what was read of it, leaving, and "was this still of use?" after a visit."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter

from sqlalchemy import BigInteger, exists, func, or_, select, type_coerce
from sqlalchemy.orm import Session

from study_app.logs.dwell import LoggedEvent, read_page, server_times
from study_app.protocol.domain import (
    Asked,
    drawn,
    drawn_questions,
    fewest,
    follow_length,
    is_same_visit,
    single_new_nuggets,
    stream_time,
    visits_late,
)
from study_app.protocol.items import SIDE, UpdateStream, places_of
from study_app.protocol.steps import Step
from study_app.services.worker.slots import queue_for
from study_app.services.worker.whereabouts import Whereabouts
from study_app.store.models import EPOCH, MILLISECOND, Assignment, PageLoad, Slot, StoredEvent, Worker
from study_app.store.plan import Plans, TaskPlan, change
from study_app.store.task_models import Follow, StreamView, UsefulAnswer, UsefulQuestion
from study_app.study.entries import FollowedTask

MOST_LOADS = 100
"""So many loads of a stream's page are looked at for what was read; who loads it more often in a visit may see as new what they read before."""

WAS_USED = or_(StreamView.left_at.is_not(None), exists().where(PageLoad.key == StreamView.key))
"""A page logged something, or its form was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A stream that a worker follows: the row, what there is to read, and what the study file says of the task."""

    follow: Follow
    stream: UpdateStream
    entry: FollowedTask

    def time(self, now: datetime) -> float:
        """Return the time in the stream, in seconds since 1970."""
        return stream_time(self.follow.started_at, self.stream.start, self.entry.clock_factor, now)

    def upto(self, now: datetime) -> int:
        """Return the place of the newest update there is; 0 for none."""
        return self.stream.upto(self.time(now))


def followed(session: Session, plans: Plans, here: Whereabouts, step: Step) -> Followed:
    """Return what the worker follows at a step."""
    follow = here.follow(step)
    return Followed(
        follow=follow,
        stream=plans.stream(session, here.plan, here.slot(step).topic_id, follow.system_id),
        entry=here.task(step).following,
    )


def enrol(session: Session, plans: Plans, here: Whereabouts, step: Step, *, now: datetime) -> Follow:
    """Let the worker follow an event from now on, as the system that has the fewest followers tells it.

    Enrolling again changes nothing. The place is taken for good: the slot is done as far as anybody else is concerned.
    """
    slot, task = here.slot(step), here.task(step)
    if slot.id in here.follows:
        return here.follows[slot.id]
    queue_for(session, task)
    rng = drawn(here.plan.entry.seed, here.worker.number, f"system {task.number}.{slot.position}")
    tallies = follower_tallies(session, task, slot.topic_id)[slot.topic_id]
    system = rng.choice(fewest(tallies, task.following.workers_per_stream))
    stream = plans.stream(session, here.plan, slot.topic_id, system)
    length = follow_length(stream.end - stream.start, task.following.days, task.following.clock_factor)
    follow = Follow(slot_id=slot.id, system_id=system, started_at=now, ends_at=now + length)
    session.add(follow)
    change(session, slot, done_at=follow.ends_at, expires_at=follow.ends_at)
    session.flush()
    return follow


def follower_tallies(session: Session, task: TaskPlan, *topics: int) -> dict[int, dict[int, int]]:
    """Return topic -> system -> how many workers who have not withdrawn follow it on that event; of all events where none is named."""
    wanted = topics or [topic.id for topic in task.topics]
    counted = (
        select(Slot.topic_id, Follow.system_id, func.count())
        .select_from(Follow)
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Slot.topic_id.in_(wanted), Worker.withdrawn_at.is_(None))
        .group_by(Slot.topic_id, Follow.system_id)
    )
    tallies = {topic: dict.fromkeys(task.systems, 0) for topic in wanted}
    for topic, system, number in session.execute(counted):
        tallies[topic][system] = number
    return tallies


TELLING = ("open", "layout", "visible", "hidden", "beat", "see", "close")
"""Kinds of events that tell what was on the screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A page of a stream as it is served now, and the places on it that were read already."""

    view: StreamView
    read: frozenset[int]


def open_view(
    session: Session, one: Followed, *, key: str, entry: str, below: int | None, now: datetime
) -> Served:
    """Serve one page of a stream; the caller holds the worker's lock, so that no two visits begin at once.

    Parameters
    ----------
    key : str
        Of the page load.
    entry : str
        How the visitor came, if this begins a visit: own, reminder or invitation.
    below : int or None
        Show what is older than this place, if it is a place of the visit that goes on.
    """
    latest = _latest_view(session, one)
    newer = _views_above(session, one, latest) if latest else ()
    read = places_read(session, one, newer)
    view = StreamView(follow_id=one.follow.id, key=key, served_at=now, read=[], left_at=None)
    view.upto = one.upto(now)
    if latest is None:
        view.visit, view.after, view.entry = 1, 0, entry
    elif is_same_visit(_last_sign(session, [latest, *(v for v in newer if v.visit == latest.visit)]), now):
        view.visit, view.after, view.entry = latest.visit, latest.after, latest.entry
        below = below if below and latest.after + 1 < below <= view.upto else None
    else:
        view.visit, view.after, view.entry = latest.visit + 1, max(read | {latest.after}), entry
    if latest is None or view.visit != latest.visit:
        below = None
    view.first, view.last = _portion(view, below, one.entry.updates_per_page)
    session.add(view)
    session.flush()
    return Served(view=view, read=frozenset(place for place in read if view.first <= place <= view.last))


def _portion(view: StreamView, below: int | None, size: int) -> tuple[int, int]:
    """Return the places that a page shows, the older end first; (0, 0) when nothing is new."""
    last = view.upto if below is None else below - 1
    return (max(view.after + 1, last - size + 1), last) if last > view.after else (0, 0)


def _latest_view(session: Session, one: Followed) -> StreamView | None:
    mine = select(StreamView).where(StreamView.follow_id == one.follow.id)
    return session.scalars(mine.order_by(StreamView.id.desc()).limit(1)).one_or_none()


def _views_above(session: Session, one: Followed, latest: StreamView) -> Sequence[StreamView]:
    """Return the views of the latest visit, and earlier ones that showed something above what had been read before it.

    Only those of which something is known but that they were served, and the newest of these: the page costs the same however often
    it was loaded.
    """
    wanted = select(StreamView).where(
        StreamView.follow_id == one.follow.id,
        or_(StreamView.visit == latest.visit, StreamView.last > latest.after),
        WAS_USED,
    )
    newest = session.scalars(wanted.order_by(StreamView.id.desc()).limit(MOST_LOADS)).all()
    return newest[::-1]


def _last_sign(session: Session, views: Sequence[StreamView]) -> datetime:
    """Return the last sign of life of some views: a page was served, something happened on it, its form was sent.

    What happened counts when it happened: a phone may tell of it the next day, a moment before somebody comes back.
    """
    served = {view.key: (view.served_at - EPOCH) // MILLISECOND for view in views}
    wanted = (
        select(
            PageLoad.key,
            StoredEvent.number,
            StoredEvent.kind,
            StoredEvent.page_ms,
            StoredEvent.wall_ms,
            type_coerce(StoredEvent.received_at, BigInteger),
        )
        .join(PageLoad, PageLoad.id == StoredEvent.page_load_id)
        .where(PageLoad.key.in_(served))
        .order_by(StoredEvent.page_load_id, StoredEvent.number)
    )
    signs = [moment for view in views for moment in (view.served_at, view.left_at) if moment is not None]
    for key, rows in groupby(session.execute(wanted), key=itemgetter(0)):
        events = [
            LoggedEvent(number, kind, page_ms, wall_ms, {}, received)
            for _, number, kind, page_ms, wall_ms, received in rows
        ]
        signs.append(EPOCH + server_times(events, served[key])[-1] * MILLISECOND)
    return max(signs)


def places_read(session: Session, one: Followed, views: Iterable[StreamView]) -> set[int]:
    """Return the places that were read on some pages: named by a form, or fully seen as the log tells."""
    showing = {view.key: view for view in views if view.last}
    read = {place for view in showing.values() for place in view.read}
    for key, events in _logged(session, showing).items():
        view = showing[key]
        items = one.stream.items(view.first, view.last, one.entry.language)
        seen = read_page(events, {SIDE: items}).items
        read |= places_of(item for (_, item), reading in seen.items() if reading.fully_seen)
    return read


def _logged(session: Session, keys: Collection[str]) -> dict[str, list[LoggedEvent]]:
    """Return page load -> its events that tell what was on the screen."""
    events_by_page: defaultdict[str, list[LoggedEvent]] = defaultdict(list)
    if keys:
        wanted = (
            select(
                PageLoad.key,
                StoredEvent.number,
                StoredEvent.kind,
                StoredEvent.page_ms,
                StoredEvent.wall_ms,
                StoredEvent.detail,
            )
            .join(PageLoad, PageLoad.id == StoredEvent.page_load_id)
            .where(PageLoad.key.in_(keys), StoredEvent.kind.in_(TELLING))
        )
        for key, *event in session.execute(wanted):
            events_by_page[key].append(LoggedEvent(*event))
    return events_by_page


def send_read(
    session: Session, one: Followed, *, page: str, keys: Iterable[str], now: datetime
) -> StreamView | None:
    """Store what a stream page's form says was read; what was said stays said, and what was not shown is left out.

    Returns
    -------
    StreamView or None
        The page, None when it was never served.
    """
    wanted = select(StreamView).where(StreamView.key == page, StreamView.follow_id == one.follow.id)
    view = session.scalars(wanted).one_or_none()
    if view is None:
        return None
    shown = {
        place
        for first, last in session.execute(
            select(StreamView.first, StreamView.last).where(
                StreamView.follow_id == one.follow.id, StreamView.visit == view.visit
            )
        )
        for place in range(first, last + 1)
    }
    view.read = sorted({*view.read, *(places_of(keys) & shown)})
    view.left_at = now
    session.flush()
    return view


def ask(
    session: Session, here: Whereabouts, step: Step, one: Followed, view: StreamView, *, now: datetime
) -> bool:
    """Draw and store what is to be asked after a visit; says whether a question of it waits for an answer.

    Parameters
    ----------
    view : StreamView
        Page of the visit whose form was sent.
    """
    stored = questions(session, one.follow)
    of_visit = [question for question in stored if question.visit == view.visit]
    room = one.entry.ask_per_visit - len(of_visit)
    if room > 0:
        asked = {question.nugget for question in stored}
        candidates = [one for one in _candidates(session, one, view) if one.nugget not in asked]
        rng = drawn(
            here.plan.entry.seed,
            here.worker.number,
            f"useful {step.task}.{step.query}.{view.visit}.{len(of_visit)}",
        )
        new = [
            UsefulQuestion(
                follow_id=one.follow.id,
                visit=view.visit,
                place=question.place,
                nugget=question.nugget,
                visits_late=question.visits_late,
                asked_at=now,
            )
            for question in drawn_questions(candidates, _asked_so_far(session, here.plan.id), room, rng)
        ]
        session.add_all(new)
        session.flush()
        of_visit += new
    return any(not question.answers for question in of_visit)


def questions(session: Session, follow: Follow) -> Sequence[UsefulQuestion]:
    """Return every question about a stream, in the order in which they were drawn."""
    mine = select(UsefulQuestion).where(UsefulQuestion.follow_id == follow.id)
    return session.scalars(mine.order_by(UsefulQuestion.id)).all()


def questions_on_page(
    session: Session, follow: Follow, *, served_at: datetime | None = None
) -> list[UsefulQuestion]:
    """Return the questions that the page shows: those of the last visit that has any, in the order of their numbers.

    With ``served_at``, what it showed then.
    """
    known = [
        question
        for question in questions(session, follow)
        if served_at is None or question.asked_at <= served_at
    ]
    return [question for question in known if question.visit == known[-1].visit]


def answer(session: Session, question: UsefulQuestion, *, useful: bool, page: str, now: datetime) -> None:
    """Store an answer; the same again changes nothing, another one is a new revision."""
    newest = question.answers[-1] if question.answers else None
    if newest is None or newest.useful != useful:
        revision = 1 if newest is None else newest.revision + 1
        question.answers.append(
            UsefulAnswer(revision=revision, useful=useful, page_key=page, answered_at=now)
        )
        session.flush()


def _asked_so_far(session: Session, study: int) -> Mapping[int, int]:
    """Return visits late -> how often the study has asked workers who have not withdrawn."""
    counted = (
        select(UsefulQuestion.visits_late, func.count())
        .join(Follow, Follow.id == UsefulQuestion.follow_id)
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Worker.study_id == study, Worker.withdrawn_at.is_(None))
        .group_by(UsefulQuestion.visits_late)
    )
    return {late: number for late, number in session.execute(counted)}  # noqa: C416 - rows are not tuples to mypy


def _candidates(session: Session, one: Followed, view: StreamView) -> list[Asked]:
    """Return what could be asked after a visit: the updates read in it that brought exactly one new nugget."""
    wanted = select(StreamView).where(StreamView.follow_id == one.follow.id, StreamView.visit <= view.visit)
    views = session.scalars(wanted.order_by(StreamView.id)).all()
    now = places_read(session, one, [earlier for earlier in views if earlier.visit == view.visit])
    nuggets_now = {name for place in now for name, _ in one.stream.update(place).nuggets}
    rivals = [
        place
        for place, update in enumerate(one.stream.updates[: view.upto], start=1)
        if any(name in nuggets_now for name, _ in update.nuggets)
    ]
    before = places_read(
        session,
        one,
        [
            earlier
            for earlier in views
            if earlier.visit < view.visit and any(earlier.first <= place <= earlier.last for place in rivals)
        ],
    )
    nuggets = {place: [name for name, _ in one.stream.update(place).nuggets] for place in (*rivals, *now)}
    times = _visit_times(session, one, views)
    candidates = []
    for place, nugget in single_new_nuggets(now, before, nuggets):
        known = dict(one.stream.update(place).nuggets)[nugget]
        candidates.append(Asked(place=place, nugget=nugget, visits_late=visits_late(known, times)))
    return candidates


def _visit_times(session: Session, one: Followed, views: Sequence[StreamView]) -> list[float]:
    """Return when each visit began, on the stream's clock; a page that never gave a sign of life was no visit."""
    keys = [view.key for view in views]
    logged = set(session.scalars(select(PageLoad.key).where(PageLoad.key.in_(keys))))
    alive = {view.visit for view in views if view.left_at is not None or view.key in logged}
    began: dict[int, float] = {}
    for view in views:
        if view.visit in alive:
            began.setdefault(view.visit, one.time(view.served_at))
    return sorted(began.values())
