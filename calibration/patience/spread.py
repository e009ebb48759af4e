"""How patience differs between people: a log-normal law, its spread as a coefficient of variation."""

import math
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from calibration.inference.people import SPREADS, FittedCrowd
from calibration.inference.results import CalibrationResult
from calibration.inference.uncertainty import LikelihoodCurve
from metrics.arrays import Floats

NAME = "patience_chars_spread"


@dataclass(frozen=True, slots=True, kw_only=True)
class PatienceSpread:
    """A log-normal patience over people.

    Attributes
    ----------
    cv : (m,) ndarray of float
        Coefficients of variation that were tried, ascending from 0.
    drop : (m,) ndarray of float
        Twice the log-likelihood lost there.
    median : float
        Of people's patience.
    people, rows : int
        How many, and how much they did.
    """

    cv: Floats
    drop: Floats
    median: float
    people: int
    rows: int

    @property
    def best(self) -> float:
        """The likeliest coefficient of variation."""
        return float(self.cv[int(self.drop.argmin())])

    def result(self, source: str) -> CalibrationResult:
        """Return parameter ``patience_chars_spread``; ``source`` says what it is from."""
        curve = LikelihoodCurve(grid=self.cv, drop=self.drop, df=self.people - 1, floor=0.0)
        return CalibrationResult(
            parameters=MappingProxyType({NAME: self.best}),
            unit="coefficient of variation",
            method=f"from {source}: log-normal over people",
            uncertainty=MappingProxyType({"likelihood_ratio": curve}),
            n_workers=self.people,
            n_rows=self.rows,
            details=MappingProxyType({"median": self.median}),
        )


def spread_of(crowd: FittedCrowd, people: int, rows: int) -> PatienceSpread:
    """Return the spread of a crowd, which is on the log scale, as a coefficient of variation."""
    cv = np.sqrt(np.expm1(SPREADS**2))
    cv[0] = 0.0
    return PatienceSpread(
        cv=cv,
        drop=2 * (crowd.profile.max() - crowd.profile),
        median=math.exp(crowd.centre),
        people=people,
        rows=rows,
    )


def spread_of_logs(cv: float) -> float:
    """Return the standard deviation of the logarithm of a log-normal with this coefficient of variation."""
    return math.sqrt(math.log1p(cv**2))
