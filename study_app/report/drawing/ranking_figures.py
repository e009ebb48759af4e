"""The figures on which system is best, in the colours of a look: for people, for whom, and by which measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from metrics.arrays import Floats, Places
from study_app.report.drawing.canvas import new_drawing
from study_app.report.drawing.figures import Mark, in_percent
from study_app.report.drawing.look import ReportLook
from study_app.report.page import decimal, shortened

DARKEST = 0.6
"""Opacity of the largest value: ink on it can still be read."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeatMap:
    """Rank correlations over two axes.

    Attributes
    ----------
    rows, columns : sequence of str
        Labels, from below and from the left.
    values : (rows, columns) ndarray of float
        NaN where there is none.
    row_label, column_label : str
        Of the axes.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: Floats
    row_label: str
    column_label: str


def heat_map(look: ReportLook, *, shown: HeatMap) -> Drawing:
    """Draw a cell for each tau: above 0 blue, below 0 hatched orange, the stronger the nearer to 1 or -1, in every map alike."""
    drawing = new_drawing(4.1, 3.1)
    axes = drawing.add_subplot()
    for (row, column), value in np.ndenumerate(shown.values):
        if not np.isnan(value):
            axes.fill_between(
                [column - 0.5, column + 0.5],
                row - 0.5,
                row + 0.5,
                facecolor=look["agree" if value >= 0 else "disagree"],
                alpha=DARKEST * abs(float(value)),
                hatch=None if value >= 0 else "///",
                linewidth=0,
            )
        axes.text(column, row, decimal(float(value)), ha="center", va="center", fontsize="small")
    axes.set_xticks(range(len(shown.columns)), list(shown.columns))
    axes.set_yticks(range(len(shown.rows)), list(shown.rows))
    axes.tick_params(length=0)
    axes.set(xlim=(-0.5, len(shown.columns) - 0.5), ylim=(-0.5, len(shown.rows) - 0.5))
    axes.set_xlabel(shown.column_label)
    axes.set_ylabel(shown.row_label)
    return drawing


SIGNS = "os^DvPX*<>"
"""A sign for each system, as far as they go; more systems than that get discs and no names."""
LINE_CHARS = 44


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Against:
    """One measure against another.

    Attributes
    ----------
    systems : tuple of str
        Their names.
    x, y : (systems,) ndarray of float
        Their scores.
    x_label, y_label : str
        The measures.
    at_x, at_y : float or None
        What a system that does nothing scores.
    """

    systems: tuple[str, ...]
    x: Floats
    y: Floats
    x_label: str
    y_label: str
    at_x: float | None = None
    at_y: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BestMap:
    """Which system is best for which people.

    Attributes
    ----------
    away, session : sequence of str
        Labels of the rows and columns: mean times away and mean visits.
    best : (away, session) ndarray of int
        Number of the best system.
    systems : tuple of str
        Their names.
    people : (float, float) or None
        Where the fitted people are: row and column, with fractions.
    """

    away: Sequence[str]
    session: Sequence[str]
    best: Places
    systems: tuple[str, ...]
    people: tuple[float, float] | None = field(default=None)


def one_against_other(look: ReportLook, *, against: Against) -> Drawing:
    """Draw a sign for each system, the scores of two measures as its place."""
    drawing = new_drawing(3.3, 2.9)
    axes = drawing.add_subplot()
    for value, line in ((against.at_x, axes.axvline), (against.at_y, axes.axhline)):
        if value is not None and np.isfinite(value):
            line(value, color=look["muted"], linewidth=0.9, linestyle=":")
    named = len(against.systems) <= len(SIGNS)
    for number, (x, y) in enumerate(zip(against.x, against.y, strict=True)):
        sign = SIGNS[number] if named else "o"
        face = look["agree"] if number % 2 == 0 or not named else "none"
        axes.plot([x], [y], sign, color=look["agree"], markerfacecolor=face, markersize=5, alpha=0.85)
    axes.margins(0.12)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel(against.x_label)
    axes.set_ylabel(against.y_label)
    if named:
        _legend(drawing, look, {name: SIGNS[number] for number, name in enumerate(against.systems)})
    return drawing


def tau_over_alpha(
    look: ReportLook, *, alphas: Floats, tau: Floats, band: tuple[Floats, Floats], marks: Mapping[str, float]
) -> Drawing:
    """Draw Kendall's tau over alpha with its pointwise interval; marks are alphas to be seen."""
    drawing = new_drawing(3.3, 2.9)
    axes = drawing.add_subplot()
    axes.axhline(0, color=look["muted"], linewidth=0.8)
    if np.isfinite(band[0]).any():
        axes.fill_between(alphas, *band, color=look["agree"], alpha=0.18, linewidth=0)
    axes.plot(alphas, tau, color=look["agree"], linewidth=1.6)
    styles: tuple[Literal["--", ":", "-."], ...] = ("--", ":", "-.")
    handles = []
    for style, (name, alpha) in zip(styles, marks.items(), strict=False):
        axes.axvline(alpha, color=look["ink"], linewidth=0.9, linestyle=style)
        handles.append(Line2D([], [], color=look["ink"], linewidth=0.9, linestyle=style, label=name))
    axes.set(xlim=(0, 1), ylim=(-1.05, 1.05))
    axes.set_xlabel("α, weight of gain against pain")
    axes.set_ylabel("Kendall’s τ of T11U and ELG-1")
    drawing.legend(handles=handles, loc="outside lower center", ncols=2, fontsize="small")
    return drawing


def best_map(look: ReportLook, *, found: BestMap) -> Drawing:
    """Draw the best system of each population as a sign in its cell; a ring is where the fitted people are."""
    rows, columns = found.best.shape
    drawing = new_drawing(4.1, 3.3)
    axes = drawing.add_subplot()
    shown = [number for number in range(len(found.systems)) if (found.best == number).any()]
    tints = {number: 0.05 + 0.35 * place / max(len(shown) - 1, 1) for place, number in enumerate(shown)}
    for row in range(rows):
        for column in range(columns):
            number = int(found.best[row, column])
            cell = [column - 0.5, column + 0.5]
            axes.fill_between(
                cell, row - 0.5, row + 0.5, color=look["accent"], alpha=tints[number], linewidth=0
            )
            sign = SIGNS[shown.index(number) % len(SIGNS)]
            face = look["agree"] if shown.index(number) % 2 == 0 else "none"
            axes.plot([column], [row], sign, color=look["agree"], markerfacecolor=face, markersize=5)
    if found.people is not None:
        axes.plot(
            [found.people[1]],
            [found.people[0]],
            "o",
            color=look["disagree"],
            markerfacecolor="none",
            markersize=13,
            markeredgewidth=1.8,
        )
    axes.set_xticks(range(columns), list(found.session))
    axes.set_yticks(range(rows), list(found.away))
    axes.tick_params(length=0)
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(-0.5, rows - 0.5))
    axes.set_xlabel("mean visit")
    axes.set_ylabel("mean time away")
    _legend(
        drawing,
        look,
        {found.systems[number]: SIGNS[place % len(SIGNS)] for place, number in enumerate(shown)},
    )
    return drawing


def _legend(drawing: Drawing, look: ReportLook, signs: Mapping[str, str]) -> None:
    names = [shortened(name, 18) for name in signs]
    handles = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=sign,
            color=look["agree"],
            markerfacecolor=look["agree"] if number % 2 == 0 else "none",
            label=name,
        )
        for number, (name, sign) in enumerate(zip(names, signs.values(), strict=True))
    ]
    columns = max(1, LINE_CHARS // (5 + max(map(len, names), default=1)))
    drawing.legend(
        handles=handles, loc="outside lower center", ncols=min(columns, len(names)), fontsize="small"
    )


def win_rate_rows(look: ReportLook, *, marks: Sequence[Mark], ranks: Sequence[str]) -> Drawing:
    """Draw the win rate of every system with its interval, one a row, the best on top; on the right its ranks.

    A row whose interval is unknown is dotted from edge to edge. The dashed line is one half: as often preferred as not.
    """
    drawing = new_drawing(4.6, 0.9 + 0.23 * len(marks))
    axes = drawing.add_subplot()
    axes.grid(visible=True, axis="x")
    for row, mark in enumerate(marks):
        if np.isnan(mark.low):
            axes.axhline(row, color=look["muted"], linewidth=0.9, linestyle=(0, (1, 3)), zorder=1)
        else:
            axes.plot([mark.low, mark.high], [row, row], color=look["agree"], linewidth=1.4, zorder=2)
        axes.plot([mark.value], [row], mark.sign, color=look["agree"], markersize=4.6, zorder=3)
    axes.axvline(0.5, color=look["muted"], linewidth=0.9, linestyle=(0, (4, 3)))
    axes.set_yticks(range(len(marks)), [shortened(mark.label) for mark in marks])
    axes.set_ylim(len(marks) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    in_percent(axes.xaxis)
    axes.set_xlabel("win rate")
    beside = axes.secondary_yaxis("right")
    beside.set_yticks(range(len(ranks)), list(ranks))
    beside.tick_params(axis="y", length=0)
    beside.set_ylabel("ranks left open")
    return drawing
