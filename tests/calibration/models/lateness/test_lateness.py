"""The decay of lateness: its likelihood, its edges, whose answers count together, and what naive fits get wrong."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import assume, given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.optimize import minimize
from statsmodels.stats.proportion import proportion_confint

from benchmarks.naive.lateness import NAIVE, naive_unclustered, unclustered_error
from calibration.inference.clusters import sandwich
from calibration.inference.results import NotIdentifiedError
from calibration.models.lateness.answers import LatenessCounts, lateness_counts
from calibration.models.lateness.error import decay_uncertainty
from calibration.models.lateness.fit import DECAY, P0, fit_lateness, level_shares
from calibration.models.lateness.likelihood import (
    log_likelihood,
    maximum,
    scores_and_information,
    useful_probabilities,
)
from calibration.models.lateness.simulate import LatenessRaters, simulate_lateness, simulate_lateness_counts
from tests.calibration.models.lateness.lateness_answers import drawn, repeated, table


# --- the likelihood
def test_the_likelihood_is_that_of_single_answers_multiplied():
    """Brute force, with 0^0 = 1 at L = 0."""
    answers = table(("a", 0, True), ("a", 1, False), ("b", 2, True), ("b", 0, False), ("b", 3, False))
    counts = lateness_counts(answers)
    brute = sum(
        math.log(p if yes else 1 - p)
        for late, yes in zip(answers["visits_late"], answers["useful"], strict=True)
        for p in [0.7 * 0.6 ** int(late)]
    )

    totals = (counts.level, counts.total_asked, counts.total_useful)
    assert log_likelihood(0.6, 0.7, *totals) == pytest.approx(brute)
    assert useful_probabilities(0.0, 0.7, counts.level).tolist() == [0.7, 0, 0, 0]
    assert log_likelihood(0.0, 0.7, *totals) == -math.inf


@given(st.lists(st.tuples(st.integers(1, 30), st.floats(0, 1)), min_size=2, max_size=5))
def test_the_maximum_is_where_a_general_optimiser_ends(levels):
    """Inside and on every edge, against a bounded search from four starts."""
    asked = np.array([n for n, _ in levels], dtype=float)
    useful = np.array([round(n * share) for n, share in levels], dtype=float)
    assume(useful.sum() > 0)
    level = np.arange(len(levels), dtype=float)

    def loss(x: np.ndarray) -> float:
        return -max(log_likelihood(x[0], x[1], level, asked, useful), -1e10)

    best = min(
        minimize(
            loss, [decay, p0], method="Nelder-Mead", bounds=[(0, 1), (0, 1)], options={"xatol": 1e-9}
        ).fun
        for decay in (0.1, 0.9)
        for p0 in (0.1, 0.9)
    )
    decay, p0 = maximum(level, asked, useful)
    assert 0 <= decay <= 1
    assert 0 <= p0 <= 1
    assert -log_likelihood(decay, p0, level, asked, useful) <= best + 1e-6


def test_inside_it_is_the_binomial_model_with_a_logarithmic_link():
    """Estimates and errors clustered by worker are those of statsmodels, which knows no bounds."""
    answers = simulate_lateness(LatenessRaters(decay=0.6), np.random.default_rng(3))
    late = answers["visits_late"].to_numpy(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # this link may leave (0, 1), says statsmodels
        family = sm.families.Binomial(link=sm.families.links.Log())
        model = sm.GLM(answers["useful"].to_numpy(float), sm.add_constant(late), family=family)
        reference = model.fit(start_params=[-0.3, -0.5], tol=1e-12)
        scores = pd.DataFrame(model.score_obs(reference.params)).groupby(answers["worker"]).sum().to_numpy()
        bread = np.linalg.inv(-model.hessian(reference.params, observed=False))
    fit = fit_lateness(lateness_counts(answers))
    w = fit.n_workers
    by_worker, information = scores_and_information(*fit.estimates, fit.counts)
    errors = sandwich(by_worker[:, :2], information.sum(axis=0)[:2, :2])

    assert fit.estimates == pytest.approx(np.exp(reference.params[::-1]), abs=1e-6)
    assert fit.loglik == pytest.approx(reference.llf)
    assert errors[::-1, ::-1] == pytest.approx(bread @ scores.T @ scores @ bread * w / (w - 1), rel=1e-4)


def test_scores_are_slopes_of_the_likelihood():
    """Against central differences in (log L, log p0), summed over workers."""
    counts = drawn(1, decay=0.5)

    def loglik(log_decay: float, log_p0: float) -> float:
        p = (math.exp(log_decay), math.exp(log_p0))
        return log_likelihood(*p, counts.level, counts.total_asked, counts.total_useful)

    x, y, step = math.log(0.4), math.log(0.7), 1e-6
    slopes = [
        (loglik(x + step, y) - loglik(x - step, y)) / (2 * step),
        (loglik(x, y + step) - loglik(x, y - step)) / (2 * step),
    ]
    assert scores_and_information(0.4, 0.7, counts)[0].sum(axis=0)[:2] == pytest.approx(slopes, rel=1e-6)


def test_information_is_the_expected_fall_of_the_scores():
    """The mean of minus the second derivative: at the expected counts the slope of the summed score, negated."""
    counts = drawn(2, decay=0.5)
    p = useful_probabilities(0.4, 0.7, counts.level)
    expected = LatenessCounts(level=counts.level, asked=counts.asked, useful=counts.asked * p)
    step = 1e-6

    def score(log_decay: float) -> np.ndarray:
        return scores_and_information(math.exp(log_decay), 0.7, expected)[0].sum(axis=0)

    fall = -(score(math.log(0.4) + step) - score(math.log(0.4) - step)) / (2 * step)
    assert scores_and_information(0.4, 0.7, expected)[1].sum(axis=0)[0] == pytest.approx(fall, rel=1e-5)


# --- recovery and coverage
@pytest.mark.parametrize(
    "raters",
    [
        {"decay": 0.5},
        {"decay": 0.1, "workers": 20},
        {"decay": 0.95},
        {"decay": 0.9, "p0": 0.95, "ratings_per_worker": 8},
        {"decay": 1.0},
        {"decay": 0.0},
    ],
    ids=str,
)
def test_a_known_decay_is_found_again_and_its_interval_holds_it(raters):
    """Workers differ in how often anything is of use to them; at 0 and 1 the bounds hold by construction."""
    fits = [fit_lateness(drawn(seed, **raters)) for seed in range(40)]
    estimates = np.array([fit.params[DECAY] for fit in fits])

    assert abs(np.median(estimates) - raters["decay"]) <= estimates.std() / 3 + 1e-12
    held = [low <= raters["decay"] <= high for low, high in (fit.conf_int()[DECAY] for fit in fits)]
    assert np.mean(held) >= 0.87


def test_answers_as_independent_ones_are_too_sure_when_workers_decay_differently(seeds):
    """Workers' own L scatter (Beta); the target is the geometric curve closest to the average."""
    own = {"decay": 0.5, "decay_concentration": 4.0}
    target = fit_lateness(drawn(1, workers=5_000, **own)).params[DECAY]
    fits = [fit_lateness(drawn(seed, **own)) for seed in seeds(100)]
    ours = [low <= target <= high for low, high in (fit.conf_int()[DECAY] for fit in fits)]
    naive = [unclustered_error(*fit.estimates, fit.counts).intervals(0.95)[0] for fit in fits]

    assert np.mean(ours) >= 0.88
    assert np.mean([low <= target <= high for low, high in naive]) < 0.85


def test_draws_are_as_wide_as_the_interval():
    """A metric that is computed for each draw carries the same uncertainty."""
    fit = fit_lateness(drawn(3, decay=0.5))
    draws = fit.draw_parameters(20_000, np.random.default_rng(1))

    for name, (low, high) in fit.conf_int().items():
        assert np.quantile(draws[name], [0.025, 0.975]) == pytest.approx([low, high], rel=0.03)


def test_draws_at_zero_spread_below_the_bound():
    """One in twenty lies above the 95 % bound."""
    fit = fit_lateness(lateness_counts(repeated((0, 40, 32), (1, 40, 0), (2, 40, 0))))
    draws = fit.draw_parameters(20_000, np.random.default_rng(1))[DECAY]

    assert np.mean(draws > fit.conf_int()[DECAY][1]) == pytest.approx(0.05, abs=0.01)


def test_intervals_of_shares_allow_for_workers():
    """Wilson's interval with the answers divided by the design effect; for one answer a worker it is Wilson's."""
    single = lateness_counts(
        table(*[(f"w{n}", 0, n < 30) for n in range(40)], *[(f"x{n}", 1, n < 10) for n in range(40)])
    )
    grouped = lateness_counts(
        table(
            *[(f"w{n // 10}", 0, n < 30) for n in range(40)], *[(f"w{n // 10}", 1, n < 10) for n in range(40)]
        )
    )
    wilson = proportion_confint(30, 40, method="wilson")

    assert tuple(end[0] for end in level_shares(single)[1:]) == pytest.approx(wilson, abs=0.01)
    assert np.ptp([end[0] for end in level_shares(grouped)[1:]]) > 2 * np.ptp(wilson)


def test_the_picture_shows_shares_and_the_fitted_curve():
    """Labelled axes; the curve starts at p0."""
    fit = fit_lateness(drawn(3, decay=0.5))
    ax = Figure().subplots()
    fit.plot_proportions(ax)

    assert (ax.get_xlabel(), ax.get_ylabel()) == ("visits late", "share still of use")
    curve = max(ax.get_lines(), key=lambda line: len(line.get_xdata()))
    assert curve.get_ydata()[0] == pytest.approx(fit.params[P0])


# --- naive fits
def test_naive_fits_have_the_bias_that_their_descriptions_name():
    """L = .5, p0 = .8: lumped to .2, too low with p0 at 1; L = .1: too high by the line through logarithms."""
    rng = np.random.default_rng(5)
    half = simulate_lateness(LatenessRaters(decay=0.5, workers=300), rng)
    tenth = [simulate_lateness(LatenessRaters(decay=0.1), rng) for _ in range(20)]

    assert NAIVE["lumped"](half).params[DECAY] == pytest.approx(0.234, abs=0.03)
    assert NAIVE["certain_in_time"](half).params[DECAY] < 0.46
    assert fit_lateness(lateness_counts(half)).params[DECAY] == pytest.approx(0.5, abs=0.03)
    assert np.mean([NAIVE["log_regression"](one).params[DECAY] for one in tenth]) > 0.115
    assert np.mean([fit_lateness(lateness_counts(one)).params[DECAY] for one in tenth]) == pytest.approx(
        0.1, abs=0.02
    )


@pytest.mark.parametrize("name", NAIVE)
def test_naive_fits_report_like_the_others_and_refuse_like_them(name):
    """They can stand beside the fit in one table."""
    answers = repeated((0, 40, 30), (1, 40, 18), (2, 40, 8))

    assert DECAY in NAIVE[name](answers).entries()
    with pytest.raises(NotIdentifiedError):
        NAIVE[name](table(("a", 1, True), ("b", 2, False)))


def test_without_clusters_there_is_no_error_at_an_edge():
    """The model's own curvature knows nothing there, and the baseline says so."""
    assert not naive_unclustered(repeated((0, 40, 32), (1, 40, 0))).uncertainty


# --- simulation
def test_simulated_tables_and_counts_are_the_same_answers():
    """The short way for benchmarks draws nothing else."""
    raters = LatenessRaters(decay=0.7, decay_concentration=6.0)
    by_table = lateness_counts(simulate_lateness(raters, np.random.default_rng(1)))
    by_count = simulate_lateness_counts(raters, np.random.default_rng(1))

    assert by_table.useful.tolist() == by_count.useful.tolist()
    assert by_table.asked.tolist() == by_count.asked.tolist()


def test_data_simulated_from_a_fit_have_its_parameters():
    """And its levels of lateness."""
    fit = fit_lateness(drawn(3, decay=0.5))
    again = fit_lateness(lateness_counts(fit.simulate(30_000, np.random.default_rng(1))))

    assert again.estimates == pytest.approx(fit.estimates, abs=0.02)
    assert again.n_workers == fit.n_workers


def test_the_covariance_inside_is_on_logarithm_and_logit():
    """So that it can be joined with others and brought to the natural scale."""
    counts = drawn(3, decay=0.5)
    fit = fit_lateness(counts)
    error = decay_uncertainty(*fit.estimates, counts)
    scores, information = scores_and_information(*fit.estimates, counts)
    plain = sandwich(scores[:, :2], information.sum(axis=0)[:2, :2])

    decay, p0 = fit.estimates
    assert fit.natural_cov == pytest.approx(plain * np.outer(fit.estimates, fit.estimates))
    assert error.cov[0, 0] == pytest.approx(plain[0, 0])
    assert fit.se[P0] == pytest.approx(p0 * math.sqrt(plain[1, 1]))
    assert fit.se[DECAY] == pytest.approx(decay * math.sqrt(plain[0, 0]))


def test_few_nuggets_cost_degrees_of_freedom_only_as_far_as_the_variance_is_theirs():
    """Ten nuggets differ in how often anything is of use, which moves p0 but hardly L: the interval of L is as wide as its spread asks for."""
    raters = LatenessRaters(decay=0.5, nuggets=10, nugget_sd=1.0)
    fits = [
        fit_lateness(simulate_lateness_counts(raters, np.random.default_rng([seed, 77])))
        for seed in range(60)
    ]
    logs = np.log([fit.parameters["lateness_decay"] for fit in fits])
    df = np.median([fit.uncertainty["sandwich"].df for fit in fits], axis=0)
    widths = [np.log(high / low) for low, high in (fit.conf_int()["lateness_decay"] for fit in fits)]

    assert df[1] < 25 < df[0]
    assert np.median(widths) / (2 * 1.96 * logs.std()) < 1.4
