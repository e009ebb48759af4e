"""What `prefcal fit`, `agree` and `convert` say of suspicious tables before they compute anything."""

import json
from dataclasses import replace

import pandas as pd
import pytest

import prefcal
from calibration.tables.study_json import StudyRecord, table_records, write_study
from study_app.cli.results.agree_table import agreement_text
from tests.study_app.prefcal_command import run_here

HEADER = "worker,task,topic,pair,system_left,system_right,choice\n"
ROWS = "w,t,q,p,A,B,left\nv,t,q,p,A,B,right\nu,t,q,p,A,B,left\n"
SCORES = "run,topic,metric,value\nA,q,m,1\nB,q,m,0\n"


@pytest.fixture
def tables(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "preferences.csv").write_text(HEADER + ROWS)
    return folder


@pytest.fixture(params=["fit", "agree", "convert"])
def compute(request, monkeypatch, capsys, tmp_path, tables):
    """Run a command on the tables."""
    scores = tmp_path / "scores.csv"
    scores.write_text(SCORES)
    arguments = {
        "fit": ("fit", tables, "-o", tmp_path / "out"),
        "agree": ("agree", tables, "--scores", scores, "-o", tmp_path / "out"),
        "convert": ("convert", "tables-to-lines", tables, "-o", tmp_path / "out"),
    }[request.param]
    return lambda: run_here(monkeypatch, capsys, *arguments)


def warned(ended) -> list[str]:
    return [line for line in ended.err.splitlines() if line.startswith("warning: ")]


def test_sound_tables_are_computed_without_a_warning(compute):
    ended = compute()

    assert (ended.code, warned(ended)) == (0, [])


def test_misspelt_names_are_one_short_warning(compute, tables):
    """The column and the file that look like known ones; others are nobody's concern."""
    (tables / "workers.csv").write_text("worker,exclude,age\nw,true,30\n")
    (tables / "visit.csv").write_text("x")
    ended = compute()

    assert ended.code == 0
    assert warned(ended) == [
        (
            f"warning: {tables}: ignored, but nearly a known name: column 'exclude' of workers.csv ('excluded'?), "
            "visit.csv ('visits.csv'?)"
        )
    ]


def test_a_cut_table_is_refused_and_nothing_is_written(compute, tables, tmp_path):
    """Two thirds of the answers would be a wrong number."""
    write_study(StudyRecord(study="s", tables=table_records(tables, {"preferences": 3})), tables)
    (tables / "preferences.csv").write_text(HEADER + ROWS.partition("u,")[0])
    ended = compute()

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(
        f"{tables}/preferences.csv:3: the table is cut: it has 2 rows, and 3 were exported; export the study again"
    )
    assert not (tmp_path / "out").exists()


def test_a_changed_table_is_computed_with_a_warning_until_study_json_forgets_it(compute, tables):
    """The cure that the warning names works."""
    write_study(StudyRecord(study="s", tables=table_records(tables, {"preferences": 3})), tables)
    (tables / "preferences.csv").write_text(HEADER + ROWS.replace("u,", "x,"))
    changed = compute()
    study = json.loads((tables / "study.json").read_text())
    del study["tables"]["preferences"]
    (tables / "study.json").write_text(json.dumps(study))
    again = compute()

    assert (changed.code, again.code) == (0, 0)
    assert warned(changed)[0].startswith(
        f"warning: {tables}/preferences.csv:1: this table was changed after its export"
    )
    assert warned(again) == []


def test_a_last_line_without_a_line_break_is_a_warning(compute, tables):
    """The table may be cut inside its last value."""
    (tables / "preferences.csv").write_text(HEADER + ROWS.strip())

    assert warned(compute())[0].startswith(f"warning: {tables}/preferences.csv:4: the last line has no line")


def test_tables_that_are_all_empty_are_named(monkeypatch, capsys, tmp_path, tables):
    """Before fit says of each parameter why it is not there, and in place of what agree says of exclusions."""
    (tables / "preferences.csv").write_text(HEADER)
    fitted = run_here(monkeypatch, capsys, "fit", tables, "-o", tmp_path / "out")
    agreed = run_here(monkeypatch, capsys, "agree", tables, "-o", tmp_path / "out2")

    assert warned(fitted) == [f"warning: {tables}: no table has a row: preferences"]
    assert agreed.code == 1
    assert agreed.err.splitlines()[-1] == (
        f"{tables}/preferences.csv:1: the table has no rows; check that workers have judged"
    )


def test_an_interval_of_votes_that_leaves_everything_open_is_said_in_words():
    """+1.994 [-279, 283] is no finding; comparisons.csv has the numbers."""
    votes = pd.DataFrame(
        {
            "worker": ["w1", "w2", "w3", "w4"] * 4,
            "task": "t",
            "topic": [f"q{place // 4}" for place in range(16)],
            "system_left": "A",
            "system_right": "B",
            "choice": ["left", "left", "right", "left"] * 4,
        }
    )
    scores = pd.DataFrame(
        [
            (run, f"q{q}", name, value + q / 10)
            for name in ("m", "n")
            for run, value in (("A", 1.0), ("B", 0.0))
            for q in range(4)
        ],
        columns=["run", "topic", "metric", "value"],
    )
    found = prefcal.agree({"preferences": votes}, scores=scores)
    comparisons = found.comparisons
    by_votes = comparisons["by"] == "votes"
    assert by_votes.any()
    wide = comparisons.assign(
        difference=comparisons["difference"].where(~by_votes, 1.994),
        low=comparisons["low"].where(~by_votes, -279.0),
        high=comparisons["high"].where(~by_votes, 283.0),
    )

    printed = agreement_text(replace(found, comparisons=wide))

    assert "-279" not in printed
    assert "1.994" not in printed
    assert "cannot be told" in printed
