"""The report in a browser: on either screen, in light and dark, and on paper."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from study_app.report.build import write_report
from tests.browser.conftest import SCREENS
from tests.browser.study_server import screenshots
from tests.browser.test_accessibility import OPTIONS, TOO_WIDE
from tests.study_app.report.agreement_folder import write_folder

OVERLAPPING = """
() => [...document.querySelectorAll("svg")].flatMap((drawing) => {
  const words = [...drawing.querySelectorAll("text")].filter((word) => word.textContent.trim());
  const boxes = words.map((word) => word.getBoundingClientRect());
  return words.flatMap((word, i) => words.slice(i + 1).flatMap((other, j) => {
    const a = boxes[i], b = boxes[i + 1 + j];
    const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
    return apart ? [] : [`${word.textContent} / ${other.textContent}`];
  }));
})
"""
OUTSIDE = """
() => [...document.querySelectorAll("svg text")].filter((word) => {
  const a = word.getBoundingClientRect(), b = word.ownerSVGElement.getBoundingClientRect();
  return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1;
}).map((word) => word.textContent)
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every part."""
    return write_report(write_folder(tmp_path_factory.mktemp("agreement")))


@pytest.fixture(params=[(screen, scheme) for screen in SCREENS for scheme in ("light", "dark")], ids="-".join)
def page(request: pytest.FixtureRequest, browser: Browser, report: Path) -> Iterator[Page]:
    """The report, opened."""
    screen, scheme = request.param
    context = browser.new_context(**SCREENS[screen], color_scheme=scheme)
    opened = context.new_page()
    opened.goto(report.as_uri())
    screenshots(f"report-{screen}-{scheme}")(opened, "report")
    yield opened
    context.close()


def test_everybody_can_use_it_and_nothing_overlaps(page: Page) -> None:
    """No accessibility rule is broken, nobody scrolls sideways, every label can be read."""
    found = Axe().run(page, options=OPTIONS)

    assert found.violations_count == 0, found.generate_report()
    assert not page.evaluate(TOO_WIDE)
    assert page.evaluate(OVERLAPPING) == []
    assert page.evaluate(OUTSIDE) == []


def test_on_paper_it_is_light_even_in_a_dark_browser(browser: Browser, report: Path) -> None:
    """Ink is dear."""
    context = browser.new_context(color_scheme="dark")
    opened = context.new_page()
    opened.goto(report.as_uri())
    opened.emulate_media(media="print", color_scheme="dark")

    ground = opened.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
    context.close()

    assert ground == "rgb(255, 255, 255)"
