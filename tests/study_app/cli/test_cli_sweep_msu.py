"""What `prefcal sweep msu` prints and writes, and what it says when something is wrong."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from shutil import rmtree

import pytest

from tests.study_app.prefcal_command import run_here, without_figures, without_pdf

PROGRAM = "from study_app.cli import main; main()"
STREAMS = Path(__file__).resolve().parents[3] / "examples" / "two_layered" / "streams"
FILES = [
    *("--topics-file", STREAMS / "topics.xml"),
    *(part for name in ("nuggets", "matches", "updates") for part in (f"--{name}", STREAMS / f"{name}.tsv")),
]
RUNS = sorted((STREAMS / "runs").glob("*.txt"))
SMALL = ["--away", "1h", "--session", "30s,2m", "--spread", ".5", "--lateness", "0,.5", "--users", "3"]
SCORES = "run,topic,mine\n" + "".join(
    f"{run.stem},{topic},{number}\n" for number, run in enumerate(RUNS) for topic in ("bridge", "all")
)


@pytest.fixture
def sweep(monkeypatch, capsys):
    def run(*options, runs=RUNS):
        return run_here(monkeypatch, capsys, "sweep", "msu", *FILES, *options, *runs)

    return run


def test_the_plan_comes_first_and_the_folder_is_reported(sweep, tmp_path, monkeypatch):
    """Tables, other measures, the closest points, the page and its figures: all from one command."""
    without_pdf(monkeypatch)
    (tmp_path / "mine.csv").write_text(SCORES, encoding="utf-8")
    mine = tmp_path / "mine.csv"
    status, out, err = sweep(
        *SMALL, "--jobs", "1", "-o", tmp_path / "out", "--scores", mine, "--like", mine, "--column", "mine"
    )

    assert status == 0, err
    assert (
        "4 points: 2 populations x 2 lateness decays; 4 runs on 2 topics, 3 users of each population\nabout"
        in err
    )
    assert "no scores by topic, so there are no intervals" in err
    assert "MSU ranks most like mine for" in out
    assert out.endswith("report.html\n")
    for name in (
        "sweep.parquet",
        "best.csv",
        "correlation.csv",
        "measures.csv",
        "like.csv",
        "figures/sweep-leaders.svg",
    ):
        assert (tmp_path / "out" / name).exists(), name
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "MSU and mine" in page
    assert "The people for whom each run is best" in page
    assert "The people for whom MSU ranks the runs most like mine" in page
    assert "4 of 4 points; all of them: like.csv" in page.replace("\N{NARROW NO-BREAK SPACE}", " ")


def test_a_log_says_now_and_then_how_many_populations_are_done(sweep, tmp_path, monkeypatch):
    """A terminal has a bar instead."""
    monkeypatch.setattr("study_app.cli.progress.QUIET_SECONDS", 0.0)
    without_figures(monkeypatch)
    _, _, err = sweep(*SMALL, "--jobs", "1", "-o", tmp_path / "out")

    assert [line for line in err.splitlines() if line.startswith("still")] == [
        f"still computing: {done} of 2 populations are done" for done in (1, 2)
    ]


@pytest.mark.parametrize(
    ("options", "status", "says"),
    [
        (["--away", "1h"], 2, "--preset paper, or --away M,... and --session M,..."),
        (["--away", "1h,1h", "--session", "1m"], 2, "--away names a value twice"),
        (["--away", "1h,x", "--session", "1m"], 2, "'x' is no duration"),
        (["--away", "1h,2", "--session", "1m"], 2, "'2' has no unit; write 2h, 2m or 2s"),
        (["--away", "1h,0", "--session", "1m"], 2, "--away must lie in [0.001, 1e+10], got 0.0"),
        ([*SMALL, "--users", "0"], 2, "0 is not in the range"),
        ([*SMALL, "--like", "mine.csv"], 2, "--like FILE and --column NAME go together"),
        (
            [*SMALL, "--like", "mine.csv", "--column", "yours"],
            1,
            "mine.csv:1: there is no measure 'yours'; the measures are",
        ),
        (
            [*SMALL, "--scores", "short.csv", "--jobs", "1"],
            1,
            "short.csv:1: mine is not known of late, prompt, sparse; give every run",
        ),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_computed(
    sweep, tmp_path, monkeypatch, options, status, says
):
    """Before the long work, not after it."""
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text(SCORES, encoding="utf-8")
    Path("short.csv").write_text("run,mine\nchatty,1\n", encoding="utf-8")
    found = sweep(*options, "-o", tmp_path / "out")

    assert found[0] == status
    assert says in found[2]
    assert not (tmp_path / "out" / "sweep.json").exists()


@pytest.mark.parametrize("name", ["report.html", "best.csv", "measures.csv"])
def test_a_file_of_somebody_else_is_not_written_over(sweep, tmp_path, name):
    """Nothing is computed; with the file elsewhere the same command goes through."""
    (tmp_path / name).write_text("mine\n", encoding="utf-8")
    status, _, err = sweep(*SMALL, "--jobs", "1", "-o", tmp_path)

    assert status == 1
    assert err == (
        f"{tmp_path / name}:1: prefcal did not write this file, and a sweep would write over it;"
        " name another folder with -o, or move the file\n"
    )
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [
        (name, "mine\n")
    ]


def test_a_sweep_that_begins_again_writes_over_its_own_files(sweep, tmp_path, monkeypatch):
    """Without sweep.json and its parts it does, as docs/sweep.md says."""
    without_figures(monkeypatch)
    assert sweep(*SMALL, "--jobs", "1", "-o", tmp_path).code == 0
    (tmp_path / "sweep.json").unlink()
    rmtree(tmp_path / "parts")

    assert sweep(*SMALL, "--jobs", "1", "-o", tmp_path).code == 0


def test_one_point_has_one_figure_a_measure(sweep, tmp_path):
    """Where tau is the same everywhere, nobody is closest or farthest."""
    one = ["--away", "3h", "--session", "2m", "--spread", "1", "--lateness", ".5", "--users", "3"]
    status, _, err = sweep(*one, "--jobs", "1", "-o", tmp_path / "out")

    assert status == 0, err
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "MSU and ELG, as for everybody, for people away 3 h (sd 3 h)" in page
    assert "at every point" in page
    assert not list((tmp_path / "out" / "figures").glob("*farthest*"))


def run_whole(command):
    """Run a command to its end; what it says stands in the failure."""
    done = subprocess.run([*map(str, command)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.soak
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_five_times_a_sweep_ends_in_the_same_bytes(tmp_path, jobs):
    """`kill -9` of the command, whose worker processes end with it."""
    options = ["--away", "1h,2h,3h", "--session", "30s,2m", "--users", "400", "--jobs", jobs]
    command = [sys.executable, "-c", PROGRAM, "sweep", "msu", *FILES, *options, *RUNS, "-o"]
    run_whole([*command, tmp_path / "whole"])
    parts = tmp_path / "stopped" / "parts"
    for stop in range(5):
        with subprocess.Popen(
            [*map(str, command), tmp_path / "stopped"], stderr=subprocess.DEVNULL
        ) as running:
            while len(list(parts.glob("*.npz"))) < 8 * (stop + 1) and running.poll() is None:
                os.sched_yield()
            running.send_signal(signal.SIGKILL)
    assert len(list(parts.glob("*.npz"))) < 54
    run_whole([*command, tmp_path / "stopped"])

    for name in ("sweep.parquet", "best.csv", "correlation.csv"):
        assert (tmp_path / "stopped" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
