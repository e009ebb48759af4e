"""What a task with answers needs: the questions, and each system's answers as blocks with their sources, ready to show.

A source stands right after each block that cites it, once a block; sources that nothing cites stand at the end.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

from metrics.errors import Fault, FaultLog
from metrics.readers.answers import Citation, GivenAnswer, read_answers
from metrics.readers.texts import read_ranked_topics
from metrics.summaries.trailtext import counted_chars
from metrics.topics import TopicNames
from metrics.wording import counted, listed
from study_app.study.entries import collection_paths
from study_app.tasks.answer_pairs import AnswerPairs
from study_app.tasks.content import Shown, TaskContent, TopicContent, source_files, tried
from study_app.tasks.reading.marked_text import brackets, marked_blocks, words_of

DIGITS = re.compile(r"\d+")


def read_answer_content(folder: Path, task: AnswerPairs, faults: list[Fault]) -> TaskContent | None:
    """Read one task's files; adds what is wrong with them to ``faults`` and returns None then."""
    paths = collection_paths(task)
    asked = tried(faults, partial(read_ranked_topics, folder / paths["topics"]))
    if asked is None:
        return None
    found = {
        name: tried(faults, partial(_system, folder / path, TopicNames(asked), paths["topics"]))
        for name, path in task.systems.items()
    }
    whole = {name: answers for name, answers in found.items() if answers is not None}
    if len(whole) < len(found):
        return None
    return TaskContent(
        entry=task,
        files=source_files(folder, paths),
        systems=source_files(folder, task.systems),
        topics=tuple(TopicContent(id=name, text=topic.text) for name, topic in asked.items()),
        shown={
            (topic, name): shown_answer_of(answer)
            for name, answers in whole.items()
            for topic, answer in answers.items()
        },
        tables={},
        notes=tuple(_notes(asked, whole)),
    )


def _system(path: Path, names: TopicNames, topics_file: str) -> dict[str, GivenAnswer]:
    """Read one system's answers by question.

    Raises
    ------
    InputError
        As `read_answers` does; else with every answer to no question of the collection, and every mark of a source that is not given.
    """
    log = FaultLog(path)
    answers: dict[str, GivenAnswer] = {}
    for written, answer in read_answers(path).items():
        topic = names.find(written)
        if topic is None:
            cure = f"add it to {topics_file}, or delete the answer"
            log.add(f"there is no topic {written}", line=answer.line, cure=cure)
            continue
        answers[topic] = answer
        for label in _missing(answer):
            log.add(
                f"the answer to topic {written} cites [{label}], which is not among its citations",
                line=answer.line,
                cure="add it there, or take the mark out of the text",
            )
    log.raise_if_any()
    return answers


def _missing(answer: GivenAnswer) -> list[str]:
    """Return the marks of sources that are not given: whole numbers in brackets, and what looks like a label that is given.

    An answer that says nothing of sources may have anything in brackets.
    """
    if answer.citations is None:
        return []
    given = {one.label for one in answer.citations}
    shapes = {"0", *(DIGITS.sub("0", label) for label in given)}
    used = dict.fromkeys(brackets(answer.text))
    return [label for label in used if label not in given and DIGITS.sub("0", label) in shapes]


def shown_answer_of(answer: GivenAnswer) -> Shown:
    """Return an answer ready to show; `models.StoredSummary` describes the form."""
    sources = {one.label: one for one in answer.citations or ()}
    first: list[dict[str, Any]] = []
    cited: set[str] = set()
    for number, block in enumerate(marked_blocks(answer.text, sources), start=1):
        keys = {label: f"f{place}" for place, label in enumerate(block.cited, start=len(first) + 1)}
        html, name = block.html(keys), f"b{number}"
        place = None if block.place is None else list(astuple(block.place))
        first.append({"kind": "iunit", "id": name, **_text(words_of(html)), "html": html, "list": place})
        first += [_source(sources[label], name) for label in block.cited]
        cited |= set(block.cited)
    first += [_source(one, "end") for one in sources.values() if one.label not in cited]
    return {"first": first}


def _source(source: Citation, block: str) -> dict[str, Any]:
    """Return the line of a source below a block, with its text below it."""
    name = f"{block}:{source.label}"
    below = {"kind": "iunit", "id": f"{name}:text", **_text(source.text.strip()), "url": source.url}
    return {
        "kind": "link",
        "id": name,
        **_text(f"[{source.label}] {source.title}".strip()),
        "second": [below],
    }


def _text(text: str) -> dict[str, Any]:
    return {"text": text, "words": len(text.split()), "chars": counted_chars(text)}


def _notes(asked: Iterable[str], systems: Mapping[str, Mapping[str, GivenAnswer]]) -> Iterator[str]:
    """Say which questions a system leaves open, and where marks of sources have no sources."""
    topics = list(asked)
    for name, answers in systems.items():
        silent = [topic for topic in topics if topic not in answers]
        if silent:
            yield f"{name}: no answer to {counted(len(silent), 'topic')} of {len(topics)}: {listed(silent)}"
        bare = [
            topic
            for topic, answer in answers.items()
            if answer.citations is None and any(map(str.isdecimal, brackets(answer.text)))
        ]
        if bare:
            yield (
                f"{name}: marks such as [1] and no citations in {counted(len(bare), 'answer')}, shown as text: "
                f"{listed(bare)}"
            )
