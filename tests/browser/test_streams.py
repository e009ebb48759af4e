"""People follow a stream in a browser, and the tables tell what happened. Hours pass on the server's clock only."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, BrowserContext, expect
from sqlalchemy import func, select

from calibration.tables.files import read_tables
from study_app.export import export_study
from study_app.store.models import PageLoad, StoredEvent
from tests.browser.killing import kill
from tests.browser.study_server import StudyServer, screenshots, study_server
from tests.study_app.small_streams import HOUR, Told, write_stream_study

TALL = "It goes on and on. " * 150
"""Taller than a phone's screen."""

STREAM = tuple(
    Told(
        f"Report {number}: {'the water is rising, ' * 9}and that is all.",
        number * 3.0,
        ["SYN-1"] * (number == 1),
    )
    for number in range(1, 24)
)
STAY = """async (stops) => {
  const item = (key) => document.querySelector(`[data-item=${key}]`);
  const frames = async () => { for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame); };
  const times = [];
  for (const [key, ms] of stops) {
    const before = performance.now();
    item(key).scrollIntoView({ block: 'start', behavior: 'instant' });
    await frames();
    times.push([before, performance.now()]);
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
  return times;
}"""
"""Returns between which two moments each stop came on the screen: a frame may be late on a machine that is busy."""

ALONE = "() => document.styleSheets[0].insertRule('li.update { margin-bottom: 100vh; }', 0)"
"""From then on each update is alone on the screen."""


@pytest.fixture
def streams(tmp_path: Path, browser: Browser) -> Iterator[Callable[..., StudyServer]]:
    """Serve a study of one stream; its updates come every third hour."""
    running = []

    def serve(**changes: object) -> StudyServer:
        task = {"updates_per_page": 4, "idle_seconds": 60, **changes}
        path = write_stream_study(
            tmp_path, systems={"sysprompt": STREAM}, events={"TS14.91": "Storm over the islands"}, task=task
        )
        running.append(study_server(tmp_path, path))
        return running[-1].__enter__()

    yield serve
    for context in browser.contexts:
        context.close()
    for one in running:
        one.__exit__(None, None, None)


class Follower:
    """A worker at a browser who follows the stream."""

    def __init__(self, context: BrowserContext, server: StudyServer) -> None:
        self.server = server
        self.page = context.new_page()
        self.page.goto(f"{server.url}/s/small?id=follower")
        self.press()
        self.home = self.page.url.split("/1/")[0] + "/"
        self.press()

    def press(self, name: str | None = None) -> None:
        """Press a button of the form."""
        button = "form button" if name is None else f"form button[name={name}]"
        with self.page.expect_navigation():
            self.page.locator(button).first.click()

    def older(self) -> None:
        """Go to the portion before."""
        with self.page.expect_navigation():
            self.page.get_by_role("link", name="Older updates").click()

    def come_back(self, *, after_hours: float) -> None:
        """Open the standing link some hours later."""
        self.server.move_on(after_hours * HOUR)
        self.page.goto(self.home)

    def read_to_the_end(self) -> None:
        """Scroll through the whole page."""
        for item in self.page.locator("li[data-item]").all():
            item.scroll_into_view_if_needed()
            expect(item).to_have_attribute("data-read", "")

    def keys(self) -> list[str]:
        """Return the keys on the page, from the top."""
        return [item.get_attribute("data-item") or "" for item in self.page.locator("li[data-item]").all()]


def tables_of(server: StudyServer, folder: Path, *, closes: int | None = None) -> dict[str, pd.DataFrame]:
    """Export, once every page that was opened with scripts, but for the door, has told of its end."""
    if closes is not None:
        wanted = select(func.count()).select_from(StoredEvent).where(StoredEvent.kind == "close")
        server.until(lambda session: session.scalar(wanted) == closes, f"{closes} pages closed")
    with server.reading() as session:
        export_study(session, server.study(session), folder / "tables", now=server())
    return dict(read_tables(folder / "tables"))


def test_three_visits_are_three_rows_and_what_was_read_is_marked(
    phone: BrowserContext, streams: Callable[..., StudyServer], tmp_path: Path
) -> None:
    """New is what came since the newest update that was read; the portions of a visit belong to it.

    The nugget was known when the stream began, so it is a visit late: the system could have told it then.
    """
    server = streams()
    ann = Follower(phone, server)
    look = screenshots("stream-phone")
    assert ann.keys() == []
    look(ann.page, "nothing-yet")
    ann.press("done")
    look(ann.page, "away")
    ann.come_back(after_hours=18.5)
    assert ann.keys() == ["u6", "u5", "u4", "u3"]
    ann.read_to_the_end()
    look(ann.page, "read")
    ann.older()
    assert ann.keys() == ["u2", "u1"]
    ann.read_to_the_end()
    ann.press("done")
    assert ann.page.url.endswith("/useful")
    look(ann.page, "useful")
    ann.page.get_by_label("It was of use", exact=True).first.check()
    ann.press()
    ann.come_back(after_hours=6)
    assert ann.keys() == ["u8", "u7"]
    ann.page.goto("about:blank")

    tables = tables_of(server, tmp_path, closes=8)
    visits = tables["visits"]
    assert visits["visit"].tolist() == [1, 2, 3]
    assert visits["end_reason"].tolist()[:2] == ["exhausted", "exhausted"]
    away = (visits["start"] - visits["end"].shift()).dt.total_seconds()
    assert away[1] == pytest.approx(18.5 * HOUR, abs=20)
    assert away[2] == pytest.approx(6 * HOUR, abs=20)
    seen = tables["reads"].query("visit == 2")
    assert seen["item"].tolist() == [f"SYD-prompt-{number}" for number in (5, 4, 3, 2, 1, 0)]
    assert seen["fully_seen"].all()
    assert tables["lateness"][["nugget", "visits_late", "useful"]].to_numpy().tolist() == [["SYN-1", 1, True]]


def test_dwell_of_each_update_is_its_time_on_screen_within_a_tenth_of_a_second(
    phone: BrowserContext, streams: Callable[..., StudyServer], tmp_path: Path
) -> None:
    """Reading speed is fitted to these times. Each update is alone on the screen here."""
    server = streams()
    ann = Follower(phone, server)
    ann.come_back(after_hours=12.5)
    ann.page.evaluate(ALONE)
    stops = [("u4", 200), ("u3", 900), ("u2", 300), ("u1", 700), ("u4", 200)]
    times = ann.page.evaluate(STAY, stops)
    ann.page.goto("about:blank")
    reads = tables_of(server, tmp_path, closes=3)["reads"].query("visit == 2").set_index("item")
    for (key, _), (before, there), (leaving, gone) in list(zip(stops, times, times[1:], strict=False))[1:4]:
        dwell = reads["dwell_seconds"][f"SYD-prompt-{int(key[1:]) - 1}"]
        assert (leaving - there) / 1000 - 0.1 <= dwell <= (gone - before) / 1000 + 0.1


def test_a_cut_of_the_network_loses_nothing(
    phone: BrowserContext, streams: Callable[..., StudyServer], tmp_path: Path
) -> None:
    """What was read in a tunnel is told when the phone is out of it."""
    server = streams()
    ann = Follower(phone, server)
    ann.come_back(after_hours=12.5)
    phone.set_offline(True)
    ann.read_to_the_end()
    stored = select(func.max(StoredEvent.number)).join(PageLoad).where(PageLoad.step.endswith("/stream"))
    with server.reading() as session:
        before = session.scalar(stored) or 0
    phone.set_offline(False)
    server.until(lambda session: (session.scalar(stored) or 0) > before, "the events of the tunnel")
    ann.page.goto("about:blank")
    tables = tables_of(server, tmp_path, closes=3)
    assert tables["reads"].query("visit == 2")["fully_seen"].all()
    assert len(tables["reads"].query("visit == 2")) == 4


def test_a_page_that_is_killed_leaves_a_visit_that_just_stops(
    phone: BrowserContext, streams: Callable[..., StudyServer], tmp_path: Path
) -> None:
    """No goodbye came, so how long the visit would have lasted nobody knows: it is censored."""
    server = streams()
    ann = Follower(phone, server)
    ann.come_back(after_hours=18.5)
    beats = select(func.count()).select_from(StoredEvent).where(StoredEvent.kind == "beat")
    server.until(lambda session: (session.scalar(beats) or 0) >= 1, "a heartbeat")
    kill(ann.page)
    server.move_on(HOUR)
    visits = tables_of(server, tmp_path)["visits"]
    assert visits["end_reason"].tolist()[1] == "lost"


def test_two_tabs_are_one_visit(
    desktop: BrowserContext, streams: Callable[..., StudyServer], tmp_path: Path
) -> None:
    """Nobody reads two at once: a visit is the union of its pages."""
    server = streams()
    ann = Follower(desktop, server)
    ann.come_back(after_hours=12.5)
    other = desktop.new_page()
    other.goto(ann.page.url)
    expect(other.locator("li[data-read]")).not_to_have_count(0)
    other.close(run_before_unload=True)
    ann.read_to_the_end()
    ann.page.goto("about:blank")
    tables = tables_of(server, tmp_path, closes=4)
    assert tables["visits"]["visit"].tolist() == [1, 2]
    assert tables["reads"].query("visit == 2")["page"].nunique() == 2


def test_without_script_the_boxes_and_the_buttons_are_enough(
    no_script: BrowserContext, streams: Callable[..., StudyServer], tmp_path: Path
) -> None:
    """The visits are there, only nobody knows how long anything was looked at."""
    server = streams()
    ann = Follower(no_script, server)
    ann.press("done")
    ann.come_back(after_hours=12.5)
    ann.page.locator("[data-item=u4] input[name=read]").check()
    screenshots("stream-no-script")(ann.page, "stream")
    ann.press("done")
    ann.come_back(after_hours=3)
    assert ann.keys() == ["u5"]
    ann.press("done")
    tables = tables_of(server, tmp_path)
    assert tables["visits"]["visit"].tolist() == [1, 2, 3]
    assert tables["reads"].empty


def test_an_update_taller_than_the_screen_is_read_when_it_filled_it(
    phone: BrowserContext, tmp_path: Path
) -> None:
    """It can never be on the screen whole."""
    path = write_stream_study(
        tmp_path,
        systems={"sysprompt": [Told(TALL, 1), Told("Short.", 0.5)]},
        events={"TS14.91": "Storm over the islands"},
    )
    with study_server(tmp_path, path) as server:
        ann = Follower(phone, server)
        ann.come_back(after_hours=2)
        tall = ann.page.locator("[data-item=u2]")
        expect(tall).not_to_have_attribute("data-read", "")
        ann.page.mouse.wheel(0, 500)
        expect(tall).to_have_attribute("data-read", "")
        phone.close()


def test_a_double_click_leaves_once(phone: BrowserContext, streams: Callable[..., StudyServer]) -> None:
    """The second half of it is held back, and the server would take it well."""
    server = streams()
    ann = Follower(phone, server)
    ann.come_back(after_hours=3.5)
    ann.read_to_the_end()
    ann.page.locator("button[name=done]").dblclick()
    ann.page.wait_for_url("**/useful")
    ann.page.goto("about:blank")
    count = select(func.count()).select_from(StoredEvent)
    closes = count.where(StoredEvent.kind == "close")
    server.until(lambda session: session.scalar(closes) == 4, "4 pages closed")
    with server.reading() as session:
        assert session.scalar(count.where(StoredEvent.kind == "leave")) == 1
