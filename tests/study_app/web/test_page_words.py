"""Words around numbers: one of a thing and several, nothing said as nothing, and Japanese as it is written."""

import re
from datetime import UTC, datetime

import pytest
from bs4 import BeautifulSoup

from study_app.cli.status import _sentences
from study_app.config import resource_folder
from study_app.services.worker.answers import CheckProgress
from study_app.tasks.kinds import KINDS
from study_app.web.pages.pages import EnrolPage, SearchPage
from study_app.web.serving import Messages, render_page
from study_app.web.show.tasks import introduction
from tests.study_app.conftest import Campaign
from tests.study_app.small_streams import PROMPT
from tests.study_app.small_study import votes_task
from tests.study_app.stream_visits import follow, stream_study

TOKENS = {"worker": "w", "page": "p"}


@pytest.fixture(scope="module")
def read(tmp_path_factory, database_in):
    """Return a function that gives what stands on a page of any study."""
    folder = tmp_path_factory.mktemp("words")
    made = Campaign(folder, database_in(folder))
    made.load()
    app = made.serve().app

    def read_page(template, page):
        with app.test_request_context():
            html = render_page(template, page, tokens=TOKENS).get_data(as_text=True)
        return " ".join(BeautifulSoup(html, "html.parser").main.get_text().split())

    yield read_page
    made.database.engine.dispose()


def progress_of(study):
    """Return how far a study is, and its researcher's page."""
    found = study.progress()
    page = study.console().get("/r/small/").text
    return found, BeautifulSoup(page, "html.parser")


@pytest.mark.parametrize(
    ("seconds", "english", "japanese"),
    [
        (1, "1 second", "1秒"),
        (45, "45 seconds", "45秒"),
        (60, "1 minute", "1分"),
        (61, "1 minute 1 second", "1分1秒"),
        (180, "3 minutes", "3分"),
        (200, "3 minutes 20 seconds", "3分20秒"),
    ],
)
def test_a_search_lasts_minutes_and_seconds(read, seconds, english, japanese):
    """Neither "3:00 minutes" nor "1 minutes", on the page and in its refusal."""
    for language, said in (("en", f"for at least {english}."), ("ja", f"少なくとも{japanese}間、")):
        page = SearchPage(
            language=language,
            query="tea",
            seconds_left=seconds,
            seconds=seconds,
            left=False,
            error="search.too_early",
        )
        text = read("search", page)
        assert said in text
        assert (f"search for {english} more." if language == "en" else f"あと{japanese}、") in text


@pytest.mark.parametrize(
    ("seconds", "english", "japanese"),
    [
        (60, "1 minute", "1分間"),
        (90, "1.5 minutes", "1.5分間"),
        (7_200, "2 hours", "2時間"),
        (172_800, "2 days", "2日間"),
    ],
)
def test_a_stream_lasts_as_long_as_people_say_it(read, seconds, english, japanese):
    """The time and the clock's speed are sentences of their own."""
    texts = {
        language: read(
            "enrol", EnrolPage(language=language, query="storm", seconds=seconds, factor=2.0, followed=False)
        )
        for language in ("en", "ja")
    }
    assert f"You can come back for {english}." in texts["en"]
    assert f"これから{japanese}、" in texts["ja"]


def test_japanese_dates_have_no_leading_zeros():
    """The fourth of July is 7月4日."""
    text = Messages(resource_folder("templates") / "locale").text
    at = datetime(2026, 7, 4, 8, 5, tzinfo=UTC)
    assert text("ja", "pushes.day", at=at) == "2026年7月4日"
    assert text("ja", "stream.moment", at=at) == "7月4日 08:05"
    assert text("en", "pushes.day", at=at) == "Sat 4 Jul 2026"
    assert text("en", "stream.moment", at=at) == "4 Jul, 08:05"


@pytest.mark.parametrize("kind", KINDS)
def test_no_space_follows_the_end_of_a_japanese_sentence(read, kind):
    """A full-width stop has its space in itself."""
    entry = KINDS[kind].entry.model_construct(kind=kind, instructions="standard", check=None, example=True)
    shows = frozenset(KINDS[kind].optional)
    page = introduction(entry, shows, "ja", CheckProgress(passed=False, tries_left=2, picked=()), {}, None)
    text = read("intro", page)
    assert not re.findall(r"[。、]\s[^。、]*回答は2回", text)
    assert "すべて上の文章にあります。回答は2回までです。" in text


def test_numbers_on_the_researchers_page_and_in_status_agree_with_what_they_count(campaign):
    """One stream is a stream, equal numbers are one number, and codes are written as words."""
    study = stream_study(campaign, systems={"sysprompt": PROMPT})
    follow(study)
    found, page = progress_of(study)
    sentences = "\n".join(_sentences(found))
    assert "1 stream followed now, 1 never read; 1 worker a stream; 0 of 0 questions answered" in sentences
    assert "Followers of each stream: 1. Questions" in page.get_text()
    assert "screened out 0, failed checks 0, partial 0" in page.get_text()


def test_what_nobody_can_be_judged_by_yet_is_said_in_words(campaign):
    """No dash, no "0 of 0", no nan."""
    study = campaign()
    study.at_pairs().send(choice="left")
    found, page = progress_of(study)
    assert "validation pairs (too few answers yet)" in "\n".join(_sentences(found))
    cells = {
        row.th.contents[0]: row.td.get_text() for row in page.select("[aria-label='Quality checks'] tbody tr")
    }
    assert (cells["search time"], cells["validation pairs"]) == ("0 of 1", "too few answers yet")
    assert (
        "0 to 1 (median 0). Balance of the sides: how often each system of a pair was shown on the left differs by 0"
        in page.get_text()
    )


def test_japanese_on_the_researchers_page_is_marked_as_such(campaign):
    """Else a browser may take Chinese signs for it."""
    study = campaign(tasks=[votes_task(language="ja")], title="調査")
    page = BeautifulSoup(study.console().get("/r/small/limits").text, "html.parser")
    marked = [element.get_text() for element in page.select("[lang=ja]")]
    assert (page.html["lang"], marked) == ("en", ["調査", "mount fuji", "green tea"])
