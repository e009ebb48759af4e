"""Whole files split at once must read as if line by line."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import FaultLog, InputError
from metrics.readers.columns import read_columns, whole_numbers
from metrics.readers.lines import GZIP_MAGIC

NAMES = ("topic", "tweet", "grade")

line_ends = st.sampled_from([b"\n", b"\r\n", b"\r"])
blanks = st.sampled_from([b" ", b"\t", b"  ", b" \t\v\f "])
words = st.sampled_from(
    [b"MB1", "日本".encode(), b"1", "\u00a0\u2028".encode(), b"\xff", b"\x00", b"\x1c", b'"a']
)


@st.composite
def files(draw):
    """Lines of nought to four words with any blanks between and around them."""
    pieces = []
    for _ in range(draw(st.integers(0, 6))):
        pieces.append(draw(st.sampled_from([b"", b" "])))
        for position in range(draw(st.sampled_from([0, 2, 3, 3, 3, 4]))):
            pieces += [draw(blanks)] if position else []
            pieces.append(draw(words))
        pieces += [draw(st.sampled_from([b"", b"\t"])), draw(line_ends)]
    return b"".join(pieces)


def read(path, names=NAMES):
    log = FaultLog(path)
    columns = read_columns(names, log)
    return columns, [str(fault).removeprefix(f"{path}:") for fault in log.faults]


def literal(data):
    """The rule, line by line: (line, fields) of the good rows and the lines of the others; line 1 where all are wrong alike."""
    rows, wrong, lengths = [], [], set()
    for line, content in enumerate(data.splitlines(), start=1):
        fields = content.split()
        try:
            decoded = [field.decode() for field in fields]
        except UnicodeDecodeError:
            decoded = []
        if len(decoded) == len(NAMES):
            rows.append((line, *decoded))
        elif fields:
            wrong.append(line)
            lengths.add(len(fields))
    is_other_sort = not rows and len(wrong) > 1 and len(lengths) == 1 and lengths != {len(NAMES)}
    return rows, [1] if is_other_sort else wrong


@pytest.fixture
def written(tmp_path):
    """Write bytes to a file and return its path."""

    def write(data):
        path = tmp_path / "qrels.txt"
        path.write_bytes(data)
        return path

    return write


def test_columns_come_with_the_lines_of_their_rows(written):
    """Blank lines are skipped but counted, so that numbers are those an editor shows."""
    columns, faults = read(written(b"MB1 11 0\r\n\r\n \r\nMB2\t12  4\r\n"))

    assert columns.fields == (["MB1", "MB2"], ["11", "12"], ["0", "4"])
    assert columns.lines.tolist() == [1, 4]
    assert not faults


@given(files())
def test_splitting_at_once_equals_reading_line_by_line(tmp_path_factory, data):
    """The fast way and the way that names faults agree on every row."""
    path = tmp_path_factory.mktemp("columns") / "qrels.txt"
    path.write_bytes(data)
    columns, faults = read(path)
    rows, wrong = literal(data)

    assert list(zip(columns.lines.tolist(), *columns.fields, strict=True)) == rows
    assert [int(fault.split(":")[0]) for fault in faults] == wrong


def test_each_wrong_line_is_a_fault_with_its_number(written):
    """One pass finds them all, and the sound lines are read all the same."""
    columns, faults = read(written(b"MB1 11 0\nMB1 12\n\nMB1 \xff 1\nMB1 13 0 x\n"))

    assert columns.fields == (["MB1"], ["11"], ["0"])
    assert faults == [
        "2: 3 fields expected, got 2; write topic, tweet, grade, separated by white space",
        "4: the line is not UTF-8; save the file as UTF-8",
        "5: 3 fields expected, got 4; write topic, tweet, grade, separated by white space",
    ]


def test_another_sort_of_file_is_one_fault_that_says_which(written):
    """Where the number of fields tells it."""
    _, faults = read(written(b"MB1 Q0 d1 1 0.5 tag\n" * 30))

    (fault,) = faults
    assert fault == (
        "1: each line has 6 fields, as a run of ranked lists has, and 3 are expected; name the file whose lines are topic, "
        "tweet, grade, separated by white space"
    )


def test_an_xml_file_in_place_of_a_run_is_one_fault(written):
    """Though a line of it may have as many words as a run has fields."""
    _, faults = read(written(b"<results>\n one two three\n four\n</results>\n"))

    assert faults == [
        (
            "1: this is an XML file, and lines of 3 fields are expected; name the file whose lines are topic, tweet, grade, "
            "separated by white space"
        )
    ]


def test_lines_whose_fields_only_add_up_are_wrong(written):
    """Two fields and then four are no two rows of three."""
    _, faults = read(written(b"MB1 11\nMB1 12 0 x\n"))
    assert len(faults) == 2


@pytest.mark.parametrize("data", [b"", b"\n", b"   ", b"\xef\xbb\xbf"])
def test_a_file_without_words_has_no_rows(written, data):
    """An empty run is a run."""
    columns, faults = read(written(data))
    assert (columns.fields, columns.lines.size, faults) == (([], [], []), 0, [])


def test_gzip_is_read_and_a_byte_order_mark_is_no_part_of_the_first_field(written):
    """Both are what other programs write."""
    columns, _ = read(written(gzip.compress(b"\xef\xbb\xbfMB1 11 0\n")))
    assert columns.fields == (["MB1"], ["11"], ["0"])


@given(st.binary(max_size=80) | st.binary(max_size=30).map(lambda data: GZIP_MAGIC + data))
def test_any_bytes_give_rows_faults_or_one_clean_error(tmp_path_factory, data):
    """A damaged file never ends in a traceback, and no line is both a row and a fault."""
    path = tmp_path_factory.mktemp("columns") / "qrels.txt"
    path.write_bytes(data)
    try:
        columns, faults = read(path)
    except InputError:
        return
    assert not set(columns.lines.tolist()) & {int(fault.split(":")[0]) for fault in faults}


@pytest.mark.parametrize(
    ("texts", "values", "faulty"),
    [
        (["1", "007", "20150720"], [1, 7, 20150720], []),
        (["-5", "+3"], [-5, 3], []),
        (["1", "x", "1.5", "1_0", "٣", "9" * 19], [1, 0, 0, 0, 0, 0], [2, 3, 4, 5, 6]),
        ([], [], []),
    ],
)
def test_whole_numbers_are_digits_and_nothing_else(texts, values, faulty):
    """Python's own reading would take 1_0 and other digits than 0 to 9."""
    log = FaultLog("run.txt")
    found = whole_numbers(texts, "epoch", np.arange(1, len(texts) + 1), log)

    assert found.tolist() == values
    assert [fault.line for fault in log.faults] == faulty
