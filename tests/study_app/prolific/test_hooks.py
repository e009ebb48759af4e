"""What Prolific tells by a webhook: a returned place is free at once, and whatever is forged, replayed or late does nothing."""

import json
import time

import pytest
from sqlalchemy import select

from study_app.config import Config
from study_app.store.models import Slot
from study_app.store.platform_models import PlatformEvent
from study_app.store.tokens import seeded_tokens
from study_app.web.app import create_app
from tests.study_app.prolific.campaign_rows import person
from tests.study_app.prolific.prolific_server import SECRET, changed, signed
from tests.study_app.small_study import votes_task
from tests.study_app.visitor import Visitor


@pytest.fixture
def study(campaign):
    """A served study with places for one worker a query, both of which are taken."""
    made = campaign(
        platform="prolific",
        tasks=[votes_task(votes_per_query=1)],
        completion_code="CDONE",
        lease_minutes=10,
    )
    made.app = create_app(
        Config(database=made.url, hook_secret=SECRET), now=made.clock, new_token=seeded_tokens(4)
    )
    made.workers = [enter(made, number) for number in (1, 2)]
    for worker in made.workers:
        choose(worker.send())
    return made


def choose(worker):
    """Take a query, where there is a choice."""
    if worker.step.endswith("choose"):
        worker.send(topic=next(iter(worker.options("topic"))))


def enter(study, number, submission=None):
    """Open the study's address as Prolific leads a person there."""
    name = f"PROLIFIC_PID={person(number)}&STUDY_ID=5f00&SESSION_ID={submission or f's{number}'}"
    return Visitor(study.app.test_client(use_cookies=False)).open(f"/s/small?{name}")


def tell(study, body, *, headers=None, **sign):
    """Post a webhook, by default with the right signature of now."""
    headers = headers or signed(body, int(study.clock().timestamp()), **sign)
    answer = study.app.test_client().post("/hooks/prolific", data=body, headers=headers)
    return answer.status_code, answer.get_json(silent=True)


def live(study):
    """Return how many slots are held."""
    return len(study.rows(select(Slot.id).where(Slot.done_at.is_(None), Slot.expires_at > study.clock())))


@pytest.mark.parametrize("status", ["RETURNED", "TIMED-OUT"])
def test_a_returned_place_is_free_within_a_second_of_its_webhook(study, status):
    """Somebody who was sent away as one too many is let in then."""
    assert enter(study, 3).status == 409
    began = time.monotonic()
    assert tell(study, changed("s1", person(1), status)) == (200, {"status": "freed"})
    assert enter(study, 4).status == 200
    assert time.monotonic() - began < 1


def test_the_open_page_of_who_returned_takes_no_place_again_and_an_answer_is_kept(study):
    """Another has the place by then: what they answer after all is stored, over quota."""
    ann = study.workers[0]
    page = ann.html.select_one("body")
    tell(study, changed("s1", person(1), "RETURNED"))
    study.clock.forward(60)
    wall = 1_772_366_400_000
    beat = {"n": 1, "kind": "beat", "ms": 60_000, "wall": wall}
    batch = {"page": page["data-page"], "sent_ms": 60_000, "sent_wall_ms": wall, "events": [beat]}
    assert study.app.test_client().post(page["data-events"], json=batch).get_json() == {"upto": 1}
    assert live(study) == 1
    choose(enter(study, 3).send())
    assert live(study) == 2
    ann.send(intent=["1"])
    assert ann.step.endswith("finish")


def test_the_place_of_another_submission_is_not_freed(study):
    """Ann returned her first submission and came back under a second one."""
    enter(study, 1, "again")
    assert tell(study, changed("s1", person(1), "RETURNED")) == (200, {"status": "nothing to free"})
    assert live(study) == 2
    assert tell(study, changed("again", person(1), "RETURNED"), event="e2") == (200, {"status": "freed"})


def test_an_event_counts_once_however_often_and_in_whatever_order_it_comes(study):
    """Told again under its name, replayed under another, older than what came before, of somebody unknown, of another kind."""
    now = int(study.clock().timestamp())
    returned = changed("s1", person(1), "RETURNED")
    headers = signed(returned, now)
    assert tell(study, returned, headers=headers) == (200, {"status": "freed"})
    assert tell(study, returned) == (200, {"status": "duplicate"})
    assert tell(study, returned, headers={**headers, "X-Event-ID": "e9"}) == (200, {"status": "duplicate"})
    study.clock.forward(10)
    newer = changed("s2", person(2), "AWAITING REVIEW")
    assert tell(study, newer, event="e2") == (200, {"status": "nothing to free"})
    late = changed("s2", person(2), "TIMED-OUT")
    assert tell(study, late, event="e3", happened=now - 60) == (200, {"status": "older"})
    assert tell(study, changed("s2", person(1), "RETURNED"), event="e4") == (200, {"status": "unknown"})
    other = json.dumps(
        {"event_type": "study.status.change", "resource_id": "5f00", "status": "PAUSED"}
    ).encode()
    assert tell(study, other, event="e5") == (200, {"status": "not used here"})
    assert live(study) == 1
    assert len(study.rows(select(PlatformEvent.id))) == 3


def test_nothing_that_the_workspace_did_not_sign_just_now_is_taken(study):
    """A wrong secret, another body, another time, no signature, an old or a future one."""
    body, now = changed("s1", person(1), "RETURNED"), int(study.clock().timestamp())
    good = signed(body, now)
    for headers in (
        signed(body, now, secret="other"),
        {**good, "X-Prolific-Request-Timestamp": str(now + 1)},
        {**good, "X-Prolific-Request-Signature": "é"},
        signed(changed("s2", person(2), "RETURNED"), now),
        signed(body, now - 301),
        signed(body, now + 301),
        {"X-Event-ID": "e1"},
    ):
        assert tell(study, body, headers=headers)[0] == 401
    for broken in (
        b"no json",
        b"[]",
        b'{"event_type": "submission.status.change"}',
        b'{"event_type": "a\\u0000"}',
    ):
        assert tell(study, broken)[0] == 400
    assert tell(study, b"{" + b" " * 9_000)[0] == 413
    assert live(study) == 2
    assert study.rows(select(PlatformEvent.id)) == []


def test_a_server_without_the_secret_has_no_such_address(campaign):
    """Nor says anything else of it."""
    made = campaign(platform="prolific", completion_code="CDONE")
    body = changed("s1", person(1), "RETURNED")
    assert tell(made, body, secret="")[0] == 404
