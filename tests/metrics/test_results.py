"""The common result of all families: labels, means, frames."""

import math

import pytest

from metrics.results import ALL, Score, labelled, score_frame, with_means
from tests.metrics.sample import Sample

SCORES = [
    Score("a", "1", "S", 1.0),
    Score("a", "2", "S", 3.0),
    Score("b", "1", "S", 5.0),
    Score("b", "2", "S", 0.0),
]


def means(scores):
    return {(score.run, score.metric, score.user): score.value for score in scores if score.topic == ALL}


def test_all_is_the_mean_over_every_topic_of_the_run():
    """The judged topics decide, not what a run chose to answer."""
    assert means(with_means(SCORES)) == {("a", "S", None): 2.0, ("b", "S", None): 2.5}


def test_the_mean_can_be_taken_over_the_runs_own_topics():
    """`--topics run`, as some authors' scripts do; over no topic it is undefined."""
    found = means(with_means(SCORES, over={"a": {"2"}, "b": set()}))
    assert found["a", "S", None] == 3.0
    assert math.isnan(found["b", "S", None])


def test_a_metric_that_is_no_mean_keeps_its_own_row_all():
    """Ratios of totals are not means of ratios."""
    assert means(with_means([*SCORES, Score("a", ALL, "S", 9.0)]))["a", "S", None] == 9.0


def test_means_are_taken_for_each_user():
    """Per-user scores average over topics, not over users."""
    scores = [Score("a", "1", "S", 1.0, "u"), Score("a", "2", "S", 2.0, "u"), Score("a", "1", "S", 8.0, "v")]
    assert means(with_means(scores)) == {("a", "S", "u"): 1.5, ("a", "S", "v"): 8.0}


def test_a_frame_is_tidy_and_names_users_only_when_there_are_any():
    """Every family returns this one shape."""
    assert list(score_frame(SCORES)) == ["run", "topic", "metric", "value"]
    assert list(score_frame([Score("a", "1", "S", 1.0, "u")])) == ["run", "topic", "user", "metric", "value"]
    empty = score_frame([])
    assert list(empty) == ["run", "topic", "metric", "value"]
    assert empty["value"].dtype == float


def test_variants_with_one_column_need_labels():
    """Two rows of the same name and different values would be worthless."""
    variants = [Sample(), Sample(graded=False)]
    with pytest.raises(ValueError, match="both printed as S@10"):
        labelled(variants)
    assert labelled({"plain": variants[0], "binary": variants[1]})["binary"] == variants[1]
    assert labelled([Sample(), Sample()]) == {"S@10": Sample()}
