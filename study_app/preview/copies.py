"""Copies of a study to preview, each with its own database, server and clock.

All are in one folder that is deleted. A copy's clock runs on and can be put forward, so that searches and days pass at once; its walker
leads a worker to a page: the simulated browser, answering whatever comes up to it.
"""

import shutil
import time
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import count
from pathlib import Path
from urllib.parse import urlencode, urljoin

import httpx
import numpy as np
from flask import Flask, Response
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from study_app.config import Config
from study_app.estimate.content import StudyContent
from study_app.services.researcher import studies
from study_app.services.researcher.load import load_study
from study_app.services.researcher.studies import SIGNING_KEY, create_keys, setting
from study_app.services.worker.ends import withdraw
from study_app.simulate.browser import Browser, Page, PageError
from study_app.simulate.mind import check_fields, question_fields
from study_app.simulate.person import DESKTOP, PHONE
from study_app.store.database import migrate, open_database, transaction
from study_app.store.models import Assignment, LoadedStudy, Setting, Slot, Worker
from study_app.store.study_cache import CachedStudy, CachedTask, StudyCache, read_plan
from study_app.store.tokens import BadTokenError, Signer, secret_token, utc_now
from study_app.study.entries import FollowedTask, QuestionTask, StudyEntry, expect_entry_type
from study_app.study.platforms import platform_of
from study_app.study.question_answers import field_of
from study_app.tasks.kinds import check_of
from study_app.web.app import create_app
from study_app.web.serving import NAME, Server, message_response, render_page
from study_app.web.show.step_pages import kept_out_page

MAX_PAGES = 2_000
"""No worker has more pages than this before the one that is looked for."""

NIGHT_SECONDS = 20 * 3_600
AWAY_SHARE = 0.4
"""Largest time away as a share of a stream's days.

Short streams then have a second visit too.
"""

DAY_SECONDS = 86_400
RATING = "2"
Wanted = Callable[[Page], bool]
BASE = "http://localhost"
SAMPLE_ID = "1234567"
"""A worker's id as every platform could give it."""


class SkippingClock:
    """Clock of one copy, called for the time.

    `create_app(now=...)` takes an instance.

    Parameters
    ----------
    start : datetime
        The first time it tells, with a zone.
    ticks : callable
        Seconds of a clock that never runs back.
    """

    def __init__(self, start: datetime, *, ticks: Callable[[], float] = time.monotonic) -> None:
        self._start, self._ticks, self._first = start.astimezone(UTC), ticks, ticks()

    def __call__(self) -> datetime:
        """Return the time, aware and in UTC."""
        return self._start + timedelta(seconds=self._ticks() - self._first)

    def skip(self, seconds: float) -> None:
        """Advance the clock by ``seconds``."""
        self._start += timedelta(seconds=seconds)


class Walker:
    """One worker of a copy of a study.

    Parameters
    ----------
    site : Browser
        The worker's browser.
    entry : StudyEntry
        The study.
    clock : SkippingClock
        Of the copy.
    """

    def __init__(self, site: Browser, entry: StudyEntry, clock: SkippingClock) -> None:
        self._site, self._entry, self._clock = site, entry, clock
        self._rng = np.random.default_rng(entry.seed)

    def walk(self, entrance: str, wanted: Wanted) -> Page:
        """Go from the entrance to the first wanted page.

        It raises `PageError` when there is none.
        """
        return self.on(self._site.open(entrance), wanted)

    def on(self, page: Page, wanted: Wanted) -> Page:
        """Go on from a page to the first that is wanted, which may be itself."""
        for _ in range(MAX_PAGES):
            if wanted(page):
                return page
            page = self.answer(page)
        raise PageError("no worker comes to this page")

    def open(self, page: Page, path: str) -> Page:
        """Open an address below the standing link of the worker whose page this is."""
        return self._site.open(f"{page.home}{path}")

    def send(self, page: Page, **fields: str | list[str]) -> Page:
        """Post a page's form."""
        return self._site.send(page.form(), fields)

    def answer(self, page: Page) -> Page:
        """Answer a page in some way that leads on; time passes where a worker would wait."""
        answers: dict[str, Callable[[Page], Page]] = {
            "consent": lambda page: self.send(page, agree="yes"),
            "intro": lambda page: self._site.send(page.form(), self._check(page)),
            "choose": lambda page: self.send(page, topic=page.form().options["topic"][0][0]),
            "search": self._search,
            "vote": lambda page: self.send(page, intent=page.form().options["intent"][0][0]),
            "rate": lambda page: self.send(page, **dict.fromkeys(page.form().options, RATING)),
            "pair": self._judge,
            "questions": self._reply,
            "enrol": lambda page: self.send(page, start="yes"),
            "stream": self._read,
            "useful": lambda page: self.send(page, **dict.fromkeys(page.form().options, "yes")),
            "away": self._come_back,
            "streams": self._open_one,
            "finish": self._finish,
        }
        if page.step not in answers:
            raise PageError(f"no worker comes further than the page {page.step!r}")
        return answers[page.step](page)

    def fail_check(self, page: Page) -> Page:
        """Answer the check of an introduction wrongly, as often as is allowed."""
        while page.step == "intro":
            wrong = {name: self._other(page, name, str(right)) for name, right in self._check(page).items()}
            page = self._site.send(page.form(), wrong)
        return page

    def screen_out(self, page: Page) -> Page:
        """Give an answer that ends the worker's part on a page of questions that has one."""
        entry = self._questions(page)
        fields = dict(question_fields(entry, self._rng))
        for question in entry.questions:
            if question.screen_out:
                fields[field_of(question)] = str(question.options.index(question.screen_out[0]) + 1)
        return self._site.send(page.form(), fields)

    def _judge(self, page: Page) -> Page:
        """Pick the first option of every question of a pair, and give a reason where there is room for one."""
        first = {name: options[0][0] for name, options in page.form().options.items()}
        return self.send(page, **first, reason="Seen in the preview")

    def _search(self, page: Page) -> Page:
        self._clock.skip(float(page.marked("data-seconds-left").get("data-seconds-left", "0")) + 1)
        return self.send(page)

    def _reply(self, page: Page) -> Page:
        return self._site.send(page.form(), question_fields(self._questions(page), self._rng))

    def _read(self, page: Page) -> Page:
        return self.send(page, done="1", read=[update.key for update in page.updates()])

    def _come_back(self, page: Page) -> Page:
        """Come back to a stream the next day, or sooner where its days pass quickly."""
        entry = expect_entry_type(self._entry.tasks[page.task - 1], FollowedTask)
        days_seconds = entry.days * DAY_SECONDS / entry.clock_factor
        self._clock.skip(min(NIGHT_SECONDS, AWAY_SHARE * days_seconds))
        return self._site.open(page.home)

    def _open_one(self, page: Page) -> Page:
        """Open one of several streams that go on."""
        links = page.html.xpath("//main//li//a/@href")
        return self._site.open(urljoin(page.url, str(self._rng.choice(links))) if links else page.home)

    def _finish(self, page: Page) -> Page:
        """Finish without going back to the platform."""
        self.send(page)
        return self._site.open(page.home)

    def _check(self, page: Page) -> dict[str, str | list[str]]:
        entry = self._entry.tasks[page.task - 1]
        if not check_of(entry):
            return {}
        return dict(check_fields(page, entry, careless=False, rng=self._rng))

    def _questions(self, page: Page) -> QuestionTask:
        return expect_entry_type(self._entry.tasks[page.task - 1], QuestionTask)

    @staticmethod
    def _other(page: Page, name: str, right: str) -> str:
        return next(value for value, _ in page.form().options[name] if value != right)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyCopy:
    """Copy of a study: its server, its clock, and a worker's browser.

    ``agent`` is the user agent of the browser.
    """

    app: Flask
    clock: SkippingClock
    agent: str
    entrance: str
    walker: Walker

    @property
    def server(self) -> Server:
        """The parts of the server."""
        server: Server = self.app.extensions[NAME]
        return server

    def knows(self, token: str) -> bool:
        """Return whether a worker's token was signed here."""
        try:
            self.server.signer.worker(token)
        except BadTokenError:
            return False
        return True

    def pause(self) -> None:
        """Pause the study for new workers."""
        with transaction(self.server.database, write=True) as session:
            studies.pause(session, session.scalars(select(LoadedStudy)).one(), now=self.clock())

    def withdraw(self) -> None:
        """Withdraw the consent of all workers."""
        with transaction(self.server.database, write=True) as session:
            for code in session.scalars(select(Worker.withdrawal_code)).all():
                withdraw(session, code, now=self.clock())

    def fill(self) -> None:
        """Give every place of the study to workers who have done everything."""
        with transaction(self.server.database, write=True) as session:
            plan = read_plan(session, session.scalars(select(LoadedStudy.id)).one())
            for task in plan.tasks:
                for _ in range(task.limit or 0):
                    _occupy(session, plan, task, now=self.clock())


class Copies:
    """Makes copies of one study.

    Parameters
    ----------
    content : StudyContent
        The study; whoever finishes stays on the last page, so that it can be looked at.
    folder : Path
        Where the databases go.
    """

    def __init__(self, content: StudyContent, folder: Path) -> None:
        entry = content.file.entry.model_copy(update={"return_at_once": False})
        self.content = replace(content, file=replace(content.file, entry=entry))
        self._folder, self._numbers = folder, count(1)
        database = open_database(_url(self._template))
        migrate(database)
        with transaction(database, write=True) as session:
            create_keys(session, new_token=secret_token)
            load_study(session, self.content, now=utc_now(), keeps_media=False)
        database.engine.dispose()
        self._app = create_app(Config(database=_url(self._template)))
        self._server.database.engine.dispose()

    @cached_property
    def media(self) -> Mapping[str, str]:
        """Type of each picture of the study, by hash.

        The copies' databases hold no pictures, because each would hold all of them.
        """
        shown = (side.media() for task in self.content.tasks for side in task.sides.values())
        return {media.sha256: media.mime for of_side in shown for media in of_side}

    def read_media(self, sha256: str) -> bytes:
        """Return a picture's bytes from its file.

        It raises `InputError` where the file has changed, and StopIteration where there is none.
        """
        return next(task.media[sha256] for task in self.content.tasks if sha256 in task.media)()

    @property
    def _template(self) -> Path:
        return self._folder / "template.sqlite3"

    @property
    def _server(self) -> Server:
        server: Server = self._app.extensions[NAME]
        return server

    def new(self) -> StudyCopy:
        """Return a fresh copy without workers."""
        path = self._folder / f"{next(self._numbers)}.sqlite3"
        shutil.copy(self._template, path)
        clock = SkippingClock(utc_now())
        app = self._twin(path, clock)
        entry = self.content.file.entry
        agent, _ = DESKTOP if entry.device == "desktop" else PHONE
        site = Browser(httpx.Client(transport=httpx.WSGITransport(app=app), base_url=BASE), agent)
        return StudyCopy(
            app=app,
            clock=clock,
            agent=agent,
            entrance=f"/s/{entry.study}?{urlencode(self._arrival())}",
            walker=Walker(site, entry, clock),
        )

    def notice(self, key: str, *, status: int, reference: str) -> Response:
        """Return the page with the text ``key`` of the catalogue, as the server would."""
        language = self.content.file.entry.tasks[0].language
        with self._app.test_request_context("/"):
            if key == "kept_out":
                entry = self.content.file.entry
                page = kept_out_page(entry, worker=platform_of(entry).trial_id, parameters={})
                return render_page("message", page, status=status)
            return message_response(key, status=status, language=language, reference=reference)

    def _twin(self, path: Path, clock: SkippingClock) -> Flask:
        """Return a server of another database that shares routes and templates.

        Routes and templates take long to prepare.
        """
        database = open_database(_url(path))
        with transaction(database, write=True) as session:
            session.execute(delete(Setting))
            create_keys(session, new_token=secret_token)
            key = setting(session, SIGNING_KEY)
        if key is None:
            raise RuntimeError("a key that was just made is not there")
        twin = copy(self._app)
        parts = replace(self._server, database=database, plans=StudyCache(), signer=Signer(key), now=clock)
        twin.extensions = {**self._app.extensions, NAME: parts}
        return twin

    def _arrival(self) -> Mapping[str, str]:
        platform = platform_of(self.content.file.entry)
        return {platform.worker_parameter: SAMPLE_ID} | {
            name: f"{name}-1" for name in platform.other_parameters if name != "turkSubmitTo"
        }


def _occupy(session: Session, plan: CachedStudy, task: CachedTask, *, now: datetime) -> None:
    """Take one place of everything in a task as a new worker, and finish it."""
    last = max(session.scalars(select(Worker.number).where(Worker.study_id == plan.id)), default=0)
    worker = Worker(
        study_id=plan.id,
        number=last + 1,
        pseudonym=secret_token(12),
        withdrawal_code=secret_token(12),
        arrived_at=now,
        last_seen_at=now,
    )
    session.add(worker)
    session.flush()
    assignment = Assignment(worker_id=worker.id, task_id=task.id, started_at=now)
    session.add(assignment)
    session.flush()
    units = [(topic.id, unit) for topic in task.topics for unit in topic.units or (0,)]
    session.add_all(
        Slot(
            assignment_id=assignment.id,
            topic_id=topic,
            unit=unit,
            position=position,
            leased_at=now,
            expires_at=now,
            done_at=now,
        )
        for position, (topic, unit) in enumerate(units, start=1)
    )


def _url(path: Path) -> str:
    return f"sqlite:///{path}"
