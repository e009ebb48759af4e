"""Ratings, questions and the page before a task in a browser, by keyboard alone; `test_accessibility` looks at them."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from sqlalchemy import select

from study_app.store.task_models import Rating
from tests.browser.conftest import DESKTOP
from tests.browser.study_server import StudyServer, study_server
from tests.study_app.small_study import write_small_study
from tests.study_app.small_tasks import questions_task, rating_task

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
