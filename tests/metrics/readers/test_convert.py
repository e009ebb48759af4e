"""Streams of one kind scored as those of the other."""

import numpy as np
import pytest

from metrics.errors import InputError
from metrics.events import Event, EventCollection, Match, Nugget, Update, UpdateRun
from metrics.push.conversion import (
    events_from_push,
    push_from_events,
    push_run_from_updates,
    update_run_from_push,
)
from metrics.push.measures import ELG
from metrics.push.score import push_scores
from metrics.push.streams import Created
from tests.metrics.push.test_push import example
from tests.metrics.push_strategies import DAYS, START, run_of

DAY = 86_400


def event(**changes):
    """Two days; n1 and n2 are highly important, n1 was known first; n3 is little so."""
    matches = {
        f"{START}-a-0": ["n3", "n2"],
        f"{START + 60}-b-0": ["n2", "n1"],
        f"{START + DAY}-c-0": ["n3"],
        f"{START + DAY}-d-0": [],
    }
    content = {
        "start": START + 3600.0,
        "end": START + DAY + 3600.0,
        "nuggets": {
            "n1": Nugget(START, 2.0, 1, "one"),
            "n2": Nugget(START + 1, 2.0, 1, "two"),
            "n3": Nugget(START, 1.9, 1, "three"),
        },
        "updates": {update: Update("text", 1, None) for update in matches},
        "matches": {update: tuple(Match(name, 0, 1) for name in names) for update, names in matches.items()},
    }
    return Event(**{**content, **changes})


def collection_of(one):
    return EventCollection(name="events.tsv", topics={"TS14.11": one})


def test_an_update_is_in_the_cluster_of_its_best_nugget():
    """The most important, of equal ones the one known first; its importance makes the gain."""
    a, b, c, d = event().updates
    pushes = push_from_events(collection_of(event()))

    assert pushes.clusters == {"TS14.11": ((b,), (a,), (c,))}
    assert pushes.gains == {"TS14.11": {a: 1.0, b: 1.0, c: 0.5}}
    assert set(pushes.created) == {a, b, c, d}


def test_an_update_is_posted_when_its_document_was_on_days_of_the_event():
    """UTC days, the first and the last one included."""
    pushes = push_from_events(collection_of(event()))

    assert pushes.days == {"TS14.11": DAYS[:2]}
    assert pushes.created[f"{START + 60}-b-0"] == Created(DAYS[0], START + 60)


def test_a_copy_tells_what_its_original_tells():
    """Matches stand at the original only."""
    original, copy = f"{START}-a-0", f"{START}-z-0"
    updates = {original: Update("text", 1, None), copy: Update("text", 1, original)}
    pushes = push_from_events(collection_of(event(updates=updates)))

    assert pushes.clusters == {"TS14.11": ((original, copy),)}


def test_an_id_without_a_time_cannot_be_converted():
    """There would be no latency."""
    with pytest.raises(
        InputError, match="the id of update 'x-1' does not begin with the time of its document"
    ):
        push_from_events(collection_of(event(updates={"x-1": Update("", 0, None)}, matches={})))


def test_updates_can_be_scored_as_pushes():
    """Day one: b 10 minutes late of one push; day two: nothing pushed."""
    run = UpdateRun(
        name="run", topics=("11",), updates=(f"{START + 60}-b-0",), seconds=[START + 660.9], confidence=[0.1]
    )
    pushed = push_run_from_updates(run)
    (score,) = [
        score
        for score in push_scores(push_from_events(collection_of(event())), [pushed], [ELG()])
        if score.topic == "all"
    ]

    assert pushed.epochs.tolist() == [START + 660]
    assert score.value == pytest.approx(0.9 / 2)


def test_a_cluster_becomes_a_nugget_known_with_its_first_tweet():
    """Words are counted in the texts; a cluster that was not pooled has no time."""
    collection = example()
    events = events_from_push(collection, {"a": "three words here", "n": ""})
    found = events.topics["MB1"]

    assert {name: nugget.seconds for name, nugget in found.nuggets.items()} == {
        "MB1.1": START,
        "MB1.2": START + 90 * 60,
    }
    assert {update: found.nuggets_of(update) for update in "abcdn"} == {
        "a": ("MB1.1",),
        "b": ("MB1.1",),
        "c": ("MB1.2",),
        "d": ("MB1.1",),
        "n": (),
    }
    assert (found.start, found.end) == (START, START + 3 * DAY)
    assert {name: update.words for name, update in found.updates.items()} == {"a": 3, "n": 0}


def test_a_topic_without_a_pooled_cluster_becomes_no_event():
    """Its first day would have nothing to be late for."""
    collection = example()
    alone = type(collection)(
        name="x",
        days={"MB1": DAYS, "MB2": DAYS},
        gains={"MB1": {}, "MB2": {}},
        clusters={"MB1": (("unknown",),), "MB2": ()},
        created={},
    )
    assert not events_from_push(alone, {}).topics


def test_pushes_become_updates_of_equal_confidence():
    """Equal times are then shown in the order of the lines."""
    updates = update_run_from_push(run_of([("MB1", "a", 5), ("MB1", "b", 5)]))

    assert (updates.topics, updates.updates) == (("MB1", "MB1"), ("a", "b"))
    assert updates.seconds.tolist() == [5.0, 5.0]
    assert np.unique(updates.confidence).size == 1


def test_what_was_converted_says_so():
    """Wherever its scores are shown."""
    pushes = push_from_events(collection_of(event()))
    events = events_from_push(example(), {})

    assert (pushes.name, pushes.converted_from) == ("events.tsv (converted from events)", "events")
    assert events.name == "example (converted from push notifications)"
    assert events.converted_from == "push notifications"
    assert example().converted_from is None
