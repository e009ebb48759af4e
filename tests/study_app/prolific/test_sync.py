"""`prefcal prolific sync`: every page, whatever fails on the way, and what follows from it."""

import csv

from sqlalchemy import select

from study_app.prolific import api
from study_app.store.database import transaction
from study_app.store.platform_models import ProlificStudy
from study_app.store.task_models import PlatformRecord
from tests.study_app.prolific.campaign_rows import person, submission
from tests.study_app.prolific.prolific_server import Fault


def states(made):
    """Return what is stored of each submission."""
    return dict(made.study.rows(select(PlatformRecord.submission, PlatformRecord.status)))


def test_sync_does_what_reconcile_does_with_a_file(new_prolific, run, monkeypatch):
    """The same findings of the same list, page by page."""
    monkeypatch.setattr(api, "PAGE", 2)
    made = new_prolific(5)
    there = made.there
    there.submit(submission(2), person(2), "APPROVED")
    there.submit(submission(3), person(3), "RETURNED", None)
    there.submit(submission(4), person(4), code=None)
    there.submit("stranger", person(77))
    there.submit("mars", person(5), "FROM MARS")
    said = made.run("sync", "-o", made.study.folder / "api.csv")
    assert said.code == 0, said.err
    assert sum("GET /api/v1/submissions/" in call for call in there.calls) == 4
    lines = [
        f"{row['id']},{row['participant_id']},{row['status']},{row['study_code'] or ''}"
        for row in there.submissions.values()
    ]
    listed = made.study.folder / "list.csv"
    listed.write_text("\n".join(["Submission id,Participant id,Status,Completion code", *lines]))
    run("reconcile", "small", listed, "-o", made.study.folder / "file.csv", "--database", made.study.url)
    by_api, by_file = (
        list(csv.DictReader((made.study.folder / name).read_text().splitlines()))
        for name in ("api.csv", "file.csv")
    )
    assert by_api == by_file
    assert {row["finding"] for row in by_api} >= {
        "pay",
        "paid",
        "not_handed_in",
        "pay_without_code",
        "unknown",
    }


def test_pages_that_cannot_be_read_do_not_cost_those_that_can(new_prolific, monkeypatch):
    """What was read is stored, nobody is said to be missing, and the next command reads the rest."""
    monkeypatch.setattr(api, "PAGE", 2)
    made = new_prolific(6)
    made.there.every = lambda call, _: Fault(502) if "page=3" in call else None
    said = made.run("sync")
    assert said.code == 1
    assert "not all of it could be read: run the same command again" in said.err
    assert "4 submissions read" in said.out
    assert "not_listed" not in said.out
    assert len(states(made)) == 4
    made.there.every = None
    assert made.run("sync").code == 0
    assert len(states(made)) == 6


def test_a_busy_page_is_read_again(new_prolific):
    """A cut connection, an error of the server and too many calls."""
    made = new_prolific()
    made.there.fail("GET .*submissions", Fault(), Fault(500), Fault(429), Fault(after=True))
    assert made.run("sync").code == 0
    assert len(states(made)) == 3


def test_a_list_that_is_shorter_than_it_says_is_not_taken_for_a_whole_one(new_prolific):
    """Submissions moved between two pages, or the API changed."""
    made = new_prolific(2)
    page = '{"results": [%s], "meta": {"count": 2}, "_links": {"next": {"href": null}}}'
    row = f'{{"id": "{submission(1)}", "participant_id": "{person(1)}", "status": "APPROVED"}}'
    made.there.fail("GET .*submissions", Fault(200, body=(page % row).encode()))
    said = made.run("sync")
    assert (said.code, "has 2 submissions, and lists 1" in said.err) == (1, True)
    assert "not_listed" not in said.out


def test_an_answer_that_changed_is_refused_by_name_and_nothing_of_it_stored(new_prolific):
    """So is the list of another study, and what is no JSON."""
    made = new_prolific()
    row = f'{{"id": "a", "participant_id": "{person(1)}", "status": "APPROVED", "study_id": "other"}}'
    for body, words in (
        (b'{"results": [{"id": "a", "pid": "b"}]}', "(results.0.participant_id: Field required)"),
        (b'{"items": []}', "(results: Field required)"),
        (b"<html>maintenance</html>", "is not what its API documents"),
        (f'{{"results": [{row}]}}'.encode(), "has submissions of another study"),
    ):
        made.there.fail("GET .*submissions", Fault(200, body=body))
        said = made.run("sync")
        assert (said.code, words in said.err) == (1, True), said.err
    assert states(made) == {}


def test_a_study_made_by_hand_is_added_if_it_leads_here(new_prolific):
    """And refused if it leads elsewhere or is not the account's."""
    made = new_prolific(1)
    with transaction(made.study.database, write=True) as session:
        session.query(ProlificStudy).delete()
    assert "no study on Prolific is known to send workers here" in made.run("sync").err
    made.there.study("elsewhere", number="5fff")
    said = made.run("sync", "--prolific-study", "5fff")
    assert (said.code, "does not lead to /s/small" in said.err) == (1, True)
    assert "see whether the study is one of this account" in made.run("sync", "--prolific-study", "nope").err
    assert made.run("sync", "--prolific-study", "5f00").code == 0
    assert len(states(made)) == 1
