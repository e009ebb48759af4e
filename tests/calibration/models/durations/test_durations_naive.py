"""Naive estimators go wrong as documented: each test would fail if its baseline were right."""

import numpy as np
import pytest

from benchmarks.naive.durations import naive_away, naive_session
from calibration.models.durations.from_tables import away_exposure, session_exposure
from calibration.models.durations.maximum import maximum
from calibration.models.durations.simulate import ObservationDesign, simulate_visits
from metrics.msu.trails import Population

HOUR = 3600
STUDIES = 30


def medians(
    people: Population, diary: ObservationDesign, naive, truth: tuple[float, float], exposure_of
) -> dict[str, tuple[float, float]]:
    """Median relative errors of M and S by estimator; ours is `likelihood`."""
    errors: dict[str, list[tuple[float, float]]] = {}
    for seed in range(STUDIES):
        tables = simulate_visits(people, diary, np.random.default_rng(seed))
        ours = maximum(exposure_of(tables).totals())
        found = {one.name: (one.mean, one.sd) for one in naive(tables)} | {"likelihood": (ours.mean, ours.sd)}
        for name, values in found.items():
            errors.setdefault(name, []).append((values[0] / truth[0] - 1, values[1] / truth[1] - 1))
    return {name: tuple(np.median(of, axis=0)) for name, of in errors.items()}


@pytest.fixture(scope="module")
def away() -> dict[str, tuple[float, float]]:
    """100 workers, M_A = S_A = 24 h, a week, half of them enrolled by a visit."""
    people = Population(
        away_mean_seconds=24 * HOUR,
        away_sd_seconds=24 * HOUR,
        session_mean_seconds=180,
        session_sd_seconds=180,
    )
    diary = ObservationDesign(workers=100, enrol_by_visit=0.5)
    return medians(people, diary, naive_away, (24 * HOUR, 24 * HOUR), away_exposure)


@pytest.fixture(scope="module")
def session() -> dict[str, tuple[float, float]]:
    """M_D = 120 s, S_D = 60 s; what is new takes two minutes to read on average."""
    people = Population(
        away_mean_seconds=24 * HOUR,
        away_sd_seconds=12 * HOUR,
        session_mean_seconds=120,
        session_sd_seconds=60,
    )
    diary = ObservationDesign(workers=100, material_seconds=120)
    return medians(people, diary, naive_session, (120, 60), session_exposure)


def test_the_likelihood_has_no_such_bias(away, session):
    """The same studies."""
    assert abs(away["likelihood"][0]) < 0.06
    assert abs(away["likelihood"][1]) < 0.12
    assert abs(session["likelihood"][0]) < 0.05
    assert abs(session["likelihood"][1]) < 0.1


def test_rows_are_not_people(away, session):
    """A log-normal law of all intervals: M far too short, S too large (calibration of a week: -44 %, +57 %)."""
    mean, sd = away["pooled log-normal"]

    assert mean == pytest.approx(-0.43, abs=0.08)
    assert sd > 0.4
    assert session["pooled log-normal"][0] < -0.3


def test_workers_means_leave_out_who_never_came(away):
    """A log-normal law of means of complete intervals: -15 %, -20 %."""
    assert away["log-normal of workers' means"][0] == pytest.approx(-0.16, abs=0.06)
    assert away["log-normal of workers' means"][1] == pytest.approx(-0.22, abs=0.1)


def test_moments_of_counts_are_no_moments_of_times(away):
    """M -6 %, S -14 %, more in wider populations."""
    assert away["moments of counts"][1] < -0.08


def test_the_longest_times_are_those_that_were_cut(away):
    """The right likelihood without cut intervals, or with everybody's record ended at the last visit: -26 %, -42 %."""
    assert away["likelihood without cut intervals"][0] == pytest.approx(-0.27, abs=0.06)
    assert away["likelihood without cut intervals"][1] == pytest.approx(-0.43, abs=0.08)


def test_a_record_does_not_end_at_the_last_visit():
    """last_seen_at as the end of the record is the same mistake by another name."""
    people = Population(
        away_mean_seconds=24 * HOUR,
        away_sd_seconds=24 * HOUR,
        session_mean_seconds=180,
        session_sd_seconds=180,
    )
    ratios = []
    for seed in range(20):
        tables = simulate_visits(people, ObservationDesign(workers=100), np.random.default_rng(seed))
        cut = maximum(away_exposure(tables, dropout="last_seen").totals())
        ratios.append((cut.mean / (24 * HOUR) - 1, cut.sd / (24 * HOUR) - 1))

    mean, sd = np.median(ratios, axis=0)
    assert mean == pytest.approx(-0.26, abs=0.06)
    assert sd == pytest.approx(-0.42, abs=0.08)


def test_to_enrol_is_not_to_come_back(away):
    """The visit in which half of the workers enrol, counted as the end of a time away of no length."""
    assert away["enrolment visit counted"][0] < -0.07


@pytest.mark.parametrize("name", ["likelihood without cut intervals", "cut intervals as complete"])
def test_who_ran_out_of_material_had_more_time(session, name):
    """Dropped, or taken as complete: M_D half as long (-53 %)."""
    assert session[name][0] == pytest.approx(-0.53, abs=0.08)


def test_every_baseline_says_what_is_wrong_with_it():
    """For the table that compares them with the fit."""
    people = Population(
        away_mean_seconds=24 * HOUR,
        away_sd_seconds=12 * HOUR,
        session_mean_seconds=180,
        session_sd_seconds=90,
    )
    tables = simulate_visits(people, ObservationDesign(workers=20), np.random.default_rng(1))
    found = [*naive_away(tables), *naive_session(tables)]

    assert len(found) == 9
    assert all(one.fault and np.isfinite(one.mean) for one in found)


def test_a_baseline_without_anything_to_go_by_gives_no_number():
    """Nobody came back, and no session ended by choice: nan, where the fit refuses."""
    people = Population(
        away_mean_seconds=24 * HOUR,
        away_sd_seconds=12 * HOUR,
        session_mean_seconds=180,
        session_sd_seconds=90,
    )
    tables = simulate_visits(people, ObservationDesign(workers=5), np.random.default_rng(1))
    never = tables | {"visits": tables["visits"].iloc[:0]}
    cut = {"visits": tables["visits"].assign(end_reason="lost")}

    assert all(np.isnan(one.mean) for one in naive_away(never))
    assert {one.name for one in naive_session(cut) if not np.isnan(one.mean)} == {"cut intervals as complete"}
