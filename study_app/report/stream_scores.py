"""Scores of the streams of a task, for the report's figures on them: every system by every measure and in every topic.

Of a collection's two forms, push notifications and updates about events, one is made of the other by `metrics.convert`;
what comes of it is marked as converted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from calibration.msu_variants import REASONABLE, REASONABLE_LATENESS
from calibration.stream_files import StreamFiles, read_stream_files
from calibration.study_sources import TaskSources
from calibration.user_model import UserModel
from metrics.correlation import bootstrap_interval, kendall_tau_b
from metrics.push import ELG, NCG, T11U, SilencePrecision, SilenceRecall, push_scores
from metrics.push_streams import PushRun
from metrics.results import ALL, Score
from metrics.stream import MSU, MSUPerSecond, Population, SimulatedUsers, StreamMeasure, msu_scores
from metrics.stream_trails import RANGES
from metrics.tempsum import ExpectedLatencyGain, LatencyComprehensiveness, UpdateCount, update_scores

Floats = NDArray[np.float64]

PAIRS_KIND = "stream_pairs"
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
RESAMPLES = 500
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
class StreamScores:
    """Everything about the streams of a task.

    Attributes
    ----------
    pushes, updates : Scored or None
        By the measures of push notifications, and of updates about events; None where there is no such form.
    pushes_converted, updates_converted : bool
        Whether the judgments were made for the other kind of collection.
    empty : mapping of str to float
        Push measure -> what `EMPTY` scores.
    tau_over_alpha, tau_low, tau_high : (alphas,) ndarray of float
        Kendall's tau of T11U with ELG-1 along `ALPHAS`, and its interval; NaN without.
    sweep : Sweep or None
        MSU for many populations.
    population : Population
        The people of "MSU".
    lateness : float
        Theirs.
    is_fitted : bool
        Whether they are the user model's.
    """

    pushes: Scored
    updates: Scored | None
    pushes_converted: bool
    updates_converted: bool
    empty: Mapping[str, float]
    tau_over_alpha: Floats
    tau_low: Floats
    tau_high: Floats
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
    days = sources.protocol.get("days")
    kept = {"days": days} if isinstance(days, (list, tuple)) else {}
    files = read_stream_files(replace(sources, kind=PAIRS_KIND, protocol=kept))
    pushes = _scored_pushes(files)
    empty = PushRun(name=EMPTY, topics=(), tweets=(), epochs=np.zeros(0, dtype=np.int64))
    nothing = push_scores(files.pushes, [empty], [ELG(), ELG(silent_days=0), NCG(), NCG(silent_days=0)])
    population, lateness, is_fitted = _people(model)
    updates = _scored_updates(files, population, lateness)
    tau, low, high = _tau_over_alpha(pushes)
    return StreamScores(
        pushes=pushes,
        updates=updates,
        pushes_converted=files.pushes.converted_from is not None,
        updates_converted=files.events is not None and files.events.converted_from is not None,
        empty={score.metric: score.value for score in nothing if score.topic == ALL},
        tau_over_alpha=tau,
        tau_low=low,
        tau_high=high,
        sweep=None if updates is None else _swept(files),
        population=population,
        lateness=lateness,
        is_fitted=is_fitted,
    )


def _scored_pushes(files: StreamFiles) -> Scored:
    measures = [
        ELG(silent_days=1),
        ELG(silent_days=0),
        NCG(silent_days=1),
        NCG(silent_days=0),
        T11U(alpha=DEFAULT_ALPHA),
        SilencePrecision(),
        SilenceRecall(),
    ]
    labels = {one.column.partition("@")[0]: one for one in measures}
    labels |= {"gain": T11U(alpha=1.0), "pain": T11U(alpha=0.0)}
    return _scored(push_scores(files.pushes, files.push_runs, labels), [run.name for run in files.push_runs])


def _scored_updates(files: StreamFiles, population: Population, lateness: float) -> Scored | None:
    if files.events is None:
        return None
    scores = update_scores(
        files.events, files.update_runs, [ExpectedLatencyGain(), LatencyComprehensiveness(), UpdateCount()]
    )
    users = SimulatedUsers(population=population, count=USERS, seed=SEED)
    measures = {"MSU": MSU(lateness=lateness), "MSU/s": MSUPerSecond(lateness=lateness)}
    scores += msu_scores(files.events, files.update_runs, measures, users)
    return _scored(scores, [run.name for run in files.update_runs])


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
    known = {} if model is None else model.parameters
    found = {
        name: entry.estimate
        for name, entry in known.items()
        if name in RANGES and entry.estimate is not None and "character" not in entry.unit
    }
    decay = known["lateness_decay"].estimate if "lateness_decay" in known else None
    lateness = REASONABLE_LATENESS if decay is None else decay
    if not {"away_mean_seconds", "session_mean_seconds"} <= set(found):
        return REASONABLE, lateness, False
    people: dict[str, float] = {name: getattr(REASONABLE, name) for name in RANGES} | found
    return (
        Population(**{name: float(np.clip(value, *RANGES[name])) for name, value in people.items()}),
        lateness,
        True,
    )


def _swept(files: StreamFiles) -> Sweep:
    """Score MSU and MSU per second for every population of the sweep; the users differ by it alone."""
    if files.events is None:
        raise TypeError("there are no events")
    measures: dict[str, StreamMeasure] = {}
    for number, lateness in enumerate(LATENESSES):
        measures |= {
            f"msu {number}": MSU(lateness=lateness),
            f"rate {number}": MSUPerSecond(lateness=lateness),
        }
    systems = [run.name for run in files.update_runs]
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
            scored = _scored(msu_scores(files.events, files.update_runs, measures, users), systems).overall
            for number in range(len(LATENESSES)):
                msu[i, j, number], rate[i, j, number] = scored[f"msu {number}"], scored[f"rate {number}"]
    return Sweep(msu=msu, per_second=rate)


MEASURE_NAMES: Mapping[str, str] = MappingProxyType(
    {"silence-precision": "silence precision", "silence-recall": "silence recall"}
)
"""What a measure is called on an axis, where it is not its column."""
