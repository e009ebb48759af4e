"""Contingency weights and alpha from preferences: what can be told, how surely, and what naive fits get wrong."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.naive.push import NAIVE, unclustered
from calibration.checks.registry import run_checks
from calibration.inference.choice import maximise
from calibration.inference.results import NotIdentifiedError
from calibration.models.push.alpha import NAME as ALPHA
from calibration.models.push.alpha import fit_push_alpha
from calibration.models.push.columns import identified, variance_inflation
from calibration.models.push.judgments import WEIGHTS, PushJudgments, push_judgments
from calibration.models.push.simulate import (
    TRUTH,
    PushJudges,
    simulate_push_cells,
    simulate_push_preferences,
)
from calibration.models.push.weights import fit_push_weights
from tests.calibration.models.push.judges import by_chance, drawn, names

RATIOS = {f"push_{name}": TRUTH[name] for name in WEIGHTS[1:]}


def changed(judgments: PushJudgments, **sides) -> PushJudgments:
    """Return judgments with columns of x, by weight, replaced by a function of x."""
    columns = {name: WEIGHTS.index(name) for name in sides}
    both = {}
    for side in ("left", "right"):
        x = getattr(judgments, side).copy()
        for name, new in sides.items():
            x[:, columns[name]] = new(getattr(judgments, side).T)
        both[side] = x
    return dataclasses.replace(judgments, **both)


def holds(ends, truth: float) -> bool:
    low, high = ends
    return (low is None or low <= truth) and (high is None or truth <= high)


# --- recovery and coverage
@pytest.mark.parametrize(
    ("topics", "judges"),
    [
        (12, {"workers": 30, "unexplained_sd": 0.3}),
        (40, {}),
        (40, {"tie_law": "rao_kupper", "tie_weight": 1.6}),
    ],
    ids=["few topics, unexplained", "many topics", "other law of ties"],
)
def test_known_weights_are_found_again_and_their_intervals_hold_them(topics, judges, seeds):
    """People's own weights scatter; the ratios of the mean weights are what is asked for."""
    fits = [fit_push_weights(drawn(seed, topics, **judges)) for seed in seeds(100, least=20)]
    intervals = [fit.conf_int() for fit in fits]

    for name, truth in RATIOS.items():
        estimates = np.array([fit.parameters[name] for fit in fits])
        spread = np.subtract(*np.quantile(estimates, [0.75, 0.25])) / 1.349
        assert abs(np.median(estimates) - truth) < 3.3 * spread / len(fits) ** 0.5, name
        assert np.mean([holds(of[name], truth) for of in intervals]) >= by_chance(len(fits)), name


def test_a_known_alpha_is_found_again_and_its_interval_holds_it(seeds):
    """G_E = 1 and P_E = P_0 = .5 make alpha 2 / 3."""
    fits = [fit_push_alpha(drawn(seed, 20, unexplained_sd=0.3)) for seed in seeds(100)]
    estimates = np.array([fit.parameters[ALPHA] for fit in fits])

    assert abs(np.median(estimates) - 2 / 3) < 3.3 * estimates.std() / len(fits) ** 0.5
    assert np.mean([holds(fit.conf_int()[ALPHA], 2 / 3) for fit in fits]) >= by_chance(len(fits))


def test_judgments_as_independent_ones_are_too_sure_when_topics_share_something(seeds):
    """What people like about a stream beyond its cells is in all its pairs."""
    data = [drawn(seed, 10, unexplained_sd=0.6, workers=100) for seed in seeds(100, least=30)]
    ours = [fit_push_weights(one).conf_int() for one in data]
    naive = [unclustered(one).conf_int() for one in data]

    for name in ("push_P_E", "push_P_0"):
        assert np.mean([holds(of[name], RATIOS[name]) for of in ours]) >= by_chance(len(ours))
        assert np.mean([holds(of[name], RATIOS[name]) for of in naive]) < 0.8


def test_cells_looked_up_without_the_side_give_weights_near_nothing():
    """Sides are random, so half of the votes are turned round."""
    rng = np.random.default_rng(2)
    cells = simulate_push_cells(20, rng)
    preferences = simulate_push_preferences(cells, PushJudges(), rng)

    assert NAIVE["without_sides"](preferences, cells).details["G_E_log_odds"] == pytest.approx(0, abs=0.05)
    assert fit_push_weights(push_judgments(preferences, cells)).details["G_E_log_odds"] > 0.15


def test_without_ties_the_estimate_scatters_more():
    """Ties say that streams are worth about the same; here they are two in five."""
    data = [drawn(seed, 15, tie_weight=2.0, weight_cv=0.0) for seed in range(100)]
    kept = [maximise(one.difference, one.vote, "davidson").weights[0] for one in data]
    dropped = [
        maximise(one.difference[one.vote != 0], one.vote[one.vote != 0], "drop").weights[0] for one in data
    ]

    assert np.std(dropped) > 1.05 * np.std(kept)


@pytest.mark.parametrize("name", NAIVE)
def test_naive_fits_report_like_the_others(name):
    """They can stand beside the fit in one table."""
    rng = np.random.default_rng(3)
    cells = simulate_push_cells(10, rng)
    fit = NAIVE[name](simulate_push_preferences(cells, PushJudges(), rng), cells)

    assert set(fit.entries()) == set(RATIOS)


def test_swapping_the_sides_of_every_showing_changes_nothing():
    """There is no intercept: streams have no side of their own."""
    one = drawn()
    other = dataclasses.replace(one, left=one.right, right=one.left, vote=-one.vote)

    assert fit_push_weights(other).estimates == pytest.approx(fit_push_weights(one).estimates)


@pytest.mark.parametrize("ties", ["davidson", "half", "drop"])
def test_treatments_of_ties_agree_on_the_ratios(ties):
    """They measure log odds differently and weigh ties differently, but ratios are ratios."""
    fit = fit_push_weights(drawn(5, 60, workers=400), ties=ties)

    assert fit.estimates == pytest.approx(list(RATIOS.values()), abs=0.2)
    with pytest.raises(ValueError, match="ties must be one of"):
        fit_push_weights(drawn(), ties="win")


# --- what can be told
def test_pushes_counted_as_days_leave_only_the_sum_of_two_weights():
    """Days with a push and days without add up to the silent days, the same for both streams."""
    silent_days = 4.0
    fit = fit_push_weights(changed(drawn(), P_0=lambda x: x[4] - silent_days))

    assert set(fit.parameters) == {"push_P_E", "push_S_E"}
    (skipped,) = fit.skipped
    assert skipped.names == ("push_P_0", "push_S_0")
    assert "only P_0 + S_0 can be estimated" in skipped.reason


def test_a_cell_in_which_no_pair_differs_is_skipped_alone():
    """A collection without silent days says nothing about P_0 and S_0, and all about the others."""
    fit = fit_push_weights(changed(drawn(), P_0=lambda x: 0 * x[0], S_0=lambda x: 0 * x[0]))

    assert set(fit.parameters) == {"push_P_E", "push_S_E"}
    assert [skipped.names for skipped in fit.skipped] == [("push_P_0",), ("push_S_0",)]
    assert "nonrelevant_silent" in fit.skipped[0].reason
    assert fit.silent is None


def test_skipping_a_weight_leaves_the_others_as_they_are():
    """Which of two columns that say the same is kept makes no difference."""
    tied = changed(drawn(), P_0=lambda x: x[4])
    other = changed(tied, S_0=lambda x: 0 * x[0])

    assert fit_push_weights(tied).parameters["push_P_E"] == pytest.approx(
        fit_push_weights(other).parameters["push_P_E"]
    )


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=2).filter(lambda c: min(map(abs, c)) > 0.05))
def test_the_combination_that_can_be_told_is_named(parts):
    """With x3 = a x1 + b x2, w1 + a w3 and w2 + b w3 can be told."""
    base = np.random.default_rng(1).normal(size=(30, 2))
    columns = identified(np.column_stack([base, base @ parts]), ("A", "B", "C"))
    signs = ["+" if part > 0 else "-" for part in parts]

    assert columns.kept == (0, 1)
    assert set(columns.unclear) == {0, 1, 2}
    for letter, sign in zip("AB", signs, strict=True):
        assert f"{letter} {sign} " in columns.unclear[2]


def test_without_a_weight_of_gain_nothing_is_told():
    """Everything is relative to it."""
    with pytest.raises(NotIdentifiedError, match="gain"):
        fit_push_weights(changed(drawn(), G_E=lambda x: 0 * x[0]))
    with pytest.raises(NotIdentifiedError, match="only G_E \\+ P_E can be estimated"):
        fit_push_weights(changed(drawn(), P_E=lambda x: x[0]))


def test_gain_that_people_do_not_prefer_is_refused_as_a_likely_error_of_coding():
    """A turned sign would otherwise turn all ratios."""
    turned = drawn()
    with pytest.raises(NotIdentifiedError, match="check the signs of the cells"):
        fit_push_weights(dataclasses.replace(turned, vote=-turned.vote))


def test_only_ties_are_refused():
    """Nobody preferred anything."""
    judgments = drawn()
    for fit in (fit_push_weights, fit_push_alpha):
        with pytest.raises(NotIdentifiedError, match="every judgment is a tie"):
            fit(dataclasses.replace(judgments, vote=0 * judgments.vote))


def test_a_weight_that_no_vote_contradicts_has_no_finite_value():
    """Three pairs differ in S_E, and everybody prefers the same side of them."""
    judgments = drawn()
    rare = np.zeros(len(judgments.vote))
    rare[[5, 50, 500]] = 1.0
    left, right = judgments.left.copy(), judgments.right.copy()
    left[:, 2], right[:, 2] = rare, 0
    vote = np.where(rare > 0, 1.0, judgments.vote)
    fit = fit_push_weights(dataclasses.replace(judgments, left=left, right=right, vote=vote))

    assert "push_S_E" not in fit.parameters
    assert "no finite weight" in fit.skipped[0].reason
    assert abs(fit.parameters["push_P_E"] - 0.5) < 0.5


def test_variance_inflation_is_that_of_the_regression_on_the_other_cells():
    """1 / (1 - R^2) about 0."""
    design = np.random.default_rng(1).normal(size=(50, 3))
    design[:, 2] += 3 * design[:, 0]
    rest = design[:, :2] @ np.linalg.lstsq(design[:, :2], design[:, 2], rcond=None)[0]
    r2 = (rest**2).sum() / (design[:, 2] ** 2).sum()

    assert variance_inflation(design)[2] == pytest.approx(1 / (1 - r2))
    judgments = changed(drawn(), P_0=lambda x: x[4] + 0.1 * x[3])
    findings = {finding.name: finding for finding in run_checks(fit_push_weights(judgments), judgments)}
    assert findings["collinear_cells"].parameters == ("push_P_0", "push_S_0")


def test_a_single_topic_or_worker_gives_estimates_without_intervals():
    """Nothing is known about other topics, or other people."""
    for few in ({"topics": 1, "workers": 200}, {"workers": 1, "pairs_per_worker": 2000}):
        judgments = drawn(2, **few)
        for fit in (fit_push_weights(judgments), fit_push_alpha(judgments)):
            assert set(fit.conf_int().values()) == {(None, None)}
            assert names(fit) & {"one_topic", "one_worker"}
