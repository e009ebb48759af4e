"""The survival curve of stops, and the lines that are closest to it.

S(x) is the share of readers who go on beyond x characters. A patience L says S(x) = max(0, 1 - x / L); with a share pi
of readers who always finish, S(x) = pi + (1 - pi) max(0, 1 - x / L).
"""

import numpy as np

from metrics.arrays import Bools, Floats

POSITIONS = 200
BENDS = 400
"""Values of kappa at which a line with finishers is tried."""


def curve_positions(read: Floats) -> Floats:
    """Return the positions at which curve and line are compared: even, up to the 99 % quantile of stops."""
    last = float(np.quantile(read, 0.99))
    return np.linspace(last / POSITIONS, last, POSITIONS)


def survival_curves(read: Floats, stopped: Bools, weights: Floats, positions: Floats) -> Floats:
    """Return Kaplan-Meier curves of weighted stops.

    S(x) = prod_{j : x_j <= x, stopped} (1 - w_j / n_j), n_j the weight of the rows from j on

    Parameters
    ----------
    read : (n,) ndarray of float
        Ascending positions; at equal ones, stops before censored rows.
    stopped : (n,) ndarray of bool
        False: censored, the text was read to its end.
    weights : (b, n) ndarray of float
        How often each row counts in each of b samples.
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


def finisher_fits(curves: Floats, positions: Floats) -> tuple[Floats, Floats]:
    """Return kappa = 1 / L and pi of the line with finishers that is closest to each curve.

    With d(x) = max(0, 1 - kappa x) the sum of squares is a parabola in pi:
    pi = sum (S - d)(1 - d) / sum (1 - d)^2, cut to [0, 1]. kappa is searched from 1 / last position on: beyond the last
    position L and pi cannot be told apart.

    Parameters
    ----------
    curves : (b, g) ndarray of float
        S at the positions.
    positions : (g,) ndarray of float
        Ascending and positive.

    Returns
    -------
    kappa, pi : (b,) ndarray of float
    """
    kappa = np.geomspace(1 / positions[-1], 1 / positions[len(positions) // 20], BENDS)
    decay = np.maximum(0.0, 1 - np.outer(kappa, positions))
    risen = 1 - decay
    square = (risen**2).sum(axis=1)
    cross = curves @ risen.T - (decay * risen).sum(axis=1)
    pi = np.clip(cross / square, 0.0, 1.0)
    distance = (
        (curves**2).sum(axis=1, keepdims=True)
        - 2 * curves @ decay.T
        + (decay**2).sum(axis=1)
        - 2 * pi * cross
        + pi**2 * square
    )
    best = distance.argmin(axis=1)
    return kappa[best], pi[np.arange(len(curves)), best]


def closest_lines(curves: Floats, positions: Floats, *, with_finishers: bool) -> tuple[Floats, Floats]:
    """Return kappa and pi of each curve, (b,); pi is 0 without finishers."""
    if with_finishers and not (curves == 1).all():
        return finisher_fits(curves, positions)
    return line_fits(curves, positions), np.zeros(len(curves))
