"""Studies on Prolific from a study file, and messages to followers of streams."""

import json

import pytest
from sqlalchemy import select

from study_app.store.task_models import Prompt
from tests.study_app.prolific.campaign_rows import person, submission
from tests.study_app.prolific.prolific_server import Fault
from tests.study_app.small_streams import write_stream_study
from tests.study_app.small_study import votes_task, write_small_study
from tests.study_app.stream_visits import ONE_EVENT
from tests.study_app.visitor import Visitor

CUT, CUT_AFTER = Fault(), Fault(after=True)
BASE = ("--base", "https://study.example.org")


@pytest.fixture
def drafted(new_prolific, run, tmp_path):
    """Return a campaign without a study on Prolific yet, and a function that runs draft on its file."""
    (tmp_path / "ids.txt").write_text("".join(f"{person(number)}\n" for number in range(1, 6)))
    (tmp_path / "out.txt").write_text(f"{person(9)}\n")
    codes = {"screened_out": "COUT", "failed_checks": "CFAIL"}
    lists = {"ids": "../ids.txt", "keep_out": ["../out.txt", "study pilot"]}
    made = new_prolific(0, remote=None, study={"device": "phone", "codes": codes, "reward": 2.5, **lists})

    def draft(*options):
        made.study.clock.forward(1)
        path = made.study.folder / "study.yaml"
        return run("prolific", "draft", path, *BASE, *options, "--database", made.study.url)

    return made, draft


def test_a_draft_says_what_the_study_file_says(drafted):
    """Codes that wait for review, reward in cents, device, lists of who is let in and who is not; nothing is sent without --yes."""
    made, draft = drafted
    said = draft("--places", "20")
    assert said.code == 0, said.err
    shown = json.loads(said.out)
    assert made.there.written == []
    assert draft("--places", "20", "--yes").code == 0
    [there] = made.there.studies.values()
    assert there["name"] == shown["name"] == "A small study"
    assert there["description"] == "<p>First paragraph.</p><p>Second paragraph.</p>"
    assert there["external_study_url"].startswith(
        "https://study.example.org/s/small?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID="
    )
    review = [{"action": "MANUALLY_REVIEW"}]
    assert there["completion_codes"] == [
        {"code": "CDONE", "code_type": "COMPLETED", "actions": review},
        {"code": "COUT", "code_type": "SCREENED_OUT", "actions": review},
        {"code": "CFAIL", "code_type": "FAILED_ATTENTION_CHECK", "actions": review},
    ]
    assert (there["reward"], there["total_available_places"]) == (250, 20)
    assert there["device_compatibility"] == ["mobile", "tablet"]
    allowed, out = there["filters"]
    assert out == {"filter_id": "custom_blocklist", "selected_values": [person(9)]}
    assert allowed == {
        "filter_id": "custom_allowlist",
        "selected_values": [person(number) for number in range(1, 6)],
    }
    assert there["estimated_completion_time"] >= 1


def test_a_draft_whose_answer_was_lost_is_found_and_not_made_twice(drafted):
    """By its own name there; one that never came is made."""
    made, draft = drafted
    made.there.fail("POST .*studies/", CUT_AFTER)
    said = draft("--yes")
    assert (said.code, "is lost" in said.err) == (1, True)
    said = draft("--yes")
    assert "is there already, from a command whose answer was lost" in said.out
    assert len(made.there.studies) == 1


def test_a_study_is_published_paused_and_gets_places_by_hand_alone(drafted):
    """With the price before; a step whose answer was lost is looked for and not made again."""
    made, draft = drafted
    draft("--places", "20", "--yes")
    [there] = made.there.studies.values()
    said = made.run("publish")
    assert "20 places at 2.50 GBP: 70.00 GBP with fees and tax" in said.out
    assert there["status"] == "UNPUBLISHED"
    made.there.fail("transition", CUT_AFTER)
    assert f"study {there['id']} is active" in made.run("publish", "--yes").out
    assert "is active already" in made.run("publish", "--yes").out
    made.there.fail("transition", CUT)
    said = made.run("pause", "--yes")
    assert (said.code, "the study is active now: look there" in said.err) == (1, True)
    assert "is paused" in made.run("pause", "--yes").out
    assert "is active" in made.run("publish", "--yes").out
    made.there.fail("PATCH", CUT_AFTER)
    assert "has 30 places" in made.run("places", 30, "--yes").out
    said = made.run("places", 10, "--yes")
    assert (said.code, "places can only be added" in said.err) == (1, True)
    assert made.run("sync").code == 0


def test_a_study_that_pays_otherwise_is_not_published(drafted):
    """In another currency, or another reward."""
    made, draft = drafted
    made.there.currency = "USD"
    said = draft("--places", "20", "--yes")
    assert (said.code, "the account pays in USD, and the study file says GBP" in said.err) == (1, True)
    said = made.run("publish", "--yes")
    assert (said.code, "pays in USD" in said.err) == (1, True)
    made.there.currency = "GBP"
    [there] = made.there.studies.values()
    there["reward"] = 100
    said = made.run("publish", "--yes")
    assert (said.code, "pays 1.00 GBP, and the study file says 2.50" in said.err) == (1, True)
    assert there["status"] == "UNPUBLISHED"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"platform": "sona"}, "platform is sona"),
        ({"completion_code": None}, "no completion_code"),
        ({"reward": None}, "no reward"),
    ],
)
def test_what_a_draft_lacks_is_said(changes, words, tmp_path, run):
    """Before anything is opened or sent."""
    whole = {
        "platform": "prolific",
        "completion_code": "CDONE",
        "reward": 1,
        "tasks": [votes_task()],
        **changes,
    }
    if changes.get("platform") == "sona":
        whole["return_url"] = "https://school.sona-systems.com/webstudy_credit.aspx?survey_code={id}"
    path = write_small_study(tmp_path, **whole)
    said = run("prolific", "draft", path, *BASE)
    assert (said.code, words in said.err) == (1, True), said.err


@pytest.fixture
def followed(new_prolific, run):
    """Return a campaign whose first two workers follow a stream, and a function that sends them a message."""
    made = new_prolific(0)
    path = write_stream_study(
        made.study.folder, platform="prolific", completion_code="CDONE", events=ONE_EVENT, study="small"
    )
    made.study.load_file(path)
    for number in (1, 2):
        query = f"PROLIFIC_PID={person(number)}&STUDY_ID=5f00&SESSION_ID={submission(number)}"
        visitor = Visitor(made.study.app.test_client(use_cookies=False)).open(f"/s/small?{query}").send()
        if visitor.step.endswith("choose"):
            visitor.send(topic="1")
        visitor.send()
        made.there.submit(submission(number), person(number), "ACTIVE", None)
    made.run("sync")
    text = made.study.folder / "text.txt"
    text.write_text("New updates about {topics}: {address}", encoding="utf-8")
    return made, lambda *options: made.run("message", text, *BASE, *options)


def test_each_follower_gets_a_message_with_their_own_address_once_a_day(followed):
    """And none without --yes; each is recorded as a reminder."""
    made, message = followed
    assert "2 followers to write to" in message().out
    assert made.there.sent == []
    assert "messages: 2 sent" in message("--yes").out
    assert "messages: 0 sent" in message("--yes").out
    [(first, text), (second, other)] = made.there.sent
    assert (first, second) == (person(1), person(2))
    assert text.startswith("New updates about Storm over the islands: https://study.example.org/w/")
    assert text != other
    assert len(made.study.rows(select(Prompt.id))) == 2
    made.study.clock.forward(86_400)
    assert "messages: 2 sent" in message("--yes").out


def test_a_message_whose_answer_was_lost_is_looked_for_and_not_sent_again(followed):
    """It is confirmed where Prolific shows it, and waits for a person where it does not."""
    made, message = followed
    made.there.fail("POST .*messages", CUT_AFTER, CUT)
    assert message("--yes").code == 1
    assert len(made.there.sent) == 1
    said = message("--yes")
    assert (said.code, "messages: 0 sent, 1 unknown" in said.out) == (1, True)
    assert [person(1)] == [worker for worker, _ in made.there.sent]
    assert len(made.numbers("confirmed")) == len(made.numbers("unknown")) == 1
    made.run("pay", "--release", *made.numbers("unknown"), "--yes")
    assert message("--yes").code == 0
    assert [worker for worker, _ in made.there.sent] == [person(1), person(2)]


def test_a_message_needs_the_address_and_a_server_with_https(followed, run):
    """Each fault is one line."""
    made, _ = followed
    plain = made.study.folder / "plain.txt"
    plain.write_text("Come back", encoding="utf-8")
    assert "without {address}" in made.run("message", plain, *BASE).err
    assert "not an address with https" in made.run("message", plain, "--base", "http://a.b").err
    assert "cannot be read as text" in made.run("message", "nowhere.txt", *BASE).err
