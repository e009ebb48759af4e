"""Does measure A or measure B explain better who preferred what: both in one model of the votes.

The agreement of majorities asks for the sign of a difference only. A model of the votes uses how large the differences
are and how clear the votes. With x_A and x_B the score differences of a pair, each divided by its root mean square over
pairs, the votes follow Davidson's model (1970; `calibration.inference.davidson`) with log odds

    b_A x_A + b_B x_B.

The difference b_A - b_B says which of them explains more when both are known; where it is 0 both explain as much. Its
error is over queries and people at once (`metrics.agreement.people`), from each judgment's score at the maximum.
"""

import math
from typing import NamedTuple

import numpy as np

from calibration.push.likelihood import ChoiceModel, maximise
from calibration.push.search import without_maximum
from metrics.agreement.people import UNKNOWN, Error, VotesByPerson
from metrics.arrays import Floats, Ints

MOST_ALIKE = 1 - 1e-9
"""Squared correlation above which two measures are one and the same for the model."""


class SlopeDifference(NamedTuple):
    """b_A - b_B in log odds a standard difference, and how far it may be off; NaN where votes do not tell."""

    difference: float
    error: Error


NOTHING_TOLD = SlopeDifference(math.nan, UNKNOWN)


def slope_difference(votes: VotesByPerson, first: Floats, second: Floats) -> SlopeDifference:
    """Return how much more one measure explains than another.

    Parameters
    ----------
    votes : VotesByPerson
        On p pairs.
    first, second : (p,) ndarray of float
        Score differences of the pairs under both measures.

    Returns
    -------
    SlopeDifference
        Without a number where a measure never tells two systems apart, where both are one and the same but for a factor,
        where all votes are ties, or where some votes follow a measure without exception, so that its slope has no end.
    """
    differences = np.stack([first, second], axis=1)
    size = np.sqrt((differences**2).mean(axis=0))
    vote = 2 * votes.for_a - 1
    if not size.all() or not vote.any() or _alike(differences):
        return NOTHING_TOLD
    design = (differences / size)[votes.pair]
    maximum = maximise(design, vote, "davidson")
    if without_maximum(maximum, design):
        return NOTHING_TOLD
    model = ChoiceModel(design=design, vote=vote, ties="davidson", times=np.ones(len(vote)))
    scores, information = model.row_derivatives(maximum.point)
    contrast = np.zeros(len(maximum.point))
    contrast[:2] = 1.0, -1.0
    way = np.asarray(np.linalg.solve(maximum.information, contrast), dtype=np.float64)
    part = np.einsum("nij,i,j->n", information, way, way) / (contrast @ way)
    stretched = _stretched(information, maximum.information, way, votes.crossing.query)
    error = votes.crossing.error(scores @ way * stretched, part)
    return SlopeDifference(float(maximum.weights[0] - maximum.weights[1]), error)


def _stretched(rows: Floats, whole: Floats, way: Floats, query: Ints) -> Floats:
    """Return by what each judgment's influence is multiplied, because all slopes were fitted to its query too, (n,).

    With I_q the information of a query, I that of all and g = I^-1 c, a query's residual has g' (I_q - I_q I^-1 I_q) g of its variance
    g' I_q g left. What `Crossing.error` puts back, g' I_q g / c' I^-1 c, is taken off.
    """
    towards = np.stack([np.bincount(query, of_parameter) for of_parameter in (rows @ way).T], axis=1)
    own = towards @ way
    left = own - np.einsum("qi,qi->q", towards, np.linalg.solve(whole, towards.T).T)
    put_back = 1 - own / own.sum()
    stretch = np.sqrt(np.divide(own * put_back, left, out=np.ones_like(own), where=left > 0))
    return np.asarray(stretch[query], dtype=np.float64)


def _alike(differences: Floats) -> bool:
    """Say whether one of two measures is the other times a factor."""
    product, squares = differences.T @ differences, (differences**2).sum(axis=0)
    return bool(product[0, 1] ** 2 >= MOST_ALIKE * squares.prod())
