"""`prefcal db check`: each rule is broken once by hand, and found."""

import shutil
import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import text

from metrics.errors import InputError, PrefcalError
from study_app.store.backups.backup import back_up
from study_app.store.check import check_database
from study_app.store.database import known_versions, open_database, transaction
from study_app.store.rules import RULES
from tests.study_app.conftest import Campaign
from tests.study_app.prefcal_command import run_here

NEW_TASK = (
    "INSERT INTO task (id, study_id, position, name, kind, language, config, files) "
    "SELECT 99, study_id, 99, 'other', kind, language, config, files FROM task LIMIT 1"
)
NEW_TOPIC = "INSERT INTO topic (id, task_id, position, name, text) SELECT 99, task_id, 99, 'other', text FROM topic LIMIT 1"
NEW_BALLOT = (
    "INSERT INTO ballot (id, slot_id, revision, intents, page_key, decided_at) "
    "SELECT 1, slot.id, 1, '[]', 'k', 99999999999999 FROM slot LIMIT 1"
)
NEW_STUDY = (
    "INSERT INTO study (id, name, sha256, source, folder, config, consent_sha256, loaded_at, version) "
    "SELECT 99, 'other', sha256, source, folder, config, consent_sha256, loaded_at, version FROM study"
)
NEW_FOLLOW = (
    "INSERT INTO follow (id, slot_id, system_id, started_at, ends_at) "
    "SELECT 1, slot.id, system.id, 1, 2 FROM slot, system LIMIT 1"
)
NEW_QUESTION = (
    "INSERT INTO useful_question (id, follow_id, visit, place, nugget, visits_late, asked_at) "
    "VALUES (1, 1, 1, 1, 'n', 0, 5)"
)
NEW_PAGE = (
    "INSERT INTO page_load (id, key, worker_id, step, showing_id, served_at, first_received_at, upto) "
    "SELECT 99, page_key, 1, '1/1/pair/1', NULL, 1, 1, 0 FROM judgment LIMIT 1"
)
BREAKS = {
    "worker 1: have two ends": ["UPDATE worker SET stopped_as = 'partial' WHERE id = 1"],
    "finished without a completion code": ["UPDATE worker SET completion_code = NULL"],
    "finished, or were given work, without consent": ["UPDATE worker SET consented_at = NULL"],
    "consented to no text": ["UPDATE worker SET consent_sha256 = NULL"],
    "worker 1: finished although a pair shown to them": ["DELETE FROM judgment WHERE showing_id = 1"],
    "of a worker of one study to a task of another": [NEW_STUDY, "UPDATE worker SET study_id = 99"],
    "holds a query of another task": [NEW_TASK, "UPDATE topic SET task_id = 99, position = position + 9"],
    "slot 1: done although a pair": ["DELETE FROM judgment WHERE showing_id = 1"],
    "shows a pair of another query": [NEW_TOPIC, "UPDATE slot SET topic_id = 99"],
    "shows other systems than its pair has": [
        "UPDATE showing SET pair_id = pair_id % (SELECT count(*) FROM pair) + 1"
    ],
    "pair 1: says another number of showings": [
        "UPDATE pair SET shown_a_left = shown_a_left + 1 WHERE id = 1"
    ],
    "repeats another pair, or another worker's": [
        "UPDATE showing SET repeats_id = (SELECT max(s.id) FROM showing s WHERE s.pair_id <> showing.pair_id)"
    ],
    "judgment 1: came from a page of another worker or pair": [
        NEW_PAGE,
        "UPDATE page_load SET showing_id = 2",
    ],
    "judgment 1, 2, ": ["UPDATE worker SET completed_at = 1"],
    "ballot 1: came after": [
        NEW_BALLOT,
        "UPDATE worker SET stopped_at = completed_at, stopped_as = 'partial', completed_at = NULL",
    ],
    "showing 1: has answers whose revisions": ["UPDATE judgment SET revision = 3 WHERE showing_id = 1"],
    "slot 1: has votes whose revisions": [NEW_BALLOT, "UPDATE ballot SET revision = 2"],
    "useful_question 1: has answers whose revisions": [
        NEW_FOLLOW,
        NEW_QUESTION,
        "INSERT INTO useful_answer (question_id, revision, useful, page_key, answered_at) VALUES (1, 2, 1, 'k', 1)",
    ],
    "page_load 99: says that it has events": [NEW_PAGE, "UPDATE page_load SET upto = 1"],
    "follow 1: follows a system of another task": [
        NEW_FOLLOW,
        NEW_TASK,
        "UPDATE system SET task_id = 99",
    ],
    "asks about an update that no page showed": [NEW_FOLLOW, NEW_QUESTION],
}

NEWEST = known_versions()[-1]


ON_SQLITE = pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)
ON_POSTGRESQL = pytest.mark.parametrize("new_url", ["postgresql"], indirect=True)


@pytest.fixture
def judged(campaign):
    """A database with one finished worker in it."""
    made = campaign()
    made.judge_all(made.at_pairs()).send()
    return made


@pytest.fixture(scope="module")
def finished_copy(tmp_path_factory):
    """A backup of such a database, made once; there is nothing wrong with it."""
    folder = tmp_path_factory.mktemp("finished")
    made = Campaign(folder, f"sqlite:///{folder / 'test.sqlite3'}")
    made.load()
    made.serve()
    made.judge_all(made.at_pairs()).send()
    assert check_database(made.database) == []
    back_up(made.database, folder / "copy")
    made.database.engine.dispose()
    return folder / "copy"


@pytest.fixture
def finished(finished_copy, tmp_path):
    """The address of such a database."""
    return f"sqlite:///{shutil.copy(finished_copy, tmp_path / 'finished.sqlite3')}"


def by_hand(url, *statements):
    """Change rows as somebody would who does not ask prefcal: SQLite checks no references then."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.both_databases
def test_what_the_server_stored_is_whole(judged):
    """No false alarm."""
    judged.at_pairs("bob").send(choice="left")
    assert check_database(judged.database) == []


def test_every_rule_is_broken_once_here():
    """A new rule comes with its example."""
    assert len(BREAKS) == len(RULES)


@pytest.mark.parametrize("found", BREAKS)
def test_a_row_that_breaks_a_rule_is_named(finished, found, monkeypatch):
    """By table and id, with what to do. Whether the tables themselves are today's is not looked at here."""
    monkeypatch.setattr("study_app.store.check.drift", lambda _connection: [])
    by_hand(finished, *BREAKS[found])
    database = open_database(finished)
    assert [str(fault) for fault in check_database(database) if found in str(fault)]
    database.engine.dispose()


@ON_SQLITE
def test_a_reference_that_leads_nowhere_is_found(judged):
    """Constraints forbid it; a hand with constraints off does not."""
    by_hand(judged.url, "DELETE FROM platform_identity")
    (fault,) = check_database(judged.database)
    assert "row 1 of platform_entry refers to a row of platform_identity that is not there" in str(fault)


@ON_POSTGRESQL
def test_a_lost_reference_is_found_in_postgresql_too(judged):
    """There constraints can be switched off as well."""
    with transaction(judged.database, write=True) as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text("DELETE FROM platform_identity"))
    assert [str(fault) for fault in check_database(judged.database)] == [
        "platform_entry: 1 rows refer to rows of platform_identity that are not there; restore a backup from before that"
    ]


@pytest.mark.both_databases
def test_tables_that_are_not_the_models_are_named(judged):
    """A column too many, a table too few."""
    with transaction(judged.database, write=True) as session:
        session.execute(text("ALTER TABLE topic ADD COLUMN note TEXT"))
        session.execute(text("DROP TABLE prompt"))
    told = [fault.problem for fault in check_database(judged.database)]
    assert any("note" in line for line in told)
    assert any("add table prompt" in line for line in told)


@ON_SQLITE
def test_a_torn_file_is_found(judged, tmp_path):
    """A disk that fails, a copy that was cut."""
    judged.database.engine.dispose()
    whole = (tmp_path / "study" / "test.sqlite3").read_bytes()
    (tmp_path / "torn.sqlite3").write_bytes(whole[: len(whole) // 2])
    torn = open_database(f"sqlite:///{tmp_path / 'torn.sqlite3'}")
    assert check_database(torn)
    torn.engine.dispose()


@ON_SQLITE
def test_an_old_schema_is_told_to_be_upgraded_and_a_newer_one_refused(judged):
    """Rules are looked at in today's tables only."""
    by_hand(judged.url, "UPDATE alembic_version SET version_num = '0001'")
    (fault,) = check_database(judged.database)
    assert f"is at version 0001, not {NEWEST}; bring the tables up to date: prefcal db upgrade" in str(fault)
    by_hand(judged.url, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(PrefcalError, match="newer prefcal"):
        check_database(judged.database)


def test_checking_nothing_is_a_fault_and_makes_no_file(tmp_path):
    """A mistyped name."""
    none = open_database(f"sqlite:///{tmp_path / 'none.sqlite3'}")
    with pytest.raises(InputError, match="no study is loaded"):
        check_database(none)
    assert list(tmp_path.iterdir()) == []


@ON_SQLITE
def test_the_command_prints_one_line_each_and_ends_with_1(judged, monkeypatch, capsys):
    """For a person, and for a script."""
    by_hand(judged.url, "UPDATE worker SET completion_code = NULL")
    ended = run_here(monkeypatch, capsys, "db", "check", "--database", judged.url)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("worker 1: finished without a completion code")
    assert ended.err.count("\n") == 1
