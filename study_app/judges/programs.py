"""Judges that are programs: processes that read requests as lines and write answers as lines.

Requests are written as fast as a process reads them, its input is closed after the last, and answers may come in any order. Requests that a
process leaves unanswered are asked once more, so that none suffers from another:

- a process that has read all its requests and ends well has left out those that are unanswered: they are asked again together;
- a process that fails, or is silent for too long, has failed at the oldest of them: it is asked again alone, in a process of its own.
  Those behind it may never have been read: they go to the next process as if they had not been asked.
"""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from metrics.errors import input_fault
from study_app.judges.answers import answer_of, json_object
from study_app.judges.requests import RequestFile
from study_app.judges.run import JudgeReply, Patience

LONGEST_LINE = 2**26
"""Bytes of an answer."""
LOOK_SECONDS = 1.0
"""So often it is looked whether a process has answered everything."""
SECONDS_TO_END = 5.0
"""For a process that has answered everything; then it is killed."""


class ProgramJudge:
    """Program that judges, in some processes at a time.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments; no shell reads them.
    jobs : int
        Processes for the whole run.
    timeout_seconds : float
        Longest time without an answer from a process that has unanswered requests.

    Attributes
    ----------
    stray_lines : int
        Lines that answered nothing that was open.
    first_stray : str
        The first of them.
    """

    def __init__(self, command: Sequence[str], *, jobs: int, timeout_seconds: float) -> None:
        self.command, self.jobs, self.timeout_seconds = list(command), jobs, timeout_seconds
        self.stray_lines, self.first_stray = 0, ""
        self.patience = Patience()

    async def replies(self, ids: Sequence[str], requests: RequestFile) -> AsyncGenerator[JudgeReply]:
        """Yield one reply to each request; raise `JudgeError` if the program does not work."""
        replies: asyncio.Queue[JudgeReply | BaseException] = asyncio.Queue()
        open_requests = _OpenRequests(fresh=deque(ids))
        ready = asyncio.Barrier(min(self.jobs, len(ids)))
        work = [
            asyncio.create_task(self._work(open_requests, requests, replies, ready))
            for _ in range(ready.parties)
        ]
        for task in work:
            task.add_done_callback(lambda ended: _hand_on_error(ended, replies))
        try:
            for _ in ids:
                reply = await replies.get()
                if isinstance(reply, BaseException):
                    raise reply
                yield reply
        finally:
            for task in work:
                task.cancel()
            await asyncio.gather(*work, return_exceptions=True)

    async def _work(
        self,
        left: "_OpenRequests",
        requests: RequestFile,
        replies: "asyncio.Queue[JudgeReply | BaseException]",
        ready: asyncio.Barrier,
    ) -> None:
        """Run one process after the other until no request is left."""
        barrier: asyncio.Barrier | None = ready
        while barrier is not None or left.fresh or left.alone or left.again:
            is_fresh, queue = left.next()
            session = _Session(self, requests, replies)
            await session.run(queue, barrier)
            barrier = None
            waiting = list(session.waiting)
            failed = [] if session.ended_well and session.has_all else waiting[:1]
            skipped = [] if failed else waiting
            queue.extendleft(reversed(waiting[len(failed) + len(skipped) :]))
            if is_fresh:
                left.alone.extend(failed)
                left.again.extend(skipped)
            else:
                for request_id in failed + skipped:
                    replies.put_nowait(JudgeReply(id=request_id, line=None, reason=session.reason))
            if session.answers:
                self.patience.answered()
            elif session.waiting:
                self.patience.disappointed(session.reason, failed=not session.ended_well)


@dataclass(kw_only=True, slots=True)
class _OpenRequests:
    """Requests without an answer: not asked yet, failed at once, and skipped once."""

    fresh: deque[str]
    alone: deque[str] = field(default_factory=deque)
    again: deque[str] = field(default_factory=deque)

    def next(self) -> tuple[bool, deque[str]]:
        """Return the requests of the next process, and whether they are asked for the first time."""
        if self.alone and not self.fresh:
            return False, deque([self.alone.popleft()])
        return (False, self.again) if self.again and not self.fresh else (True, self.fresh)


class _Session:
    """One process, from its first request to its end.

    Attributes
    ----------
    waiting : dict
        Requests that were written and not answered, oldest first.
    reason : str
        How it ended.
    """

    def __init__(
        self, judge: ProgramJudge, requests: RequestFile, replies: "asyncio.Queue[JudgeReply | BaseException]"
    ) -> None:
        self.judge, self.requests, self.replies = judge, requests, replies
        self.waiting: dict[str, None] = {}
        self.answers = 0
        self.has_all = self.ended_well = False
        self.reason = ""
        self.alive_at = 0.0

    async def run(self, queue: deque[str], ready: asyncio.Barrier | None = None) -> None:
        """Start the process, write requests of a queue, and read answers until it ends or falls silent."""
        process = await self._started()
        feed = None
        try:
            if ready is not None:
                await ready.wait()
            self._live()
            feed = asyncio.create_task(self._feed(process, queue))
            is_silent = await self._read(process)
            self.reason = await self._ended(process, is_silent=is_silent)
        finally:
            if feed is not None:
                feed.cancel()
                await asyncio.gather(feed, return_exceptions=True)
            await _kill(process)

    async def _started(self) -> Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self.judge.command, stdin=PIPE, stdout=PIPE, limit=LONGEST_LINE, start_new_session=True
            )
        except OSError as error:
            raise input_fault(
                f"the program {self.judge.command[0]} cannot be started ({error.strerror})",
                cure="write the program and its arguments as in a terminal; no shell reads them",
            ) from error

    async def _feed(self, process: Process, queue: deque[str]) -> None:
        """Write requests as long as there are some, then close the input."""
        pipe = process.stdin
        if pipe is None:
            return
        pipe.transport.set_write_buffer_limits(high=0)
        with suppress(ConnectionError):
            while queue:
                request_id = queue.popleft()
                self.waiting[request_id] = None
                pipe.write(self.requests.line(request_id))
                await pipe.drain()
                self._live()
                await asyncio.sleep(0)  # so that the other processes get some too
            self.has_all = True
            pipe.close()
            await pipe.wait_closed()

    async def _read(self, process: Process) -> bool:
        """Read answers until the process closes its output; return whether it fell silent instead."""
        stream = process.stdout
        if stream is None:
            return True
        while not (self.has_all and not self.waiting):
            line = asyncio.create_task(stream.readline())
            while not line.done():
                left = self.alive_at + self.judge.timeout_seconds - asyncio.get_running_loop().time()
                is_complete = self.has_all and not self.waiting
                if left <= 0 or is_complete:
                    line.cancel()
                    return not is_complete
                await asyncio.wait({line}, timeout=min(left, LOOK_SECONDS))
            try:
                text = line.result()
            except ValueError:  # a line longer than `LONGEST_LINE`
                return True
            if not text:
                return False
            self._take(text)
        return False

    def _take(self, text: bytes) -> None:
        """Hand on an answer to a request that waits for one; count every other line."""
        line = json_object(text)
        request_id = str(line.get("id"))
        if request_id not in self.waiting or answer_of(line, self.requests.requests[request_id]) is None:
            if words := text.strip():
                self.judge.stray_lines += 1
                self.judge.first_stray = self.judge.first_stray or words.decode(errors="replace")
            return
        del self.waiting[request_id]
        self.answers += 1
        self._live()
        self.replies.put_nowait(JudgeReply(id=request_id, line=line))

    async def _ended(self, process: Process, *, is_silent: bool) -> str:
        """Wait for the end of a process that has nothing more to say, and return how it ended."""
        if is_silent:
            return f"no answer within {self.judge.timeout_seconds:g} s"
        try:
            status = await asyncio.wait_for(process.wait(), SECONDS_TO_END)
        except TimeoutError:
            return "the program closed its output"
        self.ended_well = status == 0
        return (
            "the program ended without an answer"
            if self.ended_well
            else f"the program ended with status {status}"
        )

    def _live(self) -> None:
        self.alive_at = asyncio.get_running_loop().time()


def _hand_on_error(task: "asyncio.Task[None]", replies: "asyncio.Queue[JudgeReply | BaseException]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        replies.put_nowait(error)


async def _kill(process: Process) -> None:
    """Kill a process that goes on, and whatever it has started."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
