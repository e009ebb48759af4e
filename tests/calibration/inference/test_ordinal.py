"""The cumulative-link model of graded choices: beside statsmodels, by its own slopes, and on data drawn from it."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from statsmodels.miscmodels.ordinal_model import OrderedModel

from calibration.inference.ordinal import OrdinalModel, fit_ordinal, grades

WEIGHTS, CUTS = np.array([0.8, -0.5, 0.3]), np.array([0.4, 1.5, 2.5])


def drawn(n, *, seed=1, cuts=CUTS):
    """Return a design with a side, and signed strengths drawn by the model."""
    rng = np.random.default_rng(seed)
    design = np.column_stack([rng.normal(size=(n, 2)), np.ones(n)])
    latent = design @ WEIGHTS + rng.logistic(size=n)
    return design, np.sign(latent) * (np.abs(latent)[:, None] > cuts).sum(axis=1)


def model(design, strength):
    return OrdinalModel(design=design, grade=grades(strength), times=np.ones(len(strength)))


@pytest.mark.parametrize("ties", [True, False])
def test_it_is_the_ordered_model_of_statsmodels_whose_cut_points_are_alike_on_both_sides(ties):
    """Each judgment seen from either side: the free cut points of statsmodels are then the same but for the sign."""
    design, strength = drawn(300, cuts=CUTS if ties else np.array([0.0, 1.0, 2.5]))
    grade = grades(strength)
    other = OrderedModel(np.append(grade, -grade), np.vstack([design, -design]), distr="logit")
    fitted = other.fit(method="bfgs", disp=False, gtol=1e-7, maxiter=500)
    free = other.transform_threshold_params(fitted.params[3:])[1:-1]
    ours = model(design, strength)
    point = fit_ordinal(ours)

    assert point[:3] == pytest.approx(fitted.params[:3], abs=1e-5)
    assert point[3:] == pytest.approx(free[-len(point[3:]) :], abs=1e-5)
    assert free == pytest.approx(-free[::-1], abs=1e-5)
    assert ours.at(point).loglik == pytest.approx(fitted.llf / 2, abs=1e-7)
    assert len(point[3:]) == (3 if ties else 2)


def test_slopes_and_information_are_the_derivatives():
    """Away from the maximum, of every grade."""
    ours = model(*drawn(60))
    point = np.array([0.1, 0.2, -0.3, 0.5, 1.0, 1.8])

    def slopes(at):
        return ours.gradient(ours.at(at).terms)

    step = 1e-6
    assert slopes(point) == pytest.approx(approx_fprime(point, lambda at: ours.at(at).loglik, step), abs=1e-3)
    by_number = np.array([(slopes(point + e) - slopes(point - e)) / (2 * step) for e in step * np.eye(6)])
    assert -ours.information(ours.at(point).terms) == pytest.approx(by_number, abs=1e-5)


def test_who_drew_the_data_is_found():
    """Weights, the side and the cut points of 4,000 judgments, each within four standard errors."""
    ours = model(*drawn(4_000, seed=3))
    point = fit_ordinal(ours)
    errors = np.sqrt(np.diag(np.linalg.inv(ours.information(ours.at(point).terms))))

    assert (np.abs(point - np.append(WEIGHTS, CUTS)) < 4 * errors).all()
    assert errors.max() < 0.1


def test_cut_points_ascend():
    """A point where they do not is no point of the model."""
    ours = model(*drawn(60))

    assert ours.at(np.array([0, 0, 0, 0.5, 0.4, 1.0])).loglik == -np.inf
    assert ours.at(np.array([0, 0, 0, -0.1, 0.4, 1.0])).loglik == -np.inf


def test_a_grade_that_nobody_gave_has_no_cut_point():
    """Strengths 1 and 3 alone are two grades; so the same answers on another scale give the same model."""
    assert grades(np.array([-3.0, 0.0, 1.0, 3.0, -1.0])).tolist() == [-2, 0, 1, 2, -1]
    assert grades(np.array([-2.0, 2.0])).tolist() == [-1, 1]
