"""Workers who give the same answers: whose rows a fit counts, and what its numbers are with each group as one person."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from calibration.checks.finding import Finding
from calibration.checks.same_answers import SameAnswers, find_same_answers, one_cluster
from calibration.fit.families import FitOptions
from calibration.fit.findings import family_of, shortened
from calibration.inference.attempts import Unmade, guarded
from calibration.inference.results import LEVEL, CalibrationResult
from calibration.inference.wording import shown, shown_interval
from calibration.tables.preferences import counted_tables
from calibration.user_model.model import OtherLaw, plain_name

AS_ONE = "same answers as one person"
"""The law under which a group of workers is one person."""
MOST_NUMBERS = 6
"""Of more numbers a sentence has the one that moves most."""
TABLES_OF: Mapping[str, tuple[str, ...]] = {
    "away": ("visits",),
    "session": ("visits",),
    "reading": ("reads",),
    "lateness": ("lateness",),
    "push": ("preferences",),
    "patience": ("preferences", "stops"),
    "persistence": ("stops",),
    "intents": ("intent_votes",),
    "quality": ("preferences", "importance"),
}
"""Family -> the tables whose same answers concern it."""


def counted_people(
    tables: Mapping[str, pd.DataFrame], options: FitOptions
) -> tuple[Mapping[str, pd.DataFrame], tuple[SameAnswers, ...]]:
    """Return the tables whose rows count, and the workers of them who give the same answers; these are one each if that is asked for."""
    counted = counted_tables(tables, exclude=options.exclude, complete_only=options.complete_only)
    if options.same_answers == "apart" and not options.simulations:
        return counted, ()
    made = guarded(lambda: find_same_answers(counted))
    found = () if isinstance(made, Unmade) else made
    return (one_cluster(counted, found) if options.same_answers == "one-cluster" else counted), found


def said_of_same_answers(
    fit: CalibrationResult,
    found: Sequence[SameAnswers],
    as_one: CalibrationResult | None,
    *,
    family: str | None = None,
    is_one: bool = False,
) -> tuple[CalibrationResult, list[Finding]]:
    """Return a fit with what is said of workers who give the same answers in its tables, and the findings.

    Parameters
    ----------
    fit : CalibrationResult
        Any fit.
    found : sequence of SameAnswers
        In all tables.
    as_one : CalibrationResult or None
        The same fit with each group as one person; None where there is none.
    family : str, optional
        Of the fit; by default that of its parameters.
    is_one : bool
        Each group counts as one person already.
    """
    tables = TABLES_OF[family or family_of(tuple(fit.parameters))]
    findings = [each.finding(as_one=is_one) for each in found if each.table in tables]
    if not findings:
        return fit, []
    if as_one is not None:
        findings = [replace(each, sentence=each.sentence + _numbers(fit, as_one)) for each in findings]
        if family is None:
            fit = fit.with_sensitivity(_laws(as_one))
    return fit.noted(*(finding.diagnostic for finding in findings)), findings


def _laws(as_one: CalibrationResult) -> dict[str, tuple[OtherLaw, ...]]:
    intervals = as_one.conf_int(LEVEL)
    return {
        plain_name(name): (
            shortened(
                OtherLaw(
                    law=AS_ONE,
                    estimate=value,
                    low=intervals[name][0],
                    high=intervals[name][1],
                    explains="as well",
                )
            ),
        )
        for name, value in as_one.parameters.items()
    }


def _numbers(fit: CalibrationResult, as_one: CalibrationResult) -> str:
    """Say what the numbers are with each group as one person; of many only that which moves most."""
    intervals = as_one.conf_int(LEVEL)
    both = [name for name in fit.parameters if name in as_one.parameters]
    if len(both) > MOST_NUMBERS:
        both = [max(both, key=lambda name: abs(fit.parameters[name] - as_one.parameters[name]))]
    each = (f"{name} {shown(as_one.parameters[name])} {shown_interval(intervals[name])}" for name in both)
    return f" With each group as one person: {', '.join(each)}." if both else ""
