"""A whole study from the database into a folder of tables."""

from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy.orm import Session

from calibration.tables.files import write_tables
from calibration.tables.study import STUDY_FILE, table_records, write_study
from calibration.tables.tables import TABLES
from study_app.export.answers import (
    intent_votes_table,
    preferences_table,
    searches_by_task,
    stored_features,
    stored_intents,
)
from study_app.export.folder import TableStream, fresh_folder
from study_app.export.gaps import LogGaps, missing_logs
from study_app.export.people import NAME, validations, worker_groups, workers_table, write_consents
from study_app.export.raw import EVENTS_SCHEMA, write_raw
from study_app.export.raw_tables import RAW_TABLES
from study_app.export.readings import pair_readings, reads_rows, stops_rows, summary_texts
from study_app.export.stream_logs import StreamTexts, follow_logs, task_clocks
from study_app.export.stream_tables import (
    follows_rows,
    lateness_table,
    prompts_table,
    stream_activity_rows,
    stream_reads_rows,
    stream_stops_rows,
    visits_rows,
)
from study_app.export.study_document import ended_at, study_record
from study_app.export.task_answers import answers_table, importance_table
from study_app.store.models import Study
from study_app.store.plan import StudyPlan, read_plan

RAW_FOLDER = "raw"

FILES = frozenset(
    [STUDY_FILE, f"{RAW_FOLDER}/{EVENTS_SCHEMA}"]
    + [f"{name}.{suffix}" for name in TABLES for suffix in ("csv", "parquet")]
    + [f"{RAW_FOLDER}/{name}.{suffix}" for name in RAW_TABLES for suffix in ("csv", "parquet")]
)
"""Everything that an export may write, relative to its folder, besides consent texts."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSummary:
    """What was exported.

    Attributes
    ----------
    rows : dict of str to int
        Table -> rows; tables of the folder raw as ``raw/NAME``.
    workers, completed, withdrawn, excluded : int
        Who ever consented; who finished, who took the consent back, and whom rule `EXCLUSION_RULE` excludes. Who
        withdrew is in neither of the others.
    validations, consistent, same_option : int
        Validation pairs answered, and how many of them alike: the same system or an equal option both times, and
        the same one of the four options.
    gaps : LogGaps
        What is missing from the logs.
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


def export_study(
    session: Session, study: Study, folder: str | Path, *, now: datetime, raw: bool = False
) -> ExportSummary:
    """Write the tables of a study and its study.json; ``folder`` appears complete or not at all.

    Parameters
    ----------
    session : Session
        Only read from.
    study : Study
        The study.
    folder : str or Path
        Takes the place of an earlier export there.
    now : datetime
        The end of the study as far as these tables know, while somebody is at work; see `study_time.ended_at`.
    raw : bool
        Write the folder ``raw`` too.

    Raises
    ------
    InputError
        If ``folder`` holds anything that no export wrote, or cannot be written.
    """
    with fresh_folder(Path(folder), is_ours=_is_ours) as new:
        return _write(session, study, new, now=now, raw=raw)


def _is_ours(name: str) -> bool:
    return name in FILES or NAME.fullmatch(name) is not None


def _write(session: Session, study: Study, folder: Path, *, now: datetime, raw: bool) -> ExportSummary:
    plan = read_plan(session, study.id)
    preferences, searches = preferences_table(session, study.id), searches_by_task(session, study.id)
    repeated = validations(preferences)
    workers = workers_table(session, plan, searches, preferences)
    tables, intents = {"workers": workers}, stored_intents(session, study.id)
    if not intents.empty:
        tables["intents"] = intents
    names = {name for task in plan.tasks for name in task.kind.tables}
    tables |= {name: table(session, study.id) for name, table in _FROM_ANSWERS.items() if name in names}
    if "preferences" in names:
        tables["preferences"] = preferences
    if "searches" in names:
        tables["searches"] = searches.drop(columns="task")
    tables |= stored_features(session, study.id)
    tables |= {name: table(session, study.id) for name, table in _FROM_FOLLOWS.items() if name in names}
    write_tables(tables, folder)
    rows = {name: len(frame) for name, frame in tables.items()}
    end = ended_at(session, study, now=now)
    rows |= _write_logs(session, plan, folder, names, now=end)
    written = table_records(folder, rows)
    write_study(study_record(session, study, ended_at=end, tables=written), folder)
    write_consents(session, study.id, folder)
    missing = missing_logs(session, study.id)
    if raw:
        in_raw = write_raw(session, study.id, folder / RAW_FOLDER, missing=missing)
        rows |= {f"{RAW_FOLDER}/{name}": count for name, count in in_raw.items()}
    withdrawn = workers["withdrawn_at"].notna()
    return ExportSummary(
        rows=rows,
        workers=len(workers),
        completed=int((workers["completed_at"].notna() & ~withdrawn).sum()),
        withdrawn=int(withdrawn.sum()),
        excluded=int((workers["excluded"] == True).sum()),  # noqa: E712 - empty for those who withdrew
        validations=len(repeated),
        consistent=sum(one.consistent for one in repeated),
        same_option=sum(one.same_option for one in repeated),
        gaps=missing.total(),
    )


def _write_logs(
    session: Session, plan: StudyPlan, folder: Path, wanted: Collection[str], *, now: datetime
) -> dict[str, int]:
    """Write those of the wanted tables that come from logs, some people at a time."""
    study_id, shown = plan.id, {task.kind.page for task in plan.tasks}
    summaries, clocks = summary_texts(session, study_id), task_clocks(session, study_id)
    texts = StreamTexts(session)
    names = {*_FROM_PAIRS, *_FROM_STREAMS} & set(wanted)
    with ExitStack() as files:
        tables = {
            name: files.enter_context(TableStream(folder, TABLES[name])) for name in TABLES if name in names
        }
        for some in worker_groups(session, study_id):
            if "pair" in shown:
                pages = pair_readings(session, some, summaries)
                for name, pair_rows in _FROM_PAIRS.items():
                    if name in tables:
                        tables[name].append(pair_rows(pages))
            if "stream" in shown:
                follows = follow_logs(session, some, clocks, texts, now=now)
                for name, stream_rows in _FROM_STREAMS.items():
                    tables[name].append(stream_rows(follows))
        return {name: table.rows for name, table in tables.items()}
