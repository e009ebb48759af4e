"""A stored study for each test."""

from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.tables.files import read_tables
from study_app.export import export_study
from tests.study_app.stored_study import LATER, StoredStudy


@pytest.fixture
def stored_in(request: pytest.FixtureRequest) -> Callable[[Path], str]:
    """Return the address of a new database; SQLite's is in memory, since nobody else looks into it."""
    if request.config.getoption("database") == "sqlite":
        return lambda _: "sqlite://"
    return request.getfixturevalue("postgres_in")  # type: ignore[no-any-return]


@pytest.fixture
def stored(tmp_path, stored_in):
    study = StoredStudy(tmp_path / "study", url=stored_in(tmp_path))
    yield study
    study.close()


@pytest.fixture
def exported(stored, tmp_path):
    """Export the study as it is now and read the tables back, as any later stage would."""

    def export(**options):
        options = {"now": LATER, "exact_times": True} | options
        export_study(stored.session, stored.study, tmp_path / "tables", **options)
        return read_tables(tmp_path / "tables")

    return export
