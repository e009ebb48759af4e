"""Are some people away far longer than log-normal means predict?

Student's t of log A has a heavier tail; the log-normal law is its limit at the edge of infinitely many degrees of freedom, so the
likelihood ratio has half a chi-squared (Self and Liang 1987). Gamma rates of return have a power tail. A small sample seldom shows a
heavy tail, so a t with 3 degrees of freedom is listed beside M and S unless the data reject it; with at most 60 people, unless it fits
clearly worse than the log-normal law.
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
from calibration.checks.finding import REJECTED, Finding, edge_p, explains_at
from calibration.inference.formatting import format_p
from calibration.models.durations.exposure import CensoredDurations
from calibration.models.durations.fit import DurationFit

FEW_WORKERS = 60
"""Largest number of workers too small for the usual rejection of heavy tails."""
CLEARLY_WORSE = 5.41
"""Likelihood ratio above which few workers reject a heavy tail.

It is the 1 % point of half a chi-squared.
"""

REPORT_QUARTILES = (
    "Report the median and the quartiles: rows *_median_seconds, *_quartile_low_seconds and *_quartile_high_seconds of "
    "user-model.json and of prefcal fit --format csv"
)
"""Advice where M and S depend on a tail; tables for people have no rows of these."""


def check_heavy_tails(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Compare a heavier tail of the workers' means with the log-normal one."""
    if not is_small(exposure):
        return None
    laws = laws_beside(exposure)
    ratio = max(2 * laws.gain(HEAVY_TAIL), 0.0)
    p_value = edge_p(ratio)
    tail, t3 = laws.others[HEAVY_TAIL], tail_of_three(exposure.totals(), laws.top)
    keeps_t3 = exposure.units <= FEW_WORKERS and 2 * (laws.top.top.loglik - t3.loglik) <= CLEARLY_WORSE
    if keeps_t3 or 2 * (laws.best - t3.loglik) <= REJECTS:
        tail = t3
    is_plausible = keeps_t3 or 2 * (laws.best - tail.loglik) <= REJECTS
    if not is_plausible and p_value >= REJECTED:
        return None
    sentence = (
        f"Some workers' times are far longer than those of the others ({format_p(p_value)}): the mean and the standard deviation depend on a tail "
        f"beyond the data ({numbers_of(fit)}). {REPORT_QUARTILES}."
        if p_value < REJECTED
        else f"The data cannot exclude a heavier tail of the workers' means; with one {numbers_under(tail)} (fit: {numbers_of(fit)})."
    )
    return Finding(
        name="heavy_tails",
        p_value=p_value,
        explains=UNEVEN,
        gain=ratio / 2,
        sentence=sentence,
        sensitivity=listed(tail, fit, explains=explains_at(p_value), most_df=TAIL_DF, sd_has_end=False)
        if is_plausible
        else {},
    )
