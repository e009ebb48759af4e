"""Reading of a platform's list of submissions, a CSV with names of its own.

Names are compared without case, blanks and marks, so that ``Participant id``, ``participant_id`` and
``ParticipantId`` are equal. Pure but for the file.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from metrics.errors import FaultLog, input_fault, join_names
from metrics.file_limits import SMALL_BYTES, check_bytes
from metrics.readers.columns import DELIMITERS
from metrics.readers.lines import PEEKED, check_is_plain, check_no_json, excel_delimiter
from study_app.study.platforms import Platform

COLUMNS = {
    "id": ("participantid", "participant", "workerid", "prolificpid", "connectid", "surveycode", "surveyid"),
    "submission": ("submissionid", "assignmentid", "sessionid"),
    "status": ("status", "assignmentstatus", "submissionstatus", "approvalstatus", "creditstatus"),
    "code": ("completioncode", "enteredcode", "answercode", "secretcode", "code"),
}
"""Platforms' names of each column."""

PAID_STATE, CONFIRMED_STATE, OPEN_STATE = "paid", "confirmed", "open"

_WORDS = {
    PAID_STATE: "approved partiallyapproved paid autoapproved screenedout creditgranted participated",
    CONFIRMED_STATE: "awaitingreview awaitingapproval pending pendingapproval pendingreview submitted complete completed "
    "rejected",
    OPEN_STATE: "active reserved started inprogress returned timedout abandoned expired cancelled noshow awaitingaction "
    "unexcusednoshow excusednoshow",
}

STATES = {word: meaning for meaning, words in _WORDS.items() for word in words.split()}
"""Meaning of each state of the platforms: paid, confirmed or open.

Confirmed work was submitted and not paid; open work was not submitted.
"""

NEEDED = {"id": "ids of the workers", "status": "states of the submissions"}
"""Columns that a list must have, in words."""

NO_CODE = frozenset({"", "nocode", "none", "na", "nan", "null"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Line of a platform's list.

    Attributes
    ----------
    worker : str
        The worker's id at the platform.
    submission : str
        Id of the submission; empty where the list has none.
    status : str
        State in the platform's words.
    code : str or None
        Code that was handed in; None for nothing.
    confirmed, paid : bool
        The platform has it as handed in; as paid.
    known : bool
        prefcal knows what the state means; else the other two say nothing.
    """

    worker: str
    submission: str
    status: str
    code: str | None
    confirmed: bool
    paid: bool
    known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformList:
    """Submissions of a platform's list; ``unknown`` are states of unknown meaning."""

    submissions: tuple[Submission, ...]
    unknown: tuple[str, ...]


def read_platform_list(
    path: str | Path, platform: Platform, *, named: Mapping[str, str], states: Mapping[str, str] | None = None
) -> PlatformList:
    """Read a platform's list from a file.

    Parameters
    ----------
    path : str or Path
        CSV in UTF-8 with a header.
    platform : Platform
        Platform; its parameter for the worker's id is a name of that column, too.
    named : mapping of str to str
        Column names that the user gives for ``id``, ``submission``, ``status``, ``code``.
    states : mapping of str to str
        Meaning of further states: `PAID_STATE`, `CONFIRMED_STATE` or `OPEN_STATE`; these override `STATES`.

    Raises
    ------
    InputError
        If the file cannot be read, a column is missing, or a line has no id.
    """
    return parse_platform_list(_content(path), path, platform, named=named, states=states)


def _content(path: str | Path) -> bytes:
    try:
        check_bytes(path, Path(path).stat().st_size, most=SMALL_BYTES)
        return Path(path).read_bytes()
    except OSError as error:
        raise input_fault(
            f"cannot be read ({error.strerror})", path=path, cure="name the platform's CSV"
        ) from error


def read_people_list(
    path: str | Path, platform: Platform, *, named: Mapping[str, str], columns: Sequence[str]
) -> dict[str, list[dict[str, str]]]:
    """Read columns of a platform's list of people.

    Parameters
    ----------
    path : str or Path
        CSV in UTF-8 with a header.
    platform : Platform
        Platform; its parameter for the worker's id is a name of that column, too.
    named : mapping of str to str
        Column name that the user gives for ``id``.
    columns : sequence of str
        Names of the columns, compared without case, blanks and marks.

    Returns
    -------
    dict of str to list of dict of str to str
        Lines by the worker's id there, each with the value of each column.

    Raises
    ------
    InputError
        If the file cannot be read, or the column of ids or one of the columns is missing or there twice.
    """
    rows = _rows(_content(path), path)
    header = rows[0][1] if rows else []
    log = FaultLog(path)
    at = _places(header, platform, named, log, kinds=("id",)).get("id", 0)
    places = {}
    for column in columns:
        same = [place for place, name in enumerate(header) if name.strip() == column] or [
            place for place, name in enumerate(header) if _plain(column) and _plain(name) == _plain(column)
        ]
        if len(same) != 1:
            problem = "missing column" if not same else "more than one column"
            cure = f"name it in demographics as it stands there: {join_names(header, most=30)}"
            log.add(f"{problem} {column!r}", line=1, cure=cure)
        places[column] = same[0] if same else 0
    log.raise_if_any()
    listed: dict[str, list[dict[str, str]]] = {}
    for _, row in rows[1:]:
        cells = {column: row[place].strip() if place < len(row) else "" for column, place in places.items()}
        name = row[at].strip() if at < len(row) else ""
        if name:
            listed.setdefault(name, []).append(cells)
    return listed


def parse_platform_list(
    content: bytes,
    path: str | Path,
    platform: Platform,
    *,
    named: Mapping[str, str],
    states: Mapping[str, str] | None = None,
) -> PlatformList:
    """Read a platform's list from the content of a file; see `read_platform_list`."""
    rows = _rows(content, path)
    header = rows[0][1] if rows else []
    log = FaultLog(path)
    places = _places(header, platform, named, log)
    log.raise_if_any()
    submissions, log = [], FaultLog(path)
    meanings = STATES | {_plain(word): meaning for word, meaning in (states or {}).items()}
    for line, row in rows[1:]:
        cells = {kind: row[column].strip() if column < len(row) else "" for kind, column in places.items()}
        if not cells["id"]:
            log.add(
                "missing id of the worker",
                line=line,
                cure="remove the line, or name the column with --id-column",
            )
            continue
        submissions.append(submission_of_cells(cells, meanings))
    log.raise_if_any()
    unknown = tuple(sorted({submission.status for submission in submissions if not submission.known}))
    return PlatformList(submissions=tuple(submissions), unknown=unknown)


def _rows(content: bytes, path: str | Path) -> list[tuple[int, list[str]]]:
    """Return the rows that are not blank, each with the line on which it ends."""
    check_is_plain(path, content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise input_fault("not UTF-8", path=path, cure="save it as CSV in UTF-8") from error
    check_no_json(path, text[:PEEKED], "the platform's CSV")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text.lstrip().partition("\n")[0]))
    try:
        rows = [(reader.line_num, row) for row in reader if any(map(str.strip, row))]
    except csv.Error as error:
        raise input_fault(
            f"not CSV ({error})", path=path, line=reader.line_num, cure="download the list again, as CSV"
        ) from error
    return rows[1:] if excel_delimiter(text.partition("\n")[0]) else rows


def _delimiter(first: str) -> str:
    """Return the delimiter: that of Excel's line ``sep=;``, or the header's commonest."""
    return excel_delimiter(first) or max(DELIMITERS, key=first.count)


def _places(
    header: Sequence[str],
    platform: Platform,
    named: Mapping[str, str],
    log: FaultLog,
    kinds: Sequence[str] = tuple(COLUMNS),
) -> dict[str, int]:
    """Return the index of each column; submission and code may be missing."""
    plain = [_plain(name) for name in header]
    places = {}
    for kind in kinds:
        names = COLUMNS[kind]
        own = (_plain(platform.worker_parameter),) if kind == "id" else ()
        names_sought = (_plain(named[kind]),) if kind in named else (*own, *names)
        column = next((plain.index(name) for name in names_sought if name in plain), None)
        if column is not None:
            places[kind] = column
        elif kind in named or kind in NEEDED:
            missing = repr(named[kind]) if kind in named else f"with the {NEEDED[kind]}"
            log.add(
                f"missing column {missing}",
                line=1,
                cure=f"name it with --{kind}-column; there are {join_names(header)}",
            )
    return places


def submission_of_cells(cells: Mapping[str, str], meanings: Mapping[str, str] = STATES) -> Submission:
    """Return what a platform says of one submission: its id, submission, status and code."""
    code, meaning = cells.get("code", ""), meanings.get(_plain(cells["status"]))
    return Submission(
        worker=cells["id"],
        submission=cells.get("submission", ""),
        status=cells["status"],
        code=None if _plain(code) in NO_CODE else code,
        confirmed=meaning in {PAID_STATE, CONFIRMED_STATE},
        paid=meaning == PAID_STATE,
        known=meaning is not None,
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
