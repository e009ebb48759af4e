"""`prefcal db backup` and `restore`: one moment of a database that is being written to, whole or not at all."""

import os
import shutil
import sqlite3
import threading
from itertools import cycle

import pytest
from sqlalchemy import delete, func, select, text

from metrics.errors import InputError, PrefcalError
from study_app.store.backups.backup import back_up, restore
from study_app.store.check import check_database
from study_app.store.console_models import AuditEntry
from study_app.store.database import (
    known_versions,
    migrate,
    open_database,
    transaction,
)
from study_app.store.models import Judgment, Setting, Worker
from study_app.store.writer_lock import serving_lock
from tests.postgres_server import binaries
from tests.study_app.prefcal_command import run_here

NEWEST = known_versions()[-1]
ON_SQLITE = pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)
ON_POSTGRESQL = pytest.mark.parametrize("new_url", ["postgresql"], indirect=True)


@pytest.fixture(autouse=True)
def postgres_programs(monkeypatch):
    """The client programs of the server that the tests start."""
    if (folder := binaries()) is not None:
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def judged(campaign):
    """A database with one finished worker in it."""
    made = campaign()
    made.judge_all(made.at_pairs()).send()
    return made


@pytest.fixture
def open_one():
    """Open databases that are closed at the end."""
    opened = []

    def open_(url):
        opened.append(open_database(url))
        return opened[-1]

    yield open_
    for one in opened:
        one.engine.dispose()


def count(database, column):
    with transaction(database, write=False) as session:
        return session.scalar(select(func.count(column)))


@pytest.mark.both_databases
def test_a_backup_taken_under_load_holds_one_moment(campaign, new_url, open_one, tmp_path):
    """Whoever answers meanwhile is in it with all that an answer refers to, or not at all; nobody waits for it."""
    made = campaign()
    visitors = [made.at_pairs(f"w{number}") for number in range(3)]
    backups = [tmp_path / f"{number}.backup" for number in range(2)]
    stop, stored = threading.Event(), threading.Semaphore(0)

    def answer(visitor):
        page, choices = visitor.path, cycle(["left", "right"])
        while not stop.is_set():
            visitor.send(choice=next(choices))
            stored.release()
            visitor.open(page)

    threads = [threading.Thread(target=answer, args=(visitor,)) for visitor in visitors]
    for thread in threads:
        thread.start()
    bounds = []
    for file in backups:
        while stored.acquire(blocking=False):
            pass
        for _ in [*visitors, *visitors]:  # up to one of each visitor may have been counted before
            stored.acquire()
        before = count(made.database, Judgment.id)
        back_up(made.database, file)
        bounds.append((before, count(made.database, Judgment.id)))
    stop.set()
    for thread in threads:
        thread.join()

    (tmp_path / "again").mkdir()
    target = open_one(new_url(tmp_path / "again"))
    for file, (before, after) in zip(backups, bounds, strict=True):
        restore(target, file, force=True)
        assert check_database(target) == []
        assert before <= count(target, Judgment.id) <= after
    assert bounds[-1][1] > bounds[0][0]


@pytest.mark.both_databases
def test_a_restored_database_is_served_on(judged, tmp_path):
    """Keys come back too: the addresses that workers hold stay good."""
    worker = judged.at_pairs("bob")
    back_up(judged.database, tmp_path / "b")
    worker.send(choice="left")
    assert count(judged.database, Worker.id) == 2
    judged.arrive("carla")
    assert count(judged.database, Worker.id) == 3

    restore(judged.database, tmp_path / "b", force=True)
    judged.database.engine.dispose()
    judged.serve()

    assert count(judged.database, Worker.id) == 2
    assert judged.visitor().open(worker.path).status == 200


ODD = "tab\t, line\n, backslash \\N, quote ' and \" and %s, 日本語"


@pytest.mark.both_databases
def test_a_campaign_moves_to_the_other_kind_of_database(
    judged, sqlite_in, postgres_in, tmp_path, monkeypatch, capsys
):
    """Every row as it was, whatever is in it; whoever was at work goes on, and new workers are numbered after the old."""
    worker = judged.at_pairs(ODD.replace("\n", " "))
    with transaction(judged.database, write=True) as session:
        session.add_all([Setting(name="odd", value=ODD), Setting(name="number", value="007")])
    everything = judged.everything()
    back_up(judged.database, tmp_path / "b")
    judged.database.engine.dispose()
    (tmp_path / "other").mkdir()
    judged.url = (postgres_in if judged.database.is_sqlite else sqlite_in)(tmp_path / "other")

    moved = run_here(monkeypatch, capsys, "db", "restore", tmp_path / "b", "--database", judged.url)

    assert moved.code == 0, moved.err
    judged.serve()
    with transaction(judged.database, write=True) as session:
        assert [act.what for act in session.scalars(select(AuditEntry))] == ["restore a backup"]
        session.execute(delete(AuditEntry))
    assert judged.everything() == everything
    assert worker.path == judged.visitor().open(worker.path).path
    assert judged.judge_all(judged.at_pairs("carla")).send().step == "done"
    assert count(judged.database, Worker.id) == 3
    assert check_database(judged.database) == []


def test_a_backup_is_never_overwritten_unasked_and_only_its_owner_reads_it(judged, tmp_path):
    """It holds platform ids and keys; an older one may be the last good one."""
    file = tmp_path / "b"
    back_up(judged.database, file)
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match=r"already exists; choose another name, or replace it with --force"):
        back_up(judged.database, file)
    back_up(judged.database, file, force=True)
    assert [path.name for path in tmp_path.iterdir() if ".part" in path.name] == []


@ON_SQLITE
def test_a_backup_that_cannot_be_written_leaves_nothing(judged, tmp_path):
    """A folder that is not there, and a database that is damaged."""
    with pytest.raises(InputError, match=r"none/b.*cannot be written \(No such file or directory\)"):
        back_up(judged.database, tmp_path / "none" / "b")
    with sqlite3.connect(judged.url.removeprefix("sqlite:///")) as connection:
        connection.execute("DELETE FROM showing")
    connection.close()
    with pytest.raises(InputError, match=r"is damaged \(row \d+ of judgment refers to a row of showing"):
        back_up(judged.database, tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_nothing_is_restored_over_studies_unless_forced(judged, tmp_path):
    """Replacing a campaign must be meant."""
    back_up(judged.database, tmp_path / "b")
    with pytest.raises(
        InputError, match=r"there are studies in .* already; name another database, or replace"
    ):
        restore(judged.database, tmp_path / "b")


@pytest.mark.both_databases
def test_tables_without_a_study_are_replaced_unasked_and_those_of_others_never(
    judged, new_url, open_one, tmp_path
):
    """A database that was only prepared is as good as empty; another program's is nobody's to replace."""
    back_up(judged.database, tmp_path / "b")
    (tmp_path / "new").mkdir()
    target = open_one(new_url(tmp_path / "new"))
    migrate(target)
    restore(target, tmp_path / "b")
    assert count(target, Worker.id) == 1
    with transaction(target, write=True) as session:
        session.execute(text("DROP TABLE alembic_version"))
    with pytest.raises(InputError, match=r"the tables in .* are not prefcal's"):
        restore(target, tmp_path / "b", force=True)


@ON_SQLITE
def test_nothing_is_restored_under_a_running_server(judged, tmp_path):
    """The server would write on into a file that is gone."""
    back_up(judged.database, tmp_path / "b")
    with serving_lock(judged.url), pytest.raises(InputError, match="is being served already"):
        restore(judged.database, tmp_path / "b", force=True)


def test_a_mistyped_folder_is_not_made(judged, tmp_path, open_one):
    """Whoever restores or serves there would look for the campaign elsewhere."""
    back_up(judged.database, tmp_path / "b")
    address = f"sqlite:///{tmp_path / 'none' / 'x.sqlite3'}"
    with pytest.raises(InputError, match=r"none is not a folder; make it, or name another path"):
        restore(open_one(address), tmp_path / "b")
    assert not (tmp_path / "none").exists()


@ON_SQLITE
def test_nothing_is_restored_while_another_command_uses_the_file(judged, open_one, tmp_path):
    """Two files under one name would share a log."""
    back_up(judged.database, tmp_path / "b")
    other = open_one(judged.url)
    with transaction(other, write=False) as session:
        session.scalar(select(func.count(Worker.id)))
        with pytest.raises(InputError, match=r"cannot be replaced now \(database is locked\)"):
            restore(judged.database, tmp_path / "b", force=True)


@ON_SQLITE
@pytest.mark.parametrize("left", [("", "-wal"), ("-wal",)])
def test_a_log_left_by_a_crash_is_not_played_into_the_restored_file(judged, tmp_path, open_one, left):
    """SQLite would take the old log for the new file's, also when the old file itself was deleted."""
    back_up(judged.database, tmp_path / "b")
    file = judged.url.removeprefix("sqlite:///")
    with transaction(judged.database, write=True) as session:
        session.add(Setting(name="after", value="1"))
    crashed = tmp_path / "crashed.sqlite3"
    for suffix in left:
        shutil.copy(f"{file}{suffix}", f"{crashed}{suffix}")

    restore(open_one(f"sqlite:///{crashed}"), tmp_path / "b", force=True)

    restored = open_one(f"sqlite:///{crashed}")
    with transaction(restored, write=False) as session:
        assert session.get(Setting, "after") is None
    assert check_database(restored) == []


@ON_SQLITE
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"notes", "is not a backup; name a file that prefcal db backup made"),
        (b"SQLite format 3\x00" + b"x" * 5000, "is damaged"),
        (b"PGDMP" + b"x" * 50, "pg_restore failed"),
    ],
)
def test_what_is_no_backup_is_said_before_anything_changes(judged, tmp_path, content, message):
    """The database is as it was."""
    (tmp_path / "b").write_bytes(content)
    with pytest.raises(InputError, match=message):
        restore(judged.database, tmp_path / "b", force=True)
    assert count(judged.database, Worker.id) == 1


@pytest.mark.both_databases
def test_a_backup_of_a_newer_prefcal_is_refused(judged, tmp_path):
    """This one would not know what it must not break."""
    with transaction(judged.database, write=True) as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    back_up(judged.database, tmp_path / "b")
    with transaction(judged.database, write=True) as session:
        session.execute(text(f"UPDATE alembic_version SET version_num = '{NEWEST}'"))
    with pytest.raises(PrefcalError, match=r"b was written by a newer prefcal \(version 9999\)"):
        restore(judged.database, tmp_path / "b", force=True)


@ON_POSTGRESQL
def test_postgresql_is_restored_only_when_nobody_uses_it(judged, tmp_path, open_one):
    """There is no lock file: the server's own list of connections tells."""
    back_up(judged.database, tmp_path / "b")
    with transaction(judged.database, write=False) as session:
        session.scalar(select(func.count(Worker.id)))
        with pytest.raises(InputError, match=r"is in use \(\d+ connections\); stop prefcal serve"):
            restore(open_one(judged.url), tmp_path / "b", force=True)


@ON_POSTGRESQL
def test_postgresqls_programs_are_named_when_they_are_missing(judged, tmp_path, monkeypatch):
    """They come with the system, not with prefcal."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        InputError, match="pg_dump is not installed here; install PostgreSQL's client programs"
    ):
        back_up(judged.database, tmp_path / "b")


def test_the_password_reaches_postgresqls_programs_in_the_environment_only(tmp_path, monkeypatch, open_one):
    """A list of processes shows arguments to everybody."""
    program = tmp_path / "pg_dump"
    program.write_text('#!/bin/sh\necho "$@" >&2; test "$PGPASSWORD" = "s cret" && exit 3; exit 4\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(
        "study_app.store.backups.backup.is_empty", lambda database: False
    )  # there is no server to ask
    database = open_one("postgresql://ann:s%20cret@db.example/study")
    with pytest.raises(InputError, match=r"--dbname=host=db\.example.*user=ann") as caught:
        back_up(database, tmp_path / "b")
    assert "cret" not in str(caught.value)


@ON_SQLITE
def test_the_commands_say_what_they_did(judged, tmp_path, monkeypatch, capsys):
    """Each in a line, with the versions."""
    database, copy = judged.url, f"sqlite:///{tmp_path / 'copy.sqlite3'}"
    judged.database.engine.dispose()
    backed = run_here(monkeypatch, capsys, "db", "backup", tmp_path / "b", "--database", database)
    assert (backed.code, backed.err) == (0, "")
    assert f"backed up {database.removeprefix('sqlite:///')} to {tmp_path / 'b'} (" in backed.out
    restored = run_here(monkeypatch, capsys, "db", "restore", tmp_path / "b", "--database", copy)
    assert restored.out == f"restored {tmp_path / 'b'} to {tmp_path / 'copy.sqlite3'} (version {NEWEST})\n"
    upgraded = run_here(monkeypatch, capsys, "db", "upgrade", "--database", copy)
    assert upgraded.out == f"{tmp_path / 'copy.sqlite3'}: is at version {NEWEST} already\n"
    whole = run_here(monkeypatch, capsys, "db", "check", "--database", copy)
    assert whole.out == f"{tmp_path / 'copy.sqlite3'} is whole\n"


@pytest.mark.both_databases
def test_a_backup_that_lost_a_bit_is_refused(judged, new_url, tmp_path):
    """On a disk, or on its way to another machine; SQLite itself would not see it inside an answer."""
    file = tmp_path / "backup"
    back_up(judged.database, file)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)

    with pytest.raises(InputError, match="the checksum does not match"):
        restore(judged.database, file, force=True)
    assert count(judged.database, Worker.id) == 1


def test_what_postgresqls_programs_say_of_a_strange_file_is_shown_whatever_bytes_it_quotes(
    open_one, tmp_path
):
    """They quote the file, which need not be UTF-8."""
    program = tmp_path / "pg_restore"
    program.write_text("#!/bin/sh\nprintf 'pg_restore: error: \\377\\376 is wrong\\n' >&2\nexit 1\n")
    program.chmod(0o700)
    (tmp_path / "file").write_bytes(b"PGDMP\xff\xfe")

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
        with pytest.raises(InputError, match="pg_restore failed"):
            restore(open_one(f"sqlite:///{tmp_path / 'new.sqlite3'}"), tmp_path / "file")
