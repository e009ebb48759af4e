"""The figures on agreement, on workers, and those that fits make themselves, in the colours of a look.

Each function takes a look and numbers and returns a drawing; shapes tell as much as colours do. `stream_figures` has those
on streams.
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
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
    PercentFormatter,
)

from metrics.arrays import Bools, Floats
from study_app.report.drawing.canvas import new_drawing
from study_app.report.drawing.look import ReportLook
from study_app.report.page import NARROW, quantity, shortened

Colour: TypeAlias = tuple[float, float, float, float]
NAMED = {"#0072b2": "agree", "#d55e00": "disagree", "#009e73": "muted"}
DARKEST_GREY, LIGHTEST_GREY = 0.2, 0.7
LABEL_CHARS = 34
"""Longest line beside an axis."""
MOST_TICKS = 12
MOST_SIGNS, CELLS = 1_000, (30, 11)
"""Pairs of a scatter that have a sign each, and cells along either axis that count more of them: a tenth of the votes high."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnCurve:
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
    there : float
        Agreement on the pairs that the ceilings are of, where these are fewer; else NaN.
    """

    label: str
    value: float
    low: float
    high: float
    sign: str = "D"
    there: float = np.nan


def agreement_rows(look: ReportLook, *, marks: Sequence[Mark], ceiling: float, perfect: float) -> Drawing:
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
        if not np.isnan(mark.there):
            axes.plot(
                [mark.there], [row], "|", color=look["ink"], markersize=9, markeredgewidth=1.6, zorder=4
            )
    axes.axvline(0.5, color=look["muted"], linewidth=0.9, linestyle=(0, (4, 3)))
    axes.set_yticks(range(len(marks)), [shortened(mark.label) for mark in marks])
    axes.set_ylim(len(marks) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    in_percent(axes.xaxis)
    axes.set_xlabel("agreement with the preferences")
    return drawing


def scatter(
    look: ReportLook, *, difference: Floats, share: Floats, measure: str, thing: str = "system"
) -> Drawing:
    """Draw vote share against score difference, one sign a pair; the quadrants of agreement are shaded.

    Circles agree, triangles disagree, crosses are tied in score or votes (Fig. 3 of two-layered-summaries.txt). Of more than `MOST_SIGNS`
    pairs cells count how many there are, since signs would lie on each other.
    """
    reach = 1.06 * float(np.abs(difference).max(initial=0.0)) or 1.0
    together = np.sign(difference) * np.sign(share - 0.5)
    drawing = new_drawing(3.3, 2.9)
    axes = drawing.add_subplot()
    for left, low in ((0.0, 0.5), (-reach, -0.05)):
        axes.fill_between([left, left + reach], low, low + 0.55, color=look["shade"], linewidth=0)
    axes.axhline(0.5, color=look["muted"], linewidth=0.8)
    axes.axvline(0, color=look["muted"], linewidth=0.8)
    if difference.size > MOST_SIGNS:
        _draw_counts(axes, look, difference, share, reach)
    for sign, marker, colour in ((1, "o", "agree"), (-1, "^", "disagree"), (0, "x", "ink")):
        if difference.size > MOST_SIGNS:
            continue
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
    axes.set_ylabel(f"votes for the first {thing}")
    in_percent(axes.yaxis)
    return drawing


def _draw_counts(axes: Axes, look: ReportLook, difference: Floats, share: Floats, reach: float) -> None:
    """Fill the cells of a grid by how many pairs lie in each, on a logarithmic scale."""
    columns = np.linspace(-reach, reach, CELLS[0] + 1)
    rows = np.linspace(-0.05, 1.05, CELLS[1] + 1)
    counts = np.histogram2d(share, difference, bins=(rows, columns))[0]
    shades = LinearSegmentedColormap.from_list(
        "counts", [to_rgba(look["agree"], 0.25), to_rgba(look["agree"]), to_rgba(look["ink"])]
    )
    shown = np.ma.masked_equal(counts, 0)
    axes.pcolormesh(columns, rows, shown, cmap=shades, norm=LogNorm(1, max(2, counts.max())))


def curve_with_marks(look: ReportLook, *, curve: DrawnCurve, marks: Sequence[Mark], measure: str) -> Drawing:
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


def _draw_ceiling(span: Callable[..., object], look: ReportLook, ceiling: float, perfect: float) -> None:
    """Draw a bar across from the agreement of a second panel to that of a perfect measure; nothing if they are unknown."""
    if np.isfinite([ceiling, perfect]).all():
        span(ceiling, perfect, facecolor=look["accent"], edgecolor=look["accent"], alpha=0.22, linewidth=1.0)
        span(ceiling, perfect, fill=False, edgecolor=look["accent"], hatch="////", linewidth=0, alpha=0.35)


def _draw_curve(axes: Axes, look: ReportLook, curve: DrawnCurve) -> None:
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


def _draw_marks(axes: Axes, look: ReportLook, marks: Sequence[Mark], curve: DrawnCurve) -> None:
    """Draw one row per mark: its value and its interval, an open end running into the edge."""
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shares:
    """One share a worker, to be drawn in order.

    Attributes
    ----------
    value, low, high : (workers,) ndarray of float
        Each worker's share and interval.
    excluded : (workers,) ndarray of bool
        Who was left out.
    reference : float
        What somebody without a lean, or without looking, would have.
    overall : (float, float)
        Interval of all workers together; NaN where unknown.
    label : str
        Of the axis.
    as_percent : bool
        Whether its numbers are percentages.
    """

    value: Floats
    low: Floats
    high: Floats
    excluded: Bools
    reference: float
    overall: tuple[float, float]
    label: str
    as_percent: bool


def worker_scatter(
    look: ReportLook,
    *,
    seconds: Floats,
    consistency: Floats,
    excluded: Bools,
    limits: tuple[float | None, float | None],
) -> Drawing:
    """Draw each worker's consistency against search time; crosses are excluded, lines are the rule's limits."""
    spread = 0.018 * _rank_within(np.round(consistency, 3), seconds)
    drawing = new_drawing(4.1, 2.5)
    axes = drawing.add_subplot()
    _signs(axes, look, seconds, consistency + spread, excluded)
    for limit, line in zip(limits, (axes.axvline, axes.axhline), strict=True):
        if limit is not None:
            line(limit, color=look["muted"], linewidth=0.9, linestyle=(0, (4, 3)))
    axes.set_xlabel("mean search time, in seconds")
    axes.set_ylabel("repeats answered alike")
    axes.set_ylim(-0.1, 1.1)
    in_percent(axes.yaxis)
    return drawing


def worker_shares(look: ReportLook, *, shares: Shares) -> Drawing:
    """Draw each worker's share with its interval, in order, beside the interval of all workers together."""
    order = np.argsort(shares.value, kind="stable")
    place = np.arange(1, len(order) + 1)
    drawing = new_drawing(4.1, 2.5)
    axes = drawing.add_subplot()
    if np.isfinite(shares.overall).all():
        axes.axhspan(*shares.overall, facecolor=look["agree"], alpha=0.22, linewidth=0)
    axes.axhline(shares.reference, color=look["muted"], linewidth=0.9, linestyle=(0, (4, 3)))
    axes.vlines(place, shares.low[order], shares.high[order], color=look["accent"], linewidth=0.8)
    _signs(axes, look, place.astype(np.float64), shares.value[order], shares.excluded[order])
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_xlabel("workers, in order")
    axes.set_ylabel(shares.label)
    axes.set_ylim(min(-0.05, float(shares.low.min(initial=0.0)) - 0.05), 1.05)
    if shares.as_percent:
        in_percent(axes.yaxis)
    return drawing


def _signs(axes: Axes, look: ReportLook, x: Floats, y: Floats, excluded: Bools) -> None:
    for chosen, marker, colour, size in ((~excluded, "o", "agree", 3.6), (excluded, "x", "disagree", 4.4)):
        axes.plot(x[chosen], y[chosen], marker, color=look[colour], markersize=size, alpha=0.75)


def _rank_within(groups: Floats, order: Floats) -> Floats:
    """Return small offsets that pull apart points of one height: -1, 0, 1, -1, ... along the other axis."""
    ranks = np.zeros(groups.size)
    for value in np.unique(groups):
        members = np.flatnonzero(groups == value)
        ranks[members[np.argsort(order[members], kind="stable")]] = np.arange(members.size) % 3 - 1
    return ranks


def fit_drawing(look: ReportLook, *, plot: Callable[[Axes], None]) -> Drawing:
    """Let a fit draw itself, without the title it would give itself, in the colours of a look."""
    drawing = new_drawing(3.7, 3.1)
    axes = drawing.add_subplot()
    plot(axes)
    axes.set_title("")
    axes.set_ylabel(fill(axes.get_ylabel(), LABEL_CHARS))
    for axis in (axes.xaxis, axes.yaxis):
        _plain_numbers(axis)
    _legend_below(drawing, axes)
    for artist in drawing.findobj(lambda one: isinstance(one, Line2D | Collection | Patch)):
        _recolour(artist, look)
    return drawing


def _plain_numbers(axis: Axis) -> None:
    """Write the numbers of a log scale out, and no more labels than fit."""
    if axis.get_scale() == "log":
        axis.set_major_formatter(FuncFormatter(lambda value, _: quantity(value)))
        axis.set_minor_formatter(NullFormatter())
    elif len(axis.get_ticklocs()) > MOST_TICKS:
        axis.set_major_locator(MaxNLocator(MOST_TICKS // 2, integer=True))


def _legend_below(drawing: Drawing, axes: Axes) -> None:
    """Put the legend where the layout makes room for it."""
    legend = axes.get_legend()
    if legend is None:
        return
    legend.remove()
    handles, labels = axes.get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=2, fontsize="small")


def _recolour(artist: object, look: ReportLook) -> None:
    """Give one line, area or sign the look's colours."""
    if isinstance(artist, Line2D):
        for part in ("color", "markerfacecolor", "markeredgecolor"):
            colour = getattr(artist, f"get_{part}")()
            if not (isinstance(colour, str) and colour.lower() in {"none", "auto"}):
                getattr(artist, f"set_{part}")(_in_look(colour, look))
    elif isinstance(artist, Collection | Patch):
        for part in ("facecolor", "edgecolor"):
            colours = np.atleast_2d(getattr(artist, f"get_{part}")())
            inside = [_in_look(tuple(one), look) for one in colours]
            getattr(artist, f"set_{part}")(inside if isinstance(artist, Collection) else inside[0])


def _in_look(colour: Any, look: ReportLook) -> Colour:
    """Return the look's colour for a fit's own: greys by their lightness, named ones by their role, others as they are."""
    red, green, blue, alpha = to_rgba(colour)
    role = NAMED.get(to_hex(colour))
    if red == green == blue and red < 1:
        role = "ink" if red < DARKEST_GREY else "muted" if red < LIGHTEST_GREY else "grid"
    if role is None:
        return red, green, blue, alpha
    red, green, blue, _ = to_rgba(look[role])
    return red, green, blue, alpha
