"""The pairs on which a measure and the votes disagree most, with what was to be read on either side."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.stream_files import read_stream_files
from calibration.tables.sources import PUSH_FILES, TaskSources
from metrics.arrays import Floats
from metrics.readers.mobileclick import COLUMNS as COLLECTION_FILES
from metrics.readers.mobileclick import read_collection_files
from metrics.readers.mobileclick_runs import read_summary_run
from metrics.readers.ranked import read_ranked_collection, read_ranked_run
from metrics.readers.texts import read_document_texts, read_profiles, read_ranked_topics
from metrics.readers.trees import read_xml
from metrics.summaries.two_layered import Link, Query, Summary
from metrics.topics import TopicNames

Texts = Mapping[str, str]
MOST_PAIRS = 10
PAIR = ("pair", "system_a", "system_b", "votes_a", "votes_b", "equally_good", "equally_bad")
COLUMNS = (
    "task",
    "measure",
    "rank",
    "topic",
    "topic_text",
    *PAIR,
    "vote_share",
    "difference",
    "disagreement",
    "text_a",
    "text_b",
)
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTexts:
    """Texts by the names that the collection has for topics.

    Attributes
    ----------
    topics : mapping of str to str
        Topic -> what it is about.
    sides : mapping of str to mapping of str to str
        Topic -> system -> what it showed.
    """

    topics: Texts = field(default_factory=dict)
    sides: Mapping[str, Texts] = field(default_factory=dict)

    def topic(self, name: str) -> str:
        """Return what a topic is about, by its long or short name; empty where that is unknown."""
        return self.topics.get(TopicNames(self.topics).find(name) or "", "")

    def side(self, topic: str, system: str) -> str:
        """Return what a system showed on a topic; empty where that is unknown, or nothing."""
        return self.sides.get(TopicNames(self.sides).find(topic) or "", {}).get(system, "")


def shown_texts(task: JudgedTask, sources: TaskSources | None) -> ShownTexts:
    """Read the texts of a task; none where its files cannot be used.

    Raises
    ------
    InputError
        If a file is faulty.
    """
    reader = None if sources is None else _READERS.get(sources.kind)
    if sources is None or reader is None or sources.problems:
        return ShownTexts()
    return reader(task, sources)


def _summaries(task: JudgedTask, sources: TaskSources) -> ShownTexts:
    collection = read_collection_files(
        {kind: source.path for kind, source in sources.collection.items() if kind in COLLECTION_FILES},
        name=str(sources.path("queries").parent),
    )
    runs = [read_summary_run(source.path, collection, name=name) for name, source in sources.systems.items()]
    return ShownTexts(
        topics={query.id: query.text for query in collection.queries.values()},
        sides={
            query.id: {run.name: _summary_lines(run.summaries[query.id], query) for run in runs}
            for query in collection.queries.values()
            if query.id in task.topics
        },
    )


def _summary_lines(summary: Summary, query: Query) -> str:
    """Return the first layer, each second layer indented below its link."""
    lines: list[str] = []
    for element in summary.first:
        if isinstance(element, Link):
            lines.append(f"[{query.intents[element.intent]}]")
            lines += [f"    {query.iunits[unit.id]}" for unit in summary.second.get(element.intent, ())]
        else:
            lines.append(query.iunits[element.id])
    return "\n".join(lines)


def _streams(task: JudgedTask, sources: TaskSources) -> ShownTexts:
    """Return what each system pushed on the days that were judged, oldest first, with the UTC time.

    A push without a text was not shown; where nothing has a text, ids stand for texts.
    """
    files = read_stream_files(sources)
    spans = files.spans()
    names, judged = TopicNames(spans), TopicNames(task.topics.tolist())
    sides: dict[str, dict[str, str]] = {}
    for run in files.push_runs:
        shown: dict[str, list[tuple[int, str]]] = {}
        for written, item, seconds in zip(run.topics, run.tweets, run.epochs.tolist(), strict=True):
            topic, text = names.find(written), files.texts.get(item, "") if files.texts else item
            if not text or topic is None or judged.find(topic) is None:
                continue
            begin, end = spans[topic]
            if begin <= seconds < end:
                shown.setdefault(topic, []).append((seconds, text))
        for topic, pushed in shown.items():
            lines = [f"{_moment(seconds)} {text}" for seconds, text in sorted(pushed, key=lambda one: one[0])]
            sides.setdefault(topic, {})[run.name] = "\n".join(lines)
    return ShownTexts(topics=_stream_topics(sources), sides=sides)


def _stream_topics(sources: TaskSources) -> Texts:
    """Return the titles of interest profiles or events."""
    if "topics" not in sources.collection:
        return {}
    if sources.form == PUSH_FILES:
        return {name: profile.title for name, profile in read_profiles(sources.path("topics")).items()}
    events = [
        {child.tag: child.text.strip() for child in event.children}
        for event in read_xml(sources.path("topics")).children
    ]
    return {event.get("id", ""): event.get("title", "") for event in events}


def _ranked(task: JudgedTask, sources: TaskSources) -> ShownTexts:
    """Return the titles of each list's documents with their windows, best first; one without a text was not shown."""
    collection = read_ranked_collection(qrels=sources.path("qrels"), windows=sources.path("windows"))
    texts = read_document_texts(sources.path("texts")) if "texts" in sources.collection else {}
    judged = TopicNames(task.topics.tolist())
    sides: dict[str, dict[str, str]] = {}
    for name, source in sources.systems.items():
        run = read_ranked_run(source.path, collection.grades, name=name)
        for topic, ranking in run.rankings.items():
            if judged.find(topic):
                lines = [
                    f"{rank}. {texts[one].title if texts else one} [{collection.windows.get(one, '?')}]"
                    for rank, one in enumerate(ranking[: sources.depth], start=1)
                    if one in texts or not texts
                ]
                sides.setdefault(topic, {})[name] = "\n".join(lines)
    asked = read_ranked_topics(sources.path("topics")) if "topics" in sources.collection else {}
    return ShownTexts(topics={name: topic.text for name, topic in asked.items()}, sides=sides)


_READERS: Mapping[str, Callable[[JudgedTask, TaskSources], ShownTexts]] = {
    "summary_pairs": _summaries,
    "stream_pairs": _streams,
    "ranked_pairs": _ranked,
}


def _moment(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"


def disagreement(difference: Floats, share: Floats) -> Floats:
    """Return how strongly score and votes disagree about each pair.

    |2 y - 1| |M(R) - M(R')| / max |M(R) - M(R')|,  0 where they agree or either is tied

    Parameters
    ----------
    difference, share : (pairs,) ndarray of float
        M(R) - M(R'), and the share y of votes for R.

    Returns
    -------
    (pairs,) ndarray of float in [0, 1]
    """
    largest = np.abs(difference).max(initial=0.0)
    opposed = difference * (share - 0.5) < 0
    return np.where(opposed, np.abs((2 * share - 1) * difference) / (largest or 1.0), 0.0)


def disagreement_rows(
    task: JudgedTask,
    measure: str,
    difference: Floats,
    texts: ShownTexts,
    *,
    most: int = MOST_PAIRS,
) -> list[Row]:
    """Return the pairs of a task on which a measure and the votes disagree most, the strongest first.

    Parameters
    ----------
    task : JudgedTask
        The preferences that count, of p pairs.
    measure : str
        Its name, for the rows.
    difference : (p,) ndarray of float
        Score of system_a less that of system_b.
    texts : ShownTexts
        What was to be read.
    most : int
        So many pairs at most; equal disagreements stand in the order of the pairs.
    """
    strength = disagreement(difference, task.share)
    order = np.argsort(-strength, kind="stable")[:most]
    pairs = task.pairs.to_dict("records")
    rows: list[Row] = []
    for rank, place in enumerate((place for place in order.tolist() if strength[place] > 0), start=1):
        pair = pairs[place]
        topic = pair["topic"]
        rows.append(
            {
                "task": task.task,
                "measure": measure,
                "rank": rank,
                "topic": topic,
                "topic_text": texts.topic(topic),
                **{name: pair[name] for name in PAIR},
                "vote_share": pair["vote_share"],
                "difference": difference[place],
                "disagreement": strength[place],
                "text_a": texts.side(topic, pair["system_a"]),
                "text_b": texts.side(topic, pair["system_b"]),
            }
        )
    return rows
