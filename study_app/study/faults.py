"""Faults of a study file, each with its line and a hint.

Faults are breaches of the schema, contradictions between keys, and missing files.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from metrics.errors import FaultLog, closest_name, join_names
from study_app.study.demographics import identifying
from study_app.study.entries import (
    ALL,
    AssignedPairTask,
    CheckQuestion,
    Codes,
    Contradiction,
    Criterion,
    JudgingTask,
    KeyPath,
    Kinds,
    StudyEntry,
    StudyFileModel,
    TaskEntry,
)
from study_app.study.platforms import PLATFORMS

CODE_CURE = "write 2 to 64 letters, digits and -"
NAME_CURE = "write letters, digits, '.', '_' and -, at most 64 of them, a letter or digit first"
CURES = {
    "study": "write lower-case letters, digits and -, at most 40 of them, a letter or digit first",
    "name": NAME_CURE,
    "id": NAME_CURE,
    "id_parameter": NAME_CURE,
    "extra_parameters": "write a list of at most 20 names of parameters",
    "signing_keys": "name the file of the platform's public keys",
    "demographics": "write a list of at most 50 names of columns of the platform's export, such as [Age, Sex], without semicolons",
    "pseudonyms": "write shared KEYFILE, the name of a file that prefcal study shared-key made, or leave it out",
    "submit_hosts": "write a list of hosts, such as www.mturk.com",
    "completion_code": CODE_CURE,
    "visit_code": CODE_CURE,
    "screened_out": CODE_CURE,
    "failed_checks": CODE_CURE,
    "partial": CODE_CURE,
    "return_url": "write an address that begins with https://",
    "early_return_url": "write an address that begins with https://",
    "currency": "write the three letters of a currency, such as USD, EUR or JPY",
    "platform_fee": "write it as a share of the reward: 0.33 is 33 percent",
    "instructions": "write standard, or a text of your own",
    "check": "write a list of at most 10 questions, each with question, options and answer",
    "answer": "write the number of the right option, counted from 1",
    "options": "write a list of options",
    "questions": "write a list of questions, each beginning with - id: ...",
    "pairs": "write all, how many pairs a worker judges, or a file with `topic a b` on each line",
    "adaptive": "write adaptive: best; nothing else is searched for",
    "budget": "write how many judgments the task may have in all",
    "uniform_share": "write a share from 0.05 to 1",
    "stop_at": "write a probability above 0.5 and below 1, or null to use the whole budget",
    "systems": "write NAME: RUN.xml, one line per system, two at least",
    "collection": "write queries: FILE, iunits: FILE and intents: FILE below it",
    "tasks": "write a list of tasks, each beginning with - kind: ...",
    "criteria": "write a list of questions; one that is asked has name: and text:",
    "choices": "write four, graded5 or graded7",
    "reason": "write optional or required, or leave it out",
    "gold_pairs": "write a file with `topic a b answer` on each line",
    "gold_per_worker": "write how many of the gold pairs a worker sees",
    "min_gold": "write a share from 0 to 1",
    "compare": "write a list of measures",
    "primary": "write a list of two measures",
    "reveal_silent_days": "write true, false or random",
}
"""Hints by key, where the kind of fault alone does not suffice."""

MEANT = {
    "dict_type": "must be a group of keys",
    "model_type": "must be a group of keys",
    "model_attributes_type": "must be a group of keys",
    "tuple_type": "must be a list",
    "string_type": "must be text",
    "string_too_short": "is empty",
    "string_pattern_mismatch": "has a form that is not allowed",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "too_short": "has too few entries",
    "too_long": "has too many entries",
    "literal_error": "must be {expected}",
}
"""Words for each kind of fault of pydantic."""


def note_faults(
    error: ValidationError,
    plain: Mapping[str, Any],
    lines: Mapping[KeyPath, int],
    log: FaultLog,
    kinds: Kinds,
) -> None:
    """Add pydantic's faults in words, once per key, in the order of the file.

    Parameters
    ----------
    error : ValidationError
        Faults of the whole file.
    plain : mapping
        The file as YAML read it.
    lines : mapping of place to int
        Line of each key.
    log : FaultLog
        Gets the faults.
    kinds : mapping of str to EntryKind
        The kinds of task.
    """
    seen: set[KeyPath] = set()
    for fault in error.errors():
        key_path = _place_in_file(fault["loc"], plain)
        is_echo = fault["type"] == "too_short" and any(other[: len(key_path)] == key_path for other in seen)
        if key_path not in seen and not is_echo:
            _note(fault, key_path, plain, lines, log, kinds)
        seen.add(key_path)
    log.faults.sort(key=lambda fault: fault.line or 0)


def _note(
    fault: Any,
    key_path: KeyPath,
    plain: Mapping[str, Any],
    lines: Mapping[KeyPath, int],
    log: FaultLog,
    kinds: Kinds,
) -> None:
    cures = _cures(key_path, plain, kinds)
    line = line_of(key_path, lines)
    key = ".".join(str(part + 1) if isinstance(part, int) else part for part in key_path)
    last = str(key_path[-1]) if key_path else ""
    match fault["type"]:
        case "extra_forbidden":
            known = list(_schema_around(key_path[:-1], plain, kinds).model_fields)
            near = closest_name(last, known)
            log.add(
                f"{key} is not known",
                line=line,
                cure=f"did you mean {near!r}?" if near else f"known here: {join_names(known, most=20)}",
            )
        case "missing" if isinstance(fault["loc"][-1], int):
            log.add(f"{key} has too few entries", line=line, cure=cures.get(last, "add to it"))
        case "missing":
            log.add(f"{key} is missing", line=line, cure=cures.get(last, f"write {last}: ..."))
        case "unknown_kind":
            near = closest_name(str(fault["input"].get("kind")), kinds)
            cure = f"did you mean {near!r}?" if near else f"write kind: {' or kind: '.join(kinds)}"
            log.add(f"{key}: no such kind of task", line=line, cure=cure)
        case kind:
            meant = MEANT.get(kind, fault["msg"]).format(**fault.get("ctx", {}))
            shown = _shown(fault["input"])
            is_name = kind == "string_pattern_mismatch" and "systems" in key_path[-2:-1]
            cure = "put it in quotes if it is meant" if kind == "string_type" else "correct it"
            cure = cures.get("name" if is_name else last, cure)
            log.add(f"{key} {meant}, got {shown}", line=line, cure=cure)


def _cures(key_path: KeyPath, plain: Mapping[str, Any], kinds: Kinds) -> Mapping[str, str]:
    """Return the hints by key, for keys around ``key_path``."""
    in_task = key_path[:1] == ("tasks",) and len(key_path) > 1
    task = plain["tasks"][key_path[1]] if in_task else {}
    kind = task.get("kind") if isinstance(task, dict) else None
    return {**CURES, **kinds[kind].cures} if isinstance(kind, str) and kind in kinds else CURES


def _shown(value: Any) -> str:
    """Return a value for a message.

    A mapping or list is named by its type only, since aliases can make it endless.
    """
    if isinstance(value, dict | list):
        return "a group of keys" if isinstance(value, dict) else "a list"
    return "nothing" if value is None else repr(str(value)[:40])


def _place_in_file(loc: Sequence[str | int], plain: Any) -> KeyPath:
    """Return the key path of a fault in the file.

    pydantic's tags of unions are left out.
    """
    key_path: list[str | int] = []
    at = plain
    for number, part in enumerate(loc):
        last = number == len(loc) - 1
        if isinstance(at, dict) and (part in at or last):
            key_path.append(part)
            at = at.get(part)
        elif isinstance(at, list) and isinstance(part, int) and part < len(at):
            key_path.append(part)
            at = at[part]
    return tuple(key_path)


def _schema_around(key_path: KeyPath, plain: Mapping[str, Any], kinds: Kinds) -> type[StudyFileModel]:
    """Return the schema of the group of keys at ``key_path``."""
    if len(key_path) < 2:
        return Codes if key_path == ("codes",) else StudyEntry
    task, key = plain["tasks"][key_path[1]], str(key_path[2]) if len(key_path) > 2 else ""
    return CheckQuestion if key == "check" else kinds[task["kind"]].schema_of(key, task.get(key))


def note_contradictions(entry: StudyEntry, lines: Mapping[KeyPath, int], log: FaultLog, kinds: Kinds) -> None:
    """Add a fault for each rule that a study file of valid schema breaks."""
    contradictions = [*_names(entry.tasks), *_alike(entry.tasks, kinds), *_platform(entry)]
    for number, task in enumerate(entry.tasks):
        rules = (_check, kinds[task.kind].rules, _comparison, _criteria, _budget)
        of_task = [contradiction for rule in rules for contradiction in rule(task)]
        contradictions += [(("tasks", number, *key_path), wrong, cure) for key_path, wrong, cure in of_task]
    for key_path, wrong, cure in contradictions:
        log.add(wrong, line=line_of(key_path, lines), cure=cure)


def line_of(key_path: KeyPath, lines: Mapping[KeyPath, int]) -> int:
    """Return the line of a key path, or of the nearest group around it in the file."""
    around = (key_path[:size] for size in range(len(key_path), 0, -1))
    return next((lines[outer] for outer in around if outer in lines), 1)


def _names(tasks: Sequence[TaskEntry]) -> Iterator[Contradiction]:
    names = [task.name for task in tasks]
    for number, name in enumerate(names):
        if name in names[:number]:
            yield ("tasks", number), f"two tasks are named {name!r}", "give each task a name of its own"


def _alike(tasks: Sequence[TaskEntry], kinds: Kinds) -> Iterator[Contradiction]:
    """Yield the keys that must be, and are not, alike in all tasks of a kind.

    Streams with different clocks could not be analysed together.
    """
    for kind in dict.fromkeys(task.kind for task in tasks):
        (first, one), *others = [(number, task) for number, task in enumerate(tasks) if task.kind == kind]
        for key in kinds[kind].same_in_all:
            value = getattr(one, key)
            for number, task in others:
                if getattr(task, key) != value:
                    yield (
                        ("tasks", number, key),
                        f"tasks.{number + 1}.{key} is {getattr(task, key):g}, but {value:g} in task {first + 1}",
                        f"give all {kind} of a study the same {key}",
                    )


def _platform(entry: StudyEntry) -> Iterator[Contradiction]:
    for name in identifying(entry.demographics):
        yield (
            ("demographics",),
            f"demographics: column {name!r} identifies people",
            "leave it out: no table ever has such a column",
        )
    form = PLATFORMS[entry.platform].return_form
    if form is not None and entry.return_url is None:
        yield (
            ("platform",),
            f"missing return_url, which platform {entry.platform} needs and only you know",
            f"write return_url: {form}",
        )
    if form is not None and "{id}" in form and "{id}" not in (entry.return_url or "{id}"):
        yield (
            ("return_url",),
            f"return_url without {{id}}: platform {entry.platform} could not tell whom to credit",
            f"write {{id}} where the platform writes XXXX: {form}",
        )
    if entry.id_parameter in entry.extra_parameters:
        yield (
            ("extra_parameters",),
            f"extra_parameters has the id parameter {entry.id_parameter!r}",
            "name other parameters there",
        )


def _comparison(task: TaskEntry) -> Iterator[Contradiction]:
    if isinstance(task, JudgingTask) and task.primary is not None and task.primary[0] == task.primary[1]:
        yield ("primary",), "a measure is compared with itself", "name two"


def _criteria(task: TaskEntry) -> Iterator[Contradiction]:
    """Yield the criteria whose name an earlier one has."""
    names: set[str] = set()
    for number, criterion in enumerate(task.criteria or () if isinstance(task, JudgingTask) else ()):
        if isinstance(criterion, Criterion) and criterion.name in names:
            wrong = f"two criteria are named {criterion.name!r}"
            yield ("criteria", number, "name"), wrong, "give each criterion a name of its own"
        elif isinstance(criterion, Criterion):
            names.add(criterion.name)


def _budget(task: TaskEntry) -> Iterator[Contradiction]:
    if isinstance(task, AssignedPairTask) and task.adaptive and task.judgments_per_pair is not None:
        yield (
            ("judgments_per_pair",),
            "judgments_per_pair beside adaptive pairs, of which some are judged far more often than others",
            "leave it out: pairs.budget limits the judgments of the task",
        )


def _check(task: TaskEntry) -> Iterator[Contradiction]:
    if task.check and task.instructions is None:
        yield (("check",), "a check without instructions", "add instructions: standard, or your own text")
    for number, question in enumerate(task.check or ()):
        if question.answer > len(question.options):
            yield (
                ("check", number, "answer"),
                f"answer {question.answer} of {len(question.options)} options",
                "write the number of the right option, counted from 1",
            )


def note_missing_files(
    plain: Mapping[str, Any], folder: Path, lines: Mapping[KeyPath, int], log: FaultLog
) -> None:
    """Add a fault for each missing file of a collection, system or pairs.

    Values that cannot be a path are skipped.

    Parameters
    ----------
    plain : mapping
        A study file as YAML has it, whether it fits the schema or not.
    folder : Path
        Folder that the files' paths are relative to.
    lines : mapping of place to int
        Line of each key.
    log : FaultLog
        Of the study file.
    """
    for key_path, path in _named(plain):
        if not _is_file(folder / path):
            log.add(
                f"{'.'.join(map(str, key_path[2:]))}: "
                + (f"{path} is a folder" if _is_folder(folder / path) else f"there is no file {path}"),
                line=line_of(key_path, lines),
                cure=CURES["pairs"]
                if "pairs" in key_path
                else "correct the path; it is relative to the study file",
            )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long, or a folder that is closed
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _named(plain: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    tasks = plain.get("tasks")
    for number, task in enumerate(tasks if isinstance(tasks, list | tuple) else []):
        for group in ("collection", "systems"):
            named = task.get(group) if isinstance(task, dict) else None
            for key, path in named.items() if isinstance(named, dict) else []:
                if isinstance(path, str) and path.strip():
                    yield ("tasks", number, group, key), path.strip()
        for key in ("pairs", "gold_pairs"):
            path = task.get(key) if isinstance(task, dict) else None
            if isinstance(path, str) and path.strip() and path != ALL:
                yield ("tasks", number, key), path.strip()
