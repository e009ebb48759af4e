"""People who are found to be unlike the model's, and estimates without them."""

import math
from collections.abc import Callable
from typing import NamedTuple

from calibration.checks.finding import REJECTED, Finding, other_laws
from calibration.inference.formatting import format_number, format_p
from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.user_model.model import plain_name
from metrics.arrays import Bools


class PeopleApart(NamedTuple):
    """Class of people unlike the model's.

    Attributes
    ----------
    people : (w,) ndarray of bool
        Who is more probably in it than not.
    gain : float
        Log-likelihood that it explains.
    p_value : float
        How often it would explain as much if there were none.
    """

    people: Bools
    gain: float
    p_value: float

    @property
    def is_clear(self) -> bool:
        """True if the class explains more than chance would, and has people."""
        return self.p_value < REJECTED and bool(self.people.any())

    def finding(
        self,
        name: str,
        sentence: str,
        fit: CalibrationResult,
        refit: Callable[[], CalibrationResult],
        explains: str = "",
    ) -> Finding:
        """Return the finding of the class, with the estimate without its people.

        Parameters
        ----------
        name, explains
            As in `Finding`.
        sentence : str
            What these people do, with {} for p, and the estimate that they are part of.
        fit : CalibrationResult
            Of everybody, with one parameter.
        refit : callable
            Returns the fit of the others.
        """
        count = f"{self.people.sum()} of {len(self.people)} people"
        parameter, value, laws = plain_name(next(iter(fit.parameters))), "there is none", {}
        try:
            others = refit()
            ((_, estimate),) = others.parameters.items()
            value = f"it is {'without a bound' if math.isinf(estimate) else format_number(estimate)}"
            laws = other_laws(f"without {count}", "better", {parameter: estimate}, others.conf_int().values())
        except NotIdentifiedError:
            pass
        return Finding(
            name=name,
            p_value=self.p_value,
            explains=explains,
            gain=self.gain,
            sentence=f"{count} {sentence.format(format_p(self.p_value))}; without them {value}.",
            sensitivity=laws,
        )
