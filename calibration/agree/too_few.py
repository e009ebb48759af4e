"""From how many pairs and queries on an agreement is a finding: for what is printed and for the report."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

FEWEST_PAIRS = 10
"""Pairs with a majority from which an agreement is a finding and a ceiling is shown in words."""
FEWEST_QUERIES = 2

Row: TypeAlias = "pd.Series[object]"
"""A row of agreement.csv."""


def decided(row: Row) -> int:
    """Return how many pairs have a majority."""
    return int(row["pairs"] - row["vote_ties"])


def tells(row: Row) -> bool:
    """Say whether there are pairs and queries enough for a finding."""
    return decided(row) >= FEWEST_PAIRS and int(row["queries"]) >= FEWEST_QUERIES
