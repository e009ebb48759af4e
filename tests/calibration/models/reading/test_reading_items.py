"""The same items for all: intervals that allow for other items."""

import numpy as np
import pytest

from calibration.models.reading.fit import fit_reading_speed
from calibration.models.reading.items import item_effects
from calibration.models.reading.medians import fit_medians
from calibration.models.reading.rows import readings
from tests.calibration.models.reading.reading_crowds import MU, crowd


def test_intervals_of_mu_allow_for_other_items():
    """By workers alone they would hold in half of such studies."""
    fits = [fit_reading_speed(readings(crowd(seed, items=8, item_sd=0.6))) for seed in range(12)]
    ends = [fit.conf_int()["reading_speed_mu"] for fit in fits]

    assert sum(low <= MU <= high for low, high in ends) >= 11


def test_there_is_one_interval_that_of_workers_where_items_are_their_own():
    """By their t, whatever the data are like."""
    own = fit_reading_speed(readings(crowd(1, own_items=True)))
    shared = fit_reading_speed(readings(crowd(1, item_sd=0.4)))

    assert [*own.uncertainty] == [*shared.uncertainty] == ["two_way"]
    assert own.uncertainty["two_way"].df == pytest.approx(39)
    assert 14 < shared.uncertainty["two_way"].df < 39 + 14


def test_the_spread_of_items_is_found_again():
    """Within a fifth, of many items."""
    data = readings(crowd(1, workers=60, items=60, item_sd=0.3))

    effects = item_effects(data, fit_medians(data))

    assert effects.spread == pytest.approx(0.3, rel=0.2)
    assert effects.mu_variance == pytest.approx(effects.spread**2 / 60, rel=0.1)


def test_items_of_each_workers_own_tell_nothing_of_items():
    """Nobody else read them."""
    data = readings(crowd(1, own_items=True))

    assert item_effects(data, fit_medians(data)).items == 0


def test_a_single_item_that_all_read_leaves_the_interval_of_workers():
    """Its part of the error cannot be told."""
    reads = crowd(3, own_items=True)
    reads.loc[reads.groupby("worker").head(1).index, "item"] = "the same"

    fit = fit_reading_speed(readings(reads))

    assert fit.uncertainty["two_way"].df == pytest.approx(39)
    assert np.isfinite(fit.conf_int()["reading_speed_mu"]).all()
