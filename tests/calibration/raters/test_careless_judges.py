"""Judges who click at random, told by the preferences of the others."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import prefcal
from benchmarks.same_answers import Crowd
from calibration.checks.judges import judge_kinds
from calibration.tables.files import check_frame
from calibration.tables.preferences import judged_pairs
from calibration.tables.tables import TABLES


def random_clickers(judged: pd.DataFrame):
    """Return who clicks at random, and their class; None where nobody does."""
    kinds = judge_kinds(judged)
    return None if kinds is None or kinds.careless is None else (kinds.judges, kinds.careless)


def judgments(
    seed: int,
    *,
    people: int = 15,
    topics: int = 6,
    careless: int = 0,
    taste: float = 0.0,
    weights_differ: bool = False,
) -> pd.DataFrame:
    """Draw table preferences of six systems; the first ``careless`` people click left or right by lot.

    Where weights differ, worth is the sum of two qualities, and people care for each by .5 on average, with a deviation of .5.
    """
    rng = np.random.default_rng([seed, 5])
    worth = rng.normal(0, 1, (topics, 6))
    qualities = rng.normal(0, 1, (topics, 6, 2)) if weights_differ else np.zeros((topics, 6, 2))
    rows = []
    for person in range(people):
        own = worth * (0.5 if weights_differ else 1) + rng.normal(0, taste, worth.shape)
        own = own + qualities @ rng.normal(0.5, 0.5, 2)
        for topic, i, j in ((t, *pair) for t in range(topics) for pair in combinations(range(6), 2)):
            odds = 0.0 if person < careless else own[topic, i] - own[topic, j]
            first, swapped = rng.random() < 1 / (1 + np.exp(-odds)), rng.random() < 0.5
            sides = (j, i) if swapped else (i, j)
            side = "left" if first != swapped else "right"
            rows.append(
                (f"W{person:02d}", "t", f"Q{topic}", f"{i}-{j}", f"s{sides[0]}", f"s{sides[1]}", side)
            )
    names = ["worker", "task", "topic", "pair", "system_left", "system_right", "choice"]
    return check_frame(pd.DataFrame(rows, columns=names), TABLES["preferences"])


def test_who_clicks_by_lot_is_named():
    """Three of 15, each of them and nobody else."""
    found = random_clickers(judged_pairs(judgments(1, careless=3)))

    assert found is not None
    judges, kind = found
    assert list(judges[kind.is_careless]) == ["W00", "W01", "W02"]


def test_people_with_tastes_of_their_own_are_not_careless():
    """They follow the others less, and still follow them."""
    assert [
        random_clickers(judged_pairs(judgments(seed, taste=taste)))
        for seed in range(3)
        for taste in (0.0, 0.6)
    ] == [None] * 6


def test_people_who_care_for_different_things_are_seldom_called_careless(seeds):
    """Some follow the others hardly at all, and yet they answer in earnest."""
    named = [
        random_clickers(judged_pairs(judgments(seed, people=20, topics=3, weights_differ=True)))
        for seed in seeds(24, least=12)
    ]

    assert sum(one is not None for one in named) <= 2


def test_fit_says_so_of_agreement_and_keeps_how_likely_each_is_careless():
    """Agreement among raters is lower for them; nobody is left out without being asked."""
    fitted = prefcal.fit({"preferences": judgments(1, careless=3)})
    entry = fitted.quality.entries()["preference_krippendorff_alpha"]

    assert entry.workers == 15
    said = {note.name: note for note in entry.diagnostics}
    assert said["careless_workers"].severity == "warning"
    assert said["careless_workers"].sentence.startswith("3 of 15 judges click as if at random")
    probability = fitted.careless.set_index("worker")["probability"]
    assert probability["W00"] > 0.99
    assert probability["W14"] < 0.5
    assert prefcal.fit({"preferences": judgments(2)}).careless.empty


def in_camps(seed: int, camp: int, **crowd: float) -> pd.DataFrame:
    """Draw judgments of 15 people, of whom some prefer the opposite."""
    return judged_pairs(
        Crowd(people=15, camp=camp, worth=1.5, **crowd).study(np.random.default_rng([seed, 3]))
    )


@pytest.mark.parametrize("camp", [3, 5, 7])
def test_a_camp_is_called_a_camp_and_nobody_careless(camp, seeds):
    """A fifth to nearly half of the people, who prefer the opposite."""
    kinds = [judge_kinds(in_camps(seed, camp)) for seed in seeds(10, least=5)]
    names = {f"W{number:02d}" for number in range(camp)}

    assert sum(one.careless is not None for one in kinds) <= 1
    assert (
        sum(one.camp is not None and {*one.judges[one.camp.is_careless]} == names for one in kinds)
        >= len(kinds) - 1
    )


def test_people_of_one_mind_or_by_lot_or_of_wide_tastes_are_no_camp(seeds):
    """None of three crowds of each."""
    assert not any(
        judge_kinds(in_camps(seed, 0, **crowd)).camp
        for seed in seeds(10, least=4)
        for crowd in ({}, {"clickers": 4}, {"taste": 1.5})
    )


def test_who_follows_others_unlike_them_is_named_where_lot_and_taste_explain_it_alike(seeds):
    """Three of 14 by lot, 60 answers each: they are too few to tell from people of a taste of their own, and hardly ever pass in silence."""
    drawn = seeds(20, least=10)
    crowds = [
        judge_kinds(judged_pairs(Crowd(people=14, clickers=number).study(np.random.default_rng([seed, 3]))))
        for number in (3, 0)
        for seed in drawn
    ]
    named = [{finding.name for finding in kinds.findings()} for kinds in crowds]
    (unclear, *_) = [kinds.unclear for kinds in crowds[: len(drawn)] if kinds.unclear]

    assert sum(
        names in ({"judges_differ"}, {"careless_workers"}) for names in named[: len(drawn)]
    ) >= 0.85 * len(drawn)
    assert sum(bool(names) for names in named[len(drawn) :]) <= 1
    assert 2 <= unclear[0] <= 5
    assert 9 <= unclear[1] <= 12


def test_nobody_of_a_camp_is_called_careless_where_others_click_by_lot(seeds):
    """Four of a camp, and three who click by lot: too few are left to tell the kinds apart."""
    kinds = [judge_kinds(in_camps(seed, 4, clickers=3)) for seed in seeds(10, least=5)]
    camp = {f"W{number:02d}" for number in range(4)}

    assert not any(one.careless and {*one.judges[one.careless.is_careless]} & camp for one in kinds)


def test_fit_and_rank_name_the_camp():
    """Beside agreement among raters, and of the ranking of their task; nobody stands in careless.csv for it."""
    votes = {"preferences": Crowd(people=15, camp=4, worth=1.5).study(np.random.default_rng(1))}
    fitted = prefcal.fit(votes)
    said = {note.name: note for note in fitted.quality.entries()["preference_krippendorff_alpha"].diagnostics}
    (ranked,) = [note for note in prefcal.rank(votes).notes if note.endswith("(opposite_camp)")]

    assert said["opposite_camp"].sentence.startswith("4 of 15 judges prefer the opposite")
    assert "careless_workers" not in said
    assert fitted.careless.empty
    assert ranked.startswith("t: 4 of 15 judges prefer the opposite")
