"""Scoring runs of updates by Modeled Stream Utility.

Source: Baruah, Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR 2015). The measures are in
`metrics.msu.measures`, users in `metrics.msu.trails`, what they read in `metrics.msu.reading`; files in
`metrics.readers.tempsum` and `metrics.readers.trails`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from metrics.events import EventCollection, UpdateRun, events_left_out, updates_left_out
from metrics.msu.measures import MSU, MSUPerSecond, MSUStandardError, StreamMeasure, UserTotals
from metrics.msu.reading import ReadingSetting, StreamTopic, read
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
from metrics.results import ALL, Score, Topics, labelled, score_frame
from metrics.taking_part import warn_of_most

if TYPE_CHECKING:
    import pandas as pd

    from metrics.arrays import Bools

__all__ = [
    "MSU",
    "GivenUsers",
    "MSUPerSecond",
    "MSUStandardError",
    "Population",
    "SimulatedUsers",
    "StreamMeasure",
    "Trails",
    "Users",
    "msu_scores",
    "msu_user_scores",
    "score_msu",
    "trails",
]

Lengths: TypeAlias = Mapping[str, Mapping[str, float]]
"""Topic -> update -> words."""


def msu_scores(
    collection: EventCollection,
    runs: Iterable[UpdateRun],
    measures: Iterable[StreamMeasure] | Mapping[str, StreamMeasure],
    users: Users,
    *,
    lengths: Lengths | None = None,
    topics: Topics = "judged",
) -> list[Score]:
    """Score runs; parameters as in `score_msu`, the result without pandas."""
    labels = labelled(measures)
    plan = _Plan(collection, list(runs), labels.values(), lengths or {}, topics)
    totals = [
        {setting: UserTotals(counted, len(plan.decays)) for setting in plan.settings}
        for counted in plan.counted
    ]
    for met in plan.meetings(users):
        for setting, outcome in met.outcomes.items():
            totals[met.run][setting].add(outcome.gain, outcome.seconds)
    scores: list[Score] = []
    for run, of_run in zip(plan.runs, totals, strict=True):
        values = {
            label: one.values(of_run[one.setting], plan.place(one)).tolist() for label, one in labels.items()
        }
        scores += [
            Score(run.name, topic, label, value[row])
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
    """Score runs for each user, who is called 1, 2, ... in their order; parameters as in `score_msu`."""
    labels = labelled(measures)
    plan = _Plan(collection, list(runs), labels.values(), lengths or {}, topics)
    rows = [*collection.topics, ALL]
    scores: list[list[Score]] = [[] for _ in plan.runs]
    for met in plan.meetings(users):
        counted = plan.counted[met.run]
        values = {
            label: one.user_values(
                met.outcomes[one.setting].gain[:, plan.place(one)], met.outcomes[one.setting].seconds, counted
            ).tolist()
            for label, one in labels.items()
        }
        scores[met.run] += [
            Score(plan.runs[met.run].name, topic, label, value[row][place], str(user))
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
    """Score runs by Modeled Stream Utility: every judged topic, and all topics together as topic `all`.

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
    """
    runs = list(runs)
    warn_of_most(collection, runs, events_left_out, partial(updates_left_out, lengths=lengths))
    return score_frame(msu_scores(collection, runs, measures, users, lengths=lengths, topics=topics))


class _Outcome(NamedTuple):
    """What some users gained, (topics, decays, users), and the seconds they spent, (topics, users)."""

    gain: FloatArray
    seconds: FloatArray


class _Meeting(NamedTuple):
    """Some users, by their numbers, and what a run was to them in each setting."""

    users: range
    run: int
    outcomes: dict[ReadingSetting, _Outcome]


class _Plan:
    """What is to be simulated: every run on every topic, once for each setting and with all decays."""

    def __init__(
        self,
        collection: EventCollection,
        runs: list[UpdateRun],
        measures: Iterable[StreamMeasure],
        lengths: Lengths,
        topics: Topics,
    ) -> None:
        self.runs = runs
        measured = list(measures)
        self.settings = list(dict.fromkeys(one.setting for one in measured))
        self.decays = list(dict.fromkeys((float(one.lateness), float(one.floor)) for one in measured))
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
                        one.stream(run, entries.get(topic, nothing)) for topic, one in of_setting.items()
                    ]
                    for setting, of_setting in prepared.items()
                }
            )

    def place(self, one: StreamMeasure) -> int:
        """Return the place of a measure's decay among `decays`."""
        return self.decays.index((float(one.lateness), float(one.floor)))

    def meetings(self, users: Users) -> Iterator[_Meeting]:
        """Let all users read all runs, some users at a time."""
        first = 1
        for block in users.blocks(self.horizon):
            decay, floor = np.array(self.decays, dtype=np.float64).reshape(-1, 2).T[:, :, None]
            worth = floor + (1 - floor) * decay ** np.arange(block.most_visits + 1.0)
            numbers = range(first, first + block.speed.size)
            for run, of_run in enumerate(self.streams):
                outcomes = {
                    setting: _outcome(streams, block, worth, setting, ends=users.ends_with_topic)
                    for setting, streams in of_run.items()
                }
                yield _Meeting(numbers, run, outcomes)
            first = numbers.stop


def _outcome(
    streams: Sequence[Stream], block: Trails, worth: FloatArray, setting: ReadingSetting, *, ends: bool
) -> _Outcome:
    """Let some users read a run's streams, one a topic."""
    read_all = [read(one, block, worth, window=setting.window, ends_with_topic=ends) for one in streams]
    return _Outcome(
        np.array([gain for gain, _ in read_all]).reshape(len(streams), len(worth), block.speed.size),
        np.array([seconds for _, seconds in read_all]).reshape(len(streams), block.speed.size),
    )
