"""A small study, loaded and served on a clock that tests set."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from study_app.estimate.content import read_whole_study
from study_app.services.researcher.completion import complete_workers
from study_app.services.researcher.load import LoadReport, load_study
from study_app.services.researcher.progress import StudyProgress, study_progress
from study_app.services.researcher.studies import RESEARCHER_KEY, create_keys, setting
from study_app.services.worker.entry import find_study
from study_app.store.database import METADATA, Database, transaction
from study_app.store.study_cache import StudyCache
from study_app.store.tokens import seeded_tokens
from study_app.web.serving import NAME
from tests.study_app.made_once import loaded_once, ready_app, ready_database
from tests.study_app.small_study import write_small_study
from tests.study_app.visitor import Visitor
from tests.study_app.web.console.console_client import sign_in


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that bear the mark `both_databases` on each of the two."""
    if "new_url" in metafunc.fixturenames and metafunc.definition.get_closest_marker("both_databases"):
        metafunc.parametrize("new_url", ["sqlite", "postgresql"], indirect=True)


class SettableClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def forward(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


class Campaign:
    """A loaded study with its server, clock and visitors."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url, self.clock = folder, url, SettableClock()

    def load(self, **changes: Any) -> LoadReport:
        """Write the small study with some changes and load it; see `write_small_study`."""
        path = write_small_study(self.folder, **changes)
        return loaded_once(self.url, path.absolute().parent, repr(changes), lambda: self.load_file(path))

    def load_file(self, path: Path) -> LoadReport:
        """Load a study file."""
        content = read_whole_study(path)
        database = ready_database(self.url)
        with transaction(database, write=True) as session:
            create_keys(session, new_token=seeded_tokens(1))
            report = load_study(session, content, now=self.clock())
        database.engine.dispose()
        return report

    def serve(self) -> "Campaign":
        """Start the server."""
        self.app = ready_app(self.url, now=self.clock)
        return self

    @property
    def database(self) -> Database:
        """The server's database."""
        return self.app.extensions[NAME].database  # type: ignore[no-any-return]

    def rows(self, query: Any) -> list[Any]:
        """Return what a select finds."""
        with transaction(self.database, write=False) as session:
            return list(session.execute(query))

    def progress(self, name: str = "small") -> StudyProgress:
        """Return how far a study is."""
        plans, now = StudyCache(), self.clock()
        with transaction(self.database, write=False) as session:
            plan = find_study(session, plans, name)
            complete = complete_workers(session, plans, plan, now=now)
            return study_progress(session, plan, now=now, complete=complete)

    def everything(self) -> dict[str, list[str]]:
        """Return all rows of all tables as texts."""
        return {
            name: sorted(str(row) for row in self.rows(select(table)))
            for name, table in METADATA.tables.items()
        }

    def visitor(self, **options: Any) -> Visitor:
        """Return a fresh browser."""
        return Visitor(self.app.test_client(use_cookies=False), **options)

    def arrive(self, name: str = "ann", *, study: str = "small") -> Visitor:
        """Return the browser of somebody who has just come in."""
        return self.visitor().open(f"/s/{study}?id={name}")

    def console(self, key: str | None = None, *, study: str = "small") -> Any:
        """Return a client that has signed in to a study's console, with the key of the installation if no other."""
        with transaction(self.database, write=False) as session:
            key = key or setting(session, RESEARCHER_KEY)
        client = self.app.test_client()
        sign_in(client, study, str(key))
        return client

    def at_pairs(self, name: str = "ann", *, topic: str | None = None) -> Visitor:
        """Return the browser of somebody who consented, took a query and searched for it."""
        visitor = self.arrive(name).send()
        if visitor.step.endswith("choose"):
            offered = visitor.options("topic")
            wanted = next((value for value, text in offered.items() if text == topic), next(iter(offered)))
            visitor.send(topic=wanted)
        if visitor.step.endswith("search"):
            self.clock.forward(100)
            visitor.send()
        return visitor

    def judge_all(self, visitor: Visitor, choice: str = "left") -> Visitor:
        """Answer every pair that is left of a query."""
        while "/pair/" in visitor.step:
            self.clock.forward(10)
            visitor.send(choice=choice)
        return visitor


@pytest.fixture
def small_study(tmp_path: Path) -> Callable[..., Path]:
    """Write the small study, with some changes, and return the path of its study file."""
    return lambda **changes: write_small_study(tmp_path, **changes)


@pytest.fixture
def new_url(request: pytest.FixtureRequest) -> Callable[[Path], str]:
    """Return the address of a new, empty database: of SQLite, or of what the mark `both_databases` goes through."""
    named = {"sqlite": "sqlite_in", "postgresql": "postgres_in", None: "database_in"}
    return request.getfixturevalue(named[getattr(request, "param", None)])  # type: ignore[no-any-return]


@pytest.fixture
def new_campaign(tmp_path: Path, new_url: Callable[[Path], str]) -> Iterator[Callable[..., Campaign]]:
    """Load the small study, with some changes, in a folder of the given name, and serve it; as often as wanted."""
    made: list[Campaign] = []

    def make(name: str, **changes: Any) -> Campaign:
        (tmp_path / name).mkdir()
        made.append(Campaign(tmp_path / name, new_url(tmp_path / name)))
        made[-1].load(**changes)
        return made[-1].serve()

    yield make
    for one in made:
        one.database.engine.dispose()


@pytest.fixture
def campaign(new_campaign: Callable[..., Campaign]) -> Callable[..., Campaign]:
    """Load the small study, with some changes, and serve it."""
    return partial(new_campaign, "study")


@pytest.fixture
def client(campaign: Callable[..., Campaign]) -> Any:
    """Flask's test client of the small study as it is."""
    return campaign().app.test_client(use_cookies=False)
