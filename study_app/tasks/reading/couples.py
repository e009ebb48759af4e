"""Judged system pairs of a task, and its gold pairs.

They are those of a file with ``topic a b`` on each line, else those of all systems that have something for a topic. Pairs of the file of
gold pairs, ``topic a b answer``, are not judged but have a known answer. Topics without any are left out, with a note. The same for every
kind of task whose pages are pairs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from metrics.errors import Fault, FaultLog, closest_name, join_names, pluralise
from metrics.readers.columns import read_columns
from metrics.topic_ids import STREAM_TOPICS, TopicNames
from study_app.study.entries import ChosenTopicTask, JudgingTask
from study_app.tasks.content import (
    EventFiles,
    GoldPair,
    PushFiles,
    SystemPair,
    TaskContent,
    collect_faults,
    source_files,
)

COLUMNS = ("topic", "a", "b")
EQUAL = "equally_good"
"""Answer of a gold pair neither of whose sides is better."""


def with_pairs(folder: Path, content: TaskContent, faults: list[Fault]) -> TaskContent | None:
    """Return a task with its chosen pairs, and without topics that have none.

    Parameters
    ----------
    folder : Path
        Of the study file.
    content : TaskContent
        As its kind has read it; without pairs it comes back as it is.
    faults : list of Fault
        Gets what is wrong with the file of pairs; None comes back then.
    """
    entry = content.entry
    if not isinstance(entry, JudgingTask):
        return content
    gold: _Gold | None = {}
    if entry.gold_pairs is not None:
        path = entry.gold_pairs
        gold = collect_faults(faults, partial(_read_gold, folder / path, content))
        files = {**content.files, **source_files(folder, {"gold_pairs": path})}
        content = replace(content, files=files, gold=gold or {})
    couples: Mapping[str, Sequence[SystemPair]] | None = _without_gold(content)
    if entry.pairs_file is not None:
        couples = collect_faults(faults, partial(_read, folder / entry.pairs_file, content))
        files = {**content.files, **source_files(folder, {"pairs": entry.pairs_file})}
        content = replace(content, files=files)
    if couples is None or gold is None:
        return None
    faults += _lone_gold(folder, content, couples)
    return _judged_only(content, couples)


def _lone_gold(
    folder: Path, content: TaskContent, couples: Mapping[str, Sequence[SystemPair]]
) -> Iterator[Fault]:
    """Yield the topics with gold pairs alone, where workers choose a topic and its gold pairs come with its others."""
    if isinstance(content.entry, ChosenTopicTask):
        for topic in content.gold:
            if not couples.get(topic):
                yield Fault(
                    problem=f"topic {topic} has gold pairs alone, and workers choose a topic to judge its pairs",
                    cure="leave one of its pairs out here, or name another in pairs",
                    path=str(folder / str(content.entry.gold_pairs)),
                    line=1,
                )


def _without_gold(content: TaskContent) -> Mapping[str, Sequence[SystemPair]]:
    """Return all pairs of the systems, without those that have a known answer."""
    known = {topic: {gold.systems for gold in golds} for topic, golds in content.gold.items()}
    return {
        topic: [couple for couple in couples if couple not in known.get(topic, ())]
        for topic, couples in content.system_pairs.items()
    }


def _judged_only(content: TaskContent, couples: Mapping[str, Sequence[SystemPair]]) -> TaskContent:
    """Keep the topics that have pairs, if only gold pairs."""
    kept = {
        topic.id: tuple(couples.get(topic.id, ()))
        for topic in content.topics
        if couples.get(topic.id) or topic.id in content.gold
    }
    silent = [topic.id for topic in content.topics if topic.id not in kept]
    if not silent:
        return replace(content, chosen=kept)
    note = f"{pluralise(len(silent), 'topic')} without a pair, not shown: {join_names(silent)}"
    return replace(
        content,
        topics=tuple(topic for topic in content.topics if topic.id in kept),
        sides={key: side for key, side in content.sides.items() if key[0] in kept},
        chosen=kept,
        notes=(*content.notes, note),
    )


_Line: TypeAlias = tuple[int, str, SystemPair, tuple[str, ...]]
"""Line, topic, two systems in the study file's order, and the fields after them."""
_Gold: TypeAlias = dict[str, tuple[GoldPair, ...]]


def _read(path: Path, content: TaskContent) -> dict[str, list[SystemPair]]:
    """Read the pairs to judge; raises `InputError` as `_lines` does, and for gold pairs among them."""
    log, chosen = FaultLog(path), dict[str, list[SystemPair]]()
    gold = {(topic, pair.systems) for topic, golds in content.gold.items() for pair in golds}
    for line, topic, couple, _ in _lines(log, path, content, COLUMNS):
        if (topic, couple) in gold:
            cure = "delete the line here or there: a gold pair is not judged"
            log.add(f"{couple[0]} and {couple[1]} of topic {topic} are a gold pair too", line=line, cure=cure)
        chosen.setdefault(topic, []).append(couple)
    log.raise_if_any()
    return chosen


def _read_gold(path: Path, content: TaskContent) -> _Gold:
    """Read the pairs with a known answer.

    Raises
    ------
    InputError
        As `_lines` does; with answers that are neither of the two systems nor a tie.
    """
    log, known = FaultLog(path), dict[str, list[GoldPair]]()
    for line, topic, couple, (answer,) in _lines(log, path, content, (*COLUMNS, "answer")):
        if answer not in {*couple, EQUAL}:
            cure = f"write {couple[0]}, {couple[1]} or {EQUAL}"
            log.add(f"the answer is {answer}, which is no system of the pair", line=line, cure=cure)
        pair = GoldPair(systems=couple, better=None if answer == EQUAL else answer)
        known.setdefault(topic, []).append(pair)
    log.raise_if_any()
    return {topic: tuple(pairs) for topic, pairs in known.items()}


def _lines(log: FaultLog, path: Path, content: TaskContent, columns: Sequence[str]) -> Iterator[_Line]:
    """Yield the sound lines of a file of pairs, with their systems in the study file's order.

    A first line may be a header. Every line that lacks fields, names a topic or a system that there is not, a system that shows nothing
    of the topic, one system twice, or a couple that stands above already is a fault, and so is a file without a couple.
    """
    topics = [topic.id for topic in content.topics]
    names, seen = _names(path, content), set[tuple[str, SystemPair]]()
    order = {system: index for index, system in enumerate(content.systems)}
    read = read_columns(columns, log)
    for line, written, one, other, *rest in zip(read.lines.tolist(), *read.fields, strict=True):
        topic = names.find(written)
        if topic is None and line == 1 and written == COLUMNS[0]:
            continue
        if topic is None:
            log.add(f"there is no topic {written}", line=line, cure=_cure(written, topics))
            continue
        problem = _problem(content, topic, (one, other), order)
        if problem is not None:
            log.add(problem[0], line=line, cure=problem[1])
            continue
        first, second = sorted((one, other), key=order.__getitem__)
        if (topic, (first, second)) in seen:
            cure = "delete one of the two lines"
            log.add(f"duplicate couple {first} and {second} of topic {topic}", line=line, cure=cure)
            continue
        seen.add((topic, (first, second)))
        yield line, topic, (first, second), tuple(rest)
    if not seen and not log.faults:
        log.add("there are no pairs", line=1, cure="write topic and two systems on each line")


def _names(path: Path, content: TaskContent) -> TopicNames:
    """Return the topics as the collection names them.

    Topics of streams have short forms too.
    """
    has_forms = isinstance(getattr(content.entry, "collection", None), EventFiles | PushFiles)
    topics = [topic.id for topic in content.topics]
    return TopicNames(topics, STREAM_TOPICS if has_forms else None, where=path)


def _problem(
    content: TaskContent, topic: str, couple: SystemPair, order: Mapping[str, int]
) -> tuple[str, str] | None:
    """Return the fault of a pair that cannot be judged, with a hint, or None."""
    for system in couple:
        if system not in order:
            return f"there is no system {system}", _cure(system, order)
        if (topic, system) not in content.sides:
            return f"{system} shows nothing of topic {topic}", "delete the line, or add to the system's file"
    if couple[0] == couple[1]:
        return f"{couple[0]} is paired with itself", "name two systems"
    return None


def _cure(name: str, known: Sequence[str] | Mapping[str, int]) -> str:
    near = closest_name(name, known)
    return f"did you mean {near!r}?" if near else f"known here: {join_names(known)}"
