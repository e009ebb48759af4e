"""Simulated studies: on a virtual clock in this process, or on a running server."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urlencode

import httpx
import numpy as np
from sqlalchemy import exists, select

from metrics.errors import input_fault
from study_app.config import Config
from study_app.estimate.content import StudyContent
from study_app.services.researcher.load import load_study
from study_app.services.researcher.studies import create_keys
from study_app.simulate.browser import CrowdClock, PageError, VirtualClock
from study_app.simulate.crowd import CrowdReport, run_crowd
from study_app.simulate.crowd_parameters import CrowdParameters
from study_app.simulate.task_truth import build_worlds
from study_app.store.database import migrate, open_database, shown_address, transaction, without_waiting
from study_app.store.models import LoadedStudy, PlatformIdentity, Worker
from study_app.store.simulated_workers import record_simulated
from study_app.store.tokens import seeded_tokens
from study_app.study.entries import StudyEntry
from study_app.study.platforms import platform_of, simulated_id
from study_app.study.shared_pseudonyms import with_pseudonym_key
from study_app.web.app import create_app
from study_app.web.serving import NAME

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TIMEOUT_SECONDS = 60
ADDRESS = "http://127.0.0.1"
"""Base address of the server on a virtual clock, which is called in this process."""


def run_trial(
    content: StudyContent,
    database: str,
    *,
    workers: int,
    truth: CrowdParameters,
    seed: int,
    start: datetime = START,
    on_end: Callable[[], object] = lambda: None,
) -> tuple[CrowdReport, VirtualClock]:
    """Load a study into ``database`` and send a simulated crowd through it.

    Parameters
    ----------
    content : StudyContent
        The study and all it names.
    database : str
        Address of the database; the study must be new there.
    seed : int
        The same seed gives the same answers, names and times.
    start : datetime
        When the virtual clock begins.
    on_end : callable
        Called each time a worker is through.

    Returns
    -------
    CrowdReport, VirtualClock
        What the crowd did, and the clock as it stands at the end.

    Raises
    ------
    InputError
        If the database already holds workers of this study, its key file cannot be used, or it cannot be simulated.
    PageError
        If a page is not what a worker could go on from.
    """
    tasks = build_worlds(content, truth)
    clock = VirtualClock(start)
    alone = load(content, database, clock, seed)
    names = seeded_tokens(seed if alone else f"{content.file.entry.study} {seed}")
    app = create_app(Config(database=database), now=clock, new_token=names)
    without_waiting(app.extensions[NAME].database)
    entry = content.file.entry
    with (
        httpx.Client(transport=httpx.WSGITransport(app=app), base_url=ADDRESS) as http,
        _sparing_collections(),
    ):
        report = run_crowd(
            http,
            lambda number: entrance(entry, number),
            people=np.random.default_rng(seed).spawn(workers),
            clock=clock,
            tasks=tasks,
            truth=truth,
            on_end=on_end,
        )
    _record_crowd(database, entry.study)
    return report, clock


def _record_crowd(url: str, study: str) -> None:
    """Store that the workers of a study are simulated.

    It includes those whose ids do not show it.
    """
    database = open_database(url)
    with transaction(database, write=True) as session:
        record_simulated(
            session, session.scalars(select(LoadedStudy.id).where(LoadedStudy.name == study)).one()
        )
    database.engine.dispose()


@contextmanager
def _sparing_collections() -> Iterator[None]:
    """Freeze existing objects out of garbage collection while the block runs.

    That saves a tenth of a crowd's time.

    Where something was taken out before, that stays as it is: `gc.unfreeze` would bring it all back.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def run_on_server(
    content: StudyContent,
    url: str,
    *,
    workers: int,
    truth: CrowdParameters,
    seed: int,
    arrival_seconds: float,
    clock: CrowdClock,
    on_end: Callable[[], object] = lambda: None,
) -> CrowdReport:
    """Send a simulated crowd through a study on a running server.

    It waits as long as people would.

    Parameters
    ----------
    content : StudyContent
        The study as it was loaded there: what is on its pages is recognised by it.
    url : str
        Base address of the server.
    seed : int
        Of what the crowd does. Workers who have been there under the same ids go on where they stopped.
    arrival_seconds : float
        They arrive evenly over so long.
    clock : CrowdClock
        That of the server: outside tests the machine's.

    Raises
    ------
    InputError
        If no server answers there, none that serves this study, or one whose pages are not of this study file.
    """
    tasks, entry = build_worlds(content, truth), content.file.entry
    with httpx.Client(base_url=url, timeout=TIMEOUT_SECONDS) as http:
        try:
            if http.get(f"/s/{entry.study}").status_code == httpx.codes.NOT_FOUND:
                raise input_fault(
                    f"the server at {url} does not serve study {entry.study!r}",
                    cure="load its file there first",
                )
            return run_crowd(
                http,
                lambda number: entrance(entry, number),
                people=np.random.default_rng(seed).spawn(workers),
                clock=clock,
                tasks=tasks,
                truth=truth,
                arrival_seconds=arrival_seconds,
                on_end=on_end,
            )
        except PageError as error:
            raise input_fault(
                f"the server at {url} shows something else than {entry.study!r} as it stands in this file: {error}",
                cure="name the study file that is loaded there; what went wrong there is in its log",
            ) from error
        except (httpx.TransportError, httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise input_fault(
                f"no study server answers at {url} ({error})",
                cure="start one with `prefcal serve`, and give the address that it prints, up to /s/",
            ) from error


def entrance(entry: StudyEntry, number: int) -> str:
    """Return the address at which simulated worker ``number`` arrives.

    The id has the form of the platform's ids.
    """
    platform = platform_of(entry)
    named = simulated_id(platform, number)
    parameters = {platform.worker_parameter: named}
    if platform.takes_form:
        parameters["assignmentId"] = named
    return f"/s/{entry.study}?{urlencode(parameters)}"


def load(content: StudyContent, url: str, clock: VirtualClock, seed: int) -> bool:
    """Load a study into a database without workers of it.

    It returns whether the database is empty of other studies' workers too. The key of shared pseudonyms is that of the real study, so
    waves can be joined as they will be; lists of ids are left out.

    Names are unique in a database, so a second study must not draw those of the first from the same seed.
    """
    content = replace(content, file=with_pseudonym_key(content.file))
    name = content.file.entry.study
    database = open_database(url)
    migrate(database)
    with transaction(database, write=True) as session:
        known = exists().where(PlatformIdentity.study_id == LoadedStudy.id, LoadedStudy.name == name)
        if session.scalar(select(known)):
            raise input_fault(
                f"{shown_address(url)} already holds workers of study {name!r}",
                cure="name a new file with --database, so that real and simulated answers never mix",
            )
        alone = not session.scalar(select(exists().select_from(Worker)))
        create_keys(session, new_token=seeded_tokens(seed + 1))
        load_study(session, content, now=clock())
    database.engine.dispose()
    return alone
