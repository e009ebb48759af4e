"""Checks of tables of answers, the same for fit, rank and agree."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import pandas as pd

from calibration.checks import adaptive_stopping, judges
from calibration.checks.finding import Finding

TABLE_CHECKS: Mapping[str, tuple[Callable[[pd.DataFrame], Iterable[Finding]], ...]] = MappingProxyType(
    {"preferences": (adaptive_stopping.check_adaptive_stopping, judges.check_judges)}
)
"""Checks of the counted rows, by table.

They run whatever is fitted. `same_answers` is separate, because it may also merge workers.
"""
TABLE_TESTS = MappingProxyType({"preferences": 2})
"""Number of tests of a table's findings, where it is not one (`same_answers`)."""


def check_tables(tables: Mapping[str, pd.DataFrame]) -> dict[str, tuple[Finding, ...]]:
    """Return the findings about the counted rows, by table."""
    return {
        name: tuple(finding for check in checks for finding in check(tables[name]))
        for name, checks in TABLE_CHECKS.items()
        if name in tables
    }
