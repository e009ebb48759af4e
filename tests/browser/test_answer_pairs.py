"""The bundled study of answers in a browser: sources open in place on a phone, and without JavaScript on a desktop too."""

import re
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.store.models import Judgment, StoredEvent
from tests.browser.conftest import DESKTOP
from tests.browser.study_server import study_server
from tests.browser.test_accessibility import Findings

STUDY = Path(__file__).resolve().parents[2] / "examples" / "answers" / "study.yaml"
NAMES = ("outline", "passage", "systems/")
PAIRS = 12
"""Three systems answer one question and four the other: nine pairs, and three of them come twice."""


def begin(page: Page, url: str, worker: str) -> None:
    """Go from the link to the first pair."""
    page.goto(f"{url}/s/answers?id={worker}")
    send(page)
    for number, option in enumerate(("2", "3"), start=1):
        page.check(f"[name=check-{number}][value='{option}']")
    send(page)


def send(page: Page) -> None:
    """Send the page's form, with the first option where there are any."""
    if page.locator("[name=choice]").count():
        page.locator("label.row").first.click()
    with page.expect_navigation():
        page.locator("main form button").click()


def open_source(page: Page) -> bool:
    """Press the first mark of a source, and say whether what it says can be read then, right there."""
    mark = page.locator("a.cited").first
    if not mark.count():
        return False
    source = page.locator(f"{mark.get_attribute('href')} p").first
    assert not source.is_visible()
    mark.click()
    expect(source).to_be_visible()
    assert "/pair/" in page.url
    return True


def opened(session: Session) -> set[str]:
    """Return the keys of the sources that were opened, as the log has them."""
    layers = session.scalars(select(StoredEvent.detail).where(StoredEvent.kind == "layer"))
    return {layer["item"] for layer in layers if layer["open"]}


def test_answers_are_judged_with_their_sources_on_a_phone(phone: BrowserContext, tmp_path: Path) -> None:
    """Everybody can use it; opening a source is a layer of the log, and what it says was seen; no system's name gets out."""
    found, pressed = Findings(), 0
    with study_server(tmp_path, STUDY) as study:
        page = phone.new_page()
        begin(page, study.url, "ann")
        for number in range(1, PAIRS + 1):
            found.names.extend(name for name in NAMES if name in page.content())
            has_source = open_source(page)
            pressed += has_source
            if has_source and pressed == 1:
                found.look(page, "answer-pair", "phone")
            assert f"Pair {number} of {PAIRS}" in page.locator("#progress").inner_text()
            send(page)
        send(page)
        assert page.locator("[data-code]").inner_text()
        study.until(lambda session: bool(opened(session)), "a source is in the log")
        with study.reading() as session:
            stored = session.execute(select(Judgment.choice, Judgment.timing, Judgment.layout)).all()
            seen = session.scalars(select(StoredEvent.detail).where(StoredEvent.kind == "see"))
            keys = {event["item"] for event in seen}
        phone.close()
    assert pressed > 0
    assert stored == [("left", "browser", "stacked")] * PAIRS
    assert {"f0", "f1", "s1.0"} <= keys
    small = [line for line in found.small if not re.search(r": \[\w+\] \d+x\d+$", line)]
    assert (found.axe, found.wide, small, found.names) == ([], [], [], [])


def test_sources_open_without_javascript(browser: Browser, tmp_path: Path) -> None:
    """By their line; the mark leads there too."""
    with study_server(tmp_path, STUDY) as study:
        context = browser.new_context(**DESKTOP, java_script_enabled=False)  # type: ignore[arg-type]
        page = context.new_page()
        begin(page, study.url, "ben")
        while not page.locator("section.answer details").count():
            send(page)
        line = page.locator("section.answer summary").first
        line.click()
        expect(page.locator("section.answer details[open] p").first).to_be_visible()
        assert page.locator("section.answer a.cited").first.get_attribute("href").startswith("#")
        sides = page.locator("section.answer")
        left, right = sides.first.bounding_box(), sides.last.bounding_box()
        assert left["x"] + left["width"] <= right["x"]
        send(page)
        with study.reading() as session:
            assert session.scalars(select(Judgment.choice)).all()[-1] == "left"
        context.close()
