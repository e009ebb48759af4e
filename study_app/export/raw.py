"""Everything as it was stored: events, every revision of every answer, and what is missing from the logs."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import pandas as pd
from sqlalchemy import Text, cast, select
from sqlalchemy.orm import Session

from calibration.table_definition import Column, Kind, Table
from study_app.export.folder import TableStream
from study_app.export.gaps import PageLog
from study_app.export.people import takes_part, worker_groups
from study_app.models import Assignment, Ballot, Event, Judgment, PageLoad, Showing, Slot, Topic, Worker


def _column(name: str, kind: Kind, doc: str) -> Column:
    return Column(name=name, kind=kind, doc=doc)


_WORKER = _column("worker", Kind.TEXT, "Pseudonym of the worker")
_PAGE = _column("page", Kind.TEXT, "Id of the page load")
_STEP = _column("step", Kind.TEXT, "Which page of the worker's way it was")
_JUDGMENT = _column("judgment", Kind.TEXT, "The judgment that the page was for")
_REVISION = _column("revision", Kind.INTEGER, "1 for the first answer; the highest counts")
_EVENTS = _column("events", Kind.INTEGER, "Events stored")
_MISSING = _column("missing", Kind.INTEGER, "Events numbered below the highest stored that never came")

_RAW = (
    Table(
        name="events",
        doc="One row an event that a page logged, in order of worker, page and number.",
        columns=(
            _WORKER,
            _PAGE,
            _STEP,
            _JUDGMENT,
            _column("number", Kind.INTEGER, "Place of the event in its page load, from 1"),
            _column("kind", Kind.TEXT, "What happened"),
            _column("page_ms", Kind.INTEGER, "The page's monotonic clock, in milliseconds since the load"),
            _column("wall_ms", Kind.INTEGER, "The browser's wall clock, in milliseconds since 1970"),
            _column("received_at", Kind.TIME, "When the server stored it"),
            _column("detail", Kind.TEXT, "What the kind adds, as JSON"),
        ),
    ),
    Table(
        name="judgments",
        doc="One row a revision of an answer to a pair.",
        columns=(
            _JUDGMENT,
            _WORKER,
            _REVISION,
            _column("choice", Kind.TEXT, "The answer"),
            _PAGE,
            _column("shown_at", Kind.TIME, "When the page was served"),
            _column("decided_at", Kind.TIME, "When the answer was stored"),
            _column("decision_seconds", Kind.NUMBER, "Seconds from showing to answer"),
            _column("timing", Kind.TEXT, "Whose clock gave decision_seconds"),
            _column("layout", Kind.TEXT, "How the two texts stood on the screen"),
            _column("late", Kind.FLAG, "Answered after its lease had gone to someone else"),
        ),
    ),
    Table(
        name="ballots",
        doc="One row a revision of a worker's intent votes for a query.",
        columns=(
            _WORKER,
            _column("topic", Kind.TEXT, "The query"),
            _REVISION,
            _column("intents", Kind.TEXT, "Intents ticked, as a JSON list"),
            _PAGE,
            _column("decided_at", Kind.TIME, "When the votes were stored"),
        ),
    ),
    Table(
        name="page_gaps",
        doc="One row a page load that logged anything, and what is missing of it.",
        columns=(
            _WORKER,
            _PAGE,
            _STEP,
            _JUDGMENT,
            _column("served_at", Kind.TIME, "When the page was served"),
            _column("first_received_at", Kind.TIME, "When its first events came"),
            _EVENTS,
            _column("highest", Kind.INTEGER, "The highest number stored"),
            _MISSING,
            _column("missing_numbers", Kind.TEXT, "Which, such as 4-6 9"),
            _column("has_end", Kind.FLAG, "The page told of its end; if not, its last events may be lost"),
        ),
    ),
    Table(
        name="worker_gaps",
        doc="One row a worker, and what is missing of the pages' logs.",
        columns=(
            _WORKER,
            _column("pages", Kind.INTEGER, "Page loads that logged anything"),
            _column("pages_with_gaps", Kind.INTEGER, "Those with a missing event"),
            _column("pages_without_end", Kind.INTEGER, "Those that did not tell of their end"),
            _EVENTS,
            _MISSING,
            _column(
                "unlogged_answers", Kind.INTEGER, "Answers whose page logged nothing (no script, or all lost)"
            ),
        ),
    ),
)

RAW_TABLES: MappingProxyType[str, Table] = MappingProxyType({table.name: table for table in _RAW})
"""What `--raw` adds; no contract with other stages."""


def write_raw(
    session: Session,
    study_id: int,
    folder: Path,
    *,
    pages: Sequence[PageLog],
    unlogged: Counter[str],
) -> dict[str, int]:
    """Write `RAW_TABLES` into ``folder`` and return how many rows each has.

    Parameters
    ----------
    pages, unlogged : from `study_app.export.gaps`
        What is missing.
    """
    folder.mkdir()
    rows = {"events": _write_events(session, study_id, folder)}
    frames = {
        "judgments": _judgments(session, study_id),
        "ballots": _ballots(session, study_id),
        "page_gaps": _page_gaps(pages),
        "worker_gaps": _worker_gaps(session, study_id, pages, unlogged),
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
                    Event.number,
                    Event.kind,
                    Event.page_ms,
                    Event.wall_ms,
                    Event.received_at,
                    cast(Event.detail, Text),
                )
                .join(PageLoad, PageLoad.id == Event.page_load_id)
                .join(Worker, Worker.id == PageLoad.worker_id)
                .outerjoin(Showing, Showing.id == PageLoad.showing_id)
                .where(Worker.id.in_(some))
                .order_by(Worker.number, PageLoad.served_at, PageLoad.key, Event.number)
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
        )
        .join(Slot, Slot.id == Ballot.slot_id)
        .join(Slot.topic)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(takes_part(study_id))
        .order_by(Worker.number, Slot.id, Ballot.revision)
    )
    rows = [
        (worker, topic, revision, json.dumps(intents), page, decided_at)
        for worker, topic, revision, intents, page, decided_at in session.execute(revisions)
    ]
    return _frame("ballots", rows)


def _page_gaps(pages: Sequence[PageLog]) -> pd.DataFrame:
    names = RAW_TABLES["page_gaps"].column_names
    return _frame("page_gaps", [tuple(getattr(page, name) for name in names) for page in pages])


def _worker_gaps(
    session: Session, study_id: int, pages: Sequence[PageLog], unlogged: Counter[str]
) -> pd.DataFrame:
    workers = session.scalars(select(Worker.pseudonym).where(takes_part(study_id)).order_by(Worker.number))
    figures = {worker: Counter[str](unlogged_answers=unlogged[worker]) for worker in workers}
    for page in pages:
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
