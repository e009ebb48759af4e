"""Numbers in words: how messages, summaries and plots print them."""

import math

from calibration.inference.uncertainty import Interval

SMALLEST_P = 0.001
SIGNIFICANT_DIGITS = 10
_UNITS = (("days", 86_400, 3), ("h", 3_600, 2), ("min", 60, 2))
"""A unit of time, its seconds, and how many of it there must be at least."""


def short(number: float) -> float:
    """Round to ten significant digits, so that the last bits of a sum do not show in files."""
    return float(f"{number:.{SIGNIFICANT_DIGITS}g}")


def shown(number: float) -> str:
    """Print a number for people: four significant digits, all digits before the point, no exponent for large ones."""
    return f"{number:.0f}" if 1000 <= abs(number) < 1e15 else f"{number:.4g}"


def shown_roughly(number: float) -> str:
    """Print three significant digits without an exponent: `10,600`."""
    return f"{float(f'{number:.3g}'):,.12g}"


def shown_interval(interval: Interval) -> str:
    """Print an interval: `[790.1, 901.3]`, `at least 790.1` and `at most 901.3` with an open end, else `no interval`."""
    low, high = interval
    if low is None or high is None:
        known = [
            f"at {word} {shown(end)}" for word, end in (("least", low), ("most", high)) if end is not None
        ]
        return known[0] if known else "no interval"
    return f"[{shown(low)}, {shown(high)}]"


def shown_level(level: float) -> str:
    """Print a level: `95 %`."""
    return f"{100 * level:.4g} %"


def shown_p(p_value: float) -> str:
    """Print a p-value: `p = 0.012`, or `p < 0.001`."""
    return f"p < {SMALLEST_P:g}" if p_value < SMALLEST_P else f"p = {p_value:.3f}"


def shown_time(seconds: float) -> str:
    """Print a time in a unit that suits it: `24.1 h`."""
    if not math.isfinite(seconds):
        return "infinite"
    for unit, size, least in _UNITS:
        if seconds >= least * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
