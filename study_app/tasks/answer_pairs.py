"""Kind of task `answer_pairs`: workers judge pairs of answers to a question.

Answers are passages, generated texts, or texts with sources that open in place. A system that answers only some questions is in the pairs
of those.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal

from markupsafe import Markup

from metrics.errors import Fault
from study_app.protocol.sides import Block, ListPlace, Side
from study_app.study.entries import AssignedPairTask
from study_app.tasks.content import AnswerFiles, TaskContent
from study_app.tasks.pair_kinds import AssignedPairKind
from study_app.tasks.task_kind import FinishedTask, NewTask, SideForm
from study_app.tasks.workload import assigned_comments, assigned_work, chosen_only, options_phrase

UNCITED = "end"
"""Block name within the id of a source that no block cites."""


class AnswerPairs(AssignedPairTask):
    """Judge pairs of answers to a question."""

    kind: Literal["answer_pairs"]
    collection: AnswerFiles


def _read(folder: Path, task: AnswerPairs, faults: list[Fault]) -> TaskContent | None:
    from study_app.tasks.reading.answers import read_answer_content  # noqa: PLC0415 - see the room `reading`

    return read_answer_content(folder, task, faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPart:
    """Block of an answer with the sources that it cites.

    A last part without a text has the sources that no block cites.
    """

    text: Block | None
    sources: tuple[Block, ...]

    @property
    def place(self) -> ListPlace | None:
        """The list that it is an item of, None outside of lists."""
        return None if self.text is None else self.text.list_place

    def html(self, side: str) -> Markup:
        """Return its HTML on a side of a page, on which each mark leads to its own source."""
        safe_html = "" if self.text is None else self.text.html
        return Markup(safe_html.replace('href="#side:', f'href="#{side}-'))  # noqa: S704 - see `reading.answers`


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRun:
    """Consecutive parts of an answer in one list, or in none.

    ``tag`` is ul, ol or empty.
    """

    tag: str
    start: int
    parts: tuple[AnswerPart, ...]


def shown_answer(answer: Side) -> tuple[PartRun, ...]:
    """Return an answer's parts, those of one list together."""
    return tuple(
        PartRun(
            tag=list_place.tag if list_place else "",
            start=list_place.start if list_place else 1,
            parts=tuple(of_list),
        )
        for list_place, of_list in groupby(_parts(answer.blocks), key=lambda part: part.place)
    )


def _parts(blocks: Sequence[Block]) -> Iterator[AnswerPart]:
    texts = [number for number, block in enumerate(blocks) if block.kind == "iunit"]
    if blocks and texts[:1] != [0]:
        texts.insert(0, 0)
    for begin, end in zip(texts, [*texts[1:], len(blocks)], strict=True):
        text = blocks[begin] if blocks[begin].kind == "iunit" else None
        yield AnswerPart(text=text, sources=tuple(blocks[begin + (text is not None) : end]))


def _sources_and_marks(answer: Side) -> Iterator[str]:
    """Yield the features of an answer: sources, and marks that cite them."""
    sources = [block.id for block in answer.blocks if block.kind == "link"]
    if sources:
        yield "sources"
    if any(not name.startswith(f"{UNCITED}:") for name in sources):
        yield "marks"


def _methods(task: FinishedTask) -> str:
    return f"a worker read a question and two answers to it, of {task.systems}{chosen_only(task.protocol)}, and judged: {options_phrase(task.protocol)}."


KIND = AssignedPairKind(
    entry=AnswerPairs,
    criteria={
        "en": ("How well does it answer the question?", "How far can you rely on what it says?"),
        "ja": ("質問にどれだけ答えていますか", "書かれていることを、どれだけ信頼できますか"),
    },
    topic="Question",
    read=_read,
    side=SideForm(
        name="answer",
        is_free_text=True,
        value=lambda side, _detail, _reveals: shown_answer(side),
        shows=lambda side, _detail: tuple(_sources_and_marks(side)),
    ),
    optional=("sources", "marks"),
    asks=lambda shows: ("first", "second" if "sources" in shows else "other"),
    check=(2, 3),
    work=lambda content: assigned_work(content, "question"),
    methods=_methods,
    new=NewTask(
        name="answers",
        runs={"answers": 2},
        telling=2,
        title={"en": "Which answer helps you more?", "ja": "どちらの答えが役に立ちますか"},
        activity={
            "en": "you read questions, and compare pairs of answers to them",
            "ja": "質問を読み、その答えを二つずつ比べます",
        },
        comments=assigned_comments("question"),
    ),
)
