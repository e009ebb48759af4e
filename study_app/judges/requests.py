"""Requests to judges: one about a pair, an order of its sides and a sample, as lines of a file.

A line names no system. Its ``pair`` is `pair_digest`, which whoever knows the systems can compute again; its ``id`` is a digest of what is
asked, so another prompt or another text has another id.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from calibration.tables.people import people_tables
from metrics.errors import FaultLog, input_fault, pluralise
from metrics.file_limits import check_bytes
from study_app.config import resource_folder
from study_app.estimate.content import StudyContent
from study_app.judges.prompts import JudgePrompt, PictureParts, default_prompt, pair_variables, read_prompt
from study_app.protocol.sides import Side
from study_app.study.entries import SCALES, Criterion, JudgingTask, Scale
from study_app.tasks.content import SystemPair, TaskContent
from study_app.tasks.kinds import KINDS, kind_of
from study_app.web.serving import Messages

if TYPE_CHECKING:
    import pandas as pd

Orders: TypeAlias = Literal["both", "one"]
Couple: TypeAlias = tuple[str, str, frozenset[str]]
"""Task, topic, and two systems."""
_BETTER: Mapping[Scale, Sequence[str]] = {
    "graded5": ("slightly_better", "much_better"),
    "graded7": ("slightly_better", "better", "much_better"),
}
MEANINGS: Mapping[Scale, Mapping[str, tuple[str, int | None]]] = {
    "four": {
        "A": ("left", None),
        "B": ("right", None),
        "equally_good": ("equally_good", None),
        "equally_bad": ("equally_bad", None),
    },
    **{
        scale: {
            f"{'A' if choice == 'left' else 'B'}_{better[strength - 1]}" if strength else "about_the_same": (
                choice,
                strength,
            )
            for choice, strength in SCALES[scale]
        }
        for scale, better in _BETTER.items()
    },
}
"""Scale -> what a judge may say, in the words of English pages -> choice and strength of a worker who says the same, with side A on the left."""
DIGEST_LENGTH = 16
CHARS_PER_TOKEN = 4
"""Of a text with spaces between words; assumed. A character of Chinese, Japanese or Korean counts as one token."""
WITHOUT_SPACES = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]")


def meanings(choices: Collection[str]) -> Mapping[str, tuple[str, int | None]]:
    """Return what the choices of a request mean: those of the first scale that has all of them."""
    return next((each for each in MEANINGS.values() if {*choices} <= {*each}), {})


def pair_digest(task: str, topic: str, system: str, other: str) -> str:
    """Return the name of a pair in requests, the same whichever system is named first."""
    return _digest([task, topic, *sorted((system, other))])


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:DIGEST_LENGTH]


def judged_couples(tables: Mapping[str, "pd.DataFrame"], *, place: str = "preferences") -> frozenset[Couple]:
    """Return the pairs that people judged; raises `InputError` if the tables have no preferences of people."""
    people = people_tables(tables)
    if "preferences" not in people or people["preferences"].empty:
        raise input_fault(
            "no person has judged a pair", path=place, cure="give tables with preferences of people"
        )
    columns = (
        people["preferences"][name].astype("str") for name in ("task", "topic", "system_left", "system_right")
    )
    return frozenset((task, topic, frozenset(sides)) for task, topic, *sides in zip(*columns, strict=True))


def make_requests(
    study: StudyContent,
    *,
    judged: Collection[Couple] | None = None,
    orders: Orders = "both",
    samples: int = 1,
    prompt: str | Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the requests about a study's pairs, topic by topic.

    Parameters
    ----------
    study : StudyContent
        Its file and all that this names.
    judged : collection of (task, topic, systems), optional
        Only these pairs.
    orders : {'both', 'one'}
        Each pair in both orders of its sides, or in one that is drawn by its name.
    samples : int
        How often each of these is asked.
    prompt : str or Path, optional
        Prompt file; prefcal's own of each kind and language by default.

    Raises
    ------
    InputError
        If the study has no pairs, none of them was judged, or the prompt or a picture cannot be used.
    """
    if orders not in get_args(Orders):
        raise input_fault(f"orders is {orders!r}", cure='give "both" or "one"')
    if not (isinstance(samples, int) and samples >= 1):
        raise input_fault(f"samples is {samples!r}", cure="give a whole number from 1")
    tasks = [task for task in study.tasks if kind_of(task.entry).side is not None]
    if not tasks:
        raise input_fault(
            "the study has no task with pairs", path=study.file.path, cure="name another study file"
        )
    own = None if prompt is None else read_prompt(Path(prompt))
    prompts = [own or default_prompt(task) for task in tasks]
    chosen = [_pairs_of(task, judged) for task in tasks]
    if not any(chosen):
        raise input_fault(
            "no pair of the study is in table preferences",
            path=study.file.path,
            cure="give the tables of this study",
        )
    return _requests(study, list(zip(tasks, prompts, chosen, strict=True)), orders, samples)


def _pairs_of(task: TaskContent, judged: Collection[Couple] | None) -> list[tuple[str, SystemPair]]:
    """Return topic and systems of each pair, the system whose name comes first before the other."""
    pairs = [
        (topic, (min(couple), max(couple)))
        for topic, couples in task.system_pairs.items()
        for couple in couples
    ]
    known = None if judged is None else frozenset(judged)
    return [
        (topic, couple)
        for topic, couple in pairs
        if known is None or (str(task.entry.name), topic, frozenset(couple)) in known
    ]


def _requests(
    study: StudyContent,
    tasks: Iterable[tuple[TaskContent, JudgePrompt, list[tuple[str, SystemPair]]]],
    orders: Orders,
    samples: int,
) -> Iterator[dict[str, Any]]:
    messages = Messages(resource_folder("templates") / "locale", [kind.words for kind in KINDS.values()])
    for task, prompt, pairs in tasks:
        asker = _Asker(study, task, prompt, messages)
        for topic, couple in pairs:
            pair = pair_digest(str(task.entry.name), topic, *couple)
            drawn = 1 + int(pair, 16) % 2
            for order in (1, 2) if orders == "both" else (drawn,):
                left, right = couple if order == 1 else couple[::-1]
                yield from asker.requests(topic, pair, order, (left, right), samples)


def _asked(task: TaskContent, prompt: JudgePrompt) -> tuple[tuple[str, ...], tuple[Criterion, ...]]:
    """Return the choices and the criteria that a judge is asked for: what people are, where the prompt says so."""
    entry = task.entry
    if not isinstance(entry, JudgingTask):
        raise TypeError(f"no pairs in a task of kind {entry.kind}")
    scale = entry.choices if "choices" in prompt.named else "four"
    return tuple(MEANINGS[scale]), entry.asked_criteria if "asked" in prompt.named else ()


class _Asker:
    """Writes the requests about the pairs of one task."""

    def __init__(
        self, study: StudyContent, task: TaskContent, prompt: JudgePrompt, messages: Messages
    ) -> None:
        self.study, self.task, self.prompt = study, task, prompt
        self.words = partial(messages.text, task.entry.language)
        self.pictures = PictureParts(task)
        self.topics = {topic.id: topic for topic in task.topics}
        self.choices, self.asked = _asked(task, prompt)

    def requests(
        self, topic: str, pair: str, order: int, systems: SystemPair, samples: int
    ) -> Iterator[dict[str, Any]]:
        """Yield the requests about a pair whose sides stand in one order."""
        content = self.pictures.content_of(self.prompt.message(self._variables(topic, systems)))
        asked: list[Any] = [self.task.entry.name, topic, pair, order, content]
        for sample in range(1, samples + 1):
            yield {
                "id": _digest([*asked, sample]),
                "task": self.task.entry.name,
                "topic": topic,
                "pair": pair,
                "order": order,
                "sample": sample,
                "messages": [{"role": "user", "content": content}],
                "choices": list(self.choices),
                **({"criteria": [criterion.name for criterion in self.asked]} if self.asked else {}),
                "prompt_sha256": self.prompt.sha256,
                "study_sha256": self.study.file.sha256,
            }

    def _variables(self, topic: str, systems: SystemPair) -> dict[str, Any]:
        form = kind_of(self.task.entry).side
        name = "" if form is None else form.name
        left, right = (self._text(topic, self.task.sides[topic, system]) for system in systems)
        return {
            **pair_variables(self.task, self.topics[topic]),
            "title": self.study.file.entry.title,
            "question": self.words(f"{name}.heading"),
            "choices": self.choices,
            "asked": [criterion.model_dump() for criterion in self.asked],
            "a": left,
            "b": right,
        }

    def _text(self, topic: str, side: Side) -> str:
        """Return a side as people see it; days that a study reveals at random are not revealed."""
        form = kind_of(self.task.entry).side
        if form is None:
            raise TypeError(f"no pairs in a task of kind {self.task.entry.kind}")
        reveals = getattr(self.task.entry, "revealed", None) is True
        text = form.text(side, self.topics[topic].detail or {}, reveals, self.words)
        return text or self.words(f"{form.name}.empty")


def request_line(request: Mapping[str, Any]) -> bytes:
    """Return a request as a line of a file."""
    return json.dumps(request, ensure_ascii=False).encode() + b"\n"


@dataclass(kw_only=True)
class RequestSize:
    """How much is asked: requests, characters, tokens about, and pictures."""

    requests: int = 0
    characters: int = 0
    tokens: float = 0
    pictures: int = 0

    def add(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Count the messages of one request."""
        self.requests += 1
        for message in messages:
            content = message["content"]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for part in parts:
                if part.get("type") == "text":
                    dense = len(WITHOUT_SPACES.findall(part["text"]))
                    self.characters += len(part["text"])
                    self.tokens += dense + (len(part["text"]) - dense) / CHARS_PER_TOKEN
                else:
                    self.pictures += 1

    def __str__(self) -> str:
        pictures = f" and {pluralise(self.pictures, 'picture')}" if self.pictures else ""
        return (
            f"{pluralise(self.requests, 'request')}: {pluralise(self.characters, 'character')}{pictures}, "
            f"about {self.tokens:,.0f} tokens{' without the pictures' if pictures else ''}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a file of requests says of one of them, without its messages.

    Attributes
    ----------
    id, task, topic, pair, prompt_sha256, study_sha256 : str
        As `make_requests` writes them.
    order, sample : int
        From 1.
    choices : tuple of str
        What may be answered.
    criteria : tuple of str
        Names of the criteria that are asked.
    offset, size : int
        Where its line stands in the file, and how many bytes it has.
    """

    id: str
    task: str
    topic: str
    pair: str
    order: int
    sample: int
    choices: tuple[str, ...]
    criteria: tuple[str, ...]
    prompt_sha256: str
    study_sha256: str
    offset: int
    size: int


TEXTS = ("id", "task", "topic", "pair", "prompt_sha256", "study_sha256")
NUMBERS = ("order", "sample")


@dataclass(frozen=True, kw_only=True)
class RequestFile:
    """File of requests: their lines by id, without the messages, which are read when they are sent."""

    path: Path
    requests: Mapping[str, Request]

    def line(self, request_id: str) -> bytes:
        """Return the line of a request."""
        request = self.requests[request_id]
        with self.path.open("rb") as file:
            file.seek(request.offset)
            return file.read(request.size)

    def size(self, ids: Iterable[str]) -> RequestSize:
        """Return how much some requests ask."""
        size = RequestSize()
        for request_id in ids:
            size.add(json.loads(self.line(request_id))["messages"])
        return size


def read_requests(path: str | Path) -> RequestFile:
    """Read a file of requests.

    Raises
    ------
    InputError
        With every line that is no request, or has the id of another; or if there is none.
    """
    path = Path(path)
    log, requests, offset = FaultLog(path), dict[str, Request](), 0
    try:
        check_bytes(path, path.stat().st_size)
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                request = _request(line, offset)
                offset += len(line)
                if request is None:
                    cure = "write the file with prefcal judge requests"
                    log.add("no request", line=number, cure=cure, kind="no request")
                elif request.id in requests:
                    log.add(
                        f"duplicate request {request.id}",
                        line=number,
                        cure="delete one of the two",
                    )
                else:
                    requests[request.id] = request
    except OSError as error:
        raise input_fault(
            f"cannot be read ({error.strerror})", path=path, cure="name a file of requests"
        ) from error
    log.raise_if_any()
    if not requests:
        raise input_fault("there are no requests", path=path, cure="write some with prefcal judge requests")
    return RequestFile(path=path, requests=requests)


def _request(line: bytes, offset: int) -> Request | None:
    """Return what a line says of a request, None where it is none."""
    try:
        given = json.loads(line)
        texts = {name: given[name] for name in TEXTS}
        numbers = {name: given[name] for name in NUMBERS}
        choices, messages = tuple(given["choices"]), given["messages"]
        criteria = tuple(given.get("criteria", ()))
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    is_sound = (
        all(isinstance(text, str) for text in [*texts.values(), *choices, *criteria])
        and all(isinstance(number, int) for number in numbers.values())
        and bool(choices)
        and isinstance(given["choices"], list)
        and isinstance(messages, list)
        and all(isinstance(message, dict) and "content" in message for message in messages)
    )
    if not is_sound:
        return None
    return Request(**texts, **numbers, choices=choices, criteria=criteria, offset=offset, size=len(line))
