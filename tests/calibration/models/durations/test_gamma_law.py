"""Gamma rates of coming back, published on purpose: the law, its errors, and who is drawn from it."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import gammaln
from scipy.stats import invgamma

from calibration.fit.families import FitOptions
from calibration.fit.user_model_fit import fit_user_model
from calibration.models.durations.exposure import WorkerTotals
from calibration.models.durations.fit import AWAY, fit_exposure
from calibration.models.durations.from_tables import away_exposure
from calibration.models.durations.laws import gamma_rates, gamma_values
from calibration.models.durations.maximum import maximum
from calibration.models.durations.simulate import ObservationDesign
from calibration.user_model.measures import joint_parameters, stream_people
from metrics.msu.trails import Population
from tests.calibration.models.durations.followers import HOUR, simulated


def drawn(shape: float, workers: int, seed: int, days: float = 7.0) -> WorkerTotals:
    """Rates gamma with mean one a day."""
    rng = np.random.default_rng(seed)
    rate = rng.gamma(shape, 1 / (shape - 1), workers)
    return WorkerTotals(events=rng.poisson(days * rate).astype(float), seconds=np.full(workers, days))


def test_gamma_rates_are_a_negative_binomial_regression():
    """n | T with a gamma rate is negative binomial with offset log T: statsmodels finds the same top."""
    totals = drawn(4, 100, 1)
    law = gamma_rates(totals, maximum(totals))
    regression = sm.NegativeBinomial(totals.events, np.ones(100), offset=np.log(totals.seconds)).fit(
        disp=0, maxiter=200, gtol=1e-8
    )
    constant = (gammaln(totals.events + 1) - totals.events * np.log(totals.seconds)).sum()

    assert law.loglik == pytest.approx(regression.llf + constant, abs=1e-3)
    assert math.exp(law.point[1]) == pytest.approx(1 / regression.params[1], rel=0.02)


def test_its_values_are_those_of_an_inverse_gamma_law():
    """Mean, deviation and quartiles by scipy; no deviation up to shape 2, no mean up to 1."""
    law = invgamma(3.5, scale=2.0)
    values = np.exp(gamma_values(np.log([2.0, 3.5])))

    assert values == pytest.approx([law.mean(), law.std(), *law.ppf([0.5, 0.25, 0.75])])
    assert np.isinf(np.exp(gamma_values(np.log([2.0, 1.9])))[:2]).tolist() == [False, True]
    assert np.isinf(np.exp(gamma_values(np.log([2.0, 0.9])))[:2]).all()


def test_its_intervals_hold_the_truth(seeds):
    """M of a day and S of .71 days, shape 4; an end may be open."""
    held = []
    for seed in seeds(200, least=40):
        totals = drawn(4, 150, seed)
        error = gamma_rates(totals, maximum(totals)).error()
        held.append(
            [
                (low or 0) <= true <= (high or math.inf)
                for true, (low, high) in zip((1.0, 0.5**0.5), error.intervals(0.95)[:2], strict=True)
            ]
        )

    assert (np.mean(held, axis=0) >= 0.88).all()


def test_the_published_law_stands_in_the_model_and_people_are_drawn_from_it():
    """Other numbers than the log-normal ones, a name in the file, and a population of that law."""
    tables = simulated(ObservationDesign(workers=120, between="inverse_gamma"), seed=2)
    ours = fit_user_model(tables, seed=1, options=FitOptions(checks=False)).model
    gamma = fit_user_model(tables, seed=1, options=FitOptions(checks=False, laws={"away": "gamma"})).model
    checked = fit_user_model(tables, seed=1, options=FitOptions(laws={"away": "gamma"})).model

    assert (ours.laws, gamma.laws) == ({}, {"away": "gamma"})
    assert ours.parameters["session_mean_seconds"] == gamma.parameters["session_mean_seconds"]
    assert ours.parameters["away_sd_seconds"].estimate != gamma.parameters["away_sd_seconds"].estimate
    assert gamma.parameters["away_sd_seconds"].method == "marginal likelihood, gamma rates"
    assert [law.law for law in checked.parameters["away_sd_seconds"].sensitivity].count("lognormal") == 1
    people = Population(**(stream_people(gamma) | joint_parameters(gamma)))
    assert (people.away_law, people.session_law) == ("gamma", "lognormal")


def test_a_gamma_law_without_a_deviation_is_infinite_and_its_upper_end_open():
    """Shape 1.5: M is finite, S is not."""
    fit = fit_exposure(
        away_exposure(simulated(ObservationDesign(workers=400, days=14, between="inverse_gamma"))),
        law="gamma",
    )
    totals = drawn(1.5, 400, 3, days=30.0)
    law = gamma_rates(totals, maximum(totals))

    assert fit.parameters[AWAY[0]] == pytest.approx(24 * HOUR, rel=0.3)
    assert np.isinf(np.exp(law.values(law.point))[1])
    assert law.error().intervals(0.95)[1][1] is None
