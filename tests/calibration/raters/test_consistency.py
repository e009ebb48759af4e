"""Repeats answered alike, held against what habit alone would give."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.raters.consistency import (
    clopper_pearson,
    consistency_by_worker,
    fit_consistency,
    pass_probability,
    repeats,
)
from calibration.raters.simulate import Crowd, simulate_judgments
from tests.calibration.rated import judgments


def fitted(table: pd.DataFrame, **options) -> CalibrationResult:
    return fit_consistency(table, rng=np.random.default_rng(1), resamples=50, **options)


def test_swapped_repeats_are_read_as_systems():
    """A both times is consistent on whichever side; equally good then bad is consistent but not identical."""
    rows = repeats(
        judgments(
            ("w", "A", "B", "left"),
            ("w", "B", "A", "right", 0),  # A both times
            ("w", "A", "C", "left"),
            ("w", "C", "A", "left", 2),  # A, then C
            ("w", "A", "D", "equally_good"),
            ("w", "D", "A", "equally_bad", 4),
            ("w", "A", "E", "right"),
            ("w", "A", "E", "right", 6),  # not swapped
        )
    )

    assert rows["consistent"].tolist() == [True, False, True, True]
    assert rows["identical"].tolist() == [True, False, False, True]
    assert rows["is_swapped"].tolist() == [True, True, True, False]


def test_chance_is_what_two_other_answers_of_the_worker_have_in_common():
    """3 left, 1 right, 2 equal of 6: swapped (2*3*1 + 2*1) / 30, not swapped (3*2 + 2*1) / 30."""
    first = [("w", "A", name, "left") for name in "BCD"]
    first += [
        ("w", "A", "E", "right"),
        ("w", "A", "F", "equally_good"),
        ("w", "A", "G", "equally_bad"),
    ]
    rows = repeats(judgments(*first, ("w", "B", "A", "right", 0), ("w", "A", "C", "left", 1)))

    assert rows["chance"].tolist() == pytest.approx([8 / 30, 8 / 30])
    assert rows["chance_identical"].tolist() == pytest.approx([6 / 30, 6 / 30])


def test_a_worker_with_one_answer_has_the_habits_of_the_crowd():
    """One answer is no habit: of 2 left and 2 equal in all, (2 * 1 + 2 * 1) / 12 are alike when nothing is swapped."""
    rows = repeats(
        judgments(
            ("v", "A", "B", "left"),
            ("w", "A", "B", "left"),
            ("w", "A", "C", "equally_good"),
            ("w", "A", "D", "equally_bad"),
            ("v", "A", "B", "left", 0),
        )
    )

    assert rows["chance"].tolist() == pytest.approx([4 / 12])


def test_somebody_who_does_not_look_has_a_kappa_of_zero():
    """On average: by lot or leaning to the left, with few answers each."""
    for lean in (0.0, 1.5):
        careless = Crowd(per_pair=40, care=0.0, left_habit=lean, repeats=3)
        fit = fitted(simulate_judgments(10, 7, careless, np.random.default_rng(3)))
        low, high = fit.conf_int(0.99)["consistency_kappa"]

        assert low < 0 < high
        assert high - low < 0.25


def test_always_clicking_left_is_inconsistent_and_always_equal_says_nothing():
    """The raw share calls the second worker perfect; there is no kappa for that."""
    table = judgments(
        ("left", "A", "B", "left"),
        ("left", "A", "C", "left"),
        ("left", "B", "A", "left", 0),
        ("equal", "A", "B", "equally_good"),
        ("equal", "A", "C", "equally_bad"),
        ("equal", "B", "A", "equally_good", 3),
    )
    by_worker = consistency_by_worker(table).set_index("worker")

    assert by_worker["share"].to_dict() == {"left": 0, "equal": 1}
    assert by_worker.loc["left", "kappa"] == 0
    assert math.isnan(by_worker.loc["equal", "kappa"])


def test_a_workers_interval_is_exact():
    """Clopper and Pearson's, brought to the scale of kappa by the worker's own chance."""
    table = simulate_judgments(2, 10, Crowd(per_pair=3, care=0.6, repeats=6), np.random.default_rng(4))
    for row in consistency_by_worker(table, level=0.9).itertuples():
        exact = binomtest(row.consistent, row.repeats).proportion_ci(0.9, method="exact")
        assert (row.share_low, row.share_high) == pytest.approx((exact.low, exact.high))
        assert row.kappa_low == pytest.approx((exact.low - row.chance) / (1 - row.chance))


@given(st.integers(0, 30), st.integers(1, 30), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_exact_interval_is_that_of_clopper_and_pearson(successes, n, level):
    """Also where none or all are successes; scipy's is an independent one."""
    successes = min(successes, n)
    expected = binomtest(successes, n).proportion_ci(level, method="exact")

    assert clopper_pearson(successes, n, level) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    ("n", "share", "passing"), [(5, 0.5, 0.8125), (20, 0.5, 0.868), (5, 0.25, 0.367), (20, 0.25, 0.102)]
)
def test_at_least_40_percent_is_passed_by_those_who_do_not_look(n, share, passing):
    """Left or right by lot: four of five pass; a share of .25 is that of the same of four options."""
    assert pass_probability(n, share) == pytest.approx(passing, abs=5e-4)


def test_the_limit_itself_passes():
    """2 of 5 is 40 %; and what is a whole number stays one whatever the rounding."""
    assert pass_probability(5, 1e-9, 0.4) < 1e-6
    at_least_7_of_25 = sum(math.comb(25, k) for k in range(7, 26)) / 2**25
    assert pass_probability(25, 0.5, 0.28) == pytest.approx(at_least_7_of_25)  # 0.28 * 25 is above 7


def test_what_cannot_be_told_is_refused():
    """No repeats, or nobody who could be inconsistent."""
    with pytest.raises(NotIdentifiedError, match="shown twice"):
        fitted(judgments(("w", "A", "B", "left")))
    with pytest.raises(NotIdentifiedError, match="by habit alone"):
        fitted(
            judgments(
                ("w", "A", "B", "equally_good"),
                ("w", "A", "C", "equally_good"),
                ("w", "B", "A", "equally_bad", 0),
            )
        )


def test_a_crowd_without_a_slip_has_no_interval_over_workers():
    """Without variation between workers nothing is known about it; the exact interval stands in the details."""
    table = simulate_judgments(3, 6, Crowd(per_pair=2, repeats=3), np.random.default_rng(6))
    fit = fitted(table)

    assert fit.parameters["consistency_share"] == 1
    assert fit.conf_int()["consistency_share"] == (None, None)
    assert fit.details["share_exact_low"] == pytest.approx(0.025 ** (1 / 18))
    assert "no_inconsistent_repeat" in [note.name for note in fit.diagnostics]


SOME_CAREFUL = Crowd(per_pair=7, care=0.5, care_spread=0.3, repeats=8)
TRUTH = {"consistency_share": 0.6112, "consistency_kappa": 0.3517}
"""What such people do on 500 topics."""


@pytest.mark.soak
def test_the_truth_is_what_so_many_people_do():
    found = fitted(simulate_judgments(500, 12, SOME_CAREFUL, np.random.default_rng(0))).parameters

    assert {name: found[name] for name in TRUTH} == pytest.approx(TRUTH, abs=1e-4)


def test_intervals_hold_the_truth_and_the_binomial_one_does_not(seeds):
    """Some people are careful and some are not: their repeats are no independent observations."""
    held: dict[str, list[bool]] = {"share": [], "kappa": [], "binomial": []}
    for seed in seeds(200, least=40):
        fit = fitted(simulate_judgments(8, 12, SOME_CAREFUL, np.random.default_rng([seed, 7])))
        for what in ("share", "kappa"):
            low, high = fit.conf_int()[f"consistency_{what}"]
            held[what].append(low <= TRUTH[f"consistency_{what}"] <= high)
        low, high = fit.details["share_exact_low"], fit.details["share_exact_high"]
        held["binomial"].append(low <= TRUTH["consistency_share"] <= high)

    assert np.mean(held["share"]) >= 0.88
    assert np.mean(held["kappa"]) >= 0.88
    assert np.mean(held["binomial"]) < np.mean(held["share"])
