"""How Japanese stands on a phone: lines end where phrases do, and none is left with a sign or two."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import PHONE
from tests.browser.study_server import StudyServer, study_server
from tests.study_app.small_study import votes_task, write_small_study

LINES = """() => [...document.querySelectorAll('.guide p')].map((paragraph) => {
    const lines = new Map();
    const text = paragraph.firstChild;
    for (let at = 0; at < text.length; at += 1) {
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        const top = Math.round(range.getBoundingClientRect().top);
        lines.set(top, (lines.get(top) ?? '') + text.data[at]);
    }
    return [...lines.values()];
})"""
"""The lines of each paragraph, as the browser broke them."""

IS_FULL_WIDTH = """() => {
    const canvas = document.createElement('canvas').getContext('2d');
    canvas.font = '100px sans-serif';
    return canvas.measureText('選').width === 100;
}"""
"""Whether the machine has a font for Japanese: what stands for a missing sign is narrower."""

SHORTEST = 4
"""Signs that a last line has at least: 選んでください is 7, い。 is 2."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudyServer]:
    """Votes in Japanese, with what stands before them."""
    folder = tmp_path_factory.mktemp("japanese")
    tasks = [votes_task(language="ja", instructions="standard")]
    with study_server(folder, write_small_study(folder, tasks=tasks)) as running:
        yield running


@pytest.fixture
def introduction(browser: Browser, study: StudyServer) -> Iterator[Page]:
    """The page before the task."""
    with browser.new_context(**PHONE) as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{study.url}/s/small?id=ann")
        page.click("main form button")
        page.wait_for_url("**/1/intro")
        if not page.evaluate(IS_FULL_WIDTH):
            pytest.skip("this machine has no font for Japanese, such as fonts-noto-cjk")
        yield page


def test_a_line_ends_where_a_phrase_ends(introduction: Page) -> None:
    """Nobody reads 選 at the end of a line and んでください at the beginning of the next."""
    paragraphs = introduction.evaluate(LINES)
    broken = [line for lines in paragraphs for line in lines[:-1]]
    assert len(broken) >= 3
    assert not [line for line in broken if line.endswith(("くださ", "関係な", "思いそ", "選", "「この"))]
    assert [lines[-1] for lines in paragraphs if len(lines[-1].strip()) < SHORTEST] == []


def test_the_font_is_one_for_reading_japanese(introduction: Page) -> None:
    """What a system uses in its menus comes after it."""
    fonts = introduction.evaluate("() => getComputedStyle(document.querySelector('.guide p')).fontFamily")
    assert fonts.startswith('"Hiragino Sans"')
    assert fonts.index("Noto Sans JP") < fonts.index("system-ui")
