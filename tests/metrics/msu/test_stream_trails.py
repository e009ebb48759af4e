"""Users of streams: what a population looks like, and that everybody meets the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.msu.measures import UserTotals
from metrics.msu.trails import GivenUsers, Population, SimulatedUsers, trails
from tests.metrics import stream_oracle
from tests.metrics.event_strategies import visitors

HOUR = 3600.0
DAY = 24 * HOUR
USUAL = Population(
    away_mean_seconds=3 * HOUR, away_sd_seconds=1.5 * HOUR, session_mean_seconds=120, session_sd_seconds=60
)


def visits(crowd, horizon):
    """(start, duration) of each user's visits."""
    found = []
    for block in crowd.blocks(horizon):
        for first, last in zip(block.first_visit, block.first_visit[1:], strict=False):
            found.append(list(zip(block.start[first:last], block.duration[first:last], strict=True)))
    return found


def test_a_population_has_the_means_and_deviations_it_is_called_by():
    """M and S are those of the log-normal distribution itself, not of its logarithm."""
    rng = np.random.default_rng(1)
    away, session, speed = np.array([USUAL.user(rng) for _ in range(40_000)]).T
    assert away.mean() == pytest.approx(3 * HOUR, rel=0.01)
    assert away.std() == pytest.approx(1.5 * HOUR, rel=0.03)
    assert session.mean() == pytest.approx(120, rel=0.01)
    assert session.std() == pytest.approx(60, rel=0.03)
    assert np.log(speed).mean() == pytest.approx(1.29, rel=0.01)
    assert np.log(speed).std() == pytest.approx(0.558, rel=0.01)


def test_a_population_without_deviation_has_equal_users():
    """S = 0 is allowed: everybody is the mean."""
    population = Population(
        away_mean_seconds=60,
        away_sd_seconds=0,
        session_mean_seconds=9,
        session_sd_seconds=0,
        reading_speed_sigma=0,
    )
    assert population.user(np.random.default_rng(1)) == pytest.approx((60, 9, np.exp(1.29)))


def test_visits_in_ten_days_at_three_hours():
    """(T / M_A) (1 + S_A^2 / M_A^2) + 1 = 101 on average, not the T / M_A = 80 one would think."""
    crowd = SimulatedUsers(population=USUAL, count=4000, seed=1)
    counts = [sum(start + length <= 10 * DAY for start, length in one) for one in visits(crowd, 10 * DAY)]
    assert np.mean(counts) == pytest.approx(80 * 1.25 + 1, rel=0.02)


@pytest.mark.parametrize("topic_seconds", [1.0, 600.0, DAY])
def test_a_trail_is_a_user_drawn_visit_by_visit(topic_seconds):
    """The same as the definition's loop with the same random numbers, up to the topic's end."""
    crowd = SimulatedUsers(population=USUAL, count=20, seed=7)
    for number, found in enumerate(visits(crowd, topic_seconds)):
        rng = np.random.default_rng((7, number))
        _, pairs = stream_oracle.draw_visits(USUAL, rng, topic_seconds)
        fitting = [(start, length) for start, length in found if start + length <= topic_seconds]
        starts = np.cumsum([0.0, *(session + away for session, away in pairs)])[: len(pairs)]
        assert [start for start, _ in fitting] == pytest.approx(starts.tolist())
        assert [length for _, length in fitting] == pytest.approx([session for session, _ in pairs])


def test_a_longer_topic_shows_more_of_the_same_trail():
    """A user follows one trail from the start of every topic, so the longest is enough for all."""
    crowd = SimulatedUsers(population=USUAL, count=3)
    for short, long in zip(visits(crowd, DAY), visits(crowd, 20 * DAY), strict=True):
        known = min(len(short), len(long))
        assert np.array(long[:known]) == pytest.approx(np.array(short[:known]))
        assert long[-1][0] > short[-1][0]


def test_more_users_are_the_same_users_and_some_more():
    """A sweep over the number of users shows convergence, not another crowd."""
    few, many = (SimulatedUsers(population=USUAL, count=count, seed=3) for count in (5, 300))
    assert visits(many, DAY)[:5] == visits(few, DAY)
    assert visits(SimulatedUsers(population=USUAL, count=5, seed=4), DAY) != visits(few, DAY)
    assert len(many) == len(visits(many, DAY)) == 300


def test_a_crowd_that_would_never_finish_is_refused():
    """Ten million visits to one topic are a mistake in the units."""
    population = Population(
        away_mean_seconds=0.001, away_sd_seconds=0, session_mean_seconds=0.001, session_sd_seconds=0
    )
    with pytest.raises(InputError, match="user 1 would make"):
        next(SimulatedUsers(population=population).blocks(10 * DAY))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("away_mean_seconds", 0),
        ("away_sd_seconds", -1),
        ("session_mean_seconds", float("nan")),
        ("session_sd_seconds", float("inf")),
        ("reading_speed_mu", float("inf")),
        ("reading_speed_sigma", -0.1),
    ],
)
def test_a_population_checks_its_ranges(name, value):
    """A wrong number must fail where it is written, not as a strange score."""
    given_values = {
        "away_mean_seconds": 1,
        "away_sd_seconds": 1,
        "session_mean_seconds": 1,
        "session_sd_seconds": 1,
        name: value,
    }
    with pytest.raises(ValueError, match=f"{name} must lie in"):
        Population(**given_values)


@given(visitors())
def test_given_users_keep_their_visits(users):
    """The first begins at 0, each other one when session and time away before it are over."""
    crowd = GivenUsers(trails(users))
    assert len(crowd) == len(users)
    for (_, pairs), found in zip(users, visits(crowd, 1.0), strict=True):
        assert [length for _, length in found] == [session for session, _ in pairs]
        assert [start for start, _ in found] == np.cumsum([0.0, *map(sum, pairs[:-1])]).tolist()


def test_a_crowd_may_be_empty_of_visits():
    """A user who never comes reads nothing."""
    crowd = trails([(1.0, []), (2.0, [(3.0, 4.0)])])
    assert crowd.first_visit.tolist() == [0, 0, 1]
    assert crowd.most_visits == 1


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_totals_do_not_depend_on_the_blocks(sizes, random):
    """Means and squared deviations block by block are those of all users at once."""
    rng = np.random.default_rng(random.randrange(2**32))
    gain = rng.integers(0, 5, (3, 2, sum(sizes))).astype(float)
    seconds = rng.integers(0, 3, (3, sum(sizes))).astype(float)
    counted = np.array([True, False, True])
    totals = UserTotals(counted, 2)
    for last, size in zip(np.cumsum(sizes), sizes, strict=True):
        totals.add(gain[:, :, last - size : last], seconds[:, last - size : last])
    everybody = np.concatenate([gain, gain[counted].mean(axis=0)[None]])
    assert totals.users == sum(sizes)
    assert totals.mean_gain == pytest.approx(everybody.mean(axis=2))
    assert totals.squares == pytest.approx(everybody.var(axis=2) * sum(sizes))
    assert totals.mean_seconds[:3] == pytest.approx(seconds.mean(axis=1))
