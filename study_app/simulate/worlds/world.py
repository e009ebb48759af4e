"""What a simulated person can know of a task: the texts, and what they are truly worth to them.

A person sees what a system shows as text only. `World.score` finds the text among what the systems wrote, so a page that shows
anything else is noticed at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from study_app.estimate.content import StudyContent
from study_app.simulate.people.mind import PREFERENCE_SLOPE
from study_app.simulate.site import Element, PageError, as_read
from study_app.simulate.truth import Truth
from study_app.simulate.worlds.stream_world import StreamWorld, told_event
from study_app.study.entries import FollowedTask, TaskEntry
from study_app.tasks.content import Shown, TaskContent
from study_app.tasks.kinds import kind_of

MOST_SHOWN = 300
"""Characters of a page that an error tells."""

Texts: TypeAlias = tuple[Any, ...]
"""What can be read of a side, in order: `Element.texts` of each of its elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Texts and true worth of one task; topics, intents and iUnits are known by their texts.

    Attributes
    ----------
    scores : mapping
        (topic, texts of a side) -> what it is worth; empty for a task without pairs.
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
    """

    scores: Mapping[tuple[str, Texts], float]
    slope: float
    middle: float
    chances: Mapping[str, Mapping[str, float]]
    iunits: Mapping[str, frozenset[str]]
    importance: Mapping[tuple[str, str, str], float]

    def score(self, topic: str, elements: Sequence[Element]) -> float:
        """Return what a side as it stands on a page is worth; `PageError` when no system wrote it."""
        texts = tuple(element.texts for element in elements)
        if (topic, texts) not in self.scores:
            raise PageError(f"{topic!r}: the page shows what no system wrote: {str(texts)[:MOST_SHOWN]}")
        return self.scores[topic, texts]


AnyWorld: TypeAlias = World | StreamWorld


@dataclass(frozen=True, slots=True)
class KnownTask:
    """A task: what the study file says of it, and what can be known of it."""

    entry: TaskEntry
    world: AnyWorld


def build_worlds(content: StudyContent, truth: Truth) -> Mapping[int, KnownTask]:
    """Return task number (from 1) -> what can be known of it.

    Raises
    ------
    InputError
        If a task's collection lacks what decides what people prefer.
    """
    return {
        number: KnownTask(task.entry, _world(task, truth, content.file.path))
        for number, task in enumerate(content.tasks, start=1)
    }


def _world(task: TaskContent, truth: Truth, path: Path) -> AnyWorld:
    if isinstance(task.entry, FollowedTask):
        return _stream_world(task, task.entry)
    worth_of = kind_of(task.entry).worth
    worth = worth_of(task, truth, path) if worth_of is not None else {}
    values = [[worth[topic.id, system] for system in task.systems] for topic in task.topics]
    pairs = [pair for of_topic in values for pair in combinations(of_topic, 2)]
    spread = float(np.std([a - b for a, b in pairs])) if pairs else 0.0
    text = {topic.id: as_read(topic.text) for topic in task.topics}
    queries = [(text[topic.id], topic.query) for topic in task.topics if topic.query is not None]
    return World(
        scores={
            (text[topic], _texts(shown)): worth[topic, system]
            for (topic, system), shown in task.shown.items()
        },
        slope=PREFERENCE_SLOPE / (spread or 1.0),
        middle=float(np.median([a + b for a, b in pairs])) if pairs else 0.0,
        chances={
            text[topic.id]: {
                as_read(topic.intents[name]): p for name, p in topic.chances(truth.intents).items()
            }
            for topic in task.topics
            if topic.intents
        },
        iunits={topic: frozenset(map(as_read, query.iunits.values())) for topic, query in queries},
        importance={
            (topic, as_read(query.intents[intent]), as_read(query.iunits[iunit])): value
            for topic, query in queries
            for (intent, iunit), value in query.importance.items()
        },
    )


def _texts(shown: Shown) -> Texts:
    """Return what can be read of a side, in the form of `Element.texts`."""
    [items] = shown.values()
    return tuple(_element(item).texts for item in items)


def _element(item: Mapping[str, Any]) -> Element:
    """Return an item as it stands on a page, which tells the minute at which a push came, not the second."""
    below = tuple(map(_element, item["second"])) if "second" in item else None
    at = datetime.fromtimestamp(item["at"], UTC).replace(second=0) if "at" in item else None
    return Element(key="", text=as_read(f"{item.get('title', '')} {item['text']}"), second=below, at=at)


def _stream_world(task: TaskContent, entry: FollowedTask) -> StreamWorld:
    return StreamWorld(
        factor=entry.clock_factor,
        events={
            as_read(topic.text): told_event(
                {name: shown for (event, name), shown in task.shown.items() if event == topic.id},
                days=entry.days,
                factor=entry.clock_factor,
            )
            for topic in task.topics
        },
    )
