"""Voters who tick at random: who they are, and what P(i|q) is without them."""

import numpy as np
import pandas as pd
import pytest

from calibration.inference.people import POWERS, share_left_open
from calibration.intents.fit import fit_intents, vote_counts
from calibration.intents.prior import random_tickers
from calibration.tables.files import checked
from calibration.tables.tables import TABLES

RATES = np.array([0.8, 0.5, 0.3, 0.1, 0.05])


def ballots(
    seed: int, *, people: int = 24, topics: int = 16, careless: int = 0, breadth: float = 0.0
) -> pd.DataFrame:
    """Draw table intent_votes of people who vote on every topic; the first ``careless`` tick every other intent by lot."""
    rng = np.random.default_rng([seed, 4])
    lean = rng.normal(0, breadth, (people, 1, 1))
    chance = np.broadcast_to(
        1 / (1 + np.exp(-np.log(RATES / (1 - RATES)) - lean)), (people, topics, 5)
    ).copy()
    chance[:careless] = 0.5
    drawn = rng.random(chance.shape) < chance
    rows = [
        (f"W{person:02d}", f"Q{topic}", intent)
        for person in range(people)
        for topic in range(topics)
        for intent in ([f"i{i}" for i in np.flatnonzero(drawn[person, topic])] or [None])
    ]
    return checked(pd.DataFrame(rows, columns=["worker", "topic", "intent"]), TABLES["intent_votes"])


def fitted(votes: pd.DataFrame):
    return fit_intents(votes, rng=np.random.default_rng(1))


def test_careless_voters_are_named_and_the_probabilities_are_those_of_the_others():
    """Six of 24: with them what most people want would come out a third less likely."""
    votes = ballots(1, careless=6)
    fit, others = fitted(votes), fitted(votes[votes["worker"] >= "W06"])

    assert {name for name, p in fit.result.careless.items() if p > 0.5} == {f"W{u:02d}" for u in range(6)}
    (note,) = [note for note in fit.result.diagnostics if note.severity == "warning"]
    assert note.name == "careless_workers"
    assert note.sentence.startswith("6 of 24 voters tick as if at random.")
    assert "instead of" in note.sentence
    pd.testing.assert_series_equal(fit.params, others.params)
    assert fit.result.n_workers == 18


@pytest.mark.parametrize("breadth", [0.0, 1.0])
def test_who_ticks_many_or_few_is_not_careless(breadth):
    """How many somebody ticks is taken as given."""
    for seed in range(5):
        votes = ballots(seed, breadth=breadth)
        assert random_tickers(votes, vote_counts(votes)).kind is None


@pytest.mark.parametrize("topics", [1, 16])
def test_voters_who_tick_every_intent_are_named_and_count(topics):
    """Five of 24, on one ballot each as on sixteen; the sentence has the probability that moves most without them."""
    votes = ballots(1, careless=5, topics=topics)
    every = pd.MultiIndex.from_product(
        [[f"W{u:02d}" for u in range(5)], [f"Q{t}" for t in range(topics)], [f"i{i}" for i in range(5)]],
        names=votes.columns,
    )
    votes = pd.concat([votes[votes["worker"] >= "W05"], every.to_frame(index=False)], ignore_index=True)
    fit = fitted(checked(votes, TABLES["intent_votes"]))

    assert {name for name, p in fit.result.careless.items() if p > 0.5} == {f"W{u:02d}" for u in range(5)}
    assert fit.result.n_workers == 24
    (note,) = [
        note for note in fit.result.diagnostics if note.severity == "warning" and note.name != "few_voters"
    ]
    assert note.name == "careless_workers"
    assert "5 of 24 voters tick every intent" in note.sentence


def test_without_careless_voters_nobody_is_left_out():
    """And nothing is said."""
    fit = fitted(ballots(2))

    assert fit.result.careless == {}
    assert fit.result.diagnostics == ()
    assert fit.result.n_workers == 24


def test_intervals_hold_what_the_votes_leave_open_of_careless_voters():
    """On sixteen topics each a handful of careless voters shows; of a single ballot nobody can say who filled it in."""
    several = ballots(2)
    single = several[several["worker"].str[1:].astype(int) % 16 == several["topic"].str[1:].astype(int)]
    open_in = [random_tickers(votes, vote_counts(votes)).left_open for votes in (several, single)]
    errors = fitted(single).result.uncertainty["posterior_draws"]

    assert open_in[0] < 0.15
    assert open_in[1] > 0.4
    for (low, high), (plain_low, plain_high) in zip(
        errors.intervals(0.95), errors.plain.intervals(0.95), strict=True
    ):
        assert low <= plain_low <= plain_high <= high
    assert any(
        low < plain_low
        for (low, _), (plain_low, _) in zip(errors.intervals(0.95), errors.plain.intervals(0.95), strict=True)
    )


def test_who_ticks_by_lot_counts_with_all_the_ticks_that_this_takes():
    """Five of twenty people, of whom the answers say that they are drawn by lot, tick six intents each, the others one."""
    logliks = np.tile(np.append(-3.0, np.zeros(len(POWERS) - 1)), (20, 1))
    logliks[:5, 0] = 2.0

    alike = share_left_open(logliks, np.ones(20), 1.92)
    many = share_left_open(logliks, np.append(np.full(5, 6.0), np.ones(15)), 1.92)

    assert 0.25 < alike < 0.5
    assert many > 0.6


def test_where_nobody_ticks_every_intent_is_as_likely():
    """With intervals that hold the estimate."""
    votes = ballots(3, people=6, topics=3).assign(intent=None).drop_duplicates()
    offered = pd.DataFrame(
        {"topic": [f"Q{t}" for t in range(3) for _ in range(4)], "intent": list("abcd") * 3}
    )
    entries = fit_intents(votes, checked(offered, TABLES["intents"]), rng=np.random.default_rng(1)).entries()

    assert [entry.estimate for entry in entries["Q0"].values()] == pytest.approx([0.25] * 4)
    assert all(0 <= e.interval[0] <= 0.25 <= e.interval[1] <= 1 for e in entries["Q0"].values())
