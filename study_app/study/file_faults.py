"""Faults of a study file in words: what is wrong with which key, and how to mend it."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from metrics.errors import FaultLog
from metrics.wording import listed, nearest
from study_app.study.entries import CheckQuestion, Codes, Entry, Kinds, Place, StudyEntry

CODE_CURE = "write 2 to 64 letters, digits and -"
NAME_CURE = "write letters, digits, '.', '_' and -, at most 64 of them, a letter or digit first"

CURES = {
    "study": "write lower-case letters, digits and -, at most 40 of them, a letter or digit first",
    "name": NAME_CURE,
    "id": NAME_CURE,
    "id_parameter": NAME_CURE,
    "extra_parameters": "write a list of at most 20 names of parameters",
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
    "pairs": "write all, or how many pairs a worker judges",
    "systems": "write NAME: RUN.xml, one line a system, two at least",
    "collection": "write queries: FILE, iunits: FILE and intents: FILE below it",
    "tasks": "write a list of tasks, each beginning with - kind: ...",
    "criteria": "write a list of questions",
    "compare": "write a list of measures",
    "primary": "write a list of two measures",
    "reveal_silent_days": "write true, false or random",
}
"""Key -> how to mend it, where the kind of fault alone does not say it."""

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
    "finite_number": "must be a number, and no infinite one",
    "bool_type": "must be true or false",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "too_short": "has too few entries",
    "too_long": "has too many entries",
    "literal_error": "must be {expected}",
}
"""Kind of fault, as pydantic calls it -> what is wrong."""


def note_faults(
    error: ValidationError,
    plain: Mapping[str, Any],
    lines: Mapping[Place, int],
    log: FaultLog,
    kinds: Kinds,
) -> None:
    """Put what pydantic found into words, once a place, in the order of the file.

    Parameters
    ----------
    error : ValidationError
        Of the whole file.
    plain : mapping
        The file as YAML read it.
    lines : mapping of place to int
        Where each key stands.
    log : FaultLog
        Gets the faults.
    kinds : mapping of str to EntryKind
        The kinds of task.
    """
    seen: set[Place] = set()
    for fault in error.errors():
        place = _place_in_file(fault["loc"], plain)
        is_echo = fault["type"] == "too_short" and any(other[: len(place)] == place for other in seen)
        if place not in seen and not is_echo:
            _note(fault, place, plain, lines, log, kinds)
        seen.add(place)
    log.faults.sort(key=lambda fault: fault.line or 0)


def _note(
    fault: Any,
    place: Place,
    plain: Mapping[str, Any],
    lines: Mapping[Place, int],
    log: FaultLog,
    kinds: Kinds,
) -> None:
    cures = _cures(place, plain, kinds)
    line = next((lines[place[:n]] for n in range(len(place), -1, -1) if place[:n] in lines), 1)
    key = ".".join(str(part + 1) if isinstance(part, int) else part for part in place)
    last = str(place[-1]) if place else ""
    match fault["type"]:
        case "extra_forbidden":
            known = _known_keys(place, plain, kinds)
            near = nearest(last, known)
            log.add(
                f"{key} is not known",
                line=line,
                cure=f"did you mean {near!r}?" if near else f"known here: {listed(known, most=20)}",
            )
        case "missing" if isinstance(fault["loc"][-1], int):
            log.add(f"{key} has too few entries", line=line, cure=cures.get(last, "add to it"))
        case "missing":
            log.add(f"{key} is missing", line=line, cure=cures.get(last, f"write {last}: ..."))
        case "unknown_kind":
            near = nearest(str(fault["input"].get("kind")), kinds)
            cure = f"did you mean {near!r}?" if near else f"write kind: {' or kind: '.join(kinds)}"
            log.add(f"{key}: no such kind of task", line=line, cure=cure)
        case kind:
            meant = MEANT.get(kind, fault["msg"]).format(**fault.get("ctx", {}))
            shown = _shown(fault["input"])
            is_name = kind == "string_pattern_mismatch" and "systems" in place[-2:-1]
            cure = "put it in quotes if it is meant" if kind == "string_type" else "correct it"
            cure = cures.get("name" if is_name else last, cure)
            log.add(f"{key} {meant}, got {shown}", line=line, cure=cure)


def _cures(place: Place, plain: Mapping[str, Any], kinds: Kinds) -> Mapping[str, str]:
    """Return key -> how to mend it, for keys around ``place``."""
    in_task = place[:1] == ("tasks",) and len(place) > 1
    task = plain["tasks"][place[1]] if in_task else {}
    kind = task.get("kind") if isinstance(task, dict) else None
    return {**CURES, **kinds[kind].cures} if isinstance(kind, str) and kind in kinds else CURES


def _shown(value: Any) -> str:
    """Return a value for a message; what has parts only by its kind, since aliases can make it endless."""
    if isinstance(value, dict | list):
        return "a group of keys" if isinstance(value, dict) else "a list"
    return "nothing" if value is None else repr(str(value)[:40])


def _place_in_file(loc: Sequence[str | int], plain: Any) -> Place:
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


def _known_keys(place: Place, plain: Mapping[str, Any], kinds: Kinds) -> list[str]:
    """Return the keys that may stand where ``place`` stands."""
    return list(_schema_around(place[:-1], plain, kinds).model_fields)


def _schema_around(place: Place, plain: Mapping[str, Any], kinds: Kinds) -> type[Entry]:
    """Return the schema of the group of keys at ``place``."""
    if len(place) < 2:
        return Codes if place == ("codes",) else StudyEntry
    task, key = plain["tasks"][place[1]], str(place[2]) if len(place) > 2 else ""
    return CheckQuestion if key == "check" else kinds[task["kind"]].schema_of(key, task.get(key))
