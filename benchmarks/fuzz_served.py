"""Fuzzing of a served study: batches of events, and requests of any address."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import httpx
from sqlalchemy import URL, select, update

from benchmarks.fuzz_inputs import EVENTS, NASTY, broken
from study_app import create_app
from study_app.config import DATABASE_VARIABLE, Config
from study_app.estimate.content import read_whole_study
from study_app.preview.copies import SkippingClock, Walker
from study_app.services.researcher import jobs
from study_app.services.researcher.access import form_token, holder_of, sign_in
from study_app.services.researcher.load import load_study
from study_app.services.researcher.studies import RESEARCHER_KEY, create_keys, setting
from study_app.services.worker.entry import find_study
from study_app.simulate.browser import Browser
from study_app.simulate.person import DESKTOP
from study_app.store.console_models import Job
from study_app.store.database import migrate, open_database, transaction
from study_app.store.models import LoadedStudy, Topic
from study_app.store.tokens import PageToken, seeded_tokens, utc_now
from study_app.web.console.auth import COOKIE
from study_app.web.console.job_folders import NewJobFolder
from study_app.web.serving import NAME
from tests.postgres_server import PostgresServer
from tests.study_app.every_task import write_every_task

Try: TypeAlias = Callable[[random.Random], str]
"""Makes one broken input, hands it over, and says how that ended: accepted or refused."""

NEWCOMERS = 0.03
"""Before such a share of the requests a new worker comes and answers up to `MAX_PAGES` pages."""

MAX_PAGES = 60
BEFORE_A_JOB = 20
"""So many requests, and as many batches, come between two jobs of the console."""

NOT_ASKED = {"static", "data.post_job"}
"""Files, and what starts a process for each request."""

CUT = str.maketrans("", "", "/?#")


class Served:
    """A served study of every task, with somebody who has come to its first questions."""

    def __init__(self, folder: Path, postgres: PostgresServer | None = None) -> None:
        name = folder.name.lower().replace("-", "_")
        url = f"sqlite:///{folder / 'fuzz.sqlite3'}" if postgres is None else postgres.new_database(name)
        database = open_database(url)
        migrate(database)
        content = read_whole_study(write_every_task(folder))
        with transaction(database, write=True) as session:
            create_keys(session, new_token=seeded_tokens(1))
            load_study(session, content, now=utc_now())
        database.engine.dispose()
        self.clock = SkippingClock(utc_now())
        self.app = create_app(Config(database=url), now=self.clock, new_token=seeded_tokens(2))
        self.client = self.app.test_client(use_cookies=False)
        site = Browser(
            httpx.Client(transport=httpx.WSGITransport(app=self.app), base_url="http://localhost"), DESKTOP[0]
        )
        self.walker = Walker(site, content.file.entry, self.clock)
        self.numbers = count(1)
        self.come(1)
        self.rules = [rule for rule in self.app.url_map.iter_rules() if rule.endpoint not in NOT_ASKED]

    def come(self, pages: int) -> None:
        """Let a new worker come and answer so many pages; what the console has paused or closed is open again."""
        store = self.app.extensions[NAME]
        with transaction(store.database, write=True) as session:
            session.execute(update(LoadedStudy).values(paused_at=None, version=LoadedStudy.version + 1))
            session.execute(update(Topic).values(closed_at=None))
        self.number = next(self.numbers)
        left = count(pages, -1)
        page = self.walker.walk(
            f"/s/every?id=w{self.number}", lambda page: not next(left) or page.step == "done"
        )
        self.token, self.page_token = page.home.split("/")[-2], page.token
        self.seat = self.signed_in()

    def signed_in(self) -> str:
        """Return the token of somebody who has just signed in to the console, with a key that may do everything."""
        store = self.app.extensions[NAME]
        with transaction(store.database, write=True) as session:
            plan = find_study(session, store.plans, "every")
            holder = plan and holder_of(session, plan.id, setting(session, RESEARCHER_KEY) or "")
            if plan is None or holder is None:
                raise RuntimeError("nobody can sign in")
            return sign_in(session, plan.id, holder, now=self.clock(), new_token=store.new_token)

    def ended(self, answer: Any) -> str:
        """Say how a request ended; a failure of the server is raised."""
        if answer.status_code >= 500:
            raise RuntimeError(f"{answer.request.method} {answer.request.path!r}: {answer.status_code}")
        return "refused" if answer.status_code >= 400 else "accepted"


def batches(served: Served) -> Try:
    events = [{"n": n, "ms": n, "wall": n, **event} for n, event in enumerate(EVENTS, start=1)]
    batch = {"page": served.page_token, "sent_ms": 1, "sent_wall_ms": 1, "events": events}
    whole = json.dumps(batch, indent=0).encode()
    address = f"/e/{served.token}"
    return lambda rng: served.ended(served.client.post(address, data=broken(whole, rng)))


def lists(served: Served) -> Try:
    """Upload a platform's list to the console: of ids that it knows and does not know."""
    rows = [f"s{n},w{n},{state}," for n, state in enumerate(["APPROVED", "AWAITING REVIEW", "RETURNED"], 1)]
    whole = "\n".join(["Submission id,Participant id,Status,Completion code", *rows, ""]).encode()

    def attempt(rng: random.Random) -> str:
        form = {"csrf": form_token(served.seat), "list": (BytesIO(broken(whole, rng)), "list.csv")}
        return served.ended(
            served.client.post(
                "/r/every/payments/list", data=form, headers={"Cookie": f"{COOKIE}={served.seat}"}
            )
        )

    return attempt


def requests(served: Served) -> Try:
    """Ask for any address by any method with anything in its parts, its query, its form and its headers."""
    signer = served.app.extensions[NAME].signer
    fields = [
        "page",
        "agree",
        "text",
        "topic",
        "choice",
        "decision_ms",
        "layout",
        "q-phone",
        "q-age",
        "code",
        "stop",
    ]
    fields += [
        "intent",
        "none",
        "rating-1",
        "read",
        "below",
        "useful-1",
        "id",
        "session",
        "key",
        "via",
        "at",
        "language",
    ]
    fields += ["sort", "role", "flag", "page", "limit", "days", "format", "done", "moment", "query", "what"]

    def value(rng: random.Random) -> bytes:
        own = [served.token, served.page_token, "every", "1", "2", "left", "yes"]
        return rng.choice(
            [rng.choice(own).encode(), rng.choice(NASTY), broken(rng.choice(own).encode(), rng)]
        )

    def some(rng: random.Random) -> dict[str, bytes]:
        return {rng.choice(fields): value(rng) for _ in range(rng.randrange(4))}

    def attempt(rng: random.Random) -> str:
        if rng.random() < NEWCOMERS:
            served.come(rng.randrange(MAX_PAGES))
        rule = rng.choice(served.rules)
        parts = {name: value(rng).decode("latin-1").translate(CUT) or "1" for name in rule.arguments}
        parts |= {
            name: str(rng.choice([0, 1, 1, 2, 3, 10**9, 10**30])) for name in parts if rng.random() < 0.8
        }
        parts |= {name: served.token for name in parts if name == "token" and rng.random() < 0.9}
        path = rule.rule.replace("int:", "")
        for name, part in parts.items():
            path = path.replace(f"<{name}>", part)
        step = path.split("/", 3)[-1]
        form = some(rng) if rng.random() < 0.3 else {**some(rng), **signed(signer, served.number, step)}
        method = rng.choice(["GET", "POST", "POST", rng.choice(["HEAD", "PUT", "OPTIONS", "DELETE"])])
        console = rule.rule.startswith("/r/") and rng.random() < 0.9
        if console:
            path = path.replace(path.split("/")[2], "every", 1)
            form |= {"csrf": form_token(served.seat)} if rng.random() < 0.9 else {}
        headers = {"Host": rng.choice(["localhost", "a b", "x" * 300, "[::1"])} if rng.random() < 0.05 else {}
        headers |= {"Cookie": f"{COOKIE}={served.seat}"} if console else {}
        data = form if rng.random() < 0.9 else broken(b"page=1&choice=left", rng)
        return served.ended(
            served.client.open(path, method=method, query_string=some(rng), data=data, headers=headers)
        )

    return attempt


def results(served: Served) -> Try:
    """Let a job of the console make tables, or everything up to the report, of what broken requests and batches have left.

    The process of the job is the real one, and is waited for. It may end without a report, with a reason in plain words.
    """
    ask, post = requests(served), batches(served)
    store = served.app.extensions[NAME]
    NewJobFolder.start = at_once  # type: ignore[method-assign]

    def attempt(rng: random.Random) -> str:
        for _ in range(BEFORE_A_JOB):
            ask(rng)
            post(rng)
        served.seat = served.signed_in()  # one of these may have signed out
        form = {"csrf": form_token(served.seat), "kind": rng.choice([jobs.TABLES, jobs.RESULTS])}
        cookie = {"Cookie": f"{COOKIE}={served.seat}"}
        ended = served.ended(served.client.post("/r/every/data/jobs", data=form, headers=cookie))
        with transaction(store.database, write=False) as session:
            job = session.scalars(select(Job).order_by(Job.id.desc())).first()
        if job is None or job.state in jobs.OPEN or "a fault of prefcal" in (job.message or ""):
            raise RuntimeError(f"a job is {job and job.state}: {job and job.message}")
        served.ended(served.client.get(f"/r/every/data/jobs/{job.id}", headers=cookie))
        return ended if job.state == "done" else "refused"

    return attempt


def at_once(folder: NewJobFolder, job: int, database: URL) -> None:
    """Do a job in a process of its own, as the server does, and wait until it has ended."""
    address = database.render_as_string(hide_password=False)
    command = [sys.executable, "-m", "study_app.cli.console_job", str(job)]
    try:
        subprocess.run(command, cwd=folder.path, env=os.environ | {DATABASE_VARIABLE: address}, check=True)
    finally:
        os.close(folder.lock)


def signed(signer: Any, worker: int, step: str) -> dict[str, str]:
    """Return the hidden field of a form that the server itself could have made for a step, open or not."""
    page = PageToken(worker=worker, key="k" * 16, step=step, showing=None, served_at=utc_now())
    return {"page": signer.page_token(page)}
