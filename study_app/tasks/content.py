"""Contents of one task as values, and the forms of collections.

Contents are topics, each system's sides, derived tables and files.
"""

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from metrics.errors import Fault, InputError
from metrics.files import file_sha256
from study_app.protocol.sides import Side
from study_app.protocol.streams import UpdateStream
from study_app.study.entries import StudyFileModel, TaskEntry, Text

if TYPE_CHECKING:
    from metrics.summaries.two_layered import Query

T = TypeVar("T")
UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no page can display and a database may refuse.

They are control characters except tab and line ends, and halves of characters.
"""
SystemPair: TypeAlias = tuple[str, str]
"""Two systems, in the order of the study file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldPair:
    """Pair of systems with a known answer: the better system, or None where neither is."""

    systems: SystemPair
    better: str | None


class SummaryFiles(StudyFileModel):
    """Files of a MobileClick collection, relative to the study file."""

    queries: Text
    iunits: Text
    intents: Text
    importance: Text | None = None
    probability: Text | None = None


class EventFiles(StudyFileModel):
    """Files of a Temporal Summarization collection, relative to the study file."""

    topics: Text
    nuggets: Text
    matches: Text
    updates: Text


class PushFiles(StudyFileModel):
    """Files of a Microblog or Real-Time Summarization collection.

    Paths are relative to the study file.
    """

    topics: Text
    qrels: Text
    clusters: Text
    epochs: Text
    texts: Text


class RankedFiles(StudyFileModel):
    """Files of a collection of documents, with or without judgments and windows.

    Paths are relative to the study file.
    """

    topics: Text
    qrels: Text | None = None
    windows: Text | None = None
    texts: Text
    intents: Text | None = None


class AnswerFiles(StudyFileModel):
    """The questions, relative to the study file; what answers them are the systems.

    Judgments of the answers, as `prefcal score answers` reads them, are for `prefcal agree`; no worker sees them.
    """

    topics: Text
    texts: Text | None = None
    nuggets: Text | None = None
    support: Text | None = None


class ImageFiles(StudyFileModel):
    """The topics, relative to the study file; what shows them are the systems."""

    topics: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """File of a study: its path as the study file writes it, and its hash."""

    path: str
    sha256: str


def source_files(folder: Path, paths: Mapping[str, str]) -> dict[str, SourceFile]:
    """Return the files by name, for paths relative to ``folder``."""
    return {name: SourceFile(path=path, sha256=file_sha256(folder / path)) for name, path in paths.items()}


def collect_faults(faults: list[Fault], read: Callable[[], T]) -> T | None:
    """Read something, or note why it cannot be read."""
    try:
        return read()
    except InputError as error:
        faults += error.faults
        return None


def read_systems(
    folder: Path, systems: Mapping[str, str], faults: list[Fault], read: Callable[[Path, str], T]
) -> dict[str, T] | None:
    """Read the file of each system by path and name; note the faults of all, and return None then."""
    values = {
        name: collect_faults(faults, partial(read, folder / path, name)) for name, path in systems.items()
    }
    whole = {name: value for name, value in values.items() if value is not None}
    return whole if len(whole) == len(values) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicContent:
    """Query, event or interest profile: id, text, and details.

    Details are what `models.Topic.detail` holds.

    ``query``: its intents and iUnits, where the collection has such.
    """

    id: str
    text: str
    detail: dict[str, Any] | None = None
    query: "Query | None" = None

    @property
    def intents(self) -> Mapping[str, str]:
        """Text of each intent; empty where there are none."""
        return {} if self.query is None else self.query.intents

    @property
    def iunits(self) -> Mapping[str, str]:
        """Text of each iUnit; empty where there are none."""
        return {} if self.query is None else self.query.iunits

    def probability(self, intent: str) -> float | None:
        """Return P(i|q) of an intent; None where the collection has none."""
        given = None if self.query is None else self.query.probability
        return None if given is None else given.get(intent, 0.0)

    def chances(self, known: Mapping[str, Mapping[str, float]]) -> Mapping[str, float]:
        """Return P(i|q) of each intent.

        They come from the topic, else from the collection, else they are uniform.
        """
        given = None if self.query is None else self.query.probability
        return known.get(self.id) or given or dict.fromkeys(self.intents, 1 / max(1, len(self.intents)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContent:
    """All that one task needs.

    Attributes
    ----------
    entry : TaskEntry
        What the study file says.
    files : mapping of str to SourceFile
        Kind -> file of the collection.
    systems : mapping of str to SourceFile
        Name -> run, in the order of the study file; empty for a task without runs.
    topics : tuple of TopicContent
        In the order of the collection.
    sides : mapping of (str, str) to Side
        (topic, system) -> what is shown where pairs are judged.
    streams : mapping of (str, str) to UpdateStream
        (event, system) -> what is shown where streams are followed.
    media : mapping of str to callable
        Hash of each `Media` that a side shows -> what reads its bytes as they are shown, without what tells who made them. It is called
        when a study is loaded, and raises `InputError` where the file has changed since. What a browser may show of it is in
        ``POLICY`` of `study_app.web.serving`.
    tables : mapping of str to bytes
        Name -> table derived from collection and runs, as Parquet, without the column ``task``: ``media`` where sides show media.
    notes : tuple of str
        One line for each thing that the files say and no worker will see.
    chosen : mapping of str to tuple of couples, or None
        Topic -> the couples of systems to judge; None for all that show something of it.
    gold : mapping of str to tuple of GoldPair
        Topic -> its pairs with a known answer; none of them is among the pairs to judge. A topic may have these alone.
    """

    entry: TaskEntry
    files: Mapping[str, SourceFile]
    systems: Mapping[str, SourceFile]
    topics: tuple[TopicContent, ...]
    sides: Mapping[tuple[str, str], Side] = field(default_factory=dict)
    streams: Mapping[tuple[str, str], UpdateStream] = field(default_factory=dict)
    media: Mapping[str, Callable[[], bytes]] = field(default_factory=dict)
    tables: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    chosen: Mapping[str, tuple[SystemPair, ...]] | None = None
    gold: Mapping[str, tuple[GoldPair, ...]] = field(default_factory=dict)

    @property
    def shown_pairs(self) -> Mapping[str, tuple[SystemPair, ...]]:
        """System pairs of each topic that pages show: those to judge, and gold pairs."""
        return {
            topic: (*couples, *(gold.systems for gold in self.gold.get(topic, ())))
            for topic, couples in self.system_pairs.items()
        }

    @property
    def system_pairs(self) -> Mapping[str, tuple[SystemPair, ...]]:
        """Judged system pairs of each topic, in the order of the study file.

        It is empty without pairs.
        """
        if self.chosen is not None:
            return self.chosen
        return {
            topic.id: tuple(
                combinations((name for name in self.systems if (topic.id, name) in self.sides), 2)
            )
            for topic in self.topics
        }

    @property
    def shown(self) -> Mapping[tuple[str, str], Side | UpdateStream]:
        """Displayed content by (topic, system): sides and streams."""
        return {**self.sides, **self.streams}

    @property
    def digests(self) -> Mapping[tuple[str, str], str]:
        """Digest of each side, by (topic, system)."""
        return {(topic, system): side.digest(topic) for (topic, system), side in self.sides.items()}

    @property
    def pairs_of_topics(self) -> tuple[int, ...]:
        """Number of judged pairs of each topic."""
        return tuple(map(len, self.system_pairs.values()))


OF_SYSTEM_SD = 1.0
OF_TOPIC_SD = 0.5
"""Standard deviations of a system's worth over systems, and of it over topics."""


def drawn_worth(content: TaskContent) -> dict[tuple[str, str], float]:
    """Draw the worth of each side for a simulated crowd, by (topic, system).

    Kinds whose contents do not determine it need it.

    The strength of the system + its luck with the topic, both normal and drawn by lot; names alone decide the lot, so that it is the
    same in every simulation of a study. What looks the same is worth the same: as the last of the systems that show it.
    """
    strength = {system: OF_SYSTEM_SD * _normal(system) for system in content.systems}
    digests = content.digests
    worth = {
        digests[topic, system]: strength[system] + OF_TOPIC_SD * _normal(f"{system} {topic}")
        for topic, system in content.sides
    }
    return {side: worth[digest] for side, digest in digests.items()}


def _normal(name: str) -> float:
    import numpy as np  # noqa: PLC0415 - slow to import, and only a simulation needs it

    return float(np.random.default_rng(zlib.crc32(name.encode())).normal())
