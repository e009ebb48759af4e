"""What the ceiling of agreement is."""

import math

import numpy as np
import pytest

from metrics.agreement.agreement import TIES, agreement
from metrics.agreement.ceiling import ceiling, one_vote_each
from metrics.agreement.ceiling_votes import (
    LEAD,
    every_kind_alike,
    fit_vote_mixtures,
    halves_agreement,
    majority,
)
from tests.metrics.simulated_votes import simulate

STRENGTHS = {
    "of every size": lambda rng, size: 1.2 * rng.normal(size=size),
    "strong": lambda rng, size: 2 * rng.choice([-1, 1], size=size) * (1 + 0.3 * rng.normal(size=size)),
    "none or strong": lambda rng, size: rng.choice([0, 1], size=size) * 2 * rng.normal(size=size),
}


def ceiling_of(votes, query=None):
    """Ceiling of a (pairs, workers) array of votes."""
    votes = np.asarray(votes, dtype=float)
    pairs, workers = votes.shape
    query = np.array(["q"] * pairs) if query is None else query
    return ceiling(
        votes.ravel(),
        np.repeat(np.arange(pairs), workers),
        np.repeat(query, workers),
    )


def test_people_who_always_agree_have_the_ceiling_one():
    """Without noise nothing stands between a metric and full agreement."""
    found = ceiling_of([[1, 1, 1, 1], [0, 0, 0, 0]])

    assert [found.panel[ties].value for ties in TIES] == pytest.approx([1, 1, 1, 1])
    assert [found.perfect[ties].value for ties in TIES] == pytest.approx([1, 1, 1, 1])


def test_people_who_vote_at_random_have_the_ceiling_one_half():
    """Nothing is shared between halves, so nobody can predict them."""
    votes = np.random.default_rng(2).integers(0, 2, size=(3000, 9))

    found = ceiling_of(votes)

    assert found.panel["half"].value == pytest.approx(0.5, abs=0.03)
    assert found.panel["weighted"].value == pytest.approx(0.5, abs=0.02)


def test_two_votes_by_hand():
    """Each half is one vote: both agree in one pair of four, and the other three are tied at full size."""
    found = ceiling_of([[1, 0], [0, 1], [1, 0], [1, 1]])

    assert found.halves == pytest.approx(0.25)
    assert found.halves_weighted == pytest.approx(0.25)
    assert found.tied == pytest.approx(0.75)


def test_full_size_adds_what_the_mixture_expects():
    """The measured agreement of halves stays the base; the model only says how much more the whole is worth."""
    votes = np.random.default_rng(3).choice([0, 0.5, 1], p=[0.2, 0.1, 0.7], size=(40, 6))
    found = ceiling_of(votes)
    counts = np.stack([(votes == worth).sum(axis=1) for worth in (1, 0, 0.5)], axis=1)
    (weight,) = fit_vote_mixtures(counts, np.ones((1, 40)), every_kind_alike())
    half, whole = majority(3)[0], majority(6)[0]

    gained = found.panel["half"].value - found.halves
    known = found.perfect["weighted"].value - found.halves_weighted

    assert gained == pytest.approx(weight @ (whole**2 - half**2) / 2, abs=1e-4)
    assert known == pytest.approx(weight @ ((1 - half) * LEAD), abs=1e-4)


def test_conventions_differ_by_the_tied_pairs():
    """A tied vote is half an agreement, none, or no pair at all."""
    found = ceiling_of([[1, 1, 1, 0]] * 6 + [[1, 1, 0, 0]] * 2)

    assert found.tied == pytest.approx(0.25)
    assert found.panel["against"].value == pytest.approx(found.panel["half"].value - 0.125)
    assert found.panel["drop"].value == pytest.approx(found.panel["against"].value / 0.75)


@pytest.mark.parametrize("strengths", STRENGTHS)
@pytest.mark.parametrize("workers", [5, 9, 14])
def test_it_predicts_a_second_panel_and_a_perfect(strengths, workers):
    """Both are simulated, with preferences that are strong, weak or both: a second panel votes, the truth is known."""
    rng = np.random.default_rng(workers)
    study = simulate(rng, queries=400, pairs=20, workers=2 * workers, strengths=STRENGTHS[strengths])
    votes, second = study.votes[:, :workers], study.votes[:, workers:].mean(axis=1) - 0.5

    found = ceiling_of(votes, study.query)

    share = votes.mean(axis=1)
    for ties in ("half", "weighted"):
        panel = agreement(second, share, study.query, ties=ties).value
        perfect = agreement(study.preferred, share, study.query, ties=ties).value
        assert found.panel[ties].value == pytest.approx(panel, abs=0.02)
        assert found.perfect[ties].value == pytest.approx(perfect, abs=0.05)


def test_the_interval_is_over_queries_and_holds_the_value():
    """Every query is left out in turn."""
    study = simulate(np.random.default_rng(5), queries=10, pairs=10, workers=8)
    found = ceiling_of(study.votes, study.query)

    for ties in TIES:
        low, high = found.panel[ties].interval()
        assert 0 < low < found.panel[ties].value < high < 1
        low, high = found.perfect[ties].interval()
        assert 0 < low < found.perfect[ties].value < high <= 1


def test_odd_numbers_and_single_votes():
    """One random vote sits out of an odd pair; a pair with one vote cannot be split and does not count."""
    found = ceiling([1, 1, 1, 0], ["a", "a", "a", "b"], ["q", "q", "q", "q"])

    assert found.pairs == 1
    assert found.halves == 1


def test_without_two_votes_on_any_pair_there_is_no_ceiling():
    """A study with one worker says nothing about agreement between people."""
    found = ceiling_of([[1], [0]])

    assert all(math.isnan(found.panel[ties].value) and math.isnan(found.perfect[ties].value) for ties in TIES)


def test_other_votes_are_refused():
    """A share is no vote."""
    with pytest.raises(ValueError, match=r"0, 0\.5 or 1"):
        ceiling_of([[0.3, 1]])


@pytest.mark.parametrize("votes_a_pair", [2, 5, 10])
def test_where_everybody_calls_every_pair_equal_there_is_nothing_to_reach(votes_a_pair):
    """Whoever knew what people prefer would know that they prefer nothing: half of a tie, no votes, no decided pair."""
    pairs = np.repeat(np.arange(30), votes_a_pair)
    found = ceiling(np.full(pairs.size, 0.5), pairs, [f"q{pair % 5}" for pair in pairs])

    for limit in (found.panel, found.perfect):
        assert [limit[ties].value for ties in ("against", "half", "weighted")] == [0.0, 0.5, 0.5]
        assert np.isnan(limit["drop"].value)


def test_no_ceiling_is_above_what_the_votes_can_give():
    """Tied pairs give half at most, and no choice gets more votes than the one that most people made."""
    rng = np.random.default_rng(2)
    pairs = np.repeat(np.arange(40), 3)
    votes = rng.choice([0.0, 0.5, 0.5, 0.5, 1.0], size=pairs.size)
    found = ceiling(votes, pairs, [f"q{pair % 5}" for pair in pairs])
    share = np.bincount(pairs, votes) / 3

    for limit in (found.panel, found.perfect):
        assert limit["half"].value <= 1 - found.tied / 2
        assert limit["weighted"].value <= (0.5 + np.abs(share - 0.5)).mean()


@pytest.mark.parametrize("pattern", [(5, 2, 1), (3, 3, 0), (4, 2, 3), (0, 0, 6), (1, 0, 1)])
def test_halves_are_those_of_random_splits(pattern):
    """The closed form is what thousands of random splits come to; of nine votes one sits out."""
    rng = np.random.default_rng(1)
    votes = rng.permuted(np.tile(np.repeat([0.5, -0.5, 0.0], pattern), (20_000, 1)), axis=1)
    half = sum(pattern) // 2
    one, other = votes[:, :half].sum(axis=1), votes[:, half : 2 * half].sum(axis=1)

    ((agreement, weighted),) = halves_agreement(np.array([pattern]))

    assert agreement == pytest.approx(np.mean(0.5 + np.sign(one) * np.sign(other) / 2), abs=0.01)
    assert weighted == pytest.approx(np.mean(0.5 + np.sign(one) * other / half), abs=0.01)


def test_half_of_two_thousand_votes_is_nearly_the_share_itself():
    """Large numbers are no fault: 1,100 votes of 2,000 have a majority in nearly every half."""
    ((agreement, weighted),) = halves_agreement(np.array([[1100, 900, 0]]))

    assert agreement == pytest.approx(1, abs=1e-4)
    assert weighted == pytest.approx(0.55, abs=1e-4)


def crossed_study(rng, *, queries=20, pairs=6, people=6, taste=1.0):
    """Votes of the same people on every query, each with a liking for the first side of their own, and the truth for a second panel."""
    strength = rng.normal(size=(queries, pairs))
    votes = (
        rng.random((queries, pairs, people))
        < 1 / (1 + np.exp(-strength[..., None] - taste * rng.normal(size=people)))
    ).astype(float)
    places = np.indices(votes.shape).reshape(3, -1)
    return votes.ravel(), places[0] * pairs + places[1], places[0], places[2]


def test_people_who_judge_every_query_make_the_interval_wider():
    """Six people are six, however many queries they judge; without their names the interval takes them for others each time."""
    widths = []
    for seed in range(5):
        votes, pair, query, worker = crossed_study(np.random.default_rng(seed))
        named, nameless = ceiling(votes, pair, query, worker=worker), ceiling(votes, pair, query)
        widths.append([np.diff(found.panel["against"].interval())[0] for found in (named, nameless)])
        assert named.crossed
        assert named.panel["against"].value == pytest.approx(nameless.panel["against"].value, abs=1e-6)

    crossed, alone = np.mean(widths, axis=0)
    assert crossed > 1.15 * alone


def test_intervals_over_people_are_as_wide_as_the_spread_over_studies_asks_for():
    """Votes left out from all over move a panel's replicates farther than other people would: that alone widens no interval."""
    found = [
        ceiling(**votes_of(simulate(np.random.default_rng([9, number]), queries=20, pairs=6, workers=7), same_people=True))
        for number in range(60)
    ]  # fmt: skip
    values = np.array([[one.panel["half"].value, one.perfect["half"].value] for one in found])
    widths = [[np.ptp(one.panel["half"].interval()), np.ptp(one.perfect["half"].interval())] for one in found]
    panel, perfect = np.median(widths, axis=0) / (2 * 2.45 * values.std(axis=0))

    assert 0.85 < panel < 1.3
    assert 0.85 < perfect < 1.6


def test_own_people_of_each_query_are_left_out_with_it():
    """Whoever judges one query only is no second source of error."""
    votes, pair, query, worker = crossed_study(np.random.default_rng(1))
    own = ceiling(votes, pair, query, worker=worker + 100 * query)

    assert not own.crossed
    assert own.panel["against"].interval() == ceiling(votes, pair, query).panel["against"].interval()


@pytest.mark.parametrize("equal", [0.0, 0.5])
def test_intervals_hold_the_error_of_the_mixture(equal):
    """Of 80 studies of 12 queries nine in ten hold what a second panel and a perfect metric reach, also where half of the pairs are equal."""
    rng = np.random.default_rng(13)

    def strengths(rng, size):
        return 1.5 * rng.normal(size=size) * (rng.random(size) >= equal)

    big = simulate(rng, queries=3000, pairs=6, workers=20, strengths=strengths)
    share, second = big.votes[:, :10].mean(axis=1), big.votes[:, 10:].mean(axis=1) - 0.5
    truth = [agreement(choice, share, big.query, ties="half").value for choice in (second, big.preferred)]
    held = []
    for _ in range(80):
        study = simulate(rng, queries=12, pairs=6, workers=10, strengths=strengths)
        found = ceiling_of(study.votes, study.query)
        ends = found.panel["half"].interval(), found.perfect["half"].interval()
        held.append([low <= true <= high for (low, high), true in zip(ends, truth, strict=True)])

    assert (np.mean(held, axis=0) >= 0.9).all()


def test_two_people_who_judge_everything_leave_no_interval_and_it_says_why():
    """Without one of them no pair has two votes; an interval over queries alone would pretend that there are more."""
    votes, pair, query, worker = crossed_study(np.random.default_rng(1), people=2)
    found = ceiling(votes, pair, query, worker=worker)

    assert 0 < found.panel["against"].value < 1
    assert np.isnan(found.panel["against"].interval()).all()
    assert "people who judged several of them, to generalise" in found.no_interval


def test_queries_that_are_all_alike_leave_no_interval_and_it_says_why():
    """No variation is no certainty."""
    found = ceiling_of([[1, 1, 1, 0]] * 16, np.repeat(["a", "b", "c", "d"], 4))

    assert np.isnan(found.panel["against"].interval()).all()
    assert found.no_interval == "it is the same whichever query is left out"


def test_an_error_is_never_below_one_pair_of_all():
    """Where a single pair in 60 is undecided the ceiling may be 1 and may be .97; nobody knows rarer things."""
    votes = np.ones((60, 20))
    votes[0, :9] = 0
    found = ceiling_of(votes, np.repeat([f"q{n}" for n in range(12)], 5))
    low, high = found.perfect["half"].interval()

    assert found.perfect["half"].value > 0.98
    assert low < 1 - 2 / 60
    assert high == 1


def renamed(codes, rng):
    """Return the same clusters by other names, in another order of the alphabet."""
    names = rng.permutation(codes.max() + 1)
    return np.array([f"n{name:04d}" for name in names])[codes]


@pytest.mark.parametrize("people", [40, None])
def test_names_of_queries_and_people_and_the_order_of_rows_move_no_ceiling(people):
    """More of them than there are groups to leave out: groups by name gave other intervals after a renaming."""
    rng = np.random.default_rng(3)
    query = np.repeat(np.arange(60), 8)
    pair = np.arange(480) // 4
    worker = (
        np.arange(480)
        if people is None
        else np.concatenate([rng.permutation(people)[:4] for _ in range(120)])
    )
    votes = rng.choice([0.0, 0.5, 1.0], 480, p=[0.2, 0.2, 0.6])
    first = ceiling(votes, pair, query, worker=worker)
    for _ in range(3):
        order = rng.permutation(480)
        again = ceiling(
            votes[order],
            renamed(pair, rng)[order],
            renamed(query, rng)[order],
            worker=renamed(worker, rng)[order],
        )
        for ties in TIES:
            assert again.panel[ties].value == pytest.approx(first.panel[ties].value, abs=1e-12)
            assert again.panel[ties].interval() == pytest.approx(first.panel[ties].interval(), abs=1e-12)
            assert again.perfect[ties].interval() == pytest.approx(first.perfect[ties].interval(), abs=1e-12)


def test_votes_of_one_person_never_stand_on_both_sides_of_a_split():
    """Everybody says everything three times and agrees with nobody else: the ceiling is that of single votes by lot."""
    rng = np.random.default_rng(4)
    pair, worker = np.repeat(np.arange(300), 2), np.tile(np.arange(20), 30)
    votes = rng.choice([0.0, 1.0], 600)
    query = pair // 10
    once = ceiling(votes, pair, query, worker=worker)
    thrice = ceiling(np.tile(votes, 3), np.tile(pair, 3), np.tile(query, 3), worker=np.tile(worker, 3))

    assert thrice.pairs == once.pairs == 300
    assert thrice.panel["half"].value == pytest.approx(once.panel["half"].value)
    assert thrice.panel["half"].interval() == pytest.approx(once.panel["half"].interval())
    assert thrice.panel["half"].value < 0.6


def test_a_pair_that_one_person_judged_twice_has_no_panel():
    """Two votes are two people, where it is known whose they are."""
    votes, pair, query = np.ones(24), np.arange(24) // 2, np.arange(24) // 4
    assert ceiling(votes, pair, query, worker=np.zeros(24)).pairs == 0
    assert ceiling(votes, pair, query).pairs == 12


def test_a_persons_votes_on_a_pair_count_once_for_what_most_of_them_say():
    """As many one way as the other is a tie."""
    votes = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.5, 0.5, 0.0])
    kept, merged = one_vote_each(
        votes, np.array([0, 0, 0, 0, 1, 1, 2, 2]), np.array([5, 5, 5, 6, 7, 8, 9, 9])
    )

    assert kept.tolist() == [0, 3, 4, 5, 6]
    assert merged.tolist() == [1.0, 1.0, 0.0, 0.5, 0.0]


def votes_of(study, *, same_people):
    """The arguments of `ceiling`: a vote a row; the same people judge every query, or others each."""
    pairs, workers = study.votes.shape
    query, worker = np.repeat(study.query, workers), np.tile(np.arange(workers), pairs)
    whose = {"worker": worker} if same_people else {}
    return {
        "votes": study.votes.ravel(),
        "pair": np.repeat(np.arange(pairs), workers),
        "query": query,
    } | whose


@pytest.mark.parametrize("ties", TIES)
def test_an_agreement_without_a_query_is_that_of_the_other_queries(ties):
    """Exactly, as if nobody had judged it."""
    study = simulate(np.random.default_rng(8), queries=6, pairs=7, workers=6)
    difference = np.where(np.arange(42) % 9 == 0, 0.0, study.difference)
    value, without = ceiling(**votes_of(study, same_people=False)).votes.without(difference, ties)

    assert value == pytest.approx(agreement(difference, study.share, study.query, ties=ties).value)
    left = [study.query != query for query in np.unique(study.query)]
    assert without == pytest.approx(
        [agreement(difference[kept], study.share[kept], study.query[kept], ties=ties).value for kept in left]
    )


@pytest.mark.parametrize("same_people", [False, True])
def test_the_interval_of_the_difference_from_the_second_panel_holds_the_truth(same_people):
    """It is about as wide as the spread over studies asks for, far below two intervals added up."""
    found, sums = [], []
    for number in range(60):
        study = simulate(np.random.default_rng([8, number]), queries=20, pairs=6, workers=7)
        one = ceiling(**votes_of(study, same_people=same_people))
        found.append(one.less_panel(study.difference, "half"))
        mean = agreement(study.difference, study.share, study.query, ties="half").mean
        sums.append(
            sum(np.diff(ends)[0] for ends in (one.panel["half"].interval(), mean.confidence_interval()))
        )
    large = simulate(np.random.default_rng(8), queries=4000, pairs=6, workers=14)
    first, second = large.votes[:, :7].mean(axis=1), large.votes[:, 7:].mean(axis=1) - 0.5
    true = [agreement(one, first, large.query, ties="half").value for one in (large.difference, second)]
    value, low, high = np.transpose(found)

    assert ((low <= true[0] - true[1]) & (true[0] - true[1] <= high)).mean() >= 0.9
    needed = 2 * (2.45 if same_people else 2.09) * value.std()
    assert 0.85 < np.median(high - low) / needed < (1.45 if same_people else 1.2)
    assert np.median(high - low) < 0.8 * np.median(sums)


def test_a_difference_from_the_second_panel_needs_every_pair_and_people_enough():
    """Without an interval of the panel there is none of the difference; where nothing counts there is no number."""
    study = simulate(np.random.default_rng(8), queries=3, pairs=7, workers=6)
    found = ceiling(**votes_of(study, same_people=False))
    value, *ends = found.less_panel(study.difference)

    assert value == pytest.approx(
        agreement(study.difference, study.share, study.query).value - found.panel["against"].value
    )
    assert np.isnan(ends).all()
    assert np.isnan(found.less_panel(np.zeros(21), "drop")).all()
    assert np.isnan(ceiling([1.0], ["p"], ["q"]).less_panel([])).all()
    with pytest.raises(ValueError, match=r"each of the 21 pairs with two votes, got \(20,\)"):
        found.less_panel(study.difference[1:])


def test_no_error_of_a_difference_is_smaller_than_that_of_a_pair():
    """A measure that never errs where people always agree is one that nobody saw err."""
    pair = np.repeat(np.arange(40), 5)
    votes = np.where(np.arange(200) % 55 == 0, 0.0, 1.0)
    _, low, high = ceiling(votes, pair, pair // 8).less_panel(np.ones(40), "weighted")

    assert high - low == pytest.approx(2 * 2.78 / 40, abs=0.01)


def test_the_error_without_known_people_is_that_of_each_query_left_out():
    """Thirty unequal queries, judged by nobody knows whom: the jackknife by estimates of the other 29, not of groups of queries."""
    rng = np.random.default_rng(7)
    pairs = rng.integers(3, 20, size=30)
    query = np.repeat(np.arange(30), pairs)
    lead = rng.normal(size=30)[query] + rng.normal(size=len(query))
    votes = (rng.random((len(query), 3)) < 1 / (1 + np.exp(-lead))[:, None]).astype(float)
    left_out = np.array(
        [ceiling_of(votes[query != one], query[query != one]).panel["half"].value for one in range(30)]
    )

    found = ceiling_of(votes, query).panel["half"]
    assert found.standard_error == pytest.approx(
        math.sqrt(29 / 30 * ((left_out - left_out.mean()) ** 2).sum()), rel=1e-4
    )
    assert found.df == pytest.approx(pairs.sum() ** 2 / (pairs**2).sum() - 1)
