"""Judged subtopics and time windows of documents, and ranked lists, as values, whatever files they were read from.

`metrics.readers.ranked` reads them, `metrics.ranked.score` scores them. Ids and names of windows are text and stay as
written.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

CalendarUnit: TypeAlias = Literal["year", "month", "week", "day"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCollection:
    """Topics with subtopics, documents judged for them, and the time window of each document.

    Attributes
    ----------
    name : str
        How messages call it.
    grades : mapping of str to mapping of str to mapping of str to int
        Judged topic -> subtopic -> document -> grade; a document is relevant from grade 1, and has 0 where it is
        missing. A topic has at least one subtopic, here or in ``probability``. The topics stand in the order of the
        judgments.
    windows : mapping of str to str
        Document -> its window, for every relevant document at least; one that is missing lies in no window.
    probability : mapping of str to mapping of str to float
        Topic -> subtopic -> P(c|q), for topics where it is not uniform; as given, never rescaled. A subtopic that is
        missing there has 0, one that no document was judged for counts all the same.
    strange_intents : tuple of str
        Topics, as written, that have a probability and that nobody judged.
    calendar_unit : {'year', 'month', 'week', 'day'}, optional
        What timestamps were cut into windows by; None where windows were named.

    Raises
    ------
    ValueError
        If a topic has no subtopic, a relevant document no window, or a probability is negative or not finite.
    """

    name: str
    grades: Mapping[str, Mapping[str, Mapping[str, int]]]
    windows: Mapping[str, str]
    probability: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    strange_intents: tuple[str, ...] = ()
    calendar_unit: CalendarUnit | None = None

    def __repr__(self) -> str:
        """``RankedCollection('qrels.txt', topics=4, windows=60)``."""
        return f"RankedCollection({self.name!r}, topics={len(self.grades)}, windows={len(set(self.windows.values()))})"

    def __post_init__(self) -> None:
        """Check what the measures rely on."""
        for topic in self.grades:
            if not self.subtopics(topic):
                raise ValueError(f"topic {topic} has no subtopic")
            for document in self.relevant(topic):
                if document not in self.windows:
                    raise ValueError(f"document {document}, relevant to topic {topic}, has no window")
            if not all(0 <= share < math.inf for share in self.probability.get(topic, {}).values()):
                raise ValueError(f"a probability of topic {topic} is negative or not finite")

    def subtopics(self, topic: str) -> tuple[str, ...]:
        """Return those that are named in the judgments, then those that only have a probability."""
        return tuple(dict.fromkeys([*self.grades[topic], *self.probability.get(topic, ())]))

    def relevant(self, topic: str) -> tuple[str, ...]:
        """Return the documents that are relevant to any of the topic's subtopics, each once."""
        judged = self.grades[topic].values()
        return tuple(dict.fromkeys(one for of in judged for one, grade in of.items() if grade > 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRun:
    """What one system returned: for each topic documents, the best first.

    Attributes
    ----------
    name : str
        What stands in the column ``run`` of scores.
    rankings : mapping of str to tuple of str
        Topic, as the judgments name it, -> documents, each once; a topic that is missing has an empty list.
    unjudged : mapping of str to int
        Topic, as written, that nobody judged -> how many documents were left out with it.

    Raises
    ------
    ValueError
        If a document stands twice in a list.
    """

    name: str
    rankings: Mapping[str, tuple[str, ...]]
    unjudged: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        """``RankedRun('newest', lists=4)``."""
        return f"RankedRun({self.name!r}, lists={len(self.rankings)})"

    def __post_init__(self) -> None:
        """Check that no document stands twice."""
        for topic, documents in self.rankings.items():
            if len(set(documents)) < len(documents):
                raise ValueError(f"a document stands twice in the list of topic {topic}")
