"""The study file: its schema, and reading it with every fault at its line.

Only the file itself is judged here; `study_app.study_content` reads the collections and runs it names.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from metrics.errors import FaultLog, input_fault
from metrics.wording import listed, nearest

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Seconds = Annotated[float, Field(ge=0, le=86_400)]
Count = Annotated[int, Field(ge=1)]

DEFAULT_CRITERIA = (
    "How much useful information can you get from the summary?",
    "How quickly can you get it?",
)


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SummaryFiles(_Entry):
    """Files of a MobileClick collection, relative to the study file."""

    queries: Text
    iunits: Text
    intents: Text
    importance: Text | None = None
    probability: Text | None = None


class TaskEntry(_Entry):
    """What every task has."""

    name: Name | None = None
    language: Literal["en", "ja"] = "en"


class IntentVotes(TaskEntry):
    """Tick every intent of a query one is interested in (two-layered-summaries §4.1)."""

    kind: Literal["intent_votes"]
    collection: SummaryFiles
    votes_per_query: Count | None = 10
    queries_per_worker: Count = 1


class SummaryPairs(TaskEntry):
    """Judge pairs of two-layered summaries of the query one cares about (two-layered-summaries §4.2)."""

    kind: Literal["summary_pairs"]
    collection: SummaryFiles
    systems: dict[Name, Text] = Field(min_length=2)
    search_seconds: Seconds = 180
    min_search_seconds: Seconds = 200
    min_consistency: Annotated[float, Field(ge=0, le=1)] = 0.4
    workers_per_query: Count | None = 14
    queries_per_worker: Count = 1
    pairs: Literal["all"] | Count = "all"
    validation_pairs: Annotated[int, Field(ge=0)] = 3
    validation_swapped: bool = True
    criteria: tuple[Text, ...] = Field(default=DEFAULT_CRITERIA, strict=False)


Task: TypeAlias = Annotated[IntentVotes | SummaryPairs, Field(discriminator="kind")]


class StudyEntry(_Entry):
    """A whole study file."""

    study: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
    title: Text
    consent: Text
    platform: Literal["generic", "prolific"] = "generic"
    device: Literal["any", "phone", "desktop"] = "any"
    seed: Annotated[int, Field(ge=0)] = 1
    completion_code: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{2,64}$")] | None = None
    return_url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s]+$")] | None = None
    lease_minutes: Annotated[int, Field(ge=1, le=1440)] = 45
    tasks: Annotated[tuple[Task, ...], Field(min_length=1, strict=False)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFile:
    """A study file that fits the schema.

    Attributes
    ----------
    path : Path
        Where it stands; the files it names are relative to its folder.
    sha256 : str
        Of its bytes.
    source : str
        Its text.
    entry : StudyEntry
        What it says; every task has a name.
    lines : dict
        Line of each key: ``("tasks", 0, "systems", "good") -> 31``.
    """

    path: Path
    sha256: str
    source: str
    entry: StudyEntry
    lines: dict[tuple[str | int, ...], int]

    def line(self, *place: str | int) -> int:
        """Return the line of ``place``, or of the nearest thing around it that stands in the file."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def read_study_file(path: str | Path) -> StudyFile:
    """Read and check one study file; raises `InputError` with every fault and its line."""
    path = Path(path)
    try:
        content = path.read_bytes()
        source = content.decode("utf-8-sig")
        node = yaml.compose(source, Loader=yaml.CSafeLoader)
        plain = yaml.load(source, Loader=yaml.CSafeLoader)
    except OSError as error:
        raise input_fault(
            f"cannot be read ({error.strerror})", path=path, cure="name a study file"
        ) from error
    except UnicodeDecodeError as error:
        raise input_fault("not UTF-8", path=path, cure="save the file as UTF-8") from error
    except yaml.YAMLError as error:
        raise _yaml_fault(error, path) from error
    lines = _lines(node)
    log = FaultLog(path)
    if not isinstance(plain, dict):
        log.add("not a study file", line=1, cure="write keys such as study, title, consent and tasks")
    _note_repeated_keys(node, log)
    log.raise_if_any()
    entry = _validated(plain, lines, log)
    return StudyFile(
        path=path, sha256=hashlib.sha256(content).hexdigest(), source=source, entry=entry, lines=lines
    )


def _validated(plain: dict[str, Any], lines: dict[tuple[str | int, ...], int], log: FaultLog) -> StudyEntry:
    try:
        entry = _named(StudyEntry.model_validate(plain))
    except ValidationError as error:
        seen: set[tuple[str | int, ...]] = set()
        for fault in error.errors():
            place = _place_in_file(fault["loc"], plain)
            if place not in seen and not (fault["type"] == "too_short" and fault["input"]):
                _note(fault, place, plain, lines, log)
            seen.add(place)
        log.faults.sort(key=lambda fault: fault.line or 0)
        log.raise_if_any()
        raise
    names = [task.name for task in entry.tasks]
    for number, name in enumerate(names):
        if name in names[:number]:
            line = lines.get(("tasks", number), 1)
            log.add(f"two tasks are named {name!r}", line=line, cure="give each task a name of its own")
    log.raise_if_any()
    return entry


def _named(entry: StudyEntry) -> StudyEntry:
    """Give each task without a name that of its kind."""
    tasks = tuple(task if task.name else task.model_copy(update={"name": task.kind}) for task in entry.tasks)
    return entry.model_copy(update={"tasks": tasks})


def _note(
    fault: Any,
    place: tuple[str | int, ...],
    plain: dict[str, Any],
    lines: dict[tuple[str | int, ...], int],
    log: FaultLog,
) -> None:
    """Put one pydantic fault into words."""
    line = next((lines[place[:n]] for n in range(len(place), -1, -1) if place[:n] in lines), 1)
    key = ".".join(str(part + 1) if isinstance(part, int) else part for part in place)
    match fault["type"]:
        case "extra_forbidden":
            known = _known_keys(place, plain)
            near = nearest(str(place[-1]), known)
            cure = f"did you mean {near!r}?" if near else f"known here: {listed(known, most=20)}"
            log.add(f"{key} is not known", line=line, cure=cure.rstrip("?"))
        case "missing":
            log.add(f"{key} is missing", line=line, cure=f"write {place[-1]}: ...")
        case "union_tag_invalid" | "union_tag_not_found":
            kinds = listed(_TASK_KINDS, most=20)
            near = nearest(
                str(fault["input"].get("kind")) if isinstance(fault["input"], dict) else "", _TASK_KINDS
            )
            log.add(
                f"{key}: no such kind of task",
                line=line,
                cure=f"did you mean {near!r}" if near else f"write one of {kinds}",
            )
        case _:
            log.add(
                f"{key}: {fault['msg']}, got {str(fault['input'])[:40]!r}",
                line=line,
                cure="see docs/study-file.md for what it may be",
            )


_TASK_KINDS: dict[str, type[TaskEntry]] = {"intent_votes": IntentVotes, "summary_pairs": SummaryPairs}


def _place_in_file(loc: Sequence[str | int], plain: Any) -> tuple[str | int, ...]:
    """Drop what pydantic puts between the keys of the file: tags of unions."""
    place: list[str | int] = []
    at = plain
    for number, part in enumerate(loc):
        last = number == len(loc) - 1
        if isinstance(at, dict) and (part in at or last):
            place.append(part)
            at = at.get(part)
        elif isinstance(at, list) and isinstance(part, int) and part < len(at):
            place.append(part)
            at = at[part]
    return tuple(place)


def _known_keys(place: tuple[str | int, ...], plain: dict[str, Any]) -> list[str]:
    """Keys that may stand where ``place`` stands."""
    if len(place) == 1:
        return list(StudyEntry.model_fields)
    if "collection" in place[:-1]:
        return list(SummaryFiles.model_fields)
    task = plain["tasks"][place[1]]
    return list(_TASK_KINDS[task["kind"]].model_fields)


def _yaml_fault(error: yaml.YAMLError, path: Path) -> Exception:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "not YAML"
    line = mark.line + 1 if mark is not None else 1
    return input_fault(
        f"not YAML: {problem}", path=path, line=line, cure="check indentation, colons and quotes near here"
    )


def _lines(node: yaml.Node | None) -> dict[tuple[str | int, ...], int]:
    """Line of each key and list item of a YAML document."""
    lines: dict[tuple[str | int, ...], int] = {}

    def walk(node: yaml.Node, place: tuple[str | int, ...]) -> None:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                lines[(*place, key.value)] = key.start_mark.line + 1
                walk(value, (*place, key.value))
        elif isinstance(node, yaml.SequenceNode):
            for number, item in enumerate(node.value):
                lines[(*place, number)] = item.start_mark.line + 1
                walk(item, (*place, number))

    if node is not None:
        walk(node, ())
    return lines


def _note_repeated_keys(node: yaml.Node | None, log: FaultLog) -> None:
    """YAML keeps the last of two equal keys in silence; here it is a fault."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                log.add(f"{key.value} stands twice", line=key.start_mark.line + 1, cure="keep one of them")
            seen.add(key.value)
            _note_repeated_keys(value, log)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _note_repeated_keys(item, log)
