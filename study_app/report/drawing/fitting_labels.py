"""Labels that can be read, whatever names and numbers a figure has.

On an axis, as many labels stay as fit beside each other, evenly; the name of an axis is broken where it is longer than the
drawing has room for.
"""

from collections.abc import Sequence
from itertools import pairwise
from textwrap import fill
from typing import NamedTuple

from matplotlib.axis import Axis, YAxis
from matplotlib.figure import Figure as Drawing
from matplotlib.text import Text

WIDER = 1.1
"""So much wider than the figure's own font may that of the page be."""
GAP_POINTS = 4.0
"""Room between two labels."""
FEWEST_CHARS = 8


class _Stretch(NamedTuple):
    """From where to where something reaches along its axis, in pixels."""

    low: float
    high: float


def fit_labels(drawing: Drawing) -> None:
    """Leave out tick labels that would run into each other, and break the names of axes that are too long."""
    drawing.draw_without_rendering()
    for axes in drawing.axes:
        for axis in (axes.xaxis, axes.yaxis):
            _thin(axis, GAP_POINTS * drawing.dpi / 72)
            _break_name(drawing, axis)


def _thin(axis: Axis, gap: float) -> None:
    """Keep every label, every second, every third, ...: the first choice in which none meets its neighbour."""
    low, high = sorted(axis.get_view_interval())
    shown = [
        (place, label)
        for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
        if low <= place <= high and label.get_visible() and label.get_text()
    ]
    stretches = [_stretch(label, axis) for _, label in shown]
    step = next((one for one in range(1, len(shown)) if _apart(stretches[::one], gap)), max(1, len(shown)))
    if step > 1:
        kept = shown[::step]
        axis.set_ticks([place for place, _ in kept], labels=[label.get_text() for _, label in kept])


def _apart(stretches: Sequence[_Stretch], gap: float) -> bool:
    """Say whether no two neighbours, in either direction along the axis, are nearer than the gap."""
    ordered = sorted(stretches)
    return all(one.high + gap <= other.low for one, other in pairwise(ordered))


def _stretch(label: Text, axis: Axis) -> _Stretch:
    box = label.get_window_extent()
    if isinstance(axis, YAxis):
        return _Stretch(box.y0, box.y1)
    more = (WIDER - 1) * box.width / 2
    return _Stretch(box.x0 - more, box.x1 + more)


def _break_name(drawing: Drawing, axis: Axis) -> None:
    """Break the name of an axis, whose middle is the axis' own, where it would leave the drawing."""
    box, whole = axis.label.get_window_extent(), drawing.bbox
    if isinstance(axis, YAxis):
        middle, length, end = (box.y0 + box.y1) / 2, box.height, whole.height
    else:
        middle, length, end = (box.x0 + box.x1) / 2, box.width, whole.width
    room, needed = 2 * min(middle, end - middle), WIDER * length
    name = axis.label.get_text()
    if needed > room:
        longest = max(map(len, name.splitlines()))
        axis.label.set_text(fill(name, max(FEWEST_CHARS, int(longest * room / needed))))
