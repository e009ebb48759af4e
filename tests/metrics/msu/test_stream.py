"""Modeled Stream Utility, worked by hand; its laws are in `test_stream_laws`."""

import math
from datetime import UTC, datetime

import numpy as np
import pytest

from metrics.events import Event, Match, Nugget, Update
from metrics.msu.measures import MSU, MSUPerSecond, MSUStandardError
from metrics.msu.score import msu_scores, msu_user_scores, score_msu
from metrics.msu.trails import GivenUsers, trails
from metrics.push.conversion import events_from_push, update_run_from_push
from metrics.registry import parse_measure
from tests.metrics.event_strategies import START, TOPIC, collection_of, run_of
from tests.metrics.push.test_push import example as pushes
from tests.metrics.push_strategies import START as PUSH_START
from tests.metrics.push_strategies import run_of as push_run
from tests.metrics.stream_users import Cut, msu, per_second, simple


def seconds_of(day, hour, minute):
    return datetime(2012, 12, day, hour, minute, tzinfo=UTC).timestamp()


def test_the_example_of_the_paper():
    """Section 3: visits on four days, six nuggets that come 1, 0, 2, 3, 1 and 1 visits late, L = 0.5: 2.875."""
    visits = [seconds_of(4, 10, 2), seconds_of(5, 10, 11), seconds_of(6, 9, 50), seconds_of(7, 9, 55)]
    known = {
        "n9": seconds_of(5, 20, 0),
        "n10": seconds_of(6, 12, 0),
        "n11": seconds_of(4, 18, 31),
        "n12": seconds_of(4, 6, 0),
        "n13": seconds_of(5, 12, 0),
        "n14": seconds_of(5, 14, 0),
        "n15": seconds_of(7, 9, 0),
    }
    told = {
        "newest": ("n11",),
        "second": ("n11", "n12", "n13", "n14"),
        "third": ("n9", "n10"),
        "repeat": ("n14",),
        "cut": ("n15",),
    }
    event = Event(
        start=visits[0],
        end=visits[0] + 10 * 86_400,
        nuggets={name: Nugget(when, 1.0, 1, name) for name, when in known.items()},
        updates={name: Update("word " * 46, 0, None) for name in told},
        matches={update: tuple(Match(name, 0, 4) for name in names) for update, names in told.items()},
    )
    emitted = {
        "newest": (52, 0.9),
        "second": (52, 0.5),
        "third": (51, 0.1),
        "repeat": (15, 0.1),
        "cut": (10, 0.1),
    }
    run = run_of(
        [(TOPIC, update, seconds_of(7, 9, minute), sure) for update, (minute, sure) in emitted.items()]
    )
    ends = [*visits[1:], visits[-1] + 60]
    pairs = [(60.0, after - before - 60.0) for before, after in zip(visits, ends, strict=True)]
    users = [(3.75, pairs)]

    assert msu(event, run, users, lateness=0.5) == 2.875
    assert msu(event, run, users, lateness=0) == 1
    assert msu(event, run, users, lateness=1) == 6
    assert per_second(event, run, users, lateness=1) == pytest.approx(6 / (4 * 46 / 3.75))


def test_the_newest_is_read_first_and_what_does_not_fit_stops_the_session():
    """Ten words a second; the session ends at the long update, and the short older one is not tried."""
    event = simple(nuggets=("a", "b", "c"), words=10)
    run = run_of(
        [(TOPIC, "u0", START - 30, 1.0), (TOPIC, "x", START - 20, 1.0), (TOPIC, "u2", START - 10, 1.0)]
    )
    assert msu(event, run, [(10.0, [(2.0, 100.0)])]) == 1
    assert msu(event, run, [(10.0, [(5.0, 100.0)])]) == 2
    assert msu(event, run, [(10.0, [(0.999, 100.0)])]) == 0


def test_a_session_of_exactly_the_reading_time_is_enough():
    """Time to read must be greater than what is left to stop a reader."""
    run = run_of([(TOPIC, "u0", START, 1.0)])
    assert msu(simple(), run, [(10.0, [(1.0, 0.0)])]) == 1


def test_what_is_older_than_an_update_read_is_closed_for_good():
    """The second visit, however long, shows only what came since."""
    event = simple(nuggets=("a", "b", "c"))
    run = run_of(
        [(TOPIC, "u0", START - 9, 1.0), (TOPIC, "u1", START - 5, 1.0), (TOPIC, "u2", START + 50, 1.0)]
    )
    assert msu(event, run, [(10.0, [(1.0, 99.0), (60.0, 0.0)])], lateness=1) == 2


def test_updates_that_were_read_are_not_shown_again():
    """Two updates in the first session, and nothing left for the second."""
    event = simple(nuggets=("a", "b"))
    run = run_of([(TOPIC, "u0", START - 9, 1.0), (TOPIC, "u1", START - 5, 1.0)])
    assert per_second(event, run, [(10.0, [(60.0, 99.0), (60.0, 0.0)])]) == 2 / 2


def test_what_nobody_has_read_from_is_shown_again():
    """A visit too short for the newest update leaves all of them open."""
    event = simple(nuggets=("a", "b"))
    run = run_of([(TOPIC, "u0", START - 9, 1.0), (TOPIC, "u1", START - 5, 1.0)])
    assert msu(event, run, [(10.0, [(0.5, 99.0), (60.0, 0.0)])], lateness=1) == 2


def test_updates_that_came_during_a_session_are_shown_next_time_or_lost_by_the_papers_words():
    """The window since the last session's end is the paper's; the program's is since the last update read."""
    event = simple(nuggets=("a", "b"))
    run = run_of([(TOPIC, "u0", START, 1.0), (TOPIC, "u1", START + 5, 1.0)])
    users = [(10.0, [(10.0, 90.0), (10.0, 0.0)])]
    assert msu(event, run, users, lateness=1) == 2
    assert msu(event, run, users, lateness=1, window="since_last_session") == 1


def test_equal_times_are_read_by_confidence_then_from_the_end_of_the_file():
    """Only the first two of four are read."""
    event = simple(nuggets=("a", "b", "c", "d"))
    lines = [(TOPIC, "u3", START, 2.0)] + [(TOPIC, f"u{number}", START, 1.0) for number in range(3)]
    users = [(10.0, [(2.0, 1.0)])]
    told = {**event.matches, "u0": (), "u1": ()}
    only_last = Event(
        start=event.start, end=event.end, nuggets=event.nuggets, updates=event.updates, matches=told
    )
    assert msu(only_last, run_of(lines), users) == 2
    infinite = [(TOPIC, "u0", START, np.inf), (TOPIC, "u1", START, 1.0), (TOPIC, "u2", START, -np.inf)]
    assert msu(event, run_of(infinite), [(10.0, [(1.0, 1.0)])]) == 1


def test_lateness_counts_the_visits_that_came_in_vain():
    """Known at the start, read at the third visit: 2 visits late; known after the second one began: on time."""
    run = run_of([(TOPIC, "u0", START + 250, 1.0)])
    users = [(10.0, [(10.0, 90.0), (10.0, 90.0), (10.0, 90.0), (10.0, 0.0)])]
    for known, late in [(-5.0, 3), (0.0, 3), (50.0, 2), (100.0, 2), (100.5, 1), (250.0, 0), (400.0, 0)]:
        assert msu(simple(known=known), run, users, lateness=0.5) == 0.5**late, known


def test_a_nugget_read_twice_gains_once_and_costs_twice():
    """Two updates with the same nugget, and one update emitted twice."""
    event = simple(nuggets=("a",))
    run = run_of([(TOPIC, "u0", START, 1.0), (TOPIC, "u0", START, 1.0)])
    users = [(10.0, [(5.0, 0.0)])]
    assert msu(event, run, users) == 1
    assert per_second(event, run, users) == 0.5


def test_a_copy_tells_what_its_original_tells_besides_its_own():
    """One hop, even when the original was not emitted; the copy's own text is what is read."""
    base = simple(nuggets=("a", "b"))
    updates = {**base.updates, "copy": Update("", 0, "u0"), "second": Update("", 0, "copy")}
    matches = {**base.matches, "copy": (Match("b", 0, 0),)}
    event = Event(start=base.start, end=base.end, nuggets=base.nuggets, updates=updates, matches=matches)
    users = [(10.0, [(0.0, 0.0)])]
    assert msu(event, run_of([(TOPIC, "copy", START, 1.0)]), users) == 2
    assert msu(event, run_of([(TOPIC, "second", START, 1.0)]), users) == 1


def test_lengths_are_the_given_ones_else_counted_else_thirty():
    """Words are separated by ASCII white space; a no-break space joins."""
    base = simple()
    texts = {"u0": Update("a b\tc\u00a0d\n", 99, None), "u1": Update("", 99, None)}
    event = Event(start=base.start, end=base.end, nuggets=base.nuggets, updates=texts, matches=base.matches)
    run = run_of([(TOPIC, "u0", START, 1.0)])
    users = [(1.0, [(1000.0, 0.0)])]
    assert per_second(event, run, users) == pytest.approx(1 / 3)
    given = msu_scores(
        collection_of(event), [run], [MSUPerSecond()], GivenUsers(trails(users)), lengths={TOPIC: {"u0": 8}}
    )
    assert given[0].value == pytest.approx(1 / 8)
    unlisted = run_of([(TOPIC, "u0", START, 1.0), (TOPIC, "elsewhere", START, 1.0)])
    assert per_second(event, unlisted, users) == pytest.approx(1 / 33)
    assert per_second(event, unlisted, users, unlisted_words=7) == pytest.approx(1 / 10)
    assert per_second(event, unlisted, users, unlisted_words="topic_mean") == pytest.approx(1 / 4.5)


def test_nothing_read_is_nothing_gained_in_no_time():
    """Empty runs, users who never come in time, and updates of no length have a stated value."""
    users = [(10.0, [(5.0, 0.0)])]
    assert msu(simple(), run_of([]), users) == per_second(simple(), run_of([]), users) == 0
    assert msu(simple(), run_of([(TOPIC, "u0", START + 1, 1.0)]), users) == 0
    no_length = simple(words=0)
    assert msu(no_length, run_of([(TOPIC, "u0", START, 1.0)]), [(10.0, [(0.0, 0.0)])]) == 1
    assert per_second(no_length, run_of([(TOPIC, "u0", START, 1.0)]), users) == 0


def test_updates_before_the_topic_starts_wait_for_the_first_visit():
    """They are old news, but there."""
    assert msu(simple(), run_of([(TOPIC, "u0", START - 1e6, 1.0)]), [(10.0, [(5.0, 0.0)])]) == 1


def test_given_trails_go_on_after_the_topic():
    """They are used as they are: a visit after the topic's end still reads what was emitted."""
    event = simple(seconds=100)
    run = run_of([(TOPIC, "u0", START + 150, 1.0)])
    assert msu(event, run, [(10.0, [(5.0, 195.0), (5.0, 0.0)])], lateness=1) == 1


def test_a_simulated_visit_that_would_end_after_the_topic_is_not_begun():
    """Nor any later one, however short; one that ends with the topic is."""
    event = simple(seconds=100)
    run = run_of([(TOPIC, "u0", START + 50, 1.0)])
    for pairs, gain in [
        ([(1.0, 89.0), (10.0, 0.0)], 1),
        ([(1.0, 89.0), (10.1, 0.0)], 0),
        ([(1.0, 59.0), (50.0, 0.0), (1.0, 0.0)], 0),
    ]:
        scores = msu_scores(collection_of(event), [run], [MSU(lateness=1)], Cut(trails([(10.0, pairs)])))
        assert scores[0].value == gain


def test_scores_are_means_over_users_of_means_over_topics():
    """With their standard error over users, and the ratio of totals over both."""
    collection = collection_of(simple(), simple(nuggets=("a", "b"), words=5))
    run = run_of([("1", "u0", START, 1.0), ("2", "u0", START, 1.0), ("2", "u1", START, 1.0)])
    users = GivenUsers(trails([(10.0, [(0.5, 0.0)]), (10.0, [(1.0, 0.0)]), (20.0, [(3.0, 0.0)])]))
    measures = {
        "MSU": MSU(),
        "se": MSUStandardError(),
        "s": MSUPerSecond(),
        "mean": MSUPerSecond(ratio="mean_of_ratios"),
    }
    found = {(one.topic, one.metric): one.value for one in msu_scores(collection, [run], measures, users)}
    first, second = np.array([0, 1, 1]), np.array([1, 2, 2])
    for topic, gain in {"TS14.1": first, "TS14.2": second, "all": (first + second) / 2}.items():
        assert found[topic, "MSU"] == pytest.approx(gain.mean())
        assert found[topic, "se"] == pytest.approx(gain.std(ddof=1) / math.sqrt(3))
    spent = {"TS14.1": np.array([0, 1, 0.5]), "TS14.2": np.array([0.5, 1, 0.5])}
    assert found["TS14.1", "s"] == pytest.approx(2 / 1.5)
    assert found["all", "s"] == pytest.approx((2 + 5) / (spent["TS14.1"].sum() + spent["TS14.2"].sum()))
    assert found["TS14.1", "mean"] == pytest.approx((0 + 1 + 2) / 3)
    assert found["all", "mean"] == pytest.approx((1 + (2 + 2 + 4) / 3) / 2)


def test_every_user_can_be_had():
    """Called 1, 2, ... in their order, with a mean over topics each."""
    collection = collection_of(simple(), simple(nuggets=("a", "b")))
    run = run_of([("1", "u0", START, 1.0), ("2", "u0", START, 1.0), ("2", "u1", START, 1.0)])
    users = GivenUsers(trails([(10.0, [(1.0, 0.0)]), (10.0, [(5.0, 0.0)])]))
    scores = msu_user_scores(collection, [run], [MSU(), MSUPerSecond()], users)
    assert [(one.topic, one.user, one.metric, one.value) for one in scores] == [
        ("TS14.1", "1", "MSU@0.5", 1.0),
        ("TS14.1", "1", "MSU/s@0.5", 1.0),
        ("TS14.2", "1", "MSU@0.5", 1.0),
        ("TS14.2", "1", "MSU/s@0.5", 1.0),
        ("all", "1", "MSU@0.5", 1.0),
        ("all", "1", "MSU/s@0.5", 1.0),
        ("TS14.1", "2", "MSU@0.5", 1.0),
        ("TS14.1", "2", "MSU/s@0.5", 1.0),
        ("TS14.2", "2", "MSU@0.5", 2.0),
        ("TS14.2", "2", "MSU/s@0.5", 1.0),
        ("all", "2", "MSU@0.5", 1.5),
        ("all", "2", "MSU/s@0.5", 1.0),
    ]
    ratios = msu_user_scores(collection, [run], [MSUPerSecond(ratio="mean_of_ratios")], users)
    assert ratios[-1].value == 1.0


def test_the_mean_can_be_over_the_runs_own_topics():
    """As the authors' program has it; a run without any has no mean."""
    collection = collection_of(simple(), simple())
    users = GivenUsers(trails([(10.0, [(1.0, 0.0)])]))
    run = run_of([("2", "u0", START, 1.0), ("nobody's", "u0", START, 1.0)])
    judged = score_msu(collection, [run], [MSU(), MSUPerSecond()], users)
    assert judged["value"].tolist() == [0.0, 0.0, 1.0, 1.0, 0.5, 1.0]
    own = msu_scores(collection, [run], [MSU(), MSUPerSecond()], users, topics="run")
    assert [one.value for one in own[-2:]] == [1.0, 1.0]
    for of_topics in ("judged", "run"):
        kinds = [MSU(), MSUStandardError(), MSUPerSecond()]
        none = msu_scores(collection, [run_of([])], kinds, users, topics=of_topics)
        values = dict(zip(kinds, (one.value for one in none[-3:]), strict=True))
        assert np.isnan(values[MSU()]) == np.isnan(values[MSUPerSecond()]) == (of_topics == "run")


def test_a_single_user_has_no_standard_error():
    """Nothing can be said from one."""
    users = GivenUsers(trails([(10.0, [(1.0, 0.0)])]))
    scores = msu_scores(collection_of(simple()), [run_of([])], [MSUStandardError()], users)
    assert all(math.isnan(one.value) for one in scores)


def test_measures_check_their_parameters():
    """Beyond 1 a late nugget would be worth more than one in time."""
    for text in (
        "MSU(lateness=1.5)",
        "MSU(lateness=-0.1)",
        "MSU(unlisted_words=-1)",
        "MSU(unlisted_words=inf)",
    ):
        with pytest.raises(ValueError, match=r"must"):
            parse_measure(text)
    one = MSUPerSecond(
        lateness=0.1, window="since_last_session", unlisted_words="topic_mean", ratio="mean_of_ratios"
    )
    assert parse_measure(repr(one)) == one
    assert one.column == "MSU/s@0.1"


def test_pushes_can_be_read_as_a_stream():
    """A cluster is a nugget, told by any of its tweets; a tweet without a text has thirty words."""
    judged = events_from_push(pushes(), {"a": "three words here"})
    run = update_run_from_push(
        push_run([("1", "a", PUSH_START), ("1", "d", PUSH_START), ("1", "c", PUSH_START)])
    )
    users = GivenUsers(trails([(1.0, [(63.0, 0.0)])]))
    scores = msu_scores(judged, [run], [MSU(), MSUPerSecond()], users)
    assert [(one.topic, one.value) for one in scores[:2]] == [("MB1", 2.0), ("MB1", 2 / 63)]
