"""What a task with push streams needs: the interest profiles, what each system pushed ready to show, and its cells.

A push stands on the UTC day on which it was pushed, whenever its tweet was posted. What cannot be shown is left out and
counted: a push outside the days, and one without a text. The cells are those of `metrics.push.contingency`, under both
conventions, and know nothing of texts.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from metrics.errors import Fault, input_fault
from metrics.msu.reading import text_words
from metrics.push.contingency import cell_totals
from metrics.push.days import account
from metrics.push.measures import CONVENTIONS
from metrics.push.pool import PushPool, push_pool
from metrics.push.streams import PushRun
from metrics.summaries.counting import counted_chars
from metrics.topics import TopicNames
from study_app.study.entries import collection_paths
from study_app.tasks.content import TaskContent, TopicContent, source_files, tried
from study_app.tasks.reading.push_sources import PushSource, read_push_source
from study_app.tasks.stream_pairs import StreamPairs

LONG_STREAM = 200
"""So many notifications of one profile are read at a stretch; the tracks allow ten a day, for ten days."""

STRANGE, NO_PROFILE = "about topics that are not judged", "about topics without a profile"
OTHER_DAY, NO_TEXT = "on other days", "without a text"
"""Why a push may not be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Streams:
    """One run's streams: topic -> pushes ready to show, and one line for each kind of push that is not shown."""

    run: PushRun
    pushes: Mapping[str, list[dict[str, Any]]]
    notes: tuple[str, ...]


def read_push_content(folder: Path, task: StreamPairs, faults: list[Fault]) -> TaskContent | None:
    """Read one task's files; adds what is wrong with them to ``faults`` and returns None then."""
    source = read_push_source(folder, task, faults)
    if source is None:
        return None
    read = [
        tried(faults, partial(_streams, folder / path, name, source)) for name, path in task.systems.items()
    ]
    streams = [one for one in read if one is not None]
    if len(streams) < len(read):
        return None
    pool = push_pool(source.judged)
    return TaskContent(
        entry=task,
        files=source_files(folder, collection_paths(task)),
        systems=source_files(folder, task.systems),
        topics=_topics(source, pool),
        shown={
            (topic, one.run.name): {"pushes": one.pushes[topic]}
            for topic in source.profiles
            for one in streams
        },
        tables={"push_cells": _push_cells(pool, list(source.profiles), [one.run for one in streams])},
        notes=(*source.notes, *(note for one in streams for note in one.notes)),
    )


def _topics(source: PushSource, pool: PushPool) -> tuple[TopicContent, ...]:
    """Return the profiles with their days, and which of these had nothing relevant in the pool."""
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


def _sorted_out(
    run: PushRun, source: PushSource
) -> tuple[dict[str, list[dict[str, Any]]], dict[str, list[str]]]:
    """Return what is shown of each topic, and for each reason what is not, both in the order of time."""
    names = TopicNames(source.judged.days)
    topic_of = {written: names.find(written) for written in set(run.topics)}
    days = {topic: frozenset(of_topic) for topic, of_topic in source.judged.days.items()}
    pushes: dict[str, list[dict[str, Any]]] = {topic: [] for topic in source.profiles}
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
            pushes[topic].append(_shown_push(tweet, text, at))
        else:
            left_out[NO_TEXT].append(tweet)
    return pushes, left_out


def _note_of_long_streams(name: str, pushes: Mapping[str, Sequence[Any]]) -> list[str]:
    """Say that nobody will read all of some streams through."""
    longest = max(pushes, key=lambda topic: len(pushes[topic]))
    long = sum(len(of_topic) > LONG_STREAM for of_topic in pushes.values())
    told = f"{name}: nobody reads more than {LONG_STREAM} notifications on a page through; {long} of {len(pushes)} streams"
    return [f"{told} have more, {longest} has {len(pushes[longest]):,}"] if long else []


def _reason(reason: str, examples: Sequence[str]) -> str:
    """Say why some pushes are not shown: how many, and the first in the order of time."""
    return f"{len(examples)} {reason} ({examples[0]}{', ...' if len(set(examples)) > 1 else ''})"


def _shown_push(tweet: str, text: str, at: int) -> dict[str, Any]:
    return {"id": tweet, "text": text, "words": text_words(text), "chars": counted_chars(text), "at": at}


def _day(seconds: int) -> str:
    """Return the UTC day of a time, ``YYYYMMDD``; that of a time beyond the calendar is empty."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y%m%d}"
    except (OverflowError, OSError, ValueError):
        return ""


def _push_cells(pool: PushPool, topics: Sequence[str], runs: Sequence[PushRun]) -> bytes:
    """Return the cells of every run and topic under each convention as Parquet; a row stands for all pairs of its stream."""
    import pandas as pd  # noqa: PLC0415 - slow to import, and only `load` needs it

    rows = []
    for run in runs:
        for convention, (rules, _) in CONVENTIONS.items():
            totals = cell_totals(account(pool, run, rules))
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
    buffer = io.BytesIO()
    pd.DataFrame(rows).astype({"pair": "object"}).to_parquet(buffer)
    return buffer.getvalue()
