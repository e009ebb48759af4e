"""Identified columns of a design of contingency cells.

They are the weights that the cells of the judged pairs can separate. If non-relevant pushes were counted as days with any push, P_0 and S_0
would be counted by cells that add up to the silent days, the same for both streams: then only P_0 + S_0 can be told. Such combinations are
found from the null space of the differences and named.
"""

from dataclasses import dataclass

import numpy as np

from calibration.models.push.judgments import CELL_SIGNS, WEIGHTS
from metrics.arrays import Floats

MIN_SINGULAR_VALUE = 1e-8
"""Smallest singular value of independent columns, relative to the largest.

Columns are scaled to one length first.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedColumns:
    """Columns of a design that enter a fit, with unidentified combinations.

    Attributes
    ----------
    kept : tuple of int
        Independent columns that span all others.
    unclear : mapping of int to str
        Why the own weight of a column is not identified, by column.
    """

    kept: tuple[int, ...]
    unclear: dict[int, str]


def identified(design: Floats, names: tuple[str, ...]) -> FittedColumns:
    """Return the columns whose weights a design identifies.

    Parameters
    ----------
    design : (n, k) ndarray of float
        Left minus right.
    names : tuple of str
        Of its columns. Where columns depend on each other, the first ones are kept.
    """
    length = np.sqrt((design**2).sum(axis=0))
    scaled = np.divide(design, length, out=np.zeros_like(design), where=length > 0)
    kept: list[int] = []
    unclear: dict[int, str] = {}
    for column, name in enumerate(names):
        if length[column] == 0:
            cell = f" ({_cell(name)})" if _cell(name) else ""
            unclear[column] = f"no judged pair differs in what {name} weighs{cell}"
            continue
        if _rank(scaled[:, [*kept, column]]) > len(kept):
            kept.append(column)
            continue
        share = np.linalg.lstsq(scaled[:, kept], scaled[:, column], rcond=None)[0]
        # x_place = sum of share_j x_j, so that w_j + share_j w_place is what can be told
        parts = {
            known: part * length[column] / length[known] for known, part in zip(kept, share, strict=True)
        }
        tied = {
            known: part for known, part in parts.items() if abs(part) * length[known] > 1e-6 * length[column]
        }
        reason = _combination(names, column, tied)
        unclear |= dict.fromkeys([*tied, column], reason)
    return FittedColumns(kept=tuple(kept), unclear=unclear)


def _cell(name: str) -> str:
    return dict(zip(WEIGHTS, CELL_SIGNS, strict=True)).get(name, "")


def _rank(scaled: Floats) -> int:
    values = np.linalg.svd(scaled, compute_uv=False)
    return int((values > MIN_SINGULAR_VALUE * values[0]).sum())


def _combination(names: tuple[str, ...], column: int, tied: dict[int, float]) -> str:
    sums = [_sum(names[kept], part, names[column]) for kept, part in tied.items()]
    return f"only {' and '.join(sums)} can be estimated, because these cells change together in every judged pair"


def _sum(one: str, part: float, other: str) -> str:
    factor = "" if abs(abs(part) - 1) < 1e-6 else f"{abs(part):.3g} "
    return f"{one} {'+' if part > 0 else '-'} {factor}{other}"


def variance_inflation(design: Floats) -> Floats:
    """Return the variance inflation factor of each of k columns: (n, k) -> (k,).

    It is 1 / (1 - R^2) on the others, about 0; the columns are independent.
    """
    scaled = design / np.sqrt((design**2).sum(axis=0))
    return np.asarray(np.diag(np.linalg.inv(scaled.T @ scaled)))
