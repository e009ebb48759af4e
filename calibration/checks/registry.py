"""Which checks belong to which model, in one table; nothing in `calibration.models` knows it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeAlias

from calibration.checks.finding import Finding
from calibration.checks.intents import breadth, few_people, one_beta, random_ticks
from calibration.checks.lateness import careless_answers as lateness_careless
from calibration.checks.lateness import design as lateness_design
from calibration.checks.lateness import floor as lateness_floor
from calibration.checks.lateness import form as lateness_form
from calibration.checks.lateness import nuggets_differ as lateness_nuggets
from calibration.checks.lateness import own_decays as lateness_own
from calibration.checks.reading import (
    alike_times,
    dwell_times,
    extra_time,
    fast_readers,
    items_differ,
    lengths,
    rows_left_out,
)
from calibration.checks.reading import form as reading_form
from calibration.models.intents import IntentFit
from calibration.models.lateness.fit import LatenessFit
from calibration.models.reading.fit import ReadingSpeedFit
from metrics.agreement.comparison import holm

Check: TypeAlias = Callable[[Any, Any], Finding | None]
"""``check(fit, data)``: the fit, and the very value that it was fitted to."""

CHECKS: Mapping[type, tuple[Check, ...]] = MappingProxyType(
    {
        LatenessFit: (
            lateness_floor.check_floor,
            lateness_careless.check_careless_answers,
            lateness_own.check_own_decays,
            lateness_form.check_form,
            lateness_nuggets.check_nuggets,
            lateness_design.check_few_late_yeses,
            lateness_design.check_levels,
            lateness_design.check_nugget_number,
            lateness_design.check_who_was_asked,
        ),
        ReadingSpeedFit: (
            alike_times.check_alike_times,
            extra_time.check_extra_time,
            fast_readers.check_fast_readers,
            lengths.check_range_of_lengths,
            lengths.check_time_per_item,
            items_differ.check_items,
            items_differ.check_item_number,
            dwell_times.check_shortest_time,
            reading_form.check_form,
            rows_left_out.check_rows_left_out,
            rows_left_out.check_lists,
            rows_left_out.check_interrupted,
        ),
        IntentFit: (
            random_ticks.check_random_ticks,
            breadth.check_everything,
            breadth.check_breadth,
            one_beta.check_one_beta,
            few_people.check_voters,
            few_people.check_ticks,
        ),
    }
)
"""Model -> its checks, in the order in which their findings are said."""

LEVEL = 0.05
"""Of a right model at most this share of studies is warned of, however many tests it has (Holm 1979)."""


def run_checks(fit: object, data: object) -> list[Finding]:
    """Run the checks of a fit on the data that it was fitted to, and say which findings warn.

    Parameters
    ----------
    fit : object
        Of a type in `CHECKS`; of any other there are no findings.
    data : object
        What the fit was computed from, as its ``fit_x`` took it.

    Returns
    -------
    list of Finding
        Warnings first. A finding with a p-value is a warning if Holm's step-down correction over all tests of this model
        rejects at `LEVEL`, and no finding that would explain the same thing explains more.
    """
    checks = CHECKS.get(type(fit), ())
    findings = [finding for check in checks if (finding := check(fit, data)) is not None]
    decided = decide(findings, tests=len(checks))
    return sorted(decided, key=lambda finding: finding.severity != "warning")


def decide(findings: Sequence[Finding], *, tests: int) -> list[Finding]:
    """Return findings with the severity that follows from their p-values, corrected over ``tests`` tests in all."""
    tested = [finding for finding in findings if finding.p_value is not None]
    silent = max(tests - len(findings), 0)  # checks that saw nothing count as tests that do not reject
    adjusted = holm([float(finding.p_value or 0) for finding in tested] + [1.0] * silent)
    rejected = {id(finding) for finding, p in zip(tested, adjusted, strict=False) if p < LEVEL}
    best: dict[str, float] = {}
    for finding in tested:
        if id(finding) in rejected and finding.explains:
            best[finding.explains] = max(finding.gain, best.get(finding.explains, finding.gain))
    return [
        finding
        if finding.p_value is None
        else replace(finding, severity="warning" if _warns(finding, rejected, best) else "info")
        for finding in findings
    ]


def _warns(finding: Finding, rejected: set[int], best: Mapping[str, float]) -> bool:
    is_best = not finding.explains or finding.gain >= best.get(finding.explains, finding.gain)
    return id(finding) in rejected and is_best
