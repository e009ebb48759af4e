"""The bundled study of push streams in a browser: a pair on either screen, and the way from one stream to the other."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.store.models import Judgment, StoredEvent
from tests.browser.conftest import SCREENS
from tests.browser.study_server import study_server
from tests.browser.test_accessibility import Findings

STUDY = Path(__file__).resolve().parents[2] / "examples" / "push_streams" / "study.yaml"
NAMES = ("careful", "eager", "daily", "PS1", "PS2", "PS3")
TOP = "(place) => Math.round(document.querySelector(place).getBoundingClientRect().top)"


@pytest.mark.parametrize("screen", list(SCREENS))
def test_a_pair_of_push_streams_is_read_and_judged(browser: Browser, tmp_path: Path, screen: str) -> None:
    """Everybody can use it, days stand beside each other where there is room, and no name of a system gets out."""
    found = Findings()
    with study_server(tmp_path, STUDY) as study, browser.new_context(**SCREENS[screen]) as context:
        page = context.new_page()
        page.on("request", lambda sent: found.names.extend(n for n in NAMES if n in (sent.post_data or "")))
        page.goto(f"{study.url}/s/pushes?id=volunteer")
        _send(page)
        found.look(page, "push-pair", screen)
        found.names.extend(name for name in NAMES if name in page.content())
        _compare_a_day(page, is_phone=screen == "phone")
        page.locator("label.row").first.click()
        _send(page)
        assert page.url.endswith("/1/2/pair/1"), "the next pair begins at its top"
        study.until(lambda session: {"p1", "p2"} <= _seen(session), "notifications are seen")
        with study.reading() as session:
            stored = session.execute(select(Judgment.choice, Judgment.timing, Judgment.layout)).all()
    assert stored == [("left", "browser", "stacked" if screen == "phone" else "side_by_side")]
    assert (found.axe, found.wide, found.small, found.names) == ([], [], [], [])


def _send(page: Page) -> None:
    with page.expect_navigation():
        page.locator("main form button").click()


def _compare_a_day(page: Page, *, is_phone: bool) -> None:
    """On a phone a link leads from a day to the same day of the other; else both stand at the same height."""
    if is_phone:
        page.locator("#left-20121010 header a").click()
        page.wait_for_function(f"() => Math.abs(({TOP})('#right-20121010')) < 2")
    else:
        assert page.evaluate(TOP, "#left-20121012") == page.evaluate(TOP, "#right-20121012")
        assert not page.locator(".pushes header a").first.is_visible()


def _seen(session: Session) -> set[str]:
    return {
        detail["item"]
        for detail in session.scalars(select(StoredEvent.detail).where(StoredEvent.kind == "see"))
    }
