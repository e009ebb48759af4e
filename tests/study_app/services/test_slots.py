"""Slots: limits, leases, races, balance. One minute of lease unless a test says otherwise."""

import threading
from collections import Counter

import pytest
from sqlalchemy import select

from study_app.services.worker.entry import Visitor as Newcomer
from study_app.services.worker.entry import arrive, find_study, give_consent
from study_app.services.worker.slots import take_slot
from study_app.services.worker.tallies import pair_tallies
from study_app.services.worker.worker_progress import load_progress
from study_app.store.database import open_database, transaction
from study_app.store.models import Assignment, Judgment, Pair, Showing, Slot, Topic, Worker
from study_app.store.study_cache import StudyCache
from study_app.store.tokens import seeded_tokens
from tests.study_app.small_study import QUERIES, pairs_task, votes_task

FUJI, TEA = QUERIES.values()


@pytest.fixture
def tight(campaign):
    """One worker a query, one minute of lease, no search."""
    return campaign(lease_minutes=1, tasks=[pairs_task(workers_per_query=1)])


def test_a_query_without_a_free_slot_is_not_offered(tight):
    """And its number is nobody else's, so an old page cannot take another query by mistake."""
    ann, bob = tight.arrive("ann").send(), tight.arrive("bob").send()
    numbers = {text: number for number, text in bob.options("topic").items()}
    ann.send(topic=next(number for number, text in ann.options("topic").items() if text == FUJI))
    assert bob.send(topic=numbers[FUJI]).status == 422
    assert "just taken" in bob.html.select_one("[role=alert]").get_text()
    assert bob.options("topic") == {numbers[TEA]: TEA}
    assert bob.send(topic=numbers[TEA]).step == "1/1/pair/1"


def test_full_is_said_at_the_door(tight):
    """Before consent, and nothing is stored about the visitor."""
    tight.at_pairs("ann", topic=FUJI)
    tight.at_pairs("bob", topic=TEA)
    cleo = tight.arrive("cleo")
    assert cleo.status == 409
    assert "places are taken" in cleo.html.h1.get_text()
    assert len(tight.rows(select(Worker))) == 2


def test_full_is_said_before_consent_to_who_had_come_in_before(tight):
    """Their consent page turns into that page, and into consent again when somebody's lease expires."""
    cleo = tight.arrive("cleo")
    tight.at_pairs("ann", topic=FUJI)
    tight.at_pairs("bob", topic=TEA)
    assert cleo.send().step == "full"
    assert tight.rows(select(Worker.consented_at).where(Worker.number == 1)) == [(None,)]
    tight.clock.forward(61)
    assert cleo.open(cleo.home).step == "consent"


def test_who_comes_back_is_never_turned_away_for_fullness(tight):
    """Coming back is resuming."""
    tight.at_pairs("ann", topic=FUJI)
    tight.at_pairs("bob", topic=TEA)
    assert tight.arrive("ann").step == "1/1/pair/1"


def test_all_tasks_must_be_full_to_turn_somebody_away(campaign):
    """A worker who can still do one task does that one."""
    study = campaign(tasks=[votes_task(votes_per_query=1), pairs_task(workers_per_query=2)])
    for name in ("ann", "bob"):
        voter = study.arrive(name).send()
        voter.send(topic=next(iter(voter.options("topic")))).send(none="1")
    cleo = study.arrive("cleo")
    assert cleo.step == "consent"
    assert cleo.send().step == "2/choose"


def test_an_expired_slot_is_given_to_who_needs_it(tight):
    """Without it a study that people leave would never get its answers."""
    tight.at_pairs("ann", topic=FUJI)
    tight.at_pairs("bob", topic=TEA)
    tight.clock.forward(59)
    assert tight.arrive("cleo").status == 409
    tight.clock.forward(2)
    assert tight.at_pairs("cleo", topic=FUJI).step == "1/1/pair/1"


def test_answers_keep_the_lease_alive(tight):
    """Every one is a sign of life."""
    ann = tight.at_pairs("ann", topic=FUJI)
    for _ in range(2):
        tight.clock.forward(50)
        ann.send(choice="left")
    tight.clock.forward(50)
    bob = tight.arrive("bob").send()
    assert list(bob.options("topic").values()) == [TEA]


def test_a_place_is_held_for_a_quarter_of_an_hour_for_the_first_answer(campaign):
    """An open page alone keeps it no longer; from the first answer on it does. Who answers later goes on where there is room."""
    study = campaign(tasks=[pairs_task(workers_per_query=1)])
    ann, bob = study.at_pairs("ann", topic=FUJI), study.at_pairs("bob", topic=TEA)
    bob.send(choice="left")
    for _ in range(2):
        study.clock.forward(451)
        beat = {"n": 1, "ms": 0, "wall": 0, "kind": "beat"}
        for one in (ann, bob):
            body = {"page": one.page_token, "sent_ms": 0, "sent_wall_ms": 0, "events": [beat]}
            assert one.client.post(f"/e/{one.token}", json=body).status_code == 200
    assert list(study.arrive("cleo").send().options("topic").values()) == [FUJI]
    study.judge_all(ann)
    assert study.rows(select(Slot.late).distinct()) == [(False,)]


def test_a_done_slot_counts_for_ever(tight):
    """Its answers are there."""
    tight.judge_all(tight.at_pairs("ann", topic=FUJI))
    tight.clock.forward(10**6)
    assert list(tight.arrive("bob").send().options("topic").values()) == [TEA]


def test_a_withdrawn_workers_place_is_free_again(tight):
    """Their answers do not count, so somebody else's are needed."""
    ann = tight.judge_all(tight.at_pairs("ann", topic=FUJI))
    with transaction(tight.database, write=True) as session:
        session.scalars(select(Worker)).one().withdrawn_at = tight.clock()
    assert set(tight.arrive("bob").send().options("topic").values()) == {FUJI, TEA}
    assert ann.open(ann.home).step == "withdrawn"


def test_who_comes_back_to_an_expired_slot_goes_on_when_there_is_room(tight):
    """The lease is renewed, and the answers are not late."""
    ann = tight.at_pairs("ann", topic=FUJI)
    tight.clock.forward(3600)
    tight.judge_all(ann)
    assert ann.step == "finish"
    assert tight.rows(select(Slot.late)) == [(False,)]
    assert {late for (late,) in tight.rows(select(Judgment.late))} == {False}


def test_who_comes_back_too_late_goes_on_and_is_flagged(tight):
    """Late answers are kept and marked over quota; what was answered in time is not."""
    ann = tight.at_pairs("ann", topic=FUJI)
    ann.send(choice="left")
    tight.clock.forward(61)
    tight.at_pairs("bob", topic=FUJI)
    tight.judge_all(ann)
    assert ann.send().step == "done"
    flags = tight.rows(select(Judgment.late).join(Judgment.showing).order_by(Showing.position))
    assert [late for (late,) in flags] == [False, True, True]
    assert [late for (late,) in tight.rows(select(Slot.late).order_by(Slot.id))] == [True, False]


@pytest.mark.both_databases
def test_two_servers_cannot_give_out_one_slot_twice(campaign):
    """The race on the last place: twenty workers on two connections, one of them gets it."""
    study = campaign(tasks=[pairs_task(workers_per_query=1)])
    servers = [open_database(study.url), open_database(study.url)]
    with transaction(study.database, write=True) as session:
        plans = StudyCache()
        plan = find_study(session, plans, "small")
        names = seeded_tokens(5)
        workers = []
        for number in range(20):
            newcomer = Newcomer(platform="generic", worker=str(number), parameters={})
            workers.append(arrive(session, plan, newcomer, now=study.clock(), new_token=names).worker_id)
            give_consent(
                session, load_progress(session, plans, workers[-1], now=study.clock()), now=study.clock()
            )
    task = plan.tasks[0]
    taken = []
    start = threading.Barrier(len(workers))

    def take(server, worker):
        own_plans = StudyCache()
        start.wait()
        with transaction(server, write=True) as session:
            here = load_progress(session, own_plans, worker, now=study.clock(), lock=True)
            taken.append(take_slot(session, here, task, task.topics[0].id, now=study.clock()))

    threads = [
        threading.Thread(target=take, args=(servers[number % 2], worker))
        for number, worker in enumerate(workers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(taken) == {True: 1, False: 19}
    assert len(study.rows(select(Slot))) == 1
    for server in servers:
        server.engine.dispose()


def test_each_pair_stands_both_ways_equally_often(campaign):
    """Balanced over done and live showings; repeats do not count, as they are swapped."""
    study = campaign(task={"workers_per_query": None, "search_seconds": 0})
    for number in range(6):
        study.at_pairs(f"w{number}", topic=FUJI)
    shown = study.rows(select(Showing.pair_id, Showing.left_system_id).where(Showing.repeats_id.is_(None)))
    counts = Counter(tuple(row) for row in shown)
    assert len(counts) == 6
    assert set(counts.values()) == {3}


def test_an_abandoned_showing_does_not_upset_the_balance(campaign):
    """Expired slots do not count, so answered showings end up balanced."""
    study = campaign(lease_minutes=1, tasks=[pairs_task(workers_per_query=None)])
    for number in range(12):
        worker = study.at_pairs(f"w{number}", topic=FUJI)
        if number % 3:
            study.judge_all(worker)
        else:
            study.clock.forward(61)
    answered = study.rows(select(Showing.pair_id, Showing.left_system_id).join(Showing.judgments))
    assert set(Counter(tuple(row) for row in answered).values()) == {4}


def test_only_showings_that_are_done_or_live_are_counted_and_no_repeats(campaign):
    """Whoever left, stopped or withdrew has not judged the pair, however often it was put before them."""
    study = campaign(lease_minutes=1, tasks=[pairs_task(workers_per_query=None, validation_pairs=2)])
    gone, done, withdrawn = (study.at_pairs(name, topic=FUJI) for name in ("gone", "done", "withdrawn"))
    study.judge_all(done)
    study.judge_all(withdrawn)
    study.clock.forward(61)
    study.at_pairs("stopped", topic=FUJI)
    study.at_pairs("here", topic=FUJI)
    study.at_pairs("elsewhere", topic=TEA)
    with transaction(study.database, write=True) as session:
        _, done, withdrawn, stopped, here, _ = session.scalars(select(Worker).order_by(Worker.number))
        withdrawn.withdrawn_at = stopped.stopped_at = study.clock()
        stopped.stopped_as = "partial"
        session.flush()
        query = select(Showing.pair_id, Showing.left_system_id).where(Showing.repeats_id.is_(None))
        counted = query.join(Showing.slot).join(Slot.assignment)
        expected = Counter(
            tuple(row) for row in session.execute(counted.where(Assignment.worker_id.in_([done.id, here.id])))
        )
        topic = session.scalars(select(Topic.id).where(Topic.text == FUJI)).one()
        tallies = pair_tallies(session, topic, now=study.clock())
    assert gone.step.startswith("1/1/pair")
    assert sum(expected.values()) == 2 * len(tallies)
    for tally in tallies:
        assert tally.a_left == expected[tally.pair, tally.system_a]
        assert tally.b_left == expected[tally.pair, tally.system_b]


def test_sides_are_stored_before_the_first_pair_is_shown(tight):
    """The rows are there with the slot, in the transaction of the choice."""
    tight.at_pairs("ann", topic=FUJI)
    assert len(tight.rows(select(Showing))) == 3
    assert tight.rows(select(Judgment)) == []


def test_another_seed_gives_other_sides_and_orders(new_campaign):
    """And the same seed the same ones."""
    drawn = {}
    for name, seed in (("one", 1), ("two", 2), ("again", 1)):
        study = new_campaign(name, seed=seed, tasks=[pairs_task(workers_per_query=None)])
        for number in range(4):
            study.at_pairs(f"w{number}", topic=FUJI)
        shown = study.rows(select(Pair.name, Showing.left_system_id).join(Pair).order_by(Showing.id))
        drawn[name] = [tuple(row) for row in shown]
    assert drawn["one"] == drawn["again"]
    assert drawn["one"] != drawn["two"]


def test_some_pairs_of_many_fill_up_evenly(campaign):
    """pairs: 1 of 3, six workers: every pair twice."""
    study = campaign(tasks=[pairs_task(pairs=1, workers_per_query=None)])
    for number in range(6):
        study.judge_all(study.at_pairs(f"w{number}", topic=FUJI))
    counts = Counter(pair for (pair,) in study.rows(select(Showing.pair_id)))
    assert set(counts.values()) == {2}


def test_a_repeat_is_linked_to_what_it_repeats(campaign):
    """Same pair, same worker, sides swapped."""
    study = campaign()
    study.at_pairs("ann")
    shown = [row[0] for row in study.rows(select(Showing).order_by(Showing.position))]
    repeat = shown[-1]
    original = next(one for one in shown if one.id == repeat.repeats_id)
    assert (repeat.left_system_id, repeat.right_system_id) == (
        original.right_system_id,
        original.left_system_id,
    )
    assert repeat.pair_id == original.pair_id
    assert [one.repeats_id for one in shown[:-1]] == [None] * 3


def test_a_pair_has_one_name_whatever_its_sides(tight):
    """It stands in every table."""
    names = tight.rows(
        select(Topic.name, Pair.name).join(Pair).where(Topic.name == "SYQ-1").order_by(Pair.id)
    )
    assert [name for _, name in names] == [
        "SYQ-1:sysalpha~sysbeta",
        "SYQ-1:sysalpha~sysgamma",
        "SYQ-1:sysbeta~sysgamma",
    ]
