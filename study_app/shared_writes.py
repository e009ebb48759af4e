"""Writers of one SQLite file: one after the other, several in one commit.

A commit waits for the disk, some milliseconds in which nobody else can write. So writers that are there at the same time
work one after the other in one transaction, each behind a savepoint of its own, and share its commit. A writer is told
that its work is stored only after that commit: what was acknowledged is on the disk, and what was not may be lost.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

MOST_IN_A_BATCH = 64
"""So many writers share a commit at most, so that nobody waits for a queue that never ends."""


class _Batch:
    """An open transaction, and how many writers' work is in it. ``error``: why nothing of it was stored."""

    def __init__(self, engine: Engine) -> None:
        self.connection: Connection = engine.connect()
        self.writers = 0
        self.done = False
        self.error: Exception | None = None
        try:
            self.connection.begin()
        except BaseException:
            self.connection.close()
            raise

    @property
    def is_open(self) -> bool:
        """Whether the transaction lives: SQLite ends it by itself when the disk fails."""
        raw: Any = self.connection.connection.dbapi_connection
        return bool(raw.in_transaction)


class SharedWrites:
    """The writers of one SQLite file in this process.

    Parameters
    ----------
    engine : Engine
        Whose connections begin a transaction for writing at once.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._turn = threading.Condition()
        self._busy = False
        self._waiting = 0
        self._batch: _Batch | None = None

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a session that writes; what it did is on the disk when the block has ended, or nothing of it stays.

        Raises
        ------
        sqlalchemy.exc.DatabaseError
            If the commit fails: then for every writer that shared it.
        """
        self._take_turn()
        try:
            batch = self._work_in()
            with (
                self._kept_whole(batch),
                Session(
                    batch.connection, join_transaction_mode="create_savepoint", expire_on_commit=False
                ) as session,
                session.begin(),
            ):
                yield session
            batch.writers += 1
        finally:
            self._end_turn()
        self._settle(batch)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every writer off, with nothing left uncommitted."""
        self._take_turn()
        try:
            if self._batch is not None:
                self._commit(self._batch)
            yield
        finally:
            self._end_turn()

    def _take_turn(self) -> None:
        with self._turn:
            self._waiting += 1
            try:
                self._turn.wait_for(lambda: not self._busy)
            finally:
                self._waiting -= 1
            self._busy = True

    def _end_turn(self) -> None:
        with self._turn:
            self._busy = False
            self._turn.notify_all()

    def _work_in(self) -> _Batch:
        """Return the open batch, a new one when there is none."""
        if self._batch is None:
            self._batch = _Batch(self._engine)
        return self._batch

    @contextmanager
    def _kept_whole(self, batch: _Batch) -> Iterator[None]:
        """Drop a batch that has nobody's work in it, or that SQLite has given up, when a writer fails."""
        try:
            yield
        except BaseException as error:
            if not batch.is_open:
                batch.error = error if isinstance(error, Exception) else RuntimeError(str(error))
            if batch.error is not None or batch.writers == 0:
                self._close(batch)
            raise

    def _settle(self, batch: _Batch) -> None:
        """Wait until a batch is committed; commit it oneself as soon as no other writer wants to join it."""
        with self._turn:
            self._turn.wait_for(lambda: batch.done or not (self._busy or self._is_joined(batch)))
            if not batch.done:
                self._busy = True
        if not batch.done:
            try:
                self._commit(batch)
            finally:
                self._end_turn()
        if batch.error is not None:
            raise batch.error

    def _is_joined(self, batch: _Batch) -> bool:
        return self._waiting > 0 and batch.writers < MOST_IN_A_BATCH

    def _commit(self, batch: _Batch) -> None:
        """Commit; whoever's work is in the batch is told when that fails. Only for who has the turn."""
        try:
            batch.connection.commit()
        except Exception as error:  # noqa: BLE001 - every writer of the batch raises it
            batch.error = error
        finally:
            self._close(batch)

    def _close(self, batch: _Batch) -> None:
        batch.done, self._batch = True, None
        batch.connection.close()
