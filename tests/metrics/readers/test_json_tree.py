"""JSON in which every value knows its line."""

import json
import string
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import FaultLog, InputError
from metrics.readers.trees import read_json

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)


@pytest.fixture
def written(tmp_path):
    """Write a text or bytes to a file and return its log."""

    def write(content):
        path = tmp_path / "file.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return FaultLog(path)

    return write


def plain(node):
    """What `json.loads` would have returned."""
    if isinstance(node.value, dict):
        return {name: plain(member) for name, member in node.value.items()}
    if isinstance(node.value, list):
        return [plain(member) for member in node.value]
    return node.value


def test_every_value_knows_its_line(written):
    """Readers name the line of whatever is wrong."""
    root = read_json(written('{\n "a": [1,\n  "x"],\n "b": {"c":\n   null}\n}'))

    assert root.line == 1
    assert root.value["a"].line == 2
    assert [node.line for node in root.value["a"].value] == [2, 3]
    assert root.value["b"].line == 4
    assert root.value["b"].value["c"].line == 5


@given(document=documents, indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans())
def test_the_tree_says_what_json_says(tmp_path_factory, document, indent, ascii_only):
    """Escapes, empty containers, numbers and nesting are those of the standard reader."""
    path = tmp_path_factory.mktemp("tree") / "file.json"
    path.write_text(json.dumps(document, indent=indent, ensure_ascii=ascii_only), encoding="utf-8")
    log = FaultLog(path)

    assert plain(read_json(log)) == document
    assert not log.faults


def test_a_member_named_twice_is_a_fault(written):
    """JSON readers silently take the last one, which hides half of a file."""
    log = written('{"a": 1,\n "b": 2,\n "a": 3}')

    assert plain(read_json(log)) == {"a": 3, "b": 2}
    assert [str(fault) for fault in log.faults] == [
        f"{log.path}:3: the member 'a' is on line 1 already; delete one of the two"
    ]


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        ("", 1, r"not JSON \(Expecting value\)"),
        ('{"a":\n 1\n "b": 2}', 3, r"not JSON \(Expecting ',' delimiter\)"),
        ("[1] []", 1, r"not JSON \(Extra data\)"),
        (b'{"a":\n "\xff"}', 2, "not UTF-8"),
        ("[" * 100_000, 1, "lists nested too deep"),
        ("9" * 10_000, 1, "a number with too many digits"),
    ],
)
def test_what_is_no_json_is_one_fault_with_its_line(written, content, line, problem):
    """Nothing can be said about the rest of such a file."""
    with pytest.raises(InputError, match=rf"file\.json:{line}: .*{problem}"):
        read_json(written(content))


@given(
    st.binary(max_size=60) | st.text(alphabet='{}[],:"\\x1 \n' + string.digits, max_size=40).map(str.encode)
)
def test_any_bytes_give_a_tree_or_one_clean_error(tmp_path_factory, content):
    """A damaged file never ends in a traceback."""
    path = tmp_path_factory.mktemp("tree") / "file.json"
    path.write_bytes(content)

    with suppress(InputError):
        read_json(FaultLog(path))
