"""Answers of judges: the choice that a text ends with, and the file to which a run adds a line an answer.

A line has the request's ``id``, and ``choice``, ``text`` or both; a text without a choice is an answer that nobody can read. Where criteria are
asked it has ``criteria``, a choice by the name of each; one that is missing there is an answer that nobody can read. It may say ``model``, ``prompt_sha256``, ``tokens`` (of the request and of the answer), ``decided_at``, and the ``reason`` for ``no_answer``.
"""

import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

from metrics.errors import FaultLog, InputError, input_fault, pluralise
from metrics.file_limits import check_bytes
from study_app.judges.requests import Request

if sys.platform != "win32":
    import fcntl

NO_ANSWER = "no_answer"
"""Choice of a request that nobody answered."""
TIE, TIES = "tie", ("equally_good", "about_the_same")
"""What some judges call a tie, and what it is here, of a scale the one that there is."""
ANSWER_LINE = re.compile(
    r"^\W*(?:final )?(?:answer|verdict|choice|答え)\W*[:=]\W*(.*)$", re.IGNORECASE | re.MULTILINE
)
OBJECTS = (re.compile(r"\{[^{}]*\}"), re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}"))
"""JSON objects in a text: without another in them, and with."""
BEGIN = b'{"id": "'
"""What every line begins with that a run writes."""
SYNC_SECONDS = 1.0
"""Longest time for which an answer may be in the system's memory alone, not on the disk."""


def read_choice(text: str, choices: Sequence[str]) -> str | None:
    r"""Return the choice that a text is or ends with, None if nobody can tell.

    It is the whole text; or the key ``choice`` of the last JSON object in it; or what stands on the last line that begins with
    ``Answer:``. Case, quotes, brackets and marks around it count for nothing, and ``tie`` is ``equally_good``.

    Examples
    --------
    >>> read_choice("B is longer, but A says where salt comes from.\n\n**Answer: A**", ["A", "B", "equally_good"])
    'A'
    >>> read_choice("Both are fine.", ["A", "B", "equally_good"]) is None
    True
    """
    plain = unicodedata.normalize("NFKC", text)
    said = [plain, *(str(given["choice"]) for given in _last_object(plain)), *ANSWER_LINE.findall(plain)[-1:]]
    return _known(said, choices)


def read_criterion(text: str, choices: Sequence[str], name: str) -> str | None:
    r"""Return the choice of a criterion in a text, None if nobody can tell.

    It is that in the key ``criteria`` of the last JSON object in it that has a ``choice``; or what stands on the last line that begins with
    ``Criterion NAME:``.

    Examples
    --------
    >>> read_criterion("Answer: A\n**Criterion correct**: B", ["A", "B"], "correct")
    'B'
    """
    plain = unicodedata.normalize("NFKC", text)
    line = rf"^\W*criterion\W+{re.escape(unicodedata.normalize('NFKC', name))}\W*[:=]\W*(.*)$"
    given = [each["criteria"] for each in _last_object(plain) if isinstance(each.get("criteria"), dict)]
    said = [str(each[name]) for each in given if name in each]
    return _known([*said, *re.findall(line, plain, re.IGNORECASE | re.MULTILINE)[-1:]], choices)


def _last_object(plain: str) -> list[Mapping[str, Any]]:
    """Return the last JSON object that has a choice, as a list of one or none."""
    objects = [json_object(each) for pattern in OBJECTS for each in pattern.findall(plain)]
    return [given for given in objects if "choice" in given][-1:]


def _known(said: Sequence[str], choices: Sequence[str]) -> str | None:
    """Return the first of what was said that is one of the choices."""
    tie = {choice: TIE for choice in choices if choice in TIES}
    known = {name: choice for choice in choices for name in (tie.get(choice), _bare(choice))}
    return next((known[_bare(words)] for words in said if _bare(words) in known), None)


def json_object(text: str | bytes) -> Mapping[str, Any]:
    """Return the JSON object that a text is, an empty one where it is none."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def _bare(words: str) -> str:
    """Return words without case and marks around them, joined as the names of choices are."""
    return re.sub(r"[\s_-]+", "_", re.sub(r"^[\W_]+|[\W_]+$", "", words)).casefold()


def answer_of(given: Mapping[str, Any], request: Request) -> dict[str, Any] | None:
    """Return what a judge's line says about a request, None if it has neither choice nor text.

    A choice that the request does not offer is kept as a text.
    """
    choice, text = given.get("choice"), given.get("text")
    stated = given["criteria"] if isinstance(given.get("criteria"), dict) else {}
    criteria = {name: stated[name] for name in request.criteria if stated.get(name) in request.choices}
    if text is None and len(criteria) < len(stated):
        text = json.dumps({"choice": choice, "criteria": stated}, ensure_ascii=False)
    if choice is not None and choice not in (*request.choices, NO_ANSWER):
        text, choice = (str(choice) if text is None else text), None
    if choice is None and text is None:
        return None
    answer: dict[str, Any] = {"id": request.id}
    if text is not None:
        answer["text"] = str(text)
        choice = choice or read_choice(answer["text"], request.choices)
        for name in request.criteria:
            said = read_criterion(answer["text"], request.choices, name)
            criteria |= {name: said} if said and name not in criteria else {}
    if choice is not None:
        answer["choice"] = choice
    if criteria:
        answer["criteria"] = criteria
    if isinstance(given.get("model"), str):
        answer["model"] = given["model"]
    if _are_tokens(given.get("tokens")):
        answer["tokens"] = list(given["tokens"])
    return answer


def _are_tokens(given: object) -> bool:
    return (
        isinstance(given, list)
        and len(given) == 2
        and all(isinstance(number, int) and number >= 0 for number in given)
    )


def read_answers(path: str | Path, requests: Mapping[str, Request]) -> list[dict[str, Any]]:
    """Read a file of answers, and read the choice of those that are a text alone.

    Parameters
    ----------
    path : str or Path
        The file.
    requests : mapping of str to Request
        Those that it answers, by id.

    Returns
    -------
    list of dict
        In the order of the file. An answer that nobody can read has no ``choice``.

    Raises
    ------
    InputError
        With a line for each thing that is wrong, and how often: lines that are no answers, answers to requests that there are not, to
        one request twice, or to another prompt.
    """
    path = Path(path)
    try:
        check_bytes(path, path.stat().st_size)
        content = path.read_bytes()
    except OSError as error:
        raise input_fault(
            f"cannot be read ({error.strerror})", path=path, cure="name a file of answers"
        ) from error
    log, answers, seen = FaultLog(path), list[dict[str, Any]](), set[str]()
    for number, line in enumerate(content.splitlines(), start=1):
        given = json_object(line)
        request = requests.get(str(given.get("id")))
        answer = None if request is None else answer_of(given, request)
        problem = ""
        if "id" not in given:
            problem = "is no answer"
        elif request is None:
            problem = "answers a request that there is not"
        elif given.get("prompt_sha256", request.prompt_sha256) != request.prompt_sha256:
            problem = "answers another prompt"
        elif answer is None:
            problem = "has neither choice nor text"
        elif request.id in seen:
            problem = "answers a request that another line answers"
        else:
            seen.add(request.id)
            answers.append(
                {**{key: given[key] for key in ("decided_at", "reason") if key in given}, **answer}
            )
        if problem:
            log.add(f"this line {problem}", line=number, cure=CURES[problem], kind=problem)
    log.raise_if_any()
    return answers


CURES = {
    "is no answer": 'write {"id": …, "choice": …} on each line',
    "answers a request that there is not": "name the file of requests that was run, of the same study, texts and prompt",
    "answers another prompt": "name the file of requests that was run",
    "has neither choice nor text": "write one of them",
    "answers a request that another line answers": "keep one answer to each request",
}
"""What may be wrong with a line of answers, and how to mend it."""


class AnswerFile:
    """File to which answers are added, each as a whole line.

    Attributes
    ----------
    dropped_line : int or None
        Number of the last line, where it was cut short and has been taken out.
    """

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._file = file
        self._synced = monotonic()
        self.path = path
        self.dropped_line = _drop_halfjson_object(file)

    def add(self, answer: Mapping[str, Any]) -> None:
        """Add an answer; it is on the disk `SYNC_SECONDS` later at the latest, as long as answers come.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        try:
            self._file.write(_encoded(answer))
            if monotonic() - self._synced > SYNC_SECONDS:
                os.fsync(self._file.fileno())
                self._synced = monotonic()
        except OSError as error:
            raise _unwritable(self.path, error) from error


def _encoded(answer: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(answer, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # half of a character, which only an escape can hold
        return json.dumps(answer).encode() + b"\n"


def _drop_halfjson_object(file: BinaryIO) -> int | None:
    """Cut off a last line that a killed run left unfinished; return its number.

    Nothing is cut off a file that no run wrote.
    """
    file.seek(0)
    content = file.read()
    whole = content.rfind(b"\n") + 1
    half = content[whole:]
    if "id" in json_object(half):
        file.write(b"\n")
        return None
    first = content[: content.find(b"\n") + 1] or half
    if not half or not (json_object(first).get("id") or first.startswith(BEGIN) or BEGIN.startswith(first)):
        return None
    file.truncate(whole)
    return content.count(b"\n") + 1


@contextmanager
def open_answers(path: str | Path) -> Iterator[AnswerFile]:
    """Open a file of answers to add to it; nobody else can do so meanwhile.

    Raises
    ------
    InputError
        If it cannot be written, or another run is adding to it.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab+", buffering=0)
    except OSError as error:
        raise _unwritable(path, error) from error
    with file:
        if sys.platform != "win32":
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise input_fault(
                    "another run is writing this file",
                    path=path,
                    cure="wait until it ends, or name another file",
                ) from None
        yield AnswerFile(path, file)
        os.fsync(file.fileno())


def _unwritable(path: Path, error: OSError) -> InputError:
    cure = "make room there, or choose another place; the answers before are kept"
    return input_fault(f"cannot be written ({error.strerror})", path=path, cure=cure)


def describe(answers: Sequence[Mapping[str, Any]], requests: Mapping[str, Request]) -> str:
    """Return how many answers there are, how many of them and about criteria nobody can read, and how many requests have none."""
    silent = sum(answer.get("choice") == NO_ANSWER for answer in answers)
    unreadable = sum("choice" not in answer for answer in answers)
    parts = [pluralise(len(answers) - silent - unreadable, "answer")]
    if unreadable:
        parts.append(f"{unreadable:,} that cannot be read (kept as text)")
    missing = sum(
        len(requests[answer["id"]].criteria) - len(answer.get("criteria", ()))
        for answer in answers
        if answer.get("choice") != NO_ANSWER
    )
    if missing:
        parts.append(f"{missing:,} about criteria that cannot be read")
    if silent:
        parts.append(f"{pluralise(silent, 'request')} without an answer")
    return ", ".join(parts)
