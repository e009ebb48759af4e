"""Are there two kinds of people, some who come often and some who seldom come?

An example is many times a day and once a week.

A mixture of two log-normal laws has two numbers more. Its likelihood ratio is irregular (McLachlan and Peel 2000); chi-squared with two
degrees of freedom has its 1 % point, 9.2, where one right study in a hundred has it.
"""

from scipy.special import chdtrc, expit

from calibration.checks.durations.beside import (
    REJECTS,
    TWO_KINDS,
    UNEVEN,
    is_small,
    laws_beside,
    listed,
    numbers_of,
    numbers_under,
)
from calibration.checks.finding import REJECTED, Finding, explains_at
from calibration.inference.formatting import format_p
from calibration.models.durations.exposure import CensoredDurations
from calibration.models.durations.fit import DurationFit
from metrics.errors import percent


def check_two_kinds(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Compare two kinds of people with a single log-normal law."""
    if not is_small(exposure):
        return None
    laws = laws_beside(exposure)
    kinds = laws.others[TWO_KINDS]
    ratio = max(2 * laws.gain(TWO_KINDS), 0.0)
    p_value = float(chdtrc(2, ratio))
    is_open = 2 * (laws.best - kinds.loglik) <= REJECTS
    if not is_open and p_value >= REJECTED:
        return None
    share = float(expit(kinds.point[3]))
    return Finding(
        name="two_kinds_of_people",
        p_value=p_value,
        explains=UNEVEN,
        gain=ratio / 2,
        sentence=f"With two kinds of people, {percent(share)} of them with shorter times ({format_p(p_value)}), {numbers_under(kinds)}, not "
        f"{numbers_of(fit)}.",
        sensitivity=listed(kinds, fit, explains=explains_at(p_value)) if is_open else {},
    )
