"""Whose turn it is to write a SQLite file, between the processes of one server.

SQLite itself lets one process write at a time, but who is kept off sleeps and asks again, and a busy neighbour is always
faster. So these processes wait for a lock on a file beside the database, which wakes them. Nothing but this order hangs on the file:
SQLite's own lock keeps writers apart, these and those of other commands. The system frees the file when its holder ends, and
who looks after the processes ends a holder that hangs.
"""

import os
import sys
from contextlib import suppress

if sys.platform != "win32":
    import fcntl

SUFFIX = ".writing"


class FileTurn:
    """A turn that processes take one after the other; threads of one process share it out by themselves.

    Parameters
    ----------
    database : str
        Path of the SQLite file.
    """

    def __init__(self, database: str) -> None:
        self._path = f"{database}{SUFFIX}"
        self._held: int | None = None

    def take(self) -> None:
        """Wait for the turn. Where the file cannot be made there is no turn: SQLite will say what is wrong with the folder."""
        if sys.platform == "win32":
            return
        with suppress(OSError):
            opened = os.open(self._path, os.O_RDONLY | os.O_CREAT, 0o600)
            try:
                fcntl.flock(opened, fcntl.LOCK_EX)
            except BaseException:
                os.close(opened)
                raise
            self._held = opened

    def hand_on(self) -> None:
        """Let the next process write."""
        held, self._held = self._held, None
        if held is not None and sys.platform != "win32":
            with suppress(OSError):
                fcntl.flock(held, fcntl.LOCK_UN)  # closing frees nothing while a copy of this process lives
            with suppress(OSError):
                os.close(held)
