"""`prefcal import` and `prefcal import-visits`: delimiters, times that are numbers, what is written and what is said."""

from pathlib import Path

import click
import pytest

from calibration.tables.files import read_tables, write_tables
from calibration.tables.study_json import StudyRecord, TableRecord, read_study, write_study
from calibration.tables.tables import TABLES
from study_app.cli import cli
from tests.study_app.prefcal_command import run_here

PREFERENCES = "q;w;a;b;best;at\n1;p;x;y;x;1772355600\n"
JUDGED = ("--topic", "q", "--worker", "w", "--left", "a", "--right", "b", "--choice", "best")
VISITS = "who,feed,from,to\np,a,1772355600000,1772355660000\np,a,1772362800000,1772362860000\n"
VISITED = ("--worker", "who", "--topic", "feed", "--start", "from", "--end", "to")


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run an import of a text as file in.csv into the folder tables."""
    monkeypatch.chdir(tmp_path)

    def run_import(command, text, *arguments):
        (tmp_path / "in.csv").write_text(text)
        return run_here(monkeypatch, capsys, command, "in.csv", "-o", "tables", *arguments)

    return run_import


def test_a_file_with_semicolons_is_named_as_such_with_the_option(run):
    """Not as one that lacks every column."""
    ended = run("import", PREFERENCES, *JUDGED)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        "in.csv:1: the columns are separated by semicolons, and not by commas; give --delimiter ';'\n"
    )


@pytest.mark.parametrize("word", [";", "semicolon"])
def test_a_file_with_another_delimiter_is_read_by_the_option(run, word):
    """One preference is one preference; how its time was read is said."""
    ended = run("import", PREFERENCES, *JUDGED, "--delimiter", word, "--shown-at", "at")

    assert ended.out == "tables: 1 preference\n"
    assert ended.err.startswith("note: in.csv: at read as seconds since 1970, from 2026-03-01T09:00:00Z to")
    assert str(read_tables("tables")["preferences"]["shown_at"][0]) == "2026-03-01 09:00:00+00:00"


def test_a_file_with_tabs_is_read_by_a_word(run):
    ended = run("import", PREFERENCES.replace(";", "\t"), *JUDGED, "--delimiter", "tab")

    assert (ended.code, ended.err) == (0, "")


def test_a_file_with_a_header_only_is_a_fault_and_nothing_is_written(run, tmp_path):
    ended = run("import", PREFERENCES.partition("\n")[0] + "\n", *JUDGED, "--delimiter", ";")

    assert ended.err == "in.csv:1: there is no row below the header; see whether this is the whole file\n"
    assert not (tmp_path / "tables").exists()


def test_visits_become_tables_that_check_accepts(run, monkeypatch, capsys):
    """Visits, follows and a study.json."""
    ended = run("import-visits", VISITS, *VISITED, "--study-end", "2026-03-08T00:00:00Z", "--study", "quakes")
    checked = run_here(monkeypatch, capsys, "check", "tables")

    assert ended.out == "tables: 2 visits, 1 follow\n"
    assert "No fault in 2 tables; study 'quakes'.\n" in checked.out
    assert "warning" not in checked.out
    assert str(read_study("tables").ended_at) == "2026-03-08 00:00:00+00:00"


def test_what_was_taken_for_granted_about_visits_is_said(run):
    """Units of times, complete visits, the end of the study."""
    ended = run("import-visits", VISITS, *VISITED)

    assert [line.removeprefix("note: in.csv: ").partition(",")[0] for line in ended.err.splitlines()] == [
        "from read as milliseconds since 1970",
        "to read as milliseconds since 1970",
        "every visit is taken to be complete (end_reason left); --end-reason names a column",
        "everybody is followed until 2026-03-01T11:01:00Z",
    ]


def test_other_tables_of_the_folder_and_its_study_stay(run, tmp_path):
    """Visits are added to preferences; follows of one's own are not replaced."""
    write_tables({"follows": TABLES["follows"].empty()}, tmp_path / "tables")
    write_study(StudyRecord(study="mine"), tmp_path / "tables")
    run("import-visits", VISITS, *VISITED, "--no-follows")

    assert {name: len(table) for name, table in read_tables("tables").items()} == {"follows": 0, "visits": 2}
    assert read_study("tables").study == "mine"


EXPORTED = StudyRecord(study="mine", tables={"visits": TableRecord(rows=0, sha256="0" * 64)})


@pytest.mark.parametrize(
    ("command", "there"),
    [
        ("import", EXPORTED),
        ("import", StudyRecord(study="mine")),
        ("import-visits", EXPORTED),
    ],
)
def test_tables_of_a_study_are_never_replaced(run, tmp_path, command, there):
    """What people answered there would be gone, and its rows would stand beside those of strangers."""
    write_tables({"visits": TABLES["visits"].empty()}, tmp_path / "tables")
    write_study(there, tmp_path / "tables")
    before = {path: path.read_bytes() for path in (tmp_path / "tables").iterdir()}

    text, columns = (PREFERENCES.replace(";", ","), JUDGED) if command == "import" else (VISITS, VISITED)
    ended = run(command, text, *columns)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        "tables:1: the folder has tables of study 'mine', which would be lost; name a new folder with -o, or delete this one\n"
    )
    assert {path: path.read_bytes() for path in (tmp_path / "tables").iterdir()} == before


def test_the_same_import_may_be_made_again(run):
    """As when an answer was given the wrong meaning; visits may come to its folder."""
    text = PREFERENCES.replace(";", ",")
    made = [run("import", text, *JUDGED).out for _ in range(2)]

    assert made == ["tables: 1 preference\n"] * 2
    assert run("import-visits", VISITS, *VISITED).code == 0


def test_a_pair_that_somebody_judged_twice_is_a_warning(run):
    """Whatever the answers and the sides: both are votes of one person."""
    rows = ["q,w,a,b,best", "1,p,x,y,x", "1,p,y,x,y", "1,o,x,y,x", "1,p,x,y,x", "2,p,x,y,x"]
    ended = run("import", "\n".join([*rows, ""]), *JUDGED)

    assert ended.out == "tables: 5 preferences\n"
    assert ended.err.splitlines() == [
        "warning: in.csv: 1 row says the same as an earlier one, such as lines 2 and 5; each counts as a vote: delete rows that were copied, and leave what people did twice",
        "warning: in.csv: 1 row is of a pair that the worker had judged before, such as lines 2 and 3; each counts as a vote: leave repeats that people were asked for, and of an answer that was changed delete the earlier",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*VISITED, "--seconds", "to"), "give one of --end and --seconds"),
        ((*VISITED[:-2],), "give one of --end and --seconds"),
        (
            (*VISITED, "--reason", "x=gone"),
            "'x=gone' is not like SAID=REASON, REASON one of left, idle, exhausted",
        ),
        ((*VISITED, "--delimiter", ";;"), "';;' is no single character"),
        ((*VISITED, "--time-format", "ISO"), "'ISO' is neither epoch-s nor epoch-ms, nor has it a %"),
        ((*VISITED, "--study-end", "soon"), "'soon' is not a time in ISO 8601, such as 2026-03-01T09:30:00Z"),
        (
            (*VISITED, "--study-end", "2026-03-01"),
            "--study-end is before the end of the last visit, 2026-03-01T11:01",
        ),
    ],
)
def test_wrong_usage_says_how(run, tmp_path, arguments, said):
    """Exit 2, and nothing is written."""
    ended = run("import-visits", VISITS, *arguments)

    assert ended.code == 2
    assert said in " ".join(ended.err.split())
    assert not (tmp_path / "tables").exists()


@pytest.mark.parametrize("name", ["import", "import-visits"])
def test_no_option_is_left_unexplained(name):
    """Each has a sentence of help."""
    command = cli.get_command(None, name)

    assert all(option.help.endswith(".") for option in command.params if isinstance(option, click.Option))


def test_a_last_line_without_a_line_break_is_a_warning(run):
    """So do logs end that were cut where a line ends, or inside its last field."""
    for command, text, columns in (
        ("import", PREFERENCES.replace(";", ","), JUDGED),
        ("import-visits", VISITS, VISITED),
    ):
        ended = run(command, text.rstrip("\n"), *columns)

        assert ended.code == 0
        assert ended.err.startswith(
            "warning: in.csv: the last line has no line break behind it: the file may be cut;"
        )


def test_too_few_fields_in_the_last_line_may_be_a_file_that_is_cut(run):
    """Elsewhere a comma without quotes is likelier."""
    ended = run("import-visits", VISITS + "p,a,17723", *VISITED)

    assert (
        ended.err
        == "in.csv:4: 4 fields expected, got 3; write one field for each header; the file may be cut\n"
    )


def test_times_of_another_unit_are_a_warning(run):
    """Seconds that were called milliseconds are in January 1970."""
    ended = run(
        "import", PREFERENCES, *JUDGED, "--delimiter", ";", "--shown-at", "at", "--time-format", "epoch-ms"
    )

    assert (
        "warning: in.csv: at: 1 time before 2000 or after 2100, from 1970 on; these look like seconds"
        in ended.err
    )


def test_a_zone_for_times_without_one_is_an_option(run):
    """30 seconds in New York, where one of two columns was written in UTC."""
    rows = "q,w,a,b,best,at,done\n1,p,x,y,x,2026-03-01 09:00:00,2026-03-01T14:00:30Z\n"
    timed = (*JUDGED, "--shown-at", "at", "--decided-at", "done")
    refused = run("import", rows, *timed)
    ended = run("import", rows, *timed, "--time-zone", "America/New_York")

    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith(
        "in.csv:2: at has no time zone here, and done has one on line 2 (1 of 2 times of the file have none)"
    )
    assert (ended.code, ended.err) == (0, "")
    assert read_tables("tables")["preferences"]["decision_seconds"].tolist() == [30.0]


@pytest.mark.parametrize("column", ["from", "to"])
def test_visits_with_and_without_a_zone_in_one_column_are_refused(run, column):
    """Two visits that overlap came out five hours apart."""
    rows = "who,feed,from,to\np,a,2026-03-01T09:00:00-05:00,2026-03-01T09:05:00-05:00\np,a,2026-03-01T10:00:00,2026-03-01T10:06:00-05:00\n"
    if column == "to":
        rows = rows.replace("10:00:00,", "10:00:00-05:00,").replace("10:06:00-05:00", "10:06:00")
    ended = run("import-visits", rows, *VISITED)

    assert ended.code == 1
    assert ended.err.startswith(f"in.csv:3: {column} has no time zone here, and from has one on line 2")


def test_without_any_zone_a_note_says_what_was_assumed(run):
    rows = "who,feed,from,to\np,a,2026-03-01T09:00:00,2026-03-01T09:05:00\n"
    ended = run("import-visits", rows, *VISITED, "--study-end", "2026-03-08")
    local = run(
        "import-visits", rows, *VISITED, "--study-end", "2026-03-08", "--time-zone", "America/New_York"
    )

    assert (
        "note: in.csv: from and to without a time zone, read as UTC; if that is wrong, give --time-zone\n"
        in ended.err
    )
    assert "note: in.csv: --study-end has no time zone and is read as 2026-03-08T00:00:00Z\n" in ended.err
    assert "zone" not in local.err
    assert str(read_tables("tables")["follows"]["ended_at"][0]) == "2026-03-08 05:00:00+00:00"


def test_a_zone_that_there_is_not_is_refused(run):
    ended = run("import-visits", VISITS, *VISITED, "--time-zone", "Berlin")

    assert ended.code == 2
    assert "'Berlin' is not a time zone; did you mean Europe/Berlin" in ended.err


def test_lengths_in_milliseconds_are_the_cause_that_is_said_where_visits_overlap(run):
    """A visit of 78,000 "seconds" lasts into the next one."""
    rows = "who,feed,from,len\n" + "".join(
        f"p,a,2026-03-0{day}T09:00:00Z,{length}\n"
        for day, length in enumerate([78000, 90000, 61000, 99000, 70000], 1)
    )
    ended = run("import-visits", rows, *VISITED[:-2], "--seconds", "len")

    assert ended.code == 1
    lines = ended.err.splitlines()
    assert lines[0].startswith(
        "in.csv:1: len: a visit takes 21.7 hours (median), longer than people need, such as on line 5; are these milliseconds? Then it "
        "takes 78 seconds"
    )
    assert "starts before an earlier one" in lines[1]


def test_visits_outside_the_follows_that_are_there_are_named(run, monkeypatch, capsys):
    """The follows were written in another zone, or a year later; check makes it a fault where it is most of them."""
    follows = "worker,topic,started_at,ended_at\np,a,2027-03-01T00:00:00Z,2027-03-08T00:00:00Z\n"
    assert run("import-visits", VISITS, *VISITED).code == 0
    Path("tables/follows.csv").write_text(follows)
    ended = run("import-visits", VISITS, *VISITED, "--no-follows")
    checked = run_here(monkeypatch, capsys, "check", "tables")

    said = (
        "tables/visits.csv:2: 2 of 2 visits begin before their follow did, or after it ended; write all times in one time zone, "
        "and follows from the enrolment to the end of the study"
    )
    assert f"warning: {said}\n" in ended.err
    assert checked.code == 1
    assert said in checked.err
