"""The form of pain and of gain: with each push, like the root of their number, or with any at all."""

from functools import partial

import numpy as np
import pytest

from calibration.inference.uncertainty import AnyForm
from calibration.push.fit import PushFit, fit_weights_to
from calibration.push.pain import bent_test, felt, fit_alpha_to, fitted_in, forms_of
from calibration.push.pairs import WEIGHTS
from calibration.push.search import judged_by, search_weights
from calibration.push.simulate import TRUTH, PushJudges, simulate_push_judgments

P_E = "push_P_E"


def judged(seed: int, topics: int = 40, days: int = 10, **judges):
    rng = np.random.default_rng([seed, 15])
    return simulate_push_judgments(topics, PushJudges(**judges), rng, days=days)


def named(fit: PushFit, severity: str = "warning") -> set[str]:
    return {note.name for note in fit.diagnostics if note.severity == severity}


def holds(fit: PushFit) -> bool:
    low, high = fit.conf_int()[P_E]
    return (low is None or low <= 0.5) and (high is None or high >= 0.5)


def of_the_count(fit: PushFit) -> tuple[tuple[float, float], ...]:
    """Return the intervals that allow for no other form."""
    made = fit.uncertainty["delta"]
    return (made.plain if isinstance(made, AnyForm) else made).intervals(0.95)


def test_a_form_that_can_be_told_is_named_with_its_weights():
    """Four hundred sharp people who feel the root of the count: P_E by the count is far off, by the root it is found again."""
    judgments = judged(1, days=5, workers=400, sharpness=1.0, pain="root")
    fit, alpha = fit_weights_to(judgments), fit_alpha_to(judgments)
    (sentence,) = (note.sentence for note in fit.diagnostics if note.name == "pain_form")

    assert fit.params[P_E] < 0.35
    assert "like the square root of the number of non-relevant pushes" in sentence
    assert float(sentence.partition("P_E = ")[2].split()[0]) == pytest.approx(0.5, abs=0.15)
    assert "pain_form" in {note.name for note in alpha.diagnostics}


def test_pain_that_grows_like_the_square_is_named_and_its_weight_held():
    """Each push then costs more than the one before; by the count the first would seem to cost several times as much."""
    people = {"weights": TRUTH | {"P_E": 0.1, "P_0": 0.1}, "pain": "square", "weight_cv": 0.1}
    for seed in (1, 2):
        fit = fit_weights_to(judged(seed, workers=80, **people))
        low, high = fit.conf_int()[P_E]

        assert any(
            "like the square of the number" in note.sentence
            for note in fit.diagnostics
            if note.name == "pain_form"
        )
        assert low <= 0.1 <= high
        assert of_the_count(fit)[0][0] > 0.2


def test_gain_that_is_felt_like_its_root_is_named_with_the_weights_of_that_form():
    """By the count a relevant push seems worth little, so that P_E is several times too large."""
    judgments = judged(1, days=5, workers=200, sharpness=1.0, gain="root")
    fit, alpha = fit_weights_to(judgments), fit_alpha_to(judgments)
    (sentence,) = (note.sentence for note in fit.diagnostics if note.name == "gain_form")

    assert fit.params[P_E] > 0.8
    assert "like the square root of what is relevant" in sentence
    assert float(sentence.partition("P_E = ")[2].split()[0]) == pytest.approx(0.5, abs=0.15)
    assert "pain_form" not in named(fit)
    assert "gain_form" in named(alpha)


def test_the_interval_holds_the_weights_if_gain_is_felt_like_its_root():
    """50 people and five days: the forms cannot be told apart, and the count alone would miss P_E."""
    fits = [fit_weights_to(judged(seed, days=5, sharpness=0.5, gain="root")) for seed in (2, 3, 5)]
    left_open = [fit for fit in fits if "gain_form_open" in named(fit, "info")]

    assert all(holds(fit) or "gain_form" in named(fit) for fit in fits)
    assert any(fit.uncertainty["delta"].plain.intervals(0.95)[0][0] > 0.5 for fit in left_open)


def test_the_interval_holds_what_a_push_costs_in_every_form_that_is_left_open():
    """50 people and ten days: by the count the interval of P_E held the truth in a tenth of the studies, without a word."""
    fits = [fit_weights_to(judged(seed, pain="root")) for seed in range(15)]

    assert np.mean([holds(fit) or "pain_form" in named(fit) for fit in fits]) >= 0.9
    assert any("pain_form_open" in named(fit, "info") for fit in fits)


@pytest.mark.parametrize(("part", "seeds"), [("pain", (1, 3, 4)), ("gain", (2, 3, 5))])
def test_the_interval_holds_what_a_push_costs_where_pain_or_gain_bends_a_little(part, seeds):
    """Eighty sharp people who feel the number to the power of 3/4: by the count alone the interval misses P_E."""
    fits = [fit_weights_to(judged(seed, workers=80, sharpness=0.8, **{part: "power"})) for seed in seeds]

    assert all(holds(fit) for fit in fits)
    assert not all(low <= 0.5 <= high for low, high in (of_the_count(fit)[0] for fit in fits))


def test_the_interval_holds_both_weights_of_silent_days_where_pain_is_that_of_a_day():
    """Cells tell only P_0 + S_0 = .9 then: the fit by the count gives all of it to S_0."""
    people = {"weights": TRUTH | {"P_0": 0.0, "S_0": 0.9}, "pain": "day"}
    fits = [fit_weights_to(judged(seed, workers=80, **people)) for seed in (1, 3)]

    for fit in fits:
        ends = fit.conf_int()
        assert ends["push_P_0"][0] <= 0.5 <= ends["push_P_0"][1]
        assert ends["push_S_0"][0] <= 0.4 <= ends["push_S_0"][1]
        assert any(
            "P_0 + S_0 = " in note.sentence for note in fit.diagnostics if note.name == "pain_form_open"
        )
    assert all(of_the_count(fit)[2][1] < 0.5 for fit in fits)


def test_where_pain_grows_with_the_count_nothing_is_said_and_only_what_is_near_it_left_open():
    """Neither its root nor whether there is any push."""
    fits = [fit_weights_to(judged(seed, days=5, sharpness=0.8)) for seed in range(15)]
    said = [note.sentence for fit in fits for note in fit.diagnostics if note.name == "pain_form_open"]

    assert np.mean(["pain_form" in named(fit) for fit in fits]) <= 0.08
    assert np.mean(["square root" in sentence for sentence in said]) <= 0.3
    assert np.mean([holds(fit) for fit in fits]) >= 0.88


def test_tests_of_one_fit_together_are_quiet_in_nine_of_ten_good_studies():
    """Sides, words for ties and the form of pain."""
    fits = [fit_weights_to(judged(seed)) for seed in range(20)]

    assert np.mean([not named(fit) for fit in fits]) >= 0.9


def test_a_hull_holds_the_intervals_of_all_forms():
    """With an open end where one of them has it."""
    judgments = judged(2)
    found = search_weights(judged_by(judgments, judgments.difference, "davidson"), WEIGHTS, "davidson")
    forms = forms_of(found, partial(fitted_in, judgments, "davidson"))
    methods = [fit_weights_to(judgments).uncertainty["fieller"]]
    hull = AnyForm(plain=methods[0], others=(methods[0],))

    assert 0 < len(forms) < 9  # those that explain the judgments nearly as well
    assert all(one.raw is not None for one in forms.values())
    assert hull.intervals(0.95) == methods[0].intervals(0.95)
    assert hull.draws(50, np.random.default_rng(1)).shape == (50, 4)


def test_one_push_costs_the_same_in_every_form_and_none_nothing():
    """So a weight means the same in all of them."""
    x = np.array([[2.0, -1.0, -3.0, 0.0, 1.0], [0.0, -4.0, 0.0, -9.0, 0.0]])

    assert felt(x, "root").tolist() == [[2, -1, -3, 0, 1], [0, -2, 0, -3, 0]]
    assert felt(x, "any").tolist() == [[2, -1, -3, 0, 1], [0, -1, 0, -1, 0]]
    assert felt(x, "count").tolist() == x.tolist()
    assert felt(x * 2, "root", "gain").tolist() == [[2, -2, -6, 0, 2], [0, -8, 0, -18, 0]]


def test_without_any_pain_its_form_cannot_be_told():
    """Weights that are not positive bend nothing."""
    judgments = judged(3)

    assert bent_test(judgments, "davidson", {0: 1.0, 1: -0.1, 2: 0.3, 3: 0.0, 4: 0.4}) is None
