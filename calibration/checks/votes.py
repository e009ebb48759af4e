"""Checks of the votes of a study, made once for everything that is said of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from calibration.checks.adaptive_stopping import adaptive_stopping
from calibration.checks.finding import Finding
from calibration.checks.same_answers import SameAnswers, same_votes


@dataclass(frozen=True, kw_only=True, eq=False)
class VoteChecks:
    """What checks say of the preferences that count, each made when it is first asked for.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        With preferences, and workers where there are exclusions; unfiltered.
    exclude, complete_only : bool
        Leave out excluded workers; those who did not complete the study too.
    """

    tables: Mapping[str, pd.DataFrame]
    exclude: bool = True
    complete_only: bool = False

    @cached_property
    def same(self) -> tuple[SameAnswers, ...]:
        """Workers who give the same answers."""
        return same_votes(self.tables, exclude=self.exclude, complete_only=self.complete_only)

    @cached_property
    def stopping(self) -> dict[str, Finding]:
        """Findings by task, where the number of judgments depends on the answers."""
        return adaptive_stopping(self.tables, exclude=self.exclude, complete_only=self.complete_only)
