"""Who took part: whose rows are exported, the table workers, and how the exclusion rule judges each."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session

from calibration.tables import TABLES
from study_app.domain import EXCLUSION_RULE, exclusion_reasons, is_consistent
from study_app.models import PlatformIdentity, Worker
from study_app.plan import StudyPlan
from study_app.study_entries import JudgedTask, SummaryPairs

WORKERS_AT_ONCE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """A pair that a worker was asked twice.

    Attributes
    ----------
    consistent : bool
        The same system both times, or an equal option both times.
    same_option : bool
        The same of the four options both times, seen from the systems.
    """

    worker: str
    task: str
    consistent: bool
    same_option: bool


def takes_part(study_id: int) -> ColumnElement[bool]:
    """Return the condition that a worker's rows are exported: consent was given and not taken back."""
    return and_(Worker.study_id == study_id, Worker.consented_at.is_not(None), Worker.withdrawn_at.is_(None))


def worker_groups(session: Session, study_id: int) -> Iterator[Sequence[int]]:
    """Yield the rows of those who take part in order of arrival, a few at a time: what is large is done group by group."""
    workers = session.scalars(select(Worker.id).where(takes_part(study_id)).order_by(Worker.number)).all()
    for start in range(0, len(workers), WORKERS_AT_ONCE):
        yield workers[start : start + WORKERS_AT_ONCE]


def validations(preferences: pd.DataFrame) -> list[Validation]:
    """Compare each validation pair with the judgment it repeats, both as they finally stand."""
    sides = ["choice", "system_left", "system_right"]
    answers = dict(
        zip(preferences["judgment"], preferences[sides].itertuples(index=False, name=None), strict=True)
    )
    repeats = preferences[preferences["validation_of"].notna()]
    columns = repeats[["worker", "task", "judgment", "validation_of"]]
    return [
        _validation(worker, task, answers[first], answers[second])
        for worker, task, second, first in columns.itertuples(index=False, name=None)
    ]


def _validation(
    worker: str, task: str, first: tuple[str, str, str], second: tuple[str, str, str]
) -> Validation:
    consistent = is_consistent(first, second)
    is_tie = first[0] not in {"left", "right"}
    return Validation(
        worker=worker,
        task=task,
        consistent=consistent,
        same_option=consistent and (not is_tie or first[0] == second[0]),
    )


def workers_table(
    session: Session, plan: StudyPlan, searches: pd.DataFrame, repeated: Iterable[Validation]
) -> pd.DataFrame:
    """Return table workers: everybody who ever consented; who withdrew has no figures any more.

    Parameters
    ----------
    searches : DataFrame
        worker, task, seconds.
    repeated : iterable of Validation
        From `validations`.
    """
    found = session.execute(
        select(
            Worker.pseudonym,
            PlatformIdentity.platform,
            Worker.consented_at,
            Worker.completed_at,
            Worker.withdrawn_at,
        )
        .outerjoin(PlatformIdentity, PlatformIdentity.worker_id == Worker.id)
        .where(Worker.study_id == plan.id, Worker.consented_at.is_not(None))
        .order_by(Worker.number)
    ).all()
    searched = _seconds(searches)
    checks: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    for one in repeated:
        checks[one.worker, one.task].append(one.consistent)
    rows = []
    for worker, platform, consented_at, completed_at, withdrawn_at in found:
        figures = (
            (None, None, None, None) if withdrawn_at is not None else _figures(plan, worker, searched, checks)
        )
        rows.append((worker, platform, consented_at, completed_at, withdrawn_at, *figures))
    return pd.DataFrame(rows, columns=list(TABLES["workers"].column_names))


def _seconds(searches: pd.DataFrame) -> dict[tuple[str, str], list[float]]:
    seconds: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for worker, task, length in searches[["worker", "task", "seconds"]].itertuples(index=False, name=None):
        seconds[worker, task].append(length)
    return seconds


def _figures(
    plan: StudyPlan,
    worker: str,
    searched: dict[tuple[str, str], list[float]],
    checks: dict[tuple[str, str], list[bool]],
) -> tuple[float | None, float | None, bool, str | None]:
    """Return mean search time and consistency over all tasks, and what the rule says, task by task."""
    tasks = [task.entry for task in plan.tasks if isinstance(task.entry, JudgedTask)]
    seconds = [length for task in tasks for length in searched.get((worker, str(task.name)), ())]
    agreed = [check for task in tasks for check in checks.get((worker, str(task.name)), ())]
    reasons = [reason for task in tasks for reason in _reasons(task, worker, searched, checks)]
    listed = ", ".join(dict.fromkeys(reasons))
    return (
        _mean(seconds),
        _mean(agreed),
        bool(reasons),
        f"rule {EXCLUSION_RULE}: {listed}" if reasons else None,
    )


def _reasons(
    task: JudgedTask,
    worker: str,
    searched: dict[tuple[str, str], list[float]],
    checks: dict[tuple[str, str], list[bool]],
) -> tuple[str, ...]:
    """Apply the rule to one task; only summaries are searched for."""
    key = (worker, str(task.name))
    return exclusion_reasons(
        mean_search_seconds=_mean(searched.get(key, ())),
        min_search_seconds=task.min_search_seconds if isinstance(task, SummaryPairs) else 0,
        validations=checks.get(key, ()),
        min_consistency=task.min_consistency,
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
