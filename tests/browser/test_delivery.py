"""Nothing that was written down is lost on its way to the server, and nothing is stored twice."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route

from tests.browser.killing import kill
from tests.browser.log_server import EVENTS_URL, SET_VISIBILITY, LogServer

FAR_AHEAD = "2100-01-01"
DAY_MS = 24 * 3600 * 1000
BATCH_BYTES = 48 * 1024
NO_DATABASE = (
    "Object.defineProperty(window, 'indexedDB', { get() { throw new DOMException('', 'SecurityError'); } });"
)
NO_STORAGE = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); } });"
NO_KEEPALIVE = "delete Request.prototype.keepalive;"
FULL_DISK = """
for (const [where, how] of [[IDBObjectStore, 'put'], [Storage, 'setItem']]) {
  where.prototype[how] = () => { throw new DOMException('', 'QuotaExceededError'); };
}
"""
CHOOSE_AMONG_OTHERS = """() => {
  for (let n = 0; n < 5; n += 1) dispatchEvent(new Event('focus'));
  document.querySelector('input[value=left]').click();
  for (let n = 0; n < 5; n += 1) dispatchEvent(new Event('blur'));
}"""
KEPT = """async () => {
  const { Store } = await import('/static/js/store.js');
  return (await new Store().all()).map((row) => [row.page, row.event.kind]);
}"""
PUT_ROWS = """(rows) => new Promise((resolve) => {
  indexedDB.open('prefcal', 1).onsuccess = ({ target: { result: database } }) => {
    const transaction = database.transaction('events', 'readwrite');
    for (const row of rows) transaction.objectStore('events').put(row);
    transaction.oncomplete = resolve;
  };
})"""


def opened(context: BrowserContext, server: LogServer, name: str = "first") -> Page:
    """Open a page whose timers the test can push forward."""
    page = context.new_page()
    page.clock.install()
    page.goto(f"{server.url}/pair/{name}")
    return page


def choose(page: Page, option: str = "left") -> None:
    page.get_by_label(option, exact=True).check()


def chosen(server: LogServer, name: str = "first") -> list[str]:
    return [event["choice"] for event in server.of_kind(name, "choice")]


def push_on(page: Page, server: LogServer, true: Callable[[], object]) -> None:
    """Let the page's time run, second by second, until something holds."""
    for _ in range(300):
        if true():
            return
        page.clock.run_for(1000)
        server.wait(0.02)
    pytest.fail("not within five minutes of the page")


def pages_kept(page: Page) -> set[str]:
    """Return the pages of which the browser still keeps events."""
    return {kept for kept, _ in page.evaluate(KEPT)}


def choice_kept(page: Page) -> bool:
    """Whether a choice is written down, so that it no longer needs its page."""
    return "choice" in {kind for _, kind in page.evaluate(KEPT)}


def refuse_everything(_batch: dict[str, Any]) -> int:
    return 500


def refuse_choices(batch: dict[str, Any]) -> int:
    return 400 if any(event["kind"] == "choice" for event in batch["events"]) else 200


def accept(_batch: dict[str, Any]) -> int:
    return 200


def test_events_travel_every_few_seconds_without_being_asked(
    phone: BrowserContext, server: LogServer
) -> None:
    """A worker who never leaves a page is followed all the same."""
    page = opened(phone, server)
    choose(page)
    push_on(page, server, lambda: chosen(server))
    sent = server.batches[-1]
    assert sent["sent_ms"] >= sent["events"][-1]["ms"]
    assert sent["sent_wall_ms"] >= sent["events"][-1]["wall"]


@pytest.mark.parametrize("missing", ["", NO_KEEPALIVE], ids=["fetch", "beacon"])
def test_leaving_the_page_sends_what_is_left_at_once(
    phone: BrowserContext, server: LogServer, missing: str
) -> None:
    """The next page may be days away, or on another site."""
    phone.add_init_script(missing)
    page = opened(phone, server)
    choose(page)
    page.goto("about:blank")
    server.until(lambda: server.of_kind("first", "close"))
    assert chosen(server) == ["left"]
    assert not server.holes("first")


def test_hiding_the_page_sends_what_is_left_at_once(phone: BrowserContext, server: LogServer) -> None:
    """A phone may never show a hidden page again, and never say that it is gone."""
    page = opened(phone, server)
    page.clock.pause_at(FAR_AHEAD)
    choose(page)
    page.evaluate(SET_VISIBILITY, "hidden")
    server.until(lambda: server.of_kind("first", "hidden"))
    assert chosen(server) == ["left"]


def test_what_happens_offline_arrives_when_the_network_is_back(
    phone: BrowserContext, server: LogServer
) -> None:
    """Phones lose the network in every lift; nobody waits for the next try then."""
    page = opened(phone, server)
    push_on(page, server, lambda: server.log("first"))
    phone.set_offline(True)
    choose(page)
    page.clock.run_for(30_000)
    page.clock.pause_at(FAR_AHEAD)
    choose(page, "right")
    assert chosen(server) == []
    phone.set_offline(False)
    server.until(lambda: len(chosen(server)) == 2, "events after the network came back")
    assert not server.holes("first")


def test_the_next_page_sends_what_a_killed_page_could_not(phone: BrowserContext, server: LogServer) -> None:
    """Browsers kill pages without a word; what the page wrote down carries its own page token."""
    page = opened(phone, server)
    phone.set_offline(True)
    choose(page)
    push_on(page, server, lambda: choice_kept(page))
    kill(page)
    assert not chosen(server)
    phone.set_offline(False)
    opened(phone, server, "second")
    server.until(lambda: chosen(server), "events of the killed page")
    assert not server.holes("first")
    assert not server.of_kind("first", "close")
    assert not chosen(server, "second")


def test_a_page_left_offline_is_sent_to_its_last_event(phone: BrowserContext, server: LogServer) -> None:
    """Even what happens while the page goes away is kept."""
    page = opened(phone, server)
    phone.set_offline(True)
    page.goto("about:blank")
    phone.set_offline(False)
    opened(phone, server, "second")
    server.until(lambda: server.of_kind("first", "close"))
    assert not server.holes("first")


def test_events_wait_out_a_failing_server_without_hammering_it(
    phone: BrowserContext, server: LogServer
) -> None:
    """The wait doubles up to a minute, and never ends in giving up."""
    server.judge = refuse_everything
    page = opened(phone, server)
    choose(page)
    for _ in range(300):
        page.clock.run_for(1000)
        server.wait(0.005)
    assert 5 <= len(server.batches) <= 15
    server.judge = accept
    push_on(page, server, lambda: chosen(server))
    assert not server.holes("first")


def test_events_whose_answer_was_lost_are_sent_again_and_stored_once(
    phone: BrowserContext, server: LogServer
) -> None:
    """The page cannot know whether the batch or its answer was lost."""
    server.lose_answers = True
    page = opened(phone, server)
    choose(page)
    push_on(page, server, lambda: server.repeated)
    server.lose_answers = False
    choose(page, "right")
    push_on(page, server, lambda: len(chosen(server)) == 2)
    assert chosen(server) == ["left", "right"]
    assert not server.holes("first")


def test_an_answer_that_is_not_the_servers_own_counts_as_none(
    phone: BrowserContext, server: LogServer
) -> None:
    """The sign-in page of a hotel's network answers 200 to everything."""
    page = opened(phone, server)
    caught: list[str] = []

    def sign_in(route: Route) -> None:
        caught.append(route.request.url)
        route.fulfill(status=200, body="<html>sign in</html>")

    page.route(f"**{EVENTS_URL}", sign_in)
    choose(page)
    push_on(page, server, lambda: caught)
    page.unroute(f"**{EVENTS_URL}", sign_in)
    push_on(page, server, lambda: chosen(server))
    assert not server.holes("first")


def test_a_malformed_event_takes_no_other_with_it(phone: BrowserContext, server: LogServer) -> None:
    """A server may be newer or older than the script; what it refuses is a visible gap and nothing more."""
    server.judge = refuse_choices
    page = opened(phone, server)
    page.evaluate(CHOOSE_AMONG_OTHERS)
    push_on(page, server, lambda: server.of_kind("first", "beat"))
    push_on(page, server, lambda: not pages_kept(page))
    assert len(server.holes("first")) == 1
    assert not chosen(server)
    assert len(server.batches) < 30


@pytest.mark.parametrize("missing", ["", NO_DATABASE], ids=["IndexedDB", "localStorage"])
def test_events_are_kept_in_the_database_or_else_in_the_local_storage(
    phone: BrowserContext, server: LogServer, missing: str
) -> None:
    """Some private windows have no IndexedDB."""
    phone.add_init_script(missing)
    server.judge = refuse_everything
    page = opened(phone, server)
    choose(page)
    push_on(page, server, lambda: server.batches and choice_kept(page))
    kill(page)
    server.judge = accept
    opened(phone, server, "second")
    server.until(lambda: chosen(server))
    assert not server.holes("first")


@pytest.mark.parametrize("missing", [NO_DATABASE + NO_STORAGE, FULL_DISK], ids=["forbidden", "full"])
def test_without_any_storage_the_page_itself_keeps_its_events(
    phone: BrowserContext, server: LogServer, missing: str
) -> None:
    """A full disk or a forbidding browser costs only what a killed page had not yet sent."""
    phone.add_init_script(missing)
    server.judge = refuse_everything
    page = opened(phone, server)
    choose(page)
    push_on(page, server, lambda: server.batches)
    server.judge = accept
    push_on(page, server, lambda: chosen(server))
    assert not server.holes("first")


def test_what_the_server_has_is_forgotten(phone: BrowserContext, server: LogServer) -> None:
    """Else every page would send the whole study again."""
    page = opened(phone, server)
    choose(page)
    push_on(page, server, lambda: chosen(server))
    push_on(page, server, lambda: not pages_kept(page))


def test_a_long_log_travels_in_batches_below_the_limit(phone: BrowserContext, server: LogServer) -> None:
    """Browsers allow 64 KiB for what is sent while a page goes away."""
    server.judge = refuse_everything
    page = opened(phone, server)
    page.evaluate("() => { for (let n = 0; n < 2000; n += 1) dispatchEvent(new Event('focus')); }")
    push_on(page, server, lambda: server.batches)
    server.judge = accept
    push_on(page, server, lambda: len(server.of_kind("first", "focus")) > 2000)
    sizes = [len(json.dumps(batch, separators=(",", ":"))) for batch in server.batches]
    assert BATCH_BYTES * 0.9 < max(sizes) <= BATCH_BYTES
    assert not server.holes("first")


def row(page: str, n: int, *, age_ms: int = 0) -> dict[str, Any]:
    """Return a row of the store, so old by the browser's clock."""
    event = {"n": n, "kind": "beat", "ms": 5000, "wall": 0, "age": age_ms}
    return {"page": page, "n": n, "url": EVENTS_URL, "event": event}


def put(page: Page, rows: list[dict[str, Any]]) -> None:
    page.evaluate(
        f"""async (rows) => {{
      for (const row of rows) row.event.wall = Date.now() - row.event.age;
      await ({PUT_ROWS})(rows);
    }}""",
        rows,
    )


def test_a_gap_that_no_browser_can_fill_is_not_sent_for_ever(
    phone: BrowserContext, server: LogServer
) -> None:
    """What was stored behind it is stored; the gap stays visible."""
    page = opened(phone, server)
    put(page, [row("old", 3), row("old", 4)])
    page = opened(phone, server, "second")
    server.until(lambda: len(server.log("old")) == 2)
    push_on(page, server, lambda: "old" not in pages_kept(page))
    assert server.holes("old") == [1, 2]


def test_leftovers_of_a_study_long_gone_are_dropped(phone: BrowserContext, server: LogServer) -> None:
    """After a month nobody waits for them, and a browser is no archive."""
    page = opened(phone, server)
    put(page, [row("ancient", 1, age_ms=31 * DAY_MS), row("recent", 1, age_ms=29 * DAY_MS)])
    page = opened(phone, server, "second")
    server.until(lambda: server.log("recent"))
    push_on(page, server, lambda: "ancient" not in pages_kept(page))
    assert "ancient" not in server.events
