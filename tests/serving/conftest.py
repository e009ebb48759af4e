"""A small study in a database of either kind, not yet served."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from study_app.estimate.content import read_whole_study
from study_app.services.researcher.load import load_study
from study_app.services.researcher.studies import create_keys
from study_app.store.database import transaction
from study_app.store.tokens import secret_token, utc_now
from tests.postgres_server import PostgresServer, postgres_server
from tests.study_app.made_once import ready_database
from tests.study_app.small_study import write_small_study


@pytest.fixture(scope="session")
def durable_postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server that syncs what it acknowledges."""
    with postgres_server(durable=True) as server:
        yield server
        gc.collect()  # connections of engines that nobody holds any more end before their server


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The address of a new SQLite file."""
    return f"sqlite:///{tmp_path / 'study.sqlite3'}"


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Load the small study, with some changes, into a database; returns its address."""

    def load(url: str, **changes: object) -> str:
        content = read_whole_study(write_small_study(tmp_path_factory.mktemp("study"), **changes))
        database = ready_database(url)
        with transaction(database, write=True) as session:
            create_keys(session, new_token=secret_token)
            load_study(session, content, now=utc_now())
        database.engine.dispose()
        return url

    return load
