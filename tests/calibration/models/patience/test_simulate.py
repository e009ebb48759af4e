"""The simulators draw what they say, so that recovery tests and plans can rest on them."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calibration.models.patience.simulate import (
    KINDS,
    Habits,
    SimulatedJudges,
    simulate_preferences,
    simulate_stops,
    simulate_summaries,
    simulate_votes,
)
from calibration.tables.preferences import pair_votes
from metrics.summaries.score import m_from_positions
from tests.calibration.studies import ONE_INTENT, positions


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_seven_kinds_of_summaries_differ_in_m_as_their_names_promise():
    """Good order beats bad order, right links beat wrong ones, on average over topics."""
    tables, probabilities = simulate_summaries(40, rng())
    m = m_from_positions(tables["positions"], probabilities, [600]).iloc[:, 0].groupby(level="system").mean()

    assert set(m.index) == set(KINDS)
    assert m["good-order"] > m["bad-order"]
    assert m["good-order"] > m["wrong-links"]
    assert m["good-order"] > m["random"]


def test_positions_are_met_once_and_in_order_of_reading():
    """The redundant summary repeats iUnits: they count at their first place only."""
    table = simulate_summaries(2, rng())[0]["positions"]

    assert not table.duplicated(["topic", "system", "intent", "iunit"]).any()
    assert (table["offset_chars"] > 0).all()


def test_preferences_follow_the_model_they_name():
    """Log odds of 1.2 and a tie weight of .5, counted over many judges."""
    table = positions(
        ("q1", "A", "u", 3, 0), ("q1", "B", "u", 1, 0), ("q2", "A", "u", 1, 0), ("q2", "B", "u", 3, 0)
    )
    judges = SimulatedJudges(
        patience_chars=math.inf, per_topic=20_000, effect=1.2, tie_weight=0.5, sensitivity_sd=0.0
    )
    preferences = simulate_preferences(table.drop(columns="task"), ONE_INTENT, judges, rng())
    votes = pair_votes(preferences).set_index("topic").loc["q1"]
    weights = np.exp([0.6, -0.6, math.log(0.5)])

    counted = np.array([votes["votes_a"], votes["votes_b"], votes["equally_good"] + votes["equally_bad"]])
    assert counted / 20_000 == pytest.approx(weights / weights.sum(), abs=0.01)
    assert (preferences["system_left"] == "A").mean() == pytest.approx(0.5, abs=0.01)


def test_everyone_judges_all_pairs_of_one_topic():
    """As in the study that the paper ran."""
    tables, probabilities = simulate_summaries(3, rng())
    judges = SimulatedJudges(patience_chars=840, per_topic=4)
    preferences = simulate_preferences(tables["positions"], probabilities, judges, rng())
    per_worker = preferences.groupby("worker").agg({"topic": "nunique", "pair": "nunique"})

    assert len(per_worker) == 12
    assert (per_worker["topic"] == 1).all()
    assert (per_worker["pair"] == 21).all()


def test_stops_are_uniform_up_to_the_patience_or_the_end_of_the_text():
    """The decay of the metric is their survival curve."""
    stops = simulate_stops(1000, rng(), workers=2000, texts_per_worker=1, shortest=2, longest=3)

    assert stats.kstest(stops["chars_read"] / 1000, "uniform").pvalue > 0.01
    assert not stops["reached_end"].any()
    short = simulate_stops(1000, rng(), workers=2000, texts_per_worker=1, shortest=0.5, longest=0.5001)
    assert short["reached_end"].mean() == pytest.approx(0.5, abs=0.04)


def test_stops_can_break_the_model_as_people_do():
    """Some always finish; patience differs between people around the same mean."""
    always = simulate_stops(1000, rng(), workers=200, habits=Habits(finishers=1.0))
    differing = simulate_stops(
        1000, rng(), workers=3000, shortest=9, longest=9.1, habits=Habits(patience_cv=0.4)
    )

    assert always["reached_end"].all()
    assert 2 * differing["chars_read"].mean() == pytest.approx(1000, rel=0.05)
    assert differing["chars_read"].max() > 1300


def test_ticks_come_with_a_rate_proportional_to_the_probability():
    """Two ticks a voter; every voter has a row, also without a tick."""
    tables = simulate_votes({"q": {"a": 0.4, "b": 0.35, "c": 0.25}}, rng(), voters=5000)
    votes = tables["intent_votes"]

    assert votes["worker"].nunique() == 5000
    assert votes["intent"].isna().any()
    rates = votes["intent"].value_counts() / 5000
    assert rates[["a", "b", "c"]].to_list() == pytest.approx([0.8, 0.7, 0.5], abs=0.025)


def test_the_generator_decides_every_draw():
    """The same seed draws the same study."""
    one, other = (simulate_summaries(2, rng(5)) for _ in range(2))

    pd.testing.assert_frame_equal(one[0]["positions"], other[0]["positions"])
    assert one[1] == other[1]
