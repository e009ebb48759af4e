"""study.json of an export: the study, its files where they stand, and its protocol."""

from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from sqlalchemy.orm import Session

from calibration.tables.study import Clock, FileRecord, StudyRecord, TableRecord, TaskRecord
from study_app.export.study_time import began_at, is_simulated
from study_app.protocol.stream_rules import VISIT_GAP_SECONDS
from study_app.store.models import Study, Task
from study_app.tasks.kinds import kinds_with

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
