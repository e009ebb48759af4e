"""Everything as it was stored: events, every revision of every answer, and what is missing from the logs."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
from sqlalchemy import Text, cast, select
from sqlalchemy.orm import Session

from study_app.export.answers import raw_task_tables
from study_app.export.event_log import EventLog, taken, times
from study_app.export.folder import RAW_TABLES, TableStream
from study_app.export.people import MissingLogs, takes_part
from study_app.logs.event_arrays import NUMBER, PAGE_MS, RECEIVED_MS, WALL_MS
from study_app.logs.page_events import events_schema
from study_app.store.models import (
    Assignment,
    Ballot,
    Judgment,
    Showing,
    Slot,
    System,
    Topic,
    Worker,
)
from study_app.store.task_models import Follow, StreamView, UsefulAnswer, UsefulQuestion

EVENTS_SCHEMA = "events.schema.json"


class RawLogs:
    """The raw tables of logs, written while these are read, some people at a time. Use as a context manager."""

    def __init__(self, folder: Path, missing: MissingLogs) -> None:
        folder.mkdir()
        (folder / EVENTS_SCHEMA).write_text(events_schema(), encoding="utf-8")
        self._missing = missing
        self._open_files = ExitStack()
        self._tables = {name: TableStream(folder, RAW_TABLES[name]) for name in _OF_LOGS}

    def __enter__(self) -> Self:
        """Open the files."""
        for table in self._tables.values():
            self._open_files.enter_context(table)
        return self

    def __exit__(self, *error: object) -> None:
        """Close the files."""
        self._open_files.close()

    def append(self, workers: Sequence[str], log: EventLog, gaps: pd.DataFrame) -> None:
        """Write what some people logged; ``gaps`` as `page_gaps` returns it."""
        self._tables["events"].append(_events(log, gaps))
        self._tables["page_gaps"].append(gaps[list(RAW_TABLES["page_gaps"].column_names)])
        self._tables["worker_gaps"].append(self._missing.by_worker(workers, gaps))

    @property
    def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        return {name: table.rows for name, table in self._tables.items()}


_OF_LOGS = ("events", "page_gaps", "worker_gaps")


def write_raw(session: Session, study_id: int, folder: Path) -> dict[str, int]:
    """Write the raw tables of answers and of what was served into ``folder``; return how many rows each has."""
    frames = {
        "judgments": _judgments(session, study_id),
        "ballots": _ballots(session, study_id),
        **raw_task_tables(session, study_id),
        "stream_pages": _stream_pages(session, study_id),
        "useful_answers": _useful_answers(session, study_id),
    }
    rows = {}
    for name, frame in frames.items():
        with TableStream(folder, RAW_TABLES[name]) as table:
            table.append(frame)
        rows[name] = table.rows
    return rows


def _events(log: EventLog, pages: pd.DataFrame) -> pd.DataFrame:
    """Return every event as it was stored, in order of the pages."""
    order, first = log.order(pages["row"].tolist())
    page = np.repeat(np.arange(len(pages)), np.diff(first))
    stored = log.log[order]
    return pd.DataFrame(
        {
            **{name: taken(pages[name].tolist(), page) for name in ("worker", "page", "step", "judgment")},
            "number": stored[:, NUMBER],
            "kind": taken(log.kinds, log.text[order]),
            "page_ms": stored[:, PAGE_MS],
            "wall_ms": stored[:, WALL_MS],
            "received_at": times(stored[:, RECEIVED_MS]),
            "detail": taken(log.details, log.text[order]),
        }
    )


def _judgments(session: Session, study_id: int) -> pd.DataFrame:
    revisions = (
        select(
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
        )
        .join(Judgment.showing)
        .join(Showing.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(takes_part(study_id))
        .order_by(Worker.number, Slot.id, Showing.position, Judgment.revision)
    )
    return _frame("judgments", session.execute(revisions).all())


def _ballots(session: Session, study_id: int) -> pd.DataFrame:
    revisions = (
        select(
            Worker.pseudonym,
            Topic.name,
            Ballot.revision,
            Ballot.intents,
            Ballot.page_key,
            Ballot.decided_at,
            Slot.late,
        )
        .join(Slot, Slot.id == Ballot.slot_id)
        .join(Slot.topic)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(takes_part(study_id))
        .order_by(Worker.number, Slot.id, Ballot.revision)
    )
    rows = [
        (worker, topic, revision, json.dumps(intents), page, decided_at, late)
        for worker, topic, revision, intents, page, decided_at, late in session.execute(revisions)
    ]
    return _frame("ballots", rows)


def _stream_pages(session: Session, study_id: int) -> pd.DataFrame:
    served = (
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
        .join(Slot.topic)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(takes_part(study_id))
        .order_by(Worker.number, Follow.id, StreamView.served_at, StreamView.id)
    )
    return _frame("stream_pages", session.execute(served).all())


def _useful_answers(session: Session, study_id: int) -> pd.DataFrame:
    revisions = (
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
        .join(Slot.topic)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(takes_part(study_id))
        .order_by(Worker.number, Follow.id, UsefulQuestion.id, UsefulAnswer.revision)
    )
    return _frame("useful_answers", session.execute(revisions).all())


def _frame(table: str, rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(RAW_TABLES[table].column_names))
