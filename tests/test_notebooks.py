"""Notebooks and gallery: the notebooks print what they show, and the gallery shows everything that can be drawn."""

import ast
import json
import re
from pathlib import Path

import matplotlib as mpl
import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
CALIBRATION = DOCS.parent / "calibration"


def printed(source: str, names: dict[str, object]) -> str | None:
    """Run a cell, and return its last expression as a notebook shows it, in HTML where it has some."""
    *before, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        before, last = [*before, last], None
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    html = getattr(value, "_repr_html_", None)
    return None if value is None else html() if html else repr(value)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path, monkeypatch):
    """If a number has changed on purpose, `make notebooks` runs them anew."""
    monkeypatch.chdir(path.parent)
    names: dict[str, object] = {}
    compared = 0
    with mpl.rc_context({"backend": "agg"}):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] != "code":
                continue
            found = printed("".join(cell["source"]), names)
            for output in cell["outputs"]:
                data = output.get("data", {})
                shown = data.get("text/html", data.get("text/plain"))
                if found is not None and "image/png" not in data:
                    assert "".join(shown) == found
                    compared += 1

    assert compared >= 2
    assert "Traceback" not in path.read_text(encoding="utf-8")


def test_the_gallery_shows_every_plot_of_every_fit():
    """A new plot_... needs its lines there; that the report's figures are there too is held by `make docs`."""
    plots = {
        name
        for path in CALIBRATION.rglob("*.py")
        for name in re.findall(r"^    def (plot_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    examples = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "gallery").glob("plot_*.py"))

    assert len(plots) > 5
    assert plots <= set(re.findall(r"\.(plot_\w+)\(", examples))
