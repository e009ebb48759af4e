"""Reading of study files, with every fault at its line.

Only the file itself is checked here; `study_app.estimate.content` reads the collections and runs it names.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from metrics.errors import FaultLog, InputError, input_fault
from metrics.file_limits import MAX_DOCUMENT_BYTES, check_bytes
from metrics.readers.lines import check_is_plain
from study_app.study.entries import JudgingTask, Kinds, StudyEntry, read_study_entry
from study_app.study.faults import line_of, note_contradictions, note_faults, note_missing_files
from study_app.study.yaml_values import PlainLoader, parsed_yaml

MAX_KEYS = 50_000
MAX_DEPTH = 50
"""Deepest nesting of a study file; aliases can make a small file of YAML endless."""

KEY_TAGS = {"tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFile:
    """Study file of valid schema.

    Attributes
    ----------
    path : Path
        Path of the file; the files it names are relative to its folder.
    sha256 : str
        Digest of its bytes.
    source : str
        Its text.
    entry : StudyEntry
        Its content; every task has a name.
    lines : dict
        Line of each key path, such as 31 for ``("tasks", 0, "systems", "good")``.
    pseudonym_key : str or None
        Key that its pseudonyms come from, once read (`study_app.study.shared_pseudonyms`); None where they are random.
    """

    path: Path
    sha256: str
    source: str
    entry: StudyEntry
    lines: dict[tuple[str | int, ...], int]
    pseudonym_key: str | None = field(default=None, repr=False)

    def line(self, *place: str | int) -> int:
        """Return the line of a key path, or of the nearest group around it in the file."""
        return line_of(place, self.lines)

    def fault(self, key: str, problem: str, cure: str) -> InputError:
        """Return an error about the value of a key."""
        return input_fault(problem, path=self.path, line=self.line(key), cure=cure)


def read_study_file(path: str | Path, kinds: Kinds) -> StudyFile:
    """Read and check a study file; raises `InputError` with every fault and its line.

    Its tasks are of the kinds ``kinds``.
    """
    path = Path(path)
    try:
        check_bytes(path, path.stat().st_size, most=MAX_DOCUMENT_BYTES)
        content = path.read_bytes()
        check_is_plain(path, content)
        source = content.decode("utf-8-sig")
        _check_depth(source)
        node = yaml.compose(source, Loader=PlainLoader)
        lines = _lines(node)
        plain = parsed_yaml(source)
    except UnicodeDecodeError as error:
        raise input_fault("not UTF-8", path=path, cure="save the file as UTF-8") from error
    except OSError as error:
        raise input_fault(
            f"cannot be read ({error.strerror})", path=path, cure="name a study file"
        ) from error
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
    entry = _validated(plain, lines, log, kinds)
    return StudyFile(
        path=path, sha256=hashlib.sha256(content).hexdigest(), source=source, entry=entry, lines=lines
    )


def _validated(
    plain: dict[str, Any], lines: dict[tuple[str | int, ...], int], log: FaultLog, kinds: Kinds
) -> StudyEntry:
    try:
        entry = _completed(read_study_entry(plain, kinds), kinds)
    except ValidationError as error:
        note_faults(error, plain, lines, log, kinds)
        note_missing_files(plain, Path(log.path).parent, lines, log)
        log.faults.sort(key=lambda fault: fault.line or 0)
        log.raise_if_any()
        raise
    note_contradictions(entry, lines, log, kinds)
    log.raise_if_any()
    return entry


def _completed(entry: StudyEntry, kinds: Kinds) -> StudyEntry:
    """Set the defaults that depend on other keys: a task's name and its criteria.

    A task's name is its kind; criteria are in its language.
    """
    tasks = []
    for task in entry.tasks:
        update: dict[str, Any] = {"name": task.name or task.kind}
        if isinstance(task, JudgingTask) and task.criteria is None:
            update["criteria"] = kinds[task.kind].criteria[task.language]
        tasks.append(task.model_copy(update=update))
    return entry.model_copy(update={"tasks": tuple(tasks)})


def _yaml_fault(error: yaml.YAMLError, path: Path) -> Exception:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "not YAML"
    line = mark.line + 1 if mark is not None else 1
    return input_fault(
        f"not YAML: {problem}", path=path, line=line, cure="check indentation, colons and quotes near here"
    )


def _check_depth(source: str) -> None:
    """Raise RecursionError for deep nesting, which would exhaust a C library's memory."""
    depth = 0
    for event in yaml.parse(source, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise RecursionError


def _lines(node: yaml.Node | None) -> dict[tuple[str | int, ...], int]:
    """Return the line of each key and list item of a YAML document.

    It raises RecursionError when there are too many.
    """
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
    """Add a fault for each duplicate key; YAML keeps the last one in silence."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                log.add(f"duplicate key {key.value}", line=key.start_mark.line + 1, cure="keep one of them")
            seen.add(key.value)
            _note_repeated_keys(value, log)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _note_repeated_keys(item, log)
