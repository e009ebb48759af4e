"""One server a SQLite file: its writers queue behind a lock of the process, so a second process would upset them.

The lock is a file beside the database that the operating system frees when its holder ends, however it ends. Other
commands (load, status, export, withdraw) may run beside a server: they are short, and SQLite's own lock keeps them apart.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy.engine import make_url

from metrics.errors import input_fault

SUFFIX = ".serving"


@contextmanager
def serving_lock(url: str, *, processes: int = 1) -> Iterator[None]:
    """Hold the right to serve a database while the block lasts; a database server needs none.

    Raises
    ------
    InputError
        If another process serves the same SQLite file, several processes are to serve one, or its folder is not there.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        yield
        return
    if processes > 1:
        raise input_fault(
            f"{processes} processes cannot serve a SQLite file",
            cure="leave out --processes (one process serves hundreds of workers), or use PostgreSQL: "
            "--database postgresql://USER@HOST/NAME",
        )
    folder = Path(parsed.database).absolute().parent
    if not folder.is_dir():  # the lock would make it
        raise input_fault(f"{folder} is no folder", cure="make it, or name another place with --database")
    lock = FileLock(f"{parsed.database}{SUFFIX}")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise input_fault(
            f"{parsed.database} is being served already",
            cure="stop the other prefcal serve, or use PostgreSQL for several servers",
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
