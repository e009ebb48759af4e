"""Texts for people to read: documents, queries in words, interest profiles.

| file | content |
|---|---|
| tweets | ``tweet_id<TAB>text`` a line |
| topics | ``topic<TAB>text`` a line, or ``topic<TAB>text<TAB>asked_at``: the day on which the query was asked |
| topics | JSON lines with an id and a text, such as ``{"_id": ID, "text": TEXT}`` of BEIR or ``{"id": ID, "narrative": TEXT}`` |
| topics | ``<top>`` blocks, as profiles below |
| texts | ``docid<TAB>title<TAB>text`` a line; title and text may be empty; or ``docid<TAB>text`` on every line |
| texts | JSON lines with an id, a text and perhaps a title, such as ``{"_id": ID, "title": TITLE, "text": TEXT}`` of BEIR |
| profiles | ``<top>`` blocks with ``<num>``, ``<title>``, ``<desc>``, ``<narr>``, as in TREC Microblog, such as 2015 |
| profiles | JSON list of objects with ``topid``, ``title``, ``description``, ``narrative``, as in TREC Real-Time Summarization, such as 2016 |

Files are UTF-8, plain or packed, without quoting; a first line with the names of topics or texts above is a header. Which form
profiles have is told by their first character. No measure needs any of these.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from metrics.errors import FaultLog, join_names
from metrics.file_limits import check_values
from metrics.readers.lines import lines_of, read_bytes, rows, stream_lines, text_lines
from metrics.readers.ranked import calendar_window
from metrics.readers.trees import Node, read_json


def read_texts(path: str | Path) -> dict[str, str]:
    """Read the text of each tweet, in the order of the file.

    A header with these names is skipped.

    Raises
    ------
    InputError
        With every line that has no tab or several or is not UTF-8, and every tweet that has another text above. A line that
        stands twice is no fault: lists of pooled tweets name a tweet once for each of its topics.
    """
    log = FaultLog(path)
    texts: dict[str, str] = {}
    for line, (tweet, text) in rows(("tweet_id", "text"), log):
        if texts.setdefault(tweet, text) != text:
            log.add(f"tweet {tweet} has another text above", line=line, cure="delete one of the two lines")
    log.raise_if_any()
    return texts


TOPIC = ("topic", "text", "asked_at")
DOCUMENT = ("docid", "title", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTopic:
    """Query in words, and the day on which it was asked, if known: ``2001-09-11``."""

    text: str
    asked_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentText:
    """Title and text of a document, as workers read it."""

    title: str
    text: str


TITLE_ENDS = ".?!:。？！："
"""Ends of titles behind which no colon is written."""


def read_ranked_topics(path: str | Path) -> dict[str, AskedTopic]:
    """Read the queries in words, in the order of the file.

    ``asked_at`` is empty, or a date or timestamp as in `metrics.readers.ranked`. Of ``<top>`` blocks the text is title and description,
    of JSON lines title and text.

    Raises
    ------
    InputError
        With every line that has another number of fields or is not UTF-8, every topic without a text or that stands
        twice, every ``asked_at`` that is no timestamp; or if there is no topic.
    """
    if read_bytes(path).lstrip()[:1] == b"<":
        profiles = read_profiles(path)
        return {name: AskedTopic(text=profile.question) for name, profile in profiles.items()}
    log = FaultLog(path)
    topics: dict[str, AskedTopic] = {}
    is_json = is_json_file(path)
    for line, name, title, said in _texts_from_json(log) if is_json else ():
        text = f"{title}{'' if title[-1] in TITLE_ENDS else ':'} {said}" if title else said
        if topics.setdefault(name, AskedTopic(text=text)).text != text:
            log.add(f"duplicate topic {name}", line=line, cure="delete one of the two lines")
    for line, written in () if is_json else text_lines(log, expected=lines_of(TOPIC[:2], "tabs")):
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
            log.add(f"duplicate topic {name}", line=line, cure="delete one of the two lines")
        topics[name] = AskedTopic(text=text, asked_at=_day(asked_at, line, log))
    if not topics and not log.faults:
        log.add("there are no topics", line=1, cure="write topic and text on each line")
    log.raise_if_any()
    return topics


def read_document_texts(path: str | Path) -> dict[str, DocumentText]:
    """Read title and text of each document, in the order of the file.

    The first line decides whether there are titles.

    Raises
    ------
    InputError
        With every line that has another number of fields or is not UTF-8, and every document that stands twice.
    """
    log = FaultLog(path)
    texts: dict[str, DocumentText] = {}
    for line, document, title, text in _texts_from_json(log) if is_json_file(path) else _titled(log):
        if document in texts:
            log.add(f"duplicate document {document}", line=line, cure="delete one of the two lines")
        texts[document] = DocumentText(title=title.strip(), text=text.strip())
    log.raise_if_any()
    return texts


IDS = (
    "_id",
    "id",
    "topic_id",
    "qa_id",
    "narrative_id",
    "request_id",
    "query_id",
    "qid",
    "topic",
    "docid",
    "doc_id",
    "docno",
)
TEXTS = (
    "text",
    "question",
    "narrative",
    "query",
    "problem_statement",
    "contents",
    "segment",
    "body",
    "title",
)
"""Names of the members of JSON lines that hold an id or a text, by priority.

The first member that is present counts.
"""
TEXT_FORM = 'write {"_id": ID, "text": TEXT} on one line'
ID_MEMBER = re.compile(rb'"(?:' + "|".join(IDS).encode() + rb')"\s*:\s*(?:"((?:[^"\\]|\\.)*)"|(-?[0-9]+))')
"""Member of a JSON line that may hold the id of a document."""


def read_cited_texts(path: str | Path, cited: Collection[str]) -> dict[str, DocumentText]:
    """Read title and text of the documents that are cited, and keep no other.

    Of MS MARCO segments, of BEIR, or any JSON lines with an id and a text; or ``docid<TAB>title<TAB>text`` or ``docid<TAB>text`` a line. Lines
    about other documents are not parsed, so that a large corpus takes little time and memory.

    Parameters
    ----------
    path : str or Path
        The corpus, plain or packed.
    cited : collection of str
        Ids of the documents.

    Raises
    ------
    InputError
        If the file cannot be read, or a line about a cited document is not UTF-8, is not JSON, or stands twice with another text.
    """
    log = FaultLog(path)
    texts: dict[str, DocumentText] = {}
    for line, data in stream_lines(path):
        document = _cited_document(data, cited, line, log)
        if document is None:
            continue
        name, text = document
        if texts.setdefault(name, text) != text:
            cure = "delete one of the two lines"
            log.add(f"document {name} has another text above", line=line, cure=cure, kind="twice")
    log.raise_if_any()
    return texts


def _cited_document(
    data: bytes, cited: Collection[str], line: int, log: FaultLog
) -> tuple[str, DocumentText] | None:
    """Return id and text of a line about a cited document, or None for another."""
    try:
        if data.lstrip()[:1] != b"{":
            name, *texts = data.rstrip(b"\r\n").split(b"\t", 2)
            if not texts or name.decode().strip() not in cited:
                return None
            *titles, text = (part.decode().strip() for part in texts)
            return name.decode().strip(), DocumentText(title="".join(titles), text=text)
        ids = (match[1] or match[2] for match in ID_MEMBER.finditer(data) if match[1] or match[2])
        document = text_object(json.loads(data)) if any(_id_text(name) in cited for name in ids) else None
    except UnicodeDecodeError:
        log.add("the line is not UTF-8", line=line, cure="save the file as UTF-8", kind="UTF-8")
        return None
    except (ValueError, RecursionError):
        log.add("the line is not JSON", line=line, cure=TEXT_FORM, kind="JSON")
        return None
    if document is None or document[0].strip() not in cited:
        return None
    name_of_document, title, words = document
    return name_of_document.strip(), DocumentText(title=" ".join(title.split()), text=words.strip())


def _id_text(written: bytes) -> str:
    """Return the text of an id as JSON writes it."""
    return str(json.loads(b'"' + written + b'"')) if b"\\" in written else written.decode(errors="replace")


def _titled(log: FaultLog) -> Iterator[tuple[int, str, str, str]]:
    """Yield line, document, title and text of each document.

    The first line decides whether there are titles.
    """
    first = next(iter(read_bytes(log.path).splitlines()), b"")
    columns = (DOCUMENT[0], DOCUMENT[2]) if first.count(b"\t") == 1 else DOCUMENT
    for line, (document, *titled, text) in rows(columns, log):
        yield line, document, "".join(titled), text


def _day(text: str, line: int, log: FaultLog) -> str | None:
    """Return the day of a timestamp, or None for an empty one."""
    day = calendar_window(text, "day")
    if text and day is None:
        cure = "write a date such as 2001-09-11, or leave it out"
        log.add(f"asked_at is no date: {text!r}", line=line, cure=cure)
    return day


TAG = re.compile(r"<(/?)([A-Za-z]+)>")
LABEL = re.compile(r"(?:Number|Description|Narrative):\s*")
"""Label before the text in the tracks' own files."""
FORM = "write <top> <num> Number: TOPIC <title> TITLE <desc> TEXT <narr> TEXT </top> for each, or a JSON list of objects"
MEMBERS = 'write {"topid": TOPIC, "title": TITLE, "description": TEXT, "narrative": TEXT}'
OBJECT_OF_TAG = {"num": "topid", "title": "title", "desc": "description", "narr": "narrative"}


@dataclass(frozen=True, slots=True, kw_only=True)
class InterestProfile:
    """Interest of a user; ``description`` and ``narrative`` may be empty."""

    title: str
    description: str
    narrative: str

    @property
    def question(self) -> str:
        """Its title, and behind it what the description says."""
        return f"{self.title}: {self.description}" if self.description else self.title


def read_profiles(path: str | Path) -> dict[str, InterestProfile]:
    """Read the profiles, by topic as written, in the order of the file.

    White space counts as one blank wherever it stands. A comma after the last member of an object or list is no fault, since the
    track's file of 2016 has some.

    Raises
    ------
    InputError
        With every fault: a line is not UTF-8; the file is not JSON, or its JSON has another form; a topic has no id, has no
        title, is not closed or stands twice; there is no topic.
    """
    log = FaultLog(path)
    profiles: dict[str, InterestProfile] = {}
    for line, parts in _from_json(log) if is_json_file(path) else _from_blocks(log):
        topic = parts["topid"]
        if topic in profiles:
            log.add(f"duplicate topic {topic}", line=line, cure="delete one of the two")
        if not parts["title"]:
            log.add(f"topic {topic} has no title", line=line, cure="write a few words that name the interest")
        profiles[topic] = InterestProfile(
            title=parts["title"], description=parts["description"], narrative=parts["narrative"]
        )
    if not profiles and not log.faults:
        log.add("there are no topics", line=1, cure=FORM)
    log.raise_if_any()
    return profiles


def _from_blocks(log: FaultLog) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each block's line and its parts by names of the JSON form."""
    for line, fields in _blocks(log):
        parts = {
            name: " ".join(LABEL.sub("", fields.get(tag, "").strip(), count=1).split())
            for tag, name in OBJECT_OF_TAG.items()
        }
        if parts["topid"]:
            yield line, parts
        else:
            log.add("a topic without its number", line=line, cure="write <num> Number: TOPIC")


def _blocks(log: FaultLog) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each ``<top>`` block's line and the text after each of its tags."""
    begun, fields, tag = 0, dict[str, str](), ""
    for line, text in text_lines(log):
        before, *rest = TAG.split(text)
        if begun and tag:
            fields[tag] = f"{fields.get(tag, '')} {before}"
        for closing, name, after in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
            if name == "top":
                if begun and not closing:
                    _note_open(begun, log)
                if begun and closing:
                    yield begun, fields
                begun, fields, tag = (0 if closing else line), {}, ""
            elif begun:
                tag = "" if closing else name
                fields[name] = f"{fields.get(name, '')} {after}" if tag else fields.get(name, "")
    if begun:
        _note_open(begun, log)


def _note_open(line: int, log: FaultLog) -> None:
    log.add("a topic that is not closed", line=line, cure="write </top> at its end")


def _from_json(log: FaultLog) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each object's line and its parts."""
    document = read_json(log, trailing_commas=True)
    if not isinstance(document.value, list):
        log.add("the topics are no list", line=document.line, cure=f"write [TOPIC, ...]; {MEMBERS}")
        return
    for node in document.value:
        parts = {name: _text(node, name, log) for name in OBJECT_OF_TAG.values()}
        if parts["topid"]:
            yield node.line, parts
        else:
            log.add("a topic without its topid", line=node.line, cure=MEMBERS)


def _text(node: Node, name: str, log: FaultLog) -> str:
    """Return a member that is text, empty when there is none."""
    member = node.value.get(name) if isinstance(node.value, dict) else None
    if member is None or member.value is None:
        return ""
    if not isinstance(member.value, str):
        log.add(f"{name} is no text", line=member.line, cure="write it in quotes")
        return ""
    return " ".join(member.value.split())


def is_json_file(path: str | Path) -> bool:
    """Return whether a file begins like JSON; no id and no text begins so."""
    return read_bytes(path).lstrip()[:1] in {b"{", b"["}


def text_object(plain: Any) -> tuple[str, str, str] | None:
    """Return id, title and text of an object of JSON lines; None for any other.

    The text is empty where an object has a title and no text.
    """
    if not isinstance(plain, dict):
        return None
    name, key = id_of(plain), next((key for key in TEXTS if is_text(plain.get(key))), None)
    if not name or key is None:
        return None
    title = plain.get("title")
    return name, title if is_text(title) and key != "title" else "", plain[key]


def id_of(plain: Any) -> str:
    """Return an id, or that of an object; an empty text where there is none."""
    if isinstance(plain, dict):
        return next((str(plain[key]) for key in IDS if is_id(plain.get(key))), "")
    return str(plain) if is_id(plain) else ""


def _texts_from_json(log: FaultLog) -> Iterator[tuple[int, str, str, str]]:
    """Yield line, id, title and text of each object; note invalid ones.

    Each run of white space becomes one blank.
    """
    for line, plain in json_objects(log, TEXT_FORM):
        document = text_object(plain)
        if document is None:
            names = f"has {join_names(plain)}" if isinstance(plain, dict) else "is no object"
            log.add(f"no id and text: this {names}", line=line, cure=TEXT_FORM)
        else:
            name, title, text = document
            yield line, name.strip(), " ".join(title.split()), " ".join(text.split())


def json_objects(log: FaultLog, cure: str, kind: str | None = None) -> Iterator[tuple[int, Any]]:
    """Yield the JSON value of each line, or the values of the whole file.

    The whole file is one value, or a list of values, where its first line alone is no JSON. Lines that are no JSON are faults of ``kind``.
    """
    lines = [(line, text) for line, text in text_lines(log) if text and not text.isspace()]
    if lines and not isinstance(_plain(lines[0][1]), dict):
        check_values(log.path, sum(text.count(mark) for _, text in lines for mark in ",[{"))
        whole = _plain("\n".join(text for _, text in lines))
        if whole is not None:
            yield from ((lines[0][0], item) for item in (whole if isinstance(whole, list) else [whole]))
            return
    for line, text in lines:
        plain = _plain(text)
        if plain is None:
            log.add("the line is not JSON", line=line, cure=cure, kind=kind)
        else:
            yield line, plain


def _plain(text: str) -> Any:
    """Return the value of a JSON text, or None for invalid JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_id(value: Any) -> bool:
    """Return whether a value can be an id: a whole number, or a text not blank."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return is_number or (is_text(value) and bool(value.strip()))


def is_text(value: Any) -> TypeGuard[str]:
    """Return whether a value is text without a lone surrogate."""
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)
