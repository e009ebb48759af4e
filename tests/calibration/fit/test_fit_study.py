"""A whole study in one model: every parameter, whose numbers no other table moves, and what the options do."""

from functools import lru_cache
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from calibration.fit.families import FitOptions
from calibration.fit.fit_files import INCHES, plot_names, write_plots
from calibration.fit.user_model_fit import UserModelFit, fit_user_model
from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.simulate import ObservationDesign
from calibration.simulate import SimulatedStudy, simulate_study
from calibration.tables.study_json import StudyRecord
from calibration.user_model.model import PARAMETERS, JointEntry, ParameterEntry, plain_name

STUDY = SimulatedStudy(
    workers=60, topics=8, items=10, diary=ObservationDesign(days=7, enrol_by_visit=0.5, withdrawn=0.05)
)
TRUTH = MappingProxyType(
    {
        "away_mean_seconds": 86_400.0,
        "away_sd_seconds": 86_400.0,
        "session_mean_seconds": 180.0,
        "session_sd_seconds": 90.0,
        "reading_speed_mu": 1.29,
        "reading_speed_sigma": 0.558,
        "lateness_decay": 0.6,
        "patience_chars_preferences": 840.0,
        "patience_chars_stops": 840.0,
        "rbp_p": 0.8,
        "push_P_E": 0.5,
        "push_S_E": 0.3,
        "push_P_0": 0.5,
        "push_S_0": 0.4,
    }
)


@lru_cache
def tables() -> MappingProxyType[str, pd.DataFrame]:
    return MappingProxyType(simulate_study(STUDY, np.random.default_rng(6)))


def some(*names: str) -> dict[str, pd.DataFrame]:
    """Return some of the tables."""
    return {name: tables()[name] for name in names}


VISITS = ("workers", "follows", "visits", "activity")


@lru_cache
def fitted(*names: str, checks: bool = True, **choices) -> UserModelFit:
    """Fit to some of the tables, by default to all."""
    options = FitOptions(checks=checks, **choices)
    return fit_user_model(some(*names) if names else tables(), seed=1, options=options)


def of(fit: UserModelFit, name: str) -> ParameterEntry:
    return fit.model.parameters[name]


def block(fit: UserModelFit, name: str) -> JointEntry:
    """Return the joint covariance that a parameter is in."""
    return next(one for one in fit.model.joint if name in one.names)


def test_a_whole_study_tells_every_parameter():
    """In the documented order, each in its documented unit; nothing is skipped. These people have no floor."""
    fit = fitted()
    units = {name: unit for name, unit in PARAMETERS.items() if name != "lateness_floor"}

    assert list(fit.model.parameters) == list(units)
    assert {name: entry.unit for name, entry in fit.model.parameters.items()} == units
    assert fit.skipped == ()


@pytest.mark.parametrize("name", TRUTH)
def test_the_truth_of_the_simulation_is_found_again(name):
    """Within 99.9 % intervals: one draw, seeded."""
    fit = fitted(level=0.999, checks=False)
    low, high = of(fit, name).interval

    assert low is None or low <= TRUTH[name]
    assert high is None or TRUTH[name] <= high


def test_parameters_that_were_fitted_together_have_a_joint_covariance():
    """For drawing: mean and deviation of one fit correlate strongly."""
    groups = [joint.names for joint in fitted().model.joint]

    assert groups == [
        ("away_mean_seconds", "away_sd_seconds"),
        ("session_mean_seconds", "session_sd_seconds"),
        ("reading_speed_mu", "reading_speed_sigma"),
        ("lateness_decay", "lateness_p0"),
        ("push_P_E", "push_S_E", "push_P_0", "push_S_0"),
    ]
    (var_m, cov), (_, var_s) = block(fitted(), "away_mean_seconds").covariance
    assert cov / (var_m * var_s) ** 0.5 > 0.5


@pytest.mark.parametrize(
    ("names", "families"),
    [
        (("follows", "visits", "lateness"), {"away", "session", "lateness"}),
        (("positions", "intents", "push_cells", "preferences", "stops"), {"push", "patience", "rbp"}),
    ],
)
def test_a_table_moves_no_parameter_but_its_own(names, families):
    """Each family draws random numbers of its own: with the tables of others missing, it is the same to the bit."""
    found = fitted(*names, checks=False).model.parameters

    assert {name.partition("_")[0] for name in found} == families
    for name, entry in found.items():
        assert (entry.estimate, entry.interval) == (of(fitted(), name).estimate, of(fitted(), name).interval)


def test_the_level_is_that_of_every_interval():
    """Wider at 99.9 %, and said so."""
    for name, entry in fitted(level=0.999, checks=False).model.parameters.items():
        assert entry.level == 0.999
        low, high = of(fitted(), name).interval
        assert entry.interval[0] is None or entry.interval[0] <= low
        assert entry.interval[1] is None or high is None or entry.interval[1] >= high


def test_a_bootstrap_on_request_is_the_default_interval():
    """Where the fit has one; its estimate stays."""
    boot = fitted("follows", "visits", "reads", "lateness", resamples=30, checks=False)

    assert of(boot, "reading_speed_mu").interval == of(fitted(), "reading_speed_mu").interval
    for name in ("away_mean_seconds", "session_mean_seconds"):
        assert next(iter(boot.results[name].uncertainty)) == "worker_bootstrap"


def test_only_who_completed_may_count():
    """Every tenth worker did not; how many were left out is said."""
    fit = fitted("workers", "reads", complete_only=True)

    assert of(fit, "reading_speed_mu").workers == 54
    notes = [note.sentence for note in of(fit, "reading_speed_mu").diagnostics]
    assert "6 incomplete workers are left out of every table." in notes


def test_visits_can_be_cut_anew():
    """At half an hour two visits become one more often: sessions come out longer."""
    short, long = (
        fitted(*VISITS, idle_threshold_seconds=seconds, checks=False) for seconds in (60.0, 1800.0)
    )

    assert of(short, "session_mean_seconds").estimate == pytest.approx(
        of(fitted(), "session_mean_seconds").estimate, rel=0.05
    )
    assert of(long, "session_mean_seconds").estimate > 1.1 * of(short, "session_mean_seconds").estimate
    sentences = [note.sentence for note in of(long, "session_mean_seconds").diagnostics]
    assert any("at silences longer than 1800 s (as asked for)" in sentence for sentence in sentences)
    assert any("cut at silences of 900, 1800, 3600 s" in sentence for sentence in sentences)


def test_visits_are_cut_from_activity_where_there_are_none():
    """A log of page events is enough."""
    fit = fitted("follows", "activity", checks=False)

    assert of(fit, "away_mean_seconds").estimate == pytest.approx(
        of(fitted(), "away_mean_seconds").estimate, rel=0.03
    )
    assert "visits_cut_anew" in [note.name for note in of(fit, "away_mean_seconds").diagnostics]


def test_visits_cannot_be_cut_from_nothing():
    """Refused before anything is fitted."""
    with pytest.raises(NotIdentifiedError, match="there is no table activity"):
        fitted("follows", "visits", idle_threshold_seconds=60.0)


def test_a_clock_that_runs_faster_stretches_times_away_alone():
    """Sessions are wall seconds: reading cannot be compressed."""
    record = StudyRecord.model_validate({"study": "fast", "clock": {"factor": 24.0}})
    fast = fit_user_model(some("follows", "visits"), seed=1, record=record, options=FitOptions(checks=False))
    usual = fitted("follows", "visits", checks=False)

    assert of(fast, "away_mean_seconds").estimate == pytest.approx(
        24 * of(usual, "away_mean_seconds").estimate, rel=1e-4
    )
    assert of(fast, "session_mean_seconds").estimate == pytest.approx(
        of(usual, "session_mean_seconds").estimate, rel=1e-3
    )
    assert fast.model.study == "fast"


def test_whom_the_visits_are_of_is_a_choice():
    """With everybody enrolled, a log of those who came at least once needs no correction: the two nearly agree here."""
    came = fitted(*VISITS[:3], inclusion="at_least_one_visit", checks=False)
    everybody = fitted(*VISITS[:3], checks=False)

    assert of(came, "away_mean_seconds").estimate != of(everybody, "away_mean_seconds").estimate
    assert of(came, "session_mean_seconds").estimate == pytest.approx(
        of(everybody, "session_mean_seconds").estimate, rel=0.1
    )


def test_each_language_has_reading_speeds_of_its_own():
    """Japanese in characters; names end in the language where there are several."""
    reads = tables()["reads"]
    japanese = reads.assign(language="ja", chars=2.0 * reads["words"], worker=reads["worker"] + "j")
    both = pd.concat([reads.assign(language="en"), japanese], ignore_index=True)
    options = FitOptions(checks=False)
    entries = fit_user_model({"reads": both}, seed=1, options=options).model.parameters

    assert list(entries) == [
        "reading_speed_mu[en]",
        "reading_speed_mu[ja]",
        "reading_speed_sigma[en]",
        "reading_speed_sigma[ja]",
    ]
    assert entries["reading_speed_mu[ja]"].unit == "log characters per second"
    assert entries["reading_speed_mu[ja]"].estimate == pytest.approx(
        entries["reading_speed_mu[en]"].estimate + np.log(2), abs=1e-3
    )


def test_judgments_of_pushes_are_not_missing_positions():
    """The table preferences holds those of every task; each fit takes its own."""
    names = [note.name for note in of(fitted(), "patience_chars_preferences").diagnostics]

    assert "pairs_without_positions" not in names
    assert of(fitted(), "patience_chars_preferences").rows == len(
        tables()["preferences"].loc[lambda rows: rows["task"] == "summaries"]
    )


def test_what_the_tests_of_a_model_say_is_a_diagnostic():
    """A warning where the model is rejected, so that nobody has to ask for it."""
    assert "visits_per_worker" in {note.name for note in of(fitted(), "away_mean_seconds").diagnostics}
    names = {plain_name(name) for name, entry in fitted().model.parameters.items() if entry.diagnostics}
    assert names == {*PARAMETERS} - {"lateness_floor", "patience_chars_spread", "away_session_correlation"}


def test_everything_can_be_drawn(tmp_path):
    """Every family has plots; each is one PNG and one SVG, the same to the byte each time."""
    pytest.importorskip("matplotlib")
    drawable = fitted().drawable
    plots = {f"{name}_{plot}" for name, fit in drawable.items() for plot in plot_names(fit)}
    some = {name: drawable[name] for name in ("intents", "patience_chars_stops")}
    first, again = (write_plots(some, tmp_path / folder).files for folder in ("first", "again"))

    families = {"away", "session", "reading", "lateness", "patience", "rbp", "push", "intents"}
    assert {name.partition("_")[0] for name in plots} == families
    assert not [name for name in plots if name.startswith("patience_chars_profile")]
    names = {path.name for path in first}
    assert {"intents_shrinkage.svg", "patience_chars_stops_survival.png"} <= names
    assert {path.stem for path in first} == {
        plot for plot in plots if plot.startswith(("intents", "patience_chars_stops"))
    }
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


class _Drawn:
    """A fit with three plots, two of which have nothing to show."""

    def plot_interval(self, ax, *, level):
        ax.set_title(f"{level:g}")

    def plot_nothing(self, ax, *, level):
        raise NotIdentifiedError("there is nothing to see")

    plot_void = plot_nothing


def test_a_plot_with_nothing_to_show_is_left_out_with_a_reason(tmp_path):
    """One line for all with the same reason; the others are drawn at the level that was asked for, and counted once."""
    pytest.importorskip("matplotlib")
    drawings = write_plots({"fit": _Drawn()}, tmp_path, level=0.8)

    assert [path.name for path in drawings.files] == ["fit_interval.png", "fit_interval.svg"]
    assert len(drawings) == 1
    assert [str(one) for one in drawings.skipped] == [
        "fit_nothing, fit_void: not drawn, there is nothing to see"
    ]
    assert ">0.8<" in (tmp_path / "fit_interval.svg").read_text()


def test_every_drawing_says_its_level_and_covers_no_data_with_its_legend():
    """No plot keeps 95 % when another level was asked for; titles say what to look for on a second line."""
    figure = pytest.importorskip("matplotlib.figure")
    for fit in fitted().drawable.values():
        for plot in plot_names(fit):
            drawn = figure.Figure(figsize=INCHES, layout="constrained")
            ax = drawn.add_subplot()
            getattr(fit, f"plot_{plot}")(ax, level=0.5)
            drawn.draw_without_rendering()
            told = [ax.get_xlabel(), *(text.get_text() for text in ax.get_legend().get_texts())]
            assert not any("95 %" in text for text in told)
            assert any("50 %" in text for text in told) or plot == "residuals"
            assert len(ax.get_title().splitlines()) == 2
            assert ax.get_legend().get_window_extent().y1 < ax.xaxis.label.get_window_extent().y0
            whole = drawn.get_tightbbox()
            assert min(whole.x0, whole.y0) >= 0
            assert whole.x1 <= INCHES[0]
            assert whole.y1 <= INCHES[1]
