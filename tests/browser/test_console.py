"""The console in a browser: signing in, watching, steering, signing out; with script and without, large and small, light and dark."""

from typing import Any

from playwright.sync_api import Browser, Page, expect

from study_app.services.researcher.access import make_key
from study_app.services.researcher.studies import pause, resume
from study_app.store.database import transaction
from study_app.store.tokens import secret_token
from tests.browser.conftest import SCREENS
from tests.browser.study_server import StudyServer, screenshots
from tests.browser.test_console_people import WALKS, faults

HIDE = "Object.defineProperty(document, 'hidden', { get: () => window.isHidden ?? false });"


def signed_in(page: Page, study: StudyServer, key: str) -> None:
    """Sign in with a key that is wrong at first."""
    page.goto(f"{study.url}/r/walk/sign-in")
    page.get_by_label("Key").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("opens no study")
    page.get_by_label("Key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def steered(page: Page) -> None:
    """Pause and go on; raise a limit and close a query after reading what that will do."""
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("status").first).to_contain_text("Done: pause (nobody new is let in")
    page.get_by_role("button", name="Let new workers in again").click()
    page.get_by_role("link", name="Limits").click()
    field = page.get_by_label("workers_per_query")
    field.fill(str(int(field.get_attribute("min") or 0) + 5))
    field.press("Enter")
    expect(page.get_by_text("more workers can come for this task")).to_be_visible()
    page.get_by_role("button", name="Do it").click()
    expect(page.get_by_role("status")).to_contain_text("Done: raise a limit (Raise workers_per_query")
    page.get_by_role("link", name="Close").first.click()
    page.get_by_role("button", name="Do it").click()
    page.get_by_role("button", name="Open again").click()


def test_a_researcher_steers_a_study_in_every_way_and_every_page_can_be_used_by_everybody(
    browser: Browser, study: StudyServer
):
    """Each in a browser of their own, with a key of their own."""
    wrong: list[str] = []
    for screen, scheme, scripts, by_hand in WALKS:
        options: dict[str, Any] = {**SCREENS[screen], "color_scheme": scheme, "java_script_enabled": scripts}
        context = browser.new_context(**options)
        with transaction(study.database, write=True) as session:
            name, row = f"{screen} {scripts}", study.study(session)
            key = make_key(session, row, role="manage", name=name, now=study(), new_token=secret_token)
        page, look = context.new_page(), screenshots(f"console-{screen}-{'script' if scripts else 'plain'}")
        page.on("pageerror", lambda error, found=wrong: found.append(str(error)))
        signed_in(page, study, key)
        if by_hand:
            steered(page)
        for place in ("sign-in", "", "limits", "limits?close=1", "limits?task=1&limit=1", "audit"):
            page.goto(f"{study.url}/r/walk/{place}")
            wrong += faults(page, f"{place} {name}") if scripts else []
            look(page, place.partition("?")[0] or "overview")
        if by_hand:
            expect(page.locator(".acts li").first).to_contain_text("open a query again")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert page.goto(f"{study.url}/r/walk/").status == 404
        context.close()
    assert wrong == []


WIDTHS = """() => ({
    bar: document.querySelector(".console-head").offsetHeight,
    tables: [...document.querySelectorAll(".scroll")].map((place) => ({
        cut: place.scrollWidth > place.clientWidth + 1,
        told: parseFloat(getComputedStyle(place, "::before").paddingBottom) > 10,
    })),
})"""
"""How high the bar is, and of each table whether it is wider than its place, and whether that is said."""
TITLE = "Which summary helps you more, and how do you follow the news?"


def test_the_bar_is_one_line_and_a_table_that_is_cut_off_says_so(browser: Browser, study: StudyServer):
    """With a long title on a small screen of a computer, and on a phone; what fits says nothing."""
    told: list[bool] = []
    for width, height in ((1280, 800), (390, 844)):
        page = browser.new_context(viewport={"width": width, "height": height}).new_page()
        study.open_console(page)
        for place in ("", "people", "material", "limits"):
            page.goto(f"{study.url}/r/walk/{place}")
            page.locator(".study span").first.evaluate("(one, title) => { one.textContent = title; }", TITLE)
            found = page.evaluate(WIDTHS)
            assert found["bar"] < 80 or width < 1000, place
            assert [table["told"] for table in found["tables"]] == [
                table["cut"] for table in found["tables"]
            ], place
            told += [table["told"] for table in found["tables"]]
            if place in {"", "limits"}:
                assert not any(table["cut"] for table in found["tables"]), f"{place} {width}"
        page.context.close()
    assert {*told} == {True, False}


def test_the_overview_renews_itself_while_somebody_looks(browser: Browser, study: StudyServer):
    """Not while it is hidden, nor under somebody who reads its table; and it says when the sign-in is over."""
    page = browser.new_context(**SCREENS["desktop"]).new_page()
    page.add_init_script(HIDE)
    page.clock.install()
    study.open_console(page)
    live, paused = page.locator("[data-live]"), page.get_by_text("Paused since")

    def now(change: Any, *arguments: Any, **named: Any) -> None:
        with transaction(study.database, write=True) as session:
            change(session, study.study(session), *arguments, **named)

    def later() -> None:
        with page.expect_response("**/r/walk/"):
            page.clock.fast_forward(5_000)

    now(pause, now=study())
    later()
    expect(paused).to_be_visible()
    page.evaluate("window.isHidden = true")
    now(resume)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.fast_forward(60_000)
    expect(paused).to_be_visible()
    assert asked == []
    page.evaluate("window.isHidden = false; document.dispatchEvent(new Event('visibilitychange'))")
    expect(paused).to_be_hidden()
    page.context.clear_cookies()
    later()
    expect(live).to_contain_text("You are signed out: load the page again.")
    page.context.close()
