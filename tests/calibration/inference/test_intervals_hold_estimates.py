"""No interval leaves its own estimate out: of any estimator, by any method, at any level."""

import math
from functools import lru_cache
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.fit.families import FitOptions
from calibration.fit.user_model_fit import fit_user_model
from calibration.inference.results import CalibrationResult, holding
from calibration.inference.uncertainty import Replicates, Scale, StudentT
from calibration.models.durations.simulate import ObservationDesign
from calibration.models.lateness.error import DecayUncertainty
from calibration.simulate import SimulatedStudy, simulate_study

LEVELS = (0.001, 0.1, 0.5, 0.8, 0.95, 0.999)
levels = st.floats(0.001, 0.999)
numbers = st.floats(-5, 5)


def holds(estimate: float, interval) -> bool:
    """Say whether an interval holds its estimate; an open end holds everything on its side."""
    low, high = interval
    return (low is None or low <= estimate) and (high is None or estimate <= high)


def result(estimate: float, uncertainty) -> CalibrationResult:
    return CalibrationResult(
        parameters=MappingProxyType({"patience_chars": estimate}),
        unit="u",
        method="m",
        uncertainty=MappingProxyType({"how": uncertainty}),
        n_workers=9,
        n_rows=9,
    )


@given(numbers, st.lists(numbers, min_size=2, max_size=30), st.sampled_from(Scale), levels, st.booleans())
def test_percentiles_hold_an_estimate_that_no_replicate_is_near(estimate, values, scale, level, clustered):
    """On every scale, an infinite estimate as well, whatever the replicates are."""
    replicates = Replicates(values=np.array(values)[:, None], scale=scale, clusters=7 if clustered else None)
    natural = float(scale.natural(np.array(estimate)))
    (entry,) = result(natural, replicates).entries(level).values()

    assert holds(math.inf if entry.estimate is None else entry.estimate, entry.interval)


@given(numbers, st.floats(0.001, 10), st.floats(1, 100), st.sampled_from(Scale), levels)
def test_symmetric_errors_hold_their_estimate(centre, error, df, scale, level):
    """Rounding on the way to the natural scale and back does not push an end past it."""
    uncertainty = StudentT(centre=np.array([centre]), cov=np.array([[error**2]]), df=df, scale=scale)
    natural = float(scale.natural(np.array(centre)))
    (interval,) = result(natural, uncertainty).conf_int(level).values()

    assert holds(natural, interval)


@given(st.floats(0, 1), st.floats(0, 1), levels)
def test_an_end_moves_only_as_far_as_the_estimate(estimate, end, level):
    """And the other end not at all."""
    low, high = holding(estimate, (end, end + level))

    assert low == min(estimate, end)
    assert high == max(estimate, end + level)


@given(levels, st.floats(0.01, 3), st.floats(0.1, 0.99))
def test_the_one_sided_bounds_of_lateness_hold_it_at_any_level(level, error, p0):
    """Below a half, the bound of a decay of 1 was once above 1."""
    uncertainty = DecayUncertainty(
        decay=1.0,
        p0=p0,
        cov=np.diag([error**2, 1.0]),
        df=(9, 9),
        level=np.arange(3.0),
        effective=np.full(3, 20.0),
    )
    (low, high), _ = uncertainty.intervals(level)

    assert low <= 1 == high


@lru_cache
def every_fit() -> tuple[CalibrationResult, ...]:
    """Return the fits of a small study, with every bootstrap there is."""
    tables = simulate_study(
        SimulatedStudy(workers=18, topics=4, items=6, diary=ObservationDesign(days=4)),
        np.random.default_rng(1),
    )
    known = {name: table for name, table in tables.items() if name != "activity"}
    fit = fit_user_model(known, seed=1, options=FitOptions(resamples=30, checks=False))
    assert fit.intents is not None
    return (*fit.results.values(), *fit.quality.results, fit.intents.result)


@pytest.mark.parametrize("level", LEVELS)
def test_every_method_of_every_family_holds_its_estimates(level):
    """Seventeen fits, each with all its methods; few workers and few resamples, where percentiles stray."""
    beside = [
        (name, method, interval)
        for fit in every_fit()
        for method in fit.uncertainty
        for (name, estimate), interval in zip(
            fit.parameters.items(), fit.conf_int(level, method).values(), strict=True
        )
        if not holds(estimate, interval)
    ]

    assert len(every_fit()) == 19
    assert not beside
