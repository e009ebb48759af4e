"""Event batches: stored once whatever is retried, acknowledged up to the first gap, refused with a reason."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select

from study_app.logs.page_events import MAX_EVENTS, BadBatchError, read_batch
from study_app.services.worker import events
from study_app.services.worker.answers import decision_time
from study_app.services.worker.ends import withdraw
from study_app.store.database import transaction
from study_app.store.models import Judgment, PageLoad, Slot, StoredEvent, Worker
from tests.study_app.small_study import QUERIES, pairs_task

FUJI = next(iter(QUERIES.values()))

ONE_OF_EACH = [
    {"kind": "open", "layout": "stacked", "width": 390, "height": 844, "restored": False},
    {"kind": "visible"},
    {"kind": "focus"},
    {"kind": "see", "side": "left", "item": "f0", "share": 0.25},
    {"kind": "see", "side": "right", "item": "s1.0", "share": 1},
    {"kind": "layer", "side": "left", "item": "f1", "open": True},
    {"kind": "scroll", "depth": 0.5},
    {"kind": "sleep", "lost_ms": 60000},
    {"kind": "layout", "layout": "side_by_side"},
    {"kind": "beat"},
    {"kind": "blur"},
    {"kind": "hidden"},
    {"kind": "choice", "choice": "equally_bad"},
    {"kind": "submit", "choice": "left"},
    {"kind": "close"},
]


def numbered(events, start=1):
    return [
        {"n": n, "ms": 10 * n, "wall": 1767225600000 + 10 * n, **event}
        for n, event in enumerate(events, start)
    ]


def batch(page, events, **changes):
    return {"page": page, "sent_ms": 5000, "sent_wall_ms": 1767225605000, "events": events, **changes}


def beats(*numbers):
    return [{"n": n, "kind": "beat", "ms": 10 * n, "wall": 1767225600000 + 10 * n} for n in numbers]


def post(visitor, body, *, token=None, **options):
    """Post a batch from a visitor's page; a dict goes as JSON."""
    data = json.dumps(body) if isinstance(body, dict) else body
    options.setdefault("content_type", "application/json")
    return visitor.client.post(f"/e/{token or visitor.token}", data=data, **options)


def stored(study):
    return study.rows(
        select(StoredEvent.number, StoredEvent.kind, StoredEvent.page_ms, StoredEvent.detail).order_by(
            StoredEvent.number
        )
    )


@pytest.fixture
def study(campaign):
    return campaign(lease_minutes=1, tasks=[pairs_task(workers_per_query=1)])


@pytest.fixture
def ann(study):
    return study.at_pairs("ann", topic=FUJI)


def test_nothing_is_stored_of_who_has_not_consented(study):
    """The page is told to forget it; else anybody could fill the disk from the door."""
    visitor = study.arrive("passer-by")
    answer = post(visitor, batch(visitor.page_token, numbered(ONE_OF_EACH)))
    assert (answer.status_code, answer.json) == (200, {"upto": 15})
    assert stored(study) == []
    assert study.rows(select(PageLoad.id)) == []


def test_so_many_events_are_kept_of_a_page_and_of_a_worker(study, ann, monkeypatch):
    """Far more than anybody's reading makes; the page stops sending, and answers go on."""
    monkeypatch.setattr(events, "MAX_PAGE_EVENTS", 20)
    assert post(ann, batch(ann.page_token, beats(19, 20))).json == {"upto": 0}
    assert post(ann, batch(ann.page_token, beats(20, 21))).json == {"upto": 21}
    assert [row.number for row in stored(study)] == [19, 20]

    monkeypatch.setattr(events, "MAX_WORKER_EVENTS", 2)
    ann.open(ann.path)
    assert post(ann, batch(ann.page_token, beats(1))).json == {"upto": 1}
    assert len(stored(study)) == 2


def test_every_kind_is_stored_with_its_detail(study, ann):
    """The page of docs/architecture.md, kind by kind."""
    answer = post(ann, batch(ann.page_token, numbered(ONE_OF_EACH)))
    assert (answer.status_code, answer.json) == (200, {"upto": 15})
    rows = stored(study)
    assert [row.kind for row in rows] == [event["kind"] for event in ONE_OF_EACH]
    assert [{"kind": row.kind, **row.detail} for row in rows] == ONE_OF_EACH
    [(load,)] = study.rows(select(PageLoad))
    assert (load.step, load.upto) == ("1/1/pair/1", 15)
    assert load.showing_id is not None


@pytest.mark.parametrize("statement", [events._EVENTS_OF_A_FILE, events._EVENTS_OF_A_SERVER])
def test_the_statements_that_store_events_name_every_column(statement):
    """They are written for the drivers, so nothing else notices a column that is missing there."""
    (named,) = re.findall(r"^INSERT INTO event \((.*?)\)", statement)
    assert {"id", *named.split(", ")} == set(StoredEvent.__table__.columns.keys())


def test_a_beacon_may_say_that_it_is_text(study, ann):
    """navigator.sendBeacon cannot send JSON without a preflight."""
    assert post(ann, batch(ann.page_token, beats(1)), content_type="text/plain;charset=UTF-8").json == {
        "upto": 1
    }


def test_the_answer_names_the_last_number_before_a_gap(study, ann):
    """The browser may forget up to there, and sends the rest again."""
    page = ann.page_token
    assert post(ann, batch(page, beats(1, 2, 5))).json == {"upto": 2}
    assert post(ann, batch(page, beats(6))).json == {"upto": 2}
    assert post(ann, batch(page, beats(3))).json == {"upto": 3}
    assert post(ann, batch(page, beats(4))).json == {"upto": 6}
    assert post(ann, batch(page, [])).json == {"upto": 6}


def test_each_page_load_counts_for_itself(study, ann):
    """A reload begins at 1 again."""
    first = ann.page_token
    post(ann, batch(first, beats(1, 2)))
    second = ann.open(ann.path).page_token
    assert first != second
    assert post(ann, batch(second, beats(1))).json == {"upto": 1}
    assert len(stored(study)) == 3


def test_what_came_first_stays(study, ann):
    """A repeated number with other content, from a broken browser, does not change what is stored."""
    page = ann.page_token
    post(ann, batch(page, beats(1)))
    post(ann, batch(page, [{**beats(1)[0], "ms": 999}]))
    assert [row.page_ms for row in stored(study)] == [10]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_order_of_retries_ends_in_the_same_rows(study, ann, data):
    """Batches overlap, repeat, overtake each other and get cut short; when all have come, all is there once."""
    with transaction(study.database, write=True) as session:
        session.execute(delete(StoredEvent))
        session.execute(delete(PageLoad))
    events = numbered(ONE_OF_EACH)
    page = ann.page_token
    pieces = data.draw(
        st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)).map(sorted), min_size=1, max_size=12)
    )
    have = set()
    for start, end in pieces:
        body = json.dumps(batch(page, events[start:end]))
        if data.draw(st.booleans()):
            cut = body[: data.draw(st.integers(0, len(body) - 1))]
            assert post(ann, cut).status_code == 400
        else:
            have |= set(range(start + 1, end + 1))
            holes = set(range(1, 17)) - have
            assert post(ann, body).json == {"upto": min(holes) - 1}
    assert {row.number for row in stored(study)} == have
    assert post(ann, batch(page, events)).json == {"upto": 15}
    assert [{"kind": row.kind, **row.detail} for row in stored(study)] == ONE_OF_EACH


BEAT = beats(1)[0]
SEE = {**BEAT, "kind": "see", "side": "left", "item": "f0", "share": 0.5}


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([{**BEAT, "kind": "keypress"}], "events.0: "),
        ([BEAT, {**BEAT, "n": 0}], "events.1.beat.n: "),
        ([{**BEAT, "n": 1.5}], "events.0.beat.n: "),
        ([{**BEAT, "n": True}], "events.0.beat.n: "),
        ([{**BEAT, "ms": -1}], "events.0.beat.ms: "),
        ([{**BEAT, "ms": 2**60}], "events.0.beat.ms: "),
        ([{**BEAT, "wall": "now"}], "events.0.beat.wall: "),
        ([{**BEAT, "text": "what I typed"}], "events.0.beat.text: "),
        ([{key: value for key, value in BEAT.items() if key != "wall"}], "events.0.beat.wall: "),
        ([{**SEE, "share": 1.01}], "events.0.see.share: "),
        ([{**SEE, "share": None}], "events.0.see.share: "),
        ([{**SEE, "item": "SYU-1"}], "events.0.see.item: "),
        ([{**SEE, "side": "top"}], "events.0.see.side: "),
        ([{**BEAT, "kind": "submit", "choice": "both"}], "events.0.submit.choice: "),
        ([BEAT] * (MAX_EVENTS + 1), "events: "),
        ("none", "events: "),
    ],
)
def test_a_batch_that_breaks_the_form_is_refused_with_the_place(events, reason):
    """The message leads whoever writes a client to the fault."""
    with pytest.raises(BadBatchError) as caught:
        read_batch(json.dumps(batch("page", events)).encode())
    assert str(caught.value).startswith(reason)


def test_nothing_of_a_refused_batch_is_stored(study, ann):
    """And other batches are not touched."""
    answer = post(ann, batch(ann.page_token, [*beats(1, 2), {**BEAT, "kind": "keypress"}]))
    assert answer.status_code == 400
    assert answer.json["error"].startswith("events.2: ")
    assert stored(study) == []
    assert post(ann, batch(ann.page_token, beats(1))).json == {"upto": 1}


def test_a_body_that_is_no_batch_is_refused(ann):
    """Never a failure of the server."""
    for body in ("", "null", "[]", "{", "\x00", '{"page": 1}', '{"events": []}', "NaN"):
        answer = post(ann, body)
        assert answer.status_code == 400
        assert answer.json["error"]


def test_nan_and_infinity_are_no_numbers():
    """JSON has none, but Python's reader would take them."""
    text = json.dumps(batch("page", [SEE]))
    for number in ("NaN", "Infinity", "-Infinity", "1e999"):
        with pytest.raises(BadBatchError):
            read_batch(text.replace("0.5", number).encode())


def test_a_batch_is_at_most_64_kib(study, ann):
    """More is refused unread."""
    body = json.dumps(batch(ann.page_token, beats(1)))
    assert post(ann, body + " " * (64 * 1024 - len(body))).json == {"upto": 1}
    assert post(ann, body + " " * (64 * 1024 - len(body) + 1)).status_code == 413


def test_nobody_can_write_into_anothers_page(study, ann):
    """Nor into a page that this server did not serve, nor as somebody it does not know."""
    bob = study.at_pairs("bob")
    assert post(bob, batch(ann.page_token, beats(1))).status_code == 400
    assert post(ann, batch(ann.page_token[:-2] + "xx", beats(1))).status_code == 400
    assert post(ann, batch(ann.token, beats(1))).status_code == 400
    assert post(ann, batch(ann.page_token, beats(1)), token=ann.token[:-2] + "xx").status_code == 404
    assert post(ann, batch(ann.page_token, beats(1)), token=ann.page_token).status_code == 404
    assert stored(study) == []


def test_events_keep_the_lease_alive(study, ann):
    """A slow reader does not lose the place."""
    for number in range(1, 6):
        study.clock.forward(50)
        post(ann, batch(ann.page_token, beats(number)))
    bob = study.arrive("bob").send()
    assert FUJI not in bob.options("topic").values()
    [(slot,)] = study.rows(select(Slot).where(Slot.position == 1).limit(1))
    assert slot.expires_at == study.clock() + timedelta(minutes=1)
    assert study.rows(select(Worker.last_seen_at).where(Worker.number == 1)) == [(study.clock(),)]


def test_batches_every_few_seconds_write_the_lease_anew_every_half_a_minute(study, ann):
    """A batch comes every five seconds, and a lease is many times as long."""
    noted = set()
    for number in range(1, 13):
        study.clock.forward(5)
        post(ann, batch(ann.page_token, beats(number)))
        [(seen,)] = study.rows(select(Worker.last_seen_at))
        [(expires,)] = study.rows(select(Slot.expires_at))
        noted.add((seen, expires))
        assert study.clock() - seen < timedelta(seconds=30)
        assert expires - study.clock() > timedelta(seconds=30)
    assert 2 <= len(noted) <= 3


@pytest.mark.parametrize("place_was_taken", [True, False])
def test_events_of_who_comes_back_renew_the_slot_or_mark_it_late(study, ann, place_was_taken):
    """As answers do."""
    study.clock.forward(61)
    if place_was_taken:
        study.at_pairs("bob", topic=FUJI)
    post(ann, batch(ann.page_token, beats(1)))
    ann.send(choice="left")
    [(slot,)] = study.rows(select(Slot).order_by(Slot.id).limit(1))
    assert slot.late is place_was_taken
    assert study.rows(select(Judgment.late)) == [(place_was_taken,)]


def test_events_may_come_after_the_answer_and_after_finishing(study, ann):
    """What waited in a browser without a network still counts."""
    page = ann.page_token
    study.judge_all(ann).send()
    assert ann.step == "done"
    assert post(ann, batch(page, beats(1, 2))).json == {"upto": 2}
    assert len(stored(study)) == 2


def test_a_withdrawn_workers_events_are_answered_and_dropped(study, ann):
    """The page stops sending, and nothing is stored any more."""
    with transaction(study.database, write=True) as session:
        code = session.scalars(select(Worker.withdrawal_code)).one()
        withdraw(session, code, now=study.clock())
    assert post(ann, batch(ann.page_token, beats(1, 2, 3))).json == {"upto": 3}
    assert stored(study) == []


def test_an_answer_does_not_wait_for_events(study, ann):
    """A study works with telemetry blocked: no event, the same answers, timed by the server."""
    study.clock.forward(12)
    ann.send(choice="left", decision_ms="", layout="")
    found = study.rows(select(Judgment.timing, Judgment.decision_ms, Judgment.layout))
    assert found == [("server", 12_000, None)]


@pytest.mark.parametrize(
    ("claimed_ms", "expected"),
    [
        (0, (0, "browser")),
        (8_000, (8_000, "browser")),
        (14_000, (14_000, "browser")),
        (14_001, (12_000, "server")),
        (-1, (12_000, "server")),
        (None, (12_000, "server")),
    ],
)
def test_the_browsers_measure_counts_when_the_servers_does_not_contradict_it(claimed_ms, expected):
    """Between 0 and the server's own measure plus two seconds."""
    served = datetime(2026, 3, 1, tzinfo=UTC)
    assert decision_time(claimed_ms, served, now=served + timedelta(seconds=12)) == expected


def test_a_measure_that_is_no_whole_number_is_none(study, ann):
    """A script of our own sends whole milliseconds."""
    study.clock.forward(12)
    for choice, claimed in (("left", "8.5"), ("right", "x")):
        ann.open(ann.home + "1/1/pair/1").send(choice=choice, decision_ms=claimed)
    ann.open(ann.home + "1/1/pair/1")
    study.clock.forward(3)
    ann.send(choice="equally_good", decision_ms="2900", layout="stacked")
    found = study.rows(select(Judgment.timing, Judgment.decision_ms, Judgment.layout).order_by(Judgment.id))
    assert found == [("server", 0, None), ("server", 0, None), ("browser", 2900, "stacked")]
