"""Workers who give the same answers: rows that count, and numbers as one person."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from calibration.checks.finding import Finding, other_laws
from calibration.checks.same_answers import SameAnswers, find_same_answers, one_cluster
from calibration.fit.families import FitOptions
from calibration.inference.attempts import FitFailure, catch_unidentified
from calibration.inference.formatting import format_interval, format_number, round_significant
from calibration.inference.results import LEVEL, CalibrationResult
from calibration.tables.preferences import counted_tables
from calibration.user_model.model import PARAMETERS, OtherLaw, plain_name

AS_ONE = "same answers as one person"
"""Name of the law under which a group of workers is one person."""
MAX_NUMBERS = 6
"""Largest number of values in a sentence; of more, the one that moves most."""


def counted_people(
    tables: Mapping[str, pd.DataFrame], options: FitOptions
) -> tuple[Mapping[str, pd.DataFrame], tuple[SameAnswers, ...]]:
    """Return the tables whose rows count, and the workers who give the same answers.

    Each of them counts as one person by default.
    """
    counted = counted_tables(tables, exclude=options.exclude, complete_only=options.complete_only)
    if options.same_answers == "apart" and not options.checks:
        return counted, ()
    made = catch_unidentified(lambda: find_same_answers(counted))
    same_answers = () if isinstance(made, FitFailure) else made
    return (
        one_cluster(counted, same_answers) if options.same_answers == "one-cluster" else counted
    ), same_answers


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleFindings:
    """Findings about the people in tables, whatever is fitted to them.

    Attributes
    ----------
    of_tables : mapping of str to tuple of Finding
        Table -> what its checks say.
    same : tuple of SameAnswers
        Workers who give the same answers.
    is_one : bool
        Each group of them counts as one person already.
    as_one : mapping of str to CalibrationResult
        First parameter -> the fit with each group as one person; empty where there is none.
    """

    of_tables: Mapping[str, tuple[Finding, ...]]
    same: tuple[SameAnswers, ...]
    is_one: bool
    as_one: Mapping[str, CalibrationResult]

    def of(self, fit: CalibrationResult, tables: Collection[str]) -> list[Finding]:
        """Return the findings about a fit to these tables."""
        copies = [each.finding(as_one=self.is_one) for each in self.same if each.table in tables]
        as_one = self.as_one.get(next(iter(fit.parameters)))
        if as_one is not None:
            laws, numbers = _laws(as_one), _numbers(fit, as_one)
            copies = [replace(each, sentence=each.sentence + numbers, sensitivity=laws) for each in copies]
        return [*copies, *(finding for name in tables for finding in self.of_tables.get(name, ()))]

    @property
    def careless(self) -> pd.DataFrame:
        """Return workers whose answers look careless: worker, answers and probability."""
        rows = [
            (worker, table, round_significant(probability))
            for table, findings in self.of_tables.items()
            for finding in findings
            for worker, probability in sorted(finding.people.items())
        ]
        return pd.DataFrame(rows, columns=["worker", "answers", "probability"])


def _laws(as_one: CalibrationResult) -> dict[str, tuple[OtherLaw, ...]]:
    """Return the parameters of a user model with each group as one person."""
    known = {
        plain_name(name): value for name, value in as_one.parameters.items() if plain_name(name) in PARAMETERS
    }
    return other_laws(AS_ONE, "as well", known, as_one.conf_int(LEVEL).values()) if known else {}


def _numbers(fit: CalibrationResult, as_one: CalibrationResult) -> str:
    """Return a sentence with the numbers with each group as one person.

    With many numbers it gives only the one that moves most.
    """
    intervals = as_one.conf_int(LEVEL)
    both = [name for name in fit.parameters if name in as_one.parameters]
    if len(both) > MAX_NUMBERS:
        both = [max(both, key=lambda name: abs(fit.parameters[name] - as_one.parameters[name]))]
    each = (
        f"{name} {format_number(as_one.parameters[name])} {format_interval(intervals[name])}" for name in both
    )
    return f" With each group as one person: {', '.join(each)}." if both else ""
