"""Files and folders that are written atomically.

What is being written stands beside its place under a name that nobody can guess and is for its owner alone. A lock of the operating
system says that somebody is at it; what a killed command left has no such lock any more, and is cleared at the next run. Whether a
place can be written to is asked beforehand.
"""

import errno
import glob
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from metrics.errors import InputError, input_fault

if sys.platform != "win32":
    import fcntl
PART = ".part"


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: str | Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file atomically, as `written_whole` does; text is UTF-8.

    Raises
    ------
    InputError
        If the file cannot be written; an older one is then as it was.
    """
    with written_whole(path, private=private) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def written_whole(path: str | Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Write a temporary file that replaces its target once it is on the disk.

    It makes the target's folder.

    What is no regular file (a pipe, a terminal) is written to directly. A private file may be read by its owner alone.

    Raises
    ------
    InputError
        If the file cannot be written; an older one is then as it was.
    """
    path = _named(path)
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_path(path) as part:
            with open(part, "xb", opener=private_opener if private else None) as file:
                yield file
            sync(part)
            part.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None


def private_opener(path: str, flags: int) -> int:
    """Open a file as `open` does, a new one readable by its owner alone."""
    return os.open(path, flags, 0o600)


@contextmanager
def temporary_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path for a file or folder that is then renamed to ``path``.

    The temporary file or folder is always removed.

    It lies in a folder beside ``path`` that only its owner may enter. What killed commands left there is removed first.
    """
    for _ in left_behind(path):
        pass
    room, lock = _new_room(path)
    try:
        yield room / path.name
    finally:
        shutil.rmtree(room, ignore_errors=True)
        os.close(lock)


def left_behind(path: Path) -> Iterator[Path]:
    """Yield each folder that a killed command left beside ``path``, then remove it."""
    for room in sorted(path.parent.glob(f".{glob.escape(path.name)}.*{PART}")):
        lock = _locked(room)
        if lock is not None:
            try:
                yield room
            finally:
                shutil.rmtree(room, ignore_errors=True)
                os.close(lock)


def _new_room(path: Path) -> tuple[Path, int]:
    while True:
        room = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=PART, dir=path.parent))
        lock = _locked(room)
        if lock is not None:  # else another command took it for one that was left behind
            return room, lock


def _locked(room: Path) -> int | None:
    """Return the lock of a temporary folder, or None if it is taken or gone."""
    if sys.platform == "win32":
        return os.open(os.devnull, os.O_RDONLY)
    try:
        lock = os.open(room, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    if not room.exists():
        os.close(lock)
        return None
    return lock


def sync(path: Path) -> None:
    """Flush a file, or a folder with all that is in it, to the disk."""
    for inside in sorted(path.iterdir()) if path.is_dir() else ():
        sync(inside)
    sync_names(path)


def sync_names(path: Path) -> None:
    """Flush a file, or the names in a folder without their content, to the disk."""
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of a text, whatever its line ends.

    Line ends are normalised first, because version control systems change them.
    """
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def check_unchanged(record: Path, digests: object, names: Iterable[str], *, command: str) -> None:
    """Check that result files are as their command wrote them.

    A report from tables of two runs, or from half a table, would be wrong.

    Parameters
    ----------
    record : Path
        The file that says what was written, beside the results.
    digests : object
        What it says: name of a file -> `digest_of` what was written; None where it says nothing.
    names : iterable of str
        Files that the command writes.
    command : str
        What messages call it.

    Raises
    ------
    InputError
        If one of those that are there was changed, or is not among what was written.
    """
    cure = f"run {command} again"
    there = {name for name in names if (record.parent / name).exists()}
    if not isinstance(digests, dict):
        if there:
            raise input_fault(f"does not say which files {command} wrote", path=record, cure=cure)
        return
    for name in sorted(there):
        path = record.parent / name
        if not path.is_file() or digest_of(path.read_bytes()) != digests.get(name):
            raise input_fault(f"not as {command} wrote it", path=path, cure=cure)


def relative_path(path: str | Path, folder: str | Path) -> str:
    """Return a path relative to ``folder``, without the folders above both.

    Such a path is written into a file of that folder.

    On another drive, to which no relative path leads, it is the name of the file alone.
    """
    there, here = Path(os.path.abspath(path)), Path(os.path.abspath(folder))  # noqa: PTH100 - links stay as they are named
    return Path(os.path.relpath(there, here)).as_posix() if there.drive == here.drive else there.name


def check_file_place(path: str | Path) -> None:
    """Raise `InputError` if a file of this name could not be written.

    Commands call it before they begin the work that the file will hold.
    """
    path = _named(path)
    if path.is_dir():
        cure = f"name a file in it, such as {path / 'NAME'}"
        raise input_fault("this is a folder, and a file is to be written", path=path, cure=cure)
    if not path.exists() or path.is_file():
        _try_folder(path, path.parent)


def check_folder_place(path: str | Path) -> None:
    """Raise `InputError` if nothing could be written into a folder of this name.

    The folder need not exist yet.
    """
    path = _named(path)
    if path.exists() and not path.is_dir():
        raise input_fault("this is a file, and a folder is needed", path=path, cure="name a folder")
    _try_folder(path, path)


def _named(path: str | Path) -> Path:
    """Return a path, or raise `InputError` for a name that the system cannot hold.

    Such names contain NUL or half a character.
    """
    try:
        is_name = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_name = False
    if not is_name:
        raise input_fault(
            "no file can be called so", path=path, cure="choose another name, or rename the run"
        )
    return Path(path)


def _try_folder(path: Path, folder: Path) -> None:
    """Write a probe into the nearest existing folder and remove it."""
    nearest = next(ancestor for ancestor in (folder, *folder.absolute().parents) if ancestor.exists())
    if not nearest.is_dir():
        problem = f"the folder cannot be made: {nearest} is a file"
        raise input_fault(problem, path=path, cure="choose another place")
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> InputError:
    is_full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    cure = "make room there and run the same command again" if is_full else "choose another place"
    return input_fault(f"cannot be written ({error.strerror})", path=path, cure=cure)
