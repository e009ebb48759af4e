"""Errors over crossed topics and people: against loops over clusters, and on designs whose answer is known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from calibration.rank import crossed
from calibration.rank.crossed import CrossedClusters, Influence
from calibration.rank.judgments import JudgedSystems, duels, side_adjustment, win_rates
from calibration.rank.ranking import ranks_left_open
from calibration.rank.worths import fit_worths


def drawn(seed, *, systems=4, topics=6, people=5, n=240, load=None, **kind):
    """Judgments of people with the given loads, equal ones by default."""
    rng = np.random.default_rng(seed)
    left = rng.integers(systems, size=n)
    return JudgedSystems(
        task="t",
        systems=tuple("abcdefgh"[:systems]),
        left=left,
        right=(left + rng.integers(1, systems, size=n)) % systems,
        for_left=rng.choice([0, 0.5, 1], size=n, p=[0.3, 0.2, 0.5]),
        topic=rng.permutation(np.arange(n) % topics),
        worker=rng.choice(people, size=n, p=load),
        **kind,
    )


def by_loops(influence, k, topic, worker, adjustment):
    """Return V and df of one estimate, term by term as the module has them."""
    m, place = np.nonzero(influence.estimate == k)
    error, weight = np.zeros(len(topic)), np.zeros(len(topic))
    np.add.at(error, place, influence.error[m, place])
    np.add.at(weight, place, influence.weight[m, place])
    through_model = np.zeros(len(topic))
    if adjustment is not None:
        moved = adjustment.solved(influence.model.gradient[[k]].toarray().ravel())
        for parameter, score in zip(adjustment.parameter, adjustment.score, strict=True):
            through_model -= score * moved[parameter]

    def exact(share, squares):
        return np.sqrt(min(1 - share, 1 - 2 * share + squares))

    def summed(code, left):
        """Of every cluster: error over what its own load leaves, model over what its share of all judgments leaves."""
        codes = np.unique(code)
        own = np.array([weight[code == c].sum() for c in codes])
        overall = np.array([(code == c).mean() for c in codes])
        return np.array(
            [
                error[code == c].sum() / left(w, (own**2).sum())
                + through_model[code == c].sum() / left(s, (overall**2).sum())
                for c, w, s in zip(codes, own, overall, strict=True)
            ]
        )

    v_topic = (summed(topic, exact) ** 2).sum()
    v_worker = (summed(worker, lambda w, _: 1 - w) ** 2).sum()
    least = (summed(worker, exact) ** 2).sum()
    shares = {p: weight[worker == p].sum() for p in np.unique(worker)}
    overall = {p: (worker == p).mean() for p in np.unique(worker)}
    v_cell = c = 0.0
    for p, share in shares.items():
        cells = [(worker == p) & (topic == q) for q in np.unique(topic)]
        v_cell += sum(
            (error[cell].sum() / (1 - share) + through_model[cell].sum() / (1 - overall[p])) ** 2
            for cell in cells
        )
        c += (share**2 - sum(weight[cell].sum() ** 2 for cell in cells)) / (1 - share) ** 2
    topics = 1 / sum(weight[topic == q].sum() ** 2 for q in np.unique(topic))
    people = 1 / sum(share**2 for share in shares.values())
    common = v_worker - v_cell + c * v_topic
    v = max(v_topic + max(0, common) * topics / (topics - 1), least)
    df = v**2 / (v_topic**2 / (topics - 1) + v_worker**2 / (people - 1))
    return v, max(df, min(topics, people) - 1)


@pytest.mark.parametrize("drawn_sides", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_errors_are_those_of_the_formula_term_by_term(seed, drawn_sides):
    """Of every win rate and duel, alone and as covariances, with the model of the side and without; loads are unequal."""
    study = drawn(seed, load=[0.3, 0.25, 0.2, 0.15, 0.1], has_drawn_sides=drawn_sides)
    adjustment = side_adjustment(study)
    for shares in (win_rates(study, adjustment), duels(study, adjustment).shares):
        alone = shares.influence.variances().errors()
        together = shares.influence.covariances().of_each().errors()
        for k in range(len(shares.value)):
            v, df = by_loops(shares.influence, k, study.topic, study.worker, adjustment)
            for errors in (alone, together):
                assert errors.standard_error[k] == pytest.approx(np.sqrt(v))
                assert errors.df[k] == pytest.approx(df)


def test_portions_of_a_large_table_add_up_to_the_whole(monkeypatch):
    """In the smallest portions as in one."""
    study = drawn(1, has_drawn_sides=False)
    whole = _both(study)
    monkeypatch.setattr("calibration.rank.crossed.TABLE_VALUES", 9)
    for some, all_ in zip(_both(study), whole, strict=True):
        np.testing.assert_allclose(some.standard_error, all_.standard_error)
        np.testing.assert_allclose(some.df, all_.df)


def _both(study):
    adjustment = side_adjustment(replace(study))
    influence = win_rates(replace(study), adjustment).influence
    return influence.variances().errors(), influence.covariances().of_each().errors()


def test_a_judge_with_most_of_the_votes_leaves_intervals_of_use():
    """One of 30 people gave .3 of all votes: the interval counts on ten people and not on the one degree of freedom of the largest."""
    load = np.append(0.3, np.full(29, 0.7 / 29))
    widths = []
    for seed in range(5):
        study = drawn(seed, topics=40, people=30, n=4000, load=load)
        errors = win_rates(study).influence.variances().errors()
        assert (errors.df > 7).all()
        widths.append(2 * errors.half_width(0.95))

    assert 0.02 < np.median(widths) < 0.1


def test_one_rule_holds_for_all_win_rates_of_a_table():
    """Also where what people have in common is estimated below 0 no interval is over topics alone: people count in every df."""
    parts = [win_rates(drawn(seed, topics=30, n=600)).influence.variances() for seed in range(20)]
    below = sum(int((part.people <= 0).sum()) for part in parts)
    least = [np.minimum(part.topic_df, part.worker_df) for part in parts]
    alone = [part.by_topic**2 / (part.by_topic**2 / part.topic_df) for part in parts]

    assert below > 10
    for part, scarcer, over_topics in zip(parts, least, alone, strict=True):
        assert (part.errors().df < over_topics).all()
        assert (part.errors().df >= scarcer).all()


def test_people_who_judged_one_topic_each_are_within_topics():
    """By design, for the whole table: then the interval is over topics, and people need no term."""
    study = drawn(2, topics=10, people=10)
    study = replace(study, worker=study.topic * 4 + np.arange(len(study.topic)) % 4)
    errors = win_rates(study).influence.variances().errors()
    unknown = win_rates(replace(study, worker=None)).influence.variances().errors()

    np.testing.assert_allclose(errors.df, 9, rtol=0.1)
    np.testing.assert_allclose(errors.standard_error, unknown.standard_error)


@pytest.mark.parametrize(
    ("people", "load", "is_few"),
    [
        (3, None, True),
        (4, None, False),
        (4, [0.8, 0.1, 0.05, 0.05], True),
        (12, [0.8, *[0.2 / 11] * 11], True),
        (12, None, False),
    ],
)
def test_fewer_than_four_people_or_effectively_three_are_too_few(people, load, is_few):
    """Then nothing has an error: 1 / sum s^2 of loads .8, .1, .05, .05 is 1.5."""
    study = drawn(1, topics=20, people=people, n=900, load=load)
    influence = win_rates(study).influence

    assert (influence.is_few == is_few).all()
    assert (np.isnan(influence.covariances().of_each().errors().standard_error) == is_few).all()


def test_fewer_than_four_topics_are_too_few():
    """However many people judged them."""
    assert win_rates(drawn(1, topics=3, people=30, n=900)).influence.is_few.all()
    assert not win_rates(drawn(1, topics=4, people=30, n=900)).influence.is_few.any()


def test_ranks_rest_on_all_differences_at_the_df_of_the_scarcer_cluster():
    """Six people over twenty topics: five degrees of freedom and Bonferroni over six differences; with two systems just Student's t."""
    study = drawn(4, topics=20, people=6, n=1200)
    influence = win_rates(study).influence
    errors = influence.covariances().of_differences().errors()
    df = min(influence.effective_workers[:2]) - 1

    assert df == pytest.approx(5, abs=0.2)
    for systems, level in ((4, 1 - 0.025 / 6), (2, 0.975)):
        assert errors.simultaneous_reach(0.95, systems)[0, 1] == pytest.approx(
            t.ppf(level, df) * errors.standard_error[0, 1]
        )


@pytest.mark.seeds
def test_ranks_of_many_equal_systems_stay_open_with_six_topics():
    """Own people on every topic: each of 105 differences has a variance of its own; the studentized range kept .75 of studies open."""
    right = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        first, second = np.triu_indices(15, 1)
        topic, couple, place = (axis.ravel() for axis in np.indices((6, len(first), 3)))
        on_topic = rng.normal(0, 0.5, (6, 15))
        odds = on_topic[topic, first[couple]] - on_topic[topic, second[couple]]
        study = JudgedSystems(
            task="t",
            systems=tuple(f"s{number}" for number in range(15)),
            left=first[couple],
            right=second[couple],
            for_left=(rng.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(float),
            topic=topic,
            worker=topic * 3 + place,
        )
        rates = win_rates(study)
        low, high = ranks_left_open(rates.value, rates.influence.covariances(), 0.95)
        right += bool((low == 1).all() and (high == 15).all())

    assert right >= 17


@pytest.mark.seeds
@pytest.mark.parametrize("people", [4, 6])
def test_ranks_of_equal_systems_stay_open_with_few_people(people):
    """In at least 26 of 30 studies no system is put before another; .85 and .92 of studies before (4 and 6 people)."""
    right = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        first, second = np.triu_indices(5, 1)
        topic, couple, worker = (axis.ravel() for axis in np.indices((20, len(first), people)))
        left, right_side = first[couple], second[couple]
        taste = rng.normal(0, 0.5, (people, 5))
        odds = taste[worker, left] - taste[worker, right_side]
        study = JudgedSystems(
            task="t",
            systems=tuple("abcde"),
            left=left,
            right=right_side,
            for_left=(rng.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(float),
            topic=topic,
            worker=worker,
        )
        low, high = ranks_left_open((rates := win_rates(study)).value, rates.influence.covariances(), 0.95)
        right += bool((low == 1).all() and (high == 5).all())

    assert right >= 26


def test_worths_have_errors_of_the_same_rule():
    """With three people they have none; with five, one each."""
    assert np.isnan(fit_worths(drawn(1, people=3)).variances.errors().standard_error).all()
    assert (fit_worths(drawn(1, people=5)).variances.errors().standard_error > 0).all()


def test_a_crossing_of_unsorted_judgments_is_that_of_sorted_ones():
    """Only the time differs."""
    study = drawn(5)
    order = np.lexsort((study.worker, study.topic))
    influence = win_rates(study).influence
    in_order = Influence(
        estimate=influence.estimate[:, order],
        error=influence.error[:, order],
        weight=influence.weight[:, order],
        crossing=CrossedClusters(study.topic[order], study.worker[order]),
    )

    np.testing.assert_allclose(
        in_order.covariances().of_each().errors().standard_error,
        influence.covariances().of_each().errors().standard_error,
    )


def test_a_table_that_is_made_in_pieces_has_the_same_sums(monkeypatch):
    """Pieces save memory; what is added up stays."""
    rng = np.random.default_rng(1)
    row, columns, values = rng.integers(0, 5, 50), rng.integers(0, 4, (2, 50)), rng.normal(size=(2, 50))
    whole = crossed._table(row, columns, values, (5, 4)).toarray()
    monkeypatch.setattr(crossed, "AT_ONCE", 7)

    assert crossed._table(row, columns, values, (5, 4)).toarray() == pytest.approx(whole)
    assert whole.sum() == pytest.approx(values.sum())
