"""`prefcal serve` as a process of its own, for tests that stop, kill and crowd it."""

import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

STARTS_WITHIN_SECONDS = 180
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients, as ``verify``: nothing is encrypted here, and to read whom one may trust takes longer than an answer."""
HEARS_SIGNALS = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "signal.signal(signal.SIGHUP, signal.SIG_DFL); "
)
"""Whoever runs the tests in the background or under nohup hands down that these are ignored."""


class Serving:
    """A server process and what it said; ``before`` is Python that it runs first."""

    def __init__(self, url: str, *arguments: str, port: int | None = None, before: str = "") -> None:
        self.port = port or free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._command = [
            sys.executable,
            "-c",
            HEARS_SIGNALS + before + "from study_app.cli import main; main()",
            "serve",
            *("--database", url, "--port", str(self.port)),
            *arguments,
        ]
        self.said: list[str] = []
        self.start()

    def start(self) -> None:
        """Start, or start again after an end."""
        self.process = subprocess.Popen(
            self._command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._listen, args=(self.process,), daemon=True)
        self._listener.start()
        end = time.monotonic() + STARTS_WITHIN_SECONDS
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server did not start: {''.join(self.said)}")
            time.sleep(0.05)

    def _listen(self, process: "subprocess.Popen[str]") -> None:
        if process.stderr is not None:
            with process.stderr as lines:
                self.said.extend(lines)

    def answers(self) -> bool:
        """Say whether it is ready; whoever asks stands in line with everybody else."""
        try:
            return httpx.get(f"{self.address}/readyz", timeout=STARTS_WITHIN_SECONDS, verify=PLAIN).is_success
        except httpx.TransportError:
            return False

    def children(self) -> list[int]:
        """Return the ids of the processes that it started."""
        tasks = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in tasks.read_text(encoding="ascii").split()]

    def kill(self) -> None:
        """End it and all its processes at once, as a power cut would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self._ended()

    def stop(self) -> int:
        """End it as a supervisor would; returns its exit code."""
        self.process.terminate()
        return self._ended()

    def _ended(self) -> int:
        code = self.process.wait(timeout=30)
        self._listener.join(timeout=30)
        return code


def free_port() -> int:
    """Return a port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(url: str, *arguments: str, before: str = "") -> Iterator[Serving]:
    """Run a server while the block lasts."""
    server = Serving(url, *arguments, before=before)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()
