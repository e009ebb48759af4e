"""Who took part: whose rows are exported, the table workers, how the exclusion rule judges each, and what they agreed to."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session

from calibration.tables.tables import TABLES
from study_app.protocol.domain import (
    EXCLUSION_RULE,
    FLAGS,
    SHARED,
    exclusion_reasons,
    flags_by_worker,
    is_consistent,
)
from study_app.store.models import PlatformIdentity, Worker
from study_app.store.plan import StudyPlan
from study_app.store.submissions import sharers
from study_app.store.task_models import ConsentText
from study_app.study.entries import JudgingTask, SearchedTask
from study_app.study.platforms import platform_of

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
    session: Session, plan: StudyPlan, searches: pd.DataFrame, preferences: pd.DataFrame
) -> pd.DataFrame:
    """Return table workers: everybody who ever consented; a worker who withdrew has no figures any more.

    Parameters
    ----------
    searches : DataFrame
        worker, task, seconds.
    preferences : DataFrame
        Table preferences.
    """
    stored = session.execute(
        select(
            Worker.id,
            Worker.pseudonym,
            PlatformIdentity.platform,
            Worker.consented_at,
            Worker.completed_at,
            Worker.withdrawn_at,
            Worker.stopped_as,
        )
        .outerjoin(PlatformIdentity, PlatformIdentity.worker_id == Worker.id)
        .where(Worker.study_id == plan.id, Worker.consented_at.is_not(None))
        .order_by(Worker.number)
    ).all()
    searched, repeated = _searches(plan, searches), _repeats(plan, preferences)
    flags, shared = flags_by_worker(preferences), sharers(session, plan.id, platform_of(plan.entry))
    rows: list[tuple[object, ...]] = []
    for row, worker, platform, consented_at, completed_at, withdrawn_at, stopped_as in stored:
        known = (worker, platform, consented_at, completed_at, withdrawn_at)
        if withdrawn_at is not None:
            rows.append((*known, None, None, None, None, "withdrawn", None))
            continue
        ended_as = "complete" if completed_at is not None else stopped_as
        up = [flag for flag in FLAGS if flags.get(worker, {}).get(flag)] + [SHARED] * (row in shared)
        figures = _figures(searched.get(worker, ()), repeated.get(worker, ()))
        rows.append((*known, *figures, ended_as, ", ".join(up) or None))
    return pd.DataFrame(rows, columns=list(TABLES["workers"].column_names))


def _searches(plan: StudyPlan, searches: pd.DataFrame) -> dict[str, list[tuple[float, float]]]:
    """Return worker -> seconds of each search, and the least that its task wants."""
    least = {
        str(task.entry.name): float(task.entry.min_search_seconds)
        for task in plan.tasks
        if isinstance(task.entry, SearchedTask)
    }
    seconds_by_worker: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for worker, task, seconds in searches[["worker", "task", "seconds"]].itertuples(index=False, name=None):
        seconds_by_worker[worker].append((seconds, least[task]))
    return seconds_by_worker


def _repeats(plan: StudyPlan, preferences: pd.DataFrame) -> dict[str, list[tuple[bool, float]]]:
    """Return worker -> whether each repeat was consistent, and the share of them that its task wants."""
    least = {
        str(task.entry.name): task.entry.min_consistency
        for task in plan.tasks
        if isinstance(task.entry, JudgingTask)
    }
    repeats: defaultdict[str, list[tuple[bool, float]]] = defaultdict(list)
    for one in validations(preferences):
        repeats[one.worker].append((one.consistent, least[one.task]))
    return repeats


def _figures(
    searches: Sequence[tuple[float, float]], repeats: Sequence[tuple[bool, float]]
) -> tuple[float | None, float | None, bool, str | None]:
    """Return mean search time and consistency over all tasks, and what the rule says."""
    reasons = exclusion_reasons(searches=searches, validations=repeats)
    return (
        _mean([seconds for seconds, _ in searches]),
        _mean([consistent for consistent, _ in repeats]),
        bool(reasons),
        f"rule {EXCLUSION_RULE}: {', '.join(reasons)}" if reasons else None,
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


FOLDER = "consent"
NAME = re.compile(rf"{FOLDER}/[0-9a-f]{{64}}\.txt")


def write_consents(session: Session, study_id: int, folder: Path) -> None:
    """Write ``consent/SHA256.txt`` for each text that a worker who takes part agreed to, byte for byte; none, no folder."""
    agreed = select(Worker.consent_sha256).where(takes_part(study_id)).distinct()
    texts = select(ConsentText.sha256, ConsentText.text).where(
        ConsentText.study_id == study_id, ConsentText.sha256.in_(agreed)
    )
    for sha256, text in session.execute(texts.order_by(ConsentText.sha256)):
        (folder / FOLDER).mkdir(exist_ok=True)
        (folder / FOLDER / f"{sha256}.txt").write_bytes(text.encode())
