"""Quality checks of workers, by the rules of the exported table workers."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import BigInteger, Select, and_, case, func, or_, select, type_coerce
from sqlalchemy.orm import Session, aliased

from study_app.protocol.domain import (
    MIN_DECISION_SECONDS,
    MIN_VALIDATIONS,
    SHARED,
    exclusion_reasons,
    is_hurried,
    is_straight,
)
from study_app.store.models import Assignment, Judgment, Pair, Showing, Slot
from study_app.store.study_cache import CachedStudy
from study_app.store.submissions import sharers
from study_app.study.entries import JudgingTask, TaskWithSearch
from study_app.study.platforms import platform_of

CHOICES = ("left", "right", "equally_good", "equally_bad")

Workers: TypeAlias = Collection[int] | Select[int]
"""Rows of a few workers, or a select of many for the database to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CareChecks:
    """Quality checks of one worker, as table workers has them.

    Attributes
    ----------
    flags : tuple of str
        Signs of careless work; they leave nobody out.
    excluded : tuple of str
        Why the exclusion rule leaves the worker out; () if not.
    judged : frozenset of str
        The checks for which there is enough: search, consistency, gold, and the flags.
    choices : tuple of int
        How often each of `CHOICES` was the answer, repeats and gold pairs not counted.
    """

    flags: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    judged: frozenset[str] = frozenset()
    choices: tuple[int, ...] = (0, 0, 0, 0)


def care_checks(session: Session, study: CachedStudy, workers: Workers) -> dict[int, CareChecks]:
    """Return the quality checks of each worker for or against whom there is any sign."""
    repeats, searches = repeat_answers(session, study, workers), _searches(session, study, workers)
    gold = gold_answers(session, study, workers)
    answers, shared = _answers(session, workers), sharers(session, study.id, platform_of(study.entry))
    checks = {}
    for worker in answers.keys() | repeats.keys() | gold.keys() | searches.keys() | shared:
        choices, flags = answers.get(worker, _NO_ANSWERS)
        own_repeats, own_searches = repeats.get(worker, ()), searches.get(worker, ())
        own_gold = gold.get(worker, ())
        judged = {
            "search": bool(own_searches),
            "consistency": len(own_repeats) >= MIN_VALIDATIONS,
            "gold": len(own_gold) >= MIN_VALIDATIONS,
            **{flag: is_up is not None for flag, is_up in flags.items()},
        }
        checks[worker] = CareChecks(
            flags=(
                *(flag for flag, is_up in flags.items() if is_up),
                *((SHARED,) if worker in shared else ()),
            ),
            excluded=exclusion_reasons(searches=own_searches, validations=own_repeats, golds=own_gold),
            judged=frozenset(check for check, is_enough in judged.items() if is_enough),
            choices=choices,
        )
    return checks


def is_newest(judgment: type[Judgment]) -> Any:
    """Return the condition that no later revision of a judgment is stored."""
    later = aliased(Judgment)
    newer = (later.showing_id == judgment.showing_id) & (later.revision == judgment.revision + 1)
    return ~select(later.id).where(newer, later.revision > 1).exists()


_Answers: TypeAlias = tuple[tuple[int, ...], Mapping[str, bool | None]]
"""Counts of `CHOICES` without repeats and gold pairs, and flags; None where unknown."""
_NO_ANSWERS: _Answers = ((0, 0, 0, 0), {})


def _answers(session: Session, workers: Workers) -> dict[int, _Answers]:
    first_met = and_(Showing.repeats_id.is_(None), Judgment.revision == 1)
    quick = and_(first_met, Judgment.decision_ms < 1000 * MIN_DECISION_SECONDS)
    is_gold = Showing.pair_id.in_(select(Pair.id).where(Pair.gold.is_not(None)))
    is_check = or_(Showing.repeats_id.is_not(None), is_gold)
    conditions = (
        first_met,
        quick,
        *(and_(Judgment.choice == choice, ~is_check) for choice in CHOICES),
        *(and_(Judgment.choice == choice, is_check) for choice in CHOICES),
    )
    counted = (
        select(Assignment.worker_id, *(func.count().filter(condition) for condition in conditions))
        .select_from(Assignment)
        .join(Assignment.slots)
        .join(Slot.showings)
        .join(Showing.judgments)
        .where(Assignment.worker_id.in_(workers), is_newest(Judgment))
        .group_by(Assignment.worker_id)
    )
    answers: dict[int, _Answers] = {}
    for worker, timed, hurried, *numbers in session.execute(counted):
        first, again = numbers[: len(CHOICES)], numbers[len(CHOICES) :]
        seconds = [0.0] * hurried + [MIN_DECISION_SECONDS] * (timed - hurried)
        every = zip(CHOICES, first, again, strict=True)
        choices = [choice for choice, number, repeated in every for _ in range(number + repeated)]
        flags = {"dwell": is_hurried(seconds), "straight_lining": is_straight(choices)}
        answers[worker] = (tuple(first), flags)
    return answers


def repeat_answers(
    session: Session, study: CachedStudy, workers: Workers
) -> dict[int, list[tuple[bool, float]]]:
    """Return (is consistent, share that its task wants) of each worker's repeats."""
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
        .where(Assignment.worker_id.in_(workers), is_newest(Judgment), is_newest(answer))
        .group_by(Assignment.worker_id, Assignment.task_id)
    )
    repeats: defaultdict[int, list[tuple[bool, float]]] = defaultdict(list)
    for worker, task, number, consistent in session.execute(compared):
        entry = study.task(task).entry
        if isinstance(entry, JudgingTask):
            repeats[worker] += [(index < consistent, entry.min_consistency) for index in range(number)]
    return repeats


def gold_answers(
    session: Session, study: CachedStudy, workers: Workers
) -> dict[int, list[tuple[bool, float]]]:
    """Return (is right, share that its task wants) of each worker's gold pairs."""
    if not any(task.gold for task in study.tasks):
        return {}
    better = case((Pair.gold == "a", Pair.system_a_id), (Pair.gold == "b", Pair.system_b_id), else_=0)
    is_right = _preferred(Judgment, Showing) == better
    compared = (
        select(Assignment.worker_id, Assignment.task_id, func.count(), func.count().filter(is_right))
        .select_from(Assignment)
        .join(Assignment.slots)
        .join(Slot.showings)
        .join(Showing.judgments)
        .join(Showing.pair)
        .where(Assignment.worker_id.in_(workers), Pair.gold.is_not(None), is_newest(Judgment))
        .group_by(Assignment.worker_id, Assignment.task_id)
    )
    gold: defaultdict[int, list[tuple[bool, float]]] = defaultdict(list)
    for worker, task, number, right in session.execute(compared):
        entry = study.task(task).entry
        if isinstance(entry, JudgingTask):
            gold[worker] += [(index < right, entry.min_gold) for index in range(number)]
    return gold


def _preferred(judgment: type[Judgment], showing: type[Showing]) -> Any:
    """Return the preferred system, 0 for neither: `domain.preferred` in SQL."""
    return case(
        (judgment.choice == "left", showing.left_system_id),
        (judgment.choice == "right", showing.right_system_id),
        else_=0,
    )


def _searches(session: Session, study: CachedStudy, workers: Workers) -> dict[int, list[tuple[float, float]]]:
    """Return (seconds, least that its task wants) of each worker's searches."""
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
        entry = study.task(task).entry
        if isinstance(entry, TaskWithSearch):
            searches[worker].append((milliseconds / 1000, float(entry.min_search_seconds)))
    return searches
