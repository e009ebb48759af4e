"""Folders of tables: what is read, what is refused and in which words, what is written."""

import csv
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from calibration.tables.definition import Column, ColumnType, Table
from calibration.tables.files import read_table, read_tables, write_tables
from calibration.tables.tables import TABLES
from metrics.errors import InputError

SEARCHES = "worker,topic,seconds\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """One folder for the examples of a property; each example overwrites its file."""
    return tmp_path_factory.mktemp("tables")


def faults(folder: Path, name: str, text: str | bytes) -> list[str]:
    """Write one table file and return the faults that reading its folder gives, without the folder."""
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    try:
        read_tables(folder)
    except InputError as error:
        return [str(fault).replace(f"{folder}/", "") for fault in error.faults]
    return []


# --- what a cell may be
def cells(column: Column) -> st.SearchStrategy[object]:
    """Every value that a column may hold."""
    if column.kind is ColumnType.TEXT:
        texts = st.sampled_from(column.choices) if column.choices else st.text(min_size=1, max_size=8)
        values = texts.filter(str.strip)
    elif column.kind is ColumnType.FLAG:
        values = st.booleans()
    elif column.kind is ColumnType.TIME:
        values = st.integers(0, 2_000_000_000_000).map(lambda ms: pd.Timestamp(ms, unit="ms", tz="UTC"))
    elif column.kind is ColumnType.INTEGER:
        values = st.integers(int(column.low or 0), 2**53)
    else:
        values = st.floats(column.low, column.high, allow_nan=False, allow_infinity=False)
    return values if column.required and not column.blank else st.none() | values


def frames(table: Table) -> st.SearchStrategy[pd.DataFrame]:
    """Every short table that keeps the definition, but for rules over several rows."""
    rows = st.lists(
        st.fixed_dictionaries({column.name: cells(column) for column in table.columns}),
        max_size=3,
        unique_by=(lambda row: tuple(str(row[name]) for name in table.key)) if table.key else None,
    )
    return rows.map(lambda found: pd.DataFrame(found, columns=pd.Index(table.column_names)))


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if not table.rules])
def test_what_is_written_is_read_back_the_same_from_either_format(name, folder):
    """Tables travel between stages and tools as CSV or Parquet without loss."""

    @settings(max_examples=settings.default.max_examples // 2)
    @given(frames(TABLES[name]))
    def check(frame):
        write_tables({name: frame}, folder, parquet=True)
        from_csv = read_table(folder / f"{name}.csv", TABLES[name])
        from_parquet = read_table(folder / f"{name}.parquet", TABLES[name])
        pd.testing.assert_frame_equal(from_csv, from_parquet, check_exact=True)
        shown = [
            [None if pd.isna(cell) else cell for cell in row] for row in from_csv.astype(object).to_numpy()
        ]
        meant = [[None if pd.isna(cell) else cell for cell in row] for row in frame.astype(object).to_numpy()]
        assert shown == meant

    check()


def test_parquet_stands_beside_large_tables_only(tmp_path, monkeypatch):
    """What a larger table left is taken away: it would be another table of the same name."""
    monkeypatch.setattr("calibration.tables.files.PARQUET_ROWS", 2)
    row = {"worker": "w", "question": "why", "value": "a"}
    write_tables({"answers": pd.DataFrame([row, row | {"question": "how"}])}, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv", "answers.parquet"]
    write_tables({"answers": pd.DataFrame([row])}, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["answers.csv"]


def test_every_kind_of_line_break_in_an_answer_survives(tmp_path):
    """Browsers send CR LF, other tools a lone CR; lines of the file end in a line feed only."""
    answer = {"worker": "w", "question": "why", "value": "a\r\nb\rc\nd"}
    write_tables({"answers": pd.DataFrame([answer])}, tmp_path)

    assert read_tables(tmp_path)["answers"].loc[0, "value"] == answer["value"]
    assert (tmp_path / "answers.csv").read_bytes() == b'worker,task,question,value\nw,,why,"a\r\nb\rc\nd"\n'


def test_times_are_written_in_utc_with_milliseconds_and_flags_as_words(tmp_path):
    """The CSV is for people and other tools: nothing of pandas shows through."""
    zoned = datetime(2026, 3, 1, 9, 30, 0, 120_999, tzinfo=UTC)
    write_tables(
        {"workers": pd.DataFrame([{"worker": "w", "consented_at": zoned, "excluded": True}])}, tmp_path
    )

    row = next(csv.DictReader((tmp_path / "workers.csv").read_text().splitlines()))
    assert (row["consented_at"], row["excluded"], row["reason"]) == ("2026-03-01T09:30:00.120Z", "true", "")


@pytest.mark.parametrize("name", ["searches.csv", "searches.parquet"])
@given(content=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
@example(content=b"\xef\xbb\xbf")
@example(content=b'worker,topic,seconds\n"w,q,5')
@example(content=b"worker,topic,seconds\nw,q,1e999")
@example(content=b"worker\r\r")
@example(content=b"\n\n\n")
@example(content=b"a,a\n1,2")
def test_any_bytes_give_a_table_or_an_input_error(name, content, folder):
    """Whatever a user has in the folder, they see what is wrong and never a traceback."""
    for path in folder.iterdir():
        path.unlink()
    for fault in faults(folder, name, content):
        assert fault.startswith(f"{name}:")


@given(rows=st.lists(st.lists(st.text('x1," \r\n', max_size=4), min_size=1, max_size=4), max_size=5))
def test_no_row_of_a_csv_is_ever_dropped_in_silence(rows, folder):
    """A row with too few or too many fields is a fault, and every other row is read."""
    table = Table(
        name="t",
        doc="",
        columns=(
            Column(name="a", kind=ColumnType.TEXT, doc=""),
            Column(name="b", kind=ColumnType.TEXT, doc=""),
        ),
    )
    path = folder / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([["a", "b"], *rows])
    ragged = sum(len(row) != 2 for row in rows)
    if ragged:
        with pytest.raises(InputError) as error:
            read_table(path, table)
        assert len(error.value.faults) == ragged
    else:
        assert len(read_table(path, table)) == len(rows)


# --- what is refused, and in which words
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "searches.csv:1: the file is empty; write a header line, or remove the file"),
        (b"PK\x03\x04 xl/workbook.xml", "searches.csv:1: this is a spreadsheet; save it as CSV"),
        (b"worker,topic,seconds\nw,q\xff,1\n", "searches.csv:2: not UTF-8; save the file as UTF-8"),
        (
            "worker,topic\nw,q\n",
            (
                "searches.csv:1: column 'seconds' is missing; found: worker, topic; "
                "a searches table needs worker, topic, seconds"
            ),
        ),
        (
            "worker,topic,second\nw,q,1\n",
            (
                "searches.csv:1: column 'seconds' is missing; found: worker, topic, second; "
                "did you mean 'seconds' by 'second'? Then rename it"
            ),
        ),
        (
            "Topic,user,seconds\nw,q,1\n",
            (
                "searches.csv:1: columns 'worker', 'topic' are missing; found: Topic, user, seconds; "
                "did you mean 'topic' by 'Topic'? Then rename it; a searches table needs worker, topic, seconds"
            ),
        ),
        (
            "worker,topic,seconds,topic\nw,q,1,q\n",
            "searches.csv:1: duplicate column 'topic'; keep one of them",
        ),
        (
            "worker;topic;seconds\nw;q;1\n",
            "searches.csv:1: the columns are separated by semicolons; separate them by commas",
        ),
        (
            "worker;topic;seconds\nw;q;1,5\n",
            "searches.csv:1: the columns are separated by semicolons; separate them by commas",
        ),
        (
            SEARCHES + "w,q,1\n\nw,q\n",
            (
                "searches.csv:4: 3 fields expected, got 2; "
                "write one field for each header, and quote a field that has a comma in it"
            ),
        ),
        (SEARCHES + "w,,1\n", "searches.csv:2: topic is empty; fill it in, or remove the row"),
        (
            SEARCHES + "w,q,nan\n",
            "searches.csv:2: seconds: 'nan' is no number; leave the cell empty where nothing is known",
        ),
        (
            SEARCHES + "w,q,inf\n",
            "searches.csv:2: seconds: 'inf' is no number; write a finite number with a decimal point",
        ),
        (SEARCHES + "w,q,-1\n", "searches.csv:2: seconds: -1 is out of range; write at least 0"),
    ],
)
def test_a_fault_says_where_it_is_and_how_to_mend_it(text, fault, tmp_path):
    """One line a fault: file, line, problem, cure."""
    assert faults(tmp_path, "searches.csv", text) == [fault]


@pytest.mark.parametrize(
    ("table", "text", "fault"),
    [
        (
            "workers",
            "worker,excluded\nw,maybe\n",
            "excluded: 'maybe' is no flag; write true or false",
        ),
        (
            "workers",
            "worker,consented_at\nw,2026-03-01 09:30\n",
            (
                "consented_at: '2026-03-01 09:30' has no time zone; "
                "write 2026-03-01T09:30Z if it is UTC, else the offset in place of Z"
            ),
        ),
        (
            "workers",
            "worker,consented_at\nw,1 March 2026\n",
            (
                "consented_at: '1 March 2026' is no time; "
                "write ISO 8601 with its zone, such as 2026-03-01T09:30:00.000Z"
            ),
        ),
        (
            "workers",
            "worker,consistency\nw,1.5\n",
            "consistency: 1.5 is out of range; write at most 1",
        ),
        (
            "lateness",
            "worker,topic,nugget,visits_late,useful\nw,q,n,1.5,true\n",
            "visits_late: '1.5' is no integer; write a whole number",
        ),
        (
            "preferences",
            "worker,task,topic,pair,system_left,system_right,choice\nw,t,q,p,A,B,Left\n",
            "choice: 'Left' is not known; did you mean 'left'?",
        ),
        (
            "preferences",
            "worker,task,topic,pair,system_left,system_right,choice\nw,t,q,p,A,B,2\n",
            "choice: '2' is not known; write one of left, right, equally_good, equally_bad",
        ),
        (
            "visits",
            "worker,topic,visit,start,end,end_reason\nw,q,1,2026-03-01T09:30:00Z,2026-03-01T09:40:00Z,closed\n",
            "end_reason: 'closed' is not known; write one of left, idle, exhausted, lost, study_end",
        ),
        (
            "visits",
            "worker,topic,visit,start,end,end_reason\nw,q,1,2026-03-01T09:30:00Z,2026-03-01T09:40:00Z,study-end\n",
            "end_reason: 'study-end' is not known; did you mean 'study_end'?",
        ),
    ],
)
def test_a_cell_that_does_not_fit_its_column_is_named_with_its_cure(table, text, fault, tmp_path):
    """Each kind of cell has its own cure."""
    assert faults(tmp_path, f"{table}.csv", text) == [f"{table}.csv:2: {fault}"]


def test_all_faults_of_all_files_are_reported_at_once(tmp_path):
    """A user mends everything in one go; within a file faults stand in the order of their lines."""
    (tmp_path / "workers.csv").write_text("worker,excluded\nw,x\n,true\n")
    found = faults(tmp_path, "searches.csv", SEARCHES + "w,q,x\n,q,1\n")

    assert [fault.partition(": ")[0] for fault in found] == [
        "searches.csv:2",
        "searches.csv:3",
        "workers.csv:2",
        "workers.csv:3",
    ]


def test_the_line_is_the_one_an_editor_shows_even_after_a_field_over_several_lines(tmp_path):
    """Answers hold line breaks; the line of a later fault counts them."""
    text = 'worker,question,value\nw,q,"two\nlines"\n\nw,,x\n'

    assert faults(tmp_path, "answers.csv", text) == [
        "answers.csv:5: question is empty; fill it in, or remove the row"
    ]


def test_a_row_of_a_parquet_file_has_the_line_it_would_have_as_csv(tmp_path):
    """Parquet has no lines; the header counts as one all the same."""
    pa_parquet.write_table(
        pa.table({"worker": ["w", "w"], "topic": ["q", "q"], "seconds": [1.0, -1.0]}),
        tmp_path / "searches.parquet",
    )

    with pytest.raises(InputError, match=r"searches\.parquet:3: seconds: -1 is out of range"):
        read_tables(tmp_path)


def test_a_file_in_place_of_a_folder_is_told_what_makes_tables(tmp_path):
    """It may be a table, or somebody's own log that is none yet."""
    (tmp_path / "log.csv").write_text("user,start\n")

    with pytest.raises(
        InputError,
        match=r"log.csv:1: this is a file; .* prefcal import makes tables of a CSV .* convert lines-to-tables of lines",
    ):
        read_tables(tmp_path / "log.csv")


def test_a_missing_folder_and_one_without_tables_are_named(tmp_path):
    """Both are one fault with the folder in it."""
    with pytest.raises(InputError, match="nowhere:1: no such folder; name a folder that holds tables"):
        read_tables(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no table in this folder; it may hold activity, answers"):
        read_tables(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("preference.csv", "preference.csv: did you mean 'preferences.csv'? Then rename it"),
        ("Visits.tsv", "Visits.tsv: did you mean 'visits.csv'? Then save it in that form"),
        ("notes.md", "it may hold activity, answers"),
    ],
)
def test_a_folder_without_tables_says_what_it_holds_and_what_that_may_be(name, said, tmp_path):
    """A single misspelt file must not look like an empty folder."""
    (tmp_path / name).write_text("worker\n")
    with pytest.raises(InputError) as error:
        read_tables(tmp_path)

    assert f"no table in this folder, only {name}; {said}" in str(error.value)


def test_a_folder_above_the_tables_names_theirs(tmp_path):
    """The study's folder is easily taken for that of its tables."""
    write_tables({"searches": TABLES["searches"].empty()}, tmp_path / "exported")
    with pytest.raises(InputError, match="name the folder in it that holds tables: exported"):
        read_tables(tmp_path)


def test_many_repeated_rows_are_reported_in_a_moment(tmp_path):
    """A table pasted twice into one file is a common slip, and must not take minutes to say."""
    rows = "".join(f"w{i}\n" for i in range(20_000))

    assert len(faults(tmp_path, "workers.csv", "worker\n" + rows + rows)) == 20_000
