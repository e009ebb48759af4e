"""Populations for which MSU ranks systems as another measure does.

Intervals are percentiles over resampled topics (`metrics.agreement.correlation.bootstrap_interval` does the same for one pair of
measures); the same topics are drawn for every point, so that points can be compared with each other. Users are as they are:
their error is `MSU-se`, made small by more of them.
"""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from metrics.agreement.correlation import kendall_tau_b, percentile_interval, tau_ap
from metrics.agreement.resampled import RankedRows, draws, resampled_sums, row_tau_b
from metrics.arrays import Floats
from metrics.errors import pluralise
from metrics.sweep.parts import SweepPoint
from metrics.sweep.result import MSUSweep
from metrics.sweep.tables import LIKE_COLUMNS, ReferenceMeasure, as_printed

if TYPE_CHECKING:
    import pandas as pd

MIN_TOPICS = 5
"""Smallest number of topics for an interval over topics."""


def points_like(
    sweep: MSUSweep, reference: ReferenceMeasure, *, resamples: int = 1000, seed: int = 1
) -> "pd.DataFrame":
    """Return every point of a sweep, those most like another measure first.

    Likeness is that of the rankings of the runs.

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
    other = None if counts is None else _ranked(np.asarray(reference.by_topic), counts)
    closest: Floats | None = None
    rows = []
    for index in order.tolist():
        point, overall, by_topic = points[index]
        drawn = None if counts is None or other is None else row_tau_b(_ranked(by_topic, counts), other)
        closest = drawn if closest is None else closest
        below = None if drawn is None or closest is None else closest - drawn
        rows.append(
            (
                *point,
                reference.name,
                overall.size,
                taus[index],
                *_interval(drawn),
                tau_ap(reference.overall, overall),
                taus[order[0]] - taus[index],
                *_interval(below),
            )
        )
    return pd.DataFrame(rows, columns=pd.Index(LIKE_COLUMNS))


def as_close(points: "pd.DataFrame") -> "pd.DataFrame":
    """Return the points that these topics cannot distinguish from the closest one.

    The closest point is included; without intervals the result is empty.
    """
    return points[points["below_low"] <= 0]


def told_apart(found: "pd.DataFrame") -> str:
    """Return a sentence on the points that are as close as the first one."""
    points = len(found)
    if found["tau-b"].isna().all():
        return "At no point tau-b is defined: one of both measures has no two runs that differ."
    if found["below_low"].isna().all():
        highest = int((found["below"] == 0).sum())
        return f"The highest tau-b is that of {highest:,} of {pluralise(points, 'point')}; which others are as good, only intervals would say."
    return f"These topics cannot tell {len(as_close(found)) - 1:,} of the {points - 1:,} other points from the first."


def _points(sweep: MSUSweep) -> Iterator[tuple[SweepPoint, Floats, Floats]]:
    """Yield each point with MSU of every run, over all topics and on each."""
    for index, part in enumerate(sweep.parts.parts()):
        for decay, point in enumerate(sweep.parts.grid.points(index)):
            yield point, as_printed(part.utility[:, decay]), part.gain[:, :-1, decay]


def _resamples(reference: ReferenceMeasure, resamples: int, seed: int) -> Floats | None:
    """Return topic counts, (resamples, topics), or None without intervals."""
    if reference.by_topic is None or reference.by_topic.shape[1] < MIN_TOPICS:
        return None
    return np.concatenate(list(draws(reference.by_topic.shape[1], resamples, np.random.default_rng(seed))))


def _ranked(by_topic: Floats, counts: Floats) -> RankedRows:
    return RankedRows.of(resampled_sums(by_topic, counts))


def _interval(values: Floats | None) -> tuple[float, float]:
    return (math.nan, math.nan) if values is None else percentile_interval(values)
