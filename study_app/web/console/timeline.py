"""Timeline of one worker: events in the study, in order of time.

An event names the side of an answer, never the system, nor an id or a submission of a platform.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

from sqlalchemy import literal, select
from sqlalchemy.orm import Session, contains_eager

from study_app.protocol.domain import preferred
from study_app.protocol.steps import Step, step_of
from study_app.store.models import (
    Assignment,
    Ballot,
    Judgment,
    PageLoad,
    PlatformEntry,
    PlatformIdentity,
    Showing,
    Slot,
    Worker,
)
from study_app.store.study_cache import CachedStudy
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

EVENT_GROUPS = {"all": "everything", "stage": "stages", "answer": "answers", "page": "pages"}
"""Groups of events in words."""
SHOW_SYSTEMS = frozenset({"pair", "stream", "useful"})
"""Kinds of steps whose pages show systems' output.

Anybody who knows a system's runs can recognise it there.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEvent:
    """An event of a worker's part in a study.

    Attributes
    ----------
    group : str
        stage (came, agreed, took, ended ...), answer, or page (one was opened).
    what : str
        In words.
    step : Step or None
        The step, if it was on a page of a task.
    topic : str or None
        The topic of that step.
    page : str or None
        The page load, if it is known and logged something.
    """

    at: datetime
    group: str
    what: str
    step: Step | None = None
    topic: str | None = None
    page: str | None = None


def timeline_events(
    session: Session, study: CachedStudy, worker: int, *, with_sides: bool
) -> list[TimelineEvent]:
    """Return the events of a worker, in order of time.

    Without ``with_sides`` picked sides are left out, because they reveal votes to anybody who knows the sides
    of the study.
    """
    events = chain(
        _stages(session, worker),
        _tasks(session, study, worker),
        _streams(session, study, worker),
        _answers(session, study, worker, with_sides=with_sides),
        _pages(session, study, worker),
    )
    return sorted(events, key=lambda event: event.at)


def _stages(session: Session, worker: int) -> Iterator[TimelineEvent]:
    stage = partial(TimelineEvent, group="stage")
    own = select(PlatformIdentity.id).where(PlatformIdentity.worker_id == worker)
    arrivals = session.scalars(select(PlatformEntry.arrived_at).where(PlatformEntry.identity_id.in_(own)))
    for number, at in enumerate(sorted(arrivals), start=1):
        yield stage(at=at, what="came" if number == 1 else "came by the first link again")
    stored = session.get_one(Worker, worker)
    ends = {"screened_out": "screened out", "failed_checks": "failed the checks", "partial": "stopped early"}
    for moment, what in (
        (stored.consented_at, "agreed to take part"),
        (stored.completed_at, "finished"),
        (stored.stopped_at, ends.get(stored.stopped_as or "", "stopped")),
        (stored.withdrawn_at, "took the answers back"),
    ):
        if moment is not None:
            yield stage(at=moment, what=what)
    shown = select(CodeShown.kind, CodeShown.shown_at).where(CodeShown.worker_id == worker)
    for kind, at in session.execute(shown):
        yield stage(at=at, what=f"was shown the code: {kind.replace('_', ' ')}")


def _tasks(session: Session, study: CachedStudy, worker: int) -> Iterator[TimelineEvent]:
    tries = select(Introduction).where(Introduction.worker_id == worker)
    for introduction in session.scalars(tries):
        result = "passed" if introduction.passed else f"answered wrongly, try {introduction.number}"
        yield TimelineEvent(
            at=introduction.decided_at,
            group="answer",
            what=f"instructions {result}",
            step=Step("intro", study.task(introduction.task_id).number),
            page=introduction.page_key,
        )
    slots = select(Assignment.task_id, Slot).join(Slot.assignment).where(Assignment.worker_id == worker)
    for row, slot in session.execute(slots):
        task = study.task(row)
        step = Step("task", task.number, slot.position)
        stage = partial(TimelineEvent, group="stage", topic=task.topic(slot.topic_id).text, step=step)
        yield stage(at=slot.leased_at, what="got a place")
        if slot.search_shown_at is not None and slot.search_left_at is not None:
            seconds = (slot.search_left_at - slot.search_shown_at).total_seconds()
            yield stage(at=slot.search_left_at, what=f"searched for {seconds:.0f} s")


def _streams(session: Session, study: CachedStudy, worker: int) -> Iterator[TimelineEvent]:
    follows = (
        select(Assignment.task_id, Slot.topic_id, Slot.position, Follow)
        .join(Slot, Slot.id == Follow.slot_id)
        .join(Slot.assignment)
        .where(Assignment.worker_id == worker)
    )
    for row, topic, position, follow in session.execute(follows):
        task = study.task(row)
        step = Step("stream", task.number, position)
        stage = partial(TimelineEvent, group="stage", topic=task.topic(topic).text, step=step)
        yield stage(at=follow.started_at, what="began to follow")
        yield stage(at=follow.ends_at, what="days of the stream over")
        prompts = select(Prompt.sent_at).where(Prompt.follow_id == follow.id)
        for at in session.scalars(prompts):
            yield stage(at=at, what="was written down for a reminder")


def _answers(
    session: Session, study: CachedStudy, worker: int, *, with_sides: bool
) -> Iterator[TimelineEvent]:
    """Yield every revision of every answer, with its page if that logged."""
    logged = set(session.scalars(select(PageLoad.key).where(PageLoad.worker_id == worker)))
    slot = (Assignment.task_id, Slot.topic_id, Slot.position)
    whole = literal(0)
    queries = (
        select(*slot, Showing.position, Judgment)
        .select_from(Judgment)
        .join(Judgment.showing)
        .join(Showing.slot)
        .join(Showing.pair)
        .options(contains_eager(Judgment.showing).contains_eager(Showing.pair)),
        select(*slot, whole, Ballot).select_from(Ballot).join(Slot, Slot.id == Ballot.slot_id),
        select(*slot, Sheet.position, Rating).select_from(Rating).join(Rating.sheet).join(Sheet.slot),
        select(*slot, whole, Reply).select_from(Reply).join(Slot, Slot.id == Reply.slot_id),
        select(*slot, whole, UsefulAnswer)
        .select_from(UsefulAnswer)
        .join(UsefulAnswer.question)
        .join(Follow, Follow.id == UsefulQuestion.follow_id)
        .join(Slot, Slot.id == Follow.slot_id),
    )
    for query in queries:
        own = query.join(Slot.assignment).where(Assignment.worker_id == worker)
        for row, topic, position, pair, answer in session.execute(own):
            task, is_useful = study.task(row), isinstance(answer, UsefulAnswer)
            what = _answer_words(answer, with_sides=with_sides)
            yield TimelineEvent(
                at=answer.answered_at if is_useful else answer.decided_at,
                group="answer",
                what=what if answer.revision == 1 else f"changed to: {what} (revision {answer.revision})",
                step=Step("useful" if is_useful else task.kind.page, task.number, position, pair),
                topic=task.topic(topic).text,
                page=answer.page_key if answer.page_key in logged else None,
            )


def _answer_words(answer: Judgment | Ballot | Rating | Reply | UsefulAnswer, *, with_sides: bool) -> str:
    match answer:
        case Judgment():
            showing = answer.showing
            notes = ", a repeated pair" * (showing.repeats_id is not None) + ", over quota" * answer.late
            if showing.pair.gold is not None:
                notes += f", a gold pair answered {'right' if _is_right(answer) else 'wrongly'}"
            choice = _choice_words(answer.choice, answer.strength) if with_sides else "answered"
            criteria = (answer.criteria or {}) if with_sides else {}
            notes += "".join(f"; {name}: {_choice_words(*given)}" for name, given in criteria.items())
            notes += f"; reason: {answer.reason}" if answer.reason and with_sides else ""
            return f"{choice}, after {answer.decision_ms / 1000:.1f} s{notes}"
        case Ballot():
            return f"ticked {', '.join(answer.intents) or 'none'}"
        case Rating():
            return "rated " + ", ".join(f"{iunit} {rating}" for iunit, rating in answer.ratings.items())
        case Reply():
            values = (f"{question}: {_value(value)}" for question, value in answer.answers.items())
            return "; ".join(values) or "nothing"
    return "an update was still of use" if answer.useful else "an update was of no use any more"


def _is_right(answer: Judgment) -> bool:
    """Return whether the answer to a gold pair is the known one."""
    showing, pair = answer.showing, answer.showing.pair
    better = {"a": pair.system_a_id, "b": pair.system_b_id}.get(str(pair.gold))
    return preferred(answer.choice, showing.left_system_id, showing.right_system_id) == better


def _choice_words(choice: str, strength: int | None) -> str:
    return choice.replace("_", " ") + (f" by {strength}" if strength else "")


def _value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _pages(session: Session, study: CachedStudy, worker: int) -> Iterator[TimelineEvent]:
    """Yield every page that logged something, with the topic of its slot."""
    slots = select(Assignment.task_id, Slot.position, Slot.topic_id).join(Slot.assignment)
    topics = {
        (study.task(row).number, position): study.task(row).topic(topic).text
        for row, position, topic in session.execute(slots.where(Assignment.worker_id == worker))
    }
    logged = (
        select(PageLoad.key, PageLoad.step, PageLoad.served_at, StreamView.visit)
        .outerjoin(StreamView, StreamView.key == PageLoad.key)
        .where(PageLoad.worker_id == worker)
    )
    for key, path, at, visit in session.execute(logged):
        step = step_of(path)
        yield TimelineEvent(
            at=at,
            group="page",
            what="opened" if visit is None else f"opened, visit {visit}",
            step=step,
            topic=topics.get((step.task, step.query)),
            page=key,
        )
