"""Array types for signatures, and alignment of labelled pandas columns.

Types are named by what they hold; docstrings state the shapes.
"""

import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.signedinteger[Any]]
Indices: TypeAlias = NDArray[np.intp]
"""Indices into another array."""
Bools: TypeAlias = NDArray[np.bool_]


def summed(values: NDArray[Any], group: Ints, groups: int) -> Floats:
    """Add up values, (n,), or rows of them, (n, C), by group; empty groups get 0.

    Groups are (n,) indices into (groups,).
    """
    if values.ndim == 1:
        return np.bincount(group, values, minlength=groups).astype(np.float64, copy=False)
    totals = np.zeros((groups, values.shape[1]))
    np.add.at(totals, group, values)
    return totals


def align_rows(*sides: ArrayLike) -> tuple[ArrayLike, ...]:
    """Align arrays and series to the labels of the first labelled one.

    Parameters
    ----------
    sides : array_like
        Series and frames of pandas are paired by their labels; anything else is paired by place, and returned as it is.

    Raises
    ------
    ValueError
        If labels differ, or stand several times in another order: nobody could say then what belongs together.
    """
    pandas = sys.modules.get("pandas")  # whoever has a Series has loaded it, and loading it is slow
    labelled = (pandas.Series, pandas.DataFrame) if pandas else ()
    first = next((side for side in sides if isinstance(side, labelled)), None)
    return tuple(_as_in(first, side) if isinstance(side, labelled) else side for side in sides)


def _as_in(first: Any, side: Any) -> ArrayLike:
    """Return a Series or frame in the index order of another one."""
    for axis, (wanted, there) in enumerate(zip(first.axes, side.axes, strict=False)):
        if there.equals(wanted):
            continue
        odd = wanted.symmetric_difference(there).tolist()
        if odd or not (wanted.is_unique and there.is_unique):
            why = f"only one side has {odd[0]!r}" if odd else "a label occurs several times"
            raise ValueError(
                f"these do not belong together row by row: {why}; give both the same rows, or arrays (`to_numpy()`), which are paired by position"
            )
        side = side.reindex(wanted, axis=axis)
    return side  # type: ignore[no-any-return]
