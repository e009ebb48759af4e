"""The audit: each act is a line of one chain a study; who is signed in is listed, and each sign-in can be ended."""

import re
import threading
from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import delete, select, update

from metrics.errors import InputError
from study_app.services.researcher import audit
from study_app.services.researcher.access import make_key, revoke_key, study_keys
from study_app.services.researcher.audit import add_audit_entry
from study_app.services.researcher.studies import chosen_study
from study_app.store.check import check_database
from study_app.store.console_models import AuditEntry, ConsoleSession
from study_app.store.database import transaction
from study_app.store.models import LoadedStudy
from study_app.store.tokens import secret_token
from tests.study_app.store.test_faults import read_only, with_statements
from tests.study_app.web.console.console_client import acts, sign_in, text_of, token, watcher

pytestmark = pytest.mark.both_databases


@pytest.fixture
def study(campaign):
    return campaign()


def lines(study):
    with transaction(study.database, write=False) as session:
        return session.scalars(select(AuditEntry).order_by(AuditEntry.study_id, AuditEntry.number)).all()


def changed(study, statement):
    with transaction(study.database, write=True) as session:
        session.execute(statement)
    return [fault.problem for fault in check_database(study.database)]


def test_each_line_holds_the_hash_of_the_last(study):
    """From the first on, which holds none."""
    client = study.console()
    client.post("/r/small/pause", data={"csrf": token(client)})
    client.get("/r/small/people.csv")
    client.post("/r/small/sign-out", data={"csrf": token(client)})
    chain = lines(study)
    assert [act.what for act in chain] == ["sign in", "pause", "take the list of people", "sign out"]
    assert [act.number for act in chain] == [1, 2, 3, 4]
    assert [act.previous for act in chain] == ["", *(act.sha256 for act in chain[:-1])]
    assert all(re.fullmatch("[0-9a-f]{64}", act.sha256) for act in chain)
    assert check_database(study.database) == []


def test_a_changed_line_and_a_gap_are_named(study):
    """By `db check`, with the study and the line; that the end was cut off cannot be seen."""
    client = study.console()
    for act in ("pause", "resume", "pause", "resume"):
        client.post(f"/r/small/{act}", data={"csrf": token(client)})
    name = "the audit of study small"
    for column, value in (
        ("who", "Bob"),
        ("what", "x"),
        ("detail", "x"),
        ("at", study.clock() - timedelta(days=1)),
    ):
        before = study.rows(select(getattr(AuditEntry, column)).where(AuditEntry.number == 2))[0][0]
        found = changed(study, update(AuditEntry).where(AuditEntry.number == 2).values({column: value}))
        assert found == [f"{name}: line 2 was changed"], column
        assert changed(study, update(AuditEntry).where(AuditEntry.number == 2).values({column: before})) == []
    forged = lines(study)[2]
    forged.what = "nothing"
    found = changed(
        study, update(AuditEntry).where(AuditEntry.number == 3).values(what="nothing", sha256=forged.digest)
    )
    assert found == [f"{name}: line 4 does not follow the line before it"]
    assert changed(study, delete(AuditEntry).where(AuditEntry.number == 5)) == found
    assert changed(study, delete(AuditEntry).where(AuditEntry.number == 3)) == [f"{name}: line 3 is missing"]
    assert changed(study, delete(AuditEntry).where(AuditEntry.number == 2)) == [
        f"{name}: lines 2 to 3 are missing"
    ]
    assert changed(study, delete(AuditEntry).where(AuditEntry.number == 1)) == [
        f"{name}: lines 1 to 3 are missing"
    ]


def test_who_acts_at_the_same_time_makes_one_chain(study):
    """The study's row is locked before a line is written."""
    faults = []

    def act(number):
        try:
            for turn in range(10):
                with transaction(study.database, write=True) as session:
                    row = chosen_study(session, "small").id
                    add_audit_entry(session, row, None, "act", f"{number}.{turn}", now=study.clock())
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a fault
            faults.append(error)

    threads = [threading.Thread(target=act, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert [act.number for act in lines(study)] == list(range(1, 61))
    assert check_database(study.database) == []


@pytest.mark.parametrize(
    "name", ["command line", "Command  Line", "key of the installation", "ＮＯＢＯＤＹ known"]
)
def test_no_key_has_a_name_that_the_audit_gives(study, name):
    """Else its acts would look like those of the owner, or of somebody at the machine."""
    with transaction(study.database, write=True) as session:
        row = chosen_study(session, "small")
        with pytest.raises(InputError, match="no key may have"):
            make_key(session, row, role="watch", name=name, now=study.clock(), new_token=secret_token)
    assert study.rows(select(AuditEntry)) == []


def test_a_wrong_key_is_a_line_and_strangers_do_not_fill_the_disk_with_them(study, monkeypatch):
    """The last of an hour says that more may follow; no address of anybody is kept, and no key."""
    monkeypatch.setattr(audit, "MAX_WRONG_KEYS", 3)
    client = study.app.test_client()
    csrf = token(client, "/r/small/sign-in")
    for number in range(3):
        client.post("/r/small/sign-in", data={"key": f"wrong{number}", "csrf": csrf})
        client.get(f"/r/small?key=wrong{number}")
    assert acts(study) == [
        ("wrong key", ""),
        ("wrong key", ""),
        ("wrong key", "no further wrong key is listed until this hour is over"),
    ]
    assert {act.who for act in lines(study)} == {"nobody known"}
    study.clock.forward(3601)
    client.get("/r/small?key=wrong")
    assert len(acts(study)) == 4
    client.get("/r/other?key=wrong")
    assert len(acts(study)) == 4


def test_what_was_refused_is_a_line(study):
    """With the reason: a key to watch that acts, a form of another sign-in, an act that cannot be done."""
    client, manager = watcher(study), study.console()
    client.post("/r/small/pause", data={"csrf": token(client)})
    manager.post("/r/small/pause", data={"csrf": "x"})
    manager.post("/r/small/resume", data={"csrf": token(manager)})
    manager.post("/r/small/limits/raise", data={"csrf": token(manager), "task": "1", "limit": "x"})
    manager.get("/r/small/data/tables.zip")
    refused = [(what, detail) for what, detail in acts(study) if what.startswith("refused")]
    assert [what for what, _ in refused] == [
        "refused: pause",
        "refused: pause",
        "refused: resume",
        "refused: raise a limit",
        "refused: take the tables",
    ]
    assert "has the role watch" in refused[0][1]
    assert "one of this sign-in" in refused[1][1]
    assert "not paused" in refused[2][1]
    assert "whole number" in refused[3][1]


def end_buttons(client):
    page = BeautifulSoup(client.get("/r/small/audit").text, "html.parser")
    return [
        (line.find("strong").text, "this browser" in line.text, line.find("input", {"name": "sign_in"}))
        for line in page.select("section[aria-labelledby=signed-in] li")
        if line.find("strong")
    ]


def test_sign_ins_are_listed_and_each_can_be_ended_by_itself(study):
    """Only those that are good; a key to watch sees them, and ends none."""
    ann, other, looks = study.console(), study.console(), watcher(study)
    names = [(name, is_own) for name, is_own, _ in end_buttons(ann)]
    owner = "key of the installation"
    assert sorted(names) == sorted([("W", False), (owner, False), (owner, True)])
    assert [button for _, _, button in end_buttons(looks)] == [None] * 3
    number = next(button["value"] for name, own, button in end_buttons(ann) if name == owner and not own)
    for client, form in ((looks, number), (ann, "999"), (ann, "x"), (ann, "")):
        sent = client.post("/r/small/audit/end", data={"csrf": token(client), "sign_in": form})
        assert sent.status_code in {403, 409}
    assert other.get("/r/small/").status_code == 200
    answer = ann.post(
        "/r/small/audit/end", data={"csrf": token(ann), "sign_in": number}, follow_redirects=True
    )
    assert "Done: end a sign-in (key of the installation, of 2026-03-01 12:00 UTC)" in text_of(answer)
    assert [one.get("/r/small/").status_code for one in (ann, other, looks)] == [200, 403, 200]
    again = ann.post("/r/small/audit/end", data={"csrf": token(ann), "sign_in": number})
    assert again.status_code == 409
    with transaction(study.database, write=True) as session:
        revoke_key(session, study_keys(session)[0].id, now=study.clock())
    assert [name for name, _, _ in end_buttons(ann)] == [owner]
    study.clock.forward(13 * 3600)
    assert [is_own for _, is_own, _ in end_buttons(study.console())] == [True]


def test_a_sign_in_of_one_study_is_not_ended_from_another(study, tmp_path):
    """Nor seen there."""
    study.console()
    number = study.rows(select(ConsoleSession.id))[0][0]
    (tmp_path / "second").mkdir()
    study.folder = tmp_path / "second"
    study.load(study="second")
    other = study.console(study="second")
    form = {"csrf": token(other, "/r/second/"), "sign_in": str(number)}
    assert other.post("/r/second/audit/end", data=form).status_code == 409
    page = BeautifulSoup(other.get("/r/second/audit").text, "html.parser")
    assert len(page.select("section[aria-labelledby=signed-in] li")) == 1


def nothing_is_written(study):
    """A disk without room for a sign-in; PostgreSQL is made to say what it says then."""
    if study.database.is_sqlite:
        return read_only(study)
    says = "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'"
    return with_statements(
        study,
        f"CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {says}; END $$",
        "CREATE TRIGGER full_disk BEFORE INSERT ON console_session EXECUTE FUNCTION full_disk()",
        "CREATE TRIGGER full_disk BEFORE INSERT ON audit EXECUTE FUNCTION full_disk()",
        back="DROP FUNCTION full_disk CASCADE",
    )


def test_somebody_can_sign_in_and_look_while_nothing_can_be_written(study):
    """On a full disk nobody could see that it is full. Such a sign-in acts nowhere and is over after an hour."""
    with transaction(study.database, write=True) as session:
        row = chosen_study(session, "small")
        key = make_key(session, row, role="manage", name="Ann", now=study.clock(), new_token=secret_token)
    client, before = study.app.test_client(), acts(study)
    with nothing_is_written(study):
        assert sign_in(client, "small", key).location == "/r/small/"
        page = client.get("/r/small/")
        assert (page.status_code, "Nothing can be written into the database" in text_of(page)) == (200, True)
        assert "Pause" not in page.text
        assert client.get("/r/small/people").status_code == 200
        assert client.post("/r/small/pause", data={"csrf": token(client)}).status_code == 503
        assert client.get("/r/small?key=wrong").status_code == 404
    assert acts(study) == before
    assert study.rows(select(ConsoleSession)) == []
    sent = client.post("/r/small/pause", data={"csrf": token(client)})
    assert (sent.status_code, "Sign in again" in text_of(sent)) == (403, True)
    study.clock.forward(3601)
    assert client.get("/r/small/").status_code == 403


def test_a_sign_in_that_no_table_has_ends_with_its_key_and_opens_no_other_study(study, tmp_path):
    """It is signed by the installation for one study."""
    with transaction(study.database, write=True) as session:
        row = chosen_study(session, "small")
        key = make_key(session, row, role="manage", name="Ann", now=study.clock(), new_token=secret_token)
    client = study.app.test_client()
    with nothing_is_written(study):
        sign_in(client, "small", key)
    value = client.get_cookie("prefcal_console", path="/r/small").value
    (tmp_path / "second").mkdir()
    study.folder = tmp_path / "second"
    study.load(study="second")
    client.set_cookie("prefcal_console", value, path="/r/second")
    assert client.get("/r/second/").status_code == 404
    client.set_cookie("prefcal_console", value[:-1] + ("a" if value[-1] != "a" else "b"), path="/r/small")
    assert client.get("/r/small/").status_code == 404
    client.set_cookie("prefcal_console", value, path="/r/small")
    assert client.get("/r/small/").status_code == 200
    with transaction(study.database, write=True) as session:
        revoke_key(session, study_keys(session)[0].id, now=study.clock())
    assert client.get("/r/small/").status_code == 403
    assert study.rows(select(LoadedStudy.paused_at))[0][0] is None
