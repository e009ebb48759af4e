"""Fixtures every test may use."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real judgments and reference values, beside the checkout or named by PREFCAL_SHARED."""
    folder = Path(os.environ.get("PREFCAL_SHARED", ROOT.parent / "shared"))
    if not (folder / "gold").is_dir():
        pytest.skip("needs the reference data, which is not part of the project")
    return folder
