"""Checks of the votes of a study, made once for all results."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from calibration.checks.adaptive_stopping import adaptive_stopping
from calibration.checks.finding import Finding
from calibration.checks.same_answers import SameAnswers, same_votes
from calibration.tables.files import give_back_memory
from calibration.tables.preferences import systems_shown
from metrics.errors import join_names


@dataclass(frozen=True, kw_only=True, eq=False)
class VoteChecks:
    """Checks of the preferences that count, computed on first use.

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
        same = same_votes(self.tables, exclude=self.exclude, complete_only=self.complete_only)
        give_back_memory(len(self.tables["preferences"]))  # what couples of workers took
        return same

    @cached_property
    def stopping(self) -> dict[str, Finding]:
        """Findings of adaptive stopping, by task.

        In such a task the number of judgments depends on the answers.
        """
        stopping = adaptive_stopping(self.tables, exclude=self.exclude, complete_only=self.complete_only)
        give_back_memory(len(self.tables["preferences"]))
        return stopping


def names_in_two_cases(preferences: pd.DataFrame) -> list[str]:
    """Return a note on topics, workers and systems that differ only in case or blanks."""
    notes = []
    for what, column in (
        ("topics", preferences["topic"]),
        ("workers", preferences["worker"]),
        ("systems", pd.concat(systems_shown(preferences))),
    ):
        same = defaultdict(list)
        for name in sorted(map(str, column.dropna().unique())):
            same[name.casefold().strip()].append(name)
        groups = [group for group in same.values() if len(group) > 1]
        if groups:
            has_blanks = any(name != name.strip() for group in groups for name in group)
            alike = join_names(" and ".join(map(repr, group) if has_blanks else group) for group in groups)
            differ = "case or in blanks" if has_blanks else "case"
            notes.append(f"{what} {alike} differ in {differ} only, and count as different ones")
    return notes
