"""The figures of the report. Each function takes numbers and returns inline SVG; shapes tell as much as colours do."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator, PercentFormatter
from numpy.typing import NDArray

from study_app.report.svg import COLOURS, drawing_style, inline_svg, new_drawing
from study_app.report.wording import NARROW

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """Agreement over patience, to be drawn.

    Attributes
    ----------
    patience : (points,) ndarray of float
        L in counted characters.
    agreement, band_low, band_high : (points,) ndarray of float
        The curve and its simultaneous band.
    ceiling, perfect : float
        Agreement of a second panel, and of a perfect measure; NaN where unknown.
    """

    patience: Floats
    agreement: Floats
    band_low: Floats
    band_high: Floats
    ceiling: float
    perfect: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A value of the patience to be marked below the curve.

    Attributes
    ----------
    label : str
        Short; stands at the axis.
    value, low, high : float
        Estimate and interval in counted characters; NaN for no interval, infinity for an open end.
    """

    label: str
    value: float
    low: float
    high: float


def scatter(difference: Floats, share: Floats, *, key: str, measure: str) -> Markup:
    """Draw vote share against score difference, one sign a pair; the quadrants of agreement are shaded.

    Circles agree, triangles disagree, crosses are tied in score or votes (Fig. 3 of two-layered-summaries.txt).
    """
    reach = 1.06 * float(np.abs(difference).max(initial=0.0)) or 1.0
    together = np.sign(difference) * np.sign(share - 0.5)
    with drawing_style():
        drawing = new_drawing(3.3, 2.9)
        axes = drawing.add_subplot()
        for left, low in ((0.0, 0.5), (-reach, -0.05)):
            axes.fill_between([left, left + reach], low, low + 0.55, color=COLOURS["shade"], linewidth=0)
        axes.axhline(0.5, color=COLOURS["muted"], linewidth=0.8)
        axes.axvline(0, color=COLOURS["muted"], linewidth=0.8)
        for sign, marker, colour in ((1, "o", "agree"), (-1, "^", "disagree"), (0, "x", "ink")):
            chosen = together == sign
            axes.plot(
                difference[chosen],
                share[chosen],
                marker,
                color=COLOURS[colour],
                markersize=3.6,
                markeredgewidth=1.0,
                markerfacecolor=COLOURS[colour] if sign == 1 else "none",
                alpha=0.65 if sign else 0.9,
                clip_on=False,
            )
        axes.set(xlim=(-reach, reach), ylim=(-0.05, 1.05))
        axes.set_xlabel(f"difference in {measure}")
        axes.set_ylabel("share of votes")
        axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=f"{NARROW}%"))
        return inline_svg(drawing, key)


def curve_with_marks(curve: Curve, marks: Sequence[Mark], *, key: str, measure: str) -> Markup:
    """Draw agreement over patience with its band and ceilings, and below it where patience was estimated."""
    with drawing_style():
        drawing = new_drawing(4.1, 2.5 + 0.22 * len(marks))
        ratios = [2.3, 0.25 + 0.22 * len(marks)]
        upper, lower = drawing.subplots(2, 1, sharex=True, height_ratios=ratios)
        _draw_curve(upper, curve)
        upper.set_ylabel(f"agreement of {measure}")
        _draw_marks(lower, marks, curve.patience)
        for mark in marks:
            upper.axvline(mark.value, color=COLOURS["grid"], linewidth=0.6, zorder=0)
        lower.set_xlabel("patience L, in counted characters")
        return inline_svg(drawing, key)


def worker_scatter(
    seconds: Floats,
    consistency: Floats,
    excluded: NDArray[np.bool_],
    *,
    limits: tuple[float | None, float | None],
    key: str,
) -> Markup:
    """Draw each worker's consistency against search time; crosses are excluded, lines are the rule's limits."""
    spread = 0.018 * _rank_within(np.round(consistency, 3), seconds)
    with drawing_style():
        drawing = new_drawing(4.1, 2.5)
        axes = drawing.add_subplot()
        for chosen, marker, colour, size in (
            (~excluded, "o", "agree", 3.6),
            (excluded, "x", "disagree", 4.4),
        ):
            axes.plot(
                seconds[chosen],
                (consistency + spread)[chosen],
                marker,
                color=COLOURS[colour],
                markersize=size,
                alpha=0.75,
            )
        for limit, line in zip(limits, (axes.axvline, axes.axhline), strict=True):
            if limit is not None:
                line(limit, color=COLOURS["muted"], linewidth=0.9, linestyle=(0, (4, 3)))
        axes.set_xlabel("mean search time, in seconds")
        axes.set_ylabel("repeats answered alike")
        axes.set_ylim(-0.1, 1.1)
        axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=f"{NARROW}%"))
        return inline_svg(drawing, key)


def _draw_curve(axes: Axes, curve: Curve) -> None:
    axes.grid(visible=True, axis="y")
    if np.isfinite([curve.ceiling, curve.perfect]).all():
        axes.axhspan(curve.ceiling, curve.perfect, color=COLOURS["accent"], alpha=0.22, linewidth=0)
    axes.fill_between(
        curve.patience, curve.band_low, curve.band_high, color=COLOURS["agree"], alpha=0.18, linewidth=0
    )
    axes.plot(curve.patience, curve.agreement, color=COLOURS["agree"], linewidth=1.6)
    axes.set_xscale("log")
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=f"{NARROW}%"))
    axes.tick_params(axis="x", which="both", length=0)


def _draw_marks(axes: Axes, marks: Sequence[Mark], patience: Floats) -> None:
    """Draw one row a mark: its value and its interval, an open end running into the edge."""
    low, high = float(patience.min()), float(patience.max())
    for row, mark in enumerate(marks):
        if not np.isnan(mark.low):
            ends = np.clip([mark.low, mark.high], low, high)
            axes.plot(
                ends, [row, row], "|-", color=COLOURS["disagree"], linewidth=2.0, markersize=9, zorder=3
            )
        value = float(np.clip(mark.value, low, high))
        axes.plot([value], [row], "D", color=COLOURS["ink"], markersize=3.6, clip_on=False)
        axes.axvline(value, color=COLOURS["grid"], linewidth=0.6, zorder=0)
    axes.set_yticks(range(len(marks)), [mark.label for mark in marks])
    axes.set_ylim(len(marks) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 3.0)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}".replace(",", NARROW)))


def _rank_within(groups: Floats, order: Floats) -> Floats:
    """Return small offsets that pull apart points of one height: -1, 0, 1, -1, ... along the other axis."""
    ranks = np.zeros(groups.size)
    for value in np.unique(groups):
        members = np.flatnonzero(groups == value)
        ranks[members[np.argsort(order[members], kind="stable")]] = np.arange(members.size) % 3 - 1
    return ranks
