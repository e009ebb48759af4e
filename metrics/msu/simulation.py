"""Simulated users who read every run of a collection.

Prepared data are arrays alone, so that they can be kept and sent; `metrics.msu.measures` has the formulas. Source: Baruah, Smucker, Clarke:
Evaluating Streams of Evolving News Events (SIGIR 2015).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from metrics.arrays import Floats
from metrics.events import EventCollection, UpdateRun
from metrics.msu.measures import ReadingSetting, StreamMeasure, StreamTopic, UserTotals, read
from metrics.msu.trails import Stream, Trails, Users
from metrics.results import Topics

if TYPE_CHECKING:
    from metrics.arrays import Bools

Lengths: TypeAlias = Mapping[str, Mapping[str, float]]
"""Words by topic and update."""
MIN_LOG = 746.0
"""Smallest exponent: exp(-745.2) is the least positive double."""


class MetOutcome(NamedTuple):
    """Gains, (topics, decays, users), and seconds, (topics, users), of some users."""

    gain: Floats
    seconds: Floats


class Meeting(NamedTuple):
    """One run's outcomes for a block of users, in each setting."""

    users: range
    run: int
    outcomes: dict[ReadingSetting, MetOutcome]


class PreparedRuns:
    """Every run on every topic, prepared for simulation in each setting.

    Attributes
    ----------
    runs, topics : tuple of str
        Their names, in order.
    settings, decays : list
        Every `ReadingSetting`, and every (L, floor), of the measures.
    counted : list of (topics,) ndarray of bool
        For each run, the topics that its mean is taken over.
    streams : list of dict of ReadingSetting to list of Stream
        For each run, its stream on each topic.
    horizon : float
        Seconds of the longest topic.
    """

    def __init__(
        self,
        collection: EventCollection,
        runs: list[UpdateRun],
        measures: Iterable[StreamMeasure],
        lengths: Lengths,
        topics: Topics,
    ) -> None:
        self.runs = tuple(run.name for run in runs)
        self.topics = tuple(collection.topics)
        measured = list(measures)
        self.settings = list(dict.fromkeys(measure.setting for measure in measured))
        self.decays = list(
            dict.fromkeys((float(measure.lateness), float(measure.floor)) for measure in measured)
        )
        self.counted: list[Bools] = []
        self.streams: list[dict[ReadingSetting, list[Stream]]] = []
        events = collection.topics
        self.horizon = max((event.end - event.start for event in events.values()), default=0.0)
        prepared = {
            setting: {
                topic: StreamTopic(event, lengths.get(topic, {}), setting) for topic, event in events.items()
            }
            for setting in self.settings
        }
        nothing = np.zeros(0, dtype=np.int64)
        for run in runs:
            entries = run.entries(events)
            self.counted.append(np.array([topics == "judged" or topic in entries for topic in events]))
            self.streams.append(
                {
                    setting: [
                        stream_topic.stream(run, entries.get(topic, nothing))
                        for topic, stream_topic in of_setting.items()
                    ]
                    for setting, of_setting in prepared.items()
                }
            )

    def place(self, measure: StreamMeasure) -> int:
        """Return the index of a measure's decay among `decays`."""
        return self.decays.index((float(measure.lateness), float(measure.floor)))

    def totals(self, users: Users) -> list[dict[ReadingSetting, UserTotals]]:
        """Return the gains and seconds of all users, by run."""
        totals = [
            {setting: UserTotals(counted, len(self.decays)) for setting in self.settings}
            for counted in self.counted
        ]
        for meeting in self.meetings(users):
            for setting, outcome in meeting.outcomes.items():
                totals[meeting.run][setting].add(outcome.gain, outcome.seconds)
        return totals

    def meetings(self, users: Users) -> Iterator[Meeting]:
        """Yield the outcomes of all users with all runs, in blocks of users."""
        first = 1
        for block in users.blocks(self.horizon):
            worth = worth_of_lateness(self.decays, block.most_visits)
            numbers = range(first, first + block.speed.size)
            for run, of_run in enumerate(self.streams):
                outcomes = {
                    setting: _outcome(streams, block, worth, setting, ends=users.ends_with_topic)
                    for setting, streams in of_run.items()
                }
                yield Meeting(numbers, run, outcomes)
            first = numbers.stop


def worth_of_lateness(decays: Sequence[tuple[float, float]], most_visits: int) -> Floats:
    """Return the decay f + (1 - f) L^k for k = 0, 1, ... visits late, (late, decays).

    It ends at the largest number of visits, or where it no longer changes.

    L^k is exactly 0 in double precision from k = 746 / -ln L on: the last row is the worth of all that comes later still.
    """
    slowest = max((decay for decay, _ in decays if decay < 1), default=0.0)
    changing = 1 + math.ceil(MIN_LOG / -math.log(slowest)) if slowest > 0.0 else 1
    most = min(most_visits, changing)
    decay, floor = np.array(decays, dtype=np.float64).reshape(-1, 2).T[:, :, None]
    worth = floor + (1 - floor) * decay ** np.arange(most + 1.0)
    return np.ascontiguousarray(worth.T)


def _outcome(
    streams: Sequence[Stream], block: Trails, worth: Floats, setting: ReadingSetting, *, ends: bool
) -> MetOutcome:
    """Simulate some users' reading of a run's streams, one a topic."""
    read_all = [read(stream, block, worth, window=setting.window, ends_with_topic=ends) for stream in streams]
    return MetOutcome(
        np.array([gain for gain, _ in read_all]).reshape(len(streams), worth.shape[1], block.speed.size),
        np.array([seconds for _, seconds in read_all]).reshape(len(streams), block.speed.size),
    )
