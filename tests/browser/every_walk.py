"""A worker goes through a study of any kinds of tasks in a browser, by a rule, and notes what they saw and did.

What they do on a page follows from how many answers they gave before, so that no two pages are answered alike; where it
leads is for the server to say. What they noted is compared with the tables of an export in `every_tables`.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from playwright.sync_api import Page, expect

from study_app.tasks.kinds import standard_check
from tests.browser.study_server import Look, StudyServer

CHOICES = ("left", "equally_good", "right", "equally_bad")
SEARCH_SECONDS = 60
DAY_SECONDS = 3600.0
"""A day of a stream whose clock goes 24 times as fast."""

FORM = "main form"
SEND = f"{FORM} button"
STAYS = 400
"""How often Tab is pressed before a control counts as out of reach."""

SHOWN = """(side) => [...document.querySelectorAll(`section[data-side=${side}] [data-item]`)]
    .filter((one) => !one.parentElement.closest('[data-item]')).map((one) => one.textContent)"""
LINES = "() => [...document.querySelectorAll('fieldset.scale legend')].map((one) => one.textContent.trim())"
HAS_FOCUS = "(selector) => document.activeElement.matches(selector)"
UNCHECKED = "() => { document.querySelector('main form').noValidate = true; }"
WAVERS = 1
"""To how many pages of a sort somebody who wavers comes back."""

REFUSE = {"intro", "choose", "vote", "rate", "questions", "pair"}
"""Pages that come back with a reason when nothing was answered."""

GIVEN = """() => [...new FormData(document.querySelector('main form') ?? undefined)]
    .filter(([name]) => !['page', 'decision_ms', 'layout'].includes(name)).map(([name, value]) => `${name}=${value}`)"""


class Hands:
    """A mouse or a finger."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def pick(self, name: str, value: str) -> None:
        """Pick an option or tick a box."""
        self.page.check(f"[name={name}][value='{value}']")

    def write(self, name: str, text: str) -> None:
        """Fill in a field."""
        self.page.fill(f"[name={name}]", text)

    def press(self, selector: str) -> None:
        """Press a button or follow a link, and wait for the page it leads to."""
        with self.page.expect_navigation():
            self.page.locator(selector).first.click()


class Keys(Hands):
    """Nothing but Tab, arrows, space, Enter, and letters in a field."""

    def pick(self, name: str, value: str) -> None:
        """Tab to the group, and go on by arrow within it; a box is ticked by space."""
        wanted = f"[name={name}][value='{value}']"
        if self.page.locator(f"{wanted}[type=radio]").count():
            self._reach(f"[name={name}]", "Tab")
            self._reach(wanted, "ArrowDown")
        else:
            self._reach(wanted, "Tab")
        if not self.page.locator(wanted).is_checked():
            self.page.keyboard.press("Space")

    def write(self, name: str, text: str) -> None:
        """Tab to the field and type."""
        self._reach(f"[name={name}]", "Tab")
        self.page.keyboard.type(text)

    def press(self, selector: str) -> None:
        """Tab to the button and press Enter."""
        self._reach(selector, "Tab")
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")

    def _reach(self, selector: str, key: str) -> None:
        for _ in range(STAYS):
            if self.page.evaluate(HAS_FOCUS, selector):
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"{selector} cannot be reached by {key} on {self.page.url}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a worker saw on a pair page, and chose."""

    task: int
    query: str
    left: list[str]
    right: list[str]
    choice: str


@dataclass(slots=True)
class Notes:
    """What a worker did, in the words that they saw, in the order in which they did it."""

    judged: list[Judged] = field(default_factory=list)
    votes: set[tuple[str, str]] = field(default_factory=set)
    ratings: dict[tuple[str, str, str], int] = field(default_factory=dict)
    replies: dict[str, str] = field(default_factory=dict)
    searched: list[str] = field(default_factory=list)
    followed: list[str] = field(default_factory=list)
    stays: int = 0
    useful: list[bool] = field(default_factory=list)


def stay(_page: Page, _step: str) -> None:
    """Look at nothing in particular."""


class Walk:
    """One worker's way.

    Parameters
    ----------
    page : Page
        Their tab.
    server : StudyServer
        The study.
    kinds : sequence of str
        Kind of each task, in order.
    by : type
        With what they work: `Hands` or `Keys`.
    look : callable
        Called on every page before it is answered.
    wavering : bool
        Load a page again before it is answered, go back afterwards, and send what stands there again, on the first page
        of each sort; the first answer to each task's pairs is changed on the way.
    hasty : bool
        Send the first form of each sort without an answer, and look at what comes back.
    """

    def __init__(
        self,
        page: Page,
        server: StudyServer,
        kinds: tuple[str, ...],
        *,
        by: Callable[[Page], Hands] = Hands,
        look: Look = stay,
        wavering: bool = False,
        hasty: bool = False,
    ) -> None:
        self.page, self.server, self.kinds = page, server, kinds
        self.hands, self.look, self.wavering = by(page), look, wavering
        self._left: Counter[str] = Counter()
        self._refusals = set(REFUSE) if hasty else set()
        self.notes = Notes()
        self._answers: Mapping[str, Callable[[], None]] = {
            "consent": self._send,
            "intro": self._introduction,
            "choose": self._choose,
            "search": self._search,
            "vote": self._vote,
            "rate": self._rate,
            "questions": self._reply,
            "pair": self._judge,
            "enrol": self._enrol,
            "stream": self._read,
            "useful": self._useful,
            "away": self._come_back,
            "finish": self._send,
        }

    def go(self) -> Notes:
        """Go from the platform to the code."""
        self.page.goto(f"{self.server.url}/s/every?id=ann")
        while (kind := self._kind()) != "done":
            if self._wavers():
                self.page.reload()
            self.look(self.page, self.step.replace("/", "-"))
            if kind in self._refusals:
                self._send_nothing(kind)
            self._answers[kind]()
        self.look(self.page, "done")
        assert self.page.locator("[data-code]").inner_text()
        return self.notes

    def _wavers(self) -> bool:
        """Say whether this page is one that they come back to."""
        return self.wavering and self._left[self._kind()] < WAVERS

    @property
    def step(self) -> str:
        """The address below the worker's: ``1/1/pair/2``."""
        return re.sub(r"[?#].*", "", self.page.url).split("/", 5)[5]

    def _kind(self) -> str:
        return next(part for part in self.step.split("/") if not part.isdigit())

    def _task(self) -> int:
        return int(self.step.split("/")[0])

    def _query(self) -> str:
        return self.page.locator("[data-query]").inner_text()

    def _send_nothing(self, kind: str) -> None:
        self._refusals.remove(kind)
        self.page.evaluate(UNCHECKED)
        self.hands.press(SEND)
        expect(self.page.locator("[role=alert]")).to_be_visible()
        self.look(self.page, f"{self.step.replace('/', '-')}-refused")
        if self.wavering:
            self.page.goto(self.page.url)  # no browser goes back to what a form brought

    def _send(self) -> None:
        self._leave(lambda: self.hands.press(SEND))

    def _leave(self, send: Callable[[], None]) -> None:
        """Send a form; who wavers goes back, finds what was answered, sends it again, and so is where they were."""
        before, given, wavers = self.page.url, self.page.evaluate(GIVEN), self._wavers()
        self._left[self._kind()] += 1
        send()
        after = self.page.url
        if not wavers or self._kind() == "done":
            return
        self.page.go_back()
        if self.page.url == before and "/stream" not in before and self.page.locator(SEND).count():
            assert self.page.evaluate(GIVEN) == given
            self.hands.press(SEND)
        else:
            self.page.goto(after)
        expect(self.page).to_have_url(after)

    def _introduction(self) -> None:
        for number, item in enumerate(standard_check(self.kinds[self._task() - 1], ()), 1):
            self.hands.pick(f"check-{number}", str(item.answer))
        self._send()

    def _choose(self) -> None:
        """Take the first by the alphabet; the order on the page is this worker's own."""
        labels = self.page.locator("label:has([name=topic])")
        first = min(labels.all(), key=lambda label: label.inner_text())
        self.hands.pick("topic", first.locator("input").input_value())
        self._send()

    def _search(self) -> None:
        self.notes.searched.append(self._query())
        self.server.move_on(SEARCH_SECONDS)
        self.page.reload()
        self._send()

    def _vote(self) -> None:
        self.hands.pick("intent", "2")
        ticked = self.page.locator(f"{FORM} label:has(:checked)").all_inner_texts()
        self.notes.votes |= {(self._query(), text.strip()) for text in ticked}
        self._send()

    def _rate(self) -> None:
        unit = self._query(), self.page.locator("[data-intent]").inner_text()
        for number, line in enumerate(self.page.evaluate(LINES), 1):
            rating = (len(self.notes.ratings) * 3) % 5
            self.hands.pick(f"rating-{number}", str(rating))
            self.notes.ratings[*unit, line] = rating
        self._send()

    def _reply(self) -> None:
        self.hands.pick("q-phone", "2")
        self.hands.write("q-age", "41")
        self.notes.replies = {"phone": "No", "age": "41"}
        self._send()

    def _judge(self) -> None:
        self._choose_side(len(self.notes.judged))
        if self.wavering and self.step.endswith("/1/pair/1"):
            self._change_it()
        else:
            self._send()

    def _change_it(self) -> None:
        """Send, go back, find the first answer there, and send another, which is the one that counts."""
        self.hands.press(SEND)
        self.page.go_back()
        first = self.notes.judged.pop()
        assert self.page.evaluate(GIVEN) == [f"choice={first.choice}"]
        self._choose_side(len(self.notes.judged) + 1)
        self.hands.press(SEND)

    def _choose_side(self, number: int) -> None:
        choice = CHOICES[number % len(CHOICES)]
        left, right = (self.page.evaluate(SHOWN, side) for side in ("left", "right"))
        judged = Judged(task=self._task(), query=self._query(), left=left, right=right, choice=choice)
        self.notes.judged.append(judged)
        self.hands.pick("choice", choice)

    def _enrol(self) -> None:
        self.notes.followed.append(self._query())
        self._send()

    def _read(self) -> None:
        """Read what is new and leave; without script nobody sees it, and the box is ticked."""
        self.notes.stays += 1
        for box in self.page.locator("label.tick input").all():
            if box.is_visible() and not box.is_checked():
                self.hands.pick("read", box.get_attribute("value") or "")
        self._leave(lambda: self.hands.press(f"{SEND}[name=done]"))

    def _useful(self) -> None:
        for number in range(1, self.page.locator("fieldset[data-item]").count() + 1):
            useful = len(self.notes.useful) % 2 == 0
            self.hands.pick(f"useful-{number}", "yes" if useful else "no")
            self.notes.useful.append(useful)
        self._send()

    def _come_back(self) -> None:
        """Follow the standing link a day and a half later; when the days are over it leads on."""
        link = self.page.locator("[data-home]")
        home = link.inner_text() if link.count() else self.page.url.removesuffix(f"{self._task()}/1/away")
        self.server.move_on(1.5 * DAY_SECONDS)
        self.page.goto(home)
