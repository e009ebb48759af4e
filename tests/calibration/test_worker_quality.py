"""What is said about the care of the workers."""

import math

import pytest

from calibration.worker_quality import worker_quality
from tests.calibration.judged_summaries import table


def preferences(*rows):
    """(worker, left, right, choice[, repeats row number])."""
    return table(
        "preferences",
        [
            {
                "judgment": f"j{number}",
                "worker": worker,
                "task": "t",
                "topic": "q",
                "pair": "p",
                "system_left": left,
                "system_right": right,
                "choice": choice,
                "validation_of": f"j{repeats[0]}" if repeats else None,
            }
            for number, (worker, left, right, choice, *repeats) in enumerate(rows)
        ],
    )


def test_side_bias_is_the_share_of_left_among_sided_answers():
    """Equal options and repeats say nothing about sides; workers are the unit."""
    quality = worker_quality(
        preferences(
            ("w1", "A", "B", "left"),
            ("w1", "A", "B", "right"),
            ("w2", "A", "B", "left"),
            ("w2", "A", "B", "equally_bad"),
            ("w2", "B", "A", "left", 2),
        )
    )

    assert quality.left.value == pytest.approx(2 / 3)
    assert quality.left.units == 2


def test_a_repeat_is_consistent_when_the_same_system_or_an_equal_option_is_chosen():
    """Sides are taken back; equally good and equally bad are consistent but not identical."""
    quality = worker_quality(
        preferences(
            ("w1", "A", "B", "left"),
            ("w1", "B", "A", "right", 0),  # A both times
            ("w1", "A", "B", "left"),
            ("w1", "B", "A", "left", 2),  # A, then B
            ("w1", "A", "B", "equally_good"),
            ("w1", "B", "A", "equally_bad", 4),
            ("w1", "A", "B", "equally_good"),
            ("w1", "B", "A", "left", 6),
        )
    )

    assert quality.consistent.value == pytest.approx(2 / 4)
    assert quality.identical.value == pytest.approx(1 / 4)


def test_excluded_workers_are_left_out():
    """As everywhere."""
    rows = preferences(("w1", "A", "B", "left"), ("w2", "A", "B", "right"), ("w2", "B", "A", "left", 1))
    workers = table("workers", [{"worker": "w2", "excluded": True}])

    quality = worker_quality(rows, workers=workers)

    assert quality.left.value == 1
    assert math.isnan(quality.consistent.value)


def test_tables_without_judgment_ids_have_no_repeats():
    """Logs from elsewhere may lack both columns."""
    rows = preferences(("w1", "A", "B", "left"), ("w2", "A", "B", "right")).drop(
        columns=["judgment", "validation_of"]
    )

    quality = worker_quality(table("preferences", rows))

    assert quality.left.value == 0.5
    assert quality.consistent.units == 0
