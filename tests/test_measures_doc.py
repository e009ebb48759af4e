"""docs/measures.md says the truth, and all of it."""

import doctest
import re
from pathlib import Path

import pytest

from metrics.registry import all_measures

DOC = Path(__file__).resolve().parents[1] / "docs/measures.md"
OURS = {name: cls for name, cls in all_measures().items() if cls.__module__.startswith("metrics.")}


@pytest.mark.parametrize("name", OURS)
def test_every_measure_has_a_heading_and_its_parameters(name):
    """A measure that is not described is not one that anybody can cite."""
    text = DOC.read_text(encoding="utf-8")
    headings = {
        word for line in re.findall(r"^### (.*)$", text, re.MULTILINE) for word in re.findall(r"\w+", line)
    }
    assert name in headings
    assert [one for one in OURS[name].defaults() if f"`{one}`" not in text] == []


def test_every_example_gives_what_it_says():
    """Worked examples are run, so they cannot go stale."""
    assert doctest.testfile(str(DOC), module_relative=False, encoding="utf-8").failed == 0
