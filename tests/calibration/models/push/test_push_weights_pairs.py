"""Joining judgments of pushes with the cells of their streams, and drawing both."""

import numpy as np
import pandas as pd
import pytest

from calibration.inference.results import NotIdentifiedError
from calibration.models.push.judgments import CELL_SIGNS, WEIGHTS, push_judgments
from calibration.models.push.simulate import (
    PushJudges,
    simulate_push_cells,
    simulate_push_judgments,
    simulate_push_preferences,
)
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.push.contingency import CELLS, Contingency


def cells(*rows: dict[str, object]) -> pd.DataFrame:
    """Return table push_cells; each row is system A of pair p and topic t in task pushes unless it says otherwise."""
    usual = {"task": "pushes", "topic": "t", "pair": "p", "system": "A"} | dict.fromkeys(CELL_SIGNS, 0)
    return check_frame(pd.DataFrame([usual | row for row in rows]), TABLES["push_cells"])


def preferences(*rows: dict[str, object]) -> pd.DataFrame:
    """Return table preferences; each row is w's choice of the left one, A, over B unless it says otherwise."""
    usual = {
        "worker": "w",
        "task": "pushes",
        "topic": "t",
        "pair": "p",
        "system_left": "A",
        "system_right": "B",
        "choice": "left",
        "validation_of": None,
        "silent_days_revealed": None,
    }
    named = [{"judgment": f"j{place}"} | usual | row for place, row in enumerate(rows)]
    return check_frame(pd.DataFrame(named), TABLES["preferences"])


TWO = (
    {"gain": 5, "silent_silent": 1},
    {"system": "B", "gain": 2, "nonrelevant_eventful": 3, "silent_eventful": 1},
)


def test_cells_and_weights_are_those_of_the_measure():
    """The utility of the fit is the measure `Contingency` with the same weights."""
    assert tuple(CELL_SIGNS) == CELLS
    assert tuple(Contingency().weights) == WEIGHTS


def test_x_has_the_sign_with_which_each_cell_enters_the_utility():
    """Gain and silence on silent days count for a stream, everything else against it."""
    judged = push_judgments(preferences({}), cells(*TWO))

    assert judged.left.tolist() == [[5, 0, 0, 0, 1]]
    assert judged.right.tolist() == [[2, -3, -1, 0, 0]]
    assert judged.difference.tolist() == [[3, 3, 1, 0, 1]]


def test_a_choice_names_the_side_that_was_shown():
    """A on the right and "right" chosen is a vote for A, whatever the order of names."""
    one = push_judgments(preferences({"choice": "left"}), cells(*TWO))
    other = push_judgments(
        preferences({"system_left": "B", "system_right": "A", "choice": "right"}), cells(*TWO)
    )

    assert (one.vote * one.difference[:, 0]).tolist() == [3]
    assert (other.vote * other.difference[:, 0]).tolist() == [3]
    assert (one.first_is_left.tolist(), other.first_is_left.tolist()) == ([True], [False])


def test_both_words_for_a_tie_are_ties():
    """And the word is kept for its own test."""
    judged = push_judgments(preferences({"choice": "equally_good"}, {"choice": "equally_bad"}), cells(*TWO))

    assert judged.vote.tolist() == [0, 0]
    assert judged.good.tolist() == [True, False]


def test_validation_repeats_do_not_count():
    """They repeat an answer that is there already."""
    judged = push_judgments(preferences({}, {"validation_of": "j0"}), cells(*TWO))

    assert len(judged.vote) == 1


def test_cells_of_the_pair_and_the_task_are_taken():
    """The same stream has other cells over other days, in another pair or another task."""
    table = cells(
        *TWO,
        *({**row, "pair": "q", "gain": 9} for row in TWO),
        *({**row, "task": "other", "gain": 7} for row in TWO),
    )
    judged = push_judgments(preferences({}, {"pair": "q"}, {"task": "other"}), table)

    assert judged.left[:, 0].tolist() == [5, 9, 7]
    assert judged.topics == 2


def test_cells_without_task_or_pair_stand_for_all_and_give_way_to_those_with_one():
    """Someone with one task and one set of days need not repeat rows for every pair."""
    table = cells(
        *({**row, "task": None, "pair": None} for row in TWO),
        *({**row, "task": None, "gain": 9} for row in TWO),
    )
    judged = push_judgments(preferences({}, {"pair": "q"}), table)

    assert judged.left[:, 0].tolist() == [9, 5]


def test_one_convention_is_taken():
    """The track's by default, another when asked for, the only one there is when it has no choice."""
    table = cells(
        *({**row, "convention": "paper"} for row in TWO),
        *({**row, "convention": "track", "gain": 9} for row in TWO),
    )

    assert push_judgments(preferences({}), table).left[0, 0] == 9
    assert push_judgments(preferences({}), table, convention="paper").left[0, 0] == 5
    assert push_judgments(preferences({}), table[table["convention"] == "paper"]).convention == "paper"
    with pytest.raises(NotIdentifiedError, match="'own'"):
        push_judgments(preferences({}), table, convention="own")


def test_judgments_without_cells_or_over_other_days_are_left_out_and_counted():
    """A system without cells, and streams counted over different numbers of days."""
    table = cells(
        *({**row, "days": 5} for row in TWO),
        {"pair": "q", "days": 5},
        {"pair": "q", "days": 4, "system": "B"},
    )
    judged = push_judgments(preferences({}, {"pair": "q"}, {"system_right": "C"}), table)

    assert (len(judged.vote), judged.without_cells, judged.unequal_days) == (1, 1, 1)


def test_judgments_of_other_tasks_are_no_business_of_pushes():
    """Pairs of summaries in the same table are not counted as missing cells."""
    judged = push_judgments(preferences({}, {"task": "summaries"}, {"topic": "MC2-E-1"}), cells(*TWO))

    assert (len(judged.vote), judged.without_cells) == (1, 0)


def test_no_judgment_with_cells_is_refused():
    """Nothing to fit to."""
    with pytest.raises(NotIdentifiedError, match="cells of both its systems"):
        push_judgments(preferences({"system_right": "C"}), cells(*TWO))


def test_whether_silent_days_were_shown_is_passed_on():
    """A user cannot know it otherwise."""
    shown = preferences({"silent_days_revealed": True}, {"silent_days_revealed": False})

    assert push_judgments(shown, cells(*TWO)).revealed == 0.5
    assert push_judgments(preferences({}), cells(*TWO)).revealed is None


def test_simulated_tables_joined_are_the_simulated_judgments():
    """The short way for benchmarks draws nothing else."""
    judges = PushJudges(workers=6, pairs_per_worker=15, unexplained_sd=0.4, left_bias=0.2, label_slope=0.3)
    rng = np.random.default_rng(4)
    table = simulate_push_cells(3, rng, systems=4)
    joined = push_judgments(simulate_push_preferences(table, judges, rng), table)
    short = simulate_push_judgments(3, judges, np.random.default_rng(4), systems=4)

    for name in ("left", "right", "vote", "good", "first_is_left", "worker"):
        assert getattr(joined, name).tolist() == getattr(short, name).tolist(), name
    for name in ("topic", "pair"):
        together = {*zip(getattr(joined, name).tolist(), getattr(short, name).tolist(), strict=True)}
        assert len(together) == len(set(getattr(short, name).tolist())), name


def test_simulated_cells_share_their_silent_days():
    """Silence is a property of the pool: a day is silent for both streams or for neither."""
    table = simulate_push_cells(5, np.random.default_rng(1), days=7, silent_share=0.4)
    days = table["silent_eventful"] + table["silent_silent"]

    assert (days <= 7).all()
    assert not (table["gain"] < 0).any()
    assert set(table["days"]) == {7.0}
    assert simulate_push_cells(5, np.random.default_rng(1), silent_share=0)["silent_silent"].sum() == 0
