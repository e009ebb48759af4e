"""Runs of `prefcal` in a process of its own, with the time and memory that it used."""

import os
import subprocess
import sys
from pathlib import Path
from resource import struct_rusage

PROGRAM = "from study_app.cli import main; main()"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def run_prefcal(*words: str, folder: Path | None = None) -> struct_rusage:
    """Run the command in a folder, on one thread; return what it used.

    The peak of its memory begins with that of the process that starts it.
    """
    nowhere = subprocess.DEVNULL
    started = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        stdout=nowhere,
        stderr=nowhere,
        cwd=folder,
        env=os.environ | ONE_THREAD,
    )
    _, status, used = os.wait4(started.pid, 0)
    if status:
        raise RuntimeError(f"prefcal {' '.join(words)} ended with {status}")
    return used


def shown_use(used: struct_rusage) -> str:
    """Return two cells of a table: processor time and peak of memory."""
    return f"{used.ru_utime + used.ru_stime:.1f} s | {used.ru_maxrss / 1024:.0f} MB"
