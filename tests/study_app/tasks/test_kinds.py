"""The one table of kinds of task: everything that a kind needs is there, and nothing outside the room names a kind."""

import re
from pathlib import Path

import pytest

from calibration.tables.tables import TABLES
from study_app.study.entries import FollowedTask, JudgingTask, QuestionTask, RatedTask, TaskEntry
from study_app.tasks.kinds import KINDS

ROOT = Path(__file__).parents[3]
NEEDED = {
    "pair": JudgingTask,
    "rate": RatedTask,
    "stream": FollowedTask,
    "questions": QuestionTask,
    "vote": TaskEntry,
}
"""Kind of answer pages -> what the entry of a task with such pages has."""
ALLOWED = {
    "study_app/cli/study/new.py",
    *("study_app/report/parts/streams.py", "study_app/report/stream_scores.py"),
    *(f"study_app/cli/plan/{plan}.py" for plan in ("agreement", "parameters", "ranking")),
}
"""Modules that name kinds as `calibration` does, for the measures and plans that there are for them; and help with an example."""


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_kind_has_what_its_pages_need(kind):
    """An entry with their keys; for pairs a form of the sides, what they are worth, and criteria in every language."""
    assert issubclass(kind.entry, NEEDED[kind.page])
    has_pairs = kind.page == "pair"
    assert (kind.side is not None, kind.worth is not None, set(kind.criteria) == {"en", "ja"}) == (
        (has_pairs,) * 3
    )
    assert ("preferences" in kind.tables) == has_pairs
    assert kind.tables <= set(TABLES)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_keys_that_a_kind_names_are_keys_of_its_entry(kind):
    """A key that was renamed would else be looked for while a worker waits."""
    named = {kind.wanted_key, kind.limit_key, *kind.free_keys, *kind.same_in_all, *kind.parts} - {None}
    assert named <= set(kind.entry.model_fields)
    assert (kind.wanted_key is None) == (kind.unit == "all")


def test_no_other_room_names_a_kind():
    """What differs between kinds stands in their modules; a table of the same name (intent_votes) is no kind."""
    words = {name for name in KINDS if name not in TABLES and name != "questions"}
    words |= {kind.entry.__name__ for kind in KINDS.values() if kind.name != "questions"}
    named = re.compile(rf"\b({'|'.join(words)})\b")
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "study_app").rglob("*.py")
        if not path.is_relative_to(ROOT / "study_app/tasks")
        and named.search(path.read_text(encoding="utf-8"))
    }
    assert found <= ALLOWED
