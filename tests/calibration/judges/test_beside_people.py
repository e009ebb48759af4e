"""A judge beside people: numbers computed by hand, by brute force, and those of the reference data."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from calibration.agree import ScoreSources, agree
from calibration.agree.judged_task import judged_tasks
from calibration.agree.task_agreement import length_differences
from calibration.judges.beside_people import PeoplesVotes
from calibration.judges.numbers import NUMBERS
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.agreement.agreement import TIES, mean_by_query
from tests.calibration.judges.judged import WORTH, beside, drawn_votes, votes_of

SMALL = ["aab", "ab", "a", "bb=", "=="], ["q1", "q1", "q2", "q2", "q3"], "abaa="
"""Five pairs: two to one, a draw, one vote, two and a tie against the judge, and ties."""


def test_agreement_with_the_majority_under_each_rule():
    """Majorities a, tie, a, b, tie against verdicts a, b, a, a, tie."""
    found = beside(*SMALL)
    values = {ties: each.value for ties, each in found.agreement.items()}
    assert values == pytest.approx(
        {"against": 2 / 5, "half": 3 / 5, "drop": 2 / 3, "weighted": (2 / 3 + 1 / 2 + 1 + 1 / 6 + 1 / 2) / 5}
    )
    assert found.agreement["drop"].pairs == 3
    assert found.agreement_there["against"].value == 1 / 4
    assert found.agreement_there["half"].pairs == 4


def test_one_more_person_by_every_couple_of_people():
    """On pairs of two votes or more: the judge with each person, and every couple of people, a tie counting half."""

    def credit(one, other):
        return 0.5 + (2 * WORTH[one] - 1) * (2 * WORTH[other] - 1) / 2

    people, _, judge = SMALL
    found, there = beside(*SMALL), [0, 1, 3, 4]
    one = np.mean([np.mean([credit(vote, judge[pair]) for vote in people[pair]]) for pair in there])
    two = np.mean(
        [np.mean([credit(*each) for each in itertools.combinations(people[pair], 2)]) for pair in there]
    )
    assert found.one_person.value == pytest.approx(one)
    assert found.two_people.value == pytest.approx(two)
    assert found.difference.value == pytest.approx(one - two)
    assert found.two_people.pairs == 4


def test_a_judge_where_no_pair_has_the_votes_of_two_people():
    """It agrees with the majority as it does; there is nobody to hold it against."""
    found = beside(["a", "b", "a"], ["q1", "q1", "q2"], "aaa", workers=np.array([0, 1, 0]))
    assert found.agreement["half"].value == pytest.approx(2 / 3)
    assert math.isnan(found.one_person.value)
    assert (len(found.people.table), found.people.tested) == (0, 0)


def test_votes_of_one_person_on_a_pair_are_one_vote():
    """A worker who says a twice is no two people: the pair has one person left and is not of the ceiling's pairs."""
    found = beside(["aa", "ab"], ["q1", "q2"], "aa", workers=np.array([0, 0, 1, 2]))
    assert found.two_people.pairs == 1
    assert found.two_people.value == 0
    assert found.one_person.value == 0.5


def test_without_workers_intervals_are_over_topics_alone():
    """The sums of topics over the number of pairs, t with topics - 1 degrees of freedom."""
    said, topics, judge, _ = drawn_votes(np.random.default_rng(1))
    found = beside(said, topics, judge)
    votes, lead = votes_of(said, topics), np.array([1.0 if each == "a" else -1.0 for each in judge])
    one = mean_by_query(0.5 + lead * (votes.share - 0.5), topics)
    assert found.one_person[:3] == pytest.approx((one.value, *one.confidence_interval()))
    assert found.people is None


def test_with_workers_intervals_are_over_topics_and_people():
    """As those of a measure that prefers the same sides, and with the error of the judge's agreement."""
    said, topics, judge, workers = drawn_votes(np.random.default_rng(2))
    found = beside(said, topics, judge, workers)
    votes, lead = votes_of(said, topics, workers), np.array([1.0 if each == "a" else -1.0 for each in judge])
    for ties in TIES:
        assert found.agreement[ties][1:3] == pytest.approx(votes.interval(lead, ties))
    alone = beside(said, topics, judge)
    assert found.difference.value == pytest.approx(alone.difference.value)
    assert found.difference.high - found.difference.low != pytest.approx(
        alone.difference.high - alone.difference.low
    )


def test_exchanging_the_names_of_systems_changes_nothing():
    said, topics, judge, workers = drawn_votes(np.random.default_rng(3))
    turn = str.maketrans("ab", "ba")
    lengths = np.random.default_rng(4).normal(size=len(said))
    found = beside(said, topics, judge, workers, lengths)
    turned = beside(
        [each.translate(turn) for each in said], topics, "".join(judge).translate(turn), workers, -lengths
    )
    for name in ("one_person", "two_people", "difference", "longer", "longer_people"):
        assert getattr(turned, name) == pytest.approx(getattr(found, name))
    assert turned.circles == found.circles


def test_longer_sides_of_judge_and_people():
    """The judge on decided pairs that differ in length, people by shares of votes; unknown and equal lengths do not count."""
    found = beside(*SMALL, lengths=[5, -3, 0, 2, np.nan])
    assert found.longer[0] == 1.0
    assert found.longer.pairs == 3
    assert found.longer_people.value == pytest.approx((2 / 3 + 1 / 2 + 1 / 6) / 3)
    assert math.isnan(beside(*SMALL).longer.value)
    assert math.isnan(beside(*SMALL).longer_people.value)


def test_circles_among_decided_triads():
    """A > B > C > A is one circle of two triads, D being below all that were compared with it; a tie and another topic make no triad."""
    names = [("A", "B"), ("A", "C"), ("B", "C"), ("A", "D"), ("B", "D"), ("C", "D"), ("A", "B")]
    people = ["a", "b", "a", "a", "a", "=", "a"]
    found = beside(people, ["q1"] * 6 + ["q2"], "aaaaaaa", names=names)
    assert (found.circles_people.circles, found.circles_people.triads) == (1, 2)
    assert (found.circles.circles, found.circles.triads) == (0, 4)


def test_kappa_is_cohens_on_pairs_that_both_decide():
    """Cohen's example of two by two: 20, 5, 10 and 15 of 50 agree beyond chance by .4."""
    people = "a" * 20 + "a" * 5 + "b" * 10 + "b" * 15 + "="
    judge = "a" * 20 + "b" * 5 + "a" * 10 + "b" * 15 + "a"
    found = beside(list(people), ["q"] * 51, judge)
    assert found.kappa[0] == pytest.approx(0.4)
    assert found.kappa.pairs == 50


def test_topics_stand_with_the_worst_first():
    found = beside(*SMALL).by_topic
    assert found["topic"].tolist() == ["q2", "q3", "q1"]
    assert found["agreement_half"].tolist() == [0.5, 0.5, 0.75]
    assert found["pairs_there"].tolist() == [1, 1, 2]


def test_pairs_that_only_one_side_judged_do_not_count():
    """The judge leaves out two pairs, and answers on one that nobody judged."""
    people, topics, _ = SMALL
    found = beside(people, topics, "ab  =")
    assert found.agreement["half"].pairs == 3
    assert found.two_people.pairs == 3
    pairs = pd.DataFrame({"topic": ["q1"], "system_a": ["A"], "system_b": ["B"]})
    rows = pd.DataFrame({"topic": ["q1", "q1"], "system_a": ["A", "A"], "system_b": ["B", "C"]})
    places = PeoplesVotes(pairs, votes_of(["a"], ["q1"])).places(rows)
    assert places.tolist() == [0, -1]


def test_a_judge_without_any_pair_has_no_number():
    found = beside(["a", "b"], ["q1", "q2"], "  ")
    assert math.isnan(found.agreement["half"].value)
    assert math.isnan(found.difference.value)
    assert found.by_topic.empty


@pytest.fixture(scope="module")
def passages(shared):
    """GPT-4o's verdicts over both orders of pairs of passages, and the votes of a crowd that nobody knows on these pairs."""
    folder, text = (
        shared / "data" / "dl21",
        dict.fromkeys(("topic", "item", "left", "right", "first", "second"), str),
    )
    votes, verdicts, items = (
        pd.read_csv(folder / f"{name}.csv.gz", dtype=text) for name in ("votes", "gpt4o", "items")
    )

    def couple(frame):
        a, b = np.sort(frame.iloc[:, 1:3].to_numpy(str), axis=1).T
        return frame["topic"] + "/" + a + "/" + b, a, b

    key, a, b = couple(verdicts)
    is_swapped, said = verdicts["first"] != a, verdicts["verdict"]
    frame = pd.DataFrame(
        {
            "judge": "gpt-4o",
            "model": "gpt-4o",
            "prompt_sha256": None,
            "task": "passages",
            "topic": verdicts["topic"],
            "system_a": a,
            "system_b": b,
            "order": pd.array([pd.NA] * len(key), dtype="Int64"),
            "is_swapped": is_swapped,
            "repeat": key.groupby(key).cumcount() + 1,
            "vote": np.where((said == "first") != is_swapped, "votes_a", "votes_b"),
            "decided_at": pd.NaT,
        }
    )
    frame["vote"] = frame["vote"].mask(said == "contradicts", "contradicts")
    people = votes[couple(votes)[0].isin(set(key))].assign(task="passages")
    people = people.rename(columns={"left": "system_left", "right": "system_right"})
    lengths = items.rename(columns={"item": "run", "chars": "value"}).assign(metric="characters")
    return ScoreSources(
        tables={"preferences": check_frame(people, TABLES["preferences"])}, verdicts=frame, lengths=lengths
    )


def test_the_reference_table_of_real_passages(passages):
    """GPT-4o is as good as one more crowd worker, and no better: every number of judge.csv, to the digits of the reference."""
    found = agree(passages)
    (row,) = found.judges.rows()
    assert tuple(row) == NUMBERS
    wanted = {
        ("answers", "pairs", "pairs_there"): (9_416, 6_742, 1_299),
        ("agreement_against", "agreement_half"): (0.4648, 0.6016),
        ("agreement_drop", "agreement_weighted"): (0.6399, 0.5992),
        ("low", "high", "agreement_there"): (0.5823, 0.6209, 0.5604),
        ("one_person", "one_person_low", "one_person_high"): (0.5478, 0.5279, 0.5677),
        ("two_people", "two_people_low", "two_people_high"): (0.5477, 0.5286, 0.5668),
        ("difference", "difference_low", "difference_high"): (0.0001, -0.0197, 0.02),
        ("longer", "longer_low", "longer_high"): (0.5217, 0.4918, 0.5517),
        ("longer_people", "longer_people_low", "longer_people_high"): (0.5154, 0.5007, 0.5302),
        ("contradicts", "repeats_same", "kappa"): (0.2573, 0.7144, 0.2797),
        ("circles", "triads", "circles_people", "triads_people"): (20, 4_679, 1_305, 7_563),
    }
    for names, values in wanted.items():
        assert tuple(round(row[name], 4) for name in names) == values
    assert found.judges.topics["topic"].nunique() == 46
    assert "as good as one more crowd worker, and no better" in found.summary()
    axis = found.judges.axis.set_index("name")
    assert axis["pairs"].unique().tolist() == [1_299]
    assert axis["agreement"].round(4).to_dict() == {
        "gpt-4o": 0.5478,
        "one more person": 0.5477,
        "a second panel": 0.5607,
        "a perfect measure": 0.6217,
    }
    assert found.agreement.empty


def test_the_reference_intervals_and_counts_of_real_passages(passages):
    """Over 46 topics, on all pairs and on those of two votes or more, beside what people reach there."""
    (task,) = judged_tasks(passages.tables)
    by_name = passages.lengths.set_index(["topic", "run"])["value"]
    longer = length_differences(task, by_name)
    found = PeoplesVotes(task.pairs, task.votes).beside(passages.verdicts, longer)
    assert {ties: tuple(round(end, 4) for end in each[1:3]) for ties, each in found.agreement.items()} == {
        "against": (0.4344, 0.4953),
        "half": (0.5823, 0.6209),
        "drop": (0.6157, 0.664),
        "weighted": (0.5801, 0.6183),
    }
    assert {ties: round(each.value, 3) for ties, each in found.agreement_there.items()} == {
        "against": 0.343,
        "half": 0.56,
        "drop": 0.607,
        "weighted": 0.548,
    }
    assert tuple(round(end, 3) for end in found.agreement_there["half"][1:3]) == (0.532, 0.589)
    assert (round(task.ceiling.panel["half"].value, 3), round(task.ceiling.perfect["half"].value, 3)) == (
        0.579,
        0.659,
    )
    verdicts = found.verdicts
    assert (verdicts.contradictions, verdicts.in_two_orders) == (2_423, 9_416)
    assert (verdicts.repeated, verdicts.changed, verdicts.reversed) == (1_299, 371, 36)
    assert (found.kappa.pairs, found.longer.pairs, found.longer_people.pairs) == (5_029, 5_160, 6_566)
