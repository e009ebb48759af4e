"""What the usual estimates of patience get wrong, and by how much."""

import numpy as np
import pytest

from benchmarks.naive.patience import naive_largest_stop, naive_twice_median
from calibration.models.patience.grid import fit_patience_on_grid
from calibration.models.patience.preferences import fit_patience_from_preferences
from calibration.models.patience.simulate import Habits, SimulatedJudges, simulate_stops
from calibration.models.patience.stops import fit_patience_from_stops, stops_of_texts
from tests.calibration.studies import drawn_pairs

PATIENCE = 1500.0


def median_error(fit, **people: float) -> float:
    """Return the median relative error over 10 studies of 100 workers with 4 texts each."""
    found = [
        fit(
            simulate_stops(PATIENCE, np.random.default_rng(seed), workers=100, habits=Habits(**people))
        ).parameters
        for seed in range(10)
    ]
    return float(np.median([next(iter(params.values())) for params in found]) / PATIENCE - 1)


def fitted(stops):
    return fit_patience_from_stops(stops_of_texts(stops), rng=np.random.default_rng(1), resamples=2)


def test_twice_the_median_of_stops_before_the_end_is_too_short():
    """Long stops are the ones that a text's end hides: a fifth too short, a third where people differ."""
    assert median_error(naive_twice_median) == pytest.approx(-0.20, abs=0.05)
    assert median_error(naive_twice_median, patience_cv=0.4) == pytest.approx(-0.34, abs=0.06)
    assert abs(median_error(fitted)) < 0.02


def test_the_largest_stop_is_as_wrong_as_its_most_unusual_reader():
    """Right if stops are exact and people alike; as long as the longest text (here 1.6 L) with one reader of ten who always finishes."""
    assert median_error(naive_largest_stop) == pytest.approx(-0.004, abs=0.01)
    assert median_error(naive_largest_stop, finishers=0.1) == pytest.approx(0.58, abs=0.05)
    assert median_error(naive_largest_stop, patience_cv=0.4) == pytest.approx(0.48, abs=0.12)
    assert median_error(fitted, finishers=0.1) < 0.2


def test_the_largest_stop_gets_worse_with_more_data():
    """The more readers, the more unusual the most unusual one."""

    def error(workers: int) -> float:
        found = [
            naive_largest_stop(
                simulate_stops(
                    PATIENCE, np.random.default_rng(seed), workers=workers, habits=Habits(patience_cv=0.4)
                )
            ).estimates[0]
            for seed in range(10)
        ]
        return float(np.median(found) / PATIENCE - 1)

    assert error(400) > error(40) + 0.1


def test_the_agreement_grid_scatters_more_than_the_likelihood():
    """It counts pairs, the likelihood votes; and it is a step function."""
    logs: dict[str, list[float]] = {"grid": [], "likelihood": []}
    for seed in range(10):
        pairs = drawn_pairs(SimulatedJudges(patience_chars=840, per_topic=7, unexplained_sd=0.4), seed=seed)
        grid = fit_patience_on_grid(pairs, n_workers=56, rng=np.random.default_rng(seed), resamples=2)
        likelihood = fit_patience_from_preferences(pairs, n_workers=56)
        for how, fit in (("grid", grid), ("likelihood", likelihood)):
            logs[how].append(float(np.log(fit.estimates[0] / 840)))

    assert np.std(logs["grid"]) > 1.4 * np.std(logs["likelihood"])
