"""docs/python.md is run block after block, as in a notebook, and what it prints is true."""

import ast
import re
from pathlib import Path

import pandas as pd
import pytest

import prefcal
from tests.study_app.prefcal_command import without_pdf

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def shown_below(block: str, node: ast.Expr, until: int) -> str:
    """The comment at the end of an expression, or the comment lines below it."""
    lines = block.splitlines()[node.end_lineno - 1 : until]
    return "\n".join(line.partition("# ")[2] for line in lines if "# " in line)


def printed(value: object) -> str:
    """What a notebook shows."""
    return value.to_string() if isinstance(value, pd.DataFrame | pd.Series) else str(value)


def assert_shown(value: object, comment: str) -> None:
    """The numbers are those printed, as far as their digits go."""
    found, expected = (NUMBER.findall(text) for text in (printed(value), comment))
    assert len(found) == len(expected), comment
    for number, text in zip(found, expected, strict=True):
        digits = len(text.partition(".")[2])
        assert float(number) == pytest.approx(float(text), abs=0.51 * 10**-digits), comment


def test_every_block_runs_and_prints_what_is_shown(monkeypatch, tmp_path):
    """From reading to planning; the bundled study lies where it does in the project's folder."""
    without_pdf(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, object] = {}
    checked = 0
    for block in BLOCKS:
        nodes = ast.parse(block).body
        starts = [node.lineno - 1 for node in nodes[1:]] + [len(block.splitlines())]
        for node, until in zip(nodes, starts, strict=True):
            if not isinstance(node, ast.Expr):
                exec(compile(ast.Module([node], []), "python.md", "exec"), names)
                continue
            value = eval(compile(ast.Expression(node.value), "python.md", "eval"), names)
            comment = shown_below(block, node, until)
            if NUMBER.search(comment):
                assert_shown(value, comment)
                checked += 1

    assert checked
    assert {path.name for path in tmp_path.iterdir()} == {"examples", "notebook"}
    assert (tmp_path / "notebook" / "patience.svg").read_bytes().startswith(b"<?xml")
    assert (tmp_path / "notebook" / "results" / "report.html").is_file()


def test_every_public_name_is_in_the_list_and_every_function_in_an_example():
    """A name that nobody can find is not public; a name that is gone is no promise."""
    listed = re.findall(r"`(\w+)`", TEXT.partition("## All public names")[2].partition("| for |")[2])
    functions = {name for name in prefcal.__all__ if name[0].islower()}
    shown = set(re.findall(r"prefcal\.(\w+)\(", "".join(BLOCKS)))

    assert sorted(listed) == sorted(prefcal.__all__)
    assert functions <= shown, functions - shown
