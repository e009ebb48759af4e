"""The pages on measures, docs/measures*.md, say the truth, and all of it."""

import doctest
import re
from pathlib import Path

import pytest

from metrics.registry import all_measures

PAGES = sorted((Path(__file__).resolve().parents[1] / "docs").glob("measures*.md"))
OURS = {name: cls for name, cls in all_measures().items() if cls.__module__.startswith("metrics.")}


@pytest.mark.parametrize("name", OURS)
def test_every_measure_has_a_heading_and_its_parameters(name):
    """A measure that is not described is not one that anybody can cite; its parameters stand on the page of its heading."""
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    [text] = [text for text in texts if re.search(rf"^##+ .*\b{name}\b", text, re.MULTILINE)]
    assert [one for one in OURS[name].defaults() if f"`{one}`" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_example_gives_what_it_says(page):
    """Worked examples are run, each page from its beginning, so they cannot go stale."""
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")

    assert result.attempted > 0
    assert result.failed == 0
