"""CONTRIBUTING.md: each recipe names files that are there and name its example."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HOUSE = ("metrics", "calibration", "study_app", "prefcal", "templates")
FILE = re.compile(rf"`((?:{'|'.join(HOUSE)})/[\w./]+)`")


def recipes() -> dict[str, tuple[str, set[str]]]:
    """Read each recipe that has an example: its title -> the example, and the files that its steps name."""
    found = {}
    for part in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("### ")[1:]:
        if example := re.search(r"^Example: `([\w-]+)`$", part, re.MULTILINE):
            steps = re.findall(r"^- .*", part, re.MULTILINE)
            found[part.splitlines()[0]] = (example[1], set(FILE.findall("\n".join(steps))))
    return found


RECIPES = recipes()


@pytest.mark.parametrize("name", RECIPES)
def test_the_files_of_a_recipe_name_its_example(name):
    """One that does not, or is not there, sends a newcomer to a file for nothing."""
    example, files = RECIPES[name]
    word = re.compile(rf"(?<![\w-]){re.escape(example)}(?![\w-])")
    wrong = [
        file
        for file in sorted(files)
        if not (ROOT / file).is_file() or not word.search((ROOT / file).read_text(encoding="utf-8"))
    ]
    assert wrong == [], (
        f"CONTRIBUTING.md, recipe {name!r}: these files are not there or do not name {example}; "
        "correct the lines that begin with '- '"
    )
