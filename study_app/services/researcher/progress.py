"""Progress of a study, and how many workers fail each quality check.

Checks mark workers and delete nothing.
"""

import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, and_, exists, func, select
from sqlalchemy.orm import Session

from metrics.errors import percent
from study_app.protocol.domain import (
    EXCLUSION_RULE,
    FLAGS,
    HURRIED_SHARE,
    MIN_DECISION_SECONDS,
    MIN_STRAIGHT,
    MIN_TIMED,
    MIN_VALIDATIONS,
)
from study_app.services.researcher.reconcile import PaymentCounts, count_payments
from study_app.services.worker.adaptive import adaptive_pairs, load_search
from study_app.services.worker.availability import taken_units
from study_app.services.worker.streams import WAS_USED, follower_tallies
from study_app.services.worker.tallies import slot_is_taken, task_tallies
from study_app.store.care import CHOICES, CareChecks, care_checks
from study_app.store.models import Assignment, Judgment, LoadedStudy, Pair, Showing, Slot, Topic, Worker
from study_app.store.study_cache import CachedStudy, CachedTask, CachedTopic
from study_app.store.submissions import takes_part
from study_app.store.task_models import Follow, Prompt, StreamView, UsefulAnswer, UsefulQuestion
from study_app.study.entries import JudgingTask
from study_app.study.platforms import platform_of

CHECKS = {
    "search": ("search time", "the mean search was shorter than min_search_seconds"),
    "consistency": (
        "validation pairs",
        f"of at least {MIN_VALIDATIONS} repeated pairs a smaller share than min_consistency was answered alike",
    ),
    "gold": (
        "gold pairs",
        f"of at least {MIN_VALIDATIONS} pairs with a known answer a smaller share than min_gold was answered right",
    ),
    "dwell": (
        "minimum dwell",
        f"of at least {MIN_TIMED} pairs {percent(HURRIED_SHARE)} or more were answered in less than {MIN_DECISION_SECONDS:g} s",
    ),
    "straight_lining": (
        "straight-lining",
        f"at least {MIN_STRAIGHT} answers, all of them the same option; or {MIN_STRAIGHT} for a side, all for the same side",
    ),
}
"""Name in words, and condition of failure, of each quality check.

Keys are the checks' names in table workers.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRate:
    """Rate of workers who fail a quality check.

    Attributes
    ----------
    name : str
        A key of `CHECKS`.
    failed, judged : int
        Workers who fail it, of those with enough answers for it.
    excludes : bool
        It belongs to the exclusion rule; if not it is a flag only.
    """

    name: str
    failed: int
    judged: int
    excludes: bool

    @property
    def title(self) -> str:
        """Name of the check in words."""
        return CHECKS[self.name][0]

    @property
    def meaning(self) -> str:
        """Condition on which a worker fails it."""
        return CHECKS[self.name][1]

    @property
    def rate(self) -> float | None:
        """Share of judged workers who fail, or None without any."""
        return self.failed / self.judged if self.judged else None


def possible_checks(study: CachedStudy) -> list[str]:
    """Return the keys of `CHECKS` that a study can judge."""
    has_repeats = any(
        isinstance(task.entry, JudgingTask) and task.entry.validation_pairs for task in study.tasks
    )
    impossible = {
        "search": not any(task.has_search for task in study.tasks),
        "consistency": not has_repeats,
        "gold": not any(task.gold for task in study.tasks),
    }
    return [check for check in CHECKS if not impossible.get(check)]


def check_rates(workers: Collection[CareChecks], checks: Collection[str] = CHECKS) -> tuple[CheckRate, ...]:
    """Return the failures of each check among some workers."""
    failed = Counter(name for worker in workers for name in (*worker.excluded, *worker.flags))
    judged = Counter(name for worker in workers for name in worker.judged)
    return tuple(
        CheckRate(name=name, failed=failed[name], judged=judged[name], excludes=name not in FLAGS)
        for name in checks
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryProgress:
    """Slots of a topic: done, live, and free (None without a limit).

    Where pairs or intents are leased one by one, they are counted together.
    """

    topic: str
    text: str
    done: int
    live: int
    room: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRange:
    """Smallest, median and largest of some counts."""

    low: int
    middle: float
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamProgress:
    """The streams of one task, of workers who have not withdrawn.

    Attributes
    ----------
    following : int
        Streams whose days are not over.
    never_came : int
        Streams no page of which was ever read or left, running or not.
    per_stream : CountRange
        Over all systems and events, how many workers followed it so far.
    asked, answered : int
        Questions whether an update was still of use.
    reminders : int
        Lines that `prefcal remind` has written.
    """

    following: int
    never_came: int
    per_stream: CountRange
    asked: int
    answered: int
    reminders: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchProgress:
    """Progress of a search for the best system.

    Attributes
    ----------
    shown, budget : int
        Pairs shown so far, and at most.
    best : float or None
        Least probability, over the topics that are searched apart, of the system that is most likely the best; None until something is known.
    is_over : bool
        Nobody gets another pair: the best is known, or the budget used.
    """

    shown: int
    budget: int
    best: float | None
    is_over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress:
    """Progress of a task; values of pairs or streams are None without these.

    Attributes
    ----------
    judgments_per_pair : CountRange or None
        Over all pairs, validation repeats not counted.
    side_difference : CountRange or None
        Over all pairs, by how much more often one system was shown on the left than the other.
    """

    name: str
    kind: str
    queries: tuple[QueryProgress, ...]
    judgments_per_pair: CountRange | None
    side_difference: CountRange | None
    streams: StreamProgress | None
    search: SearchProgress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyProgress:
    """Progress of a study.

    Attributes
    ----------
    arrived, consented, completed, withdrawn : int
        Workers; the first three include those who withdrew later. Completed: every required answer is stored, the last button
        pressed or not.
    paused_at : datetime or None
        Since when nobody new is let in.
    payments : PaymentCounts
        Who has complete data, was shown the code, was confirmed by the platform, was paid.
    rule : int
        Version of the exclusion rule.
    checks : tuple of CheckRate
        Checks of care, those first by which that rule leaves workers out.
    choices : dict of str to int
        Option -> answers, as they stand, repeats not counted.
    """

    study: str
    arrived: int
    consented: int
    completed: int
    withdrawn: int
    paused_at: datetime | None
    payments: PaymentCounts
    tasks: tuple[TaskProgress, ...]
    rule: int
    checks: tuple[CheckRate, ...]
    choices: dict[str, int]


def study_progress(
    session: Session,
    study: CachedStudy,
    *,
    now: datetime,
    complete: Collection[int],
) -> StudyProgress:
    """Return the progress of a study.

    Parameters
    ----------
    session : Session
        Only read from.
    study : CachedStudy
    now : datetime
        Decides which places are held.
    complete : collection of int
        Workers (rows) with complete data, as `completion.complete_workers` returns them.
    """
    counted = select(
        func.count(Worker.arrived_at), func.count(Worker.consented_at), func.count(Worker.withdrawn_at)
    ).where(Worker.study_id == study.id)
    arrived, consented, withdrawn = session.execute(counted).one()
    workers = care_checks(session, study, select(Worker.id).where(takes_part(study.id))).values()
    return StudyProgress(
        study=study.name,
        arrived=arrived,
        consented=consented,
        completed=len(complete),
        withdrawn=withdrawn,
        paused_at=session.scalar(select(LoadedStudy.paused_at).where(LoadedStudy.id == study.id)),
        payments=count_payments(session, study.id, platform_of(study.entry), complete=len(complete)),
        tasks=tuple(_task_progress(session, task, now=now) for task in study.tasks),
        rule=EXCLUSION_RULE,
        checks=check_rates(workers, possible_checks(study)),
        choices={
            choice: sum(worker.choices[index] for worker in workers) for index, choice in enumerate(CHOICES)
        },
    )


def _task_progress(session: Session, task: CachedTask, *, now: datetime) -> TaskProgress:
    has_pairs = task.kind.page == "pair"
    return TaskProgress(
        name=str(task.entry.name),
        kind=task.entry.kind,
        queries=query_progress(session, task, now=now),
        judgments_per_pair=_count_range(_judgments_per_pair(session, task)) if has_pairs else None,
        side_difference=_count_range(_side_differences(session, task, now=now)) if has_pairs else None,
        streams=stream_progress(session, task, now=now) if task.kind.page == "stream" else None,
        search=_search_progress(session, task, now=now) if adaptive_pairs(task) is not None else None,
    )


def _search_progress(session: Session, task: CachedTask, *, now: datetime) -> SearchProgress:
    search = load_search(session, task, now=now)
    known = [each.best[1] for each in search.searches if each.best is not None]
    return SearchProgress(
        shown=search.shown,
        budget=search.options.budget,
        best=min(known) if len(known) == len(search.searches) else None,
        is_over=not search.has_open(()),
    )


def query_progress(session: Session, task: CachedTask, *, now: datetime) -> tuple[QueryProgress, ...]:
    """Return the progress of each topic of a task, in their order."""
    is_done = and_(Slot.done_at.is_not(None), Slot.done_at <= now)
    counted = (
        select(Slot.topic_id, is_done, func.count())
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(
            Assignment.task_id == task.id,
            slot_is_taken(now),
        )
        .group_by(Slot.topic_id, is_done)
    )
    numbers = {(topic, bool(done)): number for topic, done, number in session.execute(counted)}
    units = taken_units(session, task, now=now) if task.kind.has_units else {}
    queries = []
    for topic in task.topics:
        done, live = numbers.get((topic.id, True), 0), numbers.get((topic.id, False), 0)
        room = _room(topic, task, units, done + live)
        queries.append(QueryProgress(topic=topic.name, text=topic.text, done=done, live=live, room=room))
    return tuple(queries)


def _room(topic: CachedTopic, task: CachedTask, units: Mapping[int, int], taken: int) -> int | None:
    """Return the free slots of a topic, over its units if it has any."""
    if topic.is_closed:
        return 0
    if task.limit is None:
        return None
    if task.kind.has_units:
        return sum(max(0, task.limit - units[unit]) for unit in topic.units)
    return max(0, task.limit - taken)


def stream_progress(session: Session, task: CachedTask, *, now: datetime) -> StreamProgress:
    """Return the progress of the streams of a task."""
    follows = (
        select(Follow.id)
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Assignment.task_id == task.id, Worker.withdrawn_at.is_(None))
    )
    of_task = UsefulQuestion.follow_id.in_(follows)
    came = exists().where(StreamView.follow_id == Follow.id, WAS_USED)
    answered = select(UsefulAnswer.question_id).join(UsefulAnswer.question).where(of_task).distinct()
    return StreamProgress(
        following=_count(session, follows.where(Follow.ends_at > now, Worker.stopped_at.is_(None))),
        never_came=_count(session, follows.where(~came)),
        per_stream=_count_range(
            [n for tallies in follower_tallies(session, task).values() for n in tallies.values()]
        ),
        asked=_count(session, select(UsefulQuestion.id).where(of_task)),
        answered=_count(session, answered),
        reminders=_count(session, select(Prompt.id).where(Prompt.follow_id.in_(follows))),
    )


def _count(session: Session, query: Select[int]) -> int:
    """Return the number of rows of a select."""
    return session.scalar(select(func.count()).select_from(query.subquery())) or 0


def _judgments_per_pair(session: Session, task: CachedTask) -> Sequence[int]:
    judged = (
        select(Showing.pair_id, func.count().label("number"))
        .join(Judgment, (Judgment.showing_id == Showing.id) & (Judgment.revision == 1))
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
        .where(Topic.task_id == task.id, Pair.gold.is_(None))
    )
    return session.scalars(counted).all()


def _side_differences(session: Session, task: CachedTask, *, now: datetime) -> Sequence[int]:
    return [abs(tally.a_left - tally.b_left) for tally in task_tallies(session, task.id, now=now)]


def _count_range(counts: Sequence[int]) -> CountRange:
    return CountRange(low=min(counts), middle=statistics.median(counts), high=max(counts))
