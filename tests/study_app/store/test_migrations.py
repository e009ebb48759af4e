"""Databases of earlier versions of the tables: opened, with all that is in them, by this one."""

import gzip
import os
import re
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, select

from metrics.errors import PrefcalError
from study_app.config import Config
from study_app.protocol.sides import Side
from study_app.protocol.streams import UpdateStream
from study_app.store.backups.backup import back_up, restore
from study_app.store.check import check_database
from study_app.store.database import (
    drift,
    known_versions,
    migrate,
    migrations,
    open_database,
    stored_version,
    transaction,
)
from study_app.store.models import StoredSummary, System, Topic
from study_app.store.tokens import seeded_tokens
from study_app.web.app import create_app
from tests.postgres_server import binaries
from tests.study_app.conftest import Campaign

CASTS = re.compile(r"::(character varying|text)(\[\])?|[()]")
"""PostgreSQL writes the casts of a check constraint anew at each dump."""
MIGRATION_0010 = ScriptDirectory.from_config(migrations()).get_revision("0010").module
BACKUPS = Path(__file__).parent / "version_0009"


@pytest.fixture(autouse=True)
def postgres_programs(monkeypatch):
    """The client programs of the server that the tests start."""
    if (folder := binaries()) is not None:
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def schema(engine):
    """Return all that a database says of its tables: columns in order, keys, constraints, indexes."""
    asked = inspect(engine)
    parts = ("unique_constraints", "check_constraints", "foreign_keys", "indexes")
    return {
        table: (
            [str(column) for column in asked.get_columns(table)],
            str(asked.get_pk_constraint(table)),
            [
                sorted(CASTS.sub("", str(found)) for found in getattr(asked, f"get_{part}")(table))
                for part in parts
            ],
        )
        for table in asked.get_table_names()
    }


def contents(database):
    """Return what each system shows of each topic, as it is stored."""
    wanted = select(Topic.name, System.name, StoredSummary.content)
    with transaction(database, write=False) as session:
        return sorted(
            map(
                str,
                session.execute(
                    wanted.select_from(StoredSummary)
                    .join(Topic)
                    .join(System, StoredSummary.system_id == System.id)
                ),
            )
        )


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_database_of_version_0009_opens_and_is_worked_on(kind, campaign, new_url, tmp_path):
    """A backup of then becomes a database with the tables of a new one; whoever was at work goes on."""
    file = tmp_path / "b"
    file.write_bytes(gzip.decompress((BACKUPS / f"{kind}.backup.gz").read_bytes()))
    (tmp_path / "then").mkdir()
    then, new = Campaign(tmp_path / "then", new_url(tmp_path / "then")), campaign()
    target = open_database(then.url)

    assert restore(target, file) == "0009"
    restored, wanted = schema(target.engine), schema(new.database.engine)
    migrate(target)

    assert wanted.keys() - restored == {
        "media",
        "past_text",
        "platform_call",
        "platform_event",
        "platform_order",
        "prolific_study",
        "study_load",
    }
    assert schema(target.engine) == wanted
    assert contents(target) == contents(new.database)
    assert stored_version(target) == known_versions()[-1]
    assert check_database(target) == []
    target.engine.dispose()
    then.clock.forward(1_000)
    then.app = create_app(Config(database=then.url), now=then.clock, new_token=seeded_tokens(3))
    assert (then.progress().arrived, then.progress().completed) == (2, 2)
    then.judge_all(then.at_pairs("carla")).send()
    assert (then.progress().arrived, then.progress().completed) == (3, 3)
    assert check_database(then.database) == []
    with then.database.engine.connect() as connection:
        assert drift(connection) == []
    then.database.engine.dispose()


@pytest.mark.both_databases
def test_a_backup_of_an_earlier_version_is_refused_before_anything_is_written(campaign, new_url, tmp_path):
    """The prefcal before this one can still upgrade it."""
    made = campaign()
    with made.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0008'")
    back_up(made.database, tmp_path / "b")
    (tmp_path / "new").mkdir()
    target = open_database(new_url(tmp_path / "new"))
    with pytest.raises(
        PrefcalError, match=r"b was written by an older prefcal \(version 0008\); upgrade it with"
    ):
        restore(target, tmp_path / "b")
    assert stored_version(target) is None
    target.engine.dispose()


TEXT = {"text": "so it is", "words": 3, "chars": 6}


FORMS = {
    "summary": (
        {"first": [{"kind": "iunit", "id": "u", **TEXT},
                   {"kind": "link", "id": "i", **TEXT, "second": [{"kind": "iunit", "id": "v", **TEXT}]},
                   {"kind": "link", "id": "j", **TEXT, "second": []}]},
        [{"key": "f0", "kind": "iunit", "id": "u", **TEXT},
         {"key": "f1", "kind": "link", "id": "i", **TEXT, "inside": [{"key": "s1.0", "kind": "iunit", "id": "v", **TEXT}]},
         {"key": "f2", "kind": "link", "id": "j", **TEXT}],
    ),
    "answer": (
        {"first": [{"kind": "iunit", "id": "b1", **TEXT, "html": "<p>so it is</p>", "list": [1, "ol", 5]},
                   {"kind": "link", "id": "b1:1", **TEXT, "second": [{"kind": "iunit", "id": "x", **TEXT, "url": "y"}]},
                   {"kind": "link", "id": "b1:2", **TEXT, "second": [{"kind": "iunit", "id": "z", **TEXT, "url": None}]},
                   {"kind": "iunit", "id": "b2", **TEXT, "html": "<p>so it is</p>", "list": None}]},
        [{"key": "f0", "kind": "iunit", "id": "b1", **TEXT, "html": "<p>so it is</p>", "list_place": [1, "ol", 5]},
         {"key": "f1", "kind": "link", "id": "b1:1", **TEXT, "inside": [{"key": "s1.0", "kind": "iunit", "id": "x", **TEXT, "url": "y"}]},
         {"key": "f2", "kind": "link", "id": "b1:2", **TEXT, "inside": [{"key": "s2.0", "kind": "iunit", "id": "z", **TEXT}]},
         {"key": "f3", "kind": "iunit", "id": "b2", **TEXT, "html": "<p>so it is</p>"}],
    ),
    "pushes": (
        {"pushes": [{"id": "t", **TEXT, "at": 0}, {"id": "t", **TEXT, "at": 60}]},
        [{"key": "p1", "kind": "update", "id": "t", **TEXT, "at": 0}, {"key": "p2", "kind": "update", "id": "t", **TEXT, "at": 60}],
    ),
    "ranked list": (
        {"list": [{"id": "d", "title": "", **TEXT, "window": None},
                  {"id": "e", "title": "T", "text": "", "words": 1, "chars": 1, "window": "2001"}]},
        [{"key": "r1", "kind": "link", "id": "d", **TEXT},
         {"key": "r2", "kind": "link", "id": "e", "title": "T", "words": 1, "chars": 1, "window": "2001"}],
    ),
    "nothing": ({"list": []}, []),
}  # fmt: skip
"""Form -> what was stored, and its blocks."""


@pytest.mark.parametrize("form", FORMS)
def test_what_version_0009_stored_of_each_form_becomes_the_same_side(form):
    """Keys are those that its pages had; what is empty is not written."""
    stored, blocks = FORMS[form]
    side = MIGRATION_0010.side_of(stored)

    assert side == {"blocks": blocks}
    assert Side.of(side).json() == side


def test_what_version_0009_stored_of_a_stream_becomes_the_same_stream():
    """Updates with what they bring beside them."""
    brought = [["n1", 3.0], ["n2", 4.0]]
    update = {**TEXT, "at": 0.0}
    stored = {"start": 0.0, "end": 9.0, "updates": [{"id": "x", **update, "nuggets": brought}]}
    stream = MIGRATION_0010.stream_of(stored)

    assert stream["updates"] == [{"key": "u1", "kind": "update", "id": "x", **update}]
    assert stream["nuggets"] == [brought]
    assert UpdateStream.of(stream).json() == stream
