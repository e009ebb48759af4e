"""`prefcal simulate` without --truth: the crowd has the values that docs/simulation.md lists."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from study_app.estimate.content import read_whole_study
from study_app.simulate.crowd_parameters import CrowdParameters, read_truth
from tests.study_app.prefcal_command import run_here

DOC = Path(__file__).resolve().parents[3] / "docs" / "simulation.md"


def test_a_crowd_without_a_truth_has_the_documented_one(small_study, tmp_path, monkeypatch, capsys):
    """Which a line on stderr says, with where it is written down; the command does its work."""
    url = f"sqlite:///{tmp_path}/trial.sqlite3"
    ended = run_here(monkeypatch, capsys, "simulate", small_study(), "--workers", "2", "--database", url)

    assert ended.code == 0
    assert ended.err.splitlines()[0] == (
        "no --truth: the crowd has a patience of 1500 characters; reads 3.6 words a second (docs/simulation.md lists every value)"
    )


@pytest.mark.parametrize(
    ("example", "said"),
    [
        (
            "answers",
            "the crowd reads 3.6 words a second; prefers by lot, the same each time, what has no judgments",
        ),
        (
            "plain_lists",
            "the crowd reads 3.6 words a second",
        ),
        ("ranked_lists", "the crowd reads 3.6 words a second"),
        (
            "push_streams",
            "the crowd has push weights P_E 0.5, S_E 0.3, P_0 0.5, S_0 0.4; reads 3.6 words a second",
        ),
    ],
)
def test_the_crowd_is_described_as_far_as_the_tasks_need_it(example, said):
    """Patience and times away say nothing of answers, whose preferences are drawn."""
    assert (
        CrowdParameters().sentence(read_whole_study(DOC.parents[1] / "examples" / example / "study.yaml"))
        == said
    )


def test_a_crowd_in_a_pipe_says_now_and_then_how_many_are_through(small_study, tmp_path, monkeypatch, capsys):
    """A log of a demo was silent for minutes; a terminal has a bar instead."""
    monkeypatch.setattr("study_app.cli.progress.QUIET_SECONDS", 0.0)
    url = f"sqlite:///{tmp_path}/trial.sqlite3"
    ended = run_here(monkeypatch, capsys, "simulate", small_study(), "--workers", "2", "--database", url)

    assert ended.err.splitlines()[1:] == [
        f"still simulating: {number} of 2 workers are through" for number in (1, 2)
    ]


def test_it_is_the_truth_of_a_file_that_says_nothing(tmp_path):
    """One set of default values, not two."""
    path = tmp_path / "truth.json"
    path.write_text(json.dumps({"format": "prefcal-user-model/1", "parameters": {}}))

    assert all(
        getattr(read_truth(path), field.name) == getattr(CrowdParameters(), field.name)
        for field in fields(CrowdParameters)
    )


def test_the_page_lists_every_default():
    """Name and value stand beside each other."""
    text = re.sub(r"\s+", " ", DOC.read_text(encoding="utf-8"))

    for said in (
        "`patience_chars` 1500 counted characters",
        "`reading_speed_mu` 1.29, `reading_speed_sigma` 0.558",
        "`away_mean_seconds` and `away_sd_seconds` 8 hours, `session_mean_seconds` and `session_sd_seconds` 90 seconds",
        "`lateness_decay` 0.5, `lateness_p0` 1, `push_P_E` and `push_P_0` 0.5, `push_S_E` 0.3, `push_S_0` 0.4",
    ):
        assert said in text
