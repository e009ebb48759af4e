"""`prefcal doctor`: each line turned bad once."""

import sqlite3
from contextlib import closing

import pytest
from filelock import FileLock
from sqlalchemy import create_engine, make_url, text

from study_app.cli.doctor import (
    FAULT,
    NOTE,
    OK,
    WARNING,
    clock,
    disk_space,
    examine,
    file_rights,
    postgresql_durability,
    programs,
    schema,
    secret_key,
    server_clock,
    server_of,
    sqlite_durability,
)
from study_app.cli.health_check import database_link
from study_app.store.database import known_versions, open_database, transaction
from study_app.store.writer_lock import serving_lock
from tests.study_app.prefcal_command import run_here

ON_SQLITE = pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)
ON_POSTGRESQL = pytest.mark.parametrize("new_url", ["postgresql"], indirect=True)


def moved(*values):
    """A clock that says one value after the other, and then the last."""
    left = list(values)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def slept(seconds):
    """A sleep that takes no time."""


@pytest.fixture
def loaded(campaign):
    """A loaded study."""
    return campaign()


@ON_SQLITE
def test_a_fresh_installation_has_no_fault(loaded, monkeypatch, capsys):
    """Everything is ok on the machine of a developer, who only has to think of HTTPS."""
    monkeypatch.setattr("study_app.cli.doctor.LOW_BYTES", 0)
    monkeypatch.setattr("study_app.cli.doctor.FULL_BYTES", 0)
    assert {one.state for one in examine(loaded.url)} == {OK, NOTE}
    ended = run_here(
        monkeypatch, capsys, "doctor", "--database", loaded.url, "--format", "csv", "-o", loaded.folder / "d"
    )
    assert ended.code == 0
    what = [line.split(",")[0] for line in (loaded.folder / "d").read_text().splitlines()]
    assert what == [
        "what",
        *("programs", "clock", "HTTPS", "disk", "file", "server", "schema", "secret key", "durability"),
    ]


def test_a_fault_ends_the_command_with_1(tmp_path, monkeypatch, capsys):
    """So that a script stops; and no database is made by asking."""
    ended = run_here(monkeypatch, capsys, "doctor", "--database", tmp_path / "none.sqlite3")
    assert ended.code == 1
    assert "no study is loaded in" in ended.out
    assert list(tmp_path.iterdir()) == []


def test_people_get_what_there_is_in_a_table_and_below_it_what_to_do(tmp_path, monkeypatch, capsys):
    """The gravest last, where one looks first; in a column of their own the cures made the table too wide to read."""
    ended = run_here(monkeypatch, capsys, "doctor", "--database", tmp_path / "none.sqlite3")
    table, _, cures = ended.out.partition("\n\n")
    assert table.splitlines()[0].split() == ["what", "state", "found"]
    note, fault = cures.splitlines()
    assert note.startswith("note: HTTPS: prefcal serve speaks plain HTTP; on the open net: a reverse proxy")
    assert fault.startswith(
        f"fault: database: no study is loaded in {tmp_path}/none.sqlite3; prefcal study load"
    )


def test_a_database_that_cannot_be_reached_is_a_fault_without_its_password():
    """Nobody listens there."""
    (fault,) = [one for one in examine("postgresql://ann:secret@127.0.0.1:1/none") if one.state == FAULT]
    assert fault.what == "database"
    assert "secret" not in fault.found
    assert "\n" not in fault.found  # the driver says two lines
    assert "that the server runs" in fault.cure


def test_a_clock_of_another_century_is_a_fault():
    """A machine without a battery wakes up in 1970."""
    assert clock(wall=moved(0.0), monotonic=moved(0.0), sleep=slept).state == FAULT


def test_a_clock_that_jumps_is_a_warning():
    """Decision times are differences of it."""
    found = clock(wall=moved(1.8e9, 1.8e9 + 60.0), monotonic=moved(5.0, 5.05), sleep=slept)
    assert found.state == WARNING
    assert "jumped by 60" in found.found


@pytest.mark.parametrize(("free", "state"), [(1 << 20, FAULT), (500 << 20, WARNING), (5 << 30, OK)])
def test_a_full_disk_is_seen_before_it_is_full(tmp_path, free, state):
    """A warning while there is time, a fault when there is none."""
    found = disk_space(tmp_path, free_bytes=lambda folder: free)
    assert found.state == state
    assert bool(found.cure) == (state != OK)


def test_a_file_that_others_may_read_is_a_warning_unless_its_folder_is_closed(tmp_path):
    """It holds platform ids and the key that signs addresses."""
    file = tmp_path / "open.sqlite3"
    file.touch()
    file.chmod(0o644)
    tmp_path.chmod(0o755)
    assert (file_rights(file).state, file_rights(file).cure[:9]) == (WARNING, "chmod 600")
    tmp_path.chmod(0o700)
    assert file_rights(file).state == OK


def test_a_file_that_cannot_be_written_is_a_fault(tmp_path, monkeypatch):
    """SQLite needs the folder too."""
    (tmp_path / "a").touch()
    monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path)
    assert file_rights(tmp_path / "a").state == FAULT


def test_a_server_that_serves_already_is_told(tmp_path):
    """And the look itself leaves no lock behind."""
    file = tmp_path / "a.sqlite3"
    with serving_lock(f"sqlite:///{file}"):
        assert "is being served now" in server_of(file).found
    assert "nobody serves" in server_of(file).found
    with FileLock(f"{file}.serving", timeout=0):
        pass


def test_an_old_sqlite_is_a_fault(monkeypatch):
    """It lacks statements that prefcal uses."""
    monkeypatch.setattr("sqlite3.sqlite_version_info", (3, 7, 17))
    assert programs().state == FAULT


def test_the_schema_is_todays_or_older_or_newer(monkeypatch):
    """Those that this prefcal can follow are mended here, others not."""
    newest = known_versions()[-1]
    assert schema(newest).state == OK
    assert (schema("9999").state, schema("0003").state) == (FAULT, FAULT)
    assert "the prefcal before this one" in schema("0003").cure
    monkeypatch.setattr("study_app.cli.doctor.known_versions", lambda: (newest, "next"))
    assert schema(newest).cure == "prefcal db backup FILE, prefcal db upgrade"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("DELETE FROM setting", "is missing"),
        ("UPDATE setting SET value = 'short'", "has only 5 letters"),
    ],
)
def test_a_missing_or_short_key_is_a_fault_and_is_never_shown(loaded, change, found):
    """Whoever guesses it is every worker."""
    with transaction(loaded.database, write=True) as session:
        assert secret_key(session.connection()).state == OK
        session.execute(text(change))
        bad = secret_key(session.connection())
    assert (bad.state, bad.found) == (FAULT, found)


def test_sqlite_without_its_log_is_a_fault(tmp_path):
    """As on a network's disk, where WAL cannot be switched on."""
    with closing(sqlite3.connect(tmp_path / "a")):
        engine = create_engine(f"sqlite:///{tmp_path / 'a'}")
        with engine.connect() as connection:
            bad = sqlite_durability(connection)
        engine.dispose()
    assert bad.state == FAULT
    assert "journal_mode delete" in bad.found
    assert "foreign_keys 0" in bad.found


@ON_POSTGRESQL
def test_postgresql_that_promises_too_much_is_a_fault(loaded):
    """The tests' own server syncs nothing, and the doctor sees it; its clock is this machine's."""
    by_name = {one.what: one for one in examine(loaded.url)}
    assert by_name["durability"].state == FAULT
    assert "fsync = on, synchronous_commit = on, full_page_writes = on" in by_name["durability"].cure
    assert by_name["clocks"].state == OK


@ON_POSTGRESQL
def test_a_database_server_with_another_time_is_a_warning(loaded, monkeypatch):
    """Nothing is timed by it; but one of the two is wrong."""
    monkeypatch.setattr("time.time", moved(1.6e9))
    database = open_database(loaded.url)
    with database.engine.connect() as connection:
        assert server_clock(connection).state == WARNING
        assert postgresql_durability(connection).state == FAULT
    database.engine.dispose()


@pytest.mark.parametrize(
    ("host", "encrypted", "mode", "state", "said"),
    [
        ("/var/run/postgresql", False, "prefer", OK, "on this machine"),
        ("localhost", False, "prefer", OK, "on this machine"),
        ("db.example.org", False, "prefer", WARNING, "not encrypted: everybody on the way"),
        ("db.example.org", True, "require", WARNING, "nobody checks that it is the right server"),
        ("db.example.org", True, "verify-full", OK, "has shown its certificate"),
    ],
)
def test_a_database_on_another_machine_is_reached_encrypted(host, encrypted, mode, state, said):
    """Answers and keys go over that line."""
    finding = database_link(host, is_encrypted=encrypted, mode=mode)
    assert (finding.state, said in finding.found) == (state, True)
    assert ("sslmode=verify-full" in finding.cure) == (state == WARNING)


@ON_POSTGRESQL
def test_the_line_to_a_database_server_is_looked_at(loaded):
    """The tests' server is on this machine."""
    [finding] = [one for one in examine(loaded.url) if one.what == "database link"]
    assert finding.state == OK


@ON_POSTGRESQL
def test_a_standby_that_has_not_what_was_acknowledged_is_a_warning(loaded):
    """Where the address names several servers; else there is none to look at."""
    assert "standby" not in {one.what for one in examine(loaded.url)}
    folder = make_url(loaded.url).query["host"]
    several = make_url(loaded.url).update_query_dict({"host": f"{folder},{folder}", "port": "5432,5432"})
    [finding] = [one for one in examine(str(several)) if one.what == "standby"]
    assert finding.state == WARNING
    assert "synchronous_standby_names" in finding.cure
