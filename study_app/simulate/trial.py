"""A whole simulated study: load, serve on a virtual clock, and let a crowd go through it."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import urlencode

import httpx
import numpy as np
from sqlalchemy import exists, select

from metrics.errors import input_fault
from study_app import create_app
from study_app.config import Config
from study_app.database import migrate, open_database, shown_address, transaction
from study_app.models import PlatformIdentity, Study
from study_app.platforms import SIMULATED, platform_of
from study_app.services.load import load_study
from study_app.services.settings import create_keys
from study_app.simulate.clock import VirtualClock
from study_app.simulate.crowd import CrowdReport, run_crowd
from study_app.simulate.server import serving
from study_app.simulate.truth import Truth
from study_app.simulate.worlds import build_worlds
from study_app.study_content import StudyContent
from study_app.study_entries import StudyEntry
from study_app.tokens import seeded_tokens

FIRST_NUMBER = 1_000_000
"""From here on simulated workers are counted whose ids must be numbers."""

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TIMEOUT_SECONDS = 60


def run_trial(
    content: StudyContent,
    database: str,
    *,
    workers: int,
    truth: Truth,
    seed: int,
    start: datetime = START,
    on_end: Callable[[], object] = lambda: None,
) -> tuple[CrowdReport, VirtualClock]:
    """Load a study into ``database`` and let a simulated crowd go through it over HTTP.

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
        If the database already holds workers of this study, or the study cannot be simulated.
    PageError
        If a page is not what a worker could go on from.
    """
    tasks = build_worlds(content, truth)
    clock = VirtualClock(start)
    new_token = seeded_tokens(seed)
    _load(content, database, clock, seed)
    app = create_app(Config(database=database), now=clock, new_token=new_token)
    entry = content.file.entry
    with serving(app) as address, httpx.Client(base_url=address, timeout=TIMEOUT_SECONDS) as http:
        report = run_crowd(
            http,
            lambda number: entrance(entry, number),
            workers=workers,
            clock=clock,
            tasks=tasks,
            truth=truth,
            rng=np.random.default_rng(seed),
            on_end=on_end,
        )
    return report, clock


def entrance(entry: StudyEntry, number: int) -> str:
    """Return the address at which simulated worker ``number`` arrives, with an id of the form that the platform's ids have."""
    platform = platform_of(entry)
    named = f"{SIMULATED}{number:05d}"
    is_word = re.fullmatch(platform.worker_form, named) is not None
    parameters = {platform.worker_parameter: named if is_word else str(FIRST_NUMBER + number)}
    if platform.takes_form:
        parameters["assignmentId"] = named
    return f"/s/{entry.study}?{urlencode(parameters)}"


def _load(content: StudyContent, url: str, clock: VirtualClock, seed: int) -> None:
    name = content.file.entry.study
    database = open_database(url)
    migrate(database)
    with transaction(database, write=True) as session:
        known = exists().where(PlatformIdentity.study_id == Study.id, Study.name == name)
        if session.scalar(select(known)):
            raise input_fault(
                f"{shown_address(url)} already holds workers of study {name!r}",
                cure="name a new file with --database, so that real and simulated answers never mix",
            )
        create_keys(session, new_token=seeded_tokens(seed + 1))
        load_study(session, content, now=clock())
    database.engine.dispose()
