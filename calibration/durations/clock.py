"""Whether people come back more on some days, or at some hours, than on others.

Given how often a worker came, the moments are spread evenly over the time in which they could have come, whatever the
worker's mean. How far they are not is a score for each worker; what workers have in common does not average out. Workers may
come in bursts or by habit: the variance that the model gives to the scores is corrected by what they show (Rao and Scott 1981).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from calibration.durations.likelihood import Exposure, total
from metrics.arrays import Floats

LEAST_DAYS = 3
MOST_DAYS = 400
_LEAST_EVENTS = 5.0
"""Events a day on average below which days cannot be compared."""


class Days(NamedTuple):
    """Calendar days compared.

    Attributes
    ----------
    p_value : float
        Of days that differ otherwise than along a straight line.
    trend_p_value : float
        Of the line, against how much the days differ from it.
    low, high : float
        Events of the quietest and of the busiest tenth of the days, over what is expected.
    log_error : float
        Standard error that the draw of the days adds to the logarithm of every mean.
    n_days : int
        How many days.
    """

    p_value: float
    trend_p_value: float
    low: float
    high: float
    log_error: float
    n_days: int


def compare_days(exposure: Exposure) -> Days | None:
    """Compare the calendar days of a study; None where they are too few, or their start is not known."""
    if exposure.follow_begun is None or exposure.design == "count":
        return None
    begun = exposure.follow_begun[exposure.follow] / exposure.day_seconds
    start, stop = (begun + at / exposure.day_seconds for at in (exposure.start, exposure.stop))
    first, last = int(start.min()), math.ceil(stop.max())
    count = last - first
    if not LEAST_DAYS < count <= MOST_DAYS or exposure.event.sum() < _LEAST_EVENTS * count:
        return None
    edges = np.arange(first, last)
    watched, came = np.zeros((exposure.units, count)), np.zeros((exposure.units, count))
    for place, edge in enumerate(edges):
        inside = np.clip(np.minimum(stop, edge + 1) - np.maximum(start, edge), 0, None)
        watched[:, place] = total(exposure.unit, inside, exposure.units)
    day = np.clip(np.floor(stop[exposure.event]).astype(int) - first, 0, count - 1)
    np.add.at(came, (exposure.unit[exposure.event], day), 1)
    kept = watched.sum(axis=0) > 0
    return _days(watched[:, kept], came[:, kept])


def _days(watched: Floats, came: Floats) -> Days | None:
    n = came.sum(axis=1)
    share = watched / watched.sum(axis=1, keepdims=True)
    expected = n[:, None] * share
    each = came - expected
    model = np.diag(expected.sum(axis=0)) - (expected.T @ share)
    count = len(model)
    if count <= LEAST_DAYS:
        return None
    inverse = np.linalg.pinv(model, hermitian=True)
    score = each.sum(axis=0)
    centred = each - score / len(each)
    spread = float(np.einsum("ud,de,ue->", centred, inverse, centred)) / (count - 1)
    spread = max(spread, 0.1)
    line = np.arange(count, dtype=np.float64)
    along = float((line @ score) ** 2 / (line @ model @ line))
    rest = max(float(score @ inverse @ score) - along, 0.0)
    busy = came.sum(axis=0) / np.maximum(expected.sum(axis=0), 1e-9)
    low, high = np.quantile(busy, (0.1, 0.9))
    events = float(n.sum())
    by_day = count / (count - 1) * float((score**2).sum()) / events**2
    return Days(
        p_value=float(fdtrc(count - 2, len(each) - 1, rest / (count - 2) / spread)),
        trend_p_value=float(fdtrc(1, count - 2, along / max(rest / (count - 2), 1e-12))),
        low=float(low),
        high=float(high),
        log_error=math.sqrt(max(by_day - spread / events, 0.0)),
        n_days=count,
    )


def compare_hours(exposure: Exposure) -> tuple[float, float] | None:
    """Test whether people come more at some hours of the day, by a wave of a day.

    Returns
    -------
    (float, float) or None
        p, and how many times as often they come at the busiest hour as on average. None where nobody was watched for three days.
    """
    if exposure.follow_begun is None or exposure.design == "count":
        return None
    if exposure.follow_seconds.max() < LEAST_DAYS * exposure.day_seconds:
        return None
    begun = exposure.follow_begun[exposure.follow]
    turn = 2 * math.pi / exposure.day_seconds
    start, stop = (turn * (begun + at) for at in (exposure.start, exposure.stop))
    waves = np.stack([_came(exposure, wave(stop)) for wave in (np.cos, np.sin)])
    n, t = _came(exposure, np.ones(len(stop))), turn * total(exposure.unit, exposure.seconds, exposure.units)
    mean = np.stack(
        [_over(exposure, np.sin(stop) - np.sin(start)), _over(exposure, np.cos(start) - np.cos(stop))]
    )
    mean /= np.maximum(t, 1e-12)
    double = _over(exposure, (np.sin(2 * stop) - np.sin(2 * start)) / 2) / np.maximum(t, 1e-12)
    mixed = _over(exposure, (np.cos(2 * start) - np.cos(2 * stop)) / 2) / np.maximum(t, 1e-12)
    second = np.array([[(1 + double) / 2, mixed / 2], [mixed / 2, (1 - double) / 2]])
    model = np.einsum("u,abu->ab", n, second - mean[:, None] * mean[None])
    each = (waves - n * mean).T
    score = each.sum(axis=0)
    inverse = np.linalg.pinv(model, hermitian=True)
    centred = each - score / len(each)
    spread = max(float(np.einsum("ua,ab,ub->", centred, inverse, centred)) / 2, 0.1)
    height = 1 + float(np.hypot(*(inverse @ score)))
    return float(fdtrc(2, len(each) - 1, float(score @ inverse @ score) / 2 / spread)), height


def _came(exposure: Exposure, values: Floats) -> Floats:
    return total(exposure.unit[exposure.event], values[exposure.event], exposure.units)


def _over(exposure: Exposure, values: Floats) -> Floats:
    return total(exposure.unit, values, exposure.units)
