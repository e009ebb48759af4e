"""Whatever a follower does in whatever order, the pages show what a slow and simple account of it says."""

from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from study_app.store.task_models import StreamView, UsefulQuestion
from tests.study_app.small_streams import HOUR, Told
from tests.study_app.stream_visits import follow, keys, log, marked, stream_study

KNOWN = {"SYN-1": 0.0, "SYN-2": 20.0, "SYN-3": 30.0, "SYN-4": 50.0}
STREAM = tuple(
    Told(f"Report {number}", 2.0 * number, list(KNOWN)[number % 4 : number % 4 + number % 3])
    for number in range(1, 25)
)
SIZE = 3
NUMBERS = count()


@dataclass
class Page:
    """A page that was served: its visit, when (in seconds), what it showed, and what became of it."""

    visit: int
    at: float
    after: int
    shown: list[int]
    token: str = ""
    read: set[int] = field(default_factory=set)
    alive: bool = False
    signs: list[float] = field(default_factory=list)


class Account:
    """Everything a follower did, kept without any cleverness."""

    def __init__(self):
        self.now, self.pages = 0.0, []

    def serve(self, below=None):
        """Return the page that is to be served now."""
        upto = sum(1 for told in STREAM if told.hour * HOUR <= self.now)
        of_last = [page for page in self.pages if page.visit == self.pages[-1].visit]
        if self.pages and self.now - max(sign for page in of_last for sign in page.signs) <= 60:
            visit, after = self.pages[-1].visit, self.pages[-1].after
            top = below - 1 if below and after + 1 < below <= upto else upto
        else:
            visit = self.pages[-1].visit + 1 if self.pages else 1
            after = max([0, *(place for page in self.pages for place in page.read)])
            top = upto
        shown = list(range(top, after, -1))[:SIZE]
        page = Page(visit, self.now, after, shown, signs=[self.now])
        self.pages.append(page)
        return page

    def note(self, page, named):
        """Note that some of a page was read, which is a sign of life."""
        page.read |= named
        page.alive = True
        page.signs.append(self.now)

    def may_ask(self, left):
        """Return nugget -> visits late, of what may be asked after a page's visit."""
        told = set()
        for page in self.pages:
            if page.visit < left.visit:
                told |= {name for place in page.read for name in STREAM[place - 1].nuggets}
        alive = {page.visit for page in self.pages if page.alive and page.visit <= left.visit}
        visits = [min(p.at for p in self.pages if p.visit == visit) for visit in sorted(alive)]
        found = {}
        read = {place for page in self.pages if page.visit == left.visit for place in page.read}
        for place in sorted(read, reverse=True):
            new = [name for name in STREAM[place - 1].nuggets if name not in told]
            told.update(new)
            if len(new) == 1:
                reached = [j for j, at in enumerate(visits) if KNOWN[new[0]] * HOUR <= at]
                found[new[0]] = len(visits) - 1 - min(reached) if reached else 0
        return found


@pytest.fixture
def study(campaign):
    return stream_study(campaign, systems={"sysprompt": STREAM}, task={"updates_per_page": SIZE})


@dataclass(frozen=True)
class Deed:
    """Wait, load the page (perhaps an older portion), then read some of one of the last pages, by log, form or neither."""

    seconds: int
    below: int
    back: int
    places: frozenset[int]
    by: str


deeds = st.builds(
    Deed,
    seconds=st.sampled_from([20, 60, 61, 3 * HOUR, 7 * HOUR, 9 * HOUR]),
    below=st.sampled_from([0, 0, 0, 1, 2, 5, 9]),
    back=st.sampled_from([0, 0, 0, 0, 1, 2]),
    places=st.sampled_from([frozenset(places) for places in ([], [0], [1], [2], [0, 1], [1, 2], [0, 1, 2])]),
    by=st.sampled_from(["log", "form", "form", "both", "neither"]),
)


# A failing example is short enough to be read as it is; making it smaller would take minutes.
@settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(deeds, min_size=9, max_size=9))
def test_pages_show_what_is_new_and_ask_what_may_be_asked(study, done):
    """Waiting, loading, reading in any tab, late events and forms, in any order."""
    ann = follow(study, f"w{next(NUMBERS)}")
    account = Account()
    account.serve().token = ann.page_token
    logged = set()
    for deed in done:
        study.clock.forward(deed.seconds)
        account.now += deed.seconds
        page = account.serve(deed.below)
        ann.open(f"{ann.home}1/1/stream?below={deed.below}")
        page.token = ann.page_token
        read = {place for one in account.pages for place in one.read}
        assert [int(key[1:]) for key in keys(ann)] == page.shown
        assert {int(key[1:]) for key in marked(ann)} == read & set(page.shown)
        page = account.pages[-1 - deed.back] if deed.back < len(account.pages) else page
        named = {page.shown[place] for place in deed.places if place < len(page.shown)}
        if deed.by in {"log", "both"} and page.token not in logged:
            logged.add(page.token)
            log(ann, [f"u{place}" for place in sorted(named, reverse=True)], page=page.token)
            account.note(page, named)
        if deed.by in {"form", "both"}:
            ann.client.post(
                f"{ann.home}1/1/stream",
                data={"page": page.token, "read": [f"u{place}" for place in named], "done": "1"},
            )
            account.note(page, named)
            check_questions(study, account, page)


def check_questions(study, account, page):
    """Whatever was drawn now for the newest follow may be asked, and is as late as it says."""
    [(newest,)] = study.rows(select(StreamView.follow_id).order_by(StreamView.id.desc()).limit(1))
    drawn = study.rows(
        select(UsefulQuestion.nugget, UsefulQuestion.visits_late).where(
            UsefulQuestion.follow_id == newest,
            UsefulQuestion.visit == page.visit,
            UsefulQuestion.asked_at == study.clock(),
        )
    )
    allowed = account.may_ask(page)
    for nugget, late in drawn:
        assert allowed[nugget] == late
    everything = study.rows(select(UsefulQuestion.nugget).where(UsefulQuestion.follow_id == newest))
    of_visit = study.rows(
        select(UsefulQuestion.nugget).where(
            UsefulQuestion.follow_id == newest, UsefulQuestion.visit == page.visit
        )
    )
    left = set(allowed) - {nugget for (nugget,) in everything}
    assert len(of_visit) == 3 or not left
