"""One server a SQLite file, with all its processes: which server runs, and which is to be stopped, must not be a riddle.

The lock is a file beside the database that the operating system frees when its holder ends, however it ends. Other
commands (load, status, export, withdraw) may run beside a server: their writes wait for their turn among its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy.engine import make_url

from metrics.errors import input_fault

SUFFIX = ".serving"


@contextmanager
def serving_lock(url: str) -> Iterator[None]:
    """Hold the right to serve a database while the block lasts; a database server needs none.

    Raises
    ------
    InputError
        If another server has the same SQLite file, or its folder is not there.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        yield
        return
    folder = Path(parsed.database).absolute().parent
    if not folder.is_dir():  # the lock would make it
        raise input_fault(f"{folder} is no folder", cure="make it, or name another place with --database")
    lock = FileLock(f"{parsed.database}{SUFFIX}")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise input_fault(
            f"{parsed.database} is being served already",
            cure="stop the other prefcal serve (--processes gives one server more processes)",
        ) from None
    except OSError as error:
        raise input_fault(
            f"{parsed.database}{SUFFIX} cannot be written ({error.strerror})",
            cure="let the server write into the database's folder; SQLite needs that too",
        ) from error
    try:
        yield
    finally:
        lock.release()
