"""Scores of runs by Modeled Stream Utility, from simulated users.

What was prepared is arrays alone, so that it can be kept and sent elsewhere; the formulas stand in `metrics.msu.measures`.

Source: Baruah, Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR 2015). The measures are in
`metrics.msu.measures`, users in `metrics.msu.trails`, what they read in `metrics.msu.measures`; files in
`metrics.readers.tempsum` and `metrics.readers.trails`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from metrics.events import EventCollection, UpdateRun, events_left_out, updates_left_out
from metrics.msu.measures import (
    MSU,
    MSUPerSecond,
    MSUStandardError,
    ReadingSetting,
    StreamMeasure,
    StreamTopic,
    UserTotals,
    read,
)
from metrics.msu.trails import (
    FloatArray,
    GivenUsers,
    Population,
    SimulatedUsers,
    Stream,
    Trails,
    Users,
    trails,
)
from metrics.results import ALL, Score, Topics, label_measures, run_list, score_frame
from metrics.unused_input import warn_if_mostly_unused

if TYPE_CHECKING:
    import pandas as pd

    from metrics.arrays import Bools

__all__ = [
    "LEAST_LOG",
    "MSU",
    "GivenUsers",
    "Lengths",
    "MSUPerSecond",
    "MSUStandardError",
    "Meeting",
    "MetOutcome",
    "Population",
    "PreparedRuns",
    "SimulatedUsers",
    "StreamMeasure",
    "Trails",
    "Users",
    "msu_scores",
    "msu_user_scores",
    "score_msu",
    "trails",
    "worth_of_lateness",
]

Lengths: TypeAlias = Mapping[str, Mapping[str, float]]
"""Words by topic and update."""
LEAST_LOG = 746.0
"""Smallest exponent: exp(-745.2) is the least positive double."""


class MetOutcome(NamedTuple):
    """Gains, (topics, decays, users), and seconds, (topics, users), of some users."""

    gain: FloatArray
    seconds: FloatArray


class Meeting(NamedTuple):
    """One run's outcomes for a block of users, in each setting."""

    users: range
    run: int
    outcomes: dict[ReadingSetting, MetOutcome]


class PreparedRuns:
    """Every run on every topic, prepared for simulation in each setting.

    With all decays.

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
        self.settings = list(dict.fromkeys(stream_measure.setting for stream_measure in measured))
        self.decays = list(
            dict.fromkeys(
                (float(stream_measure.lateness), float(stream_measure.floor)) for stream_measure in measured
            )
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
                        stream_measure.stream(run, entries.get(topic, nothing))
                        for topic, stream_measure in of_setting.items()
                    ]
                    for setting, of_setting in prepared.items()
                }
            )

    def place(self, stream_measure: StreamMeasure) -> int:
        """Return the index of a measure's decay among `decays`."""
        return self.decays.index((float(stream_measure.lateness), float(stream_measure.floor)))

    def totals(self, users: Users) -> list[dict[ReadingSetting, UserTotals]]:
        """Return the gains and seconds of all users, by run."""
        totals = [
            {setting: UserTotals(counted, len(self.decays)) for setting in self.settings}
            for counted in self.counted
        ]
        for met in self.meetings(users):
            for setting, outcome in met.outcomes.items():
                totals[met.run][setting].add(outcome.gain, outcome.seconds)
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


def worth_of_lateness(decays: Sequence[tuple[float, float]], most_visits: int) -> FloatArray:
    """Return the decay f + (1 - f) L^k, (late, decays), for k = 0, 1, ... visits late.

    Up to the most visits, or to where it changes no more.

    L^k is exactly 0 in double precision from k = 746 / -ln L on: the last row is the worth of all that comes later still.
    """
    slowest = max((decay for decay, _ in decays if decay < 1), default=0.0)
    changing = 1 + math.ceil(LEAST_LOG / -math.log(slowest)) if slowest > 0.0 else 1
    most = min(most_visits, changing)
    decay, floor = np.array(decays, dtype=np.float64).reshape(-1, 2).T[:, :, None]
    worth = floor + (1 - floor) * decay ** np.arange(most + 1.0)
    return np.ascontiguousarray(worth.T)


def _outcome(
    streams: Sequence[Stream], block: Trails, worth: FloatArray, setting: ReadingSetting, *, ends: bool
) -> MetOutcome:
    """Simulate some users' reading of a run's streams, one a topic."""
    read_all = [
        read(stream_measure, block, worth, window=setting.window, ends_with_topic=ends)
        for stream_measure in streams
    ]
    return MetOutcome(
        np.array([gain for gain, _ in read_all]).reshape(len(streams), worth.shape[1], block.speed.size),
        np.array([seconds for _, seconds in read_all]).reshape(len(streams), block.speed.size),
    )


def msu_scores(
    collection: EventCollection,
    runs: Iterable[UpdateRun],
    measures: Iterable[StreamMeasure] | Mapping[str, StreamMeasure],
    users: Users,
    *,
    lengths: Lengths | None = None,
    topics: Topics = "judged",
) -> list[Score]:
    """Score runs by MSU, as `score_msu` but without pandas."""
    labels = label_measures(measures, StreamMeasure)
    plan = PreparedRuns(collection, list(runs), labels.values(), lengths or {}, topics)
    scores: list[Score] = []
    for run, of_run in zip(plan.runs, plan.totals(users), strict=True):
        values = {
            label: stream_measure.values(of_run[stream_measure.setting], plan.place(stream_measure)).tolist()
            for label, stream_measure in labels.items()
        }
        scores += [
            Score(run, topic, label, value[row])
            for row, topic in enumerate([*collection.topics, ALL])
            for label, value in values.items()
        ]
    return scores


def msu_user_scores(
    collection: EventCollection,
    runs: Iterable[UpdateRun],
    measures: Iterable[MSU | MSUPerSecond] | Mapping[str, MSU | MSUPerSecond],
    users: Users,
    *,
    lengths: Lengths | None = None,
    topics: Topics = "judged",
) -> list[Score]:
    """Score runs by MSU for each user, numbered from 1 in their order.

    Parameters as in `score_msu`.
    """
    labels = label_measures(measures)
    plan = PreparedRuns(collection, list(runs), labels.values(), lengths or {}, topics)
    rows = [*collection.topics, ALL]
    scores: list[list[Score]] = [[] for _ in plan.runs]
    for met in plan.meetings(users):
        counted = plan.counted[met.run]
        values = {
            label: stream_measure.user_values(
                met.outcomes[stream_measure.setting].gain[:, plan.place(stream_measure)],
                met.outcomes[stream_measure.setting].seconds,
                counted,
            ).tolist()
            for label, stream_measure in labels.items()
        }
        scores[met.run] += [
            Score(plan.runs[met.run], topic, label, value[row][place], str(user))
            for place, user in enumerate(met.users)
            for row, topic in enumerate(rows)
            for label, value in values.items()
        ]
    return [score for of_run in scores for score in of_run]


def score_msu(
    collection: EventCollection,
    runs: Iterable[UpdateRun],
    measures: Iterable[StreamMeasure] | Mapping[str, StreamMeasure],
    users: Users,
    *,
    lengths: Lengths | None = None,
    topics: Topics = "judged",
) -> "pd.DataFrame":
    """Score runs by Modeled Stream Utility, by judged topic and as topic `all`.

    The row `all` is of all topics together.

    Baruah et al. (SIGIR 2015), sections 3 and 4, in the reading of the authors' program for given trails, but for a
    nugget that becomes known at the very start of a visit: it could have been told then, as the paper says. Nuggets of
    any importance count. A topic that a run has nothing for scores 0; updates for topics that are not judged are
    ignored.

    Parameters
    ----------
    collection : EventCollection
        Judgments.
    runs : iterable of UpdateRun
        Of different names; all meet the same users.
    measures : iterable of StreamMeasure, or mapping of label to StreamMeasure
        Labels stand in the column metric; by default each measure's own column, such as ``MSU@0.5``. All lateness
        decays come from one simulation.
    users : Users
        `SimulatedUsers` drawn from a `Population`, or `GivenUsers`.
    lengths : mapping of topic to mapping of update to float, optional
        Words of updates; of others the words in their texts are counted.
    topics : {'judged', 'run'}
        What `all` is taken over: every judged topic, or those that the run has an update for.

    Returns
    -------
    DataFrame
        run, topic, metric, value.

    Raises
    ------
    InputError
        If a simulated user would make too many visits.
    ValueError
        If two measures would have one label.

    Warns
    -----
    LeftOutWarning
        If more than half of the judgments or of a run takes no part, see `metrics.events.updates_left_out`.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/two_layered/streams"
    >>> events = prefcal.read_events(
    ...     topics=f"{folder}/topics.xml",
    ...     nuggets=f"{folder}/nuggets.tsv",
    ...     matches=f"{folder}/matches.tsv",
    ...     updates=f"{folder}/updates.tsv",
    ... )
    >>> run = prefcal.read_update_run(f"{folder}/runs/prompt.txt")
    >>> people = prefcal.Population(
    ...     away_mean_seconds=28_800,
    ...     away_sd_seconds=14_400,
    ...     session_mean_seconds=90,
    ...     session_sd_seconds=45,
    ... )
    >>> users = prefcal.SimulatedUsers(population=people, count=50)
    >>> scores = score_msu(events, [run], [prefcal.MSU()], users)
    >>> round(float(scores.query("topic == 'all'")["value"].iloc[0]), 1)
    32.7
    """
    runs = run_list(runs, UpdateRun)
    of_run = partial(updates_left_out, lengths=lengths, topics=topics)
    warn_if_mostly_unused(collection, runs, events_left_out, of_run)
    return score_frame(msu_scores(collection, runs, measures, users, lengths=lengths, topics=topics))
