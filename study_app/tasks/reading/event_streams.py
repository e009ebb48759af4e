"""Content of a task with streams: events, and displayable updates of systems.

An update is shown with its own text, also when it is the copy of another. What cannot be shown is left out and counted:
an update without a text (the collection has texts of the sampled ones only), and one that was given out after its
event's end, when nobody reads any more. An update from before its event's start is there from the start on, as in
`metrics.msu.score`.
"""

from pathlib import Path

import numpy as np

from metrics.arrays import Ints
from metrics.errors import Fault, InputError, closest_name, input_fault
from metrics.events import UPDATE, Event, EventCollection, UpdateRun
from metrics.msu.measures import text_words
from metrics.readers.columns import line_of_row
from metrics.readers.tempsum import read_events, read_update_run
from metrics.readers.trees import read_xml
from metrics.topic_ids import STREAM_TOPICS, TopicNames
from metrics.unused_input import unjudged_entries
from study_app.protocol.sides import Block, text_block
from study_app.protocol.streams import UpdateStream, key_of
from study_app.study.entries import collection_paths
from study_app.tasks.content import TaskContent, TopicContent, read_systems, source_files
from study_app.tasks.stream_visits import StreamVisits


def read_stream_content(folder: Path, task: StreamVisits, faults: list[Fault]) -> TaskContent | None:
    """Read the files of one task; add faults to ``faults`` and return None then."""
    paths = collection_paths(task)
    try:
        collection = read_events(**{kind: folder / path for kind, path in paths.items()})
        titles = _titles(folder / paths["topics"], collection)
    except InputError as error:
        faults += error.faults
        return None
    runs = read_systems(folder, task.systems, faults, lambda path, name: _run(path, collection, name))
    if runs is None:
        return None
    streams: dict[tuple[str, str], UpdateStream] = {}
    skipped = collection.skipped.sentence(nuggets=paths["nuggets"], updates=paths["updates"])
    notes = [f"{paths['matches']}: {skipped}"] if skipped else []
    for run in runs.values():
        notes += _notes_of_run(folder / task.systems[run.name], run, collection)
        _add_streams(run, collection, streams, notes)
    return TaskContent(
        entry=task,
        files=source_files(folder, paths),
        systems=source_files(folder, task.systems),
        topics=tuple(TopicContent(id=name, text=titles[name]) for name in collection.topics),
        streams=streams,
        notes=tuple(notes),
    )


def _notes_of_run(path: Path, run: UpdateRun, collection: EventCollection) -> list[str]:
    """Return notes on a run's updates about events outside the collection."""
    says = "are about events that are not judged"
    notes = []
    for part in unjudged_entries(
        run.topics, collection.topics, prefix=STREAM_TOPICS, noun=UPDATE, says=says, cause=""
    ):
        near = closest_name(part.example, collection.topics)
        notes.append(
            f"{run.name}: {part.count} of {part.of} updates {says}, such as {part.example!r} "
            f"(line {line_of_row(path, part.entry or 0)}"
            + (f"; did you mean {near!r}?" if near else "")
            + "), and are not shown"
        )
    return notes


def _run(path: Path, collection: EventCollection, name: str) -> UpdateRun:
    """Read a run; refuse one with nothing to display.

    Such a run surely belongs to another collection.
    """
    run = read_update_run(path, name=name)
    entries = run.entries(collection.topics)
    if not any(
        _is_shown(collection, topic, run.updates[entry])
        for topic, rows in entries.items()
        for entry in rows.tolist()
    ):
        raise input_fault(
            "no update of this run has a text in the collection",
            cure="name a run about these events, or the updates file that has its texts",
            path=path,
            line=1,
        )
    return run


def _is_shown(collection: EventCollection, topic: str, update: str) -> bool:
    sampled = collection.topics[topic].updates.get(update)
    return sampled is not None and bool(sampled.text.strip())


def _add_streams(
    run: UpdateRun,
    collection: EventCollection,
    streams: dict[tuple[str, str], UpdateStream],
    notes: list[str],
) -> None:
    """Make a run's streams of all events, and note what of each cannot be shown."""
    entries = run.entries(collection.topics)
    for topic, event in collection.topics.items():
        rows = entries.get(topic, np.zeros(0, dtype=np.int64))
        in_time = rows[run.seconds[rows] <= event.end]
        with_text = [row for row in in_time.tolist() if _is_shown(collection, topic, run.updates[row])]
        shown = np.array(with_text, dtype=np.int64)
        streams[topic, run.name] = shown_stream(event, run, shown)
        notes += _notes(
            f"{run.name}, {topic}", rows.size, rows.size - in_time.size, in_time.size - shown.size
        )


def _notes(stream: str, updates: int, late: int, without_text: int) -> list[str]:
    """Return notes on omitted updates of a stream, or on an empty stream."""
    notes = []
    if without_text:
        notes.append(f"{stream}: {without_text} of {updates} updates have no text and are not shown")
    if late:
        notes.append(f"{stream}: {late} of {updates} updates come after the event's end and are not shown")
    if updates == late + without_text:
        notes.append(f"{stream}: there is nothing to show; its followers will find it empty")
    return notes


def shown_stream(event: Event, run: UpdateRun, entries: Ints) -> UpdateStream:
    """Return a run's entries for an event as a stream.

    Oldest first; of equal times the lower confidence, then the entry that stands earlier in the run, so that newest
    first is the order in which `metrics.msu.score` lets users read.
    """
    order = entries[np.lexsort((entries, run.confidence[entries], run.seconds[entries]))].tolist()
    return UpdateStream(
        start=event.start,
        end=event.end,
        updates=tuple(
            update_block(
                key_of(position),
                run.updates[entry],
                event.updates[run.updates[entry]].text,
                float(run.seconds[entry]),
            )
            for position, entry in enumerate(order, start=1)
        ),
        nuggets=tuple(
            tuple((name, event.nuggets[name].seconds) for name in event.nuggets_of(run.updates[entry]))
            for entry in order
        ),
    )


def update_block(key: str, update: str, text: str, at: float) -> Block:
    """Return the block of an update or push.

    ``at`` is in seconds since 1970; its words are those that MSU counts.
    """
    text = text.strip()
    return text_block(text, key=key, id=update, kind="update", words=text_words(text), at=at)


def event_words(path: Path, collection: EventCollection) -> dict[str, dict[str, str]]:
    """Return the texts of each event's elements in the topics file.

    Keys are the event, then the element.
    """
    names = TopicNames(collection.topics, STREAM_TOPICS, where=path)
    words: dict[str, dict[str, str]] = {}
    for event in read_xml(path).children:
        parts = {child.tag: " ".join(child.text.split()) for child in event.children}
        name = names.find(parts.get("id", ""))
        if name is not None:
            words[name] = parts
    return words


def _titles(path: Path, collection: EventCollection) -> dict[str, str]:
    """Return the title of each event; else its query, else its id."""
    words = event_words(path, collection)
    words_by_event = {name: words.get(name, {}) for name in collection.topics}
    return {name: parts.get("title") or parts.get("query") or name for name, parts in words_by_event.items()}
