"""How far the uncertainty of a user model moves the agreement: `prefcal agree --draws`."""

import numpy as np
import pytest

from calibration.agree.agree_tables import agree
from calibration.agree.score_sources import ScoreSources
from calibration.user_model.draws import draw_model
from calibration.user_model.model import ParameterEntry, UserModel
from metrics.summaries.score import m_from_positions
from tests.calibration.judged_streams import judged_cells
from tests.calibration.judged_summaries import study


def entry(estimate, low=None, high=None):
    return ParameterEntry(estimate=estimate, interval=(low, high))


def values(models, name):
    return np.array([model.parameters[name].estimate for model in models])


def test_the_spread_of_the_agreement_is_over_the_drawn_parameters():
    """Patience from stops: each draw's agreement by hand."""
    tables = study()
    model = UserModel(parameters={"patience_chars_stops": entry(300.0, 30.0, 3000.0)})
    drawn = draw_model(model, 40, 1).models(model)

    found = agree(ScoreSources(tables=tables, model=model, drawn=drawn))

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


def test_the_spread_of_draws_that_all_lie_on_one_side_reaches_to_the_agreement():
    """No interval leaves out its own estimate, those of small studies neither."""
    stops = [UserModel(parameters={"patience_chars_stops": entry(one)}) for one in (800.0, 30.0, 40.0)]

    found = agree(ScoreSources(tables=study(topics=4, workers=4), model=stops[0], drawn=stops[1:]))

    rows = found.agreement
    for value, low, high in (
        ("agreement", "low", "high"),
        ("agreement", "draw_low", "draw_high"),
        ("ceiling", "ceiling_low", "ceiling_high"),
        ("perfect", "perfect_low", "perfect_high"),
    ):
        known = rows.dropna(subset=[value, low, high])
        assert len(known)
        assert ((known[low] <= known[value]) & (known[value] <= known[high])).all()
    known = found.comparisons.dropna(subset="low")
    assert known["difference"].between(known["low"], known["high"]).all()


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
    spread = draw_model(model, 30, 1).models(model)

    still = agree(ScoreSources(tables=tables, model=model, drawn=[model, model])).agreement
    moved = agree(ScoreSources(tables=tables, model=model, drawn=spread)).agreement

    fitted = still["role"] == "fitted"
    assert "cross_fitted" in set(still.loc[fitted, "fit"])
    for end in ("draw_low", "draw_high"):
        assert still.loc[fitted, end].tolist() == pytest.approx(still.loc[fitted, "agreement"].tolist())
    crossed = moved[moved["fit"] == "cross_fitted"]
    assert (crossed.groupby("measure")["draw_sd"].max() > 1e-6).all()
