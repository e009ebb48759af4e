"""The example of a measure of one's own runs as it is written."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_example_scores_the_bundled_runs():
    """Somebody will copy this file; it must work before they change it."""
    ended = subprocess.run(
        [sys.executable, "examples/own_measure.py"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    header, *rows = ended.stdout.splitlines()
    assert header.split() == ["metric", "HalfLifeM@500", "M@500"]
    assert [row.split()[0] for row in rows[1:]][:2] == ["bad-order", "good-order"]
