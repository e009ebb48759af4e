"""Pairs of pictures in a browser: seen once they have loaded, enlarged by pressing them, with the answers in reach, without JavaScript too."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect
from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.store.models import Judgment, StoredEvent
from tests.browser.conftest import DESKTOP
from tests.browser.study_server import StudyServer, study_server
from tests.browser.test_accessibility import Findings
from tests.study_app.small_pictures import SYSTEMS, drawn, file_of, write_picture_study

PAIRS, HELD_MS = 4, 500
LARGE = {f"{name}/{topic}.png": file_of(drawn(colour, bars=5 - number, size=(1280, 1000 + 300 * number)))
         for number, (name, colour) in enumerate(SYSTEMS.items()) for topic in ("PT-1", "PT-2")}  # fmt: skip
"""Screenshots of result pages, wider than a column and higher than a screen."""


@pytest.fixture
def study(tmp_path: Path) -> Iterator[StudyServer]:
    """Serve the small study of pictures, large ones."""
    path = write_picture_study(tmp_path, task={"instructions": "standard"}, files=LARGE)
    with study_server(tmp_path, path) as running:
        yield running


def begin(page: Page, url: str, worker: str) -> None:
    """Go from the link to the first pair."""
    page.goto(f"{url}/s/small?id={worker}")
    send(page)
    for number, option in enumerate(("3", "1"), start=1):
        page.check(f"[name=check-{number}][value='{option}']")
    send(page)
    expect(page.locator("section.picture img")).to_have_count(2)


def send(page: Page) -> None:
    """Send the page's form, with the first option where there are any."""
    if page.locator("[name=choice]").count():
        page.locator("label.row").first.click()
    with page.expect_navigation():
        page.locator("main form button").click()


def events(session: Session, kind: str) -> list[dict[str, object]]:
    """Return what was logged of a kind, in order."""
    wanted = select(StoredEvent.detail).where(StoredEvent.kind == kind).order_by(StoredEvent.id)
    return [dict(detail) for detail in session.scalars(wanted)]


def test_pictures_are_judged_on_a_phone(phone: BrowserContext, study: StudyServer) -> None:
    """One above the other, as wide as the screen, with the answers in reach; nothing hinders anybody, and no name gets out."""
    found = Findings()
    page = phone.new_page()
    begin(page, study.url, "ann")
    found.look(page, "image-pair", "phone")
    for number in range(1, PAIRS + 1):
        found.names.extend(name for name in (*SYSTEMS, ".png", ".jsonl") if name in page.content())
        assert f"Pair {number} of {PAIRS}" in page.locator("#progress").inner_text()
        first, second = (picture.bounding_box() for picture in page.locator("section.picture img").all())
        assert first["y"] + first["height"] <= second["y"]
        assert 340 <= first["width"] <= 390
        form = page.locator("form.answer").bounding_box()
        assert form["y"] + form["height"] <= 844 + 1
        send(page)
    send(page)
    assert page.locator("[data-code]").inner_text()
    with study.reading() as session:
        stored = session.execute(select(Judgment.choice, Judgment.timing, Judgment.layout)).all()
    assert stored == [("left", "browser", "stacked")] * PAIRS
    assert (found.axe, found.wide, found.small, found.names) == ([], [], [], [])


def test_a_picture_is_enlarged_by_pressing_it_and_moved_about(
    phone: BrowserContext, study: StudyServer
) -> None:
    """In its own size, within its column; pressed again it stands as a whole; either is logged."""
    page = phone.new_page()
    begin(page, study.url, "ann")
    picture, box = page.locator("section.picture img").first, page.locator("section.picture summary").first
    assert picture.bounding_box()["width"] < 390
    box.tap()
    expect(page.locator("section.picture details[open]")).to_have_count(1)
    assert picture.bounding_box()["width"] == 1280
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box.evaluate("box => box.scrollTo(400, 200)")
    assert box.evaluate("box => [box.scrollLeft, box.scrollTop]") == [400, 200]
    assert box.bounding_box()["height"] <= 0.75 * 844 + 1
    page.locator("section.picture .zoom").first.tap()
    expect(page.locator("section.picture details[open]")).to_have_count(0)
    assert picture.bounding_box()["width"] < 390
    send(page)
    study.until(lambda session: len(events(session, "layer")) == 2, "both are in the log")
    with study.reading() as session:
        layers = events(session, "layer")
    assert layers == [{"side": "left", "item": "m1", "open": is_open} for is_open in (True, False)]


def test_a_picture_is_seen_once_it_has_loaded(phone: BrowserContext, study: StudyServer) -> None:
    """Until then there is nothing to see, however long its place stands on the screen."""
    page, held = phone.new_page(), list[Route]()
    page.route("**/m/*", lambda route: held.append(route))  # noqa: PLW0108 - playwright looks into it
    page.goto(f"{study.url}/s/small?id=ann")
    send(page)
    for number, option in enumerate(("3", "1"), start=1):
        page.check(f"[name=check-{number}][value='{option}']")
    with page.expect_navigation(wait_until="commit"):
        page.locator("main form button").click()
    expect(page.locator("section.picture img")).to_have_count(2)
    page.wait_for_timeout(2 * HELD_MS)
    assert len(held) == 2
    for route in held:
        route.continue_()
    page.wait_for_load_state("load")
    page.wait_for_timeout(200)
    page.unroute("**/m/*")
    send(page)
    study.until(lambda session: bool(events(session, "see")), "the picture is in the log")
    with study.reading() as session:
        log = session.execute(
            select(StoredEvent.kind, StoredEvent.page_ms, StoredEvent.detail).order_by(StoredEvent.id)
        ).all()
    first = next(place for place, row in enumerate(log) if row.kind == "see" and row.detail["item"] == "m1")
    opened = next(row for row in reversed(log[:first]) if row.kind == "open")
    assert log[first].page_ms - opened.page_ms >= HELD_MS


def test_a_picture_that_does_not_come_is_never_seen(phone: BrowserContext, study: StudyServer) -> None:
    """Its words stand there, the answer can be given, and the log says that it was not looked at."""
    page = phone.new_page()
    page.route("**/m/*", lambda route: route.abort())
    begin(page, study.url, "ann")
    page.wait_for_timeout(300)
    send(page)
    study.until(lambda session: bool(events(session, "submit")), "the page has logged")
    with study.reading() as session:
        assert not [event for event in events(session, "see") if event["item"] == "m1"]
        assert session.scalars(select(Judgment.choice)).all() == ["left"]


def test_pictures_stand_side_by_side_on_a_desktop_and_obey_the_keyboard(
    desktop: BrowserContext, study: StudyServer
) -> None:
    """Tab leads to each, Enter enlarges it and the arrows move it; the answers keep their digits."""
    found, page = Findings(), desktop.new_page()
    begin(page, study.url, "ann")
    found.look(page, "image-pair", "desktop")
    first, second = (picture.bounding_box() for picture in page.locator("section.picture img").all())
    assert first["x"] + first["width"] <= second["x"]
    page.locator("section.picture summary").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("section.picture details[open]")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(500)
    assert page.locator("section.picture summary").first.evaluate("box => box.scrollLeft") > 0
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[data-side]').dataset.side") == "right"
    page.locator("[name=choice]").first.focus()
    page.keyboard.press("2")
    expect(page.locator("[name=choice][value=right]")).to_be_checked()
    assert (found.axe, found.wide, found.names) == ([], [], [])


@pytest.mark.parametrize("language", ["en", "ja"])
def test_everything_works_without_javascript(browser: Browser, tmp_path: Path, language: str) -> None:
    """Pictures come, are enlarged and judged; a phone leads from one to the other."""
    path = write_picture_study(tmp_path, task={"instructions": "standard", "language": language}, files=LARGE)
    with study_server(tmp_path, path) as study:
        context = browser.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
        page = context.new_page()
        begin(page, study.url, "ben")
        for picture in page.locator("section.picture img").all():
            assert re.fullmatch(r"/m/[0-9a-f]{64}", picture.get_attribute("src"))
        page.locator("section.picture header a").first.click()
        assert page.url.endswith("#title-right")
        assert page.locator("#title-right").bounding_box()["y"] < 400
        page.locator("section.picture summary").last.click()
        expect(page.locator("section.picture details[open] img")).to_have_css("min-width", "200%")
        send(page)
        with study.reading() as session:
            assert session.scalars(select(Judgment.choice)).all() == ["left"]
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_transparent_is_white_in_any_colours(browser: Browser, tmp_path: Path, scheme: str) -> None:
    """Charts are drawn for white paper: black letters would be lost on a dark page."""
    clear = drawn(mode="RGBA")
    clear.putalpha(0)
    files = {f"{name}/PT-1.png": file_of(drawn(colour, mode="RGBA")) for name, colour in SYSTEMS.items()}
    path = write_picture_study(tmp_path, files={**files, "picalpha/PT-1.png": file_of(clear)})
    with study_server(tmp_path, path) as study:
        context = browser.new_context(**DESKTOP, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{study.url}/s/small?id=ann")
        send(page)
        colours = page.locator("section.picture img").evaluate_all(
            "all => all.map(one => getComputedStyle(one).backgroundColor)"
        )
        assert colours == ["rgb(255, 255, 255)"] * 2
        context.close()


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_a_photograph_stands_with_the_right_side_up(
    browser: Browser, tmp_path: Path, orientation: int
) -> None:
    """In the size that the page keeps free for it: nothing jumps when it comes."""
    wide = {f"{name}/PT-1.png": file_of(drawn(colour, size=(400, 200)), "JPEG", orientation=orientation)
            for name, colour in SYSTEMS.items()}  # fmt: skip
    path = write_picture_study(tmp_path, files=wide)
    with study_server(tmp_path, path) as study:
        context = browser.new_context(**DESKTOP)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{study.url}/s/small?id=ann")
        for _ in range(PAIRS):
            send(page)
            sizes = page.locator("section.picture img").evaluate_all(
                "all => all.map(one => [one.naturalWidth, one.naturalHeight, Number(one.getAttribute('width')), Number(one.getAttribute('height'))])"
            )
            assert all(size[:2] == size[2:] for size in sizes)
            if [400, 200] in [sorted(size[:2], reverse=True) for size in sizes]:
                assert {tuple(size[:2]) for size in sizes} == {(200, 400) if orientation > 4 else (400, 200)}
        context.close()
