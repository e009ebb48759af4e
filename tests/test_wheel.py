"""The wheel, installed alone in an empty environment, does the main job."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)])
    (built,) = folder.glob("prefcal-*.whl")
    return built


def run(command: list[str], **options) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result


def test_wheel_holds_pages_scripts_and_the_bundled_study(wheel):
    """What is not code travels with the package."""
    names = zipfile.ZipFile(wheel).namelist()

    for name in (
        "study_app/templates/base.html",
        "study_app/static/style.css",
        "study_app/static/js/main.js",
        "study_app/examples/two_layered/study.yaml",
        "study_app/migrations/env.py",
        "metrics/py.typed",
    ):
        assert name in names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "docs/"))]


def test_wheel_alone_in_an_empty_environment_runs_the_demo_and_renders_the_pages(wheel, tmp_path):
    """Nothing of the checkout is needed: the environment has the wheel and its dependencies only."""
    environment = tmp_path / "venv"
    run([sys.executable, "-m", "venv", str(environment)])
    python = environment / "bin" / "python"
    run(
        [
            str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
            "--require-hashes", "-r", str(ROOT / "requirements.lock"),
        ]
    )  # fmt: skip
    run(
        [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            str(wheel),
        ]
    )
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PREFCAL"))}

    shown = run(
        [str(environment / "bin" / "prefcal"), "demo", "--no-serve", "--workers", "24", "--out", "out"],
        cwd=tmp_path,
        env=clean,
    )

    assert "patience_chars_preferences" in shown.stdout
    assert (tmp_path / "out" / "tables" / "preferences.csv").stat().st_size > 1000
    assert "<svg" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
