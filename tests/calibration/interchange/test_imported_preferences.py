"""Preferences of other tools: what their columns and answers mean, and what is wrong with which line."""

from dataclasses import replace

import pandas as pd
import pytest

from calibration.interchange.preferences import ImportRules, PreferenceColumns, read_foreign_preferences
from calibration.interchange.times import TimeRules
from calibration.interchange.visits import visits_of_work
from metrics.errors import InputError

COLUMNS = PreferenceColumns(topic="q", worker="who", left="A", right="B", choice="best")


def read(tmp_path, *rows, header="q,who,A,B,best", columns=COLUMNS, **rules):
    path = tmp_path / "other.csv"
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return read_foreign_preferences(path, columns, ImportRules(**rules))


def faults(tmp_path, *rows, **given):
    with pytest.raises(InputError) as raised:
        read(tmp_path, *rows, **given)
    return [str(fault).removeprefix(f"{tmp_path}/other.csv:") for fault in raised.value.faults]


def test_our_words_names_of_systems_and_an_empty_cell_need_no_explanation(tmp_path):
    """Many tools write the winner's name."""
    found = read(
        tmp_path, "1,w,x,y,left", "1,w,x,y,y", "1,v,y,x,equally_bad", "1,v,y,x,", "2,w,x,y,x", "2,v,x,y,none"
    )

    assert found.preferences["choice"].tolist() == ["left", "right", "equally_bad", "left"]
    assert found.preferences["pair"].tolist() == ["1/x/y", "1/x/y", "1/x/y", "2/x/y"]
    assert found.preferences["judgment"].tolist() == ["J1", "J2", "J3", "J4"]
    assert found.unanswered == 2
    assert found.spans is None


def test_answers_mean_what_one_says_even_against_our_words(tmp_path):
    """1 and 2 for the sides; an empty cell that stands for a tie; a tool whose `left` is nothing."""
    answers = {"1": "left", "2": "right", "": "equally_good", "left": "none"}
    found = read(tmp_path, "1,w,x,y,1", "1,v,x,y,2", "1,u,x,y,", "1,t,x,y,left", answers=answers)

    assert found.preferences["choice"].tolist() == ["left", "right", "equally_good"]
    assert found.unanswered == 1


def test_every_row_that_cannot_be_read_is_named_with_its_line(tmp_path):
    """All at once, in the order of the file; a quoted field may span lines."""
    said = faults(tmp_path, '1,"w\n",x,y,same', "1,w,x,x,left", ",w,x,y,left", "1,,x,y,B")

    assert said[0] == (
        "2: best: unknown choice 'same'; give its meaning: --answer same=CHOICE, CHOICE one of left, right, "
        "equally_good, equally_bad, none"
    )
    assert said[1:4] == [
        "4: A and B are both 'x'; name the two systems that were compared",
        "5: q is empty; fill it in, or remove the row",
        "6: who is empty; fill it in, or remove the row, or leave --worker out if nobody knows who judged",
    ]
    assert said[4].startswith("6: best: unknown choice 'B'")


def test_a_column_that_is_not_there_is_named_with_the_nearest(tmp_path):
    """The header is the first thing that goes wrong."""
    said = faults(tmp_path, "1,w,x,y,left", header="q,who,A,B,Best")

    assert said == ["1: there is no column 'best'; did you mean 'Best'?"]


TIMED = PreferenceColumns(
    topic="q", worker="who", left="A", right="B", choice="best", shown_at="from", decided_at="to"
)
TIMED_HEADER = "q,who,A,B,best,from,to"


def test_times_are_read_in_the_format_one_says_and_give_the_seconds(tmp_path):
    """Without a zone they are UTC, which is said; with one they become UTC."""
    found = read(
        tmp_path,
        "1,w,x,y,x,1/4/2010 18:00,1/4/2010 18:02",
        header=TIMED_HEADER,
        columns=TIMED,
        times=TimeRules(time_format="%d/%m/%Y %H:%M"),
    )
    zoned = read(
        tmp_path, "1,w,x,y,x,2010-04-01T18:00:00+09:00,", header=TIMED_HEADER, columns=TIMED, language="ja"
    )

    assert found.preferences["decision_seconds"].tolist() == [120]
    assert found.notes == (
        "from and to without a time zone, read as UTC; if that is wrong, give --time-zone",
    )
    assert found.spans["end"].iloc[0] == pd.Timestamp("2010-04-01T18:02Z")
    assert zoned.preferences["shown_at"].iloc[0] == pd.Timestamp("2010-04-01T09:00Z")
    assert zoned.preferences["decision_seconds"].isna().all()
    assert zoned.preferences["language"].tolist() == ["ja"]


def test_times_that_are_none_or_run_backwards_are_faults(tmp_path):
    """The second is what mixed time zones look like."""
    said = faults(
        tmp_path,
        "1,w,x,y,x,noon,2010-04-01T18:02:00",
        "1,w,x,y,x,2010-04-01T18:02:00,2010-04-01T18:00:00",
        header=TIMED_HEADER,
        columns=TIMED,
    )

    assert said[0].startswith("2: from 'noon' is not a time; write it as ISO 8601")
    assert said[1] == (
        "3: to (--decided-at) is before from (--shown-at); see whether the two are swapped, or not in one time zone"
    )


def test_seconds_of_a_column_are_taken_and_checked(tmp_path):
    """Where the tool timed by itself."""
    columns = PreferenceColumns(
        topic="q", worker="who", left="A", right="B", choice="best", decision_seconds="s", judgment="id"
    )
    header = "q,who,A,B,best,s,id"
    found = read(tmp_path, "1,w,x,y,x,2.5,a7", header=header, columns=columns)

    assert found.preferences[["judgment", "decision_seconds"]].to_numpy().tolist() == [["a7", 2.5]]
    assert faults(tmp_path, "1,w,x,y,x,-1,a7", header=header, columns=columns) == [
        "2: s is -1; write seconds, 0 or more"
    ]


SECONDS = PreferenceColumns(
    topic="q", worker="who", left="A", right="B", choice="best", decision_seconds="rt"
)


def test_seconds_that_are_not_known_are_none_and_words_for_it_are_counted(tmp_path):
    """Nobody answered, so no time was taken."""
    found = read(
        tmp_path,
        "1,w,x,y,,",
        "2,w,x,y,,null",
        "3,w,x,y,x,12.5",
        header="q,who,A,B,best,rt",
        columns=SECONDS,
    )

    assert found.preferences["decision_seconds"].tolist() == [12.5]
    assert found.unanswered == 2
    assert found.notes == ("rt: 1 cell 'null' read as not known",)


def test_milliseconds_for_seconds_are_a_warning_with_the_likely_cause(tmp_path):
    """As jsPsych writes its rt; also where the name of the column says it."""
    rows = ("1,w,x,y,x,5321", "2,w,x,y,y,4210")
    found = read(tmp_path, *rows, header="q,who,A,B,best,rt", columns=SECONDS)
    named = read(
        tmp_path,
        "1,w,x,y,x,531",
        header="q,who,A,B,best,rtMs",
        columns=replace(SECONDS, decision_seconds="rtMs"),
    )

    assert found.warnings == (
        (
            "rt: a decision takes 79.4 minutes (median), longer than people need, such as on line 2; are these milliseconds? Then it "
            "takes 4.8 seconds: divide by 1,000"
        ),
    )
    assert named.warnings == (
        "the name of column 'rtMs' says milliseconds, and it is read as seconds; give --seconds-unit ms",
    )


def test_names_that_may_be_none_or_one_are_warnings_in_the_words_of_the_file(tmp_path):
    """R writes NA; a form lets people type their names."""
    found = read(tmp_path, "1,NA,x,y,x", "1,Ann,x,y,x", "2,ann,x,y,x", "2,v,X,y,y")

    assert [line.partition(", such as")[0] for line in found.warnings] == [
        "who is 'NA' on 1 row, which R, pandas, databases and spreadsheets write where nothing is known",
        "who 'ann' differs from 'Ann' in case only",
        "A 'X' differs from 'x' in case only",
    ]
    assert (
        "such as on line 4; they count as two people; where they are one, write one name" in found.warnings[1]
    )


def test_ids_that_stand_twice_name_the_file(tmp_path):
    """What only the whole table shows."""
    columns = PreferenceColumns(topic="q", worker="who", left="A", right="B", choice="best", judgment="who")

    assert "the same judgment as line 2" in faults(tmp_path, "1,w,x,y,x", "1,w,x,y,y", columns=columns)[0]


def test_work_becomes_visits_and_follows():
    """Overlapping work is united; the last end of all is everybody's end."""
    clock = pd.to_datetime(["2026-03-01T09:00Z", "2026-03-01T09:05Z", "2026-03-01T10:00Z"]).as_unit("ms")
    spans = pd.DataFrame(
        {"worker": ["w", "w", "v"], "start": clock, "end": clock + pd.to_timedelta([600, 60, 60], unit="s")}
    )
    tables = visits_of_work(spans, 300, stream="work")

    assert tables["visits"][["worker", "visit"]].to_numpy().tolist() == [["v", 1], ["w", 1]]
    assert tables["visits"]["end"].iloc[1] == pd.Timestamp("2026-03-01T09:10Z")
    assert set(tables["follows"]["ended_at"]) == {pd.Timestamp("2026-03-01T10:01Z")}


def test_an_unknown_answer_is_one_fault_with_its_rows(tmp_path):
    """Another word that comes late in the file would not be seen behind twenty of the first."""
    said = faults(tmp_path, *[f"{row},w,x,y,A" for row in range(30)], "30,w,x,y,B")

    assert [line.partition(";")[0] for line in said] == [
        "2: best: unknown choice 'A' (30 rows, the first on line 2)",
        "32: best: unknown choice 'B'",
    ]


def test_times_that_are_swapped_in_all_rows_are_one_fault(tmp_path):
    """The options, most likely."""
    row = "w,x,y,x,2010-04-01T18:02:00,2010-04-01T18:00:00"
    said = faults(tmp_path, f"1,{row}", f"2,{row}", header=TIMED_HEADER, columns=TIMED)

    assert said == [
        "2: in all 2 rows to (--decided-at) is before from (--shown-at); are --shown-at and --decided-at swapped?"
    ]


def test_rows_that_say_the_same_are_a_warning(tmp_path):
    """Each would be a vote; another topic, pair or worker is another judgment."""
    rows = ["1,w,x,y,x", "1,v,x,y,x", "2,w,x,y,y", "1,w,x,z,x"]

    assert read(tmp_path, *rows).warnings == ()
    (warning,) = read(tmp_path, *rows, *rows[:2]).warnings
    assert warning.startswith(
        "2 rows say the same as an earlier one, such as lines 2 and 6; each counts as a vote"
    )
