"""Going back to the platform in a real browser: by itself, by a button, by a form out of a frame."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import BrowserContext, Route

from study_app.web.serving import NAME
from tests.browser.study_server import with_axe
from tests.browser.test_accessibility import Findings
from tests.served_app import serving
from tests.study_app.conftest import Campaign
from tests.study_app.made_once import ready_app
from tests.study_app.small_study import votes_task

LAB = "https://lab.example/"
FRAME = "https://worker.mturk.com/"
SUBMIT = "https://www.mturk.com/mturk/externalSubmit"


@pytest.fixture
def served(tmp_path: Path, database_in: Callable[[Path], str]) -> Iterator[Callable[..., str]]:
    """Serve the small study with some changes; returns its address."""
    campaign = Campaign(tmp_path, database_in(tmp_path))
    running: list[Any] = []
    apps = []

    def serve(**study: Any) -> str:
        campaign.load(tasks=[votes_task()], **study)
        app = with_axe(ready_app(campaign.url, now=campaign.clock))
        apps.append(app)
        running.append(serving(app))
        return str(running[-1].__enter__())

    yield serve
    for one in running:
        one.__exit__(None, None, None)
    for app in apps:
        app.extensions[NAME].database.engine.dispose()


def answer(page: Any) -> None:
    """Go from the consent to the last button."""
    page.locator("form button").click()
    page.locator("input[name=topic]").first.check()
    page.locator("form button").click()
    page.locator("input[name=intent]").first.check()
    page.locator("form button").click()
    page.get_by_role("button", name="Finish").wait_for()


def test_the_browser_goes_back_by_itself_and_the_code_is_there_for_ever(
    no_script: BrowserContext, served: Callable[..., str]
) -> None:
    """Without any script, under the page's own policy; opened again, the page stays and has the button."""
    url = served(return_url=f"{LAB}?c={{code}}", completion_code="CDONE")
    no_script.route(f"{LAB}**", lambda route: route.fulfill(body="back", content_type="text/html"))
    page = no_script.new_page()
    page.goto(f"{url}/s/small?id=ann")
    answer(page)
    page.get_by_role("button", name="Finish").click()
    page.wait_for_url(f"{LAB}?c=CDONE")
    page.goto(f"{url}/s/small?id=ann")
    assert page.locator("[data-code]").inner_text() == "CDONE"
    page.get_by_role("link", name="Return and hand in the code").click()
    page.wait_for_url(f"{LAB}?c=CDONE")


def test_a_turker_works_in_a_frame_and_hands_in_from_there(
    desktop: BrowserContext, served: Callable[..., str]
) -> None:
    """The page of another site may not show the study; the platform's may, and gets assignment and code."""
    url = served(platform="mturk", completion_code="CDONE")
    address = f"{url}/s/small?workerId=A1&assignmentId=B2&hitId=H&turkSubmitTo=https://www.mturk.com"
    sent: list[dict[str, list[str]]] = []

    def take(route: Route) -> None:
        sent.append(parse_qs(route.request.post_data or ""))
        route.fulfill(body="thanks", content_type="text/html")

    framed = f"<iframe src='{address}' width=800 height=700></iframe>"
    desktop.grant_permissions(["local-network-access"])
    desktop.route(SUBMIT, take)
    for site in (FRAME, LAB):
        desktop.route(f"{site}**", lambda route: route.fulfill(body=framed, content_type="text/html"))
    page = desktop.new_page()
    page.goto(LAB)
    assert page.frame_locator("iframe").locator("form").count() == 0
    page.goto(FRAME)
    frame = page.frame_locator("iframe")
    answer(frame)
    frame.get_by_role("button", name="Finish").click()
    frame.get_by_role("button", name="Return and hand in the code").click()
    frame.get_by_text("thanks").wait_for()
    assert sent == [{"assignmentId": ["B2"], "code": ["CDONE"]}]


def test_the_preview_of_a_task_can_be_used_by_everybody(
    phone: BrowserContext, served: Callable[..., str]
) -> None:
    """What somebody sees who has not yet accepted it; `test_accessibility` looks at all other entrances and ends."""
    page, found = phone.new_page(), Findings()
    page.goto(f"{served(platform='mturk')}/s/small?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
    found.look(page, "preview", "phone")
    assert (found.axe, found.wide, found.small, found.moving) == ([], [], [], [])
