"""Judged system pairs of a task.

They are those of a file with ``topic a b`` on each line, else those of all systems that have something for a
topic.

Topics without any are left out, with a note. The same for every kind of task whose pages are pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from metrics.errors import Fault, FaultLog, closest_name, join_names, pluralise
from metrics.readers.columns import read_columns
from metrics.topic_ids import STREAM_TOPICS, TopicNames
from study_app.study.entries import JudgingTask
from study_app.tasks.content import (
    EventFiles,
    PushFiles,
    SystemPair,
    TaskContent,
    collect_faults,
    source_files,
)

COLUMNS = ("topic", "a", "b")


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
    if not isinstance(content.entry, JudgingTask):
        return content
    name = content.entry.pairs_file
    if name is None:
        return _judged_only(content, content.system_pairs)
    chosen = collect_faults(faults, partial(_read, folder / name, content))
    if chosen is None:
        return None
    files = {**content.files, **source_files(folder, {"pairs": name})}
    return _judged_only(replace(content, files=files), chosen)


def _judged_only(content: TaskContent, couples: Mapping[str, Sequence[SystemPair]]) -> TaskContent:
    """Keep the topics that have pairs."""
    kept = {topic.id: tuple(couples[topic.id]) for topic in content.topics if couples.get(topic.id)}
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


def _read(path: Path, content: TaskContent) -> dict[str, list[SystemPair]]:
    """Read the pairs to judge, in the study file's order of systems.

    A first line may be a header.

    Raises
    ------
    InputError
        With every line that has not three fields, names a topic or a system that there is not, a system that shows nothing of
        the topic, one system twice, or a couple that stands above already; or if there is no couple.
    """
    log = FaultLog(path)
    topics = [topic.id for topic in content.topics]
    names, chosen = _names(path, content), dict[str, list[SystemPair]]()
    order = {system: index for index, system in enumerate(content.systems)}
    columns = read_columns(COLUMNS, log)
    for line, written, one, other in zip(columns.lines.tolist(), *columns.fields, strict=True):
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
        if (first, second) in chosen.setdefault(topic, []):
            cure = "delete one of the two lines"
            log.add(f"{first} and {second} of topic {topic} stand above already", line=line, cure=cure)
        chosen[topic].append((first, second))
    if not chosen and not log.faults:
        log.add("there are no pairs", line=1, cure="write topic and two systems on each line")
    log.raise_if_any()
    return chosen


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
        return f"{couple[0]} stands beside itself", "name two systems"
    return None


def _cure(name: str, known: Sequence[str] | Mapping[str, int]) -> str:
    near = closest_name(name, known)
    return f"did you mean {near!r}?" if near else f"known here: {join_names(known)}"
