"""What `prefcal check` prints."""

import csv
import io
import json
import re

import pandas as pd
import pytest

from calibration.tables.files import write_tables
from tests.calibration.fit.test_fit import study
from tests.calibration.models.durations.test_exposures import at
from tests.calibration.visits.test_visits_and_follows import ending
from tests.calibration.visits.test_visits_and_follows import tables as visited
from tests.study_app.prefcal_command import run_here


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder of tables with a study.json."""
    folder = tmp_path_factory.mktemp("study") / "tables"
    write_tables(study(), folder)
    (folder / "study.json").write_text('{"study": "drawn"}')
    return folder


@pytest.fixture
def prefcal(monkeypatch, capsys):
    return lambda *arguments: run_here(monkeypatch, capsys, *arguments)


def test_sound_tables_are_listed_with_what_they_hold(prefcal, tables):
    """Rows, how many columns have values, and which have none."""
    ended = prefcal("check", tables)

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[0] == "No fault in 7 tables; study 'drawn'."
    stops = next(line for line in ended.out.splitlines() if line.startswith("stops"))
    assert re.split(r"  +", stops) == [
        "stops",
        "252",
        "6 of 15",
        "system, page, judgment, side, chars_least, opened, rank_read, ranks, language",
    ]


def test_a_folder_without_study_json_is_as_good(prefcal, tmp_path):
    """Logs from elsewhere have none."""
    write_tables({"stops": study()["stops"]}, tmp_path)

    assert "No fault in 1 table; no study.json (none is needed)." in prefcal("check", tmp_path).out


def test_faults_of_tables_and_study_json_come_together(prefcal, tmp_path):
    """All at once, and nothing on stdout."""
    (tmp_path / "study.json").write_text("{}")
    (tmp_path / "searches.csv").write_text("worker,topic\nw,q\n")
    ended = prefcal("check", tmp_path)

    assert (ended.code, ended.out) == (1, "")
    assert [line.removeprefix(f"{tmp_path}/").partition(";")[0] for line in ended.err.splitlines()] == [
        "study.json:1: 'study' is missing",
        "searches.csv:1: column 'seconds' is missing",
    ]


@pytest.mark.parametrize("format_", ["csv", "json"])
def test_a_check_can_be_read_by_programs(format_, prefcal, tables):
    """One row a table."""
    ended = prefcal("check", tables, "--format", format_)
    rows = json.loads(ended.out) if format_ == "json" else list(csv.DictReader(io.StringIO(ended.out)))

    assert [row["table"] for row in rows] == sorted(study())


def test_a_few_visits_without_a_follow_are_a_warning_with_the_lines_of_the_first(prefcal, tmp_path):
    """Legal, but nearly always a name that is spelt in two ways."""
    write_tables(visited(misspelt=4), tmp_path)
    ended = prefcal("check", tmp_path)

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[2] == (
        f"warning: {tmp_path / 'visits.csv'}:2: 4 of 20 visits belong to no follow (worker 'W0' topic 't' on line 2, "
        "worker 'W1' topic 't' on line 3, worker 'W2' topic 't' on line 4, ...); write worker and topic as in table "
        "follows, or add the follows that are missing"
    )


def test_a_name_that_no_follow_has_is_shown_once(prefcal, tmp_path):
    """A worker with a hundred visits does not hide the others."""
    found = visited(misspelt=1)
    again = found["visits"].iloc[:1].assign(visit=2, start=at(20), end=at(21))
    write_tables(found | {"visits": pd.concat([found["visits"], again], ignore_index=True)}, tmp_path)

    assert (
        "2 of 21 visits belong to no follow (worker 'W0' topic 't' on line 2);"
        in prefcal("check", tmp_path).out
    )


@pytest.mark.parametrize(("misspelt", "code"), [(10, 0), (11, 1)])
def test_most_visits_without_a_follow_are_a_fault(misspelt, code, prefcal, tmp_path):
    """More than half cannot be an accident: there is nothing to fit."""
    write_tables(visited(misspelt=misspelt), tmp_path)
    ended = prefcal("check", tmp_path)

    assert ended.code == code
    assert f"visits.csv:2: {misspelt} of 20 visits belong to no follow" in (ended.err if code else ended.out)


def test_follows_that_end_with_their_last_visit_are_a_warning(prefcal, tmp_path):
    """Whoever writes the table from a log of visits easily takes its end from there."""
    write_tables(ending(at_last_visit=10), tmp_path)
    ended = prefcal("check", tmp_path)

    assert ended.code == 0
    assert (
        "follows.csv: 10 of 10 follows with a visit end where their last visit does; ended_at must"
        in ended.out
    )


def test_warnings_do_not_mix_with_what_programs_read(prefcal, tmp_path):
    """They are on stderr then."""
    write_tables(ending(at_last_visit=10), tmp_path)
    ended = prefcal("check", tmp_path, "--format", "json")

    assert len(json.loads(ended.out)) == 2
    assert ended.err.startswith("warning: ")


def test_what_nothing_reads_and_what_stands_twice_is_said(prefcal, tmp_path):
    """A note for what is like no known name, a warning for the rest; none of it is a fault."""
    (tmp_path / "searches.csv").write_text("worker,topic,seconds,age\nw,q,5,30\nw,q,5,30\n")
    (tmp_path / "workers.csv").write_text("worker,exclude\n")
    ended = prefcal("check", tmp_path)

    assert (ended.code, ended.err) == (0, "")
    assert [line.partition(";")[0] for line in ended.out.splitlines()[:6]] == [
        "No fault in 2 tables",
        f"warning: {tmp_path}/workers.csv:1: column 'exclude' is ignored: unknown name",
        f"warning: {tmp_path}/searches.csv:3: 1 row is the same as an earlier one (line 3 as line 2)",
        "note: ignored, as nothing reads them: column 'age' of searches.csv",
        "note: without a row, so that nothing can be computed from them: workers",
        "",
    ]


def test_a_cut_table_is_one_fault_beside_those_of_study_json(prefcal, tmp_path):
    """And the table is not read: exporting again mends whatever else is wrong with it."""
    digest = "0" * 64
    study = {"study": "s", "tables": {"searches": {"rows": 2, "sha256": digest}}}
    (tmp_path / "study.json").write_text(json.dumps(study))
    (tmp_path / "searches.csv").write_text("worker,topic,seconds\nw,q")
    ended = prefcal("check", tmp_path)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(
        f"{tmp_path}/searches.csv:2: the table is cut: it has 1 row, and 2 were exported;"
    )
    assert len(ended.err.splitlines()) == 1


def test_a_single_visit_without_a_follow_is_said_in_the_singular(prefcal, tmp_path):
    """Numbers agree with their nouns."""
    found = visited(misspelt=1)
    write_tables(found, tmp_path)
    few = prefcal("check", tmp_path)
    write_tables(found | {"visits": found["visits"][:1]}, tmp_path)

    assert "1 of 20 visits belongs to no follow (worker 'W0'" in few.out
    assert "the only visit belongs to no follow (" in prefcal("check", tmp_path).err
