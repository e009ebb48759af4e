"""Writing a file so that nobody ever sees half of it, and asking beforehand whether there is a place for it."""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from metrics.errors import InputError, input_fault


def write_whole(path: str | Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file as `written_whole` does; text is UTF-8.

    Raises
    ------
    InputError
        If the file cannot be written; an older one is then as it was.
    """
    with written_whole(path, private=private) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def written_whole(path: str | Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Write a file into a temporary one beside it, then rename that once it is on the disk. Its folder is made.

    What is no regular file (a pipe, a terminal) is written to directly. A private file may be read by its owner alone.

    Raises
    ------
    InputError
        If the file cannot be written; an older one is then as it was.
    """
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        made = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666)
        try:
            with os.fdopen(made, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from None


def check_file_place(path: str | Path) -> None:
    """Raise `InputError` where no file of this name could be written: before the work that it shall hold the result of."""
    path = Path(path)
    if path.is_dir():
        cure = f"name a file in it, such as {path / 'NAME'}"
        raise input_fault("this is a folder, and a file is to be written", path=path, cure=cure)
    if not path.exists() or path.is_file():
        _try_folder(path, path.parent)


def check_folder_place(path: str | Path) -> None:
    """Raise `InputError` where nothing could be written into a folder of this name, which may have to be made first."""
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise input_fault("this is a file, and a folder is needed", path=path, cure="name a folder")
    _try_folder(path, path)


def _try_folder(path: Path, folder: Path) -> None:
    """Write something into the nearest folder that there is, and take it away again."""
    nearest = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not nearest.is_dir():
        problem = f"the folder cannot be made: {nearest} is a file"
        raise input_fault(problem, path=path, cure="choose another place")
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> InputError:
    return input_fault(f"cannot be written ({error.strerror})", path=path, cure="choose another place")
