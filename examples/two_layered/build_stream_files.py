"""The files of the bundled study's events and streams, as in the TREC Temporal Summarization track of 2014.

The track's length columns count characters in that year. What stands in the files is worked out in `build_streams`.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

from build_streams import SYSTEMS, Emission, Event, Update, read_events

NUGGETS = ("query_id", "nugget_id", "timestamp", "importance", "nugget_len", "nugget_text")
MATCHES = ("query_id", "update_id", "nugget_id", "match_start", "match_end", "auto_p")
UPDATES = (
    "query_id",
    "update_id",
    "doc_id",
    "sentence_id",
    "update_len",
    "duplicate_id",
    "update_text",
)


def stream_files(folder: Path) -> dict[str, str]:
    """Return the four files of judgments and a run for each system, by path below the study's folder."""
    events = read_events(folder / "streams" / "facts")
    emitted = {
        name: {event.id: _in_order(event, system(event)) for event in events}
        for name, system in SYSTEMS.items()
    }
    updates = {event.id: _updates(of_run[event.id] for of_run in emitted.values()) for event in events}
    runs = {f"streams/runs/{name}.txt": _run_file(name, of_run) for name, of_run in emitted.items()}
    return {
        "streams/topics.xml": _topics_file(events),
        "streams/nuggets.tsv": _table(NUGGETS, [row for event in events for row in _nugget_rows(event)]),
        "streams/matches.tsv": _table(
            MATCHES,
            [row for topic, said in updates.items() for one in said for row in _match_rows(topic, one)],
        ),
        "streams/updates.tsv": _table(
            UPDATES, [_update_row(topic, one) for topic, said in updates.items() for one in said]
        ),
        **runs,
    }


def _in_order(event: Event, emitted: list[Emission]) -> list[Emission]:
    """Leave out what would come after the event; oldest first, equal times by confidence."""
    return sorted(
        (one for one in emitted if one.seconds < event.end), key=lambda one: (one.seconds, one.confidence)
    )


def _updates(runs: Iterable[list[Emission]]) -> list[Update]:
    """Return what was said about an event by anybody, each once."""
    said = {one.update.id: one.update for emitted in runs for one in emitted}
    return [said[name] for name in sorted(said)]


def _topics_file(events: list[Event]) -> str:
    root = ET.Element("events")
    for event in events:
        element = ET.SubElement(root, "event")
        words = event.words
        for name, text in (
            ("id", event.id),
            ("title", words["title"]),
            ("description", words["description"]),
            ("start", str(event.start)),
            ("end", str(event.end)),
            ("query", words["query"]),
            ("type", words["type"]),
        ):
            ET.SubElement(element, name).text = text
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _nugget_rows(event: Event) -> list[tuple[object, ...]]:
    return [
        (event.id, fact.nugget, fact.seconds, fact.importance, len(fact.text), fact.text)
        for fact in event.facts
    ]


def _match_rows(topic: str, update: Update) -> list[tuple[object, ...]]:
    """Return where a fact stands in an update, in bytes; what a copy has stands at its original."""
    if update.nugget is None:
        return []
    start = len(update.text.partition(update.told)[0].encode())
    return [(topic, update.id, update.nugget, start, start + len(update.told.encode()), 0)]


def _update_row(topic: str, one: Update) -> tuple[object, ...]:
    return topic, one.id, one.doc, one.sentence, len(one.text), one.original or "NULL", one.text


def _table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    return "".join("\t".join(map(str, row)) + "\n" for row in [header, *rows])


def _run_file(name: str, emitted: dict[str, list[Emission]]) -> str:
    return "".join(
        f"{topic} prefcal {name} {one.update.doc} {one.update.sentence} {one.seconds} {one.confidence:g}\n"
        for topic, of_topic in emitted.items()
        for one in of_topic
    )
