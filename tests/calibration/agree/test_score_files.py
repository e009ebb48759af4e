"""How scores from any tool are read."""

import pandas as pd
import pytest

from calibration.agree.evidence import read_scores, scores_of_task, with_system_names
from calibration.agree.judged_task import JudgedTask
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
