"""What was judged how often, who followed when; and who is preferred so far, which is hidden until somebody opens it.

All is counted by the database. The counts of pairs do not say which system stood on which side: together with the side that a worker
picked that would be the worker's vote. Looking at results early is allowed, and every look is on record.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from sqlalchemy import BigInteger, Select, exists, func, or_, select, type_coerce
from sqlalchemy.orm import Session

from study_app.services.console.access import KeyHolder, note_act
from study_app.store.console_models import Act, ResultsLook
from study_app.store.models import Assignment, Judgment, PageLoad, Pair, Showing, Slot, Task, Topic, Worker
from study_app.store.plan import StudyPlan, TaskPlan, TopicPlan
from study_app.store.task_models import Follow, StreamView

ROWS = 50
"""Of a matrix or a raster on one page."""
COUPLES = 15
"""Columns of a matrix on one page."""
DAY_SECONDS = 86_400
REPLAY = "replay a page with systems"
"""What the audit calls a look at a page as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """A topic; ``cells`` has the judgments of each couple of the page, repeats not counted, None where the topic has no such pair."""

    topic: TopicPlan
    cells: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SilenceShown:
    """Judgments, repeats not counted, on pages that said which days were silent, and on pages that did not."""

    said: int
    unsaid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CoupleMatrix:
    """A part of the topics x couples of systems of a task.

    Attributes
    ----------
    couples : tuple of (str, str)
        Names of both systems, in the order of the study file.
    rows : tuple of MatrixRow
    pages, couple_pages : int
        How many parts there are, down and across.
    most : int
        The most judgments that a pair of the task has.
    judgments, repeats : int
        Of the whole task; repeats are validation pairs.
    silent_days : SilenceShown or None
        None where the task has no days.
    """

    couples: tuple[tuple[str, str], ...]
    rows: tuple[MatrixRow, ...]
    pages: int
    couple_pages: int
    most: int
    judgments: int
    repeats: int
    silent_days: SilenceShown | None


def couple_matrix(session: Session, task: TaskPlan, *, page: int, couple_page: int) -> CoupleMatrix:
    """Count the judgments of a task with pairs; pages count from 1, and one that is not there has no rows."""
    pairs = _pairs(session, task)
    places = {system: place for place, system in enumerate(task.systems)}
    couples = sorted({pair.systems for pair in pairs}, key=lambda two: (places[two[0]], places[two[1]]))
    shown = couples[(couple_page - 1) * COUPLES : couple_page * COUPLES]
    topics = task.topics[(page - 1) * ROWS : page * ROWS]
    tally = _tally(session, task)
    here = {(pair.topic, pair.systems): tally.counts[pair.id] for pair in pairs}
    return CoupleMatrix(
        couples=tuple((task.systems[first], task.systems[second]) for first, second in shown),
        rows=tuple(
            MatrixRow(topic=topic, cells=tuple(here.get((topic.id, couple)) for couple in shown))
            for topic in topics
        ),
        pages=max(1, ceil(len(task.topics) / ROWS)),
        couple_pages=max(1, ceil(len(couples) / COUPLES)),
        most=max(here.values(), default=0),
        judgments=sum(here.values()),
        repeats=tally.repeats,
        silent_days=tally.silent_days,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PairOfTopic:
    """A pair, its topic, and its systems in the order of the study file."""

    id: int
    topic: int
    systems: tuple[int, int]


def _pairs(session: Session, task: TaskPlan) -> list[_PairOfTopic]:
    order = list(task.systems)
    wanted = (
        select(Pair.id, Pair.topic_id, Pair.system_a_id, Pair.system_b_id)
        .join(Topic, Topic.id == Pair.topic_id)
        .where(Topic.task_id == task.id)
        .order_by(Pair.id)
    )
    return [
        _PairOfTopic(id=pair, topic=topic, systems=(a, b) if order.index(a) < order.index(b) else (b, a))
        for pair, topic, a, b in session.execute(wanted)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tally:
    counts: Mapping[int, int]
    repeats: int
    silent_days: SilenceShown | None


def _tally(session: Session, task: TaskPlan) -> _Tally:
    """Count the answered showings of a task, of workers who have not withdrawn."""
    counts: defaultdict[int, int] = defaultdict(int)
    silent: defaultdict[bool | None, int] = defaultdict(int)
    repeats = 0
    for pair, is_repeat, said, number in session.execute(_answered(task)):
        if is_repeat:
            repeats += number
        else:
            counts[pair] += number
            silent[said] += number
    return _Tally(
        counts=counts,
        repeats=repeats,
        silent_days=SilenceShown(said=silent[True], unsaid=silent[False]) if set(silent) - {None} else None,
    )


def _answered(task: TaskPlan) -> Select[int, bool, bool | None, int]:
    """Return the question for pair, whether it is a repeat, whether silent days were said, how many."""
    is_repeat = Showing.repeats_id.is_not(None)
    return (
        select(Showing.pair_id, is_repeat, Showing.reveals_silence, func.count())
        .join(Judgment, (Judgment.showing_id == Showing.id) & (Judgment.revision == 1))
        .join(Showing.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Assignment.task_id == task.id, Worker.withdrawn_at.is_(None))
        .group_by(Showing.pair_id, is_repeat, Showing.reveals_silence)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RasterRow:
    """A follower; ``days`` has the visits of each day of the stream, None for a day that has not come.

    Whose stream it is is not said: how often people come back to it is a result.
    """

    worker: str
    topic: str
    days: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitRaster:
    """Followers x days of their streams; ``days`` is how many days a stream has, ``most`` the most visits on one here."""

    rows: tuple[RasterRow, ...]
    days: int
    pages: int
    followers: int
    most: int


def visit_raster(session: Session, task: TaskPlan, *, page: int, now: datetime) -> VisitRaster:
    """Count the visits of followers who have not withdrawn by day of their own stream, day 1 beginning with enrolment."""
    entry = task.following
    day = timedelta(seconds=DAY_SECONDS / entry.clock_factor)
    followers = session.scalar(select(func.count()).select_from(_followers(task).subquery())) or 0
    shown = session.execute(_followers(task).order_by(Follow.id).offset((page - 1) * ROWS).limit(ROWS)).all()
    visits = _visits(session, [row.id for row in shown], day)
    topics = {topic.id: topic.name for topic in task.topics}
    rows = []
    for row in shown:
        number = max(1, ceil((row.ends_at - row.started_at) / day))
        come = min(number, (now - row.started_at) // day + 1)
        days = tuple(visits[row.id, one] if one < come else None for one in range(number))
        rows.append(
            RasterRow(
                worker=row.pseudonym,
                topic=topics[row.topic_id],
                days=days,
            )
        )
    return VisitRaster(
        rows=tuple(rows),
        days=max((len(row.days) for row in rows), default=0),
        pages=max(1, ceil(followers / ROWS)),
        followers=followers,
        most=max(visits.values(), default=0),
    )


def _followers(task: TaskPlan) -> Select[int, str, int, datetime, datetime]:
    return (
        select(Follow.id, Worker.pseudonym, Slot.topic_id, Follow.started_at, Follow.ends_at)
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Assignment.task_id == task.id, Worker.withdrawn_at.is_(None))
    )


def _visits(session: Session, follows: Sequence[int], day: timedelta) -> defaultdict[tuple[int, int], int]:
    """Return (follow, day from 0) -> visits in which a page logged something or its form was sent."""
    milliseconds = max(1, day // timedelta(milliseconds=1))
    since = type_coerce(StreamView.served_at, BigInteger) - type_coerce(Follow.started_at, BigInteger)
    on_day = (since // milliseconds).label("day")
    logged = exists().where(PageLoad.key == StreamView.key)
    counted = (
        select(Follow.id, on_day, func.count(func.distinct(StreamView.visit)))
        .join(StreamView, StreamView.follow_id == Follow.id)
        .where(Follow.id.in_(follows), or_(StreamView.left_at.is_not(None), logged))
        .group_by(Follow.id, on_day)
    )
    visits: defaultdict[tuple[int, int], int] = defaultdict(int)
    for follow, number, count in session.execute(counted):
        visits[follow, max(0, int(number))] += count
    return visits


def open_results(session: Session, study: int, *, now: datetime) -> ResultsLook:
    """Store that somebody looks at results now, and at how many judgments."""
    look = ResultsLook(study_id=study, at=now, judgments=judgments_so_far(session, study))
    session.add(look)
    session.flush()
    return look


def open_replay(session: Session, study: int, holder: KeyHolder, page: str, *, now: datetime) -> None:
    """Store that somebody looks at a page that shows what systems made.

    Parameters
    ----------
    page : str
        Whose page it was, where, and when, for the audit.
    """
    note_act(session, study, holder, REPLAY, page, now=now)
    open_results(session, study, now=now)


def is_replay_known(session: Session, study: int, holder: KeyHolder, page: str) -> bool:
    """Return whether it is on record that this key has looked at a page."""
    known = select(Act.id).where(
        Act.study_id == study,
        Act.key_id.is_not_distinct_from(holder.id),
        Act.what == REPLAY,
        Act.detail == page,
    )
    return session.scalar(known.limit(1)) is not None


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
