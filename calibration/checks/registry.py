"""Which checks belong to which model, in one table; nothing in `calibration.models` knows it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeAlias

from calibration.checks.durations import (
    away_and_session,
    days_differ,
    drop_outs,
    few_people,
    gamma_rates,
    heavy_tails,
    hours_differ,
    interest_fades,
    regular_visits,
    session_trend,
    short_tails,
    split_sessions,
    topics_differ,
    two_kinds_of_people,
    visits_per_worker,
    watched_too_short,
)
from calibration.checks.finding import Finding
from calibration.checks.lateness import careless_answers as lateness_careless
from calibration.checks.lateness import design as lateness_design
from calibration.checks.lateness import floor as lateness_floor
from calibration.checks.lateness import form as lateness_form
from calibration.checks.lateness import nuggets_differ as lateness_nuggets
from calibration.checks.lateness import own_decays as lateness_own
from calibration.models.durations.fit import DurationFit
from calibration.models.lateness.fit import LatenessFit
from metrics.agreement.comparison import holm

Check: TypeAlias = Callable[[Any, Any], Finding | None]
"""``check(fit, data)``: the fit, and the very value that it was fitted to."""

CHECKS: Mapping[type, tuple[Check, ...]] = MappingProxyType(
    {
        DurationFit: (
            visits_per_worker.check_visits_per_worker,
            few_people.check_few_workers,
            days_differ.check_few_days,
            watched_too_short.check_silent,
            watched_too_short.check_extrapolated,
            watched_too_short.check_session_unit,
            regular_visits.check_regular_visits,
            interest_fades.check_interest_fades,
            drop_outs.check_drop_outs,
            days_differ.check_days,
            hours_differ.check_hours,
            heavy_tails.check_heavy_tails,
            gamma_rates.check_gamma_rates,
            gamma_rates.check_log_normal_means,
            short_tails.check_short_tails,
            two_kinds_of_people.check_two_kinds,
            topics_differ.check_topics,
            away_and_session.check_away_and_session,
            split_sessions.check_split_sessions,
            session_trend.check_session_trend,
        ),
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
