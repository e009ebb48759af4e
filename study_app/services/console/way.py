"""One person's way through a study: what happened, in order of time, and the sittings in which it did, for a chart.

Which system an answer was for is nowhere in it, only the side. Of a platform it has no id and no submission.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from study_app.logs.dwell import LoggedEvent, server_times
from study_app.logs.screen import Screen
from study_app.protocol.steps import Step, step_of
from study_app.store.models import (
    EPOCH,
    MILLISECOND,
    Assignment,
    Ballot,
    Judgment,
    PageLoad,
    PlatformEntry,
    PlatformIdentity,
    Showing,
    Slot,
    StoredEvent,
    Worker,
)
from study_app.store.plan import StudyPlan
from study_app.store.task_models import (
    CodeShown,
    Follow,
    Introduction,
    Prompt,
    Rating,
    Reply,
    Sheet,
    StreamView,
    UsefulAnswer,
    UsefulQuestion,
)

SITTING_GAP = timedelta(minutes=15)
"""Pages further apart belong to two sittings."""

MOST_SITTINGS = 30
"""So many are drawn, the first ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """Something that happened.

    Attributes
    ----------
    sort : str
        stage (came, agreed, took, ended ...), answer, or page (one was opened).
    what : str
        In words.
    step : Step or None
        Where, if it was on a page of a task.
    topic : str or None
        What that was about.
    page : str or None
        The page load, if it is known and logged something.
    """

    at: datetime
    sort: str
    what: str
    step: Step | None = None
    topic: str | None = None
    page: str | None = None


def way(session: Session, plan: StudyPlan, worker: int, *, with_sides: bool) -> list[Happening]:
    """Return everything that happened to a worker, in order of time.

    Without ``with_sides`` it is not said which side a worker picked: who knows the sides of a study could tell votes by it.
    """
    loads = dict(
        session.execute(select(PageLoad.key, PageLoad.step).where(PageLoad.worker_id == worker)).all()
    )
    found = chain(
        _stages(session, worker),
        _tasks(session, plan, worker),
        _streams(session, plan, worker),
        _answers(session, plan, worker, loads, with_sides=with_sides),
        _pages(session, plan, worker),
    )
    return sorted(found, key=lambda one: one.at)


def _stages(session: Session, worker: int) -> Iterator[Happening]:
    mine = select(PlatformIdentity.id).where(PlatformIdentity.worker_id == worker)
    arrivals = session.scalars(select(PlatformEntry.arrived_at).where(PlatformEntry.identity_id.in_(mine)))
    for number, at in enumerate(sorted(arrivals), start=1):
        yield Happening(at=at, sort="stage", what="came" if number == 1 else "came by the first link again")
    stored = session.get_one(Worker, worker)
    ends = {"screened_out": "screened out", "failed_checks": "failed the checks", "partial": "stopped early"}
    for reached, what in (
        (stored.consented_at, "agreed to take part"),
        (stored.completed_at, "finished"),
        (stored.stopped_at, ends.get(stored.stopped_as or "", "stopped")),
        (stored.withdrawn_at, "took the answers back"),
    ):
        if reached is not None:
            yield Happening(at=reached, sort="stage", what=what)
    shown = select(CodeShown.kind, CodeShown.shown_at).where(CodeShown.worker_id == worker)
    for kind, at in session.execute(shown):
        yield Happening(at=at, sort="stage", what=f"was shown the code: {kind.replace('_', ' ')}")


def _tasks(session: Session, plan: StudyPlan, worker: int) -> Iterator[Happening]:
    tries = select(Introduction).where(Introduction.worker_id == worker)
    for one in session.scalars(tries):
        task = plan.task(one.task_id)
        result = "passed" if one.passed else f"answered wrongly, try {one.number}"
        yield Happening(
            at=one.decided_at,
            sort="answer",
            what=f"instructions {result}",
            step=Step("intro", task.number),
            page=one.page_key,
        )
    held = select(Assignment.task_id, Slot).join(Slot.assignment).where(Assignment.worker_id == worker)
    for row, slot in session.execute(held):
        task = plan.task(row)
        step = Step("task", task.number, slot.position)
        stage = partial(Happening, sort="stage", topic=task.topic(slot.topic_id).text, step=step)
        yield stage(at=slot.leased_at, what="got a place")
        if slot.search_shown_at is not None and slot.search_left_at is not None:
            seconds = (slot.search_left_at - slot.search_shown_at).total_seconds()
            yield stage(at=slot.search_left_at, what=f"searched for {seconds:.0f} s")


def _streams(session: Session, plan: StudyPlan, worker: int) -> Iterator[Happening]:
    mine = (
        select(Assignment.task_id, Slot.topic_id, Slot.position, Follow)
        .join(Slot, Slot.id == Follow.slot_id)
        .join(Slot.assignment)
        .where(Assignment.worker_id == worker)
    )
    for row, topic, position, follow in session.execute(mine):
        task = plan.task(row)
        step = Step("stream", task.number, position)
        stage = partial(Happening, sort="stage", topic=task.topic(topic).text, step=step)
        yield stage(at=follow.started_at, what="began to follow")
        yield stage(at=follow.ends_at, what="days of the stream over")
        prompts = select(Prompt.sent_at).where(Prompt.follow_id == follow.id)
        for at in session.scalars(prompts):
            yield stage(at=at, what="was written down for a reminder")


def _answers(
    session: Session, plan: StudyPlan, worker: int, loads: dict[str, str], *, with_sides: bool
) -> Iterator[Happening]:
    """Yield every revision of every answer, with the page that it came from where that logged something."""
    for row, topic, position, pair, key, at, revision, what in chain(
        _judgments(session, worker, with_sides=with_sides),
        _ballots(session, worker),
        _ratings(session, worker),
        _replies(session, worker),
    ):
        task = plan.task(row)
        yield Happening(
            at=at,
            sort="answer",
            what=what if revision == 1 else f"changed to: {what} (revision {revision})",
            step=Step(task.kind.page, task.number, position, pair),
            topic=task.topic(topic).text,
            page=key if key in loads else None,
        )
    for row, topic, position, key, at, useful in session.execute(
        _of_worker(
            select(Assignment.task_id, Slot.topic_id, Slot.position, UsefulAnswer.page_key)
            .add_columns(UsefulAnswer.answered_at, UsefulAnswer.useful)
            .join(UsefulAnswer.question)
            .join(Follow, Follow.id == UsefulQuestion.follow_id)
            .join(Slot, Slot.id == Follow.slot_id),
            worker,
        )
    ):
        task = plan.task(row)
        yield Happening(
            at=at,
            sort="answer",
            what="an update was still of use" if useful else "an update was of no use any more",
            step=Step("useful", task.number, position),
            topic=task.topic(topic).text,
            page=key if key in loads else None,
        )


def _of_worker(rows: Any, worker: int) -> Any:
    return rows.join(Slot.assignment).where(Assignment.worker_id == worker)


_PLACE = (Assignment.task_id, Slot.topic_id, Slot.position)


def _judgments(session: Session, worker: int, *, with_sides: bool) -> Iterator[tuple[Any, ...]]:
    rows = _of_worker(
        select(*_PLACE, Showing.position, Showing.repeats_id, Judgment)
        .select_from(Judgment)
        .join(Judgment.showing)
        .join(Showing.slot),
        worker,
    )
    for task, topic, position, pair, repeats, one in session.execute(rows):
        marks = ", a repeated pair" * (repeats is not None) + ", over quota" * one.late
        said = one.choice.replace("_", " ") if with_sides else "answered"
        what = f"{said}, after {one.decision_ms / 1000:.1f} s{marks}"
        yield task, topic, position, pair, one.page_key, one.decided_at, one.revision, what


def _ballots(session: Session, worker: int) -> Iterator[tuple[Any, ...]]:
    rows = _of_worker(
        select(*_PLACE, Ballot).select_from(Ballot).join(Slot, Slot.id == Ballot.slot_id), worker
    )
    for task, topic, position, one in session.execute(rows):
        what = f"ticked {', '.join(one.intents) or 'none'}"
        yield task, topic, position, 0, one.page_key, one.decided_at, one.revision, what


def _ratings(session: Session, worker: int) -> Iterator[tuple[Any, ...]]:
    rows = _of_worker(
        select(*_PLACE, Sheet.position, Rating).select_from(Rating).join(Rating.sheet).join(Sheet.slot),
        worker,
    )
    for task, topic, position, sheet, one in session.execute(rows):
        what = "rated " + ", ".join(f"{iunit} {rating}" for iunit, rating in one.ratings.items())
        yield task, topic, position, sheet, one.page_key, one.decided_at, one.revision, what


def _replies(session: Session, worker: int) -> Iterator[tuple[Any, ...]]:
    rows = _of_worker(select(*_PLACE, Reply).select_from(Reply).join(Slot, Slot.id == Reply.slot_id), worker)
    for task, topic, position, one in session.execute(rows):
        said = (f"{question}: {_value(answer)}" for question, answer in one.answers.items())
        yield (
            task,
            topic,
            position,
            0,
            one.page_key,
            one.decided_at,
            one.revision,
            "; ".join(said) or "nothing",
        )


def _value(answer: Any) -> str:
    return ", ".join(map(str, answer)) if isinstance(answer, list) else str(answer)


def _pages(session: Session, plan: StudyPlan, worker: int) -> Iterator[Happening]:
    """Yield every page that logged something; its topic is that of the place that the worker holds there."""
    held = select(Assignment.task_id, Slot.position, Slot.topic_id).join(Slot.assignment)
    tasks = (
        (plan.task(row), position, topic)
        for row, position, topic in session.execute(held.where(Assignment.worker_id == worker))
    )
    topics = {(task.number, position): task.topic(topic).text for task, position, topic in tasks}
    logged = (
        select(PageLoad.key, PageLoad.step, PageLoad.served_at, StreamView.visit)
        .outerjoin(StreamView, StreamView.key == PageLoad.key)
        .where(PageLoad.worker_id == worker)
    )
    for key, path, at, visit in session.execute(logged):
        step = step_of(path)
        yield Happening(
            at=at,
            sort="page",
            what="opened" if visit is None else f"opened, visit {visit}",
            step=step,
            topic=topics.get((step.task, step.query)),
            page=key,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A page load in the chart: from serving to the last sign of it, with the stretches in which nobody could look."""

    page: str
    step: Step
    start: datetime
    end: datetime
    hidden: tuple[tuple[datetime, datetime], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """A run of pages no two neighbours of which are further apart than `SITTING_GAP`, and the answers in it."""

    start: datetime
    end: datetime
    bars: tuple[Bar, ...]
    answers: tuple[datetime, ...]


def sittings(session: Session, worker: int, happenings: Sequence[Happening]) -> list[Sitting]:
    """Return the sittings of a worker, in order."""
    answers = [one.at for one in happenings if one.sort == "answer"]
    groups: list[list[Bar]] = []
    latest = None
    for bar in sorted(_bars(session, worker), key=lambda bar: bar.start):
        if latest is None or bar.start - latest > SITTING_GAP:
            groups.append([])
            latest = bar.end
        groups[-1].append(bar)
        latest = max(latest, bar.end)
    made = []
    for group in groups:
        start, end = group[0].start, max(bar.end for bar in group)
        inside = tuple(at for at in answers if start <= at <= end + SITTING_GAP)
        made.append(Sitting(start=start, end=max((end, *inside)), bars=tuple(group), answers=inside))
    return made


_TELLING = ("open", "visible", "hidden", "focus", "blur", "close", "sleep")


def _bars(session: Session, worker: int) -> Iterator[Bar]:
    last = (
        select(StoredEvent.page_load_id, func.max(StoredEvent.number).label("number"))
        .join(PageLoad, PageLoad.id == StoredEvent.page_load_id)
        .where(PageLoad.worker_id == worker)
        .group_by(StoredEvent.page_load_id)
        .subquery()
    )
    rows = (
        select(PageLoad.key, PageLoad.step, PageLoad.served_at, StoredEvent)
        .join(StoredEvent, StoredEvent.page_load_id == PageLoad.id)
        .join(last, last.c.page_load_id == PageLoad.id)
        .where(
            PageLoad.worker_id == worker,
            StoredEvent.kind.in_(_TELLING) | (StoredEvent.number == last.c.number),
        )
        .order_by(PageLoad.served_at, PageLoad.id, StoredEvent.number)
    )
    pages: defaultdict[tuple[str, str, datetime], list[LoggedEvent]] = defaultdict(list)
    for key, path, served_at, event in session.execute(rows):
        pages[key, path, served_at].append(
            LoggedEvent(
                event.number,
                event.kind,
                event.page_ms,
                event.wall_ms,
                event.detail,
                (event.received_at - EPOCH) // MILLISECOND,
            )
        )
    for (key, path, served_at), events in pages.items():
        times = [EPOCH + ms * MILLISECOND for ms in server_times(events, (served_at - EPOCH) // MILLISECOND)]
        yield Bar(
            page=key,
            step=step_of(path),
            start=served_at,
            end=times[-1],
            hidden=tuple(_hidden(events, times)),
        )


def _hidden(events: Sequence[LoggedEvent], times: Sequence[datetime]) -> Iterator[tuple[datetime, datetime]]:
    """Yield the stretches in which the page was out of sight, without the focus, or left."""
    screen, since = Screen(), None
    for event, at in zip(events, times, strict=True):
        screen.happen(event)
        if screen.state == "looked" and since is not None:
            yield since, at
            since = None
        elif screen.state != "looked" and since is None:
            since = at
    if since is not None and since < times[-1]:
        yield since, times[-1]
