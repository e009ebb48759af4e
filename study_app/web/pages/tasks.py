"""Values of the pages for ratings, questions and introductions.

They contain no names of systems and no ids of iUnits.
"""

from dataclasses import dataclass
from datetime import datetime

from study_app.study.question_answers import RejectedAnswer
from study_app.web.pages.pages import WorkerPage


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedLine:
    """iUnit to rate.

    It has its number on the page, its text, the rating so far, and whether a rating is still missing.
    """

    number: int
    text: str
    rating: int | None
    missing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RatePage(WorkerPage):
    """Page of iUnits to rate for an intent.

    Attributes
    ----------
    query, intent : str
        Texts of the query and the intent.
    unit, units : int
        Number of the intent among the worker's intents, and how many there are.
    number, total : int
        Number of the page among the intent's pages, and how many there are.
    lines : tuple of RatedLine
        In the order drawn for this worker.
    """

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
    """Question of the study, with its answer so far.

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
    range : RejectedAnswer or None
        Range of numbers that it takes, in words of the catalogue; None for all, and for other types.
    refusal : RejectedAnswer or None
        Fault of the answer.
    """

    field: str
    text: str
    type: str
    required: bool
    options: tuple[tuple[int, str], ...]
    picked: frozenset[str]
    value: str
    range: RejectedAnswer | None
    refusal: RejectedAnswer | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsPage(WorkerPage):
    """Page of questions of the study; ``title`` as in the study file."""

    title: str | None
    questions: tuple[AskedQuestion, ...]
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLine:
    """Question of a check.

    It has its options in order, the one picked, and the one that was picked wrongly in the last try. Options
    count from 1, 0 is none. Which one is right stands nowhere.
    """

    number: int
    question: str
    options: tuple[str, ...]
    is_standard: bool
    picked: int
    wrong: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IntroPage(WorkerPage):
    """Page before a task.

    Attributes
    ----------
    kind : str
        Kind of the task: words ``guide.KIND`` and, as its example, template ``examples/KIND.html``.
    shows : frozenset of str
        Parts of `TaskKind.optional` on the pages of the task: words and example mention no others.
    paragraphs : tuple of str
        The researcher's own instructions; () for prefcal's.
    example : bool
        Whether the example is shown.
    wide : bool
        The example needs the width of a pair.
    graded : bool
        The example's people answer on a scale.
    example_day : datetime
        Day on which an example with times begins.
    check : tuple of CheckLine
        Questions to answer, () for none.
    tries_left : int
        Number of tries left.
    passed : bool
        The task may begin, or has.
    """

    kind: str
    shows: frozenset[str]
    paragraphs: tuple[str, ...]
    example: bool
    wide: bool
    graded: bool
    example_day: datetime
    check: tuple[CheckLine, ...]
    tries_left: int
    passed: bool
    error: str | None
