"""What entrances and ends give away: no name of a system, no id, no code in a log, and nothing that stays in a browser."""

import logging

import pytest

from study_app.web.serving import LOGGER
from tests.study_app.services.test_ends import worker
from tests.study_app.small_streams import STREAM_SECRETS
from tests.study_app.small_study import pairs_task, secrets_in, votes_task
from tests.study_app.stream_visits import HOUR, log, stream_study

NAME = "platform-id-of-ann"


@pytest.fixture
def walked(campaign, caplog):
    """Every page before the first task and after the last, good and bad, and the requests' log."""
    caplog.set_level(logging.INFO, LOGGER.name)
    study = campaign(
        tasks=[votes_task(), pairs_task()],
        platform="mturk",
        codes={"partial": "CPART", "screened_out": "CSCREEN"},
    )
    address = f"/s/small?workerId={NAME}&hitId=H&turkSubmitTo=https://www.mturk.com"
    ann = study.visitor().open(f"{address}&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
    ann.open(address.replace("www.mturk.com", "x.example") + "&assignmentId=A").open(
        "/s/small?assignmentId=A"
    )
    ann.open(f"{address}&assignmentId=A").open(ann.home + "consent.txt").send()
    ann.open(ann.home + "consent").open(ann.home + "consent.txt").open(ann.home + "stop").open(ann.home)
    ann.send(topic="1").send(intent=["1"]).open(ann.home + "stop").send()
    ann.open(ann.home).open(ann.home + "consent.txt").open("/withdraw").send(code="wrong-code")
    bob = study.visitor().open(f"{address.replace(NAME, 'bob')}&assignmentId=B").send()
    bob.open(bob.home + "stop").send().open(bob.home)
    ann.send(form={}, to="/withdraw", code=worker(study).withdrawal_code)
    ann.open(address + "&assignmentId=A")
    assert ann.step == "withdrawn"
    requests = "\n".join(record.message for record in caplog.records if record.name == LOGGER.name)
    return study, [*ann.log, *bob.log], requests


def test_no_system_no_id_of_content_and_no_platform_id_is_on_any_page(walked):
    """Nor in a header, nor in an address after the door."""
    _, answers, _ = walked
    assert len({answer.request.path for answer in answers}) >= 12
    for answer in answers:
        seen = answer.text + str(answer.headers)
        assert NAME not in seen, answer.request.path
        assert not secrets_in(seen + answer.request.path), answer.request.path


def test_nothing_stays_in_the_browser(walked):
    """No cookie, no copy in a cache, also of the text to save."""
    _, answers, _ = walked
    for answer in answers:
        assert "Set-Cookie" not in answer.headers
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"


def test_requests_are_logged_without_codes_and_ids(walked):
    """Whoever reads a log learns which page was asked for, and by which pseudonym."""
    study, _, requests = walked
    ann = worker(study)
    assert ann.pseudonym in requests
    assert "/w/<token>/stop" in requests
    for secret in (NAME, ann.withdrawal_code, "wrong-code", "CPART"):
        assert secret not in requests


def test_a_diarys_code_page_gives_nothing_away(campaign):
    """The page between two visits, with its code and its button."""
    study = stream_study(campaign, visit_code="CVISIT", return_url="https://lab.example/?c={code}")
    ann = study.arrive(NAME).send().send()
    study.clock.forward(30 * HOUR)
    log(ann.open(ann.home), ["u1"])
    ann.send(done="1").open(f"{ann.home}1/1/away")
    assert "CVISIT" in ann.text
    for answer in ann.log[1:]:
        seen = answer.text + str(answer.headers) + answer.request.path
        assert not secrets_in(seen, (*STREAM_SECRETS, NAME))
