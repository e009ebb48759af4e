"""Collections of two-layered summaries: what is read, and what is said about each thing that is wrong."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.readers.mobileclick import COLUMNS, read_collection_files, read_summary_collection
from tests.metrics.two_layered_files import FILES, write_collection


def faults_of(folder):
    with pytest.raises(InputError) as caught:
        read_summary_collection(folder)
    return [str(fault).removeprefix(f"{folder}/") for fault in caught.value.faults]


def test_a_collection_is_read_as_it_is_written(tmp_path):
    """Ids, texts and order are the collection's own."""
    queries = read_summary_collection(write_collection(tmp_path)).queries
    assert list(queries) == ["Q1", "Q2"]
    fuji = queries["Q1"]
    assert fuji.text == "mount fuji"
    assert fuji.iunits == {"U1": "3776 m high", "U2": "last erupted in 1707", "U3": "open in summer"}
    assert fuji.intents == {"I1": "nature", "I2": "climbing"}
    assert fuji.importance == {("I1", "U1"): 4.0, ("I1", "U2"): 2.5, ("I2", "U3"): 3.0}
    assert fuji.probability == {"I1": 0.75, "I2": 0.25}


def test_probabilities_may_be_missing(tmp_path):
    """A collection without votes can still be scored with uniform or fitted ones."""
    assert (
        read_summary_collection(write_collection(tmp_path, probability=None)).queries["Q1"].probability
        is None
    )


def test_files_may_stand_anywhere_and_importance_be_missing(tmp_path):
    """A study file names each file; a study can be run before anybody rated an iUnit."""
    folder = write_collection(tmp_path)
    (tmp_path / "queries.tsv").rename(tmp_path / "my-queries.txt")
    files = {
        "queries": tmp_path / "my-queries.txt",
        **{kind: folder / f"{kind}.tsv" for kind in ("iunits", "intents")},
    }
    read = read_collection_files(files, name="mine")
    assert list(read.queries) == ["Q1", "Q2"]
    assert read.queries["Q1"].importance == {}


def test_what_follows_from_a_refused_row_is_no_fault_of_its_own(tmp_path):
    """A blank for a tab in one file would be one more fault in each file that names the iUnit."""
    folder = write_collection(tmp_path)
    text = (folder / "iunits.tsv").read_text(encoding="utf-8")
    (folder / "iunits.tsv").write_text(text.replace("\tU3\t", " U3\t"), encoding="utf-8")
    assert faults_of(folder) == [
        "iunits.tsv:3: 3 fields expected, got 2; write qid, uid, text, separated by tabs"
    ]


def test_files_may_be_packed(tmp_path):
    """Large collections travel as gzip."""
    folder = write_collection(tmp_path)
    (folder / "iunits.tsv").write_bytes(gzip.compress(FILES["iunits.tsv"].encode()))
    assert read_summary_collection(folder).queries["Q2"].iunits == {"U4": "標高3776m"}


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"queries": None}, "queries.tsv:1: there is no such file; write it with the fields qid, text"),
        ({"queries": "Q1\n"}, "queries.tsv:1: 2 fields expected, got 1; write qid, text, separated by tabs"),
        (
            {"queries": "Q1\tx\nQ1\ty\n"},
            "queries.tsv:2: Q1 is on line 1 already; delete one of the two rows",
        ),
        ({"queries": "\n"}, "queries.tsv:1: there are no queries; write one row per query: qid, text"),
        ({"iunits": "Q1\t\tx\n"}, "iunits.tsv:1: an id is empty; write qid, uid, text"),
        ({"iunits": "Q11\tU1\tx\n"}, "iunits.tsv:1: unknown query 'Q11'; did you mean 'Q1'?"),
        (
            {"intents": "Q1\tI1\tnature\n"},
            "queries.tsv:2: query 'Q2' has no intent; add its intents to intents.tsv",
        ),
        (
            {"importance": "Q1\tI1\tU4\t1\n"},
            "importance.tsv:1: query 'Q1' has no iUnit 'U4'; add it to iunits.tsv",
        ),
        (
            {"importance": "Q1\tII1\tU1\t1\n"},
            "importance.tsv:1: query 'Q1' has no intent 'II1'; did you mean 'I1'?",
        ),
        (
            {"importance": "Q1\tI1\tother\t1\n"},
            "importance.tsv:1: query 'Q1' has no iUnit 'other'; add it to iunits.tsv",
        ),
        (
            {"importance": "Q1\tI1\tU1\thigh\n"},
            "importance.tsv:1: importance is no finite number: 'high'; write a decimal number such as 2.5",
        ),
        ({"importance": "Q1\tI1\tU1\t-1\n"}, "importance.tsv:1: importance is negative: -1; write 0 or more"),
        (
            {"probability": "Q1\tI1\t1.25\nQ1\tI2\t-0.25\nQ2\tI3\t1\n"},
            "probability.tsv:2: P is negative: -0.25; write 0 or more",
        ),
        (
            {"probability": "Q1\tI1\t0.5\nQ1\tI2\t0.45\nQ2\tI3\t1\n"},
            "probability.tsv:1: the probabilities of query 'Q1' add up to 0.95, not 1; divide each by their sum",
        ),
        (
            {"probability": "Q1\tI1\t1\n"},
            "probability.tsv:1: the probabilities of query 'Q2' add up to 0, not 1; divide each by their sum",
        ),
    ],
)
def test_each_fault_names_file_line_and_cure(tmp_path, changed, fault):
    """One line is all a user sees: it must be enough to mend the file."""
    assert fault in faults_of(write_collection(tmp_path, **changed))


def test_the_faults_of_all_files_are_shown_at_once(tmp_path):
    """Nobody should mend one line, run again, and be told of the next."""
    folder = write_collection(
        tmp_path,
        importance="Q1\tI1\tU1\tx\nQ1\tI1\n",
        probability="Q1\tI1\t2\nQ1\tI2\t0\nQ2\tI9\t1\nQ2\tI3\t1\n",
    )
    assert [fault.split(";")[0] for fault in faults_of(folder)] == [
        "importance.tsv:1: importance is no finite number: 'x'",
        "importance.tsv:2: 4 fields expected, got 2",
        "probability.tsv:1: the probabilities of query 'Q1' add up to 2, not 1",
        "probability.tsv:3: query 'Q2' has no intent 'I9'",
        "probability.tsv:3: the probabilities of query 'Q2' add up to 2, not 1",
    ]


@pytest.mark.parametrize(("p", "accepted"), [("0.26", True), ("0.24", True), ("0.2601", False)])
def test_probabilities_may_differ_from_one_by_a_hundredth(tmp_path, p, accepted):
    """Published shares are rounded; they are used as given, not rescaled."""
    folder = write_collection(tmp_path, probability=f"Q1\tI1\t0.75\nQ1\tI2\t{p}\nQ2\tI3\t1\n")
    if accepted:
        assert read_summary_collection(folder).queries["Q1"].probability["I2"] == float(p)
    else:
        assert "add up to 1.0101" in faults_of(folder)[0]


def test_a_missing_folder_is_one_fault(tmp_path):
    """A wrong path is not five missing files."""
    assert faults_of(tmp_path / "none") == [
        f"{tmp_path / 'none'}:1: there is no such folder; name the folder that holds queries.tsv"
    ]


texts = st.text("QUI123\t\n\r.-e x", max_size=80).map(str.encode)


@given(name=st.sampled_from(list(COLUMNS)), data=st.binary(max_size=80) | texts)
def test_any_bytes_in_a_file_give_a_collection_or_faults(tmp_path_factory, name, data):
    """Nothing in a file may end in a traceback."""
    folder = write_collection(tmp_path_factory.mktemp("fuzz"))
    (folder / f"{name}.tsv").write_bytes(data)
    try:
        collection = read_summary_collection(folder)
    except InputError as error:
        assert all(fault.path and fault.cure for fault in error.faults)  # noqa: PT017 - either outcome is right
    else:
        assert collection.queries
