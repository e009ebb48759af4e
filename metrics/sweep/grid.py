"""The points of a sweep: every mean time away with every mean session, every spread of both, and every lateness decay.

Source: Baruah, Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR 2015), section 4, whose 2,646 points are the
default.
"""

from dataclasses import dataclass
from typing import NamedTuple

from metrics.msu.trails import Population

MINUTE, HOUR = 60.0, 3600.0
PAPER_AWAY = (5 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR)
PAPER_SESSION = (0.5 * MINUTE, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE)
PAPER_SPREAD = (0.5, 1.0, 2.0)
PAPER_LATENESS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


class SweepPoint(NamedTuple):
    """One population, and what a nugget is worth to it one visit late. The fields are columns of a sweep's tables."""

    away_mean_seconds: float
    away_sd_seconds: float
    session_mean_seconds: float
    session_sd_seconds: float
    lateness: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepGrid:
    """What is combined with what.

    Attributes
    ----------
    away_seconds : tuple of float
        Mean times away, M_A.
    session_seconds : tuple of float
        Mean session lengths, M_D.
    spread : tuple of float
        Standard deviations over users, as multiples of the mean: of times away and of sessions, each with each.
    lateness : tuple of float
        L in [0, 1]: what a nugget is worth one visit late.

    Examples
    --------
    Two habits of coming back, one of staying:

    >>> grid = SweepGrid(
    ...     away_seconds=(3600, 28_800), session_seconds=(90,), spread=(0.5,), lateness=(0.5,)
    ... )
    >>> len(grid.away_seconds)
    2
    """

    away_seconds: tuple[float, ...] = PAPER_AWAY
    session_seconds: tuple[float, ...] = PAPER_SESSION
    spread: tuple[float, ...] = PAPER_SPREAD
    lateness: tuple[float, ...] = PAPER_LATENESS

    def __post_init__(self) -> None:
        """Check that there is something of each, nothing twice, and that such people can be.

        Raises
        ------
        ValueError
            As said.
        """
        for name in ("away_seconds", "session_seconds", "spread", "lateness"):
            values = tuple(map(float, getattr(self, name)))
            object.__setattr__(self, name, values)
            if not values:
                raise ValueError(f"{name} names no value")
            if len(set(values)) < len(values):
                raise ValueError(f"{name} names a value twice")
        if not all(0 <= decay <= 1 for decay in self.lateness):
            raise ValueError("lateness must lie in [0, 1]")
        for place in range(self.population_count):
            self.population(place)

    def __len__(self) -> int:
        """Return how many points there are."""
        return self.population_count * len(self.lateness)

    @property
    def population_count(self) -> int:
        """How many populations there are."""
        return len(self.away_seconds) * len(self.session_seconds) * len(self.spread) ** 2

    def population(self, place: int) -> Population:
        """Return one population by its place: by time away, then its deviation, session length, its deviation."""
        rest, session_spread = divmod(place, len(self.spread))
        rest, session = divmod(rest, len(self.session_seconds))
        away, away_spread = divmod(rest, len(self.spread))
        return Population(
            away_mean_seconds=self.away_seconds[away],
            away_sd_seconds=self.away_seconds[away] * self.spread[away_spread],
            session_mean_seconds=self.session_seconds[session],
            session_sd_seconds=self.session_seconds[session] * self.spread[session_spread],
        )

    def points(self, place: int) -> list[SweepPoint]:
        """Return the points of one population, by its place: one a lateness decay."""
        people = self.population(place)
        return [
            SweepPoint(
                people.away_mean_seconds,
                people.away_sd_seconds,
                people.session_mean_seconds,
                people.session_sd_seconds,
                decay,
            )
            for decay in self.lateness
        ]
