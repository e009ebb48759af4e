"""Planning a study by simulating it: how wide the interval will be, how likely the answer, and how large it must be.

A design knows how large a study is and what is true of its people; `simulated` draws one such study from the
package's own generators and gives the interval that the package would print for it. Here many are drawn;
`calibration.plan.search` searches the size at which a wish is met. The designs are in `calibration.plan.agreement`, `calibration.plan.patience`,
`calibration.plan.streams` and `calibration.plan.streams`.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, Self, TypeAlias

import numpy as np
from scipy.special import ndtri, stdtrit
from scipy.stats import binomtest

from metrics.arrays import Floats

POWER = 0.8
"""Of what is detectable, and the share of studies behind `PlanRow.width_most`."""
MOST = 10**6
"""Of anything: no size is larger."""
_QUANTILES = np.array([0.975, POWER])
_ONE_SD = (0.1587, 0.8413)

Track: TypeAlias = Callable[[Iterable[int], str], Iterable[int]]
"""Goes through studies while it shows somebody how far; the second argument says of what size they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one study would print.

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


NOTHING = Outcome(estimate=math.nan, low=-math.inf, high=math.inf)
"""A study in which the wanted parameter cannot be told."""


class Design(Protocol):
    """A study to be: its size and what is true of its people."""

    @property
    def log_scale(self) -> bool:
        """Errors of the estimate are alike on a log scale."""

    @property
    def truth(self) -> float:
        """Return what the study would find if it were endless."""

    def size(self, vary: str) -> int:
        """Return one of its sizes."""

    def resized(self, vary: str, size: int) -> Self:
        """Return the same study with another size."""

    def bounds(self, vary: str) -> tuple[int, int]:
        """Return the smallest and the largest value of a size that makes sense."""

    def people(self) -> int:
        """Return how many people take part."""

    def judgments(self) -> int | None:
        """Return how many judgments they give; None where nobody judges."""

    def simulated(self, rng: np.random.Generator) -> Outcome:
        """Draw a study and return what the package would print."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """What studies of one size give.

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
        """``PlanRow(size=22, people=220, width=0.098, power=0.5)``."""
        return (
            f"PlanRow(size={self.size}, people={self.people}, width={self.width:.3g}, power={self.power:.3g})"
        )

    @property
    def width(self) -> float:
        """The typical width: half of the studies have a narrower interval."""
        return self.width_of(0.5)

    @property
    def width_most(self) -> float:
        """Four of five studies have an interval at most that wide."""
        return self.width_of(POWER)

    @property
    def studies(self) -> int:
        """How many were simulated."""
        return len(self.widths)

    @property
    def power_interval(self) -> tuple[float, float]:
        """Between what the chance lies by so few simulated studies: Wilson's 95 % interval of `power`."""
        found = binomtest(round(self.power * self.studies), self.studies).proportion_ci(method="wilson")
        return float(found.low), float(found.high)

    def width_of(self, share: float) -> float:
        """Return the width that this share of the studies does not exceed."""
        return float(self.widths[max(0, math.ceil(share * len(self.widths)) - 1)])


def people_needed(
    queries: int, pairs: int, workers: int, *, queries_each: int = 1, pairs_each: int | None = None
) -> int:
    """Return how many people judge each pair of each query ``workers`` times.

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
    """Show nobody anything: the default `Track`."""
    return studies


def plan_row(design: Design, vary: str, *, studies: int, seed: int, track: Track = untracked) -> PlanRow:
    """Simulate studies of one size.

    Parameters
    ----------
    design : Design
        The study.
    vary : str
        Which of its sizes is called the size of the row.
    studies : int
        How many are drawn.
    seed : int
        With the size it decides every draw, so that a row is the same whatever other rows are made.
    track : callable
        As `Track`.
    """
    size = design.size(vary)
    rng = np.random.default_rng([seed, size])
    label = f"{size} {vary.replace('_', ' ')}"
    found = [design.simulated(rng) for _ in track(range(studies), label)]
    return PlanRow(
        size=size,
        people=design.people(),
        judgments=design.judgments(),
        widths=np.sort([outcome.high - outcome.low for outcome in found]),
        power=float(np.mean([outcome.told for outcome in found])),
        detectable=_detectable(design, found),
        nothing=float(np.mean([math.isnan(outcome.estimate) for outcome in found])),
    )


def _detectable(design: Design, found: list[Outcome]) -> float:
    """Return the distance that four of five studies would detect: (t_.975 + t_.8) standard errors.

    The standard error is the median of those the studies would print, or else comes from the spread of their
    estimates; on a log scale the distance is the truth times e^(...) - 1.
    """
    errors = np.array([outcome.standard_error for outcome in found])
    if not np.isnan(errors).all():
        df = float(np.median([outcome.df for outcome in found]))
        return float(stdtrit(df, _QUANTILES).sum() * np.nanmedian(errors))
    estimates = np.sort(
        [outcome.estimate for outcome in found]
    )  # NaN is sorted to the end: too large to be told
    low, high = estimates[[math.floor(tail * (len(found) - 1)) for tail in _ONE_SD]]
    if not np.isfinite([low, high]).all():
        return math.inf
    reach = ndtri(_QUANTILES).sum() / 2
    if design.log_scale:
        return float(design.truth * ((high / low) ** reach - 1)) if low > 0 else math.inf
    return float(reach * (high - low))
