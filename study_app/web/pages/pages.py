"""Values of workers' pages, one for each template.

They contain no names of systems and no ids of iUnits.
"""

from dataclasses import dataclass, field
from datetime import datetime

from markupsafe import Markup

from study_app.study.platforms import ReturnLink


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPage:
    """Page of a worker, in a language of the catalogue."""

    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePage(WorkerPage):
    """Page with a message: keys of the catalogue, and a reference to this request.

    ``stops`` is true if it leads to the page where one's part ends early. Who is kept out gets ``code`` and ``back``, the way to hand it
    in, or reads ``leave``: the key of how to give up the place.
    """

    heading: str
    text: str
    reference: str = ""
    stops: bool = False
    leave: str = ""
    code: str | None = None
    back: ReturnLink | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentPage(WorkerPage):
    """Consent text and withdrawal code; ``given`` once the worker agreed."""

    title: str
    paragraphs: tuple[str, ...]
    text_sha256: str
    withdrawal_code: str
    given: bool
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoosePage(WorkerPage):
    """Queries to choose from, (number, text) each, and the current one."""

    offered: tuple[tuple[int, str], ...]
    taken: str | None
    searches: bool
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage(WorkerPage):
    """Query to search for, with the ``seconds`` of the search and those left."""

    query: str
    seconds_left: int
    seconds: int
    left: bool
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VotePage(WorkerPage):
    """Intents of a query, with the worker's votes so far.

    Intents are (position, text); votes are the positions ticked, and whether "none of these" is.
    """

    query: str
    intents: tuple[tuple[int, str], ...]
    ticked: frozenset[int]
    none_ticked: bool
    error: str | None


@dataclass(slots=True, eq=False)
class ShownSide:
    """System's side as the macro of ``sides/FORM.html`` takes it.

    ``html`` caches the macro's output by language and side: it is the same for all workers.
    """

    form: str
    value: object
    content: str
    html: dict[tuple[str, str], Markup] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairQuestion:
    """Question of a pair page: its field, its words, and the option picked so far.

    ``text`` is None for the overall question. ``missing``: the form that was sent has no answer to it.
    """

    field: str
    text: str | None
    picked: str | None
    missing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPage(WorkerPage):
    """Two systems' sides of a topic, with the answer so far; ``number`` of ``total``.

    Attributes
    ----------
    query : str
        The query, or the title of the interest profile.
    description : str or None
        Text of the interest profile; None for a query.
    windows : tuple of str
        The time windows of a historical query; () for another.
    asked_at : str or None
        The day on which a historical query was asked, where that is known.
    form : str
        Form of both sides, such as summary, pushes or ranking; see `study_app.tasks.task_kind.SideForm`.
    shows : frozenset of str
        Parts of `TaskKind.optional` that the words above a worker's first pair may mention.
    left, right : ShownSide
        Sides that `study_app.web.serving.side_html` renders.
    criteria : tuple of str
        What workers are to think of, above the sides.
    options : tuple of (str, str)
        Value and catalogue key of each option, the same for all questions.
    graded : bool
        The options are steps of a scale.
    questions : tuple of PairQuestion
        The overall question, then the asked criteria.
    reason : str or None
        Whether a reason is optional or required; None where none is asked for.
    reason_text : str
        The reason so far.
    """

    query: str
    description: str | None
    windows: tuple[str, ...]
    asked_at: str | None
    number: int
    total: int
    form: str
    shows: frozenset[str]
    left: ShownSide
    right: ShownSide
    criteria: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    graded: bool
    questions: tuple[PairQuestion, ...]
    reason: str | None
    reason_text: str
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrolPage(WorkerPage):
    """Page about following an event: its seconds, and how much faster it runs.

    Seconds are of the wall clock. ``followed`` is true if the worker follows it already.
    """

    query: str
    seconds: float
    factor: float
    followed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowLine:
    """Followed event: number in the task, title, updates that wait, and if it is over."""

    number: int
    title: str
    new: int
    over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsPage(WorkerPage):
    """Streams that a worker follows in a task; links to them carry ``arrival``."""

    follows: tuple[FollowLine, ...]
    arrival: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownUpdate:
    """Update on a page: key, text, time, and whether this visit has read it."""

    key: str
    text: str
    at: datetime
    read: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPage(WorkerPage):
    """A page of a stream.

    Attributes
    ----------
    query : str
        Title of the event.
    at : datetime
        Time in the stream.
    new : int
        Number of updates since the newest one that was read before this visit.
    updates : tuple of ShownUpdate
        Updates of this page, newest first.
    below : int or None
        Value of ``?below=`` for the next portion; None when this is the last.
    is_portion : bool
        Newer updates of this visit are on another page.
    since : datetime or None
        Time of the newest update that was read before; None when none was.
    ends_at : datetime
        End of the stream's days, by the wall clock.
    several : bool
        The worker follows other events too.
    """

    query: str
    at: datetime
    new: int
    updates: tuple[ShownUpdate, ...]
    below: int | None
    is_portion: bool
    since: datetime | None
    ends_at: datetime
    several: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UsefulPage(WorkerPage):
    """Updates of a visit to judge by their use: (number, key, text, answer) each."""

    query: str
    asked: tuple[tuple[int, str, str, bool | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AwayPage(WorkerPage):
    """Page after a visit: the end of the days, and the link to come back by.

    ``over`` when the days are over; ``code``: for the visit, where each has one; ``back``: the way to hand it
    in.
    """

    query: str
    address: str
    ends_at: datetime
    over: bool
    several: bool
    code: str | None
    back: ReturnLink | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewPage(WorkerPage):
    """Description of a study for a visitor who has not accepted the work yet."""

    title: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishPage(WorkerPage):
    """Page with the last button, and the withdrawal code.

    The code is here since the next page may lead away at once.
    """

    withdrawal_code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StopPage(WorkerPage):
    """Question whether to stop; ``text`` is a key, ``is_full`` if no work is left."""

    text: str
    is_full: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EndPage(WorkerPage):
    """Page with a worker's code, the way back, and the withdrawal code.

    Attributes
    ----------
    heading, text, label : str
        Catalogue keys that name the end and the code.
    code : str or None
        None where the study has none for this end.
    back : ReturnLink or None
        Way to hand in the code.
    at_once : bool
        The browser goes back by itself: only right after a finished worker's last form.
    withdrawal_code : str or None
        None for a worker who has withdrawn.
    """

    heading: str
    text: str
    label: str
    code: str | None
    back: ReturnLink | None
    at_once: bool
    withdrawal_code: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawPage(WorkerPage):
    """Form for the withdrawal code; ``code`` as it was typed."""

    code: str
    error: str | None
