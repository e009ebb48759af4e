"""Collection and runs of streams, as push notifications and as updates.

One of the two is what the files are, the other is made of it by `metrics.push.conversion` and is marked as converted wherever it is
shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from calibration.tables.sources import PUSH_FILES, TaskSources
from metrics.errors import InputError, input_fault
from metrics.events import EventCollection, UpdateRun
from metrics.push.conversion import (
    events_from_push,
    push_from_events,
    push_run_from_updates,
    update_run_from_push,
)
from metrics.push.days import SECONDS_A_DAY
from metrics.push.streams import PushCollection, PushRun, days_between
from metrics.readers.push import read_push_collection, read_push_run
from metrics.readers.tempsum import read_events, read_update_run
from metrics.readers.texts import read_texts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamFiles:
    """Collection of streams in both forms, and the runs.

    Attributes
    ----------
    pushes : PushCollection or None
        As push notifications; ``converted_from`` says whether they were made of events. None for events that cannot be:
        nothing tells when their updates were posted.
    push_runs : tuple of PushRun
        By the names of the systems.
    events : EventCollection or None
        As events; None for push notifications without texts, whose words nobody can count.
    update_runs : tuple of UpdateRun
        By the names of the systems.
    texts : mapping of str to str
        Tweet or update -> text, as far as there are any.
    """

    pushes: PushCollection | None
    push_runs: tuple[PushRun, ...]
    events: EventCollection | None
    update_runs: tuple[UpdateRun, ...]
    texts: Mapping[str, str]

    def spans(self) -> dict[str, tuple[float, float]]:
        """Return begin and end of the days of each topic, in seconds.

        An event without days has the span of the event itself.
        """
        if self.pushes is not None:
            return {
                topic: (_midnight(days[0]), _midnight(days[-1]) + SECONDS_A_DAY)
                for topic, days in self.pushes.days.items()
                if days
            }
        events = {} if self.events is None else self.events.topics
        return {topic: (event.start, event.end) for topic, event in events.items()}


def read_stream_files(sources: TaskSources) -> StreamFiles:
    """Read the collection and the runs of a task.

    Raises
    ------
    InputError
        If a file is faulty, or the days of the protocol are none.
    """
    days = _days(sources)
    return _read_pushes(sources, days) if sources.form == PUSH_FILES else _read_events(sources, days)


def _read_pushes(sources: TaskSources, days: tuple[str, ...] | None) -> StreamFiles:
    read = read_push_collection(
        qrels=sources.path("qrels"),
        clusters=sources.path("clusters"),
        epochs=sources.path("epochs"),
        days=days or (),
    )
    if days is None:
        posted = [created.day for created in read.created.values()]
        days = days_between(min(posted), max(posted)) if posted else ()
    pushes = replace(read, days=dict.fromkeys(read.days, days))
    runs = tuple(read_push_run(source.path, name=name) for name, source in sources.systems.items())
    texts = read_texts(sources.path("texts")) if "texts" in sources.collection else {}
    return StreamFiles(
        pushes=pushes,
        push_runs=runs,
        events=events_from_push(pushes, texts) if texts else None,
        update_runs=tuple(map(update_run_from_push, runs)),
        texts=texts,
    )


def read_event_files(sources: TaskSources) -> tuple[EventCollection, tuple[UpdateRun, ...]]:
    """Read the events and the runs of a task whose files are updates about events."""
    files = {name: sources.path(name) for name in ("topics", "nuggets", "matches", "updates")}
    runs = tuple(read_update_run(source.path, name=name) for name, source in sources.systems.items())
    return read_events(**files), runs


def _read_events(sources: TaskSources, days: tuple[str, ...] | None) -> StreamFiles:
    read, runs = read_event_files(sources)
    events = read if days is None else _within(read, days)
    return StreamFiles(
        pushes=_as_pushes(events),
        push_runs=tuple(map(push_run_from_updates, runs)),
        events=events,
        update_runs=runs,
        texts={
            name: update.text for event in events.topics.values() for name, update in event.updates.items()
        },
    )


def _as_pushes(events: EventCollection) -> PushCollection | None:
    """Convert events into pushes, or return None where that is impossible."""
    try:
        return push_from_events(events)
    except InputError:
        return None


def _days(sources: TaskSources) -> tuple[str, ...] | None:
    """Return every day of the protocol, or None without days."""
    given = sources.protocol.get("days")
    if given is None:
        return None
    try:
        first, last = map(str, given if isinstance(given, (list, tuple)) else ())
        return days_between(first, last)
    except ValueError as error:
        raise input_fault(
            f"study.json: the days of the task are {given}: {error}",
            cure="write the first and the last, as YYYYMMDD",
        ) from None


def _within(events: EventCollection, days: tuple[str, ...]) -> EventCollection:
    """Cut the events to the judged days, without events outside them."""
    begin, end = _midnight(days[0]), _midnight(days[-1]) + SECONDS_A_DAY
    cut = {
        topic: replace(event, start=max(event.start, begin), end=min(event.end, end))
        for topic, event in events.topics.items()
        if event.start < end and event.end > begin
    }
    return replace(events, topics=cut)


def _midnight(day: str) -> float:
    return datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC).timestamp()
