"""Which system people prefer: held to published numbers, to brute force, and to studies whose truth is known."""

import itertools

import numpy as np
import pandas as pd
import pytest

import prefcal
from calibration.rank.crossed import above_at_once, rank_ranges
from calibration.rank.folder import DUEL_COLUMNS, RANKING_COLUMNS, read_ranking
from calibration.rank.judgments import JudgedSystems, tasks_judged, win_rates
from calibration.rank.ranking import rank_systems
from calibration.rank.worths import fit_worths, no_worths
from metrics.errors import InputError

PUDDING = """1 2 19 22 16
1 3 16 19 12
2 3 19 19 10
1 4 18 23 13
2 4 23 19 9
3 4 19 20 15
1 5 13 19 18
2 5 16 20 12
3 5 16 15 17
4 5 17 14 16
1 6 18 21 12
2 6 22 20 12
3 6 13 18 10
4 6 14 19 18
5 6 11 21 12"""
"""Davidson (1970), example 2: two brands of chocolate pudding, who preferred the first, the second, neither."""


def preferences(rows, **columns):
    """A table of (topic, worker, left, right, choice)."""
    frame = pd.DataFrame(rows, columns=["topic", "worker", "system_left", "system_right", "choice"])
    return {"preferences": frame.assign(task="t", validation_of=None, **columns)}


def judged(rows):
    (one,) = tasks_judged(preferences(rows))
    return one


def drawn(seed, *, systems=4, topics=6, people=5, n=240):
    rng = np.random.default_rng(seed)
    left = rng.integers(systems, size=n)
    return JudgedSystems(
        task="t",
        systems=tuple("abcdefgh"[:systems]),
        left=left,
        right=(left + rng.integers(1, systems, size=n)) % systems,
        for_left=rng.choice([0, 0.5, 1], size=n),
        topic=rng.integers(topics, size=n),
        worker=rng.integers(people, size=n),
    )


def test_worths_and_ties_of_chocolate_pudding_are_those_that_davidson_published():
    """PlackettLuce prints them as 0.1388, 0.1730, 0.1617, 0.1654, 0.1587, 0.2024 and 0.7468, after as many steps as in the paper."""
    rows = []
    for line in PUDDING.splitlines():
        first, second, *votes = line.split()
        rows += [
            ("q", f"w{len(rows)}", first, second, choice)
            for choice, times in zip(("left", "right", "equally_good"), map(int, votes), strict=True)
            for _ in range(times)
        ]
    fitted = fit_worths(judged(rows), side=False)
    worth = np.exp(fitted.worth) / np.exp(fitted.worth).sum()

    np.testing.assert_allclose(worth, [0.1388, 0.1730, 0.1617, 0.1654, 0.1587, 0.2024], atol=1e-4)
    assert np.exp(fitted.log_tie) == pytest.approx(0.7468, abs=2e-4)


def test_worths_without_ties_are_those_of_choix():
    """choix 0.4.1, ilsr_pairwise with alpha=0 on the same victories."""
    won = {
        (0, 1): 7,
        (1, 0): 3,
        (0, 2): 6,
        (2, 0): 4,
        (1, 2): 5,
        (2, 1): 5,
        (3, 0): 2,
        (0, 3): 8,
        (3, 2): 4,
        (2, 3): 1,
    }
    rows = [
        ("q", "w", "abcd"[winner], "abcd"[loser], "left")
        for (winner, loser), times in won.items()
        for _ in range(times)
    ]
    fitted = fit_worths(judged(rows), side=False)

    np.testing.assert_allclose(fitted.worth, [0.636567, -0.254000, -0.290033, -0.092533], atol=1e-6)
    assert fitted.log_tie == -np.inf


def test_a_side_effect_is_taken_out_of_the_worths():
    """The left one wins three times in four whoever it is, so both are worth the same."""
    rows = [("q", "w", *sides, choice) for sides in ("ab", "ba") for choice in ["left"] * 3 + ["right"]]
    fitted = fit_worths(judged(rows))

    np.testing.assert_allclose(fitted.worth, 0, atol=1e-9)
    assert fitted.side == pytest.approx(np.log(3))


def test_a_side_that_cannot_be_told_from_the_worths_is_left_out_and_said():
    """Where a always stood on the left, its worth and the side are one."""
    rows = [(f"q{n % 3}", f"w{n}", "a", "b", "left" if n % 3 else "right") for n in range(9)]

    assert any("not corrected for sides" in note for note in rank_systems(preferences(rows)).notes)


def test_every_topic_and_every_opponent_weighs_the_same_whatever_it_was_judged():
    """a beats b in 1 of 1 on q1, ties c in 3 of 3 there; on q2 it loses to b: (mean(1, 1/2) + 0) / 2."""
    rows = [
        ("q1", "w1", "a", "b", "left"),
        *[("q1", f"w{n}", "c", "a", "equally_bad") for n in range(3)],
        *[("q2", f"w{n}", "b", "a", "left") for n in range(5)],
    ]
    ranking = rank_systems(preferences(rows)).frame().loc["t"]

    assert ranking.loc["a", "win_rate"] == pytest.approx(0.375)
    assert tuple(ranking.loc["a", ["topics", "judgments"]]) == (2, 9)


def test_the_error_of_a_difference_is_that_of_its_own_influence():
    """Of two systems, the difference of win rates is twice the first less 1, so its error is twice as large."""
    shares = win_rates(drawn(1, systems=2))
    both = shares.influence.covariances()

    differences = both.of_differences().errors().standard_error
    assert differences[0, 1] == pytest.approx(2 * both.of_each().errors().standard_error[0])


def test_ranks_are_those_of_every_order_that_the_certain_differences_allow():
    """By brute force over all orders of five systems, for transitive relations made of intervals."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        value = rng.normal(size=5)
        above = above_at_once(value, np.full((5, 5), 0.6))
        orders = [
            order
            for order in itertools.permutations(range(5))
            if not any(above[order[j], order[i]] for i, j in itertools.combinations(range(5), 2))
        ]
        places = np.array([np.argsort(order) + 1 for order in orders])
        low, high = rank_ranges(above)

        np.testing.assert_array_equal(low, places.min(axis=0))
        np.testing.assert_array_equal(high, places.max(axis=0))


def test_systems_that_no_comparison_connects_are_refused_by_name():
    """They have no common order; a task beside it that is connected is ranked."""
    apart = [("q", "w", "a", "b", "left"), ("q", "w", "d", "c", "left")]
    with pytest.raises(InputError, match=r"task t: no comparison connects the systems \(a, b\), \(c, d\)"):
        rank_systems(preferences(apart))
    more = preferences([("q", f"w{n}", "a", "b", "left" if n else "right") for n in range(4)])["preferences"]
    tables = {"preferences": pd.concat([preferences(apart)["preferences"], more.assign(task="u")])}
    ranking = rank_systems(tables)

    assert ranking.ranking["task"].unique().tolist() == ["u"]
    assert "it is left out" in ranking.notes[0]


def test_a_system_that_never_loses_has_a_win_rate_and_no_worth():
    """Its worth would be infinite, and with it all others'."""
    rows = [
        (f"q{n}", f"w{n}", *couple, choice)
        for n in range(6)
        for couple, choice in (("ab", "left"), ("ca", "right"), ("bc", "left" if n % 2 else "right"))
    ]
    ranking = rank_systems(preferences(rows))

    assert ranking.frame().loc[("t", "a"), "win_rate"] == 1
    assert ranking.ranking["worth"].isna().all()
    assert "t: no worths: a never loses, so no worth is finite" in ranking.notes


def test_ties_make_the_worth_of_a_system_that_never_loses_finite_where_others_say_how_likely_ties_are():
    """A tie says that it is not infinitely better; but with two systems alone nothing says how rare ties are."""
    rows = [("q", "w", "a", "b", "left")] * 5 + [("q", "w", "b", "a", "equally_good")]
    others = [("q", "w", "c", "b", choice) for choice in ("left", "right", "equally_bad")]

    assert no_worths(judged(rows)) == ""
    with pytest.raises(ArithmeticError, match="a never loses, so no worth is finite"):
        fit_worths(judged(rows))
    assert 0 < fit_worths(judged(rows + others), side=False).worth[0] < 5


def test_validation_repeats_and_excluded_workers_do_not_count():
    """As everywhere; excluded workers do with --exclude none."""
    tables = preferences(
        [("q", "w1", "a", "b", "left"), ("q", "w2", "a", "b", "right"), ("q", "w3", "a", "b", "left")]
    )
    tables["preferences"].loc[2, "validation_of"] = "J0"
    tables["workers"] = pd.DataFrame(
        {
            "worker": ["w1", "w2", "w3"],
            "excluded": [False, True, False],
            "withdrawn_at": None,
            "completed_at": "x",
        }
    )

    assert rank_systems(tables).ranking["judgments"].tolist() == [1, 1]
    assert rank_systems(tables, exclude=False).ranking["judgments"].tolist() == [2, 2]


def test_with_one_topic_nothing_has_an_interval_and_all_ranks_are_open():
    """Topics are a sample: one says nothing of others."""
    ranking = rank_systems(
        preferences([("q", f"w{n}", "a", "b", "left" if n else "right") for n in range(9)])
    )

    assert ranking.ranking[["win_low", "worth_low"]].isna().all(axis=None)
    assert ranking.ranking[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 2], [1, 2]]
    assert ranking.too_few["t"].startswith("1 topic was judged: too few to say who is ahead (four are needed")


@pytest.mark.seeds
def test_intervals_and_ranks_hold_the_truth_where_the_same_few_people_judge_every_topic():
    """Systems alike, people with tastes of their own: at least 17 of 20 studies have all ranks right; votes alone would not."""
    right = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        topic, worker, couple = (axis.ravel() for axis in np.indices((8, 8, 6)))
        first, second = np.triu_indices(4, 1)
        left, place = first[couple], second[couple]
        taste = rng.normal(0, 0.8, (8, 4))
        odds = taste[worker, left] - taste[worker, place]
        study = preferences(
            zip(
                topic.astype(str),
                worker.astype(str),
                np.array(list("abcd"))[left],
                np.array(list("abcd"))[place],
                np.where(rng.random(len(odds)) < 1 / (1 + np.exp(-odds)), "left", "right"),
                strict=True,
            )
        )
        frame = rank_systems(study).ranking
        right += bool((frame["rank_low"] == 1).all() and (frame["rank_high"] == 4).all())

    assert right >= 17


def test_the_folder_gives_back_what_was_written_and_a_result_prints_short(tmp_path):
    """Columns as promised, names that look like numbers too."""
    rows = [(f"q{n % 4}", f"w{n}", "1", "02", ("left", "right", "equally_bad")[n % 3]) for n in range(24)]
    ranking = prefcal.rank({"preferences": preferences(rows, pair="p")["preferences"]})
    prefcal.write_ranking(ranking, tmp_path)
    again = read_ranking(tmp_path)

    assert tuple(again.ranking.columns) == RANKING_COLUMNS
    assert tuple(again.duels.columns) == DUEL_COLUMNS
    pd.testing.assert_frame_equal(
        again.ranking.reset_index(drop=True), ranking.ranking.reset_index(drop=True), check_dtype=False
    )
    assert len(repr(ranking).splitlines()) <= 10
