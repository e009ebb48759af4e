"""Small files stay small: what a file may hold is looked at before it is read, and while it is."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from calibration.tables.files import read_table
from calibration.tables.tables import TABLES
from metrics import file_limits
from metrics.agreement import correlate
from metrics.agreement.correlation import MAX_SYSTEMS
from metrics.errors import MAX_FAULTS_KEPT, FaultLog, InputError
from metrics.readers import lines
from metrics.readers.columns import read_columns, read_csv_columns
from metrics.readers.lines import read_bytes, rows
from metrics.readers.trees import read_json, read_xml


def test_a_small_packed_file_does_not_unfold_to_a_large_one(tmp_path, monkeypatch):
    """It is unpacked up to a limit that grows with its own size, and no further to see how much there is."""
    monkeypatch.setattr(file_limits, "SMALL_BYTES", 2**20)
    (tmp_path / "fits").write_bytes(gzip.compress(b"x" * 2**20))
    (tmp_path / "bomb").write_bytes(gzip.compress(b"x" * 2**24))
    assert len(read_bytes(tmp_path / "fits")) == 2**20
    with pytest.raises(InputError, match=r"its 1\d\.\d KiB unfold to more than the 3\.\d MiB"):
        read_bytes(tmp_path / "bomb")


def repeated(rows: int, text: str) -> pa.Table:
    """One text so many times: in Parquet it takes the room of one."""
    places = pa.array(np.zeros(rows, dtype=np.int32))
    return pa.table({"worker": pa.DictionaryArray.from_arrays(places, pa.array([text]))})


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (repeated(20_000, "x" * 60_000), r"its 0\.\d KiB unfold to more than the 256\.0 MiB"),
        (pa.table({"worker": pa.nulls(50_000_000, pa.int8())}), "there are 50,000,000 rows, and 40,000,000"),
        (pa.table({f"c{n}": [1] for n in range(10_001)}), "there are 10,001 columns, and 10,000"),
    ],
    ids=["one long text", "rows", "columns"],
)
def test_a_few_kilobytes_of_parquet_do_not_become_gigabytes(tmp_path, table, problem):
    """Neither by what the file says of itself, nor by what it turns out to hold."""
    path = tmp_path / "workers.parquet"
    pa_parquet.write_table(table, path, compression="zstd")
    with pytest.raises(InputError, match=problem):
        read_table(path, TABLES["workers"])


def test_an_ordinary_table_of_many_equal_texts_is_read(tmp_path):
    """Large logs name the same few workers and topics again and again."""
    path = tmp_path / "workers.parquet"
    pa_parquet.write_table(pa.table({"worker": [f"w{n}" for n in range(20_000)]}), path)
    assert len(read_table(path, TABLES["workers"])) == 20_000


def test_a_csv_may_not_have_a_million_columns(tmp_path):
    """Such a header once ended the process."""
    path = tmp_path / "workers.csv"
    path.write_text("worker," + ",".join(map(str, range(10_000))) + "\n")
    with pytest.raises(InputError, match="there are 10,001 columns"):
        read_table(path, TABLES["workers"])
    with pytest.raises(InputError, match="there are 10,001 columns"):
        read_csv_columns(path, ["worker"], FaultLog(path))


def test_lines_values_and_elements_are_counted_before_any_is_read(tmp_path, monkeypatch):
    """Each becomes an object that is many times as large as what stands in the file."""
    monkeypatch.setattr(file_limits, "MAX_ROWS", 3)
    monkeypatch.setattr(file_limits, "MAX_VALUES", 3)
    path = tmp_path / "file"
    path.write_text("a\n" * 4)
    with pytest.raises(InputError, match="there are 4 rows, and 3 may be read"):
        read_columns(["a"], FaultLog(path))
    path.write_text("[[],[]]")
    with pytest.raises(InputError, match="there are 4 values"):
        read_json(FaultLog(path))
    path.write_text("<a><b/><c/></a>")
    with pytest.raises(InputError, match="there are 4 values"):
        read_xml(path)


def test_the_environment_raises_the_budget(tmp_path, monkeypatch):
    """For who truly has more; a number that is none is said."""
    monkeypatch.setattr(file_limits, "MAX_ROWS", 3)
    path = tmp_path / "file"
    path.write_text("a\n" * 6)
    monkeypatch.setenv(file_limits.VARIABLE, "2")
    assert len(read_columns(["a"], FaultLog(path)).lines) == 6
    monkeypatch.setenv(file_limits.VARIABLE, "much")
    with pytest.raises(InputError, match="PREFCAL_BUDGET is 'much'; write how many times"):
        read_bytes(path)


def test_of_very_many_faults_not_all_are_kept(tmp_path):
    """A fault takes more room than its line; a file that is another sort of file is still told as one."""
    path = tmp_path / "file"
    path.write_text("a\tb\n" * (MAX_FAULTS_KEPT + 5) + "a\tb\tc\n")
    log = FaultLog(path)
    assert len(list(rows(["x", "y", "z"], log))) == 1
    with pytest.raises(InputError, match=f"and at least {MAX_FAULTS_KEPT - 20} more"):
        log.raise_if_any()
    log = FaultLog(path)
    path.write_text("a\tb\n" * (MAX_FAULTS_KEPT + 5))
    list(rows(["x", "y", "z"], log))
    assert [fault.problem for fault in log.faults] == ["each line has 2 fields and 3 are expected"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n"])
def test_a_file_read_in_blocks_has_the_lines_of_the_whole_file(tmp_path, monkeypatch, end):
    """Whatever ends them, and wherever a block ends."""
    monkeypatch.setattr(lines, "BLOCK_BYTES", 5)
    text = end.join(["a 1", "", "bb 22", "ccc 333", "d 4"])
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    assert list(lines.byte_lines(text.encode())) == text.encode().splitlines()
    found = read_columns(["x", "y"], FaultLog(path))
    wanted = [(n, *line.split()) for n, line in enumerate(text.splitlines(), 1) if line]
    assert list(zip(found.lines.tolist(), *found.fields, strict=True)) == wanted


def test_more_systems_than_fit_into_the_memory_are_refused():
    """Each pair of systems is looked at: two million systems asked for 3.6 TiB."""
    scores = np.arange(MAX_SYSTEMS + 1.0)
    with pytest.raises(ValueError, match="10,001 systems, and 10,000 can be correlated"):
        correlate(scores, scores)
