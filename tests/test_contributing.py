"""CONTRIBUTING.md: each recipe names the files that a change really touches."""

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


def naming(word: str) -> set[str]:
    """The files of the house that name a thing as a word of its own."""
    files = [
        path
        for folder in HOUSE
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".yaml", ".html"}
    ]
    whole = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    return {str(path.relative_to(ROOT)) for path in files if whole.search(path.read_text(encoding="utf-8"))}


def test_there_is_a_recipe_for_each_kind_of_change():
    """A sentence, a measure, a parameter, an option, a platform, a kind of task."""
    assert len(RECIPES) == 6


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_names_the_files_that_name_its_example(name):
    """One too many sends a newcomer to a file for nothing; one too few lets a change be half done."""
    example, files = RECIPES[name]

    really = naming(example)
    assert files == really, (
        f"CONTRIBUTING.md, recipe {name!r}: add a line for {sorted(really - files)}, which name {example}; "
        f"take out {sorted(files - really)}, which do not (only lines that begin with '- ' count)"
    )
