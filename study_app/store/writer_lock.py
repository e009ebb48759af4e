"""Locks of a SQLite file: one server, one writing process, and shared commits.

A commit waits for the disk, some milliseconds in which nobody else can write. So writers that are there at
the same time work one after the other in one transaction, each behind a savepoint of its own, and share its
commit. A writer is told that its work is stored only after that commit: what was acknowledged is on the disk,
and what was not may be lost.

SQLite itself lets one process write at a time, but a blocked process sleeps and asks again, and a busy
neighbour is always faster. So where several processes serve the file, each batch waits for its turn among
them: for a lock on a file beside the database, which wakes them. Writers of other commands are held off by
SQLite's own lock.

A server, with all its processes, holds a second lock that the operating system frees when its holder ends,
however it ends: so it is always known which server runs. Other commands (load, status, export, withdraw) may
run beside a server.

The turns only order the writers: SQLite's own lock keeps them apart. The system frees the file when its
holder ends, and the supervisor of the processes ends a holder that hangs.
"""

import os
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Lock
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

from metrics.errors import input_fault
from study_app.config import parsed_address

if sys.platform != "win32":
    import fcntl


TURN_SUFFIX = ".writing"
LOCK_SUFFIX = ".serving"
MAX_BATCH_WRITERS = 64
"""Most writers that share a commit, so that no writer waits for an endless queue."""


def lock_path(database: str, suffix: str) -> str:
    """Return the path of a lock beside a SQLite file, with links resolved.

    One file then has one lock.
    """
    return f"{os.path.realpath(database)}{suffix}"


class FileTurn:
    """Turn to write, taken by one process after the other.

    The threads of a process share its turn.

    Parameters
    ----------
    database : str
        Path of the SQLite file.
    """

    def __init__(self, database: str) -> None:
        self._path = lock_path(database, TURN_SUFFIX)
        self._held: int | None = None

    def acquire(self) -> None:
        """Wait for the turn.

        Where the lock file cannot be made there is no turn: SQLite then reports the fault of the folder.
        """
        if sys.platform == "win32":
            return
        with suppress(OSError):
            opened = os.open(self._path, os.O_RDONLY | os.O_CREAT, 0o600)
            try:
                fcntl.flock(opened, fcntl.LOCK_EX)
            except BaseException:
                os.close(opened)
                raise
            self._held = opened

    def hand_on(self) -> None:
        """Release the turn to the next process."""
        lock, self._held = self._held, None
        if lock is not None and sys.platform != "win32":
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_UN)  # closing frees nothing while a copy of this process lives
            with suppress(OSError):
                os.close(lock)


@contextmanager
def serving_lock(url: str) -> Iterator[None]:
    """Hold the right to serve a database; a database server needs none.

    Raises
    ------
    InputError
        If another server has the same SQLite file, its folder is not there, or the file has a second name (hard link): SQLite and the
        lock keep what belongs to it beside one name, so servers under two names would lose answers.
    """
    parsed = parsed_address(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        yield
        return
    folder = Path(parsed.database).absolute().parent
    if not folder.is_dir():  # the lock would make it
        raise input_fault(f"{folder} is not a folder", cure="make it, or name another path with --database")
    file = Path(parsed.database)
    if file.exists() and file.stat().st_nlink > 1:
        raise input_fault(
            f"{parsed.database} has another name (a hard link)",
            cure="remove the other name, or copy the file: a server under the other name would lose answers",
        )
    lock = FileLock(lock_path(parsed.database, LOCK_SUFFIX), mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise input_fault(
            f"{parsed.database} is being served already",
            cure="stop the other prefcal serve (--processes gives one server more processes)",
        ) from None
    except OSError as error:
        raise input_fault(
            f"{parsed.database}{LOCK_SUFFIX} cannot be written ({error.strerror})",
            cure="let the server write into the database's folder; SQLite needs that too",
        ) from error
    try:
        yield
    finally:
        lock.release()


WRITES = "prefcal_write"
"""Key in the ``info`` of a connection whose transactions begin as writers."""


def begin_for_writing(connection: Connection) -> None:
    """Mark a SQLite connection so that its transactions begin as writers.

    The mark lasts until the connection is returned.
    """
    connection.info[WRITES] = True


class _Turn:
    """Lock that goes to the longest waiting thread and wakes no other.

    Waking threads for nothing costs more than the work.
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._is_held = False
        self._waiting: deque[Lock] = deque()

    @property
    def is_wanted(self) -> bool:
        """True if a thread waits for it."""
        return bool(self._waiting)

    def take(self) -> None:
        """Wait for the turn."""
        with self._guard:
            if not self._is_held:
                self._is_held = True
                return
            gate = Lock()
            gate.acquire()
            self._waiting.append(gate)
        gate.acquire()

    def hand_on(self) -> None:
        """Release the turn to the next thread."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_held = False


class _Batch:
    """Open transaction shared by several writers.

    ``ended`` is set when it is on the disk, or when it failed: then ``error`` says why.
    """

    def __init__(self, engine: Engine) -> None:
        self.connection: Connection = engine.connect()
        begin_for_writing(self.connection)
        self.writers = 0
        self.ended = Event()
        self.error: Exception | None = None
        try:
            self.connection.begin()
        except BaseException:
            self.connection.close()
            raise

    @property
    def is_open(self) -> bool:
        """True if the transaction lives; SQLite ends it by itself when the disk fails."""
        raw: Any = self.connection.connection.dbapi_connection
        return bool(raw.in_transaction)

    def commit(self) -> None:
        """Commit; raise RuntimeError if the transaction has ended by itself.

        Such a commit would silently do nothing.
        """
        if not self.is_open:
            raise RuntimeError("the database ended the transaction by itself")
        self.connection.commit()


def refuse_half_a_write(session: Session) -> None:
    """Raise RuntimeError if a writer went on after a refused statement.

    None of its work would be stored.
    """
    if not session.is_active:
        raise RuntimeError("a writer went on after the database refused something")


def _joining(batch: _Batch) -> Session:
    """Return a session for one writer's work in a batch.

    The first writer can roll back the whole transaction, and needs no savepoint.
    """
    return Session(
        batch.connection,
        join_transaction_mode="create_savepoint" if batch.writers else "rollback_only",
        expire_on_commit=False,
    )


class SharedWrites:
    """Writers of one SQLite file in this process.

    Parameters
    ----------
    engine : Executor
        Whose connections begin a transaction for writing at once after `begin_for_writing`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._turn = _Turn()
        self._between: FileTurn | None = None
        self._batch: _Batch | None = None

    def take_turns_with(self, others: FileTurn) -> None:
        """Wait for the turn among several processes before each later batch."""
        self._between = others

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a session that writes; at the end its work is on the disk, or none of it.

        Raises
        ------
        sqlalchemy.exc.DatabaseError
            If the commit fails: then for every writer that shared it.
        """
        self._turn.take()
        try:
            batch = self._work_in()
            with self._kept_whole(batch), _joining(batch) as session, session.begin():
                yield session
            batch.writers += 1
        finally:
            self._end_turn()
        batch.ended.wait()
        if batch.error is not None:
            raise batch.error

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Block every writer, with nothing left uncommitted."""
        self._turn.take()
        try:
            if self._batch is not None:
                self._commit(self._batch)
            yield
        finally:
            self._turn.hand_on()

    def _work_in(self) -> _Batch:
        """Return the open batch, or a new one."""
        if self._batch is None:
            if self._between is not None:
                self._between.acquire()
            try:
                self._batch = _Batch(self._engine)
            finally:
                if self._batch is None:
                    self._hand_on()
        return self._batch

    @contextmanager
    def _kept_whole(self, batch: _Batch) -> Iterator[None]:
        """Drop a batch without work, or one that SQLite has given up, when a writer fails."""
        try:
            yield
        except BaseException as error:
            if not batch.is_open:
                batch.error = error if isinstance(error, Exception) else RuntimeError(str(error))
            if batch.error is not None or batch.writers == 0:
                self._close(batch)
            raise

    def _end_turn(self) -> None:
        """Commit the open batch, or leave that to the next writer, who joins it."""
        try:
            batch = self._batch
            if batch is not None and not (self._turn.is_wanted and batch.writers < MAX_BATCH_WRITERS):
                self._commit(batch)
        finally:
            self._turn.hand_on()

    def _commit(self, batch: _Batch) -> None:
        """Commit, and report a failure to every writer of the batch.

        Only the holder of the turn may call it.
        """
        try:
            batch.commit()
        except BaseException as error:  # every writer of the batch raises it
            batch.error = error if isinstance(error, Exception) else RuntimeError(str(error))
            if not isinstance(error, Exception):
                raise
        finally:
            self._close(batch)

    def _close(self, batch: _Batch) -> None:
        self._batch = None
        try:
            batch.connection.close()
        finally:
            batch.ended.set()
            self._hand_on()

    def _hand_on(self) -> None:
        """Release the turn to another process."""
        if self._between is not None:
            self._between.hand_on()
