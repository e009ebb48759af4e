"""Every kind of task in a real browser, in every way there is to go through it; the tables are what was done.

The suite goes each way once through a study of all kinds; `test_accessibility` does so by hand on a phone and by keyboard alone
on a desktop, looking at every page. The full cross of kind, screen and way is behind `make soak`.
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
    "in Japanese, back and reload": {"language": "ja", "wavering": True},
}
"""The last is two of them at once, so that the suite has one walk less."""


@pytest.mark.parametrize(
    ("way", "screen"), [("without script", "phone"), ("in Japanese, back and reload", "desktop")]
)
def test_what_is_exported_is_what_was_done(browser: Browser, tmp_path: Path, way: str, screen: str) -> None:
    """Whatever the language, without JavaScript, and for somebody who loads every page twice and goes back after it."""
    walked(browser, tmp_path, screen, **WAYS[way])


@pytest.mark.soak
@pytest.mark.parametrize("way", list(WAYS)[:-1])
@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_on_every_screen_in_every_way(
    browser: Browser, tmp_path: Path, kind: str, screen: str, way: str
) -> None:
    """No kind leans on another, and none leans on a mouse, a screen, a language or a script."""
    walked(browser, tmp_path, screen, kinds=(kind,), **WAYS[way])
