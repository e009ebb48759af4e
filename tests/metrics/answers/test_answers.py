"""Measures of generated answers against a second computation of them, written apart, and what their files may be."""

import json
import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.answers.judged import AnswerCollection, AnswerRun, AnswerSentence, JudgedNugget
from metrics.answers.measures import (
    MEASURES,
    CitationPrecision,
    CitationRecall,
    JudgedAnswer,
    NuggetsWeighted,
    Words,
)
from metrics.answers.score import answer_measures, score_answers
from metrics.errors import InputError
from metrics.readers.answer_judgments import read_answer_collection
from metrics.readers.answers import read_answer_run, split_sentences
from tests.study_app.prefcal_command import run_once

NUGGETS = st.lists(
    st.builds(
        JudgedNugget,
        importance=st.sampled_from(["vital", "okay", "failed"]),
        assignment=st.sampled_from(["support", "partial_support", "not_support", "failed"]),
    ),
    max_size=8,
)
SUPPORT = st.lists(st.lists(st.sampled_from([-1, 0, 1, 2]), max_size=4).map(tuple), max_size=8)


def of_nuggets(nuggets):
    """Scores as a loop over the nuggets gives them, by name."""
    counts = dict.fromkeys(("vital", "vital full", "vital half", "all", "all full", "all half"), 0)
    for nugget in nuggets:
        for group in ("all", *(["vital"] if nugget.importance == "vital" else [])):
            counts[group] += 1
            counts[f"{group} full"] += nugget.assignment == "support"
            counts[f"{group} half"] += nugget.assignment == "partial_support"

    def share(group, half):
        total = counts[group]
        return (counts[f"{group} full"] + half * counts[f"{group} half"]) / total if total else 0

    vital, others = counts["vital"], counts["all"] - counts["vital"]
    both = counts["all full"] + counts["all half"] / 2
    vitals = counts["vital full"] + counts["vital half"] / 2
    weight = vital + others / 2
    return {
        "nuggets-all": share("all", 0.5),
        "nuggets-all-strict": share("all", 0),
        "nuggets-vital": share("vital", 0.5),
        "nuggets-vital-strict": share("vital", 0),
        "nuggets-weighted": (vitals + (both - vitals) / 2) / weight if weight else 0,
    }


def of_support(sentences, *, strict=False, every=False):
    """Precision and recall of citations by pandas, one row a citation."""
    worth = {0: 0, 1: 0 if strict else 0.5, 2: 1}
    rows = [
        (number, grade) for number, grades in enumerate(sentences) for grade in grades[: None if every else 1]
    ]
    table = pd.DataFrame(rows, columns=["sentence", "grade"])
    judged = table[table["grade"] >= 0]
    values = judged["grade"].map(worth).astype(float).groupby(judged["sentence"]).mean()
    unjudged = set(table["sentence"]) - set(judged["sentence"])
    counted = len(sentences) - len(unjudged)
    total = float(values.sum())
    return total / len(values) if len(values) else 0, total / counted if counted else 0


@given(NUGGETS)
def test_nugget_scores_are_those_of_a_loop(nuggets):
    """All, vital and weighted; strict and not."""
    answer = JudgedAnswer(nuggets=nuggets)
    scores = {kind.name: kind().topic_value(answer) for kind in MEASURES if kind.needs == "nuggets"}
    assert scores == pytest.approx(of_nuggets(nuggets), abs=1e-12)


@given(SUPPORT, st.booleans(), st.booleans())
def test_precision_and_recall_of_citations_are_those_of_a_table(sentences, strict, every):
    """What nobody judged counts in neither; a sentence that cites nothing lowers recall alone."""
    answer = JudgedAnswer(support=sentences)
    how = {"strict": strict, "citations": "all" if every else "first"}
    both = CitationPrecision(**how).topic_value(answer), CitationRecall(**how).topic_value(answer)
    assert both == pytest.approx(of_support(sentences, strict=strict, every=every), abs=1e-12)


def test_the_worked_example_of_the_track():
    """Partly supported, supported, not cited: precision .75 and recall .5 (Thakur et al., section 3.4)."""
    answer = JudgedAnswer(support=[(1,), (2,), ()])
    assert CitationPrecision().topic_value(answer) == 0.75
    assert CitationRecall().topic_value(answer) == 0.5


def test_a_topic_without_an_answer_is_worth_nothing():
    """In every measure."""
    assert [kind().topic_value(JudgedAnswer()) for kind in MEASURES] == [0.0] * len(MEASURES)


def test_weighted_scores_may_be_strict():
    """And say so in their column."""
    nuggets = [JudgedNugget(importance="okay", assignment="partial_support")]
    measure = NuggetsWeighted(strict=True)
    assert (measure.topic_value(JudgedAnswer(nuggets=nuggets)), measure.column) == (
        0,
        "nuggets-weighted(strict=True)",
    )


@pytest.mark.parametrize(
    ("text", "labels", "shown"),
    [
        ("It ended [1]. In 1980. [2] So?", {"1", "2"}, [("It ended.", True), ("In 1980.", True), ("So?", False)]),
        ("See [1, 2]! See [1-2]; end", {"1", "2"}, [("See!", True), ("See; end", True)]),
        ("A [sic] word [9].", {"1"}, [("A [sic] word [9].", False)]),
        ("終わった。いつ？[1]本当", {"1"}, [("終わった。", False), ("いつ？", True), ("本当", False)]),
        ("- one\n- two [a b]\n\n---", {"a b"}, [("- one", False), ("- two", True)]),
        ("Version 1.5 of x.y is out.", (), [("Version 1.5 of x.y is out.", False)]),
    ],
)  # fmt: skip
def test_sentences_end_at_marks_and_lines(text, labels, shown):
    """Marks of sources belong to the sentence before them."""
    assert [(sentence.text, sentence.is_cited) for sentence in split_sentences(text, labels)] == shown


def test_words_of_japanese_are_its_characters():
    """And those of other scripts stand between blanks; punctuation is none."""
    sentences = [AnswerSentence(text="天然痘は1980年に終わった。")]
    assert Words().topic_value(JudgedAnswer(sentences=sentences)) == 11
    assert Words().topic_value(JudgedAnswer(sentences=[AnswerSentence(text="It ended in 1980.")])) == 4


def lines(path, *objects):
    """Write JSON lines."""
    path.write_text("".join(json.dumps(plain) + "\n" for plain in objects), encoding="utf-8")
    return str(path)


def answer(topic, *sentences, run="r1"):
    """Return a line as TREC RAG 2024 has it (guidelines 1.0 of 2024-07-19)."""
    return {
        "run_id": run, "topic_id": topic, "topic": "?", "references": ["d#1"], "response_length": 1,
        "answer": [{"text": text, "citations": cited} for text, cited in sentences],
    }  # fmt: skip


def nuggets(topic, *pairs, run="r1"):
    """Return a line as `nuggetizer assign` writes it (castorini/nuggetizer d00dc3e)."""
    parts = [
        {"text": "n", "importance": importance, "assignment": assignment} for importance, assignment in pairs
    ]
    return {
        "query": "?",
        "qid": topic,
        "answer_text": "",
        "response_length": 1,
        "run_id": run,
        "nuggets": parts,
    }


def support(topic, *sentences, run="r1"):
    """Return a line of support as castorini/RAGDoll 1f06719 assembles it."""
    whole = [
        {"text": "", "citations": [{"citationID": 0, "support": grade} for grade in grades]}
        for grades in sentences
    ]
    return {"topic_id": topic, "narrative_id": topic, "run_id": run, "sentences": whole}


@pytest.fixture
def files(tmp_path):
    """Topics, two runs, and judgments of them."""
    (tmp_path / "topics.tsv").write_text("1\tone?\n2\ttwo?\n3\tthree?\n")
    lines(tmp_path / "a.jsonl", answer("1", ("By it.", [0]), ("So.", [])), answer("2", ("Two words.", [0])))
    lines(tmp_path / "b.jsonl", answer("1", ("No.", []), run="r2"))
    lines(
        tmp_path / "nuggets.jsonl",
        nuggets("1", ("vital", "support"), ("okay", "partial_support")),
        nuggets("2", ("vital", "failed")),
        nuggets("1", ("vital", "not_support"), ("okay", "support"), run="r2"),
    )
    lines(tmp_path / "support.jsonl", support("1", ["1"], []), support("1", [], run="r2"))
    return tmp_path


def score(folder, *options):
    """Call the command on both runs."""
    runs = (str(folder / "a.jsonl"), str(folder / "b.jsonl"))
    return run_once("score", "answers", "--topics-file", str(folder / "topics.tsv"), *options, *runs)


def test_the_command_prints_the_means_over_the_topics_of_each_measure(files):
    """Nuggets over two topics, support over one, words over three; a topic without an answer is 0."""
    given = ("--nuggets", str(files / "nuggets.jsonl"), "--support", str(files / "support.jsonl"))
    result = score(files, *given, "--format", "json")
    assert result.code == 0, result.err
    rows = json.loads(result.out)
    means = {(row["run"], row["metric"]): row["value"] for row in rows if row["topic"] == "all"}
    assert means["a", "nuggets-all"] == 0.375
    assert means["b", "nuggets-all"] == 0.25
    assert means["a", "nuggets-vital-strict"] == 0.5
    assert means["a", "citation-precision"] == 0.5
    assert means["a", "citation-recall"] == 0.25
    assert means["a", "words"] == pytest.approx(5 / 3)
    assert means["b", "cited-sentences"] == 0
    assert "1 of 5 nuggets has no judgment in" in result.err
    assert "2 of 3 judged topics have no answer in the run, such as '2', and count as 0" in result.err


def test_the_mean_over_the_topics_of_a_run(files):
    """Leaves out what it does not answer, and does not change what it does."""
    result = score(files, "--nuggets", str(files / "nuggets.jsonl"), "--topics", "run", "--format", "json")
    rows = json.loads(result.out)
    means = {(row["run"], row["metric"]): row["value"] for row in rows if row["topic"] == "all"}
    assert (means["b", "nuggets-all"], means["b", "words"]) == (0.5, 1)


def test_without_judgments_only_the_answers_are_counted(files):
    """No number is made up."""
    collection = read_answer_collection(files / "topics.tsv")
    assert [measure.name for measure in answer_measures(collection)] == ["cited-sentences", "words"]


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        ([nuggets("1", ("vital", "support"))], "nuggets.jsonl:1: no judgments of b; those there are of r1; call runs alike"),
        (
            [nuggets("1", ("vital", "support")), nuggets("2", ("vital", "support"), run="r2")],
            "nuggets.jsonl:1: no judgments of the answers of a to 1 of 2 judged topics: 2; judge these answers too",
        ),
        ([{"qid": "1", "nuggets": []}], "nuggets.jsonl:1: judgments without a run_id, and there are several runs; write"),
        ([nuggets("1"), nuggets("1")], "nuggets.jsonl:2: the answer to topic 1 is judged twice; delete one"),
        ([{"qid": "1"}, {"x": 1}], "nuggets.jsonl:1: no judgments of an answer: no topic, or no list nuggets (and 1 fault more of this kind); write"),
        ([nuggets("1", ("vital", "yes"), ("vital", "no"))], "nuggets.jsonl:1: the assignment of a nugget is 'yes' (and 1 fault more of this kind); known are support"),
        ([nuggets("1", (3, "support"))], "nuggets.jsonl:1: the importance of a nugget is 3; known are vital, okay"),
        ([nuggets("1"), {"qid": "2", "nuggets": []}], "nuggets.jsonl:1: some answers are of no run; write"),
    ],
)  # fmt: skip
def test_wrong_judgments_are_one_line_a_kind_and_no_score(files, objects, said):
    """With place and cure; nothing is printed."""
    lines(files / "nuggets.jsonl", *objects)
    result = score(files, "--nuggets", str(files / "nuggets.jsonl"))
    assert (result.code, result.out) == (1, "")
    [line] = result.err.splitlines()
    assert line.startswith(f"{files}/{said}")


def test_support_is_none_that_is_not_known(files):
    """Of a number above full support no share could be made."""
    lines(files / "support.jsonl", support("1", ["3"]), support("1", ["FS"], run="r2"))
    result = score(files, "--support", str(files / "support.jsonl"))
    assert result.code == 1
    assert "support.jsonl:1: the support of a citation is '3'; write 2 (full)" in result.err


def test_two_runs_of_one_id_are_refused(files):
    """Their judgments could not be told apart."""
    lines(files / "b.jsonl", answer("1", ("No.", [])))
    result = score(files, "--nuggets", str(files / "nuggets.jsonl"))
    assert "a, b are all called r1 by their run_id; give each run its own" in result.err


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        ([answer("1", ("", [])), answer("2", ("", []))], "a.jsonl:1: the answer to topic 1 is empty (and 1 fault more of this kind); write one, or delete it"),
        ([answer("1", ("x", [4]))], "a.jsonl:1: the answer to topic 1 cites 4, and there is 1 reference, counted from 0; add it"),
        ([answer("1", ("x", [])), answer("1", ("x", []))], "a.jsonl:2: topic 1 is answered twice; delete one"),
        ([answer("1", ("x", [])), answer("2", ("x", []), run="r9")], "a.jsonl:2: an answer of run 'r9', and those above are of 'r1'; write"),
        ([answer("1", ("x", [])) | {"metadata": {"narrative_id": "9"}}], "a.jsonl:1: the answer is to topic 1 and to topic 9; write one of the two ids"),
        ([answer("1", ("x", [])) | {"metadata": {"topic_id": "9"}}], "a.jsonl:1: the answer is to topic 1 and to topic 9; write one of the two ids"),
        ([answer("1", ("x", [])), {"topic": "2", "text": "x"}], "a.jsonl:2: an answer of another form than those above; write"),
        ([{"topic": "1", "text": "x"}, {"topic_id": "2", "answer": [{"text": "x"}]}], "a.jsonl:2: an answer of another form than those above; write"),
    ],
)  # fmt: skip
def test_wrong_answers_are_one_line_a_kind(files, objects, said):
    """With the count, the first line and how to mend it."""
    lines(files / "a.jsonl", *objects)
    with pytest.raises(InputError) as caught:
        read_answer_run(files / "a.jsonl")
    [fault] = caught.value.faults
    assert str(fault).startswith(f"{files}/{said}")


def test_answers_to_other_topics_are_counted(files):
    """More than half of them is a warning that says which topics there are."""
    lines(files / "b.jsonl", answer("x", ("No.", []), run="r2"))
    result = score(files)
    assert result.code == 0
    assert (
        "b.jsonl: warning: 1 of 1 answer is to topics that are not among the topics, such as 'x'"
        in result.err
    )
    assert "no topic is in both: the run has x, the judgments have 1, 2, 3" in result.err


def test_sources_of_a_whole_answer_leave_cited_sentences_undefined(tmp_path):
    """As in iKAT 2023 (track guidelines), whose turns name passages and whose sentences cite none."""
    turn = {
        "turn_id": "1_1",
        "responses": [
            {"rank": 1, "text": "Yes. It is so.", "passage_provenance": [{"id": "d#1", "used": True}]}
        ],
    }
    lines(tmp_path / "run.jsonl", {"run_name": "k", "run_type": "automatic", "turns": [turn]})
    run = read_answer_run(tmp_path / "run.jsonl")
    assert (run.run_id, [one.text for one in run.answers["1_1"]]) == ("k", ["Yes.", "It is so."])
    scores = score_answers(AnswerCollection(name="t", topics=["1_1"]), [run]).query("topic == 'all'")
    [cited, words] = scores["value"].tolist()
    assert (math.isnan(cited), words) == (True, 4)


def test_a_turn_is_the_topic_of_an_answer_in_a_conversation(tmp_path):
    """Where its object names the conversation too, as TREC iKAT does."""
    plain = {
        "metadata": {"topic_id": "9-1", "turn_id": "9-1_2", "run_id": "k"},
        "responses": [{"text": "Yes.", "citations": ["d#1"]}],
    }
    lines(tmp_path / "run.jsonl", plain)
    assert list(read_answer_run(tmp_path / "run.jsonl").answers) == ["9-1_2"]


def test_ten_thousand_topics_and_long_answers_are_scored(tmp_path):
    """100 kB of a text, HTML in it, and as many topics as a large collection has."""
    (tmp_path / "topics.tsv").write_text("".join(f"{number}\tq\n" for number in range(10_000)))
    long = "<script>alert(1)</script> a. " * 3_500
    lines(
        tmp_path / "a.jsonl",
        {"topic": "0", "text": long},
        *({"topic": str(n), "text": "b"} for n in range(1, 10_000)),
    )
    collection = read_answer_collection(tmp_path / "topics.tsv")
    scores = score_answers(collection, [read_answer_run(tmp_path / "a.jsonl")], [Words()])
    assert scores["value"].tolist()[:2] == [7_000, 1]
    assert scores["value"].tolist()[-1] == (7_000 + 9_999) / 10_000


def test_a_run_in_python_is_found_by_its_name_too():
    """Where the file of answers has no run_id."""
    judged = {"one": {"1": [JudgedNugget(importance="vital", assignment="support")]}}
    collection = AnswerCollection(name="t", topics=["1"], nuggets=judged)
    run = AnswerRun(name="one", answers={"1": [AnswerSentence(text="x")]})
    assert score_answers(collection, [run]).query("metric == 'nuggets-vital'")["value"].tolist() == [1, 1]
