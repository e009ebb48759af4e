"""What people see of a collection of documents: queries in words, and documents with title and text.

| file | content |
|---|---|
| topics | ``topic<TAB>text`` a line, or ``topic<TAB>text<TAB>asked_at``: the day on which the query was asked |
| texts | ``docid<TAB>title<TAB>text`` a line; title and text may be empty |

Files are UTF-8, plain or gzip, without quoting; a first line with the names above is a header. No measure needs them.
"""

from dataclasses import dataclass
from pathlib import Path

from metrics.errors import FaultLog
from metrics.readers.lines import rows, text_lines
from metrics.readers.timestamps import calendar_window

TOPIC = ("topic", "text", "asked_at")
DOCUMENT = ("docid", "title", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTopic:
    """A query in words, and the day ``2001-09-11`` on which it was asked, where the file says so."""

    text: str
    asked_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentText:
    """What is shown of a document."""

    title: str
    text: str


def read_ranked_topics(path: str | Path) -> dict[str, AskedTopic]:
    """Read the queries, in the order of the file.

    ``asked_at`` is a date or a timestamp as in `metrics.readers.timestamps`, or empty.

    Raises
    ------
    InputError
        With every line that has another number of fields or is not UTF-8, every topic without a text or that stands
        twice, every ``asked_at`` that is no timestamp; or if there is no topic.
    """
    log = FaultLog(path)
    topics: dict[str, AskedTopic] = {}
    for line, written in text_lines(path, log):
        fields = [field.strip() for field in written.split("\t")]
        if not any(fields) or (line == 1 and tuple(fields) in {TOPIC, TOPIC[:2]}):
            continue
        if len(fields) not in {2, 3}:
            cure = "write topic, text and, if it is known, asked_at, separated by tabs"
            log.add(f"2 or 3 fields expected, got {len(fields)}", line=line, cure=cure)
            continue
        name, text, asked_at = (*fields, "")[:3]
        if not text:
            log.add(f"topic {name} has no text", line=line, cure="write the query in words")
        if name in topics:
            log.add(f"topic {name} stands twice", line=line, cure="delete one of the two lines")
        topics[name] = AskedTopic(text=text, asked_at=_day(asked_at, line, log))
    if not topics and not log.faults:
        log.add("there are no topics", line=1, cure="write topic and text on each line")
    log.raise_if_any()
    return topics


def read_document_texts(path: str | Path) -> dict[str, DocumentText]:
    """Read title and text of each document, in the order of the file.

    Raises
    ------
    InputError
        With every line that has another number of fields or is not UTF-8, and every document that stands twice.
    """
    log = FaultLog(path)
    texts: dict[str, DocumentText] = {}
    for line, (document, title, text) in rows(path, DOCUMENT, log):
        if document in texts:
            log.add(f"document {document} stands twice", line=line, cure="delete one of the two lines")
        texts[document] = DocumentText(title=title.strip(), text=text.strip())
    log.raise_if_any()
    return texts


def _day(text: str, line: int, log: FaultLog) -> str | None:
    """Return the day of a timestamp, None for an empty one."""
    day = calendar_window(text, "day")
    if text and day is None:
        cure = "write a date such as 2001-09-11, or leave it out"
        log.add(f"asked_at is no date: {text!r}", line=line, cure=cure)
    return day
