"""What a researcher may choose when fitting a user model."""

from dataclasses import dataclass
from typing import Literal

from calibration.inference.results import LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """Choices of a fit; the defaults are those of `prefcal fit`.

    Attributes
    ----------
    level : float
        Confidence level of the intervals in the model.
    exclude : bool
        Leave excluded workers out of every table.
    complete_only : bool
        Leave out workers who did not complete the study, too.
    inclusion : {'all_enrolled', 'at_least_one_visit'}
        Whom the log of visits holds: everyone who enrolled, or only those who came at least once.
    dropout : {'study_end', 'last_seen'}
        Where the wait for the next visit is cut: at the end of the follow, or at its last sign of life.
    unit : {'worker', 'follow'}
        Who has a mean away time and a mean session of their own.
    idle_threshold_seconds : float or None
        Cut visits anew from table activity, at silences longer than that.
    resamples : int or None
        Samples of every bootstrap; None for each family's own number. Given, away times, sessions and reading speeds get
        intervals from a bootstrap over workers.
    simulations : int
        Simulated data sets behind each test of a model; 0: no tests.
    compare : bool
        Compute the naive estimates too.
    """

    level: float = LEVEL
    exclude: bool = True
    complete_only: bool = False
    inclusion: Literal["all_enrolled", "at_least_one_visit"] = "all_enrolled"
    dropout: Literal["study_end", "last_seen"] = "study_end"
    unit: Literal["worker", "follow"] = "worker"
    idle_threshold_seconds: float | None = None
    resamples: int | None = None
    simulations: int = 99
    compare: bool = False
