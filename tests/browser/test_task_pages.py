"""Ratings, questions and the page before a task in a browser: by keyboard alone, and for everybody."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select

from study_app.task_models import Rating
from tests.browser.conftest import DESKTOP, SCREENS
from tests.browser.study_server import StudyServer, study_server
from tests.browser.test_accessibility import OPTIONS, TARGET_PIXELS, TOO_WIDE
from tests.study_app.small_study import write_small_study
from tests.study_app.small_tasks import questions_task, rating_task

UNCHECKED = "() => { document.querySelector('main form').noValidate = true; }"
SIZES = """() => [...document.querySelectorAll('main form button, main form label.row, .step, main summary')]
    .map((one) => one.getBoundingClientRect()).map((box) => Math.min(box.width, box.height))"""
FOCUSED = "() => [document.activeElement.name ?? '', document.activeElement.tagName]"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudyServer]:
    """Questions and ratings, both with what stands before them."""
    folder = tmp_path_factory.mktemp("tasks")
    tasks = [
        questions_task(instructions="standard"),
        rating_task(instructions="standard", intents_per_worker=1, iunits_per_page=20),
    ]
    with study_server(folder, write_small_study(folder, tasks=tasks)) as running:
        yield running


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_everything_is_done_by_keyboard_alone(browser: Browser, study: StudyServer) -> None:
    """Tab, arrows, space and Enter; on the rating page a digit rates a line and goes on to the next."""
    with browser.new_context(**DESKTOP) as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{study.url}/s/small?id=keys")
        press(page, "Tab", "Enter")
        page.wait_for_url("**/1/intro")
        press(page, "Tab", "ArrowDown", "Tab", "Space", "Enter")
        page.wait_for_url("**/questions")
        press(
            page,
            "Tab",
            "4",
            "2",
            "Tab",
            "Space",
            "Tab",
            "Space",
            "Tab",
            "Tab",
            "Tab",
            "H",
            "i",
            "Tab",
            "Enter",
        )
        page.wait_for_url("**/2/intro")
        press(page, "Tab", "ArrowUp", "Tab", "Space", "Enter")
        page.wait_for_url("**/rate/1")
        press(page, "Tab", "4", "0", "7", "2")
        assert page.evaluate(FOCUSED) == ["rating-4", "INPUT"]
        press(page, "1")
        assert page.evaluate(FOCUSED)[1] == "BUTTON"
        given = [page.locator(f"[name=rating-{line}]:checked").input_value() for line in (1, 2, 3, 4)]
        assert given == ["4", "0", "2", "1"]
        press(page, "Enter")
        page.wait_for_url("**/finish")
    with study.reading() as session:
        (ratings,) = session.scalars(select(Rating.ratings))
    assert list(ratings.values()) == [4, 0, 2, 1]


@pytest.mark.parametrize(("name", "scheme"), [("phone", "dark"), ("desktop", "light")])
def test_every_page_and_every_refusal_can_be_used_by_everybody(
    browser: Browser, study: StudyServer, name: str, scheme: str
) -> None:
    """WCAG 2.2 AA in light and dark, targets large enough for a thumb, nothing wider than the screen."""
    with browser.new_context(**SCREENS[name], color_scheme=scheme) as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{study.url}/s/small?id={name}")
        check(page, {})
        look(page)
        refuse(page, "check-1", "1", others={"check-2": "1"})
        check(page, {"check-1": "2"})
        refuse(page, "q-phone", "1", others={})
        page.fill("#q-age", "30")
        check(page, {"q-where": "1"})
        page.wait_for_url("**/2/intro")
        look(page)
        check(page, {"check-1": "3", "check-2": "1"})
        page.wait_for_url("**/rate/1")
        refuse(page, "rating-1", "4", others={})


def refuse(page: Page, name: str, value: str, *, others: dict[str, str]) -> None:
    """Send a form that is not right, and look at what comes back."""
    page.evaluate(UNCHECKED)
    check(page, {name: value, **others})
    expect(page.locator("[role=alert]")).to_be_visible()
    look(page)


def check(page: Page, options: dict[str, str]) -> None:
    """Pick options, send the form, and wait for what comes back."""
    for name, value in options.items():
        page.check(f"[name={name}][value='{value}']")
    with page.expect_navigation():
        page.locator("main form button").click()


def look(page: Page) -> None:
    """Look at everything that a page shows."""
    found = Axe().run(page, options=OPTIONS)
    assert not found.violations_count, found.generate_report()
    assert not page.evaluate(TOO_WIDE)
    assert min(page.evaluate(SIZES)) >= TARGET_PIXELS
