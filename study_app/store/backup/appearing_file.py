"""A large file that appears under its name when all of it is on the disk, for its owner alone; or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metrics.errors import input_fault


@contextmanager
def appearing(file: Path) -> Iterator[Path]:
    """Give a new, empty file that only its owner may read; when the block ends it is synced and renamed to ``file``.

    Raises
    ------
    InputError
        If it cannot be written; what stood under the name is then as it was.
    """
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        part.touch(mode=0o600)
        try:
            yield part
            _sync(part)
            part.replace(file)
            _sync(file.parent)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        problem = f"cannot be written ({error.strerror})"
        raise input_fault(problem, path=file, cure="choose another place, or make room there") from error


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
