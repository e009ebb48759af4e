"""Rules that read the form of a pair page: choice, criteria and reason; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from study_app.study.entries import MAX_REASON, SCALES, JudgingTask, Scale
from study_app.study.question_answers import plain_text

REASON = "reason"
"""Field of the reason."""

_DEGREES = {
    "graded5": {1: "slightly", 2: "much"},
    "graded7": {1: "slightly", 2: "clearly", 3: "much"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAnswer:
    """Answer to a pair, as `models.Judgment` stores it."""

    choice: str
    strength: int | None = None
    criteria: Mapping[str, Sequence[str | int | None]] | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairForm:
    """Fields of a pair page's form, and the first fault of what was sent in it.

    Attributes
    ----------
    answer : PairAnswer or None
        None where there is a fault.
    fault : str
        Key of the catalogue; empty without a fault.
    """

    answer: PairAnswer | None
    fault: str = ""


def criterion_field(number: int) -> str:
    """Return the field of the asked criterion ``number``, from 1."""
    return f"criterion-{number}"


def option_value(choice: str, strength: int | None) -> str:
    """Return an option as its field has it: ``left``, ``equally_good``, ``left_2``."""
    return f"{choice}_{strength}" if strength else choice


def option_words(scale: Scale, choice: str, strength: int | None) -> str:
    """Return the catalogue key of an option's words."""
    if scale == "four":
        return f"pair.choice_{choice}"
    return f"pair.{_DEGREES[scale][strength]}_{choice}" if strength else "pair.same"


def scale_options(scale: Scale) -> tuple[tuple[str, str], ...]:
    """Return value and catalogue key of each option, in the order of the page."""
    return tuple((option_value(*option), option_words(scale, *option)) for option in SCALES[scale])


def answer_fields(entry: JudgingTask, answer: PairAnswer) -> dict[str, str]:
    """Return the form's fields of an answer."""
    given = answer.criteria or {}
    fields = {"choice": option_value(answer.choice, answer.strength)}
    for number, criterion in enumerate(entry.asked_criteria, start=1):
        if criterion.name in given:
            choice, strength = given[criterion.name]
            fields[criterion_field(number)] = option_value(str(choice), int(strength or 0))
    return fields | ({REASON: answer.reason} if answer.reason else {})


def read_pair_form(entry: JudgingTask, sent: Mapping[str, Sequence[str]]) -> PairForm:
    """Read the form of a pair page."""
    options = {option_value(*option): option for option in SCALES[entry.choices]}
    picked = {name: options.get(next(iter(sent.get(name, ())), "")) for name in question_fields(entry)}
    reason = plain_text(next(iter(sent.get(REASON, ())), "")) if entry.reason else ""
    if None in picked.values():
        return PairForm(answer=None, fault="pair.answer_all" if len(picked) > 1 else "pair.pick_one")
    if len(reason) > MAX_REASON:
        return PairForm(answer=None, fault="pair.reason_long")
    if entry.reason == "required" and not reason:
        return PairForm(answer=None, fault="pair.give_reason")
    (choice, strength), *asked = [option for option in picked.values() if option is not None]
    names = [criterion.name for criterion in entry.asked_criteria]
    criteria = {name: list(option) for name, option in zip(names, asked, strict=True)}
    return PairForm(
        answer=PairAnswer(choice=choice, strength=strength, criteria=criteria or None, reason=reason or None)
    )


def question_fields(entry: JudgingTask) -> list[str]:
    """Return the fields of the overall question and of the asked criteria."""
    return ["choice", *(criterion_field(number + 1) for number in range(len(entry.asked_criteria)))]
