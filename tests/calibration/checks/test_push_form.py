"""The form of pain and of gain: with each push, like another power of their number, or with any at all."""

import numpy as np
import pytest

from calibration.checks.finding import Finding
from calibration.checks.push.pain_form import bent_test
from calibration.checks.registry import run_checks
from calibration.models.push.alpha import NAME as ALPHA
from calibration.models.push.alpha import fit_push_alpha
from calibration.models.push.judgments import PushJudgments, transform_cells
from calibration.models.push.simulate import TRUTH, PushJudges, simulate_push_judgments
from calibration.models.push.weights import PushFit, fit_push_weights

P_E = "push_P_E"


def judged(seed: int, topics: int = 40, days: int = 10, **judges) -> PushJudgments:
    rng = np.random.default_rng([seed, 15])
    return simulate_push_judgments(topics, PushJudges(**judges), rng, days=days)


def studied(seed: int, **judges) -> tuple[PushFit, dict[str, Finding]]:
    judgments = judged(seed, **judges)
    fit = fit_push_weights(judgments)
    return fit, {finding.name: finding for finding in run_checks(fit, judgments)}


def warned(findings: dict[str, Finding]) -> set[str]:
    return {name for name, finding in findings.items() if finding.severity == "warning"}


def within(ends: tuple[float | None, float | None], truth: float) -> bool:
    low, high = ends
    return (low is None or low <= truth) and (high is None or truth <= high)


def laws(findings: dict[str, Finding], name: str = P_E) -> dict[str, tuple[float | None, float | None]]:
    return {
        law.law: (law.low, law.high) for one in findings.values() for law in one.sensitivity.get(name, ())
    }


def right(fit: PushFit, findings: dict[str, Finding], truth: float, name: str = P_E) -> bool:
    """The interval holds the truth, or one under another law does, or the form is named."""
    every = [fit.conf_int()[name], *laws(findings, name).values()]
    return bool(warned(findings) & {"pain_form", "gain_form"}) or any(within(ends, truth) for ends in every)


def test_a_form_that_can_be_told_is_named_with_its_weights_and_moves_no_number():
    """Four hundred sharp people who feel the root of the count: P_E by the count is far off, by the root it is found again."""
    judgments = judged(1, days=5, workers=400, sharpness=1.0, pain="root")
    fit, alpha = fit_push_weights(judgments), fit_push_alpha(judgments)
    findings = {finding.name: finding for finding in run_checks(fit, judgments)}
    of_alpha = {finding.name: finding for finding in run_checks(alpha, judgments)}

    assert fit.params[P_E] < 0.35
    assert "like the square root of the number of non-relevant pushes" in findings["pain_form"].sentence
    assert findings["pain_form"].severity == "warning"
    by_root = next(law for law in findings["pain_form"].sensitivity[P_E] if law.law == "pain: root")
    assert by_root.estimate == pytest.approx(0.5, abs=0.15)
    assert by_root.explains == "better"
    assert within(laws(of_alpha, ALPHA)["pain: root"], 2 / 3)
    assert "pain_form" in warned(of_alpha)


def test_pain_that_grows_like_the_square_is_named_and_its_weight_stands_beside():
    """Each push then costs more than the one before; by the count the first would seem to cost several times as much."""
    people = {"weights": TRUTH | {"P_E": 0.1, "P_0": 0.1}, "pain": "square", "weight_cv": 0.1}
    for seed in (1, 2):
        fit, findings = studied(seed, workers=80, **people)

        assert "pain_form" in warned(findings)
        assert within(laws(findings)["pain: square"], 0.1)
        assert fit.conf_int()[P_E][0] > 0.2


def test_gain_that_is_felt_like_its_root_is_named_with_the_weights_of_that_form():
    """By the count a relevant push seems worth little, so that P_E is several times too large."""
    fit, findings = studied(1, days=5, workers=200, sharpness=1.0, gain="root")

    assert fit.params[P_E] > 0.8
    assert "like the square root of what is relevant" in findings["gain_form"].sentence
    assert within(laws(findings)["gain: root"], 0.5)
    assert "pain_form" not in findings


@pytest.mark.parametrize(
    "people",
    [
        {"pain": "root"},
        {"pain": "root", "days": 5},
        {"gain": "root", "days": 5, "sharpness": 0.5},
        {"pain": "three_quarters", "workers": 80, "sharpness": 0.8},
        {"gain": "three_quarters", "workers": 80, "sharpness": 0.8},
        {"pain": "any"},
    ],
    ids=lambda people: "-".join(map(str, people.values())),
)
def test_what_a_push_costs_stands_in_the_interval_or_under_another_law_or_the_form_is_named(people, seeds):
    """The count alone misses P_E in many of these studies."""
    studies = [studied(seed, **people) for seed in seeds(12, least=7)]

    assert np.mean([right(fit, findings, 0.5) for fit, findings in studies]) >= 0.85


def test_both_weights_of_silent_days_are_held_where_pain_is_that_of_a_day():
    """Cells tell only P_0 + S_0 = .9 then: the fit by the count gives all of it to S_0."""
    people = {"weights": TRUTH | {"P_0": 0.0, "S_0": 0.9}, "pain": "day"}
    for seed in (1, 3):
        fit, findings = studied(seed, workers=80, **people)

        assert fit.conf_int()["push_P_0"][1] < 0.5
        assert within(laws(findings, "push_P_0")["pain: days with a push"], 0.5)
        assert within(laws(findings, "push_S_0")["pain: days with a push"], 0.4)


def test_where_pain_grows_with_the_count_no_form_is_named(seeds):
    """And the interval alone holds what a push costs."""
    studies = [studied(seed, days=5, sharpness=0.8) for seed in seeds(20, least=10)]

    assert np.mean([bool(warned(findings) & {"pain_form", "gain_form"}) for _, findings in studies]) <= 0.1
    assert np.mean([within(fit.conf_int()[P_E], 0.5) for fit, _ in studies]) >= 0.85


def test_checks_of_one_fit_together_are_quiet_in_nine_of_ten_good_studies(seeds):
    """Form, sides, words for ties, pushes liked."""
    assert np.mean([not warned(studied(seed)[1]) for seed in seeds(20, least=10)]) >= 0.9


def test_many_good_judgments_leave_no_other_form_open():
    """Then nothing stands beside the weights."""
    _, findings = studied(1, topics=100, workers=1000, days=5, sharpness=1.0, weight_cv=0.1)

    assert not laws(findings)


def test_people_who_differ_in_what_a_push_costs_are_named_and_hide_no_form():
    """The square and own weights: the count misses P_E by far, and no form alike for all is seen; own weights with the square hold it."""
    people = {"weights": TRUTH | {"P_E": 0.1, "P_0": 0.1}, "pain": "square", "weight_cv": 0.5}
    studies = [studied(seed, workers=80, sharpness=0.5, **people) for seed in (1, 2, 3)]

    assert all(warned(findings) == {"own_weights"} for _, findings in studies)
    assert not any(within(fit.conf_int()[P_E], 0.1) for fit, _ in studies[:2])
    assert all(within(laws(findings)["own weights, pain: square"], 0.1) for _, findings in studies)


def test_people_who_are_alike_in_what_a_push_costs_have_no_own_weights(seeds):
    """Their likelihood ratio lies at the edge."""
    kept = seeds(100, least=20)
    found = [studied(seed, weight_cv=0.0, days=5)[1] for seed in kept]

    assert np.mean(["own_weights" in findings for findings in found]) <= 0.12


def test_one_push_costs_the_same_in_every_form_and_none_nothing():
    """So a weight means the same in all of them."""
    x = np.array([[2.0, -1.0, -3.0, 0.0, 1.0], [0.0, -4.0, 0.0, -9.0, 0.0]])

    assert transform_cells(x, "root").tolist() == [[2, -1, -3, 0, 1], [0, -2, 0, -3, 0]]
    assert transform_cells(x, "any").tolist() == [[2, -1, -3, 0, 1], [0, -1, 0, -1, 0]]
    assert transform_cells(x, "three_halves")[1].tolist() == [0, -8, 0, -27, 0]
    assert transform_cells(x, "count").tolist() == x.tolist()
    assert transform_cells(x * 2, "root", "gain").tolist() == [[2, -2, -6, 0, 2], [0, -8, 0, -18, 0]]


def test_without_any_pain_its_form_cannot_be_told():
    """Weights that are not positive bend nothing."""
    liked = TRUTH | {"P_E": -0.3, "P_0": -0.3}
    judgments = judged(3, weights=liked)

    assert bent_test(fit_push_weights(judgments), judgments, "pain") is None
