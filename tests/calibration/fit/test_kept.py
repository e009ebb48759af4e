"""What `prefcal fit` keeps beside a user model: drawings that are drawn again as they were."""

import json
from io import BytesIO

import numpy as np
import pytest
from matplotlib.figure import Figure

from calibration.fit.families import FitOptions
from calibration.fit.fit_files import METHODS, PLOTS, PREFIX, _Recorder, read_fit_plots, write_fit_plots
from calibration.fit.user_model_fit import fit_user_model
from calibration.user_model.model import write_user_model
from metrics.errors import InputError
from tests.calibration.judged_summaries import study


@pytest.fixture(scope="module")
def fit():
    return fit_user_model(study(), seed=1, options=FitOptions(checks=False))


@pytest.fixture
def model_file(fit, tmp_path):
    path = tmp_path / "user-model.json"
    write_user_model(fit.model, path)
    write_fit_plots(fit.drawable, path)
    return path


def picture(draw):
    figure, content = Figure(), BytesIO()
    draw(figure.add_subplot())
    figure.savefig(content, format="rgba")
    return content.getvalue()


def test_a_drawing_that_was_kept_is_the_one_that_the_fit_makes(fit, model_file):
    """To the dot."""
    kept = read_fit_plots(model_file).plots

    assert {one.fit for one in kept} >= {"patience_chars_preferences", "patience_chars_grid"}
    for one in kept:
        assert picture(one.draw) == picture(getattr(fit.drawable[one.fit], PREFIX + one.plot)), one.fit


def test_drawings_of_another_model_are_none_of_this_one_s(model_file):
    """One of other numbers would contradict the table beside it."""
    model_file.write_text(model_file.read_text() + "\n")

    assert read_fit_plots(model_file) is None


def test_a_file_that_calls_anything_else_is_refused(model_file):
    """Only what draws."""
    path = model_file.parent / PLOTS
    content = json.loads(path.read_text())
    content["plots"][0]["calls"][0][0] = "remove"
    path.write_text(json.dumps(content))

    with pytest.raises(InputError, match="no drawing calls 'remove'"):
        read_fit_plots(model_file)


def test_a_drawing_whose_calls_cannot_be_kept_says_so():
    """Rather than being drawn again without them."""
    with pytest.raises(TypeError, match="calls hist"):
        _Recorder().hist(np.zeros(3))
    assert "hist" not in METHODS
