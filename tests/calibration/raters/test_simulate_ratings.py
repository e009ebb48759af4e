"""The simulated raters do what they are told."""

import numpy as np
import pytest

from calibration.raters.consistency import repeats
from calibration.raters.simulate import Assessors, Crowd, simulate_importance, simulate_judgments


def test_everybody_judges_every_pair_of_a_topic_and_repeats_some():
    """4 topics x 6 pairs x 3 people of the topic's own, each repeats two with sides swapped."""
    table = simulate_judgments(4, 6, Crowd(per_pair=3, repeats=2), np.random.default_rng(1))
    first = table[table["validation_of"].isna()]

    assert first.groupby(["topic", "pair"]).size().eq(3).all()
    assert first["worker"].nunique() == 12
    assert first.groupby("worker")["topic"].nunique().eq(1).all()
    assert repeats(table).groupby("worker").size().eq(2).all()
    assert repeats(table)["is_swapped"].all()


def test_care_repeats_itself_and_habit_does_not():
    """A careful crowd is consistent throughout, a careless one half of the time."""
    careful, careless = (
        repeats(simulate_judgments(10, 10, Crowd(per_pair=5, care=care, repeats=5), np.random.default_rng(2)))
        for care in (1.0, 0.0)
    )

    assert careful["consistent"].all()
    assert careless["consistent"].mean() == pytest.approx(0.5, abs=0.1)


def test_shares_of_votes_are_as_asked_for():
    """Sides are drawn by lot, so left and right are alike; a lean is a lean of the careless."""
    fair = simulate_judgments(60, 10, Crowd(shares=(0.3, 0.3, 0.4)), np.random.default_rng(3))
    lean = simulate_judgments(20, 10, Crowd(care=0.0, left_habit=1.0), np.random.default_rng(3))

    assert fair["choice"].isin(["equally_good", "equally_bad"]).mean() == pytest.approx(0.4, abs=0.05)
    assert (fair["choice"] == "left").mean() == pytest.approx(0.3, abs=0.03)
    assert (lean["choice"] == "left").mean() == pytest.approx(1 / (1 + np.exp(-1)), abs=0.03)


def test_shared_judges_judge_every_topic_and_missing_judgments_are_missing():
    """A tenth of 4 x 6 x 30 judgments."""
    crowd = Crowd(per_pair=30, shared=True, missing=0.1, repeats=2)
    table = simulate_judgments(4, 6, crowd, np.random.default_rng(4))

    assert table["worker"].nunique() == 30
    assert table["validation_of"].isna().sum() == pytest.approx(4 * 6 * 30 * 0.9, rel=0.06)
    assert table["validation_of"].dropna().isin(table["judgment"]).all()


def test_ratings_are_on_the_scale_by_as_many_assessors_as_asked_for():
    """Whole numbers from 0 to 4; the same two people, or two of each topic's own."""
    shared = simulate_importance(5, 8, Assessors(), np.random.default_rng(5))
    own = simulate_importance(5, 8, Assessors(shared=False, missing=0.25), np.random.default_rng(5))

    assert set(shared["rating"]) <= {0, 1, 2, 3, 4}
    assert len(shared) == 5 * 8 * 2
    assert shared["worker"].nunique() == 2
    assert own["worker"].nunique() == 10
    assert len(own) < 5 * 8 * 2
