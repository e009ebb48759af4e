"""Agreement of a metric with preferences: how often the better score is on the side that people chose.

A pair (R, R') of a query has a metric difference M(R) - M(R') and a vote share y: the share of preferences for R,
an equal vote counting half to each (Kato et al., EVIA 2016, section 4.3). What a tie is worth, in the metric or in the
votes, is a convention that moves the number more than most metrics do, so there are three, and a fourth number
without any majority step. Intervals are in `metrics.agreement.query_mean`, tests in `metrics.agreement.comparison`, the highest
agreement to hope for in `metrics.agreement.ceiling`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from metrics.agreement.query_mean import QueryMean, mean_by_query
from metrics.arrays import Floats

Ties: TypeAlias = Literal["against", "half", "drop", "weighted"]
TIES: MappingProxyType[Ties, str] = MappingProxyType(
    {
        "against": "a tie in the metric or in the votes counts as disagreement (the paper's definition)",
        "half": "a tie counts as half an agreement",
        "drop": "pairs with a tie are left out",
        "weighted": "the mean share of votes for the metric's choice; no majority is taken",
    }
)

RELATIVE_TIE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far a metric agrees with the votes under one convention.

    Attributes
    ----------
    ties : str
        The convention, a key of `TIES`.
    mean : QueryMean
        The agreement, its standard error and its intervals, over queries.
    pairs : int
        All pairs, tied ones too.
    metric_ties : int
        Pairs whose scores are equal.
    vote_ties : int
        Pairs whose vote share is exactly one half.
    tied_pairs : int
        Pairs that are tied in either.
    """

    ties: Ties
    mean: QueryMean
    pairs: int
    metric_ties: int
    vote_ties: int
    tied_pairs: int

    @property
    def value(self) -> float:
        """The agreement in [0, 1]; NaN when no pair counts."""
        return self.mean.value


def agreement(
    difference: ArrayLike, share: ArrayLike, query: ArrayLike, *, ties: Ties = "against"
) -> Agreement:
    """Return the share of pairs in which metric and votes prefer the same system.

    agreement = share of pairs with (M(R) - M(R')) (y - 0.5) > 0      (Kato et al., EVIA 2016, section 4.3)

    Parameters
    ----------
    difference : (pairs,) array_like of float
        M(R) - M(R'), exactly 0 for a tie; see `score_difference`.
    share : (pairs,) array_like of float in [0, 1]
        y, the share of preferences for R.
    query : (pairs,) array_like of str
        The query each pair belongs to.
    ties : {'against', 'half', 'drop', 'weighted'}
        What a tie is worth; `TIES` says it in words.

    Raises
    ------
    ValueError
        If lengths differ, a share leaves [0, 1], a difference is NaN, or the convention is unknown.
    """
    difference, share = _validated(difference, share)
    return Agreement(
        ties=ties,
        mean=mean_by_query(pair_credit(difference, share, ties=ties), query),
        pairs=difference.size,
        metric_ties=int((difference == 0).sum()),
        vote_ties=int((share == 0.5).sum()),
        tied_pairs=int(((difference == 0) | (share == 0.5)).sum()),
    )


def agreements(difference: ArrayLike, share: ArrayLike, query: ArrayLike) -> Mapping[Ties, Agreement]:
    """Return the agreement under every convention, in the order of `TIES`.

    Parameters
    ----------
    difference : (pairs,) array_like of float
        M(R) - M(R'), exactly 0 for a tie.
    share : (pairs,) array_like of float in [0, 1]
        The share of preferences for R.
    query : (pairs,) array_like of str
        The query each pair belongs to.

    Returns
    -------
    mapping of str to Agreement
        Convention -> ``value``, ``mean`` over queries with its interval, and how many pairs were tied.

    Raises
    ------
    ValueError
        If lengths differ, a share leaves [0, 1], or a difference is NaN.

    Examples
    --------
    Three pairs of two queries; one is tied in the votes.

    >>> found = agreements([0.3, -0.2, 0.4], [5 / 6, 2 / 6, 3 / 6], ["q1", "q1", "q2"])
    >>> {ties: round(agreement.value, 3) for ties, agreement in found.items()}
    {'against': 0.667, 'half': 0.833, 'drop': 1.0, 'weighted': 0.667}
    """
    return MappingProxyType({ties: agreement(difference, share, query, ties=ties) for ties in TIES})


def pair_credit(difference: ArrayLike, share: ArrayLike, *, ties: Ties) -> Floats:
    """Return what each pair adds to the agreement.

    Returns
    -------
    (pairs,) ndarray of float
        1 where both prefer the same system, 0 where they prefer different ones. A tie: 0 under ``against``, 0.5
        under ``half``, NaN (not counted) under ``drop``. Under ``weighted`` the share of votes for the system that
        the metric prefers, 0.5 where it prefers none.

    Raises
    ------
    ValueError
        As in `agreement`.
    """
    difference, share = _validated(difference, share)
    choice = np.sign(difference)
    if ties == "weighted":
        return np.asarray(0.5 + choice * (share - 0.5), dtype=np.float64)
    worth = {"against": 0.0, "half": 0.5, "drop": np.nan}
    if ties not in worth:
        raise ValueError(f"ties must be one of {', '.join(TIES)}, got {ties!r}")
    together = choice * np.sign(share - 0.5)
    return np.where(together == 0, worth[ties], together > 0)


def score_difference(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return ``first - second``, exactly 0 where both are equal but for rounding (1 part in 10^12)."""
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    difference = first - second
    equal = np.abs(difference) <= RELATIVE_TIE * np.maximum(np.abs(first), np.abs(second))
    return np.where(equal, 0.0, difference)


def _validated(difference: ArrayLike, share: ArrayLike) -> tuple[Floats, Floats]:
    """Return both as vectors of one length, without NaN and with shares in [0, 1]."""
    difference, share = np.asarray(difference, dtype=np.float64), np.asarray(share, dtype=np.float64)
    if difference.ndim != 1 or difference.shape != share.shape:
        raise ValueError(
            f"difference and share must be vectors of one length, got {difference.shape}, {share.shape}"
        )
    if np.isnan(difference).any():
        raise ValueError("a difference is NaN: every pair needs a score on both sides")
    if not ((share >= 0) & (share <= 1)).all():
        raise ValueError("shares must lie in [0, 1]")
    return difference, share
