"""A study server inside this process, on a free port of this machine, for as long as a block lasts."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask
from waitress import create_server


@contextmanager
def serving(app: Flask, *, threads: int = 4) -> Iterator[str]:
    """Serve ``app`` while the block runs; yields the base address, such as ``http://127.0.0.1:43121``."""
    server = create_server(app, host="127.0.0.1", port=0, threads=threads)
    thread = threading.Thread(target=server.run, name="study-server", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.task_dispatcher.shutdown(timeout=5)
        told = threading.Event()
        server.trigger.pull_trigger(lambda: _close(server, told))
        told.set()
        thread.join(timeout=10)


def _close(server: Any, told: threading.Event) -> None:
    """Close every connection in the server's own thread, whose loop ends with the last one.

    A browser keeps its connections open, so that waiting for the other side would take long. Who told the loop to end
    writes to a pipe that is closed here, and is to be through with that, since the loop may have woken by itself.
    """
    told.wait(timeout=5)
    for channel in list(server.active_channels.values()):
        channel.handle_close()
    server.close()
