"""The judgment form with and without its scripts: an answer always gets through, and only once."""

import re

from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.log_server import NEXT, OPTIONS, SCRIPTS, LogServer

COME_BACK = "() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"

WORKERS_SCRIPTS = sorted(path.name for path in SCRIPTS.glob("*.js") if not path.name.startswith("console_"))


def opened(context: BrowserContext, server: LogServer) -> Page:
    page = context.new_page()
    page.clock.install()
    page.goto(f"{server.url}/pair/first")
    return page


def send(page: Page, option: str) -> None:
    page.get_by_label(option, exact=True).check()
    page.get_by_role("button").click()
    page.wait_for_url(f"**{NEXT}")


def test_the_form_says_how_long_the_decision_took_and_in_which_layout(
    desktop: BrowserContext, server: LogServer
) -> None:
    """The server's own measure contains the network."""
    page = opened(desktop, server)
    page.clock.run_for(3000)
    send(page, "right")
    (answer,) = server.answers
    assert answer["choice"] == "right"
    assert answer["layout"] == "side_by_side"
    assert 3000 <= int(answer["decision_ms"]) < 8000
    server.until(lambda: server.of_kind("first", "close"))
    assert [event["choice"] for event in server.of_kind("first", "choice")] == ["right"]
    assert [event["choice"] for event in server.of_kind("first", "submit")] == ["right"]


def test_an_answer_gets_through_whichever_script_fails(phone: BrowserContext, server: LogServer) -> None:
    """Answers travel as plain forms, apart from the log."""
    page = phone.new_page()
    for script in WORKERS_SCRIPTS:
        server.broken_scripts = {script}
        page.goto(f"{server.url}/pair/without-{script}")
        send(page, "equally_bad")
        got = [(answer["page"], answer["choice"]) for answer in server.answers]
        assert got[-1] == (f"without-{script}", "equally_bad")
        assert len(set(got)) == len(got), "none twice"


def test_a_part_that_cannot_start_leaves_the_others_running(phone: BrowserContext, server: LogServer) -> None:
    """A browser without one of the newer observers still logs the rest."""
    phone.add_init_script("delete window.IntersectionObserver; delete window.ResizeObserver;")
    page = opened(phone, server)
    send(page, "left")
    server.until(lambda: server.of_kind("first", "close"))
    assert server.of_kind("first", "submit")
    assert server.answers[0]["decision_ms"]


def test_an_answer_gets_through_without_javascript(no_script: BrowserContext, server: LogServer) -> None:
    """The hidden fields stay empty, and the server takes the times from its own clock."""
    page = no_script.new_page()
    page.goto(f"{server.url}/pair/first")
    page.locator("summary").first.click()
    expect(page.get_by_text("iUnit s4.0")).to_be_visible()
    send(page, "left")
    (answer,) = server.answers
    assert (answer["choice"], answer["decision_ms"], answer["layout"]) == ("left", "", "")


def hold(page: Page) -> list[Route]:
    """Hold back what a page sends to the server; returns what it sent."""
    held: list[Route] = []
    page.route("**/answer", lambda route: held.append(route))  # noqa: PLW0108 - playwright writes on what it is given
    return held


def test_the_second_half_of_a_double_click_is_held_back(phone: BrowserContext, server: LogServer) -> None:
    """Nothing else is: another answer that is sent while the first is on its way follows it."""
    page = opened(phone, server)
    held = hold(page)
    page.get_by_label("left", exact=True).check()
    page.get_by_role("button").dblclick()
    page.get_by_label("right", exact=True).check()
    page.get_by_role("button").dblclick()
    for number in (1, 2):
        page.wait_for_timeout(500)
        assert len(held) == number
        held[-1].continue_()
    page.wait_for_url(f"**{NEXT}")
    assert [answer["choice"] for answer in server.answers] == ["left", "right"]
    server.until(lambda: server.of_kind("first", "close"))
    assert [event["choice"] for event in server.of_kind("first", "submit")] == ["left", "right"]


def test_after_coming_back_the_button_works_at_once(phone: BrowserContext, server: LogServer) -> None:
    """The back/forward cache revives a page whose form was already sent; a decision there begins anew."""
    page = opened(phone, server)
    page.clock.pause_at("2100-01-01")
    page.route(f"**{NEXT}", lambda route: route.fulfill(status=204))  # the page stays, as it would come back
    page.get_by_label("left", exact=True).check()
    for _ in range(2):
        with page.expect_response(f"**{NEXT}"):
            page.get_by_role("button").click()
        page.evaluate(COME_BACK)
    assert len(server.answers) == 2
    assert server.answers[1]["decision_ms"] == "0"


def test_a_digit_picks_an_option_while_the_form_has_the_focus(
    desktop: BrowserContext, server: LogServer
) -> None:
    """One key instead of a journey with the arrows."""
    page = opened(desktop, server)
    for digit, option in enumerate(OPTIONS, 1):
        page.get_by_role("button").focus()
        page.keyboard.press(str(digit))
        expect(page.get_by_label(option, exact=True)).to_be_checked()
        expect(page.get_by_label(option, exact=True)).to_be_focused()


def test_a_digit_elsewhere_or_with_a_modifier_picks_nothing(
    desktop: BrowserContext, server: LogServer
) -> None:
    """Keys that act everywhere disturb those who speak to their computer (WCAG 2.1.4)."""
    page = opened(desktop, server)
    page.keyboard.press("1")
    page.get_by_role("button").focus()
    page.keyboard.press("Control+2")
    page.keyboard.press("7")
    expect(page.locator("input:checked")).to_have_count(0)


def test_the_scripts_are_small() -> None:
    """Those of workers load on a phone at a bus stop; `test_every_task_weight` weighs whole pages."""
    code = "".join((SCRIPTS / name).read_text() for name in WORKERS_SCRIPTS)
    without_comments = re.sub(r"/\*\*.*?\*/|^\s*//.*?$", "", code, flags=re.DOTALL | re.MULTILINE)
    assert len(without_comments) < 30_000
