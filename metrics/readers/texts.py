"""What people read: texts, queries in words, interest profiles, and answers with their sources.

| file | content |
|---|---|
| tweets | ``tweet_id<TAB>text`` a line |
| topics | ``topic<TAB>text`` a line, or ``topic<TAB>text<TAB>asked_at``: the day on which the query was asked |
| topics | JSON lines with an id and a text, such as ``{"_id": ID, "text": TEXT}`` of BEIR or ``{"id": ID, "narrative": TEXT}`` |
| texts | ``docid<TAB>title<TAB>text`` a line; title and text may be empty; or ``docid<TAB>text`` on every line |
| texts | JSON lines with an id, a text and perhaps a title, such as ``{"_id": ID, "title": TITLE, "text": TEXT}`` of BEIR |
| profiles | ``<top>`` blocks with ``<num>``, ``<title>``, ``<desc>``, ``<narr>``, as in TREC Microblog, such as 2015 |
| profiles | JSON list of objects with ``topid``, ``title``, ``description``, ``narrative``, as in TREC Real-Time Summarization, such as 2016 |

Files are UTF-8, plain or packed, without quoting; a first line with the names of topics or texts above is a header. Which form
profiles have is told by their first character. No measure needs any of these.

Answers to questions in words, with the sources that they cite: what a system wrote, as a file.

| file | content |
|---|---|
| answers | ``{"topic": ID, "text": TEXT, "citations": [{"label", "title", "text", "url"?}, ...]?}`` a line |
| answers | of TREC RAG, RAGTIME and other tracks: an object an answer, with ``topic_id`` or ``metadata`` and sentences, see `TrackAnswer` |
| answers | of TREC iKAT: an object a run, with ``turns`` |
| answers | ``topic<TAB>text`` a line |

Files are UTF-8, plain or packed; their first character tells whether they are JSON. Of the last form a first line with the names above is a
header. A system need not answer every question. What the texts look like is up to those who show them. No measure needs any of these.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeGuard

from metrics.errors import FaultLog, listed, nearest
from metrics.files import check_values
from metrics.readers.lines import lines_of, read_bytes, rows, text_lines
from metrics.readers.ranked import calendar_window
from metrics.readers.trees import Node, read_json


def read_texts(path: str | Path) -> dict[str, str]:
    """Read the text of each tweet, in the order of the file; a header with these names is skipped.

    Raises
    ------
    InputError
        With every line that has no tab or several or is not UTF-8, and every tweet that has another text above. A line that
        stands twice is no fault: lists of pooled tweets name a tweet once for each of its topics.
    """
    log = FaultLog(path)
    texts: dict[str, str] = {}
    for line, (tweet, text) in rows(path, ("tweet_id", "text"), log):
        if texts.setdefault(tweet, text) != text:
            log.add(f"tweet {tweet} has another text above", line=line, cure="delete one of the two lines")
    log.raise_if_any()
    return texts


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

    ``asked_at`` is a date or a timestamp as in `metrics.readers.ranked`, or empty.

    Raises
    ------
    InputError
        With every line that has another number of fields or is not UTF-8, every topic without a text or that stands
        twice, every ``asked_at`` that is no timestamp; or if there is no topic.
    """
    log = FaultLog(path)
    topics: dict[str, AskedTopic] = {}
    for line, name, _, text in _texts_from_json(log) if _is_json(path) else ():
        if topics.setdefault(name, AskedTopic(text=text)).text != text:
            log.add(f"topic {name} stands twice", line=line, cure="delete one of the two lines")
    for line, written in () if _is_json(path) else text_lines(path, log, wanted=lines_of(TOPIC[:2], "tabs")):
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
    """Read title and text of each document, in the order of the file; the first line says whether there are titles.

    Raises
    ------
    InputError
        With every line that has another number of fields or is not UTF-8, and every document that stands twice.
    """
    log = FaultLog(path)
    texts: dict[str, DocumentText] = {}
    for line, document, title, text in _texts_from_json(log) if _is_json(path) else _titled(log):
        if document in texts:
            log.add(f"document {document} stands twice", line=line, cure="delete one of the two lines")
        texts[document] = DocumentText(title=title.strip(), text=text.strip())
    log.raise_if_any()
    return texts


def _titled(log: FaultLog) -> Iterator[tuple[int, str, str, str]]:
    """Yield line, document, title and text; the first line says whether there are titles."""
    first = next(iter(read_bytes(log.path).splitlines()), b"")
    columns = (DOCUMENT[0], DOCUMENT[2]) if first.count(b"\t") == 1 else DOCUMENT
    for line, (document, *titled, text) in rows(log.path, columns, log):
        yield line, document, "".join(titled), text


def _day(text: str, line: int, log: FaultLog) -> str | None:
    """Return the day of a timestamp, None for an empty one."""
    day = calendar_window(text, "day")
    if text and day is None:
        cure = "write a date such as 2001-09-11, or leave it out"
        log.add(f"asked_at is no date: {text!r}", line=line, cure=cure)
    return day


TAG = re.compile(r"<(/?)([A-Za-z]+)>")
LABEL = re.compile(r"(?:Number|Description|Narrative):\s*")
"""What stands before the text in the tracks' own files."""
FORM = "write <top> <num> Number: TOPIC <title> TITLE <desc> TEXT <narr> TEXT </top> for each, or a JSON list of objects"
MEMBERS = 'write {"topid": TOPIC, "title": TITLE, "description": TEXT, "narrative": TEXT}'
OBJECT_OF_TAG = {"num": "topid", "title": "title", "desc": "description", "narr": "narrative"}


@dataclass(frozen=True, slots=True, kw_only=True)
class InterestProfile:
    """What somebody wants to be told of; ``description`` and ``narrative`` may be empty."""

    title: str
    description: str
    narrative: str


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
    is_json = read_bytes(path).lstrip()[:1] in {b"[", b"{"}
    profiles: dict[str, InterestProfile] = {}
    for line, parts in _from_json(log) if is_json else _from_blocks(log):
        topic = parts["topid"]
        if topic in profiles:
            log.add(f"topic {topic} stands twice", line=line, cure="delete one of the two")
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
    """Yield each block's line and its parts under the names of the JSON form."""
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
    for line, text in text_lines(log.path, log):
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


IDS = (
    "_id",
    "id",
    "topic_id",
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
    "narrative",
    "query",
    "question",
    "problem_statement",
    "contents",
    "segment",
    "body",
    "title",
)
"""What the members of JSON lines are called that hold an id or a text; the first that is there counts."""
TEXT_FORM = 'write {"_id": ID, "text": TEXT} on one line'


def _is_json(path: str | Path) -> bool:
    return read_bytes(path).lstrip()[:1] in {b"{", b"["}


def text_object(plain: Any) -> tuple[str, str, str] | None:
    """Return id, title and text of an object of JSON lines that names a text; None for any other.

    The text is empty where there is a title and none.
    """
    if not isinstance(plain, dict):
        return None
    name, key = _id_of(plain), next((key for key in TEXTS if _is_text(plain.get(key))), None)
    if not name or key is None:
        return None
    title = plain.get("title")
    return name, title if _is_text(title) and key != "title" else "", plain[key]


def _id_of(plain: Any) -> str:
    """Return an id, or that of an object; empty where there is none."""
    if isinstance(plain, dict):
        return next((str(plain[key]) for key in IDS if _is_id(plain.get(key))), "")
    return str(plain) if _is_id(plain) else ""


def _texts_from_json(log: FaultLog) -> Iterator[tuple[int, str, str, str]]:
    """Yield line, id, title and text of each object, white space as one blank; what is none is noted."""
    for line, plain in _objects(log, TEXT_FORM):
        found = text_object(plain)
        if found is None:
            names = f"has {listed(plain)}" if isinstance(plain, dict) else "is no object"
            log.add(f"no id and text: this {names}", line=line, cure=TEXT_FORM)
        else:
            name, title, text = found
            yield line, name.strip(), " ".join(title.split()), " ".join(text.split())


def _objects(log: FaultLog, cure: str) -> Iterator[tuple[int, Any]]:
    """Yield what stands on each line, or in the whole file where its first line is no JSON by itself: one value, or those of a list."""
    lines = [(line, text) for line, text in text_lines(log.path, log) if text and not text.isspace()]
    if lines and not isinstance(_plain(lines[0][1]), dict):
        check_values(log.path, sum(text.count(mark) for _, text in lines for mark in ",[{"))
        whole = _plain("\n".join(text for _, text in lines))
        if whole is not None:
            yield from ((lines[0][0], one) for one in (whole if isinstance(whole, list) else [whole]))
            return
    for line, text in lines:
        plain = _plain(text)
        if plain is None:
            log.add("the line is not JSON", line=line, cure=cure)
        else:
            yield line, plain


def _plain(text: str) -> Any:
    """Return the value of a JSON text, None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_id(value: Any) -> bool:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return is_number or (_is_text(value) and bool(value.strip()))


ANSWER = ("topic", "text", "citations")
CITATION = ("label", "title", "text", "url")
COLUMNS = ("topic", "text")
ANSWER_FORM = 'write {"topic": ID, "text": TEXT} on one line'


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A source: what stands in brackets where it is cited, its title, which may be empty, its text, and its address.

    ``has_text`` False: nobody gave its text, and its id stands there.
    """

    label: str
    title: str
    text: str
    url: str | None = None
    has_text: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """An answer to one question; ``line`` is where it stands. ``citations`` is None where nothing is said of sources.

    ``is_joined``: it was put together from sentences, so that what stands in brackets within these is no mark of a source.
    """

    text: str
    line: int
    citations: tuple[Citation, ...] | None = None
    is_joined: bool = False


def read_answers(path: str | Path) -> dict[str, GivenAnswer]:
    """Read the answers of one system, by topic as written, in the order of the file.

    Raises
    ------
    InputError
        With every fault: a line is not UTF-8, is not JSON, or has another number of fields; a member is missing, not known or no
        text; an answer without a topic or a text; a topic or the label of a citation that stands twice; or if there is no answer.
    """
    log = FaultLog(path)
    is_json = _is_json(path)
    answers: dict[str, GivenAnswer] = {}
    for topic, answer in _answers_from_json(log) if is_json else _from_rows(log):
        if not topic:
            log.add("an answer without a topic", line=answer.line, cure="say which question it answers")
        elif not answer.text:
            log.add(f"the answer to topic {topic} is empty", line=answer.line, cure="write one, or delete it")
        elif topic in answers:
            cure = "delete one of the two lines; each system has a file of its own"
            log.add(f"topic {topic} is answered twice", line=answer.line, cure=cure)
        answers[topic] = answer
    if not answers and not log.faults:
        log.add("there are no answers", line=1, cure=ANSWER_FORM)
    log.faults.sort(key=lambda fault: fault.line or 0)
    log.raise_if_any()
    return answers


def _from_rows(log: FaultLog) -> Iterator[tuple[str, GivenAnswer]]:
    for line, (topic, text) in rows(log.path, COLUMNS, log):
        yield topic.strip(), GivenAnswer(text=text.strip(), line=line)


def _answers_from_json(log: FaultLog) -> Iterator[tuple[str, GivenAnswer]]:
    for line, plain in _objects(log, ANSWER_FORM):
        tracks = track_answers(plain)
        for one in tracks or ():
            yield one.topic.strip(), one.answer(line, log)
        if tracks is None and _fits(plain, ANSWER, ("topic", "text"), "the answer", line, log):
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


SENTENCES = ("answer", "responses", "report")
TRACK_TOPICS = ("topic_id", "narrative_id", "request_id", "turn_id", "query_id", "qid")
MARK = re.compile(r"\[(\d{1,4})\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackAnswer:
    """An answer as a track writes it: sentences, each with what it cites.

    Attributes
    ----------
    topic : str
        ``topic_id`` or ``narrative_id``, of the object or of its ``metadata``; ``turn_id`` of a turn.
    sentences : sequence of (str, sequence)
        Text, and the sources that it cites: places in ``references`` from 0, or ids.
    references : sequence of str
        Ids of sources.
    texts : mapping of str to (str, str)
        Id of a source -> its title and text, where the file has them.
    is_cited : bool
        Whether anything is said of sources.
    """

    topic: str
    sentences: Sequence[tuple[str, Sequence[int | str]]]
    references: Sequence[str]
    texts: Mapping[str, tuple[str, str]]
    is_cited: bool

    def answer(self, line: int, log: FaultLog) -> GivenAnswer:
        """Return it as one text, each sentence with the marks of its sources behind it; sources are numbered as they are cited."""
        used = {int(mark) for text, _ in self.sentences for mark in MARK.findall(text)}
        free = (number for number in count(1) if number not in used)
        labels: dict[str, str] = {}
        parts = []
        for text, cited in self.sentences:
            marks: dict[str, None] = {}
            for one in cited:
                source = self._source(one, line, log)
                if source is not None:
                    if source not in labels:
                        labels[source] = str(next(free))
                    marks[f"[{labels[source]}]"] = None
            parts.append(" ".join(filter(None, [text.strip(), "".join(marks)])))
        citations = tuple(self._citation(source, label) for source, label in labels.items())
        return GivenAnswer(
            text=" ".join(filter(None, parts)),
            line=line,
            citations=citations if self.is_cited else None,
            is_joined=True,
        )

    def _source(self, cited: int | str, line: int, log: FaultLog) -> str | None:
        """Return the id of what is cited; note a place where no reference stands."""
        if isinstance(cited, str):
            is_place = (
                cited.isdecimal() and cited not in self.references and int(cited) < len(self.references)
            )
            return self.references[int(cited)] if is_place else cited
        if 0 <= cited < len(self.references) and self.references[cited]:
            return self.references[cited]
        problem = f"the answer to topic {self.topic} cites {cited}, and there are {len(self.references)} references, counted from 0"
        log.add(problem, line=line, cure="add it to the references, or take the citation out")
        return None

    def _citation(self, source: str, label: str) -> Citation:
        title, text = self.texts.get(source, ("", ""))
        return Citation(label=label, title=title, text=text or source, has_text=bool(text))


def track_answers(plain: Any) -> list[TrackAnswer] | None:
    """Return the answers of an object as a track writes it; None for an object of another form."""
    if not isinstance(plain, dict):
        return None
    if isinstance(plain.get("turns"), list):
        turns = [_turn(turn) for turn in plain["turns"]]
        return [turn for turn in turns if turn is not None] or None
    metadata = plain.get("metadata")
    given = next((plain[name] for name in SENTENCES if isinstance(plain.get(name), list | str)), None)
    holders = (plain, metadata) if isinstance(metadata, dict) else (plain,)
    topic = next((str(of[name]) for of in holders for name in TRACK_TOPICS if _is_id(of.get(name))), None)
    sentences = [_sentence(one) for one in ([given] if isinstance(given, str) else given or ())]
    whole = [one for one in sentences if one is not None]
    if given is None or topic is None or len(whole) < len(sentences):
        return None
    references = plain.get("references")
    return [
        TrackAnswer(
            topic=topic,
            sentences=whole,
            references=[_id_of(one) for one in references] if isinstance(references, list) else [],
            texts={**_source_texts(references), **_source_texts(plain.get("documents"))},
            is_cited=references is not None or any(cited for _, cited in whole),
        )
    ]


def _turn(turn: Any) -> TrackAnswer | None:
    """Return the first response of a turn of a conversation; its sources stand at its end, since no sentence cites them."""
    responses = turn.get("responses") if isinstance(turn, dict) else None
    if not isinstance(responses, list) or not responses or not _is_id(turn.get("turn_id")):
        return None
    ranked = [one for one in responses if isinstance(one, dict) and _is_text(one.get("text"))]
    first = min(ranked, key=lambda one: one["rank"] if isinstance(one.get("rank"), int) else 0, default=None)
    if first is None:
        return None
    lists = (first.get(name) for name in ("citations", "passage_provenance"))
    given: list[Any] | dict[Any, Any] = next((one for one in lists if isinstance(one, dict | list)), [])
    used = [one for one in given if not isinstance(one, dict) or one.get("used", True)]
    sources = [source for one in used if (source := _id_of(one))]
    return TrackAnswer(
        topic=str(turn["turn_id"]),
        sentences=[(first["text"], sources)],
        references=[],
        texts=_source_texts(given),
        is_cited=bool(sources),
    )


def _sentence(plain: Any) -> tuple[str, list[int | str]] | None:
    """Return the text of a sentence and what it cites: places, ids, or ids with how sure the system is; None for anything else."""
    if _is_text(plain):
        return plain, []
    if not isinstance(plain, dict) or not _is_text(plain.get("text")):
        return None
    cited = plain.get("citations") or []
    if not isinstance(cited, list | dict) or not all(map(_is_id, cited)):
        return None
    return plain["text"], list(cited)


def _source_texts(given: Any) -> dict[str, tuple[str, str]]:
    """Return id -> title and text of sources that a file gives as objects, in a list or by their ids."""
    if isinstance(given, dict):
        given = [
            {**(one if isinstance(one, dict) else {"text": one}), "_id": name} for name, one in given.items()
        ]
    found = map(text_object, given if isinstance(given, list) else ())
    return {one[0]: one[1:] for one in found if one is not None and one[2].strip()}


def _fits(
    plain: Any, known: tuple[str, ...], needed: tuple[str, ...], what: str, line: int, log: FaultLog
) -> bool:
    """Note what is wrong with the members of an object; those that are text must be text, and whole characters."""
    if not isinstance(plain, dict):
        log.add(f"{what} is no object", line=line, cure=ANSWER_FORM)
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


def _is_text(value: Any) -> TypeGuard[str]:
    """Say whether a value is text without half of a character (a lone surrogate)."""
    return isinstance(value, str) and not any("\ud800" <= one <= "\udfff" for one in value)
