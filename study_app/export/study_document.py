"""study.json of an export: the study, when it began and ended, its files where they stand, and its protocol."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from calibration.tables.study import Clock, FileRecord, StudyRecord, TableRecord, TaskRecord
from study_app.export.people import takes_part
from study_app.protocol.stream_rules import VISIT_GAP_SECONDS
from study_app.store.models import (
    Assignment,
    Ballot,
    Event,
    Judgment,
    PageLoad,
    PlatformIdentity,
    Showing,
    Slot,
    Study,
    Task,
    Worker,
)
from study_app.store.task_models import Follow, Rating, Reply, Sheet, UsefulAnswer, UsefulQuestion
from study_app.study.platforms import SIMULATED
from study_app.tasks.kinds import kinds_with


def began_at(session: Session, study: Study) -> datetime:
    """Return the first consent, or else when the study was loaded."""
    first = session.scalar(select(func.min(Worker.consented_at)).where(takes_part(study.id)))
    return first or study.loaded_at


def ended_at(session: Session, study: Study, *, now: datetime) -> datetime:
    """Return ``now`` while somebody is at work or follows a stream, else the latest moment that the answers know of.

    So the same finished study gives the same tables whenever it is exported. Never before that latest moment: the virtual clock of
    a simulation may run ahead of ``now``.
    """
    latest = max([began_at(session, study), *_moments(session, study.id, now=now)])
    return max(latest, now) if _goes_on(session, study.id, now=now) else latest


def is_simulated(session: Session, study_id: int) -> bool:
    """Say whether the first who came was simulated: a crowd goes through databases only that held nobody yet.

    Unknown, and so False, once platform ids are deleted, and where every id is a number.
    """
    first = (
        select(PlatformIdentity.platform_worker)
        .where(PlatformIdentity.study_id == study_id)
        .order_by(PlatformIdentity.id)
        .limit(1)
    )
    return (session.scalar(first) or "").startswith(SIMULATED)


def _goes_on(session: Session, study_id: int, *, now: datetime) -> bool:
    """Say whether somebody who has not come to an end holds a place, or follows a stream."""
    slots = _of_slots(select(Slot.id), study_id).where(
        Worker.completed_at.is_(None), Worker.stopped_at.is_(None)
    )
    held = slots.where(Slot.done_at.is_(None), Slot.expires_at > now)
    followed = slots.join(Follow, Follow.slot_id == Slot.id).where(Follow.ends_at > now)
    return any(session.scalar(found.limit(1)) is not None for found in (held, followed))


def _moments(session: Session, study_id: int, *, now: datetime) -> Iterator[datetime]:
    """Yield the last consent, end of a part, answer, event received, and end of a follow that is over."""
    columns = (Worker.consented_at, Worker.completed_at, Worker.stopped_at)
    latest = [select(func.max(column)).where(takes_part(study_id)) for column in columns]
    latest += [
        _of_slots(select(func.max(Judgment.decided_at)).join(Judgment.showing).join(Showing.slot), study_id),
        _of_slots(select(func.max(Rating.decided_at)).join(Rating.sheet).join(Sheet.slot), study_id),
        _of_slots(
            select(func.max(UsefulAnswer.answered_at))
            .join(UsefulAnswer.question)
            .join(Follow, Follow.id == UsefulQuestion.follow_id)
            .join(Follow.slot),
            study_id,
        ),
        _of_slots(select(func.max(Follow.ends_at)).join(Follow.slot), study_id).where(
            Worker.stopped_at.is_(None), Follow.ends_at <= now
        ),
        select(func.max(Event.received_at))
        .join(PageLoad, PageLoad.id == Event.page_load_id)
        .join(Worker, Worker.id == PageLoad.worker_id)
        .where(takes_part(study_id)),
    ]
    latest += [
        _of_slots(select(func.max(model.decided_at)).join(Slot, Slot.id == model.slot_id), study_id)
        for model in (Ballot, Reply)
    ]
    for query in latest:
        moment: datetime | None = session.scalar(query)
        if moment is not None:
            yield moment


def _of_slots(query: Select[Any], study_id: int) -> Select[Any]:
    """Go on from slots to the workers of a study who take part."""
    return query.join(Slot.assignment).join(Assignment.worker).where(takes_part(study_id))


HEARTBEAT_SECONDS = 5
_NOT_PROTOCOL = frozenset({"name", "kind", "language", "collection", "systems"})


def study_record(
    session: Session, study: Study, *, ended_at: datetime, tables: Mapping[str, TableRecord]
) -> StudyRecord:
    """Return what study.json says of a study that ended then, as far as its tables know, and of these tables."""
    started_at = began_at(session, study)
    streams = next((task.config for task in study.tasks if task.kind in kinds_with("stream")), None)
    return StudyRecord(
        study=study.name,
        title=study.config["title"],
        started_at=started_at,
        ended_at=ended_at,
        simulated=is_simulated(session, study.id),
        prefcal_version=version("prefcal"),
        study_sha256=study.sha256,
        clock=Clock(origin=started_at, factor=streams["clock_factor"] if streams else 1.0),
        idle_seconds=streams["idle_seconds"] if streams else None,
        visit_gap_seconds=VISIT_GAP_SECONDS if streams else 0.0,
        heartbeat_seconds=HEARTBEAT_SECONDS,
        tasks={task.name: _task_record(task, Path(study.folder)) for task in study.tasks},
        tables=dict(tables),
    )


def _task_record(task: Task, folder: Path) -> TaskRecord:
    return TaskRecord.model_validate(
        {
            "kind": task.kind,
            "language": task.language,
            "collection": {
                kind: FileRecord(path=str(folder / file["path"]), sha256=file["sha256"])
                for kind, file in task.files.items()
            },
            "systems": {
                system.name: FileRecord(path=str(folder / system.path), sha256=system.sha256)
                for system in task.systems
            },
            "protocol": {key: value for key, value in task.config.items() if key not in _NOT_PROTOCOL},
        }
    )
