"""Files of the TREC Temporal Summarization track: judgments, runs and lengths.

It reads the files of 2013 and 2014.

| file | content |
|---|---|
| topics | XML: ``<event>`` elements with ``<id>``, ``<start>`` and ``<end>``, in seconds since 1970-01-01 UTC |
| nuggets | query_id, nugget_id, timestamp, importance, nugget_len, nugget_text |
| matches | query_id, update_id, nugget_id, match_start, match_end, auto_p |
| updates | query_id, update_id, doc_id, sentence_id, update_len, duplicate_id (NULL: no copy), update_text |
| run | ``qid team run doc sentence time confidence`` a line, separated by white space; the update is ``doc-sentence`` |
| lengths | query_id, update_id, words: a table like the others |

Tables are UTF-8, separated by tabs, without quoting, plain or gzip; a first line with the names of the columns is
skipped. A topic is written in its long form (``TS14.11``) or its short one (``11``) and called as in the nuggets file.
Judged are the topics of the XML with at least one nugget and one update; everything else is read and left out. Of a
run, confidence may be ``inf``, but not NaN; a time is a finite number of seconds since 1970-01-01 UTC.
"""

import math
from collections import defaultdict
from collections.abc import Container, Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from metrics.errors import FaultLog, InputError, raise_all
from metrics.events import Event, EventCollection, Match, Nugget, SkippedMatches, Update, UpdateRun
from metrics.readers.columns import read_columns
from metrics.readers.lines import differs, number, rows, run_name, whole_number
from metrics.readers.trees import XmlElement, read_xml
from metrics.topic_ids import STREAM_TOPICS, TopicNames

RUN = ("qid", "team", "run", "doc", "sentence", "time", "confidence")
LENGTHS = ("query_id", "update_id", "words")
Lengths: TypeAlias = dict[str, dict[str, float]]
"""Words by topic and update."""


def read_update_run(path: str | Path, *, name: str | None = None) -> UpdateRun:
    """Read and check a run; an empty file is a run without updates.

    Parameters
    ----------
    path : str or Path
        The file.
    name : str, optional
        Name of the run; by default that of the file, see `metrics.readers.lines.run_name`.

    Returns
    -------
    UpdateRun
        Every update, in file order.

    Raises
    ------
    InputError
        With every fault: a line has another number of fields or is not UTF-8; a time or confidence is no number.

    Examples
    --------
    >>> run = read_update_run("examples/two_layered/streams/runs/late.txt")
    >>> run.name, len(run.updates)
    ('late', 311)
    """
    log = FaultLog(path)
    columns = read_columns(RUN, log)
    topics, _, _, documents, sentences, times, confidences = columns.fields
    lines = columns.lines.tolist()
    seconds = [number(text, "time", line, log) for text, line in zip(times, lines, strict=True)]
    confidence = [
        number(text, "confidence", line, log, infinite=True)
        for text, line in zip(confidences, lines, strict=True)
    ]
    raise_all([log])
    return UpdateRun(
        name=name or run_name(path),
        topics=tuple(topics),
        updates=tuple(map("-".join, zip(documents, sentences, strict=True))),
        seconds=np.array(seconds, dtype=np.float64),
        confidence=np.array(confidence, dtype=np.float64),
    )


def read_lengths(path: str | Path, judged: Iterable[str]) -> Lengths:
    r"""Read the numbers of words of updates.

    Parameters
    ----------
    path : str or Path
        The file.
    judged : iterable of str
        Topics as the judgments name them; rows of other topics are checked and left out.

    Returns
    -------
    dict of str to dict of str to float
        Topic -> update -> words.

    Raises
    ------
    InputError
        With every fault: a row has another number of fields or is not UTF-8; words is no number or negative; an
        update stands twice with different lengths.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "lengths.tsv"
    >>> _ = path.write_text("query_id\tupdate_id\twords\n1\tu1\t12\n")
    >>> read_lengths(path, ["1"])
    {'1': {'u1': 12.0}}
    """
    log = FaultLog(path)
    names = TopicNames(judged, STREAM_TOPICS, where=path)
    lengths: Lengths = {}
    for line, (written, update, text) in rows(LENGTHS, log):
        words = number(text, "words", line, log)
        if words < 0:
            log.add(f"words is negative: {text}", line=line, cure="write 0 or more")
        topic = names.find(written)
        if topic is not None and differs(lengths.setdefault(topic, {}).setdefault(update, words), words):
            log.add(f"update {update} has another length above", line=line, cure="delete one of the two rows")
    raise_all([log])
    return lengths


NUGGETS = ("query_id", "nugget_id", "timestamp", "importance", "nugget_len", "nugget_text")
MATCHES = ("query_id", "update_id", "nugget_id", "match_start", "match_end", "auto_p")
UPDATES = (
    "query_id",
    "update_id",
    "doc_id",
    "sentence_id",
    "update_len",
    "duplicate_id",
    "update_text",
)
NO_ORIGINAL = frozenset({"", "NULL"})
MAX_IMPORTANCE = 100
SORTS_CURE = "the topics file is the track's XML (--topics-file), the others are tables (--nuggets, --matches, --updates)"
EVENT_CURE = "write <event><id>...</id><start>...</start><end>...</end></event>, times in seconds"
Nuggets: TypeAlias = dict[str, dict[str, Nugget]]
Updates: TypeAlias = dict[str, dict[str, Update]]
Matches: TypeAlias = dict[str, dict[str, tuple[Match, ...]]]
"""Matches by topic and update."""


class MatchedSpan(NamedTuple):
    """Begin and end of a topic."""

    start: float
    end: float


def read_events(
    *, topics: str | Path, nuggets: str | Path, matches: str | Path, updates: str | Path
) -> EventCollection:
    """Read and check the judgments.

    A match that names a nugget or an update which the other files lack is left out and counted in
    `EventCollection.skipped`; topics that one of the files lacks are in `EventCollection.incomplete`.

    Parameters
    ----------
    topics, nuggets, matches, updates : str or Path
        The files.

    Returns
    -------
    EventCollection
        Events by topic.

    Raises
    ------
    InputError
        With every fault of the four files: a row has another number of fields or is not UTF-8; an id is empty or
        stands twice; a number cannot be read; an event lacks an element or ends before it starts; no topic has both a
        nugget and an update.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/two_layered/streams"
    >>> events = prefcal.read_events(
    ...     topics=f"{folder}/topics.xml",
    ...     nuggets=f"{folder}/nuggets.tsv",
    ...     matches=f"{folder}/matches.tsv",
    ...     updates=f"{folder}/updates.tsv",
    ... )
    >>> list(events.topics)
    ['PC1-S-0001', 'PC1-S-0002']
    """
    logs = FaultLog(topics), FaultLog(nuggets), FaultLog(updates), FaultLog(matches)
    found = _read_nuggets(logs[1])
    spans = _read_spans(TopicNames(found, STREAM_TOPICS, where=topics), logs[0])
    sampled = _read_updates(TopicNames(found, STREAM_TOPICS, where=updates), logs[2])
    names = TopicNames(found, STREAM_TOPICS, where=matches)
    matched, skipped = _read_matches(names, found, sampled, logs[3])
    judged = [topic for topic in spans if found.get(topic) and sampled.get(topic)]
    if not judged and not any(log.faults for log in logs):
        logs[0].add("no topic has both a nugget and an update", line=1, cure="name files of one collection")
    raise_all(logs)
    events = {
        topic: Event(
            start=spans[topic].start,
            end=spans[topic].end,
            nuggets=found[topic],
            updates=sampled[topic],
            matches=matched.get(topic, {}),
        )
        for topic in judged
    }
    incomplete = tuple(topic for topic in {**spans, **found, **sampled} if topic not in events)
    return EventCollection(name=str(nuggets), topics=events, skipped=skipped, incomplete=incomplete)


def _read_spans(names: TopicNames, log: FaultLog) -> dict[str, MatchedSpan]:
    """Read begin and end of each topic.

    A topic without nuggets keeps its id as written.
    """
    spans: dict[str, MatchedSpan] = {}
    try:
        root = read_xml(log.path, hint=SORTS_CURE)
    except InputError as error:
        log.faults += error.faults
        return spans
    events = [child for child in root.children if child.tag == "event"]
    for event in events:
        written = _content(event, "id", log)
        span = MatchedSpan(_time(event, "start", log), _time(event, "end", log))
        topic = names.find(written) or written
        if written and topic in spans:
            log.add(f"duplicate topic {written!r}", line=event.line, cure="delete one of the two events")
        elif span.end <= span.start:
            log.add(
                f"topic {written!r} ends before it starts", line=event.line, cure="mend <start> and <end>"
            )
        spans[topic] = span
    if not events:
        log.add("there is no <event>", line=root.line, cure=EVENT_CURE)
    return spans


def _content(event: XmlElement, tag: str, log: FaultLog) -> str:
    """Return the text of a child of an event; note a missing or empty child."""
    child = next((child for child in event.children if child.tag == tag), None)
    text = "" if child is None else child.text.strip()
    if not text:
        log.add(f"the event has no <{tag}>", line=event.line, cure=EVENT_CURE)
    return text


def _time(event: XmlElement, tag: str, log: FaultLog) -> float:
    """Parse a time of an event; note a fault and return NaN otherwise."""
    text = _content(event, tag, log)
    return number(text, f"<{tag}>", event.line, log) if text else math.nan


def _read_nuggets(log: FaultLog) -> Nuggets:
    """Read the nuggets, which also define the written form of topics."""
    nuggets: Nuggets = defaultdict(dict)
    for line, (topic, name, seconds, importance, words, text) in rows(NUGGETS, log, of_xml=SORTS_CURE):
        if _is_new(topic, name, nuggets[topic], "nugget", line, log):
            nuggets[topic][name] = Nugget(
                number(seconds, "timestamp", line, log),
                _importance(importance, line, log),
                _length(words, "nugget_len", line, log),
                text,
            )
    return dict(nuggets)


def _read_updates(names: TopicNames, log: FaultLog) -> Updates:
    """Read the sampled updates of topics that have nuggets.

    Updates of other topics are checked and left out.
    """
    updates: Updates = defaultdict(dict)
    for line, (written, name, _, _, words, original, text) in rows(UPDATES, log, of_xml=SORTS_CURE):
        topic = names.find(written) or written
        if _is_new(topic, name, updates[topic], "update", line, log):
            updates[topic][name] = Update(
                text, _length(words, "update_len", line, log), None if original in NO_ORIGINAL else original
            )
    return dict(updates)


def _read_matches(
    names: TopicNames, nuggets: Nuggets, updates: Updates, log: FaultLog
) -> tuple[Matches, SkippedMatches]:
    """Read the matches, and count those with an unknown nugget or update."""
    found: defaultdict[str, defaultdict[str, list[Match]]] = defaultdict(lambda: defaultdict(list))
    without_nugget = without_update = 0
    for line, (written, update, nugget, start, end, _) in rows(MATCHES, log, of_xml=SORTS_CURE):
        match = Match(nugget, _length(start, "match_start", line, log), _length(end, "match_end", line, log))
        topic = names.find(written)
        if topic is None or nugget not in nuggets[topic]:
            without_nugget += 1
        elif update not in updates.get(topic, {}):
            without_update += 1
        else:
            found[topic][update].append(match)
    closed = {
        topic: {update: tuple(matches) for update, matches in of_topic.items()}
        for topic, of_topic in found.items()
    }
    return closed, SkippedMatches(nugget=without_nugget, update=without_update)


def _is_new(topic: str, name: str, known: Container[str], what: str, line: int, log: FaultLog) -> bool:
    """Return whether a row is the first of its ids; note a repeated or empty id."""
    if not topic or not name:
        log.add("an id is empty", line=line, cure=f"write query_id and {what}_id")
        return False
    if name in known:
        log.add(f"duplicate {what} {name} of topic {topic}", line=line, cure="delete one of the two rows")
        return False
    return True


def _importance(text: str, line: int, log: FaultLog) -> float:
    """Parse an importance; note a fault, or one too large for its exponential."""
    value = number(text, "importance", line, log)
    if abs(value) > MAX_IMPORTANCE:
        log.add(f"importance is out of range: {text}", line=line, cure="write 0, 1, 2 or 3")
    return value


def _length(text: str, what: str, line: int, log: FaultLog) -> int:
    """Parse a whole number from 0; note anything else."""
    value = whole_number(text, what, line, log)
    if value < 0:
        log.add(f"{what} is negative: {text}", line=line, cure="write 0 or more")
    return value
