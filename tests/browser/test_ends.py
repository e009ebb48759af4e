"""Going back to the platform in a real browser: by itself, by a button, by a form out of a frame."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from study_app import create_app
from study_app.config import Config
from study_app.simulate.server import serving
from study_app.tokens import seeded_tokens
from study_app.web import NAME
from tests.browser.study_server import screenshots
from tests.browser.test_accessibility import OPTIONS, TARGET_PIXELS, TOO_WIDE
from tests.study_app.conftest import Campaign
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
        app = create_app(Config(database=campaign.url), now=campaign.clock, new_token=seeded_tokens(2))
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


def follow(page: Page, control: Locator) -> None:
    """Click, and wait for the page it leads to."""
    with page.expect_navigation():
        control.click()


def faults(page: Page, name: str) -> Iterator[str]:
    """Say what is wrong with a page, in light and in dark."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        screenshots(f"ends-{page.viewport_size['width']}-{scheme}")(page, name)  # type: ignore[index]
        found = Axe().run(page, options=OPTIONS)
        if found.violations_count:
            yield f"{name} {scheme}: {found.generate_report()}"
    if page.evaluate(TOO_WIDE):
        yield f"{name} is too wide"
    for target in page.locator("button, a.button, input:not([type=hidden])").all():
        box = target.bounding_box()
        if box and box["height"] < TARGET_PIXELS:
            yield f"{name}: {target.inner_text()} is {box['height']:.0f} pixels high"


def test_pages_of_entrances_and_ends_can_be_used_by_everybody(
    phone: BrowserContext, served: Callable[..., str]
) -> None:
    """Stop, stopped, withdraw with its refusal, preview: axe finds nothing, nothing is too wide or too small."""
    url = served(platform="mturk")
    page = phone.new_page()
    found: list[str] = []
    page.goto(f"{url}/s/small?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
    found += faults(page, "preview")
    page.goto(f"{url}/s/small?workerId=A1&assignmentId=B2")
    follow(page, page.locator("form button"))
    follow(page, page.get_by_role("link", name="Stop taking part"))
    found += faults(page, "stop")
    follow(page, page.get_by_role("button", name="Stop here"))
    found += faults(page, "stopped")
    follow(page, page.get_by_role("link", name="Withdraw my answers"))
    page.get_by_label("Withdrawal code").fill("wrong")
    follow(page, page.get_by_role("button", name="Withdraw my answers"))
    expect(page.get_by_role("alert")).to_have_count(1)
    found += faults(page, "withdraw")
    assert not found
