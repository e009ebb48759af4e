"""The generator of follows, visits and prompts keeps what it promises, and writes valid tables."""

import numpy as np
import pandas as pd
import pytest

from calibration.models.durations.exposure import WorkerTotals
from calibration.models.durations.simulate import (
    ORIGIN,
    ObservationDesign,
    personal_means,
    simulate_totals,
    simulate_visits,
)
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.msu.trails import Population

HOUR = 3600
PEOPLE = Population(
    away_mean_seconds=24 * HOUR, away_sd_seconds=12 * HOUR, session_mean_seconds=600, session_sd_seconds=300
)
EVERYTHING = ObservationDesign(
    workers=40,
    topics=2,
    days=5,
    factor=2,
    enrol_by_visit=0.5,
    late_by=0.5,
    withdrawn=0.3,
    dropping_out=0.2,
    never_coming=0.2,
    material_seconds=300,
    remind_after_seconds=20 * HOUR,
    reminder_works=0.5,
    gap_seconds=600,
)


def drawn(diary: ObservationDesign, seed: int = 1, people: Population = PEOPLE) -> dict[str, pd.DataFrame]:
    return simulate_visits(people, diary, np.random.default_rng(seed))


def seconds(times: pd.Series) -> pd.Series:
    return (times - ORIGIN).dt.total_seconds()


@pytest.mark.parametrize("diary", [EVERYTHING, ObservationDesign(workers=3, never_coming=1.0)])
def test_the_tables_are_as_the_definition_wants_them(diary):
    """Types, columns, keys and rules; also when nobody ever comes."""
    for name, table in drawn(diary).items():
        pd.testing.assert_frame_equal(table, check_frame(table, TABLES[name]))


def test_the_same_seed_gives_the_same_tables():
    """And another seed others."""
    one, two, other = drawn(EVERYTHING), drawn(EVERYTHING), drawn(EVERYTHING, seed=2)

    for name in one:
        pd.testing.assert_frame_equal(one[name], two[name])
    assert not one["visits"].equals(other["visits"])


def test_everybody_is_in_follows_also_who_never_came():
    """80 follows of 40 workers; enrolments are late, ends early, and visits lie inside."""
    tables = drawn(EVERYTHING)
    follows = tables["follows"]
    visits = tables["visits"].merge(follows, on=["worker", "topic"])

    assert len(follows) == 80
    assert (
        len(follows)
        > follows.merge(tables["visits"], on=["worker", "topic"])[["worker", "topic"]]
        .drop_duplicates()
        .shape[0]
    )
    assert (visits["start"] >= visits["started_at"]).all()
    assert (visits["end"] <= visits["ended_at"]).all()
    assert seconds(follows["started_at"]).max() > 86400
    assert 0.05 < (seconds(follows["ended_at"]) < 5 * 86400).mean() < 0.6


def test_visits_that_are_close_are_one():
    """No two visits of a follow are closer than the gap."""
    visits = drawn(EVERYTHING)["visits"]
    gap = visits["start"] - visits.groupby(["worker", "topic"])["end"].shift()

    assert gap.min() >= pd.Timedelta(seconds=599)


def test_a_reminder_goes_to_whoever_was_away_so_long_and_brings_some():
    """Each prompted visit comes after a prompt of its worker and topic, which was sent 20 hours after the last visit."""
    tables = drawn(ObservationDesign(workers=60, remind_after_seconds=20 * HOUR, reminder_works=0.5))
    visits, prompts = tables["visits"], tables["prompts"]
    prompted = visits[visits["entry"] == "reminder"].merge(prompts, on=["worker", "topic"])
    before = prompted[prompted["sent_at"] < prompted["start"]]
    ended = visits.groupby(["worker", "topic"])["end"].shift().dropna()

    assert (
        len(before.drop_duplicates(["worker", "topic", "visit"]))
        == (visits["entry"] == "reminder").sum()
        > 10
    )
    sent = set((prompts["sent_at"] - pd.Timedelta(hours=20)).dt.floor("1s"))
    known = set(ended.dt.floor("1s")) | {ORIGIN} | set(visits["end"].dt.floor("1s"))
    assert len(sent - known) <= 0.01 * len(sent)


@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_times_away_have_the_mean_of_the_population(factor):
    """In stream seconds: the average rate of visits is E(1 / A) times the stream's length."""
    tables = drawn(ObservationDesign(workers=3000, days=3, factor=factor))
    rate = len(tables["visits"]) / (3000 * 3 * 24 * factor)

    assert rate == pytest.approx((1 + 0.25) / 24, rel=0.05)


def test_a_session_that_does_not_fit_is_cut_or_not_begun():
    """Not begun is what the authors' simulator does; then no visit ends with the study."""
    cut = drawn(ObservationDesign(workers=800, days=1))["visits"]
    not_begun = drawn(ObservationDesign(workers=800, days=1, unfitting="not_begun"))["visits"]

    assert (cut["end_reason"] == "study_end").sum() > 2
    assert (not_begun["end_reason"] == "study_end").sum() == 0
    assert len(not_begun) == len(cut) - (cut["end_reason"] == "study_end").sum()


@pytest.mark.parametrize("law", ["log_normal", "inverse_gamma", "two_point"])
def test_every_law_of_personal_means_has_the_mean_and_deviation_asked_for(law):
    """So that a fit under the wrong law can be judged by the right M and S."""
    means = personal_means(24.0, 12.0, 400_000, law, np.random.default_rng(1))

    assert means.mean() == pytest.approx(24, rel=0.01)
    assert means.std() == pytest.approx(12, rel=0.05)


@pytest.mark.parametrize(("within", "shape"), [("weibull", 0.6), ("gamma", 2.0), ("log_normal", 1.0)])
def test_every_law_within_workers_has_the_workers_mean(within, shape):
    """In a window many times longer than times away, workers come as often as under an exponential law."""
    people = Population(
        away_mean_seconds=HOUR, away_sd_seconds=1.0, session_mean_seconds=60, session_sd_seconds=30
    )
    tables = drawn(ObservationDesign(workers=40, days=14, within=within, within_shape=shape), people=people)

    assert len(tables["visits"]) / 40 == pytest.approx(14 * 24 * HOUR / (HOUR + 60), rel=0.05)


def test_a_worker_who_would_never_stop_visiting_is_an_error():
    """Instead of a computer that never answers."""
    people = Population(
        away_mean_seconds=0.001, away_sd_seconds=0.0, session_mean_seconds=0.001, session_sd_seconds=0.0
    )
    with pytest.raises(ValueError, match="more than 100,000 visits"):
        drawn(ObservationDesign(workers=1, days=1e6), people=people)


def test_simulated_people_who_would_not_have_been_seen_are_not_drawn():
    """Under zero truncation nobody has n = 0, but for those seen in any case."""
    people = WorkerTotals(
        events=np.ones(400),
        seconds=np.full(400, 5.0),
        seen_by_seconds=np.where(np.arange(400) < 200, 5.0, np.inf),
    )
    drawn = simulate_totals(people, np.log(20.0), 0.5, "window", np.random.default_rng(1)).events

    assert drawn[:200].min() == 1
    assert drawn[200:].min() == 0
