"""A tiny web server with one hand-made pair page, which keeps the batches it gets and can fail on demand."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

SCRIPTS = Path(__file__).resolve().parents[2] / "study_app" / "static" / "js"
EVENTS_URL = "/e/worker-1"
NEXT = "/next"
"""Where an answer leads: a page with nothing on it."""

PATIENCE_SECONDS = 30.0
OPTIONS = ("left", "right", "equally_good", "equally_bad")

SET_VISIBILITY = """(state) => {
  Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""

ITEM_PIXELS = 211
"""Four items fill a phone's 844 pixels."""

STYLE = """
body { margin: 0 }
main { display: grid; grid-template-columns: 1fr 1fr }
form { grid-column: 1 / -1 }
[data-item] { margin: 0; height: 211px; overflow: hidden }
[data-item].tall { height: 2532px }
details[data-item] { height: auto }
details > summary { height: 211px }
[data-dock] { position: sticky; bottom: 0; height: 211px; overflow: hidden; background: white }
[data-dock][data-still] { position: static }
@media (max-width: 640px) { main { display: block } }
"""

PAGE = """<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width, initial-scale=1"><title>Pair</title><style>{style}</style>
<script type="module" src="/static/js/main.js"></script></head>
<body data-page="{token}" data-events="{events}"><main data-module="pair">
<section class="summary" data-side="left">{left}</section>
<section class="summary" data-side="right">{right}</section>
<form method="post" action="/answer"{dock}><fieldset><legend>Which is better?</legend>{options}</fieldset>
<input type="hidden" name="page" value="{token}"><input type="hidden" name="decision_ms"><input type="hidden" name="layout">
<button>Send</button></form></main></body></html>"""


def iunit(key: str, kind: str = "") -> str:
    """An iUnit's element."""
    return f'<p data-item="{key}" class="{kind}">iUnit {key}</p>'


def link(number: int, below: int) -> str:
    """A link's element with so many iUnits in its second layer."""
    second = "".join(iunit(f"s{number}.{place}") for place in range(below))
    return f'<details data-item="f{number}"><summary>link f{number}</summary>{second}</details>'


LEFT = (
    "".join(iunit(f"f{place}") for place in range(4)) + link(4, 2) + "".join(map(iunit, ("f5", "f6", "f7")))
)
RIGHT = "".join(iunit(f"f{place}") for place in range(8))


@dataclass
class LogServer:
    """What the pages are and what came back.

    Attributes
    ----------
    left, right : str
        The two summaries.
    judge : callable
        Batch -> status of the answer; nothing of a batch that does not get 200 is stored.
    is_docked : bool
        The form is a bar as high as an item that stays at the lower edge.
    lose_answers : bool
        Store, and hang up without an answer.
    broken_scripts : set of str
        Names of scripts that fail when they are loaded.
    events : dict
        Page token -> number -> event.
    batches : list of dict
        Every batch that arrived, stored or not.
    answers : list of dict
        Forms that were posted.
    """

    left: str = LEFT
    right: str = RIGHT
    judge: Callable[[dict[str, Any]], int] = lambda _batch: 200
    is_docked: bool = False
    lose_answers: bool = False
    broken_scripts: set[str] = field(default_factory=set)
    events: dict[str, dict[int, dict[str, Any]]] = field(default_factory=dict)
    batches: list[dict[str, Any]] = field(default_factory=list)
    repeated: int = 0
    answers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    changed: threading.Condition = field(default_factory=threading.Condition)

    def page(self, token: str) -> str:
        """Return the page's HTML."""
        options = "".join(
            f'<label><input type="radio" name="choice" value="{name}" required> {name}</label>'
            for name in OPTIONS
        )
        return PAGE.format(
            style=STYLE,
            token=escape(token),
            events=EVENTS_URL,
            left=self.left,
            right=self.right,
            options=options,
            dock=" data-dock" if self.is_docked else "",
        )

    def take(self, batch: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Store a batch as the contract says; returns status and answer."""
        with self.changed:
            self.batches.append(batch)
            status = self.judge(batch)
            stored = self.events.setdefault(batch["page"], {})
            if status == 200:
                self.repeated += sum(event["n"] in stored for event in batch["events"])
                stored.update({event["n"]: event for event in batch["events"] if event["n"] not in stored})
            self.changed.notify_all()
            return status, {"upto": next(n for n in range(len(stored) + 1) if n + 1 not in stored)}

    def take_answer(self, form: dict[str, str]) -> None:
        """Store a posted form."""
        with self.changed:
            self.answers.append(form)
            self.changed.notify_all()

    def until(self, true: Callable[[], object], what: str = "") -> None:
        """Wait until something that arrived makes ``true`` true."""
        with self.changed:
            assert self.changed.wait_for(true, PATIENCE_SECONDS), f"not within {PATIENCE_SECONDS} s: {what}"

    def wait(self, seconds: float) -> None:
        """Wait for anything to arrive, at most so long."""
        with self.changed:
            self.changed.wait(seconds)

    def log(self, page: str) -> list[dict[str, Any]]:
        """Return the stored events of a page in order of number."""
        stored = self.events.get(page, {})
        return [stored[number] for number in sorted(stored)]

    def of_kind(self, page: str, kind: str) -> list[dict[str, Any]]:
        """Return those of one kind."""
        return [event for event in self.log(page) if event["kind"] == kind]

    def holes(self, page: str) -> list[int]:
        """Return the numbers that are missing below the highest one."""
        stored = self.events[page]
        return [n for n in range(1, max(stored) + 1) if n not in stored]


class _Handler(BaseHTTPRequestHandler):
    server_of_log: ClassVar[LogServer]

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path.startswith("/static/js/"):
            name = path.rsplit("/", 1)[1]
            broken = name in self.server_of_log.broken_scripts
            text = "export const broken = missing();" if broken else (SCRIPTS / name).read_text()
            self._answer(200, text, "text/javascript")
        elif path == NEXT:
            self._answer(200, "<!doctype html><title>Next</title>", "text/html")
        elif path.startswith("/pair/"):
            self._answer(200, self.server_of_log.page(path.rsplit("/", 1)[1]), "text/html")
        else:
            self._answer(404, "", "text/plain")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path == EVENTS_URL:
            status, answer = self.server_of_log.take(json.loads(body))
            if self.server_of_log.lose_answers:
                self.close_connection = True
            else:
                self._answer(status, json.dumps(answer), "application/json")
        else:
            form = {name: values[0] for name, values in parse_qs(body, keep_blank_values=True).items()}
            self.server_of_log.take_answer(form)
            if self.headers["Accept"] == "application/json":
                self._answer(200, json.dumps({"next": NEXT}), "application/json")
            else:
                self._answer(303, "", "text/plain", {"Location": NEXT})

    def _answer(self, status: int, text: str, kind: str, headers: dict[str, str] | None = None) -> None:
        content = text.encode()
        self.send_response(status)
        fixed = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(content))}
        policy = {"Cache-Control": "no-store", "Content-Security-Policy": "script-src 'self'"}
        for name, value in {**fixed, **policy, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up is no fault."""


@contextmanager
def log_server() -> Iterator[LogServer]:
    """Serve while the block runs."""
    log = LogServer()
    handler = type("Handler", (_Handler,), {"server_of_log": log})
    server = _Server(("127.0.0.1", 0), handler)
    log.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield log
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
