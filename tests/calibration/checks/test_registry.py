"""Which findings warn: Holm's correction counts tests, and no facts."""

import numpy as np
import pytest

from calibration.checks.finding import Finding
from calibration.checks.registry import CHECKS, FACTS, decide
from calibration.models.patience.simulate import Habits, simulate_stops
from calibration.models.patience.stops import StopsFit, fit_stops, stops_of_texts


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
    fit = fit_stops(stops, rng=np.random.default_rng(1), resamples=20)
    said = [(check, finding) for check in CHECKS[StopsFit] if (finding := check(fit, stops))]

    assert len(said) >= 5
    assert all((finding.p_value is None) == (check in FACTS) for check, finding in said)
