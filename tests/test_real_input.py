"""The documented way for a collection of one's own, on the reference collection and its runs (docs/simulation.md)."""

import csv
import json
import re
import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.study_app.prefcal_command import run_line, without_pdf

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "simulation.md").read_text(encoding="utf-8").split("## A collection of your own")[1]
WORKERS = 10


@pytest.fixture
def folder(shared, tmp_path) -> Path:
    """A folder with the reference collection, its runs and the study file of the page."""
    shutil.copytree(shared / "gold" / "mmeasure" / "collection", tmp_path / "collection")
    (tmp_path / "study.yaml").write_text(
        re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)[1], encoding="utf-8"
    )
    truth = {"format": "prefcal-user-model/1", "parameters": {"patience_chars": {"estimate": 1000}}}
    (tmp_path / "truth.json").write_text(json.dumps(truth), encoding="utf-8")
    return tmp_path


@pytest.fixture
def typed(monkeypatch, capsys, folder):
    """Run a line of the page, as a reader would in that folder; returns what it prints."""
    without_pdf(monkeypatch)
    return partial(run_line, monkeypatch, capsys, folder=folder)


def test_the_documented_commands_go_from_a_collection_to_a_report(folder, typed):
    """Check, simulate, export, fit, score, agree, report: each line of the page, in order; the crowd is a smaller one."""
    smaller = TEXT.replace("--workers 40", f"--workers {WORKERS}")
    lines = re.findall(r"^ {4}(prefcal .*)$", smaller, flags=re.MULTILINE)
    printed = {line.split()[1]: typed(line) for line in lines}

    assert {"study", "simulate", "export", "fit", "score", "agree", "report"} <= set(printed)
    model = json.loads((folder / "user-model.json").read_text(encoding="utf-8"))
    assert model["parameters"]["patience_chars_preferences"]["estimate"] > 0
    assert f"{WORKERS} workers" in printed["simulate"]
    assert (folder / "results" / "report.html").stat().st_size > 10_000
    with (folder / "results" / "agreement.csv").open(encoding="utf-8") as stream:
        assert {row["measure"] for row in csv.DictReader(stream)} >= {"M@1500", "M@1500 first layer only"}


def test_the_documented_scores_are_those_of_the_measures_authors(shared, typed):
    """The last command of the page gives every reference value at L = 840, truncated at 420, to nine decimals."""
    line = re.findall(r"^ {4}(prefcal score .*csv)$", TEXT, flags=re.MULTILINE)[-1]
    rows = list(csv.DictReader(typed(line).splitlines()))
    expected = json.loads((shared / "gold" / "mmeasure" / "expected.json").read_text(encoding="utf-8"))[
        "scores"
    ]
    got = {(row["run"], row["topic"]): float(row["value"]) for row in rows if row["topic"] != "all"}

    assert got == {
        (run.removesuffix(".xml"), topic): pytest.approx(values["420"]["M"]["840"], abs=1e-9)
        for run, topics in expected.items()
        for topic, values in topics.items()
    }
