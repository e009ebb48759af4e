"""A user model in the words of the measures: what it says, and what it does not say."""

import math

import pytest

from calibration.user_model.measures import (
    clipped_population,
    intent_shares,
    lateness_decay,
    lateness_floor,
    patience_chars,
    persistence,
    stream_people,
)
from calibration.user_model.model import IntentEntry, ParameterEntry, UserModel
from calibration.user_model.push import contingency, push_alpha
from metrics.errors import InputError
from metrics.push import Contingency


def model(**parameters):
    """A model of estimates; (estimate, unit) where the unit matters."""
    return UserModel(
        parameters={
            name: ParameterEntry(estimate=value[0], unit=value[1])
            if isinstance(value, tuple)
            else ParameterEntry(estimate=value)
            for name, value in parameters.items()
        }
    )


def test_patience_is_that_of_the_source_and_the_language():
    """Infinite where no decay was found, None where nothing was fitted."""
    found = model(**{"patience_chars": 900, "patience_chars_stops[ja]": 300, "patience_chars_grid": None})

    assert patience_chars(found) == 900
    assert patience_chars(found, "stops", "ja") == 300
    assert patience_chars(found, "stops", "en") is None
    assert patience_chars(found, "grid", "en") == math.inf


def test_shares_are_of_all_topics_or_of_some():
    """As they were fitted."""
    found = UserModel(intents={topic: {"i": IntentEntry(estimate=1)} for topic in ("q1", "q2")})

    assert intent_shares(found) == {"q1": {"i": 1.0}, "q2": {"i": 1.0}}
    assert intent_shares(found, {"q2"}) == {"q2": {"i": 1.0}}


@pytest.mark.parametrize(
    "speed",
    [
        {"reading_speed_mu": 1.2},
        {"reading_speed_mu": 1.2, "reading_speed_sigma": None},
        {
            "reading_speed_mu": (2.3, "log characters per second"),
            "reading_speed_sigma": (0.4, "log characters per second"),
        },
    ],
    ids=["half", "infinite", "characters"],
)
def test_a_law_of_speed_is_whole_and_in_words_or_none(speed):
    """Half of it would be mixed with somebody else's."""
    assert stream_people(model(away_mean_seconds=100, **speed)) == {"away_mean_seconds": 100}


def test_a_population_keeps_within_its_ranges():
    """A draw may go beyond them."""
    beyond = clipped_population(
        {
            "away_mean_seconds": 0.0,
            "away_sd_seconds": 1e12,
            "session_mean_seconds": 60.0,
            "session_sd_seconds": -1.0,
        }
    )
    assert (beyond.away_mean_seconds, beyond.away_sd_seconds) == (1e-3, 1e10)
    assert (beyond.session_mean_seconds, beyond.session_sd_seconds) == (60.0, 0.0)


def test_lateness_and_alpha_are_none_where_they_were_not_fitted():
    """An infinitely small pain leaves gain alone: alpha is 1."""
    assert lateness_decay(UserModel()) is None
    assert lateness_decay(model(lateness_decay=0.4)) == 0.4
    assert lateness_floor(model(lateness_decay=0.4)) == 0
    assert lateness_floor(model(lateness_floor=0.2)) == 0.2
    assert push_alpha(UserModel()) is None
    assert push_alpha(model(push_alpha=None)) == 1.0


def test_a_weight_that_is_missing_counts_nothing():
    """Nothing at all is no utility."""
    assert contingency(UserModel()) is None
    assert contingency(model(push_P_0=0.5)) == Contingency(P_0=0.5)


def test_a_persistence_is_a_probability_below_one():
    """By its language; a draw may come to 1, where rank-biased precision is not defined; a typing error is said."""

    def of(estimate):
        return UserModel(parameters={"rbp_p[ja]": ParameterEntry(estimate=estimate)})

    assert persistence(of(0.8), "ja") == 0.8
    assert persistence(of(0.8), "en") is None
    assert persistence(of(1.0), "ja") < 1
    with pytest.raises(InputError, match=r"rbp_p is 80; write a probability"):
        persistence(of(80), "ja")
