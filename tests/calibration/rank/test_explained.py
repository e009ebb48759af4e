"""How far criteria go with the overall choice: shares by hand, weights recovered, intervals over topics and people."""

import numpy as np
import pandas as pd
import pytest

from calibration.rank.explained import COLUMNS, explained_choices
from calibration.tables.files import checked_tables
from calibration.tables.people import people_tables
from tests.calibration.graded import graded_study

SIDES = {1: "left", -1: "right", 0: "equally_bad"}


def asked(rows):
    """Return tables of judgments, each (worker, topic, overall choice, {criterion: choice})."""
    judged = [
        {
            "judgment": f"j{number}",
            "worker": worker,
            "task": "t",
            "topic": topic,
            "system_left": "a",
            "system_right": "b",
            "choice": overall,
        }
        for number, (worker, topic, overall, _) in enumerate(rows)
    ]
    about = [
        {"judgment": f"j{number}", "criterion": criterion, "choice": choice}
        for number, (*_, answers) in enumerate(rows)
        for criterion, choice in answers.items()
    ]
    return checked_tables({"preferences": pd.DataFrame(judged), "criteria": pd.DataFrame(about)})


def drawn(*, workers=20, topics=20, seed=1):
    """Draw overall choices by Davidson's model: correct weighs 2, short .5, the side .3; each cell twice."""
    rng = np.random.default_rng(seed)
    rows = []
    for worker, topic in np.ndindex(workers, topics * 2):
        correct = int(rng.choice([1, -1, 0], p=[0.4, 0.4, 0.2]))
        short = int(rng.choice([correct, 1, -1, 0]))
        lead = 2 * correct + 0.5 * short + 0.3
        odds = np.array([np.exp(lead / 2), np.exp(-lead / 2), 0.7])
        overall = rng.choice(["left", "right", "equally_good"], p=odds / odds.sum())
        answers = {"correct": SIDES[correct], "short": SIDES[short]}
        rows.append((f"w{worker}", f"q{topic // 2}", overall, answers))
    return asked(rows)


def test_shares_are_counted_by_hand():
    """Neither both times is the same answer, whichever way; only judgments with the criterion count."""
    rows = [
        ("w1", "q1", "left", {"correct": "left", "short": "right"}),
        ("w2", "q1", "equally_good", {"correct": "equally_bad"}),
        ("w1", "q2", "right", {"correct": "equally_good", "short": "right"}),
        ("w2", "q2", "left", {"correct": "left"}),
        ("w3", "q2", "left", {}),
    ]
    found = explained_choices(asked(rows)).set_index("criterion")

    assert found.index.tolist() == ["correct", "short"]
    assert found["judgments"].to_dict() == {"correct": 4, "short": 2}
    assert found["same"].to_dict() == {"correct": 0.75, "short": 0.5}
    assert found["opposite"].to_dict() == {"correct": 0, "short": 0.5}
    assert found[["same_low", "same_high", "weight_low"]].isna().all(axis=None)  # three people are too few


def test_weights_that_drew_the_choices_are_recovered():
    """Each within its interval widened by half; the criterion that only goes along with the other gets its own weight."""
    found = explained_choices(drawn()).set_index("criterion")
    for criterion, weight in (("correct", 2.0), ("short", 0.5)):
        row = found.loc[criterion]
        assert row["weight"] == pytest.approx(weight, abs=0.75 * (row["weight_high"] - row["weight_low"]))
        assert 0.1 < row["weight_high"] - row["weight_low"] < 0.8
    assert found.loc["correct", "same"] > found.loc["short", "same"] > 0.4
    assert 0.02 < (found["same_high"] - found["same_low"]).min() < 0.1


def test_what_follows_without_exception_or_says_the_same_has_no_weight():
    """A number would be only large, or anyone's."""
    tables = drawn(workers=6, topics=6)
    judged, criteria = tables["preferences"], tables["criteria"]
    copied = judged[["judgment", "choice"]].assign(criterion="copy")
    doubled = criteria[criteria["criterion"] == "correct"].assign(criterion="again")
    for more in (copied, doubled):
        found = explained_choices(tables | {"criteria": pd.concat([criteria, more], ignore_index=True)})
        assert found["weight"].isna().all()
        assert found["same"].notna().all()
    assert found.columns.tolist() == list(COLUMNS)


def test_repeats_gold_pairs_and_excluded_workers_do_not_count():
    """As everywhere."""
    tables = graded_study(workers=6)
    tables["workers"].loc[0, "excluded"] = True
    people = people_tables(checked_tables(tables))
    without = people["preferences"].query("validation_of.isna() and worker != 'w0'")
    judged = without["judgment"]
    bare = {
        "preferences": without,
        "criteria": tables["criteria"][tables["criteria"]["judgment"].isin(judged)],
    }

    pd.testing.assert_frame_equal(explained_choices(people), explained_choices(bare))
    assert set(explained_choices(people)["judgments"]) == {5 * 36}
    assert explained_choices({"preferences": without}).empty
