"""Was this still of use: what is asked after a visit, when, and how answers are stored."""

from collections import Counter

import pytest
from sqlalchemy import select

from study_app.store.database import transaction
from study_app.store.models import Worker
from study_app.store.task_models import UsefulAnswer
from tests.study_app.small_streams import PROMPT, Told
from tests.study_app.stream_visits import asked, come_back, follow, log, stream_study


@pytest.fixture
def late(campaign):
    """One system that tells four nuggets, each long after it became known."""
    stream = [told._replace(hour=60 + number) for number, told in enumerate(PROMPT)]
    return stream_study(campaign, systems={"syslate": stream})


def answers(study):
    """Return (question, revision, useful) of everything stored."""
    return [
        tuple(row)
        for row in study.rows(
            select(UsefulAnswer.question_id, UsefulAnswer.revision, UsefulAnswer.useful).order_by(
                UsefulAnswer.id
            )
        )
    ]


def visit(study, visitor, *, after_hours, read=()):
    """Come back, read some updates and leave by the form."""
    come_back(study, visitor, after_hours=after_hours)
    log(visitor, read)
    return visitor.send(read=list(read), done="1")


def test_visits_late_count_this_workers_own_visits(late):
    """Nuggets known at 0, 20, 30 and 50 h; visits at 10, 25, 40 and 62 h; told at 60, 61 and 62 h.

    SYN-1 could have been told at the first visit, so it is 3 late; SYN-2 (20 h) at the second, 2; SYN-3 (30 h) at the
    third, 1.
    """
    ann = follow(late)
    for hours in (10, 15, 15):
        assert visit(late, ann, after_hours=hours).step == "1/1/away"
    visit(late, ann, after_hours=22, read=["u3", "u2", "u1"])
    assert ann.step == "1/1/useful"
    assert {one.nugget: one.visits_late for one in asked(late)} == {"SYN-1": 3, "SYN-2": 2, "SYN-3": 1}
    assert {one.visit for one in asked(late)} == {5}


def test_a_page_nobody_looked_at_is_no_visit_to_count(late):
    """The enrolment page above, and every link preview."""
    ann = follow(late)
    for _ in range(3):
        come_back(late, ann, after_hours=20)
    visit(late, ann, after_hours=2, read=["u3", "u2", "u1"])
    assert {one.visits_late for one in asked(late)} == {0}


def test_the_question_never_says_that_the_update_is_late(late):
    """Nor when it came; the text alone."""
    ann = visit(late, follow(late), after_hours=63, read=["u4"])
    assert ann.html.select_one("legend").get_text() == "Power is back"
    page = ann.html.select_one("main").get_text().lower()
    assert not ann.html.select("time")
    assert "late" not in page
    assert "nugget" not in page


def test_at_most_so_many_are_asked_in_a_visit(campaign):
    """ask_per_visit."""
    study = stream_study(campaign, systems={"sysprompt": PROMPT}, task={"ask_per_visit": 2})
    ann = visit(study, follow(study), after_hours=60, read=["u4", "u3", "u2", "u1"])
    assert len(ann.html.select("fieldset")) == 2
    assert len(asked(study)) == 2


def test_nobody_is_asked_when_the_study_does_not_want_it(campaign):
    """ask_per_visit: 0."""
    study = stream_study(campaign, systems={"sysprompt": PROMPT}, task={"ask_per_visit": 0})
    assert visit(study, follow(study), after_hours=60, read=["u4", "u1"]).step == "1/1/away"
    assert asked(study) == []


def test_only_what_was_read_and_brought_one_new_nugget_is_asked_about(campaign):
    """Not what brought two, none, or what an update read before had told."""
    stream = [
        Told("first", 1, ["SYN-1"]),
        Told("again", 2, ["SYN-1"]),
        Told("two", 3, ["SYN-2", "SYN-3"]),
        Told("none", 4),
        Told("unread", 5, ["SYN-4"]),
    ]
    study = stream_study(campaign, systems={"sysprompt": stream})
    ann = visit(study, follow(study), after_hours=1.5, read=["u1"])
    ann.send(skip="1")
    visit(study, ann, after_hours=4, read=["u4", "u3", "u2"])
    assert [(one.place, one.nugget) for one in asked(study)] == [(1, "SYN-1")]
    assert ann.step == "1/1/away"


def test_what_the_browser_logged_is_enough(late):
    """The form may name nothing."""
    ann = come_back(late, follow(late), after_hours=63)
    log(ann, ["u4"])
    assert ann.send(done="1").step == "1/1/useful"


def test_nobody_is_asked_twice_about_a_nugget(late):
    """Leaving again within the visit shows the same questions, not new ones for the same."""
    ann = visit(late, follow(late), after_hours=63, read=["u4", "u3"])
    first = [one.id for one in asked(late)]
    ann.open(f"{ann.home}1/1/stream").send(read=["u4", "u3"], done="1")
    assert ann.step == "1/1/useful"
    assert [one.id for one in asked(late)] == first


def test_reading_on_in_the_same_visit_may_ask_more_but_never_too_many(late):
    """Three a visit, however often it is left."""
    ann = visit(late, follow(late), after_hours=63, read=["u4", "u3"])
    ann.open(f"{ann.home}1/1/stream").send(read=["u2", "u1"], done="1")
    assert len(asked(late)) == 3
    assert len(ann.html.select("fieldset")) == 3


def test_a_double_click_on_done_asks_once(late):
    """Both answers lead to the questions."""
    ann = come_back(late, follow(late), after_hours=63)
    form = ann.form()
    for _ in range(2):
        ann.send(form=form, to=f"{ann.home}1/1/stream", read=["u4"], done="1")
        assert ann.step == "1/1/useful"
    assert len(asked(late)) == 1


def test_an_answer_can_be_changed_until_the_end(late):
    """The same again changes nothing, another is a new revision."""
    ann = visit(late, follow(late), after_hours=63, read=["u4"])
    ann.send(**{"useful-1": "yes"})
    ann.open(f"{ann.home}1/1/useful")
    assert ann.checked("useful-1") == ["yes"]
    for said in ("yes", "no", "no"):
        ann.open(f"{ann.home}1/1/useful").send(**{"useful-1": said})
    [question] = asked(late)
    assert answers(late) == [(question.id, 1, True), (question.id, 2, False)]


def test_no_answer_is_needed(late):
    """Skipping answers nothing, whatever was picked; an empty form and a strange one neither."""
    ann = visit(late, follow(late), after_hours=63, read=["u4", "u3"])
    for form in ({"skip": "1", "useful-1": "yes"}, {}, {"useful-1": "maybe", "useful-9": "yes"}):
        assert ann.open(f"{ann.home}1/1/useful").send(**form).step == "1/1/away"
    assert answers(late) == []


def test_an_old_page_answers_the_questions_it_showed(late):
    """Numbers are those of its own visit, also when another visit has been asked about since."""
    ann = visit(late, follow(late), after_hours=61.5, read=["u2"])
    old = ann.form()
    first = asked(late)[0]
    other = late.visitor()
    other.open(ann.home)
    visit(late, other, after_hours=1, read=["u3"])
    assert len(asked(late)) == 2
    assert len(other.html.select("fieldset")) == 1
    ann.send(form=old, to=f"{ann.home}1/1/useful", **{"useful-1": "no"})
    assert answers(late) == [(first.id, 1, False)]


def test_there_may_be_nothing_to_answer(late):
    """The page says so, and its form stores nothing."""
    ann = follow(late)
    token = ann.form()
    ann.open(f"{ann.home}1/1/useful")
    assert "nothing to answer" in ann.text
    ann.send(form=token, to=f"{ann.home}1/1/useful", **{"useful-1": "yes"})
    assert ann.status == 403


def test_questions_spread_over_the_classes_of_lateness(campaign):
    """Eight workers, one question each, of nuggets that come 1, 2, 3 and 4 visits late: two or three of each class."""
    stream = [told._replace(hour=60 + number / 10) for number, told in enumerate(PROMPT)]
    study = stream_study(campaign, systems={"syslate": stream}, task={"ask_per_visit": 1})
    for number in range(8):
        worker = follow(study, f"w{number}")
        for hours in (10, 15, 15, 15):
            visit(study, worker, after_hours=hours)
        visit(study, worker, after_hours=6, read=["u4", "u3", "u2", "u1"])
    classes = Counter(min(one.visits_late, 3) for one in asked(study))
    assert set(classes) == {1, 2, 3}
    assert sorted(classes.values()) == [2, 3, 3]


def test_what_withdrawn_workers_were_asked_does_not_count(late):
    """Their answers will not be used, so their class is asked about again."""
    ann = follow(late)
    visit(late, ann, after_hours=63, read=["u4", "u3", "u2", "u1"])
    with transaction(late.database, write=True) as session:
        session.scalars(select(Worker)).one().withdrawn_at = late.clock()
    bob = follow(late, "bob")
    visit(late, bob, after_hours=63, read=["u4", "u3", "u2", "u1"])
    assert len(asked(late)) == 6
    assert ann.open(f"{ann.home}1/1/useful").step == "withdrawn"


def test_a_form_that_comes_after_the_days_is_taken(late):
    """The visit happened; what was read is asked about, and the way leads on."""
    ann = come_back(late, follow(late), after_hours=95.9)
    late.clock.forward(3600)
    ann.send(read=["u4"], done="1")
    assert ann.step == "1/1/useful"
    assert ann.send(**{"useful-1": "yes"}).step == "1/1/away"
    assert "days of this story are over" in ann.text
    assert len(answers(late)) == 1
