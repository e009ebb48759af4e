"""What differs between a loaded study and its file, and which differences would corrupt answers. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from metrics.errors import Fault
from study_app.models import Study
from study_app.study_content import StudyContent
from study_app.study_file import StudyFile

Place: TypeAlias = tuple[str | int, ...]

FREE = {
    "title",
    "consent",
    "completion_code",
    "return_url",
    "lease_minutes",
    "device",
    "folder",
    "path",
    "min_search_seconds",
    "min_consistency",
}
"""Last words of the places that may change at any time."""

LIMITS = {"workers_per_query", "votes_per_query"}
"""May be raised at any time."""

ABSENT = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One value that differs; ``old`` or ``new`` is `ABSENT` where the place is only in one of the two."""

    place: Place
    old: Any
    new: Any

    @property
    def key(self) -> str:
        """The place as people write it: ``tasks.2.systems.good`` (tasks from 1)."""
        return ".".join(str(part + 1) if isinstance(part, int) else part for part in self.place)

    def __str__(self) -> str:
        """``title: Old -> New``; hashes and long texts shortened."""
        return f"{self.key}: {_short(self.old)} -> {_short(self.new)}"

    @property
    def harms_answers(self) -> bool:
        """Whether answers given before and after could not be analysed together."""
        last = self.place[-1]
        if last in LIMITS:
            return self.new is not None and (self.old is None or self.new < self.old)
        return last not in FREE


def changes_of(study: Study, content: StudyContent) -> list[Change]:
    """Return every value in which a study file, with all it names, differs from what is loaded."""
    old = dict(_leaves(_loaded(study)))
    new = dict(_leaves(_given(content)))
    places = [*new, *(place for place in old if place not in new)]
    return [
        Change(place=place, old=old.get(place, ABSENT), new=new.get(place, ABSENT))
        for place in places
        if old.get(place, ABSENT) != new.get(place, ABSENT)
    ]


def refused_changes(
    changes: Sequence[Change], file: StudyFile, *, has_workers: bool, has_answers: bool
) -> list[Fault]:
    """Return a fault for each change that must not happen any more."""
    return [
        Fault(
            problem=f"{change} would corrupt answers already given",
            cure="undo it, or load the file as another study (change study:)",
            path=str(file.path),
            line=file.line(*change.place),
        )
        for change in changes
        if (has_answers and change.harms_answers) or (has_workers and change.place == ("platform",))
    ]


def _loaded(study: Study) -> dict[str, Any]:
    tasks = [
        {
            **task.config,
            "collection": task.files,
            "systems": {
                system.name: {"path": system.path, "sha256": system.sha256} for system in task.systems
            },
        }
        for task in study.tasks
    ]
    return {**study.config, "folder": study.folder, "tasks": tasks}


def _given(content: StudyContent) -> dict[str, Any]:
    tasks = [
        {
            **task.entry.model_dump(mode="json"),
            "collection": {kind: _source(file) for kind, file in task.files.items()},
            "systems": {name: _source(file) for name, file in task.systems.items()},
        }
        for task in content.tasks
    ]
    entry = content.file.entry.model_dump(mode="json")
    return {**entry, "folder": str(content.file.path.absolute().parent), "tasks": tasks}


def _source(file: Any) -> dict[str, str]:
    return {"path": file.path, "sha256": file.sha256}


def _leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*place, key))
    elif isinstance(value, list) and place == ("tasks",):
        for number, inner in enumerate(value):
            yield from _leaves(inner, (*place, number))
    else:
        yield place, value


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 40 else f"{text[:39]}…"
