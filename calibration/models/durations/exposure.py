"""Censored durations whose mean differs between people, and their totals.

Given A_u, the mean of a person's durations, someone with n complete intervals and T seconds in all, cut intervals included,
contributes A^-n exp(-T / A): (n, T) is all that the data say, whatever their number of rows, and a person with n = 0 says
something too.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Self, TypeAlias

import numpy as np

from calibration.visits.followed_visits import Ends, UnusableVisits
from metrics.arrays import Bools, Floats, Indices

Design: TypeAlias = Literal["window", "count"]
DAY_SECONDS = 86_400.0
MIN_SECONDS = 1e-3
"""Smallest time at risk of a worker with events: the tables' resolution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerTotals:
    """Number n and total time T of durations, by worker.

    Attributes
    ----------
    events : (u,) ndarray of float
        n: complete intervals of each person.
    seconds : (u,) ndarray of float
        T: time of complete and cut intervals together, positive.
    seen_by_seconds : (u,) ndarray of float or None
        Zero truncation: who had no event in so much time would not be in the data; inf where somebody would be in any
        case. None: everybody would.
    """

    events: Floats
    seconds: Floats
    seen_by_seconds: Floats | None = None

    def __len__(self) -> int:
        """Return the number of workers."""
        return len(self.events)

    def in_units_of(self, scale: float) -> "WorkerTotals":
        """Return the totals with seconds divided by ``scale``."""
        tau = self.seen_by_seconds
        return WorkerTotals(
            events=self.events,
            seconds=self.seconds / scale,
            seen_by_seconds=None if tau is None else tau / scale,
        )


class Pieces(NamedTuple):
    """Times at risk in order: follow, start, stop and event, (p,) each.

    Pieces of a follow are consecutive; start and stop are in seconds since it began.
    """

    follow: Indices
    start: Floats
    stop: Floats
    event: Bools

    def where(self, which: Bools | Indices) -> "Pieces":
        """Select pieces."""
        return Pieces(self.follow[which], self.start[which], self.stop[which], self.event[which])


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitsRead:
    """Counts made while tables were read; 0 where not applicable.

    Attributes
    ----------
    left_out : UnusableVisits
        Visits that could not be used.
    ends : Ends
        How many follows end with their last visit.
    prompted : float
        Share of the visits that a prompt brought.
    prompts_unknown : int
        How many of these have no prompt in the tables.
    gap_seconds : float
        Wall seconds up to which page views are one visit.
    closer_than_gap : int
        Visits that begin sooner after the one before.
    only_who_came : bool
        Who never came is not in the tables.
    several_topics : bool
        Some workers have several topics.
    visits, without_length, without_length_exhausted : int
        All visits; those cut as soon as they began; and of these those in which nothing was left to read.
    exhausted : float
        Share of the visits with a length in which nothing was left to read.
    """

    left_out: UnusableVisits = field(default_factory=UnusableVisits)
    ends: Ends = field(default_factory=Ends)
    prompted: float = 0.0
    prompts_unknown: int = 0
    gap_seconds: float = 0.0
    closer_than_gap: int = 0
    only_who_came: bool = False
    several_topics: bool = False
    visits: int = 0
    without_length: int = 0
    without_length_exhausted: int = 0
    exhausted: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CensoredDurations:
    """Times at risk by follow and unit, with their events.

    Attributes
    ----------
    unit : (p,) ndarray of int
        Whose mean it is, from 0 without holes; pieces are ordered by unit, follow and time.
    follow : (p,) ndarray of int
        Place in ``follow_unit``.
    start, stop : (p,) ndarray of float
        Seconds since the follow began.
    event : (p,) ndarray of bool
        Whether it ended with what was waited for; else it was cut.
    follow_unit : (f,) ndarray of int
        Unit of each follow; -1 where it has no piece.
    follow_seconds : (f,) ndarray of float
        How long each follow was watched.
    seen_by_seconds : (u,) ndarray of float or None
        See `WorkerTotals`.
    design : {'window', 'count'}
        Whether time was given and events are random, or the reverse.
    read : VisitsRead
        What the tables had beside.
    follow_begun : (f,) ndarray of float or None
        When each follow began, in seconds of the same kind since a midnight; None where that is not known.
    day_seconds : float
        Seconds of that kind in a calendar day.
    away : CensoredDurations or None
        Of sessions: the times away of the same tables, where they are known and hold everybody.
    """

    unit: Indices
    follow: Indices
    start: Floats
    stop: Floats
    event: Bools
    follow_unit: Indices
    follow_seconds: Floats
    seen_by_seconds: Floats | None
    design: Design
    read: VisitsRead
    follow_begun: Floats | None = None
    day_seconds: float = DAY_SECONDS
    away: "CensoredDurations | None" = None

    @classmethod
    def from_intervals(
        cls,
        pieces: Pieces,
        *,
        follow_unit: Indices,
        follow_seconds: Floats,
        seen_anyway: Bools | None,
        design: Design,
        read: VisitsRead,
        follow_begun: Floats | None = None,
        day_seconds: float = DAY_SECONDS,
    ) -> Self:
        """Order pieces by follow, and renumber the units that have time or events.

        Pieces of a follow keep their order.

        ``seen_anyway``, (f,) or None: with zero truncation, which follows would be in the tables without an event. Units
        without an event in which no follow is such leave the data.
        """
        size = int(follow_unit.max(initial=-1)) + 1
        pieces = pieces.where(pieces.event | (pieces.stop > pieces.start))
        kept = np.bincount(follow_unit[pieces.follow], minlength=size) > 0
        tau = None
        if seen_anyway is not None:
            anyway = np.bincount(follow_unit[seen_anyway], minlength=size) > 0
            kept &= anyway | (np.bincount(follow_unit[pieces.follow[pieces.event]], minlength=size) > 0)
            tau = np.where(anyway, np.inf, total(follow_unit, follow_seconds, size))[kept]
        number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.intp)
        pieces = pieces.where(kept[follow_unit[pieces.follow]])
        unit = number[follow_unit[pieces.follow]]
        order = np.argsort(unit * len(follow_unit) + pieces.follow, kind="stable")
        ordered = pieces.where(order)
        return cls(
            unit=unit[order],
            follow=ordered.follow,
            start=ordered.start,
            stop=ordered.stop,
            event=ordered.event,
            follow_unit=number[follow_unit],
            follow_seconds=follow_seconds,
            seen_by_seconds=tau,
            design=design,
            read=read,
            follow_begun=follow_begun,
            day_seconds=day_seconds,
        )

    @property
    def units(self) -> int:
        """Number of units."""
        return int(self.follow_unit.max(initial=-1)) + 1

    @property
    def seconds(self) -> Floats:
        """Length of each piece, (p,)."""
        return self.stop - self.start

    def totals(self) -> WorkerTotals:
        """Return n and T of every unit."""
        return WorkerTotals(
            events=self._sum(self.event),
            seconds=np.maximum(self._sum(self.seconds), MIN_SECONDS),
            seen_by_seconds=self.seen_by_seconds,
        )

    def follow_totals(self) -> tuple[Floats, Floats]:
        """Return n and T of every follow, (f,) each."""
        size = len(self.follow_unit)
        return total(self.follow, self.event, size), total(self.follow, self.seconds, size)

    def _sum(self, values: Floats | Bools) -> Floats:
        return total(self.unit, values, self.units)


def total(group: Indices, values: Floats | Bools, size: int) -> Floats:
    """Return the sum of values in each of ``size`` groups."""
    return np.bincount(group, values, minlength=size).astype(np.float64)
