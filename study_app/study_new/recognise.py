"""Recognition of files by their content; names decide nothing.

Files are read as the readers of `metrics` do: UTF-8, plain or packed. Only the beginning is looked at. Some forms are shared by
several kinds of files (``id text``, ``id id text``, ``id id id number``); `study_app.study_new.collections` tells those apart by whose
ids they have.
"""

import codecs
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from metrics.errors import InputError, input_fault, join_names, pluralise
from metrics.readers.answer_judgments import judged_topic, judgment_form
from metrics.readers.answers import ANSWER, track_answers
from metrics.readers.columns import DELIMITERS
from metrics.readers.images import IMAGE
from metrics.readers.lines import DAMAGED, JSON_START, NUMBER, PEEKED, check_is_text, packing, unpacking
from metrics.readers.ranked import BEIR, calendar_window
from metrics.readers.texts import text_object
from study_app.tasks.reading.pictures import is_picture

WINNERS = "preferences with their winner, which prefcal convert lines-to-tables reads"
HEAD_BYTES = 4_000_000
LINES_JUDGED = 50
SHARE_THAT_FITS = 0.9
"""Smallest share of fitting lines in a recognised file.

The readers report the wrong lines.
"""
MAX_FILES = 2_000
HEADERS = {"query_id", "topic", "qid", "docid", "tweet_id", BEIR[0]}
"""First words of the headers that readers skip."""

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedFile:
    """File with its form, and its rows without a header.

    The form is a name of `FORMS`, or of a file with markup.

    ``draft``: its text, where it is not there yet and is written together with the study file.
    """

    path: Path
    form: str
    rows: tuple[Row, ...] = ()
    draft: str = ""

    def ids(self, *columns: int) -> frozenset[Row]:
        """Return the values of these columns."""
        return frozenset(tuple(row[column] for column in columns) for row in self.rows)

    @property
    def why(self) -> str:
        """Describe the file, as in ``a run of ranked lists``."""
        return WORDS[self.form]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """File that no study could use, with the reason.

    The reason is what it is instead, or how it differs from known forms.
    """

    path: Path
    why: str


def files_in(places: Sequence[Path]) -> list[Path]:
    """Return the files among ``places`` and in their folders, in order.

    Hidden files and YAML are skipped.
    """
    files: dict[Path, None] = {}
    for place in places:
        inside = sorted(place.rglob("*")) if place.is_dir() else [place]
        for path in inside:
            hidden = any(part.startswith(".") for part in path.relative_to(place).parts)
            if path.is_file() and not hidden and path.suffix not in {".yaml", ".yml"}:
                files[path] = None
    return list(files)


def split_pictures(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return the pictures among files, by their first bytes, and the others.

    It reads `MAX_FILES` at most.
    """
    pictures = [path for path in paths if _is_picture(path)]
    known = frozenset(pictures)
    return pictures, [path for path in paths if path not in known][:MAX_FILES]


def _is_picture(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return is_picture(stream.read(16))
    except OSError:
        return False


def recognise(path: Path) -> RecognisedFile | Unknown:
    """Return the form of a file, or why no study could use it."""
    try:
        text = _beginning(path)
    except InputError as error:
        return Unknown(path=path, why=error.faults[0].problem)
    except UnicodeDecodeError:
        return Unknown(path=path, why="no text in UTF-8")
    if not text.strip():
        return Unknown(path=path, why="an empty file")
    start = text.lstrip()[:1]
    if start == "<":
        return _of_markup(path, text)
    if start in {"{", "["} and JSON_START.match(text):
        return _of_json(path, text)
    return _of_table(path, text)


def _beginning(path: Path) -> str:
    """Return the whole lines at the beginning of a file.

    Raises
    ------
    InputError
        If it cannot be opened or is no text.
    UnicodeDecodeError
        If it is not in UTF-8.
    """
    try:
        with path.open("rb") as stream:
            packed_as = packing(stream.read(PEEKED))
            stream.seek(0)
            with unpacking(stream, packed_as) as unpacked:
                data = unpacked.read(HEAD_BYTES)
    except (*DAMAGED, OSError) as error:
        raise input_fault(f"cannot be read ({error})", path=path, cure="see whether it is whole") from None
    check_is_text(path, data)
    data = data.removeprefix(codecs.BOM_UTF8)
    whole = data if len(data) < HEAD_BYTES else data[: data.rfind(b"\n") + 1]
    return whole.decode()


def _of_markup(path: Path, text: str) -> RecognisedFile | Unknown:
    tags = (("<results", "summary run"), ("<events", "events"), ("<top>", "profiles"))
    form = next((form for tag, form in tags if tag in text), None)
    if form is None:
        return Unknown(path=path, why="XML or HTML without <results>, <events> or <top>")
    if form == "profiles":
        return RecognisedFile(path=path, form=form, rows=tuple(_TOP.findall(text)))
    used = re.findall(r"""<(?:iunit|link)\s[^>]*?(?:uid|iid)\s*=\s*["']([^"']+)""", text)
    return RecognisedFile(path=path, form=form, rows=tuple((cell,) for cell in dict.fromkeys(used)))


_TOP = re.compile(r"<num>\s*(?:Number:)?\s*(\S+?)\s*(?:</num>\s*)?<title>\s*([^<]*?)\s*<")
"""Number and title of a ``<top>`` block."""
_FORMS_BY_TOPIC = "a picture has topic, image and perhaps alt, an answer topic, text and perhaps citations"
"""Members of the two forms that a file with topics may have been meant as."""


def _of_json(path: Path, text: str) -> RecognisedFile | Unknown:
    if text.lstrip().startswith("[") and '"topid"' in text:
        return RecognisedFile(path=path, form="profiles")
    objects = _objects(text)
    judged = next((form for form in map(judgment_form, objects) if form is not None), None)
    if judged is not None:
        return RecognisedFile(path=path, form=f"{judged} of answers", rows=tuple(map(_judged, objects)))
    for form, rows_of in (("images", _images), ("answers", _answers), ("id text", _id_text)):
        rows = tuple(row for plain in objects for row in rows_of(plain))
        if rows:
            is_titled = form == "id text" and any(row[1] for row in rows)
            plain_rows = rows if form != "id text" or is_titled else tuple((row[0], row[2]) for row in rows)
            return RecognisedFile(path=path, form="id id text" if is_titled else form, rows=plain_rows)
    if '"clusters"' in text and '"topics"' in text:
        return RecognisedFile(path=path, form="clusters")
    members = next((join_names(plain) for plain in objects if isinstance(plain, dict)), "")
    has = f" with the members {members}" if members else ""
    forms = f"; {_FORMS_BY_TOPIC}" * any(isinstance(plain, dict) and "topic" in plain for plain in objects)
    return Unknown(
        path=path, why=f"JSON{has}, no form of answers, pictures, topics or texts that is known{forms}"
    )


def _objects(text: str) -> list[Any]:
    """Return the objects of JSON lines, or of a small whole document."""
    objects = []
    for line in text.splitlines():
        try:
            objects.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    if any(isinstance(plain, dict) for plain in objects):
        return objects
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return whole if isinstance(whole, list) else [whole]


def _judged(plain: Any) -> Row:
    """Return (topic, "") of an object with judgments of an answer."""
    return (judged_topic(plain) if isinstance(plain, dict) else "", "")


def _answers(plain: Any) -> Iterator[Row]:
    """Yield topic, text and ids of sources of each answer of an object."""
    tracks = track_answers(plain)
    if tracks is not None:
        yield from (
            (answer.topic, " ".join(text for text, _ in answer.sentences), *answer.source_ids())
            for answer in tracks
        )
    elif (
        isinstance(plain, dict)
        and isinstance(plain.get("topic"), str)
        and isinstance(plain.get("text"), str)
        and plain.keys() <= {*ANSWER}
    ):
        yield plain["topic"], plain["text"]


def _images(plain: Any) -> Iterator[Row]:
    """Yield (topic, path) of an object that names a picture."""
    if isinstance(plain, dict) and plain.keys() <= {*IMAGE}:
        topic, image = (plain.get(name) for name in IMAGE[:2])
        if isinstance(topic, str) and isinstance(image, str):
            yield topic, image


def _id_text(plain: Any) -> Iterator[Row]:
    """Yield (id, title, text) of an object with a text."""
    text_id = text_object(plain)
    if text_id is not None:
        yield text_id


def _of_table(path: Path, text: str) -> RecognisedFile | Unknown:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        return Unknown(path=path, why="comments alone")
    first = re.split(r"\s+", lines[0].strip())
    is_beir = tuple(first) == BEIR
    if first[0] in HEADERS:
        lines = lines[1:]
    judged = lines[:LINES_JUDGED]
    if is_beir:
        beir = (line.split() for line in lines)
        rows = tuple((row[0], "0", *row[1:]) for row in beir if len(row) == len(BEIR) and _is_number(row[2]))
        return RecognisedFile(path=path, form="id id id number", rows=rows)
    if _are_winners([line.split() for line in judged]):
        return Unknown(path=path, why=WINNERS)
    nearest_form, most = "", 0
    for form, (separator, fits) in FORMS.items():
        fitting = sum(fits(line.split(separator)) for line in judged)
        if fitting and fitting >= SHARE_THAT_FITS * len(judged):
            found = (tuple(map(str.strip, line.split(separator))) for line in lines)
            return RecognisedFile(path=path, form=form, rows=tuple(row for row in found if fits(row)))
        if fitting > most:
            nearest_form, most = form, fitting
    return Unknown(path=path, why=_strange(judged, nearest_form, most))


def _are_winners(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the last of four or five fields is one of the two systems.

    Both systems must win somewhere.
    """
    firsts = {
        row[-1] == row[1] for row in rows if len(row) in {4, 5} and row[1] != row[2] and row[-1] in row[1:3]
    }
    return len(firsts) == 2 and all(len(row) in {4, 5} and row[-1] in row[1:3] for row in rows)


def _strange(lines: Sequence[str], form: str, fitting: int) -> str:
    """Describe lines of no form, and how many of them resemble the nearest form."""
    near = f"; {fitting} of the first {len(lines)} are like {WORDS[form]}" if fitting else ""
    for mark, by in ((None, "blanks"), *DELIMITERS.items()):
        rows = [line.split(mark) for line in lines]
        sizes = {len(row) for row in rows}
        if mark in {",", ";"} and len(sizes) == 1 and sizes != {1}:
            return f"a CSV (fields separated by {by}), which prefcal import reads where it holds preferences{near}"
    by = "tabs" if "\t" in lines[0] else "blanks"
    ordered = sorted({len(line.split("\t" if by == "tabs" else None)) for line in lines})
    fields = pluralise(ordered[0], "field") if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]} fields"
    return f"lines of {fields} separated by {by}, which no file of a collection has{near}"


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text.strip()) is not None


def _is_day(text: str) -> bool:
    return re.fullmatch(r"(?:19|20)\d{6}", text) is not None


def _is_epoch(text: str) -> bool:
    return re.fullmatch(r"\d{9,11}(?:\.\d+)?", text) is not None


def _is_window(text: str) -> bool:
    return re.fullmatch(r"[12]\d{3}(?:-(?:\d{2}|W\d{2})){0,2}", text) is not None or (
        calendar_window(text, "day") is not None
    )


def _of(size: int, fits: Callable[[Sequence[str]], bool]) -> Callable[[Sequence[str]], bool]:
    return lambda fields: len(fields) == size and all(field.strip() for field in fields[:2]) and fits(fields)


FORMS: dict[str, tuple[str | None, Callable[[Sequence[str]], bool]]] = {
    "updates": ("\t", _of(7, lambda row: _is_number(row[3]) and _is_number(row[4]))),
    "matches": (
        "\t",
        _of(6, lambda row: _is_number(row[3]) and _is_number(row[4]) and not _is_number(row[2])),
    ),
    "nuggets": ("\t", _of(6, lambda row: _is_number(row[2]) and _is_number(row[3]))),
    "event run": (None, _of(7, lambda row: _is_number(row[4]) and _is_epoch(row[5]))),
    "ranked run": (None, _of(6, lambda row: row[3].isdigit() and (_is_number(row[4]) or "inf" in row[4]))),
    "push qrels": (None, _of(4, lambda row: row[1] == "Q0" and _is_number(row[3]))),
    "push run": (None, _of(4, lambda row: _is_epoch(row[2]))),
    "id id id number": (None, _of(4, lambda row: _is_number(row[3]))),
    "epochs": (None, _of(3, lambda row: _is_day(row[1]) and _is_epoch(row[2]))),
    "id id number": (None, _of(3, lambda row: _is_number(row[2]) and 0 <= float(row[2]) <= 1)),
    "windows": (None, _of(2, lambda row: _is_window(row[1]))),
    "id word": (None, _of(2, lambda row: row[1].isascii())),
    "id id text": ("\t", lambda row: len(row) == 3 and bool(row[0].strip())),
    "id text": ("\t", lambda row: len(row) in {2, 3} and all(field.strip() for field in row[:2])),
    "id word word": (None, _of(3, lambda _row: True)),
}
"""Separator of the fields, and test of a row, by form; the first match counts.

A text without spaces may be Japanese.
"""

WORDS: Mapping[str, str] = MappingProxyType(
    {
        "summary run": "a run of two-layered summaries",
        "events": "the events of Temporal Summarization",
        "profiles": "interest profiles",
        "images": "a system's pictures",
        "answers": "a system's answers",
        "nuggets of answers": "nuggets assigned to answers",
        "support of answers": "support of the citations of answers",
        "clusters": "clusters of tweets",
        "updates": "updates of Temporal Summarization",
        "matches": "matches of Temporal Summarization",
        "nuggets": "nuggets of Temporal Summarization",
        "event run": "a run of updates",
        "ranked run": "a run of ranked lists",
        "push qrels": "judgments (topic Q0 id grade)",
        "push run": "a run of push notifications",
        "id id id number": "judgments (topic, subtopic or 0, document, grade) or importances",
        "epochs": "days and times of tweets",
        "id id number": "probabilities of intents",
        "windows": "time windows of documents",
        "id word": "lines of an id and a word",
        "id id text": "lines of two ids and a text",
        "id text": "lines of an id and a text",
        "id word word": "lines of three words",
    }
)
"""Description of a file, by form."""
