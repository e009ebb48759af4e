"""Truth about a task for simulated people: contents, and their worth.

A person knows a side by the digest that its page names. `TaskTruth.worth` holds what stands there against what the system made, so a page
that shows anything else is noticed at once.
"""

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from metrics.errors import input_fault
from study_app.estimate.content import StudyContent
from study_app.protocol.sides import Block
from study_app.protocol.streams import Nuggets, UpdateStream
from study_app.simulate.browser import Element, PageError, SideOnPage, collapse_white_space
from study_app.simulate.crowd_parameters import CrowdParameters
from study_app.study.entries import FollowedTask, TaskEntry
from study_app.tasks.content import TaskContent
from study_app.tasks.kinds import kind_of

T = TypeVar("T")
Words = TypeVar("Words", bound=Hashable)

PREFERENCE_SLOPE = 3.0
"""Log odds of a pair whose M differs by one standard deviation over all pairs."""

SAME_WORTH = 1e-9
"""Worths that lie so close are one, computed in another order."""

MAX_ERROR_CHARS = 300
"""Most characters of a page in an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEvent:
    """One event as it can be known.

    Attributes
    ----------
    start : float
        Stream time at enrolment, in seconds since 1970.
    follow_seconds : float
        Wall seconds from enrolment to the end of the follow.
    nuggets : mapping of (str, str) to Nuggets
        Key and text of an update, as read -> what is in it. The key belongs to it, since assessors did not find the
        same in every copy of a sentence.
    """

    start: float
    follow_seconds: float
    nuggets: Mapping[tuple[str, str], Nuggets]

    def brought(self, key: str, text: str) -> Nuggets:
        """Return the nuggets in an update.

        It raises `PageError` when no system's stream has this text there.
        """
        if (key, text) not in self.nuggets:
            raise PageError(f"the page shows an update {key} that no system wrote: {text}")
        return self.nuggets[key, text]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTruth:
    """One task with streams: its clock, and its events by title."""

    factor: float
    events: Mapping[str, KnownEvent]


def known_event(streams: Mapping[str, UpdateStream], *, days: float, factor: float) -> KnownEvent:
    """Return the truth about one event.

    Parameters
    ----------
    streams : mapping of str to UpdateStream
        System -> its stream.
    days : float
        Stream days of a follow.
    factor : float
        Stream seconds in a wall second.
    """
    one = next(iter(streams.values()))
    span = min(days * 86_400, one.end - one.start)
    return KnownEvent(
        start=one.start,
        follow_seconds=span / factor,
        nuggets={
            (update.key, collapse_white_space(update.text)): brought
            for stream in streams.values()
            for update, brought in zip(stream.updates, stream.nuggets, strict=True)
        },
    )


@dataclass(slots=True, kw_only=True)
class Memory:
    """Memory of a follower: visits in stream time, nuggets, and new ones by update.

    Attributes
    ----------
    visits : list of float
        Stream time at which each visit began.
    known : set of str
        Nuggets read so far.
    new : dict of str to Nuggets
        Key of an update -> the nuggets that nothing read before it had.
    """

    visits: list[float] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    new: dict[str, Nuggets] = field(default_factory=dict)

    def take(self, key: str, nuggets: Nuggets) -> None:
        """Remember an update that was read."""
        self.new[key] = tuple(nugget for nugget in nuggets if nugget[0] not in self.known)
        self.known.update(name for name, _ in nuggets)

    def visits_late(self, known_since: float) -> int:
        """Return the number of visits since something was known.

        It is 0 when the nugget became known after this visit began.
        """
        on_time = [number for number, at in enumerate(self.visits) if known_since <= at]
        return len(self.visits) - 1 - on_time[0] if on_time else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSide:
    """Side of a system: its name, visible elements, and true worth.

    Elements are compared by `Element.shown`.
    """

    system: str
    shown: tuple[tuple[Any, ...], ...]
    worth: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTruth:
    """Contents of a task and their true worth.

    Topics, intents and iUnits are known by their texts.

    Attributes
    ----------
    sides : mapping of str to KnownSide
        Digest of a side -> what is known of it; empty for a task without pairs.
    slope : float
        Of Davidson's model, per unit of worth.
    middle : float
        Median of the sum of both sides' worth over all pairs.
    chances : mapping of str to mapping of str to float
        Topic -> intent -> P(i|q); topics without intents are not in it.
    iunits : mapping of str to set of str
        Topic -> its iUnits.
    importance : mapping
        (topic, intent, iUnit) -> importance, as the collection has it; what is missing has 0.
    rbp_p : float or None
        The chance that a person goes on from one entry to the next, where the sides are ranked lists that are not always read to
        their end.
    gold : mapping of frozenset of str to str or None
        Digests of the two sides of a gold pair -> that of the better one, None where neither is.
    """

    sides: Mapping[str, KnownSide]
    slope: float
    middle: float
    chances: Mapping[str, Mapping[str, float]]
    iunits: Mapping[str, frozenset[str]]
    importance: Mapping[tuple[str, str, str], float]
    rbp_p: float | None = None
    gold: Mapping[frozenset[str], str | None] = field(default_factory=dict)

    def worth(self, side: SideOnPage) -> float:
        """Return the worth of a side on a page.

        It raises `PageError` when no system made it.
        """
        shown = tuple(element.shown for element in side.elements)
        known = self.sides.get(side.content)
        if known is None or known.shown != shown:
            raise PageError(f"the page shows what no system made: {str(shown)[:MAX_ERROR_CHARS]}")
        return known.worth


AnyWorld: TypeAlias = TaskTruth | StreamTruth


@dataclass(frozen=True, slots=True)
class KnownTask:
    """A task: what the study file says of it, and what can be known of it."""

    entry: TaskEntry
    world: AnyWorld


def build_worlds(content: StudyContent, truth: CrowdParameters) -> Mapping[int, KnownTask]:
    """Return the truth about each task, by its number from 1.

    Raises
    ------
    InputError
        If a task's collection lacks what decides what people prefer.
    """
    return {
        number: KnownTask(task.entry, _world(task, truth, content.file.path))
        for number, task in enumerate(content.tasks, start=1)
    }


def _world(task: TaskContent, truth: CrowdParameters, path: Path) -> AnyWorld:
    if isinstance(task.entry, FollowedTask):
        return _stream_world(task, task.entry, path)
    kind = kind_of(task.entry)
    if kind.side is not None and kind.worth is None:
        raise input_fault(
            f"task {task.entry.name}: {task.entry.kind} does not say what a side is worth, so nobody can prefer one",
            path=path,
            cure="give its TaskKind a worth, such as drawn_worth",
        )
    worth = {} if kind.worth is None else kind.worth(task, truth, path)
    pairs = [
        (worth[topic, one], worth[topic, other])
        for topic, couples in (task.system_pairs if worth else {}).items()
        for one, other in couples
    ]
    spread = float(np.std([a - b for a, b in pairs])) if pairs else 0.0
    text = {topic.id: collapse_white_space(topic.text) for topic in task.topics}
    rated = task.topics if kind.page == "rate" else ()
    queries = [(text[topic.id], topic.query) for topic in rated if topic.query is not None]
    once = partial(_once, task, path)
    return TaskTruth(
        sides=_known_sides(task, worth, path) if worth else {},
        slope=PREFERENCE_SLOPE / (spread or 1.0),
        middle=float(np.median([a + b for a, b in pairs])) if pairs else 0.0,
        chances=once(
            (
                text[topic.id],
                once(
                    (collapse_white_space(topic.intents[name]), p)
                    for name, p in topic.chances(truth.intents).items()
                ),
            )
            for topic in task.topics
            if topic.intents
        ),
        iunits=once(
            (topic, frozenset(map(collapse_white_space, query.iunits.values()))) for topic, query in queries
        ),
        importance=once(
            (
                (
                    topic,
                    collapse_white_space(query.intents[intent]),
                    collapse_white_space(query.iunits[iunit]),
                ),
                value,
            )
            for topic, query in queries
            for (intent, iunit), value in query.importance.items()
        ),
        gold=_known_answers(task),
        rbp_p=truth.rbp_p if kind.side is not None and kind.side.ranked else None,
    )


def _known_answers(task: TaskContent) -> Mapping[frozenset[str], str | None]:
    """Return the better side of each gold pair, by the digests of both."""
    digests = task.digests if task.gold else {}
    return {
        frozenset(digests[topic, system] for system in pair.systems): None
        if pair.better is None
        else digests[topic, pair.better]
        for topic, pairs in task.gold.items()
        for pair in pairs
    }


def _once(task: TaskContent, path: Path, known: Iterable[tuple[Words, T]]) -> Mapping[Words, T]:
    """Return values by words.

    It raises `InputError` if a word has two values.
    """
    once: dict[Words, T] = {}
    for words, value in known:
        if once.setdefault(words, value) != value:
            raise input_fault(
                f"task {task.entry.name}: two of its parts read {words!r} and are not alike, so a simulated crowd cannot tell them apart",
                path=path,
                cure="give each words of its own in the collection",
            )
    return once


def _known_sides(
    task: TaskContent, worth: Mapping[tuple[str, str], float], path: Path
) -> Mapping[str, KnownSide]:
    """Return all judged sides by digest.

    Raises
    ------
    InputError
        If two systems show the same and are not worth the same: nobody could prefer the better one.
    """
    known: dict[str, KnownSide] = {}
    for topic, couples in task.shown_pairs.items():
        for system in dict.fromkeys(name for couple in couples for name in couple):
            side = task.sides[topic, system]
            new = KnownSide(
                system=system,
                shown=tuple(_element(block).shown for block in side.blocks),
                worth=worth[topic, system],
            )
            old = known.setdefault(side.digest(topic), new)
            if not math.isclose(old.worth, new.worth, abs_tol=SAME_WORTH):
                raise input_fault(
                    f"task {task.entry.name}: {old.system} and {system} show the same of topic {topic} but are not worth the same "
                    f"({old.worth:.3g} and {new.worth:.3g}), so a simulated crowd cannot tell them apart",
                    path=path,
                    cure="leave one of the two out, or name other pairs as pairs: FILE",
                )
    return known


def _element(block: Block) -> Element:
    """Return a block as a page displays it.

    A push has the minute at which it came, not the second.
    """
    at = None if block.at is None else datetime.fromtimestamp(block.at, UTC).replace(second=0, microsecond=0)
    return Element(
        key=block.key,
        text=collapse_white_space(f"{block.title} {block.text}"),
        second=tuple(map(_element, block.inside)),
        at=at,
        media=None if block.media is None else block.media.sha256,
    )


def _stream_world(task: TaskContent, entry: FollowedTask, path: Path) -> StreamTruth:
    return StreamTruth(
        factor=entry.clock_factor,
        events=_once(
            task,
            path,
            (
                (
                    collapse_white_space(topic.text),
                    known_event(
                        {name: stream for (event, name), stream in task.streams.items() if event == topic.id},
                        days=entry.days,
                        factor=entry.clock_factor,
                    ),
                )
                for topic in task.topics
            ),
        ),
    )
