"""Connection to a running Dask cluster (extra `prefcal[cluster]`).

This is the only module that needs that extra.
"""

import asyncio
import logging
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from threading import Thread
from typing import Any

from metrics.errors import PrefcalError, join_names

SECONDS = 10
"""Seconds to wait for a scheduler, and for its first worker."""
SAYING = 1.2
"""Multiple of `SECONDS` after which an unanswered scheduler is given up.

Dask's client would wait forever.
"""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Yield a client of the cluster.

    Raises
    ------
    PrefcalError
        If Dask is not installed here, nobody answers or somebody else does, there are no workers, or they have another prefcal.
    """
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise PrefcalError(
            "--scheduler needs Dask: pip install 'prefcal[cluster]', here and on the workers"
        ) from None
    _check_scheduler(distributed, address)
    closed_here = {
        "__del__": lambda _: None
    }  # of a client that found nobody Dask's own would wait once more, and end in a traceback
    try:
        client = type("Client", (distributed.Client,), closed_here)(
            address, timeout=SECONDS, set_as_default=False
        )
    except (OSError, ValueError):
        raise _nobody(address) from None
    with _said_once("distributed.client"):
        try:
            _check_workers(client, address)
            yield client
        finally:
            client.close()


def _nobody(address: str) -> PrefcalError:
    return PrefcalError(
        f"no Dask scheduler answers at {address}: start one (dask scheduler), or name the address that it prints"
    )


def _check_scheduler(distributed: Any, address: str) -> None:
    """Raise `PrefcalError` unless a Dask scheduler answers at this address.

    Another service at the address may send any reply, or none.
    """
    answer: Future[Any] = Future()
    with _said_once("distributed", "tornado.application", "asyncio"):
        try:
            distributed.comm.resolve_address(address)
        except (OSError, ValueError):
            raise _nobody(address) from None
        # a notebook has a loop already, and who presses Ctrl-C shall not wait for this one
        Thread(target=_ask, args=(distributed, address, answer), daemon=True).start()
        try:
            said = answer.result(2 * SAYING * SECONDS)
        except (TimeoutError, distributed.comm.CommClosedError):
            said = None
        except OSError:
            raise _nobody(address) from None
        except Exception:  # noqa: BLE001 - bytes of another protocol fail in any way, as too little memory for them too
            said = None
    if not isinstance(said, dict) or "workers" not in said:
        kind = said.get("type") if isinstance(said, dict) else None
        what = f"a Dask {kind.lower()}" if kind in {"Worker", "Nanny"} else "no Dask scheduler"
        raise PrefcalError(
            f"what answers at {address} is {what}; name the address that dask scheduler prints, not that of its dashboard or of a worker"
        )


def _ask(distributed: Any, address: str, answer: "Future[Any]") -> None:
    """Ask who is there, and leave what is said, or why nothing is, in ``answer``."""
    try:
        answer.set_result(asyncio.run(asyncio.wait_for(_identity(distributed, address), SAYING * SECONDS)))
    except BaseException as error:  # noqa: BLE001 - it is raised where the answer is waited for
        answer.set_exception(error)


async def _identity(distributed: Any, address: str) -> Any:
    security = distributed.Security().get_connection_args("client")
    asked = distributed.rpc(address, timeout=SECONDS, connection_args=security)
    try:
        return await asked.identity()
    finally:
        await asked.close_rpc()


@contextmanager
def _said_once(*names: str) -> Iterator[None]:
    """Suppress Dask's logged tracebacks about a lost or wrong scheduler.

    The caller reports the failure in one line.
    """
    logs = [logging.getLogger(name) for name in names]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


def _check_workers(client: Any, address: str) -> None:
    """Raise `PrefcalError` unless there are workers, all with this prefcal version.

    Another version may give other numbers.
    """
    try:
        client.wait_for_workers(1, timeout=SECONDS)
        versions = client.run(_own_version)
    except TimeoutError:
        raise PrefcalError(
            f"the cluster at {address} has no workers: start some (dask worker {address})"
        ) from None
    except ModuleNotFoundError:
        versions = {"": "no prefcal"}
    if set(versions.values()) != {_own_version()}:
        others = join_names(sorted({str(one) for one in versions.values()} - {_own_version()}))
        raise PrefcalError(
            f"the workers at {address} have {others}, and here is {_own_version()}: install the same prefcal everywhere"
        )


def _own_version() -> str:
    try:
        return f"prefcal {version('prefcal')}"
    except PackageNotFoundError:
        return "prefcal of no version"
