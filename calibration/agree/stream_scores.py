"""Scores of the streams of a study, for fitted and for many populations.

Of a collection's two forms, push notifications and updates about events, one is made of the other by
`metrics.push.conversion`; what comes of it is marked as converted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from calibration.agree.folder import (
    CORRELATION_COLUMNS,
    DEFAULT_ALPHA,
    FITTED,
    PAIRS_KIND,
    PAPER,
    PEOPLE,
    PUSH,
    PUSH_MEASURE_PAIRS,
    SCORE_COLUMNS,
    SPREAD,
    STREAM_KINDS,
    TRIED,
    UPDATE_COUPLES,
    UPDATES,
    StreamTables,
)
from calibration.agree.measures.msu import REASONABLE, REASONABLE_LATENESS
from calibration.agree.measures.push import ALPHAS
from calibration.agree.measures.stream_files import read_event_files, read_stream_files
from calibration.tables.sources import TaskSources
from calibration.user_model.measures import (
    clipped_population,
    joint_parameters,
    lateness_decay,
    lateness_floor,
    stream_people,
)
from calibration.user_model.model import UserModel
from metrics.agreement.correlation import bootstrap_interval, kendall_tau_b
from metrics.arrays import Floats
from metrics.errors import InputError
from metrics.events import EventCollection, UpdateRun
from metrics.msu.measures import MSU, MSUPerSecond, StreamMeasure
from metrics.msu.score import msu_scores
from metrics.msu.trails import Population, SimulatedUsers
from metrics.push.measures import ELG, NCG, T11U, PushMeasure, SilencePrecision, SilenceRecall
from metrics.push.score import push_scores
from metrics.push.streams import PushCollection, PushRun
from metrics.results import ALL, Score
from metrics.updates.measures import ExpectedLatencyGain, LatencyComprehensiveness, UpdateCount
from metrics.updates.score import update_scores

GAIN, PAIN = "T11U(alpha=1)", "T11U(alpha=0)"
EMPTY = "a system that pushes nothing"
AWAY_SECONDS = (300.0, 1800.0, 3600.0, 10_800.0, 21_600.0, 43_200.0, 86_400.0)
SESSION_SECONDS = (30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
LATENESSES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
USERS, SWEEP_USERS = 1000, 100
SEED = 1
RESAMPLES = 300
MIN_TOPICS = 5
"""Smallest number of topics for an interval over topics."""

Row: TypeAlias = dict[str, Any]


def score_streams(sources: Mapping[str, TaskSources], model: UserModel | None = None) -> StreamTables:
    """Score the streams of every task, for fitted and for many populations.

    Parameters
    ----------
    sources : mapping of str to TaskSources
        By task; other kinds of tasks are passed over.
    model : UserModel, optional
        Who visits; the paper's reasonable population where it says nothing.
    """
    scores: list[Row] = []
    correlations: list[Row] = []
    unscored: dict[str, str] = {}
    for task, files in sources.items():
        if files.kind not in STREAM_KINDS:
            continue
        unscored[task] = "; ".join(replace(files, kind=PAIRS_KIND).problems)
        if unscored[task]:
            continue
        try:
            found, taus = _of_task(files, model)
        except InputError as error:
            unscored[task] = str(error.faults[0])
            continue
        del unscored[task]
        scores += [{"task": task} | row for row in found]
        correlations += [{"task": task} | row for row in taus]
    return StreamTables(
        scores=pd.DataFrame(scores, columns=pd.Index(SCORE_COLUMNS)),
        correlations=pd.DataFrame(correlations, columns=pd.Index(CORRELATION_COLUMNS)),
        unscored=unscored,
    )


class _Values(NamedTuple):
    """Scores of systems by measure, overall (systems,) and by topic (systems, topics)."""

    systems: list[str]
    topics: list[str]
    overall: dict[str, Floats]
    by_topic: dict[str, Floats]

    def rows(self, form: str, *, converted: bool) -> Iterator[Row]:
        """Yield the rows of stream_scores.csv."""
        for metric, overall in self.overall.items():
            about = {"form": form, "converted": converted, "metric": metric}
            for run, value, by_topic in zip(self.systems, overall, self.by_topic[metric], strict=True):
                yield about | {"run": run, "topic": ALL, "value": value}
                yield from (
                    about | {"run": run, "topic": topic, "value": each}
                    for topic, each in zip(self.topics, by_topic, strict=True)
                )

    def correlation(self, form: str, metric: str, against: str) -> Row:
        """Return a row of stream_correlations.csv, with a bootstrap interval.

        The bootstrap needs enough topics.
        """
        overall = self.overall[metric], self.overall[against]
        pair = self.by_topic[metric], self.by_topic[against]
        low = high = float("nan")
        if len(self.topics) >= MIN_TOPICS and not np.isnan(pair).any():
            rng = np.random.default_rng(SEED)
            low, high = bootstrap_interval(*pair, resamples=RESAMPLES, rng=rng)
        tau = float("nan") if np.isnan(overall).any() else kendall_tau_b(*overall)
        row = {"form": form, "metric": metric, "against": against, "systems": len(self.systems)}
        return row | {"tau": tau, "low": low, "high": high}


def _of_task(sources: TaskSources, model: UserModel | None) -> tuple[list[Row], list[Row]]:
    """Return the rows of both tables about the streams of one task."""
    pushes: PushCollection | None = None
    push_runs: Sequence[PushRun] = ()
    if sources.kind == PAIRS_KIND:
        files = read_stream_files(sources)
        pushes, push_runs, events, runs = files.pushes, files.push_runs, files.events, files.update_runs
    else:
        events, runs = read_event_files(sources)
    parts = []
    if events is not None:
        parts += [_update_rows(events, runs, model), _sweep_rows(events, runs)]
    if pushes is not None:
        parts.append(_push_rows(pushes, push_runs))
    return [row for rows, _ in parts for row in rows], [row for _, rows in parts for row in rows]


def _push_rows(collection: PushCollection, runs: Sequence[PushRun]) -> tuple[list[Row], list[Row]]:
    values = _values(push_scores(collection, runs, _push_measures()), [run.name for run in runs])
    converted = collection.converted_from is not None
    empty = PushRun(name=EMPTY, topics=(), tweets=(), epochs=np.zeros(0, dtype=np.int64))
    nothing = push_scores(collection, [empty], [ELG(), ELG(silent_days=0), NCG(), NCG(silent_days=0)])
    rows = list(values.rows(PUSH, converted=converted))
    rows += [
        {"form": PUSH, "converted": converted, "topic": ALL, "metric": score.metric, "value": score.value}
        for score in nothing
        if score.topic == ALL
    ]
    correlations = [values.correlation(PUSH, *couple) for couple in PUSH_MEASURE_PAIRS]
    return rows, correlations + [_at_alpha(values, alpha) for alpha in ALPHAS.tolist()]


def _push_measures() -> dict[str, PushMeasure]:
    """Return the push measures by name in the figures, and T11U's two ends."""
    return {
        "ELG-1": ELG(silent_days=1),
        "ELG-0": ELG(silent_days=0),
        "nCG-1": NCG(silent_days=1),
        "nCG-0": NCG(silent_days=0),
        "T11U": T11U(alpha=DEFAULT_ALPHA),
        "silence-precision": SilencePrecision(),
        "silence-recall": SilenceRecall(),
        GAIN: T11U(alpha=1.0),
        PAIN: T11U(alpha=0.0),
    }


def _at_alpha(values: _Values, alpha: float) -> Row:
    """Return tau of T11U and ELG-1 at one alpha.

    alpha G - (1 - alpha) N is a mixture of its two ends.
    """
    overall, by_topic = (
        {"ELG-1": each["ELG-1"], "T11U": alpha * each[GAIN] + (1 - alpha) * each[PAIN]}
        for each in (values.overall, values.by_topic)
    )
    mixed = values._replace(overall=overall, by_topic=by_topic)
    return mixed.correlation(PUSH, "ELG-1", "T11U") | {"alpha": alpha}


def _update_rows(
    events: EventCollection, runs: Sequence[UpdateRun], model: UserModel | None
) -> tuple[list[Row], list[Row]]:
    """Return the measures of updates, and MSU of the model's population."""
    population, lateness, people = _people(model)
    floor = 0.0 if model is None else lateness_floor(model)
    converted = events.converted_from is not None
    scores = update_scores(events, runs, [ExpectedLatencyGain(), LatencyComprehensiveness(), UpdateCount()])
    users = SimulatedUsers(population=population, count=USERS, seed=SEED)
    scores += msu_scores(
        events,
        runs,
        {"MSU": MSU(lateness=lateness, floor=floor), "MSU/s": MSUPerSecond(lateness=lateness, floor=floor)},
        users,
    )
    values = _values(scores, [run.name for run in runs])
    who = {"people": people, **_described(population), "lateness": lateness}
    rows = [
        row | (who if row["metric"].startswith("MSU") else {})
        for row in values.rows(UPDATES, converted=converted)
    ]
    return rows, [values.correlation(UPDATES, *couple) | who for couple in UPDATE_COUPLES]


def _described(population: Population) -> Row:
    return {name: getattr(population, name) for name in PEOPLE}


def _sweep_rows(events: EventCollection, runs: Sequence[UpdateRun]) -> tuple[list[Row], list[Row]]:
    """Score MSU and MSU per second for every population of the sweep.

    The users have the same random numbers in every population.
    """
    systems = [run.name for run in runs]
    elg = _values(update_scores(events, runs, [ExpectedLatencyGain()]), systems).overall["ELG"]
    measures: dict[str, StreamMeasure] = {}
    for lateness in LATENESSES:
        measures |= {
            f"MSU {lateness}": MSU(lateness=lateness),
            f"MSU/s {lateness}": MSUPerSecond(lateness=lateness),
        }
    rows: list[Row] = []
    correlations: list[Row] = []
    converted = events.converted_from is not None
    for population in _populations():
        users = SimulatedUsers(population=population, count=SWEEP_USERS, seed=SEED)
        overall = _values(msu_scores(events, runs, measures, users), systems).overall
        for name, values in overall.items():
            metric, _, worth = name.partition(" ")
            who = {"form": UPDATES, "metric": metric, "people": TRIED, **_described(population)}
            who["lateness"] = float(worth)
            correlations.append(
                who | {"against": "ELG", "systems": len(systems), "tau": kendall_tau_b(elg, values)}
            )
            rows += [
                who | {"converted": converted, "run": run, "topic": ALL, "value": value}
                for run, value in zip(systems, values, strict=True)
            ]
    return rows, correlations


def _populations() -> Iterator[Population]:
    for away in AWAY_SECONDS:
        for session in SESSION_SECONDS:
            yield Population(
                away_mean_seconds=away,
                away_sd_seconds=SPREAD * away,
                session_mean_seconds=session,
                session_sd_seconds=SPREAD * session,
            )


def _values(scores: Sequence[Score], systems: list[str]) -> _Values:
    metrics = dict.fromkeys(score.metric for score in scores)
    topics = list(dict.fromkeys(score.topic for score in scores if score.topic != ALL))
    value = {(score.metric, score.run, score.topic): score.value for score in scores}
    return _Values(
        systems=systems,
        topics=topics,
        overall={metric: np.array([value[metric, name, ALL] for name in systems]) for metric in metrics},
        by_topic={
            metric: np.array([[value[metric, name, topic] for topic in topics] for name in systems])
            for metric in metrics
        },
    )


def _people(model: UserModel | None) -> tuple[Population, float, str]:
    """Return the model's population and decay, or else the paper's.

    The paper's value stands for either that the model lacks.
    """
    decay = None if model is None else lateness_decay(model)
    lateness = REASONABLE_LATENESS if decay is None else decay
    people = {} if model is None else stream_people(model)
    if not {"away_mean_seconds", "session_mean_seconds"} <= set(people):
        return REASONABLE, lateness, PAPER
    together = {} if model is None else joint_parameters(model)
    return clipped_population(asdict(REASONABLE) | people | together), lateness, FITTED
