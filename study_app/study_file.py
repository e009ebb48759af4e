"""The study file: its schema, and reading it with every fault at its line.

Only the file itself is judged here; `study_app.study_content` reads the collections and runs it names.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from metrics.errors import FaultLog, input_fault
from study_app.named_files import note_missing_files
from study_app.study_file_faults import note_faults

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Seconds = Annotated[float, Field(ge=0, le=86_400)]
Count = Annotated[int, Field(ge=1)]

MAX_KEYS = 50_000
MAX_DEPTH = 50
"""More than any study needs; aliases can make a small file of YAML endless."""

KEY_TAGS = {"tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"}

DEFAULT_CRITERIA = {
    "en": (
        "How much useful information can you get from the summary?",
        "How quickly can you get it?",
    ),
    "ja": (
        "その要約から、役に立つ情報をどれだけ得られますか",
        "その情報を、どれだけ早く得られますか",
    ),
}
"""What workers are asked to think of when the study file does not say (two-layered-summaries §4.2), by language."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SummaryFiles(_Entry):
    """Files of a MobileClick collection, relative to the study file."""

    queries: Text
    iunits: Text
    intents: Text
    importance: Text | None = None
    probability: Text | None = None


class EventFiles(_Entry):
    """Files of a Temporal Summarization collection, relative to the study file."""

    topics: Text
    nuggets: Text
    matches: Text
    updates: Text


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
    criteria: tuple[Text, ...] | None = Field(default=None, strict=False)


class StreamVisits(TaskEntry):
    """Follow one system's stream of an event for days (modeled-stream-utility §3)."""

    kind: Literal["stream_visits"]
    collection: EventFiles
    systems: dict[Name, Text] = Field(min_length=1)
    days: Annotated[float, Field(gt=0, le=366)]
    clock_factor: Annotated[float, Field(gt=0, le=10_000)] = 1
    topics_per_worker: Count = 1
    workers_per_stream: Count | None = None
    ask_per_visit: Annotated[int, Field(ge=0, le=20)] = 3
    idle_seconds: Annotated[float, Field(ge=30, le=86_400)] = 300
    updates_per_page: Annotated[int, Field(ge=1, le=200)] = 20


Task: TypeAlias = Annotated[IntentVotes | SummaryPairs | StreamVisits, Field(discriminator="kind")]


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
        lines = _lines(node)
        plain = yaml.load(source, Loader=yaml.CSafeLoader)
    except OSError as error:
        raise input_fault(
            f"cannot be read ({error.strerror})", path=path, cure="name a study file"
        ) from error
    except UnicodeDecodeError as error:
        raise input_fault("not UTF-8", path=path, cure="save the file as UTF-8") from error
    except yaml.YAMLError as error:
        raise _yaml_fault(error, path) from error
    except RecursionError as error:
        raise input_fault(
            "nested too deeply, or referring to itself", path=path, cure="see docs/study-file.md for the form"
        ) from error
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
        entry = _completed(StudyEntry.model_validate(plain))
    except ValidationError as error:
        note_faults(error, plain, lines, log, _MODELS)
        note_missing_files(plain, Path(log.path).parent, lines, log)
        log.faults.sort(key=lambda fault: fault.line or 0)
        log.raise_if_any()
        raise
    names = [task.name for task in entry.tasks]
    for number, name in enumerate(names):
        if name in names[:number]:
            line = lines.get(("tasks", number), 1)
            log.add(f"two tasks are named {name!r}", line=line, cure="give each task a name of its own")
    _note_two_clocks(entry, lines, log)
    log.raise_if_any()
    return entry


def _note_two_clocks(entry: StudyEntry, lines: dict[tuple[str | int, ...], int], log: FaultLog) -> None:
    """Note streams of different clocks: their away times could not be put together."""
    streams = [(number, task) for number, task in enumerate(entry.tasks) if isinstance(task, StreamVisits)]
    for key in ("clock_factor", "idle_seconds"):
        for number, task in streams[1:]:
            first, other = getattr(streams[0][1], key), getattr(task, key)
            if other != first:
                place: tuple[str | int, ...] = ("tasks", number)
                log.add(
                    f"tasks.{number + 1}.{key} is {other:g}, but {first:g} in task {streams[0][0] + 1}",
                    line=lines.get((*place, key), lines.get(place, 1)),
                    cure=f"give all stream_visits of a study the same {key}",
                )


def _completed(entry: StudyEntry) -> StudyEntry:
    """Give each task the defaults that depend on what else it says: its kind as name, criteria in its language."""
    tasks = []
    for task in entry.tasks:
        update: dict[str, Any] = {"name": task.name or task.kind}
        if isinstance(task, SummaryPairs) and task.criteria is None:
            update["criteria"] = DEFAULT_CRITERIA[task.language]
        tasks.append(task.model_copy(update=update))
    return entry.model_copy(update={"tasks": tuple(tasks)})


_MODELS: dict[str, type[BaseModel]] = {
    "study": StudyEntry,
    "collection": SummaryFiles,
    "events": EventFiles,
    "intent_votes": IntentVotes,
    "summary_pairs": SummaryPairs,
    "stream_visits": StreamVisits,
}


def collection_paths(task: IntentVotes | SummaryPairs | StreamVisits) -> dict[str, str]:
    """Return kind -> path as written, of the files that the task's collection has."""
    return {kind: path for kind, path in task.collection.model_dump().items() if path is not None}


def _yaml_fault(error: yaml.YAMLError, path: Path) -> Exception:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "not YAML"
    line = mark.line + 1 if mark is not None else 1
    return input_fault(
        f"not YAML: {problem}", path=path, line=line, cure="check indentation, colons and quotes near here"
    )


def _lines(node: yaml.Node | None) -> dict[tuple[str | int, ...], int]:
    """Line of each key and list item of a YAML document; raises RecursionError when there are too many."""
    lines: dict[tuple[str | int, ...], int] = {}

    def walk(node: yaml.Node, place: tuple[str | int, ...]) -> None:
        if len(lines) > MAX_KEYS or len(place) > MAX_DEPTH:
            raise RecursionError
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode) or key.tag not in KEY_TAGS:
                    raise yaml.MarkedYAMLError(
                        problem="a key that is not a word; put it in quotes", problem_mark=key.start_mark
                    )
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
