"""prefcal's server under load, beside oTree's in interleaved runs, or alone with many workers who think.

python benchmarks/serving_load.py --otree ENV [--rounds 3] [--participants 50] [--seconds 30]
python benchmarks/serving_load.py --client ENV --participants 1000 --think 20 [--database URL] [--processes N]

ENV is a virtual environment with otree and aiohttp (for --client aiohttp alone). prefcal serves examples/load_test with its defaults;
its participants also post a batch of 20 events every 5 seconds. oTree serves benchmarks/otree_project with its production server.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

HERE = Path(__file__).resolve().parent
STUDY = HERE.parent / "examples" / "load_test" / "study.yaml"
SPARE = 40
"""Start addresses for each participant: who is through is followed by another."""

STARTS_WITHIN_SECONDS = 60


def free_port() -> int:
    """Return a port that nobody uses."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@contextmanager
def running(command: list[str], address: str, **options: Any) -> Iterator[None]:
    """Run a server until the block ends."""
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **options
    ) as server:
        try:
            wait_for(address)
            yield
        finally:
            os.killpg(server.pid, signal.SIGTERM)


def wait_for(address: str) -> None:
    """Wait until something answers there."""
    end = time.monotonic() + STARTS_WITHIN_SECONDS
    while time.monotonic() < end:
        try:
            with urlopen(address):
                return
        except URLError as error:
            if not isinstance(error.reason, ConnectionError):
                return
        time.sleep(0.2)
    sys.exit(f"nothing answers at {address}")


def walked(options: argparse.Namespace, urls: list[str], folder: Path, *more: str) -> dict[str, Any]:
    """Let the client walk through a study; return its figures."""
    (folder / "urls.txt").write_text("\n".join(urls), encoding="utf-8")
    python = str((options.otree or options.client) / "bin" / "python")
    command = [python, str(HERE / "load_client.py"), str(folder / "urls.txt"), *more]
    command += ["--participants", str(options.participants), "--seconds", str(options.seconds)]
    command += ["--think", str(options.think), "--ramp", str(options.ramp)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def measure_prefcal(options: argparse.Namespace) -> dict[str, Any]:
    """Serve the load test with prefcal and walk through it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = options.database or f"sqlite:///{folder / 'load.sqlite3'}"
        prefcal = [sys.executable, "-c", "from study_app.cli import main; main()"]
        subprocess.run(
            [*prefcal, "study", "load", str(STUDY), "--database", url], check=True, capture_output=True
        )
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        mark = time.time_ns()
        urls = [
            f"{address}/s/load-test?id=w{mark}-{number}" for number in range(options.participants * SPARE)
        ]
        serve = [*prefcal, "serve", "--port", str(port), "--database", url]
        if options.processes:
            serve += ["--processes", str(options.processes)]
        with running(serve, f"{address}/healthz"):
            return walked(options, urls, folder)


def measure_otree(options: argparse.Namespace) -> dict[str, Any]:
    """Serve the smallest pairwise study with oTree's production server and walk through it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        shutil.copytree(HERE / "otree_project", folder)
        (folder / "_static").mkdir()
        programs = options.otree / "bin"
        environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "OTREE_PRODUCTION": "1",
            "OTREE_ADMIN_PASSWORD": "x",
            "OTREE_REST_KEY": "x",
            "OTREE_AUTH_LEVEL": "STUDY",
        }
        participants = str(options.participants * SPARE)
        for words in (["resetdb", "--noinput"], ["create_session", "pairs", participants]):
            subprocess.run(
                [str(programs / "otree"), *words],
                cwd=folder,
                env=environment,
                check=True,
                capture_output=True,
            )
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        with sqlite3.connect(folder / "db.sqlite3") as database:
            codes = [code for (code,) in database.execute("SELECT code FROM otree_participant ORDER BY id")]
        urls = [f"{address}/InitializeParticipant/{code}" for code in codes]
        serve = [str(programs / "otree"), "prodserver", f"127.0.0.1:{port}"]
        with running(serve, f"{address}/", cwd=folder, env=environment):
            return walked(options, urls, folder, "--events-every", "0")


def row(name: str, found: dict[str, Any]) -> str:
    """Return a line of a Markdown table."""
    post, turn, batch = (found[key] or {"p50": "", "p99": ""} for key in ("post_ms", "turn_ms", "batch_ms"))
    for fault in found["kinds_of_fault"]:
        print(f"{name}: {fault}", file=sys.stderr)
    return (
        f"| {name} | {found['submissions_per_s']} | {turn['p50']} | {turn['p99']} | {post['p99']} "
        f"| {found['batches']} | {batch['p99']} | {found['faults']} |"
    )


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--otree", type=Path, help="environment with otree and aiohttp: compare")
    parser.add_argument("--client", type=Path, help="environment with aiohttp: prefcal alone")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--participants", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--think", type=float, default=0)
    parser.add_argument("--ramp", type=float, default=0)
    parser.add_argument("--database", help="address of an empty database; default: a new SQLite file")
    parser.add_argument("--processes", type=int, default=0)
    options = parser.parse_args()
    if not (options.otree or options.client):
        parser.error("name an environment with --otree or --client")
    print(
        "| run | submissions/s | turn p50 ms | turn p99 ms | post p99 ms | batches | batch p99 ms | faults |"
    )
    print("|---|---|---|---|---|---|---|---|")
    if not options.otree:
        print(row("prefcal", measure_prefcal(options)))
        return
    pairs = []
    for number in range(1, options.rounds + 1):
        other, ours = measure_otree(options), measure_prefcal(options)
        print(row(f"oTree {number}", other), row(f"prefcal {number}", ours), sep="\n", flush=True)
        pairs.append((other, ours))
    rate = statistics.median(ours["submissions_per_s"] / other["submissions_per_s"] for other, ours in pairs)
    wait = statistics.median(ours["turn_ms"]["p99"] / other["turn_ms"]["p99"] for other, ours in pairs)
    print(f"\nmedian of {len(pairs)} pairs: {rate:.1f} times the submissions, turn p99 {wait:.2f} of oTree's")


if __name__ == "__main__":
    main()
