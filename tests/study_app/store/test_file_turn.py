"""Processes that write one SQLite file take turns, and nothing but the order hangs on that."""

import errno
import multiprocessing
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

import study_app.store.writer_lock
from study_app.store.database import migrate, open_database, transaction
from study_app.store.models import Setting
from study_app.store.writer_lock import FileTurn

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="one process serves a file on Windows")
HOLDER = """
import sys
from study_app.store.writer_lock import FileTurn
FileTurn(sys.argv[1]).acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def file(tmp_path):
    """Path of a database that need not exist."""
    return str(tmp_path / "study.sqlite3")


def holder(file):
    """Start a process that has the turn."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    return process


def opened(file):
    """Open a database as one of several processes that serve it."""
    database = open_database(f"sqlite:///{file}")
    migrate(database)
    database.shared.take_turns_with(FileTurn(str(file)))
    return database


def taken(turn):
    """Begin to take a turn; returns an event that says when it was taken."""
    has_it = threading.Event()

    def take():
        turn.acquire()
        has_it.set()

    threading.Thread(target=take, daemon=True).start()
    return has_it


def test_the_turn_goes_on_when_its_holder_is_killed(file):
    """The system frees it: nobody has to delete a file by hand."""
    other, turn = holder(file), FileTurn(file)
    has_it = taken(turn)
    assert not has_it.wait(0.3)
    other.kill()
    assert has_it.wait(30)
    turn.hand_on()
    other.communicate()


def test_a_turn_that_is_handed_on_is_free(file):
    """Also for this process again, and handing on twice hands nothing of others on."""
    first, second = FileTurn(file), FileTurn(file)
    first.acquire()
    first.hand_on()
    first.hand_on()
    second.acquire()
    first.hand_on()
    assert not taken(first).wait(0.3)
    second.hand_on()


def test_a_process_that_is_made_of_another_has_a_turn_of_its_own(file):
    """A server's processes are copies of one that wrote before; they must not share its turn."""
    turn = FileTurn(file)
    turn.acquire()
    context = multiprocessing.get_context("fork")
    waiting, has_it = context.Event(), context.Event()

    def take():
        mine = FileTurn(file)
        waiting.set()
        mine.acquire()
        has_it.set()

    child = context.Process(target=take)
    child.start()
    assert waiting.wait(30)
    assert not has_it.wait(0.3)
    turn.hand_on()
    assert has_it.wait(30)
    child.join(30)


def test_who_waits_for_a_long_writer_does_not_give_up(file):
    """The line has no end of patience; SQLite's own would be over after ten seconds."""
    database = opened(file)
    other = holder(file)

    def write():
        with transaction(database, write=True) as session:
            session.add(Setting(name="patient", value="1"))

    writer = threading.Thread(target=write)
    writer.start()
    time.sleep(0.3)
    with sqlite3.connect(file) as reader:
        assert reader.execute("SELECT count(*) FROM setting").fetchone() == (0,)
    other.communicate("")
    writer.join(30)
    with sqlite3.connect(file) as reader:
        assert reader.execute("SELECT name FROM setting").fetchall() == [("patient",)]
    database.engine.dispose()


def test_where_the_file_cannot_be_made_sqlite_keeps_the_order(tmp_path):
    """A file that cannot be opened is no reason to lose an answer."""
    file = tmp_path / "study.sqlite3"
    (tmp_path / "study.sqlite3.writing").symlink_to(tmp_path / "nowhere" / "x")
    database = opened(file)
    with transaction(database, write=True) as session:
        session.add(Setting(name="kept", value="1"))
    with sqlite3.connect(file) as reader:
        assert reader.execute("SELECT name FROM setting").fetchall() == [("kept",)]
    database.engine.dispose()


def test_a_turn_that_cannot_be_freed_keeps_no_writer_waiting(file, monkeypatch):
    """What a file system says of its locks is no reason to lose an answer, or to tell nobody that it is stored."""
    database = opened(file)
    real = study_app.store.writer_lock.fcntl.flock

    def refuse(descriptor, operation):
        if operation == study_app.store.writer_lock.fcntl.LOCK_UN:
            raise OSError(errno.ENOLCK, "no locks")
        real(descriptor, operation)

    monkeypatch.setattr("study_app.store.writer_lock.fcntl.flock", refuse)
    for name in ("first", "second"):
        with transaction(database, write=True) as session:
            session.add(Setting(name=name, value="1"))
    database.engine.dispose()


def test_commands_beside_a_server_make_no_file(tmp_path):
    """They hold no turn, so that one that hangs keeps no worker waiting for longer than SQLite's own patience."""
    database = open_database(f"sqlite:///{tmp_path / 'study.sqlite3'}")
    migrate(database)
    database.engine.dispose()
    assert [file.name for file in tmp_path.iterdir()] == ["study.sqlite3"]
