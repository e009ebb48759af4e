"""Attacks and accidents that once succeeded: votes, silence, folders, deadlocks.

    PYTHONPATH=$PWD python benchmarks/doors.py watch silent folders starts kills

- ``watch``: a viewer's key fetches all pages after each answer, and every replay afterwards. How many votes does it know?
- ``silent``: silent connections, more than a process may open files. How many health checks fail, how many traces are logged?
- ``folders``: a rehearsal restored beside a running study starts jobs; jobs of a foreign backup name folders. How many are removed?
- ``starts``: two people start a job at the same time, repeatedly, while workers enter.
- ``kills``: the server is killed while workers answer and two people start jobs.

PostgreSQL is started from the machine's own programs.
"""

import argparse
import os
import random
import re
import resource
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from bs4 import BeautifulSoup
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from study_app.estimate.content import read_whole_study
from study_app.services.researcher.access import make_key
from study_app.services.researcher.load import load_study
from study_app.services.researcher.studies import RESEARCHER_KEY, chosen_study, create_keys, setting
from study_app.simulate.browser import PageLog
from study_app.store.backups.backup import back_up, restore
from study_app.store.console_models import Job
from study_app.store.database import migrate, open_database, transaction
from study_app.store.models import Judgment, LoadedStudy, PageLoad, Showing, System, Worker
from study_app.store.tokens import secret_token, utc_now
from tests.postgres_server import binaries, postgres_server
from tests.serving.campaign import CampaignWorker, Told, assert_kept, end_campaign
from tests.serving.serving import PLAIN, Serving, serving
from tests.study_app.conftest import Campaign
from tests.study_app.made_once import ready_database
from tests.study_app.small_study import pairs_task, write_small_study

VOTERS, SILENT, CHECKS, FILES = 12, 2_300, 30, 1_024
VICTIMS, DOUBLE_CLICKS, KILLS, WALKERS = 10, 8, 12, 10
CHOICES = ("left", "right", "equally_good", "equally_bad")


def row(*cells: object) -> None:
    """Print a row of a table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def header(*columns: str) -> None:
    """Print the header of a table."""
    row(*columns)
    row(*["---"] * len(columns))


@contextmanager
def session_of(url: str, *, write: bool = False) -> Iterator[Session]:
    """Open a session on a database, and close both."""
    database = open_database(url)
    with transaction(database, write=write) as session:
        yield session
    database.engine.dispose()


# watch


def answered(study: Campaign, visitor: Any, choice: str) -> None:
    """Answer a pair, with the log of its page."""
    log = PageLog(visitor.page_token, study.clock(), layout="stacked", size=(412, 800))
    log.wait(2)
    for batch in log.batches(10):
        visitor.client.post(visitor.html.body["data-events"], json=batch)
    study.clock.forward(10)
    visitor.send(choice=choice)


def matrix_of(client: Any) -> dict[tuple[str, str], list[int]]:
    """Return the numbers of each cell of the judgment matrix, by (topic, system pair)."""
    html = BeautifulSoup(client.get("/r/small/material").text, "lxml")
    pairs = [head.get_text("|") for head in html.select("table.matrix thead th")[1:]]
    return {
        (line.th.get_text(" ", strip=True), pair): [int(number) for number in re.findall(r"\d+", cell.text)]
        for line in html.select("table.matrix tbody tr")
        for pair, cell in zip(pairs, line.select("td"), strict=True)
    }


def said_of(client: Any, worker: str) -> list[str]:
    """Return the text of each answer on a worker's page."""
    html = BeautifulSoup(client.get(f"/r/small/people/{worker}?of=answer").text, "lxml")
    return [line.select("td")[2].text for line in html.select("tr.answer")]


def watched(folder: Path) -> tuple[int, int, int]:
    """Return the number of votes, and of those that a viewer learns after each answer and by replays."""
    study = Campaign(folder, f"sqlite:///{folder / 'watched.sqlite3'}")
    study.load(tasks=[pairs_task(workers_per_query=VOTERS)])
    study.serve()
    with transaction(study.database, write=True) as session:
        key = make_key(
            session,
            chosen_study(session, "small"),
            role="watch",
            name="W",
            now=study.clock(),
            new_token=secret_token,
        )
    client, draw = study.console(key), random.Random(1)
    claims: dict[int, set[str]] = {}
    for number in range(VOTERS):
        visitor = study.at_pairs(f"w{number}")
        [(worker,)] = study.rows(select(Worker.pseudonym).order_by(Worker.id.desc()).limit(1))
        while "/pair/" in visitor.step:
            before, said = matrix_of(client), said_of(client, worker)
            answered(study, visitor, draw.choice(CHOICES))
            claim = possible_votes(before, matrix_of(client), said_of(client, worker)[len(said) :])
            [newest] = study.rows(select(func.max(Judgment.id)))[0]
            claims[newest] = claim
    truth = votes(study)
    by_replays = replayed_votes(study, client)
    known = sum(claims[judgment] == {truth[judgment]} for judgment in truth)
    return len(truth), known, sum(by_replays.get(judgment) == vote for judgment, vote in truth.items())


def possible_votes(
    before: dict[tuple[str, str], list[int]], after: dict[tuple[str, str], list[int]], said: list[str]
) -> set[str]:
    """Return the votes that the changed cell and the worker's page leave possible."""
    [(cell, numbers)] = [(cell, numbers) for cell, numbers in after.items() if numbers != before[cell]]
    first, second = cell[1].split("|")
    choice = next(
        (choice for choice in CHOICES for words in said if words.startswith(choice.replace("_", " "))), None
    )
    orders = [(first, second), (second, first)]
    if len(numbers) == 3:
        orders = orders[:1] if numbers[1] > before[cell][1] else orders[1:]
    choices = [choice] if choice else list(CHOICES)
    return {preferred(order, each) for order in orders for each in choices}


def preferred(order: tuple[str, str], choice: str) -> str:
    """Return the chosen system, or `none` for an equal choice."""
    return {"left": order[0], "right": order[1]}.get(choice, "none")


def votes(study: Campaign) -> dict[int, str]:
    """Return the chosen system of each judgment, by id."""
    names = dict(map(tuple, study.rows(select(System.id, System.name))))
    rows = study.rows(
        select(Judgment.id, Judgment.choice, Showing.left_system_id, Showing.right_system_id).join(
            Showing, Showing.id == Judgment.showing_id
        )
    )
    return {
        judgment: preferred((names[left], names[right]), choice) for judgment, choice, left, right in rows
    }


def replayed_votes(study: Campaign, client: Any) -> dict[int, str]:
    """Return judgment -> vote, by the sides of replays, whose texts somebody knows who has the systems' runs."""
    names = dict(map(tuple, study.rows(select(System.id, System.name))))
    votes_by_judgment = {}
    for judgment, left, right, key, worker in study.rows(
        select(Judgment.id, Showing.left_system_id, Showing.right_system_id, PageLoad.key, Worker.pseudonym)
        .join(Showing, Showing.id == Judgment.showing_id)
        .join(PageLoad, PageLoad.key == Judgment.page_key)
        .join(Worker, Worker.id == PageLoad.worker_id)
    ):
        html = BeautifulSoup(client.get(f"/r/small/people/{worker}?of=answer").text, "lxml")
        lines = [line for line in html.select("tr.answer") if line.select(f"a[href$='{key}']")]
        shown = BeautifulSoup(client.get(f"/r/small/people/{worker}/replay/{key}/page").text, "lxml")
        if lines and len(shown.select("[data-side]")) == 2:
            words = lines[0].select("td")[2].text
            choice = next((each for each in CHOICES if words.startswith(each.replace("_", " "))), None)
            if choice:
                votes_by_judgment[judgment] = preferred((names[left], names[right]), choice)
    return votes_by_judgment


def watch() -> None:
    """Print the number of votes that a viewer's key learns."""
    header("votes", "known by asking after each answer", "known by replays")
    with TemporaryDirectory() as folder:
        row(*watched(Path(folder)))


# silent


def silent() -> None:
    """Print failures and times of health checks beside silent connections."""
    header(
        "open files allowed: soft, hard",
        "processes",
        "connections",
        "failed health checks",
        "longest s",
        "traces a minute",
    )
    for hard, processes in ((resource.getrlimit(resource.RLIMIT_NOFILE)[1], 1), (FILES, 1), (FILES, 2)):
        with TemporaryDirectory() as folder:
            url = loaded(f"sqlite:///{folder}/silent.sqlite3", Path(folder))
            limits = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({FILES}, {hard})); "
            with serving(url, "--processes", str(processes), before=limits) as server:
                row(f"{FILES:,}, {hard:,}", processes, f"{SILENT:,}", *beside_silence(server))


def beside_silence(server: Serving) -> tuple[str, str, str]:
    """Return failed health checks, their longest time, and traces a minute, beside silent connections."""
    connections, before = [], len(server.said)
    failed, times, began = 0, [], time.monotonic()
    try:
        for _ in range(SILENT):
            connection = socket.socket()
            connection.setblocking(False)  # noqa: FBT003 - socket's signature
            connection.connect_ex(("127.0.0.1", server.port))
            connections.append(connection)
        for _ in range(CHECKS):
            start = time.monotonic()
            try:
                failed += not httpx.get(f"{server.address}/healthz", timeout=5, verify=PLAIN).is_success
            except httpx.TransportError:
                failed += 1
            times.append(time.monotonic() - start)
            time.sleep(0.5)
    finally:
        for connection in connections:
            connection.close()
    minutes = (time.monotonic() - began) / 60
    traces = sum("Traceback" in line for line in server.said[before:]) / minutes
    return f"{failed} of {CHECKS}", f"{max(times):.2f}", f"{traces:,.0f}"


# folders


def loaded(url: str, folder: Path, **task: Any) -> str:
    """Load the small study into an empty database; return its address."""
    database = ready_database(url)
    with transaction(database, write=True) as session:
        create_keys(session, new_token=secret_token)
        content = read_whole_study(write_small_study(folder, task={"search_seconds": 0, **task}))
        load_study(session, content, now=utc_now())
    database.engine.dispose()
    return url


class Researcher:
    """Browser of a researcher with the key of the installation."""

    def __init__(self, server: Serving, url: str) -> None:
        with session_of(url) as session:
            self.key = setting(session, RESEARCHER_KEY)
        self.server = server
        self.http = httpx.Client(base_url=server.address, timeout=30, verify=PLAIN)
        self.csrf = ""

    def signed_in(self) -> "Researcher":
        """Sign in, and keep the token of the forms."""
        self.http.get(f"/r/small?key={self.key}")
        page = BeautifulSoup(self.http.get("/r/small/data").text, "lxml")
        self.csrf = page.find("input", {"name": "csrf"})["value"]
        return self

    def start_job(self) -> int:
        """Start a job that writes the tables; return the status."""
        form = {"csrf": self.csrf, "kind": "tables"}
        return self.http.post("/r/small/data/jobs", data=form).status_code


def wait_for_jobs(url: str) -> None:
    """Wait until no job is at work, at most a minute."""
    database = open_database(url)
    for _ in range(600):
        with transaction(database, write=False) as session:
            if not session.scalar(select(func.count()).where(Job.state.in_(["waiting", "running"]))):
                break
        time.sleep(0.1)
    database.engine.dispose()


def each_database() -> Iterator[tuple[str, Callable[[str], str], Path]]:
    """Yield name, maker of addresses, and current folder of each kind of database.

    Programs that are started meanwhile start in the folder.
    """
    os.environ["PATH"] = f"{binaries()}{os.pathsep}{os.environ['PATH']}"
    start = Path.cwd()
    with TemporaryDirectory() as parent, postgres_server(durable=True) as postgres:
        makers: dict[str, Callable[[str], str]] = {
            "SQLite": lambda name: f"sqlite:///{Path.cwd()}/{name}.sqlite3",
            "PostgreSQL": postgres.new_database,
        }
        try:
            for kind, make_address in makers.items():
                folder = Path(parent) / kind
                folder.mkdir()
                os.chdir(folder)
                yield kind, make_address, folder
        finally:
            os.chdir(start)


def results_below(folder: Path) -> set[Path]:
    """Return the folders of jobs below a folder."""
    return set(folder.rglob("job-*"))


def folders() -> None:
    """Print the number of removed folders that are not the rehearsal's."""
    header(
        "database",
        "the running study's results removed by the rehearsal",
        "folders removed that job rows of a strange backup name",
    )
    for kind, address, folder in each_database():
        url = loaded(address("running"), folder)
        with serving(url, "--processes", "1") as server:
            researcher = Researcher(server, url).signed_in()
            for _ in range(3):
                researcher.start_job()
                wait_for_jobs(url)
        kept = results_below(folder)
        back = open_database(url)
        back_up(back, folder / f"{kind}.backup")
        back.engine.dispose()
        rehearsed(address("rehearsal"), folder / f"{kind}.backup", starts=5)
        gone = len(kept - results_below(folder))
        row(kind, f"{gone} of {len(kept)}", strange(address, folder, kind))


def rehearsed(url: str, backup: Path, *, starts: int) -> None:
    """Restore a backup into a new database, serve it, and start jobs there."""
    database = open_database(url)
    restore(database, backup)
    migrate(database)
    database.engine.dispose()
    with serving(url, "--processes", "1") as server:
        researcher = Researcher(server, url).signed_in()
        for _ in range(starts):
            researcher.start_job()
            wait_for_jobs(url)


def strange(address: Callable[[str], str], folder: Path, kind: str) -> str:
    """Restore and serve a backup whose jobs name folders; return the share removed."""
    victims = [folder / "victims" / f"job-{kind}{number}" for number in range(VICTIMS)]
    for victim in victims:
        victim.mkdir(parents=True)
        (victim / "thesis.tex").write_text("years", encoding="utf-8")
    url = loaded(address("strange"), folder)
    database = open_database(url)
    with transaction(database, write=True) as session:
        study = session.scalars(select(LoadedStudy.id)).one()
        session.add_all(
            Job(study_id=study, kind="tables", state="failed", step="", folder=str(victim), made_at=utc_now())
            for victim in victims
        )
    back_up(database, folder / f"{kind}.strange")
    database.engine.dispose()
    rehearsed(address("restored"), folder / f"{kind}.strange", starts=1)
    return f"{sum(not victim.is_dir() for victim in victims)} of {len(victims)}"


# starts


def open_files(server: Serving) -> int:
    """Return the number of open files of a server's processes."""
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in (server.process.pid, *server.children()))  # noqa: PTH208


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """Call functions at the same time, and return their results."""
    results: list[Any] = [None] * len(acts)
    meeting = threading.Barrier(len(acts))

    def call(number: int, act: Callable[[], Any]) -> None:
        meeting.wait()
        results[number] = act()

    threads = [threading.Thread(target=call, args=numbered) for numbered in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def entered(server: Serving, name: str) -> float:
    """Enter as a worker; return the seconds until the first page."""
    start = time.monotonic()
    httpx.get(f"{server.address}/s/small?id={name}", follow_redirects=True, timeout=60, verify=PLAIN)
    return time.monotonic() - start


def starts() -> None:
    """Print the outcome of two simultaneous job starts, and of a worker's entry meanwhile."""
    header(
        "database",
        "double clicks",
        "statuses",
        "with a 503",
        "longest entry s",
        "folders left over",
        "open files more",
    )
    for kind, address, folder in each_database():
        url = loaded(address("starts"), folder, workers_per_query=300)
        with serving(url, "--processes", "2") as server:
            researchers = [Researcher(server, url).signed_in() for _ in range(2)]
            before, statuses, refused, longest = open_files(server), Counter(), 0, 0.0
            for number in range(DOUBLE_CLICKS):
                *clicks, seconds = at_once(
                    *(researcher.start_job for researcher in researchers),
                    lambda number=number: entered(server, f"e{number}"),
                )
                statuses.update(clicks)
                refused += 503 in clicks
                longest = max(longest, seconds)
                wait_for_jobs(url)
            more = open_files(server) - before
            left = len(results_below(folder))
        done = stored_folders(url)
        row(kind, DOUBLE_CLICKS, dict(statuses), refused, f"{longest:.2f}", left - done, more)


def stored_folders(url: str) -> int:
    """Return the number of jobs with a folder."""
    with session_of(url) as session:
        return session.scalar(select(func.count(Job.folder))) or 0


# kills


class JobStarter(threading.Thread):
    """Thread that starts jobs repeatedly, whatever happens to the server."""

    def __init__(self, server: Serving, url: str, statuses: Counter[int], over: threading.Event) -> None:
        super().__init__()
        self.researcher, self.statuses, self.over = Researcher(server, url), statuses, over

    def run(self) -> None:
        """Start jobs until the event is set."""
        while not self.over.is_set():
            with suppress(httpx.TransportError, TypeError, AttributeError):
                if not self.researcher.csrf:
                    self.researcher.signed_in()
                self.statuses[self.researcher.start_job()] += 1
            time.sleep(0.02)


def killed(url: str, kills: int) -> tuple[Told, Counter[int], int, list[str]]:
    """Kill a server under workers and two job starters.

    Returns the workers' acknowledged answers, the statuses of job starts, the number of workers, and the server's log.
    """
    acknowledged, statuses, moments, over = Told(), Counter[int](), random.Random(1), threading.Event()
    with serving(url, "--processes", "2") as server:
        starters = [JobStarter(server, url, statuses, over) for _ in range(2)]
        for starter in starters:
            starter.start()
        crowd: list[CampaignWorker] = []
        for _ in range(kills):
            end = time.monotonic() + moments.uniform(1.0, 2.0)
            while time.monotonic() < end:
                for _ in range(WALKERS - sum(worker.is_alive() for worker in crowd)):
                    crowd.append(CampaignWorker(server.address, "small", f"w{len(crowd):04d}", acknowledged))
                    crowd[-1].start()
                time.sleep(0.02)
            server.kill()
            server.start()
        end_campaign(crowd)
        over.set()
        for starter in starters:
            starter.join()
        wait_for_jobs(url)
        said = list(server.said)
    return acknowledged, statuses, len(crowd), said


def kills(number: int) -> None:
    """Print the answers lost, and the deadlocks, by kills under load."""
    header(
        "database",
        "kills",
        "workers",
        "answers acknowledged, and found once",
        "codes",
        "statuses of starts",
        "deadlocks",
    )
    for kind, address, folder in each_database():
        url = loaded(address("kills"), folder, workers_per_query=2_000)
        acknowledged, statuses, workers, said = killed(url, number)
        assert_kept(url, acknowledged, limit=2_000)
        deadlocks = sum("deadlock" in line.lower() for line in said)
        row(
            kind,
            number,
            workers,
            len(acknowledged.choices),
            len(acknowledged.codes),
            dict(statuses),
            deadlocks,
        )


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("doors", nargs="+", choices=["watch", "silent", "folders", "starts", "kills"])
    parser.add_argument("--kills", type=int, default=KILLS)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # servers end with this program
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    tries = {"watch": watch, "silent": silent, "folders": folders, "starts": starts}
    for door in options.doors:
        print(f"\n{door}\n")
        if door == "kills":
            kills(options.kills)
        else:
            tries[door]()


if __name__ == "__main__":
    main()
