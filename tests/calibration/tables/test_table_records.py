"""What study.json says of its tables, and how a table that was cut or changed is told from the exported one."""

import json

import pandas as pd
import pytest

from calibration.tables.files import read_tables, write_tables
from calibration.tables.study_json import (
    STUDY_FILE,
    StudyRecord,
    read_study,
    recorded_tables,
    renew_records,
    table_records,
    write_study,
)
from calibration.tables.suspicions import suspicions
from metrics.errors import InputError

SEARCHES = pd.DataFrame(
    {"worker": ["w", "v", "u"], "topic": ["q", "q", "a\nb"], "seconds": [200.5, 201.25, 212.375]}
)
FORGET = 'take "searches" out of "tables" in study.json'


@pytest.fixture
def folder(tmp_path):
    """A table of three rows as an export leaves it; a cell of the last row has a line break in it."""
    write_tables({"searches": SEARCHES}, tmp_path)
    write_study(StudyRecord(study="s", tables=table_records(tmp_path, {"searches": 3})), tmp_path)
    return tmp_path


def cut(folder, content: bytes) -> list[str]:
    """Put other content into the table, and return the faults of reading it."""
    (folder / "searches.csv").write_bytes(content)
    with pytest.raises(InputError) as error:
        read_tables(folder)
    return [str(fault).removeprefix(f"{folder}/") for fault in error.value.faults]


def warnings(folder) -> list[str]:
    """Return what is suspicious about the tables."""
    return [str(fault).removeprefix(f"{folder}/") for fault in suspicions(folder, read_tables(folder))]


def test_a_table_that_is_as_it_was_exported_is_no_matter(folder):
    """Nothing is said."""
    assert warnings(folder) == []


def test_a_table_cut_at_the_end_of_a_line_is_a_fault(folder):
    """It is a sound table with fewer rows: nothing in it tells."""
    content = (folder / "searches.csv").read_bytes()

    assert cut(folder, content[: content.index(b"u,")]) == [
        (
            "searches.csv:3: the table is cut: it has 2 rows, and 3 were exported; export the study again, or, if you "
            f"took rows out on purpose, {FORGET}"
        )
    ]
    assert "it has 1 row, and 3 were exported" in cut(folder, content[: content.index(b"v,")])[0]


@pytest.mark.parametrize("size", [0, 7, 20])
def test_a_table_cut_in_its_first_lines_is_one_fault(size, folder):
    """And not also a missing header, or a row with too few fields."""
    said = cut(folder, (folder / "searches.csv").read_bytes()[:size])

    assert len(said) == 1
    assert said[0].startswith(
        "searches.csv:1: the table is cut: it has 0 rows, and 3 were exported; export the"
    )


@pytest.mark.parametrize("missing", [2, 3, 8])
def test_a_table_cut_inside_its_last_line_is_a_fault(missing, folder):
    """212.375 would be read as 212.37 or 212; a line break in a cell is not the end of the row."""
    content = (folder / "searches.csv").read_bytes()

    assert cut(folder, content[:-missing]) == [
        (
            "searches.csv:5: the table ends inside a line: its last line differs from the export and has no line "
            f"break; export the study again, or, if you changed the table on purpose, {FORGET}"
        )
    ]


def test_a_table_that_lacks_its_last_line_break_only_is_whole(folder):
    """Some editors leave it out, and no value is lost."""
    path = folder / "searches.csv"
    path.write_bytes(path.read_bytes()[:-1])

    assert read_tables(folder)["searches"]["seconds"].tolist() == SEARCHES["seconds"].tolist()
    assert warnings(folder) == []


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [(b"200.5", b"300.5", ""), (b"v,q", b"x,q,1\nv,q", ": it had 3 rows and has 4")],
)
def test_a_table_that_was_changed_is_a_warning_that_says_how_to_go_on(old, new, count, folder):
    """People mend tables by hand; what was exported is then no longer what is computed."""
    path = folder / "searches.csv"
    path.write_bytes(path.read_bytes().replace(old, new))

    assert warnings(folder) == [
        (
            f"searches.csv:1: this table was changed after its export{count}, and results are those of the changed "
            f"table; if that was intended, {FORGET} to stop this warning; if not, export the study again"
        )
    ]


def test_a_table_of_which_study_json_says_nothing_may_be_changed_and_cut(folder):
    """That is how one goes on after taking it out, and how exports of older versions look."""
    write_study(StudyRecord(study="s"), folder)
    (folder / "searches.csv").write_text("worker,topic,seconds\nw,q,1\n")

    assert warnings(folder) == []


def test_a_table_that_was_taken_away_is_a_warning(folder):
    """Each stage uses what is there, so nothing else says it."""
    write_tables({"workers": pd.DataFrame({"worker": ["w"]})}, folder)
    (folder / "searches.csv").unlink()

    assert warnings(folder) == [
        (
            "searches.csv:1: this table is not there, and 3 rows of it were exported; export the study again, if you "
            "did not take it away"
        )
    ]


def test_a_parquet_table_with_fewer_rows_is_cut_too(folder):
    """Where the CSV is gone."""
    (folder / "searches.csv").unlink()
    SEARCHES[:2].to_parquet(folder / "searches.parquet")

    with pytest.raises(InputError, match=r"searches.parquet:1: the table is cut: it has 2 rows, and 3 were"):
        read_tables(folder)
    SEARCHES.to_parquet(folder / "searches.parquet")
    assert warnings(folder) == []


def test_without_records_a_last_line_without_a_line_break_is_a_warning(tmp_path):
    """12.5 may have been 12.55."""
    (tmp_path / "searches.csv").write_text("worker,topic,seconds\nw,q,10\nv,q,12.5")

    assert warnings(tmp_path) == [
        (
            "searches.csv:3: the last line has no line break behind it: its last value may be cut off; see whether that "
            "value is whole, and end the line with a line break"
        )
    ]


def test_tables_that_prefcal_itself_writes_anew_are_recorded_anew(folder):
    """Other fields of study.json stay, also those that nothing knows."""
    path = folder / STUDY_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | {"ours": 1}))
    write_tables({"searches": SEARCHES[:1]}, folder)
    renew_records(folder, {"searches": 1})

    assert warnings(folder) == []
    assert json.loads(path.read_text())["ours"] == 1
    assert read_study(folder).tables["searches"].rows == 1


def test_nothing_is_recorded_where_nothing_was(tmp_path):
    """Tables from elsewhere stay without; a damaged study.json is reported by who needs it."""
    write_tables({"searches": SEARCHES}, tmp_path)
    renew_records(tmp_path, {"searches": 3})
    assert not (tmp_path / STUDY_FILE).exists()

    (tmp_path / STUDY_FILE).write_text("{")
    assert recorded_tables(tmp_path) == {}
