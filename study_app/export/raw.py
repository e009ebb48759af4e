"""Raw tables: events, every revision of every answer, and gaps of the logs."""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from sqlalchemy import Select, Text, cast, select
from sqlalchemy.orm import Session

from study_app.export.event_log import EventLog, text_column, times
from study_app.export.folder import open_tables
from study_app.export.log_gaps import MissingLogs
from study_app.export.moved_times import MovedTimes
from study_app.export.people import worker_groups
from study_app.export.raw_tables import RAW_TABLES
from study_app.logs.event_arrays import NUMBER, PAGE_MS, RECEIVED_MS, WALL_MS
from study_app.store.models import (
    Assignment,
    Ballot,
    Intent,
    Judgment,
    Showing,
    Slot,
    System,
    Task,
    Topic,
    Worker,
)
from study_app.store.task_models import (
    Follow,
    Introduction,
    Rating,
    Reply,
    Sheet,
    StreamView,
    UsefulAnswer,
    UsefulQuestion,
)

Rows = TypeVar("Rows", bound=Select[*tuple[Any, ...]])

RAW_LOGS = ("events", "page_gaps", "worker_gaps")
"""Raw tables of logs."""


def raw_log_tables(
    missing: MissingLogs, workers: Sequence[str], log: EventLog, gaps: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return rows of the raw tables of logs for some workers; ``gaps`` as `page_gaps` returns them."""
    return {
        "events": _events(log, gaps),
        "page_gaps": gaps[list(RAW_TABLES["page_gaps"].column_names)],
        "worker_gaps": missing.by_worker(workers, gaps),
    }


def write_raw(
    session: Session, study_id: int, folder: Path, moved: MovedTimes | None, *, texts: bool = False
) -> dict[str, int]:
    """Write the raw tables of answers and served pages, some workers at a time.

    It returns the number of rows by table. Reasons are left out without ``texts``.
    """
    with ExitStack() as files:
        tables = open_tables(files, folder, [RAW_TABLES[name] for name in _STORED], moved)
        for some in worker_groups(session, study_id):
            for name, stored in _STORED.items():
                rows = session.execute(stored.where(Worker.id.in_(some)))
                frame = pd.DataFrame(map(_cells, rows), columns=list(RAW_TABLES[name].column_names))
                tables[name].append(frame if texts or "reason" not in frame else frame.assign(reason=None))
        return {name: table.rows for name, table in tables.items()}


def _cells(row: Sequence[object]) -> tuple[object, ...]:
    """Return a stored row with its lists and mappings as JSON."""
    return tuple(
        json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value for value in row
    )


def _events(log: EventLog, pages: pd.DataFrame) -> pd.DataFrame:
    """Return every stored event, in order of the pages."""
    order, first = log.order(pages["row"].tolist())
    page = np.repeat(np.arange(len(pages)), np.diff(first))
    stored = log.log[order]
    return pd.DataFrame(
        {
            **{
                name: text_column(pages[name].tolist(), page)
                for name in ("worker", "page", "step", "judgment")
            },
            "number": stored[:, NUMBER],
            "kind": text_column(log.kinds, log.text[order]),
            "page_ms": stored[:, PAGE_MS],
            "wall_ms": stored[:, WALL_MS],
            "received_at": times(stored[:, RECEIVED_MS]),
            "detail": text_column(log.details, log.text[order]),
        }
    )


def _of_slots(rows: Rows) -> Rows:
    """Join slots with their worker and task."""
    return rows.join(Slot.assignment).join(Assignment.worker).join(Assignment.task).join(Slot.topic)


_STORED: Mapping[str, Select[*tuple[Any, ...]]] = MappingProxyType(
    {
        "judgments": select(
            Showing.name,
            Worker.pseudonym,
            Judgment.revision,
            Judgment.choice,
            Judgment.page_key,
            Judgment.shown_at,
            Judgment.decided_at,
            Judgment.decision_ms / 1000.0,
            Judgment.timing,
            Judgment.layout,
            Judgment.late,
            Judgment.strength,
            Judgment.criteria,
            Judgment.reason,
        )
        .join(Judgment.showing)
        .join(Showing.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .order_by(Worker.pseudonym, Slot.id, Showing.position, Judgment.revision),
        "ballots": _of_slots(
            select(
                Worker.pseudonym,
                Topic.name,
                Ballot.revision,
                Ballot.intents,
                Ballot.page_key,
                Ballot.decided_at,
                Slot.late,
            )
            .select_from(Ballot)
            .join(Slot, Slot.id == Ballot.slot_id)
        ).order_by(Worker.pseudonym, Slot.id, Ballot.revision),
        "introductions": select(
            Worker.pseudonym,
            Task.name,
            Introduction.number,
            Introduction.answers,
            Introduction.passed,
            Introduction.page_key,
            Introduction.decided_at,
        )
        .select_from(Introduction)
        .join(Worker, Worker.id == Introduction.worker_id)
        .join(Task, Task.id == Introduction.task_id)
        .order_by(Worker.pseudonym, Task.position, Introduction.number),
        "sheets": _of_slots(
            select(Worker.pseudonym, Task.name, Topic.name, Intent.name, Sheet.position, Sheet.iunits)
            .select_from(Sheet)
            .join(Sheet.intent)
            .join(Sheet.slot)
        ).order_by(Worker.pseudonym, Task.position, Slot.position, Sheet.position),
        "ratings": _of_slots(
            select(
                Worker.pseudonym,
                Task.name,
                Topic.name,
                Intent.name,
                Sheet.position,
                Rating.revision,
                Rating.ratings,
                Rating.page_key,
                Rating.decided_at,
                Slot.late,
            )
            .select_from(Rating)
            .join(Rating.sheet)
            .join(Sheet.intent)
            .join(Sheet.slot)
        ).order_by(Worker.pseudonym, Task.position, Slot.position, Sheet.position, Rating.revision),
        "replies": _of_slots(
            select(
                Worker.pseudonym, Task.name, Reply.revision, Reply.answers, Reply.page_key, Reply.decided_at
            )
            .select_from(Reply)
            .join(Slot, Slot.id == Reply.slot_id)
        ).order_by(Worker.pseudonym, Task.position, Reply.revision),
        "stream_pages": _of_slots(
            select(
                Worker.pseudonym,
                Topic.name,
                System.name,
                StreamView.key,
                StreamView.visit,
                StreamView.served_at,
                StreamView.entry,
                StreamView.after,
                StreamView.upto,
                StreamView.first,
                StreamView.last,
                cast(StreamView.read, Text),
                StreamView.left_at,
            )
            .join(StreamView.follow)
            .join(System, System.id == Follow.system_id)
            .join(Follow.slot)
        ).order_by(Worker.pseudonym, Follow.id, StreamView.served_at, StreamView.id),
        "useful_answers": _of_slots(
            select(
                Worker.pseudonym,
                Topic.name,
                UsefulQuestion.visit,
                UsefulQuestion.place,
                UsefulQuestion.nugget,
                UsefulQuestion.visits_late,
                UsefulQuestion.asked_at,
                UsefulAnswer.revision,
                UsefulAnswer.useful,
                UsefulAnswer.page_key,
                UsefulAnswer.answered_at,
            )
            .outerjoin(UsefulQuestion.answers)
            .join(Follow, Follow.id == UsefulQuestion.follow_id)
            .join(Follow.slot)
        ).order_by(Worker.pseudonym, Follow.id, UsefulQuestion.id, UsefulAnswer.revision),
    }
)
"""Selects of the stored rows of raw tables, in order of the pseudonyms.

Raw tables of logs are not among them.
"""
