"""`prefcal study preview`: every page is reached, each in a copy of its own, and nothing is left behind."""

import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
import yaml
from werkzeug.test import Client

from study_app.config import resource_folder
from study_app.estimate.content import read_whole_study
from study_app.preview.app import Preview
from study_app.preview.copies import SkippingClock
from study_app.preview.stations import ServerMessage
from tests.study_app.small_pushes import write_push_study
from tests.study_app.small_ranked import write_ranked_study
from tests.study_app.small_streams import HOURLY, write_stream_study
from tests.study_app.small_study import pairs_task, votes_task, write_small_study
from tests.study_app.small_tasks import questions_task, rating_task

STANDARD = {"instructions": "standard"}
TASKS = {
    "intent_votes": partial(write_small_study, tasks=[votes_task(**STANDARD)]),
    "iunit_importance": partial(write_small_study, tasks=[rating_task(**STANDARD)]),
    "summary_pairs": partial(write_small_study, task=STANDARD),
    "stream_pairs": partial(write_push_study, task=STANDARD),
    "stream_visits": partial(write_stream_study, task={**STANDARD, "topics_per_worker": 2}),
    "ranked_pairs": partial(write_ranked_study, task={**STANDARD, "check": []}),
    "questions": partial(write_small_study, tasks=[questions_task(**STANDARD), votes_task()]),
}
PAGES = {
    "intent_votes": ["Introduction", "Choice", "Votes"],
    "iunit_importance": ["Introduction", "Ratings"],
    "summary_pairs": ["Introduction", "Choice", "Search", "First pair", "Second pair"],
    "stream_pairs": ["Introduction", "First pair", "Second pair"],
    "stream_visits": [
        *("Introduction", "Choice", "Enrolment", "Stream, first visit", "Away", "Stream, a later visit"),
        *("Still of use?", "Everything that is followed"),
    ],
    "ranked_pairs": ["Introduction", "Choice", "First pair", "Second pair"],
    "questions": ["Introduction", "Questions"],
}
LAST = {
    "intent_votes": "1/1/vote",
    "iunit_importance": "1/1/rate/1",
    "summary_pairs": "1/1/pair/2",
    "stream_pairs": "1/2/pair/1",
    "stream_visits": "1/streams",
    "ranked_pairs": "1/1/pair/2",
    "questions": "1/1/questions",
}
"""Where the last of these is: on the way to it every page before was opened and answered."""


@pytest.fixture
def previewed(tmp_path):
    """Return a function that makes the preview of a study, with a browser on it."""

    def made(write, **study):
        (tmp_path / "copies").mkdir()
        preview = Preview(read_whole_study(write(tmp_path, **study)), tmp_path / "copies")
        return preview, Client(preview)

    return made


def step(address):
    """Return the kind of page that an address is of."""
    return [word for word in address.partition("?")[0].split("/") if word and not word.isdigit()][-1]


def numbers(preview, *names):
    """Return the number of each page of these names."""
    return [next(n for n, one in enumerate(preview.stations) if one.name == name) for name in names]


@pytest.mark.parametrize("kind", TASKS)
def test_a_worker_is_led_through_every_page_of_a_task(previewed, kind):
    """Searches and days pass on the way; the last page is there in full."""
    preview, browser = previewed(TASKS[kind])
    of_task = [number for number, page in enumerate(preview.stations) if page.part.startswith("Task 1")]
    assert [preview.stations[number].name for number in of_task] == PAGES[kind]
    opened = browser.get(f"/open/{of_task[-1]}")
    assert opened.headers["Location"].partition("/w/")[2].partition("/")[2] == LAST[kind]
    assert browser.get(opened.headers["Location"]).status_code == 200


def test_graded_pairs_with_criteria_and_a_reason_lead_to_the_end(previewed):
    """Every question of a page is answered on the way."""
    asked = {"choices": "graded5", "criteria": [{"name": "short", "text": "Shorter?"}], "reason": "required"}
    preview, browser = previewed(write_small_study, tasks=[pairs_task(**asked)])
    second, finish = numbers(preview, "Second pair", "Finish")
    page = browser.get(f"/open/{second}", follow_redirects=True).text
    assert "A slightly better" in page
    assert "Shorter?" in page
    opened = browser.get(f"/open/{finish}")
    assert step(opened.headers["Location"]) == "finish"


def test_a_stream_opens_on_its_first_visit_and_on_a_later_day(previewed):
    """With what came in between, and the question after it."""
    preview, browser = previewed(TASKS["stream_visits"])
    first, later, useful = (
        browser.get(f"/open/{number}", follow_redirects=True).text
        for number in numbers(preview, "Stream, first visit", "Stream, a later visit", "Still of use?")
    )
    assert 'data-new="0"' in first
    assert 'data-new="0"' not in later
    assert 'name="useful-1"' in useful


def test_door_and_ends_open_too(previewed):
    """Refusals, codes, and what becomes of those who stop, fail or are screened out; the device is the right one."""
    tasks = [questions_task(**STANDARD), pairs_task(workers_per_query=3)]
    preview, browser = previewed(write_small_study, tasks=tasks, device="phone", codes={"partial": "PART-1"})
    said = {}
    for number, station in enumerate(preview.stations):
        if not station.part.startswith("Task"):
            shown = browser.get(f"/open/{number}", follow_redirects=True)
            said[station.name] = (shown.status_code, step(shown.request.path))
            assert ("PART-1" in shown.text) == (station.name == "Stopped")
    assert said == {
        "The platform's link": (200, "consent"),
        "Consent": (200, "consent"),
        "Without an id": (400, "small"),
        "On the wrong device": (403, "small"),
        "Paused": (503, "small"),
        "A full disk": (503, "open"),
        "Full": (409, "small"),
        "Finish": (200, "finish"),
        "Done": (200, "done"),
        "Stop here?": (200, "stop"),
        "Stopped": (200, "stopped"),
        "Failed the check": (200, "stopped"),
        "Screened out": (200, "stopped"),
        "Full in the meantime": (200, "full"),
        "Withdraw": (200, "withdraw"),
        "Withdrawn": (200, "withdrawn"),
        "The database does not answer": (503, "open"),
        "A fault of the server": (500, "open"),
        "No such study": (404, "open"),
        "An unknown worker's address": (404, "open"),
        "The bare address of the server": (404, "open"),
        "No such page": (404, "open"),
        "A form of another page": (403, "open"),
        "A form that is too large": (413, "open"),
        "Any other bad request": (400, "open"),
    }


def test_every_page_that_only_says_something_is_in_a_preview(previewed):
    """So that nobody meets a text that the researcher never saw; those of other devices and sites where they can come."""
    files = {"ids": "invited.txt", "signing_keys": "keys.json"}
    preview, browser = previewed(write_small_study, platform="mturk", device="desktop", **files)
    headings = yaml.safe_load(
        (resource_folder("templates") / "locale" / "en.yaml").read_text(encoding="utf-8")
    )
    opened = [
        number
        for number, one in enumerate(preview.stations)
        if isinstance(one, ServerMessage) or one.part == "At the door" or one.name == "Withdrawn"
    ]
    shown = "".join(browser.get(f"/open/{number}", follow_redirects=True).text for number in opened)
    only_said = {key for key, text in headings.items() if set(text) == {"heading", "text"}}
    missing = {key for key in only_said if headings[key]["heading"] not in shown}
    assert missing == {"no_id", "device_phone"}


def test_the_list_names_every_page_and_both_widths_stand_side_by_side(previewed):
    """In frames that only the preview may make."""
    preview, browser = previewed(write_small_study)
    listed = browser.get("/").text
    assert re.findall(r'href="/look/(\d+)"', listed) == [str(n) for n in range(len(preview.stations))]
    both = browser.get("/look/1").text
    assert both.count('<iframe class="') == both.count('src="/open/1"') == 2
    framed = browser.get("/open/1", follow_redirects=True)
    assert "frame-ancestors 'self'" in framed.headers["Content-Security-Policy"]
    assert browser.get(f"/look/{len(preview.stations)}").status_code == 404


def test_each_page_has_a_study_of_its_own_and_goes_on_from_there(previewed):
    """Agreeing on one consent page leaves the other as it was; a page that was let go says so."""
    preview, browser = previewed(write_small_study)
    [consent] = numbers(preview, "Consent")
    first, second = (browser.get(f"/open/{consent}").headers["Location"] for _ in range(2))
    assert first != second
    fields = dict(re.findall(r'name="(page|text)" value="([^"]+)"', browser.get(first).text))
    assert browser.post(first, data={**fields, "agree": "yes"}).headers["Location"].endswith("/1/choose")
    assert browser.get(second).status_code == 200
    assert "choose" in browser.get(first.removesuffix("consent"), follow_redirects=True).request.path
    assert browser.get("/w/nobody/consent").status_code == 404


def test_two_frames_may_ask_at_the_same_moment(previewed):
    """As they do when both widths are opened."""
    preview, _ = previewed(write_small_study)
    [consent] = numbers(preview, "Consent")
    with ThreadPoolExecutor(4) as threads:
        opened = list(
            threads.map(lambda _: Client(preview).get(f"/open/{consent}").headers["Location"], range(4))
        )
    assert len(set(opened)) == 4


def test_time_can_be_let_pass(previewed):
    """Nobody waits three minutes to see what comes after a search."""
    preview, browser = previewed(write_small_study)
    [search] = numbers(preview, "Search")
    address = browser.get(f"/open/{search}").headers["Location"]
    left = re.compile(r'data-seconds-left="(\d+)"')
    assert int(left.search(browser.get(address).text)[1]) > 70
    assert browser.post("/pass/300").status_code == 204
    assert int(left.search(browser.get(address).text)[1]) == 0


@pytest.mark.parametrize("task", [{"days": 2, "clock_factor": 24}, {"days": 2, "topics_per_worker": 2}])
def test_few_days_have_a_later_visit_too(previewed, task):
    """Two days of the event are two hours here; or there are two events to come back to."""
    preview, browser = previewed(write_stream_study, task=task)
    [later] = numbers(preview, "Stream, a later visit")
    assert step(browser.get(f"/open/{later}").headers["Location"]) == "stream"


def test_a_second_pair_is_listed_where_there_is_one(previewed):
    """Of two systems and one query there is not."""
    preview, _ = previewed(write_small_study, task={"pairs": 1})
    assert not [page.name for page in preview.stations if page.name == "Second pair"]


def test_a_page_to_which_nobody_comes_is_said_so(previewed):
    """Nothing is asked about updates that bring nothing new."""
    preview, browser = previewed(write_stream_study, systems={"hourly": HOURLY}, days=1)
    [useful] = numbers(preview, "Still of use?")
    page = browser.get(f"/open/{useful}")
    assert "No worker was led to this page: no worker comes" in page.text


def test_a_clock_runs_on_and_is_put_forward():
    """Ten seconds of the machine and an hour at once."""
    ticks = iter([5.0, 15.0])
    clock = SkippingClock(datetime(2026, 1, 1, tzinfo=UTC), ticks=lambda: next(ticks))
    clock.skip(3_600)
    assert clock() == datetime(2026, 1, 1, 1, 0, 10, tzinfo=UTC)


def test_the_command_prints_its_address_and_leaves_nothing_behind(tmp_path, monkeypatch):
    """However it is ended, its folder is gone, and no database was made anywhere else."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    path = write_small_study(tmp_path)
    command = [
        sys.executable,
        "-c",
        "from study_app.cli import main; main()",
        "study",
        "preview",
        str(path),
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as server:
        assert re.fullmatch(r"\d+ pages: http://127\.0\.0\.1:\d+/\n", server.stdout.readline())
        assert len(list((tmp_path / "tmp").iterdir())) == 1
        server.send_signal(signal.SIGTERM)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not list(Path(tmp_path).rglob("*.sqlite3*"))
