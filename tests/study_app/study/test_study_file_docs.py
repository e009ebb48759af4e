"""docs/study-file.md against the schema: every key with its default, and no key that is not there."""

import re
from pathlib import Path

import pytest
from pydantic_core import PydanticUndefined

from study_app.services.researcher import differences
from study_app.study.entries import (
    AdaptivePairs,
    CheckQuestion,
    Codes,
    Criterion,
    JudgingTask,
    Question,
    StudyEntry,
    StudyFileModel,
    TaskEntry,
)
from study_app.tasks.content import AnswerFiles, EventFiles, ImageFiles, PushFiles, RankedFiles, SummaryFiles
from study_app.tasks.kinds import KINDS

PAGE = (Path(__file__).parents[3] / "docs" / "study-file.md").read_text(encoding="utf-8")
SHARED = {"kind", "collection", "queries_per_worker"}
"""Described once for all kinds that have them."""
OF_KINDS = {"systems", "validation_pairs"}
"""Of judged pairs, described with each kind: they mean something else there, or have another default."""

MODELS: dict[str, type[StudyFileModel]] = {
    "## The study": StudyEntry,
    "### Codes": Codes,
    "## Every task": TaskEntry,
    "### Introduction": CheckQuestion,
    "### Collection": SummaryFiles,
    "### Events": EventFiles,
    "### Pushes": PushFiles,
    "### Documents": RankedFiles,
    "### Answers": AnswerFiles,
    "### Images": ImageFiles,
    "### Judged pairs": JudgingTask,
    "### Question": Question,
    "### Adaptive pairs": AdaptivePairs,
    "### Graded answers and criteria": Criterion,
    **{f"## {name}": kind.entry for name, kind in KINDS.items()},
}
IN_WORDS = {
    "completion_code": "one per worker",
    "ids": "everybody",
    "keep_out": "nobody",
    "pseudonyms": "drawn at random",
    "demographics": "none",
    "signing_keys": "none",
    "return_url": "Prolific's own; no button for `generic`",
    "name": "its kind",
    "criteria": "the kind's own, in the task's language",
    "importance": "none",
    "probability": "none",
    "codes": "none",
    "screened_out": "none",
    "failed_checks": "none",
    "partial": "none",
}


def described_keys(section):
    """Return the keys that a section is to describe: those of its model that no section before it has."""
    model = MODELS[section]
    keys = set(model.model_fields)
    if section == "## Every task":
        return keys | SHARED
    if issubclass(model, TaskEntry):
        keys -= set(TaskEntry.model_fields) | SHARED
    if model is JudgingTask:
        keys -= OF_KINDS
    elif issubclass(model, JudgingTask):
        keys -= set(JudgingTask.model_fields) - OF_KINDS
    return keys


def field(section, key):
    """Return the field of the schema that a row describes; those shared by kinds are alike in all."""
    if section == "## Every task" and key in SHARED:
        return KINDS["intent_votes"].entry.model_fields[key]
    return MODELS[section].model_fields[key]


def rows(section):
    """Return key -> default as the section's table says."""
    assert f"\n{section}\n" in PAGE, (
        f"docs/study-file.md has no section '{section}': write it, with a row a key"
    )
    text = PAGE.split(f"\n{section}\n")[1].split("\n## ")[0].split("\n### ")[0]
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if match := re.fullmatch(r"`(\w+)`", cells[0]):
            found[match[1]] = cells[2]
    return found


@pytest.mark.parametrize("section", MODELS)
def test_every_key_stands_in_its_section_and_no_other(section):
    """A key without its entry would be found by nobody."""
    assert set(rows(section)) == described_keys(section)


@pytest.mark.parametrize("section", MODELS)
def test_every_default_is_the_real_one(section):
    """What the page says is what happens."""
    for key, said in rows(section).items():
        default = field(section, key).default
        if key in IN_WORDS and default is not PydanticUndefined:
            expected = IN_WORDS[key]
        elif default is PydanticUndefined:
            expected = "required"
        elif default is None:
            expected = "`null`"
        elif default == ():
            expected = "none"
        elif isinstance(default, tuple):
            expected = ", ".join(f"`{one}`" for one in default)
        elif isinstance(default, bool):
            expected = f"`{str(default).lower()}`"
        else:
            expected = f"`{default}`"
        assert said == expected, key


def leaves(model):
    """Return the schemas under one that nothing is built on."""
    below = [one for one in model.__subclasses__() if one.__module__.startswith("study_app.")]
    return {leaf for one in below for leaf in leaves(one)} if below else {model}


def test_every_group_of_keys_has_its_section():
    """A new kind of task, collection or group makes this fail until it is described."""
    assert set(MODELS.values()) == leaves(StudyFileModel) | {TaskEntry, JudgingTask}


def test_what_kinds_share_is_alike_in_all():
    """One row stands for all of them."""
    several = [
        fields for kind in KINDS.values() if "queries_per_worker" in (fields := kind.entry.model_fields)
    ]
    assert {fields["queries_per_worker"].default for fields in several} == {1}


def test_what_may_change_while_answers_exist_is_listed():
    """And what may only be raised."""
    free, raised = (
        set(re.findall(r"`(\w+)`", cell))
        for cell in PAGE.split("## Changing a loaded study")[1]
        .split("|---|---|---|---|---|\n")[1]
        .split("|")[1:3]
    )
    of_kinds = {key for kind in KINDS.values() for key in kind.free_keys}
    assert free == (differences.FREE_OF_STUDY | differences.FREE_OF_TASK | of_kinds) - {"folder"}
    assert raised == {kind.limit_key for kind in KINDS.values()} - {None} | {"budget"}
