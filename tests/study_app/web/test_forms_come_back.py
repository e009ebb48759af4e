"""What a worker said stands on the page when it comes back: refused, after Back, loaded again. Nothing here needs a script."""

import pytest
from sqlalchemy import select

from study_app.store.models import Ballot
from tests.study_app.small_streams import PROMPT
from tests.study_app.small_study import votes_task
from tests.study_app.stream_visits import come_back, follow, log, stream_study

CHECK = [
    {"question": f"Which {word}?", "options": ["This", "That"], "answer": 2} for word in ("one", "other")
]


@pytest.fixture
def voting(campaign):
    """Somebody in front of a query's intents."""
    return campaign(tasks=[votes_task()]).arrive().send().send(topic="1")


def ticked(visitor):
    """Return the intents that are ticked, and whether "none of these" is."""
    return visitor.checked("intent"), visitor.checked("none") == ["1"]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({"intent": ["1", "2"], "none": "1"}, (["1", "2"], True)),
        ({"intent": ["2"], "none": "1"}, (["2"], True)),
        ({"intent": ["2", "99"]}, (["2"], False)),
        ({}, ([], False)),
    ],
)
def test_a_refused_vote_comes_back_with_its_ticks(voting, said, shown):
    """Nobody ticks a long list twice because of the last line."""
    voting.send(**said)
    assert (voting.sent, ticked(voting)) == (422, shown)


@pytest.mark.parametrize(
    ("said", "shown"), [({"intent": ["2"]}, (["2"], False)), ({"none": "1"}, ([], True))]
)
def test_a_stored_vote_stands_there_after_back_and_after_loading_again(voting, said, shown):
    """As long as the study is not finished."""
    page = voting.path
    voting.send(**said)
    assert [ticked(voting.open(page)) for _ in range(2)] == [shown, shown]


def test_a_refused_change_of_a_vote_shows_the_change_and_keeps_what_is_stored(campaign):
    """The page says what was sent, the database what was taken; loading the page again shows the latter."""
    study = campaign(tasks=[votes_task()])
    ann = study.arrive().send().send(topic="1")
    page = ann.path
    ann.send(intent=["1"])
    ann.open(page).send(intent=["2"], none="1")
    assert (ann.sent, ticked(ann)) == (422, (["2"], True))
    assert ticked(ann.open(page)) == (["1"], False)
    assert len(study.rows(select(Ballot))) == 1


def test_a_check_that_leaves_a_question_out_comes_back_with_everything_that_was_picked(campaign):
    """Also what was wrong at the first try: it is no second one, so nothing more is known about it."""
    study = campaign(tasks=[votes_task(instructions="Read this.", check=CHECK)])
    ann = study.arrive().send()
    ann.send(**{"check-2": "2"})
    assert (ann.sent, ann.checked("check-1"), ann.checked("check-2")) == (422, [], ["2"])
    ann.send(**{"check-1": "1", "check-2": "2"})
    assert (ann.sent, ann.checked("check-1"), ann.checked("check-2")) == (422, [], ["2"])
    ann.send(**{"check-1": "1"})
    assert (ann.sent, ann.checked("check-1"), ann.checked("check-2")) == (422, ["1"], [])


def test_what_was_said_to_be_of_use_stands_there_again(campaign):
    """Of each update by itself; one that was left out is open as before."""
    told = [one._replace(hour=60 + number) for number, one in enumerate(PROMPT)]
    study = stream_study(campaign, systems={"syslate": told})
    ann = follow(study)
    come_back(study, ann, after_hours=62)
    read = [str(item["data-item"]) for item in ann.html.select("li[data-item]")]
    log(ann, read)
    ann.send(read=read, done="1")
    page, asked = ann.path, {box["name"] for box in ann.html.select("input[type=radio]")}
    assert (ann.step, len(asked) > 1) == ("1/1/useful", True)
    ann.send(**{"useful-1": "no"})
    ann.open(page)
    assert {name: ann.checked(name) for name in asked} == {name: [] for name in asked} | {"useful-1": ["no"]}


def test_a_script_is_told_where_a_stored_form_leads_and_gets_the_page_of_a_refused_one(voting):
    """It may not see where a redirect leads; sent by script and then by the browser, a form is stored once."""
    path, headers = voting.path, {"User-Agent": voting.agent, "Accept": "application/json"}
    form = {**voting.form(), "intent": ["2"]}
    refused = voting.client.post(path, data={**form, "none": "1"}, headers=headers)
    assert (refused.status_code, refused.mimetype) == (422, "text/html")
    taken = voting.client.post(path, data=form, headers=headers)
    assert (taken.status_code, taken.headers["Cache-Control"]) == (200, "no-store")
    assert voting.send(form=form, to=path).path == taken.json["next"]
    assert voting.client.get(voting.home, headers=headers).status_code == 303
