"""The page of consent says how long the study takes and what is paid, by the estimate and the study file, where the text does not."""

import hashlib

import pytest
from sqlalchemy import select

from study_app.estimate.consent import added_sentence, consent_warnings
from study_app.estimate.content import read_whole_study
from study_app.store.models import Worker
from study_app.tasks.workload import SecondsRange
from tests.study_app.small_study import votes_task, write_small_study

EN = "It takes about 4 to 9 minutes"
SPAN = SecondsRange(250, 500)


@pytest.fixture(scope="module")
def entry(tmp_path_factory):
    """Return a function that gives the entry of a study with some changes of its keys."""
    read = read_whole_study(
        write_small_study(tmp_path_factory.mktemp("small"), tasks=[votes_task()])
    ).file.entry
    japanese = (read.tasks[0].model_copy(update={"language": "ja"}),)
    return lambda language="en", **changes: read.model_copy(
        update=changes | ({"tasks": japanese} if language == "ja" else {})
    )


@pytest.mark.parametrize(
    ("changes", "added"),
    [
        ({"consent": "Please help."}, f"{EN}."),
        (
            {"consent": "Please help.", "reward": 2.5, "currency": "GBP"},
            f"{EN}, and you are paid 2.50 GBP for all of it.",
        ),
        ({"consent": "Please help.", "reward": 0.0}, f"{EN}."),
        (
            {"consent": "This takes 10 minutes.", "reward": 300.0, "currency": "JPY"},
            "You are paid 300 JPY for all of it.",
        ),
        ({"consent": "You get 2,50 EUR.", "reward": 2.5, "currency": "EUR"}, f"{EN}."),
        ({"consent": "About ten minutes, for 2.50.", "reward": 2.5}, ""),
        ({"language": "ja", "consent": "ご協力ください。表示時間を保存します。"}, "所要時間は約4～9分です。"),
        (
            {"language": "ja", "consent": "ご協力ください。", "reward": 300.0, "currency": "JPY"},
            "所要時間は約4～9分です。お支払いするもの：全体で300円。",
        ),
        (
            {
                "language": "ja",
                "consent": "所要時間は５分、謝礼は300円です。",
                "reward": 300.0,
                "currency": "JPY",
            },
            "",
        ),
    ],
)
def test_what_the_text_does_not_say_is_added(entry, changes, added):
    """In the study's language; nothing is said twice."""
    assert added_sentence(entry(**changes), SPAN) == added


def test_a_text_that_says_something_else_is_named(entry):
    """The researcher decides which is right."""
    text = "It takes 45 minutes, and you are paid $7."
    first, second = consent_warnings(entry(consent=text, reward=2.5), SPAN)
    assert first == "the consent text says 45 minutes; the estimate is 4 to 9"
    assert second == "the consent text names another amount than reward: 2.50 USD, which the page adds"
    assert (
        list(consent_warnings(entry(consent="5 to 10 minutes, $2.50; kept for 90 minutes", reward=2.5), SPAN))
        == []
    )


def test_the_page_its_hash_and_the_saved_text_are_one(campaign):
    """Who has not agreed yet reads the new text after a change of the reward; who has keeps what they agreed to."""
    study = campaign(tasks=[votes_task()], reward=1.5)
    ann, bob = study.arrive("ann"), study.arrive("bob")
    words = " ".join(ann.html.main.get_text(" ").split())
    assert "minutes, and you are paid 1.50 USD for all of it." in words
    ann.send()
    report = study.load(tasks=[votes_task()], reward=2.0)
    assert report.changes[-1].startswith("consent page: … It takes about ")
    assert report.changes[-1].endswith("you are paid 2.00 USD for all of it.")
    bob.send()
    assert "you are paid 2.00 USD for all of it." in " ".join(bob.html.main.get_text(" ").split())
    bob.send()
    saved = {}
    for visitor in (ann, bob):
        text = visitor.client.get(visitor.home + "consent.txt").text
        saved[hashlib.sha256(text.encode()).hexdigest()] = text.rpartition("paid ")[2]
    agreed = [digest for (digest,) in study.rows(select(Worker.consent_sha256).order_by(Worker.number))]
    assert [saved[digest] for digest in agreed] == ["1.50 USD for all of it.", "2.00 USD for all of it."]
