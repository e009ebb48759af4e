"""Whose rows count: excluded and withdrawn workers leave every table, not only the preferences.

Exclusion is a rule applied at analysis. What is here drops rows; who is excluded stands in the table workers.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd

FOLLOWING = frozenset({"follows", "visits", "prompts", "activity"})
"""Tables in which a withdrawn worker stays: a follow ends with the withdrawal and is censored there."""


def left_out(
    workers: pd.DataFrame | None, *, exclude: bool = True, complete_only: bool = False
) -> "pd.Series[Any]":
    """Return why each worker who does not count is left out.

    Parameters
    ----------
    workers : DataFrame or None
        Table workers; None when there is none, then everybody counts.
    exclude : bool
        Leave out workers with ``excluded`` true (`--exclude none` passes False). Withdrawn workers never count.
    complete_only : bool
        Leave out workers without ``completed_at``.

    Returns
    -------
    Series of str, indexed by worker
        ``excluded``, ``withdrawn`` or ``incomplete``, the first that holds. A worker with no such mark, or in no row,
        counts.
    """
    if workers is None:
        return pd.Series({}, dtype="str")
    rows = workers.set_index("worker")
    why = pd.Series("", index=rows.index, dtype="str")
    if complete_only:
        why = why.mask(rows["completed_at"].isna(), "incomplete")
    why = why.mask(rows["withdrawn_at"].notna(), "withdrawn")
    if exclude:
        why = why.mask(rows["excluded"].fillna(value=False).astype(bool), "excluded")
    return why[why != ""]


def completed(workers: pd.DataFrame | None) -> frozenset[str]:
    """Return the workers whose every required answer is stored."""
    if workers is None:
        return frozenset()
    return frozenset(workers.loc[workers["completed_at"].notna(), "worker"])


def counted_tables(
    tables: Mapping[str, pd.DataFrame], *, exclude: bool = True, complete_only: bool = False
) -> MappingProxyType[str, pd.DataFrame]:
    """Return the tables without the rows of workers who do not count.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        As `calibration.tables.files.read_tables` returns them.
    exclude : bool
        See `left_out`.
    complete_only : bool
        Keep the rows of workers who completed the study and of nobody else, not even of those in no workers row.

    Returns
    -------
    mapping of str to DataFrame
        The same tables; those with a column ``worker`` filtered and numbered anew. A withdrawn worker stays in
        `FOLLOWING`, an excluded one in none.
    """
    workers = tables.get("workers")
    why = left_out(workers, exclude=exclude)
    kept = completed(workers) if complete_only else None
    return MappingProxyType(
        {
            name: _without(frame, why if name not in FOLLOWING else why[why != "withdrawn"], kept)
            for name, frame in tables.items()
        }
    )


def _without(frame: pd.DataFrame, why: "pd.Series[Any]", kept: frozenset[str] | None) -> pd.DataFrame:
    if "worker" not in frame.columns:
        return frame
    counts = ~frame["worker"].isin(why.index)
    if kept is not None:
        counts &= frame["worker"].isin(kept)
    return frame[counts].reset_index(drop=True)
