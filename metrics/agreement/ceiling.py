"""The ceiling of agreement: how well the people agree with each other.

Votes are noisy, so no metric agrees with all of them. The votes of a pair are split into two halves, and it is counted how often
the majorities of both fall on the same system (`metrics.agreement.ceiling_votes`). Halves are noisier than the whole, so to this count
is added what a mixture of vote probabilities says that the full size gains (`metrics.agreement.ceiling_votes`).

The intervals hold the error of the whole estimate: of the halves, of the ties and of the mixture. All of it is made again with
every query left out; where people judged several queries, with every person left out too, and with every part of a query
that one person judged. With J_c the jackknife variance over clusters c,

    V = J_query + J_person - J_both,    at least J_query and at least J_person

(Cameron, Gelbach and Miller 2011; MacKinnon, Nielsen and Webb 2024). A replicate with fewer votes a pair still estimates
the agreement of full size. Student's t, on the agreement and on its log odds, has the smaller number of clusters less 1 degrees
of freedom. Votes hardly tell pairs that are equal, or certain, from pairs that are nearly so: the interval reaches from the estimate
that takes many pairs for equal to the one that takes many for certain, as far as the votes allow either.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, stdtrit

from metrics.agreement.agreement import TIES, Ties
from metrics.agreement.ceiling_votes import (
    LEAD,
    every_kind_alike,
    fit_vote_mixtures,
    half_of_side,
    halves_agreement,
    majority,
)
from metrics.arrays import Floats, Ints, in_one_order

MOST_GROUPS = 25
"""More clusters than that are left out in so many groups."""
MOST_LOG_ODDS = 2.0
"""An interval reaches no farther on the log odds: beside 0 and 1 they are known to nobody."""
NOTHING = 1e-24
"""Variances below are rounding errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingEstimate:
    """One ceiling under one convention for ties.

    Attributes
    ----------
    value : float
        The estimate; NaN where no pair has two votes.
    lowest, highest : float
        What it is where the votes, as far as they allow it, come from pairs in half of which people prefer neither side, or
        all prefer one side.
    standard_error : float
        Of the value; NaN where it cannot be told.
    df : int
        Degrees of freedom.
    """

    value: float
    lowest: float
    highest: float
    standard_error: float
    df: int

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the interval: Student's t on the agreement or on its log odds, whichever reaches farther; NaN without variation."""
        if not self.standard_error > 0:
            return math.nan, math.nan
        reach = float(stdtrit(self.df, (1 + level) / 2)) * self.standard_error
        on_log_odds = reach / max(self.value * (1 - self.value), reach / MOST_LOG_ODDS)
        return (
            max(0.0, min(self.lowest - reach, float(expit(logit(self.lowest) - on_log_odds)))),
            min(1.0, max(self.highest + reach, float(expit(logit(self.highest) + on_log_odds)))),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """Agreement of people with people, from split halves.

    Attributes
    ----------
    second_panel, perfect_metric : mapping of str to CeilingEstimate
        By convention for ties: agreement with these votes to expect from a second panel of the same size, its ties broken
        at random; from a metric that knew what most people prefer.
    halves, halves_weighted : float
        Agreement of the majorities of two halves, a tie counting half; mean share of the votes of one half for the majority of
        the other.
    tied : float
        Share of pairs whose vote at full size is a tie.
    pairs : int
        Pairs with at least two votes: only these count.
    crossed : bool
        Whether somebody judged several queries, so that the intervals are over queries and people.
    """

    second_panel: Mapping[Ties, CeilingEstimate]
    perfect_metric: Mapping[Ties, CeilingEstimate]
    halves: float
    halves_weighted: float
    tied: float
    pairs: int
    crossed: bool

    def panel(self, ties: Ties = "against") -> float:
        """Agreement with these votes to expect from a second panel of the same size."""
        return self.second_panel[ties].value

    def perfect(self, ties: Ties = "against") -> float:
        """Agreement with these votes to expect from a metric that knew what most people prefer."""
        return self.perfect_metric[ties].value

    def panel_interval(self, ties: Ties = "against", level: float = 0.95) -> tuple[float, float]:
        """Interval of `panel`; NaN where there is none."""
        return self.second_panel[ties].interval(level)

    def perfect_interval(self, ties: Ties = "against", level: float = 0.95) -> tuple[float, float]:
        """Interval of `perfect`; NaN where there is none."""
        return self.perfect_metric[ties].interval(level)

    @property
    def no_interval(self) -> str:
        """Say why the ceilings have no interval; nothing where they have one."""
        error = self.second_panel["against"].standard_error
        if math.isnan(error):
            left_out = "a query or a person" if self.crossed else "a query"
            return f"with {left_out} left out no pair with two votes may remain"
        return "" if error > 0 else "it is the same whichever query is left out"


def ceiling(
    votes: ArrayLike, pair: ArrayLike, query: ArrayLike, *, worker: ArrayLike | None = None
) -> Ceiling:
    """Split the votes of every pair into halves and compare their majorities.

    Parameters
    ----------
    votes : (judgments,) array_like of float
        1 for a vote for R, 0 for R', 0.5 for an equal one.
    pair : (judgments,) array_like of int or str
        The pair of each vote; pairs with a single vote do not count.
    query : (judgments,) array_like of str
        The query of each vote.
    worker : (judgments,) array_like of str, optional
        Whose vote it is; without it everybody is taken to have judged one query.

    Returns
    -------
    Ceiling
        Every number in it is NaN when no pair has two votes.

    Raises
    ------
    ValueError
        If the lengths differ or a vote is something else.
    """
    votes, pair, query, *whose = in_one_order(votes, pair, query, *(() if worker is None else (worker,)))
    votes = np.asarray(votes, dtype=np.float64)
    if not np.isin(votes, (0.0, 0.5, 1.0)).all():
        raise ValueError("votes must be 0, 0.5 or 1")
    columns = (pair, query, *whose)
    if not all(votes.shape == np.shape(column) for column in columns):
        raise ValueError("votes, pair, query and worker must be vectors of one length")
    ways = _ways(*(_codes(column) for column in columns[1:]))
    cell = 3 * _codes(pair) + np.where(votes == 0.5, 2, 1 - votes).astype(np.intp)
    samples, groups = _samples(_left_out(cell, ways)), [int(way.max()) + 1 for way in ways]
    del votes, cell, ways  # what follows needs much memory, and none of them
    return _ceiling(samples, groups)


def _codes(column: ArrayLike) -> Ints:
    return np.unique(np.asarray(column), return_inverse=True)[1]


def _ways(query: Ints, worker: Ints | None = None) -> list[Ints]:
    """Return the group with which each judgment is left out, in each way: by query, and by person and both where they cross."""
    by_query = (query % MOST_GROUPS).astype(np.int8)
    if worker is None:
        return [by_query]
    people = worker.max(initial=-1) + 1
    cells, cell = np.unique(query * people + worker, return_inverse=True)
    if cells.size == people:
        return [by_query]
    mixed = np.random.default_rng(0).permutation(
        cells.size
    )  # else a group could be the same people in every query
    return [by_query, *((code % MOST_GROUPS).astype(np.int8) for code in (worker, mixed[cell]))]


def _left_out(cell: Ints, ways: list[Ints]) -> Iterator[Ints]:
    """Yield the (pairs, 3) votes for either side and ties, of all and then with every group left out."""
    whole = np.bincount(cell, minlength=3 * (cell.max(initial=-1) // 3 + 1))
    yield whole.reshape(-1, 3)
    for way in ways:
        ends = np.cumsum(np.bincount(way))[:-1]
        for out in np.split(cell[np.argsort(way, kind="stable")], ends):
            yield (whole - np.bincount(out, minlength=whole.size)).reshape(-1, 3)


class _Samples(NamedTuple):
    """Samples of pairs with two votes or more.

    ``patterns`` (p, 3): votes for the larger and the smaller side, and ties. ``times`` (samples, p): pairs of each. ``aims``
    (samples, largest size + 1): pairs by the number of votes that they have when nobody is left out.
    """

    patterns: Ints
    times: Floats
    aims: Floats


def _samples(counts: Iterator[Ints]) -> _Samples:
    """Count the patterns of votes in every sample; the first is the whole, and stands at the end twice more, for two other starts."""
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


def _ceiling(samples: _Samples, groups: list[int]) -> Ceiling:
    """Estimate both ceilings from the whole, and how far they may be off from the samples with a group left out."""
    whole = samples.times[:1]
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
                    df=min(groups[:2]) - 1,
                )
                for ties, value, lowest, highest, error in zip(TIES, *of_one, strict=True)
            }
        )
        for of_one in zip(*rows, strict=True)
    ]
    halves = _average(whole, of_halves)[0]
    return Ceiling(
        second_panel=both[0],
        perfect_metric=both[1],
        halves=float(halves[0]),
        halves_weighted=float(halves[1]),
        tied=float(_average(whole, _is_even(samples.patterns))[0]),
        pairs=int(whole.sum()),
        crossed=len(groups) > 1,
    )


def _standard_errors(replicates: Floats, groups: list[int], *, pairs: int) -> Floats:
    """Return the errors, which are never below one pair of all where majorities are counted: nobody knows rarer things."""
    error = np.sqrt(_variance(replicates, groups))
    least = np.array([ties != "weighted" for ties in TIES]) / max(pairs, 1)
    return np.where(error > 0, np.maximum(error, least), error)


def _variance(replicates: Floats, groups: list[int]) -> Floats:
    """Return the jackknife variance over one way, or over two; NaN where a replicate says nothing or there is one group."""
    if min(groups) < 2:
        return np.full(replicates.shape[1:], np.nan)
    ways = [_jackknife(part) for part in np.split(replicates, np.cumsum(groups)[:-1])]
    variance = ways[0] if len(ways) == 1 else np.max([ways[0], ways[1], ways[0] + ways[1] - ways[2]], axis=0)
    return np.where(variance > NOTHING, variance, np.where(np.isnan(variance), np.nan, 0.0))


def _jackknife(replicates: Floats) -> Floats:
    apart = replicates - replicates.mean(axis=0)
    return np.asarray((len(apart) - 1) / len(apart) * (apart**2).sum(axis=0))


def _values(samples: _Samples, weight: Floats, of_halves: Floats) -> tuple[Floats, Floats]:
    """Return what a second panel and a perfect metric reach in every sample, and the most that its votes can give.

    Both are (samples, 2, conventions); the second has 1 in place of 2.
    """
    patterns, times = samples.patterns, samples.times
    votes = patterns.sum(axis=1)
    now = np.unique(votes)
    sizes = times @ (votes[:, None] == now)
    full = np.flatnonzero(samples.aims.any(axis=0))
    half, (whole, even), even_now = _majorities(now // 2)[0], _majorities(full), _majorities(now)[1]

    def in_model(at_full: Floats, at_present: Floats) -> Floats:
        """Return what the mixture says that full size adds to the votes that a sample has."""
        means = [_average(samples.aims[:, full], at_full), _average(sizes, at_present)]
        return np.asarray(((means[0] - means[1]) * weight).sum(axis=1))

    measured = _average(times, of_halves)
    tied = _average(times, _is_even(patterns)) + in_model(even, even_now)
    votes_of_larger = _average(times, (patterns[:, 0] + patterns[:, 2] / 2) / votes)
    found = [
        _conventions(
            measured[:, 0] + in_model(choice * whole, half**2) / 2 - tied / 2,
            measured[:, 1] + in_model(choice * LEAD, half * LEAD),
            tied,
        )
        for choice in (whole, np.ones_like(whole))
    ]
    return np.stack(found, axis=1), _conventions(1 - tied, votes_of_larger, tied)[:, None]


def _conventions(agreeing: Floats, weighted: Floats, tied: Floats) -> Floats:
    """Return every convention, (samples, conventions), from the pairs that agree, the share of votes and the tied pairs."""
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
    """Return the mean of values (p, ...) in every sample; NaN for a sample without pairs."""
    total = how_often.sum(axis=1)
    return np.asarray(((how_often @ values).T / np.where(total > 0, total, np.nan)).T)


def _is_even(patterns: Ints) -> Floats:
    return np.asarray(patterns[:, 0] == patterns[:, 1], dtype=np.float64)
