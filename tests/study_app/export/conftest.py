"""A stored study for each test."""

import pytest

from calibration.table_files import read_tables
from study_app.export import export_study
from tests.study_app.stored_study import LATER, StoredStudy


@pytest.fixture
def stored(tmp_path):
    study = StoredStudy(tmp_path / "study")
    yield study
    study.close()


@pytest.fixture
def exported(stored, tmp_path):
    """Export the study as it is now and read the tables back, as any later stage would."""

    def export(**options):
        export_study(stored.session, stored.study, tmp_path / "tables", now=LATER, **options)
        return read_tables(tmp_path / "tables")

    return export
