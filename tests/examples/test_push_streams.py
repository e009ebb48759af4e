"""The bundled study of push streams: its files belong together, and its systems differ in kind."""

import csv
import io
import subprocess
import sys
from pathlib import Path

import pytest

from study_app.estimate.content import read_whole_study
from tests.study_app.prefcal_command import run_here

STUDY = Path(__file__).resolve().parents[2] / "examples" / "push_streams"
SYSTEMS = ("careful", "eager", "late", "daily")
METRICS = ("ELG-1", "ELG-0", "nCG-1", "nCG-0", "T11U")


@pytest.fixture(scope="module")
def content():
    """The only task, as `load` stores it."""
    [task] = read_whole_study(STUDY / "study.yaml").tasks
    return task


def days_of(content, topic, system):
    """Return the days of the month on which a system pushed something."""
    return {push.at // 86_400 - 15_613 for push in content.sides[topic.id, system].blocks}


def test_the_files_are_what_the_script_derives():
    """Whoever changes the facts has to build again."""
    ended = subprocess.run(
        [sys.executable, STUDY / "build.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_everything_can_be_shown(content):
    """Nothing is left out, every profile has its words and silent days, and no two messages are the same."""
    assert content.notes == ()
    assert tuple(content.systems) == SYSTEMS
    assert [len(topic.detail["silent"]) for topic in content.topics] == [3, 4, 2]
    for topic in content.topics:
        assert len(topic.detail["description"].split("\n")) == 2
        texts = [push.text for push in content.sides[topic.id, "eager"].blocks]
        assert len(set(texts)) == len(texts) >= 23


def test_the_systems_differ_in_kind(content):
    """Who is careful or late stays quiet on silent days; who is eager or has an appointment never does."""
    week = set(range(8, 15))
    for topic in content.topics:
        silent = {int(day[-2:]) for day in topic.detail["silent"]}
        quiet = {system: week - days_of(content, topic, system) for system in SYSTEMS}
        assert quiet["eager"] == quiet["daily"] == set()
        assert silent == quiet["late"]
        assert silent <= quiet["careful"]
        pushes = {system: content.sides[topic.id, system].blocks for system in SYSTEMS}
        assert len(pushes["careful"]) < len(pushes["late"]) < len(pushes["eager"])
        assert {push.at % 86_400 for push in pushes["daily"]} == {20 * 3_600}


def test_the_measures_disagree_as_the_readme_says(monkeypatch, capsys):
    """By the command that it gives."""
    files = {"qrels": "qrels.txt", "clusters": "clusters.json", "epochs": "epochs.txt"}
    options = [f"--{kind}={STUDY / 'collection' / file}" for kind, file in files.items()]
    runs = [STUDY / "runs" / f"{name}.txt" for name in SYSTEMS]
    ended = run_here(
        monkeypatch, capsys, "score", "push", *options, "--days=20121008:20121014", "--format=csv", *runs
    )
    rows = csv.DictReader(io.StringIO(ended.out))
    mean = {(row["metric"], row["run"]): float(row["value"]) for row in rows if row["topic"] == "all"}

    assert mean["ELG-1", "late"] > mean["ELG-1", "eager"]
    assert mean["ELG-0", "late"] < mean["ELG-0", "eager"]
    assert max(SYSTEMS, key=lambda system: mean["nCG-0", system]) == "eager"
    readme = (STUDY / "README.md").read_text(encoding="utf-8")
    told = [line.split("|")[1:-1] for line in readme.splitlines() if line.count("| ") == 6 and "0." in line]
    assert len(told) == len(SYSTEMS)
    for system, *values in told:
        assert [float(value) for value in values] == [
            round(mean[metric, system.strip(" `")], 3) for metric in METRICS
        ]
