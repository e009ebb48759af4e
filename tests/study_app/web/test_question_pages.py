"""The study's own questions on their page: storing, refusing, changing, screening out."""

import pytest
from sqlalchemy import select

from study_app.store.models import Slot, Worker
from study_app.store.task_models import Reply
from tests.study_app.small_tasks import ANSWERS, questions_task, rate_all, rating_task


@pytest.fixture
def study(campaign):
    """A study with questions first and ratings after them."""
    return campaign(
        tasks=[questions_task(title="About you"), rating_task(intents_per_worker=1)],
        codes={"screened_out": "SORRY-1"},
    )


def replies(study):
    """Return every revision of the answers, in order."""
    return [answers for (answers,) in study.rows(select(Reply.answers).order_by(Reply.id))]


def test_answers_are_stored_in_the_words_of_the_study_file(study):
    """Numbers as numbers, several options in their order; what was left out is not there; then comes the next task."""
    ann = study.arrive().send()
    assert (ann.step, ann.html.h1.get_text()) == ("1/1/questions", "About you")
    ann.send(**ANSWERS)
    assert replies(study) == [{"age": 25, "phone": "Now and then", "where": ["At home", "At work"]}]
    assert ann.step == "2/1/rate/1"
    done = study.rows(select(Slot.done_at).order_by(Slot.id))
    assert [at for (at,) in done] == [study.clock(), None]


def test_a_form_that_is_wrong_comes_back_filled_in_with_every_reason(study):
    """All at once, each beside its question and tied to its field; nothing is stored."""
    ann = study.arrive().send()
    ann.send(**{"q-age": "17", "q-where": ["2"], "q-more": "x" * 2001})
    assert (ann.sent, ann.step) == (422, "1/1/questions")
    assert ann.html.select_one("[role=alert]")
    reasons = {tag["id"]: tag.get_text() for tag in ann.html.select(".refusal")}
    assert reasons == {
        "q-age-refusal": "A number from 18 to 99.",
        "q-phone-refusal": "Please answer this question.",
        "q-more-refusal": "Please write 2,000 characters at most.",
    }
    age = ann.html.select_one("#q-age")
    assert (age["value"], age["aria-invalid"]) == ("17", "true")
    assert age["aria-describedby"] == "q-age-hint q-age-refusal"
    assert ann.checked("q-where") == ["2"]
    assert ann.html.select_one("textarea").get_text().strip() == "x" * 2001
    assert replies(study) == []


def test_each_field_is_a_plain_control_with_its_label(study):
    """Usable without script: the browser itself asks for what is required."""
    ann = study.arrive().send()
    page = ann.html
    assert page.select_one("label[for=q-age]").get_text(strip=True) == "How old are you?"
    assert page.select_one("#q-age")["inputmode"] == "decimal"
    assert "optional" in page.select_one("label[for=q-more]").get_text()
    assert page.select_one("textarea")["maxlength"] == "2000"
    assert [name.get_text(strip=True) for name in page.select("fieldset legend")] == [
        "How often do you use a phone?",
        "Where?",
    ]
    required = {tag["name"] for tag in page.select("main form [required]")}
    assert required == {"q-age", "q-phone"}


def test_going_back_shows_the_answers_and_a_change_is_a_revision(study):
    """The same again changes nothing."""
    ann = study.arrive().send().send(**ANSWERS)
    ann.open(f"{ann.home}1/1/questions")
    assert ann.html.select_one("#q-age")["value"] == "25"
    assert (ann.checked("q-phone"), ann.checked("q-where")) == (["2"], ["1", "3"])
    assert ann.send(**ANSWERS).step == "2/1/rate/1"
    assert len(replies(study)) == 1
    ann.open(f"{ann.home}1/1/questions").send(**{**ANSWERS, "q-age": "26"})
    assert [answers["age"] for answers in replies(study)] == [25, 26]
    assert (ann.step, rate_all(ann).send().step) == ("2/1/rate/1", "done")
    ann.open(f"{ann.home}1/1/questions")
    assert ann.step == "done"


def test_an_option_that_screens_out_ends_the_part_after_the_answers_are_stored(study):
    """No work is taken from the pool for somebody who is not to do it."""
    ann = study.arrive().send().send(**{**ANSWERS, "q-phone": "3"})
    assert ann.step == "stopped"
    assert replies(study)[0]["phone"] == "Never"
    [(stopped_as, stopped_at, code)] = study.rows(
        select(Worker.stopped_as, Worker.stopped_at, Worker.completion_code)
    )
    assert (stopped_as, stopped_at, code) == ("screened_out", study.clock(), "SORRY-1")
    assert len(study.rows(select(Slot.id))) == 1
    ann.open(f"{ann.home}1/1/questions")
    assert ann.step == "stopped"


def test_texts_of_questions_are_never_markup(new_campaign):
    """Nor are the answers that come back."""
    evil = '<script>alert("1")</script>'
    asked = [
        {"id": "a", "text": evil, "type": "text"},
        {"id": "b", "text": evil, "type": "single", "options": [evil, "x"]},
    ]
    study = new_campaign("evil", tasks=[questions_task(questions=asked, title=evil)])
    ann = study.arrive().send().send(**{"q-a": f"</textarea>{evil}"})
    assert ann.sent == 422
    assert all("<script>" not in answer.text for answer in ann.log)
    assert ann.response.text.count("&lt;script&gt;") >= 5
