"""The real study server on a small study, with a clock that a test can move on, and a worker in a browser."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from flask import Flask, Response
from playwright.sync_api import Page
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.middleware.dispatcher import DispatcherMiddleware

from study_app.estimate.content import read_whole_study
from study_app.services.researcher.load import load_study
from study_app.services.researcher.studies import RESEARCHER_KEY, create_keys, setting
from study_app.store.database import Database, transaction
from study_app.store.models import Judgment, LoadedStudy, PageLoad, Showing
from study_app.store.tokens import seeded_tokens
from study_app.web.serving import NAME
from tests.served_app import serving
from tests.study_app.made_once import ready_app, ready_database

ROOT = Path(__file__).resolve().parents[2]
AXE_PATH = "/axe.js"
"""Where a page finds what looks for hindrances, beside the study: handed over by the test it travels anew to each page."""

BUNDLED = ROOT / "examples" / "two_layered"
PATIENCE_SECONDS = 30.0
SEARCH_SECONDS = 200
PAIRS = 4
"""Three systems make three pairs, and one of them comes twice."""

NEXT_FRAME = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"

FIRST_LAYER = "(items) => items.map((item) => (item.querySelector(':scope > summary') ?? item).innerText)"

STUDY = """\
study: walk
title: Which summary helps you more?
consent: |
  We would like to know which summaries help people on a phone.

  You may stop at any time by closing the page.
return_url: https://platform.example/return
return_at_once: false
tasks:
  - kind: intent_votes
    collection: &files
      queries: {folder}/collection/queries.tsv
      iunits: {folder}/collection/iunits.tsv
      intents: {folder}/collection/intents.tsv
      importance: {folder}/collection/importance.tsv
      probability: {folder}/collection/probability.tsv
  - kind: summary_pairs
    collection: *files
    systems:
      good-order: {folder}/runs/good-order.xml
      one-layer: {folder}/runs/one-layer.xml
      wrong-links: {folder}/runs/wrong-links.xml
    validation_pairs: 1
"""


class StudyServer:
    """A running server; an instance tells the time, which runs on and can be moved on.

    ``address_in`` names a new database for a folder; the run's option ``--database`` says of which kind.
    """

    address_in: Callable[[Path], str]

    def __init__(self, folder: Path, study: Path | None = None) -> None:
        self.address = type(self).address_in(folder)
        self.url = ""
        self.app: Flask
        self._running = ExitStack()
        self.database: Database = ready_database(self.address)
        self._ahead = timedelta()
        if study is None:
            study = folder / "study.yaml"
            study.write_text(STUDY.format(folder=BUNDLED), encoding="utf-8")
        with transaction(self.database, write=True) as session:
            create_keys(session, new_token=seeded_tokens(1))
            load_study(session, read_whole_study(study), now=self())

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def start(self) -> None:
        """Answer at the address of before, the first time at any that is free."""
        port = urlsplit(self.url).port or 0
        self.url = self._running.enter_context(serving(self.app, port=port))

    def stop(self) -> None:
        """Answer no more; nobody can connect."""
        self._running.close()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Let the server be away while the block runs."""
        self.stop()
        yield
        self.start()

    def move_on(self, seconds: float) -> None:
        """Let time pass for the server."""
        self._ahead += timedelta(seconds=seconds)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Look into the database."""
        with transaction(self.database, write=False) as session:
            yield session

    def showings(self) -> list[Showing]:
        """Return what was shown to the only worker, with every revision of the answers."""
        with self.reading() as session:
            shown = session.scalars(select(Showing).order_by(Showing.position)).all()
            for showing in shown:
                _ = showing.judgments, showing.pair
            return list(shown)

    @property
    def progress_path(self) -> str:
        """The researcher's page."""
        with self.reading() as session:
            return f"/r/{self.study(session).name}?key={setting(session, RESEARCHER_KEY)}"

    def open_console(self, page: Page) -> None:
        """Sign a browser in to the console by the address with the key."""
        page.goto(f"{self.url}{self.progress_path}")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("heading", name="Overview").wait_for()

    def study(self, session: Session) -> LoadedStudy:
        """Return the study."""
        return session.scalars(select(LoadedStudy)).one()

    def until(self, true: Callable[[Session], object], what: str) -> None:
        """Wait until something is in the database."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            with self.reading() as session:
                if true(session):
                    return
            time.sleep(0.05)
        raise AssertionError(f"not within {PATIENCE_SECONDS} s: {what}")


def with_axe(app: Flask) -> Flask:
    """Let an app hand out what looks for hindrances, half a megabyte, to each browser once: nothing of a study may be kept so."""
    script = Response(
        AXE_SCRIPT, mimetype="application/javascript", headers={"Cache-Control": "max-age=3600, immutable"}
    )
    app.wsgi_app = DispatcherMiddleware(app.wsgi_app, {AXE_PATH: script})  # type: ignore[method-assign]
    return app


@contextmanager
def study_server(folder: Path, study: Path | None = None) -> Iterator[StudyServer]:
    """Serve a study file, or else the small one about summaries, from ``folder`` while the block runs."""
    server = StudyServer(folder, study)
    server.app = with_axe(ready_app(server.address, now=server))
    server.start()
    yield server
    server.stop()
    for database in (server.database, server.app.extensions[NAME].database):
        database.engine.dispose()


Look = Callable[[Page, str], None]
"""What is done on every page of a walk: the page, and its name."""


class Volunteer:
    """A worker at a browser.

    Parameters
    ----------
    page : Page
        Their tab.
    server : StudyServer
        The study.
    look : callable
        Called on every page before it is answered.
    scripts : bool
        Whether the browser runs scripts.
    """

    def __init__(
        self,
        page: Page,
        server: StudyServer,
        look: Look = lambda _page, _name: None,
        *,
        scripts: bool = True,
    ) -> None:
        self.page, self.server, self.look, self.scripts = page, server, look, scripts

    def arrive(self) -> None:
        """Come from the platform."""
        self.page.goto(f"{self.server.url}/s/walk?id=volunteer")
        self.look(self.page, "consent")

    def press(self) -> None:
        """Send the page's form."""
        with self.page.expect_navigation():
            self.page.locator("form button").click()

    def begin(self) -> None:
        """Consent, vote (at first with nothing ticked), and choose a query: everything before the search."""
        self.press()
        self.look(self.page, "choose-for-votes")
        self.page.locator("input[name=topic]").first.check()
        self.press()
        self.look(self.page, "vote")
        self.press()
        self.look(self.page, "vote-with-nothing-ticked")
        self.page.locator("input[name=intent]").first.check()
        self.press()
        self.look(self.page, "choose")
        self.page.locator("input[name=topic]").nth(1).check()
        self.press()
        self.look(self.page, "search")

    def search(self) -> None:
        """Search for long enough, and load the page again to go on."""
        self.server.move_on(SEARCH_SECONDS)
        self.page.reload()
        self.look(self.page, "search-over")
        self.press()

    @property
    def pair(self) -> int:
        """Number of the pair on the screen."""
        return int(self.page.url.rsplit("/", 1)[1])

    def open_links(self) -> list[tuple[str, str]]:
        """Open every second layer; returns side and key of each."""
        opened = []
        for side in ("left", "right"):
            for link in self.page.locator(f"section[data-side={side}] details").all():
                link.locator("summary").click()
                opened.append((side, link.get_attribute("data-item") or ""))
        if self.scripts:
            self.page.evaluate(NEXT_FRAME)  # by then the page knows of the last one too
        return opened

    def judge(self, choice: str) -> None:
        """Answer the pair on the screen."""
        self.page.locator(f"input[name=choice][value={choice}]").check()
        self.press()

    def texts(self, side: str) -> list[str]:
        """Return the first layer's texts on one side."""
        items = self.page.locator(f"section[data-side={side}] > [data-item]")
        return list(items.evaluate_all(FIRST_LAYER))


def screenshots(prefix: str) -> Look:
    """Return a look that saves a picture of every page when PREFCAL_SCREENSHOTS is 1: of one with a bar that stays, as it stands on the screen."""
    folder = ROOT / "test-artifacts"

    def look(page: Page, name: str) -> None:
        if os.environ.get("PREFCAL_SCREENSHOTS") == "1":
            is_whole = not page.locator("[data-dock]").count()
            page.screenshot(path=folder / f"{prefix}-{name}.png", full_page=is_whole)

    return look


def judgments(session: Session) -> list[Judgment]:
    """Return every stored revision."""
    return list(session.scalars(select(Judgment).order_by(Judgment.id)))


def loads_of_pair(session: Session, pair: int) -> list[PageLoad]:
    """Return the page loads of a pair page that sent events."""
    wanted = select(PageLoad).where(PageLoad.step.endswith(f"/pair/{pair}"))
    return list(session.scalars(wanted.order_by(PageLoad.served_at)))
