"""Patience L by the paper's grid search for the highest agreement.

The estimate is the L on a grid at which M agrees with most pairs (Kato et al. 2016, 4.3). Agreement is a step function of L: many values of
L tie for the highest, and it moves by chance much more than the likelihood does. So the whole set of best L is kept, and its middle on the
log scale is the estimate. It is shown beside `calibration.models.patience.preferences`, not instead of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from calibration.inference.clusters import cluster_counts
from calibration.inference.formatting import BAND, label_axes, shown_level
from calibration.inference.results import (
    LEVEL,
    CalibrationResult,
    NotIdentifiedError,
    info,
    on_single,
    warning,
)
from calibration.inference.uncertainty import Interval, Replicates
from calibration.models.patience.pairs import JudgedSummaries
from calibration.user_model.model import Diagnostic
from metrics.agreement.agreement import QueryMean, pair_credit, score_difference, simultaneous_band
from metrics.arrays import Floats
from metrics.summaries.score import PAPER_PATIENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "patience_chars_grid"
OCTAVES = 4
POINTS_PER_OCTAVE = 16
RESAMPLES = 2000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GridFit(CalibrationResult):
    """Patience of highest agreement, with the agreement at each point of the grid.

    Attributes
    ----------
    topics : tuple of str
        q topics.
    pairs : (q,) ndarray of float
        Judged pairs of each topic.
    grid : (k,) ndarray of float
        Patiences.
    credit : (q, k) ndarray of float
        Pairs of each topic whose majority M shares.
    """

    topics: tuple[str, ...]
    pairs: Floats
    grid: Floats
    credit: Floats

    def conf_int(self, level: float = LEVEL, method: str | None = None) -> dict[str, Interval]:
        """Return an interval that holds every equally best patience.

        The estimate is one of these.

        It is open at an end of the grid that is among the best. Parameters and errors are those of
        `CalibrationResult.conf_int`.
        """
        intervals = CalibrationResult.conf_int(self, level, method)
        total = self.credit.sum(axis=0)
        best = np.flatnonzero(total == total.max())
        return {
            name: self._with_best(interval, int(best[0]), int(best[-1]))
            for name, interval in intervals.items()
        }

    def _with_best(self, interval: Interval, first: int, last: int) -> Interval:
        """Return an interval widened to the grid points ``first`` and ``last``.

        It is open where these points end the grid.
        """
        low, high = interval
        ends_high = last == len(self.grid) - 1
        return (
            None if low is None or first == 0 else min(low, float(self.grid[first])),
            None if high is None or ends_high else max(high, float(self.grid[last])),
        )

    def agreement_curve(
        self, rng: np.random.Generator, *, level: float = LEVEL
    ) -> tuple[Floats, Floats, Floats]:
        """Return the agreement at each patience of the grid, with a simultaneous band.

        The band covers the whole curve.

        Returns
        -------
        agreement, low, high : (k,) ndarray of float
            The ends are NaN where agreement does not vary between topics, or there is one topic.
        """
        means = [QueryMean(queries=self.topics, sums=of, counts=self.pairs) for of in self.credit.T]
        low, high = simultaneous_band(means, level, rng=rng)
        return np.array([mean.value for mean in means]), low, high

    def plot_agreement(self, ax: "Axes", *, level: float = LEVEL) -> None:
        """Plot the agreement over patience with its band; the best patience is marked."""
        agreement, low, high = self.agreement_curve(np.random.default_rng(1), level=level)
        ax.fill_between(self.grid, low, high, color=BAND, label=f"{shown_level(level)} band")
        ax.step(self.grid, agreement, where="mid", color="#0072b2", label="agreement")
        ax.axvline(self.estimates[0], color="0.25", linestyle="--", linewidth=0.8, label="middle of the best")
        ax.set(
            xscale="log", xlabel="patience L (counted characters)", ylabel="share of pairs that M agrees with"
        )
        label_axes(
            ax,
            "Patience on a grid: how often M agrees with people",
            "where the curve is flat, any patience fits as well",
        )


def fit_patience_on_grid(
    pairs: JudgedSummaries,
    *,
    n_workers: int,
    rng: np.random.Generator,
    language: str | None = None,
    resamples: int = RESAMPLES,
) -> GridFit:
    """Find the patience of highest agreement, from 1/16 to 16 times the paper's L.

    Parameters
    ----------
    pairs : JudgedSummaries
        Judged pairs with the positions of their summaries.
    n_workers : int
        How many people gave the votes.
    rng : Generator
        Source of the bootstrap over topics.
    language : str, optional
        Of the texts, for the paper's L.
    resamples : int
        Bootstrap samples.

    Returns
    -------
    GridFit
        With parameter ``patience_chars_grid``. Its details: agreement (the highest), best_from and best_to (the ends
        of the set of best L) and best_points (how many grid points are in it).

    Raises
    ------
    NotIdentifiedError
        If M agrees with no pair's majority at any L.
    """
    grid = patience_grid(language)
    credit = credit_by_topic(pairs, grid)
    total = credit.sum(axis=0)
    if not total.any():
        raise NotIdentifiedError("M agrees with no pair's majority at any patience")
    best = np.flatnonzero(total == total.max())
    agreement = float(total.max() / len(pairs.topic))
    return GridFit(
        parameters=MappingProxyType({NAME: float(_middle(total, grid))}),
        unit="counted characters",
        method="highest agreement",
        uncertainty=_uncertainty(credit, grid, resamples, rng),
        n_workers=n_workers,
        n_rows=int(pairs.votes.total.sum()),
        details=MappingProxyType(
            {
                "agreement": agreement,
                "best_from": float(grid[best[0]]),
                "best_to": float(grid[best[-1]]),
                "best_points": float(len(best)),
            }
        ),
        diagnostics=tuple(_diagnostics(pairs, grid, best, agreement)),
        topics=pairs.topics,
        pairs=np.bincount(pairs.topic, minlength=len(pairs.topics)).astype(np.float64),
        grid=grid,
        credit=credit,
    )


def patience_grid(language: str | None) -> Floats:
    """Return the grid: 1/16 to 16 times the paper's L, 16 points to every doubling."""
    exponents = np.linspace(-OCTAVES, OCTAVES, 2 * OCTAVES * POINTS_PER_OCTAVE + 1)
    return np.asarray(PAPER_PATIENCE.get(language or "en", PAPER_PATIENCE["en"]) * 2.0**exponents)


def credit_by_topic(pairs: JudgedSummaries, patience: Floats) -> Floats:
    """Return the number of pairs of each topic whose majority M_L shares.

    Ties count against, as in the paper.

    Parameters
    ----------
    pairs : JudgedSummaries
        p pairs of q topics.
    patience : (k,) ndarray of float
        Values of L; may be infinite.

    Returns
    -------
    (q, k) ndarray of float
    """
    m = pairs.summaries.m(1 / patience)
    share = (pairs.votes.first + pairs.votes.ties / 2) / pairs.votes.total
    credit = [
        pair_credit(score_difference(row[pairs.first], row[pairs.second]), share, ties="against") for row in m
    ]
    return np.array([np.bincount(pairs.topic, row, len(pairs.topics)) for row in credit], dtype=np.float64).T


def without_each_topic(pairs: JudgedSummaries, *, language: str | None = None) -> dict[str, float]:
    """Return the patience of highest agreement without each topic, by topic.

    Each topic is then judged by the others.

    Raises
    ------
    NotIdentifiedError
        If there are fewer than two topics.
    """
    if len(pairs.topics) < 2:
        raise NotIdentifiedError("there is a single topic: nothing is left to fit to without it")
    grid = patience_grid(language)
    credit = credit_by_topic(pairs, grid)
    return {
        topic: float(_middle(credit.sum(axis=0) - credit[index], grid))
        for index, topic in enumerate(pairs.topics)
    }


def _middle(credit: Floats, grid: Floats) -> Floats:
    """Return the middle grid point of highest credit, (..., k) -> (...).

    It is the middle on the log scale.
    """
    best = credit >= credit.max(axis=-1, keepdims=True)
    first = best.argmax(axis=-1)
    last = len(grid) - 1 - best[..., ::-1].argmax(axis=-1)
    return np.asarray(np.sqrt(grid[first] * grid[last]), dtype=np.float64)


def _uncertainty(
    credit: Floats, grid: Floats, resamples: int, rng: np.random.Generator
) -> MappingProxyType[str, Replicates]:
    """Return the bootstrap over topics, or None for a single one."""
    if len(credit) < 2:
        return MappingProxyType({})
    counts = cluster_counts(len(credit), resamples, rng)
    middles = _middle(counts @ credit, grid)[:, None]
    return MappingProxyType({"topic_bootstrap": Replicates(values=middles, clusters=len(credit))})


def _diagnostics(
    pairs: JudgedSummaries, grid: Floats, best: "np.ndarray[tuple[int], np.dtype[np.intp]]", agreement: float
) -> Iterator[Diagnostic]:
    yield info(
        "best_set",
        f"Agreement is highest ({agreement:.3f}) at {len(best)} of {len(grid)} patiences from {grid[best[0]]:.0f} to "
        f"{grid[best[-1]]:.0f}. It rises and falls in steps, so an interval for the best may be too narrow.",
    )
    if best[-1] == len(grid) - 1:
        yield warning("end_of_grid", "The longest patience tried is among the best: it may be longer still.")
    if best[0] == 0:
        yield warning(
            "start_of_grid", "The shortest patience tried is among the best: it may be shorter still."
        )
    yield from on_single("topic", len(pairs.topics))
