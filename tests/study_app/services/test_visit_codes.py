"""A diary pays by the visit: one identity over many studies of the platform, a code for each visit."""

import pytest
from sqlalchemy import select

from study_app.store.models import Worker
from study_app.store.task_models import CodeShown
from tests.study_app.stream_visits import HOUR, log, stream_study


@pytest.fixture
def diary(campaign):
    """A diary on Prolific, with a code for each visit and one for the whole."""
    return stream_study(
        campaign,
        platform="prolific",
        visit_code="CVISIT",
        completion_code="CWHOLE",
    )


def come(study, *, part, session):
    """Arrive from the platform's study for one time-point."""
    return study.visitor().open(
        f"/s/small?PROLIFIC_PID=5e9088a8a4b6ed018b45ba7b&STUDY_ID={part}&SESSION_ID={session}"
    )


def codes(study):
    return study.rows(select(CodeShown.kind, CodeShown.code, CodeShown.entry_id).order_by(CodeShown.id))


def code_on(visitor):
    found = visitor.html.select_one("[data-code]")
    return None if found is None else found.get_text()


def test_each_visit_from_the_platform_has_its_code(diary):
    """Day one and day two are two studies there and one worker here; the button hands in the visit's code."""
    ann = come(diary, part="day1", session="s1").send().send()
    assert ann.step == "1/1/stream"
    ann.send(done="1")
    assert (ann.step, code_on(ann)) == ("1/1/away", "CVISIT")
    assert (
        ann.html.select_one("a.button")["href"] == "https://app.prolific.com/submissions/complete?cc=CVISIT"
    )
    assert not ann.html.select("meta[http-equiv=refresh]")
    diary.clock.forward(24 * HOUR)
    again = come(diary, part="day2", session="s2")
    assert again.step == "1/1/stream"
    assert code_on(again.open(f"{again.home}1/1/away")) is None
    again.open(f"{again.home}1/1/stream").send(done="1")
    while again.step.endswith("useful"):
        again.send(skip="1")
    assert code_on(again) == "CVISIT"
    assert codes(diary) == [("visit", "CVISIT", 1), ("visit", "CVISIT", 2)]
    assert len(diary.rows(select(Worker))) == 1


def test_the_same_submission_is_shown_its_code_again_and_counted_once(diary):
    """The platform's page was opened twice."""
    come(diary, part="day1", session="s1").send().send().send(done="1")
    diary.clock.forward(60)
    again = come(diary, part="day1", session="s1")
    assert code_on(again.open(f"{again.home}1/1/away")) == "CVISIT"
    assert codes(diary) == [("visit", "CVISIT", 1)]


def test_a_visit_that_was_logged_counts_without_its_form(diary):
    """Closing the page is leaving too; opening it alone is no visit."""
    ann = come(diary, part="day1", session="s1").send().send()
    assert code_on(diary.visitor().open(f"{ann.home}1/1/away")) is None
    log(ann, ["u1"])
    assert code_on(ann.open(f"{ann.home}1/1/away")) == "CVISIT"


def test_the_whole_has_a_code_of_its_own(diary):
    """After the days are over, the last visit's code is still there, and finishing gives the other."""
    ann = come(diary, part="day1", session="s1").send().send().send(done="1")
    diary.clock.forward(97 * HOUR)
    assert code_on(ann.open(f"{ann.home}1/1/away")) == "CVISIT"
    ann.open(ann.home).send()
    assert (ann.step, code_on(ann)) == ("done", "CWHOLE")
    assert [kind for kind, _, _ in codes(diary)] == ["visit", "complete"]


def test_without_a_code_for_visits_there_is_none(campaign):
    """The page between two visits is as it was."""
    study = stream_study(campaign)
    ann = study.arrive().send().send().send(done="1")
    assert ann.step == "1/1/away"
    assert code_on(ann) is None
    assert codes(study) == []
