"""Designs of planned studies, and results of their simulation.

A design knows how large a study is and what is true of its people; `simulated` draws one such study from the
package's own generators and gives the interval that the package would print for it. Here many are drawn;
`calibration.plan.search` searches the size at which a wish is met. The designs are in `calibration.plan.agreement`, `calibration.plan.patience`
and `calibration.plan.streams`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import ClassVar, Self, TypeAlias

import numpy as np
from scipy.stats import binomtest

from metrics.arrays import Floats
from metrics.errors import input_fault, join_names

POWER = 0.8
"""Power of what is detectable, and share of studies in `PlanRow.width_most`."""
MAX_SIZE = 10**6
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
    def quantile(self) -> float:
        """Quantile of Student's t that an interval reaches: .975 for 95 %."""
        return 0.975

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
        interval = binomtest(round(self.power * self.studies), self.studies).proportion_ci(method="wilson")
        return float(interval.low), float(interval.high)

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
