"""What a day comes to: every rule by an example, and all of them together against the slow way."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.push.days import PAPER, TRACK, PushRules, count_pushes
from metrics.push.pool import DAY_SPAN, push_pool
from metrics.push.streams import Created, PushCollection, PushRun, days_between
from tests.metrics.push_oracle import Day, count_days
from tests.metrics.push_strategies import DAYS, START, collections, rules, run_of, runs

MINUTE, DAY = 60, 86_400


def collection_of(tweets, *, clusters=(), gains=None, topic="MB1", days=DAYS):
    """One topic; ``tweets`` are seconds after the start of the first day, of which the day follows."""
    created = {tweet: Created(DAYS[after // DAY], START + after) for tweet, after in tweets.items()}
    return PushCollection(
        name="collection",
        days={topic: days},
        gains={topic: gains or dict.fromkeys(tweets, 1.0)},
        clusters={topic: clusters},
        created=created,
    )


def counted(collection, pushes, chosen=TRACK):
    """The day table of pushes (tweet, seconds after the start) of topic MB1, as one tuple a day."""
    run = run_of([("MB1", tweet, START + after) for tweet, after in pushes])
    return days_of(count_pushes(push_pool(collection), run, chosen))


def days_of(table):
    columns = (
        [table.topics[index] for index in table.topic.tolist()],
        table.days,
        table.pushes.tolist(),
        table.gain.tolist(),
        table.ideal.tolist(),
        table.nonrelevant.tolist(),
        table.redundant.tolist(),
        table.pool_eventful.tolist(),
        table.run_eventful.tolist(),
    )
    return [Day(*row) for row in zip(*columns, strict=True)]


@settings(max_examples=4 * settings.default.max_examples)
@given(collections(), runs(), rules)
def test_the_account_is_that_of_the_slow_way(collection, run, chosen):
    """Arrays against a loop over pushes, for every combination of rules."""
    found = days_of(count_pushes(push_pool(collection), run, chosen))
    wanted = count_days(collection, run, chosen)

    assert [day[:3] + day[5:] for day in found] == [day[:3] + day[5:] for day in wanted]
    assert [day[3:5] for day in found] == [pytest.approx(day[3:5]) for day in wanted]


@pytest.mark.parametrize(
    ("delay", "gain"),
    [(0, 1.0), (59, 1.0), (60, 0.99), (50 * 60, 0.5), (99 * 60 + 59, 0.01), (100 * 60, 0.0), (200 * 60, 0.0)],
)
def test_gain_falls_by_a_hundredth_a_whole_minute(delay, gain):
    """max(0, (100 - d) / 100), d in minutes rounded down: nothing is left after a hundred."""
    collection = collection_of({"a": 0}, clusters=(("a",),))
    assert counted(collection, [("a", delay)])[0].gain == pytest.approx(gain)


@pytest.mark.parametrize(("clip", "gain"), [(False, 1.1), (True, 1.0)])
def test_a_push_before_the_posting_gains_more_unless_clipped(clip, gain):
    """A clock that is ten minutes wrong: d = -10."""
    collection = collection_of({"a": 3600}, clusters=(("a",),))
    assert counted(collection, [("a", 3000)], PushRules(clip=clip))[0].gain == pytest.approx(gain)
    assert counted(collection, [("a", 3001)], PushRules(clip=clip))[0].gain == pytest.approx(gain)


def test_a_cluster_gains_once_in_all_days():
    """The second tweet of a cluster is redundant, on the same day or another."""
    collection = collection_of({"a": 0, "b": 10, "c": DAY}, clusters=(("a", "b", "c"),))
    first, second, _ = counted(collection, [("a", 0), ("b", 10), ("c", DAY)])

    assert (first.gain, first.redundant, second.gain, second.redundant) == (1.0, 1, 0.0, 1)


def test_a_day_whose_clusters_were_all_pushed_before_is_redundant():
    """Its Z is 0; the pool still calls it eventful."""
    collection = collection_of({"a": 0, "c": DAY}, clusters=(("a", "c"),))
    _, second, third = counted(collection, [("a", 0)])

    assert (second.ideal, second.pool_eventful, second.run_eventful) == (0.0, True, False)
    assert (third.ideal, third.pool_eventful, third.run_eventful) == (0.0, False, False)
    table = count_pushes(push_pool(collection), run_of([("MB1", "a", START)]), TRACK)
    assert table.kinds() == ["eventful", "redundant", "silent"]


def test_a_cluster_is_used_up_even_by_a_push_that_gains_nothing():
    """Too late is told all the same."""
    collection = collection_of({"a": 0, "b": 10}, clusters=(("a", "b"),))
    day = counted(collection, [("a", 300 * MINUTE), ("b", 10)])[0]

    assert (day.gain, day.redundant) == (0.0, 1)


@pytest.mark.parametrize(("chosen", "pushes", "nonrelevant"), [(TRACK, 12, 10), (PAPER, 10, 10)])
def test_the_eleventh_push_of_a_day_gains_nothing(chosen, pushes, nonrelevant):
    """The track counts it and lets it use up its cluster, the paper drops it."""
    tweets = {f"n{number}": number for number in range(10)} | {"a": 20, "b": 21, "c": DAY}
    collection = collection_of(tweets, clusters=(("a", "b", "c"),))
    first, second, _ = counted(collection, [*tweets.items()], chosen)

    assert (first.pushes, first.gain, first.nonrelevant) == (pushes, 0.0, nonrelevant)
    assert first.redundant == (1 if chosen == TRACK else 0)
    assert second.gain == (0.0 if chosen == TRACK else 1.0)


@pytest.mark.parametrize(("order", "gain"), [("file", 0.5), ("time", 0.9)])
def test_order_is_that_of_the_file_or_that_of_the_pushes(order, gain):
    """The first of two pushes of a cluster gains, whichever is first."""
    collection = collection_of({"a": 0, "b": 0}, clusters=(("a", "b"),))
    pushes = [("a", 50 * MINUTE), ("b", 10 * MINUTE)]
    assert counted(collection, pushes, PushRules(order=order))[0].gain == pytest.approx(gain)


def test_pushes_at_one_time_stand_in_file_order():
    """A stable sort: the first line gains."""
    collection = collection_of({"a": 0, "b": 0}, clusters=(("a", "b"),), gains={"a": 0.5, "b": 1.0})
    chosen = PushRules(order="time", gain="own")
    assert counted(collection, [("a", 0), ("b", 0)], chosen)[0].gain == 0.5
    assert counted(collection, [("b", 0), ("a", 0)], chosen)[0].gain == 1.0


@pytest.mark.parametrize(("gain", "credited"), [("cluster_day_max", 1.0), ("own", 0.5)])
def test_gain_is_the_best_of_the_cluster_that_day_or_the_tweets_own(gain, credited):
    """A better tweet of another day does not count; Z is of the best either way."""
    collection = collection_of(
        {"a": 0, "b": 10, "c": DAY}, clusters=(("a", "b"), ("c",)), gains={"a": 0.5, "b": 1.0, "c": 0.5}
    )
    first, second, _ = counted(collection, [("a", 0), ("c", DAY)], PushRules(gain=gain))

    assert (first.gain, first.ideal) == (credited, 1.0)
    assert (second.gain, second.ideal) == (0.5, 0.5)


@pytest.mark.parametrize(("dup_delay", "gain"), [("last", 0.2), ("own", 0.9)])
def test_a_tweet_pushed_twice_counts_twice_and_is_redundant_once(dup_delay, gain):
    """The track's script remembers one delay a tweet, that of the last line."""
    collection = collection_of({"a": 0}, clusters=(("a",),))
    pushes = [("a", 10 * MINUTE), ("a", 80 * MINUTE)]
    day = counted(collection, pushes, PushRules(dup_delay=dup_delay))[0]

    assert (day.pushes, day.redundant) == (2, 1)
    assert day.gain == pytest.approx(gain)


def test_a_pooled_tweet_in_no_cluster_is_nonrelevant_whatever_its_grade():
    """Grades count within clusters only; so does a tweet that was judged for another topic."""
    collection = collection_of({"a": 0, "b": 10}, clusters=(("b",),), gains={"a": 1.0, "b": 1.0})
    assert counted(collection, [("a", 0)])[0].nonrelevant == 1


@pytest.mark.parametrize(("unpooled", "days"), [("skip", [0, 0, 0]), ("nonrel", [0, 1, 0])])
def test_unpooled_tweets_are_ignored_or_nonrelevant_on_the_day_of_the_push(unpooled, days):
    """UTC days: a second before midnight is still the day before."""
    collection = collection_of({"a": 0}, clusters=(("a",),))
    found = counted(collection, [("x", 2 * DAY - 1), ("x", 3 * DAY)], PushRules(unpooled=unpooled))

    assert [day.nonrelevant for day in found] == days
    assert [day.pushes for day in found] == days


@pytest.mark.parametrize("unpooled", ["skip", "nonrel"])
def test_a_tweet_judged_relevant_without_a_time_is_always_ignored(unpooled):
    """Its grade was carried over from a tweet of the same text: to call it non-relevant would be wrong."""
    collection = collection_of({"a": 0}, clusters=(("a",),), gains={"a": 1.0, "x": 0.5, "y": 0.0})
    found = counted(collection, [("x", 0), ("y", 0)], PushRules(unpooled=unpooled))

    assert found[0].pushes == (0 if unpooled == "skip" else 1)


def test_pushes_for_other_topics_and_days_are_ignored():
    """A run may answer 225 topics of which 51 are judged."""
    collection = collection_of({"a": 0, "b": 2 * DAY}, clusters=(("a",), ("b",)), days=DAYS[:2])
    run = run_of([("MB2", "a", START), ("MB1", "b", START + 2 * DAY), ("MB1", "x", 10**17)])
    table = count_pushes(push_pool(collection), run, PushRules(unpooled="nonrel"))

    assert table.pushes.tolist() == [0, 0]
    assert table.pool_eventful.tolist() == [True, False]


def test_a_time_out_of_all_bounds_is_no_day_of_another_topic():
    """Topic and day are one number inside: a push 27,000 years ahead must not reach into the next topic's days."""
    collection = collection_of({"a": 0}, clusters=(("a",),))
    two = replace(
        collection,
        days={"MB1": DAYS, "MB2": DAYS},
        gains={**collection.gains, "MB2": {}},
        clusters={**collection.clusters, "MB2": ()},
    )
    far = START + DAY_SPAN * DAY
    table = count_pushes(
        push_pool(two), run_of([("MB1", "x", far), ("MB2", "x", -far)]), PushRules(unpooled="nonrel")
    )

    assert not table.pushes.any()


def test_topics_are_found_with_and_without_their_prefix():
    """The qrels of 2015 say 226, the runs MB226."""
    collection = collection_of({"a": 0}, clusters=(("a",),))
    table = count_pushes(push_pool(collection), run_of([("1", "a", START)]), TRACK)
    assert table.gain.tolist() == [1.0, 0.0, 0.0]


def test_the_empty_run_has_quiet_days_only():
    """And everything is left to gain."""
    collection = collection_of({"a": 0, "b": 20}, clusters=(("a",), ("b",)), gains={"a": 0.5, "b": 1.0})
    table = count_pushes(push_pool(collection), run_of([]), PAPER)

    assert table.quiet.all()
    assert table.ideal.tolist() == [1.5, 0.0, 0.0]


def test_no_more_than_ten_clusters_make_the_ideal():
    """A user cannot be sent more in a day: ten of 1.0 out of eleven and one of 0.5."""
    tweets = {f"t{number}": number for number in range(12)}
    collection = collection_of(
        tweets, clusters=tuple((tweet,) for tweet in tweets), gains=dict.fromkeys(tweets, 1.0) | {"t0": 0.5}
    )
    assert counted(collection, [])[0].ideal == 10.0


@given(collections(), runs(), st.randoms(use_true_random=False))
def test_the_order_of_lines_does_not_matter_in_the_paper_when_times_differ(collection, run, random):
    """By time and each push with its own delay, a file may be shuffled."""
    order = list(range(len(run.topics)))
    epochs = run.epochs + np.arange(len(order))  # of whole minutes: no two are equal now
    random.shuffle(order)
    pool = push_pool(collection)
    straight = PushRun(name="run", topics=run.topics, tweets=run.tweets, epochs=epochs)
    shuffled = run_of([(run.topics[i], run.tweets[i], int(epochs[i])) for i in order])

    assert days_of(count_pushes(pool, shuffled, PAPER)) == days_of(count_pushes(pool, straight, PAPER))


def test_days_must_follow_each_other_and_a_tweet_has_one_cluster():
    """Collections built in Python are checked too."""
    for days in [DAYS[::-1], (DAYS[0], DAYS[0]), (DAYS[0], DAYS[2]), ()]:
        with pytest.raises(ValueError, match="every day it is scored on, in order and without a gap"):
            push_pool(collection_of({"a": 0}, days=days))
    with pytest.raises(ValueError, match="two clusters"):
        push_pool(collection_of({"a": 0}, clusters=(("a",), ("a",))))


def test_days_between_includes_both_ends():
    """Across the end of a month."""
    assert days_between("20150730", "20150801") == ("20150730", "20150731", "20150801")
    for first, last in [("20150732", "20150801"), ("2015-7-30", "20150801"), ("20150802", "20150801")]:
        with pytest.raises(ValueError, match=r"no day|before"):
            days_between(first, last)
    with pytest.raises(ValueError, match="more than 10,000 days"):
        days_between("00010101", "99991231")
    assert days_between("00010101", "00010102") == ("00010101", "00010102")


def test_nobody_can_change_what_others_are_scored_with():
    """A pool serves many runs, a table many measures."""
    pool = push_pool(collection_of({"a": 0}, clusters=(("a",),)))
    table = count_pushes(pool, run_of([]), TRACK)
    for array in [pool.row_key, pool.members.best, pool.entries.row, table.gain, table.run_eventful]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_runs_columns_are_of_one_length_and_closed():
    """A value that cannot change under the feet of a score."""
    with pytest.raises(ValueError, match="one length"):
        PushRun(name="run", topics=("MB1",), tweets=(), epochs=np.array([1]))
    with pytest.raises(ValueError, match="read-only"):
        run_of([("MB1", "a", 1)]).epochs[0] = 2
