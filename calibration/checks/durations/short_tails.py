"""Is nobody away as long as a log-normal law of the workers' means says?

Generalised gamma means with q > 0 end sooner; q = 0, the log-normal law, is the edge, so the likelihood ratio
has half a chi-squared.
"""

from calibration.checks.durations.beside import (
    REJECTS,
    SHORT_TAIL,
    UNEVEN,
    is_small,
    laws_beside,
    listed,
    numbers_of,
    numbers_under,
)
from calibration.checks.finding import REJECTED, Finding, edge_p, explains_at
from calibration.inference.formatting import format_p
from calibration.models.durations.exposure import CensoredDurations
from calibration.models.durations.fit import DurationFit

MIN_Q = 0.01
"""Smallest q that differs from the log-normal law."""


def check_short_tails(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Compare a shorter tail of the workers' means with the log-normal one."""
    if not is_small(exposure):
        return None
    laws = laws_beside(exposure)
    short = laws.others[SHORT_TAIL]
    ratio = max(2 * laws.gain(SHORT_TAIL), 0.0)
    p_value = edge_p(ratio)
    is_open = 2 * (laws.best - short.loglik) <= REJECTS
    if short.point[2] < MIN_Q or (not is_open and p_value >= REJECTED):
        return None
    text = f"With a shorter tail of the workers' means {numbers_under(short)}, not {numbers_of(fit)}"
    return Finding(
        name="short_tails",
        p_value=p_value,
        explains=UNEVEN,
        gain=ratio / 2,
        sentence=f"{text} ({format_p(p_value)})."
        if p_value < REJECTED
        else f"{text}; the data leave it open.",
        sensitivity=listed(short, fit, explains=explains_at(p_value)) if is_open else {},
    )
