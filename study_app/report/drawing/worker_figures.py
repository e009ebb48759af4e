"""The figures on workers: who searched and answered with care, who leans to a side."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from study_app.report.drawing.canvas import new_drawing
from study_app.report.drawing.figures import in_percent
from study_app.report.drawing.look import Look

Floats = NDArray[np.float64]


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
    excluded: NDArray[np.bool_]
    reference: float
    overall: tuple[float, float]
    label: str
    as_percent: bool


def worker_scatter(
    look: Look,
    *,
    seconds: Floats,
    consistency: Floats,
    excluded: NDArray[np.bool_],
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


def worker_shares(look: Look, *, shares: Shares) -> Drawing:
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


def _signs(axes: Axes, look: Look, x: Floats, y: Floats, excluded: NDArray[np.bool_]) -> None:
    for chosen, marker, colour, size in ((~excluded, "o", "agree", 3.6), (excluded, "x", "disagree", 4.4)):
        axes.plot(x[chosen], y[chosen], marker, color=look[colour], markersize=size, alpha=0.75)


def _rank_within(groups: Floats, order: Floats) -> Floats:
    """Return small offsets that pull apart points of one height: -1, 0, 1, -1, ... along the other axis."""
    ranks = np.zeros(groups.size)
    for value in np.unique(groups):
        members = np.flatnonzero(groups == value)
        ranks[members[np.argsort(order[members], kind="stable")]] = np.arange(members.size) % 3 - 1
    return ranks
