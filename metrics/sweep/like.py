"""For whom MSU ranks as another measure does: the points of a sweep under which it does, with intervals.

Intervals are percentiles over resampled topics (`metrics.agreement.correlation.bootstrap_interval` does the same for one pair of
measures); the same topics are drawn for every point, so that points can be compared with each other. Users are as they are:
their error is `MSU-se`, made small by more of them.
"""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metrics.agreement.correlation import kendall_tau_b, tau_ap
from metrics.arrays import Floats
from metrics.errors import counted
from metrics.sweep.parts import SweepPoint
from metrics.sweep.result import MSUSweep
from metrics.sweep.tables import LIKE_COLUMNS, ReferenceMeasure, as_printed

if TYPE_CHECKING:
    import pandas as pd

Signs: TypeAlias = NDArray[np.int8]
TAILS = (0.025, 0.975)
FEWEST_TOPICS = 5
"""Topics from which an interval over topics is worth showing."""
NOISE = 1e-13
"""Of the largest sum: sums that differ by no more are equal."""


def points_like(
    sweep: MSUSweep, reference: ReferenceMeasure, *, resamples: int = 1000, seed: int = 1
) -> "pd.DataFrame":
    """Return every point of a sweep, the one where MSU ranks the runs most like another measure first.

    Parameters
    ----------
    sweep : MSUSweep
        The points.
    reference : ReferenceMeasure
        The other measure of the sweep's runs on its topics.
    resamples : int
        How often as many topics are drawn with replacement.
    seed : int
        Of these draws.

    Returns
    -------
    DataFrame
        The point; tau-b of both rankings with low and high (95 %); tau-AP, the other measure being the reference; ``below``, by
        how much its tau-b is below that of the closest point, with an interval of its own: where that reaches 0, these
        topics cannot tell the two points apart. Intervals are NaN without scores by topic, or with fewer than five topics.
    """
    import pandas as pd  # noqa: PLC0415 - slow to load

    points = [(point, part[0], part[1]) for point, *part in _points(sweep)]
    taus = np.array([kendall_tau_b(reference.overall, overall) for _, overall, _ in points])
    order = np.argsort(-taus, kind="stable")  # undefined ones stand last
    counts = _resamples(reference, resamples, seed)
    other = None if counts is None else _signs(np.asarray(reference.by_topic), counts)
    closest: Floats | None = None
    rows = []
    for place in order.tolist():
        point, overall, by_topic = points[place]
        drawn = None if counts is None or other is None else _taus(_signs(by_topic, counts), other)
        closest = drawn if closest is None else closest
        below = None if drawn is None or closest is None else closest - drawn
        rows.append(
            (
                *point,
                reference.name,
                overall.size,
                taus[place],
                *_interval(drawn),
                tau_ap(reference.overall, overall),
                taus[order[0]] - taus[place],
                *_interval(below),
            )
        )
    return pd.DataFrame(rows, columns=pd.Index(LIKE_COLUMNS))


def as_close(found: "pd.DataFrame") -> "pd.DataFrame":
    """Return the points that these topics cannot tell from the closest one, itself included; none without intervals."""
    return found[found["below_low"] <= 0]


def told_apart(found: "pd.DataFrame") -> str:
    """Say how many points are as good an answer as the first one."""
    points = len(found)
    if found["tau-b"].isna().all():
        return "At no point tau-b is defined: one of both measures has no two runs that differ."
    if found["below_low"].isna().all():
        highest = int((found["below"] == 0).sum())
        return f"The highest tau-b is that of {highest:,} of {counted(points, 'point')}; which others are as good, only intervals would say."
    return f"These topics cannot tell {len(as_close(found)) - 1:,} of the {points - 1:,} other points from the first."


def _points(sweep: MSUSweep) -> Iterator[tuple[SweepPoint, Floats, Floats]]:
    """Yield each point with MSU of every run, over all topics and on each."""
    for place, part in enumerate(sweep.parts.parts()):
        for decay, point in enumerate(sweep.parts.grid.points(place)):
            yield point, as_printed(part.utility[:, decay]), part.gain[:, :-1, decay]


def _resamples(reference: ReferenceMeasure, resamples: int, seed: int) -> Floats | None:
    """Return how often each topic is drawn, (resamples, topics); None where no interval is possible."""
    if reference.by_topic is None or reference.by_topic.shape[1] < FEWEST_TOPICS:
        return None
    topics = reference.by_topic.shape[1]
    rng = np.random.default_rng(seed)
    return rng.multinomial(topics, np.full(topics, 1 / topics), size=resamples).astype(np.float64)


def _taus(own: Signs, other: Signs) -> Floats:
    """Return tau-b of two measures in each resample; NaN where one of them ranks nothing."""
    untied = np.abs(own).sum(axis=0, dtype=np.float64) * np.abs(other).sum(axis=0, dtype=np.float64)
    agreeing = (own * other).sum(axis=0, dtype=np.float64)
    taus = np.full(untied.shape, math.nan)
    np.divide(agreeing, np.sqrt(untied), out=taus, where=untied > 0)
    return taus


def _signs(by_topic: Floats, counts: Floats) -> Signs:
    """Return for every pair of runs which scores more in each resample, (pairs, resamples)."""
    sums = np.zeros((len(by_topic), len(counts)))
    for topic in range(by_topic.shape[1]):
        sums += by_topic[:, topic, None] * counts[None, :, topic]
    first, second = np.triu_indices(len(sums), 1)
    more = sums[first] - sums[second]
    more[np.abs(more) <= NOISE * np.abs(sums).max(axis=0)] = 0.0
    return np.sign(more).astype(np.int8)


def _interval(values: Floats | None) -> tuple[float, float]:
    known = np.zeros(0) if values is None else values[~np.isnan(values)]
    if not known.size:
        return math.nan, math.nan
    low, high = np.quantile(known, TAILS)
    return float(low), float(high)
