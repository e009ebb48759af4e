"""Databases of earlier versions of the tables: opened, with all that is in them, by this one."""

import gzip
import os
import re
from pathlib import Path

import pytest
from sqlalchemy import inspect, select

from metrics.errors import PrefcalError
from study_app.config import Config
from study_app.store.backups.backup import back_up, restore
from study_app.store.check import check_database
from study_app.store.database import (
    drift,
    known_versions,
    migrate,
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
    restored = schema(target.engine)
    migrate(target)

    assert list(schema(new.database.engine).keys() - restored) == ["media"]
    assert schema(target.engine) == schema(new.database.engine)
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
