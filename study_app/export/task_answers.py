"""Ratings of iUnits and answers to the study's questions: the tables, and every revision as it was stored."""

import json
from collections.abc import Iterator
from typing import Any, TypeVar

import pandas as pd
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from calibration.tables.tables import TABLES
from study_app.export.people import takes_part
from study_app.export.raw_tables import RAW_TABLES
from study_app.store.models import Assignment, Intent, Slot, Task, Topic, Worker
from study_app.store.task_models import Introduction, Rating, Reply, Sheet
from study_app.study.question_answers import Answer, number_text

Rows = TypeVar("Rows", bound=Select[*tuple[Any, ...]])


def importance_table(session: Session, study_id: int) -> pd.DataFrame:
    """Return table importance: the newest ratings of every sheet.

    Whoever rated an iUnit for an intent in two tasks is in it with the later task's rating.
    """
    newest = (
        select(Rating.sheet_id, func.max(Rating.revision).label("revision"))
        .group_by(Rating.sheet_id)
        .subquery()
    )
    rated = _of_slots(
        select(Worker.pseudonym, Topic.name, Intent.name, Sheet.iunits, Rating.ratings)
        .select_from(Rating)
        .join(newest, (newest.c.sheet_id == Rating.sheet_id) & (newest.c.revision == Rating.revision))
        .join(Rating.sheet)
        .join(Sheet.intent)
        .join(Sheet.slot),
        study_id,
    ).order_by(Worker.number, Task.position, Slot.position, Sheet.position)
    rows = [
        (worker, topic, intent, iunit, float(ratings[iunit]))
        for worker, topic, intent, iunits, ratings in session.execute(rated)
        for iunit in iunits
    ]
    frame = pd.DataFrame(rows, columns=list(TABLES["importance"].column_names))
    frame = frame.astype({"rating": "float64"})
    return frame.drop_duplicates(list(TABLES["importance"].key), keep="last", ignore_index=True)


def answers_table(session: Session, study_id: int) -> pd.DataFrame:
    """Return table answers: the newest answers, a row a question, and of several options a row each."""
    newest = (
        select(Reply.slot_id, func.max(Reply.revision).label("revision")).group_by(Reply.slot_id).subquery()
    )
    given = _of_slots(
        select(Worker.pseudonym, Task.name, Reply.answers)
        .select_from(Reply)
        .join(newest, (newest.c.slot_id == Reply.slot_id) & (newest.c.revision == Reply.revision))
        .join(Slot, Slot.id == Reply.slot_id),
        study_id,
    ).order_by(Worker.number, Task.position)
    rows = [
        (worker, task, question, value)
        for worker, task, answers in session.execute(given)
        for question, answer in answers.items()
        for value in _values(answer)
    ]
    return pd.DataFrame(rows, columns=list(TABLES["answers"].column_names), dtype="string")


def _values(answer: Answer) -> Iterator[str]:
    for value in answer if isinstance(answer, list) else [answer]:
        yield value if isinstance(value, str) else number_text(value)


def raw_task_tables(session: Session, study_id: int) -> dict[str, pd.DataFrame]:
    """Return introductions, sheets, ratings and replies as they were stored."""
    return {
        "introductions": _introductions(session, study_id),
        "sheets": _sheets(session, study_id),
        "ratings": _ratings(session, study_id),
        "replies": _replies(session, study_id),
    }


def _introductions(session: Session, study_id: int) -> pd.DataFrame:
    tries = (
        select(
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
        .where(takes_part(study_id))
        .order_by(Worker.number, Task.position, Introduction.number)
    )
    return _frame("introductions", session, tries)


def _sheets(session: Session, study_id: int) -> pd.DataFrame:
    drawn = _of_slots(
        select(Worker.pseudonym, Task.name, Topic.name, Intent.name, Sheet.position, Sheet.iunits)
        .select_from(Sheet)
        .join(Sheet.intent)
        .join(Sheet.slot),
        study_id,
    ).order_by(Worker.number, Task.position, Slot.position, Sheet.position)
    return _frame("sheets", session, drawn)


def _ratings(session: Session, study_id: int) -> pd.DataFrame:
    revisions = _of_slots(
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
        .join(Sheet.slot),
        study_id,
    ).order_by(Worker.number, Task.position, Slot.position, Sheet.position, Rating.revision)
    return _frame("ratings", session, revisions)


def _replies(session: Session, study_id: int) -> pd.DataFrame:
    revisions = _of_slots(
        select(
            Worker.pseudonym,
            Task.name,
            Reply.revision,
            Reply.answers,
            Reply.page_key,
            Reply.decided_at,
        )
        .select_from(Reply)
        .join(Slot, Slot.id == Reply.slot_id),
        study_id,
    ).order_by(Worker.number, Task.position, Reply.revision)
    return _frame("replies", session, revisions)


def _of_slots(rows: Rows, study_id: int) -> Rows:
    """Join slots with what they belong to, and keep those of people whose rows are exported."""
    return (
        rows.join(Slot.assignment)
        .join(Assignment.worker)
        .join(Assignment.task)
        .join(Slot.topic)
        .where(takes_part(study_id))
    )


def _frame(table: str, session: Session, rows: Select[*tuple[Any, ...]]) -> pd.DataFrame:
    """Return stored rows as a raw table; lists and mappings as JSON."""
    written = [
        tuple(
            json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
            for value in row
        )
        for row in session.execute(rows)
    ]
    return pd.DataFrame(written, columns=list(RAW_TABLES[table].column_names))
