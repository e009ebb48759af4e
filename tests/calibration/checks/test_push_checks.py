"""Doubts about push weights and alpha that are not of the form of pain: sides, words for ties, weak gain, few topics, pairs."""

import dataclasses

import numpy as np
import pytest

from calibration.checks.finding import Finding
from calibration.checks.push.unexplained_pairs import check_unexplained_pairs
from calibration.checks.push.weak_gain import check_weak_gain
from calibration.checks.registry import run_checks
from calibration.inference.results import CalibrationResult
from calibration.models.push.alpha import fit_push_alpha
from calibration.models.push.judgments import PushJudgments
from calibration.models.push.simulate import TRUTH
from calibration.models.push.weights import fit_push_weights
from tests.calibration.models.push.judges import drawn


def findings(judgments: PushJudgments, fit: CalibrationResult | None = None) -> dict[str, Finding]:
    found = run_checks(fit or fit_push_weights(judgments), judgments)
    return {finding.name: finding for finding in found}


def test_a_preference_for_a_side_is_told_with_the_weights_that_allow_for_it():
    """Sides are drawn at random, so the side is beside the point, but a reader should know."""
    judgments = drawn(4, 40, workers=200, left_bias=0.5)
    biased, fair = findings(judgments)["side_bias"], findings(drawn(4, 40, workers=200))["side_bias"]
    (law,) = biased.sensitivity["push_P_E"]

    assert biased.severity == "warning"
    assert "on the left" in biased.sentence
    assert law.estimate == pytest.approx(fit_push_weights(judgments).params["push_P_E"], abs=0.1)
    assert fair.severity == "info"
    assert "not shown beyond chance" in fair.sentence
    assert not fair.sensitivity


def test_words_for_ties_that_follow_utility_tell_where_it_is_zero():
    """Differences alone cannot; random words say nothing."""
    follows = findings(drawn(5, 60, workers=200, label_slope=0.5))["tie_labels"]
    random = findings(drawn(5, 60, workers=200))["tie_labels"]

    zero = float(follows.sentence.split("utility of ")[1].split(" G_E")[0])
    assert zero == pytest.approx(0, abs=1)
    assert (follows.severity, random.severity) == ("info", "info")
    assert "regardless of" in random.sentence


def test_words_for_ties_that_follow_utility_without_exception_are_told_as_such():
    """A logit has no finite slope then, and its error would be anything."""
    judgments = drawn(5, 30)
    total = (judgments.left + judgments.right) @ fit_push_weights(judgments).search.maximum.weights
    sharp = dataclasses.replace(judgments, good=(judgments.vote == 0) & (total > np.median(total)))

    assert "utility is high (p < 0.001)" in findings(sharp)["tie_labels"].sentence


def test_words_for_ties_that_run_against_utility_are_a_warning():
    """Good and bad were probably exchanged."""
    judgments = drawn(5, 60, workers=200, label_slope=0.5)
    exchanged = dataclasses.replace(judgments, good=(judgments.vote == 0) & ~judgments.good)

    assert findings(exchanged)["tie_labels"].severity == "warning"


def test_liking_beyond_the_cells_is_seen_and_is_no_reason_for_a_warning():
    """The residuals of one pair go together; intervals allow for it."""
    explained, beyond = (
        findings(drawn(6, topics=10, workers=200, **people))["unexplained_pairs"]
        for people in ({"weight_cv": 0.0}, {"unexplained_sd": 0.8})
    )

    assert "The cells explain the preferences" in explained.sentence
    assert "more than their cells" in beyond.sentence
    assert beyond.severity == "info"
    assert beyond.p_value is None


def test_the_cells_are_found_wanting_by_chance_in_about_one_of_twenty_studies(seeds):
    """People who like streams for their cells alone."""
    kept = seeds(100, least=60)
    data = [drawn(seed, 10, weight_cv=0.0) for seed in kept]
    said = [check_unexplained_pairs(fit_push_weights(one), one).sentence for one in data]

    assert np.mean(["more than their cells" in sentence for sentence in said]) <= 0.05 + 2 * np.sqrt(
        0.05 * 0.95 / len(kept)
    )


@pytest.mark.parametrize("ties", ["half", "drop"])
def test_every_treatment_of_ties_has_its_checks(ties):
    """A vote that was dropped has no residual."""
    judgments = drawn()

    assert "unexplained_pairs" in findings(judgments, fit_push_weights(judgments, ties=ties))


@pytest.mark.parametrize(("errors", "warns"), [(1.5, True), (2.5, False)])
def test_a_weak_gain_is_a_warning_only_where_nothing_shows_that_gain_matters(errors, warns):
    """Fieller's intervals allow for the rest; with ten topics every sixth right study would have a warning."""
    judgments = drawn()
    fit = fit_push_weights(judgments)
    weights = fit.search.raw.weights.copy()
    weights[0] = errors * np.sqrt(fit.search.raw.cov[0, 0])
    raw = dataclasses.replace(fit.search.raw, weights=weights)
    weak = dataclasses.replace(fit, search=dataclasses.replace(fit.search, raw=raw))

    assert (check_weak_gain(weak, judgments) is not None) == warns


def test_people_who_like_pushes_of_nothing_are_a_likely_error_of_coding():
    """In the weights and in alpha; people who do not mind them are none."""
    liked = drawn(3, weights={**TRUTH, "P_E": -0.5, "P_0": -0.5})
    careless = drawn(3, weights={**TRUTH, "P_E": -0.01, "P_0": -0.01})

    for fit in (fit_push_weights, fit_push_alpha):
        assert findings(liked, fit(liked))["pushes_liked"].severity == "warning"
        found = findings(careless, fit(careless)).get("pushes_liked")
        assert found is None or found.severity == "info"


def test_one_heavy_topic_counts_as_few_topics():
    """Twenty topics of which one has most judgments are worth two; the sentence says its share."""
    judgments = drawn(2, 20, workers=100)
    rows = np.concatenate(
        [np.repeat(np.flatnonzero(judgments.topic == 0), 40), np.arange(len(judgments.vote))]
    )
    heavy = dataclasses.replace(
        judgments,
        **{
            name: getattr(judgments, name)[rows]
            for name in ("left", "right", "vote", "good", "first_is_left", "worker", "topic", "pair")
        },
    )

    assert "few_topics" not in findings(judgments)
    assert "of which one has 6" in findings(heavy)["few_topics"].sentence


def test_judgments_that_were_left_out_are_counted():
    """Streams without cells, or over other days."""
    judgments = dataclasses.replace(drawn(), without_cells=3, unequal_days=2)
    found = findings(judgments)

    assert found["pairs_without_cells"].sentence.startswith("3 judgments")
    assert found["unequal_days"].sentence.startswith("2 judgments")
    assert {found["pairs_without_cells"].severity, found["unequal_days"].severity} == {"warning"}
