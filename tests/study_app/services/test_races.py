"""What happens at the same moment on two servers: whoever is first, nothing is stored twice, nothing is given away twice.

Requests collide on purpose: before its first write each waits until the others are about to write too, having read what
they go by. When locks keep the others off, they never come, the wait ends, and one goes after the other.
"""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from sqlalchemy import event, select

from study_app import create_app
from study_app.config import Config
from study_app.store.models import Ballot, Judgment, PlatformEntry, PlatformIdentity, Slot, Worker
from study_app.store.task_models import CodeShown, Rating, Reply
from study_app.store.tokens import seeded_tokens
from study_app.web.serving import NAME
from tests.study_app.conftest import Campaign
from tests.study_app.every_task import write_every_task
from tests.study_app.visitor import Visitor

pytestmark = pytest.mark.both_databases
PATIENCE_SECONDS = 0.2
"""For how long a request waits for the others that a lock keeps off."""


class Servers:
    """Two servers of one study."""

    def __init__(self, study):
        self.study = study
        other = create_app(Config(database=study.url), now=study.clock, new_token=seeded_tokens(3))
        self.apps = (study.app, other)
        self.own = threading.local()
        for engine in self.engines:
            event.listen(engine, "before_cursor_execute", self._meet)

    @property
    def engines(self):
        return [app.extensions[NAME].database.engine for app in self.apps]

    def window(self, server, address):
        """Return a browser window with a page of one of the servers."""
        return Visitor(self.apps[server].test_client(use_cookies=False)).open(address)

    def arrive(self, name="ann"):
        """Return a window with somebody's first page."""
        return self.window(0, f"/s/every?id={name}")

    def windows(self, visitor):
        """Return two windows with the page at which somebody is, one of each server."""
        return [self.window(server, visitor.path) for server in (0, 1)]

    def collide(self, writes, *acts):
        """Do all of it at once, and return what each act does; they meet before the first statement that begins with ``writes``."""
        return self.collide_at(*((writes, act) for act in acts))

    def collide_at(self, *acts):
        """Do the same where each act, (writes, act), has a statement of its own to meet at."""
        self.meeting = threading.Barrier(len(acts))
        with ThreadPoolExecutor(len(acts)) as threads:
            return list(threads.map(self._act, acts))

    def _act(self, writes_and_act):
        self.own.writes, act = writes_and_act
        return act()

    def _meet(self, _connection, _cursor, statement, *_):
        writes = getattr(self.own, "writes", None)
        if writes is not None and statement.startswith(writes):
            self.own.writes = None
            with suppress(threading.BrokenBarrierError):
                self.meeting.wait(PATIENCE_SECONDS)


@pytest.fixture
def serve(tmp_path, new_url):
    """Load a study with some kinds of task, and start two servers."""
    made = []

    def start(tasks, **study):
        campaign = Campaign(tmp_path, new_url(tmp_path))
        campaign.load_file(write_every_task(tmp_path, tasks=tasks, **study))
        made.append(Servers(campaign.serve()))
        return made[-1]

    yield start
    for servers in made:
        for engine in servers.engines:
            engine.dispose()


TWO_PROFILES = {
    "systems": {"syspusha": "syspusha.run", "syspushb": "syspushb.run"},
    "pairs_per_worker": 1,
    "judgments_per_pair": 1,
}
"""Two units: one pair of systems for each of two profiles."""


def number_of(visitor, query):
    """Return the number of a query on somebody's list."""
    return next(number for number, text in visitor.options("topic").items() if text == query)


def test_somebody_who_comes_twice_at_once_is_one_person(serve):
    """And two people who come at once are two, with numbers of their own, as everything is drawn from them."""
    servers = serve({"questions": {}})
    doors = [(0, "ann"), (1, "ann"), (1, "bob")]
    ann, again, bob = servers.collide(
        "INSERT INTO worker",
        *(
            lambda server=server, name=name: servers.window(server, f"/s/every?id={name}")
            for server, name in doors
        ),
    )
    assert ann.home == again.home != bob.home
    rows = servers.study.rows
    assert sorted(number for (number,) in rows(select(Worker.number))) == [1, 2]
    assert (len(rows(select(PlatformIdentity))), len(rows(select(PlatformEntry)))) == (2, 3)


def test_the_last_place_of_a_query_is_given_once(serve):
    """To one of two people, one of whom even asks for it twice."""
    servers = serve({"summary_pairs": {"workers_per_query": 1}})
    ann, bob = (servers.arrive(name).send() for name in ("ann", "bob"))
    asking = [(window, number_of(ann, "mount fuji")) for window in servers.windows(ann)]
    asking.append((servers.window(1, bob.path), number_of(bob, "mount fuji")))
    first, second, other = servers.collide(
        "INSERT INTO slot", *(lambda window=window, n=n: window.send(topic=n) for window, n in asking)
    )
    assert len(servers.study.rows(select(Slot))) == 1
    assert first.step == second.step
    assert {first.step, other.step} == {"1/1/pair/1", "1/choose"}
    assert sorted([first.sent, other.sent]) == [303, 422]


@pytest.mark.parametrize(
    ("kind", "changes", "units"),
    [
        ("stream_pairs", TWO_PROFILES, 2),
        ("iunit_importance", {"assessors_per_iunit": 1, "intents_per_worker": 1}, 4),
    ],
)
def test_a_unit_is_leased_to_as_many_as_are_wanted(serve, kind, changes, units):
    """One more person than there are pairs, or intents, takes one at the same time."""
    servers = serve({kind: changes})
    people = [servers.arrive(f"w{number}") for number in range(units + 1)]
    windows = [servers.window(number % 2, one.path) for number, one in enumerate(people)]
    servers.collide("INSERT INTO slot", *(window.send for window in windows))
    leased = Counter(unit for (unit,) in servers.study.rows(select(Slot.unit)))
    assert sorted(leased.values()) == [1] * units
    assert sorted(window.step == "full" for window in windows) == [False] * units + [True]


def test_adaptive_pairs_stay_within_their_budget(serve):
    """Four people at once, two on each server: with a budget of three judgments one of them finds the study full."""
    adaptive = {"adaptive": "best", "budget": 3, "stop_at": None}
    servers = serve({"stream_pairs": {"pairs": adaptive, "pairs_per_worker": 1}})
    people = [servers.arrive(f"w{number}") for number in range(4)]
    windows = [servers.window(number % 2, one.path) for number, one in enumerate(people)]
    servers.collide("INSERT INTO slot", *(window.send for window in windows))
    assert len(servers.study.rows(select(Slot.id))) == 3
    assert sorted(window.step == "full" for window in windows) == [False] * 3 + [True]


ANSWERS = {
    "questions": (Reply, [{"q-phone": "1"}, {"q-phone": "2"}, {"q-phone": "2", "q-age": "30"}]),
    "vote": (Ballot, [{"intent": "1"}, {"intent": "2"}, {"none": "1"}]),
    "rate": (Rating, [{f"rating-{number}": rating for number in range(1, 5)} for rating in "024"]),
    "pair": (Judgment, [{"choice": choice} for choice in ("left", "right", "equally_bad")]),
}
"""Kind of page -> the table of its answers, and three of them."""


def test_an_answer_sent_twice_at_once_is_stored_once_and_two_answers_are_two_revisions(serve):
    """On every page: a double click, and then two windows with different answers."""
    servers = serve(
        {
            "questions": {},
            "intent_votes": {},
            "iunit_importance": {"intents_per_worker": 1, "iunits_per_page": 100},
            "summary_pairs": {},
        }
    )
    ann = servers.arrive().send()
    for number, (kind, (table, answers)) in enumerate(ANSWERS.items(), start=1):
        if ann.step.endswith("choose"):
            ann.send(topic="1")
        assert ann.step.startswith(f"{number}/1/{kind}")
        page = ann.path
        double, form = servers.windows(ann), ann.form()
        write = f"INSERT INTO {table.__tablename__}"
        sent = [lambda window=window: window.send(form=form, to=page, **answers[0]) for window in double]  # noqa: B023
        servers.collide(write, *sent)
        assert [window.sent for window in double] == [303, 303]
        assert servers.study.rows(select(table.revision)) == [(1,)]

        both = [servers.window(server, page) for server in (0, 1)]
        servers.collide(
            write,
            *(
                lambda one=one, said=said: one.send(**said)
                for one, said in zip(both, answers[1:], strict=True)
            ),
        )
        assert [window.sent for window in both] == [303, 303]
        assert servers.study.rows(select(table.revision).order_by(table.id)) == [(1,), (2,), (3,)]
        ann.open(ann.home)


def test_finishing_twice_at_once_gives_one_code(serve):
    """However often it is pressed and shown, the code is the same and noted once."""
    servers = serve({"questions": {}})
    ann = servers.arrive().send().send(**{"q-phone": "1"})
    form, path = ann.form(), ann.path
    answers = servers.collide(
        "UPDATE worker", *(lambda app=app: app.test_client().post(path, data=form) for app in servers.apps)
    )
    assert [answer.status_code for answer in answers] == [303, 303]
    shown = servers.collide(
        "INSERT INTO code_shown",
        *(lambda server=server: servers.window(server, f"{ann.home}done") for server in (0, 1)),
    )
    (code,) = {window.html.select_one("[data-code]").get_text(strip=True) for window in shown}
    assert servers.study.rows(select(Worker.completion_code)) == [(code,)]
    assert servers.study.rows(select(CodeShown.code)) == [(code,)]


def test_stopping_while_an_answer_is_sent_is_one_after_the_other(serve):
    """An answer that is there has its code, and the place is free in either case."""
    servers = serve({"summary_pairs": {"workers_per_query": 1}}, codes={"partial": "SOME"})
    ann = servers.arrive().send()
    ann.send(topic="1")
    stopping = servers.window(1, f"{ann.home}stop")
    servers.study.clock.forward(60)
    servers.collide(
        ("INSERT INTO judgment", "UPDATE worker"),
        lambda: ann.send(choice="left"),
        lambda: stopping.send(stop="yes"),
    )
    answers = servers.study.rows(select(Judgment))
    ended = servers.study.rows(select(Worker.stopped_as, Worker.completion_code))
    assert ended == [("partial", "SOME" if answers else None)]
    (expires_at,) = servers.study.rows(select(Slot.expires_at))[0]
    assert expires_at <= servers.study.clock()
    assert ann.open(ann.home).step == stopping.step == "stopped"


def test_a_place_taken_while_its_holder_comes_back_is_over_quota_for_one_of_them(serve):
    """Who holds an expired lease answers just when somebody else takes it: kept, and one of the two does not count."""
    servers = serve({"ranked_pairs": {"judgments_per_pair": 1}}, lease_minutes=1)
    ann = servers.arrive().send()
    ann.send(topic=number_of(ann, "moon landings"))
    servers.study.clock.forward(61)
    bob = servers.window(1, servers.arrive("bob").send().path)
    number = number_of(bob, "moon landings")
    servers.collide(
        ("INSERT INTO slot", "UPDATE slot"), lambda: ann.send(choice="left"), lambda: bob.send(topic=number)
    )
    late = [late for (late,) in servers.study.rows(select(Slot.late).order_by(Slot.id))]
    assert late in ([False], [True, False])
    assert bob.sent == (303 if late[0] else 422)
    assert servers.study.rows(select(Judgment.late)) == [(late[0],)]


def test_a_unit_taken_while_its_holder_comes_back_is_over_quota_for_one_of_them(serve):
    """The same for what is leased one by one."""
    servers = serve({"stream_pairs": TWO_PROFILES}, lease_minutes=1)
    ann, cleo = servers.arrive().send(), servers.arrive("cleo").send()
    cleo.send(choice="left")
    servers.study.clock.forward(61)
    bob = servers.window(1, servers.arrive("bob").path)
    servers.collide(("INSERT INTO slot", "UPDATE slot"), lambda: ann.send(choice="left"), bob.send)
    others = select(Slot.late).where(Slot.done_at.is_(None) | Slot.late).order_by(Slot.id)
    late = [late for (late,) in servers.study.rows(others)]
    mine = servers.study.rows(select(Judgment.late).order_by(Judgment.id))[-1][0]
    assert late == ([True, False] if mine else [])
    assert bob.step == ("1/1/pair/1" if mine else "full")


def test_people_who_go_on_to_each_others_query_do_not_block_each_other(serve):
    """Both come back after their leases expired, and take with their last answer what the other one holds."""
    task = {"pairs": 1, "queries_per_worker": 2, "workers_per_query": 2, "validation_pairs": 0}
    servers = serve({"summary_pairs": task}, lease_minutes=1)
    ann, bob = (servers.arrive(name).send() for name in ("ann", "bob"))
    ann.send(topic=number_of(ann, "mount fuji"))
    bob.send(topic=number_of(bob, "green tea"))
    servers.study.clock.forward(61)
    bob = servers.window(1, bob.path)
    servers.collide("UPDATE slot", lambda: ann.send(choice="left"), lambda: bob.send(choice="left"))
    assert [ann.step, bob.step] == ["1/2/pair/1", "1/2/pair/1"]
    assert servers.study.rows(select(Slot.late)) == [(False,)] * 4


def post_events(visitor, number=1):
    """Send an event of a page."""
    events = [{"n": number, "kind": "beat", "ms": 0, "wall": 0}]
    batch = {"page": visitor.page_token, "sent_ms": 0, "sent_wall_ms": 0, "events": events}
    return visitor.client.post(f"/e/{visitor.token}", json=batch)


def test_what_a_page_logs_as_its_form_is_sent_is_stored_with_the_answer(serve):
    """Browsers send both at the same moment: one must not wait for what the other holds, and the other way round."""
    servers = serve({"summary_pairs": {}})
    ann = servers.arrive().send()
    ann.send(topic="1")
    log = servers.window(1, ann.path)
    post_events(log, 1)
    servers.study.clock.forward(60)
    answer, receipt = servers.collide_at(
        ("UPDATE slot", lambda: ann.send(choice="left")), ("UPDATE worker", lambda: post_events(log, 2))
    )
    assert (answer.sent, receipt.json) == (303, {"upto": 2})
    assert len(servers.study.rows(select(Judgment))) == 1


def test_a_page_that_still_logs_holds_no_place_for_who_has_stopped(serve):
    """The last events of a page come with the form that stops, or after it from another tab."""
    servers = serve({"summary_pairs": {"workers_per_query": 1}})
    ann = servers.arrive().send()
    ann.send(topic=number_of(ann, "mount fuji"))
    stopping, other = servers.window(1, f"{ann.home}stop"), servers.window(0, ann.path)
    servers.study.clock.forward(60)
    servers.collide(
        ("UPDATE worker", "UPDATE slot"), lambda: stopping.send(stop="yes"), lambda: post_events(ann)
    )
    for seconds in (0, 10):
        servers.study.clock.forward(seconds)
        assert post_events(other).status_code == 200
        bob = servers.arrive(f"bob{seconds}").send()
        assert set(bob.options("topic").values()) == {"mount fuji", "green tea"}
