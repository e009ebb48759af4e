"""The Temporal Summarization measures: worked by hand, against a slow oracle, and their laws."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.events import Event, Match, Nugget, Update
from metrics.updates.account import latency_factor, marked_words
from metrics.updates.measures import MEASURES, ExpectedGain, ExpectedLatencyGain, UpdateCount
from metrics.updates.score import score_updates, update_scores
from tests.metrics import tempsum_oracle
from tests.metrics.event_strategies import START, TOPIC, collection_of, events, run_of, runs

years = st.sampled_from(["2014", "2013"])


@cache
def measures_of(**options):
    """Every measure, plain and confidence-biased."""
    plain = [kind(**options) for kind in MEASURES]
    return plain + [kind(confidence=True, **options) for kind in MEASURES if kind is not UpdateCount]


def values(event, run, *, topic=TOPIC, **options):
    """Every column of one topic."""
    scores = update_scores(collection_of(event), [run], measures_of(**options))
    return {score.metric: score.value for score in scores if score.topic == topic}


def example(**changes):
    """Nuggets n1 (importance 3) and n2 (1), of two words each; u tells n1 in the middle of five words, v nothing."""
    content = {
        "start": START,
        "end": START + 86_400,
        "nuggets": {"n1": Nugget(START, 3.0, 2, "a b"), "n2": Nugget(START, 1.0, 2, "c d")},
        "updates": {"u": Update("one two three four five", 5, None), "v": Update("six", 1, None)},
        "matches": {"u": (Match("n1", 8, 18),)},
    }
    return Event(**{**content, **changes})


def test_an_example_by_hand():
    """n1 marks two of u's five words, so V = 1 + 3/2; six hours late it is worth half."""
    run = run_of([(TOPIC, "u", START + 21_600, 1.0), (TOPIC, "v", START, 1.0)])
    found = values(example(), run)
    low = math.exp(-2)
    assert marked_words(b"one two three four five", Match("n1", 8, 18)) == range(1, 3)
    verbosity = (1 + 3 / 2) + (1 + 1 / 2)
    assert found["updates"] == 2
    assert found["E[Gain]"] == pytest.approx(1 / verbosity)
    assert found["ELG"] == pytest.approx(0.5 / verbosity)
    assert found["E[Verbosity]"] == pytest.approx(verbosity / 2)
    assert found["E[Latency]"] == pytest.approx(0.5 / 2)
    assert found["C"] == pytest.approx(1 / (1 + low))
    assert found["LC"] == pytest.approx(0.5 / (1 + low))
    assert found["nE[Gain]"] == pytest.approx(1 / verbosity / ((1 + low) / 2))
    assert found["nELG"] == pytest.approx(0.5 / verbosity / ((1 + low) / 2))
    assert found["HM"] == pytest.approx(2 / (1 / found["nELG"] + 1 / found["LC"]))


def test_confidence_is_the_position_in_the_file_in_2014():
    """The first line weighs 1, the second 1/2, whatever their times and confidences."""
    run = run_of([(TOPIC, "v", START + 100, 0.0), (TOPIC, "u", START, 99.0)])
    found = values(example(), run)
    assert found["conf-C"] == pytest.approx((0.5 * 1) / (1.5 * (1 + math.exp(-2))))


def test_of_equal_times_the_line_that_stands_first_tells_the_nugget():
    """Whatever the updates are called."""
    event = example(matches={update: (Match("n1", 0, 3),) for update in "uv"})
    for first, second in ["uv", "vu"]:
        run = run_of([(TOPIC, first, START, 1.0), (TOPIC, second, START, 1.0)])
        assert values(event, run)["conf-C"] == pytest.approx(1 / (1.5 * (1 + math.exp(-2))))


def test_confidence_is_the_runs_own_in_2013():
    """Infinite counts as 1000; when the weights add up to nothing, there is no score."""
    run = run_of([(TOPIC, "v", START + 100, np.inf), (TOPIC, "u", START, 250.0)])
    found = values(example(), run, convention="2013")
    assert found["conf-C"] == pytest.approx((250 / 1250) / (1 + math.exp(-2)))
    none = run_of([(TOPIC, "u", START, -1.0)])
    assert values(example(), none, convention="2013")["conf-C"] == 0
    worst = run_of([(TOPIC, "u", START, -np.inf)])
    assert values(example(), worst, convention="2013")["conf-ELG"] == 0


@pytest.mark.parametrize(
    ("late_seconds", "factor"), [(0, 1), (21_600, 0.5), (-21_600, 1.5), (1e300, 0), (-1e300, 2)]
)
def test_a_nugget_is_worth_half_after_six_hours_and_more_when_early(late_seconds, factor):
    """Early is rewarded as late is punished, so LC may exceed 1."""
    assert latency_factor(late_seconds) == pytest.approx(factor)


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        (0, 3, []),
        (0, 4, [0]),
        (4, 7, [0]),
        (3, 7, [0]),
        (4, 8, [0, 1]),
        (7, 13, [1]),
        (8, 13, [1]),
        (0, 99, [0, 1]),
        (50, 99, [1]),
        (9, 2, []),
    ],
)
def test_marked_words_lie_one_to_the_left(start, end, words):
    """As the track's programs count them: a match from word 0 loses one, and the last word is never marked."""
    assert list(marked_words(b"one two three", Match("n", start, end))) == words


def test_offsets_count_bytes():
    """The track's programs read bytes: after an accent they point one letter further left."""
    assert marked_words("é bé".encode(), Match("n", 2, 4)) == range(1)
    assert marked_words("é bé".encode(), Match("n", 1, 4)) == range(1)
    assert marked_words("éé b".encode(), Match("n", 3, 4)) == range(0)


def test_a_copy_is_scored_as_its_original_and_gains_once():
    """Its own text and matches do not matter, when the original was sampled."""
    copies = {
        **example().updates,
        "copy": Update("x", 1, "u"),
        "stray": Update("x y z", 3, "nowhere"),
        "second": Update("x", 1, "copy"),
    }
    event = example(updates=copies)
    assert values(event, run_of([(TOPIC, "copy", START, 1.0)])) == values(
        example(), run_of([(TOPIC, "u", START, 1.0)])
    )
    twice = values(event, run_of([(TOPIC, "u", START, 1.0), (TOPIC, "copy", START, 1.0)]))
    assert twice["C"] == pytest.approx(1 / (1 + math.exp(-2)))
    assert twice["E[Verbosity]"] == pytest.approx(((1 + 3 / 2) + (1 + 5 / 2)) / 2)
    assert values(event, run_of([(TOPIC, "stray", START, 1.0)]))["E[Verbosity]"] == 1 + 3 / 2
    assert values(event, run_of([(TOPIC, "second", START, 1.0)]))["E[Verbosity]"] == 1 + 1 / 2


def test_an_unsampled_update_is_one_word_or_nothing():
    """Counted in 2014 and skipped in 2013, unless the measure says otherwise."""
    run = run_of([(TOPIC, "elsewhere-7", START, 1.0)])
    assert values(example(), run)["E[Verbosity]"] == 1 + 1 / 2
    assert values(example(), run, unsampled="skip")["updates"] == 0
    assert values(example(), run, convention="2013")["updates"] == 0
    assert values(example(), run, convention="2013", unsampled="count")["E[Verbosity]"] == 1 + 1 / 2


def test_nuggets_without_importance_are_dropped_in_2014_and_stay_in_2013():
    """In 2013 they are worth exp(importance - 3), or 1 if binary and not exactly 0."""
    nuggets = {"n1": Nugget(START, -1.0, 2, "a b"), "n2": Nugget(START, 1.0, 2, "c d")}
    event = example(nuggets=nuggets)
    run = run_of([(TOPIC, "u", START, 1.0)])
    assert values(event, run)["C"] == 0
    assert values(event, run, convention="2013")["C"] == pytest.approx(
        math.exp(-1) / (math.exp(-1) + math.exp(1))
    )
    assert values(event, run, convention="2013", binary=True)["C"] == 0.5
    assert values(event, run, binary=True)["C"] == 0


def test_words_are_counted_in_2014_and_given_in_2013():
    """The length columns hold characters in one year and words in the other."""
    event = example(updates={"u": Update("one two three four five", 9, None)})
    run = run_of([(TOPIC, "u", START, 1.0)])
    assert values(event, run)["E[Verbosity]"] == 1 + (5 - 2) / 2
    assert values(event, run, convention="2013")["E[Verbosity]"] == 1 + (9 - 2) / 2


def test_a_run_without_updates_scores_nothing():
    """0/0 is 0, so a topic that a run has nothing for pulls its mean down."""
    assert set(values(example(), run_of([])).values()) == {0.0}
    both = collection_of(example(), example())
    run = run_of([("2", "u", START, 1.0), ("77", "u", START, 1.0)])
    frame = score_updates(both, [run], [ExpectedGain()])
    assert frame["value"].tolist() == [0.0, 0.4, 0.2]
    own = update_scores(both, [run], [ExpectedGain()], topics="run")
    assert own[-1] == ("mine", "all", "E[Gain]", 0.4, None)
    assert math.isnan(update_scores(both, [run_of([])], [ExpectedGain()], topics="run")[-1].value)


def test_nuggets_of_no_length_cost_no_verbosity():
    """Without a yardstick no update is long."""
    event = example(nuggets={"n1": Nugget(START, 0.0, 0, "")})
    run = run_of([(TOPIC, "u", START, 1.0)])
    assert values(event, run)["E[Verbosity]"] == 1
    assert values(event, run, convention="2013")["E[Verbosity]"] == 1


def test_readings_can_be_scored_side_by_side_under_labels():
    """One table for both relevances."""
    measures = {"graded": ExpectedLatencyGain(), "binary": ExpectedLatencyGain(binary=True)}
    scores = update_scores(collection_of(example()), [run_of([(TOPIC, "u", START, 1.0)])], measures)
    assert [(score.metric, score.value) for score in scores[:2]] == [("graded", 0.4), ("binary", 0.4)]
    with pytest.raises(ValueError, match="both printed as ELG"):
        update_scores(collection_of(example()), [], measures.values())


def test_a_biased_measure_says_so_in_its_column():
    """Plain and confidence-biased stand in one table."""
    assert ExpectedLatencyGain(confidence=True).column == "conf-ELG"
    assert repr(ExpectedLatencyGain(convention="2013")) == "ExpectedLatencyGain(convention='2013')"


@given(events(), runs(), years, st.booleans(), st.sampled_from([None, "count", "skip"]))
def test_every_column_equals_the_oracle(event, run, year, binary, unsampled):
    """Both years, graded and binary, whatever is done with unsampled updates."""
    found = values(event, run, convention=year, binary=binary, unsampled=unsampled)
    wanted = tempsum_oracle.score(event, run, TOPIC, year=year, binary=binary, unsampled=unsampled)
    assert found == pytest.approx(wanted, abs=1e-12)


@given(events(), runs(), years)
def test_scores_keep_their_bounds(event, run, year):
    """Gains, C and binary relevance in [0, 1]; the latency forms at most twice as much."""
    found = values(event, run, convention=year, binary=True)
    for column in ("C", "nE[Gain]"):
        assert 0 <= found[column] <= len(event.nuggets)
    assert 0 <= found["C"] <= 1 + 1e-12
    assert 0 <= found["LC"] <= 2
    assert found["E[Verbosity]"] >= 1 or found["updates"] == 0
    assert 0 <= found["ELG"] <= 2 * found["E[Gain]"] + 1e-12


@given(events(), runs(), st.randoms(use_true_random=False))
def test_the_order_of_lines_with_different_times_does_not_matter(event, run, random):
    """Only equal times are ordered by the file, and weights of 2014 by position."""
    lines = list(zip(run.topics, run.updates, run.seconds.tolist(), run.confidence.tolist(), strict=True))
    first = {}
    for line in lines:
        first.setdefault(line[2], line)
    lines = list(first.values())
    shuffled = list(lines)
    random.shuffle(shuffled)
    before, after = values(event, run_of(lines)), values(event, run_of(shuffled))
    plain = [column for column in before if not column.startswith("conf-")]
    assert [after[column] for column in plain] == pytest.approx([before[column] for column in plain])


@given(events(), runs(), st.floats(1, 1e6))
def test_latency_measures_never_rise_when_everything_comes_later(event, run, delay):
    """A delay of all updates changes no gain, and no latency-discounted one for the better."""
    lines = zip(run.topics, run.updates, (run.seconds + delay).tolist(), run.confidence.tolist(), strict=True)
    before, after = values(event, run), values(event, run_of(list(lines)))
    for column in ("ELG", "LC", "nELG", "E[Latency]"):
        assert after[column] <= before[column] + 1e-12
    for column in ("E[Gain]", "C", "E[Verbosity]"):
        assert after[column] == pytest.approx(before[column])
