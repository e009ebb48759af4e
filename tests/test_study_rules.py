"""The page about the fourteen rules names tests that are there."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "study-rules.md"
RULES = 14


def rows() -> Iterator[list[str]]:
    """The cells of every rule."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if re.match(r"\| \d+ \|", line):
            yield [cell.strip() for cell in line.strip("|").split("|")]


@cache
def functions_of(path: Path) -> set[str]:
    """The functions of a file of tests."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_rule_stands_once_with_what_is_done_and_what_shows_it():
    """A rule without a test is a wish."""
    assert [int(number) for number, *_ in rows()] == list(range(1, RULES + 1))
    assert all(rule and done and "::" in shown for _, rule, done, shown in rows())


def test_every_test_that_the_page_names_is_there():
    """Who renames a test finds the page that leans on it."""
    named = [one for *_, shown in rows() for one in shown.split("<br>")]
    missing = [
        one
        for one in named
        for path, _, name in [one.strip("`").partition("::")]
        if not (TESTS / path).is_file() or name not in functions_of(TESTS / path)
    ]
    assert not missing
