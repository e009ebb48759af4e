"""Text files as numbered lines, fields and numbers, common to all readers.

Files are UTF-8, with or without a byte order mark, plain or packed with gzip, bzip2 or xz (known by content, not by name). What is no text
at all, in another encoding, or JSON where a table is expected, is called by its name. Faults are noted in the caller's `FaultLog`, and
reading goes on, so that one pass finds them all; the caller ends with `log.raise_if_any()`. Only a file that cannot be opened raises at
once. Several run files at once are each called like their file, and the faults of all are shown together.
"""

import bz2
import codecs
import gzip
import io
import lzma
import math
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, TypeVar, cast

from metrics.errors import MAX_FAULTS_KEPT, Fault, FaultLog, InputError, input_fault, pluralise
from metrics.file_limits import (
    MAX_BYTES,
    check_bytes,
    check_rows,
    check_unfolded,
    factor,
    most_unfolded,
    read_within,
)

GZIP_MAGIC = b"\x1f\x8b"
PACKED_AS: Mapping[str, tuple[re.Pattern[bytes], Callable[[BinaryIO], Any]]] = MappingProxyType(
    {
        "gzip": (re.compile(GZIP_MAGIC), lambda stream: gzip.GzipFile(fileobj=stream)),
        "bzip2": (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2.BZ2File),
        "xz": (re.compile(rb"\xfd7zXZ\x00"), lzma.LZMAFile),
    }
)
"""First bytes and unpacker of each way to pack a file."""
DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error)
"""Errors of the unpackers for a damaged file; bzip2's `OSError` besides."""
OLE_MAGIC, ZIP_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1"), b"PK\x03\x04"
SHEETS = (b"xl/", b"opendocument.spreadsheet")
"""Members of the zip archive of a spreadsheet, of Excel and of LibreOffice."""
UNPACK = "unpack it, and name a file of it"
NO_TEXTS: Mapping[bytes, tuple[str, str]] = MappingProxyType(
    {
        ZIP_MAGIC: ("a zip archive", UNPACK),
        b"7z\xbc\xaf\x27\x1c": ("a 7z archive", UNPACK),
        b"Rar!\x1a\x07": ("a rar archive", UNPACK),
        b"\x28\xb5\x2f\xfd": ("packed with Zstandard (zst)", "unpack it: unzstd FILE"),
        b"\x04\x22\x4d\x18": ("packed with lz4", "unpack it: lz4 -d FILE"),
        b"PAR1": ("a Parquet file", "save it as CSV"),
        b"ARROW1": ("an Arrow file", "save it as CSV"),
        b"SQLite format 3\x00": ("an SQLite database", "write its table as CSV"),
        b"%PDF-": ("a PDF", "save it as text"),
        b"\x89PNG": ("a picture", "name a text file"),
        b"\x93NUMPY": ("a NumPy array", "write it as text"),
    }
)
"""First bytes of files that are no text, with their name and a hint."""
UTF_32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
PEEKED = 2**16
"""Number of bytes that identify a file."""
TAR_PLACE = slice(257, 262)
JSON_START = re.compile(r"\s*[\[{]\s*(?:[\[{\"\]}]|-?[0-9.]+\s*,\s*-?[0-9])")
"""Pattern of the start of JSON: an object, or a list."""
SEP_LINE = re.compile(r'"?sep=(.)"?')
"""First line by which Excel declares the delimiter, as ``sep=;``."""
BLOCK_BYTES = 2**24
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
INFINITY = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


def read_bytes(path: str | Path) -> bytes:
    """Read a whole file without a byte order mark; gzip, bzip2 and xz are unpacked.

    Raises
    ------
    InputError
        If the file cannot be opened, is no text or none in UTF-8 (`check_is_text`), its packed data are damaged, or it is over the
        limits of `metrics.file_limits`.
    """
    try:
        data = _stored(Path(path))
        packed_as = packing(data)
        if packed_as is not None:
            data = _unpacked(data, path, packed_as)
    except FileNotFoundError:
        raise input_fault("there is no such file", path=path, cure="check the path") from None
    except IsADirectoryError:
        raise input_fault("this is a folder", path=path, cure="name a file in it") from None
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise input_fault(
            f"cannot be read ({error})", path=path, cure="check the path and its rights"
        ) from None
    check_is_text(path, data)
    check_rows(path, max(data.count(b"\n"), data.count(b"\r")))
    return data.removeprefix(codecs.BOM_UTF8)


def packing(data: bytes) -> str | None:
    """Return a file's packing, a key of `PACKED_AS`, from its first bytes, or None.

    None means a plain file, or a packing that is not supported.
    """
    return next((name for name, (start, _) in PACKED_AS.items() if start.match(data)), None)


def unpacking(stream: BinaryIO, packed_as: str | None) -> BinaryIO:
    """Return a stream that unpacks another, or that stream itself if not packed."""
    return stream if packed_as is None else cast("BinaryIO", PACKED_AS[packed_as][1](stream))


def check_is_text(path: str | Path, data: bytes) -> None:
    """Raise `InputError` if a file is binary, or text in UTF-16 or UTF-32.

    Its first bytes decide.

    Parameters
    ----------
    path : str or Path
        The file, for the message.
    data : bytes
        Its beginning, or all of it.
    """
    if data.startswith(OLE_MAGIC) or (data.startswith(ZIP_MAGIC) and any(part in data for part in SHEETS)):
        raise input_fault("this is a spreadsheet", path=path, cure="save it as CSV")
    kind = next((kind for magic, kind in NO_TEXTS.items() if data.startswith(magic)), None)
    kind = ("a tar archive", UNPACK) if data[TAR_PLACE] == b"ustar" else kind
    if kind is not None:
        raise input_fault(f"this is {kind[0]}", path=path, cure=kind[1])
    encoding = _wide_encoding(data[:512])
    if encoding is not None:
        raise input_fault(f"this is text in {encoding}", path=path, cure="save it as UTF-8")


def check_is_plain(path: str | Path, data: bytes) -> None:
    """Raise `InputError` if a file is packed or no UTF-8 text.

    `check_is_text` has the parameters.
    """
    check_is_text(path, data)
    packed_as = packing(data)
    if packed_as is not None:
        raise input_fault(f"this is packed with {packed_as}", path=path, cure=UNPACK)


def _wide_encoding(start: bytes) -> str | None:
    """Return the encoding of text in UTF-16 or UTF-32; None for any other."""
    if start.startswith(UTF_32):
        return "UTF-32"
    characters = [start[index::2].count(0) for index in (0, 1)]
    is_wide = len(start) >= 8 and max(characters) > 0.9 * (len(start) // 2) and min(characters) == 0
    return "UTF-16" if start.startswith(UTF_16) or is_wide else None


def check_no_json(path: str | Path, start: str, expected: str) -> None:
    """Raise `InputError` if a file begins like JSON, where none is read.

    Parameters
    ----------
    path : str or Path
        The file, for the message.
    start : str
        The beginning of its text, or all of it.
    expected : str
        What is expected: ``a CSV with a header``.
    """
    if not JSON_START.match(start):
        return
    first, *others = start.lstrip().split("\n", 2)
    is_lines = first.rstrip().endswith("}") and bool(others) and others[0].startswith("{")
    kind, option = ("JSON, one object a line", ", lines=True") if is_lines else ("JSON", "")
    cure = (
        f"write it as that, as pandas.read_json(FILE{option}) and to_csv do, nested members each as a column"
    )
    raise input_fault(f"this is {kind}, and {expected} is expected", path=path, line=1, cure=cure)


def excel_delimiter(first: str) -> str | None:
    """Return the delimiter that a first line ``sep=;`` declares, or None."""
    written = SEP_LINE.fullmatch(first.rstrip("\r\n"))
    return None if written is None else written[1]


def _stored(path: Path) -> bytes:
    """Return the content of a file or pipe, within the budget."""
    with path.open("rb") as stream:
        check_bytes(path, os.fstat(stream.fileno()).st_size)
        data = stream.read() if path.is_file() else read_within(stream, int(MAX_BYTES * factor()))
    check_bytes(path, len(data))
    return data


def _unpacked(data: bytes, path: str | Path, packed_as: str) -> bytes:
    try:
        with unpacking(io.BytesIO(data), packed_as) as packed:
            unpacked = read_within(packed, most_unfolded(len(data)))
    except (*DAMAGED, OSError):
        raise input_fault(
            f"the {packed_as} data are damaged", path=path, cure="pack the file again"
        ) from None
    check_unfolded(path, len(data), len(unpacked))
    return unpacked


def blocks(data: bytes) -> Iterator[bytes]:
    r"""Yield a file in pieces that end with a line (``\n``).

    Objects made of all lines at once may take forty times the file's size.
    """
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + BLOCK_BYTES)
        end = len(data) if end < 0 else end + 1
        yield data[start:end]
        start = end


def byte_lines(data: bytes) -> Iterator[bytes]:
    """Yield the lines of bytes as ``data.splitlines()`` lists them."""
    for block in blocks(data):
        yield from block.splitlines()


def stream_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield each line of a file, plain or packed, with its number from 1.

    Only one line is in memory, so that a corpus of any size can be read.

    Raises
    ------
    InputError
        If the file cannot be opened or is no text, or its packed data are damaged.
    """
    try:
        with Path(path).open("rb") as stream:
            packed_as = packing(stream.read(PEEKED))
            stream.seek(0)
            with unpacking(stream, packed_as) as unpacked:
                for number, line in enumerate(unpacked, start=1):
                    if number == 1:
                        check_is_text(path, line)
                    yield number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
    except FileNotFoundError:
        raise input_fault("there is no such file", path=path, cure="check the path") from None
    except (*DAMAGED, OSError) as error:
        raise input_fault(f"cannot be read ({error})", path=path, cure="see whether it is whole") from None


def decoded(data: bytes, path: str | Path) -> str:
    """Return a file's text; raise `InputError` with the line that is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise input_fault("not UTF-8", path=path, line=line, cure="save the file as UTF-8") from None


def text_lines(log: FaultLog, *, expected: str | None = None) -> Iterator[tuple[int, str]]:
    r"""Yield the number of each line of ``log.path``, from 1, and its text without the line end.

    Line ends are ``\n``, ``\r\n`` and ``\r``.

    A line that is not UTF-8 is noted as a fault and left out; so is, without a fault, a first line ``sep=;``, which Excel writes.

    Raises
    ------
    InputError
        As `read_bytes`; and if the file is JSON where ``expected`` says what is read instead.
    """
    data = read_bytes(log.path)
    if expected is not None:
        check_no_json(log.path, data[:PEEKED].decode(errors="replace"), expected)
    for number, line in enumerate(byte_lines(data), start=1):
        try:
            text = line.decode()
            if number > 1 or excel_delimiter(text) is None:
                yield number, text
        except UnicodeDecodeError:
            log.add("the line is not UTF-8", line=number, cure="save the file as UTF-8")


def rows(columns: Sequence[str], log: FaultLog, *, of_xml: str = "") -> Iterator[tuple[int, list[str]]]:
    """Yield line number and fields of each row of ``log.path``, separated by tabs.

    There is no quoting. It notes rows whose number of fields differs from the number of columns.

    Blank lines are skipped, and so is a first line that is the header: the names of the columns themselves. Where it is the
    header of another file, that is noted and nothing is read.

    Parameters
    ----------
    columns : sequence of str
        Names of the fields, for the header and for messages.
    log : FaultLog
        Where a row with another number of fields is noted; it is left out.
    of_xml : str
        What to say to somebody who gives an XML file here, where one is wanted elsewhere.
    """
    header, wrong = list(columns), list[int]()
    is_one_right, is_xml, has_blanks = False, False, True
    for line, text in text_lines(log, expected=lines_of(header, "tabs")):
        fields = text.split("\t")
        if len(fields) == len(header):
            is_one_right = True
            if line == 1 and fields != header and len({*fields} & {*header}) > 1:
                log.add(
                    f"the columns are {', '.join(fields)}",
                    line=line,
                    cure=f"name the file whose columns are {', '.join(header)}",
                )
                return
            if line != 1 or fields != header:
                yield line, fields
        elif text and not text.isspace():
            is_xml = is_xml or (not wrong and not is_one_right and text.lstrip().startswith("<"))
            wrong.append(len(fields))
            is_blank = len(fields) == 1 and len(text.split()) >= len(header)
            has_blanks = has_blanks and is_blank
            log.add(
                NO_TAB if is_blank else f"{len(header)} fields expected, got {len(fields)}",
                line=line,
                cure=f"write {', '.join(header)}, separated by tabs",
            )
    if is_xml or not is_one_right:
        say_once(wrong, header, log, by="tabs", is_xml=is_xml, of_xml=of_xml, has_blanks=has_blanks)


NO_TAB = "expected tabs between the fields, found only blanks"
"""Fault of a line whose fields are separated by blanks."""


def lines_of(names: Sequence[str], by: str) -> str:
    """Describe a file with these columns.

    For example: ``a file with lines of topic, text, separated by tabs,``.
    """
    return f"a file with lines of {', '.join(names)}, separated by {by},"


SORTS = MappingProxyType(
    {
        4: "a file of judgments or a run of push notifications",
        6: "a run of ranked lists",
        7: "a run of updates",
    }
)
"""Kinds of files with fields separated by white space, by number of fields."""


def say_once(
    wrong: Sequence[int],
    names: Sequence[str],
    log: FaultLog,
    *,
    by: str,
    is_xml: bool = False,
    of_xml: str = "",
    has_blanks: bool = False,
) -> None:
    """Replace the faults of all lines by one, if the file is of another kind.

    Such a file is XML, or has the same wrong number of fields on every line.

    Parameters
    ----------
    wrong : sequence of int
        Number of fields of each line that has not the right one; where no line has, their faults are the last of the log.
    names : sequence of str
        The fields of a line that was expected.
    log : FaultLog
        The faults of the file.
    by : str
        What separates the fields, for the message.
    is_xml : bool
        Whether the first line that is not blank is one of these, and begins with ``<``: then nothing else is looked at.
    of_xml : str
        What to say of it then besides.
    has_blanks : bool
        Whether all lines have blanks where tabs are expected.
    """
    cure = f"name the file whose lines are {', '.join(names)}, separated by {by}"
    if is_xml:
        log.faults.clear()
        log.add(
            f"this is an XML file, and lines of {pluralise(len(names), 'field')} are expected",
            line=1,
            cure="; ".join(filter(None, [cure, of_xml])),
        )
        return
    if len(wrong) < 2 or len(set(wrong)) > 1 or len(log.faults) != min(len(wrong), MAX_FAULTS_KEPT):
        return
    log.faults.clear()
    sort = SORTS.get(wrong[0]) if by == "white space" else None
    like = f", as {sort} has," if sort else ""
    log.add(
        f"{NO_TAB} in any line"
        if has_blanks
        else f"each line has {pluralise(wrong[0], 'field')}{like} and {len(names)} are expected",
        line=1,
        cure=f"write {', '.join(names)}, separated by {by}" if has_blanks else cure,
    )


def number(text: str, what: str, line: int, log: FaultLog, *, infinite: bool = False) -> float:
    """Parse a decimal number; note a fault and return NaN for anything else.

    Parameters
    ----------
    text : str
        The field.
    what : str
        What the field holds, for the message.
    line : int
        Where it stands.
    log : FaultLog
        Where the fault is noted.
    infinite : bool
        Accept ``inf`` and ``-inf`` too. NaN is never accepted.
    """
    if NUMBER.fullmatch(text) or (infinite and INFINITY.fullmatch(text)):
        value = float(text)
        if infinite or math.isfinite(value):
            return value
    log.add(f"{what} is no finite number: {text!r}", line=line, cure="write a decimal number such as 2.5")
    return math.nan


def differs(known: float, value: float) -> bool:
    """Return whether two numbers differ; NaN, already noted as a fault, never does."""
    return known < value or known > value


def whole_number(text: str, what: str, line: int, log: FaultLog) -> int:
    """Parse a whole number of at most 18 digits; note a fault and return 0 otherwise."""
    if WHOLE_NUMBER.fullmatch(text):
        return int(text)
    log.add(f"{what} is no whole number: {text!r}", line=line, cure="write digits only")
    return 0


R = TypeVar("R")
ENDINGS = (".xml", ".txt", ".tsv", ".jsonl")
PACKED = (".gz", ".bz2", ".xz")
RUN_ENDING = ".run"
"""File ending that the column ``run`` of scores has, and a study's systems lack.

Scripts depend on the names in that column.
"""


def system_name(run: str) -> str:
    """Return the name of a run's system in a study: without a last ``.run``."""
    return run.removesuffix(RUN_ENDING) or run


def run_name(path: str | Path) -> str:
    """Return a run's name: the file's without folder, packing and format endings.

    Packings are ``.gz``, ``.bz2`` and ``.xz``; formats are ``.xml``, ``.txt``, ``.tsv`` and ``.jsonl``.
    """
    name = Path(path).name
    name = next((name.removesuffix(ending) for ending in PACKED if name.endswith(ending)), name)
    ending = next((ending for ending in ENDINGS if name.endswith(ending) and name != ending), "")
    return name.removesuffix(ending)


def named_runs(paths: Iterable[str | Path]) -> dict[str, Path]:
    """Name each run file, in the order given.

    Raises
    ------
    InputError
        If two files go by one name, so that their scores could not be told apart.
    """
    named: dict[str, Path] = {}
    for path in map(Path, paths):
        other = named.setdefault(run_name(path), path)
        if other is not path:
            raise input_fault(
                f"{other} is called {run_name(path)!r} too", path=path, cure="rename one of the two files"
            )
    return named


def read_runs(paths: Iterable[str | Path], read: Callable[[Path, str], R]) -> list[R]:
    """Read every run file by ``read(path, name)``, in the order given.

    Raises
    ------
    InputError
        With the faults of all files, or if two files go by one name.
    """
    runs: list[R] = []
    faults: list[Fault] = []
    for name, path in named_runs(paths).items():
        try:
            runs.append(read(path, name))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return runs
