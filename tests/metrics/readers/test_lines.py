"""The ground under every reader: bytes to lines, lines to fields, fields to numbers."""

import gzip
import io
import math
import re
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import FaultLog, InputError
from metrics.readers.lines import GZIP_MAGIC, OLE_MAGIC, number, read_bytes, rows, text_lines, whole_number

COLUMNS = ("topic", "document")


@pytest.fixture
def written(tmp_path):
    """Write bytes to a file and return its path."""

    def write(data):
        path = tmp_path / "table.tsv"
        path.write_bytes(data)
        return path

    return write


def all_rows(path, **options):
    log = FaultLog(path)
    return list(rows(COLUMNS, log, **options)), [str(fault) for fault in log.faults]


def test_rows_carry_their_line_numbers(written):
    """Blank lines are skipped but counted, so that numbers are those an editor shows."""
    found, faults = all_rows(written(b"1\ta b\n\n \n2\tc\n"))
    assert found == [(1, ["1", "a b"]), (4, ["2", "c"])]
    assert not faults


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbf1\tx\r\n", gzip.compress(b"1\tx\n", mtime=0), b"topic\tdocument\r1\tx"]
)
def test_byte_order_mark_gzip_header_and_any_line_end_are_accepted(written, data):
    """Files from Windows, from a spreadsheet and from an archive are the same files."""
    found, faults = all_rows(written(data))
    assert [fields for _, fields in found] == [["1", "x"]]
    assert not faults


def test_a_line_separator_inside_a_text_does_not_end_the_line(written):
    """U+2028 and U+0085 occur in real texts; only line feeds and carriage returns end a line."""
    found, _ = all_rows(written("1\ta\u2028b\u0085c\n".encode()))
    assert found == [(1, ["1", "a\u2028b\u0085c"])]


def test_every_bad_line_is_noted_and_the_good_ones_are_read(written):
    """All faults at once, each with its line and its cure."""
    path = written(b"1\tx\n2\n3\ty\tz\n4\t\xff\n5\tw\n")
    found, faults = all_rows(path)
    assert [line for line, _ in found] == [1, 5]
    assert faults == [
        f"{path}:2: 2 fields expected, got 1; write topic, document, separated by tabs",
        f"{path}:3: 2 fields expected, got 3; write topic, document, separated by tabs",
        f"{path}:4: the line is not UTF-8; save the file as UTF-8",
    ]


def test_another_sort_of_file_is_one_fault(written):
    """Twenty equal lines tell no more, and hide the faults of other files."""
    path = written(b"1\tx\ty\n" * 30)
    assert all_rows(path) == (
        [],
        [
            f"{path}:1: each line has 3 fields and 2 are expected; name the file whose lines are topic, document, separated by tabs"
        ],
    )


def test_the_header_of_another_file_is_one_fault(written):
    """With as many columns, all its rows would be read for something else."""
    path = written(b"document\ttopic\n1\tx\n2\ty\n")
    assert all_rows(path) == (
        [],
        [f"{path}:1: the columns are document, topic; name the file whose columns are topic, document"],
    )


def test_an_xml_file_in_place_of_a_table_is_one_fault(written):
    """Its lines have any number of fields, none of which says anything."""
    path = written(b"\n<topics>\n <topic>1\tx</topic>\n one\ttwo\n</topics>\n")
    _, faults = all_rows(path, of_xml="topics go elsewhere")
    assert faults == [
        (
            f"{path}:1: this is an XML file, and lines of 2 fields are expected; name the file whose lines are topic, document, "
            "separated by tabs; topics go elsewhere"
        )
    ]


def test_a_text_that_begins_like_xml_is_none(written):
    """One line of two fields is enough."""
    path = written(b"<1\tx\n2\n")
    assert all_rows(path)[1] == [
        f"{path}:2: 2 fields expected, got 1; write topic, document, separated by tabs"
    ]


def zipped(name):
    """Return a zip archive with one file in it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, "x" * 100)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zipped("xl/workbook.xml"), "table.tsv:1: this is a spreadsheet; save it as CSV"),
        (OLE_MAGIC + bytes(600), "table.tsv:1: this is a spreadsheet; save it as CSV"),
        (zipped("qrels.txt"), "table.tsv:1: this is a zip archive; unpack it, and name a file of it"),
    ],
)
def test_a_spreadsheet_or_an_archive_is_no_text_in_a_wrong_encoding(written, data, message):
    """To save it as UTF-8 is not what mends it."""
    with pytest.raises(InputError, match=re.escape(message)):
        read_bytes(written(data))


@pytest.mark.parametrize(
    ("name", "message"),
    [("missing.tsv", "no such file"), (".", "this is a folder"), ("\0", "cannot be read")],
)
def test_a_file_that_cannot_be_opened_is_a_fault(tmp_path, name, message):
    """A wrong path is the most common mistake of all."""
    with pytest.raises(InputError, match=message):
        read_bytes(tmp_path / name)


def test_damaged_gzip_is_a_fault(written):
    """A broken download must not end in a traceback."""
    with pytest.raises(InputError, match="gzip data are damaged"):
        read_bytes(written(gzip.compress(b"1\tx\n" * 100)[:-9]))


@pytest.mark.parametrize(
    ("text", "value"), [("2.5", 2.5), ("-1e-3", -0.001), (".5", 0.5), ("3.", 3.0), ("+7", 7.0)]
)
def test_decimal_numbers_are_read(text, value):
    """Every way in which tools write a decimal number."""
    assert number(text, "importance", 1, FaultLog("f")) == value


@pytest.mark.parametrize("text", ["", " 1", "1_0", "١", "nan", "inf", "1e999", "0x1", "1,5", "1" * 400])
def test_what_is_no_finite_number_is_noted(text):
    """Python would take some of these for numbers; a reader of a published format must not."""
    log = FaultLog("f")
    assert math.isnan(number(text, "importance", 3, log))
    assert str(log.faults[0]).startswith("f:3: importance is no finite number")


def test_infinity_is_a_number_only_where_the_format_has_it():
    """Confidences may be inf, NaN never."""
    log = FaultLog("f")
    assert number("inf", "confidence", 1, log, infinite=True) == math.inf
    assert math.isnan(number("nan", "confidence", 1, log, infinite=True))


@pytest.mark.parametrize("text", ["", "1.0", "1_0", "9" * 19, "٣"])
def test_what_is_no_whole_number_is_noted(text):
    """Times are whole seconds; a fraction shows that the column is wrong."""
    log = FaultLog("f")
    assert whole_number(text, "time", 1, log) == 0
    assert log.faults
    assert whole_number("-12", "time", 1, FaultLog("f")) == -12


@given(st.binary(max_size=200) | st.binary(max_size=50).map(lambda data: GZIP_MAGIC + data))
def test_any_bytes_give_lines_or_faults(tmp_path_factory, data):
    """Reading never raises anything but an InputError."""
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_bytes(data)
    log = FaultLog(path)
    with suppress(InputError):
        assert all(isinstance(text, str) for _, text in text_lines(log))
