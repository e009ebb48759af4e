"""Runs of updates and lengths: what is read, and what is said about each thing that is wrong."""

import gzip
import math
import re
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.readers.tempsum import read_lengths, read_update_run
from tests.metrics.event_files import RUN, write_updates


def faults_of(path, read):
    with pytest.raises(InputError) as caught:
        read(path)
    return [str(fault).removeprefix(f"{path.parent}/") for fault in caught.value.faults]


def test_a_run_is_read_as_it_is_written(tmp_path):
    """In file order, which decides between equal times; an update is document and sentence."""
    run = read_update_run(write_updates(tmp_path))
    assert run.name == "mine"
    assert run.topics == ("1", "1", "2")
    assert run.updates == ("d1-0", "d2-5", "d3-1")
    assert run.seconds.tolist() == [1_000_000.0, 1_020_000.0, 2_000_100.0]
    assert run.confidence.tolist() == [0.5, math.inf, 0.1]


def test_a_run_may_be_empty_packed_and_called_otherwise(tmp_path):
    """A system that never gave anything out is a system."""
    assert read_update_run(write_updates(tmp_path, "\n \n")).updates == ()
    packed = write_updates(tmp_path, gzip.compress(RUN.encode()), name="mine.txt.gz")
    assert read_update_run(packed).name == "mine"
    assert read_update_run(packed, name="another").name == "another"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            " inf",
            "",
            (
                "mine:2: 7 fields expected, got 6; write qid, team, run, doc, sentence, time, confidence, "
                "separated by white space"
            ),
        ),
        ("1020000", "noon", "mine:2: time is no finite number: 'noon'; write a decimal number such as 2.5"),
        ("1020000", "inf", "mine:2: time is no finite number: 'inf'; write a decimal number such as 2.5"),
        (" inf", " NaN", "mine:2: confidence is no finite number: 'NaN'; write a decimal number such as 2.5"),
        (
            " inf",
            " sure",
            "mine:2: confidence is no finite number: 'sure'; write a decimal number such as 2.5",
        ),
        ("d2", "d\xff", "mine:2: the line is not UTF-8; save the file as UTF-8"),
    ],
)
def test_each_fault_names_file_line_and_cure(tmp_path, old, new, fault):
    """One line is all a user sees: it must be enough to mend the file."""
    path = write_updates(tmp_path, RUN.replace(old, new).encode("latin-1"))
    assert faults_of(path, read_update_run) == [fault]


def test_all_faults_of_a_run_are_shown_at_once(tmp_path):
    """In the order of lines."""
    path = write_updates(tmp_path, RUN.replace("0.5", "nan").replace("1020000", "x") + "1 2 3\n")
    assert [fault.split(": ")[0] for fault in faults_of(path, read_update_run)] == [
        "mine:1",
        "mine:2",
        "mine:4",
    ]


def test_a_run_keeps_its_arrays_closed(tmp_path):
    """Values are not changed by those who read them."""
    run = read_update_run(write_updates(tmp_path))
    with pytest.raises(ValueError, match="read-only"):
        run.seconds[0] = 1


def test_entries_are_found_by_either_form_of_a_topic(tmp_path):
    """Topics that nobody judged have no entries."""
    run = read_update_run(write_updates(tmp_path, RUN + "TS14.1 t r d9 9 1 1\n77 t r d9 9 1 1\n"))
    entries = run.entries(["TS14.1", "TS14.2", "TS14.3"])
    assert {topic: rows.tolist() for topic, rows in entries.items()} == {"TS14.1": [0, 1, 3], "TS14.2": [2]}


def test_lengths_are_numbers_of_words_by_topic_and_update(tmp_path):
    """A row of another topic is read and left out; the same length twice is no fault."""
    path = tmp_path / "lengths.tsv"
    path.write_text(
        "query_id\tupdate_id\twords\n1\ta-0\t12\n1\ta-0\t12\n2\tb-0\t0.5\n77\tx\t1\n", encoding="utf-8"
    )
    assert read_lengths(path, ["TS14.1", "TS14.2"]) == {"TS14.1": {"a-0": 12.0}, "TS14.2": {"b-0": 0.5}}


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (
            "1\ta-0\n",
            "lengths.tsv:2: 3 fields expected, got 2; write query_id, update_id, words, separated by tabs",
        ),
        (
            "1\ta-0\tlong\n",
            "lengths.tsv:2: words is no finite number: 'long'; write a decimal number such as 2.5",
        ),
        ("1\ta-0\t-1\n", "lengths.tsv:2: words is negative: -1; write 0 or more"),
        ("1\tb-0\t8\n", "lengths.tsv:2: update b-0 has another length above; delete one of the two rows"),
    ],
)
def test_each_fault_of_lengths_names_line_and_cure(tmp_path, row, fault):
    """One line is all a user sees: it must be enough to mend the file."""
    path = tmp_path / "lengths.tsv"
    path.write_text("1\tb-0\t7\n" + row, encoding="utf-8")
    assert faults_of(path, lambda path: read_lengths(path, ["TS14.1"])) == [fault]


pieces = st.lists(
    st.sampled_from([*re.findall(r"\S+|\s", RUN), "\t", "\r", "nan", "1e999", "\x00", "é"])
).map("".join)


@given(st.binary(max_size=80) | pieces.map(str.encode))
def test_any_bytes_give_a_run_or_faults(tmp_path_factory, data):
    """Nothing in a file may end in a traceback."""
    path = write_updates(tmp_path_factory.mktemp("fuzz"), data)
    for read in (read_update_run, lambda path: read_lengths(path, ["TS14.1"])):
        with suppress(InputError):
            read(path)


@given(st.lists(st.floats(allow_nan=False)))
def test_every_confidence_reads_back(tmp_path_factory, values):
    """Scores of any size, and infinities."""
    lines = "".join(f"1 t r d 0 5 {value!r}\n" for value in values)
    path = write_updates(tmp_path_factory.mktemp("run"), lines)
    assert np.array_equal(read_update_run(path).confidence, np.array(values))
