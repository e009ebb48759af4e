"""Material, data and payments of the console in a browser: with script and without, large and small, light and dark."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import SCREENS
from tests.browser.study_server import StudyServer, screenshots
from tests.browser.test_console_people import WALKS, faults

LIST = "Participant id,Status,Completion code\n{worker},AWAITING REVIEW,NOCODE\nstranger,APPROVED,X\n"


def looked(page: Page) -> None:
    """See counts, and who is preferred only after a page that says what a look means."""
    page.get_by_role("link", name="Material").click()
    page.get_by_role("link", name="2. ").click()
    expect(page.get_by_role("region", name="Judgments of")).to_be_visible()
    page.get_by_role("link", name="Look at results all the same").click()
    page.get_by_role("button", name="Show who is preferred").click()
    expect(page.get_by_text("Results were looked at")).to_be_visible()


def paid(page: Page, file: Path) -> None:
    """Upload a file that is no list, then one, and take what it became."""
    page.get_by_role("link", name="Payments").click()
    file.write_text("a,b\n1,2\n", encoding="utf-8")
    page.get_by_label("CSV with").set_input_files(file)
    page.get_by_role("button", name="Read this list").click()
    expect(page.get_by_text("This is no list that prefcal can read")).to_be_visible()
    page.go_back()
    file.write_text(LIST.format(worker="w1"), encoding="utf-8")
    page.get_by_label("CSV with").set_input_files(file)
    page.get_by_role("button", name="Read this list").click()
    expect(page.get_by_role("status")).to_contain_text(
        "2 lines, of 1 person of this study and 1 with ids unknown here"
    )
    with page.expect_download() as taken:
        page.get_by_role("link", name="Download the list").last.click()
    assert "w1,,AWAITING REVIEW,no_data" in taken.value.path().read_text(encoding="utf-8")


def exported(page: Page) -> None:
    """Start a job; its page says by itself when it is done, and the tables can be taken."""
    page.get_by_role("link", name="Data").click()
    page.get_by_role("button", name="Write the tables").click()
    expect(page.get_by_text("Done.", exact=True)).to_be_visible(timeout=120_000)
    page.get_by_role("link", name="Back to the data").click()
    with page.expect_download() as taken:
        page.get_by_role("link", name="Tables as CSV").click()
    assert taken.value.suggested_filename == "walk-tables-csv.zip"


def test_a_researcher_looks_pays_and_takes_the_data_in_every_way(
    browser: Browser, study: StudyServer, tmp_path: Path
):
    """Every page can be used by everybody."""
    wrong: list[str] = []
    for screen, scheme, scripts, by_hand in WALKS:
        options: dict[str, Any] = {**SCREENS[screen], "color_scheme": scheme, "java_script_enabled": scripts}
        context = browser.new_context(**options)
        page, look = (
            context.new_page(),
            screenshots(f"console-data-{screen}-{'script' if scripts else 'plain'}"),
        )
        page.on("pageerror", lambda error, found=wrong: found.append(str(error)))
        page.goto(f"{study.url}/s/walk?id=w1")
        study.open_console(page)
        looked(page)
        wrong += faults(page, f"results {screen}") if scripts else []
        if by_hand:
            paid(page, tmp_path / "list.csv")
        if (screen, scripts) == ("desktop", True):
            exported(page)
        for place in ("material", "material?task=2", "material/results", "data", "data/jobs/1", "payments"):
            page.goto(f"{study.url}/r/walk/{place}")
            wrong += faults(page, f"{place} {screen}") if scripts else []
            look(page, place.replace("/", "-").replace("?", "-"))
        context.close()
    assert wrong == []
