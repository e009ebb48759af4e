"""Simulated studies: designs, votes of people, and summaries of outcomes.

A design knows how large a study is and what is true of its people; `simulated` draws one such study from the
package's own generators and gives the interval that the package would print for it. Here many are drawn;
`calibration.plan.search` searches the size at which a wish is met. The designs are in `calibration.plan.agreement`, `calibration.plan.patience`
and `calibration.plan.streams`.

In a query q every system s is liked by v_qs ~ N(0, 1). The log odds of a pair are strength (v_qs - v_qr) / sqrt(2), plus what a
person likes more than others do, times a person's own factor; votes follow Davidson's model (`calibration.inference.choice`).
Tastes and factors are a person's in all queries that they judge.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from numbers import Integral
from typing import ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from scipy.stats import binomtest

from calibration.inference.choice import choice_probabilities
from metrics.agreement.crossed_errors import VotesByPerson, crossing
from metrics.arrays import Bools, Floats, Indices, Ints
from metrics.errors import input_fault, join_names

POWER = 0.8
"""Power of what is detectable, and share of studies in `PlanRow.width_most`."""
MOST = 10**6
"""Largest size."""
Track: TypeAlias = Callable[[Iterable[int], str], Iterable[int]]
"""Progress callback around studies; its second argument says their size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedEstimate:
    """Estimate and interval of one simulated study.

    Attributes
    ----------
    estimate, low, high : float
        The estimate and its interval; an open end is infinite. NaN, -inf, inf where the study tells nothing.
    told : bool
        The study tells the truth from the value it is to be told from. False where there is no such value.
    standard_error : float
        Of the estimate, where the package prints intervals of Student's t with ``df`` degrees of freedom, else NaN.
    df : float
        As said.
    """

    estimate: float
    low: float
    high: float
    told: bool = False
    standard_error: float = math.nan
    df: float = math.inf


NO_ESTIMATE = SimulatedEstimate(estimate=math.nan, low=-math.inf, high=math.inf)
"""Outcome of a study that does not identify the parameter."""


def positive_outcome(
    estimate: float, interval: tuple[float | None, float | None], tell_from: float | None
) -> SimulatedEstimate:
    """Return the outcome for a positive parameter, from an interval with open ends."""
    low, high = 0.0 if interval[0] is None else interval[0], math.inf if interval[1] is None else interval[1]
    detects_difference = tell_from is not None and not low <= tell_from <= high
    return SimulatedEstimate(estimate=estimate, low=low, high=high, told=detects_difference)


class Design(ABC):
    """Design of a study: its sizes and the truth about its people.

    Attributes
    ----------
    varies : tuple of str
        Names of its sizes.
    log_scale : bool
        Whether errors of the estimate are alike in proportion to it, and not as they are.
    """

    __slots__ = ()
    varies: ClassVar[tuple[str, ...]]
    log_scale: ClassVar[bool] = False

    @property
    @abstractmethod
    def truth(self) -> float:
        """Value that an endless study would find."""

    @abstractmethod
    def people(self) -> int:
        """Return the number of people."""

    @abstractmethod
    def judgments(self) -> int | None:
        """Return the number of judgments, or None if nobody judges."""

    @abstractmethod
    def bounds(self, vary: str) -> tuple[int, int]:
        """Return the smallest and the largest value of a size that makes sense."""

    @abstractmethod
    def simulated(self, rng: np.random.Generator) -> SimulatedEstimate:
        """Draw a study and return what the package would print."""

    def ready(self) -> Self:
        """Return the design with everything searched or made that a simulation needs."""
        return self

    def size(self, vary: str) -> int:
        """Return one of the sizes.

        Raises
        ------
        InputError
            If there is none of that name, or it is no whole number from 1.
        """
        kind = type(self).__name__
        if vary not in self.varies:
            raise input_fault(f"{vary!r} is no size of {kind}", cure=f"use one of {join_names(self.varies)}")
        value = getattr(self, vary)
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise input_fault(f"{kind}: {vary} is {value!r}", cure="give a whole number, 1 or more")
        return int(value)

    def resized(self, vary: str, size: int) -> Self:
        """Return the design with another size; searched parameters stay."""
        changed: Self = replace(self, **{vary: size})  # type: ignore[type-var] # every design is a dataclass
        return changed


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """Results of simulated studies of one size.

    Attributes
    ----------
    size : int
        The size that is varied.
    people : int
        Who take part.
    judgments : int or None
        That they give in all.
    widths : (studies,) ndarray of float
        Widths of the intervals, ascending; infinite where an end is open.
    power : float
        Share of studies that tell the truth from the value it is to be told from.
    detectable : float
        The smallest true distance that four of five such studies would detect at 5 %, two-sided.
    nothing : float
        Share of studies that cannot tell the parameter at all.
    """

    size: int
    people: int
    judgments: int | None
    widths: Floats
    power: float
    detectable: float
    nothing: float

    def __repr__(self) -> str:
        """Format as ``PlanRow(size=22, people=220, width=0.098, power=0.5)``."""
        return (
            f"PlanRow(size={self.size}, people={self.people}, width={self.width:.3g}, power={self.power:.3g})"
        )

    @property
    def width(self) -> float:
        """Median width of the interval."""
        return self.width_of(0.5)

    @property
    def width_most(self) -> float:
        """Width that four of five studies do not exceed."""
        return self.width_of(POWER)

    @property
    def studies(self) -> int:
        """Number of simulated studies."""
        return len(self.widths)

    @property
    def power_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of `power`, for so few simulated studies."""
        found = binomtest(round(self.power * self.studies), self.studies).proportion_ci(method="wilson")
        return float(found.low), float(found.high)

    def width_of(self, share: float) -> float:
        """Return the width that this share of the studies does not exceed."""
        return float(self.widths[max(0, math.ceil(share * len(self.widths)) - 1)])


def people_needed(
    queries: int, pairs: int, workers: int, *, queries_each: int = 1, pairs_each: int | None = None
) -> int:
    """Return the number of people so that ``workers`` judge each pair of each query.

    Parameters
    ----------
    queries, pairs, workers : int
        How many queries; pairs in each; people who judge each pair.
    queries_each, pairs_each : int
        What one person does: queries, and pairs of each of them (None: all). Nobody does more than there is.
    """
    each = min(queries_each, queries) * min(pairs_each or pairs, pairs)
    return math.ceil(queries * pairs * workers / each)


def untracked(studies: Iterable[int], label: str) -> Iterable[int]:  # noqa: ARG001 - as Track
    """Report no progress (the default `Track`)."""
    return studies


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePopulation:
    """Parameters of a population of simulated judges.

    Attributes
    ----------
    strength : float
        Log odds of a pair of usual distance: how decided people are. At 1.2 and 14 workers the majority of a pair
        holds 69 % of the votes.
    tie_weight : float
        nu of Davidson's model; at 0.6 about a fifth of the judgments are ties.
    sensitivity_sd : float
        Standard deviation of the log of a person's own factor on all log odds.
    query_spread : float
        Standard deviation over queries of a measure's correlation with what people like, on Fisher's scale.
    taste_sd : float
        Standard deviation of a person's own liking of a system, alike in all queries that they judge, where what everybody likes has
        1.
    drop_out : float
        Share of people who leave somewhere on their way; nobody takes their place.
    """

    strength: float = 1.2
    tie_weight: float = 0.6
    sensitivity_sd: float = 0.3
    query_spread: float = 0.2
    taste_sd: float = 0.0
    drop_out: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Numbers of queries, pairs and workers of a study.

    Attributes
    ----------
    queries, pairs, workers : int
        Queries; pairs of a query, of the fewest systems that make so many; people who judge each pair.
    fewest_pairs : int or None
        Queries have from so many pairs to ``pairs``, each number as likely; None: all alike.
    queries_each : int
        That a person judges.
    pairs_each : int or None
        Of each of these queries; None for all pairs.
    """

    queries: int
    pairs: int
    workers: int
    fewest_pairs: int | None = None
    queries_each: int = 1
    pairs_each: int | None = None

    @property
    def judgments(self) -> int:
        """Number of judgments if nobody leaves.

        On average where pairs a query differ.
        """
        pairs = (self.pairs + (self.fewest_pairs or self.pairs)) / 2
        return round(self.queries * pairs * self.workers)

    @property
    def people(self) -> int:
        """Number of people needed."""
        return people_needed(
            self.queries,
            self.pairs,
            self.workers,
            queries_each=self.queries_each,
            pairs_each=self.pairs_each,
        )

    def judges(self) -> Ints:
        """Return the judges of each pair, (queries, pairs, workers).

        They take turns, so that nobody has a pair twice.
        """
        each = min(self.pairs_each or self.pairs, self.pairs)
        part = np.arange(self.pairs) // each
        parts = part[-1] + 1
        team = np.arange(self.queries)[:, None] * parts + part
        return np.asarray((team[..., None] * self.workers + np.arange(self.workers)) % self.people)


def systems_for(pairs: int) -> int:
    """Return the smallest number of systems with this many pairs: 7 for 21."""
    return math.ceil((1 + math.sqrt(1 + 8 * pairs)) / 2)


class PlannedVotes(NamedTuple):
    """Preferences of people on some queries, and their votes.

    ``liked`` (queries, systems): what everybody likes. ``pairs`` (p, 2): the systems of each pair. ``votes`` (queries, p, workers):
    1, 0.5 or 0 for the first system, NaN for none. ``judges``, of that shape: whose they are.
    """

    liked: Floats
    pairs: Indices
    votes: Floats
    judges: Ints

    @property
    def judged(self) -> Ints:
        """Query and pair of every judged pair, (n, 2)."""
        return np.argwhere(~np.isnan(self.votes).all(axis=2))

    def difference(self, scores: Floats) -> Floats:
        """Return a measure's score difference in every judged pair.

        From (queries, systems) scores.
        """
        query, pair = self.judged.T
        first, second = self.pairs[pair].T
        return np.asarray(scores[query, first] - scores[query, second])

    def by_person(self) -> VotesByPerson:
        """Return the votes as `prefcal agree` reads them."""
        made = ~np.isnan(self.votes)
        query, pair, _ = np.nonzero(made)
        return VotesByPerson(
            pair=_without_holes(query * len(self.pairs) + pair),
            for_a=self.votes[made],
            crossing=crossing(_without_holes(query), _without_holes(self.judges[made])),
        )


def _without_holes(code: Ints) -> Ints:
    return np.asarray((np.cumsum(np.bincount(code) > 0) - 1)[code])


def draw_votes(sizes: Sizes, people: JudgePopulation, rng: np.random.Generator) -> PlannedVotes:
    """Draw the preferences of people and their votes."""
    systems = systems_for(sizes.pairs)
    every = np.array(list(combinations(range(systems), 2)))
    pairs = every[np.sort(rng.choice(len(every), sizes.pairs, replace=False))]
    liked, judges = rng.standard_normal((sizes.queries, systems)), sizes.judges()
    own = np.exp(people.sensitivity_sd * rng.standard_normal(judges.max() + 1))[judges]
    more = (liked[:, pairs[:, 0]] - liked[:, pairs[:, 1]])[..., None]
    if people.taste_sd:
        taste = people.taste_sd * rng.standard_normal((judges.max() + 1, systems))
        more = more + (taste[:, pairs[:, 0]] - taste[:, pairs[:, 1]])[judges, np.arange(len(pairs))[:, None]]
    log_odds = people.strength / math.sqrt(2) * more * own
    first, second, _ = choice_probabilities(log_odds, np.asarray(math.log(people.tie_weight)))
    drawn = rng.random(first.shape)
    votes = np.where(drawn < first, 1.0, np.where(drawn < first + second, 0.0, 0.5))
    if sizes.fewest_pairs is not None:
        votes[_not_asked(sizes, rng)] = np.nan
    if people.drop_out:
        votes[_left_undone(judges, people.drop_out, rng)] = np.nan
    return PlannedVotes(liked, pairs, votes, judges)


def _not_asked(sizes: Sizes, rng: np.random.Generator) -> Bools:
    """Draw the mask of pairs that are not in the study, (queries, pairs)."""
    asked = rng.integers(
        sizes.fewest_pairs or sizes.pairs, sizes.pairs, size=(sizes.queries, 1), endpoint=True
    )
    return np.asarray(rng.random((sizes.queries, sizes.pairs)).argsort(axis=1) >= asked)


def _left_undone(judges: Ints, drop_out: float, rng: np.random.Generator) -> Bools:
    """Draw the mask of judgments lost by drop-outs.

    Query after query, a query's pairs in any order.
    """
    person, query = judges.ravel(), np.repeat(np.arange(len(judges)), judges[0].size)
    order = np.lexsort((rng.random(person.size), query, person))
    work = np.bincount(person)
    done = np.where(rng.random(work.size) < drop_out, rng.random(work.size) * work, work)
    step = np.empty(person.size)
    step[order] = np.arange(person.size) - (np.cumsum(work) - work)[person[order]]
    return np.asarray((step >= done[person]).reshape(judges.shape))
