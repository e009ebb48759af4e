"""A run of a judge: which requests are open, who is asked, and what is kept of each answer.

Each request is settled once: by an answer, or by ``no_answer`` when it was asked twice in vain. What was answered is in the file at once, so
a run that is stopped, however, goes on with the requests that are open.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from metrics.errors import PrefcalError, pluralise
from study_app.judges.answers import NO_ANSWER, AnswerFile, answer_of
from study_app.judges.requests import RequestFile

MAX_IN_VAIN = 20
"""So many attempts in a row without an answer end a run, where they say that the judge does not work."""


class JudgeError(PrefcalError):
    """A judge that does not work; what it has answered is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReply:
    """What came of a request: a line as `answer_of` takes it, or None and the reason why there is none."""

    id: str
    line: Mapping[str, Any] | None
    reason: str = ""


class JudgeClient(Protocol):
    """Whoever answers requests: programs, or a server."""

    def replies(self, ids: Sequence[str], requests: RequestFile) -> AsyncGenerator[JudgeReply]:
        """Yield one reply to each request, in any order; raise `JudgeError` if nobody can answer."""


@dataclass(kw_only=True)
class Patience:
    """Counts attempts without an answer, and ends a run of a judge that does not work.

    A judge that has answered may leave out as many requests as it likes, as long as it does not fail.
    """

    has_answered: bool = False
    in_vain: int = 0
    failures: int = 0

    def answered(self) -> None:
        """Note an answer."""
        self.has_answered, self.in_vain, self.failures = True, 0, 0

    def disappointed(self, reason: str, *, failed: bool) -> None:
        """Note an attempt that brought no answer; raises `JudgeError` after `MAX_IN_VAIN` of them."""
        self.in_vain += 1
        self.failures = self.failures + 1 if failed else 0
        if self.failures >= MAX_IN_VAIN or (self.in_vain >= MAX_IN_VAIN and not self.has_answered):
            raise JudgeError(f"the judge does not answer ({reason}, {MAX_IN_VAIN} times in a row)")


@dataclass(kw_only=True)
class RunRecord:
    """What a run has kept so far.

    Attributes
    ----------
    has_answered : bool
        The judge has answered in an earlier run.
    answers : list of mapping
        Lines of this run.
    tokens : (int, int)
        What the judge says it took, in and out.
    """

    has_answered: bool = False
    answers: list[Mapping[str, Any]] = field(default_factory=list)
    tokens: tuple[int, int] = (0, 0)


async def run_judge(
    judge: JudgeClient,
    requests: RequestFile,
    ids: Sequence[str],
    file: AnswerFile,
    *,
    record: RunRecord,
    model: str | None = None,
    progress: Callable[[], object] = lambda: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> None:
    """Ask a judge, and keep each answer in a file as it comes.

    Parameters
    ----------
    judge : JudgeClient
        Whoever is asked.
    requests, ids : RequestFile, sequence of str
        Those that are open.
    file : AnswerFile
        Gets a line for each of them.
    record : RunRecord
        Gets what is kept.
    model : str, optional
        Name of the judge's model, where its lines name none.
    progress : callable
        Called after each line.
    now : callable
        The clock.

    Raises
    ------
    JudgeError
        If the judge does not work. The last requests, which it did not answer, are then left open.
    """
    if not ids:
        return
    silent = list[dict[str, Any]]()

    def keep(answer: dict[str, Any]) -> None:
        file.add(answer)
        record.answers.append(answer)
        progress()

    async with aclosing(judge.replies(ids, requests)) as replies:
        async for reply in replies:
            request = requests.requests[reply.id]
            answer = None if reply.line is None else answer_of(reply.line, request)
            extra = {
                "id": reply.id,
                "prompt_sha256": request.prompt_sha256,
                "decided_at": f"{now():%Y-%m-%dT%H:%M:%SZ}",
            }
            if model is not None:
                extra["model"] = model
            if answer is None:
                silent.append({**extra, "choice": NO_ANSWER, "reason": reply.reason})
            else:
                while silent:  # the judge works, so these were left out
                    keep(silent.pop(0))
                keep({**extra, **answer})
                first, second = answer.get("tokens", (0, 0))
                record.tokens = record.tokens[0] + first, record.tokens[1] + second
    if silent and not (record.answers or record.has_answered):
        raise JudgeError(
            f"the judge has answered none of {pluralise(len(silent), 'request')} ({silent[-1]['reason']}); nothing is kept"
        )
    for answer in silent:
        keep(answer)
