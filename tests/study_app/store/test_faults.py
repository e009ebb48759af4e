"""What workers see when the disk is full, cannot be written, or the clock is set back; and what is stored then."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import event, func, select

from study_app.store import database
from study_app.store.check import check_database
from study_app.store.models import Judgment, StoredEvent, Worker
from study_app.web.app import LOGGER


@pytest.fixture
def study(campaign):
    """A study without search."""
    return campaign(task={"search_seconds": 0})


@contextmanager
def on_every_connection(study, pragma: str, *, back: str) -> Iterator[None]:
    """Set something on each connection to SQLite that is used in the block, and set it back afterwards."""
    engine = study.database.engine

    def prepare(connection, *_):
        connection.execute(f"PRAGMA {pragma}")

    def undo(connection, *_):
        connection.execute(f"PRAGMA {back}")

    event.listen(engine, "checkout", prepare)
    yield
    event.remove(engine, "checkout", prepare)
    event.listen(engine, "checkout", undo)


@contextmanager
def with_statements(study, *statements: str, back: str) -> Iterator[None]:
    """Run statements on PostgreSQL before the block and one after it; connections see them when they are new."""
    for moment in (statements, (back,)):
        with study.database.engine.begin() as connection:
            connection.exec_driver_sql("SET TRANSACTION READ WRITE")
            for statement in moment:
                connection.exec_driver_sql(statement)
        study.database.engine.dispose()
        if moment is statements:
            yield


def full_disk(study):
    """A disk without room for events; PostgreSQL is made to say what it says then."""
    if study.database.is_sqlite:
        return on_every_connection(study, "max_page_count = 1", back="max_page_count = 1000000")
    says = "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'"
    return with_statements(
        study,
        f"CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {says}; END $$",
        "CREATE TRIGGER full_disk BEFORE INSERT ON event EXECUTE FUNCTION full_disk()",
        back="DROP FUNCTION full_disk CASCADE",
    )


def read_only(study):
    """A file system without the right to write; a server that was told to take nothing, as a standby."""
    if study.database.is_sqlite:
        return on_every_connection(study, "query_only = ON", back="query_only = OFF")
    setting = f"ALTER DATABASE {study.database.engine.url.database} SET default_transaction_read_only"
    return with_statements(study, f"{setting} = on", back=f"{setting} = off")


def batch(ann, first, size):
    events = [
        {"n": n, "kind": "choice", "ms": n, "wall": n, "choice": "left"} for n in range(first, first + size)
    ]
    return {"page": ann.page_token, "sent_ms": 0, "sent_wall_ms": 0, "events": events}


@pytest.mark.both_databases
def test_a_full_disk_is_said_and_what_was_sent_can_be_sent_again(study):
    """Events are not acknowledged, so the page keeps them; nothing of the batch is stored, and later all of it is."""
    ann = study.at_pairs()
    address = f"/e/{ann.token}"
    with full_disk(study):
        refused = ann.client.post(address, json=batch(ann, 1, 500))
        assert refused.status_code == 503
        assert refused.headers["Retry-After"] == "30"
        assert refused.json["error"] == "unavailable"
        assert study.rows(select(func.count()).select_from(StoredEvent)) == [(0,)]
    assert ann.client.post(address, json=batch(ann, 1, 500)).json == {"upto": 500}
    assert study.rows(select(func.count()).select_from(StoredEvent)) == [(500,)]


@pytest.mark.both_databases
def test_a_disk_that_cannot_be_written_keeps_the_form_usable(study, caplog):
    """A plain page with a reference, in the browser's language, says what to do; the same form is taken as soon as it can be."""
    caplog.set_level(logging.ERROR, LOGGER.name)
    ann = study.at_pairs()
    form, address = ann.form(), ann.path
    with read_only(study):
        assert ann.client.get("/readyz").status_code == 503
        ann.send(form=form, to=address, choice="equally_bad")
        assert ann.status == 503
        assert "Nothing can be saved just now" in ann.text
        assert "Reference:" in ann.text
        japanese = ann.client.post(address, data=form, headers={"Accept-Language": "ja,en;q=0.5"}).text
        assert 'lang="ja"' in japanese
        assert "Nothing can be saved" not in japanese
        assert ann.open(address).status == 200
    ann.send(form=form, to=address, choice="equally_bad")
    assert study.rows(select(Judgment.choice)) == [("equally_bad",)]
    assert re.search("readonly database|read-only transaction", caplog.text)
    assert "equally_bad" not in caplog.text


@pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)
def test_with_little_room_left_nobody_new_comes_in_and_those_inside_go_on(study, monkeypatch):
    """Said before consent; a full disk would take the answers of everybody. A database server's disk cannot be seen."""
    ann = study.at_pairs()
    monkeypatch.setattr(database, "free_bytes", lambda _folder: database.FULL_BYTES - 1)
    bob = study.arrive("bob")
    assert (bob.status, "little room left" in bob.text) == (503, True)
    study.judge_all(ann).send()
    assert ann.step == "done"
    assert study.rows(select(func.count()).select_from(Worker)) == [(1,)]
    monkeypatch.setattr(database, "free_bytes", lambda _folder: database.FULL_BYTES)
    assert study.arrive("bob").step == "consent"


@pytest.mark.parametrize("hours", [1 / 3600, 1, 24 * 400])
def test_a_clock_that_is_set_back_changes_no_answer(study, hours):
    """Answers are stored, no duration is negative, and nobody seems to have answered after the end."""
    ann = study.at_pairs()
    ann.send(choice="left")
    study.clock.forward(20)
    ann.send(choice="left")
    study.clock.forward(-3600 * hours)
    assert ann.client.post(f"/e/{ann.token}", json=batch(ann, 1, 3)).json == {"upto": 3}
    study.judge_all(ann).send()
    assert ann.step == "done"
    assert ann.open(ann.home).step == "done"
    judged = study.rows(select(Judgment.choice, Judgment.decision_ms, Judgment.timing))
    assert len(judged) == 4
    assert all(milliseconds >= 0 for _, milliseconds, _ in judged)
    assert check_database(study.database) == []
