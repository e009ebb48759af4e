"""From how many pairs and queries on an agreement is a finding: for what is printed and for the report."""

from typing import TYPE_CHECKING, TypeAlias

from calibration.agree.judged_task import FEWEST_PAIRS, FEWEST_QUERIES

if TYPE_CHECKING:
    import pandas as pd

Row: TypeAlias = "pd.Series[object]"
"""A row of agreement.csv."""


def decided(row: Row) -> int:
    """Return how many pairs have a majority."""
    return int(row["pairs"] - row["vote_ties"])


def tells(row: Row) -> bool:
    """Say whether there are pairs and queries enough for a finding."""
    return decided(row) >= FEWEST_PAIRS and int(row["queries"]) >= FEWEST_QUERIES
