"""What is read of a folder of tables, and what is written into one."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from calibration.tables.definition import Column, ColumnType, Table, parsed
from calibration.tables.files import (
    check_frame,
    read_table,
    read_tables,
    table_paths,
    tables_sha256,
    write_tables,
)
from calibration.tables.tables import TABLES
from metrics.errors import InputError

SEARCHES = "worker,topic,seconds\n"


def test_csv_is_read_where_both_formats_exist(tmp_path):
    """People correct the CSV by hand; the Parquet beside it is then out of date."""
    write_tables(
        {"searches": pd.DataFrame([{"worker": "old", "topic": "q", "seconds": 1.0}])}, tmp_path, parquet=True
    )
    (tmp_path / "searches.csv").write_text(SEARCHES + "new,q,1\n")

    assert read_tables(tmp_path)["searches"]["worker"].to_list() == ["new"]


def test_unknown_files_and_columns_are_ignored_and_missing_optional_ones_are_empty(tmp_path):
    """Logs from elsewhere carry more, and less, than prefcal writes."""
    (tmp_path / "notes.csv").write_text("whatever")
    (tmp_path / "stops.csv").write_text(
        "mood,reached_end,worker,topic,chars_read,text_chars\nbad,True,w,q,10,20\n"
    )
    stops = read_tables(tmp_path)["stops"]

    assert tuple(stops.columns) == TABLES["stops"].column_names
    assert stops["layout"].isna().all()
    assert stops.loc[0, "reached_end"]


def test_a_time_in_any_zone_becomes_utc(tmp_path):
    """The zone is part of the time; only its absence is a fault."""
    (tmp_path / "prompts.csv").write_text("worker,topic,sent_at\nw,q,2026-03-01T18:30:00+09:00\n")

    assert read_tables(tmp_path)["prompts"].loc[0, "sent_at"] == pd.Timestamp("2026-03-01T09:30:00Z")


def test_ids_stay_text(tmp_path):
    """Topics are compared as text: 07 is not 7, and NA is a name like any other."""
    (tmp_path / "searches.csv").write_text(SEARCHES + "NA,07,1\n")
    row = read_tables(tmp_path)["searches"].loc[0]

    assert (row["worker"], row["topic"]) == ("NA", "07")


def test_numbers_of_a_parquet_file_may_serve_as_ids(tmp_path):
    """Other tools store ids as integers, with missing values among them."""
    pa_parquet.write_table(
        pa.table({"worker": [7, 8], "topic": pa.array(["q", "r"]).dictionary_encode(), "system": [1, None]}),
        tmp_path / "x.parquet",
    )
    columns = tuple(Column(name=n, kind=ColumnType.TEXT, doc="") for n in ("worker", "topic", "system"))
    read = read_table(tmp_path / "x.parquet", Table(name="x", doc="", columns=columns))

    assert read["worker"].to_list() == ["7", "8"]
    assert read["topic"].to_list() == ["q", "r"]
    assert read["system"].fillna("none").to_list() == ["1", "none"]


def test_the_checksum_is_over_names_and_bytes_in_alphabetical_order(tmp_path):
    """It ties a user model to the tables it was fitted to: name, NUL, bytes; other files do not count."""
    (tmp_path / "searches.csv").write_text(SEARCHES)
    (tmp_path / "answers.csv").write_text("worker,question,value\n")
    (tmp_path / "study.json").write_text("{}")

    assert list(table_paths(tmp_path)) == ["answers", "searches"]
    # printf 'answers.csv\0worker,question,value\nsearches.csv\0worker,topic,seconds\n' | sha256sum
    assert tables_sha256(tmp_path) == "4590ae0c6befa75f2a8f8bf5cc13528683c743dd715228fd4a04c6c1ff4ac1cc"


def test_a_table_that_breaks_its_definition_is_not_written(tmp_path):
    """Either everything appears or nothing: the other table is sound, and is not written either."""
    sound = pd.DataFrame([{"worker": "w"}])
    broken = pd.DataFrame([{"worker": "w", "topic": "q", "seconds": -1.0}])

    with pytest.raises(InputError, match="searches:2: seconds: -1 is out of range"):
        write_tables({"workers": sound, "searches": broken}, tmp_path)
    assert list(tmp_path.iterdir()) == []


ANSWERS = (
    'worker,question,value\nw,q,"two\r\nlines, é"\nwé,q,\nw3,q,"a ""quote"" that is longer than a block"\n'
)


@pytest.mark.parametrize("block_bytes", [1, 7, 30])
def test_a_file_is_read_the_same_wherever_its_blocks_end(block_bytes, tmp_path, monkeypatch):
    """Also within a letter of two bytes, a line break of two, and a row that is longer than a block."""
    (tmp_path / "answers.csv").write_bytes(b"\xef\xbb\xbf" + ANSWERS.encode())
    whole = read_tables(tmp_path)["answers"]
    monkeypatch.setattr("calibration.tables.raw_files.BLOCK_BYTES", block_bytes)

    pd.testing.assert_frame_equal(read_tables(tmp_path)["answers"], whole)
    assert whole["value"].tolist()[0] == "two\r\nlines, é"

    (tmp_path / "answers.csv").write_bytes(ANSWERS.encode() + b"w,q,\xff\n")
    with pytest.raises(InputError, match=r"answers\.csv:6: not UTF-8"):
        read_tables(tmp_path)


@pytest.mark.parametrize(
    ("kind", "usual", "odd"),
    [
        (ColumnType.TIME, ["2026-03-01T09:30:00.120Z", "0001-01-01T00:00:00.000Z"], "2026-03-01T09:30+01"),
        (ColumnType.TIME, ["2026-03-01T09:30:00.120Z"], "2026-02-30T09:30:00.000Z"),
        (ColumnType.TIME, ["2026-03-01T09:30:00.120Z"], "2026-03-01 09:30:00.000Z"),
        (ColumnType.NUMBER, ["1", "-0.1", "1e-7", "+2", "0.30000000000000004", "9007199254740993"], " 3"),
        (ColumnType.INTEGER, ["1", "2e3"], "4 "),
    ],
)
def test_a_cell_means_the_same_whatever_stands_in_the_others(kind, usual, odd):
    """Cells in their usual form are read in bulk, and one by one beside a cell that is not."""
    alone = parsed(pd.Series([*usual, None], dtype="str"), kind)[0]
    beside = parsed(pd.Series([*usual, None, odd], dtype="str"), kind)[0]

    pd.testing.assert_series_equal(alone, beside[:-1])
    assert alone.notna().tolist() == [True] * len(usual) + [False]


ACTIVITY = "worker,topic,system,page,at,kind\n"


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (
            "w2,07,,p,2026-03-02T09:00:00.000Z,open\nw1, ,NA,p,2026-03-02T09:00:00.000Z,open\n",
            "topic is empty",
        ),
        ("w2,07,,p,2026-03-02T09:00:00.000Z,opne\n", "kind: 'opne' is not known"),
        ("w2,07,,p,2026-03-02T09:00:00.000Z,open\nw1,7,NA,p,2026-03-02T09:00:00.000Z,beat\n", None),
    ],
)
def test_names_read_as_categories_have_the_same_values_and_the_same_faults(rows, fault, tmp_path):
    """A large table is read so; blank optional cells are missing, and the names are in alphabetical order."""
    path = tmp_path / "activity.csv"
    path.write_text(ACTIVITY + rows)
    if fault:
        said = []
        for compact in (False, True):
            with pytest.raises(InputError, match=fault) as caught:
                read_table(path, TABLES["activity"], compact=compact)
            said.append(str(caught.value))
        assert said[0] == said[1]
        return
    texts, names = (read_table(path, TABLES["activity"], compact=compact) for compact in (False, True))
    assert names["topic"].cat.categories.tolist() == ["07", "7"]
    assert names["system"].isna().tolist() == [True, False]
    pd.testing.assert_frame_equal(names.astype(texts.dtypes), texts)


@pytest.mark.parametrize("cell", ["", " ", "\t \u3000", None])
def test_a_cell_with_nothing_but_space_is_empty(cell):
    """Whichever kind of space; a text with space in it is none."""
    votes = pd.DataFrame({"worker": ["a", cell, "b c"], "topic": "t1", "intent": "i1"})

    with pytest.raises(InputError) as refused:
        check_frame(votes, TABLES["intent_votes"])
    assert [(fault.line, fault.problem) for fault in refused.value.faults] == [(3, "worker is empty")]


@pytest.mark.parametrize("compact", [(), ("preferences",)])
def test_ids_of_pairs_are_made_where_a_table_has_none(tmp_path, compact):
    """They say nothing that topic and systems do not; the couple is one whatever the sides."""
    (tmp_path / "preferences.csv").write_text(
        "worker,task,topic,system_left,system_right,choice\nv,t,q,B,A,left\nw,t,q,A,B,right\nw,t,r,A,B,left\n"
    )
    preferences = read_tables(tmp_path, compact=compact)["preferences"]

    assert preferences["pair"].tolist() == ["q/A/B", "q/A/B", "r/A/B"]
    assert (preferences["pair"].dtype == "category") == bool(compact)


def test_visits_are_numbered_where_a_table_does_not(tmp_path):
    """By their start, whatever the order of the rows."""
    rows = [
        "w,q,2026-03-01T10:00:00Z,2026-03-01T10:01:00Z,left",
        "w,q,2026-03-01T09:00:00Z,2026-03-01T09:01:00Z,left",
    ]
    (tmp_path / "visits.csv").write_text("\n".join(["worker,topic,start,end,end_reason", *rows, ""]))

    assert read_tables(tmp_path)["visits"]["visit"].tolist() == [2, 1]


def test_an_id_that_is_missing_on_some_rows_only_is_a_fault(tmp_path):
    (tmp_path / "preferences.csv").write_text(
        "worker,task,topic,pair,system_left,system_right,choice\nw,t,q,p,A,B,left\nw,t,q,,A,B,left\n"
    )
    with pytest.raises(InputError, match=r"preferences.csv:3: pair is empty; fill it in, or remove the row"):
        read_tables(tmp_path)
