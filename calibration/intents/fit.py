"""Probabilities of intents from votes in which each worker may tick several, and votes and ratings as files of a collection.

Intent i of a topic with W voters has n_i ~ Binomial(W, q_i) and q_i ~ Beta(a, b), with a and b common to all intents of
the collection, and P(i|q) = E(q_i) / sum_j E(q_j). A Dirichlet-multinomial would be wrong: a worker gives an intent at
most one vote. What a few votes say about a and b is little, so they are averaged over instead of being fixed at their
likeliest values, which would make the intervals too narrow. The paper's raw share n_i / n is kept beside it.

So that runs can be scored with what people voted and rated, it is written as the files of a MobileClick collection, tab-separated
and without a header: probability.tsv (topic, intent, P) and importance.tsv (topic, intent, iUnit, importance).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from calibration.inference.goodness import REJECTED, anderson_darling, tested_by_simulation
from calibration.inference.people import CarelessClass
from calibration.inference.results import (
    LEVEL,
    CalibrationResult,
    GoodnessOfFit,
    NotIdentifiedError,
    info,
    warning,
)
from calibration.inference.uncertainty import AnyForm, Replicates, Uncertainty
from calibration.inference.wording import finish, short, shown_level
from calibration.intents.prior import (
    FEWEST_INTENTS,
    RandomTickers,
    beta_posterior,
    beta_posteriors,
    mid_probabilities,
    random_tickers,
    rates_prior,
)
from calibration.tables.files import checked
from calibration.tables.tables import TABLES
from calibration.user_model.model import Diagnostic, IntentEntry
from metrics.arrays import Floats, Places
from metrics.results import Summarised

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWS = 2000
FEW_VOTERS = 5
LEAST_EARNEST = 0.02
"""Part of a probability that is never taken for theirs, so that none becomes 0."""
_LEAST_RATE = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class IntentFit(Summarised):
    """Probabilities of the intents of every topic that was voted on.

    Attributes
    ----------
    intents : tuple of (str, str)
        (topic, intent) of each parameter of ``result``, in its order.
    raw : tuple of float or None
        The paper's n_i / n of each; None where nobody ticked any intent of the topic.
    result : CalibrationResult
        Parameters ``P(INTENT|TOPIC)``. Its details: mean_rate a / (a + b) and concentration a + b, the averages
        over what the votes say of them (the latter on the log scale), and topics.
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
        """Return topic -> intent -> entry of a user model."""
        by_topic: dict[str, dict[str, IntentEntry]] = {}
        intervals = self.result.conf_int(level).values()
        for (topic, intent), raw, estimate, interval in zip(
            self.intents, self.raw, self.result.parameters.values(), intervals, strict=True
        ):
            low, high = (None if end is None else short(end) for end in interval)
            by_topic.setdefault(topic, {})[intent] = IntentEntry(
                estimate=short(estimate), interval=(low, high), raw=None if raw is None else short(raw)
            )
        return by_topic

    @property
    def params(self) -> "pd.Series[float]":
        """P(i|q) by topic and intent."""
        names = pd.MultiIndex.from_tuples(self.intents, names=["topic", "intent"])
        return pd.Series(self.result.estimates, index=names, name="estimate")

    def frame(self, level: float = LEVEL) -> pd.DataFrame:
        """Return one row per topic and intent: the columns of `CalibrationResult.frame`, and the raw share."""
        frame = self.result.frame(level).set_axis(self.params.index)
        return frame.assign(raw=pd.array(self.raw, dtype="Float64"))

    def summary(self, level: float = LEVEL) -> str:
        """Return the fit in words, see `CalibrationResult.summary`."""
        return self.result.summary(level)

    def noted(self, *notes: Diagnostic) -> "IntentFit":
        """Return the fit with more diagnostics."""
        return replace(self, result=self.result.noted(*notes))

    def simulate(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """Return table intent_votes of ``n`` voters of each topic, who tick every intent with its fitted rate."""
        rows = [
            (f"V{voter}", topic, intent if ticked else None)
            for (topic, intent), rate in zip(self.intents, self.rates.tolist(), strict=True)
            for voter, ticked in enumerate((rng.random(n) < rate).tolist())
        ]
        votes = pd.DataFrame(rows, columns=["worker", "topic", "intent"])
        ticks = votes[votes["intent"].notna()]
        asked = votes[["worker", "topic"]].drop_duplicates()
        silent = asked.merge(ticks[["worker", "topic"]].drop_duplicates(), how="left", indicator=True)
        none = silent.loc[silent["_merge"] == "left_only", ["worker", "topic"]].assign(intent=None)
        return checked(pd.concat([ticks, none], ignore_index=True), TABLES["intent_votes"])

    def goodness_of_fit(self, n_boot: int = 99, seed: int = 1) -> tuple[GoodnessOfFit, ...]:
        """Test whether the rates of the collection come from one Beta, against simulated votes.

        The statistic is that of Anderson and Darling for the mid-probabilities of the votes under the beta-binomial at
        the fitted mean rate and concentration, which are fitted to each simulated collection anew. Nothing is tested
        where a and b were not fitted.
        """
        if len(self.votes) < FEWEST_INTENTS:
            return ()
        rng = np.random.default_rng(seed)
        a, b = beta_posterior(self.votes, self.voters).typical
        distance = anderson_darling(mid_probabilities(self.votes, self.voters, a, b))
        asked = self.voters.astype(np.int64)
        studies = [rng.binomial(asked, rng.beta(a, b, len(asked))).astype(np.float64) for _ in range(n_boot)]
        simulated = [
            anderson_darling(mid_probabilities(votes, self.voters, *prior.typical))
            for votes, prior in zip(studies, beta_posteriors(studies, self.voters), strict=True)
        ]

        def sentence(p_value: float) -> str:
            verdict = (
                "some kinds of intents are ticked unlike the others"
                if p_value < REJECTED
                else "one Beta describes them"
            )
            return (
                f"Tick rates of {len(self.votes)} intents against one Beta distribution: p = {p_value:.2f} by "
                f"{n_boot} simulated collections: {verdict}."
            )

        return (tested_by_simulation("rates_from_one_beta", distance, simulated, sentence),)

    def plot_shrinkage(self, ax: "Axes", *, level: float = LEVEL) -> None:
        """Draw each fitted P(i|q) with its interval over the raw share n_i / n."""
        asked = [place for place, raw in enumerate(self.raw) if raw is not None]
        raw = np.array([self.raw[place] for place in asked], dtype=np.float64)
        estimate = self.result.estimates[asked]
        ends = np.array(list(self.result.conf_int(level).values()), dtype=np.float64)[asked]
        ax.vlines(
            raw, ends[:, 0], ends[:, 1], color="0.75", linewidth=0.8, label=f"{shown_level(level)} interval"
        )
        ax.plot(raw, estimate, "o", color="#0072b2", markersize=3, label="fitted")
        ax.plot([0, 1], [0, 1], color="0.25", linestyle="--", linewidth=0.8, label="as voted")
        ax.set(xlabel="raw share of votes n_i / n", ylabel="fitted P(i|q)", xlim=(0, 1), ylim=(0, 1))
        finish(
            ax,
            "Intents: fitted P(i|q) against the votes",
            "the fewer voters, the further from the diagonal towards the others",
        )

    @property
    def probabilities(self) -> dict[str, dict[str, float]]:
        """Topic -> intent -> estimate."""
        by_topic: dict[str, dict[str, float]] = {}
        for (topic, intent), estimate in zip(self.intents, self.result.parameters.values(), strict=True):
            by_topic.setdefault(topic, {})[intent] = estimate
        return by_topic


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
    everybody = vote_counts(votes, offered)
    if everybody.empty:
        raise NotIdentifiedError("nobody voted on a topic with intents")
    found = random_tickers(votes, everybody)
    kind = found.kind
    earnest = votes if kind is None else votes[~votes["worker"].isin(found.voters[kind.is_one])]
    counts = vote_counts(earnest, offered)
    n, voters = (counts[name].to_numpy(np.float64) for name in ("votes", "voters"))
    topic, topics = pd.factorize(counts["topic"])
    prior = rates_prior(n, voters)
    ticks = np.bincount(topic, n)[topic]
    pairs = tuple(zip(counts["topic"], counts["intent"], strict=True))
    mean_rates = prior.mean_rates(n, voters)
    estimates = normalised(mean_rates[None], topic)[0]
    rates = prior.rate_draws(n, voters, draws, rng)
    result = CalibrationResult(
        parameters=MappingProxyType(
            {f"P({intent}|{topic})": p for (topic, intent), p in zip(pairs, estimates.tolist(), strict=True)}
        ),
        unit="probability",
        method="beta-binomial Bayes",
        uncertainty=MappingProxyType(
            {"posterior_draws": _uncertainty(normalised(rates, topic), topic, voters, found, rng)}
        ),
        n_workers=earnest.loc[earnest["topic"].isin(topics), "worker"].nunique(),
        n_rows=int(n.sum()),
        details=MappingProxyType(
            {
                "mean_rate": prior.mean_rate,
                "concentration": prior.concentration,
                "topics": float(len(topics)),
            }
        ),
        diagnostics=(
            *(() if kind is None else (_on_careless(kind, everybody, counts),)),
            *_on_everything(found, earnest, offered, counts),
            *_diagnostics(counts),
        ),
        careless=MappingProxyType(
            ({} if kind is None else kind.by_name(found.voters))
            | dict.fromkeys(found.voters[found.everything], 1.0)
        ),
    )
    raw = tuple((v / t if t else None) for v, t in zip(n.tolist(), ticks.tolist(), strict=True))
    return IntentFit(intents=pairs, raw=raw, result=result, votes=n, voters=voters, rates=mean_rates)


def _uncertainty(
    draws: Floats, topic: Places, voters: Floats, found: RandomTickers, rng: np.random.Generator
) -> Uncertainty:
    """Return the error of the probabilities: where nobody was found to tick by lot, also for as many as the votes leave open.

    With a share s of ticks that are spread evenly over the m intents of a topic, p = (1 - s) P + s / m. How many of a topic's voters
    tick by lot is a matter of chance, too.
    """
    plain = Replicates(values=draws)
    if found.kind is not None or not found.left_open:
        return plain
    asked = voters[np.unique(topic, return_index=True)[1]].astype(np.int64)
    by_lot = (rng.binomial(asked, found.left_open, (len(draws), len(asked))) / asked)[:, topic]
    earnest = np.maximum(draws - by_lot / np.bincount(topic)[topic], LEAST_EARNEST * draws)
    return AnyForm(plain=plain, others=(Replicates(values=normalised(earnest, topic)),))


def vote_counts(votes: pd.DataFrame, offered: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return topic, intent, votes and voters of every intent, offered or ticked, of the topics that were voted on."""
    voters = votes.groupby("topic")["worker"].nunique()
    ticks = votes[votes["intent"].notna()].groupby(["topic", "intent"])["worker"].nunique()
    named = TABLES["intents"].empty() if offered is None else offered
    asked = named[named["topic"].isin(voters.index)]
    every = ticks.index.union(pd.MultiIndex.from_frame(asked[["topic", "intent"]]))
    counts = ticks.reindex(every, fill_value=0).rename("votes").reset_index()
    return counts.assign(voters=counts["topic"].map(voters).astype("int64"))


def normalised(rates: Floats, topic: Places) -> Floats:
    """Divide rates by their sum within each topic: (d, k) and (k,) -> (d, k)."""
    rates = np.maximum(rates, _LEAST_RATE)  # a draw may come to 0 for a whole topic
    sums = np.zeros((len(rates), topic.max() + 1))
    np.add.at(sums.T, topic, rates.T)
    return rates / sums[:, topic]


def _on_careless(kind: CarelessClass, everybody: pd.DataFrame, counts: pd.DataFrame) -> Diagnostic:
    """Say how many were left out for ticking at random, and how far that moves the probabilities."""
    return warning(
        "careless_workers",
        f"{kind.count} of {len(kind.posterior)} voters tick as if at random. The probabilities are those of the others; "
        f"what changes most is {_largest_change(counts, everybody)} with "
        "all voters. Look at these workers in careless.csv, and publish both.",
    )


def _on_everything(
    found: RandomTickers, votes: pd.DataFrame, offered: pd.DataFrame | None, counts: pd.DataFrame
) -> Iterator[Diagnostic]:
    """Say how many tick every intent, and how far that moves the probabilities."""
    others = votes[~votes["worker"].isin(found.voters[found.everything])]
    if not found.everything.any() or others["intent"].isna().all():
        return
    yield warning(
        "careless_workers",
        f"{found.everything.sum()} of {len(found.voters)} voters tick every intent of most topics, more than chance explains. "
        "Such a ballot does not say which intents are meant, and draws the probabilities of a topic together; they "
        f"count. What changes most without them is {_largest_change(vote_counts(others, offered), counts)} "
        "with them. Look at these workers in careless.csv, and publish both.",
    )


def _largest_change(fewer: pd.DataFrame, more: pd.DataFrame) -> str:
    """Say of which intent the probability changes most between two counts of votes: `intent I of T, 0.5 instead of 0.4`."""
    both = fewer.merge(more, on=["topic", "intent"], suffixes=("", "_all"))
    code = pd.factorize(both["topic"])[0]
    without, with_all = (
        normalised((both[f"votes{of}"] + 0.5).to_numpy(np.float64)[None], code)[0] for of in ("", "_all")
    )
    place = int(np.abs(with_all - without).argmax())
    row = both.iloc[place]
    return f"intent {row['intent']} of {row['topic']}, {without[place]:.2f} instead of {with_all[place]:.2f}"


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


def collection_files(tables: Mapping[str, pd.DataFrame], intents: IntentFit | None) -> dict[str, str]:
    """Return file name -> text of what the tables can tell: nothing, one file or both.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Only rows that count; table importance is used.
    intents : IntentFit or None
        The fitted probabilities.
    """
    files = {}
    if intents is not None:
        shares = zip(intents.intents, intents.result.parameters.values(), strict=True)
        files["probability.tsv"] = _lines((topic, intent, share) for (topic, intent), share in shares)
    if "importance" in tables and len(tables["importance"]):
        means = mean_importance(tables["importance"])
        files["importance.tsv"] = _lines(means.itertuples(index=False))
    return files


def mean_importance(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the mean rating of every iUnit for every intent.

    Parameters
    ----------
    ratings : DataFrame
        Table importance; only rows that count.

    Returns
    -------
    DataFrame
        topic, intent, iunit, importance; one row each, in alphabetical order.
    """
    means = ratings.groupby(["topic", "intent", "iunit"])["rating"].mean()
    return means.rename("importance").reset_index()


def _lines(rows: Iterable[tuple[Any, ...]]) -> str:
    return "".join("\t".join([*map(str, names), str(short(value))]) + "\n" for *names, value in rows)
