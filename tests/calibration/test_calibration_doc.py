"""docs/calibration.md tells the truth: its code runs, and it explains every parameter and diagnostic there is."""

import re
from pathlib import Path

import pytest

from calibration.table_files import write_tables
from calibration.user_model import PARAMETERS, read_user_model
from tests.calibration.test_fit import study

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)


def diagnostics() -> set[str]:
    """Every name that a fit gives to a diagnostic."""
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "calibration").glob("*.py"))
    fixed = set(re.findall(r'\b(?:info|warning)\(\s*"(\w+)"', source))
    return fixed | {"excluded_workers", "withdrawn_workers"}


@pytest.mark.parametrize("name", sorted(diagnostics()))
def test_every_diagnostic_is_explained(name):
    """A researcher looks its name up here."""
    assert f"`{name}`" in PAGE.partition("## Diagnostics")[2]


def test_no_diagnostic_is_explained_that_does_not_exist():
    """The first column of the table holds names of diagnostics only."""
    table = PAGE.partition("## Diagnostics")[2].partition("## ")[0]
    named = {
        name
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }

    assert named == diagnostics()


@pytest.mark.parametrize("name", [name for name in PARAMETERS if name.startswith("patience")])
def test_every_fitted_parameter_is_explained(name):
    """By its name in the user model."""
    assert f"`{name}`" in PAGE


def test_the_code_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    """One block after the other, in a folder with tables."""
    write_tables(study(), tmp_path / "tables")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, "docs/calibration.md", "exec"), names)

    assert "patience_chars_preferences" in capsys.readouterr().out
    assert len(names["draws"]["patience_chars_preferences"]) == 400


def test_the_hand_written_model_can_be_read(tmp_path):
    """As the truth of a simulated crowd."""
    (tmp_path / "truth.json").write_text(blocks("json")[0])

    assert read_user_model(tmp_path / "truth.json").parameters["patience_chars"].estimate == 840
