"""What the simulated people of a crowd can know: one world a task."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from study_app.estimate.content import AnyContent, StudyContent
from study_app.simulate.site import as_read
from study_app.simulate.truth import Truth
from study_app.simulate.worlds.judged_world import JudgedWorld, push_world, ranked_world
from study_app.simulate.worlds.stream_world import StreamWorld, told_event
from study_app.simulate.worlds.world import World, summary_world
from study_app.study.entries import AnyTask, Questions, RankedPairs, StreamPairs
from study_app.tasks.stream_visits import StreamContent
from study_app.tasks.summary_pairs import SummaryContent

AnyWorld: TypeAlias = World | StreamWorld | JudgedWorld | Questions
"""Of questions there is nothing to know but what is asked."""


@dataclass(frozen=True, slots=True)
class KnownTask:
    """A task: what the study file says of it, and what can be known of it."""

    entry: AnyTask
    world: AnyWorld


def build_worlds(content: StudyContent, truth: Truth) -> Mapping[int, KnownTask]:
    """Return task number (from 1) -> what can be known of it.

    Raises
    ------
    InputError
        If a task's collection lacks what decides what people prefer.
    """
    return {
        number: KnownTask(task.entry, _world(task, content, truth))
        for number, task in enumerate(content.tasks, start=1)
    }


def _world(task: AnyContent, content: StudyContent, truth: Truth) -> AnyWorld:
    path = content.file.path
    match task:
        case SummaryContent():
            return summary_world(task, patience=truth.patience_preferences, intents=truth.intents, path=path)
        case StreamContent():
            return _stream_world(task)
    match task.entry:
        case StreamPairs():
            return push_world(task, truth.push_weights, path=path)
        case RankedPairs():
            return ranked_world(task, task.entry, path.parent)
        case Questions():
            return task.entry
    raise TypeError(f"nobody knows how to do a task of kind {task.entry.kind}")


def _stream_world(task: StreamContent) -> StreamWorld:
    entry = task.entry
    return StreamWorld(
        factor=entry.clock_factor,
        events={
            as_read(event.title): told_event(
                {name: content for (topic, name), content in task.streams.items() if topic == event.id},
                days=entry.days,
                factor=entry.clock_factor,
            )
            for event in task.events
        },
    )
