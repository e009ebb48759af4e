"""The database: durable settings, one place that commits, migrations, and two writers at once."""

import sqlite3
import stat
import threading
from contextlib import suppress

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError, InternalError

from metrics.errors import InputError, PrefcalError
from study_app.cli.doctor import OK, file_rights
from study_app.config import database_url, parsed_address
from study_app.store import server_connections
from study_app.store.database import (
    METADATA,
    is_empty,
    migrate,
    open_database,
    shown_address,
    transaction,
)
from study_app.store.models import Setting

ON_SQLITE = pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)
ON_POSTGRESQL = pytest.mark.parametrize("new_url", ["postgresql"], indirect=True)


@pytest.fixture
def database(tmp_path, new_url):
    opened = open_database(new_url(tmp_path))
    migrate(opened)
    yield opened
    opened.engine.dispose()


@ON_SQLITE
def test_every_acknowledged_answer_is_on_disk(database):
    """WAL with synchronous FULL (2) survives a power cut; foreign keys are off in SQLite unless asked for."""
    with transaction(database, write=False) as session:
        pragmas = {
            name: session.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
        assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
        assert session.scalar(text("PRAGMA busy_timeout")) >= 5_000


@ON_SQLITE
def test_a_new_file_and_those_beside_it_are_for_their_owner_alone(database, tmp_path):
    """They hold platform ids and the key that signs addresses; and the doctor has nothing to say of them."""
    with transaction(database, write=True) as session:
        session.add(Setting(name="a", value="1"))
        files = sorted(tmp_path.iterdir())
        assert [file.name for file in files] == [f"test.sqlite3{end}" for end in ("", "-shm", "-wal")]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    tmp_path.chmod(0o755)
    assert file_rights(tmp_path / "test.sqlite3").state == OK


def test_the_rights_of_a_file_that_is_there_are_its_owners_choice(tmp_path):
    """A group that backs it up may go on reading it."""
    file = tmp_path / "shared.sqlite3"
    file.touch()
    file.chmod(0o640)
    opened = open_database(f"sqlite:///{file}")
    migrate(opened)
    opened.engine.dispose()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_block_that_raises_leaves_nothing(database):
    """Half a use case is never stored."""

    def store_and_fail():
        with transaction(database, write=True) as session:
            session.add(Setting(name="a", value="1"))
            session.flush()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        store_and_fail()
    with transaction(database, write=False) as session:
        assert session.scalars(select(Setting)).all() == []


def test_a_reading_block_never_stores(database):
    """Showing a page writes nothing; PostgreSQL even refuses to try."""
    with suppress(InternalError), transaction(database, write=False) as session:
        session.add(Setting(name="a", value="1"))
        session.flush()
    with transaction(database, write=False) as session:
        assert session.scalars(select(Setting)).all() == []


def test_a_reader_sees_one_state_while_somebody_writes(database):
    """Readers wait for nobody, and no page mixes before and after."""
    with transaction(database, write=False) as reader:
        assert reader.scalars(select(Setting.name)).all() == []
        with transaction(database, write=True) as writer:
            writer.add(Setting(name="a", value="1"))
        assert reader.scalars(select(Setting.name)).all() == []


@ON_SQLITE
def test_writers_in_two_processes_wait_for_each_other(tmp_path, database):
    """BEGIN IMMEDIATE: what a writer has read cannot change before it writes, so counts add up."""
    other = open_database(f"sqlite:///{tmp_path / 'test.sqlite3'}")
    with transaction(database, write=True) as session:
        session.add(Setting(name="count", value="0"))

    def add(which):
        for _ in range(50):
            with transaction(which, write=True) as session:
                row = session.get_one(Setting, "count")
                row.value = str(int(row.value) + 1)

    threads = [threading.Thread(target=add, args=(one,)) for one in (database, database, other, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with transaction(database, write=False) as session:
        assert session.get_one(Setting, "count").value == "200"
    other.engine.dispose()


@ON_SQLITE
def test_a_connection_that_has_written_reads_again_while_another_writes(tmp_path, database):
    """It comes back to the pool; who gets it next to read must not ask for the writer's turn."""
    with transaction(database, write=True) as session:
        session.add(Setting(name="a", value="1"))
    other = sqlite3.connect(tmp_path / "test.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with transaction(database, write=False) as reader:
        assert reader.scalars(select(Setting.name)).all() == ["a"]
    other.close()


@ON_POSTGRESQL
def test_what_is_read_again_and_again_is_prepared_once(database):
    """The driver prepares what came five times, and forgets it all with a rollback: so a read ends in none."""
    for _ in range(8):
        with transaction(database, write=False) as session:
            session.scalars(select(Setting)).all()
    with transaction(database, write=False) as session:
        prepared = session.scalars(text("SELECT statement FROM pg_prepared_statements")).all()
    assert [statement.split()[:2] for statement in prepared if "FROM setting" in statement] == [
        ["SELECT", "setting.name,"]
    ]


@ON_POSTGRESQL
@pytest.mark.parametrize(("impatient", "plan"), [(True, "Index Scan"), (False, "Seq Scan")])
def test_pages_look_rows_up_by_an_index_also_in_what_was_small_when_the_server_looked(
    database, impatient, plan
):
    """To read a whole table is right while it has two rows, and the server keeps its plan while thousands are added."""
    with transaction(database, write=True) as session:
        session.add_all([Setting(name=name, value="1") for name in "ab"])
        session.flush()
        session.execute(text("ANALYZE setting"))
    pages = open_database(database.engine.url.render_as_string(hide_password=False), impatient=impatient)
    with transaction(pages, write=False) as session:
        planned = session.scalars(text("EXPLAIN SELECT value FROM setting WHERE name = 'b'")).all()
    pages.engine.dispose()
    assert plan in planned[0]


@ON_POSTGRESQL
def test_a_server_of_pages_has_its_statements_planned_anew_every_few_seconds(database, monkeypatch):
    """A plan is for tables of the size that they had; here what changes is what a plan may use."""
    pages = open_database(database.engine.url.render_as_string(hide_password=False), impatient=True)

    def said(*statements):
        with transaction(pages, write=False) as session:
            return [session.execute(text(one)) for one in statements][-1]

    def plan():
        return said("EXPLAIN EXECUTE found").scalars().first()

    said("PREPARE found AS SELECT value FROM setting WHERE name = 'a'")
    assert "Index Scan" in plan()
    said("SET enable_seqscan = on", "SET enable_indexscan = off", "SET enable_bitmapscan = off")
    assert "Index Scan" in plan()
    monkeypatch.setattr(server_connections, "PLAN_SECONDS", 0)
    assert "Seq Scan" in plan()
    pages.engine.dispose()


def test_constraints_are_the_databases_own(database):
    """Even a programming error cannot store half a pair."""
    with pytest.raises(IntegrityError), transaction(database, write=True) as session:
        session.execute(
            text("INSERT INTO pair (topic_id, system_a_id, system_b_id, name) VALUES (1, 1, 1, 'x')")
        )


def test_migrations_make_what_the_models_say(database):
    """No drift between the two."""
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []


def test_migrating_again_changes_nothing(database):
    """Every command that opens a database does it."""
    migrate(database)
    assert not is_empty(database)


def test_a_newer_database_is_refused(database):
    """An older program would not know what it must not break."""
    with transaction(database, write=True) as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(PrefcalError, match=r" was written by a newer prefcal \(version 9999\)"):
        migrate(database)


def test_an_older_database_is_refused_with_the_way_on(database):
    """Versions before the first that was published have one way here: through the prefcal before."""
    with transaction(database, write=True) as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0003'"))
    with pytest.raises(
        PrefcalError,
        match=r" was written by an older prefcal \(version 0003\); upgrade it with the prefcal before this one",
    ):
        migrate(database)


def test_asking_whether_a_database_is_empty_makes_none(tmp_path):
    """A mistyped name leaves no file behind."""
    opened = open_database(f"sqlite:///{tmp_path / 'none.sqlite3'}")
    assert is_empty(opened)
    assert list(tmp_path.iterdir()) == []
    opened.engine.dispose()


def test_a_file_that_is_no_database_is_a_plain_fault(tmp_path):
    """Not a traceback of the driver."""
    (tmp_path / "notes.txt").write_text("these are my notes, not a database\n" * 100)
    opened = open_database(f"sqlite:///{tmp_path / 'notes.txt'}")
    for use in (is_empty, migrate):
        with pytest.raises(InputError, match=r"notes\.txt cannot be used"):
            use(opened)
    opened.engine.dispose()


@pytest.mark.parametrize("url", ["nonsense://x", "postgresql+nodriver://a:secret@h/d"])
def test_an_address_of_no_database_is_a_plain_fault_without_its_password(url):
    """A typing error in --database must not print a password."""
    with pytest.raises(InputError) as caught:
        open_database(url)
    assert "secret" not in str(caught.value)


def test_the_database_is_named_by_option_else_environment_else_default(tmp_path, monkeypatch):
    """--database, PREFCAL_DATABASE_URL, prefcal.sqlite3 here; a bare path is a SQLite file."""
    monkeypatch.chdir(tmp_path)
    variable = {"PREFCAL_DATABASE_URL": "postgresql://h/d"}
    assert database_url("a.db", variable) == f"sqlite:///{tmp_path}/a.db"
    assert database_url("sqlite:///a.db", variable) == f"sqlite:///{tmp_path}/a.db"
    assert database_url("sqlite:////x/a.db", variable) == "sqlite:////x/a.db"
    assert database_url(None, variable) == "postgresql://h/d"
    assert database_url(None, {}) == f"sqlite:///{tmp_path}/prefcal.sqlite3"


def test_an_address_is_shown_as_it_was_written():
    """Without what a server of pages adds to it, so that a connection that has gone is noticed soon."""
    database = open_database("postgresql://ann:secret@db.example.org/study?sslmode=require", impatient=True)
    shown = shown_address(database.engine.url)
    assert "connect_timeout" in database.engine.url.query
    assert shown == "postgresql://ann:***@db.example.org/study?sslmode=require"


@pytest.mark.parametrize(
    ("address", "hosts", "ports"),
    [
        ("postgresql://ann:a,b@one:5432,two:5433/study", "one,two", "5432,5433"),
        ("postgresql://[::1]:5432,two/study", "::1,two", "5432,"),
    ],
)
def test_an_address_may_name_several_servers_and_asks_for_the_one_that_can_be_written(address, hosts, ports):
    """As PostgreSQL's own tools write it; what is shown of it is an address too, without the password."""
    parsed = parsed_address(address)
    assert (parsed.host, parsed.port, parsed.database) == (None, None, "study")
    assert dict(parsed.query) == {"target_session_attrs": "read-write", "host": hosts, "port": ports}
    shown = shown_address(address)
    assert "a,b" not in shown
    assert parsed_address(shown).query == parsed.query
    anyone = parsed_address(f"{address}?target_session_attrs=any")
    assert anyone.query["target_session_attrs"] == "any"


@pytest.mark.parametrize("address", ["postgresql://one:port/study", "postgresql://one:1,two:x/study", "a"])
def test_what_is_no_address_is_said_without_repeating_it(address):
    """There may be a password in it."""
    with pytest.raises(InputError, match=r"^this is not the address of a database; write"):
        open_database(address)
