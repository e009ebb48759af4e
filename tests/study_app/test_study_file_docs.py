"""docs/study-file.md against the schema: every key with its default, and no key that is not there."""

import re
from pathlib import Path

import pytest
from pydantic_core import PydanticUndefined

from study_app.study_entries import (
    EventFiles,
    IntentVotes,
    StreamVisits,
    StudyEntry,
    SummaryFiles,
    SummaryPairs,
    TaskEntry,
)

PAGE = (Path(__file__).parents[2] / "docs" / "study-file.md").read_text(encoding="utf-8")
SECTIONS = {
    "## The study": set(StudyEntry.model_fields),
    "## Every task": {*TaskEntry.model_fields, "kind", "collection", "queries_per_worker"},
    "### Collection": set(SummaryFiles.model_fields),
    "## intent_votes": {"votes_per_query"},
    "## summary_pairs": set(SummaryPairs.model_fields)
    - set(TaskEntry.model_fields)
    - {"kind", "collection", "queries_per_worker"},
    "### Events": set(EventFiles.model_fields),
    "## stream_visits": set(StreamVisits.model_fields) - set(TaskEntry.model_fields) - {"kind", "collection"},
}
MODELS = {
    "## The study": StudyEntry,
    "## Every task": IntentVotes,
    "### Collection": SummaryFiles,
    "## intent_votes": IntentVotes,
    "## summary_pairs": SummaryPairs,
    "### Events": EventFiles,
    "## stream_visits": StreamVisits,
}
IN_WORDS = {
    "completion_code": "one per worker",
    "return_url": "Prolific's own; no button for `generic`",
    "name": "its kind",
    "criteria": "the two of §4.2, in the task's language",
    "importance": "none",
    "probability": "none",
}


def rows(section):
    """Return key -> default as the section's table says."""
    text = PAGE.split(f"\n{section}\n")[1].split("\n## ")[0].split("\n### ")[0]
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if match := re.fullmatch(r"`(\w+)`", cells[0]):
            found[match[1]] = cells[2]
    return found


@pytest.mark.parametrize("section", SECTIONS)
def test_every_key_stands_in_its_section_and_no_other(section):
    """A key without its entry would be found by nobody."""
    assert set(rows(section)) == SECTIONS[section]


@pytest.mark.parametrize("section", SECTIONS)
def test_every_default_is_the_real_one(section):
    """What the page says is what happens."""
    for key, said in rows(section).items():
        default = MODELS[section].model_fields[key].default
        if key in IN_WORDS:
            expected = IN_WORDS[key]
        elif default is PydanticUndefined:
            expected = "required"
        elif default is None:
            expected = "`null`"
        elif isinstance(default, bool):
            expected = f"`{str(default).lower()}`"
        else:
            expected = f"`{default}`"
        assert said == expected, key


def test_together_the_sections_have_every_key_of_every_kind():
    """A new key of the schema makes this fail until it is described."""
    described = set().union(*SECTIONS.values())
    for model in (StudyEntry, IntentVotes, SummaryPairs, StreamVisits, SummaryFiles, EventFiles):
        assert set(model.model_fields) <= described
