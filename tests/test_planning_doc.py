"""docs/planning.md says what the commands do and print."""

import re
from pathlib import Path

import pytest

from study_app.cli import PLAN, cli
from study_app.cli.plan.text import COLUMNS
from tests.study_app.prefcal_command import run_here

DOC = Path(__file__).resolve().parents[1] / "docs" / "planning.md"
TEXT = DOC.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PLAN)
def test_it_names_every_option(name):
    """What is missing here cannot be looked up anywhere but in --help."""
    command = cli.get_command(None, "plan").get_command(None, name)
    options = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}

    assert f"prefcal plan {name}" in TEXT
    assert not {option for option in options if option not in TEXT}


def test_it_names_every_column():
    """For machines."""
    assert not [column for column in COLUMNS if f"`{column}`" not in TEXT]


@pytest.mark.soak
def test_its_example_is_what_is_printed(monkeypatch, capsys):
    """To the character: the page shows a real answer."""
    command, shown = re.search(
        r"^    prefcal (plan agreement --true \.69[^\n]*)\n\n(    Plan .*?)\n\nRead it",
        TEXT,
        re.DOTALL | re.MULTILINE,
    ).groups()
    ended = run_here(monkeypatch, capsys, *command.split(), "--jobs", "1")

    assert ended.out.splitlines() == [line.removeprefix("    ") for line in shown.splitlines()]
