"""What a fit to pushes says beyond its weights: silent days, alpha at its edge, simulation, pictures."""

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats
from scipy.special import logit

from calibration.inference.formatting import format_p
from calibration.models.push.alpha import NAME as ALPHA
from calibration.models.push.alpha import FiellerAlpha, fit_push_alpha
from calibration.models.push.judgments import push_judgments
from calibration.models.push.simulate import (
    TRUTH,
    PushJudges,
    simulate_push_cells,
    simulate_push_preferences,
)
from calibration.models.push.weights import (
    FiellerRatios,
    PushFit,
    RawWeights,
    SilentDays,
    fit_push_weights,
)
from tests.calibration.models.push.judges import drawn


def notes(fit) -> dict[str, tuple[str, str]]:
    return {note.name: (note.severity, note.sentence) for note in fit.diagnostics}


# --- silent days


@pytest.mark.parametrize(("s_0", "verdict"), [(1.5, "supported"), (-1.2, "not supported")])
def test_a_clear_answer_on_silent_days_is_given(s_0, verdict):
    """Reward silence as in ELG-1, or not as in ELG-0."""
    fit = fit_push_weights(drawn(3, 60, workers=200, weights={**TRUTH, "S_0": s_0}))

    assert fit.silent is not None
    assert fit.silent.verdict == verdict
    assert notes(fit)["silent_days"][1].startswith(f"Silent days: reward {verdict} (95 % CI of S_0/G_E from ")


def test_the_answer_is_undecided_where_the_interval_holds_zero():
    """The interval stands in the sentence, an open end in words."""
    answer = SilentDays(ratio=0.1, interval=(-0.4, None), p_value=0.2)

    assert answer.verdict == "undecided"
    assert answer.sentence == (
        "Silent days: reward undecided: these judgments do not identify it (95 % CI of S_0/G_E from -0.40 to no bound); "
        "one-sided p = 0.200."
    )


def test_the_one_sided_test_keeps_its_size_when_silence_is_worth_nothing(seeds):
    """At S_0 = 0 about one in twenty studies says "supported", though workers' own weights scatter around 0."""
    nothing = {**TRUTH, "S_0": 0.0}
    fits = [fit_push_weights(drawn(seed, 20, weights=nothing, unexplained_sd=0.3)) for seed in seeds(150)]
    verdicts = [fit.silent.verdict for fit in fits if fit.silent is not None]

    assert verdicts.count("supported") / len(verdicts) <= 0.11


def test_whether_silent_days_were_shown_is_said():
    """Nobody can know otherwise that a day was silent."""
    judgments = dataclasses.replace(drawn(), revealed=0.25)

    assert "In 25 % of the judgments" in notes(fit_push_weights(judgments))["silent_days_revealed"][1]
    assert "silent_days_revealed" not in notes(fit_push_weights(drawn()))


# --- alpha


def test_alpha_is_the_share_of_gain_in_the_two_weights():
    """With S_E and S_0 free beside them, whatever days the pushes were on."""
    fit = fit_push_alpha(drawn(2, 60, workers=400))
    g, p = fit.details["gain_log_odds"], fit.details["nonrelevant_log_odds"]

    assert fit.params[ALPHA] == pytest.approx(g / (g + p))
    assert fit.params[ALPHA] == pytest.approx(2 / 3, abs=0.05)
    assert list(fit.uncertainty) == ["fieller"]


def test_the_interval_of_a_well_known_alpha_is_that_of_its_logit():
    """logit alpha = log w_G - log w_P, so their covariance is subtracted (the delta method)."""
    fit = fit_push_alpha(drawn(2, 60, workers=400))
    raw = fit.uncertainty["fieller"].raw
    (g, p), cov = raw.weights, raw.cov
    variance = cov[0, 0] / g**2 + cov[1, 1] / p**2 - 2 * cov[0, 1] / (g * p)
    low, high = fit.conf_int()[ALPHA]

    assert abs(cov[0, 1]) > 0.1 * np.sqrt(cov[0, 0] * cov[1, 1])
    assert logit(high) - logit(low) == pytest.approx(2 * stats.t.ppf(0.975, 59) * np.sqrt(variance), rel=0.05)


def test_silence_left_out_would_be_charged_to_pushes():
    """S_E and S_0 matter to people; alpha holds still when they change."""
    plain = fit_push_alpha(drawn(2, 60, workers=400))
    loud = fit_push_alpha(drawn(2, 60, workers=400, weights={**TRUTH, "S_E": 1.5, "S_0": 1.5}))

    assert loud.params[ALPHA] == pytest.approx(plain.params[ALPHA], abs=0.06)


def test_people_who_do_not_mind_pushes_give_an_alpha_of_one_with_a_bound():
    """w_P <= 0: the interval ends at 1, and a note says so."""
    careless = [
        fit_push_alpha(drawn(seed, weights={**TRUTH, "P_E": -0.03, "P_0": -0.03})) for seed in range(8)
    ]
    at_edge = [fit for fit in careless if fit.params[ALPHA] == 1]

    assert at_edge
    for fit in at_edge:
        low, high = fit.conf_int()[ALPHA]
        assert 0.7 < low < high == 1
        ((_, most),) = FiellerRatios(raw=fit.uncertainty["fieller"].raw).intervals(0.95)
        assert low == pytest.approx(1 / (1 + most))
        assert notes(fit)["no_pain"][0] == "info"
        assert fit.draw_parameters(50, np.random.default_rng(1))[ALPHA].max() == 1


def test_people_who_like_pushes_of_nothing_have_an_alpha_of_one():
    """The bound is 1 as well then; that the model does not hold is for the check `pushes_liked` to say."""
    fit = fit_push_alpha(drawn(3, weights={**TRUTH, "P_E": -0.5, "P_0": -0.5}))

    assert fit.conf_int()[ALPHA] == (1, 1)


def test_fiellers_alpha_is_fiellers_ratio_turned_over():
    """alpha = 1 / (1 + r) falls as r rises; where r has no bound alpha goes down to 0, where r < 0 it is 1."""
    raw = RawWeights(names=("gain", "P"), weights=np.array([1.0, 0.6]), cov=np.diag([0.01, 0.04]), df=30)
    ((low, high),) = FiellerRatios(raw=raw).intervals(0.95)
    assert FiellerAlpha(raw=raw).intervals(0.95)[0] == pytest.approx((1 / (1 + high), 1 / (1 + low)))

    weak = dataclasses.replace(raw, cov=np.diag([1.0, 0.04]))
    assert FiellerAlpha(raw=weak).intervals(0.95)[0][0] == 0

    near = dataclasses.replace(raw, weights=np.array([1.0, 0.1]))
    assert FiellerAlpha(raw=near).intervals(0.95)[0][1] == 1


def test_alpha_does_not_need_silent_days():
    """Cells that no pair differs in only leave the fit."""
    judgments = drawn()
    left, right = judgments.left.copy(), judgments.right.copy()
    left[:, 3:], right[:, 3:] = 0, 0
    fit = fit_push_alpha(dataclasses.replace(judgments, left=left, right=right))

    assert 0 < fit.conf_int()[ALPHA][0] < fit.params[ALPHA] < 1


def test_without_a_model_of_votes_there_is_no_simulation():
    """Half votes are a device, dropped ties leave two answers."""
    half, drop = (fit_push_weights(drawn(), ties=ties) for ties in ("half", "drop"))

    with pytest.raises(ValueError, match="half votes"):
        half.simulate(10, np.random.default_rng(1))
    choices = drop.simulate(200, np.random.default_rng(1))["preferences"]["choice"]
    assert set(choices) == {"left", "right"}


# --- tables, pictures, simulation


@pytest.fixture(scope="module")
def fit() -> PushFit:
    rng = np.random.default_rng(7)
    cells = simulate_push_cells(25, rng)
    return fit_push_weights(push_judgments(simulate_push_preferences(cells, PushJudges(), rng), cells))


def test_data_simulated_from_a_fit_have_its_weights(fit):
    """The same pairs, sides at random, through the tables."""
    tables = fit.simulate(6_000, np.random.default_rng(1))
    again = fit_push_weights(push_judgments(tables["preferences"], tables["push_cells"]))

    assert again.estimates == pytest.approx(fit.estimates, abs=0.3)
    assert again.search.maximum.tie == pytest.approx(fit.search.maximum.tie, abs=0.1)
    assert fit_push_alpha(push_judgments(tables["preferences"], tables["push_cells"])).params[ALPHA] > 0.5


def test_the_picture_shows_every_weight_with_its_interval(fit):
    """Names without their prefix, G_E = 1 as a line to compare with."""
    ax = Figure().subplots()
    fit.plot_weights(ax)

    assert [label.get_text() for label in ax.get_yticklabels()] == ["P_E", "S_E", "P_0", "S_0"]
    low, high = fit.conf_int()["push_P_E"]
    assert any(
        list(line.get_xdata()) == [low, high] and line.get_linestyle() == "-" for line in ax.get_lines()
    )
    assert "relative to gain" in ax.get_xlabel()


def test_an_open_end_is_drawn_dashed_to_the_edge_of_the_picture(fit):
    """Where gain is weak the picture must not look certain."""
    raw = dataclasses.replace(fit.search.raw, cov=fit.search.raw.cov * 400)
    ax = Figure().subplots()
    dataclasses.replace(fit, uncertainty={"fieller": FiellerRatios(raw=raw)}).plot_weights(ax)

    dashed = [line for line in ax.get_lines() if line.get_linestyle() == "--"]
    assert len(dashed) == len(fit.params)
    assert {edge for line in dashed for edge in line.get_xdata()} & set(ax.get_xlim())


def test_votes_are_kept_by_pair_and_add_up(fit):
    """Nobody's answer can be read from a result: votes are counts of pairs, whatever the side."""
    assert fit.votes.votes.sum() == fit.n_rows == 1000
    assert not {"worker", "workers"} & set(type(fit.votes).__slots__)


def test_small_p_values_are_shown_as_small():
    """A p-value of 0.000 is none."""
    assert format_p(0.0004) == "p < 0.001"
    assert format_p(0.0124) == "p = 0.012"
