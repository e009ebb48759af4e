"""The decay of lateness at its edges, and what cannot be told of it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logit
from statsmodels.stats.proportion import proportion_confint

from calibration.inference.results import NotIdentifiedError
from calibration.models.lateness.answers import lateness_counts
from calibration.models.lateness.fit import DECAY, P0, fit_lateness
from calibration.models.lateness.simulate import LatenessRaters, simulate_lateness
from tests.calibration.models.lateness.lateness_answers import drawn, names, repeated, table


def test_without_a_late_yes_the_bound_is_clopper_and_pearsons_over_p0():
    """L = 0 with a standard error of 0 would be false certainty: 40 noes allow L up to about 3 / 40 / p0."""
    fit = fit_lateness(lateness_counts(repeated((0, 40, 32), (1, 40, 0), workers=40)))
    (estimate, (low, high)) = fit.params[DECAY], fit.conf_int()[DECAY]
    error = fit.uncertainty["sandwich"]
    one_sided = proportion_confint(0, error.effective[1], alpha=0.1, method="beta")[1]

    assert (estimate, low) == (0, 0)
    assert high == pytest.approx(one_sided / 0.8)
    assert 0.08 < high < 0.11
    assert math.isnan(fit.se[DECAY])
    assert "decay_at_zero" in names(fit)


def test_noes_of_very_late_updates_hardly_bound_the_decay():
    """An update four visits late would be of no use at L = .3 either, so it does not count like one a visit late."""
    soon = fit_lateness(lateness_counts(repeated((0, 40, 32), (1, 40, 0), workers=40)))
    late = fit_lateness(lateness_counts(repeated((0, 40, 32), (4, 40, 0), workers=40)))

    assert late.conf_int()[DECAY][1] == pytest.approx(soon.conf_int()[DECAY][1] ** 0.25, rel=0.1)


def test_the_bound_is_where_no_late_yes_at_all_has_the_remaining_probability():
    """The product over levels of (1 - p0 L^lambda)^n is .05, n divided by the design effect."""
    fit = fit_lateness(lateness_counts(repeated((0, 40, 32), (1, 20, 0), (3, 30, 0), workers=40)))
    bound, n = fit.conf_int()[DECAY][1], fit.uncertainty["sandwich"].effective

    assert (1 - 0.8 * bound) ** n[1] * (1 - 0.8 * bound**3) ** n[2] == pytest.approx(0.05)


def test_few_workers_get_students_t_instead_of_the_normal():
    """On log L and on logit p0, with workers - 1 degrees of freedom; at an edge one-sided."""
    fit = fit_lateness(drawn(3, decay=0.5, workers=6))
    (_, high), (p_low, p_high) = fit.conf_int().values()
    decay_error, p0_error = np.sqrt(np.diag(fit.cov))
    edge = fit_lateness(lateness_counts(repeated((0, 60, 40), (1, 60, 45), (2, 60, 44), workers=6)))

    assert math.log(high / fit.params[DECAY]) == pytest.approx(stats.t.ppf(0.975, 5) * decay_error)
    assert logit(p_high) - logit(p_low) == pytest.approx(2 * stats.t.ppf(0.975, 5) * p0_error)
    assert -math.log(edge.conf_int()[DECAY][0]) == pytest.approx(
        stats.t.ppf(0.95, 5) * math.sqrt(edge.cov[0, 0])
    )


def test_the_bound_at_zero_is_wider_when_workers_answer_alike():
    """Ten people who each say the same forty times are not four hundred people."""
    alike = table(
        *[(f"w{w}", late, late == 0 and w < 8) for w in range(10) for late in (0, 1) for _ in range(40)]
    )
    mixed = repeated((0, 400, 320), (1, 400, 0), workers=10)

    assert (
        fit_lateness(lateness_counts(alike)).conf_int()[DECAY][1]
        > 10 * fit_lateness(lateness_counts(mixed)).conf_int()[DECAY][1]
    )


def test_late_updates_of_more_use_than_early_ones_give_a_decay_of_one_with_a_lower_bound():
    """The unbounded model would say L > 1."""
    fit = fit_lateness(lateness_counts(repeated((0, 60, 40), (1, 60, 45), (2, 60, 44))))
    low, high = fit.conf_int()[DECAY]

    assert fit.params[DECAY] == high == 1
    assert fit.params[P0] == pytest.approx(129 / 180)
    assert 0.85 < low < 1
    assert fit.conf_int(0.99)[DECAY][0] < low
    assert "decay_at_one" in names(fit)


def test_if_every_update_in_time_was_of_use_p0_is_one_with_a_lower_bound():
    """The decay is then told by the late ones alone."""
    fit = fit_lateness(lateness_counts(repeated((0, 50, 50), (1, 50, 24), (2, 50, 13))))
    low, high = fit.conf_int()[P0]

    assert fit.params[P0] == high == 1
    assert 0.5 < low < 1
    assert fit.params[DECAY] == pytest.approx(0.49, abs=0.02)
    assert fit.conf_int()[DECAY][0] < 0.49 < fit.conf_int()[DECAY][1]


@pytest.mark.parametrize(
    "levels", [((0, 9, 9), (1, 9, 9)), ((0, 9, 9), (1, 9, 0))], ids=["all yes", "all late no"]
)
def test_answers_without_any_variation_still_have_bounds_and_draws(levels):
    """Both parameters on an edge at once; a worker's answers then count as one."""
    fit = fit_lateness(lateness_counts(repeated(*levels, workers=3)))
    draws = fit.draw_parameters(200, np.random.default_rng(1))

    assert all(low < high for low, high in fit.conf_int().values())
    assert all(np.ptp(of) > 0.05 and of.min() >= 0 and of.max() <= 1 for of in draws.values())


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 40), st.sampled_from([0.5, 0.9, 0.99]))
def test_intervals_hold_the_estimate_within_zero_and_one_and_grow_with_the_level(late, later, in_time, level):
    """Whatever the counts."""
    fit = fit_lateness(lateness_counts(repeated((0, 40, in_time), (1, 40, late), (3, 40, later))))
    for name, (low, high) in fit.conf_int(level).items():
        wider = fit.conf_int((1 + level) / 2)[name]
        assert 0 <= wider[0] <= low <= fit.params[name] <= high <= wider[1] <= 1


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (table(), "nobody was asked whether"),
        (table(("a", 1, True), ("b", 2, False)), "update in time"),
        (table(("a", 0, True), ("b", 0, False)), "late update"),
        (table(("a", 0, False), ("b", 1, False)), "of use to anybody"),
    ],
    ids=["no rows", "none in time", "none late", "no yes"],
)
def test_what_cannot_be_told_is_refused_by_name(answers, why):
    """Without ratings at lambda = 0 there is no p0, and with p0 fixed L would be wrong."""
    with pytest.raises(NotIdentifiedError, match=why):
        fit_lateness(lateness_counts(answers))


def test_a_single_worker_gives_an_estimate_without_an_interval():
    """Nothing is known about other workers."""
    fit = fit_lateness(lateness_counts(repeated((0, 40, 30), (1, 40, 15), workers=1)))

    assert fit.conf_int() == {DECAY: (None, None), P0: (None, None)}


def test_order_and_names_do_not_matter():
    """Pseudonyms and the order of rows are arbitrary."""
    answers = simulate_lateness(LatenessRaters(decay=0.5, workers=20), np.random.default_rng(2))
    other = answers.sample(frac=1, random_state=3, ignore_index=True)
    other = other.assign(worker="x" + other["worker"])

    assert fit_lateness(lateness_counts(other)).conf_int() == {
        name: pytest.approx(ends) for name, ends in fit_lateness(lateness_counts(answers)).conf_int().items()
    }
