"""Patience L from stop positions: how far into a text people read.

If the stop X is uniform on (0, L), the share still reading at x is max(0, 1 - x / L): the decay of U- and M-measure
is the survival curve of stops. So the curve is estimated (Kaplan and Meier 1958; a text read to its end is censored
there), and L is the one whose line is closest to it by least squares. The largest stop is no estimate: a single wrong
one moves it. The unit of the interval is the worker.
"""

import math
from collections.abc import Iterator
from types import MappingProxyType

import numpy as np
import pandas as pd

from calibration.bootstrap import cluster_counts
from calibration.results import CalibrationResult, NotIdentifiedError, info, warning
from calibration.uncertainty import Floats, Replicates, Scale
from calibration.user_model import Diagnostic

NAME = "patience_chars_stops"
SCREEN_CHARS = MappingProxyType({"en": 420, "ja": 280})
"""Counted characters that one screen of a phone shows (the limits of NTCIR-12's first layer); en for other languages.
The end of a text that fits on a screen is seen without reading on, so it says nothing about patience."""
POSITIONS = 200
RESAMPLES = 1000
CELLS_AT_ONCE = 4_000_000
MOST_SURVIVORS = 0.3


def fit_patience_from_stops(
    stops: pd.DataFrame,
    *,
    rng: np.random.Generator,
    language: str | None = None,
    resamples: int = RESAMPLES,
) -> CalibrationResult:
    """Fit the patience whose linear decay is closest to the survival curve of stops.

    Parameters
    ----------
    stops : DataFrame
        Table stops, of one language. Used are texts longer than one screen whose layout is stacked or absent: on a
        page side by side a stop measures the screen.
    rng : Generator
        Source of the worker bootstrap.
    language : str, optional
        Of the texts, for the size of a screen.
    resamples : int
        Bootstrap samples.

    Returns
    -------
    CalibrationResult
        With parameter ``patience_chars_stops``, infinite where nobody stopped before a text's end. Its details:
        share_reading (at the last position of the curve) and last_position.

    Raises
    ------
    NotIdentifiedError
        If no text is usable.
    """
    usable, unused = _usable(stops, SCREEN_CHARS.get(language or "en", SCREEN_CHARS["en"]))
    if usable.empty:
        raise NotIdentifiedError(f"no stop on a text longer than one screen, one text at a time ({unused})")
    usable = usable.sort_values(["chars_read", "reached_end", "worker"], kind="stable")
    read = usable["chars_read"].to_numpy(np.float64)
    stopped = ~usable["reached_end"].to_numpy(bool)
    worker, workers = pd.factorize(usable["worker"])
    positions = curve_positions(read)
    curve = survival_curves(read, stopped, np.ones((1, len(read))), positions)[0]
    kappa = line_fits(curve[None], positions)[0]
    return CalibrationResult(
        params=MappingProxyType({NAME: 1 / kappa if kappa > 0 else math.inf}),
        unit="counted characters",
        method="Kaplan-Meier, least squares",
        uncertainty=MappingProxyType(
            {"worker_bootstrap": _bootstrap(read, stopped, worker, positions, resamples, rng)}
            if len(workers) > 1
            else {}
        ),
        n_workers=len(workers),
        n_rows=len(usable),
        details=MappingProxyType({"share_reading": float(curve[-1]), "last_position": float(positions[-1])}),
        diagnostics=tuple(_diagnostics(kappa, curve, positions, len(workers), unused)),
    )


def _usable(stops: pd.DataFrame, screen_chars: int) -> tuple[pd.DataFrame, str]:
    """Return the rows that measure patience, and in words how many do not."""
    beside = stops["layout"].eq("side_by_side").fillna(value=False)
    short = ~beside & (longest_versions(stops) <= screen_chars)
    unused = f"{beside.sum()} texts stood side by side, {short.sum()} fit on one screen"
    return stops[~beside & ~short], unused


def longest_versions(stops: pd.DataFrame) -> "pd.Series[float]":
    """Return the largest text_chars of each row's text: of all rows with its topic and system.

    How long a two-layered text is depends on the layers its reader opened, and who stops early opens none. Choosing
    rows by their own length would drop early stops. Rows without a system are taken by their own length.
    """
    longest = stops.groupby(["topic", "system"])["text_chars"].transform("max")
    return longest.where(stops["system"].notna(), stops["text_chars"])


def curve_positions(read: Floats) -> Floats:
    """Return the positions at which curve and line are compared: even, up to the 99 % quantile of stops."""
    last = float(np.quantile(read, 0.99))
    return np.linspace(last / POSITIONS, last, POSITIONS)


def survival_curves(
    read: Floats, stopped: "np.ndarray[tuple[int], np.dtype[np.bool_]]", weights: Floats, positions: Floats
) -> Floats:
    """Return Kaplan-Meier curves of weighted stops.

    S(x) = prod_{j : x_j <= x, stopped} (1 - w_j / n_j), n_j the weight of the rows from j on

    Parameters
    ----------
    read : (n,) ndarray of float
        Ascending positions; at equal ones, stops before censored rows.
    stopped : (n,) ndarray of bool
        False: censored, the text was read to its end.
    weights : (b, n) ndarray of float
        How often each row counts in each of b samples; whole numbers.
    positions : (g,) ndarray of float
        Where to evaluate.

    Returns
    -------
    (b, g) ndarray of float
        Share still reading beyond each position. Where nobody is left it stays as it was.
    """
    at_risk = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
    share = np.divide(weights * stopped, at_risk, out=np.zeros_like(weights), where=at_risk > 0)
    survival = np.cumprod(1 - share, axis=1)
    before = np.searchsorted(read, positions, side="right")
    return np.concatenate([np.ones((len(weights), 1)), survival], axis=1)[:, before]


def line_fits(curves: Floats, positions: Floats) -> Floats:
    """Return the kappa = 1 / L of the line closest to each curve: argmin sum_g (S(g) - max(0, 1 - kappa g))^2.

    For each number m of positions before L, the sum is a parabola in kappa, cut to the kappa that leave m positions
    before L; the smallest of the m minima is the exact one.

    Parameters
    ----------
    curves : (b, g) ndarray of float
        S at the positions.
    positions : (g,) ndarray of float
        Ascending and positive.

    Returns
    -------
    (b,) ndarray of float
        0 where nobody ever stopped.
    """
    drop = 1 - curves
    most = 1 / positions
    least = np.append(most[1:], 0.0)
    cross, square = np.cumsum(drop * positions, axis=1), np.cumsum(positions**2)
    kappa = np.clip(cross / square, least, most)
    before = np.cumsum(drop**2, axis=1) - 2 * kappa * cross + kappa**2 * square
    after = (curves**2).sum(axis=1, keepdims=True) - np.cumsum(curves**2, axis=1)
    best = (before + after).argmin(axis=1)
    return np.asarray(kappa[np.arange(len(curves)), best])


def _bootstrap(
    read: Floats,
    stopped: "np.ndarray[tuple[int], np.dtype[np.bool_]]",
    worker: "np.ndarray[tuple[int], np.dtype[np.intp]]",
    positions: Floats,
    resamples: int,
    rng: np.random.Generator,
) -> Replicates:
    workers = int(worker.max()) + 1
    counts = cluster_counts(workers, resamples, rng)
    step = max(1, CELLS_AT_ONCE // len(read))
    pieces = [
        line_fits(survival_curves(read, stopped, counts[at : at + step][:, worker], positions), positions)
        for at in range(0, resamples, step)
    ]
    return Replicates(values=np.concatenate(pieces)[:, None], scale=Scale.INVERSE, clusters=workers)


def _diagnostics(
    kappa: float, curve: Floats, positions: Floats, workers: int, unused: str
) -> Iterator[Diagnostic]:
    yield info("stops_not_used", f"Left out: {unused}.")
    if kappa == 0:
        yield warning(
            "infinite_patience", "Nobody stopped before the end of a text: the patience has no bound."
        )
    elif curve[-1] > MOST_SURVIVORS:
        yield warning(
            "extrapolated",
            f"At {positions[-1]:.0f} characters, where the texts end, {curve[-1]:.0%} were still reading: "
            "the patience is extrapolated.",
        )
    if workers < 2:
        yield warning(
            "one_worker", "With a single worker nothing is known about others: there is no interval."
        )
