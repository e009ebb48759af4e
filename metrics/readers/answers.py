r"""Answers to questions in words, with the sources that they cite: what a system wrote, as a file.

| file | content |
|---|---|
| answers | ``{"topic": ID, "text": TEXT, "citations": [{"label", "title", "text", "url"?}, ...]?}`` a line |
| answers | ``topic<TAB>text`` a line |

Files are UTF-8, plain or gzip; their first character tells which form they have. Of the second a first line with the names above is a
header. A system need not answer every question. What the texts look like is up to those who show them. No measure needs any of these.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics.errors import FaultLog
from metrics.readers.lines import read_bytes, rows, text_lines
from metrics.wording import listed, nearest

ANSWER = ("topic", "text", "citations")
CITATION = ("label", "title", "text", "url")
COLUMNS = ("topic", "text")
FORM = 'write {"topic": ID, "text": TEXT} on one line'


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A source: what stands in brackets where it is cited, its title, which may be empty, its text, and its address."""

    label: str
    title: str
    text: str
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """An answer to one question; ``line`` is where it stands. ``citations`` is None where nothing is said of sources."""

    text: str
    line: int
    citations: tuple[Citation, ...] | None = None


def read_answers(path: str | Path) -> dict[str, GivenAnswer]:
    """Read the answers of one system, by topic as written, in the order of the file.

    Raises
    ------
    InputError
        With every fault: a line is not UTF-8, is not JSON, or has another number of fields; a member is missing, not known or no
        text; an answer without a topic or a text; a topic or the label of a citation that stands twice; or if there is no answer.
    """
    log = FaultLog(path)
    is_json = read_bytes(path).lstrip()[:1] == b"{"
    answers: dict[str, GivenAnswer] = {}
    for topic, answer in _from_json(log) if is_json else _from_rows(log):
        if not topic:
            log.add("an answer without a topic", line=answer.line, cure="say which question it answers")
        elif not answer.text:
            log.add(f"the answer to topic {topic} is empty", line=answer.line, cure="write one, or delete it")
        elif topic in answers:
            cure = "delete one of the two lines; each system has a file of its own"
            log.add(f"topic {topic} is answered twice", line=answer.line, cure=cure)
        answers[topic] = answer
    if not answers and not log.faults:
        log.add("there are no answers", line=1, cure=FORM)
    log.faults.sort(key=lambda fault: fault.line or 0)
    log.raise_if_any()
    return answers


def _from_rows(log: FaultLog) -> Iterator[tuple[str, GivenAnswer]]:
    for line, (topic, text) in rows(log.path, COLUMNS, log):
        yield topic.strip(), GivenAnswer(text=text.strip(), line=line)


def _from_json(log: FaultLog) -> Iterator[tuple[str, GivenAnswer]]:
    for line, text in text_lines(log.path, log):
        if not text or text.isspace():
            continue
        try:
            plain = json.loads(text)
        except (ValueError, RecursionError):
            log.add("the line is not JSON", line=line, cure=FORM)
            continue
        if _fits(plain, ANSWER, ("topic", "text"), "the answer", line, log):
            yield (
                plain["topic"].strip(),
                GivenAnswer(text=plain["text"].strip(), line=line, citations=_citations(plain, line, log)),
            )


def _citations(answer: Mapping[str, Any], line: int, log: FaultLog) -> tuple[Citation, ...] | None:
    given = answer.get("citations")
    if given is None:
        return None
    if not isinstance(given, list):
        log.add("citations is no list", line=line, cure="write [] or a list of sources")
        return ()
    fitting = [
        one for one in given if _fits(one, CITATION, ("label", "title", "text"), "a citation", line, log)
    ]
    labels: set[str] = set()
    for one in fitting:
        label = one["label"]
        if label in labels or not label.strip() or set(label) & set("[]"):
            problem = f"the label {label!r} stands twice" if label in labels else f"{label!r} is no label"
            log.add(problem, line=line, cure="give each citation its own label, without brackets")
        labels.add(label)
        if not one["text"].strip():
            log.add(f"citation {label} has no text", line=line, cure="write what the source says")
    return tuple(
        Citation(**{key: value for key, value in one.items() if value is not None}) for one in fitting
    )


def _fits(
    plain: Any, known: tuple[str, ...], needed: tuple[str, ...], what: str, line: int, log: FaultLog
) -> bool:
    """Note what is wrong with the members of an object; those that are text must be text, and whole characters."""
    if not isinstance(plain, dict):
        log.add(f"{what} is no object", line=line, cure=FORM)
        return False
    before = len(log.faults)
    for name in plain:
        if name not in known:
            near = nearest(name, known)
            cure = f"did you mean {near!r}?" if near else f"known here: {listed(known)}"
            log.add(f"{what} has {name!r}, which is not known", line=line, cure=cure)
    for name in known:
        value = plain.get(name)
        if value is None and name in needed:
            log.add(f"{what} has no {name}", line=line, cure=f'write "{name}": ...')
        elif name != "citations" and value is not None and not _is_text(value):
            log.add(f"{name} of {what} is no text", line=line, cure="write it in quotes")
    return len(log.faults) == before


def _is_text(value: Any) -> bool:
    """Say whether a value is text without half of a character (a lone surrogate)."""
    return isinstance(value, str) and not any("\ud800" <= one <= "\udfff" for one in value)
