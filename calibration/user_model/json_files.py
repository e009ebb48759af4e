"""JSON files of a documented shape, checked on reading, reproducible to the byte."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from metrics.errors import FaultLog, InputError, closest_name, join_names
from metrics.files import write_atomically
from metrics.readers.trees import Node, read_json

Model = TypeVar("Model", bound=BaseModel)


def read_model(path: str | Path, model: type[Model], *, cure: str) -> Model:
    """Read a JSON file and check it against a pydantic model.

    Parameters
    ----------
    path : str or Path
        The file.
    model : subclass of BaseModel
        Its shape.
    cure : str
        How to get a sound file, for faults that do not imply their cure.

    Raises
    ------
    InputError
        If the file cannot be read, is not JSON, or breaks the shape; every fault with key and line.
    """
    log = FaultLog(path)
    tree = read_json(log)
    log.raise_if_any()
    try:
        return model.model_validate(_plain(tree))
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            _note(detail, tree, log, cure)
        raise InputError(sorted(log.faults, key=lambda fault: fault.line or 0)) from None


def write_json(path: str | Path, content: dict[str, Any], *, indent: int | None = 2) -> None:
    """Write JSON atomically, with the keys in the order given.

    One line (without ``indent``) takes a tenth of the time for many numbers.

    Raises
    ------
    InputError
        If the file cannot be written.
    ValueError
        If a number is NaN or infinite: JSON has neither.
    """
    write_atomically(path, json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=False) + "\n")


def _plain(node: Node) -> Any:
    if isinstance(node.value, dict):
        return {name: _plain(member) for name, member in node.value.items()}
    if isinstance(node.value, list):
        return [_plain(member) for member in node.value]
    return node.value


def _note(detail: ErrorDetails, tree: Node, log: FaultLog, cure: str) -> None:
    """Add one of pydantic's errors to the log, in prefcal's words."""
    location = [key for key in detail["loc"] if key != "[key]"]
    *place, key = location or ["the file"]
    where = ".".join(map(str, [*place, key]))
    line = _line(tree, location)
    known = detail.get("ctx", {}).get("known")
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "missing":
        inside = f" in {'.'.join(map(str, place))}" if place else ""
        log.add(f"{key!r} is missing{inside}", line=line, cure=cure)
    elif known:
        near = closest_name(str(detail["input"]), known)
        log.add(
            f"{where}: {message}",
            line=line,
            cure=f"did you mean {near!r}?" if near else f"known are {join_names(known, most=20)}",
        )
    elif message.startswith("Input should"):
        log.add(
            f"{where} is {_shown(detail['input'])}",
            line=line,
            cure=_in_json_words(message.replace("Input should", "it should", 1)),
        )
    else:
        log.add(f"{where}: {message[0].lower()}{message[1:]}", line=line, cure=cure)


def _line(tree: Node, location: Sequence[int | str]) -> int:
    """Return the line of a key path in the file, or of the nearest parent."""
    node = tree
    for key in location:
        if isinstance(node.value, dict) and key in node.value:
            node = node.value[str(key)]
        elif isinstance(node.value, list) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
    return node.line


def _in_json_words(message: str) -> str:
    return re.sub(r"dictionary( or instance of \w+)?", "object", message).replace("tuple", "list")


def _shown(value: Any) -> str:
    text = (
        "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else json.dumps(value)
    )
    return text if len(text) <= 40 else text[:37] + "..."
