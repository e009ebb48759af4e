"""Exported workers: table workers, exclusions, validation pairs and consent texts."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pandas as pd
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from calibration.tables.tables import TABLES
from study_app.protocol.domain import (
    EXCLUSION_RULE,
    FLAGS,
    SHARED,
    exclusion_reasons,
    flags_by_worker,
    is_consistent,
    is_right,
)
from study_app.store.models import (
    PageLoad,
    PlatformIdentity,
    Worker,
)
from study_app.store.study_cache import CachedStudy
from study_app.store.submissions import sharers, takes_part
from study_app.store.task_models import ConsentText
from study_app.study.entries import JudgingTask, TaskWithSearch
from study_app.study.platforms import platform_of

CONSENT_FOLDER = "consent"
CONSENT_FILE = re.compile(rf"{CONSENT_FOLDER}/[0-9a-f]{{64}}\.txt")

WORKERS_AT_ONCE = 25
"""Workers whose logs are in memory at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """Pair that a worker answered twice.

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


def logged_events(session: Session, study_id: int) -> int:
    """Return the approximate number of exported events, as page loads count them."""
    counted = select(func.coalesce(func.sum(PageLoad.upto), 0)).join(Worker, Worker.id == PageLoad.worker_id)
    return int(session.scalar(counted.where(takes_part(study_id))) or 0)


def worker_groups(session: Session, study_id: int) -> Iterator[dict[int, str]]:
    """Yield the exported workers' pseudonyms by row, some workers at a time.

    Groups come in order of the pseudonyms; large tables are made group by group.
    """
    workers = session.execute(
        select(Worker.id, Worker.pseudonym).where(takes_part(study_id)).order_by(Worker.pseudonym)
    ).all()
    for start in range(0, len(workers), WORKERS_AT_ONCE):
        yield dict(workers[start : start + WORKERS_AT_ONCE])


def validations(preferences: pd.DataFrame) -> list[Validation]:
    """Compare the newest answer to each validation pair with the one it repeats."""
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
    session: Session,
    loaded_study: CachedStudy,
    searches: pd.DataFrame,
    preferences: pd.DataFrame,
    complete: Mapping[int, datetime] | None = None,
) -> pd.DataFrame:
    """Return table workers: everybody who ever consented.

    A worker who withdrew has no figures.

    Parameters
    ----------
    searches : DataFrame
        worker, task, seconds.
    preferences : DataFrame
        Table preferences.
    complete : mapping of int to datetime, optional
        Time of complete data by worker (row); by default of the workers who pressed the last button.
    """
    complete_at = complete or {}
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
        .where(Worker.study_id == loaded_study.id, Worker.consented_at.is_not(None))
        .order_by(Worker.pseudonym)
    ).all()
    searched, repeated = _searches(loaded_study, searches), _repeats(loaded_study, preferences)
    golds = _golds(loaded_study, preferences)
    flags, shared = (
        flags_by_worker(preferences),
        sharers(session, loaded_study.id, platform_of(loaded_study.entry)),
    )
    rows: list[tuple[object, ...]] = []
    for row, worker, platform, consented_at, pressed_at, withdrawn_at, stopped_as in stored:
        completed_at = pressed_at or complete_at.get(row)
        known = (worker, platform, consented_at, completed_at, withdrawn_at)
        if withdrawn_at is not None:
            rows.append((*known, None, None, None, None, "withdrawn", None, None))
            continue
        ended_as = "complete" if completed_at is not None else stopped_as
        up = [flag for flag in FLAGS if flags.get(worker, {}).get(flag)] + [SHARED] * (row in shared)
        gold = golds.get(worker, ())
        figures = _figures(searched.get(worker, ()), repeated.get(worker, ()), gold)
        gold_right = _mean([right for right, _ in gold])
        rows.append((*known, *figures, ended_as, ", ".join(up) or None, gold_right))
    return pd.DataFrame(rows, columns=[*TABLES["workers"].usual_names, "gold_right"])


def _searches(loaded_study: CachedStudy, searches: pd.DataFrame) -> dict[str, list[tuple[float, float]]]:
    """Return the seconds and the required minimum of each search, by worker."""
    least = {
        str(task.entry.name): float(task.entry.min_search_seconds)
        for task in loaded_study.tasks
        if isinstance(task.entry, TaskWithSearch)
    }
    seconds_by_worker: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for worker, task, seconds in searches[["worker", "task", "seconds"]].itertuples(index=False, name=None):
        seconds_by_worker[worker].append((seconds, least[task]))
    return seconds_by_worker


def _repeats(loaded_study: CachedStudy, preferences: pd.DataFrame) -> dict[str, list[tuple[bool, float]]]:
    """Return consistency and required share of each repeat, by worker."""
    least = {
        str(task.entry.name): task.entry.min_consistency
        for task in loaded_study.tasks
        if isinstance(task.entry, JudgingTask)
    }
    repeats: defaultdict[str, list[tuple[bool, float]]] = defaultdict(list)
    for repeat in validations(preferences):
        repeats[repeat.worker].append((repeat.consistent, least[repeat.task]))
    return repeats


def _golds(loaded_study: CachedStudy, preferences: pd.DataFrame) -> dict[str, list[tuple[bool, float]]]:
    """Return rightness and required share of each gold pair, by worker."""
    least = {
        str(task.entry.name): task.entry.min_gold
        for task in loaded_study.tasks
        if isinstance(task.entry, JudgingTask)
    }
    known = preferences[preferences["gold"].notna()][["worker", "task", "gold", "choice"]]
    golds: defaultdict[str, list[tuple[bool, float]]] = defaultdict(list)
    for worker, task, gold, choice in known.itertuples(index=False, name=None):
        golds[worker].append((is_right(gold, choice), least[task]))
    return golds


def _figures(
    searches: Sequence[tuple[float, float]],
    repeats: Sequence[tuple[bool, float]],
    golds: Sequence[tuple[bool, float]],
) -> tuple[float | None, float | None, bool, str | None]:
    """Return mean search time, consistency, exclusion and its reason.

    Means are over all tasks, or None without a search or repeat.
    """
    reasons = exclusion_reasons(searches=searches, validations=repeats, golds=golds)
    return (
        _mean([seconds for seconds, _ in searches]),
        _mean([consistent for consistent, _ in repeats]),
        bool(reasons),
        f"rule {EXCLUSION_RULE}: {', '.join(reasons)}" if reasons else None,
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def write_consents(session: Session, study_id: int, folder: Path) -> None:
    """Write the consent texts of exported workers to ``consent/SHA256.txt``.

    Texts are written byte for byte; without any there is no folder.
    """
    agreed = select(Worker.consent_sha256).where(takes_part(study_id)).distinct()
    texts = select(ConsentText.sha256, ConsentText.text).where(
        ConsentText.study_id == study_id, ConsentText.sha256.in_(agreed)
    )
    for sha256, text in session.execute(texts.order_by(ConsentText.sha256)):
        (folder / CONSENT_FOLDER).mkdir(exist_ok=True)
        (folder / CONSENT_FOLDER / f"{sha256}.txt").write_bytes(text.encode())
