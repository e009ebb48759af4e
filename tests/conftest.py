"""Fixtures every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A machine that is busy is no fault of a test; on CI the same examples are tried every time.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

ROOT = Path(__file__).resolve().parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the database on which every test of the server runs."""
    parser.addoption("--database", choices=["sqlite", "postgresql"], default="sqlite")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real judgments and reference values, beside the checkout or named by PREFCAL_SHARED."""
    folder = Path(os.environ.get("PREFCAL_SHARED", ROOT.parent / "shared"))
    if not (folder / "gold").is_dir():
        pytest.skip("needs the reference data, which is not part of the project")
    return folder
