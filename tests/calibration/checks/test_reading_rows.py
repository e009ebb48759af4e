"""Facts about reads that are said beside a reading speed."""

import numpy as np

from calibration.models.reading.law import SimulatedReaders, simulate_reads
from tests.calibration.checks.reading_findings import checked, warned
from tests.calibration.models.reading.reading_crowds import crowd
from tests.calibration.models.reading.test_reading_speed import drawn


def test_a_speed_of_ranked_lists_is_called_one_of_judging_them():
    """The fit is the same."""
    texts = drawn(11)

    assert "from_lists" in warned(texts.assign(kind="link"))
    assert "from_lists" not in checked(texts)[1]


def test_items_of_one_length_leave_a_time_per_item_unseen():
    """A fixed time an item and time by length cannot be told apart; with lengths in a range of three they can."""
    rng = np.random.default_rng(1)
    narrow = simulate_reads(SimulatedReaders(overhead_seconds=2), rng, workers=40, words=(20, 24))
    assert "narrow_lengths" in warned(narrow)
    wide = simulate_reads(SimulatedReaders(overhead_seconds=2), rng, workers=40, words=(8, 60))
    assert "time_per_item" in warned(wide)
    fair = simulate_reads(SimulatedReaders(), rng, workers=40, words=(8, 60))
    assert not {"narrow_lengths", "time_per_item"} & warned(fair)


def test_a_minimum_dwell_shows_as_a_heap_at_the_shortest_time():
    """A study that keeps people on the page for some seconds makes fast readers slow."""
    reads = drawn(12)
    assert "minimum_dwell" in warned(reads.assign(dwell_seconds=reads["dwell_seconds"].clip(lower=3)))
    assert "minimum_dwell" not in checked(reads)[1]


def test_many_interruptions_are_said():
    """They make slow readers a guess."""
    assert "many_interrupted" in warned(drawn(13, workers=15, items=40, mean_visit_seconds=4.0))
    assert "many_interrupted" not in checked(drawn(13))[1]


def test_rows_that_are_not_used_are_counted():
    """By reason, as a note."""
    reads = drawn(11)
    finding = checked(reads.assign(words=reads["words"].where(reads.index % 10 > 0, 0)))[1]["reads_not_used"]

    assert finding.severity == "info"
    assert "72 without a length" in finding.sentence


def test_few_items_that_all_read_are_said():
    """Eight tell little of how much items differ; of items of one's own there is nothing to tell."""
    assert "8 items" in checked(crowd(1, items=8))[1]["few_items"].sentence
    assert "few_items" not in checked(crowd(1, items=8, own_items=True))[1]


def test_a_clean_study_has_no_warning():
    """A warning that always stands is read by nobody."""
    assert warned(drawn(14, idle=0.05)) == set()
