"""Names of runs: a run is called like its file."""

from collections.abc import Iterable
from pathlib import Path

from metrics.errors import input_fault

ENDINGS = (".xml", ".txt", ".tsv")


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
