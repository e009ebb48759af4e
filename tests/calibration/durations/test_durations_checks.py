"""Tests of the model: their size under it, what they find, and that each knows the design."""

import math

import numpy as np
import pytest
from scipy import stats

from calibration.durations.at_risk import Exposure, Totals
from calibration.durations.checks import (
    Refits,
    between_worker_test,
    mid_pit,
    simulate_totals,
    topics_apart,
    within_worker_test,
)
from calibration.durations.exposures import away_exposure, session_exposure
from calibration.durations.maximum import maximum
from calibration.durations.simulate import Diary, simulate_visits
from calibration.inference.goodness import anderson_darling
from metrics.msu.score import Population

HOUR = 3600
PEOPLE = Population(
    away_mean_seconds=24 * HOUR, away_sd_seconds=24 * HOUR, session_mean_seconds=180, session_sd_seconds=90
)


def tables(seed: int = 1, **diary) -> dict:
    return simulate_visits(PEOPLE, Diary(**diary), np.random.default_rng(seed))


def intervals(*events: float, end: float, design: str = "window") -> Exposure:
    """One worker whose events came at these times."""
    stop = np.array([*events, end]) if end > events[-1] else np.array(events)
    return Exposure(
        unit=np.zeros(len(stop), dtype=int),
        follow=np.zeros(len(stop), dtype=int),
        start=np.concatenate([[0.0], stop[:-1]]),
        stop=stop,
        event=np.arange(len(stop)) < len(events),
        follow_unit=np.zeros(1, dtype=int),
        follow_seconds=np.array([end]),
        seen_by_seconds=None,
        design=design,
        notes=(),
    )


def test_greenwood_counts_the_spacings_that_the_design_leaves_free():
    """Three events in a window of 10 leave four spacings; three sessions of 10 seconds in all leave three."""
    window = within_worker_test(intervals(1, 3, 6, end=10))
    greenwood = (1 + 4 + 9 + 16) / 100
    expected, variance = 2 / 5, 4 * 3 / (25 * 6 * 7)
    assert window.statistic == pytest.approx((greenwood - expected) / math.sqrt(variance))

    count = within_worker_test(intervals(1, 3, 10, end=10, design="count"))
    greenwood = (1 + 4 + 49) / 100
    expected, variance = 2 / 4, 4 * 2 / (16 * 5 * 6)
    assert count.statistic == pytest.approx((greenwood - expected) / math.sqrt(variance))


@pytest.mark.parametrize("exposure_of", [away_exposure, session_exposure])
def test_the_test_within_workers_keeps_its_size(exposure_of, seeds):
    """Under an exponential law z is standard normal, in a window and for a fixed count; with several topics too."""
    z = [
        within_worker_test(exposure_of(tables(seed, workers=30, topics=2, days=4))).statistic
        for seed in seeds(120, least=24)
    ]

    assert abs(np.mean(z)) < 0.3
    assert 0.8 < np.std(z) < 1.25


def test_the_test_within_workers_has_a_direction():
    """Bursts give a positive z, a rhythm a negative one."""
    bursts = within_worker_test(away_exposure(tables(workers=100, within="weibull", within_shape=0.6)))
    rhythm = within_worker_test(away_exposure(tables(workers=100, within="gamma", within_shape=2)))

    assert bursts.statistic > 5
    assert "more uneven" in bursts.sentence
    assert rhythm.statistic < -4
    assert "more regular" in rhythm.sentence


def test_spacings_say_nothing_when_the_material_cut_them():
    """Or when nobody has two of them."""
    assert within_worker_test(session_exposure(tables(workers=50, material_seconds=200))) is None
    assert within_worker_test(intervals(3, end=3, design="count")) is None


@pytest.mark.parametrize("design", ["window", "count"])
def test_mid_pit_values_are_uniform_under_the_model(design):
    """P(N <= n | T) or P(T <= t | n), against 20,000 simulated workers."""
    rng = np.random.default_rng(1)
    some = Totals(events=rng.integers(1, 30, 20_000).astype(float), seconds=rng.uniform(50, 200, 20_000))
    drawn = simulate_totals(some, math.log(12.0), 0.8, design, rng)
    top = maximum(drawn)

    assert stats.kstest(mid_pit(drawn, top, design), "uniform").statistic < 0.025


def test_mid_pit_is_what_summing_probabilities_gives():
    """(P(N <= 3) + P(N <= 2)) / 2 for a Poisson count whose log mean is normal."""
    top = maximum(Totals(events=np.array([3.0, 1, 0, 9, 4]), seconds=np.array([30.0, 40, 20, 30, 50])))
    theta = np.linspace(top.mu - 9 * top.sigma, top.mu + 9 * top.sigma, 20_001)
    weight = stats.norm.pdf(theta, top.mu, top.sigma)
    below = [(stats.poisson.cdf(n, 30 * np.exp(-theta)) * weight).sum() / weight.sum() for n in (2, 3)]

    assert mid_pit(Totals(events=np.array([3.0]), seconds=np.array([30.0])), top, "window")[
        0
    ] == pytest.approx(np.mean(below), abs=1e-3)


def test_anderson_darling_is_the_textbook_statistic():
    """Against scipy's for a normal sample whose values are made uniform by their own mean and deviation."""
    x = np.random.default_rng(3).normal(size=50)
    reference = stats.anderson(x, dist="norm", method="interpolate").statistic

    assert anderson_darling(stats.norm.cdf((x - x.mean()) / x.std(ddof=1))) == pytest.approx(reference)


def test_two_kinds_of_people_are_no_log_normal_population():
    """And a log-normal population is one; the p-value comes from simulated studies that are fitted anew."""
    found = {}
    for between in ("two_point", "log_normal"):
        totals = away_exposure(tables(workers=150, between=between)).totals()
        found[between] = between_worker_test(
            Refits(totals=totals, top=maximum(totals), design="window"), n_boot=39, seed=1
        )

    assert found["two_point"].p_value <= 0.05
    assert "do not follow a log-normal law" in found["two_point"].sentence
    assert found["log_normal"].p_value > 0.05
    assert found["log_normal"].n_boot == 39


def test_simulated_people_who_would_not_have_been_seen_are_not_drawn():
    """Under zero truncation nobody has n = 0, but for those seen in any case."""
    people = Totals(
        events=np.ones(400),
        seconds=np.full(400, 5.0),
        seen_by_seconds=np.where(np.arange(400) < 200, 5.0, np.inf),
    )
    drawn = simulate_totals(people, math.log(20.0), 0.5, "window", np.random.default_rng(1)).events

    assert drawn[:200].min() == 1
    assert drawn[200:].min() == 0


def test_events_are_spread_over_topics_by_chance(seeds):
    """Pearson's statistic has the mean and variance of the multinomial law, also for small counts."""
    z = [
        topics_apart(away_exposure(tables(seed, workers=60, topics=3, late_by=0.8))).z
        for seed in seeds(100, least=20)
    ]

    assert abs(np.mean(z)) < 0.3
    assert 0.8 < np.std(z) < 1.25
    assert topics_apart(away_exposure(tables(workers=20))) is None
