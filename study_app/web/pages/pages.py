"""What each page of a worker shows: one value a template. Names of systems and ids of iUnits are in none of them."""

from dataclasses import dataclass, field
from datetime import datetime

from markupsafe import Markup

from study_app.study.platforms import WayBack


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePage:
    """A page that only says something: keys of the catalogue, and how to refer to this moment.

    ``stops``: it leads to the page where one's part ends early.
    """

    language: str
    heading: str
    text: str
    reference: str = ""
    stops: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentPage:
    """The consent text of the study, and the code to withdraw with; ``given`` once it was agreed to."""

    language: str
    title: str
    paragraphs: tuple[str, ...]
    text_sha256: str
    withdrawal_code: str
    given: bool
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoosePage:
    """The queries that can be taken, (number, text) each, and the one taken already."""

    language: str
    offered: tuple[tuple[int, str], ...]
    taken: str | None
    searches: bool
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """The query to search for; ``seconds`` the search should last and those left of them."""

    language: str
    query: str
    seconds_left: int
    seconds: int
    left: bool
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VotePage:
    """The intents of a query, (position, text) each, the positions ticked so far, and whether "none of these" is."""

    language: str
    query: str
    intents: tuple[tuple[int, str], ...]
    ticked: frozenset[int]
    none_ticked: bool
    error: str | None


@dataclass(slots=True, eq=False)
class ShownSide:
    """A system's side as the macro of ``sides/FORM.html`` takes it.

    ``html`` keeps what the macro made of it, by language and side: it is the same for everybody who sees it.
    """

    form: str
    value: object
    content: str
    html: dict[tuple[str, str], Markup] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPage:
    """What two systems show of a topic, to choose between; ``number`` of ``total``, and the answer stored so far.

    Attributes
    ----------
    query : str
        The query, or the title of the interest profile.
    description : str or None
        What the interest profile says; None for a query.
    windows : tuple of str
        The time windows of a historical query; () for another.
    asked_at : str or None
        The day on which a historical query was asked, where that is known.
    form : str
        summary, pushes, ranking, ...: how either side is shown, see `study_app.tasks.task_kind.SideForm`.
    shows : frozenset of str
        What of `TaskKind.optional` the words above a worker's first pair may speak of.
    left, right : ShownSide
        What `study_app.web.serving.side_html` makes HTML of.
    """

    language: str
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
    choice: str | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrolPage:
    """What following an event means: for how many seconds of the wall clock, and how much faster the event runs.

    ``followed``: the worker does so already.
    """

    language: str
    query: str
    seconds: float
    factor: float
    followed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowLine:
    """One event that a worker follows: its number in the task, its title, how many updates wait, whether it is over."""

    number: int
    title: str
    new: int
    over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsPage:
    """Everything that a worker follows in a task; ``arrival`` is what the links to the streams carry on."""

    language: str
    follows: tuple[FollowLine, ...]
    arrival: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownUpdate:
    """An update on a page: its key, its text, when it came, and whether it was read in this visit already."""

    key: str
    text: str
    at: datetime
    read: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPage:
    """A page of a stream.

    Attributes
    ----------
    query : str
        The event's title.
    at : datetime
        The time in the stream.
    new : int
        How many updates came since the newest one that was read before this visit.
    updates : tuple of ShownUpdate
        Newest first: those of this page.
    below : int or None
        What ``?below=`` of the next portion says; None when this is the last.
    is_portion : bool
        Whether there are newer updates of this visit on another page.
    since : datetime or None
        When the newest update came that was read before; None when none was.
    ends_at : datetime
        When the stream's days are over, by the wall clock.
    several : bool
        The worker follows other events too.
    """

    language: str
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
class UsefulPage:
    """Updates of which is asked whether they were still of use: (number, key, text, the answer so far) each."""

    language: str
    query: str
    asked: tuple[tuple[int, str, str, bool | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AwayPage:
    """See you: until when, and the address to come back by; ``over`` when the days are over.

    ``code``: for the visit that was, where each has one; ``back``: how it is handed in.
    """

    language: str
    query: str
    address: str
    ends_at: datetime
    over: bool
    several: bool
    code: str | None
    back: WayBack | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewPage:
    """What a study is, for somebody who has not accepted the work yet."""

    language: str
    title: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishPage:
    """Everything is answered. The code to withdraw with, since the next page may lead away at once."""

    language: str
    withdrawal_code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StopPage:
    """Stop here? ``text``: key of what is said about it; ``is_full``: there is nothing to go on with."""

    language: str
    text: str
    is_full: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EndPage:
    """A code for ever, the way back to the platform, and the code to withdraw with.

    Attributes
    ----------
    heading, text, label : str
        Keys of what is said: which end it is, and what the code is called.
    code : str or None
        None where the study has none for this end.
    back : WayBack or None
        How the code is handed in.
    at_once : bool
        The browser goes back by itself: only right after the last form of who finished.
    withdrawal_code : str or None
        None for a worker who has withdrawn.
    """

    language: str
    heading: str
    text: str
    label: str
    code: str | None
    back: WayBack | None
    at_once: bool
    withdrawal_code: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawPage:
    """Where a worker types the code to withdraw with; ``code`` as it was typed."""

    language: str
    code: str
    error: str | None
