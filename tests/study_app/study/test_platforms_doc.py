"""docs/platforms.md against the code: every platform, finding and order of refusals."""

import re
from pathlib import Path

import pytest

from study_app.services.researcher.reconcile import SUBMISSION_STATES
from study_app.study.platforms import PLATFORMS

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "platforms.md").read_text(encoding="utf-8")
STUDY_FILE = (DOCS / "study-file.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_platform_has_its_line_with_address_id_and_return(name):
    """What is pasted into the platform's page is what the adapter reads."""
    platform = PLATFORMS[name]
    lines = re.findall(rf"^\| `{name}`.*$", PAGE, flags=re.MULTILINE)
    assert len(lines) == 1, f"docs/platforms.md: give {name} one row in the table at the top"
    [line] = lines
    if name != "generic":
        assert platform.entrance_query in line
        assert all(f"`{other}`" in line or f"{other}=" in line for other in platform.other_parameters)
    assert platform.worker_parameter in line
    assert platform.return_url is None or f"`{platform.return_url}`" in line


def test_the_page_of_the_study_file_names_every_platform():
    """Whoever writes `platform:` looks there."""
    [row] = re.findall(r"^\| `platform` .*$", STUDY_FILE, flags=re.MULTILINE)
    assert [name for name in PLATFORMS if f"`{name}`" not in row] == [], (
        "docs/study-file.md: name it beside `platform`"
    )


def test_every_finding_is_explained_in_the_order_of_the_output():
    """And no other."""
    table = PAGE.split("| finding |")[1].split("\n\n")[0]
    assert re.findall(r"^\| `(\w+)`", table, flags=re.MULTILINE) == list(SUBMISSION_STATES)
