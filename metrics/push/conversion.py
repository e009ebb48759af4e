"""Conversion of push judgments and runs to updates about events, and back.

The result says so in its name and in ``converted_from``, and is to be shown as converted: its judgments were made for another
task.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np

from metrics.errors import input_fault
from metrics.events import Event, EventCollection, Match, Nugget, Update, UpdateRun
from metrics.push.streams import Created, PushCollection, PushRun, days_between, parsed_day

EVENTS, PUSHES = "events", "push notifications"
HIGHLY_IMPORTANT = 2
"""Smallest importance of a nugget that makes an update highly relevant."""
SECONDS_A_DAY = 86_400


def push_from_events(events: EventCollection) -> PushCollection:
    """Convert judged events into push judgments; a nugget becomes a cluster.

    An update is in the cluster of its best nugget, since a push has one: the most important; of equal ones that which
    was known first, then that which is matched first. It gains 1 if that nugget's importance is 2 or more, 0.5 if it is
    less, and 0 without a nugget. The pool are the sampled updates, posted when their document was, which is the number
    that their id begins with. A topic is scored on each UTC day that the event touches.

    Raises
    ------
    InputError
        If the id of an update does not begin with a time.
    """
    created: dict[str, Created] = {}
    gains: dict[str, dict[str, float]] = {}
    clusters: dict[str, tuple[tuple[str, ...], ...]] = {}
    for topic, event in events.topics.items():
        updates_by_nugget: dict[str, list[str]] = {name: [] for name in event.nuggets}
        gains[topic] = {}
        for update in event.updates:
            created[update] = _posted(update, events.name)
            best = _best_nugget(event, update)
            if best is not None:
                updates_by_nugget[best].append(update)
                important = event.nuggets[best].importance >= HIGHLY_IMPORTANT
                gains[topic][update] = 1.0 if important else 0.5
        clusters[topic] = tuple(tuple(updates) for updates in updates_by_nugget.values() if updates)
    return PushCollection(
        name=_marked(events.name, EVENTS),
        days={
            topic: days_between(_day(event.start), _day(event.end)) for topic, event in events.topics.items()
        },
        gains=gains,
        clusters=clusters,
        created=created,
        converted_from=EVENTS,
    )


def push_run_from_updates(run: UpdateRun) -> PushRun:
    """Convert a run of updates into pushes, in the same order.

    Times are cut to whole seconds.
    """
    seconds = np.floor(run.seconds).astype(np.int64)
    return PushRun(name=run.name, topics=run.topics, tweets=run.updates, epochs=seconds)


def events_from_push(collection: PushCollection, texts: Mapping[str, str]) -> EventCollection:
    """Convert push judgments into events; a cluster becomes a nugget.

    A nugget is known from the time when the first of its tweets was posted.

    A topic becomes an event from the start of its first day to the end of its last, in UTC; one without a nugget is left
    out, as topics without judgments are. A cluster of tweets that were not pooled has no time and makes no nugget. All
    nuggets have importance 1, which MSU does not look at.

    Parameters
    ----------
    collection : PushCollection
        Push judgments.
    texts : mapping of str to str
        Tweet -> text, see `metrics.readers.texts`; lengths are counted in them, a tweet without one has none.
    """
    updates = {tweet: Update(text, len(text.split()), None) for tweet, text in texts.items()}
    topics: dict[str, Event] = {}
    for topic, days in collection.days.items():
        nuggets: dict[str, Nugget] = {}
        matches: dict[str, tuple[Match, ...]] = {}
        for number, cluster in enumerate(collection.clusters.get(topic, ()), start=1):
            pooled = [tweet for tweet in cluster if tweet in collection.created]
            if pooled:
                first = min(pooled, key=lambda tweet: collection.created[tweet].epoch)
                name, text = f"{topic}.{number}", texts.get(first, "")
                nuggets[name] = Nugget(collection.created[first].epoch, 1.0, len(text.split()), text)
                for tweet in cluster:
                    matches[tweet] = (Match(name, 0, len(texts.get(tweet, "").encode())),)
        if nuggets:
            topics[topic] = Event(
                start=_midnight(days[0]),
                end=_midnight(days[-1]) + SECONDS_A_DAY,
                nuggets=nuggets,
                updates=updates,
                matches=matches,
            )
    return EventCollection(name=_marked(collection.name, PUSHES), topics=topics, converted_from=PUSHES)


def update_run_from_push(run: PushRun) -> UpdateRun:
    """Convert a run of pushes into updates, in order and with equal confidence."""
    seconds = run.epochs.astype(np.float64)
    ones = np.ones_like(seconds)
    return UpdateRun(name=run.name, topics=run.topics, updates=run.tweets, seconds=seconds, confidence=ones)


def _best_nugget(event: Event, update: str) -> str | None:
    """Return the nugget whose cluster an update is in, or None."""
    nuggets = event.nuggets_of(update)
    known = event.nuggets
    return min(nuggets, key=lambda name: (-known[name].importance, known[name].seconds), default=None)


def _posted(update: str, collection: str) -> Created:
    """Parse when an update's document was posted: ``1326600584-0a1b...-7``."""
    seconds = update.partition("-")[0]
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) <= 11):
        problem = f"{collection}: the id of update {update!r} does not begin with the time of its document"
        raise input_fault(
            problem, cure="only collections of the Temporal Summarization track can be converted"
        )
    return Created(_day(int(seconds)), int(seconds))


def _day(seconds: float) -> str:
    """Return the UTC day of a time, ``YYYYMMDD``."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y%m%d}"


def _midnight(day: str) -> float:
    """Return the time at which a UTC day begins."""
    date = parsed_day(day)
    return datetime(date.year, date.month, date.day, tzinfo=UTC).timestamp()


def _marked(name: str, kind: str) -> str:
    return f"{name} (converted from {kind})"
