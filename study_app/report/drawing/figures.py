"""The figures on agreement. Each function takes a look and numbers and returns a drawing; shapes tell as much as colours do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator, PercentFormatter
from numpy.typing import NDArray

from study_app.report.drawing.canvas import new_drawing
from study_app.report.drawing.look import Look
from study_app.report.wording import NARROW, shortened

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """Agreement over a parameter, to be drawn.

    Attributes
    ----------
    values : (points,) ndarray of float
        The parameter: patience in counted characters, alpha, or lateness decay.
    agreement, band_low, band_high : (points,) ndarray of float
        The curve and its simultaneous band.
    ceiling, perfect : float
        Agreement of a second panel, and of a perfect measure; NaN where unknown.
    label : str
        Of the axis.
    log : bool
        Whether the parameter is drawn on a log scale.
    """

    values: Floats
    agreement: Floats
    band_low: Floats
    band_high: Floats
    ceiling: float
    perfect: float
    label: str
    log: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A value to be marked below a curve, or an agreement in a row of them.

    Attributes
    ----------
    label : str
        Short; stands at the axis.
    value, low, high : float
        Estimate and interval; NaN for no interval, infinity for an open end.
    sign : str
        Of matplotlib's markers.
    """

    label: str
    value: float
    low: float
    high: float
    sign: str = "D"


def agreement_rows(look: Look, *, marks: Sequence[Mark], ceiling: float, perfect: float) -> Drawing:
    """Draw the agreement of every measure with its interval, one a row, beside the ceilings as a bar across.

    A row whose interval is unknown is dotted from edge to edge.
    """
    drawing = new_drawing(4.6, 0.75 + 0.23 * len(marks))
    axes = drawing.add_subplot()
    axes.grid(visible=True, axis="x")
    _draw_ceiling(axes.axvspan, look, ceiling, perfect)
    for row, mark in enumerate(marks):
        if not np.isnan(mark.low):
            axes.plot([mark.low, mark.high], [row, row], color=look["agree"], linewidth=1.4, zorder=2)
        else:
            axes.axhline(row, color=look["muted"], linewidth=0.9, linestyle=(0, (1, 3)), zorder=1)
        face = look["agree"] if mark.sign != "x" else "none"
        axes.plot(
            [mark.value],
            [row],
            mark.sign,
            color=look["agree"] if mark.sign != "x" else look["disagree"],
            markerfacecolor="none" if mark.sign == "s" else face,
            markersize=4.6,
            zorder=3,
        )
    axes.axvline(0.5, color=look["muted"], linewidth=0.9, linestyle=(0, (4, 3)))
    axes.set_yticks(range(len(marks)), [shortened(mark.label) for mark in marks])
    axes.set_ylim(len(marks) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    in_percent(axes.xaxis)
    axes.set_xlabel("agreement with the preferences")
    return drawing


def scatter(look: Look, *, difference: Floats, share: Floats, measure: str) -> Drawing:
    """Draw vote share against score difference, one sign a pair; the quadrants of agreement are shaded.

    Circles agree, triangles disagree, crosses are tied in score or votes (Fig. 3 of two-layered-summaries.txt).
    """
    reach = 1.06 * float(np.abs(difference).max(initial=0.0)) or 1.0
    together = np.sign(difference) * np.sign(share - 0.5)
    drawing = new_drawing(3.3, 2.9)
    axes = drawing.add_subplot()
    for left, low in ((0.0, 0.5), (-reach, -0.05)):
        axes.fill_between([left, left + reach], low, low + 0.55, color=look["shade"], linewidth=0)
    axes.axhline(0.5, color=look["muted"], linewidth=0.8)
    axes.axvline(0, color=look["muted"], linewidth=0.8)
    for sign, marker, colour in ((1, "o", "agree"), (-1, "^", "disagree"), (0, "x", "ink")):
        chosen = together == sign
        axes.plot(
            difference[chosen],
            share[chosen],
            marker,
            color=look[colour],
            markersize=3.6,
            markeredgewidth=1.0,
            markerfacecolor=look[colour] if sign == 1 else "none",
            alpha=0.65 if sign else 0.9,
            clip_on=False,
        )
    axes.set(xlim=(-reach, reach), ylim=(-0.05, 1.05))
    axes.set_xlabel(f"difference in {shortened(measure)}")
    axes.set_ylabel("share of votes")
    in_percent(axes.yaxis)
    return drawing


def curve_with_marks(look: Look, *, curve: Curve, marks: Sequence[Mark], measure: str) -> Drawing:
    """Draw agreement over a parameter with its band and ceilings, and below it where the parameter was estimated."""
    drawing = new_drawing(4.1, 2.5 + 0.22 * len(marks))
    ratios = [2.3, 0.25 + 0.22 * len(marks)]
    upper, lower = drawing.subplots(2, 1, sharex=True, height_ratios=ratios)
    _draw_curve(upper, look, curve)
    upper.set_ylabel(f"agreement of {shortened(measure)}")
    _draw_marks(lower, look, marks, curve)
    for mark in marks:
        upper.axvline(mark.value, color=look["grid"], linewidth=0.6, zorder=0)
    lower.set_xlabel(curve.label)
    return drawing


def in_percent(axis: Axis) -> None:
    """Write the numbers of an axis as percentages."""
    axis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=f"{NARROW}%"))


def with_thousands(axis: Axis) -> None:
    """Write the numbers of an axis with marks between thousands."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}".replace(",", NARROW)))


def _draw_ceiling(span: Callable[..., object], look: Look, ceiling: float, perfect: float) -> None:
    """Draw a bar across from the agreement of a second panel to that of a perfect measure; nothing if they are unknown."""
    if np.isfinite([ceiling, perfect]).all():
        span(ceiling, perfect, facecolor=look["accent"], edgecolor=look["accent"], alpha=0.22, linewidth=1.0)
        span(ceiling, perfect, fill=False, edgecolor=look["accent"], hatch="////", linewidth=0, alpha=0.35)


def _draw_curve(axes: Axes, look: Look, curve: Curve) -> None:
    axes.grid(visible=True, axis="y")
    _draw_ceiling(axes.axhspan, look, curve.ceiling, curve.perfect)
    axes.fill_between(
        curve.values, curve.band_low, curve.band_high, color=look["agree"], alpha=0.18, linewidth=0
    )
    axes.plot(curve.values, curve.agreement, color=look["agree"], linewidth=1.6)
    if curve.log:
        axes.set_xscale("log")
    in_percent(axes.yaxis)
    axes.tick_params(axis="x", which="both", length=0)


def _draw_marks(axes: Axes, look: Look, marks: Sequence[Mark], curve: Curve) -> None:
    """Draw one row a mark: its value and its interval, an open end running into the edge."""
    low, high = float(curve.values.min()), float(curve.values.max())
    for row, mark in enumerate(marks):
        if not np.isnan(mark.low):
            ends = np.clip([mark.low, mark.high], low, high)
            axes.plot(ends, [row, row], "|-", color=look["disagree"], linewidth=2.0, markersize=9, zorder=3)
        value = float(np.clip(mark.value, low, high))
        axes.plot([value], [row], mark.sign, color=look["ink"], markersize=3.6, clip_on=False)
        axes.axvline(value, color=look["grid"], linewidth=0.6, zorder=0)
    axes.set_yticks(range(len(marks)), [mark.label for mark in marks])
    axes.set_ylim(len(marks) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(low, high)
    if curve.log:
        axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 3.0)))
        axes.xaxis.set_minor_locator(NullLocator())
        with_thousands(axes.xaxis)
