"""The tutorials are typed along: every command of a page runs, in this order, and prints what the page shows."""

import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from study_app.cli import cli

ROOT = Path(__file__).resolve().parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def steps(page: str) -> list[tuple[str, list[str]]]:
    """Return the commands that a page types, each with the lines that it shows below; how wide a column is does not matter."""
    blocks = "".join(BLOCK.findall((TUTORIALS / page).read_text(encoding="utf-8")))
    typed = [part.splitlines() for part in blocks.split("$ prefcal ")[1:]]
    return [(lines[0], [line for line in lines[1:] if line.strip()]) for lines in typed]


def type_along(typed: list[tuple[str, list[str]]]) -> int:
    """Type commands in this folder; return how many lines were shown as they are printed."""
    checked = 0
    for command, shown in typed:
        result = CliRunner().invoke(cli, shlex.split(command))
        assert result.exit_code == 0, f"prefcal {command}\n{result.output}"
        printed = {" ".join(line.split()) for line in result.output.splitlines()}
        missing = [line for line in shown if " ".join(line.split()) not in printed]
        assert missing == [], f"prefcal {command}\n{result.output}"
        checked += len(shown)
    return checked


def bring_files(folder: Path) -> None:
    """Save the files that the first tutorial offers."""
    for path in (TUTORIALS / "first-agreement").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())


def test_your_first_agreement_prints_what_the_page_shows(tmp_path, monkeypatch):
    """No study, no database: two files that the page offers. The README and the page of agreement show the same answer."""
    bring_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    *typed, last = steps("first-agreement.md")

    assert type_along(typed) == 9
    assert last == ("report results", ["results/report.html"])
    assert steps("../../README.md") == typed[1:]
    assert steps("../agreement.md") == typed


@pytest.mark.soak
@pytest.mark.parametrize(
    "page",
    [
        "first-agreement.md",
        "two-files-to-a-study.md",
        "diary-study.md",
        "push-or-silence.md",
        "judge.md",
        "two-rag-systems.md",
    ],
)
def test_a_whole_tutorial_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    """In prefcal's folder, with what it brings."""
    bring_files(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PREFCAL_DATABASE_URL", raising=False)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)

    assert type_along(steps(page)) > 5
