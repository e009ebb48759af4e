"""Quality checks of workers, by the rules of the exported table workers."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import BigInteger, ColumnElement, Select, and_, case, func, or_, select, type_coerce
from sqlalchemy.orm import Session, aliased

from study_app.protocol.domain import (
    MIN_DECISION_SECONDS,
    MIN_VALIDATIONS,
    SHARED,
    exclusion_reasons,
    is_hurried,
    is_straight,
)
from study_app.store.models import Assignment, Judgment, Pair, Showing, Slot, Task
from study_app.store.revisions import is_newest
from study_app.store.study_cache import CachedStudy
from study_app.store.submissions import sharers
from study_app.study.entries import JudgingTask, TaskWithSearch
from study_app.study.platforms import platform_of

CHOICES = ("left", "right", "equally_good", "equally_bad")

Workers: TypeAlias = Collection[int] | Select[int]
"""Rows of a few workers, or a select of many for the database to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCount:
    """Repeated or gold pairs of a worker: how many were answered alike or right, of how many."""

    passed: int = 0
    pairs: int = 0

    @property
    def share(self) -> float | None:
        """Share that passed; None without any."""
        return self.passed / self.pairs if self.pairs else None


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
    repeats, gold : CheckCount
        Repeated pairs answered alike, and gold pairs answered right.
    search_seconds : float or None
        Mean length of the searches; None without one.
    """

    flags: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    judged: frozenset[str] = frozenset()
    choices: tuple[int, ...] = (0, 0, 0, 0)
    repeats: CheckCount = CheckCount()
    gold: CheckCount = CheckCount()
    search_seconds: float | None = None


def care_checks(session: Session, study: CachedStudy, workers: Workers) -> dict[int, CareChecks]:
    """Return the quality checks of each worker for or against whom there is any sign."""
    repeats, searches = _repeats(session, study, workers), _searches(session, study, workers)
    gold = _gold(session, study, workers)
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
        seconds = [seconds for seconds, _ in own_searches]
        checks[worker] = CareChecks(
            flags=(
                *(flag for flag, is_up in flags.items() if is_up),
                *((SHARED,) if worker in shared else ()),
            ),
            excluded=exclusion_reasons(searches=own_searches, validations=own_repeats, golds=own_gold),
            judged=frozenset(check for check, is_enough in judged.items() if is_enough),
            choices=choices,
            repeats=_passed(own_repeats),
            gold=_passed(own_gold),
            search_seconds=sum(seconds) / len(seconds) if seconds else None,
        )
    return checks


def _passed(checked: Sequence[tuple[bool, float]]) -> CheckCount:
    return CheckCount(passed=sum(is_passed for is_passed, _ in checked), pairs=len(checked))


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


_Checked: TypeAlias = dict[int, list[tuple[bool, float]]]
"""Whether each checked answer passed, and the share that its task wants, by worker."""


def _repeats(session: Session, study: CachedStudy, workers: Workers) -> _Checked:
    """Return whether each repeated pair of each worker was answered alike."""
    first, answer = aliased(Showing), aliased(Judgment)
    compared = (
        _newest_counted(workers, _preferred(Judgment, Showing) == _preferred(answer, first))
        .join(first, first.id == Showing.repeats_id)
        .join(answer, answer.showing_id == first.id)
        .where(is_newest(answer))
    )
    return _checked(session, study, compared, lambda entry: entry.min_consistency)


def _gold(session: Session, study: CachedStudy, workers: Workers) -> _Checked:
    """Return whether each gold pair of each worker was answered right."""
    if not any(task.gold for task in study.tasks):
        return {}
    better = case((Pair.gold == "a", Pair.system_a_id), (Pair.gold == "b", Pair.system_b_id), else_=0)
    compared = (
        _newest_counted(workers, _preferred(Judgment, Showing) == better)
        .join(Showing.pair)
        .where(Pair.gold.is_not(None))
    )
    return _checked(session, study, compared, lambda entry: entry.min_gold)


def _newest_counted(workers: Workers, is_passed: ColumnElement[bool]) -> Select[int, int, int, int]:
    """Count the newest answers of workers in each task, and those that passed."""
    return (
        select(Assignment.worker_id, Assignment.task_id, func.count(), func.count().filter(is_passed))
        .select_from(Assignment)
        .join(Assignment.slots)
        .join(Slot.showings)
        .join(Showing.judgments)
        .where(Assignment.worker_id.in_(workers), is_newest(Judgment))
        .group_by(Assignment.worker_id, Assignment.task_id)
    )


def _checked(
    session: Session,
    study: CachedStudy,
    counted: Select[int, int, int, int],
    minimum: Callable[[JudgingTask], float],
) -> _Checked:
    checked: _Checked = {}
    for worker, task, number, passed in session.execute(counted):
        entry = study.task(task).entry
        if isinstance(entry, JudgingTask):
            own = checked.setdefault(worker, [])
            own += [(index < passed, minimum(entry)) for index in range(number)]
    return checked


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
        .join(Assignment.task)
        .order_by(Task.position, Slot.position)
    )
    searches: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for worker, task, milliseconds in session.execute(searched):
        entry = study.task(task).entry
        if isinstance(entry, TaskWithSearch):
            searches[worker].append((milliseconds / 1000, float(entry.min_search_seconds)))
    return searches
