"""The common result of all families: labels, means, frames."""

import math
import re
from pathlib import Path

import pytest

import prefcal
from metrics.errors import InputError
from metrics.results import ALL, Score, label_measures, score_frame, with_means
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
        label_measures(variants)
    assert label_measures({"plain": variants[0], "binary": variants[1]})["binary"] == variants[1]
    assert label_measures([Sample(), Sample()]) == {"S@10": Sample()}


STREAMS = Path(__file__).parents[2] / "examples" / "two_layered" / "streams"


@pytest.fixture(scope="module")
def events():
    kinds = {"topics": "xml", "nuggets": "tsv", "matches": "tsv", "updates": "tsv"}
    return prefcal.read_events(**{name: STREAMS / f"{name}.{ending}" for name, ending in kinds.items()})


@pytest.fixture(scope="module")
def run():
    return prefcal.read_update_run(STREAMS / "runs" / "prompt.txt")


@pytest.mark.parametrize(
    ("measures", "said"),
    [
        (["ELG"], "'ELG' is no measure of updates; pass some of Comprehensiveness, "),
        ([prefcal.ELG()], "ELG(silent_days=1) is no measure of updates; pass some of "),
        ({"mine": prefcal.MSU()}, "MSU(lateness=0.5) is no measure of updates; "),
    ],
)
def test_a_measure_of_another_family_is_refused_with_the_names_of_this_one(events, run, measures, said):
    """Measures of two families have the same name in print: ELG of pushes is not that of updates."""
    with pytest.raises(InputError, match=re.escape(said)) as refused:
        prefcal.score_updates(events, [run], measures)

    assert "ExpectedLatencyGain" in str(refused.value)


def test_runs_are_a_list_of_what_was_read(events, run):
    """Neither one run by itself nor the path of a file."""
    measures = [prefcal.ExpectedLatencyGain()]
    with pytest.raises(
        InputError, match=re.escape("one run is given where several are wanted; pass a list: [run]")
    ):
        prefcal.score_updates(events, run, measures)
    with pytest.raises(InputError, match=r"'prompt\.txt' is no UpdateRun; read the file first"):
        prefcal.score_updates(events, ["prompt.txt"], measures)


@pytest.mark.parametrize("wrong", [{"count": 0}, {"seed": -1}])
def test_nobody_is_no_population(wrong):
    """The mean utility for nobody would be 0, for every run."""
    people = prefcal.Population(
        away_mean_seconds=3600, away_sd_seconds=1800, session_mean_seconds=90, session_sd_seconds=45
    )
    with pytest.raises(ValueError, match="count must be at least 1 and seed at least 0"):
        prefcal.SimulatedUsers(population=people, **wrong)
