"""Migrations with a study's data in the tables, up and down, on both databases."""

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, select

from study_app.store.check import check_database
from study_app.store.database import METADATA, MIGRATIONS, drift, schema_change, transaction
from study_app.store.task_models import ConsentText

pytestmark = pytest.mark.both_databases
SETTINGS = Config()
SETTINGS.set_main_option("script_location", str(MIGRATIONS))
EARLIER = [script.revision for script in ScriptDirectory.from_config(SETTINGS).walk_revisions()][1:]


def rows(database, names):
    """Return every row of some tables, as the database has them, with the columns that there are now."""
    there = MetaData()
    with database.engine.connect() as connection:
        there.reflect(connection, only=names)
        return {
            name: [row._asdict() for row in connection.execute(select(there.tables[name]).order_by("id"))]
            for name in names
        }


def moved(database, direction, revision):
    with schema_change(database) as connection:
        SETTINGS.attributes["connection"] = connection
        direction(SETTINGS, revision)


def test_data_survive_the_way_to_every_earlier_version_and_back(campaign):
    """Every table and column that a version has keeps what is in it, step by step, and the tables end as the models say."""
    study = campaign()
    study.judge_all(study.at_pairs()).send()
    names = sorted(name for name in METADATA.tables if name != "setting")
    before = later = rows(study.database, names)

    for number, revision in enumerate(EARLIER):
        moved(study.database, command.downgrade, revision)
        with study.database.engine.connect() as connection:
            kept = {name for name in later if connection.dialect.has_table(connection, name)}
        early = rows(study.database, sorted(kept))
        moved(study.database, command.upgrade, (["head", *EARLIER])[number])
        back = rows(study.database, sorted(kept))
        assert {"judgment", "showing", "slot", "worker"} <= kept
        for name in kept:
            known = early[name][0].keys() if early[name] else ()
            assert early[name] == [{column: row[column] for column in known} for row in later[name]], name
            assert early[name] == [{column: row[column] for column in known} for row in back[name]], name
        moved(study.database, command.downgrade, revision)
        later = early

    moved(study.database, command.upgrade, "head")
    after = rows(study.database, sorted(kept))
    assert {name: len(found) for name, found in after.items()} == {name: len(before[name]) for name in kept}
    assert after["judgment"] == before["judgment"]
    assert check_database(study.database) == []
    with study.database.engine.connect() as connection:
        assert drift(connection) == []


def test_the_consent_text_of_an_older_study_is_kept_from_then_on(campaign):
    """What somebody agreed to can be shown, also for a study loaded before texts were kept."""
    study = campaign()
    moved(study.database, command.downgrade, "0002")
    moved(study.database, command.upgrade, "head")
    with transaction(study.database, write=False) as session:
        assert session.scalars(select(ConsentText.text)).all() == ["First paragraph.\n\nSecond paragraph."]
