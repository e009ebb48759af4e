"""The site: every page is reachable, and the pages written from the code say all that there is. `make docs` builds it."""

import importlib.util
import re
from pathlib import Path

import pytest

import prefcal
from study_app.cli import COMMANDS

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> dict[str, str]:
    """The generated pages by name."""
    spec = importlib.util.spec_from_file_location("site_pages", DOCS / "site_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = tmp_path_factory.mktemp("generated")
    module.write_pages(folder)
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_every_page_stands_in_one_of_the_four_parts_of_the_site():
    """If this fails, add the page to a list at the end of docs/index.md."""
    lists = re.findall(
        r"^```\{toctree\}\n(.*?)^```", (DOCS / "index.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    listed = [line for part in lists for line in part.splitlines() if line and not line.startswith(":")]
    pages = [path.relative_to(DOCS) for path in (*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md"))]
    pages += [path.relative_to(DOCS) for path in DOCS.glob("notebooks/*.ipynb")]

    assert len(lists) == 4
    expected = {str(page.with_suffix("")) for page in pages} - {"index"}
    assert sorted(name for name in listed if not name.startswith("generated/")) == sorted(expected)


def test_every_command_has_its_page_with_its_options(written):
    """A group has its commands on one page."""
    assert {f"command-{name}" for name in COMMANDS} <= written.keys()
    assert "## prefcal study check" in written["command-study"]
    assert "--no-serve" in written["command-demo"]


def test_the_names_that_python_md_lists_have_their_entries(written):
    """Functions as functions, classes with their members; test_python_doc.py holds the list to what there is."""
    entries = re.findall(
        r"^\.\. auto(function|class):: prefcal\.(\w+)$", "\n".join(written.values()), re.MULTILINE
    )

    assert {name for _, name in entries} <= set(prefcal.__all__)
    assert {("function", "agree"), ("class", "MMeasure"), ("class", "InputError")} <= set(entries)


def test_making_the_site_says_what_it_does(tmp_path, capsys):
    """Minutes of silence look like a program that hangs."""
    spec = importlib.util.spec_from_file_location(
        "report_figures", DOCS.parent / "benchmarks" / "report_figures.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.run(tmp_path, "measures --help")
    assert capsys.readouterr().out == f"in {tmp_path.name}: prefcal measures --help\n"
    recipe = (DOCS.parent / "Makefile").read_text(encoding="utf-8").partition("\ndocs:")[2]
    assert "sphinx" in recipe.partition("\n\n")[0]
    assert "quiet" not in recipe.partition("\n\n")[0]
