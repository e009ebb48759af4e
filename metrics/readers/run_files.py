"""Several run files at once: each is called like its file, and the faults of all are shown together."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from metrics.errors import Fault, InputError, input_fault

R = TypeVar("R")

ENDINGS = (".xml", ".txt", ".tsv")


RUN_ENDING = ".run"
"""Stays in the column ``run`` of scores, whose names scripts depend on; the systems of a study go without it."""


def system_name(run: str) -> str:
    """Return what a study calls the system of a run: its name without a last ``.run``."""
    return run.removesuffix(RUN_ENDING) or run


def run_name(path: str | Path) -> str:
    """Return the file's name without folder, without ``.gz``, and without a last ``.xml``, ``.txt`` or ``.tsv``."""
    name = Path(path).name.removesuffix(".gz")
    ending = next((ending for ending in ENDINGS if name.endswith(ending) and name != ending), "")
    return name.removesuffix(ending)


def named_runs(paths: Iterable[str | Path]) -> dict[str, Path]:
    """Name each run file, in the order given.

    Raises
    ------
    InputError
        If two files go by one name, so that their scores could not be told apart.
    """
    named: dict[str, Path] = {}
    for path in map(Path, paths):
        other = named.setdefault(run_name(path), path)
        if other is not path:
            raise input_fault(
                f"{other} is called {run_name(path)!r} too", path=path, cure="rename one of the two files"
            )
    return named


def read_runs(paths: Iterable[str | Path], read: Callable[[Path, str], R]) -> list[R]:
    """Read every run file by ``read(path, name)``, in the order given.

    Raises
    ------
    InputError
        With the faults of all files, or if two files go by one name.
    """
    runs: list[R] = []
    faults: list[Fault] = []
    for name, path in named_runs(paths).items():
        try:
            runs.append(read(path, name))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return runs
