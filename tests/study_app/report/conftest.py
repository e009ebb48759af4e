"""One folder with a written report, for every test that only reads."""

import pytest

from study_app.report.build import write_report
from tests.study_app.report.agreement_folder import write_folder


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A folder with everything in it, its report written."""
    folder = write_folder(tmp_path_factory.mktemp("agreement"))
    write_report(folder)
    return folder
