"""Scores in trec_eval's columns: read as it prints them, written so that they come back."""

import pandas as pd
import pytest

from calibration.interchange.trec_eval import (
    read_long_scores,
    read_trec_eval,
    read_trec_evals,
    trec_eval_texts,
)
from metrics.errors import InputError

PRINTED = (
    "num_q                 \tall\t2\nmap                   \t301\t0.2500\nmap                   \t302\t0.7500\n"
    "runid                 \tall\tindri\nmap                   \tall\t0.5000\n"
)


def messages(call):
    with pytest.raises(InputError) as raised:
        call()
    return [str(fault) for fault in raised.value.faults]


def test_what_trec_eval_prints_is_read(tmp_path):
    """Metrics are filled up with blanks; runid is a name and no score."""
    path = tmp_path / "a.b.eval"
    path.write_text(PRINTED)
    found, notes = read_trec_eval(path)

    assert found.to_numpy().tolist() == [
        ["indri", "all", "num_q", 2.0],
        ["indri", "301", "map", 0.25],
        ["indri", "302", "map", 0.75],
        ["indri", "all", "map", 0.5],
    ]
    assert notes == ()
    assert set(read_trec_eval(path, "mine")[0]["run"]) == {"mine"}


def test_without_a_runid_the_file_names_the_run_and_blanks_separate(tmp_path):
    """As other tools write it."""
    path = tmp_path / "bm25.eval.txt"
    path.write_text("ndcg 301 1e-3\n\n")

    assert read_trec_eval(path)[0].to_numpy().tolist() == [["bm25", "301", "ndcg", 0.001]]


def test_every_wrong_line_of_every_file_is_named(tmp_path):
    """Columns, numbers, repeats; a file without a score; a run in two files."""
    bad, empty, one, other = (tmp_path / name for name in ("bad", "empty", "one", "other"))
    bad.write_text("map 301\nmap 301 high\nmap 302 .5\nmap 302 .6\n")
    empty.write_text("runid all x\n")
    one.write_text("map 301 .5\n")
    other.write_text("map 301 .5\n")

    said = messages(lambda: read_trec_evals({bad: None, empty: None, one: "r", other: "r"}))

    assert [line.removeprefix(f"{tmp_path}/") for line in said] == [
        "bad:1: 3 columns expected, got 2; write metric, topic, value",
        "bad:2: the value 'high' is no number; write a decimal number such as 0.25",
        "bad:4: the same run, topic and metric as line 3; keep one of the two rows, and give one file per run",
        "empty:1: no score; write lines of metric, topic, value",
        f"other:1: the run 'r' is in {one} too; name it: RUN=FILE",
    ]


SCORES = pd.DataFrame(
    [
        ("r 1", "all", "M@1500", 1 / 3),
        ("r 1", "q1", "M@1500", 0.1),
        ("r 1", "q1", "M@1500 uniform P", float("nan")),
        ("r 2", "q1", "M@1500", 0.0),
    ],
    columns=["run", "topic", "metric", "value"],
)


def test_scores_come_back_from_trec_evals_columns(tmp_path):
    """Blanks in names, 13 digits and nan survive; `all` is written last."""
    texts = trec_eval_texts(SCORES)
    files = {}
    for number, text in enumerate(texts.values()):
        path = tmp_path / f"{number}.eval"
        path.write_text(text)
        files[path] = None

    back, _ = read_trec_evals(files)
    keys = ["run", "topic", "metric"]

    assert texts["r 1"].splitlines()[-1] == "M@1500                \tall\t0.3333333333333"
    pd.testing.assert_frame_equal(
        back.sort_values(keys, ignore_index=True), SCORES.sort_values(keys, ignore_index=True)
    )


def test_names_that_cannot_be_written_are_faults():
    """A run becomes a file; a tab would be a column."""
    said = messages(lambda: trec_eval_texts(SCORES.assign(run="a/b", topic="q\t1")))

    assert [line.split(";")[0] for line in said] == [
        "topic 'q\\t1' has a tab or a line feed in it",
        "run 'a/b' cannot be the name of a file",
    ]
    assert "run 'a\\x00b' cannot" in messages(lambda: trec_eval_texts(SCORES.assign(run="a\0b")))[0]


def test_the_long_csv_is_read_with_its_totals(tmp_path):
    """`prefcal agree` leaves out `all`; here it stays, and nan too."""
    path = tmp_path / "scores.csv"
    path.write_text("run,topic,metric,value,low\nr,all,m,0.5,0\nr,1,m,nan,0\n")
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("run,topic,metric,value\nr,,m,0.5\nr,1,m,much\n")

    assert read_long_scores(path)["topic"].tolist() == ["all", "1"]
    assert [line.split(":", 1)[1] for line in messages(lambda: read_long_scores(wrong))] == [
        "2: topic is empty; fill it in, or remove the row",
        "3: value is no finite number: 'much'; write a decimal number such as 2.5",
    ]
