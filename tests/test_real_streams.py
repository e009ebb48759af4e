"""The documented way for streams of one's own, on the TREC 2014 judgments and runs made for them (docs/real-streams.md)."""

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.study_app.prefcal_command import run_line

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "real-streams.md").read_text(encoding="utf-8")
RUNS = {"run1": "early", "run2": "oracle", "run3": "random_low", "run4": "unsampled"}
WORKERS = 8


def block(language: str) -> str:
    """The page's fenced block in a language."""
    found = re.search(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def folder(shared, tmp_path) -> Path:
    """A folder with the track's judgments, four runs, and the page's study file and crowd."""
    shutil.copytree(shared / "data" / "ts-2014" / "qrels", tmp_path / "qrels")
    (tmp_path / "runs").mkdir()
    for name, run in RUNS.items():
        shutil.copy(shared / "gold" / "tempsum" / "ts-2014" / "runs" / run, tmp_path / "runs" / name)
    (tmp_path / "study.yaml").write_text(block("yaml"), encoding="utf-8")
    (tmp_path / "truth.json").write_text(block("json"), encoding="utf-8")
    return tmp_path


def shell(line: str, folder: Path) -> str:
    """Run a line in a shell."""
    result = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{line}\n{result.stderr}"
    return result.stdout


@pytest.fixture
def typed(monkeypatch, capsys, folder):
    """Run a line of the page, as a reader would in that folder; with fewer workers, so that the test is quick."""
    return lambda line: run_line(
        monkeypatch, capsys, re.sub(r"--workers \d+", f"--workers {WORKERS}", line), folder
    )


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_documented_commands_go_from_the_tracks_files_to_scores_of_a_fitted_population(folder, typed):
    """Check, simulate, export, fit, score: each line of the page, in order."""
    lines = re.findall(r"^ {4}(prefcal .*)$", TEXT, flags=re.MULTILINE)
    printed = {line.split()[1]: typed(line) for line in lines}

    assert list(printed) == ["study", "simulate", "export", "fit", "score"]
    assert f"{WORKERS} workers" in printed["simulate"]
    assert {row["system"] for row in read_rows(folder / "tables" / "follows.csv")} <= set(RUNS)
    visits = read_rows(folder / "tables" / "visits.csv")
    reads = read_rows(folder / "tables" / "reads.csv")
    assert len(visits) > 5 * WORKERS
    assert {row["item"] for row in reads} <= shown_updates(folder)
    model = json.loads((folder / "user-model.json").read_text(encoding="utf-8"))["parameters"]
    away = model["away_mean_seconds"]
    assert away["interval"][0] < 28_800 < away["interval"][1]
    assert model["session_mean_seconds"]["estimate"] > 30
    assert {"reading_speed_mu", "reading_speed_sigma"} <= set(model)
    assert set(RUNS) <= set(printed["score"].split())
    assert "MSU@" in printed["score"]


def shown_updates(folder: Path) -> set[str]:
    """Ids of all updates with a text."""
    with (folder / "qrels" / "updates_sampled.tsv").open(encoding="utf-8") as stream:
        return {line.split("\t")[1] for line in stream}


def test_check_says_what_of_a_run_cannot_be_shown_and_the_page_shows_such_a_line(typed):
    """Unjudged updates have no text: 33 of the 73 that this run has for the first event."""
    [example] = re.findall(r"^ {4}(streams: .*)$", TEXT, flags=re.MULTILINE)

    assert example in [line.strip() for line in typed("prefcal study check study.yaml").splitlines()]


def test_the_shell_line_of_the_page_leaves_exactly_the_judged_updates_in_a_run(folder):
    """The runs as they were served: all of the first three, 600 of the 1,084 updates of the last."""
    loop = re.search(r"^ {6}mkdir served\n(?: {6}.*\n)+", TEXT, flags=re.MULTILINE)
    assert loop is not None
    shell(loop[0], folder)
    judged = shown_updates(folder)

    for name in RUNS:
        given = (folder / "runs" / name).read_text(encoding="utf-8").splitlines()
        served = (folder / "served" / name).read_text(encoding="utf-8").splitlines()
        assert served == [line for line in given if "-".join(line.split()[3:5]) in judged]
    assert len(given) > len(served) == 600
