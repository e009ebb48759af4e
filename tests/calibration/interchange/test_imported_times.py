"""Times of other tools: what numbers and zones are recognised, and what is never guessed."""

import os
import time

import pandas as pd
import pytest

from calibration.interchange.times import TimeRules, read_times
from metrics.errors import FaultLog, InputError


def read_columns(columns, **rules):
    """Return what was read, and the faults."""
    log = FaultLog("f")
    cells = {name: pd.Series(of, dtype="str") for name, of in columns.items()}
    lines = range(2, 2 + max(map(len, cells.values())))
    found = read_times(cells, TimeRules(**rules), lines, log)
    return found, [str(fault).removeprefix("f:") for fault in log.faults]


def read(*cells, **rules):
    """Return the times of one column, the first note, and the faults."""
    found, faults = read_columns({"at": cells}, **rules)
    return found.times["at"].tolist(), next(iter(found.notes), None), faults


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
    times, _, faults = read("20260301")

    assert (times, faults) == ([pd.Timestamp("2026-03-01", tz="UTC")], [])


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
        "22: at '17723556' is not a time like the others, which are seconds since 1970; mend it, and see whether the file is cut"
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
    found, _ = read_columns({"at": [cell]}, time_format=time_format)

    assert [line for line in found.warnings if "midnight" not in line] == ([warning] if warning else [])


def test_times_without_a_zone_are_utc_and_a_note_says_so():
    """Only where no time of the file has a zone."""
    found, faults = read_columns({"from": ["2026-03-01 09:00"], "to": ["2026-03-01 09:01"]})

    assert found.times["from"].tolist() == [pd.Timestamp("2026-03-01T09:00Z")]
    assert found.notes == ["from and to without a time zone, read as UTC; if that is wrong, give --time-zone"]
    assert faults == []


@pytest.mark.parametrize("zoned", ["2026-03-01T14:00:30Z", "2026-03-01T09:00:30-05:00", "1772373630"])
def test_times_without_a_zone_beside_times_with_one_are_a_fault_that_names_both(zoned):
    """In two columns; a number since 1970 has a zone too."""
    found, faults = read_columns({"from": ["", "2026-03-01 09:00:00"], "to": [zoned, zoned]})

    assert faults == [
        (
            "3: from has no time zone here, and to has one on line 2 (1 of 3 times of the file have none); say with "
            "--time-zone NAME where times without a zone were written, such as Europe/Berlin or UTC"
        )
    ]
    assert found.times["from"].isna().all()


def test_the_fault_of_one_column_names_both_lines():
    """A server was moved, or a tool was set anew."""
    _, _, faults = read("2026-03-01T09:00:00-05:00", "2026-03-01T09:10:00")

    assert faults[0].startswith("3: at has no time zone here, and at has one on line 2 (1 of 2 times")


def test_with_a_zone_times_without_one_are_local_and_the_others_stay_as_they_are():
    """30 seconds, not five hours."""
    found, faults = read_columns(
        {"from": ["2026-03-01 09:00:00"], "to": ["2026-03-01T14:00:30Z"]}, time_zone="America/New_York"
    )

    assert (found.times["to"] - found.times["from"]).dt.total_seconds().tolist() == [30.0]
    assert (found.notes, faults) == ([], [])


def test_an_hour_that_clocks_leave_out_is_a_fault():
    """It was written somewhere else."""
    assert read("2026-03-29 02:30:00", time_zone="Europe/Berlin")[2] == [
        (
            "2: at '2026-03-29 02:30:00' is an hour that clocks in Europe/Berlin leave out when they are put forward; see whether "
            "--time-zone is right, or write the time with its offset"
        )
    ]


def test_an_hour_that_clocks_show_twice_is_a_fault_with_both_offsets():
    """Nobody can tell which it was; with its offset, or the zone's short name, it is told."""
    assert read("2026-10-25 02:30:00", time_zone="Europe/Berlin")[2] == [
        (
            "2: at '2026-10-25 02:30:00' is an hour that clocks in Europe/Berlin show twice when they are put back; write it with its "
            "offset, 2026-10-25T02:30:00+02:00 or 2026-10-25T02:30:00+01:00"
        )
    ]
    times, _, faults = read(
        "2026-10-25 02:30 CEST",
        "2026-10-25 02:30 CET",
        time_format="%Y-%m-%d %H:%M %Z",
        time_zone="Europe/Berlin",
    )
    assert faults == []
    assert times == [pd.Timestamp("2026-10-25T00:30Z"), pd.Timestamp("2026-10-25T01:30Z")]


@pytest.fixture(params=["UTC", "America/New_York", "Europe/Berlin"])
def _machine_in(request, monkeypatch):
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_machine_in")
@pytest.mark.skipif(os.name == "nt", reason="the zone of the machine cannot be set for one process there")
def test_names_of_zones_mean_the_same_on_every_machine():
    """Python's own reader knows those of the machine, and reads them as if they were UTC."""
    cells = ("03/01/2026 09:00:00 EST", "03/01/2026 09:00:00 UTC")
    form = "%m/%d/%Y %H:%M:%S %Z"

    times, _, faults = read(*cells, time_format=form)
    assert times == [pd.NaT, pd.Timestamp("2026-03-01T09:00Z")]
    assert faults == [
        (
            "2: at '03/01/2026 09:00:00 EST' names its zone EST, a short name that several zones may share; say which it is with "
            "--time-zone NAME, such as Europe/Berlin or America/New_York"
        )
    ]
    times, _, faults = read(*cells, time_format=form, time_zone="America/New_York")
    assert (times[0], faults) == (pd.Timestamp("2026-03-01T14:00Z"), [])
    _, _, faults = read(cells[0], time_format=form, time_zone="Europe/Berlin")
    assert faults[0].endswith(
        "names its zone EST, and clocks in Europe/Berlin then show CET; see whether --time-zone is right"
    )
    assert read("2026-03-01 09:00 America/New_York", time_format="%Y-%m-%d %H:%M %Z")[0] == [
        pd.Timestamp("2026-03-01T14:00Z")
    ]
    with pytest.raises(InputError, match="'localtime' is not a time zone"):
        TimeRules(time_zone="localtime")


def test_an_offset_counts_whatever_name_stands_beside_it():
    """As browsers write a Date."""
    cell = "Sun Mar 01 2026 09:00:00 GMT+0100 (CET)"

    times, _, faults = read(cell, time_format="%a %b %d %Y %H:%M:%S GMT%z (%Z)")

    assert (times, faults) == ([pd.Timestamp("2026-03-01T08:00Z")], [])


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("Berlin", "did you mean Europe/Berlin"),
        ("europe/berlin", "did you mean Europe/Berlin"),
        ("New York", "did you mean America/New_York"),
        ("Mars/Base", "name it as IANA does, such as Europe/Berlin or UTC"),
        ("", "name it as IANA does"),
        ("../../etc/localtime", ""),
    ],
)
def test_a_zone_that_there_is_not_is_refused_with_the_one_that_may_be_meant(name, cure):
    """One sentence, whatever was given."""
    with pytest.raises(InputError, match="is not a time zone") as raised:
        TimeRules(time_zone=name)

    assert cure in str(raised.value)


def test_days_without_a_time_of_day_are_a_warning():
    """All seconds between them would be whole days; among times one that is a day is suspicious."""
    days, _ = read_columns({"at": ["2026-03-01", "2026-03-02"]})
    mixed, _ = read_columns({"at": ["2026-03-01T09:00Z", "2026-03-02T10:00Z", "2026-03-02"]}, time_zone="UTC")
    formed, _ = read_columns({"at": ["03/01/2026"]}, time_format="%m/%d/%Y")

    said = (
        "at holds days and no times of day: each is read as its midnight, and seconds between such times mean nothing; name "
        "a column with times, if there is one"
    )
    assert days.warnings == formed.warnings == [said]
    assert mixed.warnings == [
        "at: 1 time is a day without a time of day, such as on line 4, and read as midnight; see whether it is"
    ]


def test_words_for_what_is_not_known_are_no_times_and_no_faults():
    """As R, pandas and databases write them; how many there are is said."""
    times, said, faults = read("NA", "2026-03-01T09:00Z", "null", "NaT", "")

    assert pd.isna(times).tolist() == [True, False, True, True, True]
    assert said == "at: 3 cells 'NA' read as not known"
    assert faults == []
