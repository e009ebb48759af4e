"""prefcal's server under load, beside oTree's or alone with many workers.

python benchmarks/serving_load.py --otree ENV [--rounds 3] [--participants 50] [--seconds 30]
python benchmarks/serving_load.py --client ENV --bare [--rounds 3] [--seconds 10] [--processes 1]
python benchmarks/serving_load.py --client ENV --beside CHECKOUT [--rounds 6] [--database URL]
python benchmarks/serving_load.py --client ENV --participants 1000 --think 20 [--database URL] [--processes N]

ENV is a virtual environment with otree and aiohttp (for --client aiohttp alone). prefcal serves examples/load_test with its defaults;
its participants also post a batch of 20 events every 5 seconds. oTree serves benchmarks/otree_project with its production server.
--bare puts the least that a server can do beside it (benchmarks/bare_flask.py, which has one process; prefcal as many as it takes by itself, or --processes),
and tells the processor time a submission, which a busy machine changes less than the rate. --beside does the same with another version, each in
one process: a checkout with its own environment in .venv.
URL may hold {}, which becomes another number for each run: a new database each.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

HERE = Path(__file__).resolve().parent
STUDY = HERE.parent / "examples" / "load_test" / "study.yaml"
SPARE = 40
"""Start addresses for each participant: who is through is followed by another."""

STARTS_WITHIN_SECONDS = 60
RUNS = count(1)


def free_port() -> int:
    """Return a port that nobody uses."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@contextmanager
def running(command: list[str], address: str, **options: Any) -> Iterator[int]:
    """Run a server until the block ends; yield its group of processes."""
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **options
    ) as server:
        try:
            wait_for(address)
            yield server.pid
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


def processor_seconds(group: int) -> float:
    """Return what the processes of a group have used until now."""
    used = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
            if int(fields[2]) == group:
                used += int(fields[11]) + int(fields[12])
    return used / os.sysconf("SC_CLK_TCK")


def walked(options: argparse.Namespace, urls: list[str], folder: Path, *more: str) -> dict[str, Any]:
    """Let the client walk through a study; return its figures."""
    (folder / "urls.txt").write_text("\n".join(urls), encoding="utf-8")
    python = str((options.otree or options.client) / "bin" / "python")
    command = [python, str(HERE / "load_client.py"), str(folder / "urls.txt"), *more]
    command += ["--participants", str(options.participants), "--seconds", str(options.seconds)]
    command += ["--think", str(options.think), "--ramp", str(options.ramp)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def measure_prefcal(options: argparse.Namespace, checkout: Path = HERE.parent) -> dict[str, Any]:
    """Serve the load test with the prefcal of a checkout and walk through it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = (options.database or f"sqlite:///{folder / 'load.sqlite3'}").format(next(RUNS))
        python = sys.executable if checkout == HERE.parent else str(checkout / ".venv" / "bin" / "python")
        prefcal = [python, "-c", "from study_app.cli import main; main()"]
        subprocess.run(
            [*prefcal, "study", "load", str(STUDY), "--database", url],
            check=True,
            capture_output=True,
            cwd=checkout,
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
        with running(serve, f"{address}/healthz", cwd=checkout) as group:
            return walked_and_weighed(options, urls, folder, group)


def walked_and_weighed(
    options: argparse.Namespace, urls: list[str], folder: Path, group: int
) -> dict[str, Any]:
    """Return the client's figures with the server's processor time a submission, in milliseconds."""
    before = processor_seconds(group)
    found = walked(options, urls, folder)
    used = 1000 * (processor_seconds(group) - before)
    return found | {"processor_ms": round(used / max(found["submissions"], 1), 2)}


def measure_bare(options: argparse.Namespace) -> dict[str, Any]:
    """Serve the yardstick and walk through it."""
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        address = f"http://127.0.0.1:{port}"
        urls = [f"{address}/s?id=w{number}" for number in range(options.participants * SPARE)]
        serve = [sys.executable, str(HERE / "bare_flask.py"), str(port), str(folder / "bare.sqlite3")]
        with running(serve, f"{address}/s?id=first") as group:
            return walked_and_weighed(options, urls, folder, group)


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


def compare_with(name: str, measure_other: Callable[[], dict[str, Any]], options: argparse.Namespace) -> None:
    """Measure prefcal and something else in turns."""
    rates, costs = [], []
    for number in range(1, options.rounds + 1):
        other, ours = measure_other(), measure_prefcal(options)
        print(row(f"{name} {number}", other), row(f"prefcal {number}", ours), sep="\n", flush=True)
        rates.append(other["submissions_per_s"] / max(ours["submissions_per_s"], 0.1))
        costs.append(ours["processor_ms"] / max(other["processor_ms"], 0.01))
        print(f"processor ms a submission: {name} {other['processor_ms']}, prefcal {ours['processor_ms']}")
    print(
        f"\nmedians: {name} has {statistics.median(rates):.2f} times the submissions, prefcal {statistics.median(costs):.2f} times the processor time"
    )


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--otree", type=Path, help="environment with otree and aiohttp: compare")
    parser.add_argument("--client", type=Path, help="environment with aiohttp: prefcal alone")
    parser.add_argument("--bare", action="store_true", help="compare with the least that a server can do")
    parser.add_argument("--beside", type=Path, help="compare with the prefcal of another checkout")
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
    if options.bare:
        compare_with("bare", lambda: measure_bare(options), options)
        return
    if options.beside:
        options.processes = options.processes or 1
        compare_with("before", lambda: measure_prefcal(options, options.beside), options)
        return
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
