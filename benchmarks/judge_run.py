"""10,000 requests to a server on this machine that is busy, cuts lines and talks nonsense, over three kills of the run.

    python -m benchmarks.judge_run [REQUESTS] [JOBS]

Counts what is in the file of answers at the end, and how often the server was asked for more than that.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

KILLS = (signal.SIGKILL, signal.SIGINT, signal.SIGKILL)
FAULTS = {"429": 0.02, "500": 0.01, "half a line": 0.01, "nonsense": 0.005}
"""So often an attempt ends so; the rest are answers."""


class Server(ThreadingHTTPServer):
    """Counts what it was asked, and what it answered."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answered: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.rng = random.Random(1)

    def handle_error(self, *_: object) -> None:
        """Say nothing of connections that a kill has cut."""


class Handler(BaseHTTPRequestHandler):
    """Answers a request, or fails."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = body["messages"][0]["content"].split()[-1]
        with self.server.lock:
            fault = self.server.rng.choices([*FAULTS, ""], [*FAULTS.values(), 1 - sum(FAULTS.values())])[0]
            self.server.faults[fault] += 1
            self.server.answered[name] += not fault
        answer = {"model": "toy", "choices": [{"message": {"content": "Answer: A"}}]}
        content = b"busy" if fault == "nonsense" else json.dumps(answer).encode()
        self.send_response(int(fault) if fault.isdecimal() else 200)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:20] if fault == "half a line" else content)
        self.close_connection = fault == "half a line"

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def write_requests(path: Path, count: int) -> set[str]:
    """Write so many requests; returns their ids."""
    ids = [f"{number:016x}" for number in range(count)]
    with path.open("w", encoding="utf-8") as file:
        for number, name in enumerate(ids):
            line = {
                "id": name, "task": "t", "topic": "q", "pair": f"{number // 2:016x}", "order": 1 + number % 2, "sample": 1,
                "messages": [{"role": "user", "content": f"{'A text. ' * 100} {name}"}], "choices": ["A", "B"],
                "prompt_sha256": "0" * 64, "study_sha256": "0" * 64,
            }  # fmt: skip
            file.write(json.dumps(line) + "\n")
    return set(ids)


def main(count: int = 10_000, jobs: int = 8) -> None:
    """Run, kill, run again, and count."""
    server = Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ids = write_requests(folder / "requests.jsonl", count)
        answers = folder / "answers.jsonl"
        words = ["judge", "run", folder / "requests.jsonl", "-o", answers, "--model", "toy", "--jobs", jobs]
        words += ["--url", f"http://127.0.0.1:{server.server_address[1]}/v1"]
        command = [sys.executable, "-c", "from study_app.cli import main; main()", *map(str, words)]
        began = time.monotonic()
        for number, way in enumerate(KILLS, start=1):
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                while not answers.exists() or answers.read_bytes().count(b"\n") < number * count // 4:
                    time.sleep(0.05)
                os.kill(process.pid, way)
        subprocess.run(command, check=True)
        seconds = time.monotonic() - began
        lines = [json.loads(line) for line in answers.read_bytes().splitlines()]
    kept = Counter(line["id"] for line in lines)
    print(
        f"{count:,} requests, {jobs} at a time, {len(KILLS)} kills, {seconds:.0f} s: {count / seconds:.0f} a second"
    )
    print(
        f"lost {len(ids - set(kept)):,}; answered twice in the file {sum(times > 1 for times in kept.values()):,}"
    )
    print(
        f"no_answer {sum(line['choice'] == 'no_answer' for line in lines):,}; the server failed {dict(server.faults)}"
    )
    print(
        f"answers of the server that a kill lost, so that it was asked again: {server.answered.total() - count:,}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
