"""A crowd that goes through a served study while things break, and remembers what it was told.

Each worker posts the first form of each page until there is none, with events beside; whatever does not answer is asked
again until it does, as a browser and its owner would. What was acknowledged is written down only when the answer came.
"""

import random
import re
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

import httpx
from bs4 import BeautifulSoup, Tag
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from study_app.services.researcher.studies import SIGNING_KEY, setting
from study_app.simulate.browser import PageLog
from study_app.store.check import check_database
from study_app.store.database import open_database, transaction
from study_app.store.models import (
    Assignment,
    Judgment,
    PageLoad,
    PlatformIdentity,
    Showing,
    Slot,
    StoredEvent,
    Topic,
    Worker,
)
from study_app.store.tokens import Signer, utc_now
from study_app.study.pair_answers import option_value
from tests.serving.serving import PLAIN

PATIENCE_SECONDS = 600
"""Of who waits for a server that is killed twenty times, on a machine where each start takes a quarter of a minute."""

AGAIN_SECONDS = 0.25
CHOICES = ("left", "right", "equally_good", "equally_bad")
PAIR = re.compile(r"/(\d+)/(\d+)/pair/(\d+)$")


@dataclass
class Told:
    """What the crowd was told is stored.

    Attributes
    ----------
    choices : dict
        (worker's id, task, query, pair) -> the answer whose form was answered by going on, as its fields.
    events : dict
        Page token -> number of events acknowledged.
    codes : dict
        Worker's id -> completion code.
    turned_away : set of str
        Who found the study full.
    refusals : Counter
        Statuses that were no answer: 5xx and 503.
    broken : int
        How often nothing answered at all.
    """

    choices: dict[tuple[str, int, int, int], dict[str, str]] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    turned_away: set[str] = field(default_factory=set)
    refusals: Counter[int] = field(default_factory=Counter)
    broken: int = 0


class CampaignWorker(threading.Thread):
    """One worker with a browser."""

    def __init__(self, address: str, study: str, name: str, told: Told) -> None:
        super().__init__(name=name)
        self.entrance, self.told = f"{address}/s/{study}?id={name}", told
        self.random = random.Random(name)
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Go through the study."""
        try:
            with httpx.Client(timeout=30, verify=PLAIN) as self.http:
                self.walk()
        except BaseException as error:  # noqa: BLE001 - the test raises it
            self.failure = error

    def walk(self) -> None:
        """Answer page after page."""
        page = self.ask("GET", self.entrance)
        while True:
            html = BeautifulSoup(page.text, "html.parser")
            if page.status_code == httpx.codes.CONFLICT or page.url.path.endswith("/full"):
                self.told.turned_away.add(self.name)
                return
            form = html.select_one("main form[method=post]")
            if form is None:
                self.told.codes[self.name] = html.select_one("[data-code]").text
                return
            fields = {box["name"]: box.get("value", "") for box in form.select("input[type=hidden]")}
            answer = self.answer(form)
            if topics := form.select("input[name=topic]"):
                fields["topic"] = self.random.choice(topics)["value"]
            self.log(html, page)
            here = str(page.url)
            page = self.ask("POST", here, data={**fields, **answer})
            went_on = page.status_code == httpx.codes.OK and str(page.url) != here
            if went_on and (pair := PAIR.search(httpx.URL(here).path)):
                self.told.choices[self.name, *map(int, pair.groups())] = answer

    def answer(self, form: Tag) -> dict[str, str]:
        """Answer the questions of a pair page: the overall one, criteria, and why."""
        options = {"choice": list(CHOICES)}
        for box in form.select("input[name=choice], input[name^=criterion-]"):
            options.setdefault(str(box["name"]), []).append(str(box["value"]))
        if form.select("input[name=choice]"):
            options["choice"] = options["choice"][len(CHOICES) :]
        answer = {name: self.random.choice(values) for name, values in options.items()}
        if form.select("textarea[name=reason]"):
            answer["reason"] = f"Because of {self.random.random()}"
        return answer

    def log(self, html: BeautifulSoup, page: httpx.Response) -> None:
        """Post the events of a page."""
        body = html.body
        log = PageLog(body["data-page"], utc_now(), layout="stacked", size=(390, 844))
        log.wait(5)
        log.note("close")
        (batch,) = log.batches(100)
        answer = self.ask("POST", urljoin(str(page.url), body["data-events"]), json=batch)
        if not str(page.url).endswith("/consent"):  # of the door nothing is stored
            self.told.events[body["data-page"]] = answer.json()["upto"]

    def ask(self, method: str, url: str, **content: Any) -> httpx.Response:
        """Ask until something answers; a redirect is followed by asking again in the same way."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            try:
                answer = self.http.request(method, url, **content)
            except httpx.TransportError:
                self.told.broken += 1
            else:
                if answer.is_redirect:
                    return self.ask("GET", urljoin(url, answer.headers["Location"]))
                if answer.status_code < httpx.codes.INTERNAL_SERVER_ERROR:
                    return answer
                self.told.refusals[answer.status_code] += 1
            time.sleep(AGAIN_SECONDS)
        raise TimeoutError(f"{method} {url}: no answer within {PATIENCE_SECONDS} s")


def start_campaign(address: str, study: str, workers: int, told: Told) -> list[CampaignWorker]:
    """Let so many workers begin at once."""
    crowd = [CampaignWorker(address, study, f"w{number:04d}", told) for number in range(workers)]
    for worker in crowd:
        worker.start()
    return crowd


def end_campaign(crowd: Sequence[CampaignWorker]) -> None:
    """Wait for everybody, and raise what went wrong for any of them."""
    for worker in crowd:
        worker.join(timeout=2 * PATIENCE_SECONDS)
        assert not worker.is_alive(), f"{worker.name} hangs"
    failures = [worker.failure for worker in crowd if worker.failure is not None]
    if failures:
        raise failures[0]


def pairs(session: Session, query: Select[Any, Any]) -> dict[Any, Any]:
    """Return first column -> second column."""
    return {key: value for key, value in session.execute(query)}  # noqa: C416 - rows are no pairs


def fields_of(answer: Judgment) -> dict[str, str]:
    """Return a stored answer as the fields of its form."""
    given = [(answer.choice, answer.strength), *(answer.criteria or {}).values()]
    names = ["choice", *(f"criterion-{number}" for number in range(1, len(given)))]
    fields = {name: option_value(*option) for name, option in zip(names, given, strict=True)}
    return fields | ({"reason": answer.reason} if answer.reason else {})


def assert_kept(url: str, told: Told, *, limit: int) -> None:
    """Whatever was acknowledged is stored once; no query has more than its places; no code without its data.

    Prints how much was looked for, which ``make soak ARGS=-rP`` shows.
    """
    database = open_database(url)
    assert check_database(database) == []
    with transaction(database, write=False) as session:
        people = pairs(session, select(PlatformIdentity.worker_id, PlatformIdentity.platform_worker))
        answers = session.execute(
            select(Assignment.worker_id, Slot.position, Showing.position, Judgment)
            .join(Showing, Showing.id == Judgment.showing_id)
            .join(Slot, Slot.id == Showing.slot_id)
            .join(Assignment, Assignment.id == Slot.assignment_id)
            .order_by(Judgment.revision)
        ).all()
        newest = {
            (people[worker], 1, query, pair): fields_of(answer) for worker, query, pair, answer in answers
        }
        stored = pairs(session, select(PageLoad.key, PageLoad.upto))
        signer = Signer(setting(session, SIGNING_KEY))
        events = session.scalar(select(func.count()).select_from(StoredEvent))
        codes = pairs(session, select(Worker.id, Worker.completion_code))
        places = pairs(
            session,
            select(Topic.name, func.count()).join(Slot.topic).where(~Slot.late).group_by(Topic.name),
        )
    database.engine.dispose()
    assert {key: newest.get(key) for key in told.choices} == told.choices
    assert told.codes.items() <= {people[worker]: code for worker, code in codes.items()}.items()
    assert len(people) == len(set(people.values()))
    assert all(number <= limit for number in places.values()), places
    assert events == sum(stored.values())
    acknowledged = {signer.page(token).key: upto for token, upto in told.events.items()}
    assert all(upto <= stored[page] for page, upto in acknowledged.items())
    print(
        f"kept: {len(told.choices)} answers, {sum(told.events.values())} events, {len(told.codes)} codes;"
        f" no answer at all {told.broken} times, refused {dict(told.refusals)}"
    )
