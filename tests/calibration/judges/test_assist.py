"""Numbers of people that a judge assists: a worked example, plain loops, and what no judge may do."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from benchmarks.assisted import MEASURES, passages, passages_numbers
from calibration.judges.assist import (
    FEW_TOPICS,
    MAX_WIDENING,
    PeopleNumber,
    VotesOnPairs,
    equal_weights,
    judge_number,
    judged_pairs_of,
    least_width_ratio,
    verdicts_by,
)
from metrics.agreement.crossed_errors import crossing
from metrics.errors import InputError


def verdicts(names, votes):
    """Return one verdict a pair of names (topic, system_a, system_b)."""
    frame = pd.DataFrame(names, columns=["topic", "system_a", "system_b"])
    return frame.assign(
        judge="j", task="lists", order=pd.array([1] * len(frame), dtype="Int64"), is_swapped=False, repeat=1
    ).assign(vote=list(votes))


def assisted(people, judge_there, judge_elsewhere, topics_there, topics_elsewhere, worker=None, level=0.95):
    """Assist the mean of one vote a pair by a judge's credits, there and on further pairs; credits are 1, 0 or 0.5."""
    names = [(topic, "a", f"b{place}") for place, topic in enumerate([*topics_there, *topics_elsewhere])]
    said = {1.0: "votes_a", 0.0: "votes_b", 0.5: "equally_good"}
    rows = verdicts(names, [said[credit] for credit in [*judge_there, *judge_elsewhere]])
    topic = pd.factorize(np.array(topics_there))[0]
    pairs = judged_pairs_of(rows.iloc[: len(people)], topic, rows)
    votes = VotesOnPairs(crossing(topic, worker), np.arange(len(people)), pairs)
    people = np.array(people, dtype=float)
    number = PeopleNumber(
        people.mean(), (people - people.mean()) / len(people), np.full(len(people), 1 / len(people))
    )
    counts = np.ones(len(names), dtype=bool)
    judge = judge_number(
        pairs.share, equal_weights(counts[: len(people)]), equal_weights(counts), pairs.topic
    )
    return votes.assisted(number, judge, level=level)


def test_a_worked_example():
    """Four topics with one pair of people and one more of the judge each.

    People .75; the judge .5 there and .625 on all. Slopes of the other topics: 1/2, 1/6, 5/6, 1/2. Parts in the bracket: 0, -1/8, 0, 0.
    So the estimate is .75 + 1/6 x 1/8.
    """
    topics = ["q1", "q2", "q3", "q4"]
    found = assisted([1, 0, 1, 1], [1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 1.0], topics, topics)
    assert found.people == 0.75
    slopes, parts = np.array([1 / 2, 1 / 6, 5 / 6, 1 / 2]), np.array([0, -1 / 8, 0, 0])
    assert found.estimate == pytest.approx(0.75 - slopes @ parts)
    assert found.weight == pytest.approx(slopes.mean())
    whole = np.array([0.75, -0.25, -1.25, 0.75]) / 8
    there = np.array([0.5, -0.5, -0.5, 0.5]) / 4
    people = np.array([0.25, -0.75, 0.25, 0.25]) / 4

    def reach(influence):
        return student.ppf(0.975, 3) * np.sqrt((influence**2).sum() * 4 / 3)

    alone, width = reach(people), reach(people - slopes * there + slopes * whole)
    assert found.width_ratio == pytest.approx(width / alone)
    assert (found.people_low, found.people_high) == pytest.approx(
        (max(0, 0.75 - alone), min(1, 0.75 + alone))
    )


def drawn(seed, judge, *, workers=None, topics=24, pairs=6, elsewhere=18):
    """Draw one vote a pair on some pairs of topics, and a judge's verdicts there and on further pairs."""
    rng = np.random.default_rng(seed)
    level = rng.uniform(0.2, 0.8, topics)[:, None]
    truth = (rng.random((topics, pairs + elsewhere)) < level).astype(float)
    people = np.where(rng.random(truth.shape) < 0.85, truth, 1 - truth)
    says = {
        "good": truth,
        "useless": rng.integers(0, 2, truth.shape).astype(float),
        "biased": np.maximum(truth, rng.integers(0, 2, truth.shape)),
        "opposite": 1 - people,
        "perfect": people,
        "constant": np.ones(truth.shape),
    }[judge]
    names = np.array([f"q{place:02d}" for place in range(topics)])
    worker = None if workers is None else rng.integers(0, workers, topics * pairs)
    if worker is not None:
        worker = np.unique(worker, return_inverse=True)[1]
    return assisted(
        people[:, :pairs].ravel(),
        says[:, :pairs].ravel().tolist(),
        says[:, pairs:].ravel().tolist(),
        np.repeat(names, pairs),
        np.repeat(names, elsewhere),
        worker,
    ), float(says.mean())


@pytest.mark.parametrize("workers", [None, 12])
@pytest.mark.parametrize("judge", ["opposite", "constant"])
def test_a_judge_of_weight_0_leaves_people_alone(judge, workers, seeds):
    """All of it is as people alone have it: a judge that always says the opposite, or always the same."""
    for seed in seeds(20, least=8):
        found = asdict(drawn(seed, judge, workers=workers)[0])
        assert found["weight"] == 0
        assert found["width_ratio"] == 1
        for name, alone in (("estimate", "people"), ("low", "people_low"), ("high", "people_high")):
            assert found[name] == found[alone]


@pytest.mark.parametrize("workers", [None, 12])
def test_a_perfect_judge_gives_its_own_number_on_all_pairs(workers, seeds):
    """Where the judge says what people say, the estimate is what it says on all pairs, and the interval is narrower."""
    for seed in seeds(10, least=4):
        found, on_all = drawn(seed, "perfect", workers=workers)
        assert found.weight == pytest.approx(1)
        assert found.estimate == pytest.approx(on_all)
        assert found.width_ratio < 1


@pytest.mark.parametrize("workers", [None, 5, 30])
@pytest.mark.parametrize("judge", ["good", "useless", "biased", "opposite"])
def test_no_judge_widens_by_more_than_a_twentieth(judge, workers, seeds):
    """In any study, also of few topics, where the slope is known roughly."""
    for seed in seeds(30, least=9):
        found, _ = drawn(seed, judge, workers=workers, topics=(5, 8, 24)[seed % 3], pairs=3)
        assert np.isnan(found.width_ratio) or found.width_ratio <= MAX_WIDENING
        assert 0 <= found.weight <= 1


def test_a_good_judge_narrows_more_with_topics_that_people_did_not_judge():
    """Two thirds of the topics have verdicts only: their differences are no longer left to chance."""
    rng, ratios = np.random.default_rng(5), []
    for _ in range(20):
        level = np.repeat(rng.uniform(0, 1, 60), 6)
        truth = (rng.random(level.size) < level).astype(float)
        names = np.repeat([f"q{place:02d}" for place in range(60)], 6)
        found = assisted(truth[:120], truth[:120].tolist(), truth[120:].tolist(), names[:120], names[120:])
        ratios.append(found.width_ratio)
    assert np.mean(ratios) == pytest.approx(np.sqrt(1 / 3), abs=0.05)


def test_what_a_judge_can_save_at_most():
    """1 - ratio^2 = R^2; nothing where the judge contradicts people."""
    assert least_width_ratio(0.6) == pytest.approx(0.8)
    assert least_width_ratio(-0.6) == 1


def test_few_topics_have_a_note():
    """Fewer than twenty."""
    names = [(f"q{place}", "a", "b") for place in range(FEW_TOPICS)]
    rows = verdicts(names, ["votes_a"] * FEW_TOPICS)
    for topics in (FEW_TOPICS - 1, FEW_TOPICS):
        code = np.arange(topics)
        votes = VotesOnPairs(crossing(code, None), code, judged_pairs_of(rows[:topics], code, rows))
        assert bool(votes.note()) == (topics < FEW_TOPICS)


def test_verdicts_that_assist_nothing_say_why():
    """Unknown judges, verdicts only where people judged, and none there."""
    rows = verdicts([("q1", "a", "b"), ("q2", "a", "b")], ["votes_a", "votes_b"])
    with pytest.raises(InputError, match="no judge is called 'k'; name one of j"):
        verdicts_by("k", rows)
    with pytest.raises(InputError, match="prefcal judge import puts judges"):
        verdicts_by("k", rows[:0])
    people, code = rows[["topic", "system_a", "system_b"]], np.arange(2)
    assert "no pair besides the 2 pairs" in judged_pairs_of(people, code, rows).why_useless
    elsewhere = rows.assign(system_b="c")
    assert "none of the pairs" in judged_pairs_of(people, code, elsewhere).why_useless
    both = pd.concat([rows, elsewhere], ignore_index=True)
    assert not judged_pairs_of(people, code, both).why_useless


def test_on_the_reference_data(shared):
    """GPT-4o beside a crowd on passages: the true agreements, and labels on a fifth of every topic's pairs.

    The judge and a person agree hardly more often than by chance, so the saving is some 1 to 3 % of the width; the opposite judge is not used.
    """
    folder = str(shared / "data" / "dl21")
    truth = [passages(folder).truth(measure) for measure in MEASURES]
    assert truth == pytest.approx([0.5561, 0.5547, 0.5150], abs=5e-5)
    found = np.array([passages_numbers(folder, False, number) for number in range(20)])
    width = (found[..., 5] - found[..., 4]).mean(axis=0) / (found[..., 2] - found[..., 1]).mean(axis=0)
    assert (np.abs(width[0] - 0.98) < 0.03).all()
    assert width[1] == pytest.approx([1, 1, 1], abs=0.005)
    assert np.abs(found[:, 0, :, 3].mean(axis=0) - found[0, 0, :, 6]).max() < 0.03
