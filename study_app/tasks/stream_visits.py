"""Kind of task `stream_visits`: workers follow one system's stream for days.

The stream is about an event; see modeled-stream-utility §3.
"""

from pathlib import Path
from typing import Literal

from metrics.errors import Fault
from study_app.protocol.streams import UpdateStream
from study_app.study.entries import FollowedTask, expect_entry_type
from study_app.tasks.content import EventFiles, TaskContent
from study_app.tasks.task_kind import Collected, FinishedTask, NewTask, TaskKind
from study_app.tasks.workload import (
    DAY_SECONDS,
    ENROLLING,
    OPENING,
    READ_ONCE,
    STILL_OF_USE,
    VISITS_A_DAY,
    Capacity,
    SecondsRange,
    count_phrase,
    exact_answers_each,
    followed_days,
    workers_to_fill,
)

MAX_NEW_DAYS = 10
"""Most days of an event in a new study file."""
LENGTHS = (("days", DAY_SECONDS), ("hours", 3_600), ("minutes", 60))


class StreamVisits(FollowedTask):
    """Follow one system's stream of an event for days."""

    kind: Literal["stream_visits"]
    collection: EventFiles


def _read(folder: Path, task: StreamVisits, faults: list[Fault]) -> TaskContent | None:
    from study_app.tasks.reading.event_streams import read_stream_content  # noqa: PLC0415 - see the room `reading`

    return read_stream_content(folder, task, faults)


def _seconds(content: TaskContent) -> SecondsRange:
    entry = expect_entry_type(content.entry, StreamVisits)
    days = followed_days(entry, content.streams.values())
    event_count = min(entry.topics_per_worker, len(content.topics))
    each = [_stream_seconds(stream, entry) for stream in content.streams.values()]
    reading = SecondsRange(READ_ONCE.low * min(each), READ_ONCE.high * max(each))
    a_visit = OPENING + STILL_OF_USE.times(0, entry.ask_per_visit)
    visits = SecondsRange(max(1.0, VISITS_A_DAY.low * days), max(1.0, VISITS_A_DAY.high * days))
    return (ENROLLING + reading + a_visit.times(visits.low, visits.high)).times(event_count)


def _stream_seconds(stream: UpdateStream, entry: StreamVisits) -> float:
    """Return the seconds to read all updates of a followed stream."""
    until = stream.start + entry.days * DAY_SECONDS
    return sum(update.seconds(entry.language) for update in stream.updates[: stream.newest_index(until)])


def _followers(entry: StreamVisits, answers: int) -> int:
    """Return the most followers of an event, from those of each system's stream."""
    return answers * len(entry.systems)


def _capacity(content: TaskContent) -> Capacity:
    entry, events = expect_entry_type(content.entry, StreamVisits), len(content.topics)
    limit = entry.workers_per_stream
    return Capacity(
        answers="followers of",
        thing="stream",
        things=events * len(entry.systems),
        each=exact_answers_each(limit),
        workers=workers_to_fill(
            events, None if limit is None else _followers(entry, limit), entry.topics_per_worker
        ),
        a_worker=min(entry.topics_per_worker, events),
    )


def _work(content: TaskContent) -> str:
    entry, events = expect_entry_type(content.entry, StreamVisits), len(content.topics)
    days = followed_days(entry, content.streams.values())
    return (
        f"follows {min(entry.topics_per_worker, events)} of {events} events "
        f"for {days:g} days of the event, which take {_duration(days * DAY_SECONDS / entry.clock_factor)}; "
        f"gets what one of {count_phrase(len(content.systems), 'system')} tells"
    )


def _duration(seconds: float) -> str:
    for unit, length in LENGTHS:
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} seconds"


def _methods(task: FinishedTask) -> str:
    days = f" for {task.amount(task.protocol['days'], 'day')}" if "days" in task.protocol else ""
    asked = (
        f" A visit was asked about {task.amount(task.protocol['ask_per_visit'], 'update')} at the most: still of use?"
        if task.protocol.get("ask_per_visit")
        else ""
    )
    return (
        f"a worker followed one system’s stream of one event{days}, of {task.systems}, coming back"
        f" when they liked, newest updates first.{asked}"
    )


def _event_days(found: Collected) -> int:
    """Return the whole days of the longest event, from one to `MAX_NEW_DAYS`."""
    from metrics.readers.trees import read_xml  # noqa: PLC0415 - only a new study needs it

    longest = 0.0
    for event in read_xml(found.files["topics"].path).children:
        parts = {child.tag: child.text.strip() for child in event.children}
        try:
            longest = max(longest, float(parts["end"]) - float(parts["start"]))
        except (KeyError, ValueError):
            continue  # the reader of the collection says what is wrong with it
    return max(1, min(MAX_NEW_DAYS, round(longest / DAY_SECONDS)))


KIND = TaskKind(
    entry=StreamVisits,
    cures={
        "systems": "write NAME: RUN, one line per system",
        "collection": "write topics: FILE, nuggets: FILE, matches: FILE and updates: FILE below it",
        "days": "write days: NUMBER, the days of the event for which it is followed",
    },
    same_in_all=("clock_factor", "idle_seconds"),
    page="stream",
    unit="topic",
    wanted_key="topics_per_worker",
    limit_key="workers_per_stream",
    places=_followers,
    topic="Event",
    free_keys=frozenset({"idle_seconds"}),
    read=_read,
    optional=("asked",),
    says=lambda entry: {"asked"} if entry.ask_per_visit else (),
    check=(3, 1),
    seconds=_seconds,
    assumed=(f"{VISITS_A_DAY.low:g} to {VISITS_A_DAY.high:g} visits of a stream a day of its event",),
    capacity=_capacity,
    work=_work,
    tables=frozenset({"prompts", "lateness", "follows", "visits", "activity", "reads", "stops"}),
    methods=_methods,
    new=NewTask(
        name="streams",
        runs={"events": 1},
        days=_event_days,
        telling=4,
        title={"en": "How do you follow the news?", "ja": "ニュースの追いかけ方についての調査"},
        activity={
            "en": "you follow the news of an event for some days on a page of your own, whenever and for as long as you like",
            "ja": "数日の間、専用のページで、ある出来事のニュースを好きなときに好きなだけ読みます",
        },
        comments={
            "days": "days of the event for which a worker follows it",
            "clock_factor": "seconds of the event in one second on the clock: 24 shows a day in an hour",
            "topics_per_worker": "events that a worker follows side by side",
            "workers_per_stream": "followers of one system's stream of an event; null is no limit",
            "ask_per_visit": "updates asked about after a visit: was this still of use? (Baruah et al. 2015, 3: lateness)",
            "idle_seconds": "a visit without any sign of life for so long is over",
            "updates_per_page": "the older ones of a visit are one tap away",
        },
    ),
)
"""Baruah et al. 2015: Evaluating Streams of Evolving News Events, SIGIR 2015."""
