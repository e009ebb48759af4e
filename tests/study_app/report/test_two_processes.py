"""Where there is a second core, two processes share the drawings of a report."""

import os
import sys

import pytest

from study_app.report.drawing import canvas
from study_app.report.drawing.canvas import FEWEST_FOR_TWO, Named, all_drawn, new_drawing
from study_app.report.drawing.look import ReportLook

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere one process draws")


def figures(folder, fails_at=None):
    """Plots of which each notes in a file which process has made it."""

    def plot(number):
        def draw(look):
            if number == fails_at:
                raise ValueError("nothing to draw")
            (folder / str(os.getpid())).touch()
            drawing = new_drawing(2, 2)
            drawing.add_subplot().plot([0, number], color=look["ink"])
            return drawing

        return draw

    return [Named(f"figure-{number}", "A line", plot(number)) for number in range(FEWEST_FOR_TWO)]


@pytest.mark.parametrize("fails_at", [0, 1], ids=["here", "in the copy"])
def test_a_fault_of_either_process_is_told(tmp_path, monkeypatch, fails_at):
    monkeypatch.setattr(canvas, "_has_second_core", lambda: True)

    with pytest.raises(ValueError, match="nothing to draw"):
        all_drawn(figures(tmp_path, fails_at), ReportLook())


def test_two_processes_make_the_bytes_that_one_makes(tmp_path, monkeypatch):
    made = {}
    for cores in (1, 2):
        folder = tmp_path / str(cores)
        folder.mkdir()
        monkeypatch.setattr(canvas, "_has_second_core", lambda cores=cores: cores > 1)
        made[cores] = all_drawn(figures(folder), ReportLook())
        assert len(list(folder.iterdir())) == cores

    assert made[1] == made[2]
    assert list(made[2]) == [figure.name for figure in figures(tmp_path)]
