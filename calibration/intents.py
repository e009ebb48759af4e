"""Probabilities of intents from votes in which each worker may tick several.

Intent i of a topic with W voters has n_i ~ Binomial(W, q_i), q_i ~ Beta(a, b) with a and b common to all intents of the
collection, and P(i|q) = E(q_i) / sum_j E(q_j). A Dirichlet-multinomial would be wrong: a worker gives an intent at most
one vote. The paper's raw share n_i / n is kept beside it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import betaln

from calibration.results import LEVEL, CalibrationResult, NotIdentifiedError, info, short, warning
from calibration.tables import TABLES
from calibration.uncertainty import Floats, Replicates
from calibration.user_model import Diagnostic, IntentEntry

FEWEST_INTENTS = 8
"""Below this many intents in all, a and b cannot be told and are 1."""
DRAWS = 2000
FEW_VOTERS = 5
_LARGEST_LOG = 7.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentFit:
    """Probabilities of the intents of every topic that was voted on.

    Attributes
    ----------
    intents : tuple of (str, str)
        (topic, intent) of each parameter of ``result``, in its order.
    raw : tuple of float or None
        The paper's n_i / n of each; None where nobody ticked any intent of the topic.
    result : CalibrationResult
        Parameters ``P(INTENT|TOPIC)``. Its details: a and b of the Beta distribution.
    """

    intents: tuple[tuple[str, str], ...]
    raw: tuple[float | None, ...]
    result: CalibrationResult

    def entries(self, level: float = LEVEL) -> dict[str, dict[str, IntentEntry]]:
        """Return topic -> intent -> entry of a user model."""
        found: dict[str, dict[str, IntentEntry]] = {}
        intervals = self.result.conf_int(level).values()
        for (topic, intent), raw, estimate, interval in zip(
            self.intents, self.raw, self.result.params.values(), intervals, strict=True
        ):
            low, high = (None if end is None else short(end) for end in interval)
            found.setdefault(topic, {})[intent] = IntentEntry(
                estimate=short(estimate), interval=(low, high), raw=None if raw is None else short(raw)
            )
        return found

    @property
    def probabilities(self) -> dict[str, dict[str, float]]:
        """Topic -> intent -> estimate."""
        found: dict[str, dict[str, float]] = {}
        for (topic, intent), estimate in zip(self.intents, self.result.params.values(), strict=True):
            found.setdefault(topic, {})[intent] = estimate
        return found


def fit_intents(
    votes: pd.DataFrame,
    offered: pd.DataFrame | None = None,
    *,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> IntentFit:
    """Fit the probabilities of intents.

    Parameters
    ----------
    votes : DataFrame
        Table intent_votes. Voters of a topic are the distinct workers with a row for it, those who ticked nothing
        too; votes of an intent are the distinct workers who ticked it.
    offered : DataFrame or None
        Table intents, for the intents that nobody ticked.
    rng : Generator
        Source of the posterior draws.
    draws : int
        Their number.

    Returns
    -------
    IntentFit
        In alphabetical order of topic and intent.

    Raises
    ------
    NotIdentifiedError
        If nobody voted on a topic with intents.
    """
    counts = vote_counts(votes, offered)
    if counts.empty:
        raise NotIdentifiedError("nobody voted on a topic with intents")
    n, voters = (counts[name].to_numpy(np.float64) for name in ("votes", "voters"))
    topic, topics = pd.factorize(counts["topic"])
    a, b = fit_beta(n, voters) if len(n) >= FEWEST_INTENTS else (1.0, 1.0)
    rates = rng.beta(n + a, voters - n + b, size=(draws, len(n)))
    ticks = np.bincount(topic, n)[topic]
    pairs = tuple(zip(counts["topic"], counts["intent"], strict=True))
    estimates = normalised(((n + a) / (voters + a + b))[None], topic)[0]
    result = CalibrationResult(
        params=MappingProxyType(
            {f"P({intent}|{topic})": p for (topic, intent), p in zip(pairs, estimates.tolist(), strict=True)}
        ),
        unit="probability",
        method="beta-binomial empirical Bayes",
        uncertainty=MappingProxyType({"posterior_draws": Replicates(values=normalised(rates, topic))}),
        loglik=float(-_loss(np.log([a, b]), n, voters)),
        n_workers=votes.loc[votes["topic"].isin(topics), "worker"].nunique(),
        n_rows=int(n.sum()),
        details=MappingProxyType({"a": a, "b": b, "topics": float(len(topics))}),
        diagnostics=tuple(_diagnostics(counts)),
    )
    raw = tuple((v / t if t else None) for v, t in zip(n.tolist(), ticks.tolist(), strict=True))
    return IntentFit(intents=pairs, raw=raw, result=result)


def vote_counts(votes: pd.DataFrame, offered: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return topic, intent, votes and voters of every intent, offered or ticked, of the topics that were voted on."""
    voters = votes.groupby("topic")["worker"].nunique()
    ticks = votes[votes["intent"].notna()].groupby(["topic", "intent"])["worker"].nunique()
    named = TABLES["intents"].empty() if offered is None else offered
    asked = named[named["topic"].isin(voters.index)]
    every = ticks.index.union(pd.MultiIndex.from_frame(asked[["topic", "intent"]]))
    counts = ticks.reindex(every, fill_value=0).rename("votes").reset_index()
    return counts.assign(voters=counts["topic"].map(voters).astype("int64"))


def fit_beta(n: Floats, voters: Floats) -> tuple[float, float]:
    """Return (a, b) of highest beta-binomial likelihood.

    l(a, b) = sum_i log B(n_i + a, W_i - n_i + b) - log B(a, b) + const.

    Parameters
    ----------
    n, voters : (k,) ndarray of float
        n_i and W_i.

    Returns
    -------
    (float, float)
        Each between exp(-7) and exp(7): votes that scatter less than binomial ones have no finite maximum.
    """
    share = np.clip(n.sum() / voters.sum(), 0.01, 0.99)
    found = minimize(
        _loss,
        np.log([2 * share, 2 * (1 - share)]),
        args=(n, voters),
        method="L-BFGS-B",
        bounds=[(-_LARGEST_LOG, _LARGEST_LOG)] * 2,
    )
    a, b = np.exp(found.x).tolist()
    return a, b


def _loss(log_ab: Floats, n: Floats, voters: Floats) -> float:
    a, b = np.exp(log_ab)
    return float(-(betaln(n + a, voters - n + b) - betaln(a, b)).sum())


def normalised(rates: Floats, topic: NDArray[np.intp]) -> Floats:
    """Divide rates by their sum within each topic: (d, k) and (k,) -> (d, k)."""
    sums = np.zeros((len(rates), topic.max() + 1))
    np.add.at(sums.T, topic, rates.T)
    return rates / sums[:, topic]


def _diagnostics(counts: pd.DataFrame) -> Iterator[Diagnostic]:
    voters = counts.groupby("topic")["voters"].first()
    few = voters[voters < FEW_VOTERS]
    if len(few):
        yield warning(
            "few_voters", f"{len(few)} of {len(voters)} topics have fewer than {FEW_VOTERS} voters."
        )
    silent = counts.groupby("topic")["votes"].sum() == 0
    if silent.any():
        yield warning(
            "no_ticks", f"Nobody ticked any intent of {silent.sum()} topics: theirs are nearly uniform."
        )
    if len(counts) < FEWEST_INTENTS:
        yield info("flat_prior", f"With fewer than {FEWEST_INTENTS} intents in all, a = b = 1 is taken.")
