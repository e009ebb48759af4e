"""Simulator of follows, visits and prompts of workers of a known population.

Options add the disturbances of real studies. A worker has a mean time away A and a mean session length D, drawn once whatever the number of
topics. A session that the follow's end cuts is in the tables with end_reason ``study_end``. The simulator of the MSU paper's authors does
not begin a session that would not fit; ``unfitting="not_begun"`` does as they do, and the last time away then runs to the end. With
sessions of minutes and a window of days nobody can tell the two apart.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.exposure import Design, WorkerTotals
from calibration.models.durations.maximum import DurationMaximum, maximum
from calibration.tables.definition import DTYPES, Table, Tables
from calibration.tables.tables import TABLES
from metrics.arrays import Bools, Floats, Ints
from metrics.msu.trails import Population

Between: TypeAlias = Literal["log_normal", "inverse_gamma", "two_point"]
Within: TypeAlias = Literal["exponential", "weibull", "gamma", "log_normal"]

ORIGIN = pd.Timestamp("2026-03-02T00:00:00Z")
_DAY = 86400
_BLOCK = 16
_MAX_VISITS = 100_000
_ANSWER_SECONDS = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationDesign:
    """Design of a study: observation of its workers, and disturbances.

    Attributes
    ----------
    workers, topics : int
        How many workers, and how many streams each follows.
    days : float
        From the first enrolment to the end, in wall days.
    factor : float
        Stream seconds in a wall second.
    enrol_by_visit : float
        Share of follows whose enrolment is a first visit.
    late_by : float
        Enrolments are uniform over this share of the time.
    withdrawn : float
        Share of follows that end early, at a uniform time.
    dropping_out : float
        Share of follows whose worker silently leaves for good, at a uniform time.
    never_coming : float
        Share of workers who enrol and never come.
    material_seconds : float
        Mean of the exponential time that what is new takes to read; a session ends there as exhausted.
    remind_after_seconds : float
        Wall seconds without a visit after which a reminder is sent; inf: never.
    reminder_works : float
        Share of reminders that bring the worker, an hour later on average.
    gap_seconds : float
        Visits closer than that are in the tables as one.
    between, within : str
        Law of the workers' means, and of one worker's times away; the model has log_normal and exponential.
    within_shape : float
        Of one worker's times away: shape of a Weibull or gamma law, sigma of a log-normal one.
    unfitting : {'cut', 'not_begun'}
        What becomes of a session that does not fit.
    """

    workers: int = 100
    topics: int = 1
    days: float = 7.0
    factor: float = 1.0
    enrol_by_visit: float = 0.0
    late_by: float = 0.0
    withdrawn: float = 0.0
    dropping_out: float = 0.0
    never_coming: float = 0.0
    material_seconds: float = math.inf
    remind_after_seconds: float = math.inf
    reminder_works: float = 0.0
    gap_seconds: float = 0.0
    between: Between = "log_normal"
    within: Within = "exponential"
    within_shape: float = 1.0
    unfitting: Literal["cut", "not_begun"] = "cut"


class _Follows(NamedTuple):
    """Follows as columns, (f,) each, in wall seconds since the study began.

    ``leaves`` is the time of silent leaving, or inf.
    """

    worker: Ints
    topic: Ints
    started: Floats
    ended: Floats
    leaves: Floats
    by_visit: Bools


class _Sessions(NamedTuple):
    """Sessions by follow and time, (s,), with what began or ended them.

    Flags mark those that the material ended or a reminder began.
    """

    follow: Ints
    start: Floats
    end: Floats
    exhausted: Bools
    prompted: Bools

    def where(self, which: Bools | Ints) -> "_Sessions":
        return _Sessions(
            self.follow[which],
            self.start[which],
            self.end[which],
            self.exhausted[which],
            self.prompted[which],
        )


def simulate_visits(population: Population, diary: ObservationDesign, rng: np.random.Generator) -> Tables:
    """Draw tables follows, visits and prompts.

    Parameters
    ----------
    population : Population
        M_A, S_A (stream seconds), M_D, S_D (seconds). What it says of reading speed is not used.
    diary : ObservationDesign
        The study.
    rng : Generator
        Source of the draws.

    Returns
    -------
    dict of str to DataFrame
        follows, visits and prompts; the last may be empty.
    """
    away = personal_means(
        population.away_mean_seconds, population.away_sd_seconds, diary.workers, diary.between, rng
    )
    away[rng.random(diary.workers) < diary.never_coming] = math.inf
    session = personal_means(
        population.session_mean_seconds, population.session_sd_seconds, diary.workers, diary.between, rng
    )
    follows = _follows(diary, rng)
    drawn = _sessions(follows, away / diary.factor, session, diary, rng)
    fits = (drawn.end <= follows.ended[drawn.follow]) | (diary.unfitting == "cut")
    until = np.minimum(follows.ended, follows.leaves)[drawn.follow]
    sessions = drawn.where((drawn.start < until) & fits)
    opens = np.ones(len(sessions.start), dtype=bool)
    opens[1:] = np.diff(sessions.follow) > 0
    opens[1:] |= sessions.start[1:] - sessions.end[:-1] >= diary.gap_seconds
    return {
        "follows": _follow_table(follows, sessions),
        "visits": _visit_table(follows, sessions.where(opens), sessions.where(np.roll(opens, -1))),
        "prompts": _prompt_table(follows, sessions, diary.remind_after_seconds),
    }


def personal_means(mean: float, sd: float, size: int, law: Between, rng: np.random.Generator) -> Floats:
    """Draw personal means from a law with this mean and standard deviation.

    ``two_point`` has its lower point at a fifth of the mean.
    """
    if law == "inverse_gamma":
        shape = 2 + (mean / sd) ** 2
        return mean * (shape - 1) / rng.standard_gamma(shape, size)
    if law == "two_point":
        low = mean / 5
        share = (mean - low) ** 2 / (sd**2 + (mean - low) ** 2)
        return np.where(rng.random(size) < share, low + (mean - low) / share, low)
    variance = math.log1p((sd / mean) ** 2)
    return np.exp(rng.normal(math.log(mean) - variance / 2, math.sqrt(variance), size))


def _unit_times(size: tuple[int, int], law: Within, shape: float, rng: np.random.Generator) -> Floats:
    """Draw times with mean 1."""
    if law == "weibull":
        return rng.weibull(shape, size) / math.gamma(1 + 1 / shape)
    if law == "gamma":
        return rng.standard_gamma(shape, size) / shape
    if law == "log_normal":
        return np.exp(rng.normal(-(shape**2) / 2, shape, size))
    return rng.standard_exponential(size)


def _follows(diary: ObservationDesign, rng: np.random.Generator) -> _Follows:
    size, length = diary.workers * diary.topics, diary.days * _DAY
    started = rng.random(size) * diary.late_by * length
    rest = length - started
    withdraws, leaves, by_visit = (_shares(diary) > rng.random((3, size)).T).T
    return _Follows(
        worker=np.repeat(np.arange(diary.workers), diary.topics),
        topic=np.tile(np.arange(diary.topics), diary.workers),
        started=started,
        ended=np.where(withdraws, started + rng.random(size) * rest, length),
        leaves=np.where(leaves, started + rng.random(size) * rest, np.inf),
        by_visit=by_visit,
    )


def _shares(diary: ObservationDesign) -> tuple[float, float, float]:
    return diary.withdrawn, diary.dropping_out, diary.enrol_by_visit


def _sessions(
    follows: _Follows,
    away_mean: Floats,
    session_mean: Floats,
    diary: ObservationDesign,
    rng: np.random.Generator,
) -> _Sessions:
    """Return every session that begins before its follow ends, and some more.

    It draws a block for each follow at a time.
    """
    at = follows.started.copy()
    nothing, nobody = np.zeros(0), np.zeros(0, dtype=np.intp)
    blocks = [_Sessions(nobody, nothing, nothing, nothing > 0, nothing > 0)]
    going = np.flatnonzero(np.isfinite(away_mean[follows.worker]) & (at < follows.ended))
    while going.size:
        worker, shape = follows.worker[going], (going.size, _BLOCK)
        away = away_mean[worker][:, None] * _unit_times(shape, diary.within, diary.within_shape, rng)
        if len(blocks) == 1:
            away[follows.by_visit[going], 0] = 0.0
        answered = diary.remind_after_seconds + rng.exponential(_ANSWER_SECONDS, shape)
        prompted = (rng.random(shape) < diary.reminder_works) & (answered < away)
        lengths = session_mean[worker][:, None] * rng.standard_exponential(shape)
        material = np.full(shape, np.inf)
        if math.isfinite(diary.material_seconds):
            material = rng.exponential(diary.material_seconds, shape)
        steps = np.stack([np.where(prompted, answered, away), np.minimum(lengths, material)], axis=2)
        times = at[going, None, None] + np.cumsum(steps.reshape(going.size, -1), axis=1).reshape(steps.shape)
        follow, start, end = np.repeat(going, _BLOCK), times[..., 0].ravel(), times[..., 1].ravel()
        blocks.append(_Sessions(follow, start, end, (material < lengths).ravel(), prompted.ravel()))
        at[going] = times[:, -1, 1]
        going = going[at[going] < follows.ended[going]]
        if len(blocks) * _BLOCK > _MAX_VISITS:
            raise ValueError("a worker would make more than 100,000 visits; choose longer times away")
    sessions = _Sessions(*(np.concatenate(column) for column in zip(*blocks, strict=True)))
    return sessions.where(np.argsort(sessions.follow, kind="stable"))


def _follow_table(follows: _Follows, sessions: _Sessions) -> pd.DataFrame:
    seen = follows.started.copy()
    seen[sessions.follow] = np.minimum(sessions.end, follows.ended[sessions.follow])
    rows = _named(follows, np.arange(len(follows.worker))).assign(
        started_at=_times(follows.started), ended_at=_times(follows.ended), last_seen_at=_times(seen)
    )
    return _typed(rows, TABLES["follows"])


def _visit_table(follows: _Follows, first: _Sessions, last: _Sessions) -> pd.DataFrame:
    """Return the table of visits, given their first and last sessions."""
    ended = follows.ended[last.follow]
    number = np.arange(len(first.follow)) - np.searchsorted(first.follow, first.follow) + 1
    rows = _named(follows, first.follow).assign(
        visit=number,
        start=_times(first.start),
        end=_times(np.minimum(last.end, ended)),
        end_reason=np.where(last.end > ended, "study_end", np.where(last.exhausted, "exhausted", "left")),
        entry=np.where(first.prompted, "reminder", "own"),
    )
    return _typed(rows, TABLES["visits"])


def _prompt_table(follows: _Follows, sessions: _Sessions, after: float) -> pd.DataFrame:
    """Return the table of reminders, sent after silences of a given length.

    A silence begins at enrolment or at a visit.
    """
    follow = np.concatenate([np.arange(len(follows.worker)), sessions.follow])
    since = np.concatenate([follows.started, sessions.end])
    order = np.lexsort((since, follow))
    follow, since = follow[order], since[order]
    until = follows.ended[follow]
    until[np.flatnonzero(np.diff(follow) == 0)] = sessions.start  # what begins next in the same follow
    sent = since + after < until
    rows = _named(follows, follow[sent]).assign(sent_at=_times((since + after)[sent]))
    return _typed(rows, TABLES["prompts"])


def _named(follows: _Follows, which: Ints) -> pd.DataFrame:
    workers = np.array(
        [f"W{number:05d}" for number in range(int(follows.worker.max(initial=-1)) + 1)], dtype=object
    )
    topics = np.array(
        [f"E{number:02d}" for number in range(int(follows.topic.max(initial=-1)) + 1)], dtype=object
    )
    names = {"worker": workers[follows.worker[which]], "topic": topics[follows.topic[which]]}
    return pd.DataFrame(names).assign(system="A")


def _times(seconds: Floats) -> pd.DatetimeIndex:
    """Return wall times rounded down to milliseconds, so that order is kept."""
    milliseconds = np.floor(seconds * 1000)
    return ORIGIN + pd.to_timedelta(milliseconds.astype(np.int64), unit="ms")


def _typed(rows: pd.DataFrame, table: Table) -> pd.DataFrame:
    """Return rows with the table's columns and types, unchecked.

    A test draws thousands of studies.
    """
    return rows.reindex(columns=list(table.column_names)).astype(
        {c.name: DTYPES[c.kind] for c in table.columns}
    )


def simulate_totals(
    totals: WorkerTotals, mu: float, sigma: float, design: Design, rng: np.random.Generator
) -> WorkerTotals:
    """Draw n given T (window) or T given n (count) of each worker under the model.

    With zero truncation, workers who would not have been seen are drawn again.
    """
    if design == "count":
        theta = rng.normal(mu, sigma, len(totals))
        drawn = np.exp(theta) * rng.standard_gamma(totals.events)
        return WorkerTotals(events=totals.events, seconds=np.where(totals.events > 0, drawn, totals.seconds))
    events = _counts(totals.seconds, mu, sigma, rng)
    if totals.seen_by_seconds is not None:
        for _ in range(1000):
            unseen = (events == 0) & np.isfinite(totals.seen_by_seconds)
            if not unseen.any():
                break
            events[unseen] = _counts(totals.seconds[unseen], mu, sigma, rng)
    return WorkerTotals(events=events, seconds=totals.seconds, seen_by_seconds=totals.seen_by_seconds)


def _counts(seconds: Floats, mu: float, sigma: float, rng: np.random.Generator) -> Floats:
    rate = np.exp(-rng.normal(mu, sigma, len(seconds)))
    return rng.poisson(np.minimum(seconds * rate, 1e15)).astype(np.float64)


class Refit(NamedTuple):
    """Simulated study and its fit, or None where it has none."""

    totals: WorkerTotals
    top: DurationMaximum | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Refits:
    """Studies simulated under a fit and refitted, shared by all plots of the fit.

    Attributes
    ----------
    totals, top
        n and T of each worker, and their fit.
    design : {'window', 'count'}
        What is drawn given what.
    """

    totals: WorkerTotals
    top: DurationMaximum
    design: Design
    _known: dict[tuple[int, int], tuple[Refit, ...]] = field(default_factory=dict, init=False)

    def of(self, studies: int, seed: int) -> tuple[Refit, ...]:
        """Return a number of simulated studies with their fits."""
        if (studies, seed) not in self._known:
            self._known[studies, seed] = tuple(self._made(studies, np.random.default_rng(seed)))
        return self._known[studies, seed]

    def _made(self, studies: int, rng: np.random.Generator) -> Iterator[Refit]:
        start = self.top.mu, max(self.top.log_sigma, math.log(0.1))
        for _ in range(studies):
            drawn = simulate_totals(self.totals, self.top.mu, self.top.sigma, self.design, rng)
            try:
                yield Refit(drawn, maximum(drawn, start=start))
            except NotIdentifiedError:
                yield Refit(drawn, None)
