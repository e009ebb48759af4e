"""docs/platforms.md against the code: every platform, finding and order of refusals."""

import re
from pathlib import Path

import pytest

from study_app.services.researcher.reconcile import FINDINGS
from study_app.study.platforms import PLATFORMS

PAGE = (Path(__file__).parents[3] / "docs" / "platforms.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_platform_has_its_line_with_address_id_and_return(name):
    """What is pasted into the platform's page is what the adapter reads."""
    platform = PLATFORMS[name]
    [line] = re.findall(rf"^\| `{name}`.*$", PAGE, flags=re.MULTILINE)
    if name != "generic":
        assert platform.entrance_query in line
        assert all(f"`{other}`" in line or f"{other}=" in line for other in platform.other_parameters)
    assert platform.worker_parameter in line
    assert platform.return_url is None or f"`{platform.return_url}`" in line


def test_every_finding_is_explained_in_the_order_of_the_output():
    """And no other."""
    table = PAGE.split("| finding |")[1].split("\n\n")[0]
    assert re.findall(r"^\| `(\w+)`", table, flags=re.MULTILINE) == list(FINDINGS)
