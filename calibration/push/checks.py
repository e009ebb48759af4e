"""What the judged pairs can tell about the weights, before a weight is fitted, and what fitted weights leave open.

If non-relevant pushes were counted as days with any push, P_0 and S_0 would be counted by cells that add up to the
silent days, the same for both streams: then only P_0 + S_0 can be told. Such combinations are found from the null space of
the differences and named.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from calibration.inference.results import NotIdentifiedError, warning
from calibration.inference.uncertainty import Floats
from calibration.push.likelihood import Maximum
from calibration.push.pairs import SIGNS
from calibration.user_model.model import Diagnostic

SMALLEST_SINGULAR_VALUE = 1e-8
"""Relative to the largest, of columns scaled to one length."""
LARGEST_VIF = 10.0
LARGEST_ERROR = 100.0
"""Standard error, in log odds for a typical difference of a cell, of a weight that has no finite maximum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which columns of a design enter a fit.

    Attributes
    ----------
    kept : tuple of int
        Independent columns that span all others.
    unclear : mapping of int to str
        Columns whose own weight cannot be told -> why.
    """

    kept: tuple[int, ...]
    unclear: dict[int, str]


def identified(design: Floats, names: tuple[str, ...]) -> Columns:
    """Tell which weights a design can tell apart.

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
    for place, name in enumerate(names):
        if length[place] == 0:
            cell = f" ({_cell(name)})" if _cell(name) else ""
            unclear[place] = f"no judged pair differs in what {name} weighs{cell}"
            continue
        if _rank(scaled[:, [*kept, place]]) > len(kept):
            kept.append(place)
            continue
        share = np.linalg.lstsq(scaled[:, kept], scaled[:, place], rcond=None)[0]
        # x_place = sum of share_j x_j, so that w_j + share_j w_place is what can be told
        parts = {one: part * length[place] / length[one] for one, part in zip(kept, share, strict=True)}
        tied = {one: part for one, part in parts.items() if abs(part) * length[one] > 1e-6 * length[place]}
        reason = _combination(names, place, tied)
        unclear |= dict.fromkeys([*tied, place], reason)
    return Columns(kept=tuple(kept), unclear=unclear)


def _cell(name: str) -> str:
    return dict(zip(("G_E", "P_E", "S_E", "P_0", "S_0"), SIGNS, strict=True)).get(name, "")


def _rank(scaled: Floats) -> int:
    values = np.linalg.svd(scaled, compute_uv=False)
    return int((values > SMALLEST_SINGULAR_VALUE * values[0]).sum())


def _combination(names: tuple[str, ...], place: int, tied: dict[int, float]) -> str:
    told = [_sum(names[one], part, names[place]) for one, part in tied.items()]
    return f"only {' and '.join(told)} can be told, because these cells change together in every judged pair"


def _sum(one: str, part: float, other: str) -> str:
    factor = "" if abs(abs(part) - 1) < 1e-6 else f"{abs(part):.3g} "
    return f"{one} {'+' if part > 0 else '-'} {factor}{other}"


def variance_inflation(design: Floats) -> Floats:
    """Return 1 / (1 - R^2) of each of k independent columns on the others, about 0: (n, k) -> (k,)."""
    scaled = design / np.sqrt((design**2).sum(axis=0))
    return np.asarray(np.diag(np.linalg.inv(scaled.T @ scaled)))


def without_maximum(maximum: Maximum, design: Floats) -> tuple[int, ...]:
    """Return the columns whose weight grows without end, because some votes follow them without exception."""
    k = design.shape[1]
    typical = np.append(np.sqrt((design**2).mean(axis=0)), np.ones(len(maximum.point) - k))
    scaled = maximum.information / np.outer(typical, typical)
    ridge = 1e-14 * np.trace(scaled) * np.eye(len(scaled))
    errors = np.sqrt(np.abs(np.diag(np.linalg.inv(scaled + ridge)))[:k])
    return tuple(np.flatnonzero(errors > LARGEST_ERROR).tolist())


def check_votes(vote: Floats) -> None:
    """Refuse votes that are all ties.

    Raises
    ------
    NotIdentifiedError
        If nobody preferred a stream.
    """
    if not vote.any():
        raise NotIdentifiedError("every judgment is a tie: nobody preferred a stream")


def notes_on_collinearity(names: list[str], inflation: Floats) -> Iterator[Diagnostic]:
    """Warn of cells that nearly move together."""
    high = [
        f"{name} ({factor:.0f})"
        for name, factor in zip(names, inflation, strict=True)
        if factor > LARGEST_VIF
    ]
    if high:
        yield warning(
            "collinear_cells",
            f"Cells nearly move together in the judged pairs (variance inflation above {LARGEST_VIF:.0f}): "
            f"{', '.join(high)}.",
        )
