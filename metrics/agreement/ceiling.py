"""The ceiling of agreement: how well the people agree with each other.

Votes are noisy, so no metric agrees with all of them. The votes of a pair are split into two halves, and it is counted how often
the majorities of both fall on the same system (`metrics.agreement.ceiling_votes`). Halves are noisier than the whole, so to this count
is added what a mixture of vote probabilities says that the full size gains (`metrics.agreement.ceiling_votes`).

A person's votes on one pair, where it was judged again, count as one vote here (`one_vote_each`): two votes of one person agree more often
than those of two people, and say nothing about a second panel.

The intervals hold the error of the whole estimate: of the halves, of the ties and of the mixture. All of it is made again with
every query left out; where people judged several queries, with every person left out too, and with every part of a query
that one person judged. With J_c the jackknife variance over clusters c,

    V = J_query + (J_person - J_both)+

(Cameron, Gelbach and Miller 2011). J_person alone is no lower bound here: votes that are left out from all over turn even numbers of votes into odd
ones, which moves the replicates, in J_person as in J_both, farther than other people would. A replicate with fewer votes a pair still estimates
the agreement of full size. Student's t, on the agreement and on its log odds, has the smaller effective number of clusters less 1 degrees
of freedom; with few (`metrics.agreement.crossed_errors.is_few`) there is no interval. Many clusters are left out in groups that hang on what was judged
by how many (`_ranks`), never on names or on the order of rows. Votes hardly tell pairs that are equal, or certain, from pairs that are nearly so: the interval reaches from the estimate
that takes many pairs for equal to the one that takes many for certain, as far as the votes allow either.

How far a measure's agreement lies from a second panel's (`Ceiling.less_panel`) has an interval of its own, for both come from the same votes: the
jackknife of their difference, in which the agreement without a group g is a + (its effect on a) (`metrics.agreement.crossed_errors`),

    a_(-g) = a - U_g / (1 - w_g)

with U_g the influence of the group's votes and w_g their part in the agreement. A whole query is left out exactly so. No error is smaller than
that of one pair among all.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, stdtrit

from metrics.agreement.agreement import TIES, Ties, pair_credit
from metrics.agreement.ceiling_votes import (
    LEAD,
    every_kind_alike,
    fit_vote_mixtures,
    half_of_side,
    halves_agreement,
    majority,
)
from metrics.agreement.crossed_errors import (
    NOTHING,
    UNKNOWN,
    StandardError,
    VotesByPerson,
    effective_number,
    influence_of_votes,
    is_few,
)
from metrics.arrays import Bools, Floats, Ints, align_rows

MAX_GROUPS = 25
"""Largest number of groups that are left out in turn where queries and people cross; more clusters share groups."""
MAX_QUERIES = 100
"""Largest number of queries that are left out one by one where they do not.

Which of 46 queries share 25 groups moves the standard error by a tenth.
"""
MAX_LOG_ODDS = 2.0
"""Largest half width of an interval in log odds: near 0 and 1 little is known."""
ROUNDING = 1e-9
"""Weight below which the rest beside a left-out group counts as empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingEstimate:
    """Ceiling under one convention for ties, with its standard error.

    Attributes
    ----------
    value : float
        The estimate; NaN where no pair has two votes.
    lowest, highest : float
        What it is where the votes, as far as they allow it, come from pairs in half of which people prefer neither side, or
        all prefer one side.
    standard_error : float
        Of the value; NaN where it cannot be told.
    df : float
        Degrees of freedom; NaN where queries, or people who judged several, are few.
    """

    value: float
    lowest: float
    highest: float
    standard_error: float
    df: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the wider of Student's t interval and that of the log odds.

        The interval is NaN without variation.
        """
        if not (self.standard_error > 0 and self.df > 0):
            return math.nan, math.nan
        reach = float(stdtrit(self.df, (1 + level) / 2)) * self.standard_error
        on_log_odds = reach / max(self.value * (1 - self.value), reach / MAX_LOG_ODDS)
        return (
            max(0.0, min(self.lowest - reach, float(expit(logit(self.lowest) - on_log_odds)))),
            min(1.0, max(self.highest + reach, float(expit(logit(self.highest) + on_log_odds)))),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupedVotes:
    """Votes on p pairs, n in all, with the groups that a jackknife leaves out.

    Attributes
    ----------
    counts : (p, 3) ndarray of int
        Votes for R, for R' and ties, by pair.
    cell : (n,) ndarray of int
        Place of each vote in ``counts``.
    ways : tuple of (n,) ndarray of int
        Its group, in each way.
    """

    counts: Ints
    cell: Ints
    ways: tuple[Ints, ...]

    def without(self, difference: Floats, ties: Ties) -> tuple[float, Floats]:
        """Return a measure's agreement, overall and without each group, one way a row.

        A value is NaN where no pair counts.
        """
        cast = self.counts.T[[1, 2, 0]]
        votes = self.counts.sum(axis=1)
        credit = pair_credit(difference, (cast[1] / 2 + cast[2]) / votes, ties=ties)
        is_counted = ~np.isnan(credit)
        if not is_counted.any():
            return math.nan, np.full(sum(int(way.max()) + 1 for way in self.ways), np.nan)
        influence = influence_of_votes(cast, difference, ties)[[2, 0, 1]].T.ravel()[self.cell]
        part = np.repeat(is_counted / votes / is_counted.sum(), 3)[self.cell]
        value = float(credit[is_counted].mean())
        apart = []
        for way in self.ways:
            left = 1 - np.bincount(way, part)
            effect = np.full(left.shape, np.nan)
            np.divide(np.bincount(way, influence), left, out=effect, where=left > ROUNDING)
            apart.append(effect)
        return value, value - np.concatenate(apart)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """Agreement of people with people, from split halves.

    Attributes
    ----------
    panel, perfect : mapping of str to CeilingEstimate
        By convention for ties: agreement with these votes to expect from a second panel of the same size, its ties broken
        at random; from a metric that knew what most people prefer.
    halves, halves_weighted : float
        Agreement of the majorities of two halves, a tie counting half; mean share of the votes of one half for the majority of
        the other.
    tied : float
        Share of pairs whose vote at full size is a tie.
    pairs : int
        Pairs with the votes of at least two people: only these count.
    crossed : bool
        Whether somebody judged several queries, so that the intervals are over queries and people.
    votes : GroupedVotes
        The votes that count.
    panel_without : (groups, conventions) ndarray of float
        ``panel`` without each group of these votes.
    """

    panel: Mapping[Ties, CeilingEstimate]
    perfect: Mapping[Ties, CeilingEstimate]
    halves: float
    halves_weighted: float
    tied: float
    pairs: int
    crossed: bool
    votes: GroupedVotes = field(repr=False, compare=False)
    panel_without: Floats = field(repr=False, compare=False)

    def less_panel(
        self, difference: ArrayLike, ties: Ties = "against", level: float = 0.95
    ) -> tuple[float, float, float]:
        """Return a measure's agreement with these votes less that of a second panel.

        Parameters
        ----------
        difference : (pairs,) array_like of float
            Score of R less that of R' in every pair that counts here, in the order of the pairs' sorted names.
        ties : str
            The convention, a key of `metrics.agreement.agreement.TIES`.
        level : float
            Of the interval.

        Returns
        -------
        value, low, high : float
            The difference and its interval, cut at -1 and 1; an end is NaN where the second panel's interval has none.

        Raises
        ------
        ValueError
            If there are more or fewer differences than pairs that count.
        """
        scores = np.asarray(difference, dtype=np.float64)
        if scores.shape != (self.pairs,):
            raise ValueError(
                f"a difference is needed of each of the {self.pairs} pairs with two votes, got {scores.shape}"
            )
        if not self.pairs:
            return math.nan, math.nan, math.nan
        panel, (value, without) = self.panel[ties], self.votes.without(scores, ties)
        apart = without - self.panel_without[:, list(TIES).index(ties)]
        variance = float(_variance(apart, [int(way.max()) + 1 for way in self.votes.ways]))
        error = (
            StandardError(max(math.sqrt(variance), 1 / self.pairs), panel.df)
            if variance > NOTHING
            else UNKNOWN
        )
        reach = error.half_width(level) if panel.df > 0 else math.nan
        low, high = value - panel.highest - reach, value - panel.lowest + reach
        return value - panel.value, max(low, -1.0), min(high, 1.0)

    @property
    def no_interval(self) -> str:
        """Return why the ceilings have no interval, or an empty string."""
        error = self.panel["against"].standard_error
        if math.isnan(self.panel["against"].df):
            return "too few queries, or people who judged several of them, to generalise to others"
        if math.isnan(error):
            left_out = "a query or a person" if self.crossed else "a query"
            return f"with {left_out} left out no pair with two votes may remain"
        return "" if error > 0 else "it is the same whichever query is left out"


def ceiling(
    votes: ArrayLike, pair: ArrayLike, query: ArrayLike, *, worker: ArrayLike | None = None
) -> Ceiling:
    """Estimate the ceilings of agreement from split halves of every pair's votes.

    Parameters
    ----------
    votes : (judgments,) array_like of float
        1 for a vote for R, 0 for R', 0.5 for an equal one.
    pair : (judgments,) array_like of int or str
        The pair of each vote; pairs with a single vote do not count.
    query : (judgments,) array_like of str
        The query of each vote.
    worker : (judgments,) array_like of str, optional
        Whose vote it is; without it every vote is taken as that of another person.

    Returns
    -------
    Ceiling
        Every number in it is NaN when no pair has two votes.

    Raises
    ------
    ValueError
        If the lengths differ or a vote is something else.
    """
    votes, pair, query, *whose = align_rows(votes, pair, query, *(() if worker is None else (worker,)))
    votes = np.asarray(votes, dtype=np.float64)
    if not np.isin(votes, (0.0, 0.5, 1.0)).all():
        raise ValueError("votes must be 0, 0.5 or 1")
    columns = (pair, query, *whose)
    if not all(votes.shape == np.shape(column) for column in columns):
        raise ValueError("votes, pair, query and worker must be vectors of one length")
    return _of_codes(votes, *(_codes(column) for column in columns))


def ceiling_of_people(votes: VotesByPerson) -> Ceiling:
    """Estimate the ceilings of agreement from votes whose queries, pairs and workers are codes."""
    crossed = votes.crossing
    return _of_codes(
        votes.for_a, votes.pair, crossed.query, *([crossed.worker] if crossed.knows_workers else [])
    )


def _of_codes(votes: Floats, pair: Ints, query: Ints, *whose: Ints) -> Ceiling:
    """Return the ceiling of votes whose pair, query and, if known, worker are codes."""
    if whose:
        kept, votes = one_vote_each(votes, pair, whose[0])
        pair, query, *whose = (column[kept] for column in (pair, query, *whose))  # type: ignore[assignment]
    if not (counted := (np.bincount(pair) > 1)[pair]).all():
        votes = votes[counted]
        pair, query, *whose = (_codes(column[counted]) for column in (pair, query, *whose))  # type: ignore[assignment]
    ways = _ways(votes, pair, query, *whose)
    cell = (3 * pair + _kind(votes)).astype(np.int32)
    del votes, pair, query, whose  # what follows needs much memory, and none of them
    return _ceiling(_grouped(cell, ways))


def one_vote_each(votes: Floats, pair: Ints, worker: Ints) -> tuple[Ints, Floats]:
    """Reduce each person's votes on a pair to one.

    The result is the person's most frequent vote, or a tie where two are equally frequent.

    Parameters
    ----------
    votes : (judgments,) ndarray of float
        1 for a vote for R, 0 for R', 0.5 for an equal one.
    pair, worker : (judgments,) ndarray of int
        Codes of the pair and of the person.

    Returns
    -------
    kept : (v,) ndarray of int
        The places of the votes that stay, the first of each person and pair, in order.
    votes : (v,) ndarray of float
        What they say.
    """
    cells, first, cell = np.unique(
        pair * (worker.max(initial=-1) + 1) + worker, return_index=True, return_inverse=True
    )
    if cells.size == votes.size:
        return np.arange(votes.size), votes
    lead = np.bincount(cell, 2 * votes - 1)
    order = np.argsort(first)
    return first[order], np.asarray((1 + np.sign(lead[order])) / 2)


def panel_votes(votes: VotesByPerson) -> tuple[VotesByPerson, Bools]:
    """Return the votes on pairs that two people or more judged, one a person.

    Parameters
    ----------
    votes : VotesByPerson
        On p pairs.

    Returns
    -------
    panel : VotesByPerson
        One vote of each person on each of these pairs (`one_vote_each`).
    is_kept : (p,) ndarray of bool
        The pairs that have them.
    """
    if votes.crossing.knows_workers:
        places, for_a = one_vote_each(votes.for_a, votes.pair, votes.crossing.worker)
        votes = votes.of_judgments(places, for_a)
    is_kept = votes.votes > 1
    return votes.of_pairs(is_kept), is_kept


def _codes(column: ArrayLike) -> Ints:
    return np.unique(np.asarray(column), return_inverse=True)[1]


def _kind(votes: Floats) -> Ints:
    """Return 0 for votes for R, 1 for R', 2 for ties."""
    return np.asarray(np.where(votes == 0.5, 2, 1 - votes), dtype=np.intp)


def _ways(votes: Floats, pair: Ints, query: Ints, worker: Ints | None = None) -> list[Ints]:
    """Return the group of each judgment in each way of leaving groups out.

    The ways are by query and, where people cross queries, by person and by cell of both.
    """
    queries = int(query.max(initial=-1)) + 1
    people = 0 if worker is None else int(worker.max(initial=-1)) + 1
    cells, cell = (
        (query, query) if worker is None else np.unique(query * people + worker, return_inverse=True)
    )
    is_crossed = worker is not None and cells.size > people
    if not is_crossed and queries <= MAX_QUERIES:
        return [query.astype(np.int8)]
    of_vote = _numbers_of_votes(votes, pair)
    by_query = _added(query, of_vote)
    if worker is None or not is_crossed:
        return [_ranks(by_query)[query]]
    by_worker = _added(worker, _mixed(of_vote ^ by_query[query]))
    by_query = _added(query, _mixed(of_vote ^ by_worker[worker]))
    by_cell = np.empty(cells.size, dtype=np.uint64)
    by_cell[cell] = _mixed(_mixed(by_query)[query] ^ by_worker[worker])
    return [_ranks(by_query)[query], _ranks(by_worker)[worker], _ranks(by_cell)[cell]]


def _numbers_of_votes(votes: Floats, pair: Ints) -> NDArray[np.uint64]:
    """Return a number for each vote that depends on votes alone, not on any name.

    It combines the vote with the others on its pair.
    """
    kind = _kind(votes)
    counts = np.bincount(3 * pair + kind, minlength=3 * (int(pair.max(initial=-1)) + 1)).reshape(-1, 3)
    larger, smaller = counts[:, :2].max(axis=1), counts[:, :2].min(axis=1)
    size = int(counts.max(initial=0)) + 1
    of_pair = (larger * size + smaller) * size + counts[:, 2]
    own = np.where(kind < 2, counts.ravel()[3 * pair + kind], size)
    return _mixed((of_pair[pair] * (size + 1) + own).astype(np.uint64))


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return pseudo-random numbers that depend on the input numbers alone.

    This is the finaliser of splitmix64 (Steele, Lea and Flood 2014).
    """
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)), dtype=np.uint64)


def _added(cluster: Ints, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return exact sums of numbers by cluster, modulo 2^64, in any order of addition."""
    sums = np.zeros(int(cluster.max(initial=-1)) + 1, dtype=np.uint64)
    np.add.at(sums, cluster, numbers)
    return sums


def _ranks(numbers: NDArray[np.uint64]) -> Ints:
    """Return a group for each cluster, by the order of the clusters' numbers."""
    group = np.empty(numbers.size, dtype=np.int8)
    group[np.argsort(numbers, kind="stable")] = np.arange(numbers.size) % MAX_GROUPS
    return group


def _grouped(cell: Ints, ways: list[Ints]) -> GroupedVotes:
    counts = np.bincount(cell, minlength=3 * (cell.max(initial=-1) // 3 + 1))
    return GroupedVotes(counts=counts.reshape(-1, 3), cell=cell, ways=tuple(ways))


def _left_out(votes: GroupedVotes) -> Iterator[Ints]:
    """Yield the (pairs, 3) counts of votes, of all and without each group.

    The columns are votes for either side and ties.
    """
    yield votes.counts
    for way in votes.ways:
        ends = np.cumsum(np.bincount(way))[:-1]
        for out in np.split(votes.cell[np.argsort(way, kind="stable")], ends):
            yield votes.counts - np.bincount(out, minlength=votes.counts.size).reshape(-1, 3)


class _Samples(NamedTuple):
    """Samples of pairs with two votes or more.

    ``patterns`` (p, 3): votes for the larger and the smaller side, and ties. ``times`` (samples, p): pairs of each. ``aims``
    (samples, largest size + 1): pairs by the number of votes that they have when nobody is left out.
    """

    patterns: Ints
    times: Floats
    aims: Floats


def _samples(counts: Iterator[Ints]) -> _Samples:
    """Count the patterns of votes in every sample; the first sample is the whole.

    The whole stands at the end twice more, for two other starts.
    """
    found, aims, full = [], [], None
    for sample in counts:
        votes = sample.sum(axis=1)
        full = votes if full is None else full
        size = full.max(initial=0) + 1
        counted = votes >= 2
        larger, smaller = sample[counted, :2].max(axis=1), sample[counted, :2].min(axis=1)
        found.append(np.unique((larger * size + smaller) * size + sample[counted, 2], return_counts=True))
        aims.append(np.bincount(full[counted], minlength=size))
    found, aims = [*found, *found[:1] * 2], [*aims, *aims[:1] * 2]
    codes = np.unique(np.concatenate([one for one, _ in found]))
    times = np.zeros((len(found), codes.size))
    for row, (code, often) in zip(times, found, strict=True):
        row[np.searchsorted(codes, code)] = often
    patterns = np.stack([codes // size**2, codes // size % size, codes % size], axis=1)
    return _Samples(patterns, times, np.array(aims, dtype=np.float64))


def _ceiling(votes: GroupedVotes) -> Ceiling:
    """Estimate both ceilings from the whole, and their errors from the other samples.

    Every other sample has a group left out.
    """
    samples, sizes = _samples(_left_out(votes)), [np.bincount(way) for way in votes.ways]
    whole, groups = samples.times[:1], [size.size for size in sizes]
    shares = [np.asarray(size, dtype=np.float64) for size in sizes[:2]]
    df = math.nan if any(map(is_few, shares)) else min(map(effective_number, shares)) - 1
    starts = [*[every_kind_alike()] * (len(samples.times) - 2), half_of_side(0.5), half_of_side(1.0)]
    weight = fit_vote_mixtures(samples.patterns, samples.times, np.array(starts))
    of_halves = halves_agreement(samples.patterns)
    values, most = _values(samples, weight, of_halves)
    possible = np.fmin(values[[0, -2, -1]], most[0])
    rows = (
        possible[0],
        possible.min(axis=0),
        possible.max(axis=0),
        _standard_errors(values[1:-2], groups, pairs=int(whole.sum())),
    )
    both = [
        MappingProxyType(
            {
                ties: CeilingEstimate(
                    value=float(value),
                    lowest=float(lowest),
                    highest=float(highest),
                    standard_error=float(error),
                    df=df,
                )
                for ties, value, lowest, highest, error in zip(TIES, *of_one, strict=True)
            }
        )
        for of_one in zip(*rows, strict=True)
    ]
    halves = _average(whole, of_halves)[0]
    return Ceiling(
        panel=both[0],
        perfect=both[1],
        halves=float(halves[0]),
        halves_weighted=float(halves[1]),
        tied=float(_average(whole, _is_even(samples.patterns))[0]),
        pairs=int(whole.sum()),
        crossed=len(groups) > 1,
        votes=votes,
        panel_without=values[1:-2, 0],
    )


def _standard_errors(replicates: Floats, groups: list[int], *, pairs: int) -> Floats:
    """Return the standard errors of the ceilings, at least one pair if counted.

    A sample cannot show majorities rarer than one pair in the sample.
    """
    error = np.sqrt(_variance(replicates, groups))
    least = np.array([ties != "weighted" for ties in TIES]) / max(pairs, 1)
    return np.where(error > 0, np.maximum(error, least), error)


def _variance(replicates: Floats, groups: list[int]) -> Floats:
    """Return the jackknife variance over one way, or over two.

    It is NaN where a replicate is NaN or there is one group.
    """
    if min(groups) < 2:
        return np.full(replicates.shape[1:], np.nan)
    by_query, *crossed = (_jackknife(part) for part in np.split(replicates, np.cumsum(groups)[:-1]))
    variance = by_query + (np.maximum(0.0, crossed[0] - crossed[1]) if crossed else 0.0)
    return np.asarray(np.where(variance > NOTHING, variance, np.where(np.isnan(variance), np.nan, 0.0)))


def _jackknife(replicates: Floats) -> Floats:
    apart = replicates - replicates.mean(axis=0)
    return np.asarray((len(apart) - 1) / len(apart) * (apart**2).sum(axis=0))


def _values(samples: _Samples, weight: Floats, of_halves: Floats) -> tuple[Floats, Floats]:
    """Return both ceilings in every sample, and the largest that its votes allow.

    Both are (samples, 2, conventions); the second has 1 in place of 2.
    """
    patterns, times = samples.patterns, samples.times
    votes = patterns.sum(axis=1)
    now = np.unique(votes)
    sizes = times @ (votes[:, None] == now)
    full = np.flatnonzero(samples.aims.any(axis=0))
    half, (whole, even), even_now = _majorities(now // 2)[0], _majorities(full), _majorities(now)[1]

    def in_model(at_full: Floats, at_present: Floats) -> Floats:
        """Return the mixture's agreement at full size less that at the sample's size."""
        means = [_average(samples.aims[:, full], at_full), _average(sizes, at_present)]
        return np.asarray(((means[0] - means[1]) * weight).sum(axis=1))

    measured = _average(times, of_halves)
    tied = _average(times, _is_even(patterns)) + in_model(even, even_now)
    votes_of_larger = _average(times, (patterns[:, 0] + patterns[:, 2] / 2) / votes)
    ceilings = [
        _conventions(
            measured[:, 0] + in_model(choice * whole, half**2) / 2 - tied / 2,
            measured[:, 1] + in_model(choice * LEAD, half * LEAD),
            tied,
        )
        for choice in (whole, np.ones_like(whole))
    ]
    return np.stack(ceilings, axis=1), _conventions(1 - tied, votes_of_larger, tied)[:, None]


def _conventions(agreeing: Floats, weighted: Floats, tied: Floats) -> Floats:
    """Return the agreement under every convention, (samples, conventions).

    It follows from the pairs that agree, the share of votes and the tied pairs.
    """
    agreeing = np.maximum(agreeing, 0)
    by_ties: dict[Ties, Floats] = {
        "against": agreeing,
        "half": agreeing + tied / 2,
        "drop": agreeing / np.where(tied < 1, 1 - tied, np.nan),
        "weighted": weighted,
    }
    return np.stack([by_ties[ties] for ties in TIES], axis=1)


def _majorities(sizes: Ints) -> tuple[Floats, Floats]:
    """Return `majority` for many numbers of votes, each (sizes, kinds)."""
    sign, even = zip(*(majority(size) for size in sizes.tolist()), strict=True) if sizes.size else ((), ())
    return np.reshape(sign, (-1, LEAD.size)), np.reshape(even, (-1, LEAD.size))


def _average(how_often: Floats, values: Floats) -> Floats:
    """Return the mean of values (p, ...) in every sample; NaN without pairs."""
    total = how_often.sum(axis=1)
    return np.asarray(((how_often @ values).T / np.where(total > 0, total, np.nan)).T)


def _is_even(patterns: Ints) -> Floats:
    return np.asarray(patterns[:, 0] == patterns[:, 1], dtype=np.float64)
