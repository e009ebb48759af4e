"""Which rows of table reads say how fast somebody reads, and which of them were interrupted."""

import math

import numpy as np
import pandas as pd
import pytest

from calibration.models.reading.rows import TimedReads, last_of_visit, readings
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from tests.calibration.logs import at

USUAL = {
    "worker": "w",
    "topic": "q",
    "page": "p",
    "item": "u",
    "kind": "update",
    "words": 20,
    "dwell_seconds": 5.0,
    "fully_seen": True,
    "interrupted": False,
}


def reads(*rows: dict[str, object]) -> pd.DataFrame:
    """Return table reads, one item a row unless it says otherwise, seen one after the other."""
    named = [
        USUAL | {"item": f"u{number}", "first_seen": at(100 * number)} | row
        for number, row in enumerate(rows)
    ]
    return check_frame(pd.DataFrame(named), TABLES["reads"])


def speeds(data: TimedReads) -> list[float]:
    return np.exp(data.log_speed).round(9).tolist()


def test_speed_is_length_by_dwell_time():
    """Words a second of iUnits and updates."""
    data = readings(reads({}, {"kind": "iunit", "words": 30, "dwell_seconds": 10}))
    assert speeds(data) == [4.0, 3.0]
    assert data.log_length.tolist() == [math.log(20), math.log(30)]
    assert not data.cut.any()


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"kind": "link"}, "links"),
        ({"words": 0}, "without a length"),
        ({"dwell_seconds": 0.0}, "without any dwell time"),
        ({"dwell_seconds": 0.0, "fully_seen": False, "interrupted": True}, "without any dwell time"),
        ({"fully_seen": False}, "passed over without being read"),
    ],
)
def test_what_is_no_reading_is_left_out_and_counted(row, why):
    """A link is followed, not read; what was scrolled past would make everybody fast."""
    data = readings(reads({}, row))
    assert len(data.worker) == 1
    assert data.left_out == {why: 1}


def test_an_interrupted_read_is_used_whether_or_not_it_was_seen_whole():
    """Its dwell time is a lower bound either way."""
    data = readings(reads({"fully_seen": False, "interrupted": True}, {"interrupted": True}))
    assert data.cut.tolist() == [True, True]


def test_only_the_first_reading_of_an_item_counts():
    """People are faster the second time; the first is the one first seen, wherever its row stands."""
    again = {"item": "u9", "page": "p2", "dwell_seconds": 1.0, "first_seen": at(900)}
    first = {"item": "u9", "dwell_seconds": 5.0, "first_seen": at(5)}
    data = readings(reads(again, first, first | {"worker": "v"}, first | {"topic": "r"}))
    assert speeds(data) == [4.0, 4.0, 4.0]
    assert data.left_out == {"read before": 1}


def test_what_was_passed_over_first_and_read_later_counts_when_it_was_read():
    """A glimpse on one page is no reading."""
    glimpse = {"item": "u9", "fully_seen": False, "dwell_seconds": 0.5, "first_seen": at(1)}
    data = readings(reads(glimpse, {"item": "u9", "page": "p2", "first_seen": at(900)}))
    assert speeds(data) == [4.0]


def test_japanese_is_measured_in_characters():
    """Whitespace tokens of a language without spaces are one an item."""
    data = readings(reads({"words": 1, "chars": 40}), language="ja")
    assert speeds(data) == [8.0]
    assert readings(reads({"words": 1}), language="ja").left_out == {"without a length": 1}


# --- logs that do not say what was interrupted


def without(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    return table.drop(columns=list(names))


def test_without_the_column_the_last_item_of_a_visit_was_interrupted_unless_seen_whole():
    """Over all pages of the visit; by time, not by row."""
    rows = reads(
        {"visit": 1, "page": "p2", "first_seen": at(50), "fully_seen": False},
        {"visit": 1, "page": "p1", "first_seen": at(10), "fully_seen": False},
        {"visit": 2, "page": "p3", "first_seen": at(90)},
    )
    for table in (rows.assign(interrupted=pd.NA), without(rows, "interrupted")):
        data = readings(table)
        assert data.cut.tolist() == [True, False]
        assert data.left_out == {"passed over without being read": 1}


def test_pages_without_a_visit_are_visits_of_their_own():
    """A pair page is left like a stream."""
    rows = reads({"page": "p1", "fully_seen": False}, {"page": "p2", "fully_seen": False})
    assert last_of_visit(rows).tolist() == [True, True]
    assert last_of_visit(rows.assign(page="p")).tolist() == [False, True]


def test_visits_of_two_topics_are_two_visits():
    """They are numbered within worker and topic, so both have a visit 1, and a last item."""
    rows = reads({"visit": 1, "fully_seen": False}, {"visit": 1, "fully_seen": False, "topic": "r"})
    assert last_of_visit(rows).tolist() == [True, True]


def test_without_times_nothing_counts_as_interrupted():
    """Nobody knows which item was the last."""
    rows = without(reads({}, {}), "interrupted", "fully_seen").assign(first_seen=pd.NaT)
    assert readings(rows).cut.tolist() == [False, False]


def test_a_log_without_whether_items_were_seen_whole_cuts_the_last_of_each_visit():
    """When it ended is not known: censored, not complete."""
    rows = without(reads({"visit": 1}, {"visit": 1}), "interrupted", "fully_seen")
    assert readings(rows).cut.tolist() == [False, True]


def test_nobody_read_anything():
    """An empty table is no error here; the fit says what is missing."""
    assert readings(TABLES["reads"].empty()).n_workers == 0


# --- ranked lists


def test_entries_of_ranked_lists_are_read_where_there_is_no_other_text():
    """They have words and dwell times; beside iUnits or updates a link is a link."""
    entries = reads({"kind": "link"}, {"kind": "link", "words": 30, "fully_seen": False})
    data = readings(entries)

    assert data.of_lists
    assert speeds(data) == [4.0]
    assert data.left_out == {"passed over without being read": 1}
    assert data.of(np.array([0])).of_lists
    assert not readings(reads({"kind": "link"}, {})).of_lists


def test_what_has_no_words_is_counted_by_what_it_may_be():
    """A sound is no picture."""
    data = readings(reads({}, {"kind": "media", "words": None}, {"kind": "media", "words": None}))
    assert data.left_out == {"pictures or sounds": 2}
