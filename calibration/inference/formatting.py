"""How fits are printed and drawn: numbers in words, and what all plots have in common.

Messages, summaries and plots print numbers alike. A plot has a title that says what to look for, and a legend that covers nothing.
"""

import math
from typing import TYPE_CHECKING

from calibration.inference.uncertainty import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALLEST_P = 0.001
SIGNIFICANT_DIGITS = 10
_UNITS = (("days", 86_400, 3), ("h", 3_600, 2), ("min", 60, 2))
"""A unit of time, its seconds, and how many of it there must be at least."""


def round_significant(number: float) -> float:
    """Round to ten significant digits, so that the last bits of a sum do not show in files."""
    return float(f"{number:.{SIGNIFICANT_DIGITS}g}")


def format_number(number: float) -> str:
    """Print a number for people: four significant digits, all digits before the point, no exponent for large ones."""
    return f"{number:.0f}" if 1000 <= abs(number) < 1e15 else f"{number:.4g}"


def shown_roughly(number: float) -> str:
    """Print three significant digits without an exponent: `10,600`."""
    return f"{float(f'{number:.3g}'):,.12g}"


def format_interval(interval: Interval) -> str:
    """Print an interval: `[790.1, 901.3]`, `at least 790.1` and `at most 901.3` with an open end, else `no interval`.

    From 0 on without an end leaves everything open to a parameter that is not negative: `cannot be told`.
    """
    low, high = interval
    if low == 0 and high is None:
        return "cannot be told"
    if low is None or high is None:
        known = [
            f"at {word} {format_number(end)}"
            for word, end in (("least", low), ("most", high))
            if end is not None
        ]
        return known[0] if known else "no interval"
    return f"[{format_number(low)}, {format_number(high)}]"


def shown_level(level: float) -> str:
    """Print a level: `95 %`."""
    return f"{100 * level:.4g} %"


def format_p(p_value: float) -> str:
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


BAND = "0.85"
LEGEND_BELOW = 4.5
"""Font sizes between axes and legend; tick labels and one line of axis label fit between."""


def label_axes(ax: "Axes", shows: str, look_for: str) -> None:
    """Give axes their title in two lines, what they show and what to look for, and their legend below.

    Below the axes a legend hides no data, wherever these lie.
    """
    ax.set_title(f"{shows}\n{look_for}", fontsize="medium")
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        borderaxespad=LEGEND_BELOW,
        ncols=3,
        frameon=False,
        fontsize="small",
    )


def band_label(level: float) -> str:
    """Return the legend of a band: `95 % of simulated studies`."""
    return f"{shown_level(level)} of simulated studies"


def tails(level: float) -> tuple[float, float]:
    """Return the two shares between which a band of this level lies: 0.025 and 0.975."""
    return (1 - level) / 2, (1 + level) / 2
