"""Simulated worker: from the entrance to the completion code, page by page.

`Person.live` is a generator that yields the seconds until the person acts again, so that many people can live on one
clock (`study_app.simulate.crowd`).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from study_app.simulate.browser import Browser, CrowdClock, Fields, Page, PageError, PageLog, text_of
from study_app.simulate.crowd_parameters import CrowdParameters
from study_app.simulate.follower import Follower, Pace
from study_app.simulate.mind import Judge, check_fields, question_fields, rating_fields, tick_chances
from study_app.simulate.task_truth import KnownTask, StreamTruth, TaskTruth
from study_app.study.entries import QuestionTask, expect_entry_type

Kind = TypeVar("Kind")

BATCH_EVENTS = 150
PHONE = (
    "Mozilla/5.0 (Linux; Android 14; Mobile) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36",
    (390, 844),
)
DESKTOP = ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36", (1280, 800))
STACKED_BELOW_PIXELS = 640
QUITTING_ON_A_PAGE = 0.1
"""Chance that someone who is not going to finish leaves on the page at hand."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of what one person did."""

    done: Counter[str] = field(default_factory=Counter)
    code: str | None = None


class Person:
    """A worker of the crowd.

    Parameters
    ----------
    site : Browser
        The person's browser.
    size : (int, int)
        Of the window, in pixels.
    clock : CrowdClock
        The study's clock.
    tasks : mapping of int to KnownTask
        Task number (from 1) -> what can be known of it.
    truth : Truth
        What the people are like.
    rng : numpy.random.Generator
        This person's randomness.
    """

    def __init__(
        self,
        site: Browser,
        *,
        size: tuple[int, int],
        clock: CrowdClock,
        tasks: Mapping[int, KnownTask],
        truth: CrowdParameters,
        rng: np.random.Generator,
    ) -> None:
        self._site, self._size, self._clock, self._rng = site, size, clock, rng
        self._tasks, self._habits = tasks, truth.behaviour
        away, session, speed = truth.people.user(rng)
        self._careless = rng.random() < self._habits.careless
        self._quits = rng.random() < self._habits.quit
        self._layout = "stacked" if size[0] < STACKED_BELOW_PIXELS else "side_by_side"
        self._held_back: list[tuple[str, dict[str, Any]]] = []
        self.tally = Tally()
        self._judge = Judge(
            world=self._material, truth=truth, words_per_second=speed, careless=self._careless, rng=rng
        )
        self._follower = Follower(
            site,
            clock=clock,
            size=size,
            pace=Pace(away_seconds=away, session_seconds=session, words_per_second=speed),
            lateness=truth.lateness,
            habits=truth.behaviour,
            done=self.tally.done,
            rng=rng,
        )

    @property
    def events_sent(self) -> int:
        """Number of events that this person's browser sent."""
        return self._site.events_sent

    def live(self, entrance: str) -> Iterator[float]:
        """Go through the study from the address ``entrance``.

        It yields the seconds until the next action.
        """
        steps: dict[str, Callable[[Page], Iterator[float]]] = {
            "consent": self._consent,
            "intro": self._intro,
            "choose": self._choose,
            "search": self._search,
            "vote": self._vote,
            "pair": self._pair,
            "rate": self._rate,
            "questions": self._questions,
            "enrol": self._enrol,
            "streams": self._come_back,
            "stream": self._stream,
            "useful": self._useful,
            "away": self._come_back,
            "finish": self._finish,
        }
        self._page = self._site.open(entrance)
        while self._page.step in steps:
            if self._quits and self._habit(QUITTING_ON_A_PAGE):
                self.tally.done["quit"] += 1
                return
            if self._habit(self._habits.reload):
                self.tally.done["reload"] += 1
                self._page = self._site.open(self._page.url)
            yield from steps[self._page.step](self._page)
        self._send_held_back()
        if self._page.step == "done":
            self.tally.code = text_of(self._page.marked("data-code"))
        else:
            is_at_the_door = "/s/" in self._page.url
            self.tally.done["refused_at_the_door" if is_at_the_door else "turned_away"] += 1

    def _habit(self, probability: float) -> bool:
        return bool(self._rng.random() < probability)

    def _between(self, low: float, high: float) -> float:
        return float(self._rng.uniform(low, high))

    def _send(self, fields: Fields) -> None:
        form = self._page.form()
        page = self._site.send(form, fields)
        if self._habit(self._habits.double_click):
            self.tally.done["double_click"] += 1
            page = self._site.send(form, fields)
        self._page = page

    def _consent(self, page: Page) -> Iterator[float]:
        yield self._between(10, 60)
        if "agree" not in page.form().options and "agree" not in page.form().hidden:
            raise PageError(f"{page.url}: no way to agree")
        self._send({"agree": "yes"})

    def _choose(self, page: Page) -> Iterator[float]:
        yield self._between(5, 30)
        offered = page.form().options["topic"]
        value, _ = offered[self._rng.integers(len(offered))]
        self._send({"topic": value})

    def _search(self, page: Page) -> Iterator[float]:
        least = float(page.marked("data-seconds-left").get("data-seconds-left"))
        yield least + self._between(2, 90)
        self._send({})

    def _vote(self, page: Page) -> Iterator[float]:
        offered = page.form().options["intent"]
        if self._careless:
            yield self._between(1, 4)
            ticked = [value for value, _ in offered if self._habit(1 / 2)]
        else:
            yield self._between(8, 40)
            query = text_of(page.marked("data-query"))
            chances = tick_chances(self._material(page).chances[query])
            ticked = [value for value, label in offered if self._rng.random() < chances[label]]
        self._send({"intent": ticked} if ticked else {"none": "1"})

    def _finish(self, page: Page) -> Iterator[float]:  # noqa: ARG002 - every step takes its page
        yield self._between(2, 10)
        self._send({})

    def _enrol(self, page: Page) -> Iterator[float]:
        yield self._between(10, 60)
        self._follower.enrolled(page, self._events(page))
        self._send({"start": "yes"})

    def _stream(self, page: Page) -> Iterator[float]:
        yield from self._follower.visit(page, self._events(page))
        yield from self._go_on(page)

    def _useful(self, page: Page) -> Iterator[float]:
        yield from self._follower.useful(page)
        yield from self._go_on(page)

    def _go_on(self, page: Page) -> Iterator[float]:
        """Go to the page after a stream's, or stay away when there is none."""
        if self._follower.page is None:
            yield from self._come_back(page)
        else:
            self._page = self._follower.page

    def _come_back(self, page: Page) -> Iterator[float]:
        yield from self._follower.come_back(page.home)
        if self._follower.page is not None:
            self._page = self._follower.page

    def _material(self, page: Page) -> TaskTruth:
        """Return the truth about the pairs, votes or ratings of a page."""
        return self._expected(page, TaskTruth)

    def _events(self, page: Page) -> StreamTruth:
        """Return the truth about the streams of a page."""
        return self._expected(page, StreamTruth)

    def _expected(self, page: Page, kind: type[Kind]) -> Kind:
        world = self._tasks[page.task].world
        if not isinstance(world, kind):
            raise PageError(f"{page.url}: a page of another kind of task")
        return world

    def _pair(self, page: Page) -> Iterator[float]:
        log = PageLog(page.token, self._clock(), layout=self._layout, size=self._size)
        answer = self._judge.judge(page, log)
        log.note("choice", choice=answer["choice"])
        log.note("submit", choice=answer["choice"])
        log.note("close")
        yield log.seconds
        self._post_events(page, log)
        self._send({**answer, "decision_ms": str(round(log.seconds * 1000)), "layout": self._layout})

    def _intro(self, page: Page) -> Iterator[float]:
        yield self._between(20, 90)
        entry = self._tasks[page.task].entry
        self._send(check_fields(page, entry, careless=self._careless, rng=self._rng))

    def _rate(self, page: Page) -> Iterator[float]:
        fields = rating_fields(page, self._material(page), careless=self._careless, rng=self._rng)
        yield self._between(3, 8) * len(fields)
        self._send(fields)

    def _questions(self, page: Page) -> Iterator[float]:
        entry = expect_entry_type(self._tasks[page.task].entry, QuestionTask)
        yield self._between(5, 20) * len(entry.questions)
        self._send(question_fields(entry, self._rng))

    def _post_events(self, page: Page, log: PageLog) -> None:
        """Send the page's events.

        With habit ``offline`` they come later, twice and in the wrong order.
        """
        batches = [(page.events_url, batch) for batch in log.batches(BATCH_EVENTS)]
        if self._habit(self._habits.offline):
            self.tally.done["offline"] += 1
            self._held_back += batches[::-1]
            return
        for url, batch in batches:
            self._site.log(url, batch)
        self._send_held_back()

    def _send_held_back(self) -> None:
        for url, batch in [*self._held_back, *self._held_back]:
            self._site.log(url, batch)
        self._held_back = []
