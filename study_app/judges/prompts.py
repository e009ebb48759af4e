"""Prompts of judges: a Jinja file that becomes the message about one pair.

Each kind of task with pairs has one a language in `templates/judge`. A file of one's own is rendered in a sandbox and gets the same
variables, those of `VARIABLES`.
"""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from metrics.errors import InputError, input_fault, join_names
from metrics.file_limits import MAX_DOCUMENT_BYTES, check_bytes
from study_app.config import resource_folder
from study_app.study.entries import JudgingTask
from study_app.tasks.content import TaskContent, TopicContent
from study_app.tasks.kinds import STANDARD
from study_app.tasks.side_text import MARK

Content: TypeAlias = str | list[dict[str, Any]]
"""Of a message: a text, or parts where it has pictures."""
VARIABLES = (
    "a",
    "asked",
    "asked_at",
    "b",
    "choices",
    "criteria",
    "description",
    "instructions",
    "question",
    "title",
    "topic",
    "windows",
)
"""What a prompt may name: both sides, the choices, criteria that are asked, and what pages say beside them; empty where a study has no such thing."""
MAX_PICTURES = 64
"""Pictures kept in memory between the pairs of a topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePrompt:
    """Prompt file: its path, the SHA-256 of its bytes, its template, and the variables that it names."""

    path: Path
    sha256: str
    template: Template
    named: frozenset[str]

    def message(self, variables: Mapping[str, Any]) -> str:
        """Return the message about a pair, with marks for pictures; raises `InputError` where the file fails."""
        try:
            return self.template.render(variables).strip()
        except (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise _unusable(self.path, str(error), getattr(error, "lineno", None)) from error


def read_prompt(path: Path) -> JudgePrompt:
    """Read a prompt file; raises `InputError` if it is no Jinja, names what no pair has, or leaves a side out."""
    try:
        check_bytes(path, path.stat().st_size, most=MAX_DOCUMENT_BYTES)
        content = path.read_bytes()
        source = content.decode("utf-8-sig")
    except OSError as error:
        raise input_fault(
            f"cannot be read ({error.strerror})", path=path, cure="name a prompt file"
        ) from error
    except UnicodeDecodeError as error:
        raise input_fault("not UTF-8", path=path, cure="save the file as UTF-8") from error
    environment = _environment()
    try:
        named = find_undeclared_variables(environment.parse(source))
        template = environment.from_string(source)
    except TemplateSyntaxError as error:
        raise _unusable(path, error.message or "no Jinja", error.lineno) from error
    unknown, missing = sorted(named - {*VARIABLES, *environment.globals}), sorted({"a", "b"} - named)
    if unknown:
        raise _unusable(path, f"it names {join_names(unknown)}, which no pair has")
    if missing:
        raise _unusable(path, f"it does not show {' and '.join(missing)}, the two sides")
    digest = hashlib.sha256(content).hexdigest()
    return JudgePrompt(path=path, sha256=digest, template=template, named=frozenset(named))


def default_prompt(content: TaskContent) -> JudgePrompt:
    """Return prefcal's prompt of a task's kind and language; raises `InputError` where there is none."""
    name = f"{content.entry.kind}.{content.entry.language}.jinja"
    path = resource_folder("templates") / "judge" / name
    if not path.is_file():
        raise input_fault(
            f"prefcal has no prompt for tasks of kind {content.entry.kind}",
            cure="give one with --prompt FILE",
        )
    return read_prompt(path)


def _unusable(path: Path, problem: str, line: int | None = None) -> InputError:
    cure = f"write Jinja with the variables {join_names(VARIABLES, most=len(VARIABLES))}"
    return input_fault(f"the prompt cannot be used: {problem}", path=path, line=line, cure=cure)


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    """Return Jinja without files, and without a way out of the variables; texts are no HTML."""
    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=False,  # the message is no HTML
        trim_blocks=True,
        lstrip_blocks=True,
    )


class PictureParts:
    """Pictures of a task, as parts of messages.

    Parameters
    ----------
    content : TaskContent
        Its sides name the pictures, and its ``media`` reads their bytes as workers get them.
    """

    def __init__(self, content: TaskContent) -> None:
        self._mime = {media.sha256: media.mime for side in content.sides.values() for media in side.media()}
        self._content = content
        self._address = lru_cache(MAX_PICTURES)(self._data_url)

    def content_of(self, message: str) -> Content:
        """Return a message as it is sent: its text, or its texts and pictures in their order."""
        pieces = MARK.split(message)
        if any("\0" in text for text in pieces[::2]):
            raise input_fault(
                f"the prompt changes what stands for a picture of task {self._content.entry.name}",
                cure="write {{ a }} and {{ b }} without a filter",
            )
        if len(pieces) == 1:
            return message
        parts: list[dict[str, Any]] = []
        for number, piece in enumerate(pieces):
            if number % 2:
                parts.append({"type": "image_url", "image_url": {"url": self._address(piece)}})
            elif piece.strip():
                parts.append({"type": "text", "text": piece.strip()})
        return parts

    def _data_url(self, sha256: str) -> str:
        mime = self._mime[sha256]
        if not mime.startswith("image/"):
            raise input_fault(
                f"task {self._content.entry.name} shows {mime}, and a judge can be asked about texts and pictures alone",
                cure="leave this task out of the study file that the requests are made of",
            )
        return f"data:{mime};base64,{base64.b64encode(self._content.media[sha256]()).decode()}"


def pair_variables(content: TaskContent, topic: TopicContent) -> dict[str, Any]:
    """Return what pages say of a topic beside the two sides, by the names of `VARIABLES`."""
    detail = topic.detail or {}
    own = content.entry.instructions if content.entry.instructions not in {None, STANDARD} else ""
    return {
        "topic": topic.text,
        "description": detail.get("description") or "",
        "windows": tuple(detail.get("windows", ())),
        "asked_at": detail.get("asked_at") or "",
        "criteria": content.entry.shown_criteria if isinstance(content.entry, JudgingTask) else (),
        "instructions": own,
    }
