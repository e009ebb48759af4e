"""What the pages of ratings, of questions and before a task show: one value a template.

Names of systems and ids of iUnits are in none of them.
"""

from dataclasses import dataclass
from datetime import datetime

from study_app.study.question_answers import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedLine:
    """An iUnit to rate: its number on the page, its text, the rating so far, and whether it must still be given."""

    number: int
    text: str
    rating: int | None
    missing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RatePage:
    """iUnits to rate for an intent.

    Attributes
    ----------
    query, intent : str
        Their texts.
    unit, units : int
        Which of the worker's intents it is, and how many there are.
    number, total : int
        Which of the intent's pages.
    lines : tuple of RatedLine
        In the order drawn for this worker.
    """

    language: str
    query: str
    intent: str
    unit: int
    units: int
    number: int
    total: int
    lines: tuple[RatedLine, ...]
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question of the study.

    Attributes
    ----------
    field : str
        Name of its field.
    options : tuple of (int, str)
        Number and text of each.
    picked : frozenset of str
        Numbers of the options chosen so far, as the field has them.
    value : str
        The text or number so far.
    range : Refusal or None
        Which numbers it takes, in words of the catalogue; None for all, and for other types.
    refusal : Refusal or None
        Why the answer could not be taken.
    """

    field: str
    text: str
    type: str
    required: bool
    options: tuple[tuple[int, str], ...]
    picked: frozenset[str]
    value: str
    range: Refusal | None
    refusal: Refusal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsPage:
    """Questions of the study; ``title`` as the study file has it."""

    language: str
    title: str | None
    questions: tuple[AskedQuestion, ...]
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLine:
    """A question of a check: its options in order, the one picked, and the one that was picked wrongly in the last try.

    Options count from 1, 0 is none. Which one is right stands nowhere.
    """

    number: int
    question: str
    options: tuple[str, ...]
    is_standard: bool
    picked: int
    wrong: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IntroPage:
    """The page before a task.

    Attributes
    ----------
    kind : str
        Kind of the task: words ``guide.KIND`` and, as its example, template ``examples/KIND.html``.
    shows : frozenset of str
        What of `TaskKind.optional` the pages of the task have: words and example speak of nothing else.
    paragraphs : tuple of str
        The researcher's own instructions; () for prefcal's.
    example : bool
        Whether the example is shown.
    wide : bool
        The example needs the width of a pair.
    example_day : datetime
        On which an example with times begins.
    check : tuple of CheckLine
        Questions to answer, () for none.
    tries_left : int
        How often they may still be answered.
    passed : bool
        The task may begin, or has.
    """

    language: str
    kind: str
    shows: frozenset[str]
    paragraphs: tuple[str, ...]
    example: bool
    wide: bool
    example_day: datetime
    check: tuple[CheckLine, ...]
    tries_left: int
    passed: bool
    error: str | None
