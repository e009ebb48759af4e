"""What tables of other logs hold that no people do: other units, names for what is not known, names that are nearly one."""

import pandas as pd
import pytest

from calibration.tables.files import read_tables, write_tables
from calibration.tables.plausibility import doubts
from calibration.tables.suspicions import suspicions, suspicions_in_short
from metrics.errors import InputError
from tests.calibration.fit.test_fit import study

PREFERENCES = "worker,task,topic,pair,system_left,system_right,choice,decision_seconds"


def said(folder, files):
    """Return what is suspicious about files of tables, and what of it is said before anything is computed."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    tables = read_tables(folder)
    whole = [str(fault).removeprefix(f"{folder}/") for fault in suspicions(folder, tables)]
    return whole, [line.removeprefix(f"{folder}/") for line in suspicions_in_short(folder, tables)]


def reads(*rows, header="worker,topic,page,item,kind,words,dwell_seconds"):
    return {"reads.csv": "\n".join([header, *rows, ""])}


def judged(*seconds):
    rows = [f"w{place},t,q,p,A,B,left,{each}" for place, each in enumerate(seconds)]
    return {"preferences.csv": "\n".join([PREFERENCES, *rows, ""])}


def test_a_study_as_people_are_has_none():
    """No warning where nothing is wrong."""
    assert doubts(study()) == []


def test_dwell_times_in_milliseconds_are_named_before_a_speed_is_fitted(tmp_path):
    """20 words in 6,000 "seconds": .003 words a second."""
    whole, short = said(
        tmp_path, reads("w,q,p,i1,iunit,20,6000", "w,q,p,i2,iunit,10,2800", "w,q,p,i3,iunit,9,0")
    )

    assert whole == short
    assert whole == [
        (
            "reads.csv:2: dwell_seconds: a word takes 4.83 minutes (median), longer than people need; are these milliseconds? Then "
            "it takes 0.29 seconds: divide by 1,000"
        )
    ]


def test_dwell_times_in_minutes_are_named(tmp_path):
    """20 words in a tenth of a minute."""
    whole, _ = said(tmp_path, reads("w,q,p,i1,iunit,20,0.1", "w,q,p,i2,iunit,10,0.05"))

    assert whole[0].startswith(
        "reads.csv:2: dwell_seconds: a word takes 0.005 seconds (median), shorter than people need"
    )
    assert "are these minutes? Then it takes 0.3 seconds: multiply by 60" in whole[0]


def test_texts_without_blanks_between_their_words_are_counted_by_their_characters(tmp_path):
    """One white-space token of 120 Japanese characters takes 24 seconds; so it does in milliseconds for nobody."""
    header = "worker,topic,page,item,kind,words,dwell_seconds,chars"

    assert said(tmp_path, reads("w,q,p,i1,iunit,1,24,120", header=header)) == ([], [])
    assert (
        "are these milliseconds?" in said(tmp_path, reads("w,q,p,i1,iunit,1,24000,120", header=header))[0][0]
    )


def test_decisions_in_milliseconds_are_named(tmp_path):
    whole, short = said(tmp_path, judged(5321, 4210, 9000))

    assert whole == short
    assert whole[0].startswith(
        "preferences.csv:4: decision_seconds: a decision takes 88.7 minutes (median), longer than people need; are these milliseconds?"
    )


def test_decisions_in_minutes_are_named(tmp_path):
    """A third of a second, where people took 20."""
    whole, _ = said(tmp_path, judged(0.35, 0.28, 0.5))

    assert "are these minutes? Then it takes 21 seconds: multiply by 60" in whole[0]


def test_a_few_decisions_of_hours_among_others_are_said_by_check_alone(tmp_path):
    """A page that was left open is no other unit, and no fit reads it."""
    whole, short = said(tmp_path, judged(12, 9, 50_400, "", 20))

    assert short == []
    assert whole == [
        (
            "preferences.csv:4: decision_seconds: 1 decision of 4 took more than an hour, the longest 14 hours; the page was "
            "left open, or the times are not of one zone; leave the cell empty where it is not known"
        )
    ]


def visits(*seconds):
    start = pd.date_range("2026-03-01T09:00Z", periods=len(seconds), freq="3D").as_unit("ms")
    return pd.DataFrame(
        {
            "worker": "w",
            "topic": "q",
            "visit": range(1, len(seconds) + 1),
            "start": start,
            "end": start + pd.to_timedelta(seconds, unit="s").as_unit("ms"),
            "end_reason": "left",
        }
    )


@pytest.mark.parametrize(
    ("seconds", "cause"),
    [
        ((78_000, 90_000, 60_000, 75_000, 80_000), "are these milliseconds? Then it takes 78 seconds"),
        ((1.3, 1.5, 1, 2, 0.9), "are these minutes? Then it takes 78 seconds"),
        ((78, 90, 60, 75, 80), None),
        ((1.3,), None),
    ],
    ids=["milliseconds", "minutes", "seconds", "too few"],
)
def test_visits_of_another_unit_are_named(seconds, cause, tmp_path):
    write_tables({"visits": visits(*seconds)}, tmp_path)
    whole, _ = said(tmp_path, {})

    assert [cause in line for line in whole] == ([True] if cause else [])


def test_names_for_what_is_not_known_are_named_as_such(tmp_path):
    """As many answers as R wrote NA become one person."""
    text = f"{PREFERENCES}\nNA,t,q,p,A,B,left,\nN/A,t,q,p,A,B,left,\nnan,t,null,p,A,B,left,\nw,t,q,p,A,B,right,\n"
    whole, short = said(tmp_path, {"preferences.csv": text})

    assert whole == short
    assert whole[0] == (
        "preferences.csv:2: worker is 'NA', 'N/A', 'nan' on 3 rows, which R, pandas, databases and spreadsheets write where "
        "nothing is known; all of them count as one worker; leave these rows out, unless it is a name"
    )
    assert whole[1].startswith("preferences.csv:4: topic is 'null' on 1 row")


def test_names_that_differ_in_case_or_blanks_only_are_named_across_tables(tmp_path):
    """They count as two people, or two topics."""
    files = {
        "workers.csv": "worker\nAnn\n",
        "searches.csv": "worker,topic,seconds\nann,q,30\nAnn,Q,40\nBob  B,q,20\nBob B,q,20\n",
    }
    whole, short = said(tmp_path, files)

    assert whole == short
    assert whole == [
        (
            "searches.csv:3: worker 'Ann' differs from 'ann' in case only, and 1 name more; they count as two people; where "
            "they are one, write one name"
        ),
        "searches.csv:3: topic 'Q' differs from 'q' in case only; they count as two topics; where they are one, write one name",
    ]


def test_names_that_differ_in_blanks_only_are_named(tmp_path):
    """As people copy them."""
    whole, _ = said(tmp_path, {"searches.csv": "worker,topic,seconds\nBob  B,q,20\nBob B,q,20\n"})

    assert whole == [
        (
            "searches.csv:3: worker 'Bob B' differs from 'Bob B' in case, blanks or the coding of letters only; they count "
            "as two people; where they are one, write one name"
        )
    ]


STOPS = "worker,topic,chars_read,chars_least,text_chars,reached_end"


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("w,q,900,,450,true", "chars_read is above text_chars: more was read than the text has; write both"),
        ("w,q,300,310,450,false", "chars_least is above chars_read; write the characters"),
    ],
)
def test_more_read_than_there_is_is_a_fault(row, fault, tmp_path):
    """A patience of 32,189 characters came out of such rows."""
    (tmp_path / "stops.csv").write_text(f"{STOPS}\nw,q,100,,450,false\n{row}\n")

    with pytest.raises(InputError) as raised:
        read_tables(tmp_path)
    assert str(raised.value).removeprefix(f"{tmp_path}/").startswith(f"stops.csv:3: {fault}")
