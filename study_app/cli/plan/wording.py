"""How a plan is talked about: what its numbers are called, how they are written, what people cost."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibration.plan.simulation import PlanRow


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonCost:
    """What one person of a study asks for.

    Attributes
    ----------
    minutes : (float, float) or None
        Least and most that they are busy; None where the plan is not the study file's in what one person does.
    price : float or None
        With the platform's fee; None without a reward.
    currency : str
        Of the price.
    """

    minutes: tuple[float, float] | None
    price: float | None
    currency: str

    def cost(self, people: int) -> float | None:
        """Return what so many people cost."""
        return None if self.price is None else people * self.price

    def money(self, people: int) -> str:
        """`1,400.00 GBP`."""
        return "" if self.price is None else f"{people * self.price:,.2f} {self.currency}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanWording:
    """How a plan is talked about.

    Attributes
    ----------
    subject : str
        What the interval is of: `the agreement`.
    unit : str
        After numbers of it, with a blank before it; empty where there is none.
    digits : int
        After the decimal point.
    found : str or None
        What a study with power does: `tells 0.69 from 0.5`. None where nothing is to be told apart.
    study : str
        What does not vary: `21 pairs a query, 14 workers a pair`.
    sizes : mapping of str to (str, str)
        What may vary -> how one, and several of it, are called.
    assumed : str
        What is taken for true of the people.
    helpful : tuple of str
        The sizes that are worth changing when another does not reach the wish.
    farthest : float
        No two values of it are farther apart: 1 for agreements. Its intervals have two ends then, or there is none.
    widest : float
        An interval that is wider says nothing, and is printed as one without a bound.
    person : PersonCost or None
        Who takes part, where a study file says it.
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
    person: PersonCost | None = None

    def tells(self, row: "PlanRow") -> bool:
        """Say whether there is a distance that four of five studies of a size would detect."""
        return row.detectable <= min(self.farthest, self.widest) and math.isfinite(row.detectable)

    def too_far(self, row: "PlanRow") -> str:
        """Return why there is none, as a clause."""
        if not self.is_bounded(row.detectable):
            return "the estimates of such studies have no bound"
        return f"it would have to be {self.amount(row.detectable)}, and no two values are farther apart than {self.farthest:g}"

    @property
    def no_width(self) -> str:
        """Return how an interval is called that has no width."""
        return "open" if math.isinf(self.farthest) else "none"

    def is_bounded(self, width: float) -> bool:
        """Say whether an interval of this width says anything."""
        return width <= self.widest and math.isfinite(width)

    def number(self, value: float) -> str:
        """Return a value as people read it; of an interval that says nothing how it is called."""
        return f"{value:,.{self.digits}f}" if self.is_bounded(value) else self.no_width

    def amount(self, value: float) -> str:
        """Return a value with its unit."""
        return self.number(value) + self.unit

    def count(self, vary: str, size: int) -> str:
        """`1 query`, `25 queries`."""
        return f"{size:,} {self.sizes[vary][size != 1]}"


def percent(share: float) -> str:
    """Return `80 %`."""
    return f"{100 * share:.0f} %"
