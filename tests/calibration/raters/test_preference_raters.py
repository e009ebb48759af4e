"""Agreement of judges of the same pair: which judgments count, as what, and what the intervals hold."""

import numpy as np
import pandas as pd
import pytest

from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.raters.agreement import fleiss_kappa
from calibration.raters.preferences import FLEISS, KRIPPENDORFF, fit_rater_agreement
from calibration.raters.simulate import Crowd, simulate_judgments
from tests.calibration.rated import judgments


def fitted(table: pd.DataFrame, **options) -> CalibrationResult:
    return fit_rater_agreement(table, rng=np.random.default_rng(1), resamples=50, **options)


def test_sides_are_taken_back():
    """A on the left chosen, and A on the right chosen, are the same judgment."""
    rows = judgments(
        ("v", "A", "B", "left"),
        ("w", "B", "A", "right"),
        ("v", "A", "C", "equally_good"),
        ("w", "C", "A", "equally_bad"),
    )

    assert fitted(rows).parameters == pytest.approx({FLEISS: 1.0, KRIPPENDORFF: 1.0})


def test_four_options_tell_equally_good_from_equally_bad():
    """Beside a pair that both call A's, disagreement about good and bad lowers the four-option kappa only."""
    rows = judgments(
        ("v", "A", "B", "left"),
        ("w", "A", "B", "left"),
        ("v", "A", "C", "equally_good"),
        ("w", "A", "C", "equally_bad"),
    )

    assert fitted(rows).parameters[FLEISS] == pytest.approx(1)
    assert fitted(rows, options=4).parameters[f"{FLEISS}_4"] < 0.5


def test_validation_repeats_are_left_out():
    """Who repeats themselves does not agree with anybody."""
    rows = [
        ("v", "A", "B", "left"),
        ("w", "A", "B", "right"),
        ("v", "A", "C", "left"),
        ("w", "A", "C", "equally_bad"),
    ]
    repeated = [*rows, ("v", "B", "A", "right", 0), ("w", "B", "A", "left", 1)]

    assert fitted(judgments(*repeated)).parameters == fitted(judgments(*rows)).parameters


def test_the_name_of_a_system_does_not_matter():
    """Which system of a pair comes first in the alphabet is no fact about people."""
    table = simulate_judgments(4, 6, Crowd(per_pair=4), np.random.default_rng(2))
    renamed = table.replace({"system_left": {"a1": "z1"}, "system_right": {"a1": "z1"}})

    assert fitted(renamed).parameters == pytest.approx(fitted(table).parameters)


def test_pairs_always_shown_one_way_round_have_the_textbook_kappa_beside_them():
    """With left, right and equal as categories; not where a pair was turned round."""
    rows = [
        ("u", "A", "B", "left"),
        ("v", "A", "B", "left"),
        ("w", "A", "B", "right"),
        ("u", "D", "C", "left"),
        ("v", "D", "C", "equally_bad"),
    ]
    fit = fitted(judgments(*rows))

    assert fit.details["fleiss_kappa_as_shown"] == fleiss_kappa([[2, 1, 0], [1, 0, 1]])
    assert "unequal_raters" in [note.name for note in fit.diagnostics]
    assert "fleiss_kappa_as_shown" not in fitted(judgments(*rows, ("x", "B", "A", "left"))).details


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("v", "A", "B", "left"), ("v", "A", "C", "left")], "no pair has two judgments"),
        ([("v", "A", "B", "equally_bad"), ("w", "A", "B", "equally_bad")], "is the same"),
    ],
)
def test_what_cannot_be_told_is_refused(rows, reason):
    """Nobody to agree with, or nothing to disagree about."""
    with pytest.raises(NotIdentifiedError, match=reason):
        fitted(judgments(*rows))


def test_four_options_of_which_one_equal_was_used_are_three():
    """The number would be printed twice otherwise."""
    rows = judgments(("v", "A", "B", "left"), ("w", "A", "B", "equally_bad"))

    with pytest.raises(NotIdentifiedError, match="three categories"):
        fitted(rows, options=4)


def test_a_single_topic_has_no_interval():
    """Its pairs say nothing about other topics."""
    fit = fitted(judgments(("v", "A", "B", "left"), ("w", "A", "B", "right"), ("w", "A", "C", "left")))

    assert fit.conf_int()[FLEISS] == (None, None)
    assert "one_topic" in [note.name for note in fit.diagnostics]


@pytest.mark.parametrize(
    ("topics", "crowd", "truth"),
    [
        (8, Crowd(per_pair=7, missing=0.1), 0.334),
        (20, Crowd(per_pair=6, shared=True, care=0.7, care_spread=0.2), 0.168),
    ],
    ids=["judges of each topic's own", "the same judges everywhere"],
)
def test_intervals_hold_the_truth(topics, crowd, truth, seeds):
    """With judges of their own and with the same everywhere, where intervals over topics alone hold it in 57 %."""
    held = []
    for seed in seeds(100):
        table = simulate_judgments(topics, 8, crowd, np.random.default_rng([seed, topics]))
        low, high = fitted(table).conf_int()[KRIPPENDORFF]
        held.append(low <= truth <= high)

    assert np.mean(held) >= 0.88
