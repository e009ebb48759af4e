"""Weights fitted without each query: no query helps to fit what judges it."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.agree.judged_task import judged_tasks
from calibration.agree.measures.cross_fitted import (
    alpha_without_each_topic,
    fitted_alpha,
    fitted_weights,
    weights_without_each_topic,
)
from calibration.inference.results import NotIdentifiedError
from calibration.models.push.alpha import fit_push_alpha
from calibration.models.push.judgments import push_judgments
from calibration.models.push.simulate import PushJudges, simulate_push_judgments
from calibration.models.push.weights import fit_push_weights
from tests.calibration.judged_streams import joined, judged_cells

NAMES = ("push_P_E", "push_S_E", "push_P_0", "push_S_0")
LIKED_FOR_MORE = PushJudges(workers=30, pairs_per_worker=4, unexplained_sd=0.5, sharpness=0.6)
"""Four votes a pair, and something about each stream that its cells do not say: a fit has much to be misled by."""

MANY = replace(LIKED_FOR_MORE, workers=300, pairs_per_worker=20)


def judged(tables):
    (task,) = judged_tasks(tables)
    return task


def cells(tables):
    return tables["push_cells"].drop_duplicates(["topic", "system"]).set_index(["topic", "system"])


def without(tables, topic):
    return [tables[name][tables[name]["topic"] != topic] for name in ("preferences", "push_cells")]


def agreement_of_votes(judgments, weights):
    """Share of the votes that go to the stream of larger utility, half a vote for a tie."""
    return float((0.5 + np.sign((judgments.difference * weights).sum(axis=1)) * judgments.vote / 2).mean())


def test_the_point_estimate_is_that_of_the_fit_with_errors():
    """Two ways to the same maximum."""
    tables = judged_cells(3)
    weights = fit_push_weights(push_judgments(tables["preferences"], tables["push_cells"]))
    alpha = fit_push_alpha(push_judgments(tables["preferences"], tables["push_cells"]))

    assert fitted_weights(joined(tables))[1:] == pytest.approx([weights.params[name] for name in NAMES])
    assert fitted_alpha(joined(tables)) == pytest.approx([alpha.params["push_alpha"]])


def test_each_topic_has_the_weights_of_all_others():
    """As if the topic had never been judged."""
    tables = judged_cells(3)

    weights = weights_without_each_topic(judged(tables), cells(tables))
    alpha = alpha_without_each_topic(judged(tables), cells(tables))

    assert len(weights) == 6
    fit = fit_push_weights(push_judgments(*without(tables, "MB004")))
    assert weights["MB004"] == pytest.approx([1, *(fit.params[name] for name in NAMES)])
    assert alpha["MB004"] == pytest.approx(
        fit_push_alpha(push_judgments(*without(tables, "MB004"))).params["push_alpha"]
    )


def test_a_weight_that_the_other_topics_cannot_tell_is_0():
    """As in the model itself: of P_0 and S_0 these pairs tell the sum alone."""
    tables = judged_cells(3)
    pushed = 10 - tables["push_cells"]["silent_silent"]
    tables["push_cells"] = tables["push_cells"].assign(nonrelevant_silent=pushed)

    weights = weights_without_each_topic(judged(tables), cells(tables))

    assert all(of_topic[3:].tolist() == [0.0, 0.0] for of_topic in weights.values())


def test_a_single_topic_leaves_nothing_to_fit_to():
    """Then there is no cross-fitted measure."""
    tables = judged_cells(3, topics=1)

    with pytest.raises(NotIdentifiedError, match="there is a single topic"):
        weights_without_each_topic(judged(tables), cells(tables))


def test_the_cross_fitted_utility_is_not_flattered_and_the_in_sample_one_is():
    """Truth: how often the same weights go with the votes of people about streams that entered no fit."""
    flattery = []
    for seed in range(24):
        tables = judged_cells(seed, topics=5, judges=LIKED_FOR_MORE)
        judgments = joined(tables)
        weights = fitted_weights(judgments)
        of_topic = weights_without_each_topic(judged(tables), cells(tables))
        own = np.array([of_topic[topic] for topic in tables["preferences"]["topic"]])
        fresh = simulate_push_judgments(150, MANY, np.random.default_rng(seed + 1000), systems=4)
        truth = agreement_of_votes(fresh, weights)
        flattery.append(
            (agreement_of_votes(judgments, weights) - truth, agreement_of_votes(judgments, own) - truth)
        )
    in_sample, cross_fitted = np.mean(flattery, axis=0)
    error = np.std(flattery, axis=0, ddof=1) / np.sqrt(len(flattery))

    assert in_sample > 2 * error[0]
    assert in_sample > 0.02
    assert cross_fitted < error[1]
