"""Pages that say which test shows something name tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAMED = re.compile(r"`(tests/[\w/]+?(?:\.py)?)(?:::(\w+))?`")
PAGES = [path for path in sorted((ROOT / "docs").glob("*.md")) if NAMED.search(path.read_text("utf-8"))]


def missing(text):
    """Return what a page names and is not there."""
    return [
        match[0]
        for match in NAMED.finditer(text)
        if not (ROOT / match[1]).exists()
        or (match[2] and f"def {match[2]}(" not in (ROOT / match[1]).read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_test_that_a_page_names_exists(page):
    """A promise whose test has gone is no promise."""
    assert missing(page.read_text(encoding="utf-8")) == []


def test_there_are_such_pages_and_a_name_that_is_wrong_is_found():
    """The rule above looks at something."""
    assert "reliability.md" in {page.name for page in PAGES}
    assert missing("`tests/test_docs.py::test_nothing_of_the_kind`") != []
