"""Probabilities of intents from votes: who votes, what is shrunk, what an interval holds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import dblquad
from scipy.special import betaln

from calibration.inference.results import NotIdentifiedError
from calibration.models.intents import (
    IntentBallots,
    IntentFit,
    beta_posterior,
    fit_intents,
    normalised,
    vote_counts,
)
from calibration.models.patience.simulate import simulate_summaries, simulate_votes
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES


def ballots(*rows: tuple[str, str, str | None]) -> pd.DataFrame:
    """Return table intent_votes of rows (worker, topic, intent)."""
    return check_frame(pd.DataFrame(rows, columns=["worker", "topic", "intent"]), TABLES["intent_votes"])


def offered(**topics: str) -> pd.DataFrame:
    """Return table intents: topic = names of its intents, a letter each."""
    rows = [(topic, intent) for topic, names in topics.items() for intent in names]
    return check_frame(pd.DataFrame(rows, columns=["topic", "intent"]), TABLES["intents"])


def fitted(votes: pd.DataFrame, intents: pd.DataFrame | None = None, *, seed: int = 0) -> IntentFit:
    return fit_intents(IntentBallots(votes=votes, offered=intents), rng=np.random.default_rng(seed))


def test_voters_are_the_distinct_workers_asked_also_those_who_ticked_nothing():
    """Two ticked a, one of them b too, one nothing: 3 voters, not 4 rows and not 2 tickers."""
    votes = ballots(("v", "q", "a"), ("w", "q", "a"), ("w", "q", "b"), ("x", "q", None))
    counts = vote_counts(votes, offered(q="abc"))

    assert counts.to_dict("list") == {
        "topic": ["q"] * 3,
        "intent": ["a", "b", "c"],
        "votes": [2, 1, 0],
        "voters": [3, 3, 3],
    }


def test_voting_for_none_is_no_vote_for_an_intent_without_a_name():
    """The empty cell means nothing ticked; read as a name it would take a share of P."""
    fit = fitted(ballots(("v", "q", "a"), ("w", "q", None)), offered(q="ab"))

    assert list(fit.probabilities["q"]) == ["a", "b"]


def test_an_intent_that_nobody_ticked_keeps_a_share():
    """Ten voters without a tick are no proof that nobody ever would."""
    fit = fitted(ballots(("v", "q", "a"), ("w", "q", "a")), offered(q="ab"))

    assert fit.entries()["q"]["b"].raw == 0
    assert fit.probabilities["q"]["b"] > 0.1


def test_a_ticked_intent_that_was_not_offered_counts():
    """Logs from elsewhere may have no table intents, or an incomplete one."""
    assert list(fitted(ballots(("v", "q", "z"))).probabilities["q"]) == ["z"]
    assert list(fitted(ballots(("v", "q", "z")), offered(q="a")).probabilities["q"]) == ["a", "z"]


def test_topics_that_nobody_voted_on_are_absent():
    """Their probabilities are not known to be uniform: they are not known."""
    assert list(fitted(ballots(("v", "q", "a")), offered(q="ab", r="ab")).probabilities) == ["q"]


def test_with_few_intents_in_all_the_rates_are_those_of_a_flat_prior():
    """(n + 1) / (W + 2), normalised: 3/4 and 1/4 of two voters, hence 3 : 1."""
    fit = fitted(ballots(("v", "q", "a"), ("w", "q", "a")), offered(q="ab"))

    assert fit.probabilities["q"] == pytest.approx({"a": 0.75, "b": 0.25})
    assert "flat_prior" in [note.name for note in fit.result.diagnostics]


def test_the_raw_share_is_the_papers():
    """n_i over all ticks of the topic; undefined where nobody ticked anything."""
    votes = ballots(("v", "q", "a"), ("w", "q", "a"), ("w", "q", "b"), ("x", "r", None))
    entries = fitted(votes, offered(q="ab", r="ab")).entries()

    assert [entries["q"][i].raw for i in "ab"] == pytest.approx([2 / 3, 1 / 3])
    assert [entries["r"][i].raw for i in "ab"] == [None, None]


def test_the_average_over_the_prior_is_the_integral():
    """The grid over mean and concentration against quadrature of the same posterior."""
    n, voters = np.array([0.0, 1, 2, 5, 3, 3, 1, 4, 2]), np.full(9, 7.0)

    def density(log_s: float, m: float, power: int) -> float:
        s = np.exp(log_s)
        a, b = m * s, (1 - m) * s
        loglik = (betaln(n + a, voters - n + b) - betaln(a, b)).sum()
        rate = (n[3] + a) / (voters[3] + s)
        return float(rate**power * np.exp(loglik + 45) * s / (1 + s) ** 2)

    limits = (0.0, 1.0, np.log(0.1), np.log(1000))
    exact = dblquad(density, *limits, args=(1,))[0] / dblquad(density, *limits, args=(0,))[0]
    assert beta_posterior(n, voters).mean_rates(n, voters)[3] == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize("voters", [3, 10])
def test_known_probabilities_are_covered_and_come_closer_than_raw_shares(voters, seeds):
    """Also with three voters a topic, where fixing the prior at its likeliest values covers 85 % only."""
    _, truth = simulate_summaries(8, np.random.default_rng(8))
    held, errors, raw_errors = [], [], []
    for seed in seeds(30):
        tables = simulate_votes(truth, np.random.default_rng([seed, voters]), voters=voters)
        entries = fitted(tables["intent_votes"], tables["intents"], seed=seed).entries()
        for topic, shares in truth.items():
            for intent, p in shares.items():
                entry = entries[topic][intent]
                held.append(entry.interval[0] <= p <= entry.interval[1])
                errors.append(abs(entry.estimate - p))
                raw_errors.append(abs((entry.raw or 0.0) - p))

    assert 0.9 <= np.mean(held) <= 0.995  # more than .95: some may tick by lot
    assert np.mean(errors) < np.mean(raw_errors)


@given(
    st.lists(
        st.tuples(st.sampled_from("vwxyz"), st.sampled_from("qr"), st.sampled_from(["a", "b", "c", None])),
        min_size=1,
        max_size=25,
        unique=True,
    )
)
def test_whatever_the_votes_probabilities_are_positive_and_add_up_to_one(rows):
    """Each topic's estimates are a distribution, and lie in their intervals."""
    fit = fitted(ballots(*rows), offered(q="abc", r="abc"))

    for shares in fit.entries().values():
        assert sum(entry.estimate for entry in shares.values()) == pytest.approx(1)
        for entry in shares.values():
            assert 0 < entry.interval[0] < entry.estimate < entry.interval[1] < 1


def test_normalising_divides_within_each_topic():
    """Two topics, three intents."""
    rates = np.array([[0.2, 0.6, 0.5]])

    np.testing.assert_allclose(normalised(rates, np.array([0, 0, 1])), [[0.25, 0.75, 1.0]])


def test_draws_carry_the_uncertainty_of_a_topic_jointly():
    """Shares of one draw add up to 1, so that a metric computed from it is a metric."""
    tables = simulate_votes({"q": {"a": 0.5, "b": 0.3, "c": 0.2}}, np.random.default_rng(0), voters=20)
    draws = fitted(tables["intent_votes"], tables["intents"]).result.draw_parameters(
        500, np.random.default_rng(1)
    )

    assert list(draws) == ["P(a|q)", "P(b|q)", "P(c|q)"]
    np.testing.assert_allclose(sum(draws.values()), 1.0)


def test_nobody_voting_is_refused():
    """An empty table, or voters of topics without intents."""
    with pytest.raises(NotIdentifiedError, match="nobody voted"):
        fitted(TABLES["intent_votes"].empty(), offered(q="ab"))
    with pytest.raises(NotIdentifiedError, match="nobody voted"):
        fitted(ballots(("v", "q", None)))


# --- what the fit offers


def crowd(*, two_kinds: bool, seed: int = 1) -> pd.DataFrame:
    """Return the votes of 30 voters on 15 topics of 5 intents; of two kinds: ticked by nearly all or by half."""
    rng = np.random.default_rng(seed)
    rates = rng.choice([0.5, 0.97], 75) if two_kinds else rng.beta(2.0, 3.0, 75)
    rows = [
        (f"W{voter}", f"T{place // 5}", f"I{place % 5}")
        for place, rate in enumerate(rates)
        for voter in np.flatnonzero(rng.random(30) < rate)
    ]
    return check_frame(pd.DataFrame(rows, columns=["worker", "topic", "intent"]), TABLES["intent_votes"])


def test_simulated_voters_give_the_probabilities_back():
    """Many of them; each has a row, also who ticks nothing."""
    fit = fit_intents(IntentBallots(votes=crowd(two_kinds=False)), rng=np.random.default_rng(1))
    votes = fit.simulate(2000, np.random.default_rng(2))
    again = fit_intents(IntentBallots(votes=votes), rng=np.random.default_rng(1), draws=2)

    assert set(votes.groupby("topic")["worker"].nunique()) == {2000}
    assert again.result.estimates == pytest.approx(fit.result.estimates, abs=0.02)


def test_shrinkage_is_drawn_over_the_raw_shares():
    """Few voters pull every share to the others."""
    ax = pytest.importorskip("matplotlib.figure").Figure().subplots()
    fit_intents(IntentBallots(votes=crowd(two_kinds=False)), rng=np.random.default_rng(1)).plot_shrinkage(ax)
    assert ax.get_xlabel() == "raw share of votes n_i / n"
