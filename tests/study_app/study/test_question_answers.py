"""What may be answered to a question: one rule a test, on the pure function."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study_app.study.entries import Question
from study_app.study.question_answers import checked_answers, number_text, screens_out


def question(kind, **more):
    return Question(id="q", text="?", type=kind, **more)


CHOICE = question("single", options=("Yes", "No", "Sometimes"), screen_out=("No",))
BOXES = question("multiple", options=("a", "b", "c"), screen_out=("b",))


def answer(asked, *said):
    """Return what a form with these values answers, or the key of what is wrong with it."""
    found = checked_answers([asked], {"q-q": said})
    assert len(found.answers) + len(found.refusals) <= 1
    return found.refusals["q"].key if found.refusals else found.answers.get("q")


def test_a_required_question_needs_an_answer_and_another_does_not():
    """Blanks are no answer; what was left out is not stored."""
    for kind in ("text", "number"):
        for said in ((), ("",), (" \r\n ",)):
            assert answer(question(kind), *said) == "questions.required"
            assert answer(question(kind, required=False), *said) is None
    assert answer(BOXES) == answer(CHOICE) == "questions.required"


def test_a_text_may_have_two_thousand_characters():
    """A line end counts once, whichever the browser sends; what surrounds the text goes."""
    assert answer(question("text"), "  one\r\ntwo\rthree\0 ") == "one\ntwo\nthree"
    assert answer(question("text"), "x\r\n" * 999 + "yz") == "x\n" * 999 + "yz"
    assert answer(question("text"), "字" * 2001) == "questions.too_long"


@pytest.mark.parametrize(
    ("said", "number"),
    [("25", 25), ("2.50", 2.5), ("+7", 7), ("-3", -3), ("−3", -3), ("２５", 25), ("１．５", 1.5), ("007", 7)],
)
def test_a_number_is_a_number_however_it_was_typed(said, number):
    """Full-width digits are what a Japanese keyboard gives."""
    assert answer(question("number"), said) == number


@pytest.mark.parametrize(
    "said", ["x", "1,5", "1 000", "1e3", "nan", "inf", "0x10", "1.", ".5", "9" * 16, "२५x"]
)
def test_what_could_mean_something_else_is_no_number(said):
    """Better asked again than stored wrongly."""
    assert answer(question("number"), said) == "questions.no_number"


def test_a_number_keeps_within_its_range():
    """Both ends belong to it; who misses it reads which numbers there are."""
    ages = question("number", min=18, max=99.5)
    assert [answer(ages, said) for said in ("18", "99.5")] == [18, 99.5]
    found = checked_answers([ages], {"q-q": ["17"]}).refusals["q"]
    assert (found.key, found.low, found.high) == ("questions.between", "18", "99.5")
    assert answer(question("number", min=0), "-1") == "questions.at_least"
    assert answer(question("number", max=0), "1") == "questions.at_most"


def test_an_option_is_told_by_its_number_and_stored_by_its_text():
    """Several in the order of the study file, each once."""
    assert answer(CHOICE, "3") == "Sometimes"
    assert answer(BOXES, "3", "1", "3") == ["a", "c"]


@pytest.mark.parametrize("said", [("4",), ("0",), ("x",), ("1", "2"), ("1", "9"), ("Yes",)])
def test_what_is_no_option_is_refused(said):
    """Only a form that was tampered with says so."""
    assert answer(CHOICE, *said) == "questions.no_option"


def test_an_option_that_screens_out_is_noticed_wherever_it_was_chosen():
    """Alone or among others."""
    assert [screens_out([CHOICE], {"q": said}) for said in ("Yes", "No")] == [False, True]
    assert [screens_out([BOXES], {"q": said}) for said in (["a"], ["a", "b"], [])] == [False, True, False]
    assert not screens_out([CHOICE, BOXES], {})


@given(
    st.sampled_from([CHOICE, BOXES, question("text"), question("number", min=0, max=10)]),
    st.lists(st.text(max_size=30), max_size=3),
)
def test_whatever_is_sent_is_answered_or_refused(asked, said):
    """Never both, never a failure; and what was accepted is accepted again."""
    found = answer(asked, *said)
    if asked.type in {"text", "number"} and not str(found).startswith("questions."):
        again = number_text(found) if isinstance(found, int | float) else found
        assert answer(asked, again) == found
