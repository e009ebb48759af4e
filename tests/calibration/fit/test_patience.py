"""Patience from everything there is: side by side, by language, the default, what is said beside it."""

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from calibration.fit.findings import checked
from calibration.fit.patience import FamilyResult, fit_patience
from calibration.inference.results import CalibrationResult
from calibration.models.patience.simulate import (
    SimulatedJudges,
    simulate_preferences,
    simulate_stops,
    simulate_summaries,
)

NAMES = [
    "patience_chars",
    "patience_chars_preferences",
    "patience_chars_stops",
    "patience_chars_grid",
    "patience_chars_spread",
]
FROM_STOPS = ["patience_chars", "patience_chars_stops", "patience_chars_spread"]


@lru_cache
def study(*, stops_patience: float = 840, effect: float = 3.0) -> dict[str, pd.DataFrame]:
    """Return tables positions, intents, preferences and stops of people with a patience of 840."""
    rng = np.random.default_rng(2)
    tables, probabilities = simulate_summaries(6, rng)
    judges = SimulatedJudges(patience_chars=840, per_topic=7, effect=effect)
    return tables | {
        "preferences": simulate_preferences(tables["positions"], probabilities, judges, rng),
        "stops": simulate_stops(stops_patience, rng, workers=60, texts_per_worker=6),
    }


def fitted(tables: dict[str, pd.DataFrame], *, seed: int = 1, **more) -> FamilyResult:
    return fit_patience(tables, seed=seed, **more)


def by_name(fits: FamilyResult) -> dict[str, CalibrationResult]:
    return {name: fit for fit in fits.results for name in fit.parameters}


def without(*names: str) -> dict[str, pd.DataFrame]:
    return {name: table for name, table in study().items() if name not in names}


def sentences(fits: FamilyResult, name: str) -> list[str]:
    """Return what a fit and its checks say."""
    data = dict(zip(by_name(fits), fits.data, strict=True))
    fit, _ = checked(by_name(fits)[name], data[name])
    return [note.sentence for note in fit.diagnostics]


def test_all_three_stand_side_by_side_and_the_default_is_from_preferences():
    """They answer different questions, so none is dropped and none pooled."""
    fits = fitted(study())
    found = by_name(fits)

    assert list(found) == NAMES
    assert not fits.skipped
    assert found["patience_chars"].parameters["patience_chars"] == pytest.approx(
        found["patience_chars_preferences"].parameters["patience_chars_preferences"]
    )
    assert found["patience_chars"].method.startswith("from preferences")
    for name in NAMES[:-1]:
        assert found[name].parameters[name] == pytest.approx(840, rel=0.35)
    assert found["patience_chars_spread"].method == "from preferences: log-normal over people"


@pytest.mark.parametrize("missing", ["preferences", "positions"])
def test_without_preferences_or_positions_the_default_is_from_stops(missing):
    """One line says what is missing, and begins with both names that it is missing for."""
    fits = fitted(without(missing))

    assert list(by_name(fits)) == FROM_STOPS
    assert by_name(fits)["patience_chars"].method.startswith("from stops")
    (line,) = map(str, fits.skipped)
    assert line.startswith(f"patience_chars_preferences, patience_chars_grid: there is no table {missing}")
    assert ("prefcal features" in line) == (missing == "positions")


def test_without_stops_the_others_are_as_they_were():
    """The draws of one fit do not depend on which others are made."""
    fits, all_fits = fitted(without("stops")), by_name(fitted(study()))

    assert [str(one) for one in fits.skipped] == ["patience_chars_stops: there is no table stops"]
    for name, fit in by_name(fits).items():
        assert fit.conf_int() == all_fits[name].conf_int()


def test_without_any_table_everything_is_skipped_with_its_reason():
    """Nothing is returned that was not measured."""
    fits = fitted({})

    assert fits.results == ()
    assert [str(one) for one in fits.skipped] == [
        "patience_chars_stops: there is no table stops",
        "patience_chars_preferences, patience_chars_grid: there is no table preferences and no table positions",
    ]


def test_preferences_against_the_metric_leave_the_default_to_the_stops():
    """A refused fit is no patience; the grid still says where agreement is highest, if anywhere."""
    fits = fitted(study(effect=-3.0))

    assert by_name(fits)["patience_chars"].method.startswith("from stops")
    assert [one.names for one in fits.skipped] == [("patience_chars_preferences",)]
    assert "runs against the preferences" in fits.skipped[0].reason


def test_answers_without_reading_give_no_patience_on_the_grid_either():
    """Some patience agrees best by chance, too."""
    fits = fitted(study(effect=0.0))

    assert by_name(fits)["patience_chars"].method.startswith("from stops")
    (skipped,) = fits.skipped
    assert skipped.names == ("patience_chars_preferences", "patience_chars_grid")
    assert "nothing shows that M matters" in skipped.reason


def test_each_language_is_fitted_by_itself():
    """Three characters of English are about one of Japanese: a common patience would fit neither."""
    english, tables = study(), dict(study())
    for name in ("preferences", "stops"):
        japanese = english[name].assign(language="ja")
        if name == "stops":
            japanese[["chars_read", "text_chars"]] /= 2
        tables[name] = pd.concat([english[name].assign(language="en"), japanese], ignore_index=True)
    found = by_name(fitted(tables))

    assert list(found) == [f"{name}[{language}]" for language in ("en", "ja") for name in NAMES]
    stops = {language: found[f"patience_chars_stops[{language}]"] for language in ("en", "ja")}
    estimates = {language: next(iter(fit.parameters.values())) for language, fit in stops.items()}
    assert estimates["ja"] == pytest.approx(estimates["en"] / 2, rel=0.1)


def test_rows_of_no_language_are_counted_where_there_are_several():
    """They belong to neither fit; that is said, once."""
    tables = {name: table.assign(language="en") for name, table in study().items() if "language" in table}
    tables["stops"].loc[:9, "language"] = "ja"
    tables["stops"].loc[10:14, "language"] = None

    assert [str(one) for one in fitted(study() | tables).skipped][-1] == (
        "patience_chars: 5 rows of stops do not say their language and are left out"
    )


def test_a_single_language_needs_no_brackets_but_its_own_paper_value():
    """The grid of a Japanese study lies around 500 characters."""
    tables = {name: table.assign(language="ja") for name, table in study().items() if "language" in table}
    found = by_name(fitted(study() | tables))

    assert list(found) == NAMES
    assert found["patience_chars_grid"].parameters["patience_chars_grid"] <= 16 * 500


def test_intervals_that_have_nothing_in_common_are_flagged():
    """Paid judges may read on where others stop: the two patiences are then different things."""
    apart = [
        text for text in sentences(fitted(study(stops_patience=3000)), "patience_chars") if "nothing" in text
    ]

    assert any("patience_chars_preferences" in text and "patience_chars_stops" in text for text in apart)
    assert not [text for text in sentences(fitted(study()), "patience_chars") if "nothing" in text]


def test_where_intents_have_no_probability_that_is_said():
    """Equal ones are a guess, votes are not; the collection's own need no comment."""
    intents = study()["intents"].assign(probability=np.nan)
    voted = {"Q000": {"I0": 1.0}}

    uniform = sentences(fitted(study() | {"intents": intents}), "patience_chars_preferences")
    assert "6 of 6 topics have no P(i|q): all their intents count the same." in uniform
    mixed = sentences(fitted(study() | {"intents": intents}, voted=voted), "patience_chars_preferences")
    assert "P(i|q) of 1 of 6 topics is the one from votes." in mixed
    assert not any("P(i|q)" in text for text in sentences(fitted(study()), "patience_chars_preferences"))


def test_a_repeat_of_a_pair_for_checking_a_worker_does_not_count():
    """Validation repeats enter no fit; here they would turn every preference around."""
    preferences = study()["preferences"]
    turned = preferences["choice"].map(lambda choice: {"left": "right", "right": "left"}.get(choice, choice))
    repeats = preferences.assign(
        judgment="R" + preferences["judgment"], choice=turned, validation_of=preferences["judgment"]
    )
    with_repeats = study() | {"preferences": pd.concat([preferences, repeats, repeats], ignore_index=True)}

    assert by_name(fitted(with_repeats))["patience_chars"].to_dict() == (
        by_name(fitted(study()))["patience_chars"].to_dict()
    )


def test_the_seed_decides_every_draw():
    """The same seed gives the same intervals, another one others."""
    assert repr(fitted(study()).results) == repr(fitted(study()).results)
    one, other = (by_name(fitted(study(), seed=seed))["patience_chars_stops"] for seed in (1, 2))
    assert one.conf_int() != other.conf_int()


def test_stops_of_streams_are_no_patience_with_texts():
    """Time ends a visit too: the number stands under its own name, and the default is refused by name."""
    stops = study()["stops"].assign(judgment=pd.NA, layout=pd.NA)
    visits = pd.DataFrame({"worker": ["w"]})
    fits = fitted({"stops": stops, "visits": visits})

    assert list(by_name(fits)) == ["patience_chars_stops"]
    assert any("visits to streams" in text for text in sentences(fits, "patience_chars_stops"))
    assert str(fits.skipped[-1]).startswith("patience_chars: all stops are of visits to streams")
    for tables in ({"stops": stops}, {"stops": study()["stops"], "visits": visits}):
        assert list(by_name(fitted(tables))) == FROM_STOPS
