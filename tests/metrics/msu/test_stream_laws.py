"""Modeled Stream Utility: every user against a slow oracle, and what holds whatever the data."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.msu.measures import MSU, MSUPerSecond, MSUStandardError
from metrics.msu.score import msu_scores, msu_user_scores
from metrics.msu.trails import GivenUsers, Population, SimulatedUsers, trails
from tests.metrics import stream_oracle
from tests.metrics.event_strategies import START, TOPIC, collection_of, events, run_of, runs, visitors
from tests.metrics.stream_users import Cut, msu, simple

DECAYS = (0.0, 0.1, 0.5, 1.0)
windows = st.sampled_from(["since_last_read", "since_last_session"])


@given(events(), runs(), visitors(), windows, st.booleans())
def test_the_compiled_loop_equals_the_oracle(event, run, users, window, ends):
    """Every user's gain for every decay, and the seconds, in both windows, with trails cut at the end and not."""
    crowd = Cut(trails(users)) if ends else GivenUsers(trails(users))
    measures = [MSU(lateness=decay, window=window) for decay in DECAYS]
    rates = MSUPerSecond(lateness=1, window=window)
    found = {
        (one.metric, one.user): one.value
        for one in msu_user_scores(collection_of(event), [run], [*measures, rates], crowd)
        if one.topic == TOPIC
    }
    lines = stream_oracle.lines_of(event, run, TOPIC)
    for number, user in enumerate(users, start=1):
        gains, spent = stream_oracle.read_stream(
            lines,
            user,
            DECAYS,
            topic_seconds=event.end - event.start if ends else math.inf,
            since_last_session=window == "since_last_session",
        )
        assert [found[one.column, str(number)] for one in measures] == pytest.approx(gains, abs=1e-12)
        rate = gains[-1] / spent if spent else 0.0
        assert found[rates.column, str(number)] == pytest.approx(rate, abs=1e-12)


@given(events(), runs(), visitors())
def test_gain_grows_with_the_decay_and_is_at_most_the_number_of_nuggets(event, run, users):
    """L = 1 forgives all lateness, L = 0 none."""
    gains = [msu(event, run, users, lateness=decay) for decay in DECAYS]
    assert gains == sorted(gains)
    assert 0 <= gains[0] <= gains[-1] <= len(event.nuggets)


@given(events(), runs(), visitors(), st.randoms(use_true_random=False))
def test_the_order_of_users_does_not_matter_to_a_run(event, run, users, random):
    """Users do not meet each other."""
    shuffled = list(users)
    random.shuffle(shuffled)
    assert msu(event, run, shuffled) == pytest.approx(msu(event, run, users))


@given(events(), runs(), visitors())
def test_a_faster_reader_never_gains_less_in_one_session(event, run, users):
    """Over several that is no law: what was read closes what is older."""
    once = [(speed, pairs[:1]) for speed, pairs in users]
    faster = [(2 * speed, pairs) for speed, pairs in once]
    assert msu(event, run, faster) >= msu(event, run, once) - 1e-12


def test_users_are_the_same_whatever_blocks_they_come_in(monkeypatch):
    """Numbers, means and errors do not depend on how many users are met at a time."""
    population = Population(
        away_mean_seconds=3600, away_sd_seconds=1800, session_mean_seconds=30, session_sd_seconds=30
    )
    users = SimulatedUsers(population=population, count=10, seed=4)
    run = run_of([(TOPIC, f"u{number % 4}", START + 5000.0 * number, 1.0) for number in range(12)])
    collection = collection_of(simple(nuggets=("a", "b", "c", "d")))
    each = msu_user_scores(collection, [run], [MSU()], users)
    means = msu_scores(collection, [run], [MSU(), MSUStandardError(), MSUPerSecond()], users)
    for name, size in [("BLOCK_USERS", 3), ("BLOCK_VISITS", 20)]:
        monkeypatch.setattr(f"metrics.msu.trails.{name}", size)
        assert msu_user_scores(collection, [run], [MSU()], users) == each
        again = msu_scores(collection, [run], [MSU(), MSUStandardError(), MSUPerSecond()], users)
        assert [one.value for one in again] == pytest.approx([one.value for one in means])


def test_all_runs_meet_the_same_users_and_the_order_of_runs_does_not_matter():
    """Differences between systems are never differences between crowds."""
    population = Population(
        away_mean_seconds=3600, away_sd_seconds=1800, session_mean_seconds=30, session_sd_seconds=30
    )
    users = SimulatedUsers(population=population, count=300, seed=4)
    lines = [(TOPIC, f"u{number % 4}", START + 5000.0 * number, 1.0) for number in range(12)]
    one, other = run_of(lines, name="one"), run_of(lines[::-1], name="other")
    event = simple(nuggets=("a", "b", "c", "d"))
    together = msu_scores(collection_of(event), [one, other], [MSU()], users)
    alone = msu_scores(collection_of(event), [other], [MSU()], users)
    assert [score.value for score in together[:2]] == [score.value for score in together[2:]]
    assert together[2:] == alone
