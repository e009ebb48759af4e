"""Folder of results that appears complete or not at all."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from metrics.errors import input_fault, join_names
from metrics.files import left_behind, sync, sync_names, temporary_path

OLD = "old export"


@contextmanager
def fresh_folder(folder: Path, *, is_ours: Callable[[str], bool]) -> Iterator[Path]:
    """Yield an empty folder that replaces ``folder`` when the block succeeds.

    When the block raises, the new folder is removed. It holds what people did, and only its owner may read
    it.

    Parameters
    ----------
    folder : Path
        Folder of the result. An existing one is replaced if it holds files of an earlier export only.
    is_ours : callable
        Return whether an earlier export may have left a file, by its name relative to the folder.

    Raises
    ------
    InputError
        If ``folder`` is a file, holds anything else, or cannot be written.
    """
    folder = folder.absolute()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _put_back(folder)
        _check_replaceable(folder, is_ours)
        with temporary_path(folder) as new:
            new.mkdir(mode=0o700)
            yield new
            for path in new.rglob("*"):
                path.chmod(0o700 if path.is_dir() else 0o600)
            sync(new)
            _exchange(folder, new)
    except OSError as error:
        raise input_fault(
            f"cannot be written ({error.strerror})",
            path=folder,
            cure="make room there, or name another folder",
        ) from error


def _exchange(folder: Path, new: Path) -> None:
    """Replace a folder by a new one; put the old one back if that fails."""
    old = new.with_name(OLD)
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
    sync_names(folder.parent)


def _put_back(folder: Path) -> None:
    """Restore the name of an earlier export that a killed command had moved away."""
    for room in left_behind(folder):
        if (room / OLD).is_dir() and not folder.exists():
            (room / OLD).rename(folder)


def _check_replaceable(folder: Path, is_ours: Callable[[str], bool]) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise input_fault("this is a file", path=folder, cure="name a folder")
    others = sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if not path.is_dir() and not is_ours(path.relative_to(folder).as_posix())
    )
    if others:
        raise input_fault(
            f"the folder holds files that no export wrote: {join_names(others)}",
            path=folder,
            cure="name another folder, or move these away",
        )
