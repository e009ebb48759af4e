"""Figures on the best system by population and measure, in the report's style."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D

from metrics.arrays import Floats, Indices
from study_app.report.drawing.canvas import new_drawing
from study_app.report.drawing.style import ReportStyle
from study_app.report.page import decimal, shortened

DARKEST = 0.6
"""Opacity of the largest value: ink on it can still be read."""
SIGNS = "os^DvPX*<>"
"""Markers of systems, in order; further systems get discs and no names."""
LINE_CHARS = 44
AWAY, VISIT = "mean time away", "mean visit"


def heat_map(
    report_style: ReportStyle, *, rows: Sequence[str], columns: Sequence[str], values: Floats
) -> Drawing:
    """Draw a cell for each tau: blue above 0, hatched orange below.

    The colour is stronger near 1 and -1, on the same scale in every map.

    Parameters
    ----------
    report_style : ReportStyle
    rows, columns : sequence of str
        Times away from below, visits from the left.
    values : (rows, columns) ndarray of float
        NaN where there is none.
    """
    drawing, axes = new_drawing(4.1, 3.1)
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            axes.fill_between(
                [column - 0.5, column + 0.5],
                row - 0.5,
                row + 0.5,
                facecolor=report_style["agree" if value >= 0 else "disagree"],
                alpha=DARKEST * abs(float(value)),
                hatch=None if value >= 0 else "///",
                linewidth=0,
            )
        axes.text(column, row, decimal(float(value)), ha="center", va="center", fontsize="small")
    _name_cells(axes, rows, columns)
    return drawing


def best_map(
    report_style: ReportStyle,
    *,
    away: Sequence[str],
    session: Sequence[str],
    best: Indices,
    systems: Sequence[str],
    people: tuple[float, float] | None = None,
) -> Drawing:
    """Draw the best system of each population as a marker in its cell.

    A ring marks the fitted people.

    Parameters
    ----------
    report_style : ReportStyle
    away, session : sequence of str
        Labels of the rows and columns: mean times away and mean visits.
    best : (away, session) ndarray of int
        Number of the best system.
    systems : sequence of str
        Their names.
    people : (float, float) or None
        Row and column of the fitted people, with fractions.
    """
    drawing, axes = new_drawing(4.1, 3.3)
    shown = [number for number in range(len(systems)) if (best == number).any()]
    for (row, column), number in np.ndenumerate(best):
        index = shown.index(int(number))
        axes.fill_between(
            [column - 0.5, column + 0.5],
            row - 0.5,
            row + 0.5,
            color=report_style["accent"],
            alpha=0.05 + 0.35 * index / max(len(shown) - 1, 1),
            linewidth=0,
        )
        _plot_sign(axes, report_style, index, column, row)
    if people is not None:
        ring: dict[str, Any] = {"color": report_style["disagree"], "markersize": 13, "markeredgewidth": 1.8}
        axes.plot([people[1]], [people[0]], "o", markerfacecolor="none", **ring)
    _name_cells(axes, away, session)
    _legend(drawing, report_style, [systems[number] for number in shown])
    return drawing


def _name_cells(axes: Axes, away: Sequence[str], session: Sequence[str]) -> None:
    axes.set_xticks(range(len(session)), list(session))
    axes.set_yticks(range(len(away)), list(away))
    axes.tick_params(length=0)
    axes.set(xlim=(-0.5, len(session) - 0.5), ylim=(-0.5, len(away) - 0.5), xlabel=VISIT, ylabel=AWAY)


def one_against_other(
    report_style: ReportStyle,
    *,
    systems: Sequence[str],
    x: Floats,
    y: Floats,
    labels: tuple[str, str],
    at: tuple[float | None, float | None] = (None, None),
) -> Drawing:
    """Draw a sign for each system, the scores of two measures as its place.

    Parameters
    ----------
    report_style : ReportStyle
    systems : sequence of str
        Their names.
    x, y : (systems,) ndarray of float
        Their scores.
    labels : (str, str)
        The measures.
    at : pair of float or None
        What a system that does nothing scores: dotted lines.
    """
    drawing, axes = new_drawing(3.3, 2.9)
    for value, line in zip(at, (axes.axvline, axes.axhline), strict=True):
        if value is not None and np.isfinite(value):
            line(value, color=report_style["muted"], linewidth=0.9, linestyle=":")
    named = len(systems) <= len(SIGNS)
    for number, point in enumerate(zip(x, y, strict=True)):
        _plot_sign(axes, report_style, number if named else 0, *point)
    axes.margins(0.12)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    if named:
        _legend(drawing, report_style, systems)
    return drawing


def tau_over_alpha(
    report_style: ReportStyle,
    *,
    alphas: Floats,
    tau: Floats,
    band: tuple[Floats, Floats],
    marks: Mapping[str, float],
) -> Drawing:
    """Draw Kendall's tau over alpha with its pointwise interval.

    Markers show notable alphas.
    """
    drawing, axes = new_drawing(3.3, 2.9)
    axes.axhline(0, color=report_style["muted"], linewidth=0.8)
    if np.isfinite(band[0]).any():
        axes.fill_between(alphas, *band, color=report_style["agree"], alpha=0.18, linewidth=0)
    axes.plot(alphas, tau, color=report_style["agree"], linewidth=1.6)
    styles: tuple[Literal["--", ":", "-."], ...] = ("--", ":", "-.")
    for style, (name, alpha) in zip(styles, marks.items(), strict=False):
        axes.axvline(alpha, color=report_style["ink"], linewidth=0.9, linestyle=style, label=name)
    axes.set(xlim=(0, 1), ylim=(-1.05, 1.05))
    axes.set(xlabel="α, weight of gain against pain", ylabel="Kendall’s τ of T11U and ELG-1")
    drawing.legend(loc="outside lower center", ncols=2, fontsize="small")
    return drawing


def _sign(report_style: ReportStyle, number: int) -> dict[str, Any]:
    face = report_style["agree"] if number % 2 == 0 else "none"
    return {"marker": SIGNS[number % len(SIGNS)], "color": report_style["agree"], "markerfacecolor": face}


def _plot_sign(axes: Axes, report_style: ReportStyle, number: int, x: float, y: float) -> None:
    axes.plot([x], [y], linestyle="none", markersize=5, alpha=0.85, **_sign(report_style, number))


def _legend(drawing: Drawing, report_style: ReportStyle, names: Sequence[str]) -> None:
    short = [shortened(name, 18) for name in names]
    handles = [
        Line2D([], [], linestyle="none", label=name, **_sign(report_style, number))
        for number, name in enumerate(short)
    ]
    columns = min(len(short), max(1, LINE_CHARS // (5 + max(map(len, short), default=1))))
    drawing.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize="small")
