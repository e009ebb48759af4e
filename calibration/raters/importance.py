"""Agreement of assessors on the importance of iUnits: kappa and alpha.

They are quadratic weighted kappa and Krippendorff's alpha. Kappa is of two assessors, 1 - mean_i (x_i - y_i)^2 / mean_ij (x_i - y_j)^2
(Cohen 1968); of more it is the mean over pairs of assessors, each with the iUnits that both rated, weighted by their number. Alpha takes
assessors as a crowd without names. The unit of the intervals is the topic: kappa's usual asymptotic interval takes the ratings of a topic
as independent and is far too narrow.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from calibration.inference.clusters import cluster_uncertainty
from calibration.inference.results import NotIdentifiedError, info, warning
from calibration.inference.uncertainty import Replicates, StudentT
from calibration.raters.agreement import RESAMPLES, Metric, Ratings, coefficient_uncertainty
from calibration.raters.measure import RaterMeasure
from calibration.user_model.model import Diagnostic
from metrics.arrays import Floats, Indices

KAPPA, ALPHA = "importance_weighted_kappa", "importance_alpha"
ITEM = ["topic", "intent", "iunit"]
MAX_CATEGORIES = 50
_CELLS_AT_ONCE = 4_000_000


def fit_importance(
    ratings: pd.DataFrame, *, rng: np.random.Generator, resamples: int = RESAMPLES
) -> RaterMeasure:
    """Estimate the weighted kappa of assessors on importance.

    `calibration.fit.collection_files.mean_importance` gives the importance itself.

    Parameters
    ----------
    ratings : DataFrame
        Table importance.
    rng : Generator
        Source of the bootstrap over topics.
    resamples : int
        Bootstrap samples.

    Returns
    -------
    RaterMeasure
        With ``importance_weighted_kappa`` and ``importance_alpha`` (interval metric). Its details: iunits (rated, for
        an intent), iunits_rated_twice, assessor_pairs, and the mean and standard deviation of the mean ratings.

    Raises
    ------
    NotIdentifiedError
        If no iUnit has two assessors, or all ratings of such iUnits are the same.
    """
    data = _crossed(ratings)
    estimates = data.coefficients(np.ones((1, data.topics)))[0]
    if np.isnan(estimates).any():
        raise NotIdentifiedError("the iUnits with two assessors do not vary in their ratings")
    means = ratings.groupby(ITEM)["rating"].agg(["mean", "size"])
    return RaterMeasure(
        parameters=MappingProxyType(dict(zip((KAPPA, ALPHA), estimates.tolist(), strict=True))),
        unit="agreement beyond chance",
        method="mean of assessors, pairs of assessors",
        uncertainty=cluster_uncertainty(data.coefficients, data.topics, rng=rng, resamples=resamples),
        n_workers=ratings["worker"].nunique(),
        n_rows=len(ratings),
        sampled="topic",
        clusters=data.topics,
        details=MappingProxyType(
            {
                "iunits": float(len(means)),
                "iunits_rated_twice": float((means["size"] > 1).sum()),
                "assessor_pairs": float(data.pairs),
                "mean_importance": float(means["mean"].mean()),
                "sd_importance": float(means["mean"].std(ddof=0)),
            }
        ),
        diagnostics=tuple(_diagnostics(means["size"], data)),
    )


def fit_importance_alpha(
    ratings: pd.DataFrame, *, metric: Metric, rng: np.random.Generator, resamples: int = RESAMPLES
) -> RaterMeasure:
    """Estimate Krippendorff's alpha of assessors on importance.

    Ratings are read as names, as an order or as numbers.

    Parameters
    ----------
    ratings : DataFrame
        Table importance.
    metric : {'nominal', 'ordinal', 'interval'}
        How far two ratings are apart.
    rng : Generator
        Source of the bootstrap over topics.
    resamples : int
        Bootstrap samples.

    Returns
    -------
    RaterMeasure
        With ``importance_alpha_nominal``, ``..._ordinal`` or ``..._interval``.

    Raises
    ------
    NotIdentifiedError
        If no iUnit has two assessors, all ratings of such iUnits are the same, or there are more than 50 different
        ratings: too many for categories.
    """
    several = _rated_twice(ratings)
    category, values = pd.factorize(several["rating"], sort=True)
    if len(values) > MAX_CATEGORIES:
        raise NotIdentifiedError(f"there are {len(values)} different ratings: too many for categories")
    item = several.groupby(ITEM).ngroup().to_numpy(np.intp)
    cluster = np.zeros(int(item.max()) + 1, dtype=np.intp)
    cluster[item] = pd.factorize(several["topic"])[0]
    data = Ratings(
        item=item,
        worker=pd.factorize(several["worker"])[0],
        category=category,
        cluster=cluster,
        values=np.asarray(values, dtype=np.float64),
        metric=metric,
    )
    alpha = float(data.coefficients(np.ones((1, data.clusters)))[0, 1])
    if np.isnan(alpha):
        raise NotIdentifiedError("the iUnits with two assessors do not vary in their ratings")
    both = coefficient_uncertainty(data, rng=rng, resamples=resamples)
    return RaterMeasure(
        parameters=MappingProxyType({f"{ALPHA}_{metric}": alpha}),
        unit="agreement beyond chance",
        method=f"Krippendorff's alpha, {metric}",
        uncertainty=MappingProxyType({how: _second(one) for how, one in both.items()}),
        n_workers=several["worker"].nunique(),
        n_rows=len(several),
        sampled="topic",
        clusters=data.clusters,
    )


def _second(both: StudentT | Replicates) -> StudentT | Replicates:
    """Return the uncertainty of alpha from that of kappa and alpha."""
    if isinstance(both, StudentT):
        return replace(both, centre=both.centre[1:], cov=both.cov[1:, 1:])
    return replace(both, values=both.values[:, 1:])  # noqa: PD011 - no DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class _Crossed:
    """Sums over iUnits by topic, of each pair of assessors and of all.

    A pair's sums cover the iUnits that both rated.

    Attributes
    ----------
    pair, topic : (rows,) ndarray of int
        Pair of assessors (ascending) and topic of each row.
    sums : (rows, 6) ndarray of float
        n, sum x, sum y, sum x^2, sum y^2, sum x y.
    of_topic : (topics, 4) ndarray of float
        Over iUnits with two ratings or more: number of ratings, their sum, sum of squares, and
        sum_i 2 (n_i sum x^2 - (sum x)^2) / (n_i - 1).
    """

    pair: Indices
    topic: Indices
    sums: Floats
    of_topic: Floats

    @property
    def topics(self) -> int:
        return len(self.of_topic)

    @property
    def pairs(self) -> int:
        return int(self.pair.max()) + 1

    def coefficients(self, weights: Floats) -> Floats:
        """Return kappa and alpha of weighted topics: (b, topics) -> (b, 2).

        kappa is the mean weighted kappa of pairs of assessors.
        """
        step = max(1, _CELLS_AT_ONCE // self.sums.size)
        kappas = [self._mean_kappa(weights[at : at + step]) for at in range(0, len(weights), step)]
        n, total, squares, within = (weights @ self.of_topic).T
        spread = 2 * (n * squares - total**2)
        with np.errstate(invalid="ignore", divide="ignore"):
            alpha = 1 - (n - 1) * within / np.where(spread > 1e-9, spread, np.nan)
        return np.stack([np.concatenate(kappas), alpha], axis=1)

    def by_pair(self, rows: Floats) -> Floats:
        """Add up rows by pair of assessors: (..., rows, 6) -> (..., pairs, 6)."""
        return np.asarray(np.add.reduceat(rows, np.flatnonzero(np.diff(self.pair, prepend=-1)), axis=-2))

    def _mean_kappa(self, weights: Floats) -> Floats:
        sums = self.by_pair(weights[:, self.topic, None] * self.sums)
        kappa = _kappas(sums)
        n = np.where(np.isnan(kappa), 0.0, sums[..., 0])
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((n * np.nan_to_num(kappa)).sum(axis=1) / n.sum(axis=1))


def _crossed(ratings: pd.DataFrame) -> _Crossed:
    several = _rated_twice(ratings)
    topic, topics = pd.factorize(several["topic"])
    item = several.groupby(ITEM).ngroup()
    coded = pd.DataFrame({"item": item, "topic": topic, "worker": several["worker"], "x": several["rating"]})
    both = coded.merge(coded.drop(columns="topic"), on="item")
    both = both[both["worker_x"] < both["worker_y"]]
    both = both.assign(pair=both.groupby(["worker_x", "worker_y"]).ngroup())
    x, y = both["x_x"].to_numpy(np.float64), both["x_y"].to_numpy(np.float64)
    names = ["n", "x", "y", "xx", "yy", "xy"]
    terms = np.stack([np.ones_like(x), x, y, x**2, y**2, x * y], axis=1)
    rows = pd.DataFrame(terms, columns=names, index=both.index)
    sums = rows.groupby([both["pair"], both["topic"]]).sum()
    return _Crossed(
        pair=sums.index.get_level_values(0).to_numpy(np.intp),
        topic=sums.index.get_level_values(1).to_numpy(np.intp),
        sums=sums.to_numpy(np.float64),
        of_topic=_topic_sums(coded, len(topics)),
    )


def _rated_twice(ratings: pd.DataFrame) -> pd.DataFrame:
    several = ratings[ratings.groupby(ITEM)["worker"].transform("size") > 1]
    if several.empty:
        raise NotIdentifiedError("no iUnit has two assessors")
    return several


def _topic_sums(coded: pd.DataFrame, topics: int) -> Floats:
    x = coded["x"]
    items = (
        coded.assign(square=x**2)
        .groupby(["topic", "item"])
        .agg(n=("x", "size"), total=("x", "sum"), squares=("square", "sum"))
    )
    within = 2 * (items["n"] * items["squares"] - items["total"] ** 2) / (items["n"] - 1)
    summed: Any = items.assign(within=within).groupby(level="topic").sum()
    return np.asarray(summed.reindex(range(topics)), dtype=np.float64)


def _kappas(sums: Floats) -> Floats:
    """Return kappas from sums, (..., 6) -> (...), NaN where nothing varies."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        seen = (xx + yy - 2 * xy) / n
        expected = (xx + yy) / n - 2 * x * y / n**2
        return np.asarray(1 - seen / np.where(expected > 1e-9, expected, np.nan))


def _diagnostics(sizes: "pd.Series[int]", data: _Crossed) -> Iterator[Diagnostic]:
    once = int((sizes == 1).sum())
    if once:
        yield info(
            "rated_once",
            f"{once} of {len(sizes)} iUnits have a single rating: they say nothing about agreement.",
        )
    flat = int(np.isnan(_kappas(data.by_pair(data.sums))).sum())
    if flat:
        yield info(
            "constant_assessors",
            f"{flat} of {data.pairs} pairs of assessors never varied: they have no kappa.",
        )
    if data.topics < 2:
        yield warning("one_topic", "With a single topic nothing is known about others: there is no interval.")
