"""The report in a browser: on either screen, in light and dark, and on paper."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from study_app.report.build import write_report
from study_app.report.drawing.style import ReportStyle
from study_app.report.page import Front, Report, ReportTable, Section, render
from tests.browser.conftest import SCREENS
from tests.browser.study_server import screenshots
from tests.browser.test_accessibility import TOO_WIDE, axe_results
from tests.study_app.prefcal_command import without_pdf
from tests.study_app.report.agreement_folder import write_folder
from tests.study_app.report.stream_folder import write_stream_folder

OVERLAPPING = """
() => [...document.querySelectorAll("svg")].flatMap((drawing) => {
  const words = [...drawing.querySelectorAll("text")].filter((word) => word.textContent.trim());
  const boxes = words.map((word) => word.getBoundingClientRect());
  return words.flatMap((word, i) => words.slice(i + 1).flatMap((other, j) => {
    const a = boxes[i], b = boxes[i + 1 + j];
    const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
    return apart ? [] : [`${word.textContent} / ${other.textContent}`];
  }));
})
"""
OUTSIDE = """
() => [...document.querySelectorAll("svg text")].filter((word) => {
  const a = word.getBoundingClientRect(), b = word.ownerSVGElement.getBoundingClientRect();
  return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1;
}).map((word) => word.textContent)
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report with every part about summaries, and one about streams."""
    with pytest.MonkeyPatch.context() as patch:
        without_pdf(patch)
        return {
            "summaries": write_report(write_folder(tmp_path_factory.mktemp("agreement"))),
            "streams": write_report(write_stream_folder(tmp_path_factory.mktemp("streams"))),
        }


@pytest.fixture(
    params=[("summaries", "phone", "dark"), ("summaries", "desktop", "light"), ("streams", "phone", "light")],
    ids="-".join,
)
def page(
    request: pytest.FixtureRequest, browser: Browser, reports: dict[str, Path]
) -> Iterator[tuple[Page, list[str]]]:
    """The report, opened, and what it asked for or complained about meanwhile; colours are those of either screen."""
    about, screen, scheme = request.param
    context = browser.new_context(**SCREENS[screen], color_scheme=scheme)
    opened = context.new_page()
    noted: list[str] = []
    opened.on("request", lambda asked: noted.append(asked.url))
    opened.on("console", lambda said: noted.append(said.text))
    opened.on("pageerror", lambda error: noted.append(str(error)))
    opened.goto(reports[about].as_uri())
    screenshots(f"report-{about}-{screen}-{scheme}")(opened, "report")
    yield opened, noted
    context.close()


def test_everybody_can_use_it_and_nothing_overlaps(page: tuple[Page, list[str]]) -> None:
    """It asks for itself alone, breaks no accessibility rule, scrolls nobody sideways, and every label can be read."""
    opened, noted = page
    assert noted == [opened.url]

    found = axe_results(opened)

    assert found.violations_count == 0, found.generate_report()
    assert not opened.evaluate(TOO_WIDE)
    assert opened.evaluate(OVERLAPPING) == []
    assert opened.evaluate(OUTSIDE) == []


def test_a_wide_table_keeps_its_first_column_and_says_that_it_goes_on(
    browser: Browser, reports: dict[str, Path]
) -> None:
    """On a phone: one sees that there is more, and whose numbers they are."""
    context = browser.new_context(**SCREENS["phone"])
    opened = context.new_page()
    opened.goto(reports["summaries"].as_uri())
    region = opened.locator("#agreement .scroll").first

    assert opened.locator("#agreement .cue").first.is_visible()
    region.evaluate("(one) => { one.scrollLeft = one.scrollWidth; }")
    left, first, last = region.evaluate(
        """(one) => [one.getBoundingClientRect().left, one.querySelector("tbody th").getBoundingClientRect().left,
                     one.querySelector("tbody td:last-child").getBoundingClientRect().right]"""
    )
    context.close()

    assert first == left
    assert last <= SCREENS["phone"]["viewport"]["width"]


def test_pairs_that_disagree_most_are_cards_on_a_phone_and_rows_on_a_desktop(
    browser: Browser, tmp_path: Path
) -> None:
    """Long texts beside each other cannot be read on a phone: there each cell has a line, with its column's name."""
    texts = ("q0: why", "alpha", "a long text " * 20, "another text " * 20)
    columns = ("Topic", "A", "Text of A", "Text of B")
    table = ReportTable(
        name="pairs",
        caption="Pairs",
        columns=columns,
        rows=(texts,),
        cards=True,
    )
    section = Section(key="one", title="One", short="One", tables=(table,))
    report = Report(study="s", front=Front(question="h", points={}), sections=(section,), version="0")
    page = tmp_path / "report.html"
    page.write_text(render(report, ReportStyle(), {}), encoding="utf-8")
    seen = {}
    for screen in ("phone", "desktop"):
        context = browser.new_context(**SCREENS[screen])
        opened = context.new_page()
        opened.goto(page.as_uri())
        shown = opened.locator("table.cards")
        tops = shown.locator("tbody th, tbody td").evaluate_all(
            "(cells) => cells.map((one) => one.getBoundingClientRect().top)"
        )
        label = shown.locator("td").first.evaluate("(one) => getComputedStyle(one, '::before').content")
        wide = shown.evaluate("(one) => one.scrollWidth > one.parentElement.clientWidth")
        seen[screen] = (len(set(tops)), label, wide)
        context.close()

    assert seen == {"phone": (4, '"A: "', False), "desktop": (1, "none", False)}


def test_names_of_measures_are_not_broken_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    """Such as M@preferences, which a table of comparisons names in every row."""
    columns = ("Task", "Measure", "Compared with", "Agreement", "Low", "High")
    row = ("summaries", "M@preferences", "M@preferences", "0.5", "0.4", "0.6")
    table = ReportTable(name="c", caption="C", columns=columns, rows=(row,))
    section = Section(key="one", title="One", short="One", tables=(table,))
    report = Report(study="s", front=Front(question="h", points={}), sections=(section,), version="0")
    page = tmp_path / "report.html"
    page.write_text(render(report, ReportStyle(), {}), encoding="utf-8")
    context = browser.new_context(**SCREENS["phone"])
    opened = context.new_page()
    opened.goto(page.as_uri())
    heights = opened.locator("tbody td").evaluate_all("(cells) => cells.map((one) => one.scrollHeight)")
    lines = opened.locator("td.text").evaluate_all(
        """(cells) => cells.map((one) => {
            const inside = document.createRange();
            inside.selectNodeContents(one);
            return new Set([...inside.getClientRects()].map((part) => part.top)).size;
        })"""
    )
    context.close()

    assert (lines, len(set(heights))) == ([1, 1], 1)


def test_on_paper_it_is_light_even_in_a_dark_browser(browser: Browser, reports: dict[str, Path]) -> None:
    """Ink is dear."""
    context = browser.new_context(color_scheme="dark")
    opened = context.new_page()
    opened.goto(reports["summaries"].as_uri())
    opened.emulate_media(media="print", color_scheme="dark")

    ground = opened.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
    context.close()

    assert ground == "rgb(255, 255, 255)"
