"""Are repeated pairs answered alike no more often than by habit?"""

from calibration.checks.finding import Finding, warn_if
from calibration.inference.formatting import format_interval, format_number
from calibration.inference.results import LEVEL
from calibration.raters.consistency import NAMES
from calibration.raters.measure import RaterMeasure
from metrics.errors import percent

HALF_WAY = 0.5
"""Kappa half way between habit and perfect repeats.

If its interval reaches this kappa, people may well look.
"""


def check_repeats(fit: RaterMeasure, preferences: object) -> Finding | None:
    """Warn if repeats are consistent no more often than by habit.

    Parameters
    ----------
    fit : RaterMeasure
        As `calibration.raters.consistency.fit_consistency` returns it; of any other measure there is nothing to say.
    preferences : object
        What it was fitted to.

    Returns
    -------
    Finding or None
        Where the interval of kappa, over workers, holds 0 or lies below it, and does not reach `HALF_WAY`.
    """
    share, kappa = NAMES[:2]
    if kappa not in fit.parameters:
        return None
    exact = fit.details["kappa_exact_low"], fit.details["kappa_exact_high"]
    low, high = fit.conf_int(LEVEL)[kappa] if fit.uncertainty else exact
    if low is None or high is None:
        return None
    alike = round(fit.parameters[share] * fit.n_rows)
    where = "less often than" if high < 0 else "about as often as"
    return warn_if(
        low <= 0 and high < HALF_WAY,
        "inconsistent",
        f"{alike} of {fit.n_rows} repeats are answered alike, {where} by habit alone (kappa {format_number(fit.parameters[kappa])} {format_interval((low, high))}"
        f"; {percent(fit.details['chance'])} by habit): people who look at the pairs are above. Check the sides of repeats and their column validation_of,"
        " and whether people could distinguish the two sides; numbers from these answers mean little.",
    )
