"""Which findings warn: Holm's correction counts tests, and no facts."""

import numpy as np
import pytest

from calibration.checks.finding import Finding
from calibration.checks.registry import CHECKS, decide, run_checks
from calibration.models.patience.simulate import Habits, simulate_stops
from calibration.models.patience.stops import StopsFit, fit_patience_from_stops, stops_of_texts


@pytest.mark.parametrize(("tests", "severity"), [(2, "warning"), (3, "info")])
def test_a_test_warns_only_if_it_still_rejects_beside_the_others(tests, severity):
    """p = .02: one of two tests, or of three."""
    fact = Finding(name="fact", sentence="A fact.", severity="warning")
    one = Finding(name="one", sentence="One.", p_value=0.02)

    assert [finding.severity for finding in decide([fact, one], tests=tests)] == ["warning", severity]


def test_facts_have_no_p_value_and_tests_have():
    """Of stops to a screen, some of them to the end: what each check returns is what its place in the registry says."""
    habits = Habits(screen_chars=300.0, finishers=0.3, patience_cv=0.6)
    stops = stops_of_texts(simulate_stops(1500, np.random.default_rng(1), longest=0.6, habits=habits))
    fit = fit_patience_from_stops(stops, rng=np.random.default_rng(1), resamples=20)
    row = CHECKS[StopsFit]
    tested, seen = (
        [finding for check in checks if (finding := check(fit, stops))] for checks in (row.tests, row.facts)
    )

    assert len(tested) + len(seen) >= 5
    assert all(finding.p_value is not None for finding in tested)
    assert all(finding.p_value is None for finding in seen)


@pytest.mark.parametrize(("p_value", "severity"), [(0.008, "warning"), (0.009, "info")])
def test_what_is_said_of_the_tables_of_a_fit_is_a_test_beside_its_own(p_value, severity):
    """Five tests of stops and one of the table: the least p must be below .05 / 6."""
    stops = stops_of_texts(simulate_stops(300, np.random.default_rng(1)))
    fit = fit_patience_from_stops(stops, rng=np.random.default_rng(1), resamples=20)
    same = Finding(name="same_answers", sentence="Alike.", p_value=p_value)

    assert {f.name: f.severity for f in run_checks(fit, stops, same)}["same_answers"] == severity
