"""What a fit to pushes says beyond its weights: silent days, alpha at its edge, sides, words for ties, fit, pictures."""

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats
from scipy.special import logit

from calibration.inference.wording import shown_p
from calibration.push.errors import FiellerRatios, RawWeights
from calibration.push.fit import PushFit, bootstrap_weights, fit_push_weights, fit_weights_to
from calibration.push.notes import SilentDays
from calibration.push.pain import NAME as ALPHA
from calibration.push.pain import FiellerAlpha, fit_alpha_to, fit_push_alpha
from calibration.push.pairs import WEIGHTS
from calibration.push.search import judged_by, search_weights
from calibration.push.simulate import (
    TRUTH,
    PushJudges,
    simulate_push_cells,
    simulate_push_preferences,
)
from tests.calibration.push.judges import drawn


def notes(fit) -> dict[str, tuple[str, str]]:
    return {note.name: (note.severity, note.sentence) for note in fit.diagnostics}


# --- silent days


@pytest.mark.parametrize(("s_0", "verdict"), [(1.5, "supported"), (-1.2, "not supported")])
def test_a_clear_answer_on_silent_days_is_given(s_0, verdict):
    """Reward silence as in ELG-1, or not as in ELG-0."""
    fit = fit_weights_to(
        drawn(3, 60, workers=200, weights={**TRUTH, "S_0": s_0}), rng=np.random.default_rng(1)
    )

    assert fit.silent is not None
    assert fit.silent.verdict == verdict
    assert notes(fit)["silent_days"][1].startswith(f"Silent days: reward {verdict} (95% CI of S_0/G_E from ")
    assert fit.silent.share == pytest.approx(float(s_0 > 0), abs=0.03)


def test_the_answer_is_undecided_where_the_interval_holds_zero():
    """The interval stands in the sentence, an open end in words."""
    answer = SilentDays(ratio=0.1, interval=(-0.4, None), p_value=0.2, share=0.7)

    assert answer.verdict == "undecided"
    assert answer.sentence == (
        "Silent days: reward undecided: these judgments cannot tell it (95% CI of S_0/G_E from -0.40 to no bound); "
        "one-sided p = 0.200. S_0 > 0 in 70% of bootstrap samples of topics."
    )


@pytest.mark.parametrize(("share", "explained"), [(1.0, True), (0.02, True), (0.9, False)])
def test_a_bootstrap_that_sounds_surer_than_the_test_says_why(share, explained):
    """It draws from topics and workers that are few; others may differ, and leave the question open."""
    answer = SilentDays(ratio=0.1, interval=(None, None), p_value=0.461, share=share)
    clear = dataclasses.replace(answer, p_value=0.01)

    assert ("but these hold only these topics and workers" in answer.sentence) == explained
    assert clear.sentence.endswith(
        f"one-sided p = 0.010. S_0 > 0 in {share:.0%} of bootstrap samples of topics."
    )


def test_the_one_sided_test_keeps_its_size_when_silence_is_worth_nothing(seeds):
    """At S_0 = 0 about one in twenty studies says "supported", though workers' own weights scatter around 0."""
    nothing = {**TRUTH, "S_0": 0.0}
    fits = [fit_weights_to(drawn(seed, 20, weights=nothing, unexplained_sd=0.3)) for seed in seeds(150)]
    verdicts = [fit.silent.verdict for fit in fits if fit.silent is not None]

    assert verdicts.count("supported") / len(verdicts) <= 0.11


def test_whether_silent_days_were_shown_is_said():
    """Nobody can know otherwise that a day was silent."""
    judgments = dataclasses.replace(drawn(), revealed=0.25)

    assert "In 25% of the judgments" in notes(fit_weights_to(judgments))["silent_days_revealed"][1]
    assert "silent_days_revealed" not in notes(fit_weights_to(drawn()))


# --- alpha


def test_alpha_is_the_share_of_gain_in_the_two_weights():
    """With S_E and S_0 free beside them, whatever days the pushes were on."""
    fit = fit_alpha_to(drawn(2, 60, workers=400))
    g, p = fit.details["gain_log_odds"], fit.details["nonrelevant_log_odds"]

    assert fit.params[ALPHA] == pytest.approx(g / (g + p))
    assert fit.params[ALPHA] == pytest.approx(2 / 3, abs=0.05)
    assert list(fit.uncertainty) == ["delta", "fieller"]
    (low, high), (other_low, other_high) = (fit.conf_int(method=how)[ALPHA] for how in ("delta", "fieller"))
    assert (low, high) == pytest.approx((other_low, other_high), abs=0.02)


def test_the_error_of_alpha_is_that_of_the_log_of_the_two_weights_ratio():
    """logit alpha = log w_G - log w_P, so their covariance is subtracted."""
    fit = fit_alpha_to(drawn(2, 60, workers=400))
    raw = fit.uncertainty["fieller"].plain.raw
    (g, p), cov = raw.weights, raw.cov
    variance = cov[0, 0] / g**2 + cov[1, 1] / p**2 - 2 * cov[0, 1] / (g * p)
    ((low, high),) = fit.uncertainty["delta"].plain.intervals(0.95)

    assert abs(cov[0, 1]) > 0.1 * np.sqrt(cov[0, 0] * cov[1, 1])
    assert logit(high) - logit(low) == pytest.approx(2 * stats.t.ppf(0.975, 59) * np.sqrt(variance))


def test_silence_left_out_would_be_charged_to_pushes():
    """S_E and S_0 matter to people; alpha holds still when they change."""
    plain = fit_alpha_to(drawn(2, 60, workers=400))
    loud = fit_alpha_to(drawn(2, 60, workers=400, weights={**TRUTH, "S_E": 1.5, "S_0": 1.5}))

    assert loud.params[ALPHA] == pytest.approx(plain.params[ALPHA], abs=0.06)


def test_people_who_do_not_mind_pushes_give_an_alpha_of_one_with_a_bound():
    """w_P <= 0: the interval ends at 1, and a warning names it."""
    careless = [fit_alpha_to(drawn(seed, weights={**TRUTH, "P_E": -0.03, "P_0": -0.03})) for seed in range(8)]
    at_edge = [fit for fit in careless if fit.params[ALPHA] == 1]

    assert at_edge
    for fit in at_edge:
        low, high = fit.conf_int()[ALPHA]
        assert 0.7 < low < high == 1
        ((_, most),) = FiellerRatios(raw=fit.uncertainty["fieller"].raw).intervals(0.95)
        assert low == pytest.approx(1 / (1 + most))
        assert notes(fit)["no_pain"][0] == "warning"
        assert fit.draw_parameters(50, np.random.default_rng(1))[ALPHA].max() == 1


def test_people_who_like_pushes_of_nothing_are_a_likely_error_of_coding():
    """The bound is 1 as well then, which says that the model does not hold, not that alpha is certain."""
    fit = fit_alpha_to(drawn(3, weights={**TRUTH, "P_E": -0.5, "P_0": -0.5}))

    assert fit.conf_int()[ALPHA] == (1, 1)
    assert "more than chance explains" in notes(fit)["no_pain"][1]


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
    fit = fit_alpha_to(dataclasses.replace(judgments, left=left, right=right))

    assert 0 < fit.conf_int()[ALPHA][0] < fit.params[ALPHA] < 1


# --- sides, words for ties, fit


def test_a_preference_for_a_side_is_told_and_does_not_move_the_weights():
    """Sides are drawn at random, so the side is beside the point, but a reader should know."""
    biased = fit_weights_to(drawn(4, 40, workers=200, left_bias=0.5))
    fair = fit_weights_to(drawn(4, 40, workers=200))

    severity, sentence = notes(biased)["side_bias"]
    assert severity == "warning"
    assert "on the left" in sentence
    assert notes(fair)["side_bias"][0] == "info"
    assert biased.params["push_P_E"] == pytest.approx(fair.params["push_P_E"], abs=0.15)


def test_words_for_ties_that_follow_utility_tell_where_it_is_zero():
    """Differences alone cannot; random words say nothing."""
    told = fit_weights_to(drawn(5, 60, workers=200, label_slope=0.5))
    random = fit_weights_to(drawn(5, 60, workers=200))

    zero = float(notes(told)["tie_labels"][1].split("utility of ")[1].split(" G_E")[0])
    assert zero == pytest.approx(0, abs=1)
    assert "does not follow" in notes(random)["tie_labels"][1]


def test_words_for_ties_that_follow_utility_without_exception_are_told_as_such():
    """A logit has no finite slope then, and its error would be anything."""
    judgments = drawn(5, 30)
    fit = fit_weights_to(judgments)
    total = (judgments.left + judgments.right) @ fit.maximum.weights
    sharp = dataclasses.replace(judgments, good=(judgments.vote == 0) & (total > np.median(total)))

    assert "utility is high (p < 0.001)" in notes(fit_weights_to(sharp))["tie_labels"][1]


def test_words_for_ties_that_run_against_utility_are_a_warning():
    """Good and bad were probably exchanged."""
    judgments = drawn(5, 60, workers=200, label_slope=0.5)
    exchanged = dataclasses.replace(judgments, good=(judgments.vote == 0) & ~judgments.good)

    assert notes(fit_weights_to(exchanged))["tie_labels"][0] == "warning"


def test_liking_beyond_the_cells_is_found_by_the_goodness_of_fit():
    """The deviance over pairs against data simulated from the fit; no reason for a warning, since intervals allow for it."""
    many = {"workers": 200, "topics": 10}
    explained, beyond = (
        fit_weights_to(drawn(6, **many, weight_cv=0.0)),
        fit_weights_to(drawn(6, **many, unexplained_sd=0.8)),
    )

    (good,), (bad,) = explained.goodness_of_fit(39), beyond.goodness_of_fit(39)
    assert good.p_value > 0.05
    assert bad.p_value == pytest.approx(1 / 40)
    assert "more than their cells" in bad.sentence
    assert not bad.p_value < bad.level
    assert beyond.goodness_of_fit(39, seed=1) == (bad,)


def test_without_a_model_of_votes_there_is_no_goodness_of_fit_and_no_simulation():
    """Half votes are a device, dropped ties leave two answers."""
    half, drop = (fit_weights_to(drawn(), ties=ties) for ties in ("half", "drop"))

    assert half.goodness_of_fit(9) == ()
    with pytest.raises(ValueError, match="half votes"):
        half.simulate(10, np.random.default_rng(1))
    assert 0 < drop.goodness_of_fit(9)[0].p_value <= 1
    choices = drop.simulate(200, np.random.default_rng(1))["preferences"]["choice"]
    assert set(choices) == {"left", "right"}


# --- tables, pictures, simulation


@pytest.fixture(scope="module")
def fit() -> PushFit:
    rng = np.random.default_rng(7)
    cells = simulate_push_cells(25, rng)
    return fit_push_weights(simulate_push_preferences(cells, PushJudges(), rng), cells, rng=rng, resamples=30)


def test_data_simulated_from_a_fit_have_its_weights(fit):
    """The same pairs, sides at random, through the tables."""
    tables = fit.simulate(6_000, np.random.default_rng(1))
    again = fit_push_weights(tables["preferences"], tables["push_cells"])

    assert again.estimates == pytest.approx(fit.estimates, abs=0.3)
    assert again.maximum.tie == pytest.approx(fit.maximum.tie, abs=0.1)
    assert fit_push_alpha(tables["preferences"], tables["push_cells"]).params[ALPHA] > 0.5


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
    raw = dataclasses.replace(fit.raw, cov=fit.raw.cov * 400)
    ax = Figure().subplots()
    dataclasses.replace(fit, uncertainty={"fieller": FiellerRatios(raw=raw)}).plot_weights(ax)

    dashed = [line for line in ax.get_lines() if line.get_linestyle() == "--"]
    assert len(dashed) == len(fit.params)
    assert {edge for line in dashed for edge in line.get_xdata()} & set(ax.get_xlim())


def test_votes_are_kept_by_pair_and_add_up(fit):
    """Nobody's answer can be read from a result: votes are counts of pairs, whatever the side."""
    assert fit.votes.votes.sum() == fit.n_rows == 1000
    assert not {"worker", "workers"} & set(type(fit.votes).__slots__)


def test_bootstrap_samples_scatter_around_the_fit():
    """Counted votes of pairs stand for all their judgments, so the samples are of the same size as the study."""
    judgments = drawn(9, 30, workers=400)
    fit = fit_weights_to(judgments, rng=np.random.default_rng(1), resamples=60)
    samples = fit.uncertainty["bootstrap"].values
    found = search_weights(judged_by(judgments, judgments.difference, "davidson"), WEIGHTS, "davidson")
    raw = bootstrap_weights(fit.votes, found, "davidson", resamples=60, rng=np.random.default_rng(1))

    assert raw.mean(axis=0) == pytest.approx(found.weights, rel=0.15, abs=0.02)
    assert raw[:, 1:] / raw[:, :1] == pytest.approx(samples)
    assert raw.std(axis=0) == pytest.approx(np.sqrt(np.diag(found.raw.cov)), rel=0.4)


def test_intervals_repeat_with_the_seed(fit):
    """The bootstrap over topics is the only thing drawn."""
    judgments = drawn()
    one, other = (fit_weights_to(judgments, rng=np.random.default_rng(3), resamples=20) for _ in range(2))

    assert list(one.uncertainty) == ["delta", "fieller", "bootstrap"]
    assert one.conf_int(method="bootstrap") == other.conf_int(method="bootstrap")
    assert one.to_dict() == other.to_dict()


def test_small_p_values_are_shown_as_small():
    """A p-value of 0.000 is none."""
    assert shown_p(0.0004) == "p < 0.001"
    assert shown_p(0.0124) == "p = 0.012"
