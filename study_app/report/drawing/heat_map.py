"""A number for every combination of two things, as shades with the numbers in them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure as Drawing

from metrics.arrays import Floats
from study_app.report.drawing.canvas import new_drawing
from study_app.report.drawing.look import ReportLook
from study_app.report.page import decimal

DARKEST = 0.6
"""Opacity of the largest value: ink on it can still be read."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeatMap:
    """Values over two axes.

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
    """Draw a cell for each value: above 0 blue, below 0 hatched orange, the stronger the farther from 0."""
    drawing = new_drawing(4.1, 3.1)
    axes = drawing.add_subplot()
    most = float(np.nanmax(np.abs(shown.values), initial=0.0)) or 1.0
    for (row, column), value in np.ndenumerate(shown.values):
        if not np.isnan(value):
            axes.fill_between(
                [column - 0.5, column + 0.5],
                row - 0.5,
                row + 0.5,
                facecolor=look["agree" if value >= 0 else "disagree"],
                alpha=DARKEST * abs(float(value)) / most,
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
