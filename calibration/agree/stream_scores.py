"""Scores of the streams of a study, and how their measures rank systems: what `prefcal agree` stores for the report.

Two tables. stream_scores.csv has every system by every measure, overall and by topic, and MSU for many populations;
stream_correlations.csv has Kendall's tau-b of measures with each other. docs/agreement.md lists their columns.
`TaskStreams` reads the rows of one task. Of a collection's two forms, push notifications and updates about events, one
is made of the other by `metrics.readers.convert`; what comes of it is marked as converted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from calibration.agree.measures.msu import REASONABLE, REASONABLE_LATENESS
from calibration.agree.measures.stream_files import StreamFiles, read_stream_files
from calibration.tables.sources import TaskSources
from calibration.user_model.measures import clipped_population, lateness_decay, stream_people
from calibration.user_model.model import UserModel
from metrics.agreement.correlation import bootstrap_interval, kendall_tau_b
from metrics.arrays import Floats
from metrics.errors import InputError
from metrics.events import EventCollection, UpdateRun
from metrics.msu.score import MSU, MSUPerSecond, Population, SimulatedUsers, StreamMeasure, msu_scores
from metrics.push.score import ELG, NCG, T11U, PushMeasure, SilencePrecision, SilenceRecall, push_scores
from metrics.push.streams import PushCollection, PushRun
from metrics.readers.tempsum import read_events
from metrics.readers.tempsum_runs import read_update_run
from metrics.results import ALL, Score
from metrics.updates.score import ExpectedLatencyGain, LatencyComprehensiveness, UpdateCount, update_scores

PAIRS_KIND = "stream_pairs"
STREAM_KINDS = (PAIRS_KIND, "stream_visits")
"""Kinds of tasks whose systems are streams."""
PUSH, UPDATES = "push", "updates"
"""Column ``form``: what the streams are scored as."""
FITTED, PAPER, TRIED = "fitted", "paper", "tried"
"""Column ``people``: those of the user model, the paper's reasonable ones, those of one of many populations."""
PEOPLE = ("away_mean_seconds", "away_sd_seconds", "session_mean_seconds", "session_sd_seconds")
SCORE_COLUMNS = (
    "task",
    "form",
    "converted",
    "run",
    "topic",
    "metric",
    "value",
    "people",
    *PEOPLE,
    "lateness",
)
CORRELATION_COLUMNS = (
    "task",
    "form",
    "metric",
    "against",
    "alpha",
    "people",
    *PEOPLE,
    "lateness",
    "systems",
    "tau",
    "low",
    "high",
)
PUSH_COUPLES = (
    ("ELG-1", "nCG-1"),
    ("ELG-1", "ELG-0"),
    ("nCG-1", "nCG-0"),
    ("silence-precision", "ELG-1"),
    ("silence-recall", "ELG-1"),
    ("silence-precision", "silence-recall"),
    ("ELG-1", "T11U"),
)
UPDATE_COUPLES = (("ELG", "MSU"), ("LC", "MSU"))
"""Measures that are held against each other, as in Fig. 1 to 3 of Tan and others (SIGIR 2016) and in Fig. 2 of Baruah
and others (SIGIR 2015)."""
GAIN, PAIN = "T11U(alpha=1)", "T11U(alpha=0)"
EMPTY = "a system that pushes nothing"
ALPHAS = np.linspace(0.0, 1.0, 41)
DEFAULT_ALPHA = 0.66
AWAY_SECONDS = (300.0, 1800.0, 3600.0, 10_800.0, 21_600.0, 43_200.0, 86_400.0)
SESSION_SECONDS = (30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
LATENESSES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
SPREAD = 0.5
"""Standard deviation over mean of the populations that are tried, as in the paper's reasonable setting."""
USERS, SWEEP_USERS = 1000, 100
SEED = 1
RESAMPLES = 300
FEWEST_TOPICS = 5
"""Topics from which an interval over topics is worth showing."""

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamTables:
    """What `prefcal agree` writes about streams.

    Attributes
    ----------
    scores : DataFrame
        One row a task, system, topic (``all``: over all of them) and measure; `SCORE_COLUMNS`.
    correlations : DataFrame
        One row a task and couple of measures, along alpha and over populations too; `CORRELATION_COLUMNS`.
    unscored : mapping of str to str
        Task whose streams cannot be scored -> why.
    """

    scores: pd.DataFrame
    correlations: pd.DataFrame
    unscored: Mapping[str, str]


class Sweep(NamedTuple):
    """A measure for many populations, all of them combined.

    Attributes
    ----------
    away, session, lateness : (n,) ndarray of float
        Mean seconds away and in a session; worth of a nugget one visit late.
    utility : (away, session, lateness, systems) ndarray of float
        The measure.
    tau : (away, session, lateness) ndarray of float
        Its Kendall's tau-b with ELG.
    """

    away: Floats
    session: Floats
    lateness: Floats
    utility: Floats
    tau: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskStreams:
    """What the two tables hold about the streams of one task, scored as pushes or as updates.

    Attributes
    ----------
    scores, correlations : DataFrame
        Rows of `StreamTables` of one task and form.
    """

    scores: pd.DataFrame
    correlations: pd.DataFrame

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Their names, in the order of the study file."""
        return tuple(dict.fromkeys(self.scores["run"].dropna().astype(str)))

    @property
    def converted(self) -> bool:
        """Whether the judgments were made for the other form."""
        return bool(self.scores["converted"].iloc[0])

    def overall(self, metric: str) -> Floats:
        """Return the value of a measure for each system."""
        rows = self._overall(metric).dropna(subset="run")
        return np.asarray(rows["value"], dtype=np.float64)

    def empty(self, metric: str) -> float | None:
        """Return what a system that pushes nothing scores; None for a measure without such a value."""
        rows = self._overall(metric)
        values = rows[rows["run"].isna()]["value"]
        return float(values.iloc[0]) if len(values) else None

    def people(self) -> "pd.Series[Any]":
        """Return a row of MSU of the fitted people, or of the paper's: who they are, and their lateness."""
        return self._overall("MSU").iloc[0]

    def tau(self, metric: str, against: str) -> tuple[float, float, float]:
        """Return Kendall's tau-b of two measures with the ends of its interval; NaN where there is none."""
        rows = self.correlations
        row = rows[
            (rows["metric"] == metric)
            & (rows["against"] == against)
            & rows["alpha"].isna()
            & (rows["people"] != TRIED)
        ].iloc[0]
        return float(row["tau"]), float(row["low"]), float(row["high"])

    def along_alpha(self) -> pd.DataFrame:
        """Return alpha, tau, low and high of T11U and ELG-1."""
        return self.correlations[self.correlations["alpha"].notna()][["alpha", "tau", "low", "high"]]

    def sweep(self, metric: str) -> Sweep:
        """Return MSU or MSU/s for every population that was tried."""
        scores, correlations = (
            rows[(rows["metric"] == metric) & (rows["people"] == TRIED)]
            for rows in (self.scores, self.correlations)
        )
        away, session, lateness = (
            np.asarray(correlations[name].unique(), dtype=np.float64)
            for name in ("away_mean_seconds", "session_mean_seconds", "lateness")
        )
        shape = len(away), len(session), len(lateness)
        values = np.asarray(scores["value"], dtype=np.float64).reshape(*shape, len(self.systems))
        tau = np.asarray(correlations["tau"], dtype=np.float64).reshape(shape)
        return Sweep(away, session, lateness, values, tau)

    def best(self, system: int) -> tuple[int, tuple[float, float, float]]:
        """Return a system's best rank by MSU, and away, session and lateness where it has it: of several that of highest MSU."""
        sweep = self.sweep("MSU")
        ranks = 1 + (sweep.utility > sweep.utility[..., system][..., None]).sum(axis=-1)
        own = np.where(ranks == ranks.min(), sweep.utility[..., system], -np.inf)
        i, j, number = np.unravel_index(int(own.argmax()), own.shape)
        return int(ranks.min()), (
            float(sweep.away[i]),
            float(sweep.session[j]),
            float(sweep.lateness[number]),
        )

    def _overall(self, metric: str) -> pd.DataFrame:
        rows = self.scores
        return rows[(rows["metric"] == metric) & (rows["topic"] == ALL) & (rows["people"] != TRIED)]


def of_task(tables: StreamTables, task: str, form: str) -> TaskStreams | None:
    """Return what the tables hold about the streams of a task in one form, None where they were not scored so."""
    scores, correlations = (
        rows[(rows["task"] == task) & (rows["form"] == form)] for rows in (tables.scores, tables.correlations)
    )
    return TaskStreams(scores=scores, correlations=correlations) if len(scores) else None


def score_streams(sources: Mapping[str, TaskSources], model: UserModel | None = None) -> StreamTables:
    """Score the streams of every task of streams, for one's own people and for many populations.

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


class _Updates(NamedTuple):
    """Judged events and what the systems told of them."""

    events: EventCollection
    runs: Sequence[UpdateRun]


class _Values(NamedTuple):
    """Systems by measures: measure -> (systems,) overall, and (systems, topics)."""

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
        """Return a row of stream_correlations.csv, its interval by a bootstrap over topics where there are enough."""
        overall = self.overall[metric], self.overall[against]
        pair = self.by_topic[metric], self.by_topic[against]
        low = high = float("nan")
        if len(self.topics) >= FEWEST_TOPICS and not np.isnan(pair).any():
            rng = np.random.default_rng(SEED)
            low, high = bootstrap_interval(*pair, resamples=RESAMPLES, rng=rng)
        tau = float("nan") if np.isnan(overall).any() else kendall_tau_b(*overall)
        row = {"form": form, "metric": metric, "against": against, "systems": len(self.systems)}
        return row | {"tau": tau, "low": low, "high": high}


def _of_task(sources: TaskSources, model: UserModel | None) -> tuple[list[Row], list[Row]]:
    """Return the rows of both tables about the streams of one task."""
    files = read_stream_files(sources) if sources.kind == PAIRS_KIND else None
    streams = _visited(sources) if files is None else _as_updates(files)
    scores: list[Row] = []
    correlations: list[Row] = []
    if streams is not None:
        for found, taus in (_update_rows(streams, model), _sweep_rows(streams)):
            scores += found
            correlations += taus
    if files is not None and files.pushes is not None:
        found, taus = _push_rows(files.pushes, files.push_runs)
        scores += found
        correlations += taus
    return scores, correlations


def _as_updates(files: StreamFiles) -> _Updates | None:
    return None if files.events is None else _Updates(files.events, files.update_runs)


def _visited(sources: TaskSources) -> _Updates:
    """Read the streams of a task of visits, which are updates about events."""
    events = read_events(
        topics=sources.path("topics"),
        nuggets=sources.path("nuggets"),
        matches=sources.path("matches"),
        updates=sources.path("updates"),
    )
    runs = [read_update_run(source.path, name=name) for name, source in sources.systems.items()]
    return _Updates(events, runs)


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
    correlations = [values.correlation(PUSH, *couple) for couple in PUSH_COUPLES]
    return rows, correlations + [_at_alpha(values, alpha) for alpha in ALPHAS.tolist()]


def _push_measures() -> dict[str, PushMeasure]:
    """Return the measures by what the figures call them, and the two ends of T11U."""
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
    """Return tau of T11U and ELG-1 at one alpha: alpha G - (1 - alpha) N is a mixture of its two ends."""
    overall, by_topic = (
        {"ELG-1": each["ELG-1"], "T11U": alpha * each[GAIN] + (1 - alpha) * each[PAIN]}
        for each in (values.overall, values.by_topic)
    )
    mixed = values._replace(overall=overall, by_topic=by_topic)
    return mixed.correlation(PUSH, "ELG-1", "T11U") | {"alpha": alpha}


def _update_rows(streams: _Updates, model: UserModel | None) -> tuple[list[Row], list[Row]]:
    """Return the measures of updates, and MSU of the people of the user model."""
    population, lateness, people = _people(model)
    converted = streams.events.converted_from is not None
    scores = update_scores(*streams, [ExpectedLatencyGain(), LatencyComprehensiveness(), UpdateCount()])
    users = SimulatedUsers(population=population, count=USERS, seed=SEED)
    scores += msu_scores(
        *streams, {"MSU": MSU(lateness=lateness), "MSU/s": MSUPerSecond(lateness=lateness)}, users
    )
    values = _values(scores, [run.name for run in streams.runs])
    who = {"people": people, **_described(population), "lateness": lateness}
    rows = [
        row | (who if row["metric"].startswith("MSU") else {})
        for row in values.rows(UPDATES, converted=converted)
    ]
    return rows, [values.correlation(UPDATES, *couple) | who for couple in UPDATE_COUPLES]


def _described(population: Population) -> Row:
    return {name: getattr(population, name) for name in PEOPLE}


def _sweep_rows(streams: _Updates) -> tuple[list[Row], list[Row]]:
    """Score MSU and MSU per second for every population that is tried; the users differ by it alone."""
    systems = [run.name for run in streams.runs]
    elg = _values(update_scores(*streams, [ExpectedLatencyGain()]), systems).overall["ELG"]
    measures: dict[str, StreamMeasure] = {}
    for lateness in LATENESSES:
        measures |= {
            f"MSU {lateness}": MSU(lateness=lateness),
            f"MSU/s {lateness}": MSUPerSecond(lateness=lateness),
        }
    rows: list[Row] = []
    correlations: list[Row] = []
    converted = streams.events.converted_from is not None
    for population in _populations():
        users = SimulatedUsers(population=population, count=SWEEP_USERS, seed=SEED)
        overall = _values(msu_scores(*streams, measures, users), systems).overall
        for name, values in overall.items():
            metric, _, lateness = name.partition(" ")
            who = {"form": UPDATES, "metric": metric, "people": TRIED, **_described(population)}
            who["lateness"] = float(lateness)
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
    """Return the model's population and lateness decay; the paper's where it lacks the one or the other."""
    decay = None if model is None else lateness_decay(model)
    lateness = REASONABLE_LATENESS if decay is None else decay
    people = {} if model is None else stream_people(model)
    if not {"away_mean_seconds", "session_mean_seconds"} <= set(people):
        return REASONABLE, lateness, PAPER
    return clipped_population(asdict(REASONABLE) | people), lateness, FITTED
