"""Every kind of task in a real browser, in every way there is to go through it; the tables are what was done.

The suite goes each way once through a study of all kinds: without script here, the others in `test_accessibility`, which looks at
every page too. The full cross of kind, screen and way is behind `make soak`.
"""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import SCREENS
from tests.browser.every_tables import KINDS, walked
from tests.browser.every_walk import Keys

WAYS: dict[str, dict[str, Any]] = {
    "by hand": {},
    "by keyboard": {"by": Keys},
    "in Japanese": {"language": "ja"},
    "without script": {"script": False},
    "back and reload": {"wavering": True},
}


def test_what_is_exported_is_what_was_done(browser: Browser, tmp_path: Path) -> None:
    """Without JavaScript: answers are plain forms."""
    walked(browser, tmp_path, "phone", **WAYS["without script"])


@pytest.mark.soak
@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_on_every_screen_in_every_way(
    browser: Browser, tmp_path: Path, kind: str, screen: str, way: str
) -> None:
    """No kind leans on another, and none leans on a mouse, a screen, a language or a script."""
    walked(browser, tmp_path, screen, kinds=(kind,), **WAYS[way])
