"""One family that cannot be fitted takes no other with it, whatever went wrong."""

import logging

import numpy as np
import pytest

from calibration.fit import families as fit_families
from calibration.fit import user_model_fit as fit_module
from calibration.fit.user_model_fit import UserModelFit
from calibration.inference.attempts import FitFailure, catch_unidentified, try_fit
from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.fit import AWAY, SESSION
from calibration.models.durations.simulate import ObservationDesign
from calibration.simulate import SimulatedStudy, simulate_study
from calibration.user_model.model import PARAMETERS
from tests.calibration.fit.test_fit import fitted, study

EXPLAINED = (
    "an error that prefcal did not expect stopped this: math range error (OverflowError); please report it"
)


def broken(*_, **__):
    raise OverflowError("math range error")


@pytest.fixture(scope="module")
def whole_study():
    """All tables of a small study, without what is only slow."""
    tables = simulate_study(
        SimulatedStudy(workers=30, topics=5, items=10, diary=ObservationDesign(days=7)),
        np.random.default_rng(2),
    )
    return {name: table for name, table in tables.items() if name != "activity"}


def skipped(fit: UserModelFit) -> dict[str, str]:
    return {name: one.reason for one in fit.skipped for name in one.names}


def test_a_known_refusal_is_said_in_its_own_words():
    """It is about the tables."""

    def refused():
        raise NotIdentifiedError("nobody reads")

    (one,) = try_fit(["a", "b"], refused).skipped
    assert (str(one), one.unexpected) == ("a, b: nobody reads", False)


def test_an_unexpected_error_is_named_and_called_a_fault_of_prefcal(caplog):
    """In words that its finder can report; the traceback is there for those who ask for it."""
    with caplog.at_level(logging.DEBUG, logger="calibration.inference.attempts"):
        (one,) = try_fit(["a"], broken).skipped

    assert one.unexpected
    assert one.reason.startswith(EXPLAINED)
    assert "in broken" in caplog.text


def test_an_error_without_words_is_called_by_its_kind():
    """As AssertionError often is."""

    def silent():
        raise AssertionError

    made = catch_unidentified(silent)
    assert isinstance(made, FitFailure)
    assert "stopped this: AssertionError; please" in made.reason


def test_ctrl_c_is_no_error_of_a_fit():
    """Whoever ends the command ends all of it."""

    def ended():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        catch_unidentified(ended)


@pytest.mark.parametrize(
    "places",
    [
        {"fit_reading_speed": ["reading_speed_mu", "reading_speed_sigma"], "fit_push_alpha": ["push_alpha"]},
        {"fit_exposure": [*AWAY, *SESSION], "fit_patience": ["patience_chars"]},
    ],
)
def test_no_family_takes_another_with_it(places, whole_study, monkeypatch):
    """All that the tables tell otherwise stays in the model."""
    for place in places:
        monkeypatch.setattr(fit_families, place, broken)
    fit = fitted(whole_study, checks=False, resamples=20)

    names = {name for those in places.values() for name in those}
    lost = names | {name for name in PARAMETERS if name.startswith("patience") and "patience_chars" in names}
    lost |= {"lateness_floor"}  # in the model only where the data tell it
    assert set(fit.model.parameters) == set(PARAMETERS) - lost
    assert {name: reason.startswith(EXPLAINED) for name, reason in skipped(fit).items()} == dict.fromkeys(
        names, True
    )


def test_one_source_of_patience_leaves_the_others(monkeypatch):
    """And the default is taken from what is left."""
    monkeypatch.setattr("calibration.models.patience.preferences.fit_patience_from_preferences", broken)
    fit = fitted(study(), checks=False)

    assert list(fit.model.parameters) == [
        "patience_chars",
        "patience_chars_stops",
        "patience_chars_grid",
        "patience_chars_spread",
    ]
    assert skipped(fit)["patience_chars_preferences"].startswith(EXPLAINED)


def test_intents_that_cannot_be_fitted_leave_the_parameters(monkeypatch):
    """P(i|q) is then the collection's, or equal."""
    monkeypatch.setattr(fit_module, "fit_intents", broken)
    fit = fitted(study(), checks=False)

    assert fit.model.intents == {}
    assert "patience_chars" in fit.model.parameters
    assert skipped(fit)["intents"].startswith(EXPLAINED)


def test_an_interval_that_cannot_be_computed_costs_its_own_fit_only(monkeypatch):
    """The model is put together from the others."""
    monkeypatch.setattr("calibration.inference.uncertainty.LikelihoodCurve.intervals", broken)
    fit = fitted(study(), checks=False)

    assert "patience_chars_stops" in fit.model.parameters
    assert "patience_chars_preferences" not in fit.model.parameters


def test_a_check_that_fails_is_a_warning_beside_the_estimate(monkeypatch):
    """The number was found all the same."""
    monkeypatch.setattr("calibration.checks.patience.decay_form.decay_forms", broken)
    entry = fitted(study()).model.parameters["patience_chars_preferences"]

    (note,) = [note for note in entry.diagnostics if note.name == "not_checked"]
    assert note.severity == "warning"
    assert note.sentence.startswith(f"The check of decay form failed: {EXPLAINED}")
    assert "few_topics" in {note.name for note in entry.diagnostics}


def test_quality_is_measured_one_thing_by_one(monkeypatch):
    """Position bias has nothing to do with consistency."""
    monkeypatch.setattr("calibration.raters.quality.fit_rater_agreement", broken)
    quality = fitted(study(), checks=False).quality

    assert {name for one in quality.skipped if one.unexpected for name in one.names} == {
        "preference_fleiss_kappa", "preference_krippendorff_alpha",
        "preference_fleiss_kappa_4", "preference_krippendorff_alpha_4",
    }  # fmt: skip
    assert "left_share" in quality.entries()


def test_visits_that_cannot_be_cut_cost_what_rests_on_them(whole_study, monkeypatch):
    """Reading speed and patience do not."""
    monkeypatch.setattr("calibration.fit.user_model_fit.with_visits", broken)
    fit = fitted(whole_study, checks=False, resamples=20)

    assert "reading_speed_mu" in fit.model.parameters
    assert [name for name in skipped(fit) if name.startswith(("away", "session"))] == [
        *AWAY,
        *SESSION,
        "away_session_correlation",
    ]
