"""How long the pages of the researcher's console take at the server, with 1,000 workers and 2.5 million events.

    python benchmarks/console.py [--database URL] [--workers N]
    python benchmarks/console.py --database URL --client ENV [--rounds 5] [--seconds 20]

Fills a SQLite file, or the empty PostgreSQL database at URL, by bulk inserts, then asks for every page as a browser
that has signed in does, without a network between. A database that has a study already is used as it is: so the
second run is quick. With --client, an environment that has aiohttp, workers go through examples/load_test beside it, in
turns without a console and while three refresh every 5 seconds. docs/console.md quotes both.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from datetime import timedelta
from pathlib import Path

import export
import httpx
from serving_load import SPARE, STUDY, free_port, running, walked
from sqlalchemy import case, select, update
from sqlalchemy.orm import Session
from tabulate import tabulate

from study_app.config import Config
from study_app.services.researcher.studies import RESEARCHER_KEY, create_keys, setting
from study_app.store.database import Database, is_empty, migrate, open_database, transaction
from study_app.store.models import Assignment, LoadedStudy, Slot, Worker
from study_app.store.tokens import secret_token
from study_app.web.app import create_app

ADDRESSES = ("", "limits", "audit")
"""Pages below /r/STUDY/."""
EVENTS = 50
"""On each of 50 pages of a worker."""
REPEATS = 7
MINUTE_MS = 60_000
CONSOLES, EVERY_SECONDS = 3, 5


def fill(database: Database, workers: int) -> None:
    """Put a study into a database, a worker a minute; nine of ten finish, after 20 to 40 minutes."""
    export.EVENTS = EVENTS
    migrate(database)
    with transaction(database, write=True) as session:
        create_keys(session, new_token=secret_token)
        export.fill(session, workers)
        spread(session)


def spread(session: Session) -> None:
    """Spread what `export.fill` put into one minute over the time that it would have taken."""
    came = Worker.arrived_at + Worker.number * MINUTE_MS
    spent = (20 + Worker.number % 21) * MINUTE_MS
    done = case((Worker.number % 10 != 0, came + spent))
    session.execute(
        update(Worker).values(
            arrived_at=came,
            consented_at=came + MINUTE_MS,
            last_seen_at=came + spent,
            completed_at=done,
            completion_code=case((Worker.number % 10 != 0, Worker.pseudonym)),
        )
    )
    finished = select(Worker.completed_at).where(Worker.id == Assignment.worker_id)
    of_slot = select(Assignment.id).where(Assignment.id == Slot.assignment_id)
    ended = finished.join(Assignment, Assignment.worker_id == Worker.id).where(
        Assignment.id == Slot.assignment_id
    )
    session.execute(
        update(Slot)
        .where(Slot.done_at.is_(None), of_slot.exists())
        .values(done_at=ended.correlate(Slot).scalar_subquery())
        .execution_options(synchronize_session=False)
    )


def key_and_study(database: Database) -> tuple[str, str]:
    """Return the key of the installation, and the study that was filled in."""
    with transaction(database, write=False) as session:
        key = setting(session, RESEARCHER_KEY)
        study = session.scalars(select(LoadedStudy.name).order_by(LoadedStudy.id)).first()
    assert key is not None
    assert study is not None
    return key, study


def beside(url: str, options: argparse.Namespace) -> list[tuple[object, ...]]:
    """Let workers go through a study in turns without and with consoles that refresh; return the times of their turns."""
    prefcal = [sys.executable, "-c", "from study_app.cli import main; main()"]
    subprocess.run(
        [*prefcal, "study", "load", str(STUDY), "--database", url], check=True, capture_output=True
    )
    database = open_database(url)
    key, study = key_and_study(database)
    database.engine.dispose()
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    found: dict[bool, list[float]] = {False: [], True: []}
    with (
        tempfile.TemporaryDirectory() as folder,
        running([*prefcal, "serve", "--port", str(port), "--database", url], f"{address}/healthz"),
    ):
        for _ in range(options.rounds):
            for watched in (False, True):
                mark = time.time_ns()
                urls = [f"{address}/s/load-test?id=w{mark}-{n}" for n in range(options.participants * SPARE)]
                over = threading.Event()
                consoles = [
                    threading.Thread(target=refresh, args=(f"{address}/r/{study}", key, over))
                    for _ in range(CONSOLES * watched)
                ]
                for console in consoles:
                    console.start()
                turns = walked(options, urls, Path(folder))["turn_ms"]
                over.set()
                for console in consoles:
                    console.join()
                found[watched].append(turns["p99"])
    alone, with_consoles = found[False], found[True]
    ratio = statistics.median(b / a for a, b in zip(alone, with_consoles, strict=True))
    return [
        ("no console", statistics.median(alone), ""),
        (f"{CONSOLES} consoles", statistics.median(with_consoles), f"{ratio:.2f}"),
    ]


def refresh(console: str, key: str, over: threading.Event) -> None:
    """Load the overview every few seconds, as an open page does."""
    with httpx.Client(timeout=60) as client:
        client.get(console, params={"key": key})
        while not over.wait(EVERY_SECONDS):
            client.get(f"{console}/")


def measured(url: str, workers: int) -> list[tuple[object, ...]]:
    """Ask for every page some times; processor time is what remains on a machine with nothing else to do."""
    app = create_app(Config(database=url), now=lambda: export.START + timedelta(minutes=workers * 9 // 10))
    database: Database = app.extensions["prefcal"].database
    key, study = key_and_study(database)
    client = app.test_client()
    client.get(f"/r/{study}?key={key}")
    rows: list[tuple[object, ...]] = []
    for place in ADDRESSES:
        times, worked = [], []
        for _ in range(REPEATS):
            began, busy = time.perf_counter(), time.process_time()
            answer = client.get(f"/r/{study}/{place}")
            times.append(1000 * (time.perf_counter() - began))
            worked.append(1000 * (time.process_time() - busy))
            assert answer.status_code == 200, place
        size = len(answer.get_data()) / 1024
        middles = (round(statistics.median(each)) for each in (times, worked))
        rows.append((f"/{place}", *middles, round(max(times)), round(size)))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", help="address of a database; a new SQLite file if not given")
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument(
        "--client", type=Path, help="environment with aiohttp: measure what workers feel of consoles"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--participants", type=int, default=20)
    parser.add_argument("--think", type=float, default=1)
    parser.set_defaults(otree=None, ramp=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = given.database or f"sqlite:///{folder}/console.sqlite3"
        database = open_database(url)
        if is_empty(database):
            began = time.perf_counter()
            fill(database, given.workers)
            print(f"filled in {time.perf_counter() - began:.0f} s")
        database.engine.dispose()
        if given.client:
            headers = ["beside the workers", "turn p99 ms", "ratio"]
            print(tabulate(beside(url, given), headers=headers, tablefmt="github"))
        else:
            headers = ["page", "median ms", "of which processor", "longest ms", "KB"]
            print(tabulate(measured(url, given.workers), headers=headers, tablefmt="github"))


if __name__ == "__main__":
    main()
