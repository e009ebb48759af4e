"""The pages on calibration tell the truth: their code runs, and they explain every parameter, option and diagnostic."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from calibration.tables.files import write_tables
from calibration.user_model.model import PARAMETERS, read_user_model
from study_app.cli.tables.fit import command
from tests.calibration.fit.test_fit import study

ROOT = Path(__file__).resolve().parents[3]
INDEX = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
PAGES = {
    path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("calibration*.md"))
}
DIAGNOSTICS = INDEX.partition("## Diagnostics")[2].partition("\n## ")[0]


def blocks(language: str, page: str = "calibration.md") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGES[page], flags=re.MULTILINE | re.DOTALL)


def given_names(call: ast.Call) -> list[ast.expr]:
    """Return what a call gives as the name of a finding."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "name"]
    if isinstance(call.func, ast.Name) and call.func.id in {"warn_if", "note_if", "say"}:
        named.append(call.args[1])
    if isinstance(call.func, ast.Attribute) and call.func.attr == "finding":
        named += call.args[:1]
    return named


def constants(*values: ast.expr) -> Iterator[str]:
    """Yield the words among values, of either branch of a condition."""
    for value in values:
        if isinstance(value, ast.IfExp):
            yield from constants(value.body, value.orelse)
        elif isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.value


def diagnostics() -> set[str]:
    """Every name that a fit gives to a diagnostic; those of `agree` stand in docs/agreement.md."""
    files = [path for path in (ROOT / "calibration").rglob("*.py") if "agree" not in path.parent.parts]
    source = "".join(path.read_text(encoding="utf-8") for path in files)
    fixed = set(re.findall(r'\b(?:info|warning|make|UnevenSides)\)?\(\s*"(\w+)"', source))
    composed = {f"{reason}_workers" for reason in ("excluded", "withdrawn", "incomplete")}
    composed |= {f"{part}_form" for part in ("pain", "gain")}
    composed |= {f"decay_{form}" for form in ("hyperbolic", "step", "at_zero", "at_one")}
    composed |= {"careless_workers", "opposite_camp"}
    for path in (ROOT / "calibration" / "checks").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call):
                composed |= set(constants(*given_names(call)))
    return fixed | composed | {"few_workers", "few_topics", "one_worker", "one_topic"}


@pytest.mark.parametrize("name", sorted(diagnostics()))
def test_every_diagnostic_is_explained(name):
    """A researcher looks its name up here."""
    assert f"`{name}`" in DIAGNOSTICS


def test_no_diagnostic_is_explained_that_does_not_exist():
    """The first column of the table holds names of diagnostics only."""
    named = {
        name
        for row in re.findall(r"^\| (`.*?) \|", DIAGNOSTICS, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }

    assert named == diagnostics()


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_is_explained_with_its_model_and_on_a_page_of_its_family(name):
    """By its name in the user model."""
    assert f"`{name}`" in INDEX.partition("## What is fitted")[2].partition("\n## ")[0]
    assert any(f"`{name}`" in text for page, text in PAGES.items() if page != "calibration.md")


@pytest.mark.parametrize(
    "option", [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
)
def test_every_option_of_fit_is_explained(option):
    """What it does to the numbers, not only its name."""
    assert option in INDEX or option == "--output"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_of_a_family_stands_in_the_index(page):
    """One family a page, and an index."""
    assert page == "calibration.md" or f"]({page})" in INDEX


def test_the_code_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    """One block after the other, in a folder with tables."""
    write_tables(study(), tmp_path / "tables")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, "docs/calibration.md", "exec"), names)

    assert "patience_chars_preferences" in capsys.readouterr().out
    assert len(names["draws"]["patience_chars_preferences"]) == 400


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page != "calibration.md" and blocks("python", page)]
)
def test_the_code_of_a_familys_page_runs_too(page, capsys):
    """Each from the beginning, with what it imports itself."""
    names: dict[str, object] = {}
    for block in blocks("python", page):
        exec(compile(block, f"docs/{page}", "exec"), names)

    assert capsys.readouterr().out


def test_the_hand_written_model_can_be_read(tmp_path):
    """As the truth of a simulated crowd."""
    (tmp_path / "truth.json").write_text(blocks("json")[0])

    assert read_user_model(tmp_path / "truth.json").parameters["patience_chars"].estimate == 840
