"""How scores from any tool are read."""

import pandas as pd
import pytest

from calibration.agree.agree_tables import agree
from calibration.agree.judged_task import JudgedTask
from calibration.agree.score_sources import ScoreSources, read_scores, scores_of_task, with_system_names
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.errors import InputError

SCORES = "run,topic,metric,value\na,1,ndcg,0.5\na,2,ndcg,0.25\na,all,ndcg,0.375\n"


def written(tmp_path, text):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    return path


def test_scores_of_single_topics_are_read_and_means_are_not(tmp_path):
    """The output of `prefcal score --format csv` is such a file."""
    scores = read_scores(written(tmp_path, SCORES))

    assert scores.to_dict("list") == {
        "run": ["a", "a"],
        "topic": ["1", "2"],
        "metric": ["ndcg", "ndcg"],
        "value": [0.5, 0.25],
    }


def test_a_run_file_that_ends_in_run_is_the_system_without_it(tmp_path):
    """A study calls `LM.run` LM, `prefcal score` calls it `LM.run`; a system of that very name stays what it is."""
    lines = "a.run,1,m,1\nb.run,1,m,2\nc.run,1,m,3\nc,1,m,4\n"
    scores = read_scores(written(tmp_path, f"run,topic,metric,value\n{lines}"))
    pairs = pd.DataFrame({"topic": ["1", "1"], "system_a": ["a", "b.run"], "system_b": ["c", "c"]})
    task = JudgedTask(task="t", language="en", judgments=pd.DataFrame(), pairs=pairs)

    assert with_system_names(scores, [task])["run"].tolist() == ["a", "b.run", "c.run", "c"]


def test_other_columns_and_their_order_do_not_matter(tmp_path):
    """Other tools add theirs."""
    scores = read_scores(written(tmp_path, "value,user,topic,run,metric\n1,u,007,a,m\n"))

    assert scores.loc[0, ["run", "topic", "metric"]].tolist() == ["a", "007", "m"]


def test_a_measure_that_is_undefined_somewhere_is_left_out_beside_one_that_is_not(tmp_path):
    """As `prefcal score push` writes silence-precision: the file is whole, and what cannot be judged is said."""
    scores = read_scores(written(tmp_path, SCORES + "a,1,sp,nan\na,2,sp,1\na,all,sp,nan\n"))
    pairs = pd.DataFrame({"topic": ["1", "2"], "system_a": ["a", "a"], "system_b": ["a", "a"]})
    task = JudgedTask(task="t", language="en", judgments=pd.DataFrame(), pairs=pairs)

    found, notes = scores_of_task(scores, task, path="scores.csv")

    assert list(found) == ["ndcg"]
    assert notes == ["t: sp is left out: undefined for a on 1"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("run,topic,metric\na,1,m\n", ["{}:1: there is no column 'value'"]),
        (SCORES + "a,1,ndcg,0.7\n", ["{}:5: the same run, topic and metric as line 2"]),
        (SCORES + "a,3,sp,nan\na,3,ndcg,inf\n", ["{}:6: value is no finite number"]),
        (SCORES + "a,3,ndcg,nan\n,4,ndcg,1\n", ["{}:5: value is no finite number", "{}:6: run is empty"]),
        ("run,topic,metric,value\na,all,m,1\n", ["{}:1: no score of a single topic"]),
        (SCORES + "a,3,ndcg\n", ["{}:5: 4 fields expected, got 3"]),
    ],
)
def test_every_fault_has_its_line(tmp_path, text, lines):
    """All at once, with the cure."""
    path = written(tmp_path, text)

    with pytest.raises(InputError) as error:
        read_scores(path)

    found = [str(fault) for fault in error.value.faults]
    assert len(found) == len(lines)
    for line, start in zip(found, lines, strict=True):
        assert line.startswith(start.format(path))


@pytest.mark.parametrize("mean", ["all", "amean", "Average", "mean"])
def test_what_other_tools_call_a_mean_is_no_topic(tmp_path, mean):
    """In a file and in a frame."""
    scores = read_scores(written(tmp_path, SCORES.replace(",all,", f",{mean},")))
    assert scores["topic"].tolist() == ["1", "2"]
    frame = pd.DataFrame({"run": "a", "topic": ["1", mean], "metric": "ndcg", "value": [0.5, 0.25]})
    assert read_scores(frame)["topic"].tolist() == ["1"]


def judged(topics):
    """Three people prefer A on every topic."""
    rows = [(f"w{worker}", topic) for topic in topics for worker in range(3)]
    votes = pd.DataFrame(rows, columns=["worker", "topic"])
    return votes.assign(task="t", pair="p", system_left="A", system_right="B", choice="left")


def scored(topics, runs=("A", "B")):
    rows = [(run, topic, "m", place) for topic in topics for place, run in enumerate(runs)]
    return read_scores(pd.DataFrame(rows, columns=["run", "topic", "metric", "value"]))


def agreement(topics, scores):
    votes = judged(topics)
    votes["validation_of"] = pd.NA
    return agree(
        ScoreSources(tables={"preferences": check_frame(votes, TABLES["preferences"])}, scores=scores)
    )


@pytest.mark.parametrize(
    ("topics", "others", "said"),
    [
        (
            ["001", "002"],
            ["1", "2"],
            "judged are 001, 002; scored are 1, 2; name topics as the judgments do: they are texts, and",
        ),
        (
            ["q1", "q2"],
            ["AP", "P@5"],
            "judged are q1, q2; scored are AP, P@5; name topics as the judgments do",
        ),
        (["1", "2"], ["1.0", "2.0"], "pandas reads 001 as 1 unless it is told dtype=str"),
    ],
)
def test_topics_that_never_meet_are_named_on_both_sides(topics, others, said):
    """In one line; nothing is scored."""
    with pytest.raises(InputError) as caught:
        agreement(topics, scored(others))
    (fault,) = caught.value.faults
    assert fault.problem.startswith("no topic is in both: judged are ")
    assert said in str(fault)


def test_scores_of_runs_that_nobody_judged_are_one_note():
    """With their number; what was judged is compared."""
    topics = [f"q{number}" for number in range(4)]
    found = agreement(topics, scored(topics, ("A", "B", "C", "D")))
    assert "scores: scores of 2 systems that nobody judged are left out (C, D)" in found.notes
    assert set(found.agreement["measure"]) == {"m"}
    assert not any("nobody judged" in note for note in agreement(topics, scored(topics)).notes)


def test_scores_of_topics_that_nobody_judged_are_one_note():
    """A misspelt topic would be lost silently; the mean over topics is none."""
    topics = [f"q{number}" for number in range(4)]
    found = agreement(topics, scored([*topics, "q99"]))
    assert "scores: scores of 1 topic that nobody judged are left out (q99)" in found.notes


def test_a_system_that_was_judged_and_has_no_score_is_a_fault_beside_others():
    """Both lists help to see which name is which."""
    topics = ["q1", "q2"]
    with pytest.raises(InputError, match="judged without a score: B"):
        agreement(topics, scored(topics, ("A", "b", "c")))
