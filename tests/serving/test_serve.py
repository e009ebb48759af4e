"""`prefcal serve` in processes of its own."""

import os
import signal
import socket
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from sqlalchemy.engine import make_url

from metrics.errors import InputError
from study_app.cli import cli
from study_app.store.writer_lock import serving_lock
from tests.serving.serving import PLAIN, serving
from tests.study_app.prefcal_command import run_once

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc to find the processes"
)


def wait_until(condition):
    """Wait until something is so, twenty seconds at most."""
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    assert condition()


def is_running(process):
    """Say whether a process is there, and not only its exit code."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_link_to_a_file_is_no_other_file(loaded, sqlite_url, tmp_path):
    """Two servers would give out the same places."""
    link = tmp_path / "link.sqlite3"
    link.symlink_to(make_url(loaded(sqlite_url)).database)
    with (
        serving_lock(sqlite_url),
        pytest.raises(InputError, match="is being served already"),
        serving_lock(f"sqlite:///{link}"),
    ):
        pass


def test_a_file_with_a_second_name_is_not_served(loaded, sqlite_url, tmp_path):
    """What is beside it (journal, locks) is kept by name: under the other name nobody would see it."""
    file = Path(make_url(loaded(sqlite_url)).database)
    os.link(file, tmp_path / "second.sqlite3")
    for name in (file, tmp_path / "second.sqlite3"):
        with (
            pytest.raises(InputError, match=r"has another name \(a hard link\); remove the other name"),
            serving_lock(f"sqlite:///{name}"),
        ):
            pass


def test_nobody_else_of_the_machine_can_hold_the_lock(loaded, sqlite_url):
    """Whoever may open the file of a lock can keep it, and so keep the server from its start."""
    with serving_lock(loaded(sqlite_url)):
        lock = Path(f"{make_url(sqlite_url).database}.serving")
        assert lock.stat().st_mode & 0o777 == 0o600


def cores_of(server):
    """Return the cores that each process of a server may use."""
    return [os.sched_getaffinity(process) for process in server.children() or [server.process.pid]]


def stopped_while_it_waits(server, url, ending):
    """Let a worker's consent wait for the disk while all processes get a signal; the worker is told that it is stored."""
    file = make_url(url).database
    page = httpx.get(f"{server.address}/s/small?id=ann", follow_redirects=True, verify=PLAIN)
    fields = {"agree": "yes", "page": page.text.split('name="page" value="')[1].split('"')[0]}
    with sqlite3.connect(file, isolation_level=None) as slow_disk, ThreadPoolExecutor() as worker:
        slow_disk.execute("BEGIN IMMEDIATE")
        answer = worker.submit(httpx.post, page.url, data=fields, timeout=30, verify=PLAIN)
        time.sleep(0.5)
        os.killpg(server.process.pid, ending)
        time.sleep(0.5)
        slow_disk.execute("COMMIT")
        assert answer.result().status_code == httpx.codes.SEE_OTHER
    assert server.process.wait(timeout=30) == 0
    assert "Traceback" not in "".join(server.said)
    with sqlite3.connect(file) as stored:
        assert stored.execute("SELECT count(consented_at) FROM worker").fetchone() == (1,)


@needs_proc
def test_one_process_serves_without_gunicorn_and_refuses_a_second_server(loaded, sqlite_url):
    """Whoever stops one of two would believe that the study is closed. It is stopped while somebody waits, who is answered."""
    with serving(loaded(sqlite_url), "--processes", "1") as server:
        assert server.children() == []
        second = run_once("serve", "--database", sqlite_url, "--port", "0")
        assert second.code == 1
        assert "is being served already; stop the other prefcal serve" in second.err
        assert server.answers()
        stopped_while_it_waits(server, sqlite_url, signal.SIGTERM)


@needs_proc
def test_processes_end_with_their_parent_and_free_the_file(loaded, sqlite_url):
    """Nobody looks after them, and they keep the port; what one was asked by then is answered. The lock is the system's."""
    with serving(loaded(sqlite_url), "--processes", "2") as server:
        wait_until(lambda: len(server.children()) == 2)
        orphans = server.children()
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait(timeout=30)
        wait_until(lambda: not any(map(is_running, orphans)))
        server.start()
        stopped_while_it_waits(server, sqlite_url, signal.SIGINT)


@needs_proc
def test_a_server_that_is_stopped_answers_first(loaded, sqlite_url):
    """Who waits for the disk is told that the answer is stored, and the server's own end is a quiet one.

    So it is with Ctrl-C and with one process, in the tests before this one, and with a terminal that closes, in the next.
    """
    with serving(loaded(sqlite_url), "--processes", "2") as server:
        stopped_while_it_waits(server, sqlite_url, signal.SIGTERM)


@needs_proc
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_process_that_dies_is_replaced_and_nobody_notices(loaded, sqlite_url, durable_postgres, kind):
    """Several processes share the port and the file; tokens of one are good for all, and the server stays the only one.

    As many as there are cores, two at most, is what it takes unasked. Beside a file each stays on a core of its own:
    Python runs one thread at a time, and threads on two cores spend their time handing over. A database server may want
    any core: with one on the same two cores the longest waits grew from a tenth of a second to eleven seconds.
    """
    url = loaded(sqlite_url if kind == "sqlite" else durable_postgres.new_database("replaced"))
    usable = os.sched_getaffinity(0)
    unasked = kind == "sqlite" and len(usable) > 1
    with serving(url, *([] if unasked else ["--processes", "2"])) as server:
        entered = httpx.get(f"{server.address}/s/small?id=ann", follow_redirects=True, verify=PLAIN)
        assert entered.url.path.endswith("/consent")
        wait_until(lambda: len(server.children()) == 2)
        if kind == "postgresql":
            assert cores_of(server) == [usable] * 2
        elif unasked:
            wait_until(lambda: all(len(cores) == 1 for cores in cores_of(server)))
            assert len(set.union(*cores_of(server))) == 2
        before = server.children()
        os.kill(before[0], signal.SIGKILL)
        for _ in range(20):
            assert httpx.get(entered.url, verify=PLAIN).status_code == httpx.codes.OK
        wait_until(lambda: len(set(server.children()) - {before[0]}) == 2)
        if kind == "sqlite":
            assert "served already" in run_once("serve", "--database", url, "--port", "0").err
        with socket.create_connection(("127.0.0.1", server.port)) as stranger:
            stranger.sendall(b"GET /s/small?id=SECRET\x00 HTTP/1.1\r\n\r\n")
            answer = stranger.recv(1_000)
            assert b" 400 " in answer
            assert b"Server:" not in answer
        if kind == "sqlite":
            stopped_while_it_waits(server, url, signal.SIGHUP)
        else:
            assert server.stop() == 0
    said = "".join(server.said)
    assert "SECRET" not in said
    assert "127.0.0.1" not in said


def test_a_study_that_is_named_is_loaded_first(tmp_path, monkeypatch):
    """Two commands lead from files to a served study; a faulty file is refused before anything is served."""
    served = []
    monkeypatch.setattr("study_app.cli.serve.command.serve_app", lambda app, **more: served.append(more))
    examples = Path(__file__).resolve().parents[2] / "examples"

    def serve(path):
        database = f"sqlite:///{tmp_path / 'served.sqlite3'}"
        return CliRunner().invoke(cli, ["serve", str(path), "--processes", "1", "--database", database])

    (tmp_path / "study.yaml").write_text("study: none\n")
    assert serve(tmp_path / "study.yaml").exit_code == 1
    assert served == []
    result = serve(examples / "plain_lists" / "study.yaml")
    assert result.exit_code == 0, result.output
    assert "loaded two-runs" in result.output
    assert len(served) == 1
