"""Result of a measure of workers and raters."""

from dataclasses import dataclass
from typing import Literal

from calibration.inference.results import CalibrationResult


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RaterMeasure(CalibrationResult):
    """Measure of raters, with what its intervals take as sampled.

    Attributes
    ----------
    sampled : {'worker', 'topic'}
        The clusters.
    clusters : int
        How many there are.
    """

    sampled: Literal["worker", "topic"]
    clusters: int
