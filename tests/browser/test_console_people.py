"""The console's pages of people in a browser: a replay shows what a worker's browser showed; every page can be used by everybody."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Frame, Page

from tests.browser.conftest import SCREENS
from tests.browser.study_server import StudyServer, Volunteer, loads_of_pair, screenshots
from tests.browser.test_accessibility import OPTIONS, RUN_AXE, TOO_WIDE

LOOK = """async () => {
  await new Promise((done) => setTimeout(done, 150));
  const shown = {};
  for (const item of document.querySelectorAll('[data-side] [data-item]')) {
    const layer = item.closest('details');
    if (layer && layer !== item && !layer.open) continue;
    const box = (item.querySelector(':scope > summary') ?? item).getBoundingClientRect();
    const height = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
    if (height > 0) shown[`${item.closest('[data-side]').dataset.side} ${item.dataset.item}`] = height / box.height;
  }
  return {
    at: Math.ceil(performance.now()), shown, y: scrollY,
    open: [...document.querySelectorAll('[data-item][open]')].map((one) => one.dataset.item),
    choice: document.querySelector('input[name=choice]:checked')?.value ?? null,
    heights: [...document.querySelectorAll('[data-side]')].map((one) => Math.round(one.getBoundingClientRect().height)),
  };
}"""
"""What a worker's browser shows, by where things stand in it."""

REPLAYED = """() => ({
  shown: [...document.querySelectorAll('[data-shown]')].map((one) => `${one.closest('[data-side]').dataset.side} ${one.dataset.item}`),
  y: scrollY,
  open: [...document.querySelectorAll('[data-item][open]')].map((one) => one.dataset.item),
  choice: document.querySelector('input[name=choice]:checked')?.value ?? null,
  heights: [...document.querySelectorAll('[data-side]')].map((one) => Math.round(one.getBoundingClientRect().height)),
})"""
SLIDE = "(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input')); }"
SURELY = 0.02
"""Whether less than that of an item is on the screen depends on a fraction of a pixel."""

LINE_PIXELS = 30
"""Of an item the log tells the share that was on the screen to the quarter: so far off may the replay's edge of the screen be."""


def walked(phone: BrowserContext, study: StudyServer) -> list[dict[str, Any]]:
    """A worker reads the first pair on a phone: down the page, a link opened, up again, and picks; what was seen at each stop."""
    volunteer = Volunteer(phone.new_page(), study)
    volunteer.arrive()
    volunteer.begin()
    volunteer.search()
    page, stops = volunteer.page, []
    look = screenshots("replay-worker")
    for number, y in enumerate((0, 300, 500)):
        page.evaluate("(y) => scrollTo({ top: y, behavior: 'instant' })", y)
        stops.append(page.evaluate(LOOK))
        look(page, str(number))
    page.locator("details[data-item] > summary").last.click()
    stops.append(page.evaluate(LOOK))
    page.evaluate("() => scrollTo({ top: 150, behavior: 'instant' })")
    stops.append(page.evaluate(LOOK))
    page.locator("input[name=choice][value=right]").check()
    stops.append(page.evaluate(LOOK))
    volunteer.press()
    study.until(lambda session: loads_of_pair(session, 2), "the next page")
    return stops


def is_same(stop: dict[str, Any], replayed: dict[str, Any]) -> bool:
    """Say whether a replay shows what was on the screen."""
    surely = {item for item, share in stop["shown"].items() if share > SURELY}
    alike = all(stop[name] == replayed[name] for name in ("open", "choice", "heights"))
    return alike and surely <= set(replayed["shown"]) <= set(stop["shown"])


@pytest.fixture
def address(phone: BrowserContext, study: StudyServer) -> tuple[list[dict[str, Any]], str]:
    stops = walked(phone, study)
    with study.reading() as session:
        return stops, f"people/%s/replay/{loads_of_pair(session, 1)[0].key}"


def framed(page: Page) -> Frame:
    return next(frame for frame in page.frames if frame.parent_frame is not None)


def faults(page: Page, name: str) -> list[str]:
    page.evaluate(AXE_SCRIPT)
    found = [f"{name}: {one['id']}" for one in page.evaluate(RUN_AXE, OPTIONS)["violations"]]
    return found + [f"{name}: too wide"] * page.evaluate(TOO_WIDE)


def test_a_replay_shows_what_the_worker_saw_and_everybody_can_use_it(
    address: tuple[list[dict[str, Any]], str], study: StudyServer, browser: Browser
) -> None:
    """At each stop the same items, open layers and choice, in a window of the same size: on a phone and a desktop, with and without script."""
    stops, place = address
    wrong: list[str] = []
    for screen, scheme, scripts in (
        ("desktop", "dark", True),
        ("phone", "light", True),
        ("desktop", "light", False),
    ):
        context = browser.new_context(**SCREENS[screen], color_scheme=scheme, java_script_enabled=scripts)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"{study.url}{study.progress_path}")
        look = screenshots(f"replay-{screen}-{'script' if scripts else 'plain'}")
        for name in ("people", "person", "replay"):
            if name == "people":
                page.goto(f"{study.url}/r/walk/people")
            elif name == "person":
                page.locator("tbody th a").click()
                worker = urlsplit(page.url).path.rsplit("/", 1)[1]
            else:
                page.goto(f"{study.url}/r/walk/{place % worker}")
            wrong += faults(page, name) if scripts else []
            look(page, name)
        for number, stop in enumerate(stops):
            if scripts:
                page.locator("input[type=range]").evaluate(SLIDE, stop["at"])
            else:
                page.goto(f"{study.url}/r/walk/{place % worker}?at={stop['at']}")
            replayed = framed(page).evaluate(REPLAYED)
            look(page, str(number))
            if not is_same(stop, replayed):
                wrong.append(f"{screen} {number}: {stop} is not {replayed}")
            if scripts and abs(stop["y"] - replayed["y"]) > LINE_PIXELS:
                wrong.append(f"{screen} {number}: scrolled to {replayed['y']}, was at {stop['y']}")
        context.close()
    assert not wrong, "\n".join(wrong)
