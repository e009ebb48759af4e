"""The server is stopped in the middle of a study and comes back: no answer is lost, and none is stored twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect
from sqlalchemy import select

from study_app.store.models import Judgment
from study_app.store.task_models import Reply
from tests.browser.conftest import SCREENS
from tests.browser.study_server import StudyServer, judgments, screenshots, study_server
from tests.browser.test_accessibility import TOO_WIDE, axe_results

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
AGAIN_MS = 5_000
QUESTIONS = """\
study: walk
title: Questions
consent: Please take part.
tasks:
  - kind: questions
    questions:
      - {id: phone, text: Do you have a phone?, type: single, options: ["Yes", "No"]}
      - {id: why, text: Why?, type: text}
"""
NOTICE = "form .unsent"


@pytest.fixture
def lists(tmp_path: Path, browser: Browser) -> Iterator[StudyServer]:
    """The bundled study of ranked lists, whose first page after the choice is a pair."""
    with study_server(tmp_path, EXAMPLES / "ranked_lists" / "study.yaml") as server:
        yield server
        for context in browser.contexts:
            context.close()


@pytest.fixture
def asking(tmp_path: Path, browser: Browser) -> Iterator[StudyServer]:
    """A study of nothing but questions."""
    (tmp_path / "questions.yaml").write_text(QUESTIONS, encoding="utf-8")
    with study_server(tmp_path, tmp_path / "questions.yaml") as server:
        yield server
        for context in browser.contexts:
            context.close()


def press(page: Page) -> None:
    with page.expect_navigation():
        page.locator("main form button").first.click()


def to_first_pair(page: Page, server: StudyServer, worker: str = "ann") -> None:
    """Go from the platform's link to the first pair."""
    with server.reading() as session:
        name = server.study(session).name
    page.goto(f"{server.url}/s/{name}?id={worker}")
    while "/pair/" not in page.url:
        for group in ("check-1", "check-2"):
            if page.locator(f"[name={group}]").count():
                right = {"check-1": "1", "check-2": "2"}[group]
                page.check(f"[name={group}][value='{right}']")
        if page.locator("[name=topic]").count():
            page.locator("[name=topic]").first.check()
        press(page)


def choices(server: StudyServer) -> list[str]:
    with server.reading() as session:
        return [judgment.choice for judgment in judgments(session)]


@pytest.mark.parametrize(
    "screen", [pytest.param(name, marks=pytest.mark.soak if name != "phone" else ()) for name in SCREENS]
)
def test_an_answer_waits_in_the_page_until_the_server_is_back(
    browser: Browser, lists: StudyServer, screen: str
) -> None:
    """The page says so, to everybody and on any screen; it goes on by itself, and the answer is stored once."""
    page = browser.new_context(**SCREENS[screen]).new_page()  # type: ignore[arg-type]
    to_first_pair(page, lists)
    page.check("[name=choice][value=right]")
    assert axe_results(page).violations_count == 0  # which also brings what looks for hindrances
    with lists.away():
        page.locator("main form button").click()
        expect(page.locator(NOTICE)).to_have_text(
            "Not sent yet. Your answer is kept here; trying again in 5 s. Try now"
        )
        expect(page.locator(NOTICE)).to_be_in_viewport(ratio=1)
        assert page.locator(NOTICE).get_attribute("role") == "alert"
        assert page.locator("[name=choice]:checked").get_attribute("value") == "right"
        screenshots(screen)(page, "away")
        assert axe_results(page).violations_count == 0
        assert not page.evaluate(TOO_WIDE)
        page.wait_for_timeout(AGAIN_MS + 500)
        assert "/pair/1" in page.url
        expect(page.locator(NOTICE)).to_have_count(1)
    page.wait_for_url("**/pair/2")
    assert choices(lists) == ["right"]


def test_the_button_sends_at_once_and_what_is_picked_meanwhile_counts(
    phone: BrowserContext, lists: StudyServer
) -> None:
    """What stands in the page is what is sent."""
    page = phone.new_page()
    to_first_pair(page, lists)
    page.check("[name=choice][value=right]")
    with lists.away():
        page.locator("main form button").click()
        expect(page.locator(NOTICE)).to_be_visible()
        page.check("[name=choice][value=left]")
    page.get_by_role("button", name="Try now").click()
    page.wait_for_url("**/pair/2", timeout=AGAIN_MS - 1_000)
    assert choices(lists) == ["left"]


def test_what_was_sent_while_the_answer_of_the_server_was_lost_is_stored_once(
    phone: BrowserContext, lists: StudyServer
) -> None:
    """The server had it; the page, which cannot know, sends it again."""
    page = phone.new_page()
    to_first_pair(page, lists)
    lost: list[int] = []

    def lose(route: object) -> None:
        if route.request.method == "POST" and not lost:  # type: ignore[attr-defined]
            lost.append(route.fetch().status)  # type: ignore[attr-defined]
            route.abort()  # type: ignore[attr-defined]
        else:
            route.continue_()  # type: ignore[attr-defined]

    page.route("**/pair/1?", lose)
    page.check("[name=choice][value=equally_good]")
    page.locator("main form button").click()
    expect(page.locator(NOTICE)).to_be_visible()
    assert lost == [200]
    page.wait_for_url("**/pair/2")
    with lists.reading() as session:
        [judgment] = session.scalars(select(Judgment)).all()
        assert (judgment.choice, judgment.revision, judgment.timing) == ("equally_good", 1, "browser")


def test_a_database_that_does_not_answer_makes_the_page_wait_too(
    phone: BrowserContext, lists: StudyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands before a server that is away says 502, 503 or 504."""
    page = phone.new_page()
    to_first_pair(page, lists)
    statuses = [502, 503, 504]
    page.route(
        "**/pair/1?",
        lambda route: route.fulfill(status=statuses.pop(), body="away") if statuses else route.continue_(),
    )
    page.check("[name=choice][value=left]")
    page.locator("main form button").click()
    for _ in range(3):
        expect(page.locator(NOTICE)).to_be_visible()
        page.get_by_role("button", name="Try now").click()
    page.wait_for_url("**/pair/2")
    assert choices(lists) == ["left"]


def test_what_was_picked_survives_a_reload(phone: BrowserContext, lists: StudyServer) -> None:
    """Also one while the server is away: the browser's page comes, and after another reload the answer is there."""
    page = phone.new_page()
    to_first_pair(page, lists)
    page.check("[name=choice][value=equally_bad]")
    page.reload()
    expect(page.locator("[value=equally_bad]")).to_be_checked()
    with lists.away(), pytest.raises(Error, match="ERR_CONNECTION_REFUSED"):
        page.reload()
    page.wait_for_url("chrome-error://**")
    page.reload()
    expect(page.locator("[value=equally_bad]")).to_be_checked()
    press(page)
    assert choices(lists) == ["equally_bad"]
    page.go_back()
    expect(page.locator("[value=equally_bad]")).to_be_checked()
    page.check("[value=left]")
    press(page)
    page.reload()
    assert page.locator("[name=choice]:checked").count() == 0
    assert choices(lists) == ["equally_bad", "left"]


def test_words_and_ticks_survive_too_and_nothing_stays_once_they_are_stored(
    desktop: BrowserContext, asking: StudyServer
) -> None:
    """Texts are kept as they are typed; the tab forgets them when the server has them."""
    page = desktop.new_page()
    page.goto(f"{asking.url}/s/walk?id=ann")
    press(page)
    page.check("[name=q-phone][value='2']")
    page.locator("[name=q-why]").press_sequentially("It is\ntoo dear")
    page.reload()
    expect(page.locator("[name=q-phone][value='2']")).to_be_checked()
    expect(page.locator("[name=q-why]")).to_have_value("It is\ntoo dear")
    with asking.away():
        page.locator("main form button").click()
        expect(page.locator(NOTICE)).to_be_in_viewport(ratio=1)
    page.wait_for_url("**/finish")
    assert page.evaluate("Object.keys(sessionStorage)") == []
    with asking.reading() as session:
        [reply] = session.scalars(select(Reply)).all()
        assert reply.answers == {"phone": "No", "why": "It is\ntoo dear"}


def test_a_form_that_cannot_be_taken_still_comes_back_with_the_reason(
    desktop: BrowserContext, asking: StudyServer
) -> None:
    """Sent by script it is refused, and the browser shows the page that says why, filled in."""
    page = desktop.new_page()
    page.goto(f"{asking.url}/s/walk?id=ann")
    press(page)
    page.fill("[name=q-why]", "   ")
    page.check("[name=q-phone][value='1']")
    press(page)
    expect(page.locator("[role=alert]")).to_have_text(
        "Some answers need another look; they are marked below."
    )
    expect(page.locator("[name=q-phone][value='1']")).to_be_checked()
    page.fill("[name=q-why]", "So")
    press(page)
    assert page.url.endswith("/finish")


def test_without_script_a_reload_of_the_browsers_own_page_sends_the_answer_once(
    no_script: BrowserContext, lists: StudyServer
) -> None:
    """Which the browser says itself; sent twice it is stored once."""
    page = no_script.new_page()
    to_first_pair(page, lists)
    expect(page.locator("main form button")).to_be_in_viewport()
    expect(page.locator(".keys")).to_be_hidden()
    page.check("[name=choice][value=right]")
    with lists.away():
        page.locator("main form button").click()
        page.wait_for_url("chrome-error://**")
    page.reload()
    page.wait_for_url("**/pair/2")
    assert choices(lists) == ["right"]
    page.go_back()
    press(page)
    assert choices(lists) == ["right"]


def test_the_answers_are_in_reach_wherever_one_reads(phone: BrowserContext, lists: StudyServer) -> None:
    """At the top, in the middle and at the end of two long lists; the bar is a fifth of the screen, and wide enough to touch."""
    page = phone.new_page()
    to_first_pair(page, lists)
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height > 1.5 * 844
    for y in (0, height // 2, height):
        page.evaluate("(y) => scrollTo({ top: y, behavior: 'instant' })", y)
        for label in page.locator("label.row").all():
            expect(label).to_be_in_viewport(ratio=1)
        expect(page.locator("main form button")).to_be_in_viewport(ratio=1)
    assert page.locator("[data-dock]").bounding_box()["height"] < 0.25 * 844  # type: ignore[index]


def test_nothing_that_has_the_focus_is_hidden_behind_the_bar(browser: Browser, tmp_path: Path) -> None:
    """Every control that Tab leads to stands above the bar or in it (WCAG 2.4.11), also when there is a notice."""
    with study_server(tmp_path, EXAMPLES / "answers" / "study.yaml") as answers:
        page = browser.new_context(viewport={"width": 390, "height": 600}).new_page()
        page.goto(f"{answers.url}/s/answers?id=ann")
        press(page)
        for number, option in enumerate(("2", "3"), start=1):
            page.check(f"[name=check-{number}][value='{option}']")
        press(page)
        hidden = []
        for _ in range(14):
            page.keyboard.press("Tab")
            hidden += page.evaluate(
                """() => {
                  const bar = document.querySelector('[data-dock]'), at = document.activeElement;
                  if (at === document.body || bar.contains(at)) return [];
                  const box = at.getBoundingClientRect(), edge = bar.getBoundingClientRect();
                  const below = bar.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING;
                  return !below && box.bottom > edge.top + 1 ? [at.outerHTML] : [];
                }"""
            )
        assert hidden == []
        page.context.close()


def test_the_bar_lies_still_where_it_would_cover_too_much(
    desktop: BrowserContext, lists: StudyServer
) -> None:
    """In a low window, as of a phone on its side or of a page at 400 %, and with very large text."""
    page = desktop.new_page()
    to_first_pair(page, lists)
    position = "() => getComputedStyle(document.querySelector('[data-dock]')).position"
    assert page.evaluate(position) == "sticky"
    page.set_viewport_size({"width": 844, "height": 390})
    assert page.evaluate(position) == "static"
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate(position) == "sticky"
    page.evaluate("document.documentElement.style.fontSize = '350%'")
    expect(page.locator("[data-still]")).to_have_count(1)
    assert page.evaluate(position) == "static"


def test_the_keys_that_work_are_shown_to_who_has_a_keyboard(browser: Browser, lists: StudyServer) -> None:
    """And they work: Tab to the answers, a digit, Enter."""
    desktop, phone = (browser.new_context(**SCREENS[name]).new_page() for name in ("desktop", "phone"))  # type: ignore[arg-type]
    to_first_pair(phone, lists, "ben")
    expect(phone.locator(".keys")).to_be_hidden()
    to_first_pair(desktop, lists)
    expect(desktop.locator(".keys")).to_be_visible()
    for _ in range(30):
        if desktop.evaluate("document.activeElement.name") == "choice":
            break
        desktop.keyboard.press("Tab")
    desktop.keyboard.press("3")
    expect(desktop.locator("[value=equally_good]")).to_be_checked()
    with desktop.expect_navigation():
        desktop.keyboard.press("Enter")
    assert choices(lists) == ["equally_good"]
