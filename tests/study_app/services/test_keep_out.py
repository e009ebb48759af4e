"""Whom a study keeps out: lists of ids, digests, and the people of an earlier study; what they read; what is refused."""

import re

import pytest
from sqlalchemy import select
from werkzeug.test import Client

from study_app.cli.study.commands import as_text
from study_app.estimate.content import read_ready_study, read_whole_study
from study_app.estimate.estimate import estimate
from study_app.preview.app import Preview
from study_app.store.console_models import AuditEntry
from study_app.store.models import LoadedStudy, PlatformEntry, PlatformIdentity
from study_app.study.id_list import digest_of
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_study import votes_task, write_small_study
from tests.study_app.study.test_shared_pseudonyms import KEY, with_key

ANN, BOB, CLEO = (f"{number:024x}" for number in (1, 2, 3))


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs a command on a study's database, by its clock."""

    def of(study, *arguments, code=0):
        monkeypatch.setattr("study_app.store.tokens.utc_now", study.clock)
        ended = run_here(monkeypatch, capsys, *arguments, "--database", study.url)
        assert ended.code == code, ended
        assert "Traceback" not in ended.err
        return ended

    return of


@pytest.fixture
def study(campaign):
    """Ann has agreed to take part in the earlier study, Bob only came; both are Prolific's."""
    one = campaign(platform="prolific", tasks=[votes_task()], completion_code="DONE-1")
    come(one, ANN, "small").send()
    come(one, BOB, "small")
    return one


def come(study, name, to="later"):
    return study.visitor().open(f"/s/{to}?PROLIFIC_PID={name}&STUDY_ID=x&SESSION_ID=of-{name}")


def later(study, listed=None, **changes):
    """Write the later study, with lists beside it."""
    folder = study.folder / "later"
    folder.mkdir(exist_ok=True)
    for name, text in (listed or {}).items():
        (folder / name).write_text(text, encoding="utf-8-sig")
    given = {"platform": "prolific", "completion_code": "DONE-2", "tasks": [votes_task()], **changes}
    return write_small_study(folder, study="later", **given)


def text_of(visitor):
    return " ".join(visitor.html.main.get_text(" ").split())


def test_who_took_part_before_is_kept_out_and_led_back(study, run):
    """Before consent, with the code of who is screened out; nothing is stored, and who only came before may come."""
    run(study, "study", "load", later(study, keep_out="study small", codes={"screened_out": "OUT-1"}))
    kept = come(study, ANN)
    assert (kept.status, come(study, BOB).status) == (403, 200)
    assert "this time we ask others" in text_of(kept)
    assert "OUT-1" in text_of(kept)
    assert (
        kept.html.find("a", class_="button")["href"]
        == "https://app.prolific.com/submissions/complete?cc=OUT-1"
    )
    of_later = select(PlatformIdentity.platform_worker).join(
        LoadedStudy, LoadedStudy.id == PlatformIdentity.study_id
    )
    assert [name for (name,) in study.rows(of_later.where(LoadedStudy.name == "later"))] == [BOB]
    assert len(study.rows(select(PlatformEntry.id))) == 3
    # who agrees to the earlier study while this one runs is kept out from then on; who has begun here goes on
    come(study, BOB).send()
    come(study, CLEO, "small").send()
    assert (come(study, CLEO).status, come(study, BOB).status) == (403, 200)


def test_the_page_is_in_japanese_and_says_how_to_leave_where_there_is_no_code(study, run):
    """A platform's place is to be returned; a study that anybody enters says nothing of one."""
    listed = {"out.txt": f"{ANN}\n\n{CLEO}\n"}
    task = votes_task() | {"language": "ja"}
    run(study, "study", "load", later(study, listed, keep_out="out.txt", tasks=[task]))
    page = text_of(come(study, ANN))
    assert "今回は別の方にお願いしています" in page
    assert "コードなしで参加を辞退する" in page
    assert come(study, BOB).status == 200


def test_digests_keep_out_where_the_earlier_study_is_not_loaded(study, run, new_campaign):
    """The file has no id and is for its owner alone; the audit says of how many; deleted people are counted."""
    file = study.folder / "took-part.txt"
    ended = run(study, "study", "took-part", "small", "-o", file)
    assert ended.out == f"small: 1 person who took part, in {file}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    written = file.read_text(encoding="utf-8")
    assert written == f"# digests of study small, platform prolific\n{digest_of('small', ANN)}\n"
    said = ("list who took part", "digests of the platform ids of 1 person")
    assert said in [tuple(row) for row in study.rows(select(AuditEntry.what, AuditEntry.detail))]

    elsewhere = new_campaign("elsewhere", platform="prolific", completion_code="D-1", tasks=[votes_task()])
    run(
        elsewhere,
        "study",
        "load",
        later(elsewhere, {"past": written, "own": f"{CLEO}\n"}, keep_out=["past", "own"]),
    )
    assert [come(elsewhere, name).status for name in (ANN, BOB, CLEO)] == [403, 200, 403]
    stored = str(elsewhere.rows(select(LoadedStudy.config)))
    assert ANN not in stored
    assert CLEO not in stored
    assert "keeps out 2 ids" in run_check(run, elsewhere)


def run_check(run, study):
    file = study.folder / "later" / "study.yaml"
    return run(study, "study", "load", file).out + checked(file)


def checked(file):
    content = read_ready_study(file)
    return as_text(content, estimate(content), [])


def test_a_changed_list_holds_for_new_arrivals(study, run):
    """Who has begun goes on; the audit and the output say that the list changed, with numbers and no id."""
    run(study, "study", "load", later(study, {"out.txt": f"{CLEO}\n"}, keep_out="out.txt"))
    come(study, ANN).send()
    ended = run(study, "study", "load", later(study, {"out.txt": f"{ANN}\n{BOB}\n"}, keep_out="out.txt"))
    assert re.search(r"keep_out: 1 in all, content \w+ -> 2 in all", ended.out)
    assert ANN not in ended.out
    assert [come(study, name).status for name in (ANN, BOB, CLEO)] == [200, 403, 200]


def test_deletion_says_who_is_recognised_no_more_and_where_digests_stay(study, run):
    """By a key of shared pseudonyms they still are recognised."""
    run(study, "study", "load", later(study, {"out.txt": f"{ANN}\n"}, keep_out=["out.txt", "study small"]))
    ended = run(study, "retention", "small", "--platform-id", ANN, "--delete", "--even-unpaid")
    assert (
        "later keeps out who took part in small, and cannot recognise people whose id is deleted" in ended.err
    )
    assert "a list of later (ids, keep_out) has the digest of this id" in ended.err

    run(study, "study", "load", with_key(study, "keyed", KEY, platform="prolific", completion_code="D-3"))
    come(study, CLEO, "keyed").send()
    run(study, "retention", "keyed", "--all-identities", "--delete")
    run(study, "study", "load", later(study, keep_out="study keyed"))
    assert come(study, CLEO).status == 403


def test_the_platforms_list_tells_who_was_kept_out(study, run):
    """Their submission is no stranger's."""
    run(study, "study", "load", later(study, keep_out="study small"))
    listed = study.folder / "list.csv"
    listed.write_text(
        f"Submission id,Participant id,Status,Completion code\ns1,{ANN},AWAITING REVIEW,OUT-1\ns2,{CLEO},APPROVED,\n"
    )
    found = run(study, "reconcile", "later", listed).out
    assert re.search(rf"{ANN} +s1 .*kept_out", found)
    assert re.search(rf"{CLEO} +s2 .*unknown", found)


BAD_LISTS = {
    "": "0 ids",
    "ann\nbob\n": "not an id of platform prolific, and 1 further line neither",
    f"Submission id,Participant id,Status\ns1,{ANN},APPROVED\n": "a table of several columns",
    f"# digests of study x, platform sona\n{'0' * 64}\n": "ids of platform sona, and the study is on prolific",
    "# digests of study x, platform prolific\nabc\n": "not a digest",
}
BAD_KEYS = {
    "study later": "keep_out names this study itself",
    "study none": "no study 'none' is loaded here",
    "study small": "study small is on platform prolific, whose ids are not those of connect",
    "gone.txt": "keep_out: gone.txt cannot be read",
    "": "must be the name of a file of ids, or study and the name of an earlier study",
}


def test_what_could_keep_nobody_out_is_one_clear_line(study, run):
    """With file and line; nothing is loaded."""
    for text, problem in BAD_LISTS.items():
        ended = run(study, "study", "load", later(study, {"out.csv": text}, keep_out="out.csv"), code=1)
        assert len(ended.err.strip().splitlines()) == 1
        assert problem in ended.err
        assert re.search(r"out\.csv:[12]: ", ended.err)
        if text.startswith("#"):
            ended = run(study, "study", "load", later(study, {"out.csv": text}, ids="out.csv"), code=1)
            assert "these are digests, by which people can be kept out but not let in" in ended.err
    for keep_out, problem in BAD_KEYS.items():
        platform = "connect" if keep_out == "study small" else "prolific"
        ended = run(study, "study", "load", later(study, keep_out=keep_out or [], platform=platform), code=1)
        assert problem in ended.err
        assert re.search(r"study\.yaml:\d+: ", ended.err)
    assert study.rows(select(LoadedStudy.name)) == [("small",)]


def test_check_says_that_an_earlier_study_is_looked_for_where_this_one_is_loaded(study, monkeypatch, capsys):
    """It reads no database, and a study that is not there is no fault of the file."""
    ended = run_here(monkeypatch, capsys, "study", "check", later(study, keep_out="study nothere"))
    assert (ended.code, ended.err.count("\n")) == (0, 1)
    assert "keep_out: study nothere must be in the database into which this study is loaded" in ended.err


def test_a_rehearsal_keeps_out_nobody_and_shows_the_page(tmp_path):
    """The preview shows it with its code; the lists are not even read."""
    file = write_small_study(
        tmp_path,
        platform="prolific",
        completion_code="D-1",
        codes={"screened_out": "OUT-1"},
        tasks=[votes_task()],
        keep_out=["gone.txt", "study none"],
    )
    (tmp_path / "copies").mkdir()
    preview = Preview(read_whole_study(file), tmp_path / "copies")
    [number] = [number for number, station in enumerate(preview.stations) if station.name == "Kept out"]
    [consent] = [number for number, station in enumerate(preview.stations) if station.name == "Consent"]
    shown = Client(preview).get(f"/open/{number}", follow_redirects=True)
    assert (shown.status_code, "OUT-1" in shown.text) == (403, True)
    assert Client(preview).get(f"/open/{consent}", follow_redirects=True).status_code == 200


def test_nobody_tries_many_ids_from_one_network(study, run):
    """After twenty refusals a minute from an address nobody new from there learns whether an id is listed; others come in."""
    out = [f"{number:024x}" for number in range(100, 121)]
    run(study, "study", "load", later(study, {"out.txt": "\n".join(out)}, keep_out="out.txt"))
    client = study.app.test_client(use_cookies=False)

    def status(name, address):
        where = f"/s/later?PROLIFIC_PID={name}&STUDY_ID=x&SESSION_ID=y"
        return client.get(where, environ_base={"REMOTE_ADDR": address}).status_code

    assert {status(name, "127.0.0.1") for name in out} == {403}
    assert [status(name, "192.0.2.1") for name in out] == [403] * 20 + [429]
    assert (status(ANN, "192.0.2.1"), status(ANN, "192.0.2.2")) == (429, 303)
    study.clock.forward(61)
    assert (status(BOB, "192.0.2.1"), status(out[0], "192.0.2.1")) == (303, 403)
