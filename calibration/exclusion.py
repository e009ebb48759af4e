"""Whose rows count: excluded and withdrawn workers leave every table, not only the preferences.

Exclusion is a rule applied at analysis. What is here drops rows; who is excluded stands in the table workers.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd

FOLLOWING = frozenset({"follows", "visits", "prompts", "activity"})
"""Tables in which a withdrawn worker stays: a follow ends with the withdrawal and is censored there."""


def left_out(workers: pd.DataFrame | None, *, exclude: bool = True) -> "pd.Series[Any]":
    """Return why each worker who does not count is left out.

    Parameters
    ----------
    workers : DataFrame or None
        Table workers; None when there is none, then everybody counts.
    exclude : bool
        Leave out workers with ``excluded`` true (`--exclude none` passes False). Withdrawn workers never count.

    Returns
    -------
    Series of str, indexed by worker
        ``excluded`` or ``withdrawn``; who is both is excluded. A worker with neither mark, or in no row, counts.
    """
    if workers is None:
        return pd.Series({}, dtype="str")
    rows = workers.set_index("worker")
    why = pd.Series("", index=rows.index, dtype="str").mask(rows["withdrawn_at"].notna(), "withdrawn")
    if exclude:
        why = why.mask(rows["excluded"].fillna(value=False).astype(bool), "excluded")
    return why[why != ""]


def counted_tables(
    tables: Mapping[str, pd.DataFrame], *, exclude: bool = True
) -> MappingProxyType[str, pd.DataFrame]:
    """Return the tables without the rows of workers who do not count.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        As `calibration.table_files.read_tables` returns them.
    exclude : bool
        See `left_out`.

    Returns
    -------
    mapping of str to DataFrame
        The same tables; those with a column ``worker`` filtered and numbered anew. A withdrawn worker stays in
        `FOLLOWING`, an excluded one in none.
    """
    why = left_out(tables.get("workers"), exclude=exclude)
    return MappingProxyType(
        {
            name: _without(frame, why if name not in FOLLOWING else why[why != "withdrawn"])
            for name, frame in tables.items()
        }
    )


def _without(frame: pd.DataFrame, why: "pd.Series[Any]") -> pd.DataFrame:
    if "worker" not in frame.columns:
        return frame
    return frame[~frame["worker"].isin(why.index)].reset_index(drop=True)
