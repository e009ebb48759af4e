"""What differs between a loaded study and its file, and which differences would corrupt answers. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from metrics.errors import Fault
from study_app.estimate.content import StudyContent
from study_app.store.models import Study
from study_app.study.entries import read_study_entry
from study_app.study.file import StudyFile
from study_app.tasks.kinds import KINDS
from study_app.tasks.task_kind import TaskKind

Place: TypeAlias = tuple[str | int, ...]
Leaf: TypeAlias = tuple[Place, Any]

FREE_OF_STUDY = {
    *("title", "consent", "completion_code", "codes", "visit_code", "return_url", "early_return_url"),
    *("return_at_once", "extra_parameters", "submit_hosts", "lease_minutes", "device", "folder"),
    *("reward", "currency", "platform_fee"),
}
FREE_OF_TASK = {"min_consistency", "compare", "primary"}
"""May change at any time, as the free keys of a kind of task: no answer is touched, or their rule is applied at analysis."""

OF_IDENTITY = {("platform",), ("id_parameter",)}
"""Says who a worker is: must not change once there is one."""

ABSENT = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One value that differs; ``old`` or ``new`` is `ABSENT` where the place is only in one of the two.

    ``kind``: name of the kind of task that it is about, None where it is about none or another than before.
    """

    place: Place
    old: Any
    new: Any
    kind: str | None = None

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
        match self.place:
            case (str(key),):
                return key not in FREE_OF_STUDY
            case ("tasks", _, str(key)) if self.kind is not None:
                return self._harms_in(KINDS[self.kind], key)
            case ("tasks", _, "collection" | "systems", _, "path"):
                return False
        return True

    def _harms_in(self, kind: TaskKind, key: str) -> bool:
        """Say whether a key of a task harms: its limit may be raised at any time."""
        if key == kind.limit_key:
            return self.new is not None and (self.old is None or self.new < self.old)
        return key not in FREE_OF_TASK | kind.free_keys


def changes_of(study: Study, content: StudyContent) -> list[Change]:
    """Return every value in which a study file, with all it names, differs from what is loaded."""
    old, new = dict(_loaded(study)), dict(_given(content))
    places = [*new, *(place for place in old if place not in new)]
    changes = [
        Change(
            place=place,
            old=old.get(place, ABSENT),
            new=new.get(place, ABSENT),
            kind=new.get(place[:2]) if place[0] == "tasks" else None,
        )
        for place in places
        if old.get(place, ABSENT) != new.get(place, ABSENT)
    ]
    absent = {change.place for change in changes if ABSENT in (change.old, change.new)}
    return [change for change in changes if not absent & set(_around(change.place))]


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
        if (has_answers and change.harms_answers) or (has_workers and change.place in OF_IDENTITY)
    ]


def _loaded(study: Study) -> Iterator[Leaf]:
    """Return what is loaded, with today's defaults for keys that prefcal did not know when it was loaded."""
    config = read_study_entry(study.config, KINDS).model_dump(mode="json")
    yield from _study_leaves(config, study.folder)
    for number, task in enumerate(study.tasks):
        systems = {system.name: (system.path, system.sha256) for system in task.systems}
        files = {kind: (file["path"], file["sha256"]) for kind, file in task.files.items()}
        yield from _task_leaves(number, config["tasks"][number], files, systems)


def _given(content: StudyContent) -> Iterator[Leaf]:
    file = content.file
    yield from _study_leaves(file.entry.model_dump(mode="json"), str(file.path.absolute().parent))
    for number, task in enumerate(content.tasks):
        files, systems = (
            {name: (source.path, source.sha256) for name, source in sources.items()}
            for sources in (task.files, task.systems)
        )
        yield from _task_leaves(number, task.entry.model_dump(mode="json"), files, systems)


def _study_leaves(config: Mapping[str, Any], folder: str) -> Iterator[Leaf]:
    yield from (((key,), value) for key, value in config.items() if key != "tasks")
    yield ("folder",), folder


def _task_leaves(
    number: int,
    config: Mapping[str, Any],
    files: Mapping[str, tuple[str, str]],
    systems: Mapping[str, tuple[str, str]],
) -> Iterator[Leaf]:
    yield ("tasks", number), config["kind"]
    for key, value in config.items():
        if key not in {"kind", "collection", "systems"}:
            yield ("tasks", number, key), value
    for part, sources in (("collection", files), ("systems", systems)):
        for name, (path, sha256) in sources.items():
            yield ("tasks", number, part, name), f"content {sha256[:8]}"
            yield ("tasks", number, part, name, "path"), path


def _around(place: Place) -> Iterator[Place]:
    return (place[:end] for end in range(1, len(place)))


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 40 else f"{text[:39]}…"
