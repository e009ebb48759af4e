"""Table of the checks of each model; no model imports it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from calibration.checks import few_people, inconsistent, uneven_sides
from calibration.checks.durations import (
    away_and_session,
    days_differ,
    drop_outs,
    gamma_rates,
    heavy_tails,
    hours_differ,
    interest_fades,
    interrupted_follows,
    regular_visits,
    session_trend,
    short_tails,
    split_sessions,
    topics_differ,
    two_kinds_of_people,
    visits_cut,
    visits_per_worker,
    watched_too_short,
)
from calibration.checks.durations import few_people as durations_people
from calibration.checks.finding import REJECTED, Finding
from calibration.checks.intents import breadth, few_voters, random_ticks
from calibration.checks.intents import one_beta as intent_beta
from calibration.checks.lateness import careless_answers as lateness_careless
from calibration.checks.lateness import design as lateness_design
from calibration.checks.lateness import floor as lateness_floor
from calibration.checks.lateness import form as lateness_form
from calibration.checks.lateness import nuggets_differ as lateness_nuggets
from calibration.checks.lateness import own_decays as lateness_own
from calibration.checks.patience import (
    careless_preferences,
    careless_stops,
    decay_form,
    intents_unknown,
    patience_differs,
    rounded_stops,
    stops_form,
    weak_decay,
)
from calibration.checks.patience import items_differ as patience_items
from calibration.checks.patience import rows_left_out as patience_rows
from calibration.checks.persistence import every_depth, finishers
from calibration.checks.persistence import one_beta as persistence_beta
from calibration.checks.push.collinear_cells import check_collinear_cells
from calibration.checks.push.own_weights import check_own_weights
from calibration.checks.push.pain_form import check_form
from calibration.checks.push.rows_left_out import check_pairs_without_cells, check_unequal_days
from calibration.checks.push.tie_labels import check_tie_labels
from calibration.checks.push.uneven_sides import check_side_bias
from calibration.checks.push.unexplained_pairs import check_unexplained_pairs
from calibration.checks.push.weak_gain import check_pushes_liked, check_weak_gain
from calibration.checks.reading import (
    alike_times,
    dwell_times,
    extra_time,
    fast_readers,
    lengths,
    own_scatter,
)
from calibration.checks.reading import form as reading_form
from calibration.checks.reading import items_differ as reading_items
from calibration.checks.reading import rows_left_out as reading_rows
from calibration.checks.tables import TABLE_TESTS
from calibration.inference.attempts import FitFailure, catch_unidentified
from calibration.inference.results import CalibrationResult
from calibration.models.durations.correlation import CorrelationFit
from calibration.models.durations.fit import DurationFit
from calibration.models.intents import IntentFit
from calibration.models.lateness.fit import LatenessFit
from calibration.models.patience.grid import GridFit
from calibration.models.patience.preferences import PreferencesFit
from calibration.models.patience.stops import StopsFit
from calibration.models.persistence import PersistenceFit
from calibration.models.push.alpha import AlphaFit
from calibration.models.push.weights import PushFit
from calibration.models.reading.fit import ReadingSpeedFit
from calibration.raters.measure import RaterMeasure
from metrics.agreement.comparison import holm

Check: TypeAlias = Callable[[Any, Any], Finding | None]
"""Function ``check(fit, data)`` of a fit and the value that it was fitted to."""


class ModelChecks(NamedTuple):
    """Checks of one model, in the order of their findings.

    Attributes
    ----------
    tables : tuple of str
        What it is fitted to: the findings of these tables are said of it, too.
    tests : tuple of Check
        They have p-values, which are corrected together; one that sees nothing counts as a test that does not reject.
    facts : tuple of Check
        What no test decides, such as few people.
    """

    tables: tuple[str, ...] = ()
    tests: tuple[Check, ...] = ()
    facts: tuple[Check, ...] = ()


CHECKS: Mapping[type, ModelChecks] = MappingProxyType(
    {
        DurationFit: ModelChecks(
            tables=("visits",),
            tests=(
                regular_visits.check_regular_visits,
                interest_fades.check_interest_fades,
                drop_outs.check_drop_outs,
                days_differ.check_days,
                hours_differ.check_hours,
                heavy_tails.check_heavy_tails,
                short_tails.check_short_tails,
                two_kinds_of_people.check_two_kinds,
                topics_differ.check_topics,
                away_and_session.check_away_and_session,
                split_sessions.check_split_sessions,
                session_trend.check_session_trend,
            ),
            facts=(
                interrupted_follows.check_without_follow,
                interrupted_follows.check_outside_follow,
                interrupted_follows.check_before_follow,
                interrupted_follows.check_ends,
                interrupted_follows.check_only_who_came,
                interrupted_follows.check_topics_never_opened,
                visits_cut.check_prompted,
                visits_cut.check_prompts,
                visits_cut.check_gap,
                visits_cut.check_closer_than_gap,
                visits_cut.check_without_length,
                visits_cut.check_exhausted,
                visits_per_worker.check_visits_per_worker,
                durations_people.check_few_workers,
                days_differ.check_few_days,
                watched_too_short.check_silent,
                watched_too_short.check_extrapolated,
                watched_too_short.check_session_unit,
                gamma_rates.check_gamma_rates,
                gamma_rates.check_log_normal_means,
            ),
        ),
        LatenessFit: ModelChecks(
            tables=("lateness",),
            tests=(
                lateness_floor.check_floor,
                lateness_careless.check_careless_answers,
                lateness_own.check_own_decays,
                lateness_form.check_form,
                lateness_nuggets.check_nuggets,
            ),
            facts=(
                lateness_design.check_few_late_yeses,
                lateness_design.check_levels,
                lateness_design.check_nugget_number,
                lateness_design.check_who_was_asked,
                few_people.check_few_workers,
                few_people.check_few_topics,
            ),
        ),
        PushFit: ModelChecks(
            tables=("preferences",),
            tests=(
                check_form,
                check_own_weights,
                check_pushes_liked,
                check_side_bias,
                check_tie_labels,
                check_unexplained_pairs,
            ),
            facts=(
                check_weak_gain,
                check_collinear_cells,
                few_people.check_workers_of_pushes,
                few_people.check_topics_of_pushes,
                check_pairs_without_cells,
                check_unequal_days,
            ),
        ),
        AlphaFit: ModelChecks(
            tables=("preferences",),
            tests=(
                check_form,
                check_own_weights,
                check_pushes_liked,
            ),
            facts=(
                few_people.check_workers_of_pushes,
                few_people.check_topics_of_pushes,
                check_pairs_without_cells,
                check_unequal_days,
            ),
        ),
        PreferencesFit: ModelChecks(
            tables=("preferences",),
            tests=(
                careless_preferences.check_answers_by_chance,
                patience_differs.check_judges,
                decay_form.check_decay_form,
            ),
            facts=(
                weak_decay.check_weak_decay,
                few_people.check_topics_of_pairs,
                patience_rows.check_pairs_left_out,
                intents_unknown.check_voted_intents,
                intents_unknown.check_uniform_intents,
                few_people.check_few_workers,
            ),
        ),
        GridFit: ModelChecks(
            tables=("preferences",),
            facts=(
                few_people.check_topics_of_pairs,
                patience_rows.check_pairs_left_out,
                intents_unknown.check_voted_intents,
                intents_unknown.check_uniform_intents,
                few_people.check_few_workers,
            ),
        ),
        StopsFit: ModelChecks(
            tables=("stops",),
            tests=(
                careless_stops.check_alike_stops,
                patience_items.check_texts,
                patience_differs.check_readers,
                stops_form.check_exponential,
                stops_form.check_straight_curve,
            ),
            facts=(
                patience_rows.check_texts_left_out,
                rounded_stops.check_rounded_stops,
                patience_rows.check_visits,
                weak_decay.check_texts_long_enough,
                few_people.check_few_workers,
            ),
        ),
        PersistenceFit: ModelChecks(
            tables=("stops",),
            tests=(
                finishers.check_finishers,
                persistence_beta.check_lists,
                persistence_beta.check_people,
                every_depth.check_every_depth,
            ),
            facts=(
                patience_rows.check_lists_left_out,
                weak_decay.check_lists_long_enough,
                few_people.check_few_workers,
            ),
        ),
        ReadingSpeedFit: ModelChecks(
            tables=("reads",),
            tests=(
                alike_times.check_alike_times,
                extra_time.check_extra_time,
                own_scatter.check_own_scatter,
                lengths.check_time_per_item,
                reading_items.check_items,
                reading_form.check_form,
            ),
            facts=(
                fast_readers.check_fast_readers,
                lengths.check_range_of_lengths,
                reading_items.check_item_number,
                dwell_times.check_shortest_time,
                reading_rows.check_rows_left_out,
                reading_rows.check_lists,
                reading_rows.check_interrupted,
                few_people.check_few_workers,
            ),
        ),
        IntentFit: ModelChecks(
            tables=("intent_votes",),
            tests=(
                random_ticks.check_random_ticks,
                breadth.check_everything,
                breadth.check_breadth,
                intent_beta.check_one_beta,
            ),
            facts=(
                few_voters.check_voters,
                few_voters.check_ticks,
            ),
        ),
        CorrelationFit: ModelChecks(tables=("visits",), facts=(few_people.check_few_workers,)),
        CalibrationResult: ModelChecks(facts=(few_people.check_few_workers,)),
        RaterMeasure: ModelChecks(
            facts=(
                inconsistent.check_repeats,
                uneven_sides.check_position_bias,
                few_people.check_few_clusters,
            ),
        ),
    }
)
"""Checks by class of result; the last are for results without own checks.

Checks of `CalibrationResult` are for a result whose class has no entry.
"""


def run_checks(fit: object, data: object, *of_tables: Finding) -> list[Finding]:
    """Run the checks of a fit on its data, and decide which findings warn.

    Parameters
    ----------
    fit : object
        Of a type in `CHECKS`; of any other there are no findings.
    data : object
        What the fit was computed from, as its ``fit_x`` took it.
    *of_tables : Finding
        What is said of the tables that it rests on.

    Returns
    -------
    list of Finding
        Warnings first. A finding with a p-value is a warning if Holm's step-down correction over all tests of this model
        and of its tables rejects at `REJECTED`, and no finding that would explain the same thing explains more.
    """
    row = CHECKS.get(type(fit), ModelChecks())
    findings = [said for check in (*row.tests, *row.facts) if (said := _said(check, fit, data)) is not None]
    tests = len(row.tests) + sum(TABLE_TESTS.get(name, 1) for name in row.tables)
    decided = decide([*findings, *of_tables], tests=tests)
    return sorted(decided, key=lambda finding: finding.severity != "warning")


def _said(check: Check, fit: object, data: object) -> Finding | None:
    """Return the finding of a check, or a note that it failed.

    A failed check does not stop the others.
    """
    finding = catch_unidentified(lambda: check(fit, data))
    if not isinstance(finding, FitFailure):
        return finding
    what = check.__name__.removeprefix("check_").replace("_", " ")
    return Finding(
        name="not_checked", severity="warning", sentence=f"The check of {what} failed: {finding.reason}."
    )


def decide(findings: Sequence[Finding], *, tests: int) -> list[Finding]:
    """Return findings with severities by corrected p-values.

    The correction is over ``tests`` tests in all.
    """
    tested = [finding for finding in findings if finding.p_value is not None]
    silent = max(tests - len(tested), 0)  # checks that saw nothing count as tests that do not reject
    adjusted = holm([float(finding.p_value or 0) for finding in tested] + [1.0] * silent)
    rejected = {id(finding) for finding, p in zip(tested, adjusted, strict=False) if p < REJECTED}
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
