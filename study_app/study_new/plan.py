"""Which tasks a study could have from the collections that were found."""

import math
from collections.abc import Sequence

from study_app.study.text_language import looks_japanese
from study_app.study_new.collections import Found
from study_app.study_new.compose import TaskPlan
from study_app.tasks.kinds import KINDS


def possible_tasks(whole: Sequence[Found]) -> list[TaskPlan]:
    """Return every task that the collections have enough runs for, in the order in which workers would do them."""
    return [
        TaskPlan(kind=kind, new=kind.new, found=found)
        for found in whole
        for kind in KINDS.values()
        if kind.new is not None and len(found.runs) >= kind.new.runs.get(found.family, math.inf)
    ]


def usual_tasks(possible: Sequence[TaskPlan]) -> list[TaskPlan]:
    """Return the tasks to write where nobody says which."""
    return [task for task in possible if task.new.usual(task.found)]


def language_of(whole: Sequence[Found]) -> str:
    """Return ja where the texts are mostly Japanese, else en."""
    texts = (
        row[-1]
        for found in whole
        for key, file in found.files.items()
        if key in {"queries", "texts", "nuggets", "topics"}
        for row in file.rows[:1_000]
    )
    return "ja" if looks_japanese(texts) else "en"
