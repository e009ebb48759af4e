"""What `prefcal agree` takes: scores of one's own, bare preferences, and what it refuses."""

import pandas as pd
import pytest

from metrics.errors import InputError
from metrics.summaries.score import m_from_positions
from tests.calibration.judged_summaries import SYSTEMS, measured, study, table, value

GIVEN = {"i1": 0.75, "i2": 0.25}


@pytest.fixture(scope="module")
def tables():
    """Six queries, four systems, eight workers who prefer by M at L = 800."""
    return study()


def test_a_score_of_your_own_joins_the_table(tables):
    """`--scores`: a metric that copies M agrees as M does; topics may be written short."""
    m = m_from_positions(
        tables["positions"].drop(columns="task"), {f"q{n}": GIVEN for n in range(6)}, [1500]
    ).iloc[:, 0]
    scores = pd.DataFrame(
        [
            {"run": system, "topic": topic, "metric": "mine", "value": m[topic, system]}
            for topic, system in m.index
        ]
    )

    found = measured(tables, scores=scores)

    assert value(found, "mine") == value(found, "M@1500")
    assert value(found, "mine", column="role") == "scores"


def test_scores_alone_are_enough(tables):
    """Someone whose metric prefcal does not know needs no positions."""
    scores = pd.DataFrame(
        [
            {"run": system, "topic": f"q{n}", "metric": "mine", "value": float(rank)}
            for n in range(6)
            for rank, system in enumerate(SYSTEMS)
        ]
    )

    found = measured({"preferences": tables["preferences"]}, scores=scores)

    assert set(found.agreement["measure"]) == {"mine"}
    for empty in (found.curve, found.comparisons):
        assert empty.empty
        assert {"task", "measure", "low", "high"} <= set(empty.columns)


def test_a_system_without_a_run_and_a_run_without_a_judgment_are_both_named(tables):
    """Two spellings of one system are the usual reason: both lists, one line."""
    positions = tables["positions"].assign(system=tables["positions"]["system"].replace("delta", "Delta"))

    with pytest.raises(InputError) as error:
        measured(tables | {"positions": positions})

    (fault,) = error.value.faults
    assert fault.problem == "judged without a run: delta; with a run but never judged: Delta"


def test_systems_judged_without_a_score_are_named(tables):
    """With the spelling that may be meant."""
    scores = pd.DataFrame(
        [{"run": run, "topic": "q0", "metric": "mine", "value": 1.0} for run in ("alpha", "Beta")]
    )

    with pytest.raises(
        InputError, match=r"judged without a score: beta, delta, gamma; .* in case: Beta for beta"
    ):
        measured(tables, scores=scores)


def test_scores_of_systems_that_nobody_judged_are_one_note(tables):
    """A leaderboard has more systems than a study, and a pool more passages."""
    scores = pd.DataFrame(
        [
            {"run": system, "topic": f"q{n}", "metric": "mine", "value": float(place)}
            for n in range(6)
            for place, system in enumerate((*SYSTEMS, "other", "another"))
        ]
    )

    notes = measured(tables, scores=scores).notes
    assert "scores: scores of 2 systems that nobody judged are left out (another, other)" in notes


def test_a_missing_score_is_named(tables):
    """A pair without a score on one side must not count as a tie."""
    scores = pd.DataFrame(
        [
            {"run": system, "topic": f"q{n}", "metric": "mine", "value": 1.0}
            for n in range(6)
            for system in SYSTEMS
            if (n, system) != (3, "beta")
        ]
    )

    with pytest.raises(InputError, match="mine: no score of beta on q3"):
        measured(tables, scores=scores)


def test_a_topic_without_positions_is_a_fault(tables):
    """It would count as tied everywhere."""
    positions = tables["positions"]

    with pytest.raises(InputError, match="without positions: q4"):
        measured(tables | {"positions": positions[positions["topic"] != "q4"]})


def test_nothing_to_compare_is_a_fault(tables):
    """No preferences, nobody counts, nothing scores."""
    workers = table("workers", [{"worker": f"w{n:02d}", "excluded": True} for n in range(8)])

    with pytest.raises(
        InputError, match=r"no table preferences.*\(only positions\); only tasks of pairs have agreement"
    ):
        measured({"positions": tables["positions"]})
    with pytest.raises(InputError, match="no preference counts"):
        measured(tables | {"workers": workers})
    with pytest.raises(InputError, match="nothing scores"):
        measured({"preferences": tables["preferences"]})
