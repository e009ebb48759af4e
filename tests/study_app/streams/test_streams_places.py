"""Places in a study of streams: which system a follower gets, when an event is full, what holds a place."""

import threading
from collections import Counter

import pytest
from sqlalchemy import select

from metrics.errors import InputError
from study_app.protocol.steps import Step
from study_app.services.worker.entry import Visitor as Newcomer
from study_app.services.worker.entry import arrive, find_study, give_consent
from study_app.services.worker.slots import take_slot
from study_app.services.worker.streams import enrol
from study_app.services.worker.worker_progress import load_progress
from study_app.store.database import open_database, transaction
from study_app.store.models import Slot, System, Worker
from study_app.store.study_cache import StudyCache
from study_app.store.task_models import Follow
from study_app.store.tokens import seeded_tokens
from tests.study_app.small_streams import EVENTS, write_stream_study
from tests.study_app.stream_visits import HOUR, ONE_EVENT, come_back, follow, log, stream_study, views

STORM, FERRIES = EVENTS.values()


@pytest.fixture
def tight(campaign):
    """One worker a stream, three systems, one minute of lease."""
    return stream_study(campaign, lease_minutes=1, task={"workers_per_stream": 1})


def followers(study):
    """Return system -> how many follow it."""
    found = study.rows(select(System.name).join(Follow, Follow.system_id == System.id))
    return Counter(name for (name,) in found)


def withdraw(study, number):
    with transaction(study.database, write=True) as session:
        session.scalars(select(Worker).where(Worker.number == number)).one().withdrawn_at = study.clock()


def enrolled_at_once(study, count):
    """Let so many workers enrol in the only event at the same moment, through two connections."""
    servers = [open_database(study.url), open_database(study.url)]
    with transaction(study.database, write=True) as session:
        plans, names = StudyCache(), seeded_tokens(5)
        plan = find_study(session, plans, "small")
        workers = []
        for number in range(count):
            newcomer = Newcomer(platform="generic", worker=str(number), parameters={})
            workers.append(arrive(session, plan, newcomer, now=study.clock(), new_token=names).worker_id)
            give_consent(
                session, load_progress(session, plans, workers[-1], now=study.clock()), now=study.clock()
            )
    task, start = plan.tasks[0], threading.Barrier(count)

    def begin(server, worker):
        own = StudyCache()
        start.wait()
        with transaction(server, write=True) as session:
            here = load_progress(session, own, worker, now=study.clock(), lock=True)
            taken = take_slot(session, here, task, task.topics[0].id, now=study.clock())
        if taken:
            with transaction(server, write=True) as session:
                here = load_progress(session, own, worker, now=study.clock(), lock=True)
                enrol(session, own, here, Step("enrol", 1, 1), now=study.clock())

    threads = [
        threading.Thread(target=begin, args=(servers[number % 2], worker))
        for number, worker in enumerate(workers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for server in servers:
        server.engine.dispose()


@pytest.mark.both_databases
def test_systems_are_followed_equally_often(campaign):
    """A hundred enrolments on two connections at once: 34, 33 and 33."""
    study = stream_study(campaign)
    enrolled_at_once(study, 100)
    assert sorted(followers(study).values()) == [33, 33, 34]


@pytest.mark.both_databases
def test_no_stream_gets_more_followers_than_it_has_places(campaign):
    """Twenty who want one of six places at the same moment."""
    study = stream_study(campaign, task={"workers_per_stream": 2})
    enrolled_at_once(study, 20)
    assert followers(study) == {"sysprompt": 2, "syslate": 2, "syssparse": 2}


def test_chance_decides_between_equals(campaign, new_campaign):
    """By the study's seed: the same gives the same systems, others give others."""
    drawn = {}
    for name, seed in (("one", 1), ("again", 1), ("two", 2)):
        study = stream_study(lambda name=name: new_campaign(name), seed=seed)
        for number in range(6):
            follow(study, f"w{number}")
        rows = study.rows(select(System.name).join(Follow, Follow.system_id == System.id).order_by(Follow.id))
        drawn[name] = [system for (system,) in rows]
    assert drawn["one"] == drawn["again"] != drawn["two"]


def test_an_event_is_full_when_all_its_streams_are(tight):
    """Said at the door, before consent; nothing is stored about the visitor."""
    for name in ("ann", "bob", "cleo"):
        follow(tight, name)
    dora = tight.arrive("dora")
    assert dora.status == 409
    assert len(tight.rows(select(Worker))) == 3


def test_a_full_event_is_not_offered(campaign):
    """Others are."""
    study = stream_study(campaign, events=EVENTS, task={"workers_per_stream": 1})
    for name in ("ann", "bob", "cleo"):
        visitor = study.arrive(name).send()
        number = next(value for value, text in visitor.options("topic").items() if text == STORM)
        visitor.send(topic=number).send()
    assert list(study.arrive("dora").send().options("topic").values()) == [FERRIES]


def test_a_follow_holds_its_place_while_its_follower_is_away_and_after_it(tight):
    """No lease runs out on it: being away is what it is about."""
    for name in ("ann", "bob", "cleo"):
        follow(tight, name)
    for hours in (24, 71, 1000):
        tight.clock.forward(hours * HOUR)
        assert tight.arrive("dora").status == 409


def test_a_place_that_nobody_enrolled_in_is_given_on(tight):
    """Who took an event and left before enrolling has a lease like everybody."""
    for name in ("ann", "bob"):
        follow(tight, name)
    cleo = tight.arrive("cleo").send()
    assert cleo.step == "1/1/enrol"
    assert tight.arrive("dora").status == 409
    tight.clock.forward(61)
    assert follow(tight, "dora").step == "1/1/stream"
    assert set(followers(tight).values()) == {1}


def test_who_enrols_too_late_may_all_the_same_and_is_flagged(tight):
    """Over quota, with the system that has the fewest followers."""
    cleo = tight.arrive("cleo").send()
    tight.clock.forward(61)
    for name in ("ann", "bob", "dora"):
        follow(tight, name)
    assert cleo.send().step == "1/1/stream"
    assert sorted(followers(tight).values()) == [1, 1, 2]
    flags = tight.rows(select(Slot.late).join(Slot.assignment).order_by(Slot.id))
    assert sorted(late for (late,) in flags) == [False, False, False, True]


def test_a_withdrawn_followers_place_is_free_again(tight):
    """In the same system, since that is where one is missing."""
    for name in ("ann", "bob", "cleo"):
        follow(tight, name)
    before = tight.rows(select(Follow.system_id).order_by(Follow.id))
    withdraw(tight, 2)
    follow(tight, "dora")
    after = tight.rows(select(Follow.system_id).order_by(Follow.id))
    assert after[3] == before[1]


def test_places_may_be_added_but_not_taken_while_people_follow(tight):
    """As for queries; what else would change what people read is refused."""

    def load(**task):
        given = {"workers_per_stream": 1, **task}
        return tight.load_file(
            write_stream_study(tight.folder, events=ONE_EVENT, lease_minutes=1, task=given)
        ).outcome

    for name in ("ann", "bob", "cleo"):
        follow(tight, name)
    for task in ({"workers_per_stream": 2}, {"workers_per_stream": 2, "idle_seconds": 60.0}):
        assert load(**task) == "changed"
    assert follow(tight, "dora").step == "1/1/stream"
    for task in ({"workers_per_stream": 1}, {"days": 3}, {"clock_factor": 2.0}, {"updates_per_page": 5}):
        with pytest.raises(InputError, match="would corrupt answers"):
            load(**{"workers_per_stream": 2, **task})


def test_who_comes_back_by_the_platforms_door_goes_on(tight):
    """Also when the study is full: coming back is resuming."""
    for name in ("ann", "bob", "cleo"):
        follow(tight, name)
    tight.clock.forward(30 * HOUR)
    assert tight.arrive("bob").step == "1/1/stream"


def test_coming_back_is_told_apart(campaign):
    """By a reminder's link, by a new submission of the platform, or on one's own; for a visit as a whole."""
    study = stream_study(campaign)
    ann = study.visitor().open("/s/small?id=ann&session=1").send().send()
    ways = [
        (ann.home, "own"),
        (f"{ann.home}?via=reminder", "reminder"),
        ("/s/small?id=ann&session=1", "own"),
        ("/s/small?id=ann&session=2", "invitation"),
        ("/s/small?id=ann&session=2", "own"),
        ("/s/small?id=ann&session=2&via=reminder", "reminder"),
        (f"{ann.home}?via=nonsense", "own"),
        ("/s/small?id=ann", "own"),
    ]
    for address, entry in ways:
        study.clock.forward(HOUR)
        ann.open(address)
        assert ann.step == "1/1/stream"
        log(ann)
        assert views(study)[-1].entry == entry, address
    study.clock.forward(HOUR)
    ann.open(f"{ann.home}?via=reminder")
    old = ann.response.request.full_path
    ann.open(ann.home)
    assert views(study)[-1].entry == "reminder"
    study.clock.forward(HOUR)
    ann.open(old)
    assert views(study)[-1].entry == "own"


def test_the_way_to_one_of_several_streams_keeps_how_one_came(campaign):
    """The list stands between the link and the stream."""
    study = stream_study(campaign, events=EVENTS, task={"topics_per_worker": 2})
    ann = study.arrive().send().send(topic="1").send().send()
    study.clock.forward(HOUR)
    ann.open(f"{ann.home}?via=reminder")
    link = ann.html.select_one("main li a")["href"]
    ann.open(f"{ann.home}1/{link}")
    assert views(study)[-1].entry == "reminder"
    come_back(study, ann, after_hours=1)
    ann.open(f"{ann.home}1/{ann.html.select_one('main li a')['href']}")
    assert views(study)[-1].entry == "own"


def test_the_standing_link_is_the_one_that_workers_see(campaign):
    """Also behind a proxy that speaks https to them."""
    study = stream_study(campaign)
    ann = follow(study).send(done="1")
    assert ann.html.select_one("a[data-home]")["href"] == f"http://localhost{ann.home}"
    behind = ann.client.get(ann.path, headers={"X-Forwarded-Proto": "https", "Host": "study.example.org"})
    assert f'href="https://study.example.org{ann.home}"' in behind.text
