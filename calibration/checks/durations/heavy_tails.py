"""Are some people away far longer than a log-normal law of the workers' means says?

Student's t of log A has a heavier tail; the log-normal law is its limit at the edge of infinitely many degrees of freedom, so the
likelihood ratio has half a chi-squared (Self and Liang 1987). Gamma rates of coming back have a power tail. Few people show anything of
a tail that they have: a t with 3 degrees of freedom stands beside M and S as long as the data do not reject it, up to 60 people as long as
it does not explain clearly worse.
"""

from calibration.checks.durations.beside import (
    HEAVY_TAIL,
    REJECTS,
    TAIL_DF,
    UNEVEN,
    is_small,
    laws_beside,
    listed,
    numbers_of,
    numbers_under,
    tail_of_three,
)
from calibration.checks.finding import REJECTED, Explains, Finding, edge_p
from calibration.inference.formatting import format_p
from calibration.models.durations.exposure import CensoredDurations
from calibration.models.durations.fit import DurationFit

FEW_WORKERS = 60
CLEARLY_WORSE = 5.41
"""Likelihood ratio at which the tail of few people is no longer held: the 1 % point of half a chi-squared."""


def check_heavy_tails(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Hold a heavier tail of the workers' means beside the log-normal one."""
    if not is_small(exposure):
        return None
    laws = laws_beside(exposure)
    ratio = max(2 * laws.gain(HEAVY_TAIL), 0.0)
    p_value = edge_p(ratio)
    tail, three = laws.others[HEAVY_TAIL], tail_of_three(exposure.totals(), laws.top)
    is_few = exposure.units <= FEW_WORKERS and 2 * (laws.top.top.loglik - three.loglik) <= CLEARLY_WORSE
    if is_few or 2 * (laws.best - three.loglik) <= REJECTS:
        tail = three
    is_open = is_few or 2 * (laws.best - tail.loglik) <= REJECTS
    if not is_open and p_value >= REJECTED:
        return None
    explains: Explains = "better" if p_value < REJECTED else "as well"
    sentence = (
        f"Some workers' times are far longer than those of the others ({format_p(p_value)}): the mean and the standard deviation rest on a tail that "
        f"nobody saw ({numbers_of(fit)}). Report the median and the quartiles."
        if p_value < REJECTED
        else f"Whether the workers' means have a heavier tail cannot be told: with one {numbers_under(tail)}, not {numbers_of(fit)}."
    )
    return Finding(
        name="heavy_tails",
        p_value=p_value,
        explains=UNEVEN,
        gain=ratio / 2,
        sentence=sentence,
        sensitivity=listed(tail, fit, explains=explains, most_df=TAIL_DF, sd_has_end=False)
        if is_open
        else {},
    )
