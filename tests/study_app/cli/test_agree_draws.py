"""How far the uncertainty of a user model moves the agreement: `prefcal agree --draws`."""

import numpy as np
import pytest

from calibration.agree.evidence import Evidence
from calibration.agree.study import agree
from calibration.user_model.model import IntentEntry, JointEntry, ParameterEntry, UserModel
from metrics.summaries.score import m_from_positions
from study_app.cli.results.agree_draws import drawn_models
from tests.calibration.judged_streams import judged_cells
from tests.calibration.judged_summaries import study

LEVEL_HALVES = 1.959964


def entry(estimate, low=None, high=None):
    return ParameterEntry(estimate=estimate, interval=(low, high))


def wide():
    """One parameter of every group."""
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
        joint=(
            JointEntry(
                names=("away_mean_seconds", "session_mean_seconds"),
                covariance=((0.01, 0.0099), (0.0099, 0.01)),
            ),
        ),
        intents={
            "q0": {
                "i1": IntentEntry(estimate=0.7, interval=(0.5, 0.9)),
                "i2": IntentEntry(estimate=0.3, interval=(0.1, 0.5)),
            }
        },
    )


def values(models, name):
    return np.array([model.parameters[name].estimate for model in models])


def test_every_estimate_is_drawn_around_itself_with_the_width_of_its_interval():
    """2,000 draws; the medians are the estimates, the spread is what the interval says."""
    models, notes = drawn_models(wide(), 2000, 1)

    assert notes == []
    for name, given in wide().parameters.items():
        assert np.median(values(models, name)) == pytest.approx(given.estimate, rel=0.05)
        assert values(models, name).std() > 0
    assert np.log(values(models, "patience_chars_preferences[en]")).std() == pytest.approx(
        np.log(1600 / 400) / 2 / LEVEL_HALVES, rel=0.06
    )
    shares = np.array([[share.estimate for share in model.intents["q0"].values()] for model in models])
    assert shares.sum(axis=1) == pytest.approx(1)
    assert shares[:, 0].std() > 0.02


def test_what_was_fitted_together_is_drawn_together():
    """Away and session times of one fit go up and down as one."""
    models, _ = drawn_models(wide(), 500, 1)
    away, session = (np.log(values(models, f"{name}_mean_seconds")) for name in ("away", "session"))

    assert np.corrcoef(away, session)[0, 1] > 0.95


def test_a_parameter_without_an_interval_keeps_its_estimate_and_says_so():
    """Hand-written models have none."""
    model = UserModel(parameters={"push_alpha": entry(0.6), "lateness_decay": entry(0.5, 0.4, 0.6)})

    models, notes = drawn_models(model, 5, 1)

    assert set(values(models, "push_alpha")) == {0.6}
    assert len(set(values(models, "lateness_decay"))) == 5
    assert notes == [
        "--draws keeps the estimate of push_alpha, since push_alpha has no interval to draw from"
    ]


def test_no_decay_among_the_draws_is_no_estimate():
    """An infinite patience is null in a user model, and stays so."""
    model = UserModel(parameters={"patience_chars_preferences": entry(None, 1000.0, None)})

    models, _ = drawn_models(model, 50, 1)

    drawn = [model.parameters["patience_chars_preferences"].estimate for model in models]
    assert None in drawn
    assert all(one is None or one > 0 for one in drawn)


def test_the_spread_of_the_agreement_is_over_the_drawn_parameters():
    """Patience from stops: each draw's agreement by hand."""
    tables = study()
    model = UserModel(parameters={"patience_chars_stops": entry(300.0, 30.0, 3000.0)})
    drawn, _ = drawn_models(model, 40, 1)

    found = agree(Evidence(tables=tables, model=model, drawn=drawn))

    rows = found.agreement[found.agreement["ties"] == "against"].set_index("measure")
    pairs = found.pairs
    given = {f"q{n}": {"i1": 0.75, "i2": 0.25} for n in range(6)}
    by_hand = []
    for patience in values(drawn, "patience_chars_stops"):
        m = m_from_positions(tables["positions"].drop(columns="task"), given, [patience]).iloc[:, 0]
        lead = [
            m.get((row.topic, row.system_a), 0.0) - m.get((row.topic, row.system_b), 0.0)
            for row in pairs.itertuples()
        ]
        by_hand.append(np.mean(np.array(lead) * (pairs["vote_share"] - 0.5) > 1e-15))
    row = rows.loc["M@stops"]
    assert row["draws"] == 40
    assert (row["draw_low"], row["draw_high"]) == pytest.approx(tuple(np.quantile(by_hand, [0.025, 0.975])))
    assert row["draw_sd"] == pytest.approx(np.std(by_hand))
    assert rows.loc["M@1500", ["draws", "draw_low", "draw_high", "draw_sd"]].isna().all()


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: study(topics=4), ("patience_chars_preferences", "patience_chars_grid")),
        (lambda: judged_cells(3), ("push_P_E", "push_S_E", "push_P_0", "push_S_0", "push_alpha")),
    ],
)
def test_cross_fitted_parameters_move_with_the_common_one(make, names):
    """Draws at the estimate itself leave every agreement where it is; wide draws spread it."""
    tables = make()
    estimate = 700.0 if names[0].startswith("patience") else 0.4
    model = UserModel(parameters={name: entry(estimate, estimate / 3, estimate * 1.9) for name in names})
    spread, _ = drawn_models(model, 30, 1)

    still = agree(Evidence(tables=tables, model=model, drawn=[model, model])).agreement
    moved = agree(Evidence(tables=tables, model=model, drawn=spread)).agreement

    fitted = still["role"] == "fitted"
    assert "cross_fitted" in set(still.loc[fitted, "fit"])
    for end in ("draw_low", "draw_high"):
        assert still.loc[fitted, end].tolist() == pytest.approx(still.loc[fitted, "agreement"].tolist())
    crossed = moved[moved["fit"] == "cross_fitted"]
    assert (crossed.groupby("measure")["draw_sd"].max() > 1e-6).all()
