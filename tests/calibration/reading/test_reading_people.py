"""Reading speed where people are not as the model says: the same items for all, and some who only click through."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calibration.reading.fit import fit_reading_speed
from calibration.reading.items import click_through, item_effects, length_slope, note_on_fast
from calibration.reading.medians import fit_medians
from calibration.reading.mixture import mixture_top
from calibration.reading.rows import readings
from calibration.tables.files import checked
from calibration.tables.tables import TABLES

MU, SIGMA = 1.290, 0.558


def crowd(
    seed: int,
    *,
    workers: int = 40,
    items: int = 15,
    item_sd: float = 0.0,
    careless: int = 0,
    overhead: float = 0.0,
    own_items: bool = False,
) -> pd.DataFrame:
    """Draw table reads of workers who all read the same items; the first ``careless`` take a second for each."""
    rng = np.random.default_rng([seed, 3])
    words = rng.permutation(np.linspace(8, 40, items).astype(int))
    speed = (
        rng.normal(MU, SIGMA, (workers, 1))
        + rng.normal(0, item_sd, items)
        + rng.normal(0, 0.5, (workers, items))
    )
    seconds = words * np.exp(-speed) + overhead
    seconds[:careless] = np.exp(rng.normal(0, 0.6, (careless, items)))
    worker, item = (axis.ravel() for axis in np.indices(seconds.shape))
    rows = {
        "worker": [f"W{number:03d}" for number in worker],
        "topic": "Q0",
        "page": [f"P{number}" for number in worker],
        "item": [f"{u if own_items else ''}U{i}" for u, i in zip(worker, item, strict=True)],
        "kind": "update",
        "words": words[item],
        "dwell_seconds": seconds.ravel(),
    }
    return checked(pd.DataFrame(rows), TABLES["reads"])


def warned(reads: pd.DataFrame) -> list[str]:
    return [note.name for note in fit_reading_speed(reads).diagnostics if note.severity == "warning"]


# --- the same items for all


def test_intervals_of_mu_allow_for_other_items():
    """By workers alone they would hold in half of such studies."""
    fits = [fit_reading_speed(crowd(seed, items=8, item_sd=0.6), method="median") for seed in range(12)]

    def held(method: str) -> int:
        ends = [fit.conf_int(method=method)["reading_speed_mu"] for fit in fits]
        return sum(low <= MU <= high for low, high in ends)

    assert held("two_way") >= 11
    assert held("wald") <= 9


def test_items_that_differ_are_named_and_take_no_blame_for_a_time_per_item():
    """What 15 items do is no matter of their length."""
    found = [warned(crowd(seed, item_sd=0.4)) for seed in range(4)]

    assert all("items_differ" in names for names in found)
    assert {name for names in found for name in names} <= {"items_differ", "fast_workers"}


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


def test_a_time_per_item_is_found_beside_items_that_differ():
    """Two seconds for every item, whoever reads it."""
    data = readings(crowd(2, items=40, item_sd=0.2, overhead=3.0))
    slope, p_value = length_slope(data, fit_medians(data))

    assert slope > 0.2
    assert p_value < 0.001


# --- careless people


def test_who_clicks_through_is_named_and_the_numbers_are_those_of_the_others():
    """A fifth who take a second for every item would make everybody half as fast again."""
    fit = fit_reading_speed(crowd(5, careless=8))
    (note,) = [note for note in fit.diagnostics if note.severity == "warning"]

    assert note.name == "careless_workers"
    assert "7 of 40 workers took about 1 s for every item" in note.sentence
    assert "with them mu is 1.6" in note.sentence
    low, high = fit.conf_int()["reading_speed_mu"]
    assert low < MU < high
    assert fit.n_workers == 33


def test_each_careless_worker_is_known():
    """The posterior of each, by name."""
    data = readings(crowd(5, careless=8))
    medians = fit_medians(data)
    found = click_through(data, medians, mixture_top(data, medians))

    assert found is not None
    named = {data.names[number] for number in np.flatnonzero(found.kind.is_one)}
    assert named <= {f"W{number:03d}" for number in range(8)}
    assert len(named) >= 7
    assert found.kind.share == pytest.approx(0.2, abs=0.03)
    assert found.seconds == pytest.approx(1.0, rel=0.2)


@pytest.mark.parametrize("change", [{}, {"overhead": 3.0}, {"item_sd": 0.4}, {"own_items": True}])
def test_nobody_who_reads_is_called_careless(change):
    """Neither where items take time of their own, which follows length less."""
    for seed in range(3):
        data = readings(crowd(seed, **change))
        medians = fit_medians(data)
        assert click_through(data, medians, mixture_top(data, medians)) is None


def test_a_study_as_the_model_says_has_no_warning():
    """All warnings of reading speed together."""
    assert [warned(crowd(seed)) for seed in range(5)] == [[]] * 5


def test_many_who_are_faster_than_people_read_are_said():
    """A fifth of the workers scroll along five times as fast, in times that follow length; of readers alone nothing is said."""
    reads = crowd(5, workers=40, own_items=True)
    hurried = reads["worker"].isin([f"W{number:03d}" for number in range(8)])
    faster = reads.assign(dwell_seconds=reads["dwell_seconds"] / np.where(hurried, 5.0, 1.0))
    (note,) = [note for note in fit_reading_speed(faster).diagnostics if note.name == "fast_workers"]

    assert note.sentence.startswith("7 of 40 workers read 600 words a minute or more")
    assert warned(reads) == []


@pytest.mark.parametrize(
    ("workers", "fast", "told"), [(40, 4, False), (40, 5, True), (60, 6, True), (100, 9, False)]
)
def test_a_tenth_of_fast_workers_is_told_where_chance_would_seldom_make_as_many(
    workers: int, fast: int, *, told: bool
) -> None:
    """Of everybody 4 % read so fast: four of 40 come by chance in one study of thirteen, and nine of a hundred are no tenth."""
    reads = fit_medians(readings(crowd(5, workers=workers, items=4, own_items=True)))
    speeds = np.where(np.arange(workers) < fast, np.log(11.0), 1.0)

    assert bool([*note_on_fast(replace(reads, medians=speeds), "words")]) is told
