"""The page before a task: instructions, example, and a check with two tries."""

import re

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import select

from metrics.errors import InputError
from study_app.services.worker.answers import CheckProgress
from study_app.store.models import Slot, Worker
from study_app.store.task_models import Introduction
from study_app.tasks.kinds import KINDS, check_of, standard_check
from study_app.web.serving import render_page
from study_app.web.show.tasks import introduction
from tests.study_app.conftest import Campaign
from tests.study_app.small_study import votes_task
from tests.study_app.small_tasks import ANSWERS, pass_check, questions_task, rating_task, shown

CHECK = [
    {"question": "Is it raining?", "options": ["Yes", "No"], "answer": 2},
    {"question": "Is it warm?", "options": ["Yes", "No", "A little"], "answer": 3},
]
STANDING = CheckProgress(passed=False, tries_left=2, picked=())
RIGHT = {"check-1": "2", "check-2": "3"}


@pytest.fixture
def study(campaign):
    """A study whose task has the researcher's own introduction."""
    return campaign(
        tasks=[votes_task(instructions="Look outside.\n\nThen vote.", check=CHECK)],
        codes={"failed_checks": "CHECKED-1"},
    )


def tries(study):
    """Return the number, answers and outcome of every try that is stored."""
    stored = select(Introduction.number, Introduction.answers, Introduction.passed).order_by(Introduction.id)
    return [tuple(row) for row in study.rows(stored)]


def test_the_task_begins_when_all_answers_are_right(study):
    """Text and example first; nothing of the task is taken or open before."""
    ann = study.arrive().send()
    assert ann.step == "1/intro"
    assert [part.get_text(strip=True) for part in ann.html.select(".guide p")] == [
        "Look outside.",
        "Then vote.",
    ]
    assert ann.html.select_one(".example")
    assert [legend.get_text() for legend in ann.html.select("legend")] == ["Is it raining?", "Is it warm?"]
    assert ann.open(f"{ann.home}1/choose").step == "1/intro"
    assert ann.send(**RIGHT).step == "1/choose"
    assert tries(study) == [(1, [2, 3], True)]


def test_after_a_try_a_changed_file_is_refused_with_its_line(study):
    """The try is stored with its task, which must stay as it was."""
    study.arrive().send().send(**{**RIGHT, "check-1": "1"})
    with pytest.raises(InputError, match="would corrupt answers already given"):
        study.load(tasks=[votes_task(instructions="Look inside.", check=CHECK)])
    assert (
        study.load(tasks=[votes_task(instructions="Look outside.\n\nThen vote.", check=CHECK)]).outcome
        == "changed"
    )


def test_a_failed_try_is_told_without_the_right_answer(study):
    """Which answer was wrong, and that there is one more try; what was right stays picked. So it is after a reload."""
    ann = study.arrive().send().send(**{**RIGHT, "check-1": "1"})
    assert (ann.sent, ann.step) == (422, "1/intro")
    for page in (ann.html, ann.open(ann.home).html):
        assert "one more try" in page.select_one(".error").get_text()
        refusals = [tag.get_text() for tag in page.select(".refusal")]
        assert refusals == ["Your answer “Yes” does not fit the text above."]
        assert page.select_one("fieldset")["aria-describedby"] == page.select_one(".refusal")["id"]
    assert (ann.checked("check-1"), ann.checked("check-2")) == ([], ["3"])
    assert ann.send(**RIGHT).step == "1/choose"
    assert tries(study) == [(1, [1, 3], False), (2, [2, 3], True)]


def test_who_fails_twice_is_stopped_in_a_friendly_way(study):
    """With the code for that, and for good; nobody is told off."""
    ann = study.arrive().send().send(**{**RIGHT, "check-1": "1"}).send(**{**RIGHT, "check-2": "1"})
    assert ann.step == "stopped"
    assert "CHECKED-1" in ann.text
    [(stopped_as,)] = study.rows(select(Worker.stopped_as))
    assert (stopped_as, len(tries(study))) == ("failed_checks", 2)
    assert ann.open(f"{ann.home}1/intro").step == "stopped"
    assert study.rows(select(Slot.id)) == []


def test_a_double_click_costs_no_second_try(study):
    """The same form twice is one try; another answer from the same page is another."""
    ann = study.arrive().send()
    path, form = ann.path, {**ann.form(), **RIGHT, "check-1": "1"}
    for _ in range(2):
        ann.send(form=form, to=path)
        assert (ann.sent, len(tries(study))) == (422, 1)
    assert ann.send(form={**form, "check-1": "2"}, to=path).step == "1/choose"
    assert ann.send(form={**form, "check-1": "2"}, to=path).step == "1/choose"
    assert len(tries(study)) == 2


def test_a_question_left_out_is_no_try(study):
    """Nor is an option that does not exist."""
    ann = study.arrive().send()
    for said in ({}, {"check-1": "2"}, {**RIGHT, "check-1": "3"}, {**RIGHT, "check-2": "x"}):
        ann.send(**said)
        assert (ann.sent, tries(study)) == (422, [])
        assert "Please answer every question" in ann.html.select_one("[role=alert]").get_text()
    assert ann.checked("check-1") == ["2"]


def test_the_page_can_be_read_again_and_asks_nothing_then(study):
    """Back, or by its address; a form of it that comes again changes nothing."""
    ann = study.arrive().send()
    path, form = ann.path, ann.form()
    ann.send(**RIGHT).open(path)
    assert ann.step == "1/intro"
    assert not ann.html.select("main form input[type=radio]")
    ann.send(form={**form, "check-1": "1", "check-2": "1"}, to=path)
    assert (ann.step, len(tries(study))) == ("1/choose", 1)


def test_every_task_has_its_own(new_campaign):
    """In their order; without a check one button leads on; the check of the first says nothing about the second."""
    study = new_campaign(
        "several",
        tasks=[
            questions_task(instructions="standard", check=[]),
            rating_task(instructions="standard", example=False),
        ],
    )
    ann = study.arrive().send()
    assert (ann.step, len(ann.html.select("legend"))) == ("1/intro", 0)
    assert ann.send().step == "1/1/questions"
    assert tries(study) == [(1, [], True)]
    ann.send(**ANSWERS)
    assert ann.step == "2/intro"
    assert not ann.html.select(".example")
    assert study.rows(select(Slot.unit).where(Slot.unit > 0)) == []
    assert pass_check(ann, 3, 1).step == "2/1/rate/1"
    assert shown(ann)


def test_the_standard_check_goes_with_the_standard_text():
    """Who writes instructions of their own asks about these or not at all: nobody is stopped over what stood nowhere."""
    for kind in KINDS:
        made = KINDS[kind].entry.model_construct(kind=kind, instructions="standard", check=None)
        for shows in ((), KINDS[kind].optional):
            assert check_of(made, shows) == standard_check(kind, shows)
            assert [item.answer for item in check_of(made, shows)] == [*KINDS[kind].check]
        assert check_of(made.model_copy(update={"check": ()})) == ()
        assert check_of(made.model_copy(update={"instructions": "Look outside."})) == ()


@pytest.fixture(scope="module")
def app(tmp_path_factory, database_in):
    """A server; which study it has does not matter."""
    folder = tmp_path_factory.mktemp("intro")
    made = Campaign(folder, database_in(folder))
    made.load()
    yield made.serve().app
    made.database.engine.dispose()


def some_or_all(kind):
    """Return sets of what pages of a kind may show: nothing of what may be lacking, all of it, and each alone."""
    names = KINDS[kind].optional
    alone = [frozenset({name}) for name in names]
    if kind == "questions":  # a study asks something
        return [frozenset(names), *(one for one in alone if one != {"optional"})]
    return [*dict.fromkeys([frozenset(), frozenset(names), *alone])]


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(("kind", "shows"), [(kind, shows) for kind in KINDS for shows in some_or_all(kind)])
def test_every_kind_has_text_example_and_check_in_every_language(app, kind, shows, language):
    """The example has nothing to send and nothing that logs; of a pair there is somebody for each of the four answers."""
    entry = KINDS[kind].entry.model_construct(kind=kind, instructions="standard", check=None, example=True)
    page = introduction(entry, shows, language, STANDING, {}, None)
    with app.test_request_context():
        answer = render_page("intro", page, tokens={"worker": "w", "page": "p"})
    html = BeautifulSoup(answer.get_data(as_text=True), "html.parser")
    assert len(html.select(".guide p")) >= 2
    assert [len(one.select("input[required]")) for one in html.select("main form fieldset")] == [3, 3]
    example = html.select_one(".example")
    assert example.get_text(strip=True)
    assert not example.select("form, [name], [data-module]")
    assert all(control.has_attr("disabled") for control in example.select("input, button, textarea"))
    if kind.endswith("_pairs"):
        assert {side["data-side"] for side in example.select("section[data-side]")} == {"left", "right"}
        assert len({voice.strong.get_text() for voice in example.select(".voices li")}) == 4
    if language == "ja":
        assert not re.findall(r"[A-Za-z]{2,}", html.main.get_text(" ").replace("UTC", ""))
