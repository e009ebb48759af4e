"""What is drawn is where the numbers say: signs, intervals and cells of the report's own figures."""

from collections import Counter

import numpy as np
import pytest
from lxml import etree
from matplotlib.colors import to_hex

from study_app.report.drawing.canvas import render_drawing
from study_app.report.drawing.figures import CurveMark, rows_with_intervals, worker_shares
from study_app.report.drawing.ranking_figures import SIGNS, best_map, one_against_other
from study_app.report.drawing.style import ReportStyle

LOOK = ReportStyle()


def test_each_worker_has_their_own_interval():
    """In order of the shares, intervals and signs together; excluded workers are crosses."""
    drawing = worker_shares(
        LOOK,
        value=np.array([0.8, 0.2, 0.5]),
        ends=(np.array([0.7, 0.1, 0.3]), np.array([0.9, 0.4, 0.6])),
        excluded=np.array([False, True, False]),
        reference=0.5,
        overall=(0.4, 0.6),
        label="share",
        as_percent=True,
    )
    (axes,) = drawing.axes

    segments = axes.collections[0].get_segments()
    np.testing.assert_allclose(segments, [[[1, 0.1], [1, 0.4]], [[2, 0.3], [2, 0.6]], [[3, 0.7], [3, 0.9]]])
    signs = {
        line.get_marker(): line.get_xydata().tolist() for line in axes.lines if line.get_marker() in "ox"
    }
    assert signs == {"o": [[2, 0.5], [3, 0.8]], "x": [[1, 0.2]]}


def test_a_measure_without_an_interval_has_a_dotted_row():
    """A sign alone would look certain. Rows stand in the order of the table, from the top."""
    marks = [
        CurveMark(label="one", value=0.7, low=0.6, high=0.8, sign="o"),
        CurveMark(label="other", value=0.9, low=np.nan, high=np.nan, sign="x"),
    ]
    (axes,) = rows_with_intervals(LOOK, marks=marks, label="agreement").axes

    drawn = [line.get_xydata().tolist() for line in axes.lines[:4]]
    assert drawn == [[[0.6, 0], [0.8, 0]], [[0.7, 0]], [[0, 1], [1, 1]], [[0.9, 1]]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "other"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


@pytest.mark.parametrize(("systems", "named"), [(3, True), (11, False)])
def test_systems_have_signs_of_their_own_as_far_as_these_go(systems, named):
    """Beyond that all are discs, and there is no legend."""
    x = np.linspace(0, 1, systems)
    names = tuple(f"s{number}" for number in range(systems))
    drawing = one_against_other(LOOK, systems=names, x=x, y=x**2, labels=("a", "b"), at=(0.3, None))
    (axes,) = drawing.axes

    signs = axes.lines[1:]
    np.testing.assert_allclose([line.get_xydata()[0] for line in signs], np.stack([x, x**2], axis=1))
    assert [line.get_marker() for line in signs] == (list(SIGNS[:systems]) if named else ["o"] * systems)
    assert len(drawing.legends) == named


def test_every_cell_of_the_map_shows_its_best_system():
    """And the ring is where the people are."""
    best = np.array([[0, 2], [2, 2]])
    drawing = best_map(
        LOOK,
        away=["1 h", "2 h"],
        session=["1 min", "5 min"],
        best=best,
        systems=("a", "b", "c"),
        people=(0.5, 1.0),
    )
    (axes,) = drawing.axes

    cells = {tuple(line.get_xydata()[0]): line.get_marker() for line in axes.lines[:4]}
    assert cells == {(0, 0): SIGNS[0], (1, 0): SIGNS[1], (0, 1): SIGNS[1], (1, 1): SIGNS[1]}
    ring = axes.lines[4]
    assert ring.get_xydata().tolist() == [[1.0, 0.5]]
    assert to_hex(ring.get_color()) == LOOK["disagree"]
    assert [text.get_text() for text in drawing.legends[0].get_texts()] == ["a", "c"]


def test_a_drawing_on_the_page_is_shorter_than_its_file_and_says_the_same():
    """Places are rounded to a hundredth; what is written, also a number or a colour, stays as it is."""
    label = "run #0a5fa5 of 0.123456"

    def draw(look):
        drawing = one_against_other(
            look, systems=tuple("abc"), x=np.arange(3), y=np.arange(3), labels=(label, "y")
        )
        drawing.axes[0].plot(np.linspace(0, 2, 100), np.linspace(0, 1, 100) ** 2, "+", color=look["agree"])
        return drawing

    made = render_drawing(draw, LOOK, name="n", title="t")
    root = etree.fromstring(made.inline)

    assert label in [text.text for text in root.iter("{*}text")]
    assert label in made.svg
    assert len(made.inline) < 0.5 * len(made.svg)
    assert len([use for use in root.iter("{*}use") if use.get("href") == most_used(root)]) == 100


def most_used(root):
    """The sign that is drawn most often."""
    return Counter(use.get("href") for use in root.iter("{*}use")).most_common(1)[0][0]
