"""`prefcal retention`: what it deletes, what stays, and that nothing says where anybody connected from."""

import json

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import OperationalError

from study_app.services.researcher.retention import delete_rows, worker_parts
from study_app.store.check import check_database
from study_app.store.database import METADATA, transaction
from study_app.store.models import Judgment, PlatformEntry, PlatformIdentity, Slot, StoredEvent, Task, Worker
from study_app.store.simulated_workers import simulated_studies
from study_app.store.task_models import CodeShown, PlatformRecord
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_study import pairs_task, votes_task
from tests.study_app.stream_visits import HOUR, come_back, follow, log, stream_study

DAY = 24 * HOUR
SECRET = "id-of-ann-on-the-platform"


@pytest.fixture
def retention(monkeypatch, capsys):
    """Return a function that runs the command on a study, by its clock."""

    def of(study, *options):
        monkeypatch.setattr("study_app.store.tokens.utc_now", study.clock)
        return run_here(monkeypatch, capsys, "retention", "small", *options, "--database", study.url)

    return of


def count(study, model):
    return len(study.rows(select(model.__table__)))


def rows_by_table(study):
    return {
        name: [tuple(row) for row in study.rows(select(table))] for name, table in METADATA.tables.items()
    }


def withdraw(study, number):
    with transaction(study.database, write=True) as session:
        person = session.scalars(select(Worker).where(Worker.number == number)).one()
        person.withdrawn_at = study.clock()


@pytest.fixture
def study(campaign):
    """Ann has finished, Bob withdrew after it; both judged, logged and were paid. Cleo came ten days later."""
    one = campaign(tasks=[votes_task(), pairs_task()], completion_code="CDONE")
    for name in (SECRET, "bob"):
        person = one.arrive(name).send().send(topic="1").send(intent=["1"]).send(topic="1")
        log(person)
        one.judge_all(person).send()
        assert person.step == "done"
    withdraw(one, 2)
    with transaction(one.database, write=True) as session:
        for identity in (1, 2):
            said = {"status": "APPROVED", "confirmed": True, "paid": True, "read_at": one.clock()}
            session.add(PlatformRecord(identity_id=identity, submission=f"s{identity}", **said))
    one.clock.forward(10 * DAY)
    one.arrive("cleo").send()
    return one


def test_who_never_consented_leaves_nothing(study, retention):
    """A day after they came; who is reading the consent text at this moment stays, and so do all who agreed."""
    study.arrive("passer-by")
    study.clock.forward(2 * DAY)
    study.arrive("just-here")

    ended = retention(study, "--unconsented", "--delete")

    assert ended.code == 0, ended.err
    assert ended.out.startswith("deleted: 1 of platform_entry, 1 of platform_identity")
    assert count(study, PlatformIdentity) == 4


def test_without_delete_it_only_says_what_would_go(study, retention):
    """A dry run is the default; asked for nothing it says what there is."""
    before = rows_by_table(study)
    ended = retention(study, "--all-identities", "--withdrawn")
    assert ended.code == 0
    assert ended.out.startswith("would delete: 1 of event, 1 of page_load, 3 of judgment")
    assert "3 of platform_identity" not in ended.out
    assert "add --delete to do it" in ended.out
    assert ended.out.endswith(
        "small holds 3 workers under pseudonyms, 3 of them with a platform id, 1 withdrawn\n"
    )
    assert "nothing was asked for" in retention(study).out
    assert rows_by_table(study) == before


def test_old_identities_go_and_answers_stay(study, retention):
    """Ann and Bob were last there ten days ago; who they are on the platform is gone, what they answered is not."""
    answers = count(study, Judgment), count(study, Slot), count(study, StoredEvent), count(study, CodeShown)
    ended = retention(study, "--identities", "7", "--delete")
    assert "2 of platform_record, 2 of platform_entry, 2 of platform_identity" in ended.out
    assert ended.out.endswith(
        "small keeps 3 workers under pseudonyms, 1 of them with a platform id, 1 withdrawn\n"
    )
    assert [name for (name,) in study.rows(select(PlatformIdentity.platform_worker))] == ["cleo"]
    assert (
        count(study, Judgment),
        count(study, Slot),
        count(study, StoredEvent),
        count(study, CodeShown),
    ) == answers
    assert check_database(study.database) == []


@pytest.mark.parametrize("new_url", ["postgresql"], indirect=True)
def test_who_begins_while_showings_are_deleted_waits(study):
    """Both change what pairs count: without an order one of them would be given up for the other."""
    begins = select(Task.id).where(Task.name == "pairs").with_for_update(key_share=True, nowait=True)
    with (
        transaction(study.database, write=True) as session,
        study.database.engine.connect() as other,
    ):
        delete_rows(session, worker_parts([2]))
        with pytest.raises(OperationalError, match="could not obtain lock"):
            other.execute(begins)
    assert check_database(study.database) == []


def test_what_was_deleted_is_not_in_the_file_any_more(study, retention):
    """Not in a free page and not in the write-ahead log either."""
    if not study.database.is_sqlite:
        pytest.skip("only SQLite has a file in which deleted rows could stay")
    files = [path for path in study.folder.iterdir() if path.name.startswith("test.sqlite3")]
    assert any(SECRET.encode() in path.read_bytes() for path in files)
    retention(study, "--all-identities", "--delete")
    assert not any(SECRET.encode() in path.read_bytes() for path in files if path.exists())


def test_nothing_but_one_row_is_left_of_who_withdrew(study, retention):
    """The pseudonym and its times stay, so that numbers and pseudonyms are never given twice."""
    ann = {"judgment": 3, "ballot": 1, "slot": 2, "assignment": 2, "page_load": 1}
    retention(study, "--withdrawn", "--delete")
    left = rows_by_table(study)
    assert {table: len(left[table]) for table in ann} == ann
    assert len(left["worker"]) == 3
    assert not [row for row in study.rows(select(CodeShown.worker_id)) if row == (2,)]
    assert check_database(study.database) == []
    assert study.arrive(SECRET).step == "done"
    study.arrive("dora").send()
    assert count(study, Worker) == 4


def test_every_table_that_leads_to_a_worker_is_emptied_for_who_withdrew():
    """A new table is not forgotten; what refers to others is deleted before them."""
    parts = [model.__tablename__ for model, _ in worker_parts([1])]
    parents = {
        name: {key.column.table.name for key in table.foreign_keys if key.column.table is not table}
        for name, table in METADATA.tables.items()
    }
    theirs = {"worker"}
    while more := {name for name in parents if parents[name] & theirs} - theirs:
        theirs |= more
    kept = {"platform_order"}  # what was paid stays, without the platform's names
    assert set(parts) == theirs - {"worker"} - kept
    for place, name in enumerate(parts[1:], start=1):
        assert not parents[name] & set(parts[:place]), name


def test_whoever_is_at_work_keeps_an_identity(campaign, retention):
    """A follower who was quiet for a week is still in the study; all identities are all."""
    study = stream_study(campaign, visit_code="CVISIT", task={"days": 4, "clock_factor": 0.25})
    follow(study, "ann").send(done="1")
    study.clock.forward(10 * DAY)
    retention(study, "--identities", "7", "--delete")
    assert count(study, PlatformIdentity) == 1
    ann = follow(study, "bob")
    come_back(study, ann, after_hours=1).send(done="1")
    ended = retention(study, "--all-identities", "--delete")
    assert "2 of platform_identity" in ended.out
    assert (count(study, PlatformIdentity), count(study, PlatformEntry)) == (0, 0)
    assert [entry for (entry,) in study.rows(select(CodeShown.entry_id))] == [None, None]
    assert come_back(study, ann, after_hours=1).step == "1/1/stream"


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "said",
    [{"status": "AWAITING REVIEW", "confirmed": True, "paid": False}, None],
    ids=["awaiting", "unread"],
)
def test_nobody_is_forgotten_before_they_are_paid(study, retention, said):
    """Without an id there is nobody to pay; so somebody has to say that it is meant."""
    with transaction(study.database, write=True) as session:
        for record in session.scalars(select(PlatformRecord)):
            if said is None:
                session.delete(record)
            else:
                record.status, record.confirmed, record.paid = said.values()
    dry = retention(study, "--all-identities")
    assert dry.code == 0
    assert "note: 2 of these workers are not known to be paid" in dry.err
    for options, owed in (
        ("--all-identities", "2 of these workers are"),
        ("--withdrawn", "1 of these workers is"),
    ):
        refused = retention(study, options, "--delete")
        assert refused.code == 1
        assert f"{owed} not known to be paid" in refused.err
        assert "prefcal reconcile" in refused.err
    assert count(study, PlatformIdentity) == 3
    if said is not None:
        with transaction(study.database, write=True) as session:
            session.execute(update(PlatformRecord).values(marked_paid_at=study.clock()))
        assert "not known to be paid" not in retention(study, "--all-identities").err
    assert retention(study, "--all-identities", "--delete", "--even-unpaid").code == 0
    assert count(study, PlatformIdentity) == 0


def test_whoever_was_paid_or_owes_an_answer_may_be_forgotten(study, retention):
    """Ann and Bob were paid, Cleo has answered nothing yet."""
    ended = retention(study, "--all-identities", "--delete")
    assert ended.code == 0
    assert "not known to be paid" not in ended.err


def test_the_two_kinds_of_identities_are_not_asked_for_together(study, retention):
    """Wrong usage."""
    assert retention(study, "--identities", "7", "--all-identities").code == 2


def test_no_address_of_a_worker_is_stored_or_logged(campaign, caplog):
    """Neither the connection's nor one that a proxy tells; nor what browser it was."""
    caplog.set_level("INFO")
    study = campaign(tasks=[votes_task()])
    headers = {"X-Forwarded-For": "203.0.113.77", "X-Real-IP": "203.0.113.77", "User-Agent": "Browser/77"}
    client = study.app.test_client(use_cookies=False)
    client.environ_base = {**client.environ_base, "REMOTE_ADDR": "198.51.100.66"}
    arrived = client.get("/s/small?id=ann", headers=headers)
    page = client.get(arrived.location, headers=headers)
    token = page.text.split('name="page" value="')[1].split('"')[0]
    client.post(arrived.location, data={"page": token, "agree": "yes"}, headers=headers)
    everything = json.dumps(rows_by_table(study), default=str) + caplog.text
    assert "consented_at" in Worker.__table__.columns
    assert study.rows(select(Worker.consented_at)) != [(None,)]
    for trace in ("203.0.113.77", "198.51.100.66", "Browser/77"):
        assert trace not in everything


def test_a_rehearsal_stays_one_when_its_ids_are_deleted(campaign, retention):
    """Else its numbers would pass for those of people."""
    one = campaign(tasks=[votes_task()])
    one.visitor().open("/s/small?id=simulated-00001").send()

    ended = retention(one, "--all-identities", "--even-unpaid", "--delete")

    assert (ended.code, count(one, PlatformIdentity)) == (0, 0)
    with transaction(one.database, write=False) as session:
        assert simulated_studies(session) == ["small"]


def test_a_real_study_stays_real_when_its_ids_are_deleted(study, retention):
    """Nothing is recorded of it."""
    retention(study, "--all-identities", "--even-unpaid", "--delete")

    with transaction(study.database, write=False) as session:
        assert simulated_studies(session) == []
