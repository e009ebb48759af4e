"""Choice of the silence that ends a visit, and the fits' sensitivity to it.

The choice uses the log itself. With heartbeats the threshold is chosen by what counts as leaving (a few minutes); it hardly matters for
away times. Without them the silences within visits and those between visits are told apart by a mixture of two normals on their logarithms
(as Halfaker et al., WWW 2015, do for the web). Thresholds are of an application, not of mankind.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from calibration.inference.formatting import shown_roughly
from calibration.inference.results import NotIdentifiedError, info, warning
from calibration.user_model.model import PARAMETERS, Diagnostic, plain_name
from calibration.user_model.units import LABELS
from calibration.visits.cut import gaps_milliseconds, signs_of_life, visits_from_signs
from metrics.arrays import Floats

IDLE_SECONDS = 300.0
"""Default threshold where the log offers none."""

FACTORS = (0.5, 1.0, 2.0)
MIN_SEPARATION = 2.0
"""Smallest distance of two means of log silences with a valley between.

It is relative to their root mean square standard deviation.
"""
MIN_SILENCES = 50
MAX_CHANGE = 0.1
_CELLS = 2000
_ROUNDS = 2000
_TOLERANCE = 1e-10
_MIN_SD = 0.05

Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleThreshold:
    """Threshold and its source.

    Attributes
    ----------
    seconds : float
        Silences longer than this separate visits.
    source : {'mixture', 'fallback'}
        Whether the log told it.
    sentence : str
        For people.
    """

    seconds: float
    source: str
    sentence: str


def idle_threshold(
    activity: pd.DataFrame,
    *,
    follows: pd.DataFrame | None = None,
    fallback_seconds: float = IDLE_SECONDS,
) -> IdleThreshold:
    """Choose the silence that ends a visit.

    log silence ~ p N(m_1, s_1^2) + (1 - p) N(m_2, s_2^2), by EM; the threshold lies between m_1 and m_2 where
    a silence is as likely within a visit as between two.

    Parameters
    ----------
    activity, follows : DataFrame
        As for `calibration.visits.cut.visits_from_activity`.
    fallback_seconds : float
        The threshold where the log does not tell one: it has heartbeats (their period is no property of
        people), fewer than 50 silences, or no valley between the two kinds.
    """
    if activity["kind"].eq("beat").any():
        return _fallback(fallback_seconds, "the log has heartbeats, which show when a page was visible")
    silences = silences_seconds(activity, follows=follows)
    if len(silences) < MIN_SILENCES:
        return _fallback(fallback_seconds, f"there are {len(silences)} silences")
    return _from_mixture(np.log(silences), fallback_seconds)


def silences_seconds(activity: pd.DataFrame, *, follows: pd.DataFrame | None = None) -> Floats:
    """Return the silences between activity times of one worker and topic.

    They are positive gaps between neighbours.

    Parameters
    ----------
    activity, follows : DataFrame
        As for `calibration.visits.cut.visits_from_activity`.

    Returns
    -------
    (n,) ndarray of float
        In seconds, in no order that means anything.
    """
    gaps = gaps_milliseconds(signs_of_life(activity, follows))
    return np.asarray(gaps[(gaps > 0) & np.isfinite(gaps)] / 1000, dtype=np.float64)


def _fallback(seconds: float, why: str) -> IdleThreshold:
    return IdleThreshold(
        seconds=seconds,
        source="fallback",
        sentence=f"Silences longer than {seconds:.0f} s end a visit by convention: {why}.",
    )


def _from_mixture(logs: Floats, fallback_seconds: float) -> IdleThreshold:
    share, mean, sd = _two_normals(logs)
    short, long = np.exp(mean)
    separation = float((mean[1] - mean[0]) / math.sqrt((sd**2).mean()))
    crossing = _crossing(share, mean, sd)
    if separation < MIN_SEPARATION or crossing is None:
        why = f"silences of {shown_roughly(short)} s and {shown_roughly(long)} s have no valley between them"
        return _fallback(fallback_seconds, why)
    seconds = math.exp(crossing)
    return IdleThreshold(
        seconds=seconds,
        source="mixture",
        sentence=f"Silences longer than {seconds:.0f} s end a visit: they are more likely of those between visits "
        f"(median {shown_roughly(long)} s) than of those within (median {shown_roughly(short)} s).",
    )


def _two_normals(logs: Floats) -> tuple[float, Floats, Floats]:
    """Fit two normals to log silences, from a fine histogram.

    The result is the share of the lower one, and means and standard deviations of both.

    EM, started from the split of least variance within its parts.
    """
    count, edges = np.histogram(logs, bins=_CELLS)
    cells, count = (edges[1:] + edges[:-1]) / 2, count.astype(np.float64)
    lower = (cells < _least_variance_split(cells, count)).astype(np.float64)
    before = -math.inf
    for _ in range(_ROUNDS):
        weight = np.stack([lower, 1 - lower]) * count
        share = weight.sum(axis=1) / count.sum()
        mean = weight @ cells / weight.sum(axis=1)
        variance = (weight * (cells - mean[:, None]) ** 2).sum(axis=1) / weight.sum(axis=1)
        sd = np.sqrt(np.maximum(variance, _MIN_SD**2))
        z = (cells - mean[:, None]) / sd[:, None]
        log_density = (np.log(share) - np.log(sd) - math.log(2 * math.pi) / 2)[:, None] - z * z / 2
        lower = expit(log_density[0] - log_density[1])
        total = float(count @ np.logaddexp(*log_density))
        if total - before < _TOLERANCE * abs(total):
            break
        before = total
    order = np.argsort(mean)
    return float(share[order[0]]), mean[order], sd[order]


def _least_variance_split(cells: Floats, count: Floats) -> float:
    """Return the cut of least variance within both parts (Otsu 1979)."""
    below, above = np.cumsum(count)[:-1], count.sum() - np.cumsum(count)[:-1]
    sums = np.cumsum(count * cells)[:-1]
    apart = below * above * (sums / below - (count @ cells - sums) / above) ** 2
    return float(cells[1:][apart.argmax()])


def _crossing(share: float, mean: Floats, sd: Floats) -> float | None:
    """Return where two normals are equally likely, between their means, or None.

    log p + log phi(x; m_1, s_1) = log (1 - p) + log phi(x; m_2, s_2) is a quadratic equation in x.
    """
    a = 1 / sd[1] ** 2 - 1 / sd[0] ** 2
    b = 2 * (mean[0] / sd[0] ** 2 - mean[1] / sd[1] ** 2)
    c = (mean[1] / sd[1]) ** 2 - (mean[0] / sd[0]) ** 2
    c += 2 * math.log(share * sd[1] / ((1 - share) * sd[0]))
    roots = np.roots([a, b, c])
    between = [float(r.real) for r in roots if abs(r.imag) < 1e-9 and mean[0] < r.real < mean[1]]
    return between[0] if between else None


def threshold_sensitivity(
    tables: Tables,
    fit: Callable[[Tables, float], Mapping[str, float]],
    *,
    idle_seconds: float = IDLE_SECONDS,
    factors: Sequence[float] = FACTORS,
) -> pd.DataFrame:
    """Cut visits at several thresholds and fit each time.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        With activity; follows and visits are used where they are there (see `visits_from_activity`).
    fit : callable
        Takes the tables with visits cut anew, and the threshold in seconds: what every away time exceeds (the
        ``gap_seconds`` of `calibration.models.durations.fit`). Returns name -> estimate; what it refuses by
        `NotIdentifiedError` is nan.
    idle_seconds : float
        The threshold in use.
    factors : sequence of float
        The thresholds tried, as multiples of it.

    Returns
    -------
    DataFrame
        One row a threshold: idle_seconds, visits (their number), and each parameter's estimate under its
        name.

    Raises
    ------
    NotIdentifiedError
        If there is no activity.
    """
    if "activity" not in tables or tables["activity"].empty:
        raise NotIdentifiedError("there is no table activity")
    rows = []
    signs = signs_of_life(tables["activity"], tables.get("follows"))
    for seconds in (factor * idle_seconds for factor in factors):
        visits = visits_from_signs(signs, idle_seconds=seconds, visits=tables.get("visits"))
        rows.append(
            {"idle_seconds": seconds, "visits": len(visits)}
            | _estimates(fit, {**tables, "visits": visits}, seconds)
        )
    return pd.DataFrame(rows)


def _estimates(
    fit: Callable[[Tables, float], Mapping[str, float]], tables: Tables, seconds: float
) -> dict[str, float]:
    try:
        return dict(fit(tables, seconds))
    except NotIdentifiedError:
        return {}


def sensitivity_notes(sensitivity: pd.DataFrame) -> dict[str, Diagnostic]:
    """Return how far the threshold moves each estimate, as diagnostics.

    They concern each parameter of a `threshold_sensitivity`.

    A warning from a change of 10 % on, of the largest estimate against the smallest; an information below.
    """
    thresholds = ", ".join(f"{seconds:.0f}" for seconds in sensitivity["idle_seconds"])
    notes = {}
    for name in sensitivity.columns.drop(["idle_seconds", "visits"]):
        values = sensitivity[name].to_numpy(np.float64)
        shown = list(dict.fromkeys(shown_roughly(value) for value in values))
        plain = plain_name(name)
        each = f"{', '.join(map(shown_roughly, values)) if len(shown) > 1 else shown[0]} {PARAMETERS.get(plain, '')}".rstrip()
        make = info if values.max() < (1 + MAX_CHANGE) * values.min() else warning
        notes[name] = make(
            "threshold_sensitivity",
            f"With visits cut at silences of {thresholds} s, {LABELS.get(plain, plain)}: {each}{' each time' if len(shown) == 1 else ''}.",
        )
    return notes
