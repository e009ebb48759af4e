"""The second field of qrels is a subtopic or an iteration of judging: told by the file, or asked for."""

import pytest

from metrics.errors import InputError
from metrics.ranked.measures import IAP, RBP
from metrics.ranked.score import ranked_scores
from metrics.readers.ranked import read_ranked_collection, read_ranked_run, told_second_column

ROUNDS = "1 0.5 d1 1\n1 1 d2 1\n1 1.5 d3 1\n1 2 d4 0\n1 2 d5 0\n"
"""As TREC-COVID numbers the rounds in which documents were judged."""
RUN = "".join(f"1 Q0 d{number} {number} {9 - number} t\n" for number in range(1, 6))
DIVERSE = "".join(f"1 {subtopic} d{number} {number % 2}\n" for subtopic in range(3) for number in range(5))
WHOLE_ROUNDS = "1 1 d1 1\n1 2 d2 1\n1 3 d3 1\n1 3 d4 0\n2 1 d5 0\n"


def read(folder, qrels, intents=None, **options):
    """Read judgments."""
    (folder / "qrels.txt").write_text(qrels)
    if intents is not None:
        (folder / "intents.txt").write_text(intents)
        options["intents"] = folder / "intents.txt"
    return read_ranked_collection(qrels=folder / "qrels.txt", **options)


def scored(folder, collection, *measures):
    """Score a run of five documents."""
    (folder / "run.txt").write_text(RUN)
    run = read_ranked_run(folder / "run.txt", collection.grades)
    return [one.value for one in ranked_scores(collection, [run], measures) if one.topic == "1"]


@pytest.mark.parametrize(
    ("qrels", "subtopics"),
    [
        ("q 0 d1 1\nq Q0 d2 1\nq 0 d3 1\n", 1),
        (ROUNDS, 1),
        ("1 a d1 1\n1 b d2 1\n", 2),
        (DIVERSE, 3),
        ("topic subtopic docid grade\n" + WHOLE_ROUNDS, 3),
        ("topic iteration docid grade\n" + WHOLE_ROUNDS, 1),
        ("1 7 d1 1\n1 7 d2 1\n2 8 d1 1\n", 1),
    ],
)
def test_header_and_values_tell_what_the_second_field_is(tmp_path, qrels, subtopics):
    """Rounds are one list of judgments; what is judged again and again are subtopics."""
    collection = read(tmp_path, qrels)
    assert not collection.undecided
    assert len(next(iter(collection.grades.values()))) == subtopics


def test_rounds_of_judging_are_no_subtopics(tmp_path):
    """IA-P@5 was .15 of a list with three relevant documents in five."""
    assert scored(tmp_path, read(tmp_path, ROUNDS), IAP(k=5)) == [pytest.approx(0.6)]


def test_what_cannot_be_told_is_asked_where_something_depends_on_it(tmp_path):
    """Whole numbers may be rounds or subtopics; plain measures need no answer."""
    collection = read(tmp_path, WHOLE_ROUNDS)
    with pytest.raises(InputError) as raised:
        scored(tmp_path, collection, IAP(k=5))
    (fault,) = raised.value.faults
    assert str(fault) == (
        f"{tmp_path / 'qrels.txt'}:1: IA-P@5: measured by subtopic, but topic 1 has 1, 2, 3 in the second field, which may be subtopics "
        "or iterations of judging; say which: --second-column subtopic or --second-column iteration; or begin the file with a "
        "line `topic subtopic docid grade` or `topic iteration docid grade`"
    )
    assert scored(tmp_path, collection, RBP(p=0.5)) == [0.5 + 0.25 + 0.125]
    assert scored(tmp_path, read(tmp_path, WHOLE_ROUNDS, second_column="iteration"), IAP(k=5)) == [
        pytest.approx(0.6)
    ]
    assert scored(tmp_path, read(tmp_path, WHOLE_ROUNDS, second_column="subtopic"), IAP(k=5)) == [
        pytest.approx(0.2)
    ]


def test_measures_of_diversity_of_other_tools_ask_too(tmp_path):
    """alpha-nDCG takes relevance by subtopic."""
    pytest.importorskip("ir_measures")
    with pytest.raises(InputError, match="alpha_nDCG@5: measured by subtopic"):
        scored(tmp_path, read(tmp_path, WHOLE_ROUNDS), "alpha_nDCG@5")


def test_a_file_of_intents_says_that_they_are_subtopics(tmp_path):
    """It names them; one that names none of them is of another collection."""
    assert not read(tmp_path, WHOLE_ROUNDS, "1 1 0.5\n1 2 0.5\n").undecided
    with pytest.raises(
        InputError, match=r"intents\.txt:1: no subtopic of these is in .*: topic 1 has a, b here, and 0 there"
    ):
        read(tmp_path, "1 0 d1 1\n", "1 a 0.5\n1 b 0.5\n")


@pytest.mark.parametrize("second", ["0", "Q0"])
def test_two_grades_under_two_iterations_are_a_fault(tmp_path, second):
    """As two grades under one are; trec_eval stops too."""
    with pytest.raises(
        InputError, match=r"qrels\.txt:2: document d1 has another grade for topic q1"
    ) as raised:
        read(tmp_path, f"q1 0 d1 1\nq1 {second} d1 2\nq2 0 d4 1\n")
    assert len(raised.value.faults) == 1
    assert read(tmp_path, "q1 0 d1 1\nq1 Q0 d1 1\n").grades == {"q1": {"0": {"d1": 1}}}


def test_two_grades_where_the_second_field_cannot_be_told_are_asked_about(tmp_path):
    """Judged for two subtopics the larger counts, judged twice neither."""
    qrels = "q1 1 d1 1\nq1 2 d1 2\nq1 2 d2 2\n"
    with pytest.raises(
        InputError, match="where the second field is not 2: a subtopic or an iteration; say which"
    ):
        read(tmp_path, qrels)
    assert read(tmp_path, qrels, second_column="subtopic").grades["q1"]["2"] == {"d1": 2, "d2": 2}
    with pytest.raises(InputError, match="above; delete one of the two lines"):
        read(tmp_path, qrels, second_column="iteration")


@pytest.mark.parametrize(
    "values", [("R1", "R2"), ("Q0", "Q1"), ("0", "1"), ("iter-1", "iter-2"), ("1.1", "1.2")]
)
def test_what_is_counted_may_be_either(values):
    """Names of rounds, and numbers, are no words."""
    assert told_second_column({"1": {value: {f"d{value}": 1} for value in values}}) is None


def test_preferences_are_no_judgments(tmp_path):
    """With numbers as items each line of `topic a b winner` looks like one of qrels."""
    with pytest.raises(InputError, match="these are preferences") as raised:
        read(tmp_path, "23287 821 810 821\n23287 823 824 824\n")
    assert len(raised.value.faults) == 1


def test_comments_are_no_judgments_however_many_words_they_have(tmp_path):
    """Only at the start of a line; ids may have # in them."""
    lines = "# made in 2024\nq1 0 msmarco#1_28 1\n #\n#one\nq2 0 d#2 1\n# and more words than four\n"
    assert read(tmp_path, lines).grades == {"q1": {"0": {"msmarco#1_28": 1}}, "q2": {"0": {"d#2": 1}}}
    (tmp_path / "run.txt").write_text("# a run\nq1 Q0 msmarco#1_28 1 2 t\n# of six words it is one\n")
    assert read_ranked_run(tmp_path / "run.txt", ["q1"]).rankings == {"q1": ("msmarco#1_28",)}


def test_a_fault_below_a_comment_keeps_its_line(tmp_path):
    """The number is that which an editor shows."""
    with pytest.raises(InputError, match=r"qrels\.txt:3: grade is no finite number: 'x'"):
        read(tmp_path, "# one\r\n# two\r\nq1 0 d1 x\r\n")


def test_decimal_grades_are_read_and_whole_ones_are_whole(tmp_path):
    """1.0 is 1 wherever grades are; 1.5 is for measures that take it."""
    grades = read(tmp_path, "q 0 d1 1.0\nq 0 d2 1.5\nq 0 d3 -2.0\nq 0 d4 50.\n").grades["q"]["0"]
    assert grades == {"d1": 1, "d2": 1.5, "d3": -2, "d4": 50}
    assert [type(grade) for grade in grades.values()] == [int, float, int, int]


def test_judgments_of_beir_are_read_by_their_header(tmp_path):
    """query-id, corpus-id, score."""
    assert read(tmp_path, "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n").grades == {
        "q1": {"0": {"d1": 1, "d2": 0}}
    }


@pytest.mark.parametrize(
    "line",
    [
        "TS14.1\tu{0}\tTS14.1-n{0}\t3\t{0}\t1\n",
        "TS14.1 1326600584-{0}-7 n{0} 0 {0} t\n",
        "q{0} s{0} d{0} 1 {0} t\n",
    ],
)
def test_other_files_of_six_columns_are_no_run(tmp_path, line):
    """The second field is Q0 in a run; matches of updates have ids there."""
    path = tmp_path / "matches.tsv"
    path.write_text("".join(line.format(number) for number in range(3)))
    with pytest.raises(InputError, match="where a run of ranked lists has Q0"):
        read_ranked_run(path, ["TS14.1"])
