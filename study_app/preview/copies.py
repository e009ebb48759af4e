"""Copies of a study to look at: each with a database, a server and a clock of its own, all in one folder that is thrown away."""

import shutil
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
from flask import Flask, Response
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from study_app.config import Config
from study_app.estimate.content import StudyContent
from study_app.preview.clock import SkippingClock
from study_app.preview.walker import Walker
from study_app.services.researcher import studies
from study_app.services.researcher.load import load_study
from study_app.services.researcher.studies import SIGNING_KEY, create_keys, setting
from study_app.services.worker.ends import withdraw
from study_app.simulate.people.person import DESKTOP, PHONE
from study_app.simulate.site import Site
from study_app.store.database import migrate, open_database, transaction
from study_app.store.models import Assignment, Setting, Slot, Study, Worker
from study_app.store.plan import Plans, StudyPlan, TaskPlan, read_plan
from study_app.store.tokens import BadTokenError, Signer, secret_token, utc_now
from study_app.study.platforms import platform_of
from study_app.web.app import create_app
from study_app.web.serving import NAME, Server, said

BASE = "http://localhost"
SAMPLE_ID = "1234567"
"""A worker's id as every platform could give it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """One copy: its server, its clock, and a worker's browser on it; ``agent`` is how that browser calls itself."""

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
        """Say whether a worker's token was signed here."""
        try:
            self.server.signer.worker(token)
        except BadTokenError:
            return False
        return True

    def pause(self) -> None:
        """Let nobody new in."""
        with transaction(self.server.database, write=True) as session:
            studies.pause(session, session.scalars(select(Study)).one(), now=self.clock())

    def withdraw(self) -> None:
        """Take back the consent of everybody who is in."""
        with transaction(self.server.database, write=True) as session:
            for code in session.scalars(select(Worker.withdrawal_code)).all():
                withdraw(session, code, now=self.clock())

    def fill(self) -> None:
        """Give every place of the study to workers who have done everything."""
        with transaction(self.server.database, write=True) as session:
            plan = read_plan(session, session.scalars(select(Study.id)).one())
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
            load_study(session, self.content, now=utc_now())
        database.engine.dispose()
        self._app = create_app(Config(database=_url(self._template)))
        self._server.database.engine.dispose()

    @property
    def _template(self) -> Path:
        return self._folder / "template.sqlite3"

    @property
    def _server(self) -> Server:
        server: Server = self._app.extensions[NAME]
        return server

    def new(self) -> Copy:
        """Return a fresh copy into which nobody has come yet."""
        path = self._folder / f"{next(self._numbers)}.sqlite3"
        shutil.copy(self._template, path)
        clock = SkippingClock(utc_now())
        app = self._twin(path, clock)
        entry = self.content.file.entry
        agent, _ = DESKTOP if entry.device == "desktop" else PHONE
        site = Site(httpx.Client(transport=httpx.WSGITransport(app=app), base_url=BASE), agent)
        return Copy(
            app=app,
            clock=clock,
            agent=agent,
            entrance=f"/s/{entry.study}?{urlencode(self._arrival())}",
            walker=Walker(site, entry, clock),
        )

    def notice(self, key: str, *, status: int, reference: str) -> Response:
        """Return the page that says what is under ``key`` of the catalogue, as the server would."""
        language = self.content.file.entry.tasks[0].language
        with self._app.test_request_context("/"):
            return said(key, status=status, language=language, reference=reference)

    def _twin(self, path: Path, clock: SkippingClock) -> Flask:
        """Return the server of another database: the same routes and templates, which take long to prepare."""
        database = open_database(_url(path))
        with transaction(database, write=True) as session:
            session.execute(delete(Setting))
            create_keys(session, new_token=secret_token)
            key = setting(session, SIGNING_KEY)
        if key is None:
            raise RuntimeError("a key that was just made is not there")
        twin = copy(self._app)
        parts = replace(self._server, database=database, plans=Plans(), signer=Signer(key), now=clock)
        twin.extensions = {**self._app.extensions, NAME: parts}
        return twin

    def _arrival(self) -> Mapping[str, str]:
        platform = platform_of(self.content.file.entry)
        return {platform.worker_parameter: SAMPLE_ID} | {
            name: f"{name}-1" for name in platform.other_parameters if name != "turkSubmitTo"
        }


def _occupy(session: Session, plan: StudyPlan, task: TaskPlan, *, now: datetime) -> None:
    """Let a new worker hold and have done one place of everything in a task."""
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
    held: list[dict[str, Any]] = [
        {"topic_id": topic.id, "unit": unit} for topic in task.topics for unit in topic.units or (0,)
    ]
    session.add_all(
        Slot(
            assignment_id=assignment.id, position=position, leased_at=now, expires_at=now, done_at=now, **one
        )
        for position, one in enumerate(held, start=1)
    )
    session.flush()


def _url(path: Path) -> str:
    return f"sqlite:///{path}"
