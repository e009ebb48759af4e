"""What is published says what it is: metadata, citation and checks of other people's rules."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_every_package_of_the_wheel_tells_type_checkers_that_it_has_types():
    """Editors read types of a package only where py.typed stands."""
    for package in ("metrics", "calibration", "study_app", "prefcal"):
        assert (ROOT / package / "py.typed").is_file(), package


def test_the_citation_names_the_version_and_licence_of_the_package():
    """CITATION.cff is copied into papers: it must not fall behind."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))

    assert str(citation["version"]) == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]


def test_workflows_take_every_action_by_its_commit():
    """A tag can be moved to other code; a commit cannot."""
    used = [
        line for path in WORKFLOWS for line in re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))
    ]

    assert used
    assert [line for line in used if not re.search(r"@[0-9a-f]{40}$", line)] == []


def test_no_file_of_the_package_names_a_registry():
    """Where packages come from is the business of the machine that installs them."""
    locks = sorted(ROOT.glob("requirements*.lock"))

    assert [path.name for path in locks] == [
        "requirements-dev.lock",
        "requirements-docs.lock",
        "requirements.lock",
    ]
    for path in [*locks, *WORKFLOWS, ROOT / "Makefile", ROOT / "pyproject.toml"]:
        assert "index-url" not in re.sub(r"--no-emit-index-url", "", path.read_text(encoding="utf-8")), path
