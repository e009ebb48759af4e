"""Which texts are timestamps, and which calendar window they fall into."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.readers.ranked import calendar_window

UNITS = ("year", "month", "week", "day")


@pytest.mark.parametrize(
    ("text", "windows"),
    [
        ("2001-09-11", ("2001", "2001-09", "2001-W37", "2001-09-11")),
        ("2001-09-11T23:59:59", ("2001", "2001-09", "2001-W37", "2001-09-11")),
        ("2001-09-11T23:59:59.5Z", ("2001", "2001-09", "2001-W37", "2001-09-11")),
        ("2001-12-31T20:00-05:00", ("2002", "2002-01", "2002-W01", "2002-01-01")),
        ("1000166400", ("2001", "2001-09", "2001-W37", "2001-09-11")),
        ("-999999999", ("1938", "1938-04", "1938-W16", "1938-04-24")),
        ("2021-01-02", ("2021", "2021-01", "2020-W53", "2021-01-02")),
        ("0700-01-02", ("0700", "0700-01", "0700-W01", "0700-01-02")),
    ],
)
def test_a_timestamp_lies_in_one_window_of_each_unit(text, windows):
    """In UTC; a week is that of ISO 8601 and may belong to another year than its days."""
    assert tuple(calendar_window(text, unit) for unit in UNITS) == windows


@pytest.mark.parametrize(
    "text",
    [
        *("1990", "199007", "19900704", "12345678", "1990-07", "1990s", "2001-W37", "2001-9-11", "", "soon"),
        *(
            "2001-02-30",
            "2001-09-11T25:00",
            "2001-09-11 10:00",
            "1000166400.5",
            "1000166400000",
            "２００１-09-11",
        ),
        *("0001-01-01T00:00+14:00", "999999999999"),
    ],
)
def test_what_is_no_timestamp(text):
    """Numbers of fewer than nine digits could be years or days; there are no dates outside the years 1 to 9999."""
    assert calendar_window(text, "day") is None


@given(st.text(max_size=30) | st.from_regex(r"[0-9T:.Z+-]{0,30}"), st.sampled_from(UNITS))
def test_any_text_is_a_timestamp_or_none(text, unit):
    """Nothing else happens."""
    assert isinstance(calendar_window(text, unit), str | None)


@given(st.datetimes())
def test_the_seconds_since_1970_fall_on_the_same_day(time):
    """Both ways of writing a time are one time."""
    seconds = str(int((time - time.__class__(1970, 1, 1)).total_seconds() // 1))
    if len(seconds.removeprefix("-")) >= 9:
        assert calendar_window(seconds, "day") == calendar_window(time.isoformat(), "day")
