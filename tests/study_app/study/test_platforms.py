"""Each platform: how it announces a worker, what is refused, and how a code is handed in."""

from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from sqlalchemy import select

from study_app.simulate.trial import entrance
from study_app.store.models import Assignment, PlatformEntry, PlatformIdentity, Worker
from study_app.study.entries import read_study_entry
from study_app.study.platforms import (
    MAX_PARAMETER_LENGTH,
    NOT_ACCEPTED,
    PLATFORMS,
    ReturnLink,
    frame_hosts,
    is_preview,
    is_simulated_id,
    platform_of,
    simulated_id,
    submit_host,
    visit_parameters,
    way_back,
    worker_id,
)
from study_app.tasks.kinds import KINDS
from tests.study_app.small_study import votes_task

SONA_RETURN = (
    "https://x.sona-systems.com/webstudy_credit.aspx?experiment_id=1&credit_token=2&survey_code={id}"
)
CONNECT_RETURN = "https://connect.cloudresearch.com/participant/project/ABC/complete"
ACCEPTED = {
    "workerId": "A1B2",
    "assignmentId": "ASSIGN1",
    "hitId": "H1",
    "turkSubmitTo": "https://www.mturk.com",
}


def study_entry(**changes):
    """A study file with a platform."""
    question = {"id": "age", "text": "How old are you?", "type": "number"}
    whole = {
        "study": "s",
        "title": "T",
        "consent": "C",
        "tasks": [{"kind": "questions", "questions": [question]}],
    }
    return read_study_entry({**whole, **changes}, KINDS)


def back(entry, end="complete", code="CODE1", *, worker="w1", parameters=None):
    """How a worker goes back."""
    return way_back(entry, end, code, worker=worker, parameters=parameters or {})


@pytest.mark.parametrize(
    ("platform", "given", "worker", "kept"),
    [
        (
            "prolific",
            {"PROLIFIC_PID": "5e9088a8a4b6ed018b45ba7b", "STUDY_ID": "s", "SESSION_ID": "z", "x": "y"},
            "5e9088a8a4b6ed018b45ba7b",
            {"STUDY_ID": "s", "SESSION_ID": "z"},
        ),
        (
            "connect",
            {"participantId": "P1", "assignmentId": "a", "projectId": "p"},
            "P1",
            {"assignmentId": "a", "projectId": "p"},
        ),
        ("sona", {"id": "12345"}, "12345", {}),
        (
            "mturk",
            ACCEPTED,
            "A1B2",
            {name: ACCEPTED[name] for name in ("assignmentId", "hitId", "turkSubmitTo")},
        ),
        ("generic", {"id": "ann b", "session": "1", "batch": ""}, "ann b", {"session": "1"}),
    ],
)
def test_each_platform_names_the_worker_in_its_own_parameter(platform, given, worker, kept):
    """And tells of the visit in others, which are kept; anything else is not."""
    assert worker_id(PLATFORMS[platform], given) == worker
    assert visit_parameters(PLATFORMS[platform], given) == kept


@pytest.mark.parametrize(
    ("platform", "given"),
    [
        ("prolific", "{{%PROLIFIC_PID%}}"),
        ("prolific", "a b"),
        ("prolific", "5e9088a8a4b6ed018b45ba7"),
        ("prolific", "5E9088A8A4B6ED018B45BA7B"),
        ("prolific", "<script>"),
        ("connect", "${participantId}"),
        ("sona", "%SURVEY_CODE%"),
        ("sona", "1"),
        ("sona", "12345678"),
        ("sona", "012"),
        ("sona", "12a"),
        ("mturk", "A 1"),
        ("generic", "x" * (MAX_PARAMETER_LENGTH + 1)),
        ("generic", "a\nb"),
        ("generic", "WORKER-ID"),
        ("generic", " WORKER-ID "),
        ("generic", " "),
    ],
)
def test_what_cannot_be_an_id_is_none(platform, given):
    """Above all a place that the platform should have filled: everybody would be the same worker."""
    assert worker_id(PLATFORMS[platform], {PLATFORMS[platform].worker_parameter: given}) is None


def test_a_study_may_name_its_own_parameters():
    """The generic platform is whatever a lab has."""
    platform = platform_of(study_entry(id_parameter="person", extra_parameters=["wave"]))
    assert platform.entrance_query == "person=WORKER-ID"
    assert worker_id(platform, {"person": "p", "id": "x"}) == "p"
    assert visit_parameters(platform, {"wave": "2", "session": "1"}) == {"wave": "2"}


def test_a_study_on_a_platform_keeps_that_platforms_parameters():
    """Those of the study file are for the generic one."""
    assert platform_of(study_entry(platform="prolific", id_parameter="person")) is PLATFORMS["prolific"]


def test_prolific_takes_the_code_of_any_end_in_its_address():
    """Several named codes; an end without one has no way back but to return the place."""
    prolific = study_entry(platform="prolific")
    address = "https://app.prolific.com/submissions/complete?cc=CODE1"
    for end in ("complete", "visit", "screened_out", "failed_checks", "partial"):
        assert back(prolific, end) == ReturnLink(url=address)
    assert back(prolific, "partial", None) is None


def test_an_address_that_says_complete_is_not_for_those_who_are_not():
    """Connect's completion redirect would pay them in full; early exits use the partial redirect."""
    connect = study_entry(platform="connect", return_url=CONNECT_RETURN)
    assert back(connect) == ReturnLink(url=CONNECT_RETURN)
    assert back(connect, "partial") is None
    partial = study_entry(
        platform="connect", return_url=CONNECT_RETURN, early_return_url="https://x.example/partial"
    )
    assert back(partial, "screened_out", None) == ReturnLink(url="https://x.example/partial")
    assert back(partial) == ReturnLink(url=CONNECT_RETURN)


def test_connect_without_an_address_takes_a_fixed_code_by_hand():
    """Then there is no button."""
    assert back(study_entry(platform="connect", completion_code="FIXED")) is None


def test_sona_credits_by_the_survey_code():
    """Opening the address is what grants the credit, so nobody who stopped gets it."""
    sona = study_entry(platform="sona", return_url=SONA_RETURN)
    assert back(sona, worker="4711") == ReturnLink(url=SONA_RETURN.replace("{id}", "4711"))
    assert back(sona, "partial", worker="4711") is None
    assert back(sona, worker=None) is None


def test_what_is_filled_in_cannot_leave_its_place():
    """An id or a code is one value in the address, whatever letters it has."""
    entry = study_entry(return_url="https://x.example/?w={id}&c={code}")
    assert back(entry, code="A&b=1", worker="a/../{code}&x") == ReturnLink(
        url="https://x.example/?w=a%2F..%2F%7Bcode%7D%26x&c=A%26b%3D1"
    )


@pytest.mark.parametrize(
    ("named", "host"),
    [
        ("https://www.mturk.com", "www.mturk.com"),
        ("https://www.mturk.com/", "www.mturk.com"),
        ("https://WORKERSANDBOX.mturk.com:443/x", "workersandbox.mturk.com"),
        ("", "www.mturk.com"),
        ("http://www.mturk.com", None),
        ("https://www.mturk.com.evil.example", None),
        ("https://evil.example/www.mturk.com", None),
        ("https://www.mturk.com@evil.example", None),
        ("https://evil@www.mturk.com", None),
        ("https://www.mturk.com:8443", None),
        ("//www.mturk.com", None),
        ("javascript:alert(1)", None),
        ("https://[", None),
    ],
)
def test_a_code_is_posted_to_allowed_hosts_only(named, host):
    """Else the study would be an open redirect."""
    assert submit_host(study_entry(platform="mturk"), {"turkSubmitTo": named}) == host


def test_mturk_takes_a_form():
    """With the assignment and the code; nothing where either is missing."""
    mturk = study_entry(platform="mturk")
    assert back(mturk, parameters=ACCEPTED) == ReturnLink(
        url="https://www.mturk.com/mturk/externalSubmit",
        fields=(("assignmentId", "ASSIGN1"), ("code", "CODE1")),
        host="www.mturk.com",
    )
    assert back(mturk, code=None, parameters=ACCEPTED) is None
    assert back(mturk, parameters={"hitId": "H1"}) is None


def test_a_preview_is_told_by_the_assignment():
    """It has none yet; other platforms have no previews."""
    assert is_preview(PLATFORMS["mturk"], {"assignmentId": NOT_ACCEPTED})
    assert is_preview(PLATFORMS["mturk"], {})
    assert not is_preview(PLATFORMS["mturk"], ACCEPTED)
    assert not is_preview(PLATFORMS["connect"], {"assignmentId": NOT_ACCEPTED})


def test_only_a_platform_that_frames_pages_may_frame_them():
    """Everybody else could make a worker press a button they do not see."""
    assert frame_hosts(study_entry(platform="prolific")) == ()
    assert "worker.mturk.com" in frame_hosts(study_entry(platform="mturk"))


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_simulated_worker_is_let_in_on_every_platform(platform):
    """A rehearsal of a study is a rehearsal of its entrance too."""
    entry = study_entry(platform=platform, id_parameter="person")
    path, _, query = entrance(entry, 7).partition("?")
    given = dict(parse_qsl(query))
    assert path == "/s/s"
    assert worker_id(platform_of(entry), given)
    assert not is_preview(platform_of(entry), given)
    name = worker_id(platform_of(entry), given)
    assert is_simulated_id(name) != name.isdigit(), (
        f"{name}: only an id that is a number may hide who is simulated"
    )


@pytest.mark.parametrize("platform", PLATFORMS)
def test_each_platform_takes_an_id_to_try_a_study_with(platform):
    """`prefcal serve` prints an address with it."""
    entry = PLATFORMS[platform]
    assert worker_id(entry, {entry.worker_parameter: entry.trial_id}) == entry.trial_id


def test_a_platform_whose_ids_have_a_form_of_their_own_says_so_in_its_entry():
    """Ten digits: what tries it and what simulates it follow from the entry alone."""
    entry = replace(
        PLATFORMS["sona"], worker_form=r"[0-9]{10}", trial_id="0000012345", simulated_ids="9{number:09d}"
    )
    for name in (entry.trial_id, simulated_id(entry, 0), simulated_id(entry, 4_000)):
        assert worker_id(entry, {"id": name}) == name


def policy(answer):
    parts = (part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
    return dict(parts)


@pytest.fixture
def turk(campaign):
    """A study of one page on MTurk."""
    return campaign(platform="mturk", tasks=[votes_task(queries_per_worker=1)])


def turk_address(**changes):
    return "/s/small?" + "&".join(f"{name}={value}" for name, value in {**ACCEPTED, **changes}.items())


def test_a_preview_shows_what_the_work_is_and_leaves_no_trace(turk):
    """Nothing is stored, no place is held, and there is no form."""
    visitor = turk.visitor().open(f"/s/small?assignmentId={NOT_ACCEPTED}&hitId=H1")
    assert visitor.status == 200
    assert "First paragraph." in visitor.text
    assert "preview" in visitor.text
    assert not visitor.html.select("form, [data-page]")
    assert "https://worker.mturk.com" in policy(visitor.response)["frame-ancestors"]
    for model in (Worker, PlatformIdentity, PlatformEntry, Assignment):
        assert turk.rows(select(model)) == []


def test_work_for_an_unknown_host_is_refused_before_it_is_done(turk):
    """Nobody works who could not hand in."""
    visitor = turk.visitor().open(turk_address(turkSubmitTo="https://evil.example"))
    assert visitor.status == 400
    assert "cannot be handed in" in visitor.html.h1.get_text()
    assert turk.rows(select(Worker)) == []


def test_a_turker_hands_in_by_a_form_that_one_page_may_send(turk):
    """To the host that the platform named; every page may stand in its frame; nothing is sent by itself."""
    visitor = turk.visitor().open(turk_address(turkSubmitTo="https://workersandbox.mturk.com"))
    visitor.send().send(topic="1").send(intent=["1"])
    assert policy(visitor.response)["form-action"] == "'self'"
    visitor.send()
    assert visitor.step == "done"
    assert not visitor.html.select("meta[http-equiv=refresh]")
    [form] = visitor.html.select("form")
    assert form["action"] == "https://workersandbox.mturk.com/mturk/externalSubmit"
    fields = {box["name"]: box["value"] for box in form.select("input")}
    assert fields == {
        "assignmentId": "ASSIGN1",
        "code": visitor.html.select_one("[data-code]").get_text(),
    }
    assert policy(visitor.response)["form-action"] == "'self' https://workersandbox.mturk.com"
    for answer in visitor.log:
        if answer.status_code == 200:
            assert "https://workersandbox.mturk.com" in policy(answer)["frame-ancestors"]
            assert "Set-Cookie" not in answer.headers


def test_a_second_assignment_of_a_turker_hands_in_that_one(turk):
    """Coming back resumes, under another assignment too."""
    visitor = turk.visitor().open(turk_address())
    visitor.send().send(topic="1").send(intent=["1"]).send()
    again = turk.visitor().open(turk_address(assignmentId="ASSIGN2"))
    assert again.step == "done"
    assert again.html.select_one("input[name=assignmentId]")["value"] == "ASSIGN2"
    assert len(turk.rows(select(Worker))) == 1


@pytest.mark.parametrize(
    ("platform", "query", "study", "button"),
    [
        (
            "prolific",
            "PROLIFIC_PID=5e9088a8a4b6ed018b45ba7b&STUDY_ID=s&SESSION_ID=z",
            {"completion_code": "CDONE"},
            "https://app.prolific.com/submissions/complete?cc=CDONE",
        ),
        (
            "connect",
            "participantId=P1&assignmentId=a&projectId=p",
            {"return_url": CONNECT_RETURN},
            CONNECT_RETURN,
        ),
        ("sona", "id=4711", {"return_url": SONA_RETURN}, SONA_RETURN.replace("{id}", "4711")),
        (
            "generic",
            "person=p1",
            {"id_parameter": "person", "return_url": "https://lab.example/{id}?done={code}"},
            "https://lab.example/p1?done=",
        ),
    ],
)
def test_a_worker_of_each_platform_goes_the_whole_way(campaign, platform, query, study, button):
    """From its address to the button that hands in; then the browser leads back by itself, once."""
    one = campaign(platform=platform, tasks=[votes_task()], **study)
    visitor = one.visitor().open(f"/s/small?{query}")
    assert visitor.step == "consent"
    visitor.send().send(topic="1").send(intent=["1"]).send()
    assert visitor.step == "done"
    assert visitor.html.select_one("a.button")["href"].startswith(button)
    [refresh] = visitor.html.select("meta[http-equiv=refresh]")
    assert refresh["content"] == f"0; url={visitor.html.select_one('a.button')['href']}"
    again = one.visitor().open(f"/s/small?{query}")
    assert again.step == "done"
    assert not again.html.select("meta[http-equiv=refresh]")
    assert again.html.select_one("a.button")["href"].startswith(button)


@pytest.mark.parametrize("platform", ["prolific", "connect", "sona", "generic"])
def test_without_its_parameter_a_platforms_address_is_a_clear_page(campaign, platform):
    """The worker is told to open the study from the platform again."""
    study = campaign(platform=platform, return_url="https://lab.example/{id}")
    visitor = study.visitor().open("/s/small?nobody=1")
    assert visitor.status == 400
    assert "not complete" in visitor.html.h1.get_text()
