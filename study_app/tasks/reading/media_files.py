"""Media files that a line of another file names: path, size and bytes.

It lies in the folder of the file that names it, or below, also where it is a link. Its size is looked at before it is read. Its bytes are read
again when the study is loaded, so that a study of thousands of files is checked in the memory of one.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path

from metrics.errors import input_fault
from study_app.protocol.sides import Media


class MediaError(ValueError):
    """A file that cannot be shown: what is wrong with it, and how to mend it."""

    def __init__(self, problem: str, cure: str) -> None:
        self.problem, self.cure = problem, cure
        super().__init__(f"{problem}; {cure}")


def check_size(number: int, *, most: int, thing: str, smaller: str) -> None:
    """Refuse an empty file, and one that is too large.

    Parameters
    ----------
    number, most : int
        Bytes of the file; the most that it may have.
    thing : str
        What the file holds, such as ``picture``.
    smaller : str
        How to make it smaller.

    Raises
    ------
    MediaError
    """
    if not number:
        raise MediaError("the file is empty", f"export the {thing} again")
    if number > most:
        raise MediaError(f"the file has {number / 1e6:.1f} MB, and {most / 1e6:g} MB are the most", smaller)


def media_bytes(listing: Path, written: str, check: Callable[[int], None]) -> bytes:
    """Return the bytes of a file that another names.

    Parameters
    ----------
    listing : Path
        The file that names it.
    written : str
        Its path as written there, relative to the folder of ``listing``.
    check : callable
        Raises `MediaError` for a number of bytes that may not be read, as `check_size` does.

    Raises
    ------
    MediaError
        Where it lies elsewhere, is not there, is no file, or cannot be read; and as ``check`` does.
    """
    folder = listing.parent.resolve()
    missing = MediaError("there is no such file", f"write its path as seen from the folder of {listing.name}")
    if "\0" in written:
        raise missing
    try:
        path = (folder / written).resolve()
        if not path.is_relative_to(folder):
            raise MediaError(
                f"the file lies outside the folder of {listing.name}",
                "copy it there, or below, and name it from there",
            )
        if not path.is_file():
            raise missing
        check(path.stat().st_size)
        return path.read_bytes()
    except (OSError, RuntimeError) as error:  # links in a circle among them
        problem = (error.strerror or error) if isinstance(error, OSError) else "its links go in a circle"
        raise MediaError(
            f"the file cannot be read ({problem})", "see whether it is there, and may be read"
        ) from None


def media_reader(
    listing: Path, media: Media, read: Callable[[str], bytes], thing: str
) -> Callable[[], bytes]:
    """Return a function that reads a file again, for `TaskContent.media`.

    Parameters
    ----------
    listing : Path
        The file that names it.
    media : Media
        What was shown of it when it was checked.
    read : callable
        Returns the bytes that are shown of a path as written; raises `MediaError`.
    thing : str
        What the file holds, such as ``picture``.

    Returns
    -------
    callable
        Raises `InputError` where the bytes are no longer those of ``media``.
    """

    def read_again() -> bytes:
        try:
            content = read(media.path)
        except MediaError:
            content = b""
        if hashlib.sha256(content).hexdigest() != media.sha256:
            raise input_fault(
                f"the {thing} has changed since it was checked",
                path=listing.parent / media.path,
                cure="load the study once more",
            )
        return content

    return read_again
