"""What `prefcal fit` and `prefcal check` print and write."""

import csv
import io
import json
import re

import pytest

from calibration.table_files import tables_sha256, write_tables
from calibration.user_model import read_user_model
from tests.calibration.test_fit import study
from tests.study_app.prefcal_command import run_apart, run_here

PATIENCES = ["patience_chars", "patience_chars_preferences", "patience_chars_stops", "patience_chars_grid"]


COLUMNS = ["name", "estimate", "low", "high", "level", "unit", "method", "workers", "rows"]


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


# --- fit


def test_the_model_is_written_and_shown_to_people(prefcal, tables, tmp_path):
    """A table with the intervals, then in words what to know about each number."""
    ended = prefcal("fit", tables, "-o", tmp_path / "user-model.json")
    model = read_user_model(tmp_path / "user-model.json")

    assert (ended.code, ended.err) == (0, "")
    header, _, *rows = ended.out.splitlines()
    assert header.split("  ")[0] == "name"
    assert [row.split()[0] for row in rows[:4]] == PATIENCES
    assert "P(i|q) of 30 intents of 6 topics from" in ended.out
    assert "At this patience M agrees with the majority in" in ended.out
    assert ended.out.rstrip().endswith(f"Written to {tmp_path / 'user-model.json'}.")
    assert (model.study, model.tables_sha256) == ("drawn", tables_sha256(tables))


@pytest.mark.parametrize("format_", ["csv", "json"])
def test_for_machines_there_is_a_row_a_parameter(format_, prefcal, tables, tmp_path):
    """And nothing else on stdout: it goes into a program."""
    ended = prefcal("fit", tables, "-o", tmp_path / "m.json", "--format", format_)
    rows = json.loads(ended.out) if format_ == "json" else list(csv.DictReader(io.StringIO(ended.out)))
    model = read_user_model(tmp_path / "m.json")

    assert [row["name"] for row in rows] == PATIENCES
    assert list(rows[0]) == COLUMNS
    assert float(rows[0]["low"]) == pytest.approx(model.parameters["patience_chars"].interval[0])


def test_what_people_voted_and_rated_is_written_for_scoring(prefcal, tables, tmp_path):
    """Files of a collection beside the model."""
    prefcal("fit", tables, "-o", tmp_path / "m.json")

    assert sorted(path.name for path in (tmp_path / "collection").iterdir()) == [
        "importance.tsv",
        "probability.tsv",
    ]


def test_what_cannot_be_told_is_a_line_on_stderr(prefcal, tmp_path):
    """The command ends well all the same: the model holds what there is."""
    write_tables({"stops": study()["stops"]}, tmp_path / "tables")
    ended = prefcal("fit", tmp_path / "tables", "-o", tmp_path / "m.json")

    assert ended.code == 0
    assert ended.err.splitlines() == [
        "patience_chars_preferences, patience_chars_grid: there is no table preferences and no table positions",
        "intents: there is no table intent_votes",
    ]
    assert not (tmp_path / "collection").exists()


def test_tables_that_tell_nothing_make_a_model_without_parameters(prefcal, tmp_path):
    """Honest, and readable by the next command."""
    write_tables({"workers": study()["workers"]}, tmp_path / "tables")
    ended = prefcal("fit", tmp_path / "tables", "-o", tmp_path / "m.json")

    assert ended.code == 0
    assert "No parameter could be fitted." in ended.out
    assert read_user_model(tmp_path / "m.json").parameters == {}


def test_faulty_tables_are_one_line_a_fault_and_write_nothing(prefcal, tmp_path):
    """Exit 1, nothing on stdout, no half-written model."""
    (tmp_path / "stops.csv").write_text("worker,topic,chars_read,text_chars,reached_end\nw,q,-1,10,no\n")
    ended = prefcal("fit", tmp_path, "-o", tmp_path / "m.json")

    assert (ended.code, ended.out) == (1, "")
    assert [line.partition(": ")[0] for line in ended.err.splitlines()] == [f"{tmp_path}/stops.csv:2"] * 2
    assert not (tmp_path / "m.json").exists()


def test_a_model_that_cannot_be_written_is_a_fault(prefcal, tables, tmp_path):
    """The folder is missing: said with a cure, not with a traceback."""
    ended = prefcal("fit", tables, "-o", tmp_path / "nowhere" / "m.json")

    assert ended.code == 1
    assert ended.err.endswith(
        "m.json:1: cannot be written (No such file or directory); choose another place\n"
    )


def test_exclusion_is_an_option(prefcal, tables, tmp_path):
    """The rules by default, none on request; anything else is wrong usage."""
    assert prefcal("fit", tables, "-o", tmp_path / "m.json", "--exclude", "none").code == 0
    assert prefcal("fit", tables, "-o", tmp_path / "m.json", "--exclude", "some").code == 2


# --- check


def test_sound_tables_are_listed_with_what_they_hold(prefcal, tables):
    """Rows, how many columns have values, and which have none."""
    ended = prefcal("check", tables)

    assert (ended.code, ended.err) == (0, "")
    assert "No fault in 7 tables; study 'drawn'." in ended.out
    stops = next(line for line in ended.out.splitlines() if line.startswith("stops"))
    assert re.split(r"  +", stops) == [
        "stops",
        "252",
        "6 of 12",
        "system, page, judgment, side, opened, language",
    ]


def test_a_folder_without_study_json_is_as_good(prefcal, tmp_path):
    """Logs from elsewhere have none."""
    write_tables({"stops": study()["stops"]}, tmp_path)

    assert "No fault in 1 tables; no study.json (none is needed)." in prefcal("check", tmp_path).out


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


def test_asking_for_help_imports_no_fit():
    """`prefcal fit --help` answers at once."""
    ended = run_apart("fit", "--help", options=("-X", "importtime"))

    assert ended.code == 0
    assert "Fit every user-model parameter" in ended.out
    assert not [line for line in ended.err.splitlines() if line.endswith((" pandas", " scipy"))]
