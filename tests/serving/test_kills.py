"""What goes wrong under load: kills, a database that restarts or is taken over by its standby, a clock that jumps, a full disk.

Nothing that was acknowledged is lost, nothing is there twice.
"""

import os
import random
import sqlite3
import subprocess
import time
from contextlib import closing, suppress

import httpx
import pytest

from calibration.tables.files import read_tables
from study_app.cli.doctor import OK, WARNING, examine
from tests.postgres_server import postgres_server
from tests.serving.campaign import PATIENCE_SECONDS, Told, assert_kept, end_campaign, start_campaign
from tests.serving.serving import free_port, serving
from tests.study_app.prefcal_command import run_once

LIMIT = 15
HOUR = 3_600


GRADED = {
    "choices": "graded7",
    "criteria": [
        {"name": name, "text": f"Which is more {name}?"} for name in ("correct", "short", "complete")
    ],
    "reason": "required",
}


def killed_again_and_again(url, *arguments, kills, workers, between=(0.3, 0.9)):
    """Let a crowd through a study while its server is killed so many times; return what the crowd was told."""
    told, moments = Told(), random.Random(1)
    with serving(url, *arguments) as server:
        crowd = start_campaign(server.address, "small", workers, told)
        done = 0
        while done < kills and any(worker.is_alive() for worker in crowd):
            time.sleep(moments.uniform(*between))
            server.kill()
            server.start()
            done += 1
        end_campaign(crowd)
    return told, done


def test_kills_under_load_lose_nothing(loaded, sqlite_url):
    """Every worker gets through all the same, or is told that the study is full; answers have grades, criteria and reasons."""
    url = loaded(sqlite_url, task={"search_seconds": 0, "workers_per_query": LIMIT, **GRADED})
    told, kills = killed_again_and_again(url, kills=2, workers=2 * LIMIT + 4)
    assert kills == 2
    assert told.broken > 0
    assert len(told.codes) == 2 * LIMIT
    assert len(told.turned_away) == 4
    assert_kept(url, told, limit=LIMIT)


def until(happened):
    """Wait while a crowd is at work."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.soak
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_twenty_kills_lose_nothing(loaded, sqlite_url, durable_postgres, database):
    """The same with more of everything and two processes, on either database."""
    is_sqlite = database == "sqlite"
    url = loaded(
        sqlite_url if is_sqlite else durable_postgres.new_database("kills"),
        task={"search_seconds": 0, "workers_per_query": 150, "validation_pairs": 3},
    )
    told, kills = killed_again_and_again(
        url, "--processes", "2", kills=20, workers=310, between=(0.05, 0.3) if is_sqlite else (0.3, 0.9)
    )
    assert kills == 20
    assert len(told.codes) == 300
    assert_kept(url, told, limit=150)


@pytest.mark.soak
def test_a_database_that_restarts_under_load_loses_nothing(loaded, durable_postgres):
    """PostgreSQL is stopped at once, five times, while two processes serve: workers wait, and go on."""
    url = loaded(
        durable_postgres.new_database("restarts"), task={"search_seconds": 0, "workers_per_query": 60}
    )
    told, moments = Told(), random.Random(2)
    with serving(url, "--processes", "2") as server:
        crowd = start_campaign(server.address, "small", 124, told)
        for _ in range(5):
            time.sleep(moments.uniform(0.5, 1.5))
            durable_postgres.stop("immediate")
            time.sleep(0.3)
            durable_postgres.start(durable=True)
        end_campaign(crowd)
    assert told.refusals[503] > 0
    assert set(told.refusals) == {503}
    assert len(told.codes) == 120
    assert_kept(url, told, limit=60)


def standby_state(url):
    """Return what the doctor says of the standby of a database server."""
    return next(finding.state for finding in examine(url) if finding.what == "standby")


@pytest.mark.soak
def test_a_standby_takes_over_from_a_primary_that_is_killed(loaded):
    """What was acknowledged stands on the standby; the address names both, and workers are asked to wait until it is promoted."""
    with (
        postgres_server(durable=True, port=free_port()) as primary,
        primary.standby(free_port()) as standby,
    ):
        primary.new_database("failover")
        url = loaded(
            f"postgresql://prefcal@127.0.0.1:{primary.port},127.0.0.1:{standby.port}/failover",
            task={"search_seconds": 0, "workers_per_query": 60},
        )
        told = Told()
        assert standby_state(url) == OK
        with serving(url, "--processes", "2") as server:
            crowd = start_campaign(server.address, "small", 124, told)
            until(lambda: len(told.choices) > 20)
            primary.kill()
            time.sleep(2)
            standby.promote()
            end_campaign(crowd)
        assert standby_state(url) == WARNING
        assert set(told.refusals) == {503}
        assert len(told.codes) == 120
        assert_kept(url, told, limit=60)


CLOCK = """
import os, time
from datetime import timedelta
from study_app.store import tokens
def ahead(file={file!r}): return os.stat(file).st_size - {hour}
def later(now=tokens.utc_now): return now() + timedelta(seconds=ahead())
def seconds(now=time.time): return now() + ahead()
tokens.utc_now, time.time = later, seconds
"""
"""The clock of a server, ahead by as many seconds as a file has bytes, less an hour."""


@pytest.mark.soak
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_clock_that_jumps_under_load_loses_nothing(
    loaded, sqlite_url, durable_postgres, tmp_path, database
):
    """By an hour, forwards and backwards; who left their place when the clock was ahead keeps nobody out for longer than that."""
    url = loaded(
        sqlite_url if database == "sqlite" else durable_postgres.new_database("clock"),
        task={"search_seconds": 0, "workers_per_query": 40},
    )
    clock = tmp_path / "clock"
    clock.write_bytes(bytes(2 * HOUR))
    told = Told()
    with serving(url, "--processes", "2", before=CLOCK.format(file=str(clock), hour=HOUR)) as server:
        assert httpx.get(f"{server.address}/s/small?id=left", follow_redirects=True).is_success
        crowd = start_campaign(server.address, "small", 80, told)
        for hours in (0, 1, 2, 0, 1):
            os.truncate(clock, hours * HOUR)
            wanted = len(told.choices) + 30
            until(lambda wanted=wanted: len(told.choices) > wanted or len(told.codes) == 80)
        end_campaign(crowd)
    assert len(told.codes) == 80
    assert dict(told.refusals) == {}
    assert_kept(url, told, limit=40)
    assert run_once("export", tmp_path / "tables", "--database", url).code == 0
    tables = read_tables(tmp_path / "tables")
    assert (tables["preferences"]["decision_seconds"].dropna() >= 0).all()
    assert (tables["reads"]["dwell_seconds"] >= 0).all()


def fill(file, ballast):
    """Leave no byte of a file system to a SQLite file, not even what its log has had already; returns True."""
    with closing(sqlite3.connect(file)) as connection, suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with suppress(OSError), ballast.open("ab", buffering=0) as rest:
        while rest.write(bytes(65_536)):
            pass
    return True


@pytest.mark.soak
def test_a_disk_that_is_full_for_a_while_loses_nothing(loaded, tmp_path):
    """A file system of its own is filled to the last byte under load, and emptied: until then 503 and /readyz says so."""
    room = tmp_path / "room"
    room.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160m", "none", room], check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    told, ballast, file = Told(), room / "ballast", room / "study.sqlite3"
    try:
        url = loaded(f"sqlite:///{file}", task={"search_seconds": 0, "workers_per_query": 40})
        with serving(url, "--processes", "2") as server:
            crowd = start_campaign(server.address, "small", 80, told)
            until(lambda: len(told.choices) > 20)
            until(lambda: fill(file, ballast) and told.refusals[503] > 20)
            assert httpx.get(f"{server.address}/readyz").status_code == 503
            assert httpx.get(f"{server.address}/healthz").is_success
            ballast.unlink()
            end_campaign(crowd)
        assert set(told.refusals) == {503}
        assert len(told.codes) == 80
        assert_kept(url, told, limit=40)
    finally:
        subprocess.run(["umount", "--lazy", room], check=True)
