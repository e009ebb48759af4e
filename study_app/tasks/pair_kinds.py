"""What kinds of pairs have alike: assigned one after another, or those of a topic that the worker chooses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from study_app.study.entries import AssignedPairTask, ChosenTopicTask, expect_entry_type
from study_app.tasks.content import TaskContent, drawn_worth
from study_app.tasks.task_kind import KindParameters, Page, PreferredBy, TaskKind, Unit
from study_app.tasks.workload import (
    ASSIGNED_CURES,
    PAIRS_ASSUMED,
    Capacity,
    SecondsRange,
    chosen_seconds,
    taken_capacity,
    taken_seconds,
)


def _assigned(content: TaskContent) -> AssignedPairTask:
    return expect_entry_type(content.entry, AssignedPairTask)


@dataclass(frozen=True, kw_only=True)
class AssignedPairKind(TaskKind):
    """Kind whose workers get one pair after another; its entry is an `AssignedPairTask`.

    What a side is worth to a simulated crowd is drawn by lot, unless the kind says it.
    """

    cures: Mapping[str, str] = field(default_factory=lambda: ASSIGNED_CURES)
    page: Page = "pair"
    unit: Unit = "pair"
    wanted_key: str | None = "pairs_per_worker"
    limit_key: str | None = "judgments_per_pair"
    seconds: Callable[[TaskContent], SecondsRange] = lambda content: taken_seconds(
        content, _assigned(content)
    )
    assumed: tuple[str, ...] = PAIRS_ASSUMED
    capacity: Callable[[TaskContent], Capacity | None] = lambda content: taken_capacity(
        content, _assigned(content)
    )
    tables: frozenset[str] = frozenset({"preferences", "reads"})
    worth: Callable[[TaskContent, KindParameters, Path], Mapping[tuple[str, str], float]] | None = (
        lambda content, _people, _path: drawn_worth(content)
    )
    preferred_by: Callable[[Any], PreferredBy] = lambda _entry: "lot"


@dataclass(frozen=True, kw_only=True)
class ChosenPairKind(TaskKind):
    """Kind whose workers choose a topic and judge its pairs; its entry is a `ChosenTopicTask`."""

    page: Page = "pair"
    unit: Unit = "topic"
    wanted_key: str | None = "queries_per_worker"
    seconds: Callable[[TaskContent], SecondsRange] = lambda content: chosen_seconds(
        content, expect_entry_type(content.entry, ChosenTopicTask)
    )
    assumed: tuple[str, ...] = PAIRS_ASSUMED
    tables: frozenset[str] = frozenset({"preferences", "reads", "stops"})
