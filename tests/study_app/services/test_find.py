"""People found by their id at the platform: standing, payments, withdrawal, deletion; each search stands in the audit, without the id."""

import csv

import pytest
from sqlalchemy import select

from study_app.services.researcher.audit import LOOK_UP, NOBODY
from study_app.store.check import check_database
from study_app.store.console_models import AuditEntry
from study_app.store.models import Ballot, LoadedStudy, PlatformIdentity, Worker
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_study import votes_task, write_small_study
from tests.study_app.study.test_shared_pseudonyms import with_key
from tests.study_app.web.console.console_client import text_of, token, watcher

HEADER = "Submission id,Participant id,Status,Completion code\n"
ANN, BOB = "ann-at-the-platform", "bob-at-the-platform"


@pytest.fixture
def study(campaign):
    """Ann has finished and stands on the platform's list, Bob is at work; another study on another platform knows Ann too."""
    one = campaign(platform="connect", tasks=[votes_task()], completion_code="CDONE")
    (one.folder / "other").mkdir()
    other = write_small_study(one.folder / "other", study="other", tasks=[votes_task()])
    one.load_file(other)
    for name in (ANN, BOB):
        person = (
            one.visitor().open(f"/s/small?participantId={name}&projectId=x&assignmentId={name[:3]}").send()
        )
        person.send(topic="1")
        if name == ANN:
            person.send(intent=["1"]).send()
    one.arrive(ANN, study="other").send()
    return one


@pytest.fixture
def run(study, monkeypatch, capsys):
    """Return a function that runs a command on the study's database, by its clock; no output has an id of the other study's people."""

    def of(*arguments, code=0):
        monkeypatch.setattr("study_app.store.tokens.utc_now", study.clock)
        ended = run_here(monkeypatch, capsys, *arguments, "--database", study.url)
        assert ended.code == code, ended
        assert "Traceback" not in ended.err
        return ended

    return of


def pseudonym(study, name, of="small"):
    query = (
        select(Worker.pseudonym).join(PlatformIdentity).join(LoadedStudy, LoadedStudy.id == Worker.study_id)
    )
    [found] = study.rows(query.where(PlatformIdentity.platform_worker == name, LoadedStudy.name == of))
    return found[0]


def searches(study, of="small"):
    query = select(AuditEntry.who, AuditEntry.detail).join(LoadedStudy, LoadedStudy.id == AuditEntry.study_id)
    query = query.where(AuditEntry.what == LOOK_UP, LoadedStudy.name == of).order_by(AuditEntry.number)
    return [tuple(row) for row in study.rows(query)]


def test_a_person_is_found_with_standing_and_payments(study, run):
    """In every study that has the id, on whatever platform; the file of `reconcile` has the pseudonym of each."""
    listed = study.folder / "list.csv"
    listed.write_text(f"{HEADER}ann,{ANN},AWAITING REVIEW,CDONE\nx,{BOB}-not,APPROVED,\n", encoding="utf-8")
    run("reconcile", "small", listed, "-o", study.folder / "found.csv")
    with (study.folder / "found.csv").open(encoding="utf-8") as file:
        rows = {row["platform_id"]: row["worker"] for row in csv.DictReader(file)}
    ann = pseudonym(study, ANN)
    assert rows == {ANN: ann, f"{BOB}-not": ""}

    ended = run("worker", "--platform-id", f" {ANN}")

    small, other = ended.out.split("\n\n")
    assert small.startswith(f"small: worker {ann}, from platform connect; finished\n")
    for words in ("task 1, votes: 1 of 1 place done, 1 answer", "code: complete, shown 2026-03-01"):
        assert words in small
    assert "payment: submission ann: AWAITING REVIEW on the platform's list: pay" in small
    assert other.startswith(f"other: worker {pseudonym(study, ANN, 'other')}, from platform generic; at work")
    assert "no list of the platform has them" in other
    assert "several platforms, which may be different people" in ended.err
    assert searches(study) == [("command line", ann)]
    assert searches(study, "other") == [("command line", pseudonym(study, ANN, "other"))]
    assert ANN not in str(study.rows(select(AuditEntry.detail)))


NOT_FOUND = [
    (["worker", "--platform-id", "nobody"], "no worker of any loaded study has this platform id"),
    (["worker", "small", "--platform-id", "a\0b"], "no worker of small has this platform id"),
    (["worker", "other", "--platform-id", BOB], "it stands in small: name that study"),
    (["worker", "none", "--platform-id", ANN], "unknown study 'none'"),
    (["withdraw", "--platform-id", ANN], "this id stands in 2 studies (small on connect, other on generic)"),
    (["retention", "--platform-id", ANN, "--delete"], "this id stands in 2 studies"),
    (["retention", "other", "--platform-id", BOB, "--delete"], "no worker of other has this platform id"),
]


def test_who_is_not_found_is_said_in_a_line_and_the_search_is_kept(study, run):
    """Nothing else changes."""
    before = study.rows(select(Worker.withdrawn_at)), study.rows(select(PlatformIdentity.id))
    for words, problem in NOT_FOUND:
        ended = run(*words, code=1)
        assert problem in ended.err
        assert len(ended.err.strip().splitlines()) == 2  # the first says which database
    assert (study.rows(select(Worker.withdrawn_at)), study.rows(select(PlatformIdentity.id))) == before
    ann, bob = pseudonym(study, ANN), pseudonym(study, BOB)
    assert [detail for _, detail in searches(study)] == [NOBODY, NOBODY, bob, ann, ann, bob]
    of_other = [detail for _, detail in searches(study, "other")]
    assert of_other == [NOBODY, NOBODY, *[pseudonym(study, ANN, "other")] * 2, NOBODY]


def test_somebody_is_withdrawn_by_id_in_the_study_that_is_named(study, run):
    """The other study is named, where the person stays."""
    ended = run("withdraw", "--platform-id", ANN, "--study", "small")
    assert ended.out == f"small: worker {pseudonym(study, ANN)} has withdrawn\n"
    assert "this id stands in other too, where nothing was changed" in ended.err
    assert "had withdrawn already" in run("withdraw", "--platform-id", ANN, "--study", "small").out
    withdrawn = study.rows(select(Worker.pseudonym).where(Worker.withdrawn_at.is_not(None)))
    assert [name for (name,) in withdrawn] == [pseudonym(study, ANN)]
    assert "withdrew; " in run("worker", "small", "--platform-id", ANN).out.replace(
        "\n  withdrew ", "withdrew; "
    )
    run("withdraw", "--platform-id", ANN, "--study", "small", "CODE", code=2)


def test_somebody_is_deleted_by_id(study, run):
    """Without --delete it only says so; the unpaid are kept unless said; the audit says of how many people, with no id."""
    ann = pseudonym(study, ANN)
    shown = run("retention", "small", "--platform-id", ANN)
    assert shown.out.startswith(f"small: worker {ann}\nwould delete: ")
    assert "not known to be paid" in run("retention", "small", "--platform-id", ANN, "--delete", code=1).err
    assert len(study.rows(select(Ballot.id))) == 1
    ended = run("retention", "small", "--platform-id", ANN, "--delete", "--even-unpaid")
    assert "1 of platform_identity" in ended.out
    assert "stands in other too" in ended.err
    assert study.rows(select(Ballot.id)) == []
    [(withdrawn,)] = study.rows(select(Worker.withdrawn_at).where(Worker.pseudonym == ann))
    assert withdrawn is not None
    said = [tuple(row) for row in study.rows(select(AuditEntry.what, AuditEntry.detail))]
    assert ("withdraw", ann) in said
    assert any(
        what == "delete" and detail.startswith("every answer, event and id of 1 person (")
        for what, detail in said
    )
    assert ANN not in str(said)
    assert "no worker of small" in run("worker", "small", "--platform-id", ANN, code=1).err
    assert check_database(study.database) == []


def test_a_deleted_id_is_found_by_the_key_of_shared_pseudonyms(study, run):
    """And it is said that whoever has the key can still link."""
    run("study", "load", with_key(study, "keyed"))
    study.arrive(ANN, study="keyed").send()
    name = pseudonym(study, ANN, "keyed")
    assert "key file: whoever has it" in run("retention", "keyed", "--all-identities", "--delete").err
    ended = run("worker", "keyed", "--platform-id", ANN)
    assert name in ended.out
    assert "the platform id was deleted here; " in ended.err
    gone = run("retention", "keyed", "--platform-id", ANN, "--delete")
    assert "key file: whoever has it" in gone.err


def test_the_console_finds_who_may_see_ids(study):
    """A key to watch has no such form, and its request is refused; the id stands in no address and not in the audit."""
    client, ann = study.console(), pseudonym(study, ANN)
    assert "Id at the platform" in text_of(client.get("/r/small/people"))
    form = {"csrf": token(client), "platform_id": ANN}
    found = client.post("/r/small/people/find", data=form)
    assert found.location.startswith(f"/r/small/people/{ann}?done=")
    page = text_of(client.get(found.location))
    assert f"Done: look up by platform id ({ann})" in page
    assert "Code for complete shown 2026-03-01" in page
    assert "No list of the platform has this person." in page
    nobody = client.post("/r/small/people/find", data=form | {"platform_id": "x"}, follow_redirects=True)
    assert f"Done: look up by platform id ({NOBODY})." in text_of(nobody)
    assert searches(study) == [("key of the installation", ann), ("key of the installation", NOBODY)]
    taken = list(csv.DictReader(client.get("/r/small/audit.csv").text.splitlines()))
    assert [(row["what"], row["people"], row["detail"]) for row in taken[-2:]] == [
        (LOOK_UP, "1", ann),
        (LOOK_UP, "0", NOBODY),
    ]

    own = f"/r/small/people/{ann}"
    assert client.post(f"{own}/withdraw", data={"csrf": token(client)}).status_code == 422
    sure = {"csrf": token(client), "sure": "yes"}
    assert f"Done: withdraw ({ann})." in text_of(
        client.post(f"{own}/withdraw", data=sure, follow_redirects=True)
    )
    assert client.post(f"{own}/withdraw", data=sure).status_code == 409
    withdrawn = study.rows(select(Worker.pseudonym).where(Worker.withdrawn_at.is_not(None)))
    assert [name for (name,) in withdrawn] == [ann]

    looking = watcher(study)
    assert "Id at the platform" not in text_of(looking.get("/r/small/people"))
    form = {"csrf": token(looking), "platform_id": ANN}
    assert looking.post("/r/small/people/find", data=form).status_code == 403
    bob = f"/r/small/people/{pseudonym(study, BOB)}"
    shown = text_of(looking.get(bob))
    assert "No list of the platform" not in shown
    assert "asked to have the answers withdrawn" not in shown
    assert looking.post(f"{bob}/withdraw", data={"csrf": token(looking), "sure": "yes"}).status_code == 403
