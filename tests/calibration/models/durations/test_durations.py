"""Fits of times away and session lengths: recovery, intervals, what they say about themselves."""

import math

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from calibration.inference.formatting import shown_time
from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.exposure import CensoredDurations, WorkerTotals
from calibration.models.durations.fit import AWAY, SESSION, DurationFit, fit_exposure
from calibration.models.durations.from_tables import away_exposure, session_exposure
from calibration.models.durations.intervals import DurationProfile
from calibration.models.durations.maximum import maximum
from calibration.models.durations.simulate import ObservationDesign
from tests.calibration.models.durations.followers import HOUR, population, profile, simulated


def names(fit: DurationFit) -> list[str]:
    return [note.name for note in fit.diagnostics]


def holds(uncertainty: DurationProfile, truth: np.ndarray) -> list[bool]:
    intervals = uncertainty.intervals(0.95)[:2]
    return [
        (low is None or low <= x) and (high is None or x <= high)
        for x, (low, high) in zip(truth, intervals, strict=True)
    ]


# --- recovery
STUDIES = {
    "a plain week": ObservationDesign(workers=60),
    "everything that disturbs a study": ObservationDesign(
        workers=60,
        topics=2,
        days=5,
        factor=1.5,
        enrol_by_visit=0.6,
        late_by=0.5,
        withdrawn=0.2,
        material_seconds=300,
        remind_after_seconds=30 * HOUR,
        reminder_works=0.4,
    ),
}


@pytest.mark.parametrize(
    "study", [pytest.param("a plain week", marks=pytest.mark.soak), "everything that disturbs a study"]
)
def test_a_known_population_is_found_again_and_its_interval_holds_it(study, seeds):
    """M and S of times away and sessions, under disturbances that naive code does not survive."""
    diary = STUDIES[study]
    truth = np.array([[24 * HOUR, 24 * HOUR], [180, 180]])
    errors, held = [], []
    for seed in seeds(200, least=40):
        tables = simulated(diary, seed=seed)
        exposures = (away_exposure(tables, factor=diary.factor), session_exposure(tables))
        fits = [profile(exposure.totals()) for exposure in exposures]
        errors.append(np.log([[top.mean, top.sd] for top, _ in fits] / truth))
        held.append([holds(uncertainty, true) for (_, uncertainty), true in zip(fits, truth, strict=True)])

    assert (np.abs(np.median(errors, axis=0)) < 0.45 * np.std(errors, axis=0)).all()
    assert (np.mean(held, axis=0) >= 0.88).all()


def test_page_views_of_one_visit_do_not_lengthen_times_away(seeds):
    """Visits within five hours are one. Taken as it stands, M is too long, and nobody seems to differ."""
    fits, naive = [], []
    for seed in seeds(25, least=5):
        diary = ObservationDesign(workers=200, days=2, gap_seconds=5 * HOUR)
        tables = simulated(diary, seed=seed, people=population(24, 12))
        fits.append(maximum(away_exposure(tables, gap_seconds=5 * HOUR).totals()))
        naive.append(maximum(away_exposure(tables).totals()))

    assert np.median([fit.mean for fit in fits]) == pytest.approx(24 * HOUR, rel=0.06)
    assert np.median([fit.sd for fit in fits]) == pytest.approx(12 * HOUR, rel=0.25)
    assert np.median([fit.sd for fit in naive]) < 2 * HOUR


def test_who_is_only_in_the_data_by_coming_is_allowed_for(seeds):
    """A server log without a list of users: with zero truncation M is right, without it half as long."""
    with_term, without = [], []
    for seed in seeds(30, least=6):
        tables = simulated(ObservationDesign(workers=150, days=2), seed=seed, people=population(24, 24))
        exposure = away_exposure(tables, inclusion="at_least_one_visit")
        totals = exposure.totals()
        with_term.append(maximum(totals).mean / (24 * HOUR))
        without.append(maximum(WorkerTotals(events=totals.events, seconds=totals.seconds)).mean / (24 * HOUR))

    assert abs(np.median(with_term) - 1) < 0.15
    assert np.median(without) < 0.8


# --- what a fit says
def test_a_fit_has_names_units_and_counts():
    """Times away in stream seconds, sessions in wall seconds; the logarithms' covariance."""
    tables = simulated(ObservationDesign(workers=50, days=4))
    away, session = fit_exposure(away_exposure(tables)), fit_exposure(session_exposure(tables))

    assert tuple(away.parameters) == AWAY
    assert tuple(session.parameters) == SESSION
    assert (away.unit, session.unit) == ("stream seconds", "seconds")
    assert away.n_workers == 50
    assert away.n_rows == len(tables["visits"]) + away.n_censored
    assert session.n_rows == len(tables["visits"])
    assert away.aic == pytest.approx(4 - 2 * away.loglik)
    assert away.cov.shape == (5, 5)
    assert "away_mean_seconds: " in away.summary()


def test_workers_who_are_all_alike_are_reported_so():
    """S = 0 is an answer: the data show no difference."""
    exposure = away_exposure(simulated(ObservationDesign(workers=40), seed=1))
    even = CensoredDurations(
        unit=np.arange(40),
        follow=np.arange(40),
        start=np.zeros(40),
        stop=np.full(40, 5.0),
        event=np.ones(40, dtype=bool),
        follow_unit=np.arange(40),
        follow_seconds=np.full(40, 9.0),
        seen_by_seconds=None,
        design="count",
        read=exposure.read,
    )
    fit = fit_exposure(even)

    assert fit.parameters["session_sd_seconds"] == 0
    assert fit.parameters["session_mean_seconds"] == pytest.approx(5, rel=1e-5)
    assert "no_spread" in names(fit)
    assert fit.conf_int(method="profile")["session_sd_seconds"][0] == 0


def test_nobody_who_came_back_is_refused():
    """And visits that never ended by choice."""
    tables = simulated(ObservationDesign(workers=30, never_coming=1.0))
    with pytest.raises(NotIdentifiedError, match="nobody came back by themselves"):
        fit_exposure(away_exposure(tables))

    tables = simulated(ObservationDesign(workers=30))
    with pytest.raises(NotIdentifiedError, match="no visit ended because the worker left"):
        fit_exposure(session_exposure({"visits": tables["visits"].assign(end_reason="lost")}))


# --- plots, simulation
@pytest.mark.parametrize("exposure", [away_exposure, session_exposure])
def test_simulated_data_are_fitted_alike(exposure):
    """What the fit simulates has its M and S."""
    fit = fit_exposure(exposure(simulated(ObservationDesign(workers=100))))
    again = maximum(fit.simulate(5000, np.random.default_rng(1)))

    assert again.mean == pytest.approx(fit.estimates[0], rel=0.1)
    assert again.sd == pytest.approx(fit.estimates[1], rel=0.2)


@pytest.mark.parametrize("exposure", [away_exposure, session_exposure])
def test_plots_name_their_axes(exposure):
    """With units, and with the band of simulated studies; on whatever axes they are given."""
    with mpl.rc_context({"backend": "agg"}):
        fit = fit_exposure(exposure(simulated(ObservationDesign(workers=30))))
        left, right = Figure().subplots(1, 2)
        fit.plot_totals(left)
        fit.plot_qq(right, level=0.9)

    assert left.get_ylabel() == "share of workers with as many or more"
    assert fit.unit in right.get_ylabel()
    assert [text.get_text() for text in right.get_legend().get_texts()] == [
        "90 % of simulated studies",
        "workers",
    ]
    what = {"window": "Times away", "count": "Sessions"}[fit.design]
    assert all(ax.get_title().startswith(f"{what}: ") for ax in (left, right))


@pytest.mark.parametrize("plot", ["plot_totals", "plot_qq"])
def test_nothing_is_drawn_where_many_sessions_were_cut(plot):
    """When they would have been cut in a simulated study is not part of the model, and without a band nothing shows."""
    fit = fit_exposure(session_exposure(simulated(ObservationDesign(workers=30, material_seconds=200))))

    with pytest.raises(NotIdentifiedError, match="more than a tenth of the sessions were cut"):
        getattr(fit, plot)(Figure().subplots())


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(90.0, "90 s"), (600.0, "10 min"), (86400.0, "24 h"), (7 * 86400.0, "7 days"), (math.inf, "infinite")],
)
def test_times_are_told_in_a_unit_that_suits_them(seconds, said):
    """A sentence for a paper does not say 86400 seconds."""
    assert shown_time(seconds) == said
