"""Probabilities of intents from votes in which workers may tick several.

Intent i of a topic with W voters has n_i ~ Binomial(W, q_i) and q_i ~ Beta(a, b), with a and b common to all intents of
the collection, and P(i|q) = E(q_i) / sum_j E(q_j). A Dirichlet-multinomial would be wrong: a worker gives an intent at
most one vote. Few votes hardly determine a and b, so results are averaged over them: fixing them at their
likeliest values would make the intervals too narrow. The paper's raw share n_i / n is kept beside it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import betaln

from calibration.inference.formatting import label_axes, round_significant, shown_level
from calibration.inference.results import LEVEL, CalibrationResult, NotIdentifiedError, info
from calibration.inference.uncertainty import Replicates
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from calibration.user_model.model import Diagnostic, IntentEntry, OtherLaw
from metrics.arrays import Floats, Indices
from metrics.results import HasSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWS = 2000
MIN_INTENTS = 8
"""Smallest number of intents to fit a and b; with fewer both are 1."""
_MEANS = np.linspace(0.01, 0.99, 50)
_CONCENTRATIONS = np.geomspace(0.1, 1000.0, 60)
_MIN_RATE = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class BetaPrior:
    """Posterior of the Beta law of tick rates: weighted values of (a, b).

    The weights add up to 1.

    Attributes
    ----------
    a, b, weight : (m,) ndarray of float
    """

    a: Floats
    b: Floats
    weight: Floats

    @property
    def mean_rate(self) -> float:
        """Mean of a / (a + b)."""
        return float(self.weight @ (self.a / (self.a + self.b)))

    @property
    def concentration(self) -> float:
        """Mean of a + b, on the log scale."""
        return float(np.exp(self.weight @ np.log(self.a + self.b)))

    @property
    def typical(self) -> tuple[float, float]:
        """Values (a, b) of the mean rate and the concentration."""
        return self.mean_rate * self.concentration, (1 - self.mean_rate) * self.concentration

    def mean_rates(self, n: Floats, voters: Floats) -> Floats:
        """Return E(q_i | n_i) = E((n_i + a) / (W_i + a + b)): (k,) and (k,) -> (k,)."""
        return ((n[:, None] + self.a) / (voters[:, None] + self.a + self.b)) @ self.weight

    def rate_draws(self, n: Floats, voters: Floats, draws: int, rng: np.random.Generator) -> Floats:
        """Draw rates q_i ~ Beta(n_i + a, W_i - n_i + b), (draws, k).

        (a, b) are drawn too; n and W are (k,) each.
        """
        drawn = rng.choice(len(self.weight), size=draws, p=self.weight)
        return rng.beta(n + self.a[drawn, None], voters - n + self.b[drawn, None])


FLAT = BetaPrior(a=np.ones(1), b=np.ones(1), weight=np.ones(1))


def beta_posterior(n: Floats, voters: Floats) -> BetaPrior:
    """Return the posterior of (a, b) given votes, on a grid.

    The grid is over mean m = a / (a + b) and concentration s = a + b.

    p(m, s | n) ~ (1 + s)^-2 prod_i B(n_i + a, W_i - n_i + b) / B(a, b)

    The prior is flat in m and in 1 / (1 + s), how far one vote moves a rate from m.

    Parameters
    ----------
    n, voters : (k,) ndarray of float
        n_i and W_i.
    """
    return next(beta_posteriors([n], voters))


def beta_posteriors(studies: Iterable[Floats], voters: Floats) -> Iterator[BetaPrior]:
    """Yield the `beta_posterior` of several collections of votes.

    All have the same number of voters.

    The likelihood of n ticks of W voters is computed once for all collections.

    Parameters
    ----------
    studies : iterable of (k,) ndarray of float
        n_i of each collection.
    voters : (k,) ndarray of float
        W_i.
    """
    mean, concentration = (axis.ravel() for axis in np.meshgrid(_MEANS, _CONCENTRATIONS))
    a, b = mean * concentration, (1 - mean) * concentration
    before, alone = -2 * np.log1p(concentration), betaln(a, b)
    spacing = np.log(concentration)  # the grid is even on the log scale
    log_ratios: dict[tuple[float, float], Floats] = {}
    for n in studies:
        different, times = np.unique(np.stack([n, voters], axis=1), axis=0, return_counts=True)
        pairs = [(ticked, voters_per_topic) for ticked, voters_per_topic in different.tolist()]
        log_ratios |= {
            (ticked, voters_per_topic): betaln(ticked + a, voters_per_topic - ticked + b) - alone
            for ticked, voters_per_topic in pairs
            if (ticked, voters_per_topic) not in log_ratios
        }
        loglik = times @ np.stack([log_ratios[pair] for pair in pairs])
        weight = np.exp(loglik + before + spacing - loglik.max())
        yield BetaPrior(a=a, b=b, weight=weight / weight.sum())


def rates_prior(n: Floats, voters: Floats) -> BetaPrior:
    """Return `beta_posterior`, or a flat prior with too few intents to fit a and b."""
    return beta_posterior(n, voters) if len(n) >= MIN_INTENTS else FLAT


@dataclass(frozen=True, kw_only=True, eq=False)
class IntentBallots:
    """Votes on intents as a fit reads them.

    Attributes
    ----------
    votes : DataFrame
        Table intent_votes.
    offered : DataFrame or None
        Table intents, for the intents that nobody ticked.
    """

    votes: pd.DataFrame
    offered: pd.DataFrame | None = None

    @cached_property
    def counts(self) -> pd.DataFrame:
        """Votes and voters of every intent by topic: see `vote_counts`."""
        return vote_counts(self.votes, self.offered)

    @cached_property
    def prior(self) -> BetaPrior:
        """Posterior of a and b, see `rates_prior`."""
        return rates_prior(*(self.counts[name].to_numpy(np.float64) for name in ("votes", "voters")))

    @cached_property
    def voters(self) -> "pd.Index[str]":
        """Names of all voters, in the order of the table."""
        return pd.Index(self.votes["worker"].unique())

    def without(self, workers: Iterable[str]) -> "IntentBallots":
        """Return the votes without those of some voters."""
        return IntentBallots(
            votes=self.votes[~self.votes["worker"].isin(list(workers))], offered=self.offered
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class IntentFit(HasSummary):
    """Fitted probabilities of the intents of every voted topic.

    Attributes
    ----------
    intents : tuple of (str, str)
        (topic, intent) of each parameter of ``result``, in its order.
    raw : tuple of float or None
        The paper's n_i / n of each; None where nobody ticked any intent of the topic.
    result : CalibrationResult
        Parameters ``P(INTENT|TOPIC)``. Its details: mean_rate a / (a + b) and concentration a + b, averages
        over their posterior (the latter on the log scale), and topics.
    votes, voters : (k,) ndarray of float
        n_i and W_i of each.
    rates : (k,) ndarray of float
        E(q_i) of each.
    """

    intents: tuple[tuple[str, str], ...]
    raw: tuple[float | None, ...]
    result: CalibrationResult
    votes: Floats
    voters: Floats
    rates: Floats

    def entries(self, level: float = LEVEL) -> dict[str, dict[str, IntentEntry]]:
        """Return entries of a user model by topic and intent."""
        by_topic: dict[str, dict[str, IntentEntry]] = {}
        intervals = self.result.conf_int(level).values()
        for (topic, intent), raw, estimate, interval in zip(
            self.intents, self.raw, self.result.parameters.values(), intervals, strict=True
        ):
            low, high = (None if end is None else round_significant(end) for end in interval)
            by_topic.setdefault(topic, {})[intent] = IntentEntry(
                estimate=round_significant(estimate),
                interval=(low, high),
                raw=None if raw is None else round_significant(raw),
                sensitivity=self.result.sensitivity.get(parameter_name(topic, intent), ()),
            )
        return by_topic

    @property
    def params(self) -> "pd.Series[float]":
        """P(i|q) by topic and intent."""
        names = pd.MultiIndex.from_tuples(self.intents, names=["topic", "intent"])
        return pd.Series(self.result.estimates, index=names, name="estimate")

    def frame(self, level: float = LEVEL) -> pd.DataFrame:
        """Return one row per topic and intent, with the raw share.

        The other columns are those of `CalibrationResult.frame`.
        """
        frame = self.result.frame(level).set_axis(self.params.index)
        return frame.assign(raw=pd.array(self.raw, dtype="Float64"))

    def summary(self, level: float = LEVEL) -> str:
        """Return the fit as text, see `CalibrationResult.summary`."""
        return self.result.summary(level)

    def with_diagnostics(self, *notes: Diagnostic) -> "IntentFit":
        """Return the fit with more diagnostics."""
        return replace(self, result=self.result.with_diagnostics(*notes))

    def with_sensitivity(self, sensitivity: Mapping[str, tuple[OtherLaw, ...]]) -> "IntentFit":
        """Return the fit with probabilities under other laws."""
        return replace(self, result=self.result.with_sensitivity(sensitivity))

    def simulate(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """Return a table intent_votes of ``n`` voters of each topic from the fitted rates."""
        rows = [
            (f"V{voter}", topic, intent if ticked else None)
            for (topic, intent), rate in zip(self.intents, self.rates.tolist(), strict=True)
            for voter, ticked in enumerate((rng.random(n) < rate).tolist())
        ]
        votes = pd.DataFrame(rows, columns=["worker", "topic", "intent"])
        ticks = votes[votes["intent"].notna()]
        voters_per_topic = votes[["worker", "topic"]].drop_duplicates()
        silent = voters_per_topic.merge(
            ticks[["worker", "topic"]].drop_duplicates(), how="left", indicator=True
        )
        none = silent.loc[silent["_merge"] == "left_only", ["worker", "topic"]].assign(intent=None)
        return check_frame(pd.concat([ticks, none], ignore_index=True), TABLES["intent_votes"])

    def plot_shrinkage(self, ax: "Axes", *, level: float = LEVEL) -> None:
        """Plot each fitted P(i|q) with its interval over the raw share n_i / n."""
        voters_per_topic = [index for index, raw in enumerate(self.raw) if raw is not None]
        raw = np.array([self.raw[index] for index in voters_per_topic], dtype=np.float64)
        estimate = self.result.estimates[voters_per_topic]
        ends = np.array(list(self.result.conf_int(level).values()), dtype=np.float64)[voters_per_topic]
        ax.vlines(
            raw, ends[:, 0], ends[:, 1], color="0.75", linewidth=0.8, label=f"{shown_level(level)} interval"
        )
        ax.plot(raw, estimate, "o", color="#0072b2", markersize=3, label="fitted")
        ax.plot([0, 1], [0, 1], color="0.25", linestyle="--", linewidth=0.8, label="as voted")
        ax.set(xlabel="raw share of votes n_i / n", ylabel="fitted P(i|q)", xlim=(0, 1), ylim=(0, 1))
        label_axes(
            ax,
            "Intents: fitted P(i|q) against the votes",
            "the fewer voters, the further from the diagonal towards the others",
        )

    @property
    def probabilities(self) -> dict[str, dict[str, float]]:
        """Return P(i|q) by topic and intent."""
        by_topic: dict[str, dict[str, float]] = {}
        for (topic, intent), estimate in zip(self.intents, self.result.parameters.values(), strict=True):
            by_topic.setdefault(topic, {})[intent] = estimate
        return by_topic


def fit_intents(data: IntentBallots, *, rng: np.random.Generator, draws: int = DRAWS) -> IntentFit:
    """Fit the probabilities of intents to ballots.

    Parameters
    ----------
    data : IntentBallots
        Voters of a topic are the distinct workers with a row for it, those who ticked nothing too; votes of an intent are
        the distinct workers who ticked it.
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
    counts = data.counts
    if counts.empty:
        raise NotIdentifiedError("nobody voted on a topic with intents")
    n, voters = (counts[name].to_numpy(np.float64) for name in ("votes", "voters"))
    topic, topics = pd.factorize(counts["topic"])
    prior = data.prior
    ticks = np.bincount(topic, n)[topic]
    pairs = tuple(zip(counts["topic"], counts["intent"], strict=True))
    mean_rates = prior.mean_rates(n, voters)
    estimates = normalised(mean_rates[None], topic)[0].tolist()
    names = [parameter_name(topic, intent) for topic, intent in pairs]
    flat = info("flat_prior", f"With fewer than {MIN_INTENTS} intents in all, a = b = 1 is taken.")
    result = CalibrationResult(
        parameters=MappingProxyType(dict(zip(names, estimates, strict=True))),
        unit="probability",
        method="beta-binomial Bayes",
        uncertainty=MappingProxyType(
            {"posterior_draws": Replicates(values=normalised(prior.rate_draws(n, voters, draws, rng), topic))}
        ),
        n_workers=data.votes.loc[data.votes["topic"].isin(topics), "worker"].nunique(),
        n_rows=int(n.sum()),
        details=MappingProxyType(
            {
                "mean_rate": prior.mean_rate,
                "concentration": prior.concentration,
                "topics": float(len(topics)),
            }
        ),
        diagnostics=(flat,) if len(counts) < MIN_INTENTS else (),
    )
    raw = tuple((v / t if t else None) for v, t in zip(n.tolist(), ticks.tolist(), strict=True))
    return IntentFit(intents=pairs, raw=raw, result=result, votes=n, voters=voters, rates=mean_rates)


def parameter_name(topic: str, intent: str) -> str:
    """Return the name of one probability: `P(intent|topic)`."""
    return f"P({intent}|{topic})"


def vote_counts(votes: pd.DataFrame, offered: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return votes and voters of every intent of a voted topic, offered or ticked."""
    voters = votes.groupby("topic")["worker"].nunique()
    ticks = votes[votes["intent"].notna()].groupby(["topic", "intent"])["worker"].nunique()
    named = TABLES["intents"].empty() if offered is None else offered
    voters_per_topic = named[named["topic"].isin(voters.index)]
    every = ticks.index.union(pd.MultiIndex.from_frame(voters_per_topic[["topic", "intent"]]))
    counts = ticks.reindex(every, fill_value=0).rename("votes").reset_index()
    return counts.assign(voters=counts["topic"].map(voters).astype("int64"))


def normalised(rates: Floats, topic: Indices) -> Floats:
    """Divide rates by their sum within each topic: (d, k) and (k,) -> (d, k)."""
    rates = np.maximum(rates, _MIN_RATE)  # a draw may come to 0 for a whole topic
    sums = np.zeros((len(rates), topic.max() + 1))
    np.add.at(sums.T, topic, rates.T)
    return rates / sums[:, topic]


def mid_probabilities(n: Floats, voters: Floats, a: float, b: float) -> Floats:
    """Return P(N < n) + P(N = n) / 2 under the beta-binomial of each intent, (i,).

    Each intent has its number of voters.
    """
    middle = np.empty(len(n))
    for count in np.unique(voters):
        k = np.arange(count + 1)
        ways = -np.log(count + 1) - betaln(count - k + 1, k + 1)
        share = np.exp(ways + betaln(k + a, count - k + b) - betaln(a, b))
        here = voters == count
        middle[here] = (np.cumsum(share) - share / 2)[n[here].astype(np.intp)]
    return middle
