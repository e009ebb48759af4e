"""Times of other tools: what numbers are recognised as, and what is never guessed."""

import pandas as pd
import pytest

from calibration.interchange.times import read_times, strange_years
from metrics.errors import FaultLog


def read(*cells, time_format=None):
    """Return the times, how they were read, and the faults."""
    log = FaultLog("f")
    lines = range(2, 2 + len(cells))
    times, said = read_times(pd.Series(cells, dtype="str"), "at", time_format, lines, log)
    return times.tolist(), said, [str(fault).removeprefix("f:") for fault in log.faults]


@pytest.mark.parametrize(
    ("cells", "unit"),
    [
        (("1772355600", "", "1772359200.25"), "seconds"),
        (("1772355600000", "", "1772359200250"), "milliseconds"),
    ],
)
def test_a_column_of_seconds_or_milliseconds_since_1970_is_recognised_and_said(cells, unit):
    """No number of this century is one in both units."""
    times, said, faults = read(*cells)

    assert times[0] == pd.Timestamp("2026-03-01T09:00Z")
    assert times[1] is pd.NaT
    assert times[2] == pd.Timestamp("2026-03-01T10:00:00.250Z")
    assert said == (
        f"at read as {unit} since 1970, from 2026-03-01T09:00:00Z to 2026-03-01T10:00:00Z; if that is wrong, give "
        "--time-format"
    )
    assert faults == []


def test_milliseconds_that_are_also_a_date_in_iso_8601_are_milliseconds():
    """1712120130123 is the first of December 1712, at a quarter past one, for a lenient reader."""
    assert read("1712120130123")[0] == [pd.Timestamp("2024-04-03T04:55:30.123Z")]


@pytest.mark.parametrize(
    "cells",
    [("12.5",), ("1772355600", "1772355600000"), ("20260301093000",), ("1772355600000000",)],
    ids=["small", "two units", "compact", "microseconds"],
)
def test_numbers_that_may_be_anything_are_faults_and_not_guessed(cells):
    """Each with what to say."""
    _, said, faults = read(*cells)

    assert said is None
    assert faults[0] == (
        f"2: at {cells[0]!r} is not a time; say with --time-format what the numbers of this column are: epoch-s, "
        "epoch-ms, or a form such as %Y%m%d%H%M"
    )
    assert len(faults) == len(cells)


def test_a_compact_date_is_a_date():
    """Eight digits, as ISO 8601 has it."""
    assert read("20260301") == ([pd.Timestamp("2026-03-01", tz="UTC")], None, [])


def test_numbers_in_the_format_one_says_may_lie_anywhere_and_the_range_is_said():
    """Times of a simulation begin at 0; whoever names the wrong unit sees it."""
    times, said, _ = read("0", "1772355600", time_format="epoch-ms")

    assert times[0] == pd.Timestamp(0, tz="UTC")
    assert said == "at read as milliseconds since 1970, from 1970-01-01T00:00:00Z to 1970-01-21T12:19:15Z"


def test_a_number_that_is_too_large_for_the_unit_one_says_is_a_fault():
    """Milliseconds, most likely."""
    assert read("1772355600000", time_format="epoch-s")[2] == [
        (
            "2: at '1772355600000' is not a time; write seconds since 1970, before the year 2100; are these milliseconds? "
            "Then give --time-format epoch-ms"
        )
    ]
    assert read("noon", time_format="epoch-s")[2] == [
        "2: at 'noon' is not a time; write seconds since 1970, before the year 2100"
    ]


def test_a_few_numbers_that_are_no_times_among_many_are_named_alone():
    """A log that was cut inside its last number; the others are fine, and their unit is not asked for."""
    assert read(*["1772355600"] * 20, "17723556")[2] == [
        "22: at '17723556' is not a time like the others, which are seconds since 1970; mend it; is the file cut?"
    ]


@pytest.mark.parametrize(
    ("cell", "time_format", "warning"),
    [
        (
            "1772355600",
            "epoch-ms",
            "at: 1 time before 2000 or after 2100, from 1970 on; these look like seconds: --time-format epoch-s",
        ),
        (
            "12:30",
            "%H:%M",
            "at: 1 time before 2000 or after 2100, from 1900 on; see whether --time-format is right",
        ),
        ("1772355600", "epoch-s", None),
        ("1970-01-01", None, None),
    ],
)
def test_years_that_a_time_format_makes_strange_are_a_warning(cell, time_format, warning):
    """With the format that fits, where there is one."""
    times, _, _ = read(cell, time_format=time_format)

    assert strange_years(pd.Series([cell]), pd.Series(times), "at", time_format) == warning
