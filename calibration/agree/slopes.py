"""Slopes of two measures in a model of the votes, or of graded answers.

With x_A and x_B the score differences of a pair, each divided by its root mean square over pairs, the votes follow Davidson's model
(1970; `calibration.inference.choice`), and graded answers the cumulative-link model of `calibration.inference.ordinal`, with log odds

    b_A x_A + b_B x_B.

Where sides were not drawn by lot, the log odds have a side effect too, b_S for system_a on the left and -b_S on the right. The difference
b_A - b_B says which of them explains more when both are known; where it is 0 both explain as much. Its error is over queries and people at
once (`metrics.agreement.crossed_errors`), from each judgment's score at the maximum.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from calibration.inference.choice import ChoiceModel, maximise, separated_columns
from calibration.inference.ordinal import OrdinalModel, fit_ordinal, grades, is_separated
from metrics.agreement.crossed_errors import UNKNOWN, Crossing, StandardError, VotesByPerson
from metrics.arrays import Bools, Floats, Ints

MAX_SQUARED_CORRELATION = 1 - 1e-9
"""Largest squared correlation of two measures that the model can separate."""


class SlopeDifference(NamedTuple):
    """Difference of two slopes in log odds, with its standard error.

    It is b_A - b_B per standard difference, or NaN where votes do not identify it.
    """

    difference: float
    error: StandardError


NOTHING_TOLD = SlopeDifference(math.nan, UNKNOWN)


def slope_difference(
    votes: VotesByPerson, first: Floats, second: Floats, *, is_swapped: Bools | None = None
) -> SlopeDifference:
    """Return the difference of two measures' slopes in a model of the votes.

    Parameters
    ----------
    votes : VotesByPerson
        On p pairs.
    first, second : (p,) ndarray of float
        Score differences of the pairs under both measures.
    is_swapped : (n,) ndarray of bool, optional
        Whether system_a stood on the right, for a model with a side effect.

    Returns
    -------
    SlopeDifference
        Without a number where a measure never tells two systems apart, where both are one and the same but for a factor,
        where all votes are ties, or where some votes follow a measure without exception, so that its slope has no end.
    """
    differences = np.stack([first, second], axis=1)
    size = np.sqrt((differences**2).mean(axis=0))
    kinds, cell = differences, votes.cell
    if is_swapped is not None:
        side = np.repeat([1.0, -1.0], len(first))[:, None]
        kinds, size = np.hstack([np.tile(differences, (2, 1)), side]), np.append(size, 1.0)
        cell = cell + len(first) * (cell // len(first) + is_swapped)
    cast = np.bincount(cell, minlength=3 * len(kinds))
    there = cast > 0
    vote = np.repeat([-1.0, 0.0, 1.0], len(kinds))[there]
    if not size.all() or not vote.any() or _alike(differences):
        return NOTHING_TOLD
    design, times = np.tile(kinds / size, (3, 1))[there], cast[there].astype(np.float64)
    maximum = maximise(design, vote, "davidson", times=times)
    if separated_columns(maximum, design):
        return NOTHING_TOLD
    model = ChoiceModel(design=design, vote=vote, ties="davidson", times=times)
    scores, information = model.row_derivatives(maximum.point)
    return _difference(
        maximum.point,
        scores,
        maximum.information,
        lambda way: information @ way,
        row=(np.cumsum(there) - 1)[cell],
        crossing=votes.crossing,
    )


def graded_slope_difference(
    votes: VotesByPerson,
    strength: Floats,
    first: Floats,
    second: Floats,
    *,
    is_swapped: Bools | None = None,
) -> SlopeDifference:
    """Return the difference of two measures' slopes in a model of graded answers.

    Parameters
    ----------
    votes : VotesByPerson
        On p pairs.
    strength : (n,) ndarray of float
        Of each vote, above 0 for system_a, below 0 for system_b, 0 for neither.
    first, second, is_swapped
        As in `slope_difference`.

    Returns
    -------
    SlopeDifference
        Without a number where `slope_difference` has none.
    """
    differences = np.stack([first, second], axis=1)
    size, grade, kind = np.sqrt((differences**2).mean(axis=0)), grades(strength), votes.pair
    if not size.all() or not grade.any() or _alike(differences):
        return NOTHING_TOLD
    most, design = int(np.abs(grade).max()), differences / size
    if is_swapped is not None:
        design = np.hstack([np.tile(design, (2, 1)), np.repeat([1.0, -1.0], len(first))[:, None]])
        kind = kind + len(first) * is_swapped
    row, keys = pd.factorize(kind * (2 * most + 1) + grade + most)
    model = OrdinalModel(
        design=design[keys // (2 * most + 1)],
        grade=keys % (2 * most + 1) - most,
        times=np.bincount(row).astype(np.float64),
    )
    point = fit_ordinal(model)
    if is_separated(model, point):
        return NOTHING_TOLD
    terms = model.at(point).terms
    by_u, by_cut = model.scores(terms)
    return _difference(
        point,
        np.hstack([by_u[:, None] * model.design, by_cut]),
        model.information(terms),
        lambda way: model.information_along(terms, way),
        row=row,
        crossing=votes.crossing,
    )


def _difference(
    point: Floats,
    scores: Floats,
    whole: Floats,
    along: Callable[[Floats], Floats],
    *,
    row: Ints,
    crossing: Crossing,
) -> SlopeDifference:
    """Return the difference of the first two parameters, with its error from the scores of r kinds of judgments.

    Parameters
    ----------
    point : (p,) ndarray of float
        Where the log-likelihood is highest.
    scores : (r, p) ndarray of float
        First derivatives of each kind there.
    whole : (p, p) ndarray of float
        The information of all.
    along : callable
        From g, (p,), to the information of each kind times g, (r, p).
    row : (n,) ndarray of int
        Kind of each judgment.
    crossing : Crossing
        Query and worker of each judgment.
    """
    contrast = np.zeros(len(point))
    contrast[:2] = 1.0, -1.0
    way = np.asarray(np.linalg.solve(whole, contrast), dtype=np.float64)
    towards = along(way)
    part = towards @ way / (contrast @ way)
    stretched = _stretched(towards[row], whole, way, crossing.query)
    error = crossing.error((scores @ way)[row] * stretched, part[row])
    return SlopeDifference(float(point[0] - point[1]), error)


def _stretched(along: Floats, whole: Floats, way: Floats, query: Ints) -> Floats:
    """Return the factor of each judgment's influence, (n,).

    It corrects for slopes that were fitted to the judgment's own query.

    With I_q the information of a query, I that of all and g = I^-1 c, a query's residual has g' (I_q - I_q I^-1 I_q) g of its variance
    g' I_q g left; ``along`` is I_i g of each judgment, (n, p). What `Crossing.error` puts back, g' I_q g / c' I^-1 c, is taken off.
    """
    towards = np.stack([np.bincount(query, of_parameter) for of_parameter in along.T], axis=1)
    own = towards @ way
    left = own - np.einsum("qi,qi->q", towards, np.linalg.solve(whole, towards.T).T)
    put_back = 1 - own / own.sum()
    stretch = np.sqrt(np.divide(own * put_back, left, out=np.ones_like(own), where=left > 0))
    return np.asarray(stretch[query], dtype=np.float64)


def _alike(differences: Floats) -> bool:
    """Return whether one of two measures is the other times a factor."""
    product, squares = differences.T @ differences, (differences**2).sum(axis=0)
    return bool(product[0, 1] ** 2 >= MAX_SQUARED_CORRELATION * squares.prod())
