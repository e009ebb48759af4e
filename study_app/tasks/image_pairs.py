"""`image_pairs`: workers judge pairs of pictures: screenshots of result pages, generated pictures, charts.

A system that has pictures of some topics only is in the pairs of those.
"""

from pathlib import Path
from typing import Literal

from metrics.errors import Fault
from study_app.study.entries import AssignedPairTask, expect_entry_type
from study_app.tasks.content import ImageFiles, TaskContent, drawn_worth
from study_app.tasks.task_kind import FinishedTask, NewTask, SideForm, TaskKind
from study_app.tasks.workload import (
    JUDGED_COMMENTS,
    LOOKING_ASSUMED,
    OPTIONS,
    PAIRS_ASSUMED,
    REPEATED_COMMENTS,
    chosen_only,
    count_phrase,
    taken_capacity,
    taken_seconds,
    taking,
)


class ImagePairs(AssignedPairTask):
    """Judge pairs of pictures of a topic."""

    kind: Literal["image_pairs"]
    collection: ImageFiles


def _read(folder: Path, task: ImagePairs, faults: list[Fault]) -> TaskContent | None:
    from study_app.tasks.reading.images import read_image_content  # noqa: PLC0415 - see the room `reading`

    return read_image_content(folder, task, faults)


def _work(content: TaskContent) -> str:
    entry = expect_entry_type(content.entry, ImagePairs)
    return f"{taking(content, entry)}: {len(entry.systems)} systems, {count_phrase(len(content.topics), 'topic')}"


def _methods(task: FinishedTask) -> str:
    return f"a worker looked at two pictures of a topic, of {task.systems}{chosen_only(task.protocol)}, and judged: {OPTIONS}."


KIND = TaskKind(
    entry=ImagePairs,
    criteria={
        "en": ("How well does it show what was asked for?", "How easily can you see it?"),
        "ja": ("求められたものを、どれだけよく表していますか", "それを、どれだけ見て取りやすいですか"),
    },
    cures={
        "pairs": "write all, a file with `topic a b` on each line, or {adaptive: best, budget: N}",
        "systems": "write NAME: FILE, one line per system, two at least",
        "collection": "write topics: FILE below it",
    },
    page="pair",
    unit="pair",
    wanted_key="pairs_per_worker",
    limit_key="judgments_per_pair",
    topic="Topic",
    read=_read,
    side=SideForm(name="picture"),
    check=(3, 1),
    seconds=lambda content: taken_seconds(content, expect_entry_type(content.entry, ImagePairs)),
    assumed=(*LOOKING_ASSUMED, *PAIRS_ASSUMED),
    capacity=lambda content: taken_capacity(content, expect_entry_type(content.entry, ImagePairs)),
    work=_work,
    tables=frozenset({"preferences", "reads", "media"}),
    worth=lambda content, _people, _path: drawn_worth(content),
    methods=_methods,
    new=NewTask(
        name="pictures",
        runs={"images": 2},
        telling=2,
        title={"en": "Which picture is better?", "ja": "どちらの画像が良いですか"},
        activity={
            "en": "you compare pairs of pictures",
            "ja": "画像を二つずつ比べます",
        },
        comments={
            "pairs": "all pairs of a topic, or a file with `topic a b` on each line: exactly these",
            "judgments_per_pair": "workers who judge each pair; null is no limit",
            "pairs_per_worker": "pairs that a worker judges, of one topic as far as there is room",
            "validation_pairs": "pairs that a worker sees once more",
            **REPEATED_COMMENTS,
            **JUDGED_COMMENTS,
        },
    ),
)
