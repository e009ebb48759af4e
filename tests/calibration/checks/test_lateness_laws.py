"""People who answer by another law than p0 L^lambda: named, with L under that law beside the number, which stays the model's."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import approx_fprime, minimize

from calibration.checks.lateness.crowd import (
    _careless,
    _height,
    crowd_with,
    crowd_with_careless,
    mean_decay,
)
from calibration.checks.lateness.floor import fit_floor
from calibration.checks.lateness.form import shape_test
from calibration.checks.registry import run_checks
from calibration.models.lateness.answers import lateness_counts
from calibration.models.lateness.fit import DECAY, fit_lateness
from calibration.models.lateness.likelihood import log_likelihood
from calibration.models.lateness.simulate import LatenessRaters, simulate_lateness, simulate_lateness_counts
from tests.calibration.checks.lateness_findings import drawn, studied, warned
from tests.calibration.models.lateness.lateness_answers import drawn as drawn_answers
from tests.calibration.models.lateness.lateness_answers import repeated, table


def holds(fit, findings, truth=0.5):
    """Say whether the interval or the range of other laws holds the truth."""
    laws = [law for finding in findings.values() for law in finding.sensitivity.get(DECAY, ())]
    low, high = fit.conf_int()[DECAY]
    lows = [law.estimate if law.low is None else law.low for law in laws]
    highs = [law.estimate if law.high is None else law.high for law in laws]
    return min([low, *lows]) <= truth <= max([high, *highs])


@pytest.mark.parametrize("raters", [{}, {"decay": 0.8}, {"workers": 20, "ratings_per_worker": 8}], ids=str)
def test_people_who_are_as_the_model_says_are_left_in_peace(raters, seeds):
    """No warning in nine studies of ten, all checks together."""
    assert (
        np.mean([not warned(findings) for _, findings in studied(len(seeds(40, least=15)), **raters)]) >= 0.9
    )


@pytest.mark.parametrize(
    "raters",
    [
        {"floor": 0.15},
        {"floor": 0.5, "workers": 25, "ratings_per_worker": 15},
        {"careless": 0.2},
        {"careless": 0.2, "careless_yes": 0.8},
        {"decay_concentration": 4.0},
    ],
    ids=str,
)
def test_other_people_are_held_by_the_interval_by_other_laws_or_by_a_named_cause(raters):
    """The rule of every number that is printed."""
    told = [holds(fit, findings) or bool(warned(findings)) for fit, findings in studied(20, **raters)]

    assert np.mean(told) >= 0.9


def test_a_check_moves_no_number():
    """The fit is the paper's model, whatever is found beside it."""
    fit, findings = studied(1, floor=0.3, workers=200)[0]

    assert "lateness_floor" in warned(findings)
    assert fit.params.tolist() == fit_lateness(drawn(0, floor=0.3, workers=200)).params.tolist()
    assert list(fit.parameters) == ["lateness_decay", "lateness_p0"]


def test_the_floor_of_highest_likelihood_is_where_a_general_optimiser_ends():
    """Over L, p0 and f at once."""
    counts = drawn(1, floor=0.2, workers=200)
    answers = (counts.level, counts.total_asked, counts.total_useful)
    top = minimize(
        lambda x: -log_likelihood(x[0], x[1], *answers, x[2]), [0.5, 0.8, 0.1], bounds=[(0.01, 0.99)] * 3
    )
    curve = fit_floor(counts)

    assert curve.loglik == pytest.approx(-top.fun, abs=1e-3)
    assert [curve.decay, curve.p0, curve.floor] == pytest.approx(top.x, abs=0.01)


def test_a_floor_that_cannot_be_told_is_said_with_the_decay_it_would_make():
    """A hundred right people leave a small floor open."""
    fit, findings = studied(4, workers=100)[3]
    finding = findings["lateness_floor"]

    assert finding.severity == "info"
    assert "do not show whether use levels off" in finding.sentence
    [law] = finding.sensitivity[DECAY]
    assert (law.law, law.explains) == ("floor", "as well")
    assert law.low < fit.conf_int()[DECAY][0]


def test_people_who_answer_alike_are_counted_and_accused_of_nothing():
    """A fifth of 50 people who answer yes by chance: L with and without them."""
    named = [
        (fit, findings) for fit, findings in studied(20, careless=0.2) if "alike_answers" in warned(findings)
    ]

    assert len(named) >= 17
    without = [findings["alike_answers"].sensitivity[DECAY][0].estimate for _, findings in named]
    assert np.median(without) == pytest.approx(0.5, abs=0.05)
    assert np.median([fit.params[DECAY] for fit, _ in named]) > 0.57
    said = named[0][1]["alike_answers"].sentence
    assert "of 50 workers answer alike" in said
    assert "exclude" not in said


def test_who_answers_alike_is_told_person_by_person():
    """The first ten do; hardly anybody else is taken for one."""
    _, people = crowd_with_careless(drawn(4, careless=0.2, careless_yes=0.8))

    assert people.share == pytest.approx(0.2, abs=0.12)
    assert people.posterior[:10].mean() > 0.8
    assert people.posterior[10:].mean() < 0.1


def test_workers_with_a_decay_of_their_own_are_told_from_those_who_do_not_look():
    """Beta(2, 2): only the cause that explains most warns, and says the mean, which the closest geometric curve misses."""
    studies = [warned(findings) for _, findings in studied(10, decay_concentration=4.0)]

    assert all("workers_decay_differently" in names for names in studies)
    assert sum("alike_answers" in names for names in studies) <= 1
    means = [
        mean_decay(crowd_with("own decay", drawn(seed, decay_concentration=4.0)).point) for seed in range(5)
    ]
    assert np.mean(means) == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize("law", [None, "floor", "own decay", "careless"])
def test_slopes_of_the_integrated_likelihood_are_its_slopes(law):
    """Against differences."""
    counts = drawn(1, workers=20)
    point = np.array([1.0, -0.3, 0.2, *([-0.7] if law in {"floor", "own decay"} else [])])
    careless = _careless(counts) + 5 if law == "careless" else None
    of = None if law == "careless" else law

    assert _height(point, counts, of, careless)[1] == pytest.approx(
        approx_fprime(point, lambda x: _height(x, counts, of, careless)[0], 1e-6), abs=1e-3
    )


def test_a_crowd_of_many_thousands_is_compared_by_some_of_them():
    """And everybody's posterior is told all the same."""
    _, people = crowd_with_careless(drawn(1, workers=1500, ratings_per_worker=4))

    assert len(people.posterior) == 1500


def test_nuggets_topics_and_alike_answers_stand_in_the_simulated_table():
    """The same answers by table and by counts."""
    raters = LatenessRaters(decay=0.5, nuggets=6, topics=3, nugget_sd=1.0, careless=0.3, floor=0.1)
    answers = simulate_lateness(raters, np.random.default_rng(5))
    counts = simulate_lateness_counts(raters, np.random.default_rng(5))

    assert (answers["nugget"].nunique(), answers["topic"].nunique()) == (6, 3)
    assert answers["useful"].sum() == counts.useful.sum()


# --- the shape


def shape(fit):
    return shape_test(*fit.estimates, fit.counts)


def test_a_curve_that_is_not_geometric_is_told():
    """Of use for one visit, then never: no L fits both, and nothing explains it."""
    fit = fit_lateness(
        lateness_counts(repeated((0, 80, 64), (1, 80, 62), (2, 80, 4), (3, 80, 3), workers=40))
    )
    [finding] = [one for one in run_checks(fit, fit.counts) if one.name == "not_geometric"]

    assert finding.severity == "warning"
    assert finding.p_value < 0.001
    assert "do not fall geometrically" in finding.sentence


def test_the_shape_test_keeps_its_size_when_workers_differ(seeds):
    """At 5 % about 5 of 100 geometric crowds are called otherwise, though answers of a worker are alike."""
    fits = [fit_lateness(drawn_answers(seed, decay=0.6, worker_sd=1.5)) for seed in seeds(150)]

    assert np.mean([shape(fit).p_value < 0.05 for fit in fits]) <= 0.12


def test_with_one_answer_a_worker_it_is_the_ordinary_likelihood_ratio():
    """2 (saturated - geometric) against chi-squared with levels - 2 degrees of freedom."""
    answers = simulate_lateness(
        LatenessRaters(decay=0.7, workers=3000, ratings_per_worker=1, worker_sd=0), np.random.default_rng(8)
    )
    fit = fit_lateness(lateness_counts(answers))
    share = fit.counts.total_useful / fit.counts.total_asked
    saturated = fit.counts.total_useful @ np.log(share)
    saturated += (fit.counts.total_asked - fit.counts.total_useful) @ np.log1p(-share)
    ratio = 2 * (saturated - fit.loglik)

    assert 3 * shape(fit).statistic == pytest.approx(ratio, rel=0.1)
    assert shape(fit).p_value == pytest.approx(stats.chi2.sf(ratio, 3), abs=0.03)


def test_two_levels_have_no_shape_to_test():
    """Any two shares lie on a geometric curve."""
    assert shape(fit_lateness(lateness_counts(repeated((0, 80, 64), (2, 80, 20))))) is None


def test_levels_that_hardly_anybody_saw_are_taken_together():
    """One yes at seven visits late is no evidence against the curve."""
    fit = fit_lateness(lateness_counts(repeated((0, 80, 64), (1, 80, 40), (2, 80, 20), (7, 1, 1))))

    assert shape(fit).p_value > 0.05


# --- the design


def test_weaknesses_of_the_data_are_named():
    """One level of lateness, few late yeses, other people asked about late updates."""
    weak = fit_lateness(
        lateness_counts(
            table(*[(f"early{n}", 0, n < 6) for n in range(8)], *[(f"late{n}", 2, n < 3) for n in range(8)])
        )
    )

    assert {one.name for one in run_checks(weak, weak.counts) if one.severity == "warning"} == {
        "one_late_level",
        "few_late_yeses",
        "different_workers",
        "few_workers",
        "few_topics",
    }
