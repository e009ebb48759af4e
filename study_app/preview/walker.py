"""Leading a worker to a page: the simulated browser, answering whatever comes up to it, on a clock that is put forward."""

from collections.abc import Callable
from urllib.parse import urljoin

import numpy as np

from study_app.preview.clock import SkippingClock
from study_app.simulate.people.form_filling import check_fields, question_fields
from study_app.simulate.site import Page, PageError, Site
from study_app.study.entries import AskingTask, FollowedTask, StudyEntry, of_form
from study_app.study.question_answers import field_of
from study_app.tasks.checks import check_of

MOST_PAGES = 2_000
"""No worker has more pages than this before the one that is looked for."""
NIGHT_SECONDS = 20 * 3_600
AWAY_SHARE = 0.4
"""Of the days of a stream, the most that a worker stays away, so that there is a later visit to short ones too."""
DAY_SECONDS = 86_400
RATING = "2"

Wanted = Callable[[Page], bool]


class Walker:
    """One worker of a copy of a study.

    Parameters
    ----------
    site : Site
        The worker's browser.
    entry : StudyEntry
        The study.
    clock : SkippingClock
        Of the copy.
    """

    def __init__(self, site: Site, entry: StudyEntry, clock: SkippingClock) -> None:
        self._site, self._entry, self._clock = site, entry, clock
        self._rng = np.random.default_rng(entry.seed)

    def walk(self, entrance: str, wanted: Wanted) -> Page:
        """Go from the entrance to the first page that is wanted; raises `PageError` when none is."""
        return self.on(self._site.open(entrance), wanted)

    def on(self, page: Page, wanted: Wanted) -> Page:
        """Go on from a page to the first that is wanted, which may be itself."""
        for _ in range(MOST_PAGES):
            if wanted(page):
                return page
            page = self.answer(page)
        raise PageError("no worker comes to this page")

    def open(self, page: Page, path: str) -> Page:
        """Open an address below the standing link of the worker whose page this is."""
        return self._site.open(f"{page.home}{path}")

    def send(self, page: Page, **fields: str | list[str]) -> Page:
        """Post a page's form."""
        return self._site.send(page.form(), fields)

    def answer(self, page: Page) -> Page:
        """Answer a page in some way that leads on; time passes where a worker would wait."""
        answers: dict[str, Callable[[Page], Page]] = {
            "consent": lambda page: self.send(page, agree="yes"),
            "intro": lambda page: self._site.send(page.form(), self._check(page)),
            "choose": lambda page: self.send(page, topic=page.form().options["topic"][0][0]),
            "search": self._search,
            "vote": lambda page: self.send(page, intent=page.form().options["intent"][0][0]),
            "rate": lambda page: self.send(page, **dict.fromkeys(page.form().options, RATING)),
            "pair": lambda page: self.send(page, choice="left"),
            "questions": self._reply,
            "enrol": lambda page: self.send(page, start="yes"),
            "stream": self._read,
            "useful": lambda page: self.send(page, **dict.fromkeys(page.form().options, "yes")),
            "away": self._come_back,
            "streams": self._open_one,
            "finish": self._finish,
        }
        if page.step not in answers:
            raise PageError(f"no worker comes further than the page {page.step!r}")
        return answers[page.step](page)

    def fail_check(self, page: Page) -> Page:
        """Answer the check of an introduction wrongly, as often as is allowed."""
        while page.step == "intro":
            wrong = {name: self._other(page, name, str(right)) for name, right in self._check(page).items()}
            page = self._site.send(page.form(), wrong)
        return page

    def screen_out(self, page: Page) -> Page:
        """Give an answer that ends the worker's part on a page of questions that has one."""
        entry = self._questions(page)
        fields = dict(question_fields(entry, self._rng))
        for question in entry.questions:
            if question.screen_out:
                fields[field_of(question)] = str(question.options.index(question.screen_out[0]) + 1)
        return self._site.send(page.form(), fields)

    def _search(self, page: Page) -> Page:
        self._clock.skip(float(page.marked("data-seconds-left").get("data-seconds-left", "0")) + 1)
        return self.send(page)

    def _reply(self, page: Page) -> Page:
        return self._site.send(page.form(), question_fields(self._questions(page), self._rng))

    def _read(self, page: Page) -> Page:
        return self.send(page, done="1", read=[update.key for update in page.updates()])

    def _come_back(self, page: Page) -> Page:
        """Come back to a stream the next day, or sooner where its days pass quickly."""
        entry = of_form(self._entry.tasks[page.task - 1], FollowedTask)
        days_seconds = entry.days * DAY_SECONDS / entry.clock_factor
        self._clock.skip(min(NIGHT_SECONDS, AWAY_SHARE * days_seconds))
        return self._site.open(page.home)

    def _open_one(self, page: Page) -> Page:
        """Open one of several streams that go on."""
        links = page.html.xpath("//main//li//a/@href")
        return self._site.open(urljoin(page.url, str(self._rng.choice(links))) if links else page.home)

    def _finish(self, page: Page) -> Page:
        """Finish without going back to the platform."""
        self.send(page)
        return self._site.open(page.home)

    def _check(self, page: Page) -> dict[str, str | list[str]]:
        entry = self._entry.tasks[page.task - 1]
        if not check_of(entry):
            return {}
        return dict(check_fields(page, entry, careless=False, rng=self._rng))

    def _questions(self, page: Page) -> AskingTask:
        return of_form(self._entry.tasks[page.task - 1], AskingTask)

    @staticmethod
    def _other(page: Page, name: str, right: str) -> str:
        return next(value for value, _ in page.form().options[name] if value != right)
