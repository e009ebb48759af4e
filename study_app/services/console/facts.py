"""Facts about some workers at once: how far they came, with what care, in which window, and what is missing of their log.

Each is counted by the database and judged by the same rules as the exported tables. Which system anybody preferred is in none of them.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import BigInteger, Select, and_, case, func, select, type_coerce
from sqlalchemy.orm import Session, aliased

from study_app.protocol.domain import (
    MIN_DECISION_SECONDS,
    MIN_VALIDATIONS,
    SHARED,
    exclusion_reasons,
    is_hurried,
    is_straight,
)
from study_app.store.models import Assignment, Judgment, PageLoad, Showing, Slot, StoredEvent
from study_app.store.plan import StudyPlan
from study_app.store.submissions import sharers
from study_app.study.entries import JudgingTask, SearchedTask
from study_app.study.platforms import platform_of

PHONE_PIXELS = 600

"""A window of which one side is shorter is a phone's."""

CHOICES = ("left", "right", "equally_good", "equally_bad")

Workers: TypeAlias = Collection[int] | Select[int]
"""Rows of workers: a few of them, or the question for many, which the database answers by itself."""

Fact: TypeAlias = Callable[[Session, StudyPlan, Workers, datetime], Mapping[int, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The last task that a worker holds something of: its number and name, how much of it is done, and how much is held."""

    task: int
    name: str
    done: int
    held: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Repeated pairs that were answered as before, of how many."""

    consistent: int = 0
    repeats: int = 0

    @property
    def share(self) -> float | None:
        """Share of the repeated pairs answered as before; None without any."""
        return self.consistent / self.repeats if self.repeats else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Care:
    """Signs of care, as table workers has them.

    Attributes
    ----------
    flags : tuple of str
        Signs that nobody looked; they leave nobody out.
    excluded : tuple of str
        Why the exclusion rule leaves the worker out; () if not.
    judged : frozenset of str
        The checks for or against which there is enough: search, consistency, and the flags.
    choices : tuple of int
        How often each of `CHOICES` was the answer, repeats not counted.
    """

    flags: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    judged: frozenset[str] = frozenset()
    choices: tuple[int, ...] = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """What is missing of a worker's log: pages with missing events, and answers to pairs whose page logged nothing."""

    pages: int = 0
    answers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The size of the window in CSS pixels that a worker's newest logged page had."""

    width: int
    height: int

    @property
    def device(self) -> str:
        """Phone or computer, by the shorter side."""
        return device_of(self.width, self.height)


def device_of(width: int, height: int) -> str:
    """Return whose a window of this size is: a phone's or a computer's."""
    return "phone" if min(width, height) < PHONE_PIXELS else "computer"


def reached(session: Session, plan: StudyPlan, workers: Workers, now: datetime) -> dict[int, Reached]:
    """Return worker -> the last task that they hold something of."""
    done = func.count().filter(Slot.done_at <= now)
    held = (
        select(Assignment.worker_id, Assignment.task_id, done, func.count(Slot.id))
        .join(Assignment.slots)
        .where(Assignment.worker_id.in_(workers))
        .group_by(Assignment.worker_id, Assignment.task_id)
    )
    last: dict[int, Reached] = {}
    for worker, row, finished, number in session.execute(held):
        task = plan.task(row)
        if worker not in last or task.number > last[worker].task:
            last[worker] = Reached(task=task.number, name=str(task.entry.name), done=finished, held=number)
    return last


def consistency(session: Session, plan: StudyPlan, workers: Workers, now: datetime) -> dict[int, Consistency]:  # noqa: ARG001 - as `Fact`
    """Return worker -> how their repeated pairs were answered, of those who have any."""
    return {
        worker: Consistency(consistent=sum(consistent for consistent, _ in repeats), repeats=len(repeats))
        for worker, repeats in _repeats(session, plan, workers).items()
    }


def care(session: Session, plan: StudyPlan, workers: Workers, now: datetime) -> dict[int, Care]:  # noqa: ARG001 - as `Fact`
    """Return worker -> signs of care, by the rules by which `study_app.export.people` makes table workers.

    Of whom there is no sign, for or against, is not in it.
    """
    repeats, searches = _repeats(session, plan, workers), _searches(session, plan, workers)
    given, shared = _given(session, workers), sharers(session, plan.id, platform_of(plan.entry))
    cares = {}
    for worker in given.keys() | repeats.keys() | searches.keys() | shared:
        answers, flags = given.get(worker, _NOTHING_GIVEN)
        of_repeats, of_searches = repeats.get(worker, ()), searches.get(worker, ())
        judged = {
            "search": bool(of_searches),
            "consistency": len(of_repeats) >= MIN_VALIDATIONS,
            **{flag: is_up is not None for flag, is_up in flags.items()},
        }
        cares[worker] = Care(
            flags=(
                *(flag for flag, is_up in flags.items() if is_up),
                *((SHARED,) if worker in shared else ()),
            ),
            excluded=exclusion_reasons(searches=of_searches, validations=of_repeats),
            judged=frozenset(check for check, is_enough in judged.items() if is_enough),
            choices=answers,
        )
    return cares


def _is_newest(judgment: type[Judgment]) -> Any:
    """Return the condition that no later revision is stored; few are, so that databases look among these first."""
    later = aliased(Judgment)
    newer = (later.showing_id == judgment.showing_id) & (later.revision == judgment.revision + 1)
    return ~select(later.id).where(newer, later.revision > 1).exists()


Given: TypeAlias = tuple[tuple[int, ...], Mapping[str, bool | None]]
"""How often each of `CHOICES` was the answer, repeats not counted; flag -> whether it is up, None where there is too little to tell."""
_NOTHING_GIVEN: Given = ((0, 0, 0, 0), {})


def _given(session: Session, workers: Workers) -> dict[int, Given]:
    """Return worker -> what was answered; counted by the database, judged by the rules."""
    first_met = and_(Showing.repeats_id.is_(None), Judgment.revision == 1)
    quick = and_(first_met, Judgment.decision_ms < 1000 * MIN_DECISION_SECONDS)
    is_repeat = Showing.repeats_id.is_not(None)
    conditions = (
        first_met,
        quick,
        *(and_(Judgment.choice == choice, ~is_repeat) for choice in CHOICES),
        *(and_(Judgment.choice == choice, is_repeat) for choice in CHOICES),
    )
    counted = (
        select(Assignment.worker_id, *(func.count().filter(condition) for condition in conditions))
        .select_from(Assignment)
        .join(Assignment.slots)
        .join(Slot.showings)
        .join(Showing.judgments)
        .where(Assignment.worker_id.in_(workers), _is_newest(Judgment))
        .group_by(Assignment.worker_id)
    )
    found: dict[int, Given] = {}
    for worker, timed, hurried, *numbers in session.execute(counted):
        given, again = numbers[: len(CHOICES)], numbers[len(CHOICES) :]
        seconds = [0.0] * hurried + [MIN_DECISION_SECONDS] * (timed - hurried)
        every = zip(CHOICES, given, again, strict=True)
        choices = [choice for choice, number, repeated in every for _ in range(number + repeated)]
        flags = {"dwell": is_hurried(seconds), "straight_lining": is_straight(choices)}
        found[worker] = (tuple(given), flags)
    return found


def _repeats(session: Session, plan: StudyPlan, workers: Workers) -> dict[int, list[tuple[bool, float]]]:
    """Return worker -> whether each repeat was consistent, and the share of them that its task wants."""
    first, answer = aliased(Showing), aliased(Judgment)
    is_consistent = _preferred(Judgment, Showing) == _preferred(answer, first)
    compared = (
        select(Assignment.worker_id, Assignment.task_id, func.count(), func.count().filter(is_consistent))
        .select_from(Assignment)
        .join(Assignment.slots)
        .join(Slot.showings)
        .join(Showing.judgments)
        .join(first, first.id == Showing.repeats_id)
        .join(answer, answer.showing_id == first.id)
        .where(Assignment.worker_id.in_(workers), _is_newest(Judgment), _is_newest(answer))
        .group_by(Assignment.worker_id, Assignment.task_id)
    )
    repeats: defaultdict[int, list[tuple[bool, float]]] = defaultdict(list)
    for worker, task, number, consistent in session.execute(compared):
        entry = plan.task(task).entry
        if isinstance(entry, JudgingTask):
            repeats[worker] += [(place < consistent, entry.min_consistency) for place in range(number)]
    return repeats


def _preferred(judgment: type[Judgment], showing: type[Showing]) -> Any:
    """Return the system that an answer is for, 0 for neither: `study_app.protocol.domain.preferred` in SQL."""
    return case(
        (judgment.choice == "left", showing.left_system_id),
        (judgment.choice == "right", showing.right_system_id),
        else_=0,
    )


def _searches(session: Session, plan: StudyPlan, workers: Workers) -> dict[int, list[tuple[float, float]]]:
    """Return worker -> seconds of each search that was left, and the least that its task wants."""
    shown_ms, left_ms = (
        type_coerce(moment, BigInteger) for moment in (Slot.search_shown_at, Slot.search_left_at)
    )
    searched = (
        select(Assignment.worker_id, Assignment.task_id, left_ms - shown_ms)
        .join(Assignment.slots)
        .where(
            Assignment.worker_id.in_(workers),
            Slot.search_shown_at.is_not(None),
            Slot.search_left_at.is_not(None),
        )
    )
    searches: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for worker, task, milliseconds in session.execute(searched):
        entry = plan.task(task).entry
        if isinstance(entry, SearchedTask):
            searches[worker].append((milliseconds / 1000, float(entry.min_search_seconds)))
    return searches


def windows(session: Session, plan: StudyPlan, workers: Workers, now: datetime) -> dict[int, Window]:  # noqa: ARG001 - as `Fact`
    """Return worker -> the window of the newest page that logged how it opened."""
    newest = select(func.max(PageLoad.id)).where(PageLoad.worker_id.in_(workers)).group_by(PageLoad.worker_id)
    opened = (
        select(PageLoad.worker_id, StoredEvent.detail)
        .join(StoredEvent, (StoredEvent.page_load_id == PageLoad.id) & (StoredEvent.number == 1))
        .where(PageLoad.id.in_(newest), StoredEvent.kind == "open")
    )
    return {
        worker: Window(width=detail["width"], height=detail["height"])
        for worker, detail in session.execute(opened)
    }


def gaps(session: Session, plan: StudyPlan, workers: Workers, now: datetime) -> dict[int, Gaps]:  # noqa: ARG001 - as `Fact`
    """Return worker -> what is missing of the log, of those of whom something is."""
    above = (StoredEvent.page_load_id == PageLoad.id) & (StoredEvent.number > PageLoad.upto)
    holed = (
        select(PageLoad.worker_id, func.count())
        .where(PageLoad.worker_id.in_(workers), select(StoredEvent.id).where(above).exists())
        .group_by(PageLoad.worker_id)
    )
    missing = func.count() - func.count(PageLoad.id)
    unlogged = (
        select(Assignment.worker_id, missing)
        .select_from(Assignment)
        .join(Assignment.slots)
        .join(Slot.showings)
        .join(Showing.judgments)
        .outerjoin(PageLoad, PageLoad.key == Judgment.page_key)
        .where(Assignment.worker_id.in_(workers), _is_newest(Judgment))
        .group_by(Assignment.worker_id)
        .having(missing > 0)
    )
    pages = {worker: number for worker, number in session.execute(holed)}  # noqa: C416 - rows are not tuples to mypy
    answers = {worker: number for worker, number in session.execute(unlogged)}  # noqa: C416
    return {
        worker: Gaps(pages=pages.get(worker, 0), answers=answers.get(worker, 0)) for worker in pages | answers
    }


FACTS: Mapping[str, Fact] = {
    "reached": reached,
    "consistency": consistency,
    "care": care,
    "window": windows,
    "gaps": gaps,
}

"""What is looked up of some workers at once; who is missing from the answer has none."""
