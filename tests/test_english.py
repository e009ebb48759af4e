"""What people read is English that a reader of a third language gets at once: the worst patterns do not come back."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    *sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")),
    *sorted((ROOT / "docs" / "gallery").glob("plot_*.py")),
    *sorted((ROOT / "templates").rglob("*.yaml")),
    *(
        path
        for room in ("metrics", "calibration", "study_app", "prefcal")
        for path in sorted((ROOT / room).rglob("*.py"))
    ),
]
ODD = {
    "a plural after 1": r"(?<![\w.,@-])1 (?:workers|people|pairs|queries|topics|judgments|systems|runs|studies)\b",
    "'is no time', where 'is not a time' is meant": r"[}'] is no time(?:stamp)?\b",
    "'none either'": r"\bis none either\b",
    "'of the same good use'": r"\bof the same good use\b",
    "a heading without its verb": r"\"(?:Quarter|Half|Three quarters) below\"",
    "a clock that says minutes": r"\b\d+:\d\d minutes\b",
    "'by chance and beyond it'": r"\bby chance and beyond it\b",
    "'in the mean', where 'on average' is meant": r"\bin the mean\b(?!time)",
    "'is none', where 'is not one' is meant": r"\b(?:number|id|code|file|grade|time|header) (?:is|that is) none\b",
    "'who comes' without 'people'": r"\b(?:lets?|leave out) who\b",
    "'no ground for'": r"\bno ground for\b",
    "'oftener'": r"\boftener\b",
    "'one row a worker', where 'one row per worker' is meant": r"\b(?:[Oo]ne|[Aa]) (?:row|column|file|line) an? (?:row|line|topic|worker|run|system|visit|query|page|measure|file|task|judgment|pair|point|follower|question|form|person)\b",
    "'who' without a noun": r"[;.] [Ww]ho (?:has|have|never|fails|comes|came|stops|opens|withdrew|began|sends|finishes)\b(?![^.|]*\?)",
    "'Whoever has' without a noun": r"\bWhoever\b",
    "'taken for independent', where 'treated as' is meant": r"\btak(?:en?|es|ing)(?: \w+){0,2} for independent\b",
    "a plural made by hand": r"'' if (?:len\(\w+\)|\w+) == 1 else 's'",
}


def found(pattern: str, texts: dict[str, str]) -> list[str]:
    """Return where a pattern stands, as FILE: words."""
    return [f"{name}: {match[0]}" for name, text in texts.items() for match in re.finditer(pattern, text)]


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Every page, every sentence of the templates, and the code with its messages."""
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in SOURCES}


@pytest.mark.parametrize("what", ODD)
def test_nothing_odd_is_said(what, texts):
    """Read it aloud: what would nobody say?"""
    assert found(ODD[what], texts) == []


def test_a_pattern_finds_what_it_is_for():
    """The rule above looks at something."""
    assert found(ODD["a plural after 1"], {"message": "Only 1 workers came"}) == ["message: 1 workers"]
