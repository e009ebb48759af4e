"""Simulated follower of streams, who reads the newest update first in each visit.

The laws are those of Modeled Stream Utility (modeled-stream-utility §3): visits of a person last Exp(D) wall seconds and
are Exp(A) stream seconds apart; reading an update takes words / V seconds. A visit that ends during an update leaves it
unread. A person who has read everything leaves at once.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from study_app.simulate.browser import Browser, CrowdClock, Page, PageError, PageLog, text_of
from study_app.simulate.crowd_parameters import Behaviour, Lateness
from study_app.simulate.task_truth import KnownEvent, Memory, StreamTruth

BATCH_EVENTS = 60
LEAVES_BY_FORM = 0.7
"""Share of visits that end with the page's form; the others just close the page."""
READING_NOISE_SD = 0.3
"""Standard deviation of the log of the reading time of an update."""
BEFORE_WHOLE = 0.6
"""Share of an update that is visible while it is read; then all of it is."""
AFTER_THE_END = timedelta(minutes=5)
"""Time from the end of the last stream to the visit of the home page."""
CLOCK_JUMP_SECONDS = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Pace of a person: stream seconds away (mean A), session (mean D), words/s V."""

    away_seconds: float
    session_seconds: float
    words_per_second: float


class Follower:
    """Simulated person who follows the streams of a task.

    Parameters
    ----------
    site : Browser
        The person's browser.
    clock : CrowdClock
        The study's clock.
    size : (int, int)
        Width and height of the window in pixels.
    pace : Pace
        Time away, session length and reading speed.
    lateness : Lateness
        How soon an update loses its use.
    habits : Behaviour
        Probabilities of disturbances.
    done : Counter
        Number of disturbances by name; the follower adds its own.
    rng : numpy.random.Generator
        Random generator of this person.
    """

    def __init__(
        self,
        site: Browser,
        *,
        clock: CrowdClock,
        size: tuple[int, int],
        pace: Pace,
        lateness: Lateness,
        habits: Behaviour,
        done: Counter[str],
        rng: np.random.Generator,
    ) -> None:
        self._site, self._clock, self._size, self._pace = site, clock, size, pace
        self._lateness, self._habits, self._done, self._rng = lateness, habits, done, rng
        self._without_script = self._habit(habits.no_script, "no_script")
        self.page: Page | None = None
        self._memories: dict[str, Memory] = {}
        self._held_back: list[Mapping[str, Any]] = []
        self._next: dict[str, datetime] = {}
        self._ends: dict[str, datetime] = {}

    def enrolled(self, page: Page, world: StreamTruth) -> None:
        """Record that a stream begins now; ``page`` is the page with the consent."""
        address = _stream_address(page)
        event = world.events[text_of(page.marked("data-query"))]
        self._ends[address] = self._clock() + timedelta(seconds=event.follow_seconds)
        self._stay_away(address, world)

    def come_back(self, home: str) -> Iterator[float]:
        """Wait for the next visit, or for the end of all streams, and open its page.

        Parameters
        ----------
        home : str
            Address of the person's standing link, opened after the last stream.
        """
        self.page = None
        visits = {address: time for address, time in self._next.items() if time < self._ends[address]}
        address, time = min(
            visits.items(),
            key=lambda item: item[1],
            default=(home, max(self._ends.values()) + AFTER_THE_END),
        )
        yield max(0.0, (time - self._clock()).total_seconds())
        self.page = self._site.open(address)
        if not visits:
            self._send_held_back(self.page)

    def visit(self, page: Page, world: StreamTruth) -> Iterator[float]:
        """Read a stream until the session ends or every update is read.

        Afterwards ``self.page`` is the page that follows the form, or None if the page was closed.
        """
        address = _stream_address(page)
        event = world.events[text_of(page.marked("data-query"))]
        memory = self._memories.setdefault(address, Memory())
        elapsed = self._clock() - (self._ends[address] - timedelta(seconds=event.follow_seconds))
        memory.visits.append(event.start + world.factor * elapsed.total_seconds())
        seconds_left = float(self._rng.exponential(self._pace.session_seconds))
        yield from self._other_tab(page)
        while True:
            log = self._opened(page)
            read_keys, seconds_left = self._read(log, page, event, memory, seconds_left)
            older = page.older()
            is_page_read = len(read_keys) == len(page.updates())
            if older is not None and is_page_read and seconds_left > 0:
                log.note("close")
                yield from self._pass(page, log)
                page = self._site.open(older)
                continue
            if self._habit(self._habits.reload, "reload"):
                log.note("close")
                yield from self._pass(page, log)
                page = self._site.open(page.url)
                continue
            break
        yield from self._leave(page, log, read_keys)
        self._stay_away(address, world)

    def useful(self, page: Page) -> Iterator[float]:
        """Answer for each update in question whether it was still of use.

        The answer is no for an update without a new nugget. The server asks about one if the log of an earlier
        reading has not arrived.
        """
        memory = self._memories[_stream_address(page)]
        yield float(self._rng.uniform(3, 12))
        form = page.form()
        answers = {}
        for name, key in page.questions().items():
            new = memory.new[key]
            if len(new) > 1:
                raise PageError(
                    f"{page.url}: question about {key}: expected at most 1 new nugget, got {len(new)}"
                )
            chance = self._lateness.chance(memory.visits_late(new[0][1])) if new else 0.0
            answers[name] = "yes" if self._rng.random() < chance else "no"
        self.page = self._site.send(form, answers)

    def _habit(self, probability: float, name: str) -> bool:
        happens = bool(self._rng.random() < probability)
        self._done[name] += happens
        return happens

    def _stay_away(self, address: str, world: StreamTruth) -> None:
        away = float(self._rng.exponential(self._pace.away_seconds)) / world.factor
        self._next[address] = self._clock() + timedelta(seconds=away)

    def _opened(self, page: Page) -> PageLog:
        log = PageLog(page.token, self._clock(), layout="stacked", size=self._size)
        if self._habit(self._habits.clock_jump, "clock_jump"):
            log.jump(float(self._rng.choice([-1, 1])) * CLOCK_JUMP_SECONDS)
        return log

    def _read(
        self, log: PageLog, page: Page, event: KnownEvent, memory: Memory, seconds_left: float
    ) -> tuple[list[str], float]:
        """Read from the top until the session ends.

        It returns the keys read on this page, and the seconds left.
        """
        read_keys = []
        for update in page.updates():
            if update.read:
                read_keys.append(update.key)
                continue
            noise = float(np.exp(self._rng.normal(0.0, READING_NOISE_SD)))
            seconds = len(update.text.split()) / self._pace.words_per_second * noise
            log.note("see", side="stream", item=update.key, share=BEFORE_WHOLE)
            log.wait(min(seconds, seconds_left))
            if seconds > seconds_left:
                return read_keys, 0.0
            seconds_left -= seconds
            log.note("see", side="stream", item=update.key, share=1)
            log.note("see", side="stream", item=update.key, share=0)
            memory.take(update.key, event.brought(update.key, update.text))
            read_keys.append(update.key)
        return read_keys, seconds_left

    def _other_tab(self, page: Page) -> Iterator[float]:
        """Open the stream in a second, hidden tab, if habit ``two_tabs`` occurs."""
        if not self._without_script and self._habit(self._habits.two_tabs, "two_tabs"):
            second_page = self._site.open(page.url)
            log = PageLog(second_page.token, self._clock(), layout="stacked", size=self._size)
            log.note("hidden")
            self._post(second_page, log)
        yield 0.0

    def _leave(self, page: Page, log: PageLog, read_keys: list[str]) -> Iterator[float]:
        """Leave by the page's form, or close the page."""
        by_form = self._without_script or self._rng.random() < LEAVES_BY_FORM
        if by_form:
            log.note("leave")
        log.note("close")
        yield from self._pass(page, log)
        if not by_form:
            self.page = None
            return
        form = page.form()
        self.page = self._site.send(form, {"read": read_keys})
        if self._habit(self._habits.double_click, "double_click"):
            self.page = self._site.send(form, {"read": read_keys})

    def _pass(self, page: Page, log: PageLog) -> Iterator[float]:
        """Wait for the duration of a page, then post its log."""
        yield log.seconds
        self._post(page, log)

    def _post(self, page: Page, log: PageLog) -> None:
        """Send the events of a page in batches.

        With the habit ``retry`` all batches are sent twice, first in reverse order; with ``offline`` likewise, but only
        after the batches of the next page.
        """
        if self._without_script:
            return
        batches: list[Mapping[str, Any]] = list(log.batches(BATCH_EVENTS))
        if self._habit(self._habits.offline, "offline"):
            self._held_back += [*batches[::-1], *batches]
            return
        if self._habit(self._habits.retry, "retry"):
            batches = [*batches[::-1], *batches]
        for batch in batches:
            self._site.log(page.events_url, batch)
        self._send_held_back(page)

    def _send_held_back(self, page: Page) -> None:
        for batch in self._held_back:
            self._site.log(page.events_url, batch)
        self._held_back = []


def _stream_address(page: Page) -> str:
    """Return the address of the stream of a page at /w/TOKEN/N/Q/..."""
    return page.url.partition("?")[0].rpartition("/")[0] + "/stream"
