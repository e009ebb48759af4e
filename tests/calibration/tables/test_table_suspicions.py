"""What is legal in a folder of tables and suspicious: names that are nearly known, rows that stand twice."""

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from calibration.tables.files import read_tables
from calibration.tables.suspicions import in_no_result, suspicions

PREFERENCES = "worker,task,topic,pair,system_left,system_right,choice"
ANSWER = "w,t,q,p,A,B,left"


def written(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def said(folder) -> list[str]:
    return [str(fault).removeprefix(f"{folder}/") for fault in suspicions(folder, read_tables(folder))]


@pytest.mark.parametrize(
    ("header", "column", "meant"),
    [
        ("worker,exclude", "exclude", "excluded"),
        ("worker,Excluded", "Excluded", "excluded"),
        ("worker,mean-search-seconds", "mean-search-seconds", "mean_search_seconds"),
        ("worker,completedAt", "completedAt", "completed_at"),
    ],
)
def test_an_ignored_column_that_is_nearly_a_known_one_is_a_warning(header, column, meant, tmp_path):
    """Nobody would be left out by a column that is called otherwise."""
    written(tmp_path, {"workers.csv": f"{header}\nw,true\n"})

    assert said(tmp_path) == [
        f"workers.csv:1: column {column!r} is ignored: unknown name; did you mean {meant!r}? Then rename it"
    ]


def test_what_is_there_is_not_missed(tmp_path):
    """A second column, or a second file, that looks alike is a copy."""
    files = {"workers.csv": "worker,excluded,excluded_2\nw,true,false\n", "workers_old.csv": "worker\nw\n"}
    written(tmp_path, files)

    assert said(tmp_path) == []
    assert in_no_result(tmp_path, read_tables(tmp_path)) == [
        "ignored, as nothing reads them: column 'excluded_2' of workers.csv, workers_old.csv"
    ]


@pytest.mark.parametrize(
    ("name", "meant", "do"),
    [
        ("preference.csv", "preferences.csv", "rename it"),
        ("Preferences.CSV", "preferences.csv", "save it in that form"),
        ("preferences.tsv", "preferences.csv", "save it in that form"),
        ("preferences.csv.gz", "preferences.csv", "save it in that form"),
        ("intent-votes.parquet", "intent_votes.parquet", "rename it"),
        ("Study.json", "study.json", "rename it"),
    ],
)
def test_an_ignored_file_that_is_nearly_a_table_is_a_warning(name, meant, do, tmp_path):
    """The whole table would be missing."""
    written(tmp_path, {"workers.csv": "worker\nw\n", name: "x"})

    assert said(tmp_path) == [
        f"{name}:1: this file is ignored: unknown name; did you mean {meant!r}? Then {do}"
    ]


def test_names_like_no_known_one_are_one_quiet_line(tmp_path):
    """Logs from elsewhere carry more than prefcal reads; hidden files and study.json are no matter at all."""
    files = {"workers.csv": "worker,age\nw,30\n", "notes.md": "x", ".DS_Store": "x", "study.json": "{}"}
    written(tmp_path, files)

    assert said(tmp_path) == []
    assert in_no_result(tmp_path, read_tables(tmp_path)) == [
        "ignored, as nothing reads them: column 'age' of workers.csv, notes.md"
    ]


def test_the_columns_of_parquet_are_looked_at_too(tmp_path):
    """Whatever the form."""
    pa_parquet.write_table(pa.table({"worker": ["w"], "exclude": [True]}), tmp_path / "workers.parquet")

    assert said(tmp_path)[0].startswith("workers.parquet:1: column 'exclude' is ignored")


def test_rows_that_stand_twice_without_ids_are_counted_with_their_lines(tmp_path):
    """A file that was appended twice would count every answer twice."""
    rows = [ANSWER, ANSWER.replace("w,", "v,"), ANSWER, "", ANSWER]
    written(tmp_path, {"preferences.csv": "\n".join([PREFERENCES, *rows, ""])})

    assert said(tmp_path) == [
        (
            "preferences.csv:4: 2 rows are the same as an earlier one (line 4 as line 2, line 6 as line 2); remove rows "
            "that were copied; if people did this twice, give each row an id of its own in column 'judgment'"
        )
    ]


def test_of_many_rows_that_stand_twice_the_first_are_shown(tmp_path):
    """In a table without ids alike rows may be right."""
    written(tmp_path, {"searches.csv": "worker,topic,seconds\n" + "w,q,5\n" * 6})

    assert said(tmp_path) == [
        (
            "searches.csv:3: 5 rows are the same as an earlier one (line 3 as line 2, line 4 as line 2, line 5 as line "
            "2, ...); remove rows that were copied; rows that only happen to be alike can stay"
        )
    ]


def test_rows_that_only_an_ignored_column_tells_apart_are_different(tmp_path):
    """Ids of another tool are ids."""
    written(tmp_path, {"preferences.csv": f"{PREFERENCES},hit\n{ANSWER},1\n{ANSWER},2\n"})

    assert said(tmp_path) == []


def test_tables_without_a_row_are_named(tmp_path):
    """A header is a table, and nothing can be computed from it."""
    written(tmp_path, {"workers.csv": "worker\nw\n", "searches.csv": "worker,topic,seconds\n"})

    assert in_no_result(tmp_path, read_tables(tmp_path)) == [
        "without a row, so that nothing can be computed from them: searches"
    ]


def test_a_pair_that_a_worker_judged_twice_is_a_warning_unless_it_is_a_repeat(tmp_path):
    """An import gives each row an id of its own, so that rows sent twice look like two judgments."""
    header = f"judgment,validation_of,{PREFERENCES}\n"
    written(tmp_path, {"preferences.csv": f"{header}J1,,{ANSWER}\nJ2,J1,{ANSWER}\n"})
    assert said(tmp_path) == []

    written(tmp_path, {"preferences.csv": f"{header}J1,,{ANSWER}\nJ2,,{ANSWER}\n"})
    (warning,) = said(tmp_path)
    assert warning.startswith(
        "preferences.csv:3: 1 judgment is of a pair that the worker had judged before (line 3 as line 2), and no repeat"
    )
