"""Everything as it was stored: events, every revision of every answer, and what is missing from the logs."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from sqlalchemy import Text, cast, select
from sqlalchemy.orm import Session

from study_app.export.answers import raw_task_tables
from study_app.export.folder import RAW_TABLES, TableStream
from study_app.export.people import MissingLogs, takes_part, worker_groups
from study_app.logs.page_events import events_schema
from study_app.store.models import (
    Assignment,
    Ballot,
    Judgment,
    PageLoad,
    Showing,
    Slot,
    StoredEvent,
    System,
    Topic,
    Worker,
)
from study_app.store.task_models import Follow, StreamView, UsefulAnswer, UsefulQuestion

EVENTS_SCHEMA = "events.schema.json"


def write_raw(session: Session, study_id: int, folder: Path, *, missing: MissingLogs) -> dict[str, int]:
    """Write `RAW_TABLES` and the schema of the events into ``folder``; return how many rows each table has."""
    folder.mkdir()
    (folder / EVENTS_SCHEMA).write_text(events_schema(), encoding="utf-8")
    rows = {"events": _write_events(session, study_id, folder)}
    frames = {
        "judgments": _judgments(session, study_id),
        "ballots": _ballots(session, study_id),
        **raw_task_tables(session, study_id),
        "stream_pages": _stream_pages(session, study_id),
        "useful_answers": _useful_answers(session, study_id),
        "page_gaps": _page_gaps(missing),
        "worker_gaps": _worker_gaps(session, study_id, missing),
    }
    for name, frame in frames.items():
        with TableStream(folder, RAW_TABLES[name]) as table:
            table.append(frame)
        rows[name] = table.rows
    return rows


def _write_events(session: Session, study_id: int, folder: Path) -> int:
    with TableStream(folder, RAW_TABLES["events"]) as table:
        for some in worker_groups(session, study_id):
            logged = (
                select(
                    Worker.pseudonym,
                    PageLoad.key,
                    PageLoad.step,
                    Showing.name,
                    StoredEvent.number,
                    StoredEvent.kind,
                    StoredEvent.page_ms,
                    StoredEvent.wall_ms,
                    StoredEvent.received_at,
                    cast(StoredEvent.detail, Text),
                )
                .join(PageLoad, PageLoad.id == StoredEvent.page_load_id)
                .join(Worker, Worker.id == PageLoad.worker_id)
                .outerjoin(Showing, Showing.id == PageLoad.showing_id)
                .where(Worker.id.in_(some))
                .order_by(Worker.number, PageLoad.served_at, PageLoad.key, StoredEvent.number)
            )
            table.append(_frame("events", session.execute(logged).all()))
        return table.rows


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


def _page_gaps(missing: MissingLogs) -> pd.DataFrame:
    names = RAW_TABLES["page_gaps"].column_names
    return _frame("page_gaps", [tuple(getattr(page, name) for name in names) for page in missing.pages])


def _worker_gaps(session: Session, study_id: int, missing: MissingLogs) -> pd.DataFrame:
    workers = session.scalars(select(Worker.pseudonym).where(takes_part(study_id)).order_by(Worker.number))
    figures = {
        worker: missing.streams.get(worker, Counter[str]())
        + Counter(unlogged_answers=missing.unlogged_answers[worker])
        for worker in workers
    }
    for page in missing.pages:
        figures[page.worker].update(
            pages=1,
            pages_with_gaps=page.missing > 0,
            pages_without_end=not page.has_end,
            events=page.events,
            missing=page.missing,
        )
    names = RAW_TABLES["worker_gaps"].column_names[1:]
    rows = [(worker, *(counts[name] for name in names)) for worker, counts in figures.items()]
    return _frame("worker_gaps", rows)


def _frame(table: str, rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(RAW_TABLES[table].column_names))
