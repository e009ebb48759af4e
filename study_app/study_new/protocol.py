"""The keys that a new study file writes for each kind of task, each with what it means and where its number comes from."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticUndefined

from study_app.protocol.domain import MIN_VALIDATIONS
from study_app.tasks.task_kind import TaskKind

INTRODUCED = {
    "instructions": "prefcal's own words before the task; or your own text, or null for no such page",
    "example": "a worked example on that page",
    "check": "null: prefcal's own questions, with two tries; [] for none; or a list of your own",
}


def comments(kind: TaskKind) -> Mapping[str, str]:
    """Return key -> comment, in the order in which they are written."""
    return {} if kind.new is None else {**INTRODUCED, **kind.new.comments}


def protocol_values(kind: TaskKind, language: str) -> dict[str, Any]:
    """Return every key of a kind that is written, with its default; days are not in it where they have none."""
    fields = kind.entry.model_fields
    values = {key: fields[key].default for key in comments(kind)}
    values["instructions"] = "standard"
    if values.get("validation_pairs") == 0:  # without repeats nobody could be told to be careless
        values["validation_pairs"] = MIN_VALIDATIONS
    if language in kind.criteria:
        values["criteria"] = list(kind.criteria[language])
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in values.items()
        if value is not PydanticUndefined
    }
