"""People who are not as the model of durations says: each cause has its own name, and right studies have none; no check moves a number."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from benchmarks.people_durations import People, heavy, log_normal, truth_of
from benchmarks.people_durations import tables as drawn_tables
from calibration.checks.durations.days_differ import calendar_days, compare_days
from calibration.checks.durations.drop_outs import drop_outs
from calibration.checks.durations.hours_differ import compare_hours
from calibration.checks.durations.interest_fades import fade
from calibration.checks.durations.regular_visits import greenwood_z, weibull_law
from calibration.checks.durations.session_trend import session_trend
from calibration.checks.durations.split_sessions import join
from calibration.checks.durations.topics_differ import topics_apart
from calibration.fit.families import FitOptions
from calibration.fit.user_model_fit import fit_user_model
from calibration.models.durations.correlation import fit_correlation, fit_together
from calibration.models.durations.exposure import CensoredDurations, VisitsRead
from calibration.models.durations.fit import AWAY, fit_durations
from calibration.models.durations.from_tables import away_exposure, session_exposure
from calibration.models.durations.laws import ANYWHERE, maximise_log_likelihood
from tests.calibration.checks.durations_findings import (
    DAY,
    moments,
    range_of,
    rates,
    said,
    said_of,
    said_of_sessions,
    tables,
    warned,
    watched,
)

M, S = AWAY[:2]


def test_right_studies_are_left_in_peace(seeds):
    """No warning but that sixty are few in nine studies of ten, of times away and of sessions."""
    loud = [
        bool((warned(said_of(study)) | warned(said_of_sessions(study))) - {"few_workers"})
        for study in (tables(seed, workers=60) for seed in seeds(60, least=12))
    ]

    assert np.mean(loud) <= 0.17


@pytest.mark.parametrize(
    ("diary", "name"),
    [
        ({"workers": 150, "dropping_out": 0.35}, "drop_outs"),
        ({"workers": 150, "within": "gamma", "within_shape": 2}, "regular_visits"),
        ({"workers": 150, "between": "two_point"}, "two_kinds_of_people"),
        ({"workers": 12}, "few_workers"),
        ({"workers": 150, "within": "weibull", "within_shape": 0.6}, "uneven_visits"),
        ({"workers": 150, "days": 0.3}, "extrapolated"),
        ({"workers": 150, "days": 0.3}, "never_came_back"),
        ({"workers": 150, "never_coming": 0.6}, "never_came_back"),
    ],
)
def test_what_is_wrong_is_named(diary, name):
    """Each disturbance by its own name."""
    assert name in warned(said_of(tables(**diary)))


def test_of_causes_that_explain_the_same_only_one_warns():
    """Drop-outs make times uneven, days differ and interest fade; two of the causes are rejected, one is said."""
    findings = said_of(tables(workers=300, dropping_out=0.35))
    rejected = {name for name, one in findings.items() if one.p_value is not None and one.p_value < 1e-4}

    assert len(rejected) > 1
    assert warned(findings) == {"drop_outs"}


def test_no_check_moves_a_number():
    """Estimates and intervals of a study of people who leave are those without any check."""
    study = tables(workers=100, dropping_out=0.35)
    checked = fit_user_model(study, seed=1).model.parameters
    plain = fit_user_model(study, seed=1, options=FitOptions(checks=False)).model.parameters

    assert checked.keys() == plain.keys()
    for name, entry in checked.items():
        assert (entry.estimate, entry.interval) == (plain[name].estimate, plain[name].interval)
    assert checked[M].sensitivity
    assert not plain[M].sensitivity


def test_visits_observed_stand_beside_visits_simulated():
    """They are what MSU takes from the fit."""
    finding = said_of(tables(workers=80))["visits_per_worker"]

    assert (finding.severity, finding.p_value) == ("info", None)
    assert finding.sentence.startswith("Workers came back ")


def test_who_left_for_good_is_counted_and_times_away_are_those_before():
    """M of the model is too long; the share of those who left is found again, and M until then stands beside."""
    exposure = away_exposure(tables(1, workers=200, dropping_out=0.3))
    fit, findings = said(exposure)
    _, share = drop_outs(exposure, fit_durations(exposure.totals()))
    (law,) = findings["drop_outs"].sensitivity[M]

    assert "drop_outs" in warned(findings)
    assert share == pytest.approx(0.3, abs=0.12)
    assert law.low < DAY < law.high
    assert law.explains == "better"
    assert fit.estimates[0] > 1.2 * DAY


def test_gamma_rates_stand_beside_what_they_would_move():
    """Shape 4 and a mean of a day: S is .71 days. The log-normal law says half a day, and its interval ends below the truth."""
    rng = np.random.default_rng([3, 4])
    fit, findings = said(watched(moments(rng.gamma(4, 1 / 3, 300), rng)))
    (law,) = findings["gamma_rates"].sensitivity[S]

    assert fit.conf_int()[S][1] < 0.71 * DAY
    assert law.low < 0.71 * DAY < (law.high or np.inf)
    assert "--law" in findings["gamma_rates"].sentence


def test_interest_that_fades_is_told_with_the_first_day_and_the_last():
    """It falls by half in 4 days: a slope of log 2 / 4."""
    rng = np.random.default_rng(1)
    exposure = watched(moments(rates(200, rng), rng, lambda at: 0.5 ** (at / 4)))
    found = fade(exposure, fit_durations(exposure.totals()))

    assert found.slope == pytest.approx(np.log(2) / 4, rel=0.25)
    assert found.first == pytest.approx(DAY, rel=0.25)
    assert found.last == pytest.approx(found.first * np.exp(7 * found.slope))
    assert warned(said(exposure)[1]) == {"interest_fades"}


def test_days_that_everybody_shares_are_told_from_chance():
    """And a straight fall over the days is no matter of single days."""
    rng = np.random.default_rng(2)
    busy = np.array([1.0, 0.4, 0.9, 0.3, 1.0, 0.5, 0.8])
    uneven = watched(moments(rates(100, rng), rng, lambda at: busy[at.astype(int)]))
    even = compare_days(watched(moments(rates(100, rng), rng)))
    falling = compare_days(watched(moments(rates(200, rng), rng, lambda at: 1 - at / 8)))

    assert compare_days(uneven).p_value < 1e-6
    assert warned(said(uneven)[1]) == {"days_differ"}
    assert even.p_value > 0.01
    assert falling.p_value > 0.01


def test_hours_of_their_own_are_no_hours_of_everybody():
    """A day and a night that all share are; habits at hours that differ between people are not."""
    rng = np.random.default_rng(3)
    night = watched(moments(rates(100, rng), rng, lambda at: (1 + np.cos(2 * np.pi * at)) / 2))
    own = compare_hours(watched([rng.random() + np.arange(6) for _ in range(100)]))

    assert compare_hours(night).p_value < 1e-6
    assert compare_hours(night).height == pytest.approx(2, rel=0.15)
    assert warned(said(night)[1]) == {"hours_differ"}
    assert own.p_value > 0.01


def test_a_study_of_few_days_is_warned_of():
    """Three days and five; a whole week says nothing."""
    rng = np.random.default_rng(8)

    def watched_for(days):
        own = [np.sort(rng.uniform(0, days, rng.poisson(days * rate))) for rate in rates(80, rng)]
        return warned(said(watched(own, days=float(days)))[1])

    assert ["few_days" in watched_for(days) for days in (3, 5, 7)] == [True, True, False]


def test_days_are_counted_from_the_first_follow_to_the_last():
    """Follows of two days that begin on ten different days are a study of eleven days."""
    exposure = replace(watched([np.array([0.5, 1.2])] * 10, days=2.0), follow_begun=np.arange(10) * DAY)

    assert len(calendar_days(exposure)) == 11


def test_habits_are_named_and_people_differ_more_beside():
    """Once a day or not at an hour of their own: the model takes everybody for alike, Weibull intervals do not."""
    rng = np.random.default_rng(4)
    share = 1 / (1 + rng.lognormal(-0.35, 0.83, 150))
    days = np.arange(7)
    fit, findings = said(watched([rng.random() * 0.99 + days[rng.random(7) < own] for own in share]))
    (law,) = findings["regular_visits"].sensitivity[S]

    assert warned(findings) == {"regular_visits"}
    assert law.estimate > 1.5 * fit.estimates[1]


def test_two_kinds_of_people_stand_beside():
    """Half of them come four times as often: S is theirs, not that of a log-normal tail."""
    rng = np.random.default_rng(5)
    kinds = np.where(rng.random(120) < 0.5, 4.0, 1 / 1.75)
    fit, findings = said(watched(moments(kinds, rng)))
    (law,) = findings["two_kinds_of_people"].sensitivity[S]

    assert warned(findings) == {"two_kinds_of_people"}
    assert law.low < 0.75 * DAY < law.high < fit.estimates[1]


def test_means_that_are_nearly_uniform_have_a_shorter_tail():
    """Between .05 and 1.95 of the mean: S is .55, the log-normal one far larger, and the range of other laws holds it."""
    means = np.random.default_rng(8).uniform(0.05, 1.95, 70)
    fit, findings = said(watched(moments(1 / means, np.random.default_rng(7))))
    low, high = range_of(findings, S)

    assert low < 0.55 * DAY < high
    assert fit.estimates[1] > 0.8 * DAY


def test_a_heavy_tail_of_sixty_people_is_within_the_range_of_other_laws(seeds):
    """Student's t with 3 degrees of freedom on the log scale: few show it, and the log-normal intervals miss M and S."""
    people = People(means=heavy(0.7))
    truths = truth_of(people)
    held, alone = [], []
    for seed in seeds(60, least=12):
        exposure = away_exposure(drawn_tables(people, 60, 7, np.random.default_rng([seed, 60])))
        fit, findings = said(exposure)
        ranges, ends = (range_of(findings, M), range_of(findings, S)), list(fit.conf_int().values())
        own = [low <= true <= (high or np.inf) for true, (low, high) in zip(truths, ends, strict=False)]
        wide = [low <= true <= high for true, (low, high) in zip(truths, ranges, strict=True)]
        alone.append(own)
        held.append(np.logical_or(own, wide))

    assert (np.mean(held, axis=0) >= 0.83).all()
    assert np.mean(alone, axis=0)[1] < 0.6


def test_few_people_are_named_with_how_s_errs():
    """And the tail that they cannot show stands beside, without an upper end of S."""
    rng = np.random.default_rng(6)
    means = np.exp(np.clip(0.5 * rng.standard_t(3, 50), -4.6, 4.6))
    _, findings = said(watched(moments(1 / means, rng)))

    assert "with a heavy tail both come out far too small" in findings["few_workers"].sentence
    assert (
        "*_quartile_high_seconds of user-model.json and of prefcal fit --format csv"
        in findings["few_workers"].sentence
    )
    assert findings["heavy_tails"].sensitivity[S][0].high is None


# --- single tests
def intervals(*events: float, end: float, design: str = "window") -> CensoredDurations:
    """One worker whose events came at these times."""
    stop = np.array([*events, end]) if end > events[-1] else np.array(events)
    return CensoredDurations(
        unit=np.zeros(len(stop), dtype=int),
        follow=np.zeros(len(stop), dtype=int),
        start=np.concatenate([[0.0], stop[:-1]]),
        stop=stop,
        event=np.arange(len(stop)) < len(events),
        follow_unit=np.zeros(1, dtype=int),
        follow_seconds=np.array([end]),
        seen_by_seconds=None,
        design=design,
        read=VisitsRead(),
    )


def test_greenwood_counts_the_spacings_that_the_design_leaves_free():
    """Three events in a window of 10 leave four spacings; three sessions of 10 seconds in all leave three."""
    expected, variance = 2 / 5, 4 * 3 / (25 * 6 * 7)
    z = ((1 + 4 + 9 + 16) / 100 - expected) / variance**0.5
    assert greenwood_z(intervals(1, 3, 6, end=10)) == pytest.approx(z)

    expected, variance = 2 / 4, 4 * 2 / (16 * 5 * 6)
    z = ((1 + 4 + 49) / 100 - expected) / variance**0.5
    assert greenwood_z(intervals(1, 3, 10, end=10, design="count")) == pytest.approx(z)


@pytest.mark.parametrize("exposure_of", [away_exposure, session_exposure])
def test_the_test_within_workers_keeps_its_size(exposure_of, seeds):
    """Under an exponential law z is standard normal, in a window and for a fixed count; with several topics too."""
    z = [
        greenwood_z(exposure_of(tables(seed, workers=30, topics=2, days=4))) for seed in seeds(120, least=24)
    ]

    assert abs(np.mean(z)) < 0.3
    assert 0.8 < np.std(z) < 1.25


def test_spacings_say_nothing_when_the_material_cut_them():
    """Or when nobody has two of them; a Weibull law then stands in."""
    exposure = session_exposure(tables(workers=50, material_seconds=200))

    assert greenwood_z(exposure) is None
    assert greenwood_z(intervals(3, end=3, design="count")) is None
    assert abs(weibull_law(exposure, fit_durations(exposure.totals())).point[2]) < 0.2


def test_weibull_intervals_are_recognised():
    """Their shape is found, with a likelihood far beyond chance; exponential ones have shape 1."""
    bursts = away_exposure(tables(workers=100, within="weibull", within_shape=0.6))
    even = away_exposure(tables(workers=100))
    top = fit_durations(bursts.totals())
    law = weibull_law(bursts, top)
    other = weibull_law(even, fit_durations(even.totals()))

    assert np.exp(law.point[2]) == pytest.approx(0.6, abs=0.06)
    assert law.loglik - top.top.loglik > 50
    assert law.each(law.point).sum() == pytest.approx(law.loglik, abs=1e-6)
    assert np.exp(other.point[2]) == pytest.approx(1, abs=0.1)


def test_the_likelihood_of_weibull_intervals_is_theirs():
    """Of two people who are alike it is that of a pooled Weibull law with censored intervals: the Jacobian is right."""
    exposure = away_exposure(tables(workers=40, within="weibull", within_shape=0.6))
    one = replace(
        exposure,
        unit=np.arange(len(exposure.unit)) % 2,
        follow=exposure.follow * 0,
        follow_unit=np.array([0, 1]),
        follow_seconds=exposure.follow_seconds[:2],
    )
    law = weibull_law(one, fit_durations(one.totals()))
    hours = exposure.seconds / 3600
    data = stats.CensoredData(uncensored=hours[exposure.event], right=hours[~exposure.event])
    shape, _, scale = stats.weibull_min.fit(data, floc=0)
    loglik = (
        stats.weibull_min.logpdf(hours[exposure.event], shape, scale=scale).sum()
        + stats.weibull_min.logsf(hours[~exposure.event], shape, scale=scale).sum()
    )

    assert law.loglik == pytest.approx(loglik - exposure.event.sum() * np.log(3600), abs=0.05)


def test_events_are_spread_over_topics_by_chance(seeds):
    """Pearson's statistic has the mean and variance of the multinomial law, also for small counts."""
    z = [
        topics_apart(away_exposure(tables(seed, workers=60, topics=3, late_by=0.8))).z
        for seed in seeds(100, least=20)
    ]

    assert abs(np.mean(z)) < 0.3
    assert 0.8 < np.std(z) < 1.25
    assert topics_apart(away_exposure(tables(workers=20))) is None


def test_topics_that_a_worker_visits_at_different_rates_are_noticed():
    """The model gives a worker one mean: here every topic has its own."""
    study = tables(workers=300)
    number = {name: int(name[1:]) for name in study["follows"]["worker"]}
    for name in ("follows", "visits"):
        paired = study[name]["worker"].map(number)
        study[name] = study[name].assign(
            worker="P" + (paired // 2).astype(str), topic="E" + (paired % 2).astype(str)
        )

    assert "topics_differ" in warned(said_of(study))
    assert "topics_differ" not in said_of(study, unit="follow")


# --- sessions
def test_sessions_of_milliseconds_are_named():
    """Seconds that were read as milliseconds make them so; the fit alone cannot tell."""
    study = tables(workers=40)
    start, end = study["visits"]["start"], study["visits"]["end"]
    quick = study | {"visits": study["visits"].assign(end=start + (end - start) / 1000)}

    assert "session_below_a_second" in warned(said_of_sessions(quick))
    assert "session_below_a_second" not in said_of_sessions(study)


def test_sessions_that_a_call_splits_are_named_with_what_they_are_when_joined():
    """Half of them are, by 2 to 15 minutes: M of 180 s comes out far too short; joined it is held, and the hint is the threshold."""
    study = drawn_tables(People(means=log_normal(), split=0.5), 100, 7, np.random.default_rng(1))
    finding = said_of_sessions(study)["split_sessions"]
    (law,) = finding.sensitivity["session_mean_seconds"]

    assert finding.severity == "warning"
    assert "--idle-threshold 900" in finding.sentence
    assert fit_durations(session_exposure(study).totals()).mean < 140
    assert law.low < 180 < law.high


def test_whole_sessions_are_not_called_split(seeds):
    """Its p-value is below .05 in one right study of twenty, at most."""
    names = [said_of_sessions(tables(seed, workers=60, topics=2)) for seed in seeds(60, least=20)]

    assert np.mean(["split_sessions" in found for found in names]) <= 0.1


def test_joined_sessions_are_as_long_as_their_parts():
    """What comes between is part of neither; the last part says whether it was complete."""
    one = replace(
        intervals(60, 400, 460, end=500, design="count"),
        start=np.array([0.0, 300, 440, 470]),
    )
    joined = join(one, np.array([True, False, True, False]))

    assert joined.seconds.tolist() == [60 + 100, 20 + 30]
    assert joined.event.tolist() == [True, False]


@pytest.mark.parametrize(("days", "name"), [(3.0, "sessions_shrink"), (-6.0, "sessions_grow")])
def test_sessions_that_shrink_or_grow_are_named(days, name):
    """By half in three days, or twice as long in six."""
    study = drawn_tables(People(means=log_normal(), shrinking=days), 100, 7, np.random.default_rng(2))

    assert name in warned(said_of_sessions(study))
    slope, _ = session_trend(session_exposure(study))
    assert slope == pytest.approx(-np.log(2) / days, rel=0.5)


@pytest.mark.parametrize("shape", [0.6, 1.0, 2.0])
def test_the_test_of_a_trend_keeps_its_size_whatever_one_workers_law(shape, seeds):
    """Lengths of any law that keep it over time: p is uniform."""
    p_values = []
    for seed in seeds(200, least=60):
        rng = np.random.default_rng([seed, 9])
        exposure = session_exposure(tables(seed, workers=40))
        length = exposure.seconds.mean() * rng.weibull(shape, len(exposure.unit))
        p_values.append(session_trend(replace(exposure, stop=exposure.start + length))[1])

    assert np.mean(np.array(p_values) < 0.05) < 0.13
    assert 0.35 < np.mean(np.array(p_values) < 0.5) < 0.65


def test_sessions_of_people_who_come_often_count_no_more():
    """The correlation is found again, and with it M_D, which the sessions alone make too long; the slope there is 0."""
    rng = np.random.default_rng(6)
    z, other = rng.standard_normal((2, 300))
    away_log = -np.log(2) / 2 + np.sqrt(np.log(2)) * z
    stay = 180 * np.exp(-np.log(2) / 2 + np.sqrt(np.log(2)) * (-0.8 * z + 0.6 * other))
    away = watched(moments(np.exp(-away_log), rng))
    events = np.bincount(away.unit[away.event], minlength=300)
    some = np.flatnonzero(events)
    unit = np.repeat(np.arange(len(some)), events[some])
    length = rng.exponential(stay[some][unit])
    number = np.full(300, -1)
    number[some] = np.arange(len(some))
    session = CensoredDurations(
        unit=unit,
        follow=some[unit],
        start=np.zeros(len(unit)),
        stop=length,
        event=np.ones(len(unit), dtype=bool),
        follow_unit=number,
        follow_seconds=away.follow_seconds,
        seen_by_seconds=None,
        design="count",
        read=VisitsRead(),
        away=away,
    )
    alone = fit_durations(session.totals())
    both = fit_together(session)
    mean = float(np.exp(both.model.values(both.model.point)[0]))
    _, findings = said(session)

    assert both.p_value < 1e-3
    assert both.correlation == pytest.approx(-0.8, abs=0.12)
    assert abs(mean / stay.mean() - 1) < abs(alone.mean / stay.mean() - 1)
    assert findings["away_and_session"].severity == "warning"
    assert findings["away_and_session"].sensitivity["session_mean_seconds"][0].estimate == pytest.approx(mean)
    (low, high) = fit_correlation(session).conf_int()["away_session_correlation"]
    assert -1 < low < -0.8 < high < -0.5
    errors = np.sqrt(np.diag(both.model.cov))
    assert np.abs(both.model.scores(both.model.point).sum(axis=0) * errors).max() < 0.01
    elsewhere = both.model.point + errors * [1, -1, 1, 1, -1]
    by_difference = [
        both.model.each(elsewhere + s) - both.model.each(elsewhere - s) for s in 1e-5 * np.eye(5)
    ]
    assert both.model.scores(elsewhere) == pytest.approx(
        np.transpose(by_difference) / 2e-5, rel=1e-4, abs=1e-5
    )


def test_the_highest_likelihood_is_found_however_large_the_study_is():
    """Rosenbrock's valley, in the likelihood of ten thousand workers who together have a log-likelihood of minus a million."""

    def each(point: np.ndarray) -> np.ndarray:
        valley = 100 * (point[1] - point[0] ** 2) ** 2 + (1 - point[0]) ** 2
        return np.full(10_000, -100 - valley / 10_000)

    point, loglik = maximise_log_likelihood(each, (-1.2, 1.0), (ANYWHERE, ANYWHERE))

    assert point == pytest.approx([1, 1], abs=0.01)
    assert loglik == pytest.approx(-1e6, abs=1e-3)
