"""Work in pieces gives the same results wherever it is done, and a worker that dies is one line."""

import operator
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from metrics.errors import PrefcalError
from metrics.parallel import Executor, open_engine


def die(_shared: int, _item: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def who(_shared: object, _item: int) -> int:
    return os.getpid()


@pytest.fixture
def _at_once(monkeypatch):
    """Other processes are started for the first piece."""
    monkeypatch.setattr("metrics.parallel.ALONE_SECONDS", 0.0)


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_item_comes_back_with_its_result(jobs):
    """In any order: who wants one sorts."""
    with open_engine(jobs=jobs) as engine:
        assert sorted(engine.results(operator.mul, 3, range(9))) == [(item, 3 * item) for item in range(9)]


def test_short_work_starts_no_process():
    """Starting one takes longer."""
    with open_engine(jobs=2) as engine:
        assert {process for _, process in engine.results(who, None, range(9))} == {os.getpid()}


@pytest.mark.usefixtures("_at_once")
def test_the_same_processes_do_the_same_work_of_another_call_and_are_told_of_other_work():
    """A search asks many times; what a call left undone is not in the way of the next."""
    with open_engine(jobs=2) as engine:
        next(engine.results(who, None, range(99)))
        before, after = ({process for _, process in engine.results(who, None, range(9))} for _ in range(2))
        assert os.getpid() not in before | after
        assert len(before | after) <= 2
        assert sorted(engine.results(operator.mul, 3, range(4))) == [(item, 3 * item) for item in range(4)]
        assert sorted(engine.results(operator.mul, 5, range(4))) == [(item, 5 * item) for item in range(4)]


@pytest.mark.usefixtures("_at_once")
def test_a_process_that_dies_is_one_line():
    with open_engine(jobs=2) as engine, pytest.raises(PrefcalError, match=r"a worker process died.*again"):
        list(engine.results(die, 0, range(3)))


def test_a_scheduler_that_does_not_answer_is_one_line(monkeypatch):
    """The port is one at which nobody listens."""
    monkeypatch.setattr("metrics.dask_cluster.SECONDS", 0.3)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(PrefcalError, match=r"no Dask scheduler answers at tcp://.*start one"):
            open_engine(scheduler=address).__enter__()


@contextmanager
def someone_who_greets(greeting: bytes):
    """Yield the address of a port that says the same to everybody, and listens no more then."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        guests = []

        def greet():
            with suppress(OSError):  # closed, at the end
                while True:
                    guests.append(listening.accept()[0])
                    guests[-1].sendall(greeting)

        Thread(target=greet, daemon=True).start()
        try:
            yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            for guest in guests:
                guest.close()


@pytest.mark.parametrize(
    "greeting",
    [b"", b"SSH-2.0-x\r\n", b"\x05" + bytes(7) + b"\xffhello", b"\x00\x10" + bytes(6) + b"too few"],
    ids=["silence", "ssh", "a frame of nonsense", "half a frame"],
)
def test_somebody_else_who_answers_is_one_line(greeting, monkeypatch, capfd):
    """Dask's client would wait for ever, or take the first bytes for a length that no memory holds."""
    monkeypatch.setattr("metrics.dask_cluster.SECONDS", 0.5)
    with someone_who_greets(greeting) as address:
        says = rf"what answers at {address} is no Dask scheduler; name the address"
        with pytest.raises(PrefcalError, match=says):
            open_engine(scheduler=address).__enter__()
    assert capfd.readouterr().err == ""


def test_a_web_server_is_no_scheduler(monkeypatch):
    """As that of Dask's own dashboard, which waits for a line that never comes."""
    monkeypatch.setattr("metrics.dask_cluster.SECONDS", 0.5)
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        Thread(target=server.handle_request, daemon=True).start()
        with pytest.raises(PrefcalError, match=r"is no Dask scheduler; .*not that of its dashboard"):
            open_engine(scheduler=f"tcp://127.0.0.1:{server.server_port}").__enter__()


def test_a_worker_is_no_scheduler():
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0"
    ) as cluster:
        address = cluster.workers[0].address
        with pytest.raises(PrefcalError, match=rf"what answers at {address} is a Dask worker; name"):
            open_engine(scheduler=address).__enter__()


def test_an_address_that_is_none_is_one_line_and_nothing_after_it():
    """In a process of its own: at its end Dask's client would wait for 20 s, and write a traceback."""
    asked = "from metrics.parallel import open_engine\nopen_engine(scheduler='foo://x:1').__enter__()"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "metrics.errors.PrefcalError: no Dask scheduler answers at foo://x:1: start one (dask scheduler), or name the address that it prints"
    )


def test_without_dask_the_cure_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(PrefcalError, match=r"pip install 'prefcal\[cluster\]'"):
        open_engine(scheduler="tcp://127.0.0.1:1").__enter__()


def test_a_cluster_gives_the_same_results():
    """Two workers in this process: quick."""
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        open_engine(scheduler=cluster.scheduler_address) as engine,
    ):
        assert engine.workers == 2
        assert sorted(engine.results(operator.mul, 3, range(40))) == [(item, 3 * item) for item in range(40)]


@contextmanager
def cluster_of_processes():
    """Yield a scheduler and its only worker, in processes of their own, and the scheduler's address."""
    dask = [sys.executable, "-m", "dask"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with (
        subprocess.Popen([*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--dashboard-address", ":0", "--no-dashboard"], **quiet) as scheduler,
        subprocess.Popen([*dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"], **quiet) as worker,
    ):  # fmt: skip
        try:
            yield {"scheduler": scheduler, "worker": worker}, address
        finally:
            scheduler.kill()
            worker.kill()


def kill_in_the_middle(engine: Executor, process: "subprocess.Popen[bytes]") -> None:
    for number, _ in enumerate(engine.results(operator.mul, 3, range(100_000))):
        if number == 2:
            process.kill()


@pytest.mark.parametrize("lost", ["worker", "scheduler"])
def test_a_cluster_that_is_lost_is_one_line(lost, capfd):
    """With its only worker goes what all pieces share, and with the scheduler everything."""
    with cluster_of_processes() as (processes, address):
        said = r"cluster at tcp://.* lost its workers or its scheduler: start them"
        with open_engine(scheduler=address) as engine, pytest.raises(PrefcalError, match=said):
            kill_in_the_middle(engine, processes[lost])
    assert "Traceback" not in capfd.readouterr().err
