"""The folders and processes of the console's jobs.

Each job has a folder that only its owner may enter. Its lock is taken before the job is stored and handed on to the process, so that it is
held until that process ends, however it ends: a job whose lock is free and that did not say how it ended was interrupted.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Thread

from sqlalchemy import URL

from study_app.config import DATABASE_VARIABLE

if sys.platform != "win32":
    import fcntl

FOLDER = "prefcal-results"


def rooms(database: URL) -> Path:
    """Return the folder of all jobs: beside a SQLite file, else where the server was started."""
    is_file = database.get_backend_name() == "sqlite" and database.database is not None
    return (Path(database.database or "").absolute().parent if is_file else Path.cwd()) / FOLDER


def new_room(database: URL) -> tuple[Path, int]:
    """Make the folder of a new job; return it with its lock, which is closed by `start` or by the caller."""
    above = rooms(database)
    above.mkdir(mode=0o700, exist_ok=True)
    room = Path(tempfile.mkdtemp(prefix="job-", dir=above))
    lock = os.open(room, os.O_RDONLY)
    if sys.platform != "win32":
        fcntl.flock(lock, fcntl.LOCK_EX)
    return room, lock


def start(job: int, room: Path, lock: int, database: URL) -> None:
    """Start the process of a job that is stored; it goes on when this server ends."""
    address = database.render_as_string(hide_password=False)
    process = subprocess.Popen(  # noqa: S603 - of this installation, with a number
        [sys.executable, "-m", "study_app.cli.console_job", str(job)],
        cwd=room,
        env=os.environ | {DATABASE_VARIABLE: address},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[lock],
        start_new_session=True,
    )
    os.close(lock)
    Thread(target=process.wait, daemon=True).start()  # so that the system forgets it once it has ended


def give_up(room: Path, lock: int) -> None:
    """Remove the folder of a job that is not begun."""
    os.close(lock)
    clear([str(room)])


def is_at_work(folder: str | None) -> bool:
    """Say whether the process of a job is there."""
    if folder is None:
        return False
    try:
        held = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(held)
    return False


def clear(folders: list[str]) -> None:
    """Remove the folders of jobs, whatever is left of them."""
    for folder in folders:
        with suppress(OSError):
            shutil.rmtree(folder)
