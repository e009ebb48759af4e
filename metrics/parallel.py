"""Parallel execution of independent pieces, in processes or on a Dask cluster.

A piece of work is a function of what all pieces share and of one item. What is shared (judgments, runs) is sent to each worker
once, also where several calls have the same work. Pieces come back in the order in which they are ready, with their items; who wants another order sorts them.

What a piece returns must depend on its arguments alone: then the results are the same, to the last digit, however many
workers there are, and a piece whose worker died can be done again elsewhere.
"""

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from itertools import islice
from multiprocessing import connection, get_context, parent_process, resource_tracker
from os import _exit
from typing import Any, TypeAlias, TypeVar

from metrics.errors import PrefcalError

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")
Work: TypeAlias = Callable[[Shared, Item], Result]

AHEAD = 2
"""Pieces handed out per worker, so that none waits for the next one."""
ALONE_SECONDS = 4.0
"""Processor seconds that the first pieces get in this process alone.

Work that ends by then needs no other processes, which take seconds to start.
"""


class Executor:
    """Executor of independent pieces: processes, started when the work is long.

    Parameters
    ----------
    jobs : int
        How many; 1 is this process alone.

    Attributes
    ----------
    workers : int
        How many pieces are done at a time.
    """

    def __init__(self, jobs: int) -> None:
        self.workers = jobs
        self._alone = ALONE_SECONDS if jobs > 1 else math.inf
        self._pool: ProcessPoolExecutor | None = None
        self._given: tuple[object, object] | None = None

    def results(
        self, work: Work[Shared, Item, Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result]]:
        """Yield each item with its result, as it becomes ready.

        Parameters
        ----------
        work : callable
            ``work(shared, item)``; a function of a module, so that other processes find it.
        shared : object
            What all pieces need.
        items : iterable
            One a piece; taken as they are needed.

        Yields
        ------
        (item, result)
            As they become ready.

        Raises
        ------
        PrefcalError
            If the workers are lost. What was yielded before is whole.
        """
        ahead = iter(items)
        while self._alone > 0 and (first := list(islice(ahead, 1))):
            begun = time.process_time()
            result = work(shared, first[0])
            self._alone -= time.process_time() - begun
            yield first[0], result
        try:
            yield from _in_flight(
                lambda item: _handed(self._processes(work, shared), item), ahead, AHEAD * self.workers
            )
        except BrokenProcessPool:
            raise PrefcalError(
                "a worker process died, perhaps for want of memory: run the same command again, or with fewer --jobs"
            ) from None

    def _processes(self, work: Work[Shared, Item, Result], shared: Shared) -> ProcessPoolExecutor:
        """Return the processes that know the work, reused if it is the same as before."""
        known = self._given is not None and self._given[0] is work and self._given[1] is shared
        if self._pool is None or not known:
            self.close()
            self._given = work, shared
            self._pool = ProcessPoolExecutor(
                self.workers, get_context("spawn"), initializer=_begin, initargs=(work, shared)
            )
        return self._pool

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


class _DaskEngine(Executor):
    """Executor of independent pieces on a Dask cluster."""

    def __init__(self, client: Any, address: str) -> None:
        super().__init__(max(1, sum(client.nthreads().values())))
        self._client, self._address = client, address
        self._sent: tuple[object, Any] | None = None

    def results(
        self, work: Work[Shared, Item, Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result]]:
        """Yield each item with its result; a piece of a lost worker is repeated.

        It keeps `AHEAD` items a worker in flight, and at least 16.
        """
        from distributed import KilledWorker  # noqa: PLC0415 - only a cluster needs it

        pool = self._client.get_executor(pure=False)
        try:
            if self._sent is None or self._sent[0] is not shared:
                self._sent = shared, self._client.scatter(shared, broadcast=True, hash=False)
            sent = self._sent[1]
            yield from _in_flight(
                lambda item: pool.submit(work, sent, item), items, max(16, AHEAD * self.workers)
            )
        except (
            KilledWorker,
            CancelledError,
            OSError,
        ):  # with its last worker goes what was sent, and every piece
            raise PrefcalError(
                f"the cluster at {self._address} lost its workers or its scheduler: start them, then run the same command again"
            ) from None
        finally:
            pool.shutdown(wait=False)


@contextmanager
def open_engine(*, jobs: int = 1, scheduler: str | None = None) -> Iterator[Executor]:
    """Open an executor, and close it at the end.

    Parameters
    ----------
    jobs : int
        Processes on this machine; 1 is this process alone.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster, such as ``tcp://10.0.0.1:8786``; ``jobs`` is then not looked at.

    Raises
    ------
    PrefcalError
        If the cluster cannot be used.
    """
    if scheduler is None:
        with closing(Executor(jobs)) as engine:
            yield engine
        return
    from metrics.dask_cluster import connected  # noqa: PLC0415 - only a cluster needs it

    with connected(scheduler) as client:
        yield _DaskEngine(client, scheduler)


def _in_flight(
    submit: Callable[[Item], "Future[Result]"], items: Iterable[Item], most: int
) -> Iterator[tuple[Item, Result]]:
    """Submit items, a limited number at a time, and yield each with its result."""
    ahead = iter(items)
    running = {submit(item): item for item in islice(ahead, most)}
    try:
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                item = running.pop(future)
                yield item, future.result()
                running |= {submit(following): following for following in islice(ahead, 1)}
    finally:
        for future in running:
            future.cancel()


def _handed(pool: ProcessPoolExecutor, item: object) -> "Future[Any]":
    """Submit a piece to the processes, with Ctrl-C held back from new ones.

    A new process reacts to Ctrl-C only when it can end silently.

    Windows cannot hold a signal back.
    """
    if sys.platform == "win32":
        return pool.submit(_piece, item)
    resource_tracker.ensure_running()  # which would lift the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(_piece, item)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_own: tuple[Work[Any, Any, Any], Any] | None = None
"""Work and shared values of a worker process."""


def _begin(work: Work[Any, Any, Any], shared: object) -> None:
    """Prepare a worker process: it ends on interruption, and with its parent."""
    global _own  # noqa: PLW0603 - a worker process has one work
    _own = (work, shared)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        _exit(1)


def _piece(item: object) -> Any:
    """Compute one piece in a worker process."""
    if _own is None:
        raise RuntimeError("this process was given no work")
    work, shared = _own
    return work(shared, item)
