"""Scores of the streams of a task, for the report's figures on them: every system by every measure and in every topic.

Of a collection's two forms, push notifications and updates about events, one is made of the other by `metrics.readers.convert`;
what comes of it is marked as converted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from calibration.agree.measures.msu import REASONABLE, REASONABLE_LATENESS
from calibration.agree.measures.stream_files import StreamFiles, read_stream_files
from calibration.tables.sources import TaskSources
from calibration.user_model.measures import clipped_population, lateness_decay, stream_people
from calibration.user_model.model import UserModel
from metrics.agreement.correlation import bootstrap_interval, kendall_tau_b
from metrics.arrays import Floats
from metrics.events import EventCollection, UpdateRun
from metrics.msu.score import MSU, MSUPerSecond, Population, SimulatedUsers, StreamMeasure, msu_scores
from metrics.push.score import ELG, NCG, T11U, PushMeasure, SilencePrecision, SilenceRecall, push_scores
from metrics.push.streams import PushCollection, PushRun
from metrics.readers.tempsum import read_events
from metrics.readers.tempsum_runs import read_update_run
from metrics.results import ALL, Score
from metrics.updates.score import ExpectedLatencyGain, LatencyComprehensiveness, UpdateCount, update_scores

PAIRS_KIND = "stream_pairs"
CONVERTED = "Converted: these judgments were made for another kind of collection (metrics.readers.convert)."
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """Systems by measures.

    Attributes
    ----------
    systems : tuple of str
        In the order of the study file.
    overall : mapping of str to (systems,) ndarray of float
        Measure -> its value for each system.
    by_topic : mapping of str to (systems, topics) ndarray of float
        Measure -> its values for each system and topic.
    """

    systems: tuple[str, ...]
    overall: Mapping[str, Floats]
    by_topic: Mapping[str, Floats]

    def tau(self, one: str, other: str) -> float:
        """Return Kendall's tau-b of two measures."""
        pair = self.overall[one], self.overall[other]
        return float("nan") if np.isnan(pair).any() else kendall_tau_b(*pair)

    def tau_interval(self, one: str, other: str) -> tuple[float, float]:
        """Return its 95 % bootstrap interval over topics; NaN where there are too few, or a value is undefined."""
        pair = self.by_topic[one], self.by_topic[other]
        if pair[0].shape[1] < FEWEST_TOPICS or np.isnan(pair).any():
            return float("nan"), float("nan")
        return bootstrap_interval(*pair, resamples=RESAMPLES, rng=np.random.default_rng(SEED))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """MSU of every system for many populations.

    Attributes
    ----------
    msu, per_second : (away, session, lateness, systems) ndarray of float
        MSU and MSU per second, along `AWAY_SECONDS`, `SESSION_SECONDS`, `LATENESSES`.
    """

    msu: Floats
    per_second: Floats

    def best(self, system: int) -> tuple[int, tuple[int, int, int]]:
        """Return a system's best rank and where it has it: of several places that of highest MSU."""
        ranks = 1 + (self.msu > self.msu[..., system][..., None]).sum(axis=-1)
        own = np.where(ranks == ranks.min(), self.msu[..., system], -np.inf)
        away, session, lateness = np.unravel_index(int(own.argmax()), own.shape)
        return int(ranks.min()), (int(away), int(session), int(lateness))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PushScores:
    """Pairs of streams as push notifications.

    Attributes
    ----------
    scored : Scored
        By the measures of push notifications, and by the two ends of T11U, ``gain`` and ``pain``.
    converted : bool
        Whether the judgments were made for events.
    empty : mapping of str to float
        Measure -> what `EMPTY` scores.
    tau_over_alpha, tau_low, tau_high : (alphas,) ndarray of float
        Kendall's tau of T11U with ELG-1 along `ALPHAS`, and its interval; NaN without.
    """

    scored: Scored
    converted: bool
    empty: Mapping[str, float]
    tau_over_alpha: Floats
    tau_low: Floats
    tau_high: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamScores:
    """Everything about the streams of a task.

    Attributes
    ----------
    pushes : PushScores or None
        None where people visited streams and judged no pairs.
    updates : Scored or None
        By the measures of updates about events; None for push notifications without texts.
    updates_converted : bool
        Whether the judgments were made for push notifications.
    sweep : Sweep or None
        MSU for many populations.
    population : Population
        The people of "MSU".
    lateness : float
        Theirs.
    is_fitted : bool
        Whether they are the user model's.
    """

    pushes: PushScores | None
    updates: Scored | None
    updates_converted: bool
    sweep: Sweep | None
    population: Population
    lateness: float
    is_fitted: bool


def stream_scores(sources: TaskSources, model: UserModel | None) -> StreamScores:
    """Score the streams of a task by everything that the figures show.

    Parameters
    ----------
    sources : TaskSources
        Of a task of pairs of streams or of visits to streams.
    model : UserModel or None
        Who visits; the paper's reasonable population where it says nothing.

    Raises
    ------
    InputError
        If a file is faulty, or cannot be converted.
    """
    population, lateness, is_fitted = _people(model)
    files = read_stream_files(sources) if sources.kind == PAIRS_KIND else None
    streams = _visited(sources) if files is None else _as_updates(files)
    updates = None if streams is None else _scored_updates(streams, population, lateness)
    return StreamScores(
        pushes=None if files is None or files.pushes is None else _push_scores(files.pushes, files.push_runs),
        updates=updates,
        updates_converted=streams is not None and streams.events.converted_from is not None,
        sweep=None if streams is None else _swept(streams),
        population=population,
        lateness=lateness,
        is_fitted=is_fitted,
    )


class _Updates(NamedTuple):
    """Judged events and what the systems told of them."""

    events: EventCollection
    runs: Sequence[UpdateRun]


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


def _push_scores(collection: PushCollection, runs: Sequence[PushRun]) -> PushScores:
    scored = _scored(push_scores(collection, runs, _push_measures()), [run.name for run in runs])
    empty = PushRun(name=EMPTY, topics=(), tweets=(), epochs=np.zeros(0, dtype=np.int64))
    nothing = push_scores(collection, [empty], [ELG(), ELG(silent_days=0), NCG(), NCG(silent_days=0)])
    tau, low, high = _tau_over_alpha(scored)
    return PushScores(
        scored=scored,
        converted=collection.converted_from is not None,
        empty={score.metric: score.value for score in nothing if score.topic == ALL},
        tau_over_alpha=tau,
        tau_low=low,
        tau_high=high,
    )


def _push_measures() -> dict[str, PushMeasure]:
    """Return the measures by what the figures call them; gain and pain are the ends of T11U."""
    return {
        "ELG-1": ELG(silent_days=1),
        "ELG-0": ELG(silent_days=0),
        "nCG-1": NCG(silent_days=1),
        "nCG-0": NCG(silent_days=0),
        "T11U": T11U(alpha=DEFAULT_ALPHA),
        "silence-precision": SilencePrecision(),
        "silence-recall": SilenceRecall(),
        "gain": T11U(alpha=1.0),
        "pain": T11U(alpha=0.0),
    }


def _scored_updates(streams: _Updates, population: Population, lateness: float) -> Scored:
    scores = update_scores(*streams, [ExpectedLatencyGain(), LatencyComprehensiveness(), UpdateCount()])
    users = SimulatedUsers(population=population, count=USERS, seed=SEED)
    measures = {"MSU": MSU(lateness=lateness), "MSU/s": MSUPerSecond(lateness=lateness)}
    scores += msu_scores(*streams, measures, users)
    return _scored(scores, [run.name for run in streams.runs])


def _scored(scores: Sequence[Score], systems: list[str]) -> Scored:
    metrics = dict.fromkeys(score.metric for score in scores)
    topics = list(dict.fromkeys(score.topic for score in scores if score.topic != ALL))
    value = {(score.metric, score.run, score.topic): score.value for score in scores}
    return Scored(
        systems=tuple(systems),
        overall={one: np.array([value[one, name, ALL] for name in systems]) for one in metrics},
        by_topic={
            one: np.array([[value[one, name, topic] for topic in topics] for name in systems])
            for one in metrics
        },
    )


def _tau_over_alpha(pushes: Scored) -> tuple[Floats, Floats, Floats]:
    """Return tau of T11U and ELG-1 along `ALPHAS`: alpha G - (1 - alpha) N is a mixture of its two ends."""
    found = []
    for alpha in ALPHAS:
        mixed = Scored(
            systems=pushes.systems,
            overall=_mixed(pushes.overall, alpha),
            by_topic=_mixed(pushes.by_topic, alpha),
        )
        found.append((mixed.tau("ELG-1", "T11U"), *mixed.tau_interval("ELG-1", "T11U")))
    tau, low, high = np.array(found).T
    return tau, low, high


def _mixed(values: Mapping[str, Floats], alpha: float) -> dict[str, Floats]:
    return {"ELG-1": values["ELG-1"], "T11U": alpha * values["gain"] + (1 - alpha) * values["pain"]}


def _people(model: UserModel | None) -> tuple[Population, float, bool]:
    """Return the model's population and lateness decay; the paper's where it lacks the one or the other."""
    decay = None if model is None else lateness_decay(model)
    lateness = REASONABLE_LATENESS if decay is None else decay
    people = {} if model is None else stream_people(model)
    if not {"away_mean_seconds", "session_mean_seconds"} <= set(people):
        return REASONABLE, lateness, False
    return clipped_population(asdict(REASONABLE) | people), lateness, True


def _swept(streams: _Updates) -> Sweep:
    """Score MSU and MSU per second for every population of the sweep; the users differ by it alone."""
    measures: dict[str, StreamMeasure] = {}
    for number, lateness in enumerate(LATENESSES):
        measures |= {
            f"msu {number}": MSU(lateness=lateness),
            f"rate {number}": MSUPerSecond(lateness=lateness),
        }
    systems = [run.name for run in streams.runs]
    shape = (len(AWAY_SECONDS), len(SESSION_SECONDS), len(LATENESSES), len(systems))
    msu, rate = np.zeros(shape), np.zeros(shape)
    for i, away in enumerate(AWAY_SECONDS):
        for j, session in enumerate(SESSION_SECONDS):
            population = Population(
                away_mean_seconds=away,
                away_sd_seconds=SPREAD * away,
                session_mean_seconds=session,
                session_sd_seconds=SPREAD * session,
            )
            users = SimulatedUsers(population=population, count=SWEEP_USERS, seed=SEED)
            scored = _scored(msu_scores(*streams, measures, users), systems).overall
            for number in range(len(LATENESSES)):
                msu[i, j, number], rate[i, j, number] = scored[f"msu {number}"], scored[f"rate {number}"]
    return Sweep(msu=msu, per_second=rate)


MEASURE_NAMES: Mapping[str, str] = MappingProxyType(
    {"silence-precision": "silence precision", "silence-recall": "silence recall"}
)
"""What a measure is called on an axis, where it is not its column."""
