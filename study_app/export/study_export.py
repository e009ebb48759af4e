"""Export of a study: a folder of tables, with its times, files and protocol."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from calibration.tables.files import PARQUET_ROWS, write_tables
from calibration.tables.fresh_folder import fresh_folder
from calibration.tables.study_json import (
    RAW_FOLDER,
    STUDY_FILE,
    Clock,
    FileRecord,
    ResultsOpened,
    StudyRecord,
    TableRecord,
    TaskRecord,
    read_study,
    table_records,
    write_study,
)
from calibration.tables.tables import TABLES
from metrics.errors import InputError, input_fault
from metrics.files import relative_path
from study_app.export.answers import (
    answers_table,
    criteria_table,
    importance_table,
    intent_votes_table,
    preferences_table,
    searches_table,
    stored_features,
    stored_intents,
)
from study_app.export.event_log import EventLog
from study_app.export.folder import open_tables
from study_app.export.log_gaps import LogGaps, MissingLogs, missing_logs, page_gaps
from study_app.export.moved_times import MovedTimes, hours_around, moved_times
from study_app.export.past_texts import load_records, mended_records
from study_app.export.people import (
    CONSENT_FILE,
    logged_events,
    validations,
    worker_groups,
    workers_table,
    write_consents,
)
from study_app.export.raw import RAW_LOGS, raw_log_tables, write_raw
from study_app.export.raw_tables import RAW_TABLES
from study_app.export.readings import pair_logs, reads_rows, shown_texts, stops_rows
from study_app.export.stream_logs import StreamTexts, stream_logs, task_clocks
from study_app.export.stream_tables import (
    follows_rows,
    lateness_table,
    prompts_table,
    stream_activity_rows,
    stream_reads_rows,
    stream_stops_rows,
    visits_rows,
)
from study_app.logs.activity_kernels import loops_for
from study_app.logs.page_events import events_schema
from study_app.protocol.domain import VISIT_GAP_SECONDS
from study_app.store.models import (
    Assignment,
    Ballot,
    Judgment,
    LoadedStudy,
    PageLoad,
    Showing,
    Slot,
    StoredEvent,
    Task,
    Worker,
)
from study_app.store.results_views import results_views
from study_app.store.simulated_workers import is_simulated
from study_app.store.study_cache import CachedStudy, read_plan
from study_app.store.submissions import takes_part
from study_app.store.task_models import Follow, Rating, Reply, Sheet, UsefulAnswer, UsefulQuestion
from study_app.study.entries import JudgingTask
from study_app.tasks.kinds import kinds_with

EVENTS_SCHEMA = "events.schema.json"
FILES = frozenset(
    [STUDY_FILE, f"{RAW_FOLDER}/{EVENTS_SCHEMA}"]
    + [f"{name}.{suffix}" for name in TABLES for suffix in ("csv", "parquet")]
    + [f"{RAW_FOLDER}/{name}.{suffix}" for name in RAW_TABLES for suffix in ("csv", "parquet")]
)
"""Files that an export may write, relative to its folder, besides consent texts."""

_FROM_ANSWERS = {
    "intent_votes": intent_votes_table,
    "importance": importance_table,
    "answers": answers_table,
}
_FROM_FOLLOWS = {"prompts": prompts_table, "lateness": lateness_table}
_FROM_PAIRS = {"reads": reads_rows, "stops": stops_rows}
_FROM_STREAMS = {
    "follows": follows_rows,
    "visits": visits_rows,
    "activity": stream_activity_rows,
    "reads": stream_reads_rows,
    "stops": stream_stops_rows,
}


def began_at(session: Session, study: LoadedStudy) -> datetime:
    """Return the time of the first consent, or else of loading the study."""
    first = session.scalar(select(func.min(Worker.consented_at)).where(takes_part(study.id)))
    return first or study.loaded_at


def ended_at(session: Session, study: LoadedStudy, *, now: datetime) -> datetime:
    """Return the latest stored moment of a study, or ``now`` while it goes on.

    It goes on while somebody is at work or follows a stream. So the same finished study gives the same tables
    whenever it is exported. Never before the latest moment: the virtual clock of a simulation may run ahead
    of ``now``.
    """
    latest = max([began_at(session, study), *_moments(session, study.id, now=now)])
    return max(latest, now) if _goes_on(session, study.id, now=now) else latest


def _goes_on(session: Session, study_id: int, *, now: datetime) -> bool:
    """Return whether a worker still holds a slot or follows a stream."""
    slots = _of_slots(select(Slot.id), study_id).where(
        Worker.completed_at.is_(None), Worker.stopped_at.is_(None)
    )
    held_slots = slots.where(Slot.done_at.is_(None), Slot.expires_at > now)
    followed = slots.join(Follow, Follow.slot_id == Slot.id).where(Follow.ends_at > now)
    return any(session.scalar(slots_at_work.limit(1)) is not None for slots_at_work in (held_slots, followed))


def _moments(session: Session, study_id: int, *, now: datetime) -> Iterator[datetime]:
    """Yield the latest moment of each kind that the database has.

    Kinds are consents, ends of workers' parts, answers, events received, and ends of follows that are over.
    """
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
        select(func.max(StoredEvent.received_at))
        .join(PageLoad, PageLoad.id == StoredEvent.page_load_id)
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
    """Join slots with the exported workers of a study."""
    return query.join(Slot.assignment).join(Assignment.worker).where(takes_part(study_id))


HEARTBEAT_SECONDS = 5

_NOT_PROTOCOL = frozenset({"name", "kind", "language", "collection", "systems"})


def study_record(
    session: Session,
    study: LoadedStudy,
    place: Path,
    *,
    ended_at: datetime,
    tables: Mapping[str, TableRecord],
    exact_times: bool = False,
) -> StudyRecord:
    """Return the study.json of a study that ended at ``ended_at``.

    It describes the study as far as its tables know it, and its tables in the folder ``place``.
    """
    started_at = began_at(session, study)
    if not exact_times:
        started_at, ended_at = hours_around(started_at, ended_at)
    streams = next((task.config for task in study.tasks if task.kind in kinds_with("stream")), None)
    return StudyRecord(
        study=study.name,
        title=study.config["title"],
        started_at=started_at,
        ended_at=ended_at,
        times="exact" if exact_times else "moved",
        simulated=is_simulated(session, study.id),
        pseudonyms=_fingerprint(study),
        prefcal_version=version("prefcal"),
        study_sha256=study.sha256,
        clock=Clock(origin=started_at, factor=streams["clock_factor"] if streams else 1.0),
        idle_seconds=streams["idle_seconds"] if streams else None,
        visit_gap_seconds=VISIT_GAP_SECONDS if streams else 0.0,
        heartbeat_seconds=HEARTBEAT_SECONDS,
        tasks={task.name: _task_record(task, Path(study.folder), place) for task in study.tasks},
        tables=dict(tables),
        results_opened=tuple(
            ResultsOpened(at=view.at, judgments=view.judgments) for view in results_views(session, study.id)
        ),
        loads=load_records(session, study.id),
    )


def _fingerprint(study: LoadedStudy) -> str | None:
    """Return the fingerprint of the key of a study's pseudonyms, None where they are random, as in a rehearsal."""
    loaded = study.config.get("pseudonyms")
    return loaded[0] if isinstance(loaded, list) else None


def _task_record(task: Task, folder: Path, place: Path) -> TaskRecord:
    return TaskRecord.model_validate(
        {
            "kind": task.kind,
            "language": task.language,
            "collection": {
                kind: FileRecord(path=relative_path(folder / file["path"], place), sha256=file["sha256"])
                for kind, file in task.files.items()
            },
            "systems": {
                system.name: FileRecord(path=relative_path(folder / system.path, place), sha256=system.sha256)
                for system in task.systems
            },
            "protocol": {key: value for key, value in task.config.items() if key not in _NOT_PROTOCOL},
            "topics": {
                topic.name: hashlib.sha256(topic.text.encode()).hexdigest()[:16] for topic in task.topics
            },
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSummary:
    """Counts of an export.

    Attributes
    ----------
    rows : dict of str to int
        Number of rows by table; tables of the folder raw as ``raw/NAME``.
    workers, completed, withdrawn, excluded : int
        Workers who ever consented, who finished, who took the consent back, and whom rule `EXCLUSION_RULE` excludes.
        Workers who withdrew are not among those who finished or are excluded.
    validations, consistent, same_option : int
        Validation pairs answered, those with the same system or a tie both times, and those with the same one of the
        four options both times.
    gaps : LogGaps
        Gaps of the logs.
    running : bool
        Somebody still holds a slot or follows a stream: the tables end with the export.
    """

    rows: dict[str, int]
    workers: int
    completed: int
    withdrawn: int
    excluded: int
    validations: int
    consistent: int
    same_option: int
    gaps: LogGaps
    running: bool


def export_study(  # noqa: PLR0913 - one argument an option of the command
    session: Session,
    study: LoadedStudy,
    folder: str | Path,
    *,
    now: datetime,
    raw: bool = False,
    parquet: bool = False,
    texts: bool = False,
    exact_times: bool = False,
    complete: Mapping[int, datetime] | None = None,
) -> ExportSummary:
    """Write the tables of a study and its study.json.

    ``folder`` appears complete or not at all.

    Parameters
    ----------
    session : Session
        Only read from.
    study : LoadedStudy
        The study.
    folder : str or Path
        Replaces an earlier export there.
    now : datetime
        End of the study as far as these tables know it, while somebody is at work; see `ended_at`.
    raw : bool
        Write the folder ``raw`` too.
    parquet : bool
        Write every table as Parquet too, not only those of `PARQUET_ROWS` rows or more.
    texts : bool
        Write the reasons that workers gave for their choices, in their own words.
    complete : mapping of int to datetime, optional
        Time of complete data by worker (row); by default of the workers who pressed the last button.
    exact_times : bool
        Leave all times as they are, although they lead back to a platform's list; see `study_app.export.moved_times`.

    Raises
    ------
    InputError
        If ``folder`` holds anything that no export wrote, or the tables of another study, or cannot be written.
    """
    folder, plan = Path(folder), read_plan(session, study.id)
    _check_same_study(folder, study.name)
    end, missing = ended_at(session, study, now=now), missing_logs(session, study.id)
    moved = None if exact_times else moved_times(session, study.id)
    preferences = preferences_table(session, study.id, texts=texts)
    repeated, workers = validations(preferences), workers_table(session, plan, complete)
    with fresh_folder(
        folder, is_ours=lambda name: name in FILES or CONSENT_FILE.fullmatch(name) is not None
    ) as new:
        tables = {"workers": workers, **_answer_tables(session, plan, preferences)}
        if moved is not None:
            tables = {name: moved.move(frame, TABLES[name]) for name, frame in tables.items()}
        write_tables(tables, new, parquet=True)
        if raw:
            (new / RAW_FOLDER).mkdir()
            (new / RAW_FOLDER / EVENTS_SCHEMA).write_text(events_schema(), encoding="utf-8")
        rows, raw_rows = _write_logs(session, plan, new, missing, moved, raw=raw, now=end)
        rows = {name: len(frame) for name, frame in tables.items()} | rows
        record = study_record(
            session, study, folder, ended_at=end, tables=table_records(new, rows), exact_times=exact_times
        )
        mended = mended_records(session, study.id, preferences)
        write_study(record.model_copy(update={"mended_texts": mended}), new)
        write_consents(session, study.id, new)
        if raw:
            raw_rows |= write_raw(session, study.id, new / RAW_FOLDER, moved, texts=texts)
            rows |= {f"{RAW_FOLDER}/{name}": raw_rows[name] for name in RAW_TABLES}
        for name, count in rows.items():
            if count < PARQUET_ROWS and not parquet:
                (new / f"{name}.parquet").unlink()
    withdrawn = workers["withdrawn_at"].notna()
    return ExportSummary(
        rows=rows,
        workers=len(workers),
        completed=int((workers["completed_at"].notna() & ~withdrawn).sum()),
        withdrawn=int(withdrawn.sum()),
        excluded=int((workers["excluded"] == True).sum()),  # noqa: E712 - empty for those who withdrew
        validations=len(repeated),
        consistent=sum(consistent for consistent, _ in repeated),
        same_option=sum(same_option for _, same_option in repeated),
        gaps=missing.total(),
        running=_goes_on(session, study.id, now=now),
    )


def _earlier_export(folder: Path) -> StudyRecord | None:
    """Return the study.json of an earlier export; None where it is missing or damaged."""
    try:
        return read_study(folder)
    except InputError:  # the new export mends it
        return None


def check_not_real(session: Session, study: LoadedStudy, folder: Path) -> None:
    """Refuse to replace tables of real workers by those of simulated ones.

    Raises
    ------
    InputError
        If ``folder`` has an earlier export with real workers, and those of the study are simulated.
    """
    earlier = _earlier_export(folder)
    has_workers = earlier is not None and "workers" in earlier.tables and earlier.tables["workers"].rows > 0
    if earlier is not None and has_workers and not earlier.simulated and is_simulated(session, study.id):
        raise input_fault(
            f"this folder has the tables of real workers of {earlier.study}, and those of this database are simulated",
            path=folder,
            cure="name another folder, or replace them with --replace-real",
        )


def _check_same_study(folder: Path, name: str) -> None:
    """Refuse to replace the tables of another study."""
    earlier = _earlier_export(folder)
    if earlier is not None and earlier.study not in {None, name}:
        raise input_fault(
            f"this folder has the tables of study {earlier.study}, and not of {name}",
            path=folder,
            cure="name another folder, or move these away",
        )


def _tables_of(plan: CachedStudy) -> set[str]:
    """Return the names of the tables that the kinds of tasks of a study have."""
    return {name for task in plan.tasks for name in task.kind.tables}


def _answer_tables(session: Session, plan: CachedStudy, preferences: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables of answers and of material, which are whole in memory."""
    names, intents = _tables_of(plan), stored_intents(session, plan.id)
    tables = {} if intents.empty else {"intents": intents}
    tables |= {name: table(session, plan.id) for name, table in _FROM_ANSWERS.items() if name in names}
    if "preferences" in names:
        tables["preferences"] = preferences
    if any(isinstance(task.entry, JudgingTask) and task.entry.asked_criteria for task in plan.tasks):
        tables["criteria"] = criteria_table(session, plan.id)
    if "searches" in names:
        tables["searches"] = searches_table(session, plan.id)
    tables |= stored_features(session, plan.id)
    return tables | {name: table(session, plan.id) for name, table in _FROM_FOLLOWS.items() if name in names}


def _write_logs(
    session: Session,
    plan: CachedStudy,
    folder: Path,
    missing: MissingLogs,
    moved: MovedTimes | None,
    *,
    raw: bool,
    now: datetime,
) -> tuple[dict[str, int], dict[str, int]]:
    """Write the tables of logs, some workers at a time, and add up the gaps.

    It returns the number of rows by table, and by raw table.
    """
    study_id, shown = plan.id, {task.kind.page for task in plan.tasks}
    summaries, clocks = shown_texts(session, study_id), task_clocks(session, study_id)
    texts, loops = StreamTexts(session), loops_for(logged_events(session, study_id))
    names = {*_FROM_PAIRS, *_FROM_STREAMS} & _tables_of(plan)
    wanted = [table for name, table in TABLES.items() if name in names]
    with ExitStack() as files:
        tables = open_tables(files, folder, wanted, moved)
        raw_logs = [RAW_TABLES[name] for name in RAW_LOGS] if raw else []
        raw_tables = open_tables(files, folder / RAW_FOLDER, raw_logs, moved)
        for some in worker_groups(session, study_id):
            log = EventLog(session, list(some), loops)
            gaps = page_gaps(session, list(some), log)
            missing.add(gaps)
            if raw:
                for name, frame in raw_log_tables(missing, list(some.values()), log, gaps).items():
                    raw_tables[name].append(frame)
            if "pair" in shown:
                pages = pair_logs(session, list(some), log, summaries)
                for name, pair_rows in _FROM_PAIRS.items():
                    if name in tables:
                        tables[name].append(pair_rows(pages))
            if "stream" in shown:
                follows = stream_logs(session, list(some), log, clocks, texts, now=now)
                for name, stream_rows in _FROM_STREAMS.items():
                    tables[name].append(stream_rows(follows))
        counts, raw_counts = (
            {name: table.rows for name, table in opened.items()} for opened in (tables, raw_tables)
        )
        return counts, raw_counts
