"""A kind of task that shows whole pages of HTML: they are seen in their frames, and may do nothing there."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from study_app.tasks import kinds
from tests.browser.study_server import study_server
from tests.browser.test_ranked_pairs import seen
from tests.study_app.tasks.test_a_toy_kind_of_frames import PAGE_PAIRS, write_pages


def test_pages_in_frames_are_read_and_logged_and_their_scripts_do_not_run(
    phone: BrowserContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The policy of the page around them lets them be shown, and nothing of theirs run or be fetched."""
    monkeypatch.setitem(kinds.KINDS, "page_pairs", PAGE_PAIRS)
    with study_server(tmp_path, write_pages(tmp_path, {"rich": 3, "poor": 1, "none": 2})) as study:
        page = phone.new_page()
        page.goto(f"{study.url}/s/pages?id=volunteer")
        page.locator("main form button").click()
        page.wait_for_url("**/pair/1")
        shown = [frame.locator("body").inner_text() for frame in page.frames[1:]]
        assert len(shown) == 2
        assert all("About the " in text for text in shown)
        assert page.url.startswith(study.url)
        for side in ("left", "right"):
            page.locator(f"[data-side={side}] [data-item]").scroll_into_view_if_needed()
            study.until(lambda session: "r1" in seen(session), f"the page on the {side} is seen")
