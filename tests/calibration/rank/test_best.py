"""The posterior of the best system, and which couple is judged next."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import prefcal
from calibration.rank.best import best_posterior, couple_chances, couple_votes
from calibration.rank.best_system import best_system
from calibration.rank.folder import read_ranking, write_ranking
from calibration.rank.judgments import JudgedSystems
from calibration.rank.ranking import WITHOUT_JUDGE, rank_systems
from calibration.rank.worths import fit_worths
from metrics.errors import InputError

RNG = np.random.default_rng(5)


def votes(rows, systems):
    """Votes from (left, right, 1 | 0 | .5, times)."""
    left, right, for_left, times = map(np.array, zip(*rows, strict=True))
    each = [np.repeat(values, times) for values in (left, right, for_left)]
    return couple_votes(each[0], each[1], each[2].astype(float), systems)


def both_ways(first, second, wins, losses):
    """Votes of a couple seen both ways round, half of them each way."""
    return [
        (first, second, 1.0, wins),
        (second, first, 0.0, wins),
        (first, second, 0.0, losses),
        (second, first, 1.0, losses),
    ]


def test_the_posterior_is_the_mode_of_likelihood_and_prior():
    """No other point near it is more probable, by the log-posterior written out here."""
    counted = votes([*both_ways(0, 1, 8, 2), *both_ways(1, 2, 6, 4), (0, 2, 0.5, 5)], 3)
    posterior = best_posterior(counted)
    variance = (
        1 / np.linalg.inv(posterior.covariance).sum() * 3
    )  # the prior alone sees all worths move together

    def log_posterior(worth, side, log_tie):
        x = worth[counted.left] - worth[counted.right] + side
        total = np.log(np.exp(x / 2) + np.exp(-x / 2) + np.exp(log_tie))
        likelihood = (
            (counted.for_left - counted.for_right) * x / 2 + counted.ties * log_tie - counted.total * total
        ).sum()
        return likelihood - (worth @ worth) / variance / 2 - side**2 / 8 - (log_tie - np.log(0.5)) ** 2 / 8

    top = log_posterior(posterior.worth, posterior.side, posterior.log_tie)
    for step in np.eye(5) * 0.01:
        for sign in (1, -1):
            moved = sign * step
            assert top > log_posterior(
                posterior.worth + moved[:3], posterior.side + moved[3], posterior.log_tie + moved[4]
            )


def test_a_system_that_wins_is_the_best_and_equal_ones_share_it():
    """Of four systems one wins 18 of 20; without differences each has a quarter."""
    couples = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    led = best_posterior(
        votes([row for a, b in couples for row in both_ways(a, b, 9 if a == 0 else 5, 1 if a == 0 else 5)], 4)
    )
    even = best_posterior(votes([row for a, b in couples for row in both_ways(a, b, 5, 5)], 4))

    assert led.probabilities(np.random.default_rng(1), 4000)[0] > 0.99
    assert even.probabilities(np.random.default_rng(1), 4000) == pytest.approx([0.25] * 4, abs=0.03)


def test_the_next_couple_is_that_of_two_draws():
    """The formula is the share of couples that two posterior draws name, the second until it differs from the first."""
    posterior = best_posterior(
        votes([*both_ways(0, 1, 6, 4), *both_ways(1, 2, 6, 4), *both_ways(0, 2, 7, 3)], 3)
    )
    rng = np.random.default_rng(2)
    root = np.linalg.cholesky(posterior.covariance)
    best = (posterior.worth + rng.standard_normal((200_000, 3)) @ root.T).argmax(axis=1)
    first, others = best[:50_000], best[50_000:]
    second = np.array(
        [next(other for other in others[at : at + 200] if other != chosen) for at, chosen in enumerate(first)]
    )
    seen = np.zeros((3, 3))
    np.add.at(seen, (first, second), 1 / len(first))
    chances = np.mean([couple_chances(posterior, np.random.default_rng(seed)) for seed in range(40)], axis=0)

    assert chances == pytest.approx(seen + seen.T, abs=0.01)
    assert chances.sum() == pytest.approx(2)
    assert np.diag(chances) == pytest.approx(0)


def test_votes_in_a_circle_are_not_transitive():
    """Rock beats scissors, scissors beat paper, paper beats rock: no scale of worths says so."""
    circle = votes([*both_ways(0, 1, 27, 3), *both_ways(1, 2, 27, 3), *both_ways(2, 0, 27, 3)], 3)
    line = votes([*both_ways(0, 1, 21, 9), *both_ways(1, 2, 21, 9), *both_ways(0, 2, 26, 4)], 3)

    assert best_posterior(circle).is_intransitive
    assert not best_posterior(line).is_intransitive
    assert couple_chances(best_posterior(circle), np.random.default_rng(1)).sum() == pytest.approx(2)


def test_a_circle_at_the_top_is_seen_among_couples_with_few_votes():
    """Thirty votes of each couple of the best three, in a circle, beside 465 couples with one or two votes by worths; without it nothing is."""
    rng = np.random.default_rng(8)
    worth = np.append([1.0, 1.0, 1.0], rng.normal(0, 0.4, 28))
    noise = [
        (left, right, rng.choice([1.0, 0.0, 0.5], p=_shares(worth[left] - worth[right])), 1)
        for left in range(31)
        for right in range(31)
        if left != right
    ]

    def counted(wins):
        return votes(
            [*noise, *(row for a, b in ((0, 1), (1, 2), (2, 0)) for row in both_ways(a, b, wins, 15 - wins))],
            31,
        )

    assert best_posterior(counted(11)).is_intransitive
    assert not best_posterior(counted(8)).is_intransitive


def adaptive_tables(seed=1):
    """Six systems, 12 people, votes of a model; the first 2 of every 8 judgments were drawn whatever the answers were."""
    rng = np.random.default_rng(seed)
    rows = []
    for worker in range(30):
        for place in range(10):
            uniform = place % 4 == 0
            left, right = rng.choice(6 if uniform else 3, 2, replace=False)
            choice = rng.choice(["left", "right", "equally_good"], p=_shares((right - left) * 0.8))
            rows.append(
                (
                    "t",
                    f"q{place % 5}",
                    f"w{worker}",
                    f"s{left}",
                    f"s{right}",
                    choice,
                    0.1,
                    "uniform" if uniform else "adaptive",
                )
            )
    columns = ["task", "topic", "worker", "system_left", "system_right", "choice", "chance", "drawn"]
    return {
        "preferences": pd.DataFrame(rows, columns=columns).assign(
            pair="p", validation_of=None, decision_seconds=1.0
        )
    }


def _shares(log_odds):
    weights = np.exp([log_odds / 2, -log_odds / 2, np.log(0.5)])
    return weights / weights.sum()


def chosen(uniform, adaptive):
    """Return tables of couples of systems that were drawn whatever the answers were, and by them; the earlier letter wins mostly."""
    rng = np.random.default_rng(2)
    rows = [
        ("t", f"q{topic}", f"w{worker}", *couple, rng.choice(["left", "right", "equally_good"], p=p), drawn)
        for drawn, couples in (("uniform", uniform), ("adaptive", adaptive))
        for pair in couples
        for topic in range(4)
        for worker in range(6)
        for couple, p in [((pair, (0.6, 0.2, 0.2)), (pair[::-1], (0.2, 0.6, 0.2)))[(topic + worker) % 2]]
    ]
    columns = ["task", "topic", "worker", "system_left", "system_right", "choice", "drawn"]
    return {"preferences": pd.DataFrame(rows, columns=columns)}


def test_a_system_in_no_uniform_pair_may_have_any_rank_and_is_said(tmp_path):
    """It has a worth and no win rate; each of the others may be one lower, since nobody knows whether it is above."""
    tables = chosen(["ab", "ac", "bc"], ["ad"])
    ranking, alone = prefcal.rank(tables), prefcal.rank(chosen(["ab", "ac", "bc"], []))
    rows = ranking.ranking.set_index("system")
    assert rows.loc["d", ["judgments", "rank_low", "rank_high"]].tolist() == [0, 1, 4]
    assert rows.loc["d", ["win_rate", "win_low"]].isna().all()
    assert np.isfinite(rows.loc["d", "worth"])
    others = alone.ranking.set_index("system")
    for column, more in (("win_rate", 0), ("rank_low", 0), ("rank_high", 1)):
        assert (rows[column][list("abc")] == others[column][list("abc")] + more).all()
    assert any("of d no pair was drawn whatever the answers were" in note for note in ranking.notes)
    write_ranking(ranking, tmp_path)
    assert_frame_equal(read_ranking(tmp_path).ranking, ranking.ranking, check_dtype=False)


@pytest.mark.parametrize(
    ("uniform", "adaptive", "said"),
    [
        (["ab", "cd"], ["bc"], "no pair that was drawn whatever the answers were connects the systems"),
        ([], ["ab", "bc"], "every pair was drawn by the answers before it"),
    ],
)
def test_uniform_pairs_that_rank_nothing_are_refused_with_the_reason(uniform, adaptive, said):
    """Not as if nothing had been judged; the cure is more of them."""
    with pytest.raises(InputError, match=f"task t: {said}.*; collect more such pairs: raise uniform_share"):
        prefcal.rank(chosen(uniform, adaptive))


def test_a_ranking_of_adaptive_pairs_names_the_best_and_takes_its_win_rates_from_the_uniform_ones(tmp_path):
    """Worths are of all judgments; the best system survives the files."""
    tables = adaptive_tables()
    preferences = tables["preferences"]
    uniform = preferences[preferences["drawn"] == "uniform"].drop(columns=["drawn", "chance"])
    ranking, alone = rank_systems(tables), rank_systems({"preferences": uniform})
    best = ranking.best_systems["t"]
    columns = ["win_rate", "win_low", "rank_low", "judgments"]
    write_ranking(ranking, tmp_path)

    assert (best.system, best.second) == ("s0", "s1")
    assert best.probability > 0.8
    assert best.low < best.difference < best.high
    assert (best.judgments, best.uniform) == (300, 90)
    assert ranking.ranking["system"].iloc[0] == "s0"
    pd.testing.assert_frame_equal(ranking.frame()[columns].sort_index(), alone.frame()[columns].sort_index())
    assert ranking.frame()["worth"].sort_index().tolist() != alone.frame()["worth"].sort_index().tolist()
    assert any("adaptive_pairs" in note for note in ranking.notes)
    assert read_ranking(tmp_path).best_systems == {"t": best}


def crowd(copies=1):
    """Votes of people who differ much, each given some times."""
    rng = np.random.default_rng(4)
    worth, rows = np.array([0.9, 0.6, 0.3, 0.0]), []
    for worker in range(24):
        own = worth + rng.normal(0, 1.2, 4)
        for topic in range(8):
            left, right = rng.choice(4, 2, replace=False)
            vote = rng.choice([1.0, 0.0, 0.5], p=_shares(own[left] - own[right]))
            rows += [(left, right, vote, topic, worker)] * copies
    left, right, for_left, topic, worker = map(np.array, zip(*rows, strict=True))
    return JudgedSystems(
        task="t",
        systems=("a", "b", "c", "d"),
        left=left,
        right=right,
        for_left=for_left,
        topic=topic,
        worker=worker,
    )


def test_votes_that_say_the_same_twice_make_the_best_no_surer():
    """Each judgment four times: clusters are the same, so are probability, difference and interval; without the worths they are not."""
    once, often = crowd(), crowd(4)
    found, again = (best_system(each, fit_worths(each), 0.95, uniform=0) for each in (once, often))
    unaware = best_system(often, None, 0.95, uniform=0)

    assert (found.system, found.second) == (again.system, again.second)
    assert (again.probability, again.difference, again.low, again.high) == pytest.approx(
        (found.probability, found.difference, found.low, found.high), abs=0.02
    )
    assert unaware.probability > found.probability + 0.02


def test_the_difference_of_chosen_systems_is_drawn_towards_zero():
    """Below the difference of worths by likelihood, inside an interval that is no wider."""
    judged = crowd()
    worths = fit_worths(judged)
    found = best_system(judged, worths, 0.95, uniform=0)
    best, second = (judged.systems.index(name) for name in (found.system, found.second))
    raw = worths.worth[best] - worths.worth[second]
    reach = worths.covariances.of_differences().errors().half_width(0.95)[best, second]

    assert 0 < found.difference < raw
    assert found.high - found.low < 2.2 * reach


def test_a_judge_assists_only_the_uniform_pairs_and_says_so():
    """In both commands, in one line; the assisted win rates are those of people on uniform pairs."""
    tables = adaptive_tables()
    rng, votes = np.random.default_rng(3), tables["preferences"]
    couples = [(f"q{topic}", f"s{a}", f"s{b}") for topic in range(9) for a in range(6) for b in range(a)]
    verdicts = pd.DataFrame(couples, columns=["topic", "system_left", "system_right"]).assign(
        task="t", worker="judge", pair="p", choice=rng.choice(["left", "right"], len(couples)), order=1
    )
    judges = pd.DataFrame({"worker": ["judge"], "kind": ["model"]})
    both = {"preferences": pd.concat([votes, verdicts], ignore_index=True), "workers": judges}
    ranking = prefcal.rank(both, assist="judge")
    single = ranking.assisted[ranking.assisted["against"] == ""].set_index("system")

    assert f"t: {WITHOUT_JUDGE}" in ranking.notes
    assert single["people"].sort_index().tolist() == pytest.approx(
        ranking.ranking.set_index("system")["win_rate"].sort_index().tolist(), abs=2e-3
    )
    assert single["pairs_people"].iloc[0] < 90
    scores = pd.DataFrame(
        [(f"s{a}", f"q{topic}", "m", -a) for a in range(6) for topic in range(9)],
        columns=["run", "topic", "metric", "value"],
    )
    notes = prefcal.agree(both, scores=scores, assist="judge").notes
    assert sum("(adaptive_pairs)" in note for note in notes) == 1
