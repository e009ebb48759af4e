"""`prefcal serve` in processes of its own."""

import os
import signal
import socket
import time
from pathlib import Path

import httpx
import pytest

from tests.serving.serving import serving
from tests.study_app.prefcal_command import run_apart


def test_a_second_server_of_the_same_file_is_refused(loaded, sqlite_url):
    """Two processes that write one SQLite file would keep each other waiting."""
    with serving(loaded(sqlite_url)) as server:
        second = run_apart("serve", "--database", sqlite_url, "--port", "0")
        assert second.code == 1
        assert "is being served already; stop the other prefcal serve" in second.err
        assert server.answers()


def test_a_killed_server_frees_its_file(loaded, sqlite_url):
    """The lock is the operating system's: nobody has to delete a file by hand."""
    with serving(loaded(sqlite_url)) as server:
        server.kill()
        server.start()
        assert server.answers()


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity"), reason="the system does not say which cores a process may use"
)
def test_a_server_process_stays_on_one_core(loaded, sqlite_url):
    """Python runs one thread at a time; threads on two cores spend their time handing over."""
    with serving(loaded(sqlite_url)) as server:
        assert len(os.sched_getaffinity(server.process.pid)) == 1


def test_what_a_proxy_says_of_https_reaches_the_links(loaded, sqlite_url):
    """waitress takes such a header away unless it is told not to; followers would be given links that begin with http."""
    said = {"Host": "study.example.org", "X-Forwarded-Proto": "https, http"}
    with serving(loaded(sqlite_url)) as server:
        answer = httpx.get(f"{server.address}/healthz", headers=said)
        assert answer.json()["standing_link"] == "https://study.example.org/w/TOKEN/"


def test_several_processes_need_a_database_server(loaded, sqlite_url):
    """The message names both ways out."""
    refused = run_apart("serve", "--database", loaded(sqlite_url), "--processes", "2")
    assert refused.code == 1
    assert "2 processes cannot serve a SQLite file; leave out --processes" in refused.err
    assert "postgresql://USER@HOST/NAME" in refused.err


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc to find the processes")
def test_a_process_that_dies_is_replaced_and_nobody_notices(loaded, durable_postgres):
    """Several processes share the port; tokens of one are good for all."""
    url = loaded(durable_postgres.new_database("replaced"))
    with serving(url, "--processes", "2") as server:
        entered = httpx.get(f"{server.address}/s/small?id=ann", follow_redirects=True)
        assert entered.url.path.endswith("/consent")
        before = server.children()
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        for _ in range(20):
            assert httpx.get(entered.url).status_code == httpx.codes.OK
        end = time.monotonic() + 20
        while len(set(server.children()) - {before[0]}) < 2 and time.monotonic() < end:
            time.sleep(0.1)
        assert len(set(server.children()) - {before[0]}) == 2
        with socket.create_connection(("127.0.0.1", server.port)) as stranger:
            stranger.sendall(b"GET /s/small?id=SECRET\x00 HTTP/1.1\r\n\r\n")
            assert b" 400 " in stranger.recv(100)
        assert server.stop() == 0
    said = "".join(server.said)
    assert "refused what is no request" in said
    assert "SECRET" not in said
    assert "127.0.0.1" not in said
