"""Every page can be used by everybody, on either screen, in light and in dark."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.conftest import SCREENS
from tests.browser.study_server import Volunteer, screenshots, study_server
from tests.browser.test_walk import SYSTEMS, walk

MESSAGES = {"no-study": "/s/nothing?id=1", "no-id": "/s/walk", "bad-address": "/w/nobody/", "not-found": "/x"}
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OPTIONS = {"resultTypes": ["violations"], "runOnly": WCAG}
NARROW = {"width": 320, "height": 640}
TARGET_PIXELS = 44
TOO_WIDE = "() => document.documentElement.scrollWidth > innerWidth"
ENLARGE = "(size) => { document.documentElement.style.fontSize = size; }"


@dataclass
class Findings:
    """What is wrong with the pages of a whole walk: one line each, by what was looked at."""

    axe: list[str] = field(default_factory=list)
    wide: list[str] = field(default_factory=list)
    small: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)

    def look(self, page: Page, step: str, screen: str) -> None:
        """Look at everything that a page shows."""
        self.pages.append(step)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            screenshots(f"{screen}-{scheme}")(page, step)
            found = Axe().run(page, options=OPTIONS)
            if found.violations_count:
                self.axe.append(f"{step} {scheme}: {found.generate_report()}")
        self.wide.extend(f"{step} {how}" for how in _too_wide(page))
        for target in page.locator("button, a.button, label, summary").all():
            box = target.bounding_box()
            if box and min(box["height"], box["width"]) < TARGET_PIXELS:
                self.small.append(f"{step}: {target.inner_text()} {box['width']:.0f}x{box['height']:.0f}")
        self.names.extend(f"{step}: {name}" for name in SYSTEMS if name in page.content())


def _too_wide(page: Page) -> Iterator[str]:
    """Say in which circumstances one would have to scroll sideways."""
    size = page.viewport_size
    assert size is not None
    if page.evaluate(TOO_WIDE):
        yield "as it is"
    page.evaluate(ENLARGE, "200%")
    if page.evaluate(TOO_WIDE):
        yield "with text of twice the size"
    page.evaluate(ENLARGE, "")
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    if page.evaluate(TOO_WIDE):
        yield "at 320 pixels"
    page.set_viewport_size(size)


@pytest.fixture(scope="session")
def findings(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Findings]:
    """Look at every page of a walk, once for each screen."""

    @cache
    def of_screen(screen: str) -> Findings:
        return _findings(browser, tmp_path_factory.mktemp(screen), screen)

    return of_screen


def _findings(browser: Browser, folder: Path, screen: str) -> Findings:
    found = Findings()
    with study_server(folder) as study, browser.new_context(**SCREENS[screen]) as context:
        page = context.new_page()
        page.on("request", lambda sent: found.names.extend(n for n in SYSTEMS if n in (sent.post_data or "")))
        walk(Volunteer(page, study, lambda page, step: found.look(page, step, screen)), changed="left")
        for step, path in {**MESSAGES, "progress": study.progress_path}.items():
            page.goto(study.url + path)
            found.look(page, step, screen)
    return found


both = pytest.mark.parametrize("screen", list(SCREENS))


@both
def test_axe_finds_nothing_on_any_page(screen: str, findings: Callable[[str], Findings]) -> None:
    """WCAG 2.2 AA, and what axe holds for good practice."""
    assert len(findings(screen).pages) > 15
    assert not findings(screen).axe


@both
def test_nothing_is_wider_than_the_screen(screen: str, findings: Callable[[str], Findings]) -> None:
    """Nobody has to scroll sideways, also with large text or on a very small screen."""
    assert not findings(screen).wide


@both
def test_what_can_be_touched_is_large_enough(screen: str, findings: Callable[[str], Findings]) -> None:
    """44 pixels a target, for thumbs."""
    assert not findings(screen).small


@both
def test_no_name_of_a_system_reaches_the_browser(screen: str, findings: Callable[[str], Findings]) -> None:
    """Neither in a page nor in what it sends: who knew which system is which could not judge freely."""
    assert not findings(screen).names
