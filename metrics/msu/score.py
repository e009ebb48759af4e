"""Scores of runs by Modeled Stream Utility.

Source: Baruah, Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR 2015). The measures are in `metrics.msu.measures`,
users in `metrics.msu.trails`, their simulation in `metrics.msu.simulation`; files in `metrics.readers.tempsum` and
`metrics.readers.trails`.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from metrics.events import EventCollection, UpdateRun, events_left_out, updates_left_out
from metrics.msu.measures import MSU, MSUPerSecond, StreamMeasure
from metrics.msu.simulation import Lengths, PreparedRuns
from metrics.msu.trails import Users
from metrics.results import ALL, Score, Topics, label_measures, run_list, score_frame
from metrics.unused_input import warn_if_mostly_unused

if TYPE_CHECKING:
    import pandas as pd


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
            label: measure.values(of_run[measure.setting], plan.place(measure)).tolist()
            for label, measure in labels.items()
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

    Its parameters are those of `score_msu`.
    """
    labels = label_measures(measures)
    plan = PreparedRuns(collection, list(runs), labels.values(), lengths or {}, topics)
    rows = [*collection.topics, ALL]
    scores: list[list[Score]] = [[] for _ in plan.runs]
    for meeting in plan.meetings(users):
        counted = plan.counted[meeting.run]
        values = {
            label: measure.user_values(
                meeting.outcomes[measure.setting].gain[:, plan.place(measure)],
                meeting.outcomes[measure.setting].seconds,
                counted,
            ).tolist()
            for label, measure in labels.items()
        }
        scores[meeting.run] += [
            Score(plan.runs[meeting.run], topic, label, value[row][index], str(user))
            for index, user in enumerate(meeting.users)
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

    The row `all` covers all topics together.

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
