"""How a worker's part ends: finished, stopped, withdrawn; what is shown then, for ever; and who may not begin."""

import hashlib
import re

import pytest
from sqlalchemy import select

from study_app.services.researcher.studies import pause, resume
from study_app.services.worker.ends import stop
from study_app.services.worker.worker_progress import load_progress
from study_app.store.database import transaction
from study_app.store.models import LoadedStudy, Slot, Worker
from study_app.store.task_models import CodeShown
from study_app.web.serving import NAME
from tests.study_app.small_study import pairs_task, votes_task
from tests.study_app.stream_visits import follow, stream_study

RETURN = "https://lab.example/?c={code}"


def shown(study):
    """Every code that was noted as shown."""
    return study.rows(select(CodeShown.worker_id, CodeShown.kind, CodeShown.code, CodeShown.shown_at))


def worker(study, number=1):
    [(row,)] = study.rows(select(Worker).where(Worker.number == number))
    return row


def end(study, kind):
    """End the first worker's part from within, as a failed check or a screening question does."""
    server = study.app.extensions[NAME]
    with transaction(study.database, write=True) as session:
        here = load_progress(session, server.plans, 1, now=study.clock(), lock=True)
        stop(session, here, kind, now=study.clock())


@pytest.fixture
def at_finish(campaign):
    """A study with a way back, and a worker before its last button."""
    study = campaign(tasks=[votes_task()], return_url=RETURN, completion_code="CDONE")
    ann = study.arrive().send().send(topic="1").send(intent=["1"])
    assert ann.step == "finish"
    return study, ann


def test_the_withdrawal_code_is_said_before_the_browser_leaves(at_finish):
    """The next page may be gone before anybody has read it."""
    study, ann = at_finish
    assert worker(study).withdrawal_code in ann.text


def test_finishing_leads_back_at_once_and_only_then(at_finish):
    """The page that the last form answers with leaves by itself; the same page opened later stays, with a button."""
    _, ann = at_finish
    ann.send()
    [refresh] = ann.html.select("meta[http-equiv=refresh]")
    assert refresh["content"] == "0; url=https://lab.example/?c=CDONE"
    assert ann.html.select_one("[data-code]").get_text() == "CDONE"
    assert ann.html.select_one("a.button")["href"] == "https://lab.example/?c=CDONE"
    for path in ("", "done", "finish", "consent"):
        ann.open(ann.home + path)
        assert ann.step == "done"
        assert not ann.html.select("meta[http-equiv=refresh]")
        assert ann.html.select_one("[data-code]").get_text() == "CDONE"
        assert ann.html.select_one("a.button")


def test_a_study_may_leave_the_button_to_the_worker(campaign):
    """return_at_once: false."""
    study = campaign(tasks=[votes_task()], return_url=RETURN, return_at_once=False)
    ann = study.arrive().send().send(topic="1").send(intent=["1"]).send()
    assert ann.step == "done"
    assert not ann.html.select("meta[http-equiv=refresh]")
    assert ann.html.select_one("a.button")["href"].startswith("https://lab.example/?c=")


def test_a_code_is_noted_when_it_is_first_shown(at_finish):
    """Data complete and code shown are two states: the browser may die between them."""
    study, ann = at_finish
    answer = ann.client.post(ann.path, data=ann.form())
    assert answer.status_code == 303
    assert worker(study).completed_at is not None
    assert shown(study) == []
    study.clock.forward(60)
    ann.open(ann.home)
    first = study.clock()
    study.clock.forward(60)
    ann.open(ann.home)
    assert shown(study) == [(1, "complete", "CDONE", first)]


def test_stopping_is_asked_once_more_and_then_for_good(campaign):
    """A click too many can be taken back; after the second nothing changes, and the place is free."""
    study = campaign(tasks=[pairs_task()], codes={"partial": "CPART"}, return_url=RETURN)
    ann = study.at_pairs()
    pair = ann.path
    form = ann.form()
    ann.send(choice="left").open(ann.html.select_one(".foot a")["href"])
    assert ann.step == "stop"
    assert ann.html.select_one("a.button")["href"] == "./"
    ann.send()
    assert ann.step == "stopped"
    assert ann.html.select_one("[data-code]").get_text() == "CPART"
    assert ann.html.select_one("a.button")["href"] == "https://lab.example/?c=CPART"
    assert study.rows(select(Slot.id).where(Slot.expires_at > study.clock())) == []
    ann.send(form=form, to=pair, choice="right")
    assert ann.step == "stopped"
    for path in ("", "stop", "finish", "done", "1/1/pair/1", "consent"):
        ann.open(ann.home + path)
        assert ann.step == "stopped"
        assert not ann.html.select("meta[http-equiv=refresh]")
    assert (worker(study).stopped_as, worker(study).completed_at) == ("partial", None)
    assert [row[1:3] for row in shown(study)] == [("partial", "CPART")]
    assert study.arrive().step == "stopped"


def test_who_has_answered_nothing_gets_no_code_for_stopping(campaign):
    """No data, no code; the page says how to leave the platform's place."""
    study = campaign(codes={"partial": "CPART"}, return_url=RETURN)
    ann = study.arrive().send()
    ann.open(ann.home + "stop").send()
    assert ann.step == "stopped"
    assert "CPART" not in ann.response.text
    assert not ann.html.select("a.button, [data-code]")
    assert "before you answered anything" in ann.text
    assert "return or cancel" in ann.text
    assert shown(study) == []


def test_who_has_followed_a_stream_gets_the_code_for_a_part(campaign):
    """What they read in those days is stored, though the days are not over."""
    study = stream_study(campaign, codes={"partial": "CPART"})
    ann = follow(study)
    ann.open(ann.home + "stop").send()
    assert ann.html.select_one("[data-code]").get_text() == "CPART"


@pytest.mark.parametrize("kind", ["screened_out", "failed_checks"])
def test_who_is_stopped_gets_the_code_for_that(campaign, kind):
    """Each end has its own code, and words that blame nobody."""
    study = campaign(tasks=[votes_task()], codes={kind: "CEND"}, return_url=RETURN, completion_code="CDONE")
    ann = study.arrive().send()
    end(study, kind)
    ann.open(ann.home)
    assert ann.step == "stopped"
    assert ann.html.select_one("[data-code]").get_text() == "CEND"
    assert ann.html.select_one("a.button")["href"] == "https://lab.example/?c=CEND"
    assert "CDONE" not in ann.response.text
    assert [row[1:3] for row in shown(study)] == [(kind, "CEND")]


def test_there_is_nothing_to_stop_before_consent_and_after_the_end(campaign):
    """The link is on no such page, and its address leads to where the worker is."""
    study = campaign(tasks=[votes_task()])
    ann = study.arrive()
    assert not ann.html.select(".foot")
    assert ann.open(ann.home + "stop").step == "consent"
    ann.send().send(topic="1")
    assert ann.html.select(".foot a")
    ann.send(intent=["1"]).send()
    assert not ann.html.select(".foot")
    assert ann.open(ann.home + "stop").step == "done"


def test_who_finds_the_study_full_after_work_stops_with_a_code(campaign):
    """Others took the last places while Ann answered the questions: that was work."""
    age = {"id": "age", "text": "How old are you?", "type": "number"}
    tasks = [{"kind": "questions", "questions": [age]}, votes_task(votes_per_query=1)]
    study = campaign(tasks=tasks, codes={"partial": "CPART"})
    ann = study.arrive("ann").send()
    for name in ("bob", "cleo"):
        other = study.arrive(name).send().send(**{"q-age": "30"})
        other.send(topic=next(iter(other.options("topic")))) if other.step.endswith("choose") else None
    ann.send(**{"q-age": "40"})
    assert ann.step == "full"
    ann.open(ann.home + ann.html.select_one("a.button")["href"])
    assert ann.step == "stop"
    assert not ann.html.select("a.button")
    ann.send()
    assert ann.html.select_one("[data-code]").get_text() == "CPART"


def test_the_text_that_was_agreed_to_can_be_kept(campaign):
    """As it was then, byte by byte, whatever the study file says now; its hash is the file's name."""
    study = campaign(tasks=[votes_task()])
    ann = study.arrive()
    assert ann.open(ann.home + "consent.txt").step == "consent"
    ann.send()
    study.load(tasks=[votes_task()], consent="Another text.")
    answer = ann.client.get(ann.home + "consent.txt")
    digest = hashlib.sha256(answer.data).hexdigest()
    assert re.fullmatch(
        r"First paragraph\.\n\nSecond paragraph\.\n\nIt takes about \d+ to \d+ minutes\.", answer.text
    )
    assert answer.mimetype == "text/plain"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="consent-{digest}.txt"'
    assert worker(study).consent_sha256 == digest


def test_whoever_holds_the_code_withdraws_on_their_own(at_finish):
    """Nobody has to write to anybody; capitals and blanks do no harm; a wrong code changes nothing and says so."""
    study, ann = at_finish
    code = worker(study).withdrawal_code
    page = study.visitor().open("/withdraw")
    page.send(code="wrong")
    assert page.status == 422
    assert "Nobody has this code" in page.text
    assert page.html.select_one("#code")["value"] == "wrong"
    assert worker(study).withdrawn_at is None
    page.send(form={}, to="/withdraw", code=f" {code.upper()} ")
    assert "You have withdrawn" in page.text
    assert worker(study).withdrawn_at is not None
    assert ann.open(ann.home).step == "withdrawn"
    assert "You have withdrawn" in page.send(form={}, to="/withdraw", code=code).text


def test_the_page_to_withdraw_speaks_the_workers_language(client):
    """The link of a Japanese study says so; else the browser does."""
    assert 'lang="ja"' in client.get("/withdraw?language=ja").text
    assert 'lang="ja"' in client.get("/withdraw", headers={"Accept-Language": "ja,en;q=0.5"}).text
    assert 'lang="en"' in client.get("/withdraw?language=xx", headers={"Accept-Language": "fr"}).text


def test_a_paused_study_lets_nobody_new_in_and_stops_nobody(campaign):
    """New visitors are told before they are asked for anything; whoever has agreed goes on; nothing is stored of the others."""
    study = campaign(tasks=[votes_task()])
    ann, bob = study.arrive("ann").send(), study.arrive("bob")
    with transaction(study.database, write=True) as session:
        row = session.scalars(select(LoadedStudy)).one()
        assert pause(session, row, now=study.clock())
        assert not pause(session, row, now=study.clock())
    cleo = study.arrive("cleo")
    assert cleo.status == 503
    assert "No new people can begin" in cleo.html.h1.get_text()
    assert len(study.rows(select(Worker))) == 2
    assert study.arrive("bob").status == 503
    assert "No new people can begin" in bob.open(bob.home).text
    bob.send()
    assert (bob.status, bob.step) == (422, "consent")
    assert "No new people can begin" in bob.text
    assert study.arrive("ann").step == "1/choose"
    ann.send(topic="1").send(intent=["1"]).send()
    assert ann.step == "done"
    study.load(tasks=[votes_task()], title="Another title")
    assert study.arrive("cleo").status == 503
    with transaction(study.database, write=True) as session:
        assert resume(session, session.scalars(select(LoadedStudy)).one())
        assert not resume(session, session.scalars(select(LoadedStudy)).one())
    assert study.arrive("cleo").step == "consent"
    assert bob.send().step == "1/choose"


def test_places_can_be_added_while_a_study_runs(campaign):
    """A full study opens again when its file is loaded with more; those at work notice nothing."""
    study = campaign(tasks=[pairs_task(workers_per_query=1)])
    ann = study.at_pairs("ann", topic="mount fuji")
    study.at_pairs("bob")
    assert study.arrive("cleo").status == 409
    assert study.load(tasks=[pairs_task(workers_per_query=2)]).changes == (
        "tasks.1.workers_per_query: 1 -> 2",
    )
    cleo = study.at_pairs("cleo")
    assert cleo.step == "1/1/pair/1"
    study.judge_all(ann)
    assert ann.step == "finish"
    study.at_pairs("dora")
    assert study.arrive("eve").status == 409


def test_a_worker_who_finished_and_then_withdraws_keeps_the_code(at_finish):
    """The work was done: only the answers are not used. A worker without a code has none to keep."""
    study, ann = at_finish
    ann.send()
    withdrawal_code = worker(study).withdrawal_code
    ann.send(form={}, to="/withdraw", code=withdrawal_code)
    assert ann.step == "withdrawn"
    assert "You have withdrawn" in ann.text
    assert ann.html.select_one("[data-code]").get_text() == "CDONE"
    assert ann.html.select_one("a.button")["href"] == "https://lab.example/?c=CDONE"
    assert withdrawal_code not in ann.text
    ann.open(ann.home + "done")
    assert (ann.step, ann.html.select_one("[data-code]").get_text()) == ("withdrawn", "CDONE")
    bob = study.arrive("bob").send()
    bob.send(form={}, to="/withdraw", code=worker(study, 2).withdrawal_code)
    assert "You have withdrawn" in bob.text
    assert bob.html.select_one("[data-code]") is None


@pytest.mark.parametrize(
    ("platform", "entrance", "returns"),
    [
        ("prolific", f"PROLIFIC_PID={7:024x}&STUDY_ID=s&SESSION_ID=x", True),
        ("connect", "participantId=bob&projectId=x&assignmentId=y", True),
        ("generic", "id=bob", False),
    ],
)
def test_a_full_study_asks_who_holds_a_place_on_a_platform_to_return_it(
    campaign, platform, entrance, returns
):
    """A place that nobody gives back is paid for or lost; who came by a plain address holds none."""
    study = campaign(
        tasks=[votes_task(votes_per_query=1, queries_per_worker=2)],
        platform=platform,
        completion_code="CDONE",
    )
    first = entrance.replace("bob", "ann").replace(f"{7:024x}", f"{8:024x}")
    study.visitor().open(f"/s/small?{first}").send().send(topic="1").send(intent=["1"]).send(intent=["1"])
    full = study.visitor().open(f"/s/small?{entrance}")
    assert full.status == 409
    assert ("please return your place there" in full.text) is returns
    assert ("need not do anything more" in full.text) is not returns
