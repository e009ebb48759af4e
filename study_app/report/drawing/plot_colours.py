"""Drawings that the fits make themselves, in the colours of the report."""

from collections.abc import Callable
from textwrap import fill
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from study_app.report.drawing.canvas import new_drawing
from study_app.report.drawing.look import Look
from study_app.report.wording import quantity

Colour: TypeAlias = tuple[float, float, float, float]

NAMED = {"#0072b2": "agree", "#d55e00": "disagree", "#009e73": "muted"}
DARKEST_GREY, LIGHTEST_GREY = 0.2, 0.7
LABEL_CHARS = 34
"""Longest line beside an axis."""
MOST_TICKS = 12


def fit_drawing(look: Look, *, plot: Callable[[Axes], None]) -> Drawing:
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


def _recolour(artist: object, look: Look) -> None:
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


def _in_look(colour: Any, look: Look) -> Colour:
    """Return the look's colour for a fit's own: greys by their lightness, named ones by their role, others as they are."""
    red, green, blue, alpha = to_rgba(colour)
    role = NAMED.get(to_hex(colour))
    if red == green == blue and red < 1:
        role = "ink" if red < DARKEST_GREY else "muted" if red < LIGHTEST_GREY else "grid"
    if role is None:
        return red, green, blue, alpha
    red, green, blue, _ = to_rgba(look[role])
    return red, green, blue, alpha
