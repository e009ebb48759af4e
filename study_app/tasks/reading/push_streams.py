"""Content of a task with push streams: profiles, displayable pushes, and cells.

A push stands on the UTC day on which it was pushed, whenever its tweet was posted. What cannot be shown is left out and
counted: a push outside the days, and one without a text. The cells are those of `metrics.push.contingency`, under both
conventions, and know nothing of texts.

A collection is push judgments, or events made into them: Temporal Summarization is converted by `metrics.push.conversion`, an update is
a push, a nugget a cluster, the days are the UTC days of the event.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from metrics.errors import Fault, FaultLog, input_fault
from metrics.events import EventCollection
from metrics.push.contingency import cell_totals
from metrics.push.conversion import push_from_events, push_run_from_updates
from metrics.push.days import count_pushes
from metrics.push.measures import CONVENTIONS
from metrics.push.pool import PushPool, push_pool
from metrics.push.streams import PushCollection, PushRun, days_between
from metrics.readers.push import read_push_collection, read_push_run
from metrics.readers.tempsum import read_events, read_update_run
from metrics.readers.texts import InterestProfile, read_profiles, read_texts
from metrics.topic_ids import STREAM_TOPICS, TopicNames
from study_app.protocol.sides import Block, Side
from study_app.study.entries import collection_paths
from study_app.tasks.content import (
    EventFiles,
    TaskContent,
    TopicContent,
    collect_faults,
    read_systems,
    source_files,
)
from study_app.tasks.reading.event_streams import event_words, update_block
from study_app.tasks.stream_pairs import StreamPairs

LONG_STREAM = 200
"""Most notifications of a profile before a note is printed.

The tracks allow ten a day, for ten days.
"""

STRANGE, NO_PROFILE = "about topics that are not judged", "about topics without a profile"
OTHER_DAY, NO_TEXT = "on other days", "without a text"
"""Why a push may not be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownProfile:
    """Profile as workers see it: title, and description if any."""

    title: str
    description: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PushSource:
    """A collection of push streams.

    Attributes
    ----------
    judged : PushCollection
        The judgments, perhaps converted.
    profiles : mapping of str to ShownProfile
        Judged topic -> its profile, in the order of the topics file.
    text : callable
        From a topic as the judgments name it and a tweet or update to its text, empty without one.
    read_run : callable
        From a path and a name to a run.
    notes : tuple of str
        What of the files no worker will see.
    """

    judged: PushCollection
    profiles: Mapping[str, ShownProfile]
    text: Callable[[str, str], str]
    read_run: Callable[[Path, str], PushRun]
    notes: tuple[str, ...]


def read_push_source(folder: Path, task: StreamPairs, faults: list[Fault]) -> PushSource | None:
    """Read the collection of a task; add faults to ``faults``, return None then."""
    names = collection_paths(task)
    paths = {kind: folder / name for kind, name in names.items()}
    if isinstance(task.collection, EventFiles):
        return collect_faults(faults, lambda: _from_events(paths, names))
    return _from_pushes(paths, names, days_between(*task.days) if task.days else (), faults)


def _from_pushes(
    paths: Mapping[str, Path], names: Mapping[str, str], days: tuple[str, ...], faults: list[Fault]
) -> PushSource | None:
    judgments = {kind: paths[kind] for kind in ("qrels", "clusters", "epochs")}
    judged = collect_faults(faults, partial(read_push_collection, **judgments, days=days))
    written = collect_faults(faults, partial(read_profiles, paths["topics"]))
    texts = collect_faults(faults, partial(read_texts, paths["texts"]))
    if judged is None or written is None or texts is None:
        return None
    profiles = collect_faults(faults, partial(_profiles, paths["topics"], judged, written))
    if profiles is None:
        return None
    without = [topic for topic in judged.days if topic not in profiles]
    note = f"{names['topics']}: {len(without)} of {len(judged.days)} judged topics have no profile there and are not shown"
    return PushSource(
        judged=judged,
        profiles=profiles,
        text=lambda _topic, tweet: texts.get(tweet, "").strip(),
        read_run=lambda path, name: read_push_run(path, name=name),
        notes=(f"{note}, such as {without[0]}",) if without else (),
    )


def _profiles(
    path: Path, judged: PushCollection, written: Mapping[str, InterestProfile]
) -> dict[str, ShownProfile]:
    """Return the judged profiles, under their names in the judgments."""
    names, log = TopicNames(judged.days, STREAM_TOPICS, where=path), FaultLog(path)
    profiles: dict[str, ShownProfile] = {}
    for topic, profile in written.items():
        name = names.find(topic)
        if name in profiles:
            log.add(f"{topic} is {name}, which is above already", line=1, cure="delete one of the two")
        elif name is not None:
            words = (profile.description, profile.narrative)
            profiles[name] = ShownProfile(
                title=profile.title, description="\n".join(filter(None, words)) or None
            )
    if not profiles:
        cure = f"name topics as the judgments do, such as {next(iter(judged.days))!r}"
        log.add("none of these topics is judged", line=1, cure=cure)
    log.raise_if_any()
    return profiles


def _from_events(paths: Mapping[str, Path], names: Mapping[str, str]) -> PushSource:
    """Read events and convert them; raises InputError."""
    events = read_events(**paths)
    words = event_words(paths["topics"], events)
    skipped = events.skipped.sentence(nuggets=names["nuggets"], updates=names["updates"])
    return PushSource(
        judged=push_from_events(events),
        profiles={topic: _event_profile(topic, words.get(topic, {})) for topic in events.topics},
        text=partial(_update_text, events),
        read_run=lambda path, name: push_run_from_updates(read_update_run(path, name=name)),
        notes=(f"{names['matches']}: {skipped}",) if skipped else (),
    )


def _event_profile(topic: str, words: Mapping[str, str]) -> ShownProfile:
    """Return the profile of title and description.

    A description that is only an address is dropped, since readers learn nothing from it.
    """
    description = words.get("description", "")
    is_address = "://" in description and " " not in description
    return ShownProfile(
        title=words.get("title") or words.get("query") or topic,
        description=None if is_address else description or None,
    )


def _update_text(events: EventCollection, topic: str, update: str) -> str:
    sampled = events.topics[topic].updates.get(update)
    return "" if sampled is None else sampled.text.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Streams:
    """Streams of one run: displayable pushes by topic, and notes on the others.

    Each kind of omitted push has one line.
    """

    run: PushRun
    pushes: Mapping[str, list[Block]]
    notes: tuple[str, ...]


def read_push_content(folder: Path, task: StreamPairs, faults: list[Fault]) -> TaskContent | None:
    """Read the files of one task; add faults to ``faults`` and return None then."""
    source = read_push_source(folder, task, faults)
    if source is None:
        return None
    read = read_systems(folder, task.systems, faults, lambda path, name: _streams(path, name, source))
    if read is None:
        return None
    streams = list(read.values())
    pool = push_pool(source.judged)
    return TaskContent(
        entry=task,
        files=source_files(folder, collection_paths(task)),
        systems=source_files(folder, task.systems),
        topics=_topics(source, pool),
        sides={
            (topic, run_streams.run.name): Side(tuple(run_streams.pushes[topic]))
            for topic in source.profiles
            for run_streams in streams
        },
        tables={
            "push_cells": _push_cells(
                pool, list(source.profiles), [run_streams.run for run_streams in streams]
            )
        },
        notes=(*source.notes, *(note for run_streams in streams for note in run_streams.notes)),
    )


def _topics(source: PushSource, pool: PushPool) -> tuple[TopicContent, ...]:
    """Return the profiles with their days.

    A silent day has nothing relevant in the pool.
    """
    silent = {(pool.topics[pool.row_topic[row]], pool.days[row]) for row in np.flatnonzero(~pool.has_cluster)}
    return tuple(
        TopicContent(
            id=topic,
            text=profile.title,
            detail={
                "description": profile.description,
                "days": list(source.judged.days[topic]),
                "silent": [day for day in source.judged.days[topic] if (topic, day) in silent],
            },
        )
        for topic, profile in source.profiles.items()
    )


def _streams(path: Path, name: str, source: PushSource) -> _Streams:
    """Read a run and make its streams.

    Raises
    ------
    InputError
        If the run cannot be read, or none of its pushes can be shown: then it is surely of another collection. A run that never
        pushed is a run like any other.
    """
    run = source.read_run(path, name)
    pushes, left_out = _sorted_out(run, source)
    reasons = ", ".join(_reason(reason, examples) for reason, examples in left_out.items() if examples)
    if run.topics and not any(pushes.values()):
        raise input_fault(
            f"none of the {len(run.topics)} pushes of this run can be shown: {reasons}",
            path=path,
            line=1,
            cure="name a run about these topics and days, or the texts file that has its tweets",
        )
    notes = [f"{name}: not shown of {len(run.topics)} pushes: {reasons}"] if reasons else []
    return _Streams(run=run, pushes=pushes, notes=(*notes, *_note_of_long_streams(name, pushes)))


def _sorted_out(run: PushRun, source: PushSource) -> tuple[dict[str, list[Block]], dict[str, list[str]]]:
    """Return the displayed pushes of each topic, and the omitted ones by reason.

    Both are in the order of time.
    """
    names = TopicNames(source.judged.days, STREAM_TOPICS, where=run.name)
    topic_of = {written: names.find(written) for written in set(run.topics)}
    days = {topic: frozenset(of_topic) for topic, of_topic in source.judged.days.items()}
    pushes: dict[str, list[Block]] = {topic: [] for topic in source.profiles}
    left_out: dict[str, list[str]] = {reason: [] for reason in (STRANGE, NO_PROFILE, OTHER_DAY, NO_TEXT)}
    for push in np.argsort(run.epochs, kind="stable").tolist():
        written, tweet, at = run.topics[push], run.tweets[push], int(run.epochs[push])
        topic = topic_of[written]
        if topic is None:
            left_out[STRANGE].append(written)
        elif topic not in pushes:
            left_out[NO_PROFILE].append(written)
        elif _day(at) not in days[topic]:
            left_out[OTHER_DAY].append(_day(at))
        elif text := source.text(topic, tweet):
            pushes[topic].append(update_block(f"p{len(pushes[topic]) + 1}", tweet, text, at))
        else:
            left_out[NO_TEXT].append(tweet)
    return pushes, left_out


def _note_of_long_streams(name: str, pushes: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return a note on streams too long to read through."""
    longest = max(pushes, key=lambda topic: len(pushes[topic]))
    long = sum(len(of_topic) > LONG_STREAM for of_topic in pushes.values())
    message = f"{name}: more than {LONG_STREAM} notifications are too many to read on a page; {long} of {len(pushes)} streams"
    return [f"{message} have more, {longest} has {len(pushes[longest]):,}"] if long else []


def _reason(reason: str, examples: Sequence[str]) -> str:
    """Return a note on omitted pushes: their number, and the first of them."""
    return f"{len(examples)} {reason} ({examples[0]}{', ...' if len(set(examples)) > 1 else ''})"


def _day(seconds: int) -> str:
    """Return the UTC day of a time, ``YYYYMMDD``.

    It is empty beyond the calendar.
    """
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y%m%d}"
    except (OverflowError, OSError, ValueError):
        return ""


def _push_cells(pool: PushPool, topics: Sequence[str], runs: Sequence[PushRun]) -> bytes:
    """Return the cells of every run and topic as Parquet.

    A row, under each convention, stands for all pairs of its stream.
    """
    import pandas as pd  # noqa: PLC0415 - slow to import, and only `load` needs it

    rows = []
    for run in runs:
        for convention, (rules, _) in CONVENTIONS.items():
            totals = cell_totals(count_pushes(pool, run, rules))
            rows += [
                {
                    "topic": topic,
                    "pair": None,
                    "system": run.name,
                    "days": len(pool.collection.days[topic]),
                    "convention": convention,
                    **{cell: float(total[pool.topics.index(topic)]) for cell, total in totals.items()},
                }
                for topic in topics
            ]
    content: bytes = pd.DataFrame(rows).astype({"pair": "object"}).to_parquet()
    return content
