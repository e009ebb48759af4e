"""Kind of task `image_pairs`: workers judge pairs of pictures.

Examples are screenshots of result pages, generated pictures, and charts. A system that has pictures of some topics only is in the pairs of
those.
"""

from pathlib import Path
from typing import Literal

from metrics.errors import Fault
from study_app.study.entries import AssignedPairTask
from study_app.tasks.content import ImageFiles, TaskContent
from study_app.tasks.pair_kinds import AssignedPairKind
from study_app.tasks.task_kind import FinishedTask, NewTask, SideForm
from study_app.tasks.workload import (
    LOOKING_ASSUMED,
    PAIRS_ASSUMED,
    assigned_comments,
    assigned_work,
    chosen_only,
    options_phrase,
)


class ImagePairs(AssignedPairTask):
    """Judge pairs of pictures of a topic."""

    kind: Literal["image_pairs"]
    collection: ImageFiles


def _read(folder: Path, task: ImagePairs, faults: list[Fault]) -> TaskContent | None:
    from study_app.tasks.reading.images import read_image_content  # noqa: PLC0415 - see the room `reading`

    return read_image_content(folder, task, faults)


def _methods(task: FinishedTask) -> str:
    return f"a worker looked at two pictures of a topic, of {task.systems}{chosen_only(task.protocol)}, and judged: {options_phrase(task.protocol)}."


KIND = AssignedPairKind(
    entry=ImagePairs,
    criteria={
        "en": ("How well does it show what was asked for?", "How easily can you see it?"),
        "ja": ("求められたものを、どれだけよく表していますか", "それを、どれだけ見て取りやすいですか"),
    },
    topic="Topic",
    read=_read,
    side=SideForm(name="picture"),
    check=(3, 1),
    assumed=(*LOOKING_ASSUMED, *PAIRS_ASSUMED),
    work=lambda content: assigned_work(content, "topic"),
    tables=frozenset({"preferences", "reads", "media"}),
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
        comments=assigned_comments("topic"),
    ),
)
