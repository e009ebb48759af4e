"""Times of an export: no list of a platform leads from them to a person, and nothing that is fitted differs."""

import json
import math

import pandas as pd
import pytest
from sqlalchemy import select, update

from calibration.tables.files import read_table, read_tables
from calibration.tables.study_json import read_study
from study_app.estimate.content import read_whole_study
from study_app.export.raw_tables import RAW_TABLES
from study_app.export.study_export import export_study
from study_app.simulate.crowd_parameters import CrowdParameters
from study_app.simulate.trial import run_trial
from study_app.store.database import open_database, transaction
from study_app.store.models import LoadedStudy, Worker
from study_app.store.tokens import time_shift
from tests.study_app.every_task import write_every_task
from tests.study_app.prefcal_command import run_once

WORKERS = 8
HOUR = pd.Timedelta(hours=1)
MOVED = {
    "follows": ("started_at", "ended_at", "last_seen_at"),
    "visits": ("start", "end"),
    "activity": ("at",),
    "reads": ("first_seen",),
}
SAME = ("stream_at", "dwell_seconds", "decision_seconds", "position", "seconds", "chars_read", "choice")
WALL = pd.Timedelta(milliseconds=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Export a study of every task, as simulated people left it, with moved and with exact times; and fit both."""
    folder = tmp_path_factory.mktemp("moved")
    url = f"sqlite:///{folder / 'study.sqlite3'}"
    truth = CrowdParameters(patience_preferences=100, patience_stops=100)
    _, clock = run_trial(
        read_whole_study(write_every_task(folder)), url, workers=WORKERS, truth=truth, seed=5
    )
    database = open_database(url)
    with transaction(database, write=False) as session:
        study = session.scalars(select(LoadedStudy)).one()
        for name in ("moved", "exact"):
            export_study(session, study, folder / name, now=clock(), raw=True, exact_times=name == "exact")
    database.engine.dispose()
    for name in ("moved", "exact"):
        ended = run_once("fit", folder / name, "-o", folder / f"{name}.json", "--seed", "7")
        assert ended.code == 0, ended.err
    return folder


@pytest.fixture(scope="module")
def both(folder):
    return read_tables(folder / "moved"), read_tables(folder / "exact")


@pytest.fixture(scope="module")
def amounts(folder):
    """Pseudonym -> by how much the times of that worker are moved."""
    database = open_database(f"sqlite:///{folder / 'study.sqlite3'}")
    with transaction(database, write=False) as session:
        stored = select(Worker.pseudonym, Worker.times_moved_ms, Worker.withdrawal_code)
        rows = session.execute(stored).all()
    database.engine.dispose()
    assert all(moved == time_shift(code) for _, moved, code in rows)
    return {worker: moved * WALL for worker, moved, _ in rows}


def test_fits_of_moved_and_of_exact_times_are_the_same(folder):
    """Every estimate, interval and covariance, to 1e-9; the sentences, too."""
    moved, exact = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in ("moved", "exact")
    )
    assert moved.pop("tables_sha256") != exact.pop("tables_sha256")
    assert len(exact["parameters"]) >= 10
    for name, entry in exact["parameters"].items():
        found = moved["parameters"][name]
        numbers = [
            [math.inf if number is None else number for number in (one["estimate"], *one["interval"])]
            for one in (found, entry)
        ]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-9, abs=0), name
    assert moved["parameters"].keys() == exact["parameters"].keys()
    assert moved["intents"] == exact["intents"]


@pytest.mark.parametrize("table", MOVED)
def test_all_times_of_a_worker_are_moved_by_one_amount_below_an_hour(both, amounts, table):
    """In all tables by the same, so every difference within a worker is exact; the time in a stream stays."""
    moved, exact = (tables[table] for tables in both)
    by = exact["worker"].astype("object").map(amounts)
    assert len(exact) > 0
    assert by.between(pd.Timedelta(0), HOUR, inclusive="left").all()
    for name in MOVED[table]:
        assert ((moved[name] - exact[name]) == by)[exact[name].notna()].all()
    for name in set(SAME) & set(exact.columns):
        assert moved[name].equals(exact[name])


def test_consent_and_end_are_rounded_down_to_the_hour_and_judgments_have_no_time(both):
    """To the second they stand in a platform's list."""
    moved, exact = (tables["workers"] for tables in both)
    for name in ("consented_at", "completed_at", "withdrawn_at"):
        assert moved[name].equals(exact[name].dt.floor("h"))
    assert exact["completed_at"].notna().any()
    moved, exact = (tables["preferences"] for tables in both)
    assert exact[["shown_at", "decided_at"]].notna().all(axis=None)
    assert moved[["shown_at", "decided_at"]].isna().all(axis=None)
    rest = [name for name in exact.columns if name not in ("shown_at", "decided_at")]
    assert moved[rest].equals(exact[rest])


def test_study_json_says_which_times_there_are_and_has_no_exact_ones(folder):
    """Its own begin with a worker's consent and end with a worker's last answer."""
    moved, exact = read_study(folder / "moved"), read_study(folder / "exact")
    assert (moved.times, exact.times) == ("moved", "exact")
    assert pd.Timestamp(moved.started_at) == pd.Timestamp(exact.started_at).floor("h")
    assert pd.Timestamp(moved.ended_at) == pd.Timestamp(exact.ended_at).ceil("h")
    assert moved.clock.origin == moved.started_at


def test_nothing_in_the_folder_has_a_time_of_day_of_a_worker(folder, both):
    """Neither a table nor a raw one, in either format: no exact time of any worker stands anywhere."""
    exact = {
        f"{time:%H:%M:%S}.{time.microsecond // 1000:03d}"
        for name, column in (
            ("workers", "consented_at"),
            ("workers", "completed_at"),
            ("follows", "started_at"),
        )
        for time in both[1][name][column].dropna()
        if time.microsecond
    }
    assert exact
    files = [path for path in (folder / "moved").rglob("*") if path.suffix in (".csv", ".json")]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    assert [time for time in exact if time in text] == []


def test_raw_is_moved_too(folder, amounts):
    """By the same amounts, with the browsers' own clocks; only `--exact-times` gives everything as it was stored."""
    for name, table in RAW_TABLES.items():
        moved, exact = (
            read_table(folder / which / "raw" / f"{name}.csv", table) for which in ("moved", "exact")
        )
        by = exact["worker"].astype("object").map(amounts)
        for column in exact.columns:
            if column == "wall_ms":
                assert ((moved[column] - exact[column]) * WALL == by).all()
            elif str(exact[column].dtype).startswith("datetime"):
                assert ((moved[column] - exact[column]) == by)[exact[column].notna()].all(), (name, column)
            else:
                assert moved[column].equals(exact[column]), (name, column)


def test_both_are_without_a_fault(folder):
    """`prefcal check` says the same of both: visits stay within their follows."""
    found = [run_once("check", folder / name) for name in ("moved", "exact")]
    assert [one.code for one in found] == [0, 0]
    assert found[0].err.replace("/moved/", "/exact/") == found[1].err


def test_rows_do_not_stand_in_the_order_in_which_people_came(both):
    """The list of a platform has that order as well."""
    workers = both[0]["workers"]["worker"].tolist()
    assert workers == sorted(workers)


def test_the_amount_is_drawn_once(folder):
    """A second export has the same times; another amount gives other ones."""
    url = f"sqlite:///{folder / 'study.sqlite3'}"
    again = run_once("export", folder / "again", "--database", url)
    assert again.code == 0, again.err
    first = (folder / "moved" / "visits.csv").read_bytes()
    assert (folder / "again" / "visits.csv").read_bytes() == first
    database = open_database(url)
    with transaction(database, write=True) as session:
        session.execute(update(Worker).values(times_moved_ms=1))
    database.engine.dispose()
    assert run_once("export", folder / "other", "--database", url).code == 0
    assert (folder / "other" / "visits.csv").read_bytes() != first
