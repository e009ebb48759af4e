"""Are stops in round numbers ends of screens, or rounded to the nearest?"""

import numpy as np

from calibration.checks.finding import Finding
from calibration.inference.uncertainty import finite_or_none
from calibration.models.patience.stops import Stops, StopsFit, fit_patience_from_stops
from calibration.user_model.model import OtherLaw, plain_name

RESAMPLES = 400


def check_rounded_stops(fit: StopsFit, stops: Stops) -> Finding | None:
    """Report the precision of stops, and L if they were rounded to the nearest."""
    if not stops.step and not (stops.high > stops.low).any():
        return None
    sentence = "Stops are known to a screen: each lies somewhere in the last one that was seen, evenly as far as L goes."
    if stops.step:
        sentence += f" All stops are multiples of {stops.step:.0f} characters."
    if not stops.step_is_guessed:
        return Finding(name="stops_by_screen", sentence=sentence)
    nearest = fit_patience_from_stops(stops.rounded(), rng=np.random.default_rng(1), resamples=RESAMPLES)
    ((low, high),) = nearest.conf_int().values()
    estimate = float(nearest.estimates[0])
    law = OtherLaw(
        law="rounded to the nearest",
        estimate=finite_or_none(estimate),
        low=low,
        high=high,
        explains="as well",
    )
    return Finding(
        name="stops_by_screen",
        sentence=f"{sentence} The stops may also be rounded to the nearest number, which they do not show: L is then {estimate:.0f}, not {fit.estimates[0]:.0f}.",
        sensitivity={plain_name(next(iter(fit.parameters))): (law,)},
    )
