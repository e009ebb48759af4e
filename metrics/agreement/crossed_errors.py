"""Errors of agreement over crossed samples of queries and workers.

A judgment i adds u_i to the error of an estimate (its influence), and has a part w_i in it. Let U_c and w_c be their sums over
a cluster c, and Q and W the effective numbers of queries and of people, 1 / sum w_c^2. Then

    V = max(V_query + max(0, P) Q / (Q - 1), V_least)
    V_query = sum_q U_q^2 / r_q,   r_c = min(1 - w_c, 1 - 2 w_c + sum w_c^2)
    P = sum_w (U_w^2 - sum_q U_wq^2 + k_w V_query) / (1 - w_w)^2,   k_w = w_w^2 - sum_q w_wq^2
    V_least = sum_w U_w^2 / r_w

over queries q, workers w and the cells wq that share both. It is the two-way clustered variance V_query + V_worker - V_both of
Cameron, Gelbach and Miller (2011), never below that of either cluster, with what the mean over few clusters takes off put back: exactly for
queries of equal weight, and by the jackknife for people (CR3 of MacKinnon and White 1985), whose loads may be very unequal. P is what
people's answers to different queries have in common. Student's t has Satterthwaite's degrees of freedom

    df = V^2 / (V_query^2 / (Q - 1) + V_worker^2 / (W - 1)),   V_worker = sum_w U_w^2 / (1 - w_w)^2

whatever the sign of P, so that all intervals of a table are over queries and people alike; at least those of the scarcer of both. Where
every person judges one query, or nobody knows who judged, V is V_query. With few queries or people (`is_few`) nothing is known about others.
The same formulas, for many estimates at once, are in `calibration.rank.crossed`.

A majority is no mean over votes, and leaving out a person turns odd numbers of votes into even ones. So what a single vote adds to
the agreement of majorities is what is lost with any of the pair's votes in its place (`VotesByPerson.influence`): its projection
(Hajek 1968), which another draw from the same people estimates (Efron and Stein 1981).
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from metrics.agreement.agreement import Ties, pair_credit
from metrics.arrays import Bools, Floats, Ints

NOTHING = 1e-24
"""Largest variance that is a rounding error."""


class StandardError(NamedTuple):
    """Standard error of an agreement, with degrees of freedom; NaN where unknown.

    Attributes
    ----------
    standard_error : float
        Of the estimate.
    df : float
        Degrees of freedom of Student's t.
    """

    standard_error: float
    df: float

    def half_width(self, level: float = 0.95) -> float:
        """Return half the width of the interval of this level."""
        return float(stdtrit(self.df, (1 + level) / 2)) * self.standard_error

    def p_value(self, estimate: float) -> float:
        """Return the two-sided p of an estimate whose true value is 0."""
        return float(2 * stdtr(self.df, -abs(estimate) / self.standard_error))

    def minimum_detectable(self, power: float = 0.8, level: float = 0.95) -> float:
        """Return the smallest true value that this study detects with this power.

        (t_{(1 + level)/2} + t_{power}) standard error, both with the degrees of freedom of the test
        """
        return float(stdtrit(self.df, np.array([(1 + level) / 2, power])).sum() * self.standard_error)


UNKNOWN = StandardError(math.nan, math.nan)
MIN_CLUSTERS, MIN_EFFECTIVE = 4, 3.0
"""Smallest numbers of clusters and of effective clusters for a variance.

Clusters are queries or people.
"""


def effective_number(share: Floats) -> float:
    """Return the effective number of clusters, (sum w)^2 / sum w^2.

    As many clusters of equal weight would count the same; it is 0 without any weight.
    """
    squares = float((share**2).sum())
    return float(share.sum()) ** 2 / squares if squares else 0.0


def is_few(share: Floats) -> bool:
    """Return whether clusters are too few, or too unequal, to generalise to others."""
    return int((share > 0).sum()) < MIN_CLUSTERS or effective_number(share) < MIN_EFFECTIVE


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Crossing:
    """Query, worker and cell of each of n judgments.

    A cell is what a query and a worker share.

    Attributes
    ----------
    query, worker, cell : (n,) ndarray of int
        Codes from 0 without holes.
    worker_of_cell : (cells,) ndarray of int
        The worker of each cell.
    knows_workers : bool
        Whether it is known who judged; else every judgment has a worker of its own.
    """

    query: Ints
    worker: Ints
    cell: Ints
    worker_of_cell: Ints
    knows_workers: bool = True

    @property
    def queries(self) -> int:
        """Number of queries that were judged."""
        return int(self.query.max(initial=-1)) + 1

    @property
    def workers(self) -> int:
        """Number of workers who judged; 0 where unknown."""
        return int(self.worker.max(initial=-1)) + 1 if self.knows_workers else 0

    @property
    def queries_each(self) -> float:
        """Mean number of queries per worker; NaN where unknown."""
        return len(self.worker_of_cell) / self.workers if self.knows_workers else math.nan

    @property
    def most_queries_each(self) -> int:
        """Largest number of queries of one worker."""
        return int(np.bincount(self.worker_of_cell).max())

    @property
    def is_crossed(self) -> bool:
        """True if any worker judged more than one query."""
        return self.knows_workers and len(self.worker_of_cell) > self.workers

    def error(self, influence: Floats, weight: Floats) -> StandardError:
        """Return the standard error of an estimate, see the module.

        Parameters
        ----------
        influence : (n,) ndarray of float
            What each judgment adds to its error; adds up to 0.
        weight : (n,) ndarray of float
            Part of each judgment in the estimate, adding up to 1.

        Returns
        -------
        Error
            Unknown where queries, or people who judged several, are few (`is_few`), or nothing varies.
        """
        share_of_query, share = _sums(self.query, weight), _sums(self.worker, weight)
        if is_few(share_of_query) or (self.is_crossed and is_few(share)):
            return UNKNOWN
        by_query = _alone(_sums(self.query, influence), share_of_query)
        query_df = effective_number(share_of_query) - 1
        if not by_query > NOTHING:
            return UNKNOWN
        if not self.is_crossed:
            return StandardError(math.sqrt(by_query), query_df)
        by_worker, people = self._over_people(influence, weight, by_query)
        least, worker_df = _alone(_sums(self.worker, influence), share), effective_number(share) - 1
        variance = max(by_query + max(0.0, people) * (1 + 1 / query_df), least)
        df = variance**2 / (by_query**2 / query_df + by_worker**2 / worker_df)
        return StandardError(math.sqrt(variance), max(df, min(query_df, worker_df)))

    def _over_people(self, influence: Floats, weight: Floats, by_query: float) -> tuple[float, float]:
        """Return V_worker and P, the covariance of a worker's answers across queries."""
        share, of_cell = _sums(self.worker, weight), _sums(self.cell, weight)
        whole, cells = _sums(self.worker, influence), _sums(self.cell, influence)
        left = (1 - share) ** 2
        across = whole**2 - _sums(self.worker_of_cell, cells**2)
        taken_off = (share**2 - _sums(self.worker_of_cell, of_cell**2)) * by_query
        return float((whole**2 / left).sum()), float(((across + taken_off) / left).sum())


def crossing(query: ArrayLike, worker: ArrayLike | None) -> Crossing:
    """Return the crossing of n judgments from codes of queries and workers.

    Codes count from 0 without gaps; without workers, all judges are unknown.
    """
    query = np.asarray(query, dtype=np.intp)
    if worker is None:
        each = np.arange(len(query))
        return Crossing(query=query, worker=each, cell=each, worker_of_cell=each, knows_workers=False)
    worker = np.asarray(worker, dtype=np.intp)
    workers = int(worker.max(initial=-1)) + 1
    cells, cell = np.unique(query * workers + worker, return_inverse=True)
    return Crossing(query=query, worker=worker, cell=cell, worker_of_cell=cells % workers)


def _alone(sums: Floats, share: Floats) -> float:
    """Return the variance over clusters of one kind alone.

    It follows from their sums of influence and their parts in the estimate.
    """
    return float((sums**2 / np.minimum(1 - share, 1 - 2 * share + (share**2).sum())).sum())


def _sums(cluster: Ints, values: Floats) -> Floats:
    return np.asarray(np.bincount(cluster, values), dtype=np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class VotesByPerson:
    """Votes on p pairs, one entry a judgment, with query and worker.

    Attributes
    ----------
    pair : (n,) ndarray of int
        Code of the pair, from 0 without holes.
    for_a : (n,) ndarray of float
        What the judgment adds to the share of system_a: 0, 0.5 or 1.
    crossing : Crossing
        Who judged what.
    """

    pair: Ints
    for_a: Floats
    crossing: Crossing

    def of_judgments(self, places: Ints, for_a: Floats) -> "VotesByPerson":
        """Return some of the judgments, each pair having one at least, with what they say."""
        if len(places) == len(self.pair):
            return self
        crossed = self.crossing
        query, worker = (
            np.unique(each[places], return_inverse=True)[1] for each in (crossed.query, crossed.worker)
        )
        return VotesByPerson(
            pair=self.pair[places],
            for_a=for_a,
            crossing=crossing(query, worker if crossed.knows_workers else None),
        )

    def of_pairs(self, is_kept: Bools) -> "VotesByPerson":
        """Return the judgments of some of the pairs, (p,), which are numbered anew in their order."""
        places = np.flatnonzero(is_kept[self.pair])
        kept = self.of_judgments(places, self.for_a[places])
        return kept if kept is self else replace(kept, pair=(np.cumsum(is_kept) - 1)[kept.pair])

    @cached_property
    def cell(self) -> Ints:
        """Index of each judgment in the flattened table `cast`, (n,)."""
        pairs = int(self.pair.max(initial=-1)) + 1
        return np.asarray(np.round(2 * self.for_a).astype(np.intp) * pairs + self.pair)

    @cached_property
    def cast(self) -> Ints:
        """(3, p) how often each vote was given on each pair: 0, a half and 1 for system_a."""
        pairs = int(self.pair.max(initial=-1)) + 1
        return np.bincount(self.cell, minlength=3 * pairs).reshape(3, pairs)

    @property
    def votes(self) -> Floats:
        """(p,) number of judgments of each pair."""
        return np.asarray(self.cast.sum(axis=0), dtype=np.float64)

    @property
    def share(self) -> Floats:
        """(p,) vote share of system_a."""
        return np.asarray((self.cast[1] / 2 + self.cast[2]) / self.votes, dtype=np.float64)

    @cached_property
    def weight(self) -> Floats:
        """(n,) part of each judgment in a mean over pairs."""
        votes = self.votes
        return np.asarray((1 / (votes * votes.size))[self.pair], dtype=np.float64)

    def influence(self, difference: Floats, ties: Ties) -> Floats:
        """Return the influence of each judgment on the agreement of one measure.

        u = (c - agreement + h - mean of h) / n / pairs that count

        with c the credit of the judgment's pair, n its votes and the mean over them. h = n (c - c*) sqrt(n / (n - 1)), c* the credit with one of the pair's
        votes, itself among them, in the place of this one, on average over these: of a mean of votes it would be the vote less their mean, with the variance of
        a draw from the people; where no majority is taken h = sign(D) v, D the score difference and v
        the vote.

        Parameters
        ----------
        difference : (p,) ndarray of float
            Score of system_a less that of system_b.
        ties : str
            The convention, a key of `metrics.agreement.agreement.TIES`.
        """
        return influence_of_votes(self.cast, difference, ties).ravel()[self.cell]

    def gain(self, difference: Floats, ties: Ties) -> Floats:
        """Return the credit that each judgment's pair gains by a vote for system_a, (n,).

        The credit is compared with that of a vote for system_b, all other votes unchanged.
        """
        down2, down1, now, up1, up2 = _moved_credits(self.cast, difference, ties)
        return np.stack([up2 - now, up1 - down1, now - down2]).ravel()[self.cell]

    def error(self, difference: Floats, ties: Ties) -> StandardError:
        """Return the standard error of one measure's agreement.

        Its parameters are those of `influence`.
        """
        return self.crossing.error(self.influence(difference, ties), self.weight_of(difference, ties))

    def weight_of(self, difference: Floats, ties: Ties) -> Floats:
        """Return the part of each judgment in the agreement of one measure, (n,).

        Parameters as in `influence`.
        """
        if ties != "drop":
            return self.weight
        weight = self.weight * ((difference != 0) & (self.share != 0.5))[self.pair]
        return np.asarray(weight / weight.sum() if weight.any() else weight, dtype=np.float64)

    def interval(self, difference: Floats, ties: Ties, level: float = 0.95) -> tuple[float, float]:
        """Return the interval of one measure's agreement, cut at 0 and 1.

        The interval is NaN where the standard error is unknown.

        Parameters
        ----------
        difference, ties
            As in `influence`.
        level : float
            Confidence level.
        """
        credit = pair_credit(difference, self.share, ties=ties)
        reach = self.error(difference, ties).half_width(level)
        if math.isnan(reach):
            return math.nan, math.nan
        value = float(np.nanmean(credit))
        return max(0.0, value - reach), min(1.0, value + reach)


def influence_of_votes(cast: Ints, difference: Floats, ties: Ties) -> Floats:
    """Return the influence of each possible vote on each pair on an agreement.

    `VotesByPerson.influence` has the formula.

    Parameters
    ----------
    cast : (3, p) ndarray of int
        Votes of 0, a half and 1 for system_a on each pair.
    difference, ties
        As in `VotesByPerson.influence`.

    Returns
    -------
    (3, p) ndarray of float
    """
    votes = np.asarray(cast.sum(axis=0), dtype=np.float64)
    credit = pair_credit(difference, (cast[1] / 2 + cast[2]) / votes, ties=ties)
    counts = ~np.isnan(credit)
    value = float(credit[counts].mean()) if counts.any() else 0.0
    apart = np.where(counts, credit - value, 0.0)
    if ties == "weighted":
        lost = np.sign(difference) * np.array([[0.0], [0.5], [1.0]])
    else:
        lost = _lost_by_another(cast, difference, ties, value)
    of_vote = apart + lost - (cast * lost).sum(axis=0) / votes
    return np.asarray(of_vote / votes / max(int(counts.sum()), 1), dtype=np.float64)


def _lost_by_another(cast: Ints, difference: Floats, ties: Ties, value: float) -> Floats:
    """Return h, the credit lost by replacing each vote on each pair, times n, (3, p).

    Each entry is the pair's credit with the vote less that with another vote; see `VotesByPerson.influence`.
    """
    votes = np.asarray(cast.sum(axis=0), dtype=np.float64)
    worths = [np.nan_to_num(credit - value) for credit in _moved_credits(cast, difference, ties)]
    lost = [
        sum(cast[other] * (worths[2] - worths[2 + other - vote]) for other in range(3)) for vote in range(3)
    ]
    return np.asarray(np.stack(lost) * np.sqrt(votes / np.maximum(votes - 1, 1)))


def _moved_credits(cast: Ints, difference: Floats, ties: Ties) -> list[Floats]:
    """Return each pair's credit with its votes moved by -1, -1/2, 0, 1/2 and 1 towards system_a, (p,) each."""
    votes, total = np.asarray(cast.sum(axis=0), dtype=np.float64), cast[1] + 2 * cast[2]
    shares = (np.clip(total + moved, 0, 2 * votes) / (2 * votes) for moved in range(-2, 3))
    return [pair_credit(difference, share, ties=ties) for share in shares]


def spread_of_tastes(votes: VotesByPerson, differences: ArrayLike) -> float:
    """Return the spread, beyond chance, of how closely workers follow the measures.

    Only workers who judged several queries count.

    Let x be a measure's score difference of a pair over its root mean square, and y = 1, 0 or -1 a vote. A person's slope is
    b = sum x y / sum x^2, its error that of sums over the person's queries. The spread is the square root of the variance of
    slopes over people less the mean of their squared errors, both weighted by sum x^2, so that people who judged little do not decide
    it; on average over measures.

    Parameters
    ----------
    votes : VotesByPerson
        On p pairs.
    differences : (m, p) array_like of float
        Score differences of the pairs under m measures, none of them 0 everywhere.

    Returns
    -------
    float
        In units of y a standard difference; 0 where slopes differ by no more than chance. NaN where fewer than two people judged
        several queries.
    """
    variances = [
        _variance_of_slopes(votes, difference) for difference in np.asarray(differences, dtype=np.float64)
    ]
    return math.sqrt(max(0.0, float(np.mean(variances)))) if variances else math.nan


def _variance_of_slopes(votes: VotesByPerson, difference: Floats) -> float:
    of_worker, crossed = votes.crossing.worker_of_cell, votes.crossing
    x = (difference / math.sqrt(float((difference**2).mean())))[votes.pair]
    lead, size = 2 * votes.for_a - 1, _sums(crossed.worker, x**2)
    queries = np.bincount(of_worker)
    has_several = (queries > 1) & (size > 0)
    if has_several.sum() < 2:
        return math.nan
    slope = np.divide(_sums(crossed.worker, x * lead), size, out=np.zeros_like(size), where=has_several)
    residual = _sums(crossed.cell, x * (lead - slope[crossed.worker] * x))
    error = (
        _sums(of_worker, residual**2)[has_several]
        / size[has_several] ** 2
        * queries[has_several]
        / (queries[has_several] - 1)
    )
    part = size[has_several] / size[has_several].sum()
    apart = (slope[has_several] - part @ slope[has_several]) ** 2
    return float(part @ apart / (1 - part @ part) - part @ error)
