"""Whether people's pairs look drawn by lot from a judge's."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from calibration.judges.assist import judged_pairs_of
from calibration.judges.lot import HOLDS, against_lot
from calibration.tables.study_json import StudyRecord, TaskRecord

SYSTEMS = tuple("abcdef")


def pairs(weight, seed=1, *, topics=30, each=5):
    """Let people judge some pairs of every topic, drawn by weight, and the judge all: a third of them ties."""
    rng = np.random.default_rng(seed)
    names = pd.DataFrame(
        [(f"q{topic}", *couple) for topic in range(topics) for couple in combinations(SYSTEMS, 2)],
        columns=["topic", "system_a", "system_b"],
    )
    is_tie = rng.random(len(names)) < 1 / 3
    weights = np.where(is_tie, weight.get("tie", 1.0), 1.0)
    for system in SYSTEMS:
        weights[(names[["system_a", "system_b"]] == system).any(axis=1)] *= weight.get(system, 1.0)
    people = (
        names.assign(weight=weights)
        .groupby("topic", sort=False)
        .sample(each, weights="weight", random_state=seed)
    )
    verdicts = names.assign(
        judge="j", task="t", order=pd.array([1] * len(names), dtype="Int64"), is_swapped=False, repeat=1
    ).assign(vote=np.where(is_tie, "equally_good", "votes_a"))
    return judged_pairs_of(people[names.columns], pd.factorize(people["topic"])[0], verdicts)


def test_lots_are_seldom_called_anything_else():
    """Of 100 studies with lots one in a hundred is, up to chance; a balanced choice of pairs never is."""
    said = [bool(against_lot("t", pairs({}, seed), None)) for seed in range(100)]
    assert sum(said) <= 4


@pytest.mark.parametrize(
    ("weight", "what"), [({"tie": 0.2}, "that the judge calls a tie"), ({"c": 6.0}, "with c")]
)
def test_pairs_that_were_chosen_are_named(weight, what):
    """Easy pairs, and pairs of one system."""
    (sentence,) = against_lot("t", pairs(weight), None)
    assert what in sentence
    assert sentence.endswith(HOLDS)


def test_a_judge_of_the_same_pairs_says_nothing():
    """Where people judged all pairs of their topics there is no choice to look at."""
    assert against_lot("t", pairs({}, each=15), None) == []


@pytest.mark.parametrize(
    ("setting", "named"), [("mine.txt", True), ("all", False), (3, False), ({"adaptive": "best"}, False)]
)
def test_pairs_of_a_file_are_named(setting, named):
    """study.json says which file the pairs came from."""
    study = StudyRecord(study="s", tasks={"t": TaskRecord(kind="answer_pairs", protocol={"pairs": setting})})
    said = against_lot("t", pairs({}, 3), study)
    assert [
        sentence.startswith("the study file took the pairs that people judged from mine.txt")
        for sentence in said
    ] == [True] * named
