"""Files of judged ranked lists: what they mean, and every way in which they can be wrong."""

import csv
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.ranked.lists import single_ties_note
from metrics.ranked.score import ranked_scores
from metrics.readers.ranked import read_ranked_collection, read_ranked_run
from tests.metrics.fault_places import is_placed
from tests.metrics.ranked_files import INTENTS, QRELS, RUN, WINDOWS, write_ranked

WRITE_TIMESTAMPS = "write a date such as 2001-09-11, or seconds since 1970 with nine digits or more"
RECODE = "recode the grades, or score without grades"


def read(folder, **options):
    return read_ranked_collection(
        qrels=folder / "qrels.txt",
        windows=folder / "windows.txt",
        intents=folder / "intents.txt",
        **options,
    )


def read_or_faults(reading):
    """What was read, or the faults of the error."""
    try:
        return reading()
    except InputError as error:
        return error.faults


def shown(error, folder):
    """Faults without the folder."""
    return [str(fault).replace(f"{folder}/", "") for fault in error.value.faults]


def faults(tmp_path, options=None, **files):
    """What reading these files complains about."""
    write_ranked(tmp_path, **files)
    with pytest.raises(InputError) as error:
        read(tmp_path, **options or {})
    return shown(error, tmp_path)


def run_faults(tmp_path, run):
    write_ranked(tmp_path, run=run)
    with pytest.raises(InputError) as error:
        read_ranked_run(tmp_path / "run.txt", ["1", "2"])
    return shown(error, tmp_path)


def test_judgments_are_read_by_topic_subtopic_and_document(tmp_path):
    """Grades stay as they are, windows are names, and probabilities are for the topics that have them."""
    write_ranked(tmp_path)
    collection = read(tmp_path)

    assert collection.grades == {
        "1": {"a": {"d1": 1, "d3": 3, "n": 0}, "b": {"d2": 1, "d3": 1}},
        "2": {"a": {"n": -2}},
    }
    assert collection.windows == {
        "d1": "1990",
        "d2": "1990",
        "d3": "1991",
        "n": "1990",
        "elsewhere": "1992",
    }
    assert collection.probability == {"1": {"a": 0.75, "b": 0.25}}
    assert collection.calendar_unit is None


def test_probabilities_are_optional_and_those_of_unjudged_topics_left_out(tmp_path):
    """P(c|q) is uniform where nothing is said."""
    write_ranked(tmp_path, intents=INTENTS + "9 a 1\n")
    found = read(tmp_path)
    assert found.probability == {"1": {"a": 0.75, "b": 0.25}}
    assert found.strange_intents == ("9",)
    without = read_ranked_collection(qrels=tmp_path / "qrels.txt", windows=tmp_path / "windows.txt")
    assert without.probability == {}


def test_headers_blank_lines_and_lines_that_stand_twice_are_no_fault(tmp_path):
    """Files from elsewhere."""
    write_ranked(
        tmp_path,
        qrels="topic subtopic docid grade\n\n" + QRELS + QRELS,
        windows="docid window\n" + WINDOWS + WINDOWS,
        intents="topic subtopic P\n" + INTENTS + "1\ta  0.750\n",
    )
    collection = read(tmp_path)
    assert list(collection.grades) == ["1", "2"]
    assert collection.probability == {"1": {"a": 0.75, "b": 0.25}}


def test_timestamps_are_cut_into_days_unless_a_unit_is_chosen(tmp_path):
    """When every value is one; dates and seconds may be mixed."""
    windows = "docid timestamp\nd1 2001-09-11\nd2 2001-09-12T10:00Z\nd3 1000166400\n"
    write_ranked(tmp_path, windows=windows)
    days = read(tmp_path)
    months = read(tmp_path, unit="month")

    assert days.windows == {"d1": "2001-09-11", "d2": "2001-09-12", "d3": "2001-09-11"}
    assert days.calendar_unit == "day"
    assert months.windows == dict.fromkeys(["d1", "d2", "d3"], "2001-09")
    assert months.calendar_unit == "month"


@pytest.mark.parametrize("other", ["later", "1990", "2001-09", "2001-9-12"])
def test_one_odd_value_among_timestamps_is_a_fault(tmp_path, other):
    """It turned a file of days into one of exact seconds, each a window of its own."""
    assert faults(tmp_path, windows=f"d1 2001-09-11\nd2 2001-09-11T10:00Z\nd3 {other}\n") == [
        (
            f"windows.txt:3: '{other}' is not a timestamp, and '2001-09-11' on line 1 is one (2 of 3 are); {WRITE_TIMESTAMPS}; or, where "
            "windows have names, write names that are no dates, such as day-2001-09-11"
        )
    ]


def test_times_in_milliseconds_are_no_names_of_windows(tmp_path):
    assert faults(tmp_path, windows="d1 1000166400000\nd2 1000166400001\nd3 1000166400002\n") == [
        "windows.txt:1: '1000166400000' is a time in milliseconds; write seconds since 1970"
    ]


def test_with_a_unit_every_value_must_be_a_timestamp(tmp_path):
    """Who asks for months has no names."""
    assert faults(tmp_path, {"unit": "month"}, windows="d1 2001-09-11\nd2 1990\nd3 -999999999\n") == [
        f"windows.txt:2: '1990' is not a timestamp; {WRITE_TIMESTAMPS}"
    ]


def test_a_document_may_have_two_times_in_one_window(tmp_path):
    """It still lies in one window."""
    windows = "d1 2001-09-11\nd2 2001-09-11\nd3 2001-09-11\nd1 2001-09-12\n"
    write_ranked(tmp_path, windows=windows)
    assert read(tmp_path, unit="month").windows["d1"] == "2001-09"
    assert faults(tmp_path, windows=windows) == [
        "windows.txt:4: document d1 is in window 2001-09-11 above, in 2001-09-12 here; delete one of the two lines"
    ]


def test_every_fault_of_the_three_files_is_named_at_once(tmp_path):
    """File, line, what is wrong, how to mend it."""
    assert faults(
        tmp_path,
        qrels=QRELS + "1 a d1\n1 a d1 2\n1 a x much\n1 a d4 1\n1 b d4 2\n",
        windows=WINDOWS + "d1 1991\n",
        intents=INTENTS + "1 a 0.5\n1 c -0.5\n2 a much\n3 a 0.7\n",
    ) == [
        "qrels.txt:7: 4 fields expected, got 3; write topic, subtopic, docid, grade, separated by white space",
        "qrels.txt:8: document d1 has another grade for topic 1, subtopic a above; delete one of the two lines",
        "qrels.txt:9: grade is no finite number: 'much'; write a decimal number such as 2.5",
        "windows.txt:6: document d1 is in window 1990 above, in 1991 here; delete one of the two lines",
        "intents.txt:1: the probabilities of topic 1 add up to 0.5, not 1; divide each by their sum",
        "intents.txt:3: subtopic a of topic 1 has another P above; delete one of the two lines",
        "intents.txt:4: P is negative: -0.5; write 0 or more",
        "intents.txt:5: P is no finite number: 'much'; write a decimal number such as 2.5",
        "intents.txt:6: the probabilities of topic 3 add up to 0.7, not 1; divide each by their sum",
    ]


def test_a_relevant_document_without_a_window_is_a_fault_once(tmp_path):
    """It would silently be relevant to nothing. What is not relevant needs no window."""
    qrels = QRELS + "1 a d4 0\n1 a d5 0\n1 b d4 2\n2 a d4 1\n"
    assert faults(tmp_path, qrels=qrels) == [
        "qrels.txt:9: document d4 is relevant and has no window; add it to windows.txt"
    ]


def test_grades_above_the_largest_are_a_fault_with_a_line(tmp_path):
    """For graded ERR, say."""
    qrels = QRELS + "1 a d2 4\n"
    assert faults(tmp_path, {"max_grade": 3}, qrels=qrels) == [
        f"qrels.txt:7: grade 4 is above 3, up to which graded scores are defined; {RECODE}"
    ]
    write_ranked(tmp_path, qrels=qrels)
    assert read(tmp_path).grades["1"]["a"]["d2"] == 4


@pytest.mark.parametrize("shares", ["1 a 0.745\n1 b 0.245\n", "1 a 1\n1 b 0\n1 z 0.01\n"])
def test_probabilities_are_taken_as_given_within_a_hundredth_of_1(tmp_path, shares):
    """Rounded tables add up to 0.99."""
    write_ranked(tmp_path, intents=shares)
    assert set(read(tmp_path).probability["1"]) >= {"a", "b"}


@pytest.mark.parametrize("qrels", ["", "\n \n", "topic subtopic docid grade\n"])
def test_no_judgments_are_a_fault(tmp_path, qrels):
    """There would be nothing to average over."""
    assert faults(tmp_path, qrels=qrels) == [
        "qrels.txt:1: there are no judgments; write topic, subtopic, docid, grade on each line"
    ]


def test_no_windows_at_all_are_the_fault_of_each_relevant_document(tmp_path):
    """An empty file of windows is no window."""
    assert [fault.split(";")[0] for fault in faults(tmp_path, windows="")] == [
        "qrels.txt:1: document d1 is relevant and has no window",
        "qrels.txt:2: document d2 is relevant and has no window",
        "qrels.txt:3: document d3 is relevant and has no window",
    ]


@pytest.mark.parametrize("missing", ["qrels", "windows", "intents"])
def test_a_missing_file_is_named(tmp_path, missing):
    """Whichever it is."""
    write_ranked(tmp_path)
    (tmp_path / f"{missing}.txt").unlink()
    with pytest.raises(InputError, match=rf"{missing}\.txt:1: there is no such file; check the path"):
        read(tmp_path)


def test_all_files_may_be_gzip(tmp_path):
    """Told by content."""
    files = {"qrels": QRELS, "windows": WINDOWS, "intents": INTENTS, "run": RUN}
    write_ranked(tmp_path, **{name: gzip.compress(content.encode()) for name, content in files.items()})
    collection = read(tmp_path)
    assert read_ranked_run(tmp_path / "run.txt", collection.grades).rankings["1"] == ("d3", "n", "d1")


def test_a_run_is_ranked_by_score_and_called_like_its_file(tmp_path):
    """Not by the order of its lines nor by their ranks; topics that nobody judged are left out."""
    write_ranked(
        tmp_path, run="".join(reversed(RUN.splitlines(keepends=True))).replace("tag", "日本語\u00a0ラン")
    )
    run = read_ranked_run(tmp_path / "run.txt", ["1", "2"])

    assert run.name == "run"
    assert run.rankings == {"1": ("d3", "n", "d1"), "2": ("n",)}
    assert read_ranked_run(tmp_path / "run.txt", ["1"], name="mine").name == "mine"


def test_equal_scores_are_ranked_by_document_the_larger_first(tmp_path):
    """As trec_eval does, so that no system profits from the order in which it writes ties. Ids are texts: d9 > d10."""
    scored = [("a2", 1), ("d10", 1), ("d9", "1.0"), ("b1", 1), ("e", -2)]
    lines = [f"1 Q0 {document} 1 {score} tag\n" for document, score in scored]
    write_ranked(
        tmp_path, run="".join(lines) + "1 Q0 é 1 1e0 tag\n1 Q0 best 1 inf tag\n1 Q0 last 1 -inf tag\n"
    )
    found = read_ranked_run(tmp_path / "run.txt", ["1"]).rankings["1"]
    assert found == ("best", "é", "d9", "d10", "b1", "a2", "e", "last")


def test_topics_of_ranked_lists_are_compared_as_text(tmp_path):
    """31.1 is the first turn of conversation 31; 0.0 and 1.0 are what pandas makes of 0 and 1."""
    written = ["31.1", "32.1", "0.0", "1.0", "TS14.11", "MB226"]
    write_ranked(tmp_path, run="".join(f"{topic} Q0 d1 1 1 tag\n" for topic in written))
    found = read_ranked_run(tmp_path / "run.txt", ["1", "0", "11", "226", "32.1"])
    assert found.rankings == {"32.1": ("d1",)}
    assert list(found.unjudged) == [topic for topic in written if topic != "32.1"]


def test_an_empty_run_is_a_run(tmp_path):
    """A system that never found anything has a score."""
    write_ranked(tmp_path, run="")
    assert read_ranked_run(tmp_path / "run.txt", ["1"]).rankings == {}


def test_every_fault_of_a_run_is_named_at_once(tmp_path):
    """A document twice in a topic too, whatever its scores, and in topics that nobody judged."""
    run = RUN + "1 Q0 d3 4 0.5 tag\n1 Q0 d2 1 high tag\n1 Q0 d4 1 nan tag\n\n1 Q0 d5 1 tag\n3 Q0 d1 2 1 tag\n"
    assert run_faults(tmp_path, run) == [
        "run.txt:6: duplicate document d3 in topic 1; delete one of the two lines",
        "run.txt:7: score is no finite number: 'high'; write a decimal number such as 2.5",
        "run.txt:8: score is no finite number: 'nan'; write a decimal number such as 2.5",
        "run.txt:10: 6 fields expected, got 5; write topic, Q0, docid, rank, score, tag, separated by white space",
        "run.txt:11: duplicate document d1 in topic 3; delete one of the two lines",
    ]


bits = st.sampled_from(
    [
        *("1", "2", "a", "b", "d1", "d2", "Q0", "0", "-1", "4", "0.5", "inf", "nan", "1990", "2001-09-11"),
        *("1000166400", "\n", "\n", "\n", " ", " ", "\t", "\ud7ff", "\x85"),
    ]
)
contents = st.binary(max_size=60) | st.lists(bits, max_size=40).map(lambda found: " ".join(found).encode())


@given(
    qrels=contents | st.just(QRELS.encode()),
    windows=contents | st.just(WINDOWS.encode()),
    intents=contents | st.just(INTENTS.encode()),
    unit=st.none() | st.sampled_from(["year", "day"]),
)
def test_any_bytes_give_judgments_or_one_clean_error(tmp_path_factory, qrels, windows, intents, unit):
    """A damaged file never ends in a traceback; every fault has file and line."""
    folder = tmp_path_factory.mktemp("ranked")
    write_ranked(folder, qrels=qrels, windows=windows, intents=intents)
    found = read_or_faults(lambda: read(folder, unit=unit))
    assert all(map(is_placed, found)) if isinstance(found, tuple) else found.grades


@given(contents | st.lists(bits, min_size=6, max_size=6).map(lambda found: " ".join(found).encode()))
def test_any_bytes_give_a_run_or_one_clean_error(tmp_path_factory, content):
    """A damaged file never ends in a traceback."""
    folder = tmp_path_factory.mktemp("ranked")
    write_ranked(folder, run=content)
    found = read_or_faults(lambda: read_ranked_run(folder / "run.txt", ["1", "2"]))
    assert all(map(is_placed, found)) if isinstance(found, tuple) else found.name == "run"


def test_large_files_are_read(tmp_path):
    """100,000 judgments, as many windows, and a run of 50 topics: 6 MB."""
    numbers = range(100_000)
    qrels = "".join(f"{n % 50} {n % 7} document-{n} {n % 4}\n" for n in numbers)
    windows = "".join(f"document-{n} {1990 + n % 20}\n" for n in numbers)
    run = "".join(f"{n % 50} Q0 document-{n} {n} {1 / (n + 1)} tag\n" for n in range(50_000))
    write_ranked(tmp_path, qrels=qrels, windows=windows, run=run)
    collection = read_ranked_collection(qrels=tmp_path / "qrels.txt", windows=tmp_path / "windows.txt")
    rankings = read_ranked_run(tmp_path / "run.txt", collection.grades).rankings

    assert len(collection.windows) == 100_000
    assert {len(documents) for documents in rankings.values()} == {1000}


SINGLE = """q Q0 d1 1 16.00000001 r
q Q0 d2 2 16.0 r
q Q0 d3 3 15.9999999 r
q Q0 d9 4 15.9 r
"""


def test_scores_are_compared_in_single_precision_as_trec_eval_holds_them(tmp_path):
    (tmp_path / "r.txt").write_text(SINGLE)
    run = read_ranked_run(tmp_path / "r.txt", ["q"])
    assert run.rankings["q"] == ("d3", "d2", "d1", "d9")
    assert run.single_ties == 2
    assert single_ties_note([run, run]) == (
        "4 pairs of neighbours in 2 runs differ in score, but not in single precision, in which trec_eval sorts: "
        "it puts the larger docid first"
    )


def test_equal_scores_and_scores_that_single_precision_tells_apart_are_in_no_note(tmp_path):
    (tmp_path / "r.txt").write_text("q Q0 d1 1 16.0 r\nq Q0 d2 2 16.0 r\nq Q0 d3 3 15.9999 r\n")
    run = read_ranked_run(tmp_path / "r.txt", ["q"])
    assert run.rankings["q"] == ("d2", "d1", "d3")
    assert single_ties_note([run]) is None


def test_scores_beyond_single_precision_are_infinite_there(tmp_path):
    (tmp_path / "r.txt").write_text(
        "q Q0 d1 1 1e300 r\nq Q0 d2 2 1e39 r\nq Q0 d3 3 -1e300 r\nq Q0 d4 4 -inf r\n"
    )
    run = read_ranked_run(tmp_path / "r.txt", ["q"])
    assert run.rankings["q"] == ("d2", "d1", "d4", "d3")
    assert run.single_ties == 2


def test_submitted_runs_score_what_trec_eval_published(shared, tmp_path):
    """Six runs of TREC DL 2021, nDCG@10 of 53 topics each."""
    pytest.importorskip("ir_measures")
    folder = shared / "data" / "dl21"
    if not folder.is_dir():
        pytest.skip("needs the runs of TREC DL 2021")
    collection = read_ranked_collection(qrels=folder / "qrels.dl21-passage.txt.gz")
    runs = [
        read_ranked_run(
            path, collection.grades, name=path.name.removeprefix("input.").removesuffix(".txt.gz")
        )
        for path in sorted((folder / "runs").glob("*.gz"))
    ]
    found = {one[:2]: one.value for one in ranked_scores(collection, runs, ["nDCG@10"])}
    with gzip.open(folder / "published.ndcg_cut10.gz", "rt") as rows:
        published = {(row["runid"], row["topic"]): float(row["ndcg_cut_10"]) for row in csv.DictReader(rows)}
    both = sorted(found.keys() & published.keys())
    assert len(both) == 318
    assert [place for place in both if abs(found[place] - published[place]) > 0.00005 + 1e-9] == []
