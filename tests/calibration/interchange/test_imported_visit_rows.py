"""Visits of other tools: what their columns mean, and what is wrong with which line."""

import pandas as pd
import pytest

from calibration.interchange.visits import (
    VisitColumns,
    VisitRules,
    follows_of_visits,
    read_foreign_visits,
)
from metrics.errors import InputError

COLUMNS = VisitColumns(worker="who", topic="feed", start="from", end="to", end_reason="why")
DAY = "2026-03-01"


def read(tmp_path, *rows, header="who,feed,from,to,why", columns=COLUMNS, **rules):
    path = tmp_path / "log.csv"
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return read_foreign_visits(path, columns, VisitRules(**rules))


def faults(tmp_path, *rows, **given):
    with pytest.raises(InputError) as raised:
        read(tmp_path, *rows, **given)
    return [str(fault).removeprefix(f"{tmp_path}/log.csv:") for fault in raised.value.faults]


def test_visits_are_numbered_by_their_start_within_worker_and_topic(tmp_path):
    """Whatever the order of the log."""
    found = read(
        tmp_path,
        f"w,a,{DAY}T10:00Z,{DAY}T10:01Z,left",
        f"w,a,{DAY}T09:00Z,{DAY}T09:01Z,gone",
        f"w,b,{DAY}T09:30Z,{DAY}T09:31Z,left",
        reasons={"gone": "lost"},
    )

    assert found.visits[["topic", "visit", "end_reason"]].to_numpy().tolist() == [
        ["a", 2, "left"],
        ["a", 1, "lost"],
        ["b", 1, "left"],
    ]
    assert found.notes == ()


@pytest.mark.parametrize("length", ["5e31", "9e9"])
def test_a_length_beyond_a_life_is_a_fault(tmp_path, length):
    """No calendar has its end."""
    columns = VisitColumns(worker="who", topic="feed", start="from", seconds="s")
    said = faults(tmp_path, f"w,a,{DAY}T10:00Z,{length}", header="who,feed,from,s", columns=columns)

    assert said == [f"2: s is {float(length):g}; write seconds, 0 to 3155760000 (100 years)"]


def test_a_length_in_seconds_stands_for_an_end_and_a_number_of_its_own_is_kept(tmp_path):
    """Logs differ in what they say."""
    columns = VisitColumns(worker="who", topic="feed", start="from", seconds="s", visit="n", system="run")
    found = read(tmp_path, "w,a,1772355600,30.5,4,", header="who,feed,from,s,n,run", columns=columns)

    assert found.visits["end"].tolist() == [pd.Timestamp("2026-03-01T09:00:30.500Z")]
    assert found.visits["visit"].tolist() == [4]
    assert found.visits["system"].isna().all()
    assert found.notes == (
        (
            "from read as seconds since 1970, from 2026-03-01T09:00:00Z to 2026-03-01T09:00:00Z; if that is wrong, give "
            "--time-format"
        ),
        "every visit is taken to be complete (end_reason left); --end-reason names a column",
    )


def test_every_row_that_cannot_be_read_is_named_with_its_line(tmp_path):
    """All at once, in the order of the file."""
    said = faults(
        tmp_path,
        f",a,{DAY}T10:00Z,,left",
        f"w,a,{DAY}T10:00Z,noon,left",
        f"w,a,{DAY}T10:00Z,{DAY}T10:01Z,ran out",
    )

    assert [line.partition(";")[0] for line in said] == [
        "2: who is empty",
        "2: to is empty",
        "3: to 'noon' is not a time",
        "4: why: unknown reason 'ran out'",
    ]
    assert said[3].endswith(
        "give its meaning: --reason 'ran out'=REASON, REASON one of left, idle, exhausted, lost, study_end"
    )


def test_visits_that_overlap_or_end_before_they_start_have_their_line_in_the_log(tmp_path):
    """Also behind a blank line."""
    overlapping = faults(
        tmp_path,
        f"w,a,{DAY}T10:00Z,{DAY}T10:05Z,left",
        "",
        f"w,a,{DAY}T10:01Z,{DAY}T10:09Z,left",
    )
    backwards = faults(tmp_path, "", f"w,a,{DAY}T10:00Z,{DAY}T09:00Z,left")

    assert overlapping[0].startswith(
        "4: the visit starts before an earlier one of this worker and topic ended"
    )
    assert backwards[0].startswith("3: end is before start")


def test_a_negative_length_is_a_fault(tmp_path):
    columns = VisitColumns(worker="who", topic="feed", start="from", seconds="s")
    said = faults(tmp_path, f"w,a,{DAY}T10:00Z,-1", header="who,feed,from,s", columns=columns)

    assert said[0] == "2: s is -1; write seconds, 0 or more"


def test_a_file_without_a_row_is_a_fault(tmp_path):
    """An export that went wrong."""
    assert faults(tmp_path) == ["1: there is no row below the header; see whether this is the whole file"]


def test_people_are_followed_from_their_first_visit_to_the_end_of_the_study(tmp_path):
    """Without an end of the study, to the end of the last visit of all."""
    visits = read(
        tmp_path,
        f"w,a,{DAY}T10:00Z,{DAY}T10:01Z,left",
        f"w,a,{DAY}T11:00Z,{DAY}T11:01Z,left",
        f"v,a,{DAY}T09:00Z,{DAY}T09:01Z,left",
    ).visits
    ended = pd.Timestamp("2026-03-08T00:00Z").as_unit("ms")

    assert follows_of_visits(visits)[["worker", "started_at", "ended_at"]].to_numpy().tolist() == [
        ["w", pd.Timestamp(f"{DAY}T10:00Z"), pd.Timestamp(f"{DAY}T11:01Z")],
        ["v", pd.Timestamp(f"{DAY}T09:00Z"), pd.Timestamp(f"{DAY}T11:01Z")],
    ]
    assert set(follows_of_visits(visits, ended)["ended_at"]) == {ended}


def test_a_visit_that_stands_twice_is_the_same_as_the_first(tmp_path):
    """Its cure is not that of two tabs."""
    row = f"w,a,{DAY}T10:00Z,{DAY}T10:05Z,left"

    assert faults(tmp_path, row, row) == ["3: the visit is the same as on line 2; delete one"]


def test_starts_and_ends_that_are_swapped_in_all_rows_are_one_fault(tmp_path):
    """The options, most likely."""
    said = faults(tmp_path, *[f"w,{topic},{DAY}T10:00Z,{DAY}T09:00Z,left" for topic in "ab"])

    assert said == ["2: in all 2 rows to is before from; are --start and --end swapped?"]


def test_an_unknown_reason_is_one_fault_with_its_rows(tmp_path):
    """However many rows say it."""
    said = faults(tmp_path, *[f"w,{topic},{DAY}T10:00Z,{DAY}T10:01Z,out" for topic in "ab"])

    assert [line.partition(";")[0] for line in said] == [
        "2: why: unknown reason 'out' (2 rows, the first on line 2)"
    ]
