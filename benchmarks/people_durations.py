"""Studies of people outside the model of durations: tables, and truth.

Written apart from the package's own simulators, so that a fault in one is not also in the other.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd

DAY = 86_400.0
MEAN = DAY
SESSION = 180.0
Law = Callable[[int, np.random.Generator], np.ndarray]
Pace = Callable[[np.ndarray, np.random.Generator], Callable[[np.ndarray], np.ndarray]]


@dataclass(frozen=True, kw_only=True)
class People:
    """Behaviour of the people of a regime.

    Attributes
    ----------
    means : callable
        Size, generator -> everybody's mean time away, in units of `MEAN`.
    pace : callable, optional
        Days, generator -> by how much times (days since the study began) speed everybody up.
    daily : bool
        They come once a day at an hour of their own, or not, so that the mean time away is as it is.
    leaving : float
        Share of people who are gone for good from a uniform time on.
    correlation : float
        Of the logarithms of a person's mean time away and mean session (both log-normal with deviation = mean).
    within : float
        Shape of the gamma law of a person's times; 1 is exponential, below 1 they come in bursts, above it evenly.
    bots : int
        So many of the workers are programs that come every ten minutes; M and S are of the others.
    enrolled_by : float
        Share of the study over which people enrol, evenly.
    split : float
        Share of the sessions that a phone call of 2 to 15 minutes cuts in two.
    shrinking : float
        Days in which sessions become half as long; 0: never.
    causes : frozenset of str
        Names under which a warning says why an interval misses.
    """

    means: Law
    pace: Pace | None = None
    daily: bool = False
    leaving: float = 0.0
    correlation: float | None = None
    within: float = 1.0
    bots: int = 0
    enrolled_by: float = 0.0
    split: float = 0.0
    shrinking: float = 0.0
    causes: frozenset[str] = frozenset()

    @property
    def is_of_sessions(self) -> bool:
        """Whether sessions are what differs from the model."""
        return self.correlation is not None or bool(self.split or self.shrinking)


def log_normal(sd: float = 1.0) -> Law:
    """Mean 1."""
    variance = math.log1p(sd**2)
    return lambda size, rng: np.exp(rng.normal(-variance / 2, math.sqrt(variance), size))


def gamma(shape: float) -> Law:
    """Mean 1."""
    return lambda size, rng: rng.standard_gamma(shape, size) / shape


def uniform(low: float) -> Law:
    """From low to 2 - low."""
    return lambda size, rng: rng.uniform(low, 2 - low, size)


def heavy(sigma: float) -> Law:
    """Student's t with 3 degrees of freedom on the log scale, cut at a hundred medians."""
    return lambda size, rng: np.exp(np.clip(sigma * rng.standard_t(3, size), -4.6, 4.6)) / 2


def inverse_gamma(shape: float) -> Law:
    """Rates of coming back are gamma with this shape, so means have a power tail."""
    return lambda size, rng: (shape - 1) / rng.standard_gamma(shape, size)


def two_kinds(low: float, high: float, share: float = 0.5) -> Law:
    """This share of the people is of the first kind."""
    return lambda size, rng: np.where(rng.random(size) < share, low, high)


def beyond_a_day(sd: float) -> Law:
    """A day and more, for people who come at most once a day."""
    return lambda size, rng: 1 + log_normal(sd)(size, rng)


def common_days(sd: float) -> Pace:
    """Everybody's rate differs from day to day."""

    def pace(days: np.ndarray, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
        effect = np.exp(rng.normal(0, sd, int(days[-1]) + 2))
        return lambda at: effect[np.asarray(at).astype(int)]

    return pace


def fading(half_life_days: float) -> Pace:
    """Everybody's rate falls by half in so many days."""
    return lambda _days, _rng: lambda at: 0.5 ** (np.asarray(at) / half_life_days)


def day_and_night(height: float) -> Pace:
    """Everybody's rate goes up and down within a day."""
    return lambda _days, _rng: lambda at: 1 + height * np.cos(2 * math.pi * (np.asarray(at) - 0.8))


SHORT, HEAVY, KINDS, DAYS, FADES, REGULAR, GONE, BOTH, SPLIT, SHRINK = (
    frozenset({name})
    for name in (
        "short_tails",
        "heavy_tails",
        "two_kinds_of_people",
        "days_differ",
        "interest_fades",
        "regular_visits",
        "drop_outs",
        "away_and_session",
        "split_sessions",
        "sessions_shrink",
    )
)
PEOPLE: Mapping[str, People] = MappingProxyType(
    {
        "as the model says": People(means=log_normal()),
        "as the model says, S = M / 2": People(means=log_normal(0.5)),
        "means gamma, shape 1": People(means=gamma(1), causes=SHORT),
        "means gamma, shape 2": People(means=gamma(2), causes=SHORT),
        "means uniform, .05 to 1.95": People(means=uniform(0.05), causes=SHORT),
        "means uniform, .3 to 1.7": People(means=uniform(0.3), causes=SHORT),
        "means uniform, .5 to 1.5": People(means=uniform(0.5), causes=SHORT),
        "means heavy-tailed, sigma .7": People(means=heavy(0.7), causes=HEAVY),
        "means heavy-tailed, sigma .5": People(means=heavy(0.5), causes=HEAVY),
        "rates gamma, shape 2.5": People(means=inverse_gamma(2.5), causes=HEAVY),
        "rates gamma, shape 3": People(means=inverse_gamma(3), causes=HEAVY),
        "rates gamma, shape 4": People(means=inverse_gamma(4), causes=HEAVY),
        "rates gamma, shape 6": People(means=inverse_gamma(6), causes=HEAVY),
        "two kinds, .25 and 1.75": People(means=two_kinds(0.25, 1.75), causes=KINDS),
        "two kinds, .5 and 1.5": People(means=two_kinds(0.5, 1.5), causes=KINDS),
        "habits, once a day": People(means=beyond_a_day(1.0), daily=True, causes=REGULAR),
        "habits, once a day, people alike": People(means=beyond_a_day(0.5), daily=True, causes=REGULAR),
        "common days, sd .5": People(means=log_normal(), pace=common_days(0.5), causes=DAYS),
        "common days, sd .3": People(means=log_normal(), pace=common_days(0.3), causes=DAYS),
        "fading, half in 4 days": People(means=log_normal(), pace=fading(4), causes=FADES),
        "fading, half in 7 days": People(means=log_normal(), pace=fading(7), causes=FADES),
        "day and night, .8": People(
            means=log_normal(), pace=day_and_night(0.8), causes=frozenset({"hours_differ"})
        ),
        "bursts, gamma intervals of shape .5": People(
            means=log_normal(), within=0.5, causes=frozenset({"uneven_visits"})
        ),
        "evenly, gamma intervals of shape 2": People(means=log_normal(), within=2.0, causes=REGULAR),
        "drop-outs, 10 %": People(means=log_normal(), leaving=0.1, causes=GONE),
        "drop-outs, 20 %": People(means=log_normal(), leaving=0.2, causes=GONE),
        "drop-outs, 30 %": People(means=log_normal(), leaving=0.3, causes=GONE),
        "away and session, -.8": People(means=log_normal(), correlation=-0.8, causes=BOTH),
        "away and session, .8": People(means=log_normal(), correlation=0.8, causes=BOTH),
        "away and session, .5": People(means=log_normal(), correlation=0.5, causes=BOTH),
        "away and session, 0": People(means=log_normal(), correlation=0.0),
        "a third of the sessions split": People(means=log_normal(), split=1 / 3, causes=SPLIT),
        "half of the sessions split": People(means=log_normal(), split=0.5, causes=SPLIT),
        "sessions shrink, half in 3 days": People(means=log_normal(), shrinking=3, causes=SHRINK),
        "sessions shrink, half in 6 days": People(means=log_normal(), shrinking=6, causes=SHRINK),
    }
)


def truth_of(people: People) -> tuple[float, float]:
    """M and S of times away in seconds, from a million people."""
    means = people.means(1_000_000, np.random.default_rng(0)) * MEAN
    return float(means.mean()), float(means.std())


def tables(people: People, workers: int, days: float, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Draw a study in which all enrol at once and follow one topic."""
    means = people.means(workers, rng)
    means[: people.bots] = 1 / 144
    sessions = SESSION * np.exp(_session_logs(people, means, rng))
    pace = people.pace(np.array([0.0, days]), rng) if people.pace else None
    leaves = np.where(rng.random(workers) < people.leaving, rng.uniform(0, days, workers), days)
    visits = []
    begun = rng.uniform(0, people.enrolled_by * days, workers) if people.enrolled_by else np.zeros(workers)
    for worker, (mean, length, until) in enumerate(zip(means, sessions, leaves, strict=True)):
        draw = _moments(people, mean, days, pace, rng)
        end = float(begun[worker])
        for at in draw:
            if end < at < until:
                shrunk = 0.5 ** ((at - begun[worker]) / people.shrinking) if people.shrinking else 1.0
                for start, end in _parts(at, rng.exponential(length * shrunk) / DAY, people.split, rng):
                    reason = "left" if end < days else "study_end"
                    if start < days:
                        visits.append((f"P{worker}", start * DAY, min(end, days) * DAY, reason))
    return _typed(visits, begun, days)


def _parts(at: float, length: float, split: float, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Start and end of a session, or of both its parts around a call."""
    if not split or rng.random() >= split:
        return [(at, at + length)]
    first, call = length * rng.random(), rng.uniform(120, 900) / DAY
    return [(at, at + first), (at + first + call, at + length + call)]


def _session_logs(people: People, means: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Logs of mean sessions over their mean, of deviation = mean."""
    sigma = math.sqrt(math.log(2))
    own = rng.standard_normal(len(means))
    if people.correlation is not None:
        with_away = (np.log(means) + sigma**2 / 2) / sigma
        own = people.correlation * with_away + math.sqrt(1 - people.correlation**2) * own
    return sigma * own - sigma**2 / 2


def _moments(
    people: People,
    mean: float,
    days: float,
    pace: Callable[[np.ndarray], np.ndarray] | None,
    rng: np.random.Generator,
) -> np.ndarray:
    if people.daily:
        return _daily(mean, days, rng)
    if people.within == 1:
        return _poisson(mean, days, pace, rng)
    times = rng.standard_gamma(people.within, 50 + int(20 * days / mean)) * mean / people.within
    at = np.cumsum(times) - 10 * mean  # begun long before
    return at[(at > 0) & (at < days)]


def _poisson(
    mean: float, days: float, pace: Callable[[np.ndarray], np.ndarray] | None, rng: np.random.Generator
) -> np.ndarray:
    """Moments in days at which somebody comes, by thinning."""
    most = 1.0 if pace is None else float(pace(np.linspace(0, days, 2000)).max())
    at = np.sort(rng.uniform(0, days, rng.poisson(days * most / mean)))
    return at if pace is None else at[rng.random(len(at)) < pace(at) / most]


def _daily(mean: float, days: float, rng: np.random.Generator) -> np.ndarray:
    """Moments in days: at one's own hour, half an hour more or less, on a share 1 / mean of the days."""
    at = rng.random() + np.arange(-1, int(days) + 1) + rng.normal(0, 0.5 / 24, int(days) + 2)
    at = np.sort(at[rng.random(len(at)) < 1 / mean])
    return at[(at > 0) & (at < days)]


def _typed(
    visits: list[tuple[str, float, float, str]], begun: np.ndarray, days: float
) -> dict[str, pd.DataFrame]:
    origin = pd.Timestamp("2026-03-02T00:00:00Z")

    def moment(seconds: "pd.Series[float]") -> "pd.Series[pd.Timestamp]":
        return origin + pd.to_timedelta((seconds * 1000).round().astype("int64"), unit="ms")

    rows = pd.DataFrame(visits, columns=["worker", "start", "end", "end_reason"])
    rows = rows.assign(
        topic="E1", system="A", visit=rows.groupby("worker").cumcount() + 1, entry="own",
        start=moment(rows["start"]), end=moment(rows["end"]),
    )  # fmt: skip
    follows = pd.DataFrame(
        {"worker": [f"P{number}" for number in range(len(begun))], "topic": "E1", "system": "A"}
    )
    ends = origin + pd.Timedelta(days=days)
    return {
        "visits": rows,
        "follows": follows.assign(
            started_at=moment(pd.Series(begun * DAY)), ended_at=ends, last_seen_at=ends
        ),
    }
