"""Figures on agreement, on workers, and of fits, in the report's style.

Each function takes a look and numbers and returns a drawing; shapes tell as much as colours do. `ranking_figures` has those
on systems and streams.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection
from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_hex, to_rgba
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import (
    FixedLocator,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
    PercentFormatter,
)

from metrics.arrays import Bools, Floats
from study_app.report.drawing.canvas import MAX_TICKS, new_drawing
from study_app.report.drawing.style import ReportStyle
from study_app.report.page import NARROW, quantity, shortened

Colour: TypeAlias = tuple[float, float, float, float]
NAMED = {"#0072b2": "agree", "#d55e00": "disagree", "#009e73": "muted"}
DARKEST_GREY, LIGHTEST_GREY = 0.2, 0.7
LABEL_CHARS = 34
"""Longest line beside an axis."""
MAX_MARKERS = 1_000
"""Most pairs of a scatter with a marker each; cells count more of them."""
CELLS = (30, 11)
"""Cells along the two axes of a large scatter; one is a tenth of the votes high."""
CEILING = "P"
"""Marker of the ceilings: people, and a perfect measure."""
JUDGE_SIGN = "d"
"""Marker of judges that are no people."""
DOTTED, DASHED = (0, (1, 3)), (0, (4, 3))


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveMark:
    """A value in a row of them.

    Attributes
    ----------
    label : str
        Stands at the axis.
    value, low, high : float
        Estimate and interval; NaN for no interval, infinity for an open end.
    sign : str
        Of matplotlib's markers.
    there : float
        Agreement on the pairs that the ceilings are of, where these are fewer; else NaN.
    """

    label: str
    value: float
    low: float = np.nan
    high: float = np.nan
    sign: str = "D"
    there: float = np.nan


def rows_with_intervals(
    report_style: ReportStyle,
    *,
    marks: Sequence[CurveMark],
    label: str,
    ranks: Sequence[str] = (),
    ranks_label: str = "ranks left open",
    reference: float = np.nan,
    of_worths: bool = False,
) -> Drawing:
    """Draw a share, or a worth, and its interval in each row, the first on top.

    Rows of ceilings are shaded; ranks are on the right.

    A row whose interval is unknown is dotted from edge to edge. The dashed line is one half, of worths 0; the other one a reference, if there
    is one.
    """
    drawing, axes = new_drawing(4.6, 0.75 + 0.23 * len(marks))
    axes.grid(visible=True, axis="x")
    for row, mark in enumerate(marks):
        colour = report_style[
            {"x": "disagree", JUDGE_SIGN: "disagree", CEILING: "ink"}.get(mark.sign, "agree")
        ]
        if mark.sign == CEILING:
            axes.axhspan(row - 0.5, row + 0.5, color=report_style["raised"], linewidth=0, zorder=0)
        if np.isnan(mark.low):
            axes.axhline(row, color=report_style["muted"], linewidth=0.9, linestyle=DOTTED, zorder=1)
        else:
            axes.plot([mark.low, mark.high], [row, row], color=colour, linewidth=1.4, zorder=2)
        face = "none" if mark.sign == "s" else colour
        axes.plot(
            [mark.value], [row], mark.sign, color=colour, markerfacecolor=face, markersize=4.6, zorder=3
        )
        if not np.isnan(mark.there):
            axes.plot(
                [mark.there],
                [row],
                "|",
                color=report_style["ink"],
                markersize=9,
                markeredgewidth=1.6,
                zorder=4,
            )
    axes.axvline(0.0 if of_worths else 0.5, color=report_style["muted"], linewidth=0.9, linestyle=DASHED)
    if not np.isnan(reference):
        axes.axvline(reference, color=report_style["ink"], linewidth=0.7, zorder=1)
    axes.set_yticks(range(len(marks)), [shortened(mark.label) for mark in marks])
    axes.set_ylim(len(marks) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    if not of_worths:
        in_percent(axes.xaxis)
    axes.set_xlabel(label)
    if ranks:
        beside = axes.secondary_yaxis("right")
        beside.set_yticks(range(len(ranks)), list(ranks))
        beside.tick_params(axis="y", length=0)
        beside.set_ylabel(ranks_label)
    return drawing


def scatter(
    report_style: ReportStyle, *, difference: Floats, share: Floats, measure: str, thing: str = "system"
) -> Drawing:
    """Draw vote share against score difference, one marker per pair.

    The quadrants of agreement are shaded.

    Circles agree, triangles disagree, crosses are tied in score or votes (Fig. 3 of two-layered-summaries.txt). Of more than `MAX_MARKERS`
    pairs cells count how many there are, on a logarithmic scale, since signs would lie on each other.
    """
    reach = 1.06 * float(np.abs(difference).max(initial=0.0)) or 1.0
    together = np.sign(difference) * np.sign(share - 0.5)
    drawing, axes = new_drawing(3.3, 2.9)
    for left, low in ((0.0, 0.5), (-reach, -0.05)):
        axes.fill_between([left, left + reach], low, low + 0.55, color=report_style["shade"], linewidth=0)
    axes.axhline(0.5, color=report_style["muted"], linewidth=0.8)
    axes.axvline(0, color=report_style["muted"], linewidth=0.8)
    if difference.size > MAX_MARKERS:
        columns, rows = np.linspace(-reach, reach, CELLS[0] + 1), np.linspace(-0.05, 1.05, CELLS[1] + 1)
        counts = np.histogram2d(share, difference, bins=(rows, columns))[0]
        colours = [
            to_rgba(report_style["agree"], 0.25),
            to_rgba(report_style["agree"]),
            to_rgba(report_style["ink"]),
        ]
        shades = LinearSegmentedColormap.from_list("counts", colours)
        shown = np.ma.masked_equal(counts, 0)
        axes.pcolormesh(columns, rows, shown, cmap=shades, norm=LogNorm(1, max(2, counts.max())))
    else:
        for sign, marker, colour in ((1, "o", "agree"), (-1, "^", "disagree"), (0, "x", "ink")):
            chosen = together == sign
            axes.plot(
                difference[chosen],
                share[chosen],
                marker,
                color=report_style[colour],
                markersize=3.6,
                markeredgewidth=1.0,
                markerfacecolor=report_style[colour] if sign == 1 else "none",
                alpha=0.65 if sign else 0.9,
                clip_on=False,
            )
    axes.set(xlim=(-reach, reach), ylim=(-0.05, 1.05))
    axes.set_xlabel(f"difference in {shortened(measure)}")
    axes.set_ylabel(f"votes for the first {thing}")
    in_percent(axes.yaxis)
    return drawing


def curve_with_marks(
    report_style: ReportStyle,
    *,
    values: Floats,
    agreement: Floats,
    band: tuple[Floats, Floats],
    ceilings: tuple[float, float],
    marks: Sequence[CurveMark],
    labels: tuple[str, str],
    log: bool,
) -> Drawing:
    """Draw agreement over a parameter, with its band and estimates.

    The band is simultaneous; estimates are below the curve.

    Parameters
    ----------
    report_style : ReportStyle
    values, agreement : (points,) ndarray of float
        The parameter, and the curve.
    band : two (points,) ndarrays of float
        Its lower and upper end; NaN where it has none.
    ceilings : (float, float)
        Agreement of a second panel, and of a perfect measure; NaN where unknown.
    marks : sequence of CurveMark
        An open end of an interval runs into the edge.
    labels : (str, str)
        Of the parameter, and of the measure.
    log : bool
        Whether the parameter is drawn on a log scale.
    """
    drawing = Drawing(figsize=(4.1, 2.5 + 0.22 * len(marks)), layout="constrained")
    upper, lower = drawing.subplots(2, 1, sharex=True, height_ratios=[2.3, 0.25 + 0.22 * len(marks)])
    upper.grid(visible=True, axis="y")
    if np.isfinite(ceilings).all():
        upper.axhspan(
            *ceilings,
            facecolor=report_style["accent"],
            edgecolor=report_style["accent"],
            alpha=0.22,
            linewidth=1.0,
        )
        upper.axhspan(
            *ceilings, fill=False, edgecolor=report_style["accent"], hatch="////", linewidth=0, alpha=0.35
        )
    upper.fill_between(values, *band, color=report_style["agree"], alpha=0.18, linewidth=0)
    upper.plot(values, agreement, color=report_style["agree"], linewidth=1.6)
    in_percent(upper.yaxis)
    upper.tick_params(axis="x", which="both", length=0)
    low, high = float(values.min()), float(values.max())
    for row, mark in enumerate(marks):
        if not np.isnan(mark.low):
            ends = np.clip([mark.low, mark.high], low, high)
            lower.plot(
                ends, [row, row], "|-", color=report_style["disagree"], linewidth=2.0, markersize=9, zorder=3
            )
        value = float(np.clip(mark.value, low, high))
        lower.plot([value], [row], mark.sign, color=report_style["ink"], markersize=3.6, clip_on=False)
        for axes in (upper, lower):
            axes.axvline(value, color=report_style["grid"], linewidth=0.6, zorder=0)
    lower.set_yticks(range(len(marks)), [mark.label for mark in marks])
    lower.set_ylim(len(marks) - 0.4, -0.6)
    lower.spines["left"].set_visible(False)
    lower.tick_params(axis="y", length=0)
    if log:
        lower.set_xscale("log")
        lower.xaxis.set_major_locator(LogLocator(numticks=3))
        lower.xaxis.set_minor_locator(NullLocator())
        lower.xaxis.set_major_formatter(lambda value, _: quantity(value))
    lower.set_xlim(low, high)
    lower.set_xlabel(labels[0], wrap=True)
    upper.set_ylabel(f"agreement of {shortened(labels[1])}", wrap=True)
    return drawing


def in_percent(axis: Axis) -> None:
    """Write the numbers of an axis as percentages."""
    axis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=f"{NARROW}%"))


def worker_scatter(
    report_style: ReportStyle,
    *,
    seconds: Floats,
    consistency: Floats,
    excluded: Bools,
    limits: tuple[float | None, float | None],
) -> Drawing:
    """Draw each worker's consistency against search time.

    Crosses are excluded workers; lines are the limits of the rule.

    Points of one height are pulled apart a little.
    """
    order = np.lexsort((seconds, consistency))
    height = consistency.copy()
    height[order] += 0.018 * (np.arange(len(order)) % 3 - 1)
    drawing, axes = new_drawing(4.1, 2.5)
    _signs(axes, report_style, seconds, height, excluded)
    for limit, line in zip(limits, (axes.axvline, axes.axhline), strict=True):
        if limit is not None:
            line(limit, color=report_style["muted"], linewidth=0.9, linestyle=DASHED)
    axes.set_xlabel("mean search time, in seconds")
    axes.set_ylabel("repeats answered alike")
    axes.set_ylim(-0.1, 1.1)
    in_percent(axes.yaxis)
    return drawing


def worker_shares(
    report_style: ReportStyle,
    *,
    value: Floats,
    ends: tuple[Floats, Floats],
    excluded: Bools,
    reference: float,
    overall: tuple[float, float],
    label: str,
    as_percent: bool,
) -> Drawing:
    """Draw each worker's share with its interval, beside that of all workers.

    Parameters
    ----------
    report_style : ReportStyle
    value : (workers,) ndarray of float
        Each worker's share.
    ends : two (workers,) ndarrays of float
        Of its interval.
    excluded : (workers,) ndarray of bool
        Who was left out: crosses.
    reference : float
        What somebody without a lean, or without looking, would have.
    overall : (float, float)
        Interval of all workers together; NaN where unknown.
    label : str
        Of the axis.
    as_percent : bool
        Whether its numbers are percentages.
    """
    order, (low, high) = np.argsort(value, kind="stable"), ends
    rows = np.arange(1.0, len(order) + 1)
    drawing, axes = new_drawing(4.1, 2.5)
    if np.isfinite(overall).all():
        axes.axhspan(*overall, facecolor=report_style["agree"], alpha=0.22, linewidth=0)
    axes.axhline(reference, color=report_style["muted"], linewidth=0.9, linestyle=DASHED)
    axes.vlines(rows, low[order], high[order], color=report_style["accent"], linewidth=0.8)
    _signs(axes, report_style, rows, value[order], excluded[order])
    axes.xaxis.set_major_locator(MaxNLocator(MAX_TICKS, integer=True))
    axes.set_xlabel("workers, in order")
    axes.set_ylabel(label)
    axes.set_ylim(min(-0.05, float(low.min(initial=0.0)) - 0.05), 1.05)
    if as_percent:
        in_percent(axes.yaxis)
    return drawing


def _signs(axes: Axes, report_style: ReportStyle, x: Floats, y: Floats, excluded: Bools) -> None:
    for chosen, marker, colour, size in ((~excluded, "o", "agree", 3.6), (excluded, "x", "disagree", 4.4)):
        axes.plot(x[chosen], y[chosen], marker, color=report_style[colour], markersize=size, alpha=0.75)


def fit_drawing(report_style: ReportStyle, *, plot: Callable[[Axes], None]) -> Drawing:
    """Draw a fit's own figure, without its title, in the report's colours."""
    drawing, axes = new_drawing(3.7, 3.1)
    plot(axes)
    axes.set_title("")
    axes.set_ylabel(fill(axes.get_ylabel(), LABEL_CHARS))
    if isinstance(axes.xaxis.get_major_locator(), FixedLocator):
        axes.xaxis.set_major_locator(MaxNLocator(MAX_TICKS, integer=True))
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_formatter(lambda value, _: quantity(value))
            axis.set_minor_formatter(NullFormatter())
    if (legend := axes.get_legend()) is not None:
        legend.remove()
        handles, labels = axes.get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside lower center", ncols=2, fontsize="small")
    for artist in drawing.findobj(lambda drawn: isinstance(drawn, Line2D | Collection | Patch)):
        _recolour(artist, report_style)
    return drawing


def _recolour(artist: Any, report_style: ReportStyle) -> None:
    """Give one line, area or sign the look's colours."""
    is_line = isinstance(artist, Line2D)
    for part in ("color", "markerfacecolor", "markeredgecolor") if is_line else ("facecolor", "edgecolor"):
        colour = getattr(artist, f"get_{part}")()
        if isinstance(artist, Collection):
            colour = [_in_look(single, report_style) for single in colour]
        elif not (isinstance(colour, str) and colour.lower() in {"none", "auto"}):
            colour = _in_look(colour, report_style)
        getattr(artist, f"set_{part}")(colour)


def _in_look(colour: Any, report_style: ReportStyle) -> Colour:
    """Map a fit's colour to the report's: greys by lightness, others by role."""
    red, green, blue, alpha = to_rgba(colour)
    role = NAMED.get(to_hex(colour))
    if red == green == blue and red < 1:
        role = "ink" if red < DARKEST_GREY else "muted" if red < LIGHTEST_GREY else "grid"
    return (red, green, blue, alpha) if role is None else to_rgba(report_style[role], alpha)
