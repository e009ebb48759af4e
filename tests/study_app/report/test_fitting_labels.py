"""Labels of figures can be read, however long names and numbers are."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib import rc_context

from study_app.report.drawing.canvas import render_drawing
from study_app.report.drawing.figures import (
    CurveMark,
    curve_with_marks,
    fit_drawing,
    rows_with_intervals,
    scatter,
)
from study_app.report.drawing.ranking_figures import one_against_other
from study_app.report.drawing.style import ReportStyle

LOOK = ReportStyle()
LONG = "a measure of our own with a name that goes on"


def sessions(largest):
    """Times of workers, as the figure on how long a visit lasts has them."""

    def plot(axes):
        axes.plot(np.linspace(0, largest, 30), np.linspace(1, 0, 30))
        axes.set_xlabel("seconds in sessions")

    return lambda look: fit_drawing(look, plot=plot)


def visits_late(axes):
    axes.plot(np.arange(40) * 1000, np.zeros(40))
    axes.set_xticks(np.arange(0, 12_000, 1100))


def curve(look):
    flat = np.full(30, 0.7)
    return curve_with_marks(
        look,
        values=np.geomspace(9_000, 900_000_000, 30),
        agreement=flat,
        band=(flat - 0.1, flat + 0.1),
        ceilings=(0.8, 0.9),
        marks=[CurveMark(label="default", value=1e5)],
        labels=("patience L, in counted characters of the language of the task, spaces too", LONG),
        log=True,
    )


DRAWINGS = {
    "numbers of five digits": sessions(16_000.0),
    "numbers of six digits": sessions(160_000.0),
    "small numbers": sessions(0.000123),
    "ticks set by a fit": lambda look: fit_drawing(look, plot=visits_late),
    "many measures": lambda look: rows_with_intervals(
        look,
        marks=[CurveMark(label=f"{LONG} {n}", value=0.5 + n / 100, low=0.4, high=0.9) for n in range(30)],
        label="agreement",
    ),
    "a curve over five decades": curve,
    "a scatter of a long name": lambda look: scatter(
        look, difference=np.array([-800_000.0, 900_000.0]), share=np.array([0.2, 0.9]), measure=LONG
    ),
    "systems of long scores": lambda look: one_against_other(
        look,
        systems=("a", "b"),
        x=np.array([100_000.25, 100_000.75]),
        y=np.array([1e-6, 2e-6]),
        labels=(LONG, LONG),
    ),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_no_label_runs_into_its_neighbour_or_out_of_the_drawing(name):
    """Of numbers as many stay as fit, two at least; names of axes are broken."""
    made = []
    render_drawing(lambda look: made.append(DRAWINGS[name](look)) or made[0], LOOK, name="x", title="x")
    with rc_context({"font.size": LOOK.font_points}):  # how many ticks there are hangs on it
        check(*made)


def check(drawing):
    drawing.draw_without_rendering()
    for axes in drawing.axes:
        for axis, low, high in ((axes.xaxis, "x0", "x1"), (axes.yaxis, "y0", "y1")):
            ends = sorted(axis.get_view_interval())
            labels = [
                label.get_window_extent()
                for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
                if ends[0] <= place <= ends[1] and label.get_visible() and label.get_text()
            ]
            boxes = sorted(labels, key=lambda box, low=low: getattr(box, low))
            assert all(getattr(a, high) < getattr(b, low) for a, b in pairwise(boxes))
            if axis.label.get_text():
                box = axis.label.get_window_extent()
                assert getattr(box, low) >= -1
                assert getattr(box, high) <= getattr(drawing.bbox, high) + 1


def test_every_measure_keeps_its_name():
    """Rows are made for their labels: nothing is left out of them."""
    drawing = DRAWINGS["many measures"](LOOK)
    render_drawing(lambda _: drawing, LOOK, name="x", title="x")

    assert len(drawing.axes[0].get_yticklabels()) == 30
