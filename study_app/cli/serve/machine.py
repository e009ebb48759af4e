"""Port, cores and memory that a server takes of its machine."""

import errno
import gc
import os
import socket
import sys
from contextlib import suppress

from metrics.errors import input_fault

BACKLOG = 1_024
"""Most connections that wait to be accepted."""


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise `InputError` if port or host is not available."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            problem, cure = (
                f"port {port} of {host} is taken",
                "stop what uses it, or choose another with --port",
            )
        else:
            problem = f"{host} port {port} cannot be served ({str(error.strerror).partition(' (')[0]})"
            cure = "choose another --host or --port"
        raise input_fault(problem, cure=cure) from error


def cores() -> list[int]:
    """Return the cores that this process may use, or none if that is unknown."""
    return sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []


def pin_to_core(core: int) -> None:
    """Pin the threads of this process to one core, where the system allows that.

    Python runs one of them at a time, and the hand-over between two cores costs as much as the work. Not for
    servers of a database on the same machine: its processes would wait for the core of whoever asked, and
    locks with them.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # a sandbox may forbid it
            os.sched_setaffinity(0, {core})


def freeze_gc() -> None:
    """Freeze existing objects out of garbage collection.

    They stay as long as the server, and collecting among them would keep every worker waiting for a tenth of
    a second.
    """
    gc.collect()
    gc.freeze()
