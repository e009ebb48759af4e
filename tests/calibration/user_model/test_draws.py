"""Draws of a user model: they say as much as the estimates and intervals they come from, and no more."""

import numpy as np
import pytest

from calibration.user_model.draws import draw_model
from calibration.user_model.model import IntentEntry, JointEntry, ParameterEntry, UserModel

COUNT = 40_000


def entry(estimate, low=None, high=None, **more):
    return ParameterEntry(estimate=estimate, interval=(low, high), **more)


def block(covariance, *names, scale="log"):
    return JointEntry(names=names, covariance=tuple(map(tuple, covariance)), scale=scale)


def drawn(*joint, count=COUNT, **parameters):
    """Parameter -> its draws."""
    return draw_model(UserModel(parameters=parameters, joint=joint), count, 5).parameters


def kept(*joint, **parameters):
    """Why something could not be drawn, one sentence each."""
    return list(draw_model(UserModel(parameters=parameters, joint=joint), 2, 5).kept.values())


def shares_of(intents, count):
    return draw_model(UserModel(intents=intents), count, 5).shares


def ends(values):
    return np.quantile(values, [0.025, 0.5, 0.975])


# One model


def wide():
    """One parameter of every part."""
    return UserModel(
        parameters={
            "patience_chars_preferences[en]": entry(800.0, 400.0, 1600.0),
            "push_P_E": entry(0.5, 0.1, 0.9),
            "push_S_0": entry(0.2, -0.1, 0.5),
            "push_alpha": entry(0.6, 0.5, 0.7),
            "lateness_decay": entry(0.5, 0.4, 0.6),
            "away_mean_seconds": entry(10_000.0, 8000.0, 12_500.0),
            "session_mean_seconds": entry(100.0, 80.0, 125.0),
            "reading_speed_mu": entry(1.3, 1.2, 1.4),
        },
        joint=(block([[0.01, 0.0099], [0.0099, 0.01]], "away_mean_seconds", "session_mean_seconds"),),
        intents={
            "q0": {
                "i1": IntentEntry(estimate=0.7, interval=(0.5, 0.9)),
                "i2": IntentEntry(estimate=0.3, interval=(0.1, 0.5)),
            }
        },
    )


def test_every_estimate_is_drawn_around_itself():
    """The medians are the estimates; each draw of P(i|q) adds up to one."""
    draws = draw_model(wide(), 2000, 1)

    assert draws.kept == {}
    for name, given in wide().parameters.items():
        assert np.median(draws.parameters[name]) == pytest.approx(given.estimate, rel=0.05)
        assert draws.parameters[name].std() > 0
    assert [sum(shares["q0"].values()) for shares in draws.shares] == pytest.approx([1.0] * 2000)


def test_the_same_seed_draws_the_same():
    """Another one does not."""
    first, again, other = (draw_model(wide(), 3, seed) for seed in (1, 1, 2))

    for name in wide().parameters:
        assert first.parameters[name].tolist() == again.parameters[name].tolist()
        assert first.parameters[name].tolist() != other.parameters[name].tolist()
    assert first.shares == again.shares != other.shares


def test_parts_alone_are_drawn_in_the_order_asked_for():
    """What is not asked for takes no random number: a score's draws do not depend on what else was fitted."""
    alone = UserModel(parameters={"push_alpha": wide().parameters["push_alpha"]})
    draws = draw_model(wide(), 3, 1, parts=["alpha", "patience"])

    assert list(draws.parameters) == ["push_alpha", "patience_chars_preferences[en]"]
    assert draws.shares == []
    assert draws.parameters["push_alpha"].tolist() == (
        draw_model(alone, 3, 1).parameters["push_alpha"].tolist()
    )


def test_drawn_models_differ_from_the_fitted_one_by_their_estimates_alone():
    """They go wherever the fitted one goes."""
    draws = draw_model(wide(), 2, 1)
    first, second = draws.models(wide())

    assert first.parameters["push_P_E"].estimate == draws.parameters["push_P_E"][0]
    assert second.intents["q0"]["i1"].estimate == draws.shares[1]["q0"]["i1"]
    for name, given in wide().parameters.items():
        assert first.parameters[name].model_copy(update={"estimate": given.estimate}) == given


def test_no_decay_among_the_draws_is_no_estimate():
    """An infinite patience is null in a user model, and stays so."""
    model = UserModel(parameters={"patience_chars_preferences": entry(None, 1000.0, None)})
    estimates = [
        one.parameters["patience_chars_preferences"].estimate
        for one in draw_model(model, 50, 1).models(model)
    ]

    assert None in estimates
    assert all(one is None or one > 0 for one in estimates)


def test_a_parameter_without_an_interval_keeps_its_estimate_and_says_so():
    """Hand-written models have none."""
    model = UserModel(parameters={"push_alpha": entry(0.6), "lateness_decay": entry(0.5, 0.4, 0.6)})
    draws = draw_model(model, 5, 1)

    assert draws.kept == {"the estimate of push_alpha": "push_alpha has no interval to draw from"}
    assert {one.parameters["push_alpha"].estimate for one in draws.models(model)} == {0.6}
    assert len(set(draws.parameters["lateness_decay"])) == 5


# Fitted together


def test_what_was_fitted_together_is_drawn_by_its_covariance():
    """Mean and deviation of one fit correlate strongly; the intervals do not say so."""
    covariance = [[0.04, 0.03], [0.03, 0.09]]
    found = drawn(
        block(covariance, "away_mean_seconds", "away_sd_seconds"),
        away_mean_seconds=entry(100),
        away_sd_seconds=entry(10),
        session_mean_seconds=entry(5, 4, 6),
    )
    logs = np.log([found["away_mean_seconds"] / 100, found["away_sd_seconds"] / 10])
    assert np.cov(logs) == pytest.approx(np.array(covariance), abs=0.003)


def test_weights_fitted_together_are_drawn_together():
    """P_0 and S_0 of one fit are correlated (0.84 in a design of typical pairs), and their names may stand in any order."""
    found = drawn(
        block([[0.04, 0.05], [0.05, 0.09]], "push_S_0", "push_P_0"), push_P_0=entry(0.5), push_S_0=entry(0.4)
    )
    logs = np.log([found["push_P_0"], found["push_S_0"]])

    assert logs.mean(axis=1) == pytest.approx(np.log([0.5, 0.4]), abs=0.01)
    assert np.cov(logs) == pytest.approx(np.array([[0.09, 0.05], [0.05, 0.04]]), abs=0.003)


def test_a_weight_that_is_not_positive_has_no_logarithm():
    """Then each is drawn by its own interval, whatever the joint fit says."""
    found = drawn(block([[9.0]], "push_P_0"), push_P_0=entry(0.0, -0.98, 0.98))
    assert found["push_P_0"].std() == pytest.approx(0.5, abs=0.02)


def test_a_joint_fit_gives_patience_its_own_standard_deviation():
    """Covariances are exact where intervals only have ends."""
    joint = block([[1.0, 0.0], [0.0, 0.04]], "away_mean_seconds", "patience_chars")
    found = drawn(joint, patience_chars=entry(1000), away_mean_seconds=entry(100))
    assert np.log(found["patience_chars"]).std() == pytest.approx(0.2, rel=0.02)


@pytest.mark.parametrize("covariance", [[[1.0, 0.0]], [[1.0], [0.0]], []])
def test_a_covariance_that_is_no_square_draws_nothing(covariance):
    """It was written by hand."""
    (why,) = kept(block(covariance, "push_P_0"), push_P_0=entry(1.0, 0.5, 1.5))
    assert why == "the joint covariance of push_P_0 is not square"


# Patience


def test_patience_is_drawn_as_wide_as_its_interval():
    """On the log scale, where fitted patiences are least skewed: the interval comes back, and so does the estimate."""
    found = drawn(patience_chars=entry(1000, 500, 2000))["patience_chars"]
    assert ends(found) == pytest.approx([500, 1000, 2000], rel=0.02)


def test_the_level_of_the_interval_is_taken_into_account():
    """A 50 % interval of the same width means a wider distribution."""
    found = drawn(patience_chars=entry(1000, 500, 2000, level=0.5))["patience_chars"]
    assert np.quantile(found, [0.25, 0.75]) == pytest.approx([500, 2000], rel=0.02)


@pytest.mark.parametrize(("estimate", "endless"), [(None, 0.5), (2000.0, 0.054)])
def test_an_open_end_makes_some_patiences_endless(estimate, endless):
    """Half when the estimate is infinite; P(Z < -1.96 (1/2000) / (1/900 - 1/2000)) = 5.4 % when it is 2,000."""
    found = drawn(patience_chars=entry(estimate, 900, None))["patience_chars"]
    assert np.isinf(found).mean() == pytest.approx(endless, abs=0.01)
    assert np.quantile(found, 0.025) == pytest.approx(900, rel=0.03)


@pytest.mark.parametrize("interval", [(None, None), (None, 2000.0), (0.0, None)])
def test_without_a_lower_end_no_patience_can_be_drawn(interval):
    """It could then be anything down to nothing."""
    assert kept(patience_chars=entry(1000, *interval)) == ["the interval has no lower end"]


# Pushes


def test_alpha_is_normal_on_the_logit_scale():
    """Its 95 % quantiles are the ends of the interval, and it stays inside (0, 1)."""
    found = drawn(push_alpha=entry(0.8, 0.5, 0.95))["push_alpha"]

    spread = (np.log(0.95 / 0.05) - np.log(0.5 / 0.5)) / 2
    expected = 1 / (1 + np.exp(-(np.log(4) + spread * np.array([-1, 0, 1]))))
    assert ends(found) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("interval", [(0.7, None), (0.7, 1.0)])
def test_alpha_at_its_bound_is_cut_there(interval):
    """No pain at all was found: alpha is 1, with a lower bound only."""
    found = drawn(push_alpha=entry(1.0, *interval))["push_alpha"]

    assert found.max() == 1.0
    assert np.mean(found == 1.0) == pytest.approx(0.5, abs=0.02)
    assert np.quantile(found, 0.025) == pytest.approx(0.7, abs=0.01)


def test_weights_are_drawn_by_their_intervals_when_nothing_joins_them():
    """A weight may be negative; the level of an interval counts."""
    found = drawn(
        push_P_0=entry(-1.0, -1.98, -0.02), push_S_0=entry(2.0, 2.0 - 1.645, 2.0 + 1.645, level=0.9)
    )
    both = np.array([found["push_P_0"], found["push_S_0"]])

    assert both.mean(axis=1) == pytest.approx([-1.0, 2.0], abs=0.03)
    assert both.std(axis=1) == pytest.approx([0.5, 1.0], abs=0.02)
    assert np.corrcoef(both)[0, 1] == pytest.approx(0, abs=0.03)


def test_half_an_interval_tells_the_spread_of_the_whole():
    """The other end is open."""
    assert drawn(push_P_0=entry(1.0, 0.02, None))["push_P_0"].std() == pytest.approx(0.5, abs=0.02)


def test_a_weight_without_an_end_cannot_be_drawn():
    """An estimate alone has no spread; nor has an alpha whose only end is its bound."""
    assert kept(push_P_0=entry(1.0)) == ["push_P_0 has no interval to draw from"]
    assert kept(push_alpha=entry(1.0, None, 1.0)) == ["push_alpha has no interval to draw from"]


# People who read streams


def test_a_duration_is_drawn_as_wide_as_its_interval():
    """On the log scale; what is a logarithm already, on its own, in whatever language."""
    found = drawn(
        **{
            "away_mean_seconds": entry(100, 50, 200),
            "reading_speed_mu": entry(-1, -1.5, -0.5),
            "reading_speed_mu[ja]": entry(-1, -1.5, -0.5),
        }
    )
    assert ends(found["away_mean_seconds"]) == pytest.approx([50, 100, 200], rel=0.02)
    for name in ("reading_speed_mu", "reading_speed_mu[ja]"):
        assert ends(found[name]) == pytest.approx([-1.5, -1, -0.5], rel=0.02)


def test_half_an_interval_of_a_duration_will_do():
    """An end is open, or 0 where a deviation may be none at all."""
    found = drawn(
        away_sd_seconds=entry(100, 0, 200),
        session_sd_seconds=entry(100, 50, None),
        away_mean_seconds=entry(0, 0, 1),
    )
    for name in ("away_sd_seconds", "session_sd_seconds"):
        assert ends(found[name]) == pytest.approx([50, 100, 200], rel=0.02)
    assert set(found["away_mean_seconds"]) == {0}


def test_decays_stay_between_nothing_and_one():
    """Around the estimate as wide as the interval, cut at the ends."""
    found = drawn(lateness_decay=entry(0.5, 0.4, 0.6))["lateness_decay"]
    assert ends(found) == pytest.approx([0.4, 0.5, 0.6], abs=0.005)
    edge = drawn(lateness_decay=entry(0, None, 0.2))["lateness_decay"]
    assert ends(edge) == pytest.approx([0, 0, 0.2], abs=0.005)
    assert kept(lateness_decay=entry(0.5)) == ["lateness_decay has no interval to draw from"]


# P(i|q)


def test_shares_are_drawn_around_their_estimates_and_add_up_to_one():
    """Each draw is a set of probabilities."""
    intents = {
        "q": {
            "a": IntentEntry(estimate=0.5, interval=(0.4, 0.6)),
            "b": IntentEntry(estimate=0.3, interval=(0.2, 0.4)),
            "c": IntentEntry(estimate=0.2, interval=(0.1, 0.3)),
        },
        "r": {"a": IntentEntry(estimate=1.0, interval=(0.9, 1.0))},
    }
    drawn = shares_of(intents, 4000)
    of_q = np.array([list(shares["q"].values()) for shares in drawn])
    assert of_q.sum(axis=1) == pytest.approx(1)
    assert of_q.mean(axis=0) == pytest.approx([0.5, 0.3, 0.2], abs=0.005)
    assert {shares["r"]["a"] for shares in drawn} == {1.0}


def test_shares_are_never_negative():
    """The normal is cut at 0, not reflected: an intent that nobody wants stays improbable."""
    intents = {
        "q": {
            "a": IntentEntry(estimate=0, interval=(0, 0.2)),
            "b": IntentEntry(estimate=1, interval=(0.9, 1)),
        }
    }
    drawn = [shares["q"]["a"] for shares in shares_of(intents, 4000)]
    assert 0 <= min(drawn) < max(drawn) < 0.3


def test_a_share_without_width_stays_where_it_is():
    """Certain numbers need no special case elsewhere."""
    intents = {
        "q": {
            "a": IntentEntry(estimate=0.25, interval=(0.25, 0.25)),
            "b": IntentEntry(estimate=0.75, interval=(0.75, 0.75)),
        }
    }
    assert shares_of(intents, 1)[0]["q"] == pytest.approx({"a": 0.25, "b": 0.75})


def test_a_share_without_an_interval_cannot_be_drawn():
    """A truth written by hand has estimates only."""
    draws = draw_model(UserModel(intents={"q": {"a": IntentEntry(estimate=1)}}), 1, 5)
    assert draws.kept == {"the estimates of P(i|q)": "an intent has no interval"}
    assert draws.shares == []
