"""Estimates without some people."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from calibration.inference.formatting import format_number
from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.inference.uncertainty import finite_or_none
from calibration.user_model.model import OtherLaw, plain_name


class LawWithout(NamedTuple):
    """Estimate without some people, in words and as a value, if any."""

    sentence: str
    law: OtherLaw | None

    def sensitivity(self, name: str) -> Mapping[str, tuple[OtherLaw, ...]]:
        """Return the estimate as the sensitivity of a parameter."""
        return {} if self.law is None else {plain_name(name): (self.law,)}


def law_without(law: str, fit: Callable[[], CalibrationResult]) -> LawWithout:
    """Fit without some people, and describe the estimate."""
    try:
        others = fit()
        ((estimate, (low, high)),) = zip(others.parameters.values(), others.conf_int().values(), strict=True)
    except NotIdentifiedError:
        return LawWithout("without them there is none", None)
    value = "without a bound" if math.isinf(estimate) else format_number(estimate)
    return LawWithout(
        f"without them it is {value}",
        OtherLaw(law=law, estimate=finite_or_none(estimate), low=low, high=high, explains="better"),
    )
