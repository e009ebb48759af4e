"""How far a study is, for its researcher. Read only; nobody's id is in it."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from study_app.domain import EXCLUSION_RULE
from study_app.export.answers import preferences_table, searches_by_task
from study_app.export.people import validations, workers_table
from study_app.models import Assignment, Pair, Showing, Slot, Topic, Worker
from study_app.plan import StudyPlan, TaskPlan
from study_app.services.quota import pair_tallies
from study_app.study_file import SummaryPairs


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryProgress:
    """Slots of one query: answered, held by somebody now, and still to give (None without a limit)."""

    topic: str
    text: str
    done: int
    live: int
    room: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Smallest, middle and largest of some counts."""

    low: int
    middle: float
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress:
    """One task; the last two are None for a task without pairs.

    Attributes
    ----------
    judgments_per_pair : Spread or None
        Over all pairs, validation repeats not counted.
    side_difference : Spread or None
        Over all pairs, by how much more often one system was shown on the left than the other.
    """

    name: str
    kind: str
    queries: tuple[QueryProgress, ...]
    judgments_per_pair: Spread | None
    side_difference: Spread | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyProgress:
    """One study.

    Attributes
    ----------
    arrived, consented, completed, withdrawn : int
        Workers; the first three include those who withdrew later.
    judged : int
        Workers to whom the exclusion rule applies.
    excluded : dict of str to int
        Reason -> workers whom version `rule` of the exclusion rule leaves out for it.
    choices : dict of str to int
        Option -> answers, as they stand, repeats included.
    """

    study: str
    title: str
    arrived: int
    consented: int
    completed: int
    withdrawn: int
    tasks: tuple[TaskProgress, ...]
    rule: int
    judged: int
    excluded: dict[str, int]
    choices: dict[str, int]


def study_progress(session: Session, plan: StudyPlan, *, now: datetime) -> StudyProgress:
    """Count everything worth knowing while a study runs."""
    counted = select(
        func.count(Worker.arrived_at),
        func.count(Worker.consented_at),
        func.count(Worker.completed_at),
        func.count(Worker.withdrawn_at),
    ).where(Worker.study_id == plan.id)
    arrived, consented, completed, withdrawn = session.execute(counted).one()
    preferences = preferences_table(session, plan.id)
    workers = workers_table(session, plan, searches_by_task(session, plan.id), validations(preferences))
    reasons = Counter(
        reason for text in workers["reason"].dropna() for reason in text.partition(": ")[2].split(", ")
    )
    return StudyProgress(
        study=plan.name,
        title=plan.entry.title,
        arrived=arrived,
        consented=consented,
        completed=completed,
        withdrawn=withdrawn,
        tasks=tuple(_task_progress(session, task, now=now) for task in plan.tasks),
        rule=EXCLUSION_RULE,
        judged=int(workers["withdrawn_at"].isna().sum()),
        excluded={reason: reasons[reason] for reason in ("search", "consistency")},
        choices={
            choice: int((preferences["choice"] == choice).sum())
            for choice in ("left", "right", "equally_good", "equally_bad")
        },
    )


def _task_progress(session: Session, task: TaskPlan, *, now: datetime) -> TaskProgress:
    has_pairs = isinstance(task.entry, SummaryPairs)
    return TaskProgress(
        name=str(task.entry.name),
        kind=task.entry.kind,
        queries=_query_progress(session, task, now=now),
        judgments_per_pair=_spread(_judgments_per_pair(session, task)) if has_pairs else None,
        side_difference=_spread(_side_differences(session, task, now=now)) if has_pairs else None,
    )


def _query_progress(session: Session, task: TaskPlan, *, now: datetime) -> tuple[QueryProgress, ...]:
    is_done = Slot.done_at.is_not(None)
    counted = (
        select(Slot.topic_id, is_done, func.count())
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(
            Assignment.task_id == task.id,
            Worker.withdrawn_at.is_(None),
            or_(is_done, Slot.expires_at > now),
        )
        .group_by(Slot.topic_id, is_done)
    )
    counts = {(topic, bool(done)): number for topic, done, number in session.execute(counted)}
    queries = []
    for topic in task.topics:
        done, live = counts.get((topic.id, True), 0), counts.get((topic.id, False), 0)
        room = None if task.limit is None else max(0, task.limit - done - live)
        queries.append(QueryProgress(topic=topic.name, text=topic.text, done=done, live=live, room=room))
    return tuple(queries)


def _judgments_per_pair(session: Session, task: TaskPlan) -> Sequence[int]:
    judged = (
        select(Showing.pair_id, func.count(func.distinct(Showing.id)).label("number"))
        .join(Showing.judgments)
        .join(Showing.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Assignment.task_id == task.id, Showing.repeats_id.is_(None), Worker.withdrawn_at.is_(None))
        .group_by(Showing.pair_id)
        .subquery()
    )
    counted = (
        select(func.coalesce(judged.c.number, 0))
        .select_from(Pair)
        .join(Topic, Topic.id == Pair.topic_id)
        .outerjoin(judged, judged.c.pair_id == Pair.id)
        .where(Topic.task_id == task.id)
    )
    return session.scalars(counted).all()


def _side_differences(session: Session, task: TaskPlan, *, now: datetime) -> Sequence[int]:
    return [
        abs(tally.a_left - tally.b_left)
        for topic in task.topics
        for tally in pair_tallies(session, topic.id, now=now)
    ]


def _spread(counts: Sequence[int]) -> Spread:
    return Spread(low=min(counts), middle=statistics.median(counts), high=max(counts))
