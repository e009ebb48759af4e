"""Formats of numbers, intervals and times, and axes common to all plots.

Messages, summaries and plots print numbers alike. A plot's title says what to look for, and its legend covers
nothing.
"""

import math
from typing import TYPE_CHECKING

from calibration.inference.uncertainty import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MIN_P = 0.001
SIGNIFICANT_DIGITS = 10
_UNITS = (("days", 86_400, 3), ("h", 3_600, 2), ("min", 60, 2))
"""Units of time: name, seconds, and the smallest number of them to print."""


def round_significant(number: float) -> float:
    """Round to ten significant digits, which hides the last bits of a sum."""
    return float(f"{number:.{SIGNIFICANT_DIGITS}g}")


def format_number(number: float) -> str:
    """Format a number with four significant digits and no exponent if large.

    All digits before the point are printed.
    """
    return f"{number:.0f}" if 1000 <= abs(number) < 1e15 else f"{number:.4g}"


def shown_roughly(number: float) -> str:
    """Format three significant digits without an exponent: `10,600`."""
    return f"{float(f'{number:.3g}'):,.12g}"


def format_interval(interval: Interval) -> str:
    """Format an interval, such as `[790.1, 901.3]` or `at least 790.1`.

    An end open below gives `at most 901.3`; two open ends give `no interval`.

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
    """Format a level: `95 %`."""
    return f"{100 * level:.4g} %"


def format_p(p_value: float) -> str:
    """Format a p-value: `p = 0.012`, or `p < 0.001`."""
    return f"p < {MIN_P:g}" if p_value < MIN_P else f"p = {p_value:.3f}"


def shown_time(seconds: float) -> str:
    """Format a time in a suitable unit: `24.1 h`."""
    if not math.isfinite(seconds):
        return "infinite"
    for unit, size, least in _UNITS:
        if seconds >= least * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


BAND = "0.85"
LEGEND_BELOW = 4.5
"""Distance of the legend below the axes, in font sizes.

Tick labels and one line of axis label fit between.
"""


def label_axes(ax: "Axes", shows: str, look_for: str) -> None:
    """Label axes with a title, a subtitle and a legend below.

    The title says what the plot shows, the subtitle what to look for.
    """
    ax.set_title(f"{shows}\n{look_for}", fontsize="medium")
    put_legend_below(ax)


def put_legend_below(ax: "Axes") -> None:
    """Put the legend below the axes, where it hides no data, wherever these lie."""
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        borderaxespad=LEGEND_BELOW,
        ncols=3,
        frameon=False,
        fontsize="small",
    )


def band_label(level: float) -> str:
    """Return the legend label of a band: `95 % of simulated studies`."""
    return f"{shown_level(level)} of simulated studies"


def tails(level: float) -> tuple[float, float]:
    """Return the two quantile levels of a central band: 0.025 and 0.975."""
    return (1 - level) / 2, (1 + level) / 2
