"""Each act by a command is a line of the audit, and the chain stays whole; an export of a damaged file says so."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select, text

from study_app.store.check import check_database
from study_app.store.console_models import AuditEntry
from study_app.store.models import Worker
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_study import votes_task

ON_SQLITE = pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)


@pytest.fixture
def study(campaign):
    return campaign(platform="prolific", tasks=[votes_task()], completion_code="DONE-1")


@pytest.fixture
def run(study, monkeypatch, capsys):
    """Run a command on the study's database; it has to end well."""

    def run(*words, code=0):
        ended = run_here(monkeypatch, capsys, *words, "--database", study.url)
        assert ended.code == code, ended.err
        assert "Traceback" not in ended.err
        return ended

    return run


def acts(study):
    return [
        tuple(row)
        for row in study.rows(
            select(AuditEntry.who, AuditEntry.what, AuditEntry.detail).order_by(AuditEntry.number)
        )
    ]


def test_each_act_by_a_command_is_a_line(study, run, tmp_path):
    """With what was done, and the id of nobody; what changed nothing is none."""
    worker = study.visitor().open("/s/small?PROLIFIC_PID=5f0123456789abcdef012345&STUDY_ID=s&SESSION_ID=t")
    worker.send()
    [code] = study.rows(select(Worker.withdrawal_code, Worker.pseudonym))
    changed = (study.folder / "study.yaml").read_text(encoding="utf-8").replace("title: ", "title: New ")
    (study.folder / "study.yaml").write_text(changed, encoding="utf-8")
    listed = tmp_path / "platform.csv"
    listed.write_text("Submission id,Participant id,Status,Completion code\n", encoding="utf-8")
    run("study", "load", study.folder / "study.yaml")
    run("study", "load", study.folder / "study.yaml")
    run("study", "pause", "small")
    run("study", "pause", "small")
    run("study", "resume", "small")
    run("export", tmp_path / "tables")
    run("export", tmp_path / "tables", "--raw", "--exact-times")
    run("db", "backup", tmp_path / "backup")
    run("reconcile", "small", listed)
    run("bonus", "small", "--each", "1", "--even-unlisted")
    run("retention", "small", "--withdrawn")
    run("withdraw", code[0])
    run("withdraw", code[0])
    run("retention", "small", "--withdrawn", "--delete")
    run("key", "new", "small", "--role", "watch", "--name", "Ann")
    run("key", "revoke", "1")
    found = acts(study)
    assert {who for who, _, _ in found} == {"command line"}
    assert [what for _, what, _ in found] == [
        "load",
        "pause",
        "resume",
        "export",
        "export",
        "back up",
        "read the platform's list",
        "list bonuses",
        "withdraw",
        "delete",
        "make a key",
        "revoke a key",
    ]
    details = [detail for _, _, detail in found]
    assert details[0].startswith("changed, version ")
    exported = "of 1 person under pseudonyms"
    assert details[3:5] == [f"moved times, {exported}", f"exact times, with raw, {exported}"]
    assert details[8] == code[1]
    assert "5f0123456789" not in str(found)
    assert check_database(study.database) == []


def test_the_audit_is_printed_with_the_number_of_people_of_each_act(study, run):
    """From the first line on; a line that somebody changed is named; machines get every field."""
    study.visitor().open("/s/small?PROLIFIC_PID=5f0123456789abcdef012345&STUDY_ID=s&SESSION_ID=t").send()
    assert run("audit").out == "small: nothing was done yet\n"
    run("study", "pause", "small")
    run("worker", "--platform-id", "5f0123456789abcdef012345")
    run("retention", "small", "--all-identities", "--delete")
    [(name,)] = study.rows(select(Worker.pseudonym))
    printed = run("audit", "small").out
    lines = printed.splitlines()
    assert lines[0].startswith("small: 3 acts from ")
    assert lines[0].endswith(" UTC, by command line (3)")
    assert lines[1] == "The chain of lines is whole."
    assert lines[2] == "Of single people or their ids: look up by platform id (1), delete (1)."
    assert [line.split()[0] for line in lines[6:] if line.strip()[0].isdigit()][:3] == ["1", "2", "3"]
    assert re.search(rf"look up by platform id +1  {name}\n", printed)
    assert "the platform ids of 1 person (" in printed
    only = run("audit", "small", "--people", "--format", "csv").out.splitlines()
    assert only[0] == "study,number,at,who,what,people,detail"
    assert only[1].startswith("small,2,20")
    assert only[1].endswith(f",command line,look up by platform id,1,{name}")
    assert len(only) == 3
    with study.database.engine.begin() as connection:
        connection.execute(text("UPDATE audit SET detail = 'nothing' WHERE number = 2"))
    assert "the audit of study small: line 2 was changed" in run("audit").out


def test_the_whole_database_is_a_line_in_every_study(study, run, tmp_path):
    """New keys, and a backup that was put back; the chain goes on from the backup."""
    run("study", "pause", "small")
    run("db", "backup", tmp_path / "backup")
    study.database.engine.dispose()
    run("db", "rekey")
    run("db", "restore", tmp_path / "backup", "--force")
    assert [what for _, what, _ in acts(study)] == ["pause", "restore a backup"]
    assert check_database(study.database) == []


@ON_SQLITE
def test_an_export_of_a_file_that_cannot_be_written_is_made_and_says_that_the_audit_has_no_line(
    study, run, tmp_path, monkeypatch
):
    """It only reads."""
    before = acts(study)
    with closing(sqlite3.connect(study.database.engine.url.database)) as connection:
        connection.execute("CREATE TRIGGER no BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END")
    ended = run("export", tmp_path / "tables")
    assert "note: the audit has no line of this" in ended.err
    assert (tmp_path / "tables" / "workers.csv").is_file()
    assert acts(study) == before


def test_an_export_of_somebody_at_work_says_not_to_publish_it(study, run, tmp_path):
    """Where the study is over it does not."""
    assert "do not publish" not in run("export", tmp_path / "tables").err
    study.visitor().open("/s/small?PROLIFIC_PID=5f0123456789abcdef012345&STUDY_ID=s&SESSION_ID=t").send()
    ended = run("export", tmp_path / "tables")
    assert ("note: somebody is still at work" in ended.err) is (study.clock().year > 2030)


def torn(path, table):
    """Write zeros over the first page of a table's tree, or of an index; return how often."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        [page] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        [size] = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * size + 200 : page * size] = bytes([165]) * (size - 200)
    path.write_bytes(content)


@ON_SQLITE
@pytest.mark.parametrize(
    "table", ["worker", "slot", "study", "sqlite_autoindex_worker_1", "sqlite_autoindex_worker_2"]
)
def test_nothing_is_exported_of_a_damaged_file(study, run, tmp_path, table):
    """A torn page ended in a trace, or rows were missing without a word."""
    for name in ("5f0123456789abcdef012345", "5f0123456789abcdef012346"):
        visitor = study.visitor().open(f"/s/small?PROLIFIC_PID={name}&STUDY_ID=s&SESSION_ID=t").send()
        if visitor.step.endswith("choose"):
            visitor.send(topic="1")
    study.database.engine.dispose()
    path = Path(study.database.engine.url.database)
    torn(path, table)
    ended = run("export", tmp_path / "tables", code=1)
    assert not (tmp_path / "tables").exists()
    assert all("damaged" in line or "database" in line for line in ended.err.splitlines())
    for command in (("status",), ("reconcile", "small", path), ("db", "check")):
        other = run_quietly(run, *command)
        assert "Traceback" not in other.err


def run_quietly(run, *words):
    for code in (0, 1):
        try:
            return run(*words, code=code)
        except AssertionError:
            continue
    raise AssertionError(words)
