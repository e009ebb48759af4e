"""Workers' slowest turns beside three consoles that refresh every 5 s.

    python benchmarks/console_beside.py DATABASE --client ENV [--rounds 5] [--seconds 20]

DATABASE is the address of one that benchmarks/console.py has filled; ENV an environment that has aiohttp. Workers go through
examples/load_test, a second of thought a page, in turns without and with the consoles.
"""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
from serving_load import SPARE, STUDY, free_port, running, walked
from sqlalchemy import select
from tabulate import tabulate

from study_app.services.researcher.studies import RESEARCHER_KEY, setting
from study_app.store.database import open_database, transaction
from study_app.store.models import LoadedStudy

PREFCAL = [sys.executable, "-c", "from study_app.cli import main; main()"]
HIDDEN = re.compile(r'name="(\w+)" value="([^"]*)"')
"""Hidden fields of the form that signs in."""

CONSOLES, EVERY_SECONDS = 3, 5


def console_address(database: str) -> str:
    """Return the console's address of the filled study, below the server's."""
    opened = open_database(database)
    with transaction(opened, write=False) as session:
        key = setting(session, RESEARCHER_KEY)
        study = session.scalars(select(LoadedStudy.name).order_by(LoadedStudy.id)).first()
    opened.engine.dispose()
    return f"/r/{study}?key={key}"


def refresh(entrance: str, over: threading.Event) -> None:
    """Ask for a newer overview every few seconds, as an open page does."""
    with httpx.Client(timeout=60) as client:
        form = client.get(entrance).text
        client.post(f"{entrance.partition('?')[0]}/sign-in", data=dict(HIDDEN.findall(form)))
        known = ""
        while not over.wait(EVERY_SECONDS):
            answer = client.get(f"{entrance.partition('?')[0]}/", headers={"If-None-Match": known})
            known = answer.headers.get("ETag", known)


def slowest(options: argparse.Namespace, address: str, entrance: str, consoles: int) -> float:
    """Return the 99th percentile of workers' turns, in ms, beside so many consoles."""
    mark, over = time.time_ns(), threading.Event()
    urls = [f"{address}/s/load-test?id=w{mark}-{n}" for n in range(options.participants * SPARE)]
    open_pages = [threading.Thread(target=refresh, args=(entrance, over)) for _ in range(consoles)]
    for page in open_pages:
        page.start()
    with tempfile.TemporaryDirectory() as folder:
        found = walked(options, urls, Path(folder))
    over.set()
    for page in open_pages:
        page.join()
    return float(found["turn_ms"]["p99"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("database")
    parser.add_argument("--client", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--participants", type=int, default=20)
    parser.set_defaults(otree=None, ramp=0, think=1)
    given = parser.parse_args()
    load = [*PREFCAL, "study", "load", str(STUDY), "--database", given.database]
    subprocess.run(load, check=True, capture_output=True)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    entrance = f"{address}{console_address(given.database)}"
    with running(
        [*PREFCAL, "serve", "--port", str(port), "--database", given.database], f"{address}/healthz"
    ):
        pairs = []
        for number in range(
            given.rounds
        ):  # who is first changes, so that a machine that gets slower favours nobody
            order = (0, CONSOLES) if number % 2 == 0 else (CONSOLES, 0)
            found = {consoles: slowest(given, address, entrance, consoles) for consoles in order}
            pairs.append((found[0], found[CONSOLES]))
    rows = [(number, *pair, f"{pair[1] / pair[0]:.2f}") for number, pair in enumerate(pairs, start=1)]
    ratio = statistics.median(watched / alone for alone, watched in pairs)
    headers = ["round", "no console, p99 ms", f"{CONSOLES} consoles, p99 ms", "ratio"]
    print(tabulate([*rows, ("median", "", "", f"{ratio:.2f}")], headers=headers, tablefmt="github"))


if __name__ == "__main__":
    main()
