"""What an installation needs to run a study, looked at before the workers come; changes nothing.

Each look is a function that returns findings; what is asked of a database server stands in `doctor_database`.
"""

import os
import platform
import sqlite3
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from filelock import FileLock, Timeout

from study_app.store.disk_room import FULL_BYTES, LOW_BYTES, free_bytes
from study_app.store.serving_lock import SUFFIX

OK: Final = "ok"
WARNING: Final = "warning"
FAULT: Final = "fault"
State = Literal["ok", "warning", "fault"]
EARLIEST_YEAR, LATEST_YEAR = 2025, 2100
CLOCK_SAMPLE_SECONDS = 0.05
CLOCK_STEP_SECONDS = 0.5
OLDEST_SQLITE = (3, 35, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at.

    Attributes
    ----------
    what : str
        What was looked at.
    state : {'ok', 'warning', 'fault'}
        A fault loses answers or keeps workers out; a warning may.
    found : str
        What there is.
    cure : str
        What to do; empty when nothing is to be done.
    """

    what: str
    state: State
    found: str
    cure: str = ""


def clock(
    wall: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Finding:
    """Compare the machine's clock with its stopwatch, and with what years there can be."""
    before = wall() - monotonic()
    sleep(CLOCK_SAMPLE_SECONDS)
    step = abs(wall() - monotonic() - before)
    now = datetime.fromtimestamp(wall()).astimezone()
    found = f"{now:%Y-%m-%d %H:%M:%S}, UTC{now:%z} (stored times are UTC, whatever the zone)"
    if not EARLIEST_YEAR <= now.year <= LATEST_YEAR:
        return Finding(what="clock", state=FAULT, found=found, cure="set the clock: timedatectl set-ntp true")
    if step > CLOCK_STEP_SECONDS:
        return Finding(
            what="clock",
            state=WARNING,
            found=f"{found}; it jumped by {step:.1f} s while it was looked at",
            cure="let one time service keep it, slowly: timedatectl set-ntp true",
        )
    return Finding(what="clock", state=OK, found=found)


def room(folder: Path, free_bytes: Callable[[Path], int] = free_bytes) -> Finding:
    """Look at the room that is left where the database is."""
    free = free_bytes(folder)
    found = f"{free / (1 << 30):,.1f} GiB free in {folder}"
    state: State = FAULT if free < FULL_BYTES else WARNING if free < LOW_BYTES else OK
    return Finding(
        what="disk", state=state, found=found, cure="" if state == OK else "make room: 1 GiB or more"
    )


def file_rights(file: Path) -> Finding:
    """Look at who may read and write the SQLite file, which holds platform ids and the keys."""
    mode = stat.S_IMODE(file.stat().st_mode)
    found = f"{file} has mode {mode:04o}"
    if not (os.access(file, os.R_OK | os.W_OK) and os.access(file.parent, os.W_OK)):
        cure = "let the server's user own the file, and write into its folder"
        return Finding(
            what="file", state=FAULT, found=f"{found}; it or its folder cannot be written", cure=cure
        )
    if mode & 0o077 and not _is_private(file.parent):
        cure = f"chmod 600 {file}, or chmod 700 {file.parent}"
        return Finding(what="file", state=WARNING, found=f"{found}: others may read keys and ids", cure=cure)
    return Finding(what="file", state=OK, found=found)


def _is_private(folder: Path) -> bool:
    return not stat.S_IMODE(folder.stat().st_mode) & 0o077


def server_of(file: Path) -> Finding:
    """Say whether a server has the SQLite file now."""
    lock = Path(f"{file}{SUFFIX}")
    is_served = False
    if lock.exists():
        try:
            with FileLock(lock, timeout=0):
                pass
        except Timeout:
            is_served = True
    found = "this file is being served now" if is_served else "nobody serves this file now"
    return Finding(what="server", state=OK, found=found)


def programs() -> Finding:
    """Say which Python and SQLite run here."""
    found = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        cure = f"use SQLite {'.'.join(map(str, OLDEST_SQLITE))} or later"
        return Finding(what="programs", state=FAULT, found=found, cure=cure)
    return Finding(what="programs", state=OK, found=found)


def encryption() -> Finding:
    """Say what the server does not do itself."""
    return Finding(
        what="HTTPS",
        state=OK,
        found="prefcal serve speaks plain HTTP",
        cure="on the open net: a reverse proxy with HTTPS (docs/deploy.md); look at it with --address https://HOST",
    )
