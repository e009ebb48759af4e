"""Checks of votes are made once for a ranking and an agreement of the same tables."""

import pandas as pd
import pytest

from calibration.agree.agree_tables import agree
from calibration.agree.score_sources import ScoreSources
from calibration.checks import votes
from calibration.checks.votes import VoteChecks, names_in_two_cases
from calibration.rank.ranking import rank_systems


@pytest.fixture
def tables():
    judged = [
        (worker, topic, "left" if (worker + topic) % 3 else "right")
        for worker in range(6)
        for topic in range(6)
    ]
    frame = pd.DataFrame(judged, columns=["worker", "topic", "choice"]).astype("str")
    return {
        "preferences": frame.assign(
            task="lists",
            pair="A-B",
            system_left="A",
            system_right="B",
            validation_of=None,
            language="en",
            decision_seconds=9.0,
        )
    }


def test_an_agreement_and_a_ranking_of_the_same_tables_make_each_check_once(tables, monkeypatch):
    """And say the same as each does by itself."""
    scores = pd.DataFrame(
        [(run, str(topic), "m", float(run == "A")) for run in "AB" for topic in range(6)],
        columns=["run", "topic", "metric", "value"],
    )
    alone = rank_systems(tables)
    made = []
    for name in ("same_votes", "adaptive_stopping"):
        check = getattr(votes, name)
        monkeypatch.setattr(
            votes, name, lambda *a, check=check, name=name, **k: (made.append(name), check(*a, **k))[1]
        )
    checks = VoteChecks(tables=tables)
    agree(ScoreSources(tables=tables, scores=scores), checks=checks)
    shared = rank_systems(checks.tables, checks=checks)

    assert sorted(made) == ["adaptive_stopping", "same_votes"]
    assert shared.notes == alone.notes
    pd.testing.assert_frame_equal(shared.ranking, alone.ranking)


def test_names_that_differ_in_case_or_blanks_are_named(tables):
    frame = tables["preferences"]
    assert names_in_two_cases(frame) == []
    frame = frame.assign(
        system_right=frame["system_right"].where(frame.index > 0, "b"),
        topic=frame["topic"].where(frame.index > 0, "1 "),
    )
    assert names_in_two_cases(frame) == [
        "topics '1' and '1 ' differ in case or in blanks only, and count as different ones",
        "systems B and b differ in case only, and count as different ones",
    ]
