"""Newest revision of an answer: the one that counts."""

from typing import Any

from sqlalchemy import ColumnElement, inspect, select
from sqlalchemy.orm import aliased

from study_app.store.models import Ballot, Judgment
from study_app.store.task_models import Rating, Reply, UsefulAnswer

_OWNERS = {
    Judgment: "showing_id",
    Ballot: "slot_id",
    Reply: "slot_id",
    Rating: "sheet_id",
    UsefulAnswer: "question_id",
}


def is_newest(answer: Any) -> ColumnElement[bool]:
    """Return the condition that no later revision of an answer is stored.

    ``answer`` is a model of answers, or an alias of one.
    """
    model = inspect(answer).mapper.class_
    later = aliased(model)
    owner = _OWNERS[model]
    newer = (getattr(later, owner) == getattr(answer, owner)) & (later.revision > answer.revision)
    return ~select(later.id).where(newer).exists()
