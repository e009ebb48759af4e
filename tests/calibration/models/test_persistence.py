"""The persistence in ranked lists: what is counted, its interval, what is refused, and what is said where the law is not geometric."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from statsmodels.genmod.cov_struct import Independence
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_estimating_equations import GEE

from benchmarks.naive.patience import naive_mean_depth
from calibration.fit.families import FitInputs, FitOptions, persistence
from calibration.fit.user_model_fit import fit_user_model
from calibration.inference.results import NotIdentifiedError
from calibration.models.patience.simulate import simulate_stops
from calibration.models.persistence import (
    ListReaders,
    fit_persistence,
    list_steps,
    simulate_list_stops,
)
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES


def lists(*rows: dict[str, object]) -> pd.DataFrame:
    """Return table stops of lists of ten entries, four of which fill the first screen, read to rank 7 unless a row says otherwise."""
    usual = {"topic": "q", "system": "A", "chars_read": 0, "text_chars": 1050, "reached_end": False}
    usual |= {"rank_read": 7, "ranks": 10}
    named = [usual | {"worker": f"w{number}"} | row for number, row in enumerate(rows)]
    return check_frame(pd.DataFrame(named), TABLES["stops"])


def drawn(seed: int = 0, p: float = 0.8, **readers) -> pd.DataFrame:
    return simulate_list_stops(p, np.random.default_rng(seed), ListReaders(**readers))


def test_steps_count_from_the_first_entry_beyond_the_first_screen():
    """Rank 7 is two steps from rank 5 and a stop; rank 10 is five steps and no stop; rank 4 says nothing."""
    fit = fit_persistence(list_steps(lists({}, {"rank_read": 10}, {"rank_read": 4})))

    assert fit.parameters == {"rbp_p": 7 / 8}
    assert (fit.n_rows, fit.n_censored, fit.n_workers) == (2, 1, 2)


def test_only_lists_that_measure_people_and_not_the_screen_count():
    """Lists side by side, lists of one screen and texts are left out, and it is said how many."""
    others = [{"layout": "side_by_side"}, {"text_chars": 420}, {"rank_read": None, "ranks": None}]
    steps = list_steps(lists({}, {}, *others))

    assert fit_persistence(steps).n_rows == 2
    assert "1 lists stood side by side, 1 fit on one screen" in steps.unused


def test_estimate_and_interval_are_those_of_a_logistic_regression_clustered_by_worker():
    """Against statsmodels' estimating equations on one row a decision, whose covariance lacks the factor of few clusters."""
    fit = fit_persistence(list_steps(drawn(lists=240)))
    table = drawn(lists=240)
    beyond = table[table["rank_read"] > 3]
    decisions = [
        (row.worker, went)
        for row in beyond.itertuples()
        for went in [1] * (row.rank_read - 4) + [0] * (not row.reached_end)
    ]
    worker, went = zip(*decisions, strict=True)
    model = GEE(
        np.array(went), np.ones((len(went), 1)), groups=pd.factorize(np.array(worker))[0],
        family=Binomial(), cov_struct=Independence(),
    )  # fmt: skip
    reference = model.fit()
    people = fit.n_workers

    assert fit.estimates[0] == pytest.approx(1 / (1 + np.exp(-reference.params[0])))
    robust = fit.uncertainty["worker"].cov[0, 0]
    assert robust == pytest.approx(reference.cov_robust[0, 0] * people / (people - 1), rel=1e-6)


@pytest.mark.parametrize(("p", "readers"), [(0.8, {}), (0.9, {"ahead": 4, "entry_chars": 84.0, "ranks": 25})])
def test_the_persistence_of_simulated_readers_is_found_and_its_interval_holds_it(p, readers):
    """100 studies a row: no bias beyond chance, and coverage of 95 % intervals between 89 % and 99 %."""
    fits = [fit_persistence(list_steps(drawn(seed, p, **readers))) for seed in range(100)]
    estimates = np.array([fit.estimates[0] for fit in fits])
    held = np.mean([low <= p <= high for fit in fits for low, high in [fit.conf_int()["rbp_p"]]])

    assert abs(estimates.mean() - p) < 4 * estimates.std() / 10 + 0.002
    assert 0.89 <= held <= 0.99


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([{"layout": "side_by_side"}], "no stop in a ranked list longer than one screen"),
        ([{"rank_read": 3}, {"rank_read": 4}], "nobody read a ranked list beyond its first screen"),
        ([{"rank_read": 10}, {"reached_end": True}], "nobody stopped before the end"),
        ([{"rank_read": 5}, {"rank_read": 5}], "everybody stopped at the first entry"),
    ],
)
def test_what_tells_no_persistence_is_refused_with_its_reason(rows, why):
    """Neither 0 nor 1 is a persistence of rank-biased precision."""
    with pytest.raises(NotIdentifiedError, match=why):
        fit_persistence(list_steps(lists(*rows)))


def test_the_plot_shows_the_share_that_goes_on_beside_the_fitted_one():
    """The points are steps taken over readers at an entry; the dashed line is p; the band holds studies drawn from the fit."""
    fit = fit_persistence(list_steps(drawn()))
    ax = Figure().add_subplot()
    fit.plot_steps(ax, n_boot=19)
    people, fitted = ax.get_lines()

    assert people.get_xdata().tolist() == list(range(1, len(fit.at_risk) + 1))
    assert people.get_ydata()[0] == pytest.approx(1 - fit.stops[0] / fit.at_risk[0])
    assert set(fitted.get_ydata()) == {fit.estimates[0]}
    assert len(ax.collections) == 1


def test_the_mean_depth_overlooks_ends_and_first_screens():
    """1 - 1 / mean rank read: far from the .8 that drew the stops, in lists of 20 of which three entries are seen at once."""
    naive = naive_mean_depth(drawn())

    assert naive.estimates[0] == pytest.approx(1 - 1 / drawn()["rank_read"].mean())
    assert abs(naive.estimates[0] - 0.8) > 0.03 > abs(fit_persistence(list_steps(drawn())).estimates[0] - 0.8)


def test_a_fit_of_tables_has_it_by_language_and_leaves_lists_out_of_patience():
    """Two languages are two parameters; the patience with texts is the same with and without stops in lists."""
    both = pd.concat([drawn().assign(language="en"), drawn(1).assign(language="ja")])
    material = FitInputs(tables={"stops": both}, record=None, options=FitOptions(), seed=1)
    texts = simulate_stops(900, np.random.default_rng(3))
    beside = pd.concat([texts, drawn()], ignore_index=True)
    quick = replace(FitOptions(), checks=False, resamples=50)
    alone, mixed = (fit_user_model({"stops": rows}, seed=1, options=quick).params for rows in (texts, beside))

    assert [*persistence(material).results[1].parameters] == ["rbp_p[ja]"]
    assert mixed["patience_chars_stops"] == alone["patience_chars_stops"]
    assert "rbp_p" in mixed.index
    assert "rbp_p" not in alone.index
