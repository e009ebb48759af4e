"""Every page of every kind of task can be used by everybody, on either screen, in light and in dark.

The walks are those of `test_every_task` that it leaves out: by hand on a phone; by keyboard alone and in Japanese on a
desktop, by somebody who loads every page twice and goes back after it. What is exported is what was done there too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from study_app.services.researcher.studies import pause
from study_app.store.database import transaction
from tests.browser.conftest import SCREENS
from tests.browser.every_tables import KINDS, every_server, gone
from tests.browser.every_walk import Hands, Keys
from tests.browser.study_server import AXE_PATH, StudyServer, screenshots
from tests.study_app.every_task import SECRETS
from tests.study_app.small_study import secrets_in

MESSAGES = {
    "no-study": "/s/nothing?id=1",
    "no-id": "/s/every",
    "bad-address": "/w/nobody/",
    "not-found": "/x",
}
WAYS: dict[str, dict[str, Any]] = {
    "phone": {"by": Hands},
    "desktop": {"by": Keys, "language": "ja", "wavering": True},
}
SORTS = {
    *(
        "consent",
        "intro",
        "choose",
        "questions",
        "vote",
        "rate",
        "search",
        "pair",
        "enrol",
        "stream",
        "useful",
        "away",
    ),
    *("open", "refused", "finish", "done", "stop", "stopped", "withdrawn", "full", "paused"),
}
"""What is looked at on the way, beside it, and in which state."""
ALIKE = {"no-study", "no-id", "not-found", "full"}
"""Pages that differ from `bad-address` and `paused` in their words alone: a phone looks at them all, a desktop at those two.

So it is with introductions: a desktop looks at one.
"""

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OPTIONS = {"resultTypes": ["violations"], "runOnly": WCAG}
RUN_AXE = """async ([address, options]) => {
  if (!('axe' in window)) await import(address);
  const { violations } = await axe.run(options);
  return { violations };
}"""
SCHEMES = {"phone": "light", "desktop": "dark"}
"""Each screen in one of them: nothing but colours differs between the two, and they are those of either screen."""

NARROW = {"width": 320, "height": 640}
ENLARGED = {"width": 640, "height": 400}
"""What a desktop shows at 200 % zoom."""

TARGET_PIXELS = 44
TOO_WIDE = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
"""A phone's `innerWidth` grows with what is too wide."""

ENLARGED_TOO_WIDE = """() => {
  const page = document.documentElement;
  page.style.fontSize = '200%';
  const wide = page.scrollWidth > page.clientWidth;
  page.style.fontSize = '';
  return wide;
}"""
NEW = "() => document.querySelector('[data-new]')?.dataset.new ?? ''"
TARGETS = """() => [...document.querySelectorAll('button, .button, label:has(input), summary, .field, main a')]
    .filter((one) => one.checkVisibility()).map((one) => [one.getBoundingClientRect(), one.textContent.trim()])
    .map(([box, text]) => [Math.min(box.width, box.height), `${text} ${box.width.toFixed()}x${box.height.toFixed()}`])"""
OPEN_ALL = """() => [...document.querySelectorAll('.pair details:not([open])')].map((one) => { one.open = true; }).length"""
MOVES = """() => [...document.querySelectorAll('*')].filter((one) => getComputedStyle(one).transitionDuration !== '0s'
    || getComputedStyle(one).animationName !== 'none').map((one) => one.tagName)"""


@dataclass
class Findings:
    """What is wrong with the pages of a whole walk: one line each, by what was looked at."""

    axe: list[str] = field(default_factory=list)
    wide: list[str] = field(default_factory=list)
    small: list[str] = field(default_factory=list)
    moving: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    pages: list[str] = field(default_factory=list)
    compare: Callable[[], object] = list

    def watch(self, page: Page) -> None:
        """Note what a tab asks for and sends, and what its browser complains of."""
        page.on("request", self._sent)
        page.on("console", self._complained)
        page.on("pageerror", lambda error: self.refused.append(str(error)))

    def _sent(self, request: Request) -> None:
        self.hosts.add(urlsplit(request.url).netloc)
        self._find_names(f"{request.url} {request.post_data}", "a request")

    def _complained(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text or "Content-Security-Policy" in message.text:
            self.refused.append(message.text)

    def _find_names(self, text: str, where: str) -> None:
        self.names.extend(f"{where}: {secret}" for secret in secrets_in(text, SECRETS))

    def look(self, page: Page, step: str, screen: str) -> None:
        """Look at everything that a page shows."""
        self.pages.append(step)
        scheme = SCHEMES[screen]
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        screenshots(f"{screen}-{scheme}")(page, step)
        found = axe_results(page)
        if found.violations_count:
            self.axe.append(f"{step} {scheme}: {found.generate_report()}")
        self.wide.extend(f"{step} {how}" for how in _too_wide(page))
        self.small.extend(f"{step}: {said}" for size, said in page.evaluate(TARGETS) if size < TARGET_PIXELS)
        self.moving.extend(f"{step}: {tag}" for tag in page.evaluate(MOVES))
        if step != "progress":  # the researcher's page, with the names of topics
            self._find_names(page.content(), step)


def axe_results(page: Page) -> AxeResults:
    """Run axe, and bring back only what it objects to: all that it looked at is a lot to carry, and so is axe itself."""
    if not page.url.startswith("http"):
        page.evaluate(AXE_SCRIPT)
    return AxeResults(page.evaluate(RUN_AXE, [AXE_PATH, OPTIONS]))


def _too_wide(page: Page) -> Iterator[str]:
    """Say in which circumstances one would have to scroll sideways."""
    size = page.viewport_size
    assert size is not None
    if page.evaluate(TOO_WIDE):
        yield "as it is"
    if page.evaluate(ENLARGED_TOO_WIDE):
        yield "with text of twice the size"
    for narrow in (NARROW, ENLARGED) if size["width"] > ENLARGED["width"] else (NARROW,):
        page.set_viewport_size(narrow)  # type: ignore[arg-type]
        if page.evaluate(TOO_WIDE):
            yield f"at {narrow['width']} pixels"
    page.set_viewport_size(size)


class Looker:
    """Looks at the first page of each sort that a walk comes to, and opens what can be opened there."""

    def __init__(self, found: Findings, screen: str) -> None:
        self.found, self.screen = found, screen
        self._seen: set[tuple[str, ...]] = set()

    def __call__(self, page: Page, step: str) -> None:
        sort = self._sort(page, step)
        if sort in self._seen:
            return
        self._seen.add(sort)
        self.found.look(page, step, self.screen)
        if not step.endswith("refused") and page.evaluate(OPEN_ALL):
            self.found.look(page, f"{step}-open", self.screen)

    def _sort(self, page: Page, step: str) -> tuple[str, ...]:
        """A page of one template in one task, with or without a choice made in it; of a stream, with how much is new.

        What differs between tasks is what is judged: refusals and lists of queries are those of any task.
        """
        task, *parts = step.split("-")
        words = [part for part in parts if not part.isdigit()]
        if {"choose", "refused"} & {*words} or (words == ["intro"] and self.screen == "desktop"):
            task = ""
        return (task, *words, page.evaluate(NEW))


def _findings(browser: Browser, folder: Path, screen: str) -> Findings:
    found = Findings()
    looker = Looker(found, screen)
    way = WAYS[screen]
    with every_server(folder, KINDS, way.get("language", "en")) as server:
        found.compare = gone(browser, server, screen, watch=found.watch, look=looker, hasty=True, **way)
        with browser.new_context(**SCREENS[screen]) as context:
            page = context.new_page()
            found.watch(page)
            for step in _beside_the_way(page, server):
                if screen == "phone" or step not in ALIKE:
                    found.look(page, step, screen)
        found.hosts -= {urlsplit(server.url).netloc}
    return found


def _beside_the_way(page: Page, server: StudyServer) -> Iterator[str]:
    """Open every page that no answer leads to; yields what each is."""
    for step, path in {**MESSAGES, "entered": server.progress_path}.items():
        page.goto(server.url + path)
        yield step
    press = Hands(page).press
    press("form button")
    yield "progress"
    page.goto(f"{server.url}/s/every?id=bob")
    press("form button")
    press(".foot a")
    yield "stop"
    press("form button")
    yield "stopped"
    code = page.locator("code").inner_text()
    page.goto(f"{server.url}/withdraw")
    page.fill("#code", "none")
    press("form button")
    yield "withdraw-refused"
    page.fill("#code", code)
    press("form button")
    yield "withdrawn"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("study_app.web.blueprints.entry.is_full", lambda *_, **__: True)
        page.goto(f"{server.url}/s/every?id=cleo")
        yield "full"
    with transaction(server.database, write=True) as session:
        pause(session, server.study(session), now=server())
    page.goto(f"{server.url}/s/every?id=cleo")
    yield "paused"


@pytest.fixture(scope="session")
def findings(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Findings]:
    """Look at every page of a walk, once for each screen."""

    @cache
    def of_screen(screen: str) -> Findings:
        return _findings(browser, tmp_path_factory.mktemp(screen), screen)

    return of_screen


both = pytest.mark.parametrize("screen", list(SCREENS))


@both
def test_axe_finds_nothing_on_any_page(screen: str, findings: Callable[[str], Findings]) -> None:
    """WCAG 2.2 AA, and what axe holds for good practice, on pages of every kind of task, refusals and ends too."""
    pages = findings(screen).pages
    assert len(pages) > {"phone": 40, "desktop": 30}[screen]
    assert {part for page in pages for part in page.split("-")} >= SORTS - (
        ALIKE if screen == "desktop" else set()
    )
    assert not findings(screen).axe


@both
def test_what_is_exported_is_what_was_done(screen: str, findings: Callable[[str], Findings]) -> None:
    """By hand; and by keys, in another language, for somebody who loads every page twice and goes back after it."""
    findings(screen).compare()


@both
def test_nothing_is_wider_than_the_screen(screen: str, findings: Callable[[str], Findings]) -> None:
    """Nobody has to scroll sideways, also with large text, at 200 % zoom, or on a very small screen."""
    assert not findings(screen).wide


@both
def test_what_can_be_touched_is_large_enough(screen: str, findings: Callable[[str], Findings]) -> None:
    """44 pixels a target, for thumbs."""
    assert not findings(screen).small


@both
def test_nothing_moves_for_who_wants_it_still(screen: str, findings: Callable[[str], Findings]) -> None:
    """No transition and no animation under reduced motion."""
    assert not findings(screen).moving


@both
def test_no_name_of_a_system_reaches_the_browser(screen: str, findings: Callable[[str], Findings]) -> None:
    """Neither in a page nor in what it sends: who knew which system is which could not judge freely."""
    assert not findings(screen).names


@both
def test_a_page_asks_no_other_host_and_keeps_its_own_policy(
    screen: str, findings: Callable[[str], Findings]
) -> None:
    """No script, style or address that the Content-Security-Policy would refuse, and no script that fails."""
    assert (findings(screen).hosts, findings(screen).refused) == (set(), [])
