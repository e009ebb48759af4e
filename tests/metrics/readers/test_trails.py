"""Given trails: what is read, and what is said about each thing that is wrong."""

import gzip
import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.readers.trails import read_trails

TRAILS = """{"unit": "seconds",
 "users": [
  {"A": 1, "V": 3.5, "session_away": [[60, 3600], [30.5, 0]]},
  {"V": 2,
   "session_away": [[1, 2]]}
 ]}
"""


def write(folder, text=TRAILS):
    path = folder / "trails.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_trails_are_read_as_they_are_written(tmp_path):
    """Reading speed and visits; other members are not looked at."""
    users = read_trails(write(tmp_path)).trails
    assert users.speed.tolist() == [3.5, 2.0]
    assert users.first_visit.tolist() == [0, 2, 3]
    assert users.start.tolist() == [0.0, 3660.0, 0.0]
    assert users.duration.tolist() == [60.0, 30.5, 1.0]


def test_trails_may_be_packed(tmp_path):
    """Many users are many numbers."""
    assert len(read_trails(write(tmp_path, gzip.compress(TRAILS.encode())))) == 2


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"users"', '"crowd"', "1: there is no 'users' here"),
        ('"V": 3.5, ', "", "3: there is no 'V' here"),
        ('"V": 3.5', '"V": 0', "3: V is no reading speed above 0; write words per second, such as 3.6"),
        ('"V": 3.5', '"V": true', "3: V is no reading speed above 0; write words per second, such as 3.6"),
        ('"V": 3.5', '"V": "fast"', "3: V is no reading speed above 0; write words per second, such as 3.6"),
        ('"V": 3.5', '"V": 1e999', "3: V is no reading speed above 0; write words per second, such as 3.6"),
        ('"session_away": [[1', '"sessions": [[1', "4: there is no 'session_away' here"),
        ("[[1, 2]]", "[]", "5: session_away is empty; write at least one session"),
        ("[[1, 2]]", "7", "5: session_away is no list"),
        (
            "[[1, 2]]",
            "[[1]]",
            "5: no session with its time away; write [seconds of the session, seconds away]",
        ),
        (
            "[[1, 2]]",
            "[[1, -2]]",
            "5: no session with its time away; write [seconds of the session, seconds away]",
        ),
        (
            "[[1, 2]]",
            '[[1, "2"]]',
            "5: no session with its time away; write [seconds of the session, seconds away]",
        ),
        (
            "[[1, 2]]",
            "[[1, NaN]]",
            "5: no session with its time away; write [seconds of the session, seconds away]",
        ),
    ],
)
def test_each_fault_names_line_and_cure(tmp_path, old, new, fault):
    """One line is all a user sees: it must be enough to mend the file."""
    path = write(tmp_path, TRAILS.replace(old, new))
    with pytest.raises(InputError) as caught:
        read_trails(path)
    assert [str(one).removeprefix(f"{path}:").startswith(fault) for one in caught.value.faults] == [True]


@pytest.mark.parametrize("text", ['{"users": []}', "[]", "7", "", '{"users": [', "\ufeff[]"])
def test_what_is_no_crowd_is_said(tmp_path, text):
    """An empty crowd has no mean."""
    with pytest.raises(InputError):
        read_trails(write(tmp_path, text))


def test_all_faults_are_shown_at_once(tmp_path):
    """In the order of lines."""
    path = write(tmp_path, TRAILS.replace("3.5", "-1").replace("[1, 2]", "[1], {}"))
    with pytest.raises(InputError) as caught:
        read_trails(path)
    assert [fault.line for fault in caught.value.faults] == [3, 5, 5]


def test_the_reference_trails_are_read(shared):
    """A hundred users over 27 days."""
    users = read_trails(shared / "gold/msu/trails.json")
    wanted = json.loads((shared / "gold/msu/trails.json").read_text(encoding="utf-8"))["users"]
    assert users.trails.speed.tolist() == [user["V"] for user in wanted]
    assert users.trails.duration.size == sum(len(user["session_away"]) for user in wanted)


pieces = st.lists(st.sampled_from(re.findall(r'"[^"]*"|[\d.]+|\S|\s', TRAILS))).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["users", "V", "session_away"]), inner, max_size=3)
    ),
)


@given(st.binary(max_size=60) | pieces.map(str.encode) | values.map(json.dumps).map(str.encode))
def test_any_bytes_give_trails_or_faults(tmp_path_factory, data):
    """Nothing in a file may end in a traceback."""
    path = write(tmp_path_factory.mktemp("fuzz"), data)
    with suppress(InputError):
        assert len(read_trails(path))
