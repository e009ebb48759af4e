"""Visits and reading speeds of MSU's users: simulated, or given as trails.

Visits and streams are arrays, which the compiled loop of `metrics.msu.kernels` reads.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np
from scipy.special import gammaincinv, ndtr

from metrics.arrays import Floats, Ints
from metrics.errors import input_fault


class Trails(NamedTuple):
    """Visits of some users, in seconds since the start of a topic.

    Attributes
    ----------
    speed : (users,) ndarray of float64
        Words read in a second, > 0.
    first_visit : (users + 1,) ndarray of int64
        Visits ``first_visit[u]`` up to ``first_visit[u + 1]`` are user u's, in order of time.
    start, duration : (visits,) ndarray of float64
        When each visit begins, and how long it lasts. A user's first begins at 0.
    """

    speed: Floats
    first_visit: Ints
    start: Floats
    duration: Floats

    @property
    def most_visits(self) -> int:
        """Return the largest number of visits of a user."""
        return int(np.diff(self.first_visit).max(initial=0))


class Stream(NamedTuple):
    """Updates of a run on one topic, from the last shown to the first.

    Attributes
    ----------
    end : float
        The topic's length in seconds.
    emitted : (n,) ndarray of float64
        When each update came, in seconds since the topic's start.
    words : (n,) ndarray of float64
        How long each is.
    first_nugget : (n + 1,) ndarray of int64
        The nuggets of update u stand in ``nugget[first_nugget[u]:first_nugget[u + 1]]``.
    nugget : (m,) ndarray of int64
        Nuggets, as places in ``known``.
    known : (nuggets,) ndarray of float64
        When each nugget of the topic became known, in seconds since the topic's start.
    """

    end: float
    emitted: Floats
    words: Floats
    first_nugget: Ints
    nugget: Ints
    known: Floats


BLOCK_USERS = 1024
BLOCK_VISITS = 1_000_000
MAX_VISITS = 10_000_000
RANGES = {
    "away_mean_seconds": (1e-3, 1e10),
    "away_sd_seconds": (0.0, 1e10),
    "session_mean_seconds": (1e-3, 1e10),
    "session_sd_seconds": (0.0, 1e10),
    "reading_speed_mu": (-20.0, 20.0),
    "reading_speed_sigma": (0.0, 10.0),
}
"""Allowed range of each parameter of a population.

Each range is wide enough for any reader and narrow enough to keep every formula finite.
"""


CORRELATIONS = (-1.0, 1.0)
MeansLaw: TypeAlias = Literal["lognormal", "gamma"]
"""Law of the users' means: log-normal (the paper's), or gamma rates."""


class Users(Protocol):
    """Users that can be simulated in blocks repeatedly, the same for every system."""

    @property
    def ends_with_topic(self) -> bool:
        """True if visits that would end after the topic, and later ones, are left out."""

    def __len__(self) -> int:
        """Return the number of users."""

    def blocks(self, horizon_seconds: float) -> Iterator[Trails]:
        """Yield all users in order, a block at a time, with visits up to the horizon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """Laws of users: three log-normal ones, unless A or D follows gamma rates.

    Baruah, Smucker, Clarke (SIGIR 2015), section 3: with mean M and standard deviation S, sigma^2 = ln(1 + S^2 / M^2)
    and mu = ln M - sigma^2 / 2. The paper draws A and D independently; here they may be correlated.

    Attributes
    ----------
    away_mean_seconds, away_sd_seconds : float
        M_A and S_A of the users' mean times away.
    session_mean_seconds, session_sd_seconds : float
        M_D and S_D of the users' mean session lengths.
    reading_speed_mu, reading_speed_sigma : float
        Mean and standard deviation of ln(words read in a second); the default is Clarke and Smucker's.
    away_session_correlation : float
        Of the normal variables behind A and D; 0 in the paper.
    away_law, session_law : {'lognormal', 'gamma'}
        Of A and of D. ``gamma``: 1 / A is gamma with shape a = 2 + M^2 / S^2, so that A has this mean and deviation.

    Raises
    ------
    ValueError
        If a value is not in its range, see `RANGES`, the correlation not from -1 to 1, or a law has another name.

    Examples
    --------
    People who come every eight hours on average and stay for a minute and a half:

    >>> people = Population(
    ...     away_mean_seconds=28_800, away_sd_seconds=14_400, session_mean_seconds=90, session_sd_seconds=45
    ... )
    >>> people.reading_speed_mu
    1.29
    """

    away_mean_seconds: float
    away_sd_seconds: float
    session_mean_seconds: float
    session_sd_seconds: float
    reading_speed_mu: float = 1.29
    reading_speed_sigma: float = 0.558
    away_session_correlation: float = 0.0
    away_law: MeansLaw = "lognormal"
    session_law: MeansLaw = "lognormal"

    def __post_init__(self) -> None:
        """Check the ranges."""
        least, most = CORRELATIONS
        if not least <= self.away_session_correlation <= most:
            raise ValueError(
                f"away_session_correlation must lie in [-1, 1], got {self.away_session_correlation!r}"
            )
        for what in ("away", "session"):
            law = getattr(self, f"{what}_law")
            if law not in get_args(MeansLaw):
                raise ValueError(f"{what}_law must be lognormal or gamma, got {law!r}")
        for name, (least, most) in RANGES.items():
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name} must lie in [{least:g}, {most:g}], got {getattr(self, name)!r}")

    def user(self, rng: np.random.Generator) -> tuple[float, float, float]:
        """Draw one user's mean time away A, mean session D and reading speed V.

        A and D are in seconds, V is in words a second.
        """
        away, session, speed = rng.standard_normal(3).tolist()
        if r := self.away_session_correlation:
            session = r * away + math.sqrt(1 - r * r) * session
        mean_away = _drawn(self.away_mean_seconds, self.away_sd_seconds, self.away_law, away)
        mean_session = _drawn(self.session_mean_seconds, self.session_sd_seconds, self.session_law, session)
        return mean_away, mean_session, math.exp(self.reading_speed_mu + self.reading_speed_sigma * speed)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedUsers:
    """Users drawn from a population; user u is the same whatever their number.

    A session lasts Exp(mean D_u), the time away after it Exp(mean A_u). A user makes one trail and follows it from the
    start of every topic.

    Attributes
    ----------
    population : Population
        What they are drawn from.
    count : int
        How many, at least 1.
    seed : int
        0 or more.

    Examples
    --------
    >>> import prefcal
    >>> people = prefcal.Population(
    ...     away_mean_seconds=28_800,
    ...     away_sd_seconds=14_400,
    ...     session_mean_seconds=90,
    ...     session_sd_seconds=45,
    ... )
    >>> SimulatedUsers(population=people, count=200).seed
    1
    """

    population: Population
    count: int = 1000
    seed: int = 1

    ends_with_topic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the numbers; raises ValueError for no users."""
        if self.count < 1 or self.seed < 0:
            raise ValueError(
                f"count must be at least 1 and seed at least 0, got count={self.count}, seed={self.seed}"
            )

    def __len__(self) -> int:
        """Return the number of users."""
        return self.count

    def blocks(self, horizon_seconds: float) -> Iterator[Trails]:
        """Yield all users in order, a block at a time.

        Raises
        ------
        InputError
            If a user would make more than ten million visits up to the horizon.
        """
        block: list[tuple[float, Floats]] = []
        visits = 0
        for number in range(self.count):
            block.append(self._user(number, horizon_seconds))
            visits += block[-1][1].shape[0]
            if len(block) == BLOCK_USERS or visits >= BLOCK_VISITS:
                yield trails(block)
                block, visits = [], 0
        if block:
            yield trails(block)

    def _user(self, number: int, horizon: float) -> tuple[float, Floats]:
        """Draw a user's reading speed, and (session, away) times that reach the horizon."""
        rng = np.random.default_rng((self.seed, number))
        away, session, speed = self.population.user(rng)
        expected = horizon / (away + session)
        if expected > MAX_VISITS:
            raise input_fault(
                f"user {number + 1} would make {expected:.3g} visits to a topic",
                cure="choose longer sessions and times away",
            )
        times = np.zeros((0, 2))
        while times.sum() <= horizon:
            more = rng.standard_exponential((int(expected + 4 * math.sqrt(expected)) + 8, 2))
            more *= session, away
            times = more if not times.size else np.concatenate([times, more])
        return speed, times


@dataclass(frozen=True, slots=True)
class GivenUsers:
    """Users with given trails, which may go on after the topic.

    Attributes
    ----------
    trails : Trails
        All of them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import prefcal
    >>> path = Path(mkdtemp()) / "trails.json"
    >>> _ = path.write_text('{"users": [{"V": 3.6, "session_away": [[120, 10800], [60, 7200]]}]}')
    >>> isinstance(prefcal.read_trails(path), GivenUsers)
    True
    """

    trails: Trails

    ends_with_topic: ClassVar[bool] = False

    def __len__(self) -> int:
        """Return the number of users."""
        return self.trails.speed.size

    def blocks(self, horizon_seconds: float) -> Iterator[Trails]:  # noqa: ARG002 - they are as they are
        """Yield all users at once."""
        yield self.trails


def trails(users: Iterable[tuple[float, Sequence[tuple[float, float]] | Floats]]) -> Trails:
    """Combine the visits of several users into one value.

    Parameters
    ----------
    users : iterable of (speed, (visits, 2) array_like)
        Words read in a second, and the length of each session with that of the time away after it, in seconds.
    """
    people = [(speed, np.asarray(pairs, dtype=np.float64).reshape(-1, 2)) for speed, pairs in users]
    starts = [np.concatenate([np.zeros(1), np.cumsum(times)[1::2]])[: len(times)] for _, times in people]
    return Trails(
        speed=np.array([speed for speed, _ in people], dtype=np.float64),
        first_visit=np.cumsum([0, *map(len, starts)], dtype=np.int64),
        start=np.concatenate([np.zeros(0), *starts]),
        duration=np.concatenate([np.zeros(0), *(times[:, 0] for _, times in people)]),
    )


def _log_normal(mean: float, sd: float) -> tuple[float, float]:
    """Return mu and sigma of the log-normal law with this mean and deviation."""
    variance = math.log1p((sd / mean) ** 2)
    return math.log(mean) - variance / 2, math.sqrt(variance)


def _drawn(mean: float, sd: float, law: MeansLaw, normal: float) -> float:
    """Return the mean time of a user at a standard normal quantile."""
    if law == "gamma" and sd:
        shape = 2 + (mean / sd) ** 2
        return mean * (shape - 1) / float(gammaincinv(shape, float(ndtr(-normal))))
    mu, sigma = _log_normal(mean, sd)
    return math.exp(mu + sigma * normal)
