"""People who answer by another law than p0 L^lambda: a floor, careless workers, workers with a decay of their own."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from calibration.inference.uncertainty import StudentT
from calibration.lateness.fit import DECAY, P0, LatenessFit, fit_lateness, fit_lateness_counts
from calibration.lateness.floor import fit_floor
from calibration.lateness.laws import _careless, _height, better_law, chosen_curve
from calibration.lateness.likelihood import (
    LatenessCounts,
    LatenessRaters,
    log_likelihood,
    simulate_lateness,
    simulate_lateness_counts,
)
from calibration.user_model.model import FLOOR


def drawn(seed: int, **raters) -> LatenessCounts:
    raters = {"decay": 0.5, **raters}
    return simulate_lateness_counts(LatenessRaters(**raters), np.random.default_rng([seed, 14]))


def fits(studies: int, **raters) -> list[LatenessFit]:
    return [fit_lateness_counts(drawn(seed, **raters)) for seed in range(studies)]


def warnings_of(fit: LatenessFit) -> set[str]:
    return {note.name for note in fit.diagnostics if note.severity == "warning"}


def sentence(fit: LatenessFit, name: str) -> str:
    return next(note.sentence for note in fit.diagnostics if note.name == name)


def holds(fit: LatenessFit, truth: float = 0.5) -> bool:
    low, high = fit.conf_int()[DECAY]
    return low <= truth <= high


# --- the right law


@pytest.mark.parametrize("raters", [{}, {"decay": 0.8}, {"workers": 20, "ratings_per_worker": 8}], ids=str)
def test_people_who_are_as_the_model_says_are_left_in_peace(raters):
    """No warning but of few workers in nine studies of ten, all tests together."""
    quiet = [not warnings_of(fit) - {"few_workers"} for fit in fits(40, **raters)]

    assert np.mean(quiet) >= 0.9


# --- a floor


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


def test_a_floor_that_can_be_told_is_in_the_model_and_the_plain_decay_in_words():
    """Four hundred people: the three numbers are found again, their intervals hold the truth."""
    fit = fit_lateness_counts(drawn(2, floor=0.2, workers=400))
    truth = {DECAY: 0.5, P0: 0.78, FLOOR: 0.2}

    assert "with a floor" in fit.method
    assert "lateness_floor" in warnings_of(fit)
    assert f"L would be {fit.details['plain_decay']:.2f}" in sentence(fit, "lateness_floor")
    assert fit.details["plain_decay"] > 0.6
    for name, (low, high) in fit.conf_int(0.999).items():
        assert low <= truth[name] <= high
    assert isinstance(fit.uncertainty["sandwich"], StudentT)
    assert fit.goodness_of_fit()[0].p_value > 0.01


def test_a_floor_is_named_or_the_interval_of_the_decay_allows_for_it():
    """With 50 people the best test finds .15 in a third of the studies; L comes out as .63, and the plain interval never held .5."""
    told = [holds(fit) or "lateness_floor" in warnings_of(fit) for fit in fits(40, floor=0.15)]

    assert np.mean(told) >= 0.9


def test_the_interval_allows_for_a_floor_of_one_half():
    """Twenty-five people cannot tell it: L comes out as .8, and the plain law would exclude .5."""
    told = [holds(fit) or warnings_of(fit) for fit in fits(10, floor=0.5, workers=25, ratings_per_worker=15)]

    assert np.mean([bool(one) for one in told]) >= 0.9


def test_the_interval_says_how_large_a_floor_it_allows_for():
    """Its lower end lies further away than the upper one; draws spread as far."""
    fit = fit_lateness_counts(drawn(3))
    low, high = fit.conf_int()[DECAY]
    draws = fit.draw_parameters(20_000, np.random.default_rng(1))[DECAY]

    assert "The lower end of the interval allows for it" in sentence(fit, "floor_left_open")
    assert np.log(fit.params[DECAY] / low) > 1.5 * np.log(high / fit.params[DECAY])
    assert np.quantile(draws, 0.025) == pytest.approx(low, rel=0.05)


def test_data_simulated_from_a_fit_with_a_floor_have_it_too():
    """The simulator of the fit draws from the chosen curve."""
    fit = fit_lateness_counts(drawn(2, floor=0.2, workers=400))
    again = fit_lateness(fit.simulate(20_000, np.random.default_rng(1)))

    assert again.params[FLOOR] == pytest.approx(fit.params[FLOOR], abs=0.06)


# --- careless workers


@pytest.mark.parametrize("yes", [0.5, 0.8])
def test_careless_workers_are_named_and_counted_and_set_apart(yes):
    """A fifth of 50 people who answer yes by chance; with everybody L comes out as .6 and more."""
    studies = fits(20, careless=0.2, careless_yes=yes)
    named = [fit for fit in studies if "careless_workers" in warnings_of(fit)]
    apart = [fit for fit in named if "careless workers apart" in fit.method]

    assert len(named) >= 18
    assert np.median([fit.params[DECAY] for fit in apart]) == pytest.approx(0.5, abs=0.05)
    assert np.median([fit.details["plain_decay"] for fit in apart]) > 0.57
    assert "of 50 workers answer alike" in sentence(apart[0], "careless_workers")
    assert apart[0].n_workers == 50


def test_who_is_careless_is_told_person_by_person():
    """The first ten are; hardly anybody else is taken for one."""
    counts = drawn(4, careless=0.2, careless_yes=0.8)
    found = chosen_curve(counts).found

    assert found is not None
    assert found.careless.share == pytest.approx(0.2, abs=0.12)
    assert found.careless.posterior[:10].mean() > 0.8
    assert found.careless.posterior[10:].mean() < 0.1


def test_workers_with_a_decay_of_their_own_are_told_from_careless_ones():
    """Beta(2, 2): their mean is said, which the closest geometric curve misses."""
    studies = fits(10, decay_concentration=4.0)

    assert all("workers_decay_differently" in warnings_of(fit) for fit in studies)
    assert sum("careless_workers" in warnings_of(fit) for fit in studies) <= 1
    means = [chosen_curve(drawn(seed, decay_concentration=4.0)).found.mean_decay for seed in range(5)]
    assert np.mean(means) == pytest.approx(0.5, abs=0.06)


# --- the likelihood


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
    counts = drawn(1, workers=1500, ratings_per_worker=4)

    assert len(better_law(0.5, 0.8, counts).careless.posterior) == 1500


def test_nuggets_and_carelessness_stand_in_the_simulated_table():
    """The same answers by table and by counts."""
    raters = LatenessRaters(decay=0.5, nuggets=6, nugget_sd=1.0, careless=0.3, floor=0.1)
    answers = simulate_lateness(raters, np.random.default_rng(5))
    counts = simulate_lateness_counts(raters, np.random.default_rng(5))

    assert answers["nugget"].nunique() == 6
    assert answers["useful"].sum() == counts.useful.sum()
