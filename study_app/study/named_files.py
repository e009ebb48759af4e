"""The files that a study file names: whether they are there, also while other keys of it have faults."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from metrics.errors import FaultLog

Place: TypeAlias = tuple[str | int, ...]


def note_missing_files(
    plain: Mapping[str, Any], folder: Path, lines: Mapping[Place, int], log: FaultLog
) -> None:
    """Note every file of a collection or system that is not there; what has not the form of one is passed over.

    Parameters
    ----------
    plain : mapping
        A study file as YAML has it, whether it fits the schema or not.
    folder : Path
        What the files' paths are relative to.
    lines : mapping of place to int
        Line of each key.
    log : FaultLog
        Of the study file.
    """
    for place, path in _named(plain):
        if not _is_file(folder / path):
            around = (place[:size] for size in range(len(place), 0, -1))
            log.add(
                f"{'.'.join(map(str, place[2:]))}: there is no file {path}",
                line=next((lines[outer] for outer in around if outer in lines), 1),
                cure="correct the path; it is relative to the study file",
            )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long, or a folder that is closed
        return False


def _named(plain: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    tasks = plain.get("tasks")
    for number, task in enumerate(tasks if isinstance(tasks, list | tuple) else []):
        for group in ("collection", "systems"):
            named = task.get(group) if isinstance(task, dict) else None
            for key, path in named.items() if isinstance(named, dict) else []:
                if isinstance(path, str) and path.strip():
                    yield ("tasks", number, group, key), path.strip()
