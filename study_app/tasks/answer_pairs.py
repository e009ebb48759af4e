"""`answer_pairs`: workers judge pairs of texts that answer a question: passages, generated answers, answers with sources that open in place.

A system that answers only some questions is in the pairs of those.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from markupsafe import Markup

from metrics.errors import Fault
from study_app.protocol.items import summary_items
from study_app.study.entries import TakenPairs, of_form
from study_app.tasks.content import AnswerFiles, Shown, TaskContent, drawn_worth
from study_app.tasks.task_kind import FinishedTask, NewTask, SideForm, TaskKind
from study_app.tasks.workload import (
    JUDGED_COMMENTS,
    OPTIONS,
    PAIRS_ASSUMED,
    REPEATED_COMMENTS,
    chosen_only,
    counted,
    taken_capacity,
    taken_seconds,
    taking,
)

UNCITED = "end"
"""What stands for the block in the name of a source that no block cites."""


class AnswerPairs(TakenPairs):
    """Judge pairs of answers to a question."""

    kind: Literal["answer_pairs"]
    collection: AnswerFiles


def _read(folder: Path, task: AnswerPairs, faults: list[Fault]) -> TaskContent | None:
    from study_app.tasks.reading.answers import read_answer_content  # noqa: PLC0415 - see the room `reading`

    return read_answer_content(folder, task, faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSource:
    """A source: its line ``[1] Title`` and what opens below it, each under its key, and its address, which is text."""

    key: str
    title: str
    text_key: str
    text: str
    url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBlock:
    """A block of an answer with the sources that it cites; at the end a block without a text has those that none cites.

    ``place`` are number, tag and start of the list that it is an item of, None outside of lists.
    """

    key: str
    safe_html: str
    place: tuple[int, str, int] | None
    sources: tuple[ShownSource, ...]

    def html(self, side: str) -> Markup:
        """Return its HTML on a side of a page, on which each mark leads to its own source."""
        return Markup(self.safe_html.replace('href="#side:', f'href="#{side}-'))  # noqa: S704 - see `reading.marked_text`


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRun:
    """Blocks that stand in one list, or in none; ``tag`` is ul, ol or empty."""

    tag: str
    start: int
    blocks: tuple[ShownBlock, ...]


def shown_answer(content: Shown) -> tuple[BlockRun, ...]:
    """Return an answer's blocks: ``f3`` is element 3, a block or the line of a source; ``s3.0`` the text of source ``f3``."""
    return tuple(
        BlockRun(tag=place[1] if place else "", start=place[2] if place else 1, blocks=tuple(of_list))
        for place, of_list in groupby(_blocks(content["first"]), key=lambda block: block.place)
    )


def _blocks(first: list[dict[str, Any]]) -> Iterator[ShownBlock]:
    blocks = [number for number, element in enumerate(first) if element["kind"] == "iunit"]
    if first and blocks[:1] != [0]:
        blocks.insert(0, 0)
    for begin, end in zip(blocks, [*blocks[1:], len(first)], strict=True):
        block = first[begin]
        is_text = block["kind"] == "iunit"
        yield ShownBlock(
            key=f"f{begin}",
            safe_html=block["html"] if is_text else "",
            place=tuple(block["list"]) if is_text and block["list"] else None,
            sources=tuple(_source(number, first[number]) for number in range(begin + is_text, end)),
        )


def _source(number: int, element: Mapping[str, Any]) -> ShownSource:
    [below] = element["second"]
    return ShownSource(
        key=f"f{number}",
        title=element["text"],
        text_key=f"s{number}.0",
        text=below["text"],
        url=below["url"],
    )


def _sources_and_marks(shown: Shown) -> Iterator[str]:
    """Say whether an answer has lines of sources, and whether any stands below a block that cites it."""
    sources = [element["id"] for element in shown["first"] if element["kind"] == "link"]
    if sources:
        yield "sources"
    if any(not name.startswith(f"{UNCITED}:") for name in sources):
        yield "marks"


def _work(content: TaskContent) -> str:
    entry = of_form(content.entry, AnswerPairs)
    return (
        f"{taking(content, entry)}: {len(entry.systems)} systems, {counted(len(content.topics), 'question')}"
    )


def _methods(task: FinishedTask) -> str:
    return f"a worker read a question and two answers to it, of {task.systems}{chosen_only(task.protocol)}, and judged: {OPTIONS}."


KIND = TaskKind(
    entry=AnswerPairs,
    criteria={
        "en": ("How well does it answer the question?", "How far can you rely on what it says?"),
        "ja": ("質問にどれだけ答えていますか", "書かれていることを、どれだけ信頼できますか"),
    },
    cures={
        "pairs": "write all, or a file with `topic a b` on each line",
        "systems": "write NAME: FILE, one line per system, two at least",
        "collection": "write topics: FILE below it",
    },
    page="pair",
    unit="pair",
    wanted_key="pairs_per_worker",
    limit_key="judgments_per_pair",
    topic="Question",
    read=_read,
    side=SideForm(
        name="answer",
        value=lambda shown, _detail, _reveals: shown_answer(shown),
        items=summary_items,
        shows=lambda shown, _detail: tuple(_sources_and_marks(shown)),
    ),
    optional=("sources", "marks"),
    asks=lambda shows: ("first", "second" if "sources" in shows else "other"),
    check=(2, 3),
    seconds=lambda content: taken_seconds(content, of_form(content.entry, AnswerPairs)),
    assumed=PAIRS_ASSUMED,
    capacity=lambda content: taken_capacity(content, of_form(content.entry, AnswerPairs)),
    work=_work,
    tables=frozenset({"preferences", "reads"}),
    worth=lambda content, _people, _path: drawn_worth(content),
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
        comments={
            "pairs": "all pairs of a question, or a file with `topic a b` on each line: exactly these",
            "judgments_per_pair": "so many workers judge a pair; null is no limit",
            "pairs_per_worker": "a worker judges so many, of one question as far as there is room",
            "validation_pairs": "so many of a worker's pairs are shown once more",
            **REPEATED_COMMENTS,
            **JUDGED_COMMENTS,
        },
    ),
)
