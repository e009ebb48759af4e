"""Planned studies of patience L from preferences.

Summaries are those of `calibration.models.patience.simulate.simulate_summaries`, stretched to the length one has in mind; people are
`calibration.models.patience.simulate.Judges`. The interval is the likelihood-ratio set that `prefcal fit` prints.
"""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from calibration.inference.choice import Votes, choice_probabilities
from calibration.inference.results import NotIdentifiedError
from calibration.models.patience.pairs import JudgedSummaries, Summaries, summary_pairs
from calibration.models.patience.preferences import NAME, fit_patience_from_preferences
from calibration.models.patience.simulate import (
    KINDS,
    SimulatedJudges,
    simulate_preferences,
    simulate_summaries,
)
from calibration.plan.simulation import (
    MAX_SIZE,
    NO_ESTIMATE,
    Design,
    SimulatedEstimate,
    people_needed,
    positive_outcome,
)
from calibration.tables.preferences import pair_votes
from metrics.arrays import Indices

MAX_PAIRS = len(KINDS) * (len(KINDS) - 1) // 2
"""Largest number of pairs of the generator's kinds of summaries."""
STOCK = 80
"""Number of queries made once, from which each study draws its own."""
_STOCK_SEED = 11


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stock:
    """Pairs of summaries of many queries, ordered by query.

    Attributes
    ----------
    pairs : JudgedSummaries
        All pairs of all queries; their votes do not matter.
    starts : (queries + 1,) ndarray of int
        Where the iUnits of each query's summaries begin in ``pairs.summaries``, which is ordered by query too.
    """

    pairs: JudgedSummaries
    starts: Indices


@dataclass(frozen=True, slots=True, kw_only=True)
class PatienceDesign(Design):
    """Design of a study of patience from preferences between summaries.

    Attributes
    ----------
    queries : int
        How many.
    pairs : int
        Judged in each query, at most `MAX_PAIRS`.
    workers : int
        Who judge each pair.
    queries_each : int
        That a person judges; answers to two queries are drawn as if two people gave them.
    pairs_each : int or None
        Of each of these queries; None for all pairs.
    true : float
        L in counted characters.
    text_chars : float
        Where the last iUnit that anybody cares for stands, on average over queries. A patience far beyond it cannot
        be told from no limit.
    judges : SimulatedJudges
        What people are like: effect, tie_weight, unexplained_sd, sensitivity_sd.
    tell_from : float or None
        The patience that the true one is to be told from.
    stock : Stock or None
        What `ready` made.

    Examples
    --------
    >>> PatienceDesign(queries=12, pairs=21, workers=10, true=840).judges.per_topic
    14
    """

    varies: ClassVar[tuple[str, ...]] = ("queries", "pairs", "workers")
    log_scale: ClassVar[bool] = True

    queries: int
    pairs: int
    workers: int
    true: float
    text_chars: float = 2400.0
    judges: SimulatedJudges = field(
        default_factory=lambda: SimulatedJudges(patience_chars=math.inf, unexplained_sd=0.4)
    )
    tell_from: float | None = None
    queries_each: int = 1
    pairs_each: int | None = None
    stock: Stock | None = None

    @property
    def truth(self) -> float:
        """True patience."""
        return self.true

    def ready(self) -> Self:
        """Return the design with its stock of queries."""
        return replace(self, stock=_stock(self.text_chars)) if self.stock is None else self

    def bounds(self, vary: str) -> tuple[int, int]:
        """Return the bounds of a size.

        Differences between queries need two queries; each has at most seven summaries.
        """
        return 2 if vary == "queries" else 1, MAX_PAIRS if vary == "pairs" else MAX_SIZE

    def people(self) -> int:
        """Return the number of workers, if all finish and none does more."""
        return people_needed(
            self.queries, self.pairs, self.workers, queries_each=self.queries_each, pairs_each=self.pairs_each
        )

    def judgments(self) -> int:
        """Return the number of judgments."""
        return self.queries * self.pairs * self.workers

    def simulated(self, rng: np.random.Generator) -> SimulatedEstimate:
        """Simulate a study and return the interval of L.

        Raises
        ------
        ValueError
            If the design is not `ready`.
        """
        if self.stock is None:
            raise ValueError("a design has no queries before ready()")
        pairs = _some_queries(self.stock, self.queries, self.pairs, rng)
        judged = replace(pairs, votes=_drawn(pairs, self, rng))
        try:
            fit = fit_patience_from_preferences(judged, n_workers=self.people())
        except NotIdentifiedError:
            return NO_ESTIMATE
        return positive_outcome(fit.parameters[NAME], fit.conf_int()[NAME], self.tell_from)


def _stock(text_chars: float) -> Stock:
    """Make summaries of a given mean length.

    The last important iUnit is at ``text_chars`` on average over queries.
    """
    rng = np.random.default_rng(_STOCK_SEED)
    tables, probabilities = simulate_summaries(STOCK, rng)
    positions = tables["positions"]
    ends = positions[positions["importance"] > 0].groupby("topic")["offset_chars"].max()
    stretched = positions.assign(offset_chars=positions["offset_chars"] * (text_chars / ends.mean()))
    nobody = SimulatedJudges(patience_chars=math.inf, per_topic=1)
    votes = pair_votes(simulate_preferences(positions, probabilities, nobody, rng))
    return _by_query(summary_pairs(votes, stretched, probabilities))


def _by_query(pairs: JudgedSummaries) -> Stock:
    """Sort summaries and their iUnits by query."""
    query = np.zeros(pairs.summaries.count, dtype=np.intp)
    query[pairs.first] = query[pairs.second] = pairs.topic
    rank = np.argsort(np.argsort(query, kind="stable"))  # of each summary
    summaries = pairs.summaries
    order = np.argsort(rank[summaries.summary], kind="stable")
    ordered = replace(
        summaries,
        summary=rank[summaries.summary][order],
        offset=summaries.offset[order],
        weight=summaries.weight[order],
    )
    return Stock(
        pairs=replace(pairs, first=rank[pairs.first], second=rank[pairs.second], summaries=ordered),
        starts=np.searchsorted(ordered.summary, len(KINDS) * np.arange(len(pairs.topics) + 1)),
    )


def _some_queries(stock: Stock, queries: int, pairs: int, rng: np.random.Generator) -> JudgedSummaries:
    """Return the pairs of queries drawn from the stock with replacement.

    A query drawn twice counts as two.
    """
    drawn = rng.integers(len(stock.pairs.topics), size=queries)
    judged = np.sort(rng.choice(MAX_PAIRS, pairs, replace=False))
    rows = (drawn[:, None] * MAX_PAIRS + judged).ravel()
    topic = np.repeat(np.arange(queries), pairs)
    size = len(KINDS)
    moved = (np.arange(queries) - drawn) * size
    all_of = stock.pairs.summaries
    counts = np.diff(stock.starts)[drawn]
    pair_rows = np.concatenate([np.arange(stock.starts[query], stock.starts[query + 1]) for query in drawn])
    return JudgedSummaries(
        topics=tuple(map(str, range(queries))),
        topic=topic,
        first=stock.pairs.first[rows] + moved[topic],
        second=stock.pairs.second[rows] + moved[topic],
        votes=stock.pairs.votes,
        summaries=Summaries(
            summary=all_of.summary[pair_rows] + np.repeat(moved, counts),
            offset=all_of.offset[pair_rows],
            weight=all_of.weight[pair_rows],
            count=queries * size,
        ),
        left_out=0,
    )


def _drawn(pairs: JudgedSummaries, design: PatienceDesign, rng: np.random.Generator) -> Votes:
    """Draw the votes of the workers.

    `calibration.models.patience.simulate.simulate_preferences` has the same law.
    """
    judges = design.judges
    difference = pairs.differences(np.array([1 / design.true]))[0]
    liking = rng.normal(0, judges.unexplained_sd, pairs.summaries.count)
    log_odds = judges.effect * difference / difference.std() + liking[pairs.first] - liking[pairs.second]
    own = np.exp(rng.normal(0, judges.sensitivity_sd, (design.queries, design.workers)))
    first, second, _ = choice_probabilities(
        log_odds[:, None] * own[pairs.topic], np.asarray(math.log(judges.tie_weight))
    )
    vote = rng.random(first.shape)
    for_first, for_second = vote < first, (vote >= first) & (vote < first + second)
    counts = [votes.sum(axis=1).astype(np.float64) for votes in (for_first, for_second)]
    return Votes(first=counts[0], second=counts[1], ties=design.workers - counts[0] - counts[1])
