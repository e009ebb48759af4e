"""Words, units and costs of a plan's answer."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from metrics.errors import pluralise

if TYPE_CHECKING:
    from calibration.plan.simulation import PlanRow

BUSY = ("pairs", "queries_a_worker", "days")
"""Sizes that change how long one person is busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonCost:
    """Busy time and price of one person of a study.

    Attributes
    ----------
    minutes : (float, float) or None
        Shortest and longest busy time; None where the plan changes what one person of the study file does.
    price : float or None
        Reward with the platform's fee; None without a reward.
    currency : str
        Currency of the price.
    """

    minutes: tuple[float, float] | None
    price: float | None
    currency: str

    def cost(self, people: int) -> float | None:
        """Return the price of a number of people."""
        return None if self.price is None else people * self.price

    def money(self, people: int) -> str:
        """Format the price of a number of people, as in `1,400.00 GBP`."""
        return "" if self.price is None else f"{people * self.price:,.2f} {self.currency}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanWording:
    """Words, units and bounds in which a plan's numbers are printed.

    Attributes
    ----------
    subject : str
        Quantity of the interval: `the agreement`.
    unit : str
        Unit after a number, with a blank before it; empty where there is none.
    digits : int
        Digits after the decimal point.
    found : str or None
        Success of a study with power: `tells 69 % from 50 %`; None without a null value.
    study : str
        Sizes that do not vary: `21 pairs a query, 14 workers a pair`.
    sizes : mapping of str to (str, str)
        Singular and plural of each size that may vary, by its name.
    assumed : str
        Assumptions about the people.
    helpful : tuple of str
        Sizes that are worth changing when another does not reach the goal.
    farthest : float
        Largest distance of two values: 1 for agreements. Below infinity, an interval has two ends or does not exist.
    widest : float
        Widest interval that is informative; a wider one is printed as open.
    scale : float
        Factor from a value to the printed number: 100 for agreements, in points.
    person : PersonCost or None
        Time and price of a person, where a study file says them.
    """

    subject: str
    unit: str
    digits: int
    found: str | None
    study: str
    sizes: dict[str, tuple[str, str]]
    assumed: str
    helpful: tuple[str, ...]
    farthest: float = math.inf
    widest: float = math.inf
    scale: float = 1.0
    person: PersonCost | None = None

    @property
    def priced(self) -> PersonCost | None:
        """Time and price of a person, where there is a price."""
        return None if self.person is None or self.person.price is None else self.person

    def tells(self, row: "PlanRow") -> bool:
        """Return whether four of five studies of a size would detect some distance."""
        return row.detectable <= min(self.farthest, self.widest) and math.isfinite(row.detectable)

    def too_far(self, row: "PlanRow") -> str:
        """Return why no distance can be detected, as a clause."""
        if not self.is_bounded(row.detectable):
            return "the estimates of such studies have no bound"
        return f"it would have to be {self.amount(row.detectable)}, and no two values are farther apart than {self.scale * self.farthest:g}{self.unit}"

    @property
    def no_width(self) -> str:
        """Label of an interval without a width."""
        return "open" if math.isinf(self.farthest) else "none"

    def is_bounded(self, width: float) -> bool:
        """Return whether an interval of this width is informative."""
        return width <= self.widest and math.isfinite(width)

    def number(self, value: float) -> str:
        """Format a value; for an uninformative interval return its label."""
        return f"{self.scale * value:,.{self.digits}f}" if self.is_bounded(value) else self.no_width

    def amount(self, value: float) -> str:
        """Format a value with its unit."""
        return self.number(value) + self.unit

    def count(self, vary: str, size: int) -> str:
        """Format a size with its noun, as in `25 queries`."""
        return pluralise(size, *self.sizes[vary])


def exact_percent(share: float) -> str:
    """Format a share in percent with the digits that it was given in, as in `69.5 %`."""
    return f"{100 * share:g} %"
