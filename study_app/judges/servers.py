"""Judges behind a server that speaks the form of chat completions, which local and hosted servers share.

A server that is busy or fails is asked again after the time that it names (``Retry-After``), or after growing times. The key is sent in a
header and stands nowhere else: it is taken out of whatever the server says.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import httpx
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt

from metrics.errors import input_fault
from study_app.http_client import (
    BUSY,
    DOWN,
    LONGEST_ORDERED_WAIT_SECONDS,
    TRIES,
    check_key,
    error_words,
    hide,
    in_one_line,
    ordered_seconds,
    tls,
    wait_as_ordered,
)
from study_app.judges.requests import RequestFile
from study_app.judges.run import JudgeError, JudgeReply, Patience

KEY_VARIABLE = "PREFCAL_JUDGE_KEY"
"""Holds the key of a server; nothing else does."""
COMPLETIONS = "/chat/completions"
REFUSED = {
    **dict.fromkeys((301, 302, 303, 307, 308), "give the address to which it leads"),
    **dict.fromkeys((401, 403), f"set {KEY_VARIABLE} to a key of this server"),
    402: "see your account there",
    **dict.fromkeys(
        (404, 405, 501),
        "see whether --url ends as the server's documentation says, such as in /v1, and the name of the model",
    ),
}
"""Statuses that say that every request will end so, and the cure."""


class _NoAnswerError(Exception):
    """A request that the server did not answer, and why; ``is_refused`` if the server answers others."""

    def __init__(self, reason: str, *, is_refused: bool = False) -> None:
        super().__init__(reason)
        self.is_refused = is_refused


class _BusyError(_NoAnswerError):
    """A server that may answer a little later.

    ``seconds`` as it says, None where it does not; ``is_down`` if it answers nobody now.
    """

    def __init__(self, reason: str, *, seconds: float | None = None, is_down: bool = False) -> None:
        super().__init__(reason)
        self.seconds, self.is_down = seconds, is_down


class ServerJudge:
    """Server that judges.

    Parameters
    ----------
    base : str
        Address, such as ``http://localhost:8000/v1``; ``/chat/completions`` is added.
    model : str
        As the server calls it.
    key : str or None
        Sent as a bearer token.
    jobs : int
        Requests at a time.
    timeout_seconds : float
        Longest time for an answer.
    temperature : float or None
        The server's own where it is None.
    """

    stray_lines, first_stray = 0, ""

    def __init__(
        self,
        base: str,
        model: str,
        *,
        key: str | None,
        jobs: int,
        timeout_seconds: float,
        temperature: float | None = None,
    ) -> None:
        self.url = _completions(base)
        check_key(KEY_VARIABLE, key)
        self.model, self.key, self.jobs, self.timeout_seconds = model, key, jobs, timeout_seconds
        self.temperature = temperature
        self.patience = Patience()

    async def replies(self, ids: Sequence[str], requests: RequestFile) -> AsyncGenerator[JudgeReply]:
        """Yield one reply to each request; raise `JudgeError` if the server does not work."""
        queue = deque(ids)
        headers = {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        limits = httpx.Limits(max_connections=self.jobs, max_keepalive_connections=self.jobs)
        async with httpx.AsyncClient(headers=headers, limits=limits, timeout=None, verify=tls()) as client:  # noqa: S113 - `_post` limits the whole request
            work: set[asyncio.Task[JudgeReply]] = set()
            try:
                while queue or work:
                    while queue and len(work) < self.jobs:
                        work.add(asyncio.create_task(self._ask(client, queue.popleft(), requests)))
                    done, work = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
                    errors = [error for task in done if (error := task.exception()) is not None]
                    for task in done:
                        if task.exception() is None:
                            yield task.result()
                    if errors:
                        raise errors[0]
            finally:
                for task in work:
                    task.cancel()
                await asyncio.gather(*work, return_exceptions=True)

    async def _ask(self, client: httpx.AsyncClient, request_id: str, requests: RequestFile) -> JudgeReply:
        """Ask for an answer, and once more if there is none."""
        messages = json.loads(requests.line(request_id))["messages"]
        body = {"model": self.model, "messages": messages}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        failure = _NoAnswerError("")
        for _ in range(2):
            try:
                line = await self._patiently(client, body)
            except _NoAnswerError as error:
                failure = error
                if isinstance(error, _BusyError):
                    break  # it was asked more than once already
            else:
                self.patience.answered()
                return JudgeReply(id=request_id, line=line)
        reason = hide(str(failure), self.key)
        self.patience.disappointed(reason, failed=not failure.is_refused)
        return JudgeReply(id=request_id, line=None, reason=reason)

    async def _patiently(self, client: httpx.AsyncClient, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Post a request, and again while the server is busy."""
        tries = AsyncRetrying(
            retry=retry_if_exception_type(_BusyError),
            stop=stop_after_attempt(TRIES),
            wait=wait_as_ordered,
            reraise=True,
        )
        try:
            answer: Mapping[str, Any] = await tries(self._post, client, body)
        except _BusyError as error:
            if error.is_down:
                raise self._error(f"does not answer ({error})", "run the same command again later") from None
            raise
        return answer

    async def _post(self, client: httpx.AsyncClient, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Post a request, and return the answer as a program would write it."""
        try:
            async with asyncio.timeout(self.timeout_seconds):
                response = await client.post(self.url, json=body)
        except TimeoutError:
            raise _NoAnswerError(f"no answer within {self.timeout_seconds:g} s") from None
        except (httpx.ConnectError, httpx.ProxyError) as error:
            if not self.patience.has_answered:
                raise self._error(
                    f"cannot be reached ({error_words(error)})", "see whether it runs, and --url"
                ) from None
            raise _BusyError(error_words(error), is_down=True) from None
        except httpx.TransportError as error:
            raise _BusyError(error_words(error)) from None
        if response.status_code in BUSY:
            raise self._busy(response)
        if response.status_code in REFUSED:
            raise self._error(f"answers {_status(response)}", REFUSED[response.status_code])
        if not response.is_success:
            raise _NoAnswerError(_status(response), is_refused=True)
        return self._line(response)

    def _busy(self, response: httpx.Response) -> Exception:
        """Return the error of a server that is busy, or of one that will be for too long."""
        seconds = ordered_seconds(response)
        if seconds is not None and seconds > LONGEST_ORDERED_WAIT_SECONDS:
            return self._error(
                f"answers {_status(response)}", f"run the same command again in {seconds:,.0f} s"
            )
        return _BusyError(_status(response), seconds=seconds, is_down=response.status_code in DOWN)

    def _line(self, response: httpx.Response) -> Mapping[str, Any]:
        try:
            given = response.json()
            message = given["choices"][0]["message"]
            text = message.get("content") or message.get("refusal") or ""
            usage = given.get("usage") or {}
            tokens = [usage.get("prompt_tokens"), usage.get("completion_tokens")]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            said = in_one_line(response.text)
            raise _NoAnswerError(f"what the server says is no chat completion: {said}") from None
        words = text if isinstance(text, str) else "".join(str(part.get("text", "")) for part in text)
        return {
            "text": hide(words, self.key),
            "model": hide(str(given.get("model") or self.model), self.key),
            "tokens": tokens,
        }

    def _error(self, problem: str, cure: str) -> JudgeError:
        place = self.url.copy_with(userinfo=b"", query=None)
        return JudgeError(f"{hide(f'{place} {problem}', self.key)}; {cure}")


def _completions(base: str) -> httpx.URL:
    """Return the address of a server's chat completions; raises `InputError` where it is none."""
    try:
        url = httpx.URL(base)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in {"http", "https"} or not url.host:
        raise input_fault("--url is no address", cure="write it such as http://localhost:8000/v1")
    return url.copy_with(path=f"{url.path.rstrip('/').removesuffix(COMPLETIONS)}{COMPLETIONS}")


def _status(response: httpx.Response) -> str:
    """Return a status with what the server says about it, in one line."""
    try:
        said = response.json()["error"]["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        said = response.text
    words = in_one_line(said)
    return f"{response.status_code}{f': {words}' if words else ''}"
