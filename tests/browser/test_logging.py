"""What the page scripts write down of one page, in a real browser."""

import io
import wave
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route

from study_app.logs.logged_events import LoggedEvent
from study_app.protocol.items import Item
from tests.browser.log_server import ITEM_PIXELS, SET_VISIBILITY, LogServer, iunit, link
from tests.study_app.logged_page import PageReading, read_page

SCROLL = """async (stops) => {
  const times = [];
  for (const [y, ms] of stops) {
    const before = performance.now();
    scrollTo({ top: y, behavior: 'instant' });
    for (let n = 0; n < 2; n += 1) await new Promise(requestAnimationFrame);
    times.push([before, performance.now()]);
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
  return times;
}"""
"""Returns between which two moments each stop came on the screen: a frame may be late on a machine that is busy."""

FRAMES = """async () => {
  for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame);
  await new Promise((resolve) => setTimeout(resolve));
}"""
WAIT = "(ms) => new Promise((resolve) => setTimeout(resolve, ms))"
COME_BACK = """() => {
  dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
  document.dispatchEvent(new Event('visibilitychange'));
  dispatchEvent(new Event('blur'));
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
}"""


def opened(context: BrowserContext, server: LogServer) -> Page:
    page = context.new_page()
    page.goto(f"{server.url}/pair/first")
    return page


def left(page: Page, server: LogServer, *, closes: int = 1) -> list[dict[str, Any]]:
    """Leave the page, once it has told of everything that is on the screen, and return its log."""
    page.evaluate(FRAMES)
    page.goto("about:blank")
    server.until(lambda: len(server.of_kind("first", "close")) == closes, "close")
    return server.log("first")


def kind(log: Iterable[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in log if event["kind"] == name]


def seen(log: Iterable[dict[str, Any]], item: str, side: str = "left") -> list[float]:
    """Return the shares reported of one item, in order."""
    return [event["share"] for event in kind(log, "see") if (event["side"], event["item"]) == (side, item)]


def reading_of(log: Iterable[dict[str, Any]]) -> PageReading:
    """Return what the server makes of the log; every item has the same number of words."""
    known = {(event["side"], event["item"]): event["item"] for event in kind(log, "see")}
    items = [
        (side, Item(key=key, id=key, kind="iunit", words=10, chars=50, weight=10, layer=_layer(key)))
        for side, key in sorted(known, key=lambda place: (_layer(place[1]) or place[1], place[1]))
    ]
    texts = {side: [item for on, item in items if on == side] for side in ("left", "right")}
    return read_page([LoggedEvent(e["n"], e["kind"], e["ms"], e["wall"], e) for e in log], texts)


def _layer(key: str) -> str | None:
    return f"f{key[1:].split('.', maxsplit=1)[0]}" if key.startswith("s") else None


def test_a_page_opens_with_its_layout_its_size_and_somebody_in_front_of_it(
    phone: BrowserContext, server: LogServer
) -> None:
    """What follows is only to be understood with it."""
    log = left(opened(phone, server), server)
    assert [event["kind"] for event in log[:3]] == ["open", "visible", "focus"]
    said = {"n": 1, "layout": "stacked", "width": 390, "height": 844, "restored": False}
    assert said.items() <= log[0].items()


def test_dwell_of_each_item_is_its_time_on_screen_within_a_tenth_of_a_second(
    phone: BrowserContext, server: LogServer
) -> None:
    """The fits stand on these times; four items fill the screen, so each gets a quarter of every stop."""
    page = opened(phone, server)
    stops = [(0, 500), (4, 400), (8, 600), (2, 300), (10, 400)]
    times = page.evaluate(SCROLL, [(row * ITEM_PIXELS, ms) for row, ms in stops])
    log = left(page, server)
    rows = [(side, f"f{place}") for side in ("left", "right") for place in range(8)]
    times = [[kind(log, "see")[0]["ms"]] * 2, *times[1:], [kind(log, "close")[0]["ms"]] * 2]
    least: defaultdict[tuple[str, str], float] = defaultdict(float)
    most: defaultdict[tuple[str, str], float] = defaultdict(float)
    for (row, _), ((before, there), (leaving, gone)) in zip(stops, pairwise(times), strict=True):
        for place in rows[row : row + 4]:
            least[place] += (leaving - there) / 4000
            most[place] += (gone - before) / 4000
    dwell = {place: item.dwell_seconds for place, item in reading_of(log).items.items()}
    assert dwell.keys() == most.keys()
    wrong = {
        place: seconds
        for place, seconds in dwell.items()
        if not least[place] - 0.1 <= seconds <= most[place] + 0.1
    }
    assert not wrong


def test_an_item_is_reported_when_it_crosses_a_quarter_and_when_it_is_whole(
    phone: BrowserContext, server: LogServer
) -> None:
    """Shares divide the time among items on screen; only a whole item counts as fully seen."""
    page = opened(phone, server)
    page.evaluate(SCROLL, [(ITEM_PIXELS * (1 + eighths / 8), 60) for eighths in (0, 1, 3, 5, 7, 8)])
    shares = seen(left(page, server), "f5")
    assert shares == pytest.approx([0.12, 0.37, 0.62, 0.87, 1.0], abs=0.02)


def test_an_item_taller_than_the_screen_counts_by_pixels_over_the_viewport(
    phone: BrowserContext, server: LogServer
) -> None:
    """It can never be seen whole at once; it is fully on screen when it fills the screen."""
    server.left = iunit("f0") + iunit("f1") + iunit("f2") + iunit("f3") + iunit("f4", "tall")
    page = opened(phone, server)
    stops = [(y, 60) for y in (0, 106, 317, 528, 739, 844, 1500, 2532, 2532 + 422, 2532 + 844)]
    page.evaluate(SCROLL, stops)
    assert seen(left(page, server), "f4") == pytest.approx([0.12, 0.37, 0.62, 0.87, 1, 0.5, 0], abs=0.02)


def test_what_lies_behind_the_bar_with_the_answers_is_not_on_the_screen(
    phone: BrowserContext, server: LogServer
) -> None:
    """Three items stand above it; the fourth comes into sight from behind it, and shares are of the height above it."""
    server.is_docked = True
    server.left = iunit("f0") + iunit("f1") + iunit("f2") + iunit("f3") + iunit("f4", "tall")
    page = opened(phone, server)
    stops = [ITEM_PIXELS * quarters / 4 for quarters in (0, 1.5, 2.5, 4)]
    page.evaluate(SCROLL, [(y, 60) for y in [*stops, ITEM_PIXELS * 3, ITEM_PIXELS * 4]])
    page.evaluate("scrollTo({ top: 1e6, behavior: 'instant' })")
    log = left(page, server)
    assert seen(log, "f2")[0] == 1
    assert seen(log, "f3")[:3] == pytest.approx([0.37, 0.62, 1], abs=0.02)
    # 422 pixels of the 633 above the bar, then all of them.
    assert seen(log, "f4")[:2] == pytest.approx([0.66, 1], abs=0.02)
    assert seen(log, "f7", "right")[-1] == 1
    assert kind(log, "scroll")[-1]["depth"] == 1


def test_a_bar_that_grows_or_lies_still_changes_what_is_on_the_screen(
    phone: BrowserContext, server: LogServer
) -> None:
    """By a notice, or with very large text."""
    server.is_docked = True
    page = opened(phone, server)
    for pixels in (ITEM_PIXELS * 2, 600):
        page.evaluate(
            "(pixels) => { document.querySelector('[data-dock]').style.height = `${pixels}px`; }", pixels
        )
        page.evaluate(FRAMES)
        page.evaluate(WAIT, 100)
    log = left(page, server)
    assert seen(log, "f2") == [1, 0, 1]
    assert seen(log, "f3") == [1]


def test_a_second_layer_is_on_screen_only_while_it_is_open(phone: BrowserContext, server: LogServer) -> None:
    """Opening and closing are what reading a second layer means."""
    server.left = iunit("f0") + link(1, 2)
    page = opened(phone, server)
    summary = page.locator("section[data-side=left] summary")
    summary.click()
    page.wait_for_function(
        "() => document.querySelector('[data-item=\"s1.0\"]').getBoundingClientRect().height > 0"
    )
    page.evaluate(WAIT, 300)
    summary.click()
    log = left(page, server)
    layers = [(event["side"], event["item"], event["open"]) for event in kind(log, "layer")]
    assert layers == [("left", "f1", True), ("left", "f1", False)]
    assert seen(log, "s1.0") == [1, 0]
    opened_ms, closed_ms = (event["ms"] for event in kind(log, "layer"))
    assert reading_of(log).items["left", "s1.0"].dwell_seconds * 4 == pytest.approx(
        (closed_ms - opened_ms) / 1000, abs=0.1
    )


def test_of_a_link_the_line_to_click_counts_and_not_what_opens_below_it(
    phone: BrowserContext, server: LogServer
) -> None:
    """Else an open link would be larger than the screen and take the time of its own items."""
    server.left = link(0, 5)
    page = opened(phone, server)
    page.locator("section[data-side=left] summary").click()
    page.evaluate(SCROLL, [(0, 100), (ITEM_PIXELS, 100)])
    assert seen(left(page, server), "f0") == [1, 0]


def test_nothing_is_read_while_the_page_is_hidden(phone: BrowserContext, server: LogServer) -> None:
    """A worker in another tab reads something else."""
    page = opened(phone, server)
    page.evaluate(WAIT, 200)
    page.evaluate(SET_VISIBILITY, "hidden")
    page.evaluate(WAIT, 500)
    page.evaluate(SET_VISIBILITY, "visible")
    page.evaluate(WAIT, 200)
    log = left(page, server)
    (hidden,) = kind(log, "hidden")
    shown = kind(log, "visible")[1]
    whole = log[-1]["ms"] - log[0]["ms"]
    assert shown["ms"] - hidden["ms"] >= 500
    expected = (whole - (shown["ms"] - hidden["ms"])) / 1000
    assert reading_of(log).visible_seconds == pytest.approx(expected, abs=0.005)


def test_a_window_without_the_focus_says_so_and_a_touch_gives_it_back(
    phone: BrowserContext, server: LogServer
) -> None:
    """Reading counts with the focus; a browser that never tells of it must not lose a whole page's reading."""
    page = opened(phone, server)
    page.evaluate("() => dispatchEvent(new Event('blur'))")
    page.locator("section[data-side=left] p").first.tap()
    log = [event["kind"] for event in left(page, server)]
    assert log.index("blur") < len(log) - 1 - log[::-1].index("focus")


def test_sleep_of_the_machine_is_told_before_anything_that_follows_it(
    phone: BrowserContext, server: LogServer
) -> None:
    """Only the step between the two clocks shows it."""
    page = opened(phone, server)
    page.evaluate("() => { const now = Date.now; Date.now = () => now() + 60_000; }")
    page.get_by_label("left", exact=True).check()
    log = left(page, server)
    (sleep,) = kind(log, "sleep")
    assert sleep["lost_ms"] == pytest.approx(60_000, abs=100)
    ahead = [event["wall"] - event["ms"] - log[0]["wall"] + log[0]["ms"] for event in log]
    before = sleep["n"] - 1
    assert ahead == pytest.approx([0] * before + [60_000] * (len(log) - before), abs=100)


def test_a_small_step_of_the_wall_clock_is_no_sleep(phone: BrowserContext, server: LogServer) -> None:
    """Clocks are set by a second or so all the time."""
    page = opened(phone, server)
    page.evaluate("() => { const now = Date.now; Date.now = () => now() + 1_500; }")
    page.get_by_label("left", exact=True).check()
    assert not kind(left(page, server), "sleep")


def test_a_page_gives_a_sign_of_life_every_five_seconds_while_visible(
    phone: BrowserContext, server: LogServer
) -> None:
    """Where the signs stop, the worker was gone, whatever the browser did not get to say."""
    page = phone.new_page()
    page.clock.install()
    page.goto(f"{server.url}/pair/first")
    page.clock.run_for(16_000)
    page.evaluate(SET_VISIBILITY, "hidden")
    page.clock.run_for(20_000)
    beats = [event["ms"] for event in kind(left(page, server), "beat")]
    assert len(beats) == 3
    assert [later - earlier for earlier, later in pairwise(beats)] == pytest.approx([5000, 5000], abs=1100)


def test_a_turned_phone_or_a_narrowed_window_changes_the_layout_in_force(
    desktop: BrowserContext, server: LogServer
) -> None:
    """The layout is told by where the summaries stand."""
    page = opened(desktop, server)
    page.set_viewport_size({"width": 600, "height": 800})
    page.wait_for_function(
        "() => document.querySelector('[data-side=right]').getBoundingClientRect().left === 0"
    )
    log = left(page, server)
    assert log[0]["layout"] == "side_by_side"
    assert [event["layout"] for event in kind(log, "layout")] == ["stacked"]


def test_the_deepest_point_shown_only_grows(phone: BrowserContext, server: LogServer) -> None:
    """Scrolling back up unreads nothing."""
    page = opened(phone, server)
    page.evaluate(SCROLL, [(600, 60), (0, 60), (900, 60), (99_999, 60), (0, 60)])
    depths = [event["depth"] for event in kind(left(page, server), "scroll")]
    assert depths == sorted(set(depths))
    assert len(depths) == 4
    assert depths[-1] == 1


def test_a_page_that_comes_back_opens_again_and_tells_what_is_on_screen(
    phone: BrowserContext, server: LogServer
) -> None:
    """The back/forward cache revives the very page, with its clock and its numbers; nothing happens while it is away."""
    page = opened(phone, server)
    page.evaluate(FRAMES)
    page.evaluate(COME_BACK)
    log = left(page, server, closes=2)
    again = next(event["n"] for event in kind(log, "open") if event["restored"])
    assert [event["n"] for event in log] == list(range(1, len(log) + 1))
    assert kind(log, "close")[0]["n"] == again - 1
    assert {event["item"]: event["share"] for event in kind(log[again:], "see")} == dict.fromkeys(
        ("f0", "f1", "f2", "f3"), 1
    )


@pytest.mark.parametrize("name", ["audio", "video"])
def test_a_sound_or_film_is_seen_once_it_has_loaded(
    phone: BrowserContext, server: LogServer, name: str
) -> None:
    """Its player stands there before; what does not come is never seen."""
    player = f'<{name} controls preload="auto" src="/SRC"></{name}>'
    server.left = "".join(
        f'<p data-item="{key}">{player.replace("SRC", src)}</p>'
        for key, src in (("m1", "held"), ("m2", "lost"))
    )
    page, held = phone.new_page(), list[Route]()
    page.route("**/held", lambda route: held.append(route))  # noqa: PLW0108 - playwright looks into it
    page.route("**/lost", lambda route: route.abort())
    page.goto(f"{server.url}/pair/first", wait_until="commit")
    page.wait_for_timeout(500)
    assert len(held) == 1
    held[0].fulfill(body=tone(), content_type="audio/wav")
    page.wait_for_function("() => document.querySelector('[src=\"/held\"]').readyState >= 2")
    log = left(page, server)
    assert seen(log, "m1") == [1]
    assert seen(log, "m2") == []
    assert next(e["ms"] for e in kind(log, "see") if e["item"] == "m1") >= 400


def tone() -> bytes:
    """Return a short sound."""
    stream = io.BytesIO()
    with wave.open(stream, "wb") as sound:
        sound.setparams((1, 2, 8_000, 0, "NONE", ""))
        sound.writeframes(b"\0\x10" * 4_000)
    return stream.getvalue()
