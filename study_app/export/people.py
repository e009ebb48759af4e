"""Exported workers: table workers, exclusions, validation pairs and consent texts."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

import pandas as pd
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from calibration.tables.tables import TABLES
from study_app.protocol.domain import EXCLUSION_RULE, is_consistent
from study_app.store.care import CareChecks, care_checks
from study_app.store.models import PageLoad, PlatformIdentity, Worker
from study_app.store.study_cache import CachedStudy
from study_app.store.submissions import takes_part
from study_app.store.task_models import ConsentText

CONSENT_FOLDER = "consent"
CONSENT_FILE = re.compile(rf"{CONSENT_FOLDER}/[0-9a-f]{{64}}\.txt")

WORKERS_AT_ONCE = 25
"""Workers whose logs are in memory at a time."""


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


def validations(preferences: pd.DataFrame) -> list[tuple[bool, bool]]:
    """Compare the newest answer to each validation pair with the one it repeats.

    Returns
    -------
    list of (bool, bool)
        For each whether the same system, or a tie, was the answer both times; and whether it was the same of the four options,
        seen from the systems.
    """
    sides = ["choice", "system_left", "system_right"]
    answers = dict(
        zip(preferences["judgment"], preferences[sides].itertuples(index=False, name=None), strict=True)
    )
    repeats = preferences[preferences["validation_of"].notna()]
    compared = []
    for second, first in zip(repeats["judgment"], repeats["validation_of"], strict=True):
        before, after = answers[first], answers[second]
        consistent = is_consistent(before, after)
        is_tie = before[0] not in {"left", "right"}
        compared.append((consistent, consistent and (not is_tie or before[0] == after[0])))
    return compared


def workers_table(
    session: Session, loaded_study: CachedStudy, complete: Mapping[int, datetime] | None = None
) -> pd.DataFrame:
    """Return table workers: everybody who ever consented.

    A worker who withdrew has no figures.

    Parameters
    ----------
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
    checks = care_checks(session, loaded_study, select(Worker.id).where(takes_part(loaded_study.id)))
    rows: list[tuple[object, ...]] = []
    for row, worker, platform, consented_at, pressed_at, withdrawn_at, stopped_as in stored:
        completed_at = pressed_at or complete_at.get(row)
        known = (worker, platform, consented_at, completed_at, withdrawn_at)
        if withdrawn_at is not None:
            rows.append((*known, None, None, None, None, "withdrawn", None, None))
            continue
        care = checks.get(row, CareChecks())
        rows.append(
            (
                *known,
                care.search_seconds,
                care.repeats.share,
                bool(care.excluded),
                f"rule {EXCLUSION_RULE}: {', '.join(care.excluded)}" if care.excluded else None,
                "complete" if completed_at is not None else stopped_as,
                ", ".join(care.flags) or None,
                care.gold.share,
            )
        )
    return pd.DataFrame(rows, columns=[*TABLES["workers"].usual_names, "gold_right"])


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
