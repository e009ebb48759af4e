"""Who is preferred so far, which is hidden until somebody opens it, and how often that was done: looking early is allowed, and told."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from study_app.store.console_models import ResultsLook
from study_app.store.models import Assignment, Judgment, Showing, Slot, Task, Worker
from study_app.store.plan import StudyPlan, TaskPlan


def open_results(session: Session, study: int, *, now: datetime) -> ResultsLook:
    """Store that somebody looks at results now, and at how many judgments."""
    look = ResultsLook(study_id=study, at=now, judgments=judgments_so_far(session, study))
    session.add(look)
    session.flush()
    return look


def looks(session: Session, study: int) -> list[ResultsLook]:
    """Return when results were looked at, the earliest first."""
    wanted = select(ResultsLook).where(ResultsLook.study_id == study).order_by(ResultsLook.at, ResultsLook.id)
    return list(session.scalars(wanted))


def judgments_so_far(session: Session, study: int) -> int:
    """Count the pairs that were judged, repeats not counted, by workers who have not withdrawn."""
    judged = (
        select(func.count())
        .select_from(Judgment)
        .join(Judgment.showing)
        .join(Showing.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .join(Task, Task.id == Assignment.task_id)
        .where(
            Task.study_id == study,
            Judgment.revision == 1,
            Showing.repeats_id.is_(None),
            Worker.withdrawn_at.is_(None),
        )
    )
    return session.scalar(judged) or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CoupleVotes:
    """The votes of one couple of systems over all topics: for either, and for neither, which are half a vote for each."""

    first: str
    second: str
    for_first: int
    for_second: int
    equal: int

    @property
    def judgments(self) -> int:
        """How many there are."""
        return self.for_first + self.for_second + self.equal

    @property
    def share(self) -> float:
        """The first system's share of the votes."""
        return (self.for_first + self.equal / 2) / self.judgments


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVotes:
    """The votes of one task: ``couples`` that were judged, and ``systems`` with their share of all votes on them, best first."""

    task: str
    kind: str
    couples: tuple[CoupleVotes, ...]
    systems: tuple[tuple[str, float, int], ...]


def votes_so_far(session: Session, plan: StudyPlan) -> list[TaskVotes]:
    """Count the votes of every task with pairs: newest revisions, repeats and workers who withdrew not counted."""
    return [_task_votes(session, task) for task in plan.tasks if task.kind.page == "pair"]


def _task_votes(session: Session, task: TaskPlan) -> TaskVotes:
    order = list(task.systems)
    votes: defaultdict[tuple[int, int], dict[str, int]] = defaultdict(
        lambda: {"first": 0, "second": 0, "equal": 0}
    )
    for left, right, choice, number in session.execute(_choices(task)).all():
        is_straight = order.index(left) < order.index(right)
        couple = (left, right) if is_straight else (right, left)
        sides = {"left": "first", "right": "second"} if is_straight else {"left": "second", "right": "first"}
        votes[couple][sides.get(choice, "equal")] += number
    couples = tuple(
        CoupleVotes(
            first=task.systems[first],
            second=task.systems[second],
            for_first=found["first"],
            for_second=found["second"],
            equal=found["equal"],
        )
        for (first, second), found in sorted(
            votes.items(), key=lambda one: (order.index(one[0][0]), order.index(one[0][1]))
        )
    )
    return TaskVotes(
        task=str(task.entry.name), kind=task.entry.kind, couples=couples, systems=_of_systems(couples)
    )


def _choices(task: TaskPlan) -> Select[int, int, str, int]:
    newest = (
        select(Judgment.showing_id, func.max(Judgment.revision).label("revision"))
        .group_by(Judgment.showing_id)
        .subquery()
    )
    return (
        select(Showing.left_system_id, Showing.right_system_id, Judgment.choice, func.count())
        .join(Judgment, Judgment.showing_id == Showing.id)
        .join(newest, (newest.c.showing_id == Judgment.showing_id) & (newest.c.revision == Judgment.revision))
        .join(Showing.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Assignment.task_id == task.id, Showing.repeats_id.is_(None), Worker.withdrawn_at.is_(None))
        .group_by(Showing.left_system_id, Showing.right_system_id, Judgment.choice)
    )


def _of_systems(couples: tuple[CoupleVotes, ...]) -> tuple[tuple[str, float, int], ...]:
    """Return system, its share of the votes, and on how many judgments, best first."""
    votes: defaultdict[str, float] = defaultdict(float)
    judgments: defaultdict[str, int] = defaultdict(int)
    for one in couples:
        votes[one.first] += one.share * one.judgments
        votes[one.second] += (1 - one.share) * one.judgments
        for name in (one.first, one.second):
            judgments[name] += one.judgments
    rows = [(name, votes[name] / judgments[name], judgments[name]) for name in votes]
    return tuple(sorted(rows, key=lambda row: -row[1]))
