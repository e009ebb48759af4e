"""A server on this machine that behaves as Prolific's documented API: pages, errors, limits, payments that come later.

What is paid stands in `paid`, a line for each time somebody was. A fault is set for the next call of a kind, and happens before or after
the effect.
"""

import base64
import hashlib
import hmac
import json
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "prolific-token-very-SECRET-0815"
SECRET = "hook-secret"
STEPS = {
    ("UNPUBLISHED", "PUBLISH"): "ACTIVE",
    ("ACTIVE", "PAUSE"): "PAUSED",
    ("PAUSED", "START"): "ACTIVE",
}


@dataclass
class Fault:
    """What happens to a call instead: a status, or a cut connection, before or after its effect."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    after: bool = False
    body: bytes = b""


class Prolific:
    """State of the platform."""

    def __init__(self, *, page: int = 100, currency: str = "GBP", hides_bonuses: bool = False) -> None:
        self.page, self.currency, self.hides_bonuses = page, currency, hides_bonuses
        self.studies: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}
        self.batches: dict[str, dict[str, int]] = {}
        self.approved: list[str] = []
        self.bonuses: defaultdict[str, list[int]] = defaultdict(list)
        self.pending: list[tuple[str, int]] = []
        self.sent: list[tuple[str, str]] = []
        self.calls: list[str] = []
        self.faults: list[tuple[str, Fault]] = []
        self.every: Callable[[str, int], Fault | None] | None = None
        self.is_slow = False
        self.lock = threading.RLock()
        self.base, self.now = "", lambda: "2026-03-01T12:00:00Z"

    def study(self, name: str = "small", *, number: str = "5f00", reward: int = 100) -> str:
        """Add a published study whose address leads to a study here."""
        self.studies[number] = {
            "id": number,
            "status": "ACTIVE",
            "internal_name": name,
            "reward": reward,
            "total_available_places": 10,
            "external_study_url": f"https://study.example.org/s/{name}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}",
        }
        return number

    def submit(
        self,
        submission: str,
        worker: str,
        status: str = "AWAITING REVIEW",
        code: str | None = "CDONE",
        *,
        study: str = "5f00",
    ) -> None:
        """Add a submission, or change one."""
        self.submissions[submission] = {
            "id": submission,
            "participant_id": worker,
            "status": status,
            "study_code": code,
            "started_at": "2026-03-01T12:00:00Z",
            "study": study,
        }

    def fail(self, call: str, *faults: Fault) -> None:
        """Let the next calls that match a pattern end otherwise."""
        self.faults += [(call, fault) for fault in faults]

    def settle(self) -> None:
        """Make the payments that were only taken so far."""
        for submission, cents in self.pending:
            self.bonuses[submission].append(cents)
        self.pending.clear()

    @property
    def written(self) -> list[str]:
        """The calls that were not GET, without the price of a study."""
        return [call for call in self.calls if not call.startswith("GET") and "cost-calculator" not in call]

    @property
    def times_paid(self) -> Counter[tuple[str, int]]:
        """How often each submission got each bonus."""
        everything = [(name, cents) for name, paid in self.bonuses.items() for cents in paid]
        return Counter([*everything, *self.pending])

    def fault(self, call: str) -> Fault | None:
        """Return what happens to a call, if anything."""
        for place, (pattern, fault) in enumerate(self.faults):
            if re.search(pattern, call):
                del self.faults[place]
                return fault
        return None if self.every is None else self.every(call, len(self.calls))

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        """Carry a call out."""
        for pattern, verb, name in ROUTES:
            match = re.fullmatch(f"/api/v1{pattern}", path)
            if match and verb == method:
                found: tuple[int, Any] = getattr(self, name)(*match.groups(), query=query, body=body)
                return found
        return problem(404, "Not found.")

    def list_studies(self, **_: Any) -> tuple[int, Any]:
        return 200, {"results": list(self.studies.values())}

    def make_study(self, *, body: Any, **_: Any) -> tuple[int, Any]:
        number = f"5f{len(self.studies):02x}"
        self.studies[number] = {**body, "id": number, "status": "UNPUBLISHED"}
        return 201, self.studies[number]

    def one_study(self, number: str, **_: Any) -> tuple[int, Any]:
        return (200, self.studies[number]) if number in self.studies else problem(404, "No such study.")

    def change_study(self, number: str, *, body: Any, **_: Any) -> tuple[int, Any]:
        study = self.studies[number]
        if body["total_available_places"] < study["total_available_places"]:
            return problem(400, "You can only increase places.")
        study.update(body)
        return 200, study

    def move_study(self, number: str, *, body: Any, **_: Any) -> tuple[int, Any]:
        study = self.studies[number]
        step = STEPS.get((study["status"], body["action"]))
        if step is None:
            return problem(400, f"A study that is {study['status']} cannot {body['action']}.")
        study["status"] = step
        return 200, study

    def cost(self, number: str, **_: Any) -> tuple[int, Any]:
        money = {"amount": 0, "currency": self.currency}
        return (
            (200, {"rewards": {"rewards": money}})
            if number in self.studies
            else problem(404, "No such study.")
        )

    def price(self, *, body: Any, **_: Any) -> tuple[int, Any]:
        return 200, {"total_cost": round(1.4 * body["reward"] * body["total_available_places"])}

    def list_submissions(self, *, query: dict[str, str], **_: Any) -> tuple[int, Any]:
        if query["study"] not in self.studies:
            return problem(404, "No such study.")
        rows = [
            {key: value for key, value in row.items() if key != "study"}
            for row in self.submissions.values()
            if row["study"] == query["study"]
        ]
        page, size = int(query["page"]), min(int(query["page_size"]), self.page)
        part = rows[(page - 1) * size : page * size]
        more = {"href": f"?page={page + 1}"} if page * size < len(rows) else {"href": None}
        return 200, {"results": part, "meta": {"count": len(rows)}, "_links": {"next": more}}

    def one_submission(self, submission: str, **_: Any) -> tuple[int, Any]:
        row = self.submissions.get(submission)
        if row is None:
            return problem(404, "No such submission.")
        shown = {} if self.hides_bonuses else {"bonus_payments": self.bonuses[submission]}
        return 200, {
            "id": submission,
            "participant": row["participant_id"],
            "status": row["status"],
            "study_id": row["study"],
            "started_at": row["started_at"],
            **shown,
        }

    def approve(self, *, body: Any, **_: Any) -> tuple[int, Any]:
        wrong = [
            name
            for name in body["submission_ids"]
            if self.submissions.get(name, {}).get("status") != "AWAITING REVIEW"
        ]
        if wrong:
            return problem(400, f"Not awaiting review: {', '.join(wrong)}")
        for name in body["submission_ids"]:
            self.approved.append(name)
            self.submissions[name]["status"] = "APPROVED"
        return 200, "Bulk approve in progress"

    def set_up(self, *, body: Any, **_: Any) -> tuple[int, Any]:
        lines = dict(line.split(",") for line in body["csv_bonuses"].split("\n"))
        wrong = [name for name in lines if self.submissions.get(name, {}).get("study") != body["study_id"]]
        if wrong:
            return problem(400, f"Not in this study: {', '.join(wrong)}")
        number = f"b{len(self.batches):03}"
        self.batches[number] = {name: round(100 * float(amount)) for name, amount in lines.items()}
        total = sum(self.batches[number].values())
        return 201, {"id": number, "study": body["study_id"], "amount": total, "total_amount": 1.4 * total}

    def pay(self, number: str, **_: Any) -> tuple[int, Any]:
        if number not in self.batches:
            return problem(404, "No such payment.")
        self.pending += self.batches[number].items()  # each time it is called
        if not self.is_slow:
            self.settle()
        return 202, "Successfully received"

    def message(self, *, body: Any, **_: Any) -> tuple[int, Any]:
        self.sent.append((body["recipient_id"], body["body"]))
        return 204, None

    def list_messages(self, *, query: dict[str, str], **_: Any) -> tuple[int, Any]:
        texts = [text for worker, text in self.sent if worker == query["user_id"]]
        return 200, {"results": [{"body": text, "sent_at": self.now()} for text in texts]}


ROUTES = [
    (r"/studies/", "GET", "list_studies"),
    (r"/studies/", "POST", "make_study"),
    (r"/studies/(\w+)/", "GET", "one_study"),
    (r"/studies/(\w+)/", "PATCH", "change_study"),
    (r"/studies/(\w+)/transition/", "POST", "move_study"),
    (r"/studies/(\w+)/cost/", "GET", "cost"),
    (r"/study-cost-calculator/", "POST", "price"),
    (r"/submissions/", "GET", "list_submissions"),
    (r"/submissions/bulk-approve/", "POST", "approve"),
    (r"/submissions/bonus-payments/", "POST", "set_up"),
    (r"/submissions/([\w-]+)/", "GET", "one_submission"),
    (r"/bulk-bonus-payments/(\w+)/pay/", "POST", "pay"),
    (r"/messages/", "POST", "message"),
    (r"/messages/", "GET", "list_messages"),
]


def problem(status: int, detail: str) -> tuple[int, Any]:
    """Return an error in the documented form."""
    error = {"status": status, "error_code": 140_000, "title": "Error", "detail": detail}
    return status, {"error": error}


@contextmanager
def prolific_server(**options: Any) -> Iterator[Prolific]:
    """Serve in threads of this process."""
    state = Prolific(**options)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: two would wait for each other

        def handle_call(self) -> None:
            url = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            with state.lock:
                call = f"{self.command} {url.path}"
                state.calls.append(call)
                fault = state.fault(f"{call}?{url.query}")
                if fault is None or fault.after:
                    query = {name: values[0] for name, values in parse_qs(url.query).items()}
                    if self.headers["Authorization"] != f"Token {TOKEN}":
                        status, given = problem(401, "Invalid token.")
                    else:
                        status, given = state.answer(self.command, url.path, query, body)
                    content = b"" if given is None else json.dumps(given).encode()
            if fault is not None and fault.status is None:
                self.close_connection = True  # cut: nothing is ever answered
                return
            headers = {}
            if fault is not None:
                status, headers, content = fault.status or 200, fault.headers, fault.body
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            self.wfile.flush()

        do_GET = do_POST = do_PATCH = handle_call  # noqa: N815 - the names that http.server asks for

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    state.base = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def signed(
    body: bytes, timestamp: int, *, secret: str = SECRET, event: str = "e1", happened: int | None = None
) -> dict[str, str]:
    """Return the headers of a webhook."""
    digest = hmac.new(secret.encode(), str(timestamp).encode() + body, hashlib.sha256).digest()
    return {
        "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
        "X-Prolific-Request-Timestamp": str(timestamp),
        "X-Event-ID": event,
        "X-Timestamp": str(timestamp if happened is None else happened),
        "Content-Type": "application/json",
    }


def changed(submission: str, worker: str, status: str) -> bytes:
    """Return the body of a webhook about a submission."""
    return json.dumps(
        {
            "resource_id": submission,
            "event_type": "submission.status.change",
            "participant_id": worker,
            "status": status,
        }
    ).encode()
