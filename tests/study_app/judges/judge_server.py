"""A server of chat completions on this machine, which answers as a test tells it."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def completion(text: str, **more: Any) -> bytes:
    """Return the body of an answer."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 100, "completion_tokens": 7}
    return json.dumps({"model": "toy-1", "choices": [{"message": message}], "usage": usage, **more}).encode()


class JudgeServer:
    """Answers with what ``answer`` returns for (number of the attempt at these messages, message, handler).

    That is a body; or (status, headers, body); or None, when it has written for itself.
    """

    def __init__(self, answer: Callable[[int, str, BaseHTTPRequestHandler], Any]) -> None:
        self.answer = answer
        self.asked = Counter[str]()
        self.headers: list[dict[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.most_at_once = 0
        self.at_once = 0
        self.lock = threading.Lock()
        self.base = ""


@contextmanager
def serving(answer: Callable[[int, str, BaseHTTPRequestHandler], Any]) -> Iterator[JudgeServer]:
    """Serve in threads of this process."""
    judge = JudgeServer(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = json.dumps(body["messages"])
            with judge.lock:
                judge.asked[message] += 1
                judge.headers.append(dict(self.headers))
                judge.bodies.append(body)
                judge.at_once += 1
                judge.most_at_once = max(judge.most_at_once, judge.at_once)
                attempt = judge.asked[message]
            try:
                given = judge.answer(attempt, message, self)
            finally:
                with judge.lock:
                    judge.at_once -= 1
            if given is None:
                return
            status, headers, content = (200, {}, given) if isinstance(given, bytes) else given
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    judge.base = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield judge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
