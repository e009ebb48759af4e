"""What `load` stores of one task, as values: topics, what each system shows of each, derived tables, the files."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from study_app.study.entries import AnyTask
from study_app.tasks.content_files import SourceFile


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicContent:
    """A query, an interest profile: its id in every table, its text, and what `models.Topic.detail` holds."""

    id: str
    text: str
    detail: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContent:
    """All that one task needs whose topics have no intents and no streams to follow.

    Attributes
    ----------
    entry : AnyTask
        What the study file says.
    files : mapping of str to SourceFile
        Kind -> file of the collection.
    systems : mapping of str to SourceFile
        Name -> run, in the order of the study file.
    topics : tuple of TopicContent
        In the order of the collection.
    shown : mapping of (str, str) to dict
        (topic, system) -> what is shown, as `models.Summary` describes it.
    tables : mapping of str to bytes
        Name -> table derived from collection and runs, as Parquet, without the column ``task``.
    notes : tuple of str
        One line for each thing that the files say and no worker will see.
    """

    entry: AnyTask
    files: Mapping[str, SourceFile]
    systems: Mapping[str, SourceFile]
    topics: tuple[TopicContent, ...]
    shown: Mapping[tuple[str, str], dict[str, Any]]
    tables: Mapping[str, bytes]
    notes: tuple[str, ...] = ()
