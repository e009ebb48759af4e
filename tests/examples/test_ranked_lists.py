"""The bundled study of ranked lists: its files belong together, and its systems differ in kind."""

import csv
import io
import subprocess
import sys
from pathlib import Path

import pytest

from metrics.readers.ranked import read_ranked_collection, read_ranked_run
from study_app.estimate.content import read_whole_study
from tests.study_app.prefcal_command import run_here

STUDY = Path(__file__).resolve().parents[2] / "examples" / "ranked_lists"
FILES = {kind: STUDY / "collection" / f"{kind}.txt" for kind in ("qrels", "windows", "intents")}
SYSTEMS = ("spread", "newest", "heyday", "noisy")


@pytest.fixture(scope="module")
def content():
    """The only task, as `load` stores it."""
    [task] = read_whole_study(STUDY / "study.yaml").tasks
    return task


def test_the_files_are_what_the_script_derives():
    """Whoever changes the facts has to build again."""
    ended = subprocess.run(
        [sys.executable, STUDY / "build.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_everything_can_be_shown(content):
    """Nothing is left out, and every list is as long as the study shows it."""
    assert content.notes == ()
    assert tuple(content.systems) == SYSTEMS
    assert {len(side.blocks) for side in content.sides.values()} == {6}
    assert all(entry.window for side in content.sides.values() for entry in side.blocks)


def test_the_systems_differ_in_kind(content):
    """Newest first; the richest years first; something about something else."""
    judged = read_ranked_collection(**FILES)
    for topic in content.topics:
        shown = {name: content.sides[topic.id, name].blocks for name in SYSTEMS}
        years = [entry.window for entry in shown["newest"]]
        assert years == sorted(years, reverse=True)
        first, second = (entry.window for entry in shown["heyday"][:2])
        assert first == second
        strangers = [entry.id not in judged.relevant(topic.id) for entry in shown["noisy"]]
        assert strangers == [False, True] * 3
        assert len({entry.window for entry in shown["spread"]}) >= 5
    runs = [read_ranked_run(STUDY / "runs" / f"{name}.txt", judged.grades) for name in SYSTEMS]
    for topic in judged.grades:
        assert len({run.rankings[topic] for run in runs}) == len(runs)


def test_the_measures_disagree_about_the_systems(monkeypatch, capsys):
    """As the README says, by the command that it gives."""
    options = [f"--{kind}={path}" for kind, path in FILES.items()]
    runs = [STUDY / "runs" / f"{name}.txt" for name in SYSTEMS]
    ended = run_here(monkeypatch, capsys, "score", "ranked", *options, "-k6", "--format=csv", *runs)
    rows = csv.DictReader(io.StringIO(ended.out))
    mean = {(row["metric"], row["run"]): float(row["value"]) for row in rows if row["topic"] == "all"}
    order = {
        metric: sorted(SYSTEMS, key=lambda run: -mean[metric, run])
        for metric in ("TIA-P@6", "TIA-ERR@6", "T-SBR@6", "IA-P@6")
    }

    assert order["TIA-P@6"] == ["heyday", "spread", "newest", "noisy"]
    assert order["TIA-ERR@6"] == ["spread", "heyday", "noisy", "newest"]
    assert order["IA-P@6"] == ["spread", "newest", "heyday", "noisy"]
    assert mean["T-SBR@6", "newest"] == pytest.approx(mean["T-SBR@6", "spread"])
    told = [
        line.split("|")[1:-1] for line in (STUDY / "README.md").read_text().splitlines() if "| 0." in line
    ]
    for system, *values in told:
        metrics = ("TIA-P@6", "TIA-ERR@6", "T-SBR@6", "IA-P@6", "IA-nDCG@6")
        assert [float(value) for value in values] == [
            round(mean[metric, system.strip(" `")], 3) for metric in metrics
        ]
    assert len(told) == len(SYSTEMS)
