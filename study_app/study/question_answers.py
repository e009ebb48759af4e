"""Rules that read answers to a study's questions from form fields; pure."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from study_app.study.entries import Question

MAX_CHARACTERS = 2_000
MAX_DIGITS = 15
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
MINUS = str.maketrans("−‐ー", "---")

ReplyValue: TypeAlias = str | int | float | list[str]
"""Text or option picked, number, or options ticked in the order of the study file."""


@dataclass(frozen=True, slots=True)
class RejectedAnswer:
    """Fault of an answer: a catalogue key, with ``low`` and ``high`` of a range."""

    key: str
    low: str = ""
    high: str = ""


@dataclass(frozen=True, slots=True)
class CheckedAnswers:
    """Valid answers of a form, and the faults of the others, by question."""

    answers: dict[str, ReplyValue]
    refusals: dict[str, RejectedAnswer]


def field_of(question: Question) -> str:
    """Return the name of a question's field."""
    return f"q-{question.id}"


def checked_answers(questions: Iterable[Question], sent: Mapping[str, Sequence[str]]) -> CheckedAnswers:
    """Read the answers to questions from a form.

    Parameters
    ----------
    questions : iterable of Question
        Questions of the study file.
    sent : mapping of str to sequence of str
        The form's fields; `field_of` names them. Options are numbers from 1.
    """
    checked = CheckedAnswers(answers={}, refusals={})
    for question in questions:
        texts = [text for text in map(plain_text, sent.get(field_of(question), ())) if text]
        answer = _answer(question, texts) if texts else None
        if isinstance(answer, RejectedAnswer):
            checked.refusals[question.id] = answer
        elif answer is not None:
            checked.answers[question.id] = answer
        elif question.required:
            checked.refusals[question.id] = RejectedAnswer("questions.required")
    return checked


def screens_out(questions: Iterable[Question], answers: Mapping[str, ReplyValue]) -> bool:
    """Return whether an option was chosen that ends the worker's part."""
    for question in questions:
        answer = answers.get(question.id)
        chosen = answer if isinstance(answer, list) else [answer]
        if set(question.screen_out) & set(chosen):
            return True
    return False


def number_text(number: float) -> str:
    """Return a number as a person writes it, such as 25 or 2.5."""
    return str(int(number)) if number == int(number) else str(number)


def plain_text(text: str) -> str:
    """Return a text with one kind of line ends, stripped.

    Characters that no database stores are removed.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip()


def _answer(question: Question, sent: Sequence[str]) -> ReplyValue | RejectedAnswer:
    match question.type:
        case "text":
            return sent[0] if len(sent[0]) <= MAX_CHARACTERS else RejectedAnswer("questions.too_long")
        case "number":
            return _number(question, sent[0])
        case _:
            return _chosen(question, sent)


def _number(question: Question, sent: str) -> int | float | RejectedAnswer:
    text = unicodedata.normalize("NFKC", sent).translate(MINUS)
    if not NUMBER.fullmatch(text) or sum(map(str.isdigit, text)) > MAX_DIGITS:
        return RejectedAnswer("questions.no_number")
    number = float(text)
    low, high = question.min, question.max
    if (low is not None and number < low) or (high is not None and number > high):
        return range_of(question) or RejectedAnswer("questions.no_number")
    return int(number) if number == int(number) else number


def range_of(question: Question) -> RejectedAnswer | None:
    """Return the fault that names the range of a question, None for any number."""
    low = "" if question.min is None else number_text(question.min)
    high = "" if question.max is None else number_text(question.max)
    if low and high:
        return RejectedAnswer("questions.between", low, high)
    if low:
        return RejectedAnswer("questions.at_least", low=low)
    return RejectedAnswer("questions.at_most", high=high) if high else None


def _chosen(question: Question, sent: Sequence[str]) -> ReplyValue | RejectedAnswer:
    options = {str(number): option for number, option in enumerate(question.options, start=1)}
    if not set(sent) <= set(options) or (question.type == "single" and len(set(sent)) > 1):
        return RejectedAnswer("questions.no_option")
    if question.type == "single":
        return options[sent[0]]
    return [option for number, option in options.items() if number in sent]
