"""Tables of workers' answers, and of the material that they answered about."""

from collections.abc import Iterator
from typing import Any, TypeVar

import pandas as pd
from sqlalchemy import ColumnElement, Select, and_, case, func, null, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from calibration.tables.tables import TABLES
from study_app.export.folder import derived_tables, intents_table
from study_app.export.past_texts import VERSION_COLUMN, past_texts
from study_app.store.models import (
    Assignment,
    Ballot,
    Intent,
    Judgment,
    Pair,
    Showing,
    Slot,
    System,
    Task,
    TaskTable,
    Topic,
    Worker,
)
from study_app.store.revisions import is_newest
from study_app.store.submissions import takes_part
from study_app.store.task_models import Rating, Reply, Sheet
from study_app.study.question_answers import ReplyValue, number_text

_GOLD_SIDES = (("a", Pair.system_a_id), ("b", Pair.system_b_id))
Rows = TypeVar("Rows", bound=Select[*tuple[Any, ...]])


def preferences_table(session: Session, study_id: int, *, texts: bool = False) -> pd.DataFrame:
    """Return table preferences: the newest revision of every answer.

    It has complete and incomplete workers; ``texts``: their reasons, too.
    """
    left, right, first = aliased(System), aliased(System), aliased(Showing)
    position = func.row_number().over(
        partition_by=Slot.assignment_id, order_by=(Slot.position, Showing.position)
    )
    places = select(Showing.id, position.label("place")).join(Showing.slot).subquery()
    answered = of_study(
        select(
            Showing.name,
            Worker.pseudonym,
            Task.name,
            Topic.name,
            Pair.name,
            left.name,
            right.name,
            Judgment.choice,
            Judgment.shown_at,
            Judgment.decided_at,
            Judgment.decision_ms,
            places.c.place,
            Judgment.layout,
            Judgment.timing,
            Task.language,
            Judgment.revision,
            Judgment.late,
            first.name,
            Showing.reveals_silence,
            Showing.chance,
            Showing.drawn,
            Judgment.strength,
            Judgment.reason if texts else null(),
            case(
                (Pair.gold == "equally_good", Pair.gold),
                (or_(*(_is_left(side, system) for side, system in _GOLD_SIDES)), "left"),
                (Pair.gold.is_not(None), "right"),
            ),
            Topic.id,
            Judgment.study_version,
        )
        .select_from(Judgment)
        .join(Judgment.showing)
        .join(Showing.slot)
        .join(places, places.c.id == Showing.id)
        .join(Showing.pair)
        .join(left, left.id == Showing.left_system_id)
        .join(right, right.id == Showing.right_system_id)
        .outerjoin(first, first.id == Showing.repeats_id)
        .where(is_newest(Judgment)),
        study_id,
        topic=Pair.topic_id,
    ).order_by(Worker.pseudonym, Task.position, places.c.place)
    names = [*TABLES["preferences"].usual_names, "strength", "reason", "gold", "topic_row", "study_version"]
    frame = pd.DataFrame(session.execute(answered), columns=names)
    past = past_texts(session, study_id)
    if past.rows:
        seen = frame["study_version"].fillna(0).astype(int).tolist()
        frame[VERSION_COLUMN] = list(map(past.version, frame["topic_row"].tolist(), seen))
    frame = frame.drop(columns=["topic_row", "study_version"])
    return frame.assign(decision_seconds=frame["decision_seconds"].astype("float64") / 1000)


def _is_left(side: str, system: InstrumentedAttribute[int]) -> ColumnElement[bool]:
    """Return the condition that the better side of a gold pair is ``side``, and stands on the left."""
    return and_(Pair.gold == side, system == Showing.left_system_id)


def criteria_table(session: Session, study_id: int) -> pd.DataFrame:
    """Return table criteria: the newest answer about every criterion that was asked."""
    asked = of_study(
        select(Showing.name, Judgment.criteria)
        .select_from(Judgment)
        .join(Judgment.showing)
        .join(Showing.slot)
        .where(Judgment.criteria.is_not(None), is_newest(Judgment)),
        study_id,
    ).order_by(Worker.pseudonym, Task.position, Slot.position, Showing.position)
    rows = [
        (judgment, criterion, choice, strength)
        for judgment, criteria in session.execute(asked)
        for criterion, (choice, strength) in (criteria or {}).items()
    ]
    return pd.DataFrame(rows, columns=list(TABLES["criteria"].column_names))


def stored_intents(session: Session, study_id: int) -> pd.DataFrame:
    """Return table intents: every intent of every query of the study."""
    offered = (
        select(Topic.name, Intent.name, Intent.probability)
        .join(Topic, Topic.id == Intent.topic_id)
        .join(Topic.task)
        .where(Task.study_id == study_id)
        .order_by(Task.position, Topic.position, Intent.position)
    )
    return intents_table((topic, intent, p) for topic, intent, p in session.execute(offered))


def intent_votes_table(session: Session, study_id: int) -> pd.DataFrame:
    """Return table intent_votes, a row per tick of the newest ballot.

    An empty ballot has a row without an intent.
    """
    cast = of_study(
        select(Worker.pseudonym, Topic.name, Ballot.intents)
        .select_from(Ballot)
        .join(Slot, Slot.id == Ballot.slot_id)
        .where(is_newest(Ballot)),
        study_id,
    ).order_by(Worker.pseudonym, Task.position, Slot.position)
    rows = [
        (worker, topic, intent)
        for worker, topic, intents in session.execute(cast)
        for intent in intents or (None,)
    ]
    return pd.DataFrame(rows, columns=list(TABLES["intent_votes"].column_names)).drop_duplicates()


def searches_table(session: Session, study_id: int) -> pd.DataFrame:
    """Return table searches: the duration of every finished search."""
    searched = (
        of_study(
            select(Worker.pseudonym, Topic.name, Slot.search_shown_at, Slot.search_left_at),
            study_id,
        )
        .where(Slot.search_shown_at.is_not(None), Slot.search_left_at.is_not(None))
        .order_by(Worker.pseudonym, Task.position, Slot.position)
    )
    rows = [
        (worker, topic, (left - shown).total_seconds())
        for worker, topic, shown, left in session.execute(searched)
        if shown is not None and left is not None
    ]
    return pd.DataFrame(rows, columns=list(TABLES["searches"].column_names))


def stored_features(session: Session, study_id: int) -> dict[str, pd.DataFrame]:
    """Return the tables derived from collections and runs when the study was loaded.

    Tables that no task has are left out.
    """
    stored = (
        select(Task.name, TaskTable.name, TaskTable.content)
        .join(TaskTable, TaskTable.task_id == Task.id)
        .where(Task.study_id == study_id)
        .order_by(Task.position)
    )
    return derived_tables((task, name, content) for task, name, content in session.execute(stored))


def of_study(rows: Rows, study_id: int, *, topic: InstrumentedAttribute[int] = Slot.topic_id) -> Rows:
    """Join slots with their worker and task, and keep the exported workers.

    ``topic`` is that of the slot; a repeated pair may be one of another topic than its slot's.
    """
    return (
        rows.join(Slot.assignment)
        .join(Assignment.worker)
        .join(Assignment.task)
        .join(Topic, Topic.id == topic)
        .where(takes_part(study_id))
    )


def importance_table(session: Session, study_id: int) -> pd.DataFrame:
    """Return table importance: the newest ratings of every sheet.

    If a worker rated an iUnit for an intent in two tasks, the later task's rating counts.
    """
    rated = of_study(
        select(Worker.pseudonym, Topic.name, Intent.name, Sheet.iunits, Rating.ratings)
        .select_from(Rating)
        .join(Rating.sheet)
        .join(Sheet.intent)
        .join(Sheet.slot)
        .where(is_newest(Rating)),
        study_id,
    ).order_by(Worker.pseudonym, Task.position, Slot.position, Sheet.position)
    rows = [
        (worker, topic, intent, iunit, float(ratings[iunit]))
        for worker, topic, intent, iunits, ratings in session.execute(rated)
        for iunit in iunits
    ]
    frame = pd.DataFrame(rows, columns=list(TABLES["importance"].column_names))
    frame = frame.astype({"rating": "float64"})
    return frame.drop_duplicates(list(TABLES["importance"].key), keep="last", ignore_index=True)


def answers_table(session: Session, study_id: int) -> pd.DataFrame:
    """Return table answers: the newest answers, a row per question.

    A question with several options has a row per option picked.
    """
    given = of_study(
        select(Worker.pseudonym, Task.name, Reply.answers)
        .select_from(Reply)
        .join(Slot, Slot.id == Reply.slot_id)
        .where(is_newest(Reply)),
        study_id,
    ).order_by(Worker.pseudonym, Task.position)
    rows = [
        (worker, task, question, value)
        for worker, task, answers in session.execute(given)
        for question, answer in answers.items()
        for value in _values(answer)
    ]
    return pd.DataFrame(rows, columns=list(TABLES["answers"].column_names), dtype="string")


def _values(answer: ReplyValue) -> Iterator[str]:
    for value in answer if isinstance(answer, list) else [answer]:
        yield value if isinstance(value, str) else number_text(value)
