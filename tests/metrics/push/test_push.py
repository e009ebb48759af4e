"""The push measures: a worked example by hand, the laws they obey, their values at the edges."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.push.contingency import CELLS, INSTANCES, Contingency, PushCell
from metrics.push.days import PAPER, TRACK
from metrics.push.measures import ELG, NCG, T11U, SilencePrecision, SilenceRecall
from metrics.push.score import push_scores, score_push, score_push_days
from metrics.push.streams import Created, PushCollection
from metrics.registry import all_measures, parse_measure
from tests.metrics import push_oracle
from tests.metrics.push_strategies import DAYS, START, collections, run_of, runs

MINUTE, DAY = 60, 86_400
DEFAULTS = [ELG(), ELG(silent_days=0), NCG(), NCG(silent_days=0), T11U(), SilencePrecision(), SilenceRecall()]

conventions = st.sampled_from(["track", "paper"])
shared = st.fixed_dictionaries(
    {"convention": conventions},
    optional={
        "order": st.sampled_from(["file", "time", None]),
        "denom": st.sampled_from(["all", "capped", None]),
        "gain": st.sampled_from(["cluster_day_max", "own", None]),
        "clip": st.sampled_from([True, False, None]),
        "dup_delay": st.sampled_from(["last", "own", None]),
        "unpooled": st.sampled_from(["skip", "nonrel"]),
    },
)


def example():
    """One topic over three days, as docs/measures_push.md works it out.

    Monday: a and b say the same (a relevant, b highly), c something else (relevant), n nothing. Tuesday: d says what a
    said. Wednesday: m says nothing, so nothing clustered was posted.
    """
    created = {
        "a": Created(DAYS[0], START),
        "b": Created(DAYS[0], START + 60 * MINUTE),
        "c": Created(DAYS[0], START + 90 * MINUTE),
        "n": Created(DAYS[0], START + 95 * MINUTE),
        "d": Created(DAYS[1], START + DAY),
        "m": Created(DAYS[2], START + 2 * DAY),
    }
    return PushCollection(
        name="example",
        days={"MB1": DAYS},
        gains={"MB1": {"a": 0.5, "b": 1.0, "c": 0.5, "d": 1.0, "n": 0.0, "m": 0.0}},
        clusters={"MB1": (("a", "b", "d"), ("c",))},
        created=created,
    )


def busy():
    """Pushes a after 20 minutes, n at once, d at once; nothing on Wednesday."""
    return run_of([("1", "a", START + 20 * MINUTE), ("1", "n", START + 95 * MINUTE), ("1", "d", START + DAY)])


def value(measure, run=None, collection=None, topic="all"):
    scores = push_scores(collection or example(), [run or busy()], [measure])
    return next(score.value for score in scores if score.topic == topic)


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        (ELG(), (0.4 + 0 + 1) / 3),
        (ELG(silent_days=0), (0.4 + 0 + 0) / 3),
        (NCG(), (0.8 / 1.5 + 0 + 1) / 3),
        (NCG(silent_days=0), (0.8 / 1.5 + 0 + 0) / 3),
        (T11U(), 0.66 * 0.8 - 0.34 * 1),
        (T11U(redundant="pain"), 0.66 * 0.8 - 0.34 * 2),
        (ELG(convention="paper"), (0.2 + 0 + 1) / 3),
        (NCG(convention="paper"), (0.4 / 1.5 + 0 + 1) / 3),
        (T11U(convention="paper", alpha=0.5), 0.5 * 0.4 - 0.5 * 1),
        (ELG(redundant_day="eventful"), (0.4 + 0 + 1) / 3),
        (SilencePrecision(), 1.0),
        (SilenceRecall(), 1.0),
        (SilenceRecall(redundant_day="silent"), 0.5),
        (PushCell(cell="gain"), 0.8),
        (PushCell(cell="nonrelevant_eventful"), 1.0),
        (PushCell(cell="silent_eventful"), 0.0),
        (PushCell(cell="nonrelevant_silent"), 0.0),
        (PushCell(cell="silent_silent"), 1.0),
        (Contingency(G_E=2, P_E=0.5, S_E=9, P_0=9, S_0=3), 2 * 0.8 - 0.5 + 3),
    ],
    ids=repr,
)
def test_the_worked_example(measure, wanted):
    """Monday gains 1.0 * 0.8 in the track (0.5 * 0.8 in the paper) by two pushes, Z = 1.5; Tuesday is redundant."""
    assert value(measure) == pytest.approx(wanted)


def test_a_redundant_day_is_silent_in_the_track_and_eventful_in_the_paper():
    """Who told everything on Monday is rewarded on Tuesday for saying nothing, or not."""
    run = run_of([("MB1", "a", START)])
    track = score_push_days(example(), [run], [ELG()]).set_index("day")
    paper = score_push_days(example(), [run], [ELG(convention="paper")]).set_index("day")

    assert track["kind"].tolist() == ["eventful", "redundant", "silent"]
    assert track["value"].tolist() == [1.0, 1.0, 1.0]
    assert paper["value"].tolist() == [0.5, 0.0, 1.0]
    assert value(NCG(convention="paper"), run_of([("MB1", "a", START), ("MB1", "d", START + DAY)])) == (
        pytest.approx((0.5 / 1.5 + 0 + 1) / 3)
    )


@given(collections(), runs(), conventions, st.sampled_from([0, 1]))
def test_scores_are_those_of_the_slow_way(collection, run, convention, silent_days):
    """ELG, nCG and T11U from formulas written out day by day."""
    rules, redundant_silent = (TRACK, True) if convention == "track" else (PAPER, False)
    days = push_oracle.count_days(collection, run, rules)
    daily = {"silent_days": silent_days, "redundant_silent": redundant_silent}
    wanted = [
        push_oracle.elg(days, **daily),
        push_oracle.ncg(days, **daily),
        push_oracle.t11u(days, alpha=0.3),
    ]
    measures = [ELG(silent_days=silent_days), NCG(silent_days=silent_days), T11U(alpha=0.3)]
    found = [value(replace(one, convention=convention), run, collection) for one in measures]

    assert found == pytest.approx(wanted)


@given(collections(), runs(), shared, st.floats(0, 1))
def test_t11u_is_a_member_of_the_contingency_family(collection, run, options, alpha):
    """T11U = utility with G_E = alpha, P_E = P_0 = 1 - alpha and silence worth nothing: topic by topic."""
    one = T11U(alpha=alpha, **options)
    scores = push_scores(collection, [run], {"t11u": one, "contingency": Contingency.of_t11u(one)})
    pairs = [(score.value, other.value) for score, other in zip(scores[::2], scores[1::2], strict=True)]

    assert len(pairs) == len(collection.days) + 1
    assert [a for a, _ in pairs] == pytest.approx([b for _, b in pairs], abs=1e-12)


def test_redundancy_as_pain_has_no_place_in_the_contingency_table():
    """Redundant pushes are in no cell."""
    with pytest.raises(ValueError, match="redundant pushes are in no cell"):
        Contingency.of_t11u(T11U(redundant="pain"))


@pytest.mark.filterwarnings("ignore::metrics.unused_input.LeftOutWarning")
@given(collections(), runs(), shared)
def test_silent_cells_cover_the_quiet_days_and_no_others(collection, run, options):
    """Quiet days are silent or eventful; non-relevant pushes are on one of both kinds of days."""
    cells = {cell: value(PushCell(cell=cell, **options), run, collection, "MB1") for cell in CELLS}
    days = score_push_days(collection, [run], [ELG(**options)]).query("topic == 'MB1'")

    assert cells["silent_eventful"] + cells["silent_silent"] == (days["pushes"] == 0).sum()
    quiet_silent = (days["pushes"] == 0) & (days["kind"] == "silent")
    assert cells["silent_silent"] == quiet_silent.sum()


@given(collections(), runs(), shared)
def test_rewarding_silence_adds_the_share_of_silent_days_left_alone(collection, run, options):
    """ELG-1 - ELG-0 = nCG-1 - nCG-0: all that tells them apart is silence."""
    elg = value(ELG(**options), run, collection) - value(ELG(silent_days=0, **options), run, collection)
    ncg = value(NCG(**options), run, collection) - value(NCG(silent_days=0, **options), run, collection)

    assert elg == pytest.approx(ncg)
    assert elg >= 0


@given(collections(), runs(), conventions)
def test_scores_stay_in_their_bounds(collection, run, convention):
    """With clipped latency no day scores above 1, and gain never exceeds one credit a cluster."""
    options = {"convention": convention, "clip": True}
    for one in [ELG(**options), NCG(**options)]:
        assert -1e-12 <= value(one, run, collection) <= 1 + 1e-12
    clusters = max(len(found) for found in collection.clusters.values())
    assert 0 <= value(PushCell(**options), run, collection) <= clusters


@given(collections(), runs(), shared, st.sampled_from(["MB1", "MB2"]))
def test_a_useless_push_never_helps(collection, run, options, topic):
    """One more push of a tweet in no cluster, the last by line and by time, raises no score."""
    created = {**collection.created, "useless": Created(DAYS[1], START + DAY)}
    collection = replace(collection, created=created)
    pushes = list(zip(run.topics, run.tweets, run.epochs.tolist(), strict=True))
    more = run_of([*pushes, (topic, "useless", START + 9 * DAY)])
    for one in [ELG(**options), NCG(**options), T11U(**options)]:
        assert value(one, more, collection) <= value(one, run, collection) + 1e-12


def test_the_empty_run_scores_the_share_of_silent_days():
    """One of three days has nothing clustered: that share in ELG-1 and nCG-1, and 0 where silence earns nothing."""
    scores = {score.metric: score.value for score in push_scores(example(), [run_of([])], DEFAULTS)}
    assert scores == pytest.approx(
        {
            "ELG-1": 1 / 3,
            "ELG-0": 0,
            "nCG-1": 1 / 3,
            "nCG-0": 0,
            "T11U": 0,
            "silence-precision": 1 / 3,
            "silence-recall": 1,
        }
    )


def test_without_topics_there_is_no_score():
    """A mean over nothing is NaN."""
    nothing = replace(example(), days={}, gains={}, clusters={})
    scores = push_scores(nothing, [busy()], DEFAULTS)
    assert [score.topic for score in scores] == ["all"] * len(DEFAULTS)
    assert all(math.isnan(score.value) for score in scores)


def test_a_topic_without_clusters_is_silent_on_every_day():
    """Four topics of 2015 are so: silence is perfect there, and anything else is pain."""
    collection = replace(example(), clusters={"MB1": ()})
    assert value(ELG(), run_of([]), collection) == 1.0
    assert value(ELG(), collection=collection) == pytest.approx(1 / 3)
    assert value(T11U(alpha=0), collection=collection) == -3.0


def test_silence_is_undefined_without_quiet_or_silent_days():
    """A share of nothing is NaN, in a topic and overall."""
    run = run_of([("MB1", "a", START), ("MB1", "d", START + DAY), ("MB1", "m", START + 2 * DAY)])
    assert math.isnan(value(SilencePrecision(), run))
    assert math.isnan(value(SilencePrecision(), run, topic="MB1"))
    assert value(SilenceRecall(), run) == 0.0
    short = replace(example(), days={"MB1": DAYS[:2]})
    assert math.isnan(value(SilenceRecall(), run_of([]), short))


def test_silence_is_averaged_over_days_not_over_topics():
    """Hits / quiet over all topic-days: 1 of 1 in one topic and 1 of 3 in the other make 2 of 4."""
    collection = replace(
        example(),
        days={"MB1": DAYS, "MB2": DAYS},
        gains={"MB1": example().gains["MB1"], "MB2": example().gains["MB1"]},
        clusters={"MB1": example().clusters["MB1"], "MB2": example().clusters["MB1"]},
    )
    assert value(SilencePrecision(), collection=collection, topic="MB1") == 1.0
    assert value(SilencePrecision(), collection=collection, topic="MB2") == pytest.approx(1 / 3)
    assert value(SilencePrecision(), collection=collection) == pytest.approx(2 / 4)


def test_the_mean_can_be_taken_over_the_runs_own_topics():
    """`topics="run"`: a topic the run has no line for is left out, for shares as for means."""
    collection = replace(
        example(),
        days={"MB1": DAYS, "MB2": DAYS},
        gains={**example().gains, "MB2": {}},
        clusters={**example().clusters, "MB2": ()},
    )
    scores = push_scores(
        collection, [busy(), run_of([], name="empty")], [ELG(), SilenceRecall()], topics="run"
    )
    found = {(score.run, score.metric): score.value for score in scores if score.topic == "all"}

    assert found["run", "ELG-1"] == pytest.approx(1.4 / 3)
    assert found["run", "silence-recall"] == 1.0
    assert math.isnan(found["empty", "ELG-1"])
    assert math.isnan(found["empty", "silence-recall"])


def test_a_frame_has_a_row_for_every_topic_and_metric():
    """The shape all families share."""
    frame = score_push(example(), [busy()], DEFAULTS)
    assert list(frame) == ["run", "topic", "metric", "value"]
    assert frame["topic"].tolist() == ["MB1"] * 7 + ["all"] * 7
    assert frame["metric"].tolist()[:7] == [
        "ELG-1",
        "ELG-0",
        "nCG-1",
        "nCG-0",
        "T11U",
        "silence-precision",
        "silence-recall",
    ]


def test_variants_of_one_measure_need_labels():
    """Both would be printed as ELG-1."""
    variants = {"track": ELG(), "paper": ELG(convention="paper")}
    with pytest.raises(ValueError, match="both printed as ELG-1"):
        push_scores(example(), [busy()], variants.values())
    frame = score_push(example(), [busy()], variants).query("topic == 'all'")
    assert dict(zip(frame["metric"], frame["value"], strict=True)) == pytest.approx(
        {"track": 1.4 / 3, "paper": 1.2 / 3}
    )


@given(
    st.builds(ELG, silent_days=st.sampled_from([0, 1]), clip=st.sampled_from([None, True, False]))
    | st.builds(T11U, alpha=st.floats(0, 1), convention=conventions)
    | st.builds(Contingency, S_0=st.floats(-9, 9), unpooled=st.sampled_from(["skip", "nonrel"]))
    | st.builds(PushCell, cell=st.sampled_from(CELLS))
    | st.builds(SilenceRecall, redundant_day=st.sampled_from(["silent", "eventful"]))
)
def test_a_measure_prints_as_what_it_is_read_back_from(one):
    """parse(repr(x)) == x."""
    assert parse_measure(repr(one)) == one


def test_a_measures_own_parameter_comes_first_in_print():
    """The shared ones follow, and only when they depart from the default."""
    assert repr(ELG()) == "ELG(silent_days=1)"
    assert repr(ELG(silent_days=0, convention="paper")) == "ELG(silent_days=0, convention='paper')"
    assert repr(T11U(order="time")) == "T11U(alpha=0.66, order='time')"
    assert list(ELG.defaults())[:3] == ["silent_days", "redundant_day", "convention"]


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (ELG, {"silent_days": 2}, "silent_days must be 0 or 1"),
        (ELG, {"convention": "trec"}, "convention must be 'track' or 'paper'"),
        (T11U, {"alpha": 1.5}, "alpha must be from 0 to 1"),
        (T11U, {"alpha": math.nan}, "alpha must be a number"),
        (Contingency, {"P_0": math.inf}, "P_0 must be finite"),
        (PushCell, {"cell": "redundant"}, "cell must be 'gain'"),
    ],
)
def test_parameters_out_of_range_are_refused(cls, options, message):
    """A measure that exists can be computed."""
    with pytest.raises(ValueError, match=message):
        cls(**options)


def test_a_convention_is_its_switches():
    """Setting every rule of the paper by hand is the paper."""
    by_hand = ELG(
        order="time", denom="capped", gain="own", clip=True, dup_delay="own", redundant_day="eventful"
    )
    assert by_hand.rules == ELG(convention="paper").rules == PAPER
    assert ELG(convention="paper", order="file").rules == replace(PAPER, order="file")
    assert ELG().rules == TRACK


def test_named_members_of_the_family():
    """T11U is exact; the others differ from it in what silence and pain are worth."""
    assert value(INSTANCES["T11U"]) == pytest.approx(value(T11U()))
    assert value(INSTANCES["T11U-silence"]) == pytest.approx(value(T11U()) + 0.66)
    assert value(INSTANCES["gain"]) == pytest.approx(0.8)
    assert value(INSTANCES["gain-silence"]) == pytest.approx(1.8)


def test_the_registry_knows_the_family():
    """`prefcal measures` lists what is declared."""
    pushes = {name for name, cls in all_measures().items() if cls.family == "push"}
    assert pushes >= {"ELG", "NCG", "T11U", "SilencePrecision", "SilenceRecall", "PushCell", "Contingency"}
    assert all(all_measures()[name].definition and all_measures()[name].source for name in pushes)
