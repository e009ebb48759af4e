"""Folders of the console's jobs, each locked while its process works.

The database has the name of a folder only. Where it lies is the business of the server that asks: a copy of the database, such as a
rehearsal of a restore beside the running study, has results of its own, and no row of it leads to any other folder.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from sqlalchemy import URL

from study_app.config import DATABASE_VARIABLE

if sys.platform != "win32":
    import fcntl
RESULTS, PREFIX = "prefcal-results", "job-"
JOB_NAME = re.compile(rf"{PREFIX}\w+", re.ASCII)


def results_folder(database: URL) -> Path:
    """Return the folder of all jobs of a database.

    It is beside a SQLite file, else in the folder where the server was started.
    """
    if database.get_backend_name() == "sqlite" and database.database:
        file = Path(database.database).resolve()
        return file.parent / RESULTS / file.name
    return Path.cwd() / RESULTS / re.sub(r"\W", "_", database.database or "")


def job_folder(database: URL, name: str | None) -> Path | None:
    """Return the folder of a job; None if its row names none that can be one."""
    if name is None or not JOB_NAME.fullmatch(name):
        return None
    return results_folder(database) / name


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJobFolder:
    """Folder of a job about to begin; ``lock`` is its open, locked descriptor."""

    path: Path
    lock: int

    def start(self, job: int, database: URL) -> None:
        """Start the process of a stored job, which takes over the lock.

        Raises
        ------
        OSError
            If the system starts no process now; the lock is given up then too.
        """
        address = database.render_as_string(hide_password=False)
        try:
            process = subprocess.Popen(  # noqa: S603 - of this installation, with a number
                [sys.executable, "-m", "study_app.cli.console_job", str(job)],
                cwd=self.path,
                env=os.environ | {DATABASE_VARIABLE: address},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[self.lock],
                start_new_session=True,
            )
        finally:
            os.close(self.lock)
        Thread(target=process.wait, daemon=True).start()  # so that the system forgets it once it has ended

    def give_up(self) -> None:
        """Remove the folder: its job is not begun."""
        os.close(self.lock)
        with suppress(OSError):
            shutil.rmtree(self.path)


def new_job_folder(database: URL) -> NewJobFolder:
    """Make and lock the folder of a new job, before the job is stored.

    Raises
    ------
    OSError
        If nothing can be written there, or no more files can be opened; nothing is left of it then.
    """
    above = results_folder(database)
    for folder in (above.parent, above):
        folder.mkdir(mode=0o700, exist_ok=True)
    path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=above))
    try:
        lock = os.open(path, os.O_RDONLY)
    except OSError:
        path.rmdir()
        raise
    if sys.platform != "win32":
        fcntl.flock(lock, fcntl.LOCK_EX)
    return NewJobFolder(path=path, lock=lock)


def is_at_work(database: URL, name: str | None) -> bool:
    """Return True if the process of a job is there."""
    folder = job_folder(database, name)
    if folder is None:
        return False
    try:
        lock = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def remove_job_folders(database: URL, names: Iterable[str]) -> None:
    """Remove the folders of jobs, whatever is left of them."""
    for name in names:
        folder = job_folder(database, name)
        if folder is not None:
            with suppress(OSError):
                shutil.rmtree(folder)
