"""The way to a Dask cluster that is running; the only module that needs the extra `prefcal[cluster]`."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from metrics.errors import PrefcalError, listed

SECONDS = 10
"""So long is waited for a scheduler, and for its first worker."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Yield a client of the cluster.

    Raises
    ------
    PrefcalError
        If Dask is not installed here, the scheduler does not answer, it has no workers, or they have another prefcal.
    """
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise PrefcalError(
            "--scheduler needs Dask: pip install 'prefcal[cluster]', here and on the workers"
        ) from None
    closed_here = {
        "__del__": lambda _: None
    }  # of a client that found nobody Dask's own would wait once more, and end in a traceback
    try:
        client = type("Client", (distributed.Client,), closed_here)(
            address, timeout=SECONDS, set_as_default=False
        )
    except (OSError, ValueError):
        raise PrefcalError(
            f"no Dask scheduler answers at {address}: start one (dask scheduler), or name the address that it prints"
        ) from None
    with _said_once():
        try:
            _check_workers(client, address)
            yield client
        finally:
            client.close()


@contextmanager
def _said_once() -> Iterator[None]:
    """Keep back what Dask's client logs of a scheduler that has gone, with a traceback: who uses it says so in one line."""
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _check_workers(client: Any, address: str) -> None:
    """Raise `PrefcalError` unless there are workers, all with this prefcal: another one may give other numbers."""
    try:
        client.wait_for_workers(1, timeout=SECONDS)
        found = client.run(_own_version)
    except TimeoutError:
        raise PrefcalError(
            f"the cluster at {address} has no workers: start some (dask worker {address})"
        ) from None
    except ModuleNotFoundError:
        found = {"": "no prefcal"}
    if set(found.values()) != {_own_version()}:
        others = listed(sorted({str(one) for one in found.values()} - {_own_version()}))
        raise PrefcalError(
            f"the workers at {address} have {others}, and here is {_own_version()}: install the same prefcal everywhere"
        )


def _own_version() -> str:
    try:
        return f"prefcal {version('prefcal')}"
    except PackageNotFoundError:
        return "prefcal of no version"
