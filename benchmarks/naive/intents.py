"""Naive estimators of P(i|q) from votes on intents.

Each takes tables intent_votes and intents like `calibration.models.intents.fit_intents`. What is wrong with each stands in its
docstring, with what was measured on 10 voters per topic.
"""

from collections.abc import Callable
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from calibration.inference.results import NotIdentifiedError
from calibration.models.intents import IntentBallots, IntentFit, fit_intents, vote_counts

Probabilities: TypeAlias = dict[str, dict[str, float]]

_MAX_CONCENTRATION = 1e4


def naive_raw_shares(votes: pd.DataFrame, offered: pd.DataFrame | None = None) -> Probabilities:
    """Take n_i / n, as the paper does: an intent that nobody ticked can then be nobody's (error 10 to 15 % larger)."""
    return _shares(vote_counts(votes, offered), 0.0)


def naive_laplace(votes: pd.DataFrame, offered: pd.DataFrame | None = None) -> Probabilities:
    """Take (n_i + 1) / (n + k) of k intents: how much is added is not asked of the data."""
    return _shares(vote_counts(votes, offered), 1.0)


def naive_dirichlet_multinomial(votes: pd.DataFrame, offered: pd.DataFrame | None = None) -> Probabilities:
    """Take (n_i + a) / (n + k a), a by likelihood of a Dirichlet-multinomial: smooths far too much.

    Nobody ticks an intent twice, so votes scatter less than that model's, and it takes intents to be nearly alike (a
    several times too large).
    """
    counts = vote_counts(votes, offered)
    return _shares(counts, dirichlet_concentration(counts))


def naive_without_abstainers(
    votes: pd.DataFrame, offered: pd.DataFrame | None = None, *, rng: np.random.Generator
) -> IntentFit:
    """Drop who ticked nothing: fewer voters seem to tick more often, and the intervals become too narrow.

    Raises
    ------
    NotIdentifiedError
        If nobody ticked anything.
    """
    return fit_intents(IntentBallots(votes=votes[votes["intent"].notna()], offered=offered), rng=rng)


def dirichlet_concentration(counts: pd.DataFrame) -> float:
    """Return the a that makes the votes likeliest if each topic's were Dirichlet-multinomial with a for every intent.

    Parameters
    ----------
    counts : DataFrame
        As `calibration.models.intents.vote_counts` returns them.

    Returns
    -------
    float
        Per intent; at most 10,000, where the votes scatter less than those of equal intents.

    Raises
    ------
    NotIdentifiedError
        If no topic has two intents and a vote.
    """
    topic = pd.factorize(counts["topic"])[0]
    n = counts["votes"].to_numpy(np.float64)
    total, size = np.bincount(topic, n), np.bincount(topic)
    if not ((total > 0) & (size > 1)).any():
        raise NotIdentifiedError("no topic has two intents and a vote")

    def loss(log_a: float) -> float:
        a = np.exp(log_a)
        of_topics = gammaln(size * a) - gammaln(total + size * a)
        return -float(of_topics.sum() + (gammaln(n + a) - gammaln(a)).sum())

    best = minimize_scalar(loss, bounds=(np.log(1e-3), np.log(_MAX_CONCENTRATION)), method="bounded")
    return float(np.exp(best.x))


def _shares(counts: pd.DataFrame, added: float) -> Probabilities:
    """Return (n_i + added) / sum_j (n_j + added); topics without a vote only where something is added."""
    weight = counts["votes"] + added
    total = weight.groupby(counts["topic"]).transform("sum")
    by_topic: Probabilities = {}
    for topic, intent, share in zip(
        counts["topic"], counts["intent"], (weight / total.where(total > 0)).tolist(), strict=True
    ):
        if not np.isnan(share):
            by_topic.setdefault(topic, {})[intent] = share
    return by_topic


NAIVE: MappingProxyType[str, Callable[[pd.DataFrame, pd.DataFrame | None], Probabilities]] = MappingProxyType(
    {
        "raw_shares": naive_raw_shares,
        "laplace": naive_laplace,
        "dirichlet_multinomial": naive_dirichlet_multinomial,
    }
)
"""Name of a baseline -> its function of tables intent_votes and intents."""
