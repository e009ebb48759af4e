"""`prefcal reconcile` and `prefcal bonus`: the platform's list against the data, by id, and nobody loses pay for a code."""

import csv
import stat

import pytest
from sqlalchemy import select

from study_app.services.researcher.retention import delete_rows, identity_parts
from study_app.store.database import transaction
from study_app.store.models import PlatformIdentity, Worker
from study_app.store.task_models import PlatformRecord
from study_app.study.platform_list import read_platform_list
from study_app.study.platforms import PLATFORMS
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_study import votes_task
from tests.study_app.stream_visits import HOUR, stream_study

PROLIFIC = "Submission id,Participant id,Status,Started at,Completion code"
DONE = {"dora", "eve", "finn", "gus", "hal"}
LIST = """\
s1,ann,ACTIVE,2026,
s2,bob,AWAITING REVIEW,2026,CPART
s3,cleo,AWAITING REVIEW,2026,CDONE
s4,dora,AWAITING REVIEW,2026,CDONE
s5,eve,AWAITING REVIEW,2026,NOCODE
s6,finn,APPROVED,2026,CDONE
s7,gus,RETURNED,2026,
s8,stranger,AWAITING REVIEW,2026,CDONE
s9,ida,AWAITING REVIEW,2026,NOCODE
s10,jo,AWAITING REVIEW,2026,CDONE
"""
FOUND = {
    "ann": "open",
    "bob": "ended_early",
    "cleo": "wrong_code",
    "dora": "pay",
    "eve": "pay_without_code",
    "finn": "paid",
    "gus": "not_handed_in",
    "stranger": "unknown",
    "ida": "no_data",
    "jo": "pay",
    "hal": "not_listed",
}


@pytest.fixture
def study(campaign):
    """Ann, Cleo and Ida are at work, Bob has stopped, six have answered everything; of these Jo did not press the last button."""
    one = campaign(
        platform="connect", tasks=[votes_task()], completion_code="CDONE", codes={"partial": "CPART"}
    )
    for name in ("ann", "bob", "cleo", "ida", "jo", *sorted(DONE)):
        person = one.visitor().open(f"/s/small?participantId={name}&projectId=x&assignmentId={name}").send()
        person.send(topic="1")
        if name in DONE | {"bob", "jo"}:
            person.send(intent=["1"])
        if name == "bob":
            person.open(person.home + "stop").send()
        if name in DONE:
            person.send()
    return one


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs a command on a study's database, by its clock."""

    def of(study, *arguments):
        monkeypatch.setattr("study_app.store.tokens.utc_now", study.clock)
        return run_here(monkeypatch, capsys, *arguments, "--database", study.url)

    return of


def written(study, text, header=PROLIFIC):
    path = study.folder / "platform.csv"
    path.write_text(f"{header}\n{text}", encoding="utf-8-sig")
    return path


def states(study):
    return study.progress().payments


def test_everybody_is_found_by_id_and_told_what_to_do(study, run):
    """Complete data are to be paid whatever code was handed in; a right code without data is asked about, never rejected."""
    ended = run(study, "reconcile", "small", written(study, LIST), "-o", study.folder / "out.csv")
    assert ended.code == 0, ended.err
    with (study.folder / "out.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["platform_id"]: row["finding"] for row in rows} == FOUND
    assert {row["platform_id"]: row["ended"] for row in rows}["jo"] == "unpressed"
    assert stat.S_IMODE((study.folder / "out.csv").stat().st_mode) == 0o600
    assert rows[0]["finding"] == "pay_without_code"
    assert "     1  pay_without_code: complete data, but no code" in ended.out
    listed = ended.out.partition("\n\n")[2]
    assert "eve" in listed
    assert "finn" not in listed
    assert "reject" not in ended.out.replace("no reason to reject anybody", "")


def test_no_code_is_not_the_code_of_an_end_that_has_none(campaign, run):
    """Kim stopped before anything was answered, and got no code: there is nothing to pay for."""
    study = campaign(platform="connect", tasks=[votes_task()], completion_code="CDONE")
    kim = study.visitor().open("/s/small?participantId=kim&projectId=x&assignmentId=y").send()
    kim.open(kim.home + "stop").send()
    said = run(study, "reconcile", "small", written(study, "s1,kim,AWAITING REVIEW,2026,NOCODE\n")).out
    assert "1  no_data" in said
    assert "ended_early" not in said


def test_what_the_platform_says_is_kept_and_the_newest_list_counts(study, run):
    """Four states that are not the same; reading a list again stores nothing twice."""
    run(study, "reconcile", "small", written(study, LIST))
    assert (states(study).complete, states(study).shown, states(study).confirmed, states(study).paid) == (
        6,
        5,
        7,
        1,
    )
    assert states(study).early == {"screened_out": 0, "failed_checks": 0, "partial": 1}
    run(study, "reconcile", "small", written(study, LIST.replace("AWAITING REVIEW", "APPROVED")))
    assert (states(study).confirmed, states(study).paid) == (7, 7)
    records = study.rows(select(PlatformRecord.submission, PlatformRecord.status))
    assert min(records) == ("s1", "ACTIVE")
    assert len(records) == 9


def test_status_and_the_researchers_page_show_the_four_states(study, run):
    """Where one looks every morning."""
    run(study, "reconcile", "small", written(study, LIST))
    told = "data complete 6, code shown 5, confirmed by the platform 7, paid 1"
    assert told in run(study, "status").out
    assert "ended early: screened out 0, failed checks 0, partial 1" in run(study, "status").out
    run(study, "study", "pause", "small")
    assert "; paused since 2026-03-01 12:00 UTC" in run(study, "status").out
    assert run(study, "study", "resume", "small").out == "small is open to new workers again\n"


def test_one_submission_under_two_ids_is_flagged_and_paid_to_the_one_the_list_names(campaign, run, caplog):
    """Zoe opens Ann's address with an id she made up. She is let in: only the list can tell which of the two is the platform's."""
    study = campaign(platform="connect", tasks=[votes_task()], completion_code="CDONE")
    for name, submission in (("ann", "s1"), ("zoe", "s1"), ("bob", "s2")):
        person = study.visitor().open(f"/s/small?participantId={name}&assignmentId={submission}").send()
        person.send(topic="1").send(intent=["1"]).send()
    [record] = [record for record in caplog.records if record.name == "prefcal.door"]
    assert "came under a submission of" in record.getMessage()
    listed = written(study, "s1,ann,AWAITING REVIEW,2026,CDONE\ns2,bob,AWAITING REVIEW,2026,CDONE\n")
    run(study, "reconcile", "small", listed, "-o", study.folder / "out.csv")
    with (study.folder / "out.csv").open(encoding="utf-8") as file:
        found = {row["platform_id"]: row["finding"] for row in csv.DictReader(file)}
    assert found == {"ann": "pay", "bob": "pay", "zoe": "shared_submission"}
    assert "under a submission of the platform that another id has too: 2\n" in run(study, "status").out
    run(study, "export", study.folder / "tables")
    with (study.folder / "tables" / "workers.csv").open(encoding="utf-8") as file:
        assert sorted((row["flags"] for row in csv.DictReader(file)), reverse=True) == [
            "shared_submission",
            "shared_submission",
            "",
        ]


def test_a_visit_is_paid_by_its_own_submission(campaign, run):
    """A diary: three submissions of one worker; for the first and the third they came and read nothing."""
    study = stream_study(campaign, platform="connect", visit_code="CVISIT")
    ann = study.visitor().open("/s/small?participantId=ann&projectId=d0&assignmentId=s0").send().send()
    for day in (1, 2):
        study.clock.forward(24 * HOUR)
        ann.open(f"/s/small?participantId=ann&projectId=d{day}&assignmentId=s{day}")
        if day == 1:
            ann.send(done="1")
    codes = {"s0": "NOCODE", "s1": "NOCODE", "s2": "CVISIT"}
    lines = "".join(f"{name},ann,AWAITING REVIEW,2026,{code}\n" for name, code in codes.items())
    run(study, "reconcile", "small", written(study, lines), "-o", study.folder / "out.csv")
    with (study.folder / "out.csv").open(encoding="utf-8") as file:
        found = {row["submission"]: row["finding"] for row in csv.DictReader(file)}
    assert found == {"s0": "no_data", "s1": "pay_without_code", "s2": "wrong_code"}


@pytest.mark.parametrize(
    ("platform", "header", "line"),
    [
        ("prolific", "session_id,participant_id,status,entered_code", "S,W,AWAITING REVIEW,C"),
        ("connect", "ParticipantId,AssignmentId,Status,CompletionCode", "W,S,Pending,C"),
        ("mturk", "AssignmentId,WorkerId,AssignmentStatus,Answer.code", "S,W,Submitted,C"),
        ("generic", "ID,Session ID,STATUS,Code", "W,S,submitted,C"),
    ],
)
def test_columns_are_known_by_the_names_that_platforms_give_them(tmp_path, platform, header, line):
    """Whatever their case, blanks and marks, in any order."""
    path = tmp_path / "list.csv"
    path.write_text(f"{header}\n\n{line}\n")
    [one] = read_platform_list(path, PLATFORMS[platform], named={}).submissions
    assert (one.worker, one.submission, one.code, one.confirmed, one.paid) == ("W", "S", "C", True, False)


def test_columns_and_states_can_be_named(tmp_path):
    """Nobody's list is unreadable for its names."""
    path = tmp_path / "list.csv"
    path.write_text("who;x,state\nW,granted\nV,lost\n".replace(";x", ""))
    named = {"id": "Who", "status": "state"}
    found = read_platform_list(path, PLATFORMS["sona"], named=named, states={"Granted": "paid"})
    assert [(one.worker, one.paid) for one in found.submissions] == [("W", True), ("V", False)]
    assert found.unknown == ("lost",)


def test_of_a_state_that_is_not_known_nothing_is_advised(study, run):
    """It may mean paid already: whoever paid a bonus then paid twice."""
    ended = run(study, "reconcile", "small", written(study, "s4,dora,MOON,2026,CDONE\ns1,ann,MOON,2026,\n"))
    rows = [row.split() for row in ended.out.partition("\n\n")[2].splitlines()[2:]]
    assert {row[0] for row in rows if "unknown_state" in row} == {"dora", "ann"}
    assert "note: unknown state 'MOON', so those submissions get no advice" in ended.err
    assert "--paid, --confirmed (handed in, not paid) or --open (not handed in) 'MOON'" in ended.err


@pytest.mark.parametrize(
    ("option", "finding"), [("--paid", "paid"), ("--confirmed", "pay"), ("--open", "not_handed_in")]
)
def test_what_a_state_means_can_be_said(study, run, option, finding):
    """Whichever of the platform's states it is; the same word for two of them is a mistake."""
    path = written(study, "s4,dora,MOON,2026,CDONE\ns5,eve,APPROVED,2026,\n")
    known = run(study, "reconcile", "small", path, option, "Moon", "-o", study.folder / "out.csv")
    assert known.code == 0, known.err
    rows = csv.DictReader((study.folder / "out.csv").read_text().splitlines())
    assert {row["platform_id"]: row["finding"] for row in rows}["dora"] == finding
    both = run(study, "reconcile", "small", path, "--paid", "Moon", "--open", "Moon")
    assert (both.code, both.out) == (2, "")


def test_ids_that_were_deleted_are_not_taken_for_strangers(study, run):
    """Neither here nor in a list of bonuses, of which nobody would know why it is empty."""
    assert run(study, "retention", "small", "--all-identities", "--delete", "--even-unpaid").code == 0
    ended = run(study, "reconcile", "small", written(study, LIST))
    assert "note: the platform ids of 10 workers of this study were deleted" in ended.err
    assert "unknown: nobody in this study has this id: they never came, or their id was deleted" in ended.out
    bonus = run(study, "bonus", "small", "--each", "1")
    assert (bonus.code, bonus.out) == (1, "")
    assert "the platform ids of all 6 workers with complete data were deleted" in bonus.err


def test_a_bonus_list_says_who_is_missing_from_it(study, run):
    """One id is gone, five are known."""
    with transaction(study.database, write=True) as session:
        identity = session.scalars(
            select(PlatformIdentity).where(PlatformIdentity.platform_worker == "finn")
        ).one()
        delete_rows(session, identity_parts([identity.worker_id]))
    ended = run(study, "bonus", "small", "--each", "1", "--even-unlisted")
    assert ended.out.count("\n") == 5
    assert "note: 1 more have complete data, but their platform ids were deleted" in ended.err


def test_a_list_that_cannot_be_read_stores_nothing(study, run):
    """Faults with their lines and cures."""
    ended = run(study, "reconcile", "small", written(study, "1,2\n", header="a,b"))
    assert ended.code == 1
    assert "missing column with the ids of the workers; name it with --id-column; there are a, b" in ended.err
    assert "missing column with the states of the submissions; name it with --status-column" in ended.err
    ended = run(study, "reconcile", "small", written(study, LIST + "s1,,ACTIVE,2026,\n"))
    assert f"{study.folder / 'platform.csv'}:12: missing id of the worker" in ended.err
    assert study.rows(select(PlatformRecord)) == []
    assert "cannot be read" in run(study, "reconcile", "small", study.folder / "nothing.csv").err


def test_a_bonus_for_all_is_a_line_for_each_who_finished(study, run):
    """In the form that is pasted into the platform's page; nobody who withdrew, and nobody whose id may be made up."""
    with transaction(study.database, write=True) as session:
        identity = session.scalars(
            select(PlatformIdentity).where(PlatformIdentity.platform_worker == "finn")
        ).one()
        session.get_one(Worker, identity.worker_id).withdrawn_at = study.clock()
    assert "none of the platform lists read so far has" in run(study, "bonus", "small", "--each", "1").err
    run(study, "reconcile", "small", written(study, LIST))
    ended = run(study, "bonus", "small", "--each", "0.5")
    assert ended.out == "jo,0.50\ndora,0.50\neve,0.50\ngus,0.50\n"
    assert "note: 1 more have complete data, but no list of the platform has their ids" in ended.err
    assert ended.err.endswith("4 bonuses, 2.00 in all\n")


def test_complete_means_one_thing_everywhere_the_last_button_pressed_or_not(study, run):
    """Jo answered everything and closed the page: reconcile, bonus, status, console and the exported tables count her."""
    assert "6 of these workers" in run(study, "retention", "small", "--all-identities").err
    run(study, "reconcile", "small", written(study, LIST))
    assert "jo,1.00\n" in run(study, "bonus", "small", "--each", "1").out
    assert study.progress().completed == study.progress().payments.complete == 6
    assert "6 completed, 0 withdrawn" in run(study, "status").out
    people = csv.DictReader(study.console().get("/r/small/people.csv").text.splitlines())
    assert [row["state"] for row in people].count("complete") == 6
    run(study, "export", study.folder / "tables")
    with (study.folder / "tables" / "workers.csv").open(encoding="utf-8") as file:
        assert sum(bool(row["completed_at"]) for row in csv.DictReader(file)) == 6


def test_half_of_what_is_asked_is_not_complete(campaign, run):
    """Each judges both queries; Kim judged one and left, though the other has room."""
    study = campaign(platform="connect", tasks=[votes_task(queries_per_worker=2)], completion_code="CDONE")
    kim = study.visitor().open("/s/small?participantId=kim&projectId=x&assignmentId=y").send()
    kim.send(topic="1").send(intent=["1"])
    said = run(study, "reconcile", "small", written(study, "s1,kim,AWAITING REVIEW,2026,NOCODE\n")).out
    assert "1  no_data" in said
    kim.send(intent=["1"])
    said = run(study, "reconcile", "small", written(study, "s1,kim,AWAITING REVIEW,2026,NOCODE\n")).out
    assert "1  pay_without_code" in said


RETURNED, HANDED_IN, PAID = (
    f"{name},dora,{state},2026,{{}}\n"
    for name, state in (("s4", "RETURNED"), ("s11", "AWAITING REVIEW"), ("s12", "APPROVED"))
)


@pytest.mark.parametrize(
    ("lists", "found"),
    [
        ([RETURNED + HANDED_IN], {"s4": "open", "s11": "pay"}),
        ([HANDED_IN + RETURNED], {"s4": "open", "s11": "pay"}),
        ([RETURNED + PAID], {"s4": "open", "s12": "paid"}),
        ([RETURNED, HANDED_IN], {"s4": "open", "s11": "pay"}),
        ([HANDED_IN + PAID], {"s11": "same_work", "s12": "paid"}),
        ([PAID, HANDED_IN], {"s11": "same_work", "s12": "paid"}),
    ],
)
def test_one_piece_of_work_is_paid_once(study, run, lists, found):
    """Dora returned a submission and handed the same work in by another; both may stand in one list or in two."""
    for text in lists:
        ended = run(study, "reconcile", "small", written(study, text.format("CDONE", "CDONE")))
        assert ended.code == 0, ended.err
    stored = study.rows(select(PlatformRecord.submission, PlatformRecord.finding))
    assert dict(tuple(row) for row in stored) == found


def test_bonuses_by_pseudonym_become_bonuses_by_platform_id(study, run):
    """The analysis knows pseudonyms only."""
    [(ann,), (bob,)] = study.rows(select(Worker.pseudonym).where(Worker.number <= 2).order_by(Worker.number))
    path = study.folder / "bonus.csv"
    path.write_text(f"worker,why,amount\n{bob},fast,1.25\n{ann},good,2\n")
    listed = study.folder / "list.txt"
    ended = run(study, "bonus", "small", path)
    assert ended.err.count("none of the platform lists read so far has the id of") == 2
    run(study, "reconcile", "small", written(study, LIST))
    ended = run(study, "bonus", "small", path, "-o", listed)
    assert ended.code == 0, ended.err
    assert listed.read_text() == "bob,1.25\nann,2.00\n"
    assert stat.S_IMODE(listed.stat().st_mode) == 0o600


def test_faults_of_a_list_of_bonuses_come_all_at_once(study, run):
    """Money is not guessed at."""
    [(ann,)] = study.rows(select(Worker.pseudonym).where(Worker.number == 1))
    path = study.folder / "bonus.csv"
    path.write_text(f"worker,amount\n{ann},1.255\nnobody,1\n{ann},-1\n{ann},1E+99\n")
    ended = run(study, "bonus", "small", path, "--even-unlisted")
    assert (ended.code, ended.out) == (1, "")
    assert [line.split(":", 2)[1] for line in ended.err.splitlines()[1:]] == ["2", "3", "4", "4", "5", "5"]
    assert run(study, "bonus", "small", "--each", "much").code == 1
    assert run(study, "bonus", "small").code == 2
