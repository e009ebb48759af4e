"""A researcher mends a text and adds a topic from the console, on a phone and on a desktop."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from werkzeug.serving import make_server

from study_app.services.researcher.studies import RESEARCHER_KEY, setting
from study_app.store.database import transaction
from tests.browser.conftest import DESKTOP, PHONE
from tests.study_app.conftest import Campaign
from tests.study_app.small_answers import answers, write_answers


@pytest.fixture
def console(tmp_path: Path, database_in: Callable[[Path], str]) -> Iterator[str]:
    """Serve a study that somebody has begun, whose files have changed; return the address of its console with the key."""
    made = Campaign(tmp_path, database_in(tmp_path))
    made.load_file(write_answers(tmp_path, answers(2)))
    made.serve().arrive("ann").send().send(choice="left")
    texts = answers(3)
    texts["sysa"]["T1"] = "A mended answer."
    write_answers(tmp_path, texts)
    with transaction(made.database, write=False) as session:
        key = setting(session, RESEARCHER_KEY)
    server = make_server("127.0.0.1", 0, made.app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.port}/r/small?key={key}"
    server.shutdown()
    made.database.engine.dispose()


@pytest.mark.parametrize("screen", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_mended_text_and_a_new_topic_are_loaded_by_hand(
    browser: Browser, console: str, screen: dict[str, object]
) -> None:
    """What differs is named, nothing is wider than the screen, and a text that is not ticked is not loaded."""
    page = browser.new_context(**screen).new_page()  # type: ignore[arg-type]
    page.goto(console)
    page.locator("form[action*='sign-in'] button").click()
    page.get_by_role("link", name="Files").click()
    page.get_by_role("button", name="Compare the files").click()
    expect(page.get_by_text("1 new topic (3 pairs): T3")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    load = page.get_by_role("button", name="Load them")
    load.click()
    expect(load).to_be_visible()  # the browser asks for the tick
    page.check("input[name=accept]")
    load.click()
    expect(page.get_by_role("status")).to_contain_text("A mended answer.")
    page.context.close()
