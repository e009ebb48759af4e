"""What tests draw is the same on every machine and at every run; only `make soak` draws anew."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DRAWING = """
import importlib
import os
import random
from hypothesis import given, settings, strategies as st

for name in os.environ.get("LOADED", "").split():
    importlib.import_module(name)

@settings(max_examples=200)
@given(st.binary(max_size=60), st.floats())
def test_drawn(data, number):
    print("drawn", data, number)

def test_common_generator():
    print("drawn", random.random())

@given(st.integers())
def test_no_example_is_kept(number):
    print("drawn", number)
    assert number < 50
"""


def draws(folder, *options, **environment):
    """Run tests that draw, under this suite's settings, and return what they drew in their order."""
    command = [sys.executable, "-m", "pytest", "-s", "-q", "-c", ROOT / "pyproject.toml"]
    done = subprocess.run(
        [*command, "-p", "tests.conftest", "--rootdir", folder, *options, folder / "test_drawing.py"],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "CI"}
        | {"PYTHONPATH": str(ROOT)}
        | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "drawn" in line]


@pytest.fixture
def drawing(tmp_path):
    (tmp_path / "test_drawing.py").write_text(DRAWING, encoding="utf-8")
    return tmp_path


def test_every_run_draws_the_same_and_keeps_no_example(drawing, tmp_path_factory):
    """A stranger's first `make test` is the one that everybody had, after a failure too, with CI set, and whatever else was imported."""
    first = draws(drawing)
    assert len(first) > 200
    assert draws(drawing, CI="true", LOADED="metrics.readers.lines metrics.files") == first
    elsewhere = tmp_path_factory.mktemp("fresh")
    (elsewhere / "test_drawing.py").write_text(DRAWING, encoding="utf-8")
    assert draws(elsewhere) == first


@pytest.mark.soak
def test_a_soak_draws_anew(drawing):
    """Else no run would ever find more than the first."""
    assert draws(drawing, "--hypothesis-profile=soak") != draws(drawing, "--hypothesis-profile=soak")
