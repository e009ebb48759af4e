"""Definition of a kind of task, with all that differs between kinds."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from metrics.errors import Fault
from study_app.protocol.sides import Side
from study_app.study.entries import EntryKind
from study_app.tasks.content import TaskContent
from study_app.tasks.side_text import Words, side_text
from study_app.tasks.workload import Capacity, SecondsRange

Page: TypeAlias = Literal["pair", "vote", "rate", "stream", "questions"]
"""Kind of the pages on which answers are given."""

Unit: TypeAlias = Literal["topic", "pair", "intent", "all"]
"""Thing that a worker holds a place in.

It is a topic that the worker chooses, a pair or an intent that is assigned, or the task.
"""


PreferredBy: TypeAlias = Literal["patience", "push weights", "lot", ""]
"""What of a simulated crowd decides its preferences; empty where the collection alone does."""


class KindParameters(Protocol):
    """Parameters of a simulated crowd that decide preferences.

    `study_app.simulate.crowd_parameters` defines them.
    """

    @property
    def patience_preferences(self) -> float:
        """Counted characters."""

    @property
    def push_weights(self) -> Mapping[str, float]:
        """P_E, S_E, P_0, S_0 of the contingency utility, for one unit of gain."""

    @property
    def intents(self) -> Mapping[str, Mapping[str, float]]:
        """P(i|q) by topic and intent; missing topics have the collection's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideForm:
    """Display of a system's side on a pair page.

    Attributes
    ----------
    name : str
        Template ``sides/NAME.html`` shows it, and ``NAME.`` begins the keys of its words in the catalogue.
    value : callable
        From a side, the topic's `models.Topic.detail`, and whether it is said which days were silent, to the value that the
        template's macro takes; its blocks where nothing is said.
    shows : callable
        From a side and the topic's detail to what of `TaskKind.optional` there is in it.
    text : callable
        From a side, the topic's detail, whether it is said which days were silent, and the catalogue's words in the task's language,
        to what the page shows as plain text, empty where the side shows nothing; see `study_app.tasks.side_text`.
    is_free_text : bool
        Its blocks follow from its words, so that a mended text may have others; else they are things of the collection.
    ranked : bool
        Its items are the entries of a ranked list, so that table stops has their ranks.
    """

    name: str
    value: Callable[[Side, Mapping[str, Any], bool], object] = lambda side, _detail, _reveals: side.blocks
    shows: Callable[[Side, Mapping[str, Any]], Collection[str]] = lambda _side, _detail: ()
    text: Callable[[Side, Mapping[str, Any], bool, Words], str] = side_text
    is_free_text: bool = False
    ranked: bool = False


class Collected(Protocol):
    """Collection that `prefcal study new` found.

    `study_app.study_new.collections.FoundCollection` is one.
    """

    @property
    def family(self) -> str:
        """Family of the collection: summaries, events, pushes, ranked, images, answers."""

    @property
    def files(self) -> Mapping[str, Any]:
        """File by key of the study file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """Texts and limits of a kind of task in a new study file.

    Attributes
    ----------
    name : str
        What such a task is called in the tables.
    runs : mapping of str to int
        Family of collection -> how many runs it needs.
    usual : callable
        Whether it is written for a collection where nobody says what is wanted.
    title, activity : mapping of str to str
        Language -> title of a study that is mainly about it; what a worker does, for the consent.
    telling : int
        Of the kinds in a study the one with the lowest number gives it its title.
    comments : mapping of str to str
        Key -> its comment, in the order in which they are written.
    days : callable
        From a collection to the days that only it knows; None where the kind has none.
    """

    name: str
    runs: Mapping[str, int]
    title: Mapping[str, str]
    activity: Mapping[str, str]
    telling: int
    comments: Mapping[str, str]
    usual: Callable[[Collected], bool] = lambda _found: True
    days: Callable[[Collected], Any] = lambda _found: None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedTask:
    """A task that was done, for the methods of a report.

    Attributes
    ----------
    systems : str
        How many, in words: "3 systems".
    protocol : mapping
        The numbers of the study file.
    files : frozenset of str
        Which files the collection had.
    number, amount : callable
        Write a number, and so many of something, as the report does: ``200``, ``1 day``.
    """

    systems: str
    protocol: Mapping[str, Any]
    files: frozenset[str]
    number: Callable[[float], str]
    amount: Callable[[Any, str], str]


@dataclass(frozen=True, kw_only=True)
class TaskKind(EntryKind):
    """Kind of task.

    `EntryKind` describes the keys of the study file (``entry``, ``criteria``, ``cures``, ``rules``, ...).

    Attributes
    ----------
    page : str
        Kind of its answer pages; it needs an entry with what these pages need (`JudgingTask` for pairs, `FollowedTask` for streams, ...).
    unit : str
        What a worker holds a place in. Of topics, pairs and intents ``wanted_key`` says how many a worker does, and ``limit_key`` how
        many answers each gets; the task as a whole is everybody's, once.
    places : callable
        From an entry and that number of answers to how many workers may hold a place in the same unit.
    topic : str
        What a topic is called on the page of progress.
    free_keys : frozenset of str
        Keys that may change while answers exist, besides those of every kind.
    read : callable
        From the study file's folder, an entry and a list that gets faults to what the task shows; None where there are faults.
    side : SideForm or None
        How a pair page shows a side; None without pairs.
    optional : tuple of str
        What its pages may have or lack. Instructions speak only of what those of the study have: `SideForm.shows` says it of a side,
        ``says`` of what the study file decides.
    says : callable
        From an entry to what of ``optional`` its pages have, whatever the collection is.
    asks : callable
        From what of ``optional`` there is to the names of the two questions of the standard check.
    check : (int, int)
        Which of the three options of each of these is right, from 1; whichever questions ``asks`` picks.
    words : mapping of str to mapping of str to str
        Language -> key of the catalogue -> words, of what does not stand in `templates/locale`.
    templates : mapping of str to str
        Name -> template, of those that are not in `templates`.
    seconds : callable
        From its content to how long a worker is busy with it.
    assumed : tuple of str
        What that rests on.
    capacity : callable
        From its content to what is collected; None where there is no end of it.
    work : callable
        From its content to what a worker does, as `prefcal study check` says it.
    faults : callable
        From its content to what is wrong with it, and how to mend it.
    tables : frozenset of str
        Tables that its answers and logs go into, and ``media`` if its sides show media. The tables derived from collections themselves
        are in `TaskContent.tables`.
    worth : callable
        From its content, the people of a crowd and the study file's path to what each (topic, system) is worth to them; for pairs.
    preferred_by : callable
        From its entry to what of a simulated crowd decides ``worth``: ``patience``, ``push weights``, ``lot``, or nothing.
    methods : callable
        From a task that was done to what its workers did, for the report.
    new : NewTask or None
        What `prefcal study new` needs to write one; None where no collection leads to it.
    """

    page: Page
    unit: Unit
    read: Callable[[Path, Any, list[Fault]], TaskContent | None]
    seconds: Callable[[TaskContent], SecondsRange]
    work: Callable[[TaskContent], str]
    methods: Callable[[FinishedTask], str]
    check: tuple[int, int]
    tables: frozenset[str]
    capacity: Callable[[TaskContent], Capacity | None]
    wanted_key: str | None = None
    limit_key: str | None = None
    places: Callable[[Any, int], int] = lambda _entry, limit: limit
    topic: str = "Query"
    optional: tuple[str, ...] = ()
    says: Callable[[Any], Collection[str]] = lambda _entry: ()
    asks: Callable[[Collection[str]], tuple[str, str]] = lambda _shows: ("first", "second")
    free_keys: frozenset[str] = frozenset()
    side: SideForm | None = None
    worth: Callable[[TaskContent, KindParameters, Path], Mapping[tuple[str, str], float]] | None = None
    preferred_by: Callable[[Any], PreferredBy] = lambda _entry: ""
    assumed: tuple[str, ...] = ()
    faults: Callable[[TaskContent], Iterator[tuple[str, str]]] = lambda _content: iter(())
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    templates: Mapping[str, str] = field(default_factory=dict)
    new: NewTask | None = None

    @property
    def is_chosen(self) -> bool:
        """True if workers choose the topic; else the server assigns the next one."""
        return self.unit == "topic"

    @property
    def has_units(self) -> bool:
        """True if parts of a topic are leased one by one."""
        return self.unit in {"pair", "intent"}

    def limit(self, entry: Any) -> int | None:
        """Return the number of places of a unit; None for no limit."""
        answers = None if self.limit_key is None else getattr(entry, self.limit_key)
        return None if answers is None else self.places(entry, answers)

    def wanted(self, entry: Any) -> int:
        """Return the number of units that a worker is asked to do."""
        return 1 if self.wanted_key is None else int(getattr(entry, self.wanted_key))
