"""Content of a task with ranked lists: queries, windows, displayable lists.

The queries are those of the topics file that are judged, without judgments all of them, in its order. Of a run's ranking the first ``depth`` entries are shown,
so that people judge what a measure at that depth scores; an entry without a text is left out and counted, and nothing from
below takes its place.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from metrics.errors import Fault, FaultLog, closest_name, input_fault
from metrics.ranked.lists import RankedCollection, RankedRun
from metrics.readers.ranked import read_ranked_collection, read_ranked_run, read_windows
from metrics.readers.texts import AskedTopic, DocumentText, read_document_texts, read_ranked_topics
from study_app.protocol.sides import Side, text_block
from study_app.study.entries import collection_paths
from study_app.tasks.content import TaskContent, TopicContent, collect_faults, read_systems, source_files
from study_app.tasks.ranked_pairs import RankedPairs


@dataclass(frozen=True, slots=True, kw_only=True)
class _Collection:
    """Texts of queries and documents, with judgments and windows if any."""

    asked: Mapping[str, AskedTopic]
    texts: Mapping[str, DocumentText]
    judged: RankedCollection | None
    windows: Mapping[str, str] | None

    @property
    def names(self) -> tuple[str, ...]:
        """Topics as the judgments name them, or else the topics file."""
        return tuple(self.asked if self.judged is None else self.judged.grades)

    def has_text(self, document: str) -> bool:
        """Return whether a document has a text or a title to display."""
        document_text = self.texts.get(document)
        return document_text is not None and bool(document_text.title or document_text.text)


def read_ranked_content(folder: Path, task: RankedPairs, faults: list[Fault]) -> TaskContent | None:
    """Read the files of one task; add faults to ``faults`` and return None then."""
    names = collection_paths(task)
    collection = _collection({kind: folder / path for kind, path in names.items()}, faults)
    if collection is None:
        return None
    topics = collect_faults(faults, partial(_topics, folder / names["topics"], collection))
    whole = read_systems(folder, task.systems, faults, lambda path, name: _run(path, name, collection))
    if topics is None or whole is None:
        return None
    runs = list(whole.values())
    notes = _notes_of_topics(names, collection, topics)
    for run in runs:
        notes += _notes_of_run(run, [topic.id for topic in topics], collection, task.depth)
    return TaskContent(
        entry=task,
        files=source_files(folder, names),
        systems=source_files(folder, task.systems),
        topics=topics,
        sides={
            (topic.id, run.name): _side(run.rankings.get(topic.id, ())[: task.depth], collection)
            for topic in topics
            for run in runs
        },
        notes=tuple(notes),
    )


def _collection(paths: Mapping[str, Path], faults: list[Fault]) -> _Collection | None:
    asked = collect_faults(faults, partial(read_ranked_topics, paths["topics"]))
    texts = collect_faults(faults, partial(read_document_texts, paths["texts"]))
    before, judged, windows = len(faults), None, None
    if "qrels" in paths:
        judged = collect_faults(
            faults,
            partial(
                read_ranked_collection,
                qrels=paths["qrels"],
                windows=paths.get("windows"),
                intents=paths.get("intents"),
            ),
        )
    if "windows" in paths:
        windows = (
            collect_faults(faults, partial(read_windows, paths["windows"]))
            if judged is None
            else judged.windows
        )
    if asked is None or texts is None or len(faults) > before:
        return None
    return _Collection(asked=asked, texts=texts, judged=judged, windows=windows)


def _topics(path: Path, collection: _Collection) -> tuple[TopicContent, ...]:
    """Return the queries to display, sorted by name.

    Each has the windows with relevant documents.
    """
    log, names = FaultLog(path), frozenset(collection.names)
    topics = tuple(
        TopicContent(id=name, text=topic.text, detail=_detail(name, topic, collection))
        for name, topic in collection.asked.items()
        if name in names
    )
    if not topics:
        cure = f"name topics as the judgments do, such as {collection.names[0]!r}"
        log.add("none of these topics is judged", line=1, cure=cure)
    log.raise_if_any()
    return topics


def _detail(name: str, topic: AskedTopic, collection: _Collection) -> dict[str, Any] | None:
    """Return the times for the page; None where documents have no windows."""
    judged, windows = collection.judged, collection.windows
    if windows is None:
        return None
    relevant = () if judged is None else judged.relevant(name)
    shown = {"windows": sorted({windows[document] for document in relevant})}
    return shown if topic.asked_at is None else {**shown, "asked_at": topic.asked_at}


def _run(path: Path, name: str, collection: _Collection) -> RankedRun:
    """Read a run; refuse one with nothing to display.

    Such a run surely belongs to another collection.
    """
    run = read_ranked_run(path, collection.names, name=name)
    if not any(collection.has_text(document) for ranking in run.rankings.values() for document in ranking):
        raise input_fault(
            "no entry of this run has a text in the collection",
            path=path,
            line=1,
            cure="name a run about these topics, or a texts file with its documents",
        )
    return run


def _side(ranking: tuple[str, ...], collection: _Collection) -> Side:
    """Return the entries of a list that have a text, the best first.

    ``r1`` is the first entry.
    """
    return Side(
        tuple(
            text_block(
                collection.texts[document].text,
                key=f"r{rank}",
                id=document,
                kind="link",
                title=collection.texts[document].title,
                window=(collection.windows or {}).get(document),
            )
            for rank, document in enumerate(filter(collection.has_text, ranking), start=1)
        )
    )


def _notes_of_topics(
    names: Mapping[str, str], collection: _Collection, topics: tuple[TopicContent, ...]
) -> list[str]:
    """Return notes on queries that are in one file only."""
    if collection.judged is None:
        return []
    asked, judged = collection.asked, collection.judged.grades
    shown = {topic.id for topic in topics}
    strange = [name for name in asked if name not in judged]
    silent = [name for name in judged if name not in shown]
    notes = []
    if strange:
        near = closest_name(strange[0], silent)
        notes.append(
            f"{names['topics']}: {len(strange)} of {len(asked)} topics are not judged, such as {strange[0]!r}"
            + (f" (did you mean {near!r}?)" if near else "")
            + ", and are not shown"
        )
    if silent:
        notes.append(
            f"{names['qrels']}: {len(silent)} of {len(judged)} judged topics are not in {names['topics']}, such as "
            f"{silent[0]!r}, and are not shown"
        )
    return notes


def _notes_of_run(run: RankedRun, topics: list[str], collection: _Collection, depth: int) -> list[str]:
    """Return notes on entries of a run without a text or without a window."""
    notes = []
    shown: list[str] = []
    for topic in topics:
        top = run.rankings.get(topic, ())[:depth]
        with_text = list(filter(collection.has_text, top))
        shown += with_text
        if len(with_text) < len(top):
            notes.append(
                f"{run.name}, {topic}: {len(top) - len(with_text)} of the first {len(top)} entries have no text and "
                "are not shown"
            )
        if not with_text:
            notes.append(f"{run.name}, {topic}: there is nothing to show; workers will find this list empty")
    placeless = sum(document not in (collection.windows or {}) for document in shown)
    if placeless and collection.windows is not None:
        notes.append(f"{run.name}: {placeless} of {len(shown)} entries shown have no time window")
    return notes
