"""The files that docs/study-file.md shows: each is read by the real readers, with and without its header."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from study_app.estimate.content import read_whole_study
from study_app.study_new.compose import find_material
from tests.study_app.study.test_study_file_docs import MODELS, PAGE

SHOWN = re.compile(r"^`([\w-]+\.\w+)`: (.+(?:\n.+)*)\n\n((?:    .*\n|\n(?=    ))+)", re.MULTILINE)
KINDS = {
    "### Collection": ("summary_pairs", "intent_votes", "iunit_importance"),
    "### Events": ("stream_visits", "stream_pairs"),
    "### Pushes": ("stream_pairs",),
    "### Documents": ("ranked_pairs",),
    "### Answers": ("answer_pairs",),
}
"""Section -> the kinds of tasks that take its files."""

WITHOUT_RUNS = {"intent_votes", "iunit_importance"}
ASKED = {
    "stream_visits": {"days": 4},
    "stream_pairs": {"days": ["20150720", "20150722"]},
}
"""What a task of a kind must say besides its files."""


class Example(NamedTuple):
    """A file as the page shows it: its name, its columns where they are names, and its lines."""

    name: str
    columns: tuple[str, ...]
    text: str


def examples(section):
    """Return the files that a section shows, in order."""
    text = PAGE.split(f"\n{section}\n")[1].split("\n## ")[0].split("\n### ")[0]
    return [
        Example(
            name=name,
            columns=tuple(re.findall(r"`(\w+)`", said.split(". ")[0])) if said.startswith("`") else (),
            text="".join(line.removeprefix("    ") for line in shown.splitlines(keepends=True)),
        )
        for name, said, shown in SHOWN.findall(text)
    ]


def as_shown(one):
    """Return a file as it stands on the page."""
    return one.text


def with_header(one):
    """Return a file that begins with the names of its columns, separated as its fields are."""
    separator = "\t" if "\t" in one.text else " "
    return f"{separator.join(one.columns)}\n{one.text}" if one.columns else one.text


def written(folder, section, kind, text_of):
    """Write a section's files, and a study with a task of them."""
    files = {one.name: text_of(one) for one in examples(section)}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    keys = MODELS[section].model_fields
    named = {Path(name).stem: name for name in files}
    task = {
        "kind": kind,
        "collection": {key: named[key] for key in keys if key in named},
        **ASKED.get(kind, {}),
    }
    if kind not in WITHOUT_RUNS:
        task["systems"] = {name: file for name, file in named.items() if name not in keys}
    if section == "### Events" and kind == "stream_pairs":
        del task["days"]
    study = folder / "study.yaml"
    study.write_text(
        yaml.safe_dump({"study": "shown", "title": "Shown", "consent": "Yes.", "tasks": [task]}),
        encoding="utf-8",
    )
    return study


@pytest.mark.parametrize(
    ("section", "kind"), [(section, kind) for section, kinds in KINDS.items() for kind in kinds]
)
@pytest.mark.parametrize("text_of", [as_shown, with_header])
def test_every_file_that_is_shown_is_read(tmp_path, section, kind, text_of):
    """By the readers that `study check` and `study load` use; nothing in them is left out or goes unseen."""
    content = read_whole_study(written(tmp_path, section, kind, text_of))
    assert getattr(content.tasks[0], "notes", ()) == ()


@pytest.mark.parametrize("section", KINDS)
def test_every_key_of_a_collection_has_its_file_and_two_runs(section):
    """A file that only a table names would have to be guessed."""
    names = {Path(one.name).stem for one in examples(section)}
    assert set(MODELS[section].model_fields) <= names
    assert len(names - set(MODELS[section].model_fields)) == 2


@pytest.mark.parametrize("section", KINDS)
def test_a_first_study_file_can_be_written_about_them(tmp_path, section):
    """`study new` takes each file for what the page says it is."""
    for one in examples(section):
        (tmp_path / one.name).write_text(one.text, encoding="utf-8")
    material = find_material((tmp_path,))
    [found] = material.whole
    assert {key: Path(file.path).stem for key, file in found.files.items()} == {
        key: key for key in found.files
    }
    assert (set(found.files), material.unused) == (set(MODELS[section].model_fields), [])
