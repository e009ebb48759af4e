"""Writers of one SQLite file share commits: each is told the truth about its own work."""

import sqlite3
import threading
import time
from contextlib import suppress

import pytest
from sqlalchemy import event, select, text
from sqlalchemy.exc import DatabaseError, IntegrityError

from study_app.store.database import migrate, open_database, transaction
from study_app.store.models import Setting


@pytest.fixture
def database(tmp_path):
    """An empty database."""
    opened = open_database(f"sqlite:///{tmp_path / 'shared.sqlite3'}")
    migrate(opened)
    yield opened
    opened.engine.dispose()


def stored(database):
    """Return what is on the disk, as another process sees it."""
    with sqlite3.connect(database.engine.url.database) as other:
        return {name for (name,) in other.execute("SELECT name FROM setting")}


def crowd(database, works):
    """Run each work in a thread of its own, all at once; return what each was told."""
    told, ready = {}, threading.Barrier(len(works))

    def write(name, work):
        ready.wait()
        try:
            with transaction(database, write=True) as session:
                work(session, name)
        except (DatabaseError, sqlite3.Error, ValueError) as error:
            told[name] = error
        else:
            told[name] = "stored"
            assert name in stored(database)

    threads = [threading.Thread(target=write, args=item) for item in works.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    return told


def add(session, name):
    session.add(Setting(name=name, value="x"))


def slow_commits(database, seen, *, fails=False):
    """Note every commit, and let it take as long as a disk may; or fail as a full one does."""

    def on_commit(connection):
        seen.append(time.monotonic())
        time.sleep(0.02)
        if fails:
            raise sqlite3.OperationalError("database or disk is full")

    event.listen(database.engine, "commit", on_commit)


def test_writers_that_are_there_at_once_share_commits(database):
    """Forty writers need far fewer than forty commits; when a writer is told, its row is on the disk."""
    commits = []
    slow_commits(database, commits)
    names = [f"w{number}" for number in range(40)]
    told = crowd(database, dict.fromkeys(names, add))
    assert told == dict.fromkeys(names, "stored")
    assert set(names) <= stored(database)
    assert len(commits) <= 20


def test_a_writer_that_fails_takes_nobody_with_it(database):
    """Its own rows are gone, those of the writers around it are there."""

    def add_and_fail(session, name):
        add(session, name)
        session.flush()
        raise ValueError(name)

    works = {f"w{number}": add_and_fail if number % 3 == 0 else add for number in range(12)}
    told = crowd(database, works)
    good = {name for name, work in works.items() if work is add}
    assert {name for name, said in told.items() if said == "stored"} == good
    assert stored(database) & set(works) == good


def test_a_commit_that_fails_is_told_to_everybody_who_shared_it(database):
    """Nobody is told that something is stored which is not."""
    slow_commits(database, [], fails=True)
    told = crowd(database, {f"w{number}": add for number in range(8)})
    assert all(isinstance(said, sqlite3.Error | DatabaseError) for said in told.values())
    assert not stored(database) & set(told)


def test_a_transaction_that_sqlite_gave_up_is_told_to_everybody_who_was_in_it(database):
    """A full disk ends the whole transaction, also the part of writers who were done with theirs."""
    inside, go_on = threading.Event(), threading.Event()
    told = {}

    def first():
        with transaction(database, write=True) as session:
            add(session, "first")

    def second():
        with transaction(database, write=True) as session:
            inside.set()
            go_on.wait(timeout=30)
            session.execute(text("ROLLBACK"))
            raise ValueError("as SQLite does it")

    def run(name, work):
        try:
            work()
        except (DatabaseError, ValueError) as error:
            told[name] = type(error).__name__

    shared = database.shared
    shared._turn.take()  # both are waiting when the first turn begins
    threads = [threading.Thread(target=run, args=(work.__name__, work)) for work in (first, second)]
    threads[0].start()
    until(lambda: len(shared._turn._waiting) == 1)
    threads[1].start()
    until(lambda: len(shared._turn._waiting) == 2)
    shared._turn.hand_on()
    assert inside.wait(timeout=30)
    go_on.set()
    for thread in threads:
        thread.join(timeout=30)
    assert set(told) == {"first", "second"} or ("first" not in told and "first" in stored(database))
    assert "second" in told
    with transaction(database, write=True) as session:
        add(session, "after")
    assert "after" in stored(database)


@pytest.mark.parametrize("others", [0, 1], ids=["alone", "second"])
def test_a_writer_who_goes_on_after_a_refusal_is_not_told_that_it_is_stored(database, others):
    """The database takes back more than the refused row; a block that swallows the error would lose the rest in silence."""
    told = {}

    def careless():
        with transaction(database, write=True) as session:
            add(session, "before")
            session.flush()
            with suppress(IntegrityError):
                add(session, "before")
                session.flush()

    def run():
        try:
            careless()
        except RuntimeError as error:
            told["careless"] = str(error)

    def good():
        with transaction(database, write=True) as session:
            add(session, "good")

    shared = database.shared
    shared._turn.take()
    works = [*[good] * others, run]
    threads = [threading.Thread(target=work) for work in works]
    for number, thread in enumerate(threads, start=1):
        thread.start()
        until(lambda number=number: len(shared._turn._waiting) == number)
    shared._turn.hand_on()
    for thread in threads:
        thread.join(timeout=30)
    assert "went on after the database refused" in told["careless"]
    assert stored(database) & {"before", "good"} == ({"good"} if others else set())


def test_a_lonely_writer_that_fails_leaves_the_file_free(database):
    """Another process can write at once."""

    def lose():
        with transaction(database, write=True) as session:
            add(session, "lost")
            session.flush()
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        lose()
    with sqlite3.connect(database.engine.url.database, timeout=0) as other:
        other.execute("INSERT INTO setting VALUES ('other', 'x')")
    with transaction(database, write=False) as session:
        assert "lost" not in session.scalars(select(Setting.name)).all()


def until(condition):
    """Wait until something holds."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)
