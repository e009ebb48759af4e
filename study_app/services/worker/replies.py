"""Answers to a task's questions: what counts so far, and storing what a form says."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.services.worker.answers import finish_slot
from study_app.store.rows import SlotRow
from study_app.store.task_models import Reply
from study_app.store.tokens import PageToken
from study_app.study.question_answers import Answer


def newest_reply(session: Session, slot: SlotRow) -> Reply | None:
    """Return the answers that count, None before there are any."""
    mine = select(Reply).where(Reply.slot_id == slot.id)
    return session.scalars(mine.order_by(Reply.revision.desc()).limit(1)).one_or_none()


def reply(
    session: Session, slot: SlotRow, answers: Mapping[str, Answer], page: PageToken, *, now: datetime
) -> None:
    """Store answers; the same again change nothing, others are a new revision."""
    newest = newest_reply(session, slot)
    if newest is None or newest.answers != dict(answers):
        session.add(
            Reply(
                slot_id=slot.id,
                revision=1 if newest is None else newest.revision + 1,
                answers=dict(answers),
                page_key=page.key,
                decided_at=now,
            )
        )
        finish_slot(session, slot, now=now)
        session.flush()
