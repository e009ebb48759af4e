"""Files of answers to questions, with the sources that they cite.

| file | content |
|---|---|
| answers | ``{"topic": ID, "text": TEXT, "citations": [{"label", "title", "text", "url"?}, ...]?}`` a line |
| answers | of TREC RAG, RAGTIME and other tracks: an object an answer, with ``topic_id`` or ``metadata`` and sentences, see `TrackAnswer` |
| answers | of TREC iKAT: an object a run, with ``turns`` |
| answers | ``topic<TAB>text`` a line |

Files are UTF-8, plain or packed; their first character tells whether they are JSON. Of the last form a first line with the names above is a
header. A system need not answer every question. What the texts look like is up to those who show them; `metrics.answers` scores them.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from pathlib import Path
from typing import Any

from metrics.answers.judged import AnswerRun, AnswerSentence
from metrics.errors import FaultLog, closest_name, join_names, pluralise
from metrics.readers.lines import rows, run_name
from metrics.readers.texts import DocumentText, id_of, is_id, is_json_file, is_text, json_objects, text_object

ANSWER = ("topic", "text", "citations")
CITATION = ("label", "title", "text", "url")
COLUMNS = ("topic", "text")
ANSWER_FORM = 'write {"topic": ID, "text": TEXT} on one line'
BRACKETS = re.compile(r"\[([^\[\]\n]{1,64})\]")
SEPARATORS = (re.compile(r"\s*[;；]\s*"), re.compile(r"\s*[,;、，；]\s*"))
"""Separators of labels in brackets, in order.

The first is for labels that contain commas.
"""
RANGE = re.compile(r"(\d{1,4})\s*[-–—‐‑−]\s*(\d{1,4})")
NUMBER = re.compile(r"\d{1,4}")
MAX_RANGE_LABELS = 50
"""Longest range of labels; a longer one is not a list of sources."""
SENTENCE_END = re.compile(
    r"""(?:[.!?]+["'”’)]*(?=\s|\[|$)|[。！？]+[」』）]*)(?:\s*\[[^\[\]\n]{1,64}\])*|\n+""",
)
"""End of a sentence, with the marks of sources behind it; a line is a sentence too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Source of an answer: label, title (may be empty), text, and address.

    Citations in the answer name the label in brackets.

    ``has_text`` False: nobody gave its text, and its id stands there.
    """

    label: str
    title: str
    text: str
    url: str | None = None
    has_text: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerText:
    """Answer to one question, with its line and its citations.

    ``citations`` is None where the file has no sources.

    ``is_joined``: it was put together from sentences, so that what stands in brackets within these is no mark of a source.

    ``given`` are these sentences; ``run_id`` is what the file calls its system.
    """

    text: str
    line: int
    citations: tuple[Citation, ...] | None = None
    is_joined: bool = False
    given: tuple[AnswerSentence, ...] = ()
    run_id: str = ""

    def sentences(self) -> tuple[AnswerSentence, ...]:
        """Return the sentences as a track's file gives them, else as punctuation and marks tell them."""
        labels = {citation.label for citation in self.citations or ()}
        return self.given or tuple(split_sentences(self.text, labels))


def split_sentences(text: str, labels: Collection[str]) -> Iterator[AnswerSentence]:
    """Yield the sentences of a text without the marks of its sources.

    A sentence ends at a full stop, question or exclamation mark before white space, at one of Japanese anywhere, and at the end of a line.
    """
    begin = 0
    for end in [*(match.end() for match in SENTENCE_END.finditer(text)), len(text)]:
        piece, begin = text[begin:end], end
        marks = [match for match in BRACKETS.finditer(piece) if _is_mark(match[1], labels)]
        for mark in reversed(marks):
            piece = _without_mark(piece[: mark.start()], piece[mark.end() :])
        if re.search(r"\w", piece):
            yield AnswerSentence(text=" ".join(piece.split()), is_cited=bool(marks))


def _without_mark(before: str, after: str) -> str:
    """Join the text on both sides of a mark, so that a full stop behind it is no word of its own."""
    return f"{before.rstrip()}{' ' if after[:1].isalnum() else ''}{after}"


def _is_mark(inside: str, labels: Collection[str]) -> bool:
    cited = labels_in(inside, labels)
    return bool(cited) and set(cited) <= set(labels)


def labels_in(inside: str, labels: Collection[str]) -> tuple[str, ...]:
    """Return the labels in brackets, as in ``1``, ``1, 2``, ``1-3``, ``1, 3-5``.

    The result is empty if no label is known; if one is, unknown labels of the list or range are returned too.
    """
    for separator in SEPARATORS:
        parts = [inside.strip()] if inside.strip() in labels else separator.split(inside.strip())
        cited = tuple(dict.fromkeys(label for part in parts for label in _range(part, labels)))
        if set(cited) <= set(labels):
            return cited
    return cited if set(cited) & set(labels) else ()


def _range(part: str, labels: Collection[str]) -> Sequence[str]:
    ends = None if part in labels else RANGE.fullmatch(part)
    if ends is None:
        return (part,)
    first, last = int(ends[1]), int(ends[2])
    if not 0 <= last - first < MAX_RANGE_LABELS:
        return (part,)
    return [str(number) for number in range(first, last + 1)]


def read_answers(path: str | Path) -> dict[str, AnswerText]:
    """Read one system's answers by topic, in the order of the file.

    Topic ids are kept as written. Faults of one kind are one, with their number.

    Raises
    ------
    InputError
        With every kind of fault: a line is not UTF-8, is not JSON, or has another number of fields; a member is missing, not known or no
        text; an answer without a topic or a text; a topic or the label of a citation that stands twice; a second form, or the answers of a
        second system; or if there is no answer.
    """
    log = FaultLog(path)
    is_json = is_json_file(path)
    answers: dict[str, AnswerText] = {}
    for topic, answer in _answers_from_json(log) if is_json else _from_rows(log):
        first = next(iter(answers.values()), answer)
        if not topic:
            log.add(
                "an answer without a topic", line=answer.line, cure="say which question it answers", kind="id"
            )
        elif not answer.text:
            cure = "write one, or delete it"
            log.add(f"the answer to topic {topic} is empty", line=answer.line, cure=cure, kind="empty")
        elif answer.is_joined != first.is_joined:
            cure = "write all answers of a file in one form, see docs/study-file.md"
            log.add("an answer of another form than those above", line=answer.line, cure=cure, kind="form")
        elif answer.run_id != first.run_id:
            problem = f"an answer of run {answer.run_id!r}, and those above are of {first.run_id!r}"
            log.add(problem, line=answer.line, cure="write the answers of each run into a file", kind="run")
        elif topic in answers:
            cure = "delete one of the two lines; each system has a file of its own"
            log.add(f"topic {topic} is answered twice", line=answer.line, cure=cure, kind="twice")
        answers[topic] = answer
    if not answers and not log.faults:
        log.add("there are no answers", line=1, cure=ANSWER_FORM)
    log.raise_if_any()
    return answers


def cited_without_text(answers: Iterable[AnswerText]) -> set[str]:
    """Return the ids of the sources whose text no file of answers has."""
    return {
        citation.text for answer in answers for citation in answer.citations or () if not citation.has_text
    }


def with_texts(answer: AnswerText, texts: Mapping[str, DocumentText]) -> AnswerText:
    """Return an answer with the texts of its sources, as far as they are known, by id."""
    citations = tuple(
        replace(
            citation,
            title=citation.title or texts[citation.text].title,
            text=texts[citation.text].text,
            has_text=True,
        )
        if not citation.has_text and citation.text in texts and texts[citation.text].text
        else citation
        for citation in answer.citations or ()
    )
    return answer if answer.citations is None else replace(answer, citations=citations)


def read_answer_run(path: str | Path, *, name: str | None = None) -> AnswerRun:
    """Read the answers of one system as `metrics.answers` scores them.

    Parameters
    ----------
    path : str or Path
        Answers in any form of this module.
    name : str, optional
        Of the run; by default that of the file.

    Returns
    -------
    AnswerRun
        Sentences by topic.

    Raises
    ------
    InputError
        As `read_answers` does.

    Examples
    --------
    >>> run = read_answer_run("examples/answers/systems/cited.jsonl")
    >>> run.name, len(run.answers)
    ('cited', 2)
    """
    return answer_run(read_answers(path), run_name(path) if name is None else name)


def answer_run(answers: Mapping[str, AnswerText], name: str) -> AnswerRun:
    """Return answers as `metrics.answers` scores them."""
    return AnswerRun(
        name=name,
        answers={topic: answer.sentences() for topic, answer in answers.items()},
        run_id=next((answer.run_id for answer in answers.values()), ""),
    )


def _from_rows(log: FaultLog) -> Iterator[tuple[str, AnswerText]]:
    for line, (topic, text) in rows(COLUMNS, log):
        yield topic.strip(), AnswerText(text=text.strip(), line=line)


def _answers_from_json(log: FaultLog) -> Iterator[tuple[str, AnswerText]]:
    answers = list(_given_answers(log))
    first = first_number(answer for _, answer in answers if isinstance(answer, TrackAnswer))
    for line, answer in answers:
        if isinstance(answer, TrackAnswer):
            yield answer.topic.strip(), answer.answer(line, log, first)
        else:
            yield answer


def _given_answers(log: FaultLog) -> Iterator[tuple[int, "TrackAnswer"] | tuple[int, tuple[str, AnswerText]]]:
    """Yield the line of each answer, with what stands there: a track's, or one of prefcal's form with its topic."""
    for line, plain in json_objects(log, ANSWER_FORM, kind="JSON"):
        tracks = track_answers(plain)
        yield from ((line, answer) for answer in tracks or ())
        if tracks is None and has_members(
            plain, ANSWER, ("topic", "text"), "the answer", ANSWER_FORM, line, log
        ):
            text, citations = plain["text"].strip(), _citations(plain, line, log)
            yield line, (plain["topic"].strip(), AnswerText(text=text, line=line, citations=citations))


def _citations(answer: Mapping[str, Any], line: int, log: FaultLog) -> tuple[Citation, ...] | None:
    given = answer.get("citations")
    if given is None:
        return None
    if not isinstance(given, list):
        log.add("citations is no list", line=line, cure="write [] or a list of sources", kind="citations")
        return ()
    fitting = [
        citation
        for citation in given
        if has_members(citation, CITATION, ("label", "title", "text"), "a citation", ANSWER_FORM, line, log)
    ]
    labels: set[str] = set()
    for citation in fitting:
        label = citation["label"]
        if label in labels or not label.strip() or set(label) & set("[]"):
            problem = f"duplicate label {label!r}" if label in labels else f"{label!r} is no label"
            cure = "give each citation its own label, without brackets"
            log.add(problem, line=line, cure=cure, kind="label")
        labels.add(label)
        if not citation["text"].strip():
            cure = "write what the source says"
            log.add(f"citation {label} has no text", line=line, cure=cure, kind="source")
    return tuple(
        Citation(**{key: value for key, value in citation.items() if value is not None})
        for citation in fitting
    )


SENTENCES = ("answer", "responses", "report")
TRACK_TOPICS = ("turn_id", "topic_id", "narrative_id", "request_id", "query_id", "qa_id", "qid")
"""Members that name the topic; where there is a turn, the others name its conversation."""
GROUNDED = ("existing_supported_citations", "supported_citations")
"""Members with the sources that support a sentence of TREC BioGen, task A: given by the track, and found by the run."""
RUN_IDS = ("run_id", "run_name", "runtag", "run_tag")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackAnswer:
    """Answer as a track writes it: sentences with the sources that each cites.

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
    is_whole : bool
        Whether it is one text, whose sources belong to no sentence.
    run_id : str
        What the file calls its system.
    has_places : bool
        Whether a number is a place in ``references``; where there are none it is an id, such as that of a PubMed article.
    other_topic : str or None
        Another id that the object gives as its topic.
    """

    topic: str
    sentences: Sequence[tuple[str, Sequence[int | str]]]
    references: Sequence[str]
    texts: Mapping[str, tuple[str, str]]
    is_cited: bool
    is_whole: bool = False
    run_id: str = ""
    has_places: bool = True
    other_topic: str | None = None

    def answer(self, line: int, log: FaultLog, first: int | None = None) -> AnswerText:
        """Return the answer as one text, with a mark of each source in each sentence.

        A mark stands where the sentence has one, else behind the sentence. Sources are numbered in the order of their marks.

        Parameters
        ----------
        line : int
            Where the answer stands.
        log : FaultLog
            Gets its faults.
        first : int or None
            What marks call the first of the references (`first_number`); None: numbers in brackets are no marks.
        """
        if self.other_topic is not None:
            problem = f"the answer is to topic {self.topic} and to topic {self.other_topic}"
            log.add(problem, line=line, cure="write one of the two ids in all members", kind="topics")
        cited_ids = (self._cited(cited) for _, sources in self.sentences for cited in sources)
        ids = {source for source in (*self.references, *cited_ids) if source}
        texts = [list(self._pieces(text, ids, first)) for text, _ in self.sentences]
        left = " ".join(piece for pieces in texts for piece in pieces if isinstance(piece, str))
        used = {int(number) for inside in BRACKETS.findall(left) for number in numbers_in(inside)}
        free = (number for number in count(1) if number not in used)
        labels: dict[str, str] = {}

        def marks(sources: Collection[str]) -> str:
            for source in sources:
                if source not in labels:
                    labels[source] = str(next(free))
            return "".join(f"[{labels[source]}]" for source in sources)

        parts, given = [], list[AnswerSentence]()
        for pieces, (_, cited) in zip(texts, self.sentences, strict=True):
            known = (self._source(reference, line, log) for reference in cited)
            marked = {source for piece in pieces if not isinstance(piece, str) for source in piece}
            behind = dict.fromkeys(source for source in known if source is not None and source not in marked)
            text = "".join(piece if isinstance(piece, str) else marks(piece) for piece in pieces).strip()
            parts.append(" ".join(filter(None, [text, marks(behind)])))
            bare = reduce(_without_mark, (piece for piece in pieces if isinstance(piece, str)))
            given += self._given(bare, is_cited=bool(cited or marked))
        citations = tuple(self._citation(source, label) for source, label in labels.items())
        return AnswerText(
            text=" ".join(filter(None, parts)),
            line=line,
            citations=citations if self.is_cited else None,
            is_joined=True,
            given=tuple(given),
            run_id=self.run_id,
        )

    def numbers(self) -> Iterator[tuple[set[int], set[int]]]:
        """Yield the numbers in brackets of each sentence with any, and the places in the references that it cites."""
        for text, cited in self.sentences:
            marks = {number for inside in BRACKETS.findall(text) for number in numbers_in(inside)}
            if marks:
                places = {
                    self.references.index(source)
                    for source in map(self._cited, cited)
                    if source in self.references
                }
                yield marks, places

    def _pieces(self, text: str, ids: Collection[str], first: int | None) -> Iterator[str | tuple[str, ...]]:
        """Yield a sentence in pieces: text, and the sources of each mark."""
        begin = 0
        for match in BRACKETS.finditer(text):
            sources = self._marked(match[1], ids, first)
            if sources:
                yield text[begin : match.start()]
                yield sources
                begin = match.end()
        yield text[begin:]

    def _marked(self, inside: str, ids: Collection[str], first: int | None) -> tuple[str, ...]:
        """Return the sources that a text in brackets names, by id or by number; none where any part of it names none."""
        sources: dict[str, None] = {}
        for part in [inside.strip()] if inside.strip() in ids else SEPARATORS[-1].split(inside.strip()):
            for label in _range(part, ids):
                place = int(label) - first if first is not None and label.isdecimal() else -1
                source = label if label in ids else self._at(place)
                if source is None:
                    return ()
                sources[source] = None
        return tuple(sources)

    def source_ids(self) -> Iterator[str]:
        """Yield the id of each reference, and of each source that is cited by its id."""
        yield from filter(None, self.references)
        ids = (cited for _, sources in self.sentences for cited in sources)
        yield from (str(cited) for cited in ids if isinstance(cited, str) or not self.has_places)

    def _given(self, text: str, *, is_cited: bool) -> Iterator[AnswerSentence]:
        """Yield a sentence as it is scored; those of a whole text as punctuation tells them."""
        if self.is_whole:
            parts = split_sentences(text, ())
            yield from (replace(part, is_cited=None if self.is_cited else False) for part in parts)
        elif text.strip():
            yield AnswerSentence(text=" ".join(text.split()), is_cited=is_cited)

    def _source(self, cited: int | str, line: int, log: FaultLog) -> str | None:
        """Return the id of a citation, or note an index without a reference."""
        source = self._cited(cited)
        if source is None:
            references = len(self.references)
            number = f"{'is' if references == 1 else 'are'} {pluralise(references, 'reference')},"
            problem = f"the answer to topic {self.topic} cites {cited}, and there {number} counted from 0"
            cure = "add it to the references, or take the citation out"
            log.add(problem, line=line, cure=cure, kind="reference")
        return source

    def _cited(self, cited: int | str) -> str | None:
        """Return the id of a citation; None for an index without a reference."""
        if isinstance(cited, int):
            return self._at(cited) if self.has_places else str(cited)
        is_place = cited.isdecimal() and cited not in self.references
        return (self._at(int(cited)) if is_place else None) or cited

    def _at(self, place: int) -> str | None:
        """Return the reference at a place; None where there is none."""
        return (self.references[place] or None) if 0 <= place < len(self.references) else None

    def _citation(self, source: str, label: str) -> Citation:
        title, text = self.texts.get(source, ("", ""))
        return Citation(label=label, title=title, text=text or source, has_text=bool(text))


def numbers_in(inside: str) -> list[int]:
    """Return the numbers of a text in brackets, as in ``1, 3-5``; none where it has anything else."""
    labels = [label for part in SEPARATORS[-1].split(inside.strip()) for label in _range(part, ())]
    return [int(label) for label in labels] if all(map(NUMBER.fullmatch, labels)) else []


def first_number(answers: Iterable[TrackAnswer]) -> int | None:
    """Return what the marks in the sentences of a run call its first reference, 0 or 1.

    A mark that only one of the two allows decides, unless more sentences speak for the other; else more than half of the sentences with marks
    and citations, which cite what their marks name, counted from one of the two. None where neither tells: numbers in brackets may then
    be anything.
    """
    fits, sentences, allowed = {0: 0, 1: 0}, 0, {0, 1}
    for answer in answers:
        for marks, places in answer.numbers() if answer.references else ():
            within = {
                start for start in fits if all(0 <= mark - start < len(answer.references) for mark in marks)
            }
            allowed &= within or allowed
            sentences += bool(places and within)
            for start in within if places else ():
                fits[start] += {mark - start for mark in marks} <= places
    likely, other = sorted(fits, key=lambda start: (start in allowed, fits[start]), reverse=True)
    is_sure = allowed == {likely} and fits[likely] >= fits[other]
    return likely if is_sure or (fits[likely] > fits[other] and 2 * fits[likely] > sentences) else None


def track_answers(plain: Any) -> list[TrackAnswer] | None:
    """Return the answers of an object in a track's form, or None for another form."""
    if not isinstance(plain, dict):
        return None
    if isinstance(plain.get("turns"), list):
        run_id = _run_id(plain)
        turns = [_turn(turn, run_id) for turn in plain["turns"]]
        return [turn for turn in turns if turn is not None] or None
    metadata = plain.get("metadata")
    given = next((plain[name] for name in SENTENCES if isinstance(plain.get(name), list | str)), None)
    holders = (plain, metadata) if isinstance(metadata, dict) else (plain,)
    topics = [(name, str(of[name]).strip()) for name in TRACK_TOPICS for of in holders if is_id(of.get(name))]
    topic = topics[0][1] if topics else None
    sentences = [_sentence(item) for item in ([given] if isinstance(given, str) else given or ())]
    whole = [item for item in sentences if item is not None]
    if given is None or topic is None or len(whole) < len(sentences):
        return None
    references = plain.get("references")
    return [
        TrackAnswer(
            topic=topic,
            sentences=whole,
            references=[id_of(item) for item in references] if isinstance(references, list) else [],
            texts={**_source_texts(references), **_source_texts(plain.get("documents"))},
            is_cited=references is not None or any(cited for _, cited in whole),
            is_whole=isinstance(given, str),
            run_id=_run_id(*holders),
            has_places=references is not None,
            other_topic=None
            if topics[0][0] == "turn_id"
            else next((other for _, other in topics if other != topic), None),
        )
    ]


def _turn(turn: Any, run_id: str) -> TrackAnswer | None:
    """Return the first response of a turn of a conversation.

    Its sources follow the text, because no sentence cites them.
    """
    responses = turn.get("responses") if isinstance(turn, dict) else None
    if not isinstance(responses, list) or not responses or not is_id(turn.get("turn_id")):
        return None
    ranked = [item for item in responses if isinstance(item, dict) and is_text(item.get("text"))]
    first = min(
        ranked, key=lambda item: item["rank"] if isinstance(item.get("rank"), int) else 0, default=None
    )
    if first is None:
        return None
    lists = (first.get(name) for name in ("citations", "passage_provenance"))
    given: list[Any] | dict[Any, Any] = next((item for item in lists if isinstance(item, dict | list)), [])
    used = [item for item in given if not isinstance(item, dict) or item.get("used", True)]
    sources = [source for item in used if (source := id_of(item))]
    return TrackAnswer(
        topic=str(turn["turn_id"]),
        sentences=[(first["text"], sources)],
        references=[],
        texts=_source_texts(given),
        is_cited=bool(sources),
        is_whole=True,
        run_id=run_id,
    )


def _run_id(*holders: Mapping[str, Any]) -> str:
    """Return what an object, or its metadata, calls its system; else an empty text."""
    return next((str(of[name]) for of in holders for name in RUN_IDS if is_id(of.get(name))), "")


def _sentence(plain: Any) -> tuple[str, list[int | str]] | None:
    """Return the text of a sentence and its citations, or None for another form.

    Citations are indices, ids, or ids with the system's confidence.
    """
    if is_text(plain):
        return plain, []
    if not isinstance(plain, dict) or not is_text(plain.get("text")):
        return None
    cited = plain.get("citations") or [
        source for name in GROUNDED if isinstance(plain.get(name), list) for source in plain[name]
    ]
    if not isinstance(cited, list | dict) or not all(map(is_id, cited)):
        return None
    return plain["text"], list(cited)


def _source_texts(given: Any) -> dict[str, tuple[str, str]]:
    """Return title and text of each source, by id.

    A file gives sources as a list of objects, or as an object by id.
    """
    if isinstance(given, dict):
        given = [
            {**(source if isinstance(source, dict) else {"text": source}), "_id": name}
            for name, source in given.items()
        ]
    sources = map(text_object, given if isinstance(given, list) else ())
    return {source[0]: source[1:] for source in sources if source is not None and source[2].strip()}


def has_members(
    plain: Any,
    known: tuple[str, ...],
    needed: tuple[str, ...],
    what: str,
    form: str,
    line: int,
    log: FaultLog,
) -> bool:
    """Check the members of an object, and note each fault.

    Text members must be text of whole characters.

    ``form`` says how to write an object where this is none.
    """
    if not isinstance(plain, dict):
        log.add(f"{what} is no object", line=line, cure=form, kind=f"{what} is no object")
        return False
    is_whole = True
    for name in plain:
        if name not in known:
            is_whole = False
            near = closest_name(name, known)
            cure = f"did you mean {near!r}?" if near else f"known here: {join_names(known)}"
            problem = f"{what} has {name!r}, which is not known"
            log.add(problem, line=line, cure=cure, kind=problem)
    for name in known:
        value = plain.get(name)
        if value is None and name in needed:
            is_whole = False
            problem = f"{what} has no {name}"
            log.add(problem, line=line, cure=f'write "{name}": ...', kind=problem)
        elif name != "citations" and value is not None and not is_text(value):
            problem = f"{name} of {what} is no text"
            log.add(problem, line=line, cure="write it in quotes", kind=problem)
            is_whole = False
    return is_whole
