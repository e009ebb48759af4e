"""What kind of file something is, told by what stands in it; names decide nothing.

Files are read as the readers of `metrics` do: UTF-8, plain or gzip. Only the beginning is looked at. Some forms are shared by
several kinds of files (``id text``, ``id id text``, ``id id id number``); `study_app.study_new.collections` tells those apart by whose
ids they have.
"""

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from metrics.readers.lines import GZIP_MAGIC, NUMBER
from metrics.readers.ranked import calendar_window

HEAD_BYTES = 4_000_000
LINES_JUDGED = 50
SHARE_THAT_FITS = 0.9
"""The readers say which lines are wrong; a file with some of them is still that file."""
MAX_FILES = 2_000
HEADERS = {"query_id", "topic", "qid", "docid", "tweet_id"}
"""First words of the headers that readers skip."""

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """A file, its form (a name of `FORMS`, or of a file with markup), and its rows without a header."""

    path: Path
    form: str
    rows: tuple[Row, ...] = ()

    def ids(self, *columns: int) -> frozenset[Row]:
        """Return what stands in these columns."""
        return frozenset(tuple(row[column] for column in columns) for row in self.rows)


def files_in(places: Sequence[Path]) -> list[Path]:
    """Return the files among ``places`` and in the folders among them, in order; hidden ones and YAML are passed over."""
    files: dict[Path, None] = {}
    for place in places:
        inside = sorted(place.rglob("*")) if place.is_dir() else [place]
        for path in inside:
            hidden = any(part.startswith(".") for part in path.relative_to(place).parts)
            if path.is_file() and not hidden and path.suffix not in {".yaml", ".yml"}:
                files[path] = None
    return list(files)[:MAX_FILES]


def recognise(path: Path) -> Recognised | None:
    """Say what a file is, None when it is nothing that a study could use."""
    text = _beginning(path)
    if text is None:
        return None
    start = text.lstrip()[:1]
    if start == "<":
        return _of_markup(path, text)
    if start in {"{", "["}:
        return _of_json(path, text)
    return _of_table(path, text)


def _beginning(path: Path) -> str | None:
    """Return whole lines from the beginning of a file, None when it is no text."""
    try:
        with path.open("rb") as stream:
            packed = stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        with gzip.open(path) if packed else path.open("rb") as stream:
            data = stream.read(HEAD_BYTES).removeprefix(codecs.BOM_UTF8)
        whole = data if len(data) < HEAD_BYTES else data[: data.rfind(b"\n") + 1]
        return whole.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        return None


def _of_markup(path: Path, text: str) -> Recognised | None:
    tags = (("<results", "summary run"), ("<events", "events"), ("<top>", "profiles"))
    form = next((form for tag, form in tags if tag in text), None)
    if form is None:
        return None
    used = re.findall(r"""<(?:iunit|link)\s[^>]*?(?:uid|iid)\s*=\s*["']([^"']+)""", text)
    return Recognised(path=path, form=form, rows=tuple((one,) for one in dict.fromkeys(used)))


def _of_json(path: Path, text: str) -> Recognised | None:
    if text.lstrip().startswith("[") and '"topid"' in text:
        return Recognised(path=path, form="profiles")
    answers = _answers(text)
    if answers:
        return Recognised(path=path, form="answers", rows=answers)
    return Recognised(path=path, form="clusters") if '"clusters"' in text and '"topics"' in text else None


def _answers(text: str) -> tuple[Row, ...]:
    """Return (topic, text) of JSON lines with answers; nothing of other JSON."""
    rows = []
    for line in text.splitlines():
        try:
            plain = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if (
            isinstance(plain, dict)
            and isinstance(plain.get("topic"), str)
            and isinstance(plain.get("text"), str)
        ):
            rows.append((plain["topic"], plain["text"]))
    return tuple(rows)


def _of_table(path: Path, text: str) -> Recognised | None:
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and re.split(r"\s+", lines[0])[0] in HEADERS:
        lines = lines[1:]
    judged = lines[:LINES_JUDGED]
    for form, (separator, fits) in FORMS.items():
        fitting = sum(fits(line.split(separator)) for line in judged)
        if fitting and fitting >= SHARE_THAT_FITS * len(judged):
            rows = (tuple(map(str.strip, line.split(separator))) for line in lines)
            return Recognised(path=path, form=form, rows=tuple(row for row in rows if fits(row)))
    return None


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
"""Form -> what separates its fields, and whether a row has it; the first that fits counts. A text without spaces may be Japanese."""
