"""A generator of follows, visits and prompts: workers of a known population follow streams, and studies disturb them.

A worker has a mean time away A and a mean session length D, drawn once whatever the number of topics. A session that
the follow's end cuts is in the tables with end_reason ``study_end``. The simulator of the MSU paper's authors does not
begin a session that would not fit; ``unfitting="not_begun"`` does as they do, and the last time away then runs to the
end. With sessions of minutes and a window of days nobody can tell the two apart.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from calibration.simulate import Tables
from calibration.stays import Bools
from calibration.table_definition import DTYPES, Table
from calibration.tables import TABLES
from calibration.uncertainty import Floats
from metrics.stream import Population

Between: TypeAlias = Literal["log_normal", "inverse_gamma", "two_point"]
Within: TypeAlias = Literal["exponential", "weibull", "gamma", "log_normal"]

ORIGIN = pd.Timestamp("2026-03-02T00:00:00Z")
_BLOCK = 16
_MOST_VISITS = 1_000_000
_ANSWER_SECONDS = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Diary:
    """How a study watches its workers, and what disturbs it.

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


class _Follow(NamedTuple):
    """One follow's visits (v,) and prompts (p,), in wall seconds since the study began."""

    started: float
    ended: float
    start: Floats
    end: Floats
    reason: list[str]
    entry: list[str]
    prompts: Floats


def simulate_visits(population: Population, diary: Diary, rng: np.random.Generator) -> Tables:
    """Draw tables follows, visits and prompts.

    Parameters
    ----------
    population : Population
        M_A, S_A (stream seconds), M_D, S_D (seconds). What it says of reading speed is not used.
    diary : Diary
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
    follows = [
        (f"W{worker:05d}", f"E{topic:02d}", _follow(away[worker] / diary.factor, session[worker], diary, rng))
        for worker in range(diary.workers)
        for topic in range(diary.topics)
    ]
    return {
        "follows": _follow_table(follows),
        "visits": _visit_table(follows),
        "prompts": _prompt_table(follows),
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


def _unit_times(size: int, law: Within, shape: float, rng: np.random.Generator) -> Floats:
    """Draw times with mean 1."""
    if law == "weibull":
        return rng.weibull(shape, size) / math.gamma(1 + 1 / shape)
    if law == "gamma":
        return rng.standard_gamma(shape, size) / shape
    if law == "log_normal":
        return np.exp(rng.normal(-(shape**2) / 2, shape, size))
    return rng.standard_exponential(size)


def _follow(away: float, session: float, diary: Diary, rng: np.random.Generator) -> _Follow:
    length = diary.days * 86400
    started = rng.random() * diary.late_by * length
    ended = length
    if rng.random() < diary.withdrawn:
        ended = started + rng.random() * (length - started)
    leaves = started + rng.random() * (length - started) if rng.random() < diary.dropping_out else math.inf
    begins = rng.random() < diary.enrol_by_visit and math.isfinite(away)
    course = _course(started, ended, (away, session), diary, rng, begins=begins)
    fits = (course.end <= ended) | (diary.unfitting == "cut")
    course = course.where((course.start < min(ended, leaves)) & fits)
    opens = np.ones(len(course.start), dtype=bool)
    opens[1:] = course.start[1:] - course.end[:-1] >= diary.gap_seconds
    closes = np.roll(opens, -1)
    first, last = course.where(opens), course.where(closes)
    reason = np.where(last.end > ended, "study_end", np.where(last.exhausted, "exhausted", "left"))
    end = np.minimum(last.end, ended)
    asked = np.append(started, end) + diary.remind_after_seconds
    return _Follow(
        started=started,
        ended=ended,
        start=first.start,
        end=end,
        reason=reason.tolist(),
        entry=np.where(first.prompted, "reminder", "own").tolist(),
        prompts=asked[asked < np.append(first.start, ended)],
    )


class _Course(NamedTuple):
    """Sessions as they would be without an end: start, end (s,); whether material ended it, a reminder began it."""

    start: Floats
    end: Floats
    exhausted: Bools
    prompted: Bools

    def where(self, which: Bools) -> "_Course":
        return _Course(self.start[which], self.end[which], self.exhausted[which], self.prompted[which])


def _course(
    started: float,
    ended: float,
    means: tuple[float, float],
    diary: Diary,
    rng: np.random.Generator,
    *,
    begins: bool,
) -> _Course:
    """Return every session that begins before the end, and some more."""
    away_mean, session_mean = means
    courses: list[_Course] = []
    at = started
    while at < ended and math.isfinite(away_mean):
        away = away_mean * _unit_times(_BLOCK, diary.within, diary.within_shape, rng)
        if begins and not courses:
            away[0] = 0.0
        answered = diary.remind_after_seconds + rng.exponential(_ANSWER_SECONDS, _BLOCK)
        prompted = (rng.random(_BLOCK) < diary.reminder_works) & (answered < away)
        wanted = session_mean * rng.standard_exponential(_BLOCK)
        material = wanted + 1
        if math.isfinite(diary.material_seconds):
            material = rng.exponential(diary.material_seconds, _BLOCK)
        steps = np.stack([np.where(prompted, answered, away), np.minimum(wanted, material)], axis=1)
        times = at + np.cumsum(steps)
        courses.append(_Course(times[::2], times[1::2], material < wanted, prompted))
        at = float(times[-1])
        if len(courses) * _BLOCK > _MOST_VISITS:
            raise ValueError("a worker would make more than a million visits; choose longer times away")
    if not courses:
        nothing = np.zeros(0)
        return _Course(nothing, nothing, nothing > 0, nothing > 0)
    return _Course(*(np.concatenate(part) for part in zip(*courses, strict=True)))


_Named: TypeAlias = list[tuple[str, str, _Follow]]


def _follow_table(follows: _Named) -> pd.DataFrame:
    rows = pd.DataFrame(
        {
            "worker": [worker for worker, _, _ in follows],
            "topic": [topic for _, topic, _ in follows],
            "system": "A",
            "started_at": _times([one.started for *_, one in follows]),
            "ended_at": _times([one.ended for *_, one in follows]),
            "last_seen_at": _times([one.end[-1] if len(one.end) else one.started for *_, one in follows]),
        }
    )
    return _typed(rows, TABLES["follows"])


def _visit_table(follows: _Named) -> pd.DataFrame:
    counts = [len(one.start) for *_, one in follows]
    rows = pd.DataFrame(
        {
            "worker": np.repeat([worker for worker, _, _ in follows], counts),
            "topic": np.repeat([topic for _, topic, _ in follows], counts),
            "system": "A",
            "visit": [number for count in counts for number in range(1, count + 1)],
            "start": _times(np.concatenate([one.start for *_, one in follows])),
            "end": _times(np.concatenate([one.end for *_, one in follows])),
            "end_reason": [reason for *_, one in follows for reason in one.reason],
            "entry": [entry for *_, one in follows for entry in one.entry],
        }
    )
    return _typed(rows, TABLES["visits"])


def _prompt_table(follows: _Named) -> pd.DataFrame:
    counts = [len(one.prompts) for *_, one in follows]
    rows = pd.DataFrame(
        {
            "worker": np.repeat([worker for worker, _, _ in follows], counts),
            "topic": np.repeat([topic for _, topic, _ in follows], counts),
            "sent_at": _times(np.concatenate([one.prompts for *_, one in follows])),
        }
    )
    return _typed(rows, TABLES["prompts"])


def _times(seconds: Floats | list[float]) -> pd.DatetimeIndex:
    """Return wall times; rounded down to milliseconds, so that order is kept."""
    milliseconds = np.floor(np.asarray(seconds, dtype=np.float64) * 1000)
    return ORIGIN + pd.to_timedelta(milliseconds.astype(np.int64), unit="ms")


def _typed(rows: pd.DataFrame, table: Table) -> pd.DataFrame:
    """Return rows with every column of the table in its type, unchecked: thousands of studies are drawn for a test."""
    return rows.reindex(columns=list(table.column_names)).astype({c.name: DTYPES[c.kind] for c in table.columns})
