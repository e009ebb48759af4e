"""The wheel, installed alone in an empty environment, does the main job."""

import os
import subprocess
import sys
import sysconfig
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
        "study_app/store/migrations/env.py",
        "metrics/py.typed",
    ):
        assert name in names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "docs/"))]


def prefcal_alone(wheel: Path, folder: Path) -> Path:
    """Install the wheel, and nothing else, into an environment of its own; return the folder of its programs."""
    environment = folder / "venv"
    run([sys.executable, "-m", "venv", "--without-pip", str(environment)])
    install(environment, "--no-deps", str(wheel))
    return environment / "bin"


def install(environment: Path, *what: str) -> None:
    """Install by the pip of this environment, which spares the other its own; what runs is compiled soon enough."""
    python = str(environment / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    run([*pip, "install", "--quiet", "--no-compile", *what])


def clean() -> dict[str, str]:
    """Return the environment without what would lead to the checkout."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PREFCAL"))}


def demo(programs: Path, folder: Path) -> None:
    """Run the main job there, and look at what came out."""
    shown = run(
        [str(programs / "prefcal"), "demo", "--no-serve", "--workers", "24", "--out", "out"],
        cwd=folder,
        env=clean(),
    )
    assert "patience_chars_preferences" in shown.stdout
    assert (folder / "out" / "tables" / "preferences.csv").stat().st_size > 1000
    assert "<svg" in (folder / "out" / "report.html").read_text(encoding="utf-8")


def test_the_wheel_alone_loads_and_reads_the_bundled_study(wheel, tmp_path):
    """Nothing of the checkout is needed; the libraries are those of this environment."""
    programs = prefcal_alone(wheel, tmp_path)
    libraries = sysconfig.get_path("purelib")
    inner = next((tmp_path / "venv").glob("lib/python*/site-packages"))
    (inner / "libraries.pth").write_text(f"{libraries}\n", encoding="utf-8")
    study = inner / "study_app" / "examples" / "two_layered" / "study.yaml"
    loaded = run([str(programs / "prefcal"), "study", "load", str(study)], cwd=tmp_path, env=clean())
    shown = run([str(programs / "prefcal"), "status"], cwd=tmp_path, env=clean())

    assert "two-layered" in loaded.stdout
    assert "two-layered" in shown.stdout


@pytest.mark.soak
def test_the_wheel_and_the_locked_libraries_are_all_that_is_needed(wheel, tmp_path):
    """The lock file is complete: everything is installed from it anew."""
    programs = prefcal_alone(wheel, tmp_path)
    install(tmp_path / "venv", "--require-hashes", "-r", str(ROOT / "requirements.lock"))
    demo(programs, tmp_path)
