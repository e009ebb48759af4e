"""Are the rates of coming back gamma, and not the means log-normal?

Both laws have two parameters: neither tests the other.
"""

from calibration.checks.durations.beside import (
    REJECTS,
    is_small,
    laws_beside,
    listed,
    numbers_of,
    numbers_under,
)
from calibration.checks.finding import Explains, Finding, other_laws
from calibration.inference.formatting import shown_time
from calibration.models.durations.exposure import CensoredDurations
from calibration.models.durations.fit import DurationFit
from calibration.models.durations.intervals import DurationProfile
from calibration.models.durations.laws import GAMMA


def check_gamma_rates(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Compare gamma rates with log-normal means, if the data leave them open.

    The law has as many parameters, so the comparison is no test.
    """
    if not is_small(exposure) or fit.law == "gamma":
        return None
    laws = laws_beside(exposure)
    gamma = laws.others[GAMMA]
    if 2 * (laws.best - gamma.loglik) > REJECTS:
        return None
    better = 2 * laws.gain(GAMMA) > REJECTS
    return Finding(
        name="gamma_rates",
        sentence=f"Gamma rates explain the data {'better' if better else 'about as well'}: with them {numbers_under(gamma)}, not "
        f"{numbers_of(fit)}. To publish these: prefcal fit --law FAMILY=gamma.",
        sensitivity=listed(gamma, fit, explains="better" if better else "as well"),
    )


def check_log_normal_means(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Compare the paper's log-normal means with chosen gamma rates.

    The log-normal law is the published one.
    """
    gain = 2 * (fit.top.top.loglik - (fit.loglik or 0.0))
    if fit.law != "gamma" or gain < -REJECTS:
        return None
    explains: Explains = "better" if gain > REJECTS else "as well"
    top = fit.top
    intervals = DurationProfile(totals=fit.totals, top=top, df=exposure.units - 1).intervals(0.95)
    numbers = dict(zip(fit.parameters, (top.mean, top.sd), strict=False))
    return Finding(
        name="log_normal_means",
        sentence=f"Log-normal means explain the data {'better' if gain > REJECTS else 'about as well'}: with them the mean would be "
        f"{shown_time(top.mean)} and the standard deviation {shown_time(top.sd)}, not {numbers_of(fit)}.",
        sensitivity=other_laws("lognormal", explains, numbers, intervals[:2]),
    )
