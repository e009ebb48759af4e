"""The console's pages of people in a browser: a replay shows what a worker's browser showed; every page can be used by everybody."""

from typing import Any, Literal

from playwright.sync_api import Browser, BrowserContext, Frame, Locator, Page, expect

from tests.browser.conftest import SCREENS
from tests.browser.study_server import StudyServer, Volunteer, loads_of_pair, screenshots
from tests.browser.test_accessibility import TOO_WIDE, axe_results

LOOK = """async () => {
  await new Promise((done) => setTimeout(done, 150));
  const shown = {}, edge = document.querySelector('[data-dock]').getBoundingClientRect().top;
  for (const item of document.querySelectorAll('[data-side] [data-item]')) {
    const layer = item.closest('details');
    if (layer && layer !== item && !layer.open) continue;
    const box = (item.querySelector(':scope > summary') ?? item).getBoundingClientRect();
    const height = Math.min(box.bottom, innerHeight, edge) - Math.max(box.top, 0);
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
WAYS: tuple[tuple[str, Literal["dark", "light"], bool, int], ...] = (
    ("desktop", "dark", True, 1),
    ("phone", "light", False, 2),
)
"""Screen, colours, whether scripts run, and every which stop is compared."""

WALKS: tuple[tuple[str, Literal["dark", "light"], bool, bool], ...] = (
    ("desktop", "dark", True, True),
    ("phone", "light", False, True),
    ("phone", "light", True, False),
)
"""Screen, colours, whether scripts run, and whether somebody steers and pays there, too; everybody looks at all pages."""

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


def framed(page: Page) -> Frame:
    return next(frame for frame in page.frames if frame.parent_frame is not None)


def faults(page: Page, name: str) -> list[str]:
    """What is wrong with a page on the screen, and in the colours, that it has."""
    found = [f"{name}: {one['id']}" for one in axe_results(page).response["violations"]]
    return found + [f"{name}: too wide"] * page.evaluate(TOO_WIDE)


class Researcher:
    """Somebody at the console, in a browser of their own; notes what is wrong with its pages."""

    def __init__(self, context: BrowserContext, study: StudyServer, screen: str, *, scripts: bool) -> None:
        self.page, self.scripts, self.wrong = context.new_page(), scripts, list[str]()
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        study.open_console(self.page)
        self.look = screenshots(f"replay-{screen}-{'script' if scripts else 'plain'}")

    def come_to(self, replay: str) -> None:
        """Go from the table to the person and to the replay of a page, and look at each."""
        self.follow(self.page.get_by_role("link", name="People"))
        self.judge("people")
        self.follow(self.page.locator("tbody th a"))
        self.judge("person")
        self.follow(self.page.locator(f"a[href$='/replay/{replay}']").first)
        if self.scripts:
            expect(self.page.get_by_label("Time after the page was served")).to_be_in_viewport()
        self.judge("replay")
        self.address = self.page.url

    def follow(self, link: Locator) -> None:
        """Press a link and wait for its page: a click does not, and a busy browser would show the page before."""
        with self.page.expect_navigation():
            link.click()

    def judge(self, name: str) -> None:
        """Look at a page, and whether everybody can use it on both screens; it is left on the last, a desktop."""
        self.look(self.page, name)
        for screen in SCREENS if self.scripts else ():
            self.page.set_viewport_size(SCREENS[screen]["viewport"])
            self.wrong += faults(self.page, f"{name}, {screen}")

    def compare(self, number: int, stop: dict[str, Any]) -> None:
        """Go to the moment of a stop, by the slider or by an address, and compare what is there."""
        if self.scripts:
            self.page.locator("input[type=range]").evaluate(SLIDE, stop["at"])
        else:
            self.page.goto(f"{self.address}?at={stop['at']}")
        replayed = framed(self.page).evaluate(REPLAYED)
        self.look(self.page, str(number))
        if not is_same(stop, replayed):
            self.wrong.append(f"{number}: {stop} is not {replayed}")
        if self.scripts and abs(stop["y"] - replayed["y"]) > LINE_PIXELS:
            self.wrong.append(f"{number}: scrolled to {replayed['y']}, was at {stop['y']}")


def test_a_replay_shows_what_the_worker_saw_and_everybody_can_use_it(
    phone: BrowserContext, study: StudyServer, browser: Browser
) -> None:
    """At each stop the same items, layers and choice, as large as they were: on both screens, with and without script."""
    stops = walked(phone, study)
    with study.reading() as session:
        key = loads_of_pair(session, 1)[0].key
    for screen, scheme, scripts, step in WAYS:
        context = browser.new_context(**SCREENS[screen], color_scheme=scheme, java_script_enabled=scripts)
        researcher = Researcher(context, study, screen, scripts=scripts)
        researcher.come_to(key)
        for number, stop in list(enumerate(stops))[::step]:
            researcher.compare(number, stop)
        context.close()
        assert not researcher.wrong, "\n".join((screen, *researcher.wrong))
