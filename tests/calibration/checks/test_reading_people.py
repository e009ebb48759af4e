"""People who read otherwise than the model says: named as what they do, with mu beside the number, which stays the model's."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from calibration.checks.reading import alike_times, extra_time, form, own_scatter
from calibration.checks.reading.fast_readers import are_many, normal_below
from calibration.checks.reading.lengths import length_slope
from calibration.models.reading.fit import MU as NAME
from calibration.models.reading.fit import fit_reading_speed
from calibration.models.reading.medians import fit_medians
from calibration.models.reading.mixture import reading_sample
from calibration.models.reading.rows import readings
from tests.calibration.checks.reading_findings import checked, warned
from tests.calibration.models.reading.reading_crowds import MU, SIGMA, crowd


def with_tabs(seed: int, share: float, people: float = 1.0, **settings) -> pd.DataFrame:
    """Return reads of which a share, of the last people, have a minute or so beside their reading."""
    reads, rng = crowd(seed, own_items=True, **settings), np.random.default_rng([seed, 8])
    whose = pd.factorize(reads["worker"])[0] >= (1 - people) * reads["worker"].nunique()
    away = whose & (rng.random(len(reads)) < share)
    seconds = reads["dwell_seconds"] + np.where(away, rng.lognormal(np.log(60), 1, len(reads)), 0.0)
    return reads.assign(dwell_seconds=seconds)


@pytest.mark.parametrize(
    "settings", [{}, {"own_items": True}, {"workers": 25, "items": 10}, {"workers": 20, "items": 40}], ids=str
)
def test_people_who_are_as_the_model_says_are_left_in_peace(settings, seeds):
    """No test warns in nine studies of ten, all together; few people or items, and who is fast, are facts."""
    found = [
        {name for name in warned(crowd(seed, **settings)) if "few_" not in name and name != "fast_workers"}
        for seed in seeds(20, least=8)
    ]

    assert np.mean([not names for names in found]) >= 0.85


def test_who_takes_the_same_time_for_every_item_stays_in_the_number_and_is_told_beside_it():
    """A fifth who take a second for every item make everybody half as fast again."""
    reads = crowd(5, careless=8)
    fit, findings = checked(reads)
    finding = findings["alike_times"]

    assert {name for name, of in findings.items() if of.severity == "warning"} == {"alike_times"}
    assert finding.sentence.startswith("7 of 40 workers take about 1 s for every item, whatever its length")
    assert fit.n_workers == 40
    assert fit.estimates[0] > 1.6
    (law,) = finding.sensitivity[NAME]
    others = fit_reading_speed(
        readings(reads[~reads["worker"].isin([f"W{number:03d}" for number in range(8)])])
    )
    assert law.estimate == pytest.approx(others.estimates[0], abs=0.1)
    assert law.low < MU < law.high


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_a_class_of_alike_times_is_found_with_its_share_and_its_time(share):
    """And nobody of them where all read."""
    found = alike_times.alike_times(readings(crowd(5, careless=round(40 * share))))

    if share:
        assert found.kind.share == pytest.approx(share, abs=0.03)
        assert found.seconds == pytest.approx(1.0, rel=0.2)
    else:
        assert found is None or found.ratio < 12.6


def in_a_share_of_their_own(seed: int, log_times: float) -> pd.DataFrame:
    """Return reads of people of whom each has a share of reads with a longer, or shorter, time."""
    reads, rng = crowd(seed, workers=60, own_items=True), np.random.default_rng([seed, 9])
    own = rng.beta(0.3, 1.7, reads["worker"].nunique())[pd.factorize(reads["worker"])[0]]
    seconds = reads["dwell_seconds"] * np.exp(log_times * (rng.random(len(reads)) < own))
    return reads.assign(dwell_seconds=seconds)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_reads_in_a_background_tab_are_named_as_such(share, seeds):
    """And not as the answers of people who do not read."""
    for seed in seeds(3, least=1):
        fit, findings = checked(with_tabs(seed, share, 0.2))

        assert findings["extra_time"].severity == "warning"
        assert "alike_times" not in findings or findings["alike_times"].severity == "info"
        (law,) = findings["extra_time"].sensitivity[NAME]
        assert abs(law.estimate - MU) < abs(fit.estimates[0] - MU)


def test_reads_of_everybody_in_a_background_tab_leave_the_interval_right(seeds):
    """The law of a read has pauses that everybody has as often: there is nothing to name."""
    fits = [checked(with_tabs(seed, 0.2))[0] for seed in seeds(6, least=3)]
    held = [low <= MU <= high for low, high in (fit.conf_int()[NAME] for fit in fits)]

    assert sum(held) >= len(held) - 1


@pytest.mark.parametrize(("log_times", "name"), [(1.6, "extra_time"), (-1.6, "skimmed_reads")])
def test_who_pauses_or_skims_in_a_share_of_their_own_is_named_and_mu_stands_beside(log_times, name, seeds):
    """One in eleven does so in more than half of the reads, and looks like a slow, or a fast, reader."""
    found = [checked(in_a_share_of_their_own(seed, log_times))[1] for seed in seeds(6, least=3)]
    named = [findings[name] for findings in found if name in findings]

    assert sum(finding.severity == "warning" for finding in named) >= len(found) - 1
    assert abs(np.median([finding.sensitivity[NAME][0].estimate for finding in named]) - MU) < 0.12


def test_the_class_of_pauses_is_found_with_its_share_and_its_length():
    """A fifth of the people, and none where nobody differs."""
    few = extra_time.own_share(readings(with_tabs(1, 0.6, 0.2, workers=60)))

    assert expit(few.point[5]) == pytest.approx(0.2, abs=0.07)
    assert expit(few.point[6]) == pytest.approx(0.6, abs=0.12)
    assert few.point[7] > extra_time.MIN_TIMES
    assert few.point[0] == pytest.approx(MU, abs=0.25)
    assert extra_time.own_share(readings(crowd(1, workers=60, own_items=True))) is None


def test_the_likelihood_of_extra_time_is_that_of_readers_alone_where_nobody_has_it():
    """And its gradient is that of differences."""
    data = readings(with_tabs(2, 0.1, workers=12))
    top = reading_sample(data).top
    crowd_of = extra_time._Crowd(data, top)
    nobody = np.concatenate([top.p, [-40, 0, 1.6, 0]])
    point = np.concatenate([top.p + 0.1, [-1, -0.5, 1.6, -0.2]])
    slopes = [
        (crowd_of.height(point + step)[0] - crowd_of.height(point - step)[0]) / 2e-5
        for step in 1e-5 * np.eye(9)
    ]

    assert crowd_of.height(nobody)[0] == pytest.approx(crowd_of.readers_alone(top.p), abs=1e-9)
    assert crowd_of.readers_alone(top.p) == pytest.approx(
        top.value.sum() + top.likelihood.penalty(top.p)[0], abs=1e-3
    )
    np.testing.assert_allclose(crowd_of.height(point)[1], slopes, atol=1e-5)


def test_people_whose_reads_scatter_more_than_others_get_no_other_name(seeds):
    """They look like people who pause, skim or do not read, which would explain less; mu and sigma hardly move."""
    for seed in seeds(2, least=1):
        reads, rng = crowd(seed, workers=60, own_items=True), np.random.default_rng([seed, 3])
        number = pd.factorize(reads["worker"])[0]
        apart = 0.5 * rng.normal(size=len(reads)) * np.exp(0.5 * rng.normal(size=60))[number]
        speeds = rng.normal(MU, 0.5, 60)[number] + apart
        fit, findings = checked(reads.assign(dwell_seconds=reads["words"] / np.exp(speeds)))

        assert {name for name, of in findings.items() if of.severity == "warning"} == {"own_scatter"}
        (law,) = findings["own_scatter"].sensitivity[NAME]
        assert law.estimate == pytest.approx(fit.estimates[0], abs=0.06)


def test_the_likelihood_of_a_scatter_of_ones_own_is_that_of_readers_alone_without_it():
    """And its gradient is that of differences."""
    top = reading_sample(readings(with_tabs(2, 0.1, workers=12))).top
    point = np.append(top.p + 0.1, 0.4)
    slopes = [
        (
            own_scatter.height(top.likelihood, point + step)[0]
            - own_scatter.height(top.likelihood, point - step)[0]
        )
        / 2e-5
        for step in 1e-5 * np.eye(6)
    ]

    alone, _ = own_scatter.height(top.likelihood, np.append(top.p, 0.0))
    assert alone == pytest.approx(top.value.sum() + top.likelihood.penalty(top.p)[0], abs=1e-9)
    np.testing.assert_allclose(own_scatter.height(top.likelihood, point)[1], slopes, atol=1e-5)


def test_of_very_many_reads_some_say_as_much():
    """At most so many workers, and so many reads of each."""
    data = readings(crowd(1, workers=700, items=130, own_items=True))
    some = extra_time.evenly_chosen(data)

    assert some.n_workers <= extra_time.MAX_WORKERS
    assert np.bincount(some.worker).max() <= extra_time.MAX_READS
    assert some.log_speed.mean() == pytest.approx(data.log_speed.mean(), abs=0.1)


def test_items_that_differ_are_named_and_take_no_blame_for_a_time_per_item(seeds):
    """What 15 items do is no matter of their length."""
    found = [warned(crowd(seed, item_sd=0.4)) for seed in seeds(4, least=2)]

    assert all("items_differ" in names for names in found)
    assert "time_per_item" not in set().union(*found)


def test_a_time_per_item_is_found_beside_items_that_differ():
    """Three seconds for every item, whoever reads it."""
    data = readings(crowd(2, items=40, item_sd=0.2, overhead=3.0))
    slope, p_value = length_slope(data, fit_medians(data))

    assert slope > 0.2
    assert p_value < 0.001


def test_many_who_are_faster_than_people_read_are_said():
    """A fifth of the workers scroll along five times as fast, in times that follow length; of readers alone nothing is said."""
    reads = crowd(5, own_items=True)
    hurried = reads["worker"].isin([f"W{number:03d}" for number in range(8)])
    faster = reads.assign(dwell_seconds=reads["dwell_seconds"] / np.where(hurried, 5.0, 1.0))
    fit, findings = checked(faster)
    finding = findings["fast_workers"]

    assert finding.severity == "warning"
    assert finding.sentence.startswith("7 of 40 workers read 600 words a minute or more")
    assert finding.sensitivity[NAME][0].estimate < fit.estimates[0] - 0.1
    assert warned(reads) == set()


@pytest.mark.parametrize(
    ("workers", "fast", "told"), [(40, 4, False), (40, 5, True), (60, 6, True), (100, 9, False)]
)
def test_a_tenth_of_fast_workers_is_told_where_chance_would_seldom_make_as_many(
    workers: int, fast: int, *, told: bool
) -> None:
    """Of everybody 4 % read so fast: four of 40 come by chance in one study of thirteen, and nine of a hundred are no tenth."""
    speeds = np.where(np.arange(workers) < fast, np.log(11.0), 1.0)

    assert are_many(speeds) is told


def test_a_normal_law_below_a_bound_is_found_again():
    """Of people below the bound alone."""
    rng = np.random.default_rng(1)
    speeds = rng.normal(MU, SIGMA, 20_000)
    mu, sigma, error = normal_below(speeds[speeds < 1.8], np.zeros((speeds < 1.8).sum()), 1.8)

    assert (mu, sigma) == pytest.approx((MU, SIGMA), abs=0.03)
    assert 0 < error < 0.03


def test_two_crowds_are_no_normal_population_and_one_is():
    """Half of the workers reading four times as fast as the other half."""
    reads = crowd(15, workers=150, own_items=True)
    half = reads["worker"] < "W075"
    two = reads.assign(dwell_seconds=reads["dwell_seconds"] * np.where(half, 8, 1))
    good, bad = (checked(of)[1]["normal_over_workers"] for of in (reads, two))

    assert good.p_value > 0.05
    assert good.sensitivity == {}
    assert bad.p_value < 0.002
    assert "do not look normal" in bad.sentence
    assert bad.sensitivity[NAME][0].law == "no law, median worker"


def test_the_test_of_the_form_is_uniform_under_the_model(seeds):
    """Drawn from the fit itself, p below .2 in a fifth."""
    fits = [fit_reading_speed(readings(crowd(seed, own_items=True, items=6))) for seed in seeds(40, least=20)]
    low = np.mean([form.normality_test(fit)[1] < 0.2 for fit in fits])

    assert low < 0.2 + 2.5 * np.sqrt(0.16 / len(fits))
