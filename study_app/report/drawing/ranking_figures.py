"""The figure on which system people prefer, in the colours of a look."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure as Drawing

from study_app.report.drawing.canvas import new_drawing
from study_app.report.drawing.figures import Mark, in_percent
from study_app.report.drawing.look import ReportLook
from study_app.report.page import shortened


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
