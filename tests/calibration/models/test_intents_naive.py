"""What the usual estimates of intent probabilities get wrong."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.naive.intents import (
    NAIVE,
    dirichlet_concentration,
    naive_dirichlet_multinomial,
    naive_laplace,
    naive_raw_shares,
    naive_without_abstainers,
)
from calibration.inference.results import NotIdentifiedError
from calibration.models.intents import IntentBallots, fit_intents, vote_counts
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES

INTENTS = 5


def ballots(*rows: tuple[str, str, str | None]) -> pd.DataFrame:
    """Return table intent_votes of rows (worker, topic, intent)."""
    return check_frame(pd.DataFrame(rows, columns=["worker", "topic", "intent"]), TABLES["intent_votes"])


def offered(*names: str, topic: str = "q") -> pd.DataFrame:
    return check_frame(pd.DataFrame({"topic": topic, "intent": list(names)}), TABLES["intents"])


def voted(rates: np.ndarray, voters: int, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw votes: every voter of a topic ticks each intent with its rate, (topics, intents)."""
    rows: list[tuple[str, str, str | None]] = []
    for topic, of_topic in enumerate(rates):
        for voter, ticked in enumerate(rng.random((voters, len(of_topic))) < of_topic):
            row = [(f"{topic}-{voter}", f"q{topic}", f"i{i}") for i in np.flatnonzero(ticked)]
            rows += row or [(f"{topic}-{voter}", f"q{topic}", None)]
    names = [(f"q{t}", f"i{i}") for t in range(len(rates)) for i in range(rates.shape[1])]
    return ballots(*rows), check_frame(pd.DataFrame(names, columns=["topic", "intent"]), TABLES["intents"])


def error(found: dict[str, dict[str, float]], rates: np.ndarray) -> float:
    """Return the mean over topics of sum_i |P_i - q_i / sum q|."""
    shares = rates / rates.sum(axis=1, keepdims=True)
    return float(
        np.mean(
            [sum(abs(found[f"q{t}"][f"i{i}"] - p) for i, p in enumerate(row)) for t, row in enumerate(shares)]
        )
    )


def test_by_hand():
    """Two votes for a, one for b, none for c."""
    votes, intents = ballots(("v", "q", "a"), ("w", "q", "a"), ("w", "q", "b")), offered("a", "b", "c")

    assert naive_raw_shares(votes, intents) == {"q": pytest.approx({"a": 2 / 3, "b": 1 / 3, "c": 0.0})}
    assert naive_laplace(votes, intents) == {"q": pytest.approx({"a": 3 / 6, "b": 2 / 6, "c": 1 / 6})}


@pytest.mark.parametrize("name", NAIVE)
def test_every_baseline_is_a_distribution(name):
    """Whatever is wrong with it."""
    votes, intents = voted(np.full((4, INTENTS), 0.4), 6, np.random.default_rng(1))

    for shares in NAIVE[name](votes, intents).values():
        assert sum(shares.values()) == pytest.approx(1)


def test_raw_shares_say_nothing_of_a_topic_without_a_vote():
    """0 / 0."""
    votes = ballots(("v", "q", None), ("w", "q", None))

    assert naive_raw_shares(votes, offered("a", "b")) == {}
    assert naive_laplace(votes, offered("a", "b")) == {"q": {"a": 0.5, "b": 0.5}}


def test_the_dirichlet_multinomial_is_worse_than_no_smoothing_at_all(seeds):
    """Nobody votes twice for an intent: it takes that for likeness of intents, and the beta-binomial does not."""
    errors: dict[str, list[float]] = {"raw": [], "dirichlet": [], "fit": []}
    concentrations = []
    for seed in seeds(20):
        rng = np.random.default_rng(seed)
        rates = rng.beta(2, 2, (40, INTENTS))
        votes, intents = voted(rates, 10, rng)
        errors["raw"].append(error(naive_raw_shares(votes, intents), rates))
        errors["dirichlet"].append(error(naive_dirichlet_multinomial(votes, intents), rates))
        errors["fit"].append(
            error(fit_intents(IntentBallots(votes=votes, offered=intents), rng=rng).probabilities, rates)
        )
        concentrations.append(dirichlet_concentration(vote_counts(votes, intents)))

    assert np.mean(errors["fit"]) < 0.9 * np.mean(errors["raw"])
    assert np.mean(errors["dirichlet"]) > 1.05 * np.mean(errors["raw"])
    assert np.median(concentrations) > 2 * 2


def test_dropping_abstainers_makes_people_tick_more_and_intervals_hold_less(seeds):
    """Rates of one in ten: two of five tick nothing, and their silence is what tells the rates."""
    held: dict[str, list[bool]] = {"all": [], "ticking": []}
    rates_found: dict[str, list[float]] = {"all": [], "ticking": []}
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        rates = rng.beta(1, 9, (20, INTENTS))
        votes, intents = voted(rates, 10, rng)
        shares = rates / rates.sum(axis=1, keepdims=True)
        fits = {
            "all": fit_intents(IntentBallots(votes=votes, offered=intents), rng=rng),
            "ticking": naive_without_abstainers(votes, intents, rng=rng),
        }
        for how, fit in fits.items():
            rates_found[how].append(fit.result.details["mean_rate"])
            for topic, entries in fit.entries().items():
                for name, entry in entries.items():
                    p = shares[int(topic[1:]), int(name[1:])]
                    held[how].append(entry.interval[0] <= p <= entry.interval[1])

    assert np.mean(rates_found["all"]) == pytest.approx(0.1, abs=0.01)
    assert np.mean(rates_found["ticking"]) > 0.14
    assert np.mean(held["all"]) > 0.925
    assert np.mean(held["ticking"]) < np.mean(held["all"])


def test_no_concentration_without_a_choice():
    """One intent, or no vote."""
    with pytest.raises(NotIdentifiedError, match="two intents"):
        dirichlet_concentration(vote_counts(ballots(("v", "q", "a"))))
