"""A study of streams small enough to follow by hand: two events of four days, three systems. Names are easy to search for."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

START = 1_325_376_000
"""2012-01-01T00:00:00Z."""

DAY, HOUR = 86_400, 3_600
EVENTS = {"TS14.91": "Storm over the islands", "TS14.92": "Strike of the ferries"}
STREAM_SECRETS = ("sysprompt", "syslate", "syssparse", "SYD-", "SYN-", "TS14.")
"""What no worker's browser may ever get."""


class Told(NamedTuple):
    """One update of a run: its text (None: it has none in the collection), when it comes, and what it brings."""

    text: str | None
    hour: float
    nuggets: Sequence[str] = ()
    confidence: float = 1.0


NUGGETS = {"SYN-1": 0.0, "SYN-2": 20.0, "SYN-3": 30.0, "SYN-4": 50.0}
"""Nugget -> hours after the event's start at which it became known; the same of both events."""

HOURLY = tuple(Told(f"Report {hour}", float(hour)) for hour in range(1, 11))
PROMPT = (
    Told("The ferry turned back", 1, ["SYN-1"]),
    Told("Two roads are flooded", 21, ["SYN-2"]),
    Told("The harbour is closed", 31, ["SYN-3"]),
    Told("Power is back", 51, ["SYN-4"]),
)
SYSTEMS: Mapping[str, Sequence[Told]] = {
    "sysprompt": PROMPT,
    "syslate": [told._replace(hour=told.hour + 24) for told in PROMPT[:3]],
    "syssparse": [Told("It is windy", 2)],
}


def write_stream_study(
    folder: Path,
    *,
    systems: Mapping[str, Sequence[Told]] | None = None,
    events: Mapping[str, str] = EVENTS,
    days: float = 4,
    **changes: Any,
) -> Path:
    """Write collection, runs and study.yaml into ``folder``; returns the study file.

    Every system tells the same of each event. ``task`` changes keys of the only task, other changes those of the study.
    """
    given = SYSTEMS if systems is None else systems
    write_events(folder, given, events)
    task = {**streams_task(given, days=days), **changes.pop("task", {})}
    whole = {
        "study": "small",
        "title": "A small study",
        "consent": "First paragraph.",
        "tasks": [task],
        **changes,
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def streams_task(systems: Mapping[str, Sequence[Told]] = SYSTEMS, **changes: Any) -> dict[str, Any]:
    """Return a stream_visits task on the files that `write_events` writes."""
    return {
        "kind": "stream_visits",
        "name": "news",
        "collection": {
            "topics": "topics.xml",
            "nuggets": "nuggets.tsv",
            "matches": "matches.tsv",
            "updates": "updates.tsv",
        },
        "systems": {name: f"{name}.run" for name in systems},
        "days": 4,
        **changes,
    }


def write_events(
    folder: Path, systems: Mapping[str, Sequence[Told]], events: Mapping[str, str] = EVENTS
) -> None:
    """Write a collection of events and a run a system that tells the same of each of them."""
    xml = "".join(
        f"<event><id>{name}</id><title>{title}</title><start>{START}</start><end>{START + 4 * DAY}</end></event>\n"
        for name, title in events.items()
    )
    (folder / "topics.xml").write_text(f"<events>\n{xml}</events>\n", encoding="utf-8")
    tables: dict[str, list[tuple[object, ...]]] = {"nuggets": [], "matches": [], "updates": []}
    for event in events:
        for nugget, hour in NUGGETS.items():
            tables["nuggets"].append((event, nugget, int(START + hour * HOUR), 1, 3, f"fact {nugget}"))
        for system, stream in systems.items():
            for number, told in enumerate(stream):
                update = f"SYD-{system[3:]}-{number}"
                if told.text is not None:
                    tables["updates"].append(
                        (event, update, f"SYD-{system[3:]}", number, 5, "NULL", told.text)
                    )
                tables["matches"] += [(event, update, nugget, 0, 3, 0) for nugget in told.nuggets]
    for name, rows in tables.items():
        text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
        (folder / f"{name}.tsv").write_text(text, encoding="utf-8")
    for system, stream in systems.items():
        lines = "".join(
            f"{event} team {system} SYD-{system[3:]} {number} {START + told.hour * HOUR:.0f} {told.confidence}\n"
            for event in events
            for number, told in enumerate(stream)
        )
        (folder / f"{system}.run").write_text(lines, encoding="utf-8")
