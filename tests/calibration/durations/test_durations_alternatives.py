"""Other laws on the same data: closed forms and other people's code agree, and the true law wins."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from scipy.special import gammaln

from calibration.durations.at_risk import Exposure
from calibration.durations.exposures import away_exposure
from calibration.durations.fit import fit_away, fit_session
from calibration.durations.maximum import maximum
from calibration.durations.other_laws.alternatives import (
    COMPOUND,
    FRAILTY,
    GAMMA,
    POOLED_EXPONENTIAL,
    POOLED_LOG_NORMAL,
    POOLED_WEIBULL,
    Alternative,
    alternatives,
)
from calibration.durations.simulate import Diary, simulate_visits
from metrics.msu.score import Population

HOUR = 3600
PEOPLE = Population(
    away_mean_seconds=24 * HOUR, away_sd_seconds=24 * HOUR, session_mean_seconds=180, session_sd_seconds=180
)


def exposed(seed: int = 1, **diary) -> Exposure:
    return away_exposure(simulate_visits(PEOPLE, Diary(**diary), np.random.default_rng(seed)))


def laws(exposure: Exposure) -> dict[str, Alternative]:
    return {law.name: law for law in alternatives(exposure, maximum(exposure.totals()))}


@pytest.fixture(scope="module")
def plain() -> tuple[Exposure, dict[str, Alternative]]:
    exposure = exposed(workers=100)
    return exposure, laws(exposure)


def test_gamma_rates_are_a_negative_binomial_regression(plain):
    """n | T with a gamma rate is negative binomial with offset log T: statsmodels finds the same top."""
    exposure, found = plain
    totals = exposure.totals()
    hours = totals.seconds / HOUR
    regression = sm.NegativeBinomial(totals.events, np.ones(len(hours)), offset=np.log(hours)).fit(
        disp=0, maxiter=200, gtol=1e-8
    )
    constant = (gammaln(totals.events + 1) - totals.events * np.log(totals.seconds)).sum()
    shape = 1 / regression.params[1]

    assert found[GAMMA].loglik == pytest.approx(regression.llf + constant, abs=1e-3)
    if shape > 1:
        rate = shape * HOUR / math.exp(regression.params[0])
        assert found[GAMMA].mean == pytest.approx(rate / (shape - 1), rel=0.01)


@pytest.mark.parametrize(
    ("law", "name"), [(stats.lognorm, POOLED_LOG_NORMAL), (stats.weibull_min, POOLED_WEIBULL)]
)
def test_pooled_laws_are_those_of_scipy_with_censored_data(plain, law, name):
    """Likelihood and mean; S is then the spread of the intervals, not of people."""
    exposure, found = plain
    hours = exposure.seconds / HOUR
    data = stats.CensoredData(uncensored=hours[exposure.event], right=hours[~exposure.event])
    shape, _, scale = law.fit(data, floc=0)
    loglik = (
        law.logpdf(hours[exposure.event], shape, scale=scale).sum()
        + law.logsf(hours[~exposure.event], shape, scale=scale).sum()
    )

    assert found[name].loglik == pytest.approx(loglik - exposure.event.sum() * math.log(HOUR), abs=0.05)
    assert found[name].mean == pytest.approx(law.mean(shape, scale=scale) * HOUR, rel=0.01)


def test_a_weibull_law_of_shape_1_is_the_compound_law(plain):
    """Nested: it is never less likely, and little more so when intervals are exponential."""
    _, found = plain

    assert found[FRAILTY].loglik >= found[COMPOUND].loglik - 1e-3
    assert found[FRAILTY].loglik - found[COMPOUND].loglik < 6
    assert found[FRAILTY].shape == pytest.approx(1, abs=0.1)
    assert found[FRAILTY].mean == pytest.approx(found[COMPOUND].mean, rel=0.1)


def test_a_pooled_exponential_is_total_time_over_events(plain):
    """One rate for everybody, far less likely than the truth."""
    exposure, found = plain
    mean = exposure.seconds.sum() / exposure.event.sum()

    assert found[POOLED_EXPONENTIAL].mean == pytest.approx(mean)
    assert found[POOLED_EXPONENTIAL].loglik == pytest.approx(
        -exposure.event.sum() * (math.log(mean) + 1), rel=1e-9
    )
    assert found[POOLED_EXPONENTIAL].aic - found[COMPOUND].aic > 100


def test_the_likelihood_of_the_weibull_law_is_that_of_its_intervals():
    """With everybody alike it is the pooled Weibull likelihood: the Jacobian is right."""
    exposure = exposed(workers=40, within="weibull", within_shape=0.6)
    one = Exposure(
        unit=exposure.unit * 0 + (np.arange(len(exposure.unit)) % 2),
        follow=exposure.follow * 0,
        start=exposure.start,
        stop=exposure.stop,
        event=exposure.event,
        follow_unit=np.array([0, 1]),
        follow_seconds=exposure.follow_seconds[:2],
        seen_by_seconds=None,
        design="window",
        notes=(),
    )
    found = laws(one)

    assert found[FRAILTY].loglik == pytest.approx(found[POOLED_WEIBULL].loglik, abs=0.05)


def test_intervals_of_a_weibull_law_are_recognised():
    """Its shape is found, and the difference in AIC is far beyond chance; M stays."""
    found = laws(exposed(workers=100, within="weibull", within_shape=0.6))

    assert found[FRAILTY].shape == pytest.approx(0.6, abs=0.06)
    assert found[COMPOUND].aic - found[FRAILTY].aic > 100
    assert found[COMPOUND].mean == pytest.approx(24 * HOUR, rel=0.3)


def test_a_table_of_laws_is_ordered_by_aic():
    """AIC is 2 k - 2 l, its difference counted from the best."""
    table = fit_session(simulate_visits(PEOPLE, Diary(workers=50), np.random.default_rng(1))).alternatives()

    assert table["aic"].is_monotonic_increasing
    assert table["aic_difference"].iloc[0] == 0
    np.testing.assert_allclose(table["aic"], 2 * table["parameters"] - 2 * table["loglik"])


def test_with_zero_truncation_only_laws_with_a_known_truncation_compete():
    """The compound law and gamma rates; the first is the fit itself."""
    tables = simulate_visits(PEOPLE, Diary(workers=100, days=3), np.random.default_rng(1))
    fit = fit_away(tables, inclusion="at_least_one_visit")

    assert {law.name for law in fit.laws} == {COMPOUND, GAMMA}
    assert next(law for law in fit.laws if law.name == COMPOUND).loglik == pytest.approx(fit.loglik)
    truth = 24 * HOUR
    assert fit.params["away_mean_seconds"] == pytest.approx(truth, rel=0.5)
