"""The bundled study of ranked lists on a phone, from the introduction to the code: lists longer than the screen."""

from pathlib import Path

from playwright.sync_api import BrowserContext, Page
from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.store.models import Judgment, StoredEvent
from tests.browser.study_server import StudyServer, study_server
from tests.browser.test_accessibility import Findings

STUDY = Path(__file__).resolve().parents[2] / "examples" / "ranked_lists" / "study.yaml"
NAMES = ("spread", "newest", "heyday", "noisy", "h1-0", "h1-1", "h1-2")
PAIRS = 9
"""Four systems make six pairs, and three of them come twice."""

TO_THE_END = "() => document.querySelector('main form').scrollIntoView({block: 'end'})"


def send(page: Page, **fields: str) -> None:
    """Pick options and send the form."""
    for name, value in fields.items():
        page.check(f"[name={name.replace('_', '-')}][value='{value}']")
    with page.expect_navigation():
        page.locator("main form button").click()


def judge(page: Page, found: Findings) -> None:
    """Read every pair of the query to the end and answer it."""
    for number in range(1, PAIRS + 1):
        page.wait_for_url(f"**/1/1/pair/{number}")
        if number == 1:
            found.look(page, "ranked-pair", "phone")
        found.names.extend(name for name in NAMES if name in page.content())
        page.evaluate(TO_THE_END)
        page.locator("label.row").first.click()
        with page.expect_navigation():
            page.locator("main form button").click()


def test_a_query_is_judged_from_the_introduction_to_the_code(phone: BrowserContext, tmp_path: Path) -> None:
    """Everybody can use it; what was on the screen and how it stood there is stored; no name of a system gets out."""
    found = Findings()
    with study_server(tmp_path, STUDY) as study:
        page = phone.new_page()
        page.on("request", lambda sent: found.names.extend(n for n in NAMES if n in (sent.post_data or "")))
        page.goto(f"{study.url}/s/history?id=volunteer")
        send(page)
        send(page, check_1="1", check_2="2")
        page.get_by_text("moon landings").click()
        send(page)
        judge(page, found)
        send(page)
        assert page.locator("[data-code]").inner_text()
        _check_stored(study)
        phone.close()
    assert (found.axe, found.wide, found.small, found.names) == ([], [], [], [])


def _check_stored(study: StudyServer) -> None:
    study.until(lambda session: seen(session) >= {f"r{rank}" for rank in range(1, 7)}, "all entries are seen")
    with study.reading() as session:
        stored = session.execute(select(Judgment.choice, Judgment.timing, Judgment.layout)).all()
    assert stored == [("left", "browser", "stacked")] * PAIRS


def seen(session: Session) -> set[str]:
    """Return the keys of the entries that were on the screen."""
    return {
        detail["item"]
        for detail in session.scalars(select(StoredEvent.detail).where(StoredEvent.kind == "see"))
    }
