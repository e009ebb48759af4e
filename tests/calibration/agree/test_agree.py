"""What the agreement tables say."""

import itertools
import math
from collections import defaultdict
from pathlib import Path

import pandas as pd
import pytest

from calibration.agree.agree_tables import agree
from calibration.agree.judged_task import judged_tasks
from calibration.agree.measures.cross_fitted import patience_without_each_topic
from calibration.agree.score_sources import ScoreSources
from calibration.tables.sources import NamedFile, TaskSources
from calibration.user_model.model import IntentEntry, ParameterEntry, UserModel
from metrics.errors import InputError
from metrics.summaries.score import m_from_positions
from tests.calibration.judged_summaries import SYSTEMS, TASK, measured, study, table, value

GIVEN = {"i1": 0.75, "i2": 0.25}


@pytest.fixture(scope="module")
def tables():
    """Six queries, four systems, eight workers who prefer by M at L = 800."""
    return study()


@pytest.fixture(scope="module")
def plain(tables):
    """What the tables alone say."""
    return measured(tables)


def model(*, sha=None, intents=None, **patience):
    return UserModel(
        tables_sha256=sha,
        parameters={
            f"patience_chars_{name}": ParameterEntry(estimate=value) for name, value in patience.items()
        },
        intents=intents or {},
    )


def agreement_by_hand(tables, patience, ties, *, leave_out=frozenset()):
    """Agreement of M straight from the rows of the tables, with loops."""
    m = defaultdict(float)
    for row in tables["positions"].itertuples():
        m[row.topic, row.system] += (
            GIVEN[row.intent] * row.importance * max(0.0, 1 - row.offset_chars / patience)
        )
    votes = defaultdict(list)
    for row in tables["preferences"].itertuples():
        if row.worker in leave_out or not pd.isna(row.validation_of):
            continue
        one, other = sorted((row.system_left, row.system_right))
        chosen = {"left": row.system_left, "right": row.system_right}.get(row.choice)
        votes[row.topic, one, other].append(0.5 if chosen is None else float(chosen == one))
    credit = []
    for (topic, one, other), cast in votes.items():
        lead, share = m[topic, one] - m[topic, other], sum(cast) / len(cast)
        if ties == "weighted":
            credit.append(0.5 if lead == 0 else share if lead > 0 else 1 - share)
        elif lead == 0 or share == 0.5:
            credit += {"against": [0], "half": [0.5], "drop": []}[ties]
        else:
            credit.append((lead > 0) == (share > 0.5))
    return sum(credit) / len(credit)


@pytest.mark.parametrize("ties", ["against", "half", "drop", "weighted"])
def test_agreement_of_m_is_what_the_rows_of_the_tables_say(tables, plain, ties):
    """A slow computation with loops, from raw rows to the number."""
    assert value(plain, "M@1500", ties) == pytest.approx(agreement_by_hand(tables, 1500, ties))


def test_every_number_that_belongs_beside_an_agreement_stands_in_its_row(tables, plain):
    """Nobody should have to look for the ceiling, the ties or the number of people."""
    row = plain.agreement.iloc[0]

    assert row["task"] == TASK
    assert (row["pairs"], row["queries"], row["workers"]) == (36, 6, 8)
    assert row["judgments"] == len(tables["preferences"])
    assert row["mean_decision_seconds"] == pytest.approx(tables["preferences"]["decision_seconds"].mean())
    assert row["low"] < row["agreement"] < row["high"]
    assert row["ceiling_low"] < row["ceiling"] < row["ceiling_high"]
    assert row["no_ceiling"] == ""
    assert row["ceiling"] < row["perfect"] <= 1
    assert row["tied_pairs"] == row["vote_ties"] + row["metric_ties"]


def test_japanese_has_the_papers_other_default():
    """L = 500 for Japanese (§4.3)."""
    found = measured(study(topics=3, language="ja"))

    assert found.agreement["measure"].iloc[0] == "M@500"
    assert found.curve["value"].max() == 16 * 500


def test_excluded_workers_do_not_count_and_are_shown_counted_too(tables):
    """Exclusion is a rule of the analysis; both numbers are printed."""
    workers = table(
        "workers",
        [{"worker": "w00", "excluded": True}, {"worker": "w01", "withdrawn_at": "2026-03-01T00:00:00Z"}],
    )

    found = measured(tables | {"workers": workers})

    for exclusions, out in (("applied", {"w00", "w01"}), ("none", {"w01"})):
        assert value(found, "M@1500", exclusions=exclusions) == pytest.approx(
            agreement_by_hand(tables, 1500, "against", leave_out=out)
        )
        assert value(found, "M@1500", column="workers", exclusions=exclusions) == 8 - len(out)


def test_without_exclusions_the_table_stands_once(plain):
    """No second block that says the same."""
    assert set(plain.agreement["exclusions"]) == {"applied"}


def test_validation_repeats_do_not_count(tables, plain):
    """A repeat measures the worker, not the systems."""
    repeats = (
        tables["preferences"]
        .head(40)
        .assign(
            judgment=[f"r{n}" for n in range(40)],
            validation_of=tables["preferences"]["judgment"].head(40),
            choice="left",
        )
    )
    more = pd.concat([tables["preferences"], repeats], ignore_index=True)

    assert value(measured(tables | {"preferences": more}), "M@1500") == value(plain, "M@1500")


def test_only_complete_workers_on_demand(tables):
    """The option counts those who finished."""
    workers = table("workers", [{"worker": "w00", "completed_at": "2026-03-01T00:00:00Z"}, {"worker": "w01"}])

    found = agree(ScoreSources(tables=tables | {"workers": workers}), complete_only=True)

    assert value(found, "M@1500", column="workers") == 1


def test_uniform_and_voted_probabilities_are_measures_of_their_own(tables):
    """The paper's Fig. 4 d: what is lost when every intent is as probable as every other."""
    voted = {
        topic: {"i1": IntentEntry(estimate=0.1), "i2": IntentEntry(estimate=0.9)} for topic in ("q0", "q1")
    }
    found = measured(tables, model=model(intents=voted))
    given = {f"q{n}": GIVEN for n in range(6)} | {topic: {"i1": 0.1, "i2": 0.9} for topic in voted}

    row = found.agreement[found.agreement["measure"] == "M@1500 fitted P"].iloc[0]
    m = m_from_positions(tables["positions"].drop(columns="task"), given, [1500]).iloc[:, 0]
    expected = m["q0", "alpha"] - m["q0", "beta"]

    assert row["fit"] == "other_data"
    assert "M@1500 uniform P" in set(found.agreement["measure"])
    assert found.pairs.loc[0, "difference M@1500 fitted P"] == pytest.approx(expected)


def test_what_the_tables_do_not_say_is_taken_for_granted_aloud(tables):
    """Topics without P, intents without P, summaries without positions: each moves the agreement without a fault."""
    intents, positions = tables["intents"], tables["positions"]
    lost = (positions["topic"] == "q2") & (positions["system"] == "beta")
    found = measured(
        tables
        | {
            "intents": intents[intents["topic"] != "q1"].replace({"intent": {"i2": "i3"}}),
            "positions": positions[~lost],
        }
    )

    for note in (
        "summaries: no probability of intents is given for q1: there they are equally probable",
        "summaries: intents without a probability count nothing: i2 of q0, i2 of q2, i2 of q3, i2 of q4, i2 of q5",
        "summaries: summaries without positions score 0, like summaries without iUnits: beta on q2",
    ):
        assert note in found.notes


def test_without_given_probabilities_those_from_votes_are_used_and_else_uniform_ones(tables, plain):
    """A study that collected votes is judged by them; without any, all intents count the same."""
    bare = tables | {"intents": tables["intents"].assign(probability=math.nan)}
    voted = {f"q{n}": {"i1": IntentEntry(estimate=0.75), "i2": IntentEntry(estimate=0.25)} for n in range(6)}

    assert value(measured(bare, model=model(intents=voted)), "M@1500") == value(plain, "M@1500")
    uniform = measured(bare)
    assert value(uniform, "M@1500") == value(plain, "M@1500 uniform P")
    assert "M@1500 uniform P" not in set(uniform.agreement["measure"])
    assert any("equally probable" in note for note in uniform.notes)


def test_a_patience_fitted_to_these_preferences_is_cross_fitted(tables):
    """The in-sample row stays for comparison, but no test is made with it."""
    found = measured(tables, model=model(preferences=800.0, stops=700.0, grid=900.0))

    fits = found.agreement.drop_duplicates("measure").set_index("measure")["fit"]
    assert fits["M@preferences"] == "cross_fitted"
    assert fits["M@preferences in sample"] == "in_sample"
    assert fits["M@grid"] == "cross_fitted"
    assert fits["M@stops"] == "other_data"
    assert not found.comparisons["measure"].str.contains("in sample").any()


def test_a_patience_fitted_to_other_tables_needs_no_cross_fit(tables):
    """A pilot's model is other data."""
    found = measured(tables, model=model(preferences=800.0), same_tables=False)

    row = found.agreement[found.agreement["measure"] == "M@preferences"].iloc[0]
    assert (row["fit"], row["agreement"]) == (
        "other_data",
        pytest.approx(agreement_by_hand(tables, 800, "against")),
    )


@pytest.mark.parametrize("source", ["preferences", "grid"])
def test_no_query_is_judged_by_a_patience_that_it_helped_to_fit(tables, source):
    """Turning round every vote on one query leaves the patience that it is judged by as it was."""
    task = judged_tasks(tables)[0]
    positions = tables["positions"].drop(columns="task")
    given = {f"q{n}": GIVEN for n in range(6)}
    turned = task.pairs.copy()
    here = turned["topic"] == "q2"
    turned.loc[here, ["votes_a", "votes_b"]] = turned.loc[here, ["votes_b", "votes_a"]].to_numpy()

    before, after = (
        patience_without_each_topic(pairs, positions, given, source=source, language="en")
        for pairs in (task.pairs, turned)
    )

    assert after["q2"] == pytest.approx(before["q2"])
    assert any(after[topic] != pytest.approx(before[topic]) for topic in before if topic != "q2")


def test_the_cross_fitted_measure_scores_each_query_at_its_own_patience(tables):
    """What `patience_without_each_topic` says is what the pairs are scored with."""
    positions = tables["positions"].drop(columns="task")
    given = {f"q{n}": GIVEN for n in range(6)}
    task = judged_tasks(tables)[0]
    without = patience_without_each_topic(task.pairs, positions, given, source="preferences", language="en")

    pairs = measured(tables, model=model(preferences=800.0)).pairs

    for topic, patience in without.items():
        m = m_from_positions(positions, given, [patience]).iloc[:, 0]
        for row in pairs[pairs["topic"] == topic].to_dict("records"):
            expected = m[topic, row["system_a"]] - m[topic, row["system_b"]]
            assert row["difference M@preferences"] == pytest.approx(expected)


def test_with_one_query_nothing_is_cross_fitted_and_the_reason_is_said():
    """There is nothing left to fit to."""
    found = measured(study(topics=1), model=model(preferences=800.0))

    assert "M@preferences" not in set(found.agreement["measure"])
    assert any("not cross-fitted" in note for note in found.notes)
    assert math.isnan(value(found, "M@1500", column="low"))


def test_an_infinite_patience_is_no_decay(tables):
    """null in the model means that no L is large enough."""
    found = measured(tables, model=model(stops=None))

    assert value(found, "M@stops", column="patience_chars") == math.inf
    assert value(found, "M@stops") == pytest.approx(agreement_by_hand(tables, math.inf, "against"))


def test_the_curve_sweeps_from_a_sixteenth_to_sixteen_times_the_default(tables, plain):
    """33 points a convention, the default among them, each inside its band."""
    curve = plain.curve
    against = curve[curve["ties"] == "against"]

    assert against["value"].tolist() == pytest.approx([1500 * 2 ** (step / 4) for step in range(-16, 17)])
    assert (against["value"].iloc[[0, 16, -1]].to_numpy() == [1500 / 16, 1500, 1500 * 16]).all()
    known = against.dropna(subset="band_low")
    assert (known["band_low"] <= known["low"]).all()
    assert (known["high"] <= known["band_high"]).all()
    assert against["agreement"].iloc[16] == pytest.approx(agreement_by_hand(tables, 1500, "against"))


def test_pairs_have_their_votes_and_the_difference_under_every_measure(tables, plain):
    """What a scatter needs, one row a pair."""
    row = plain.pairs.iloc[0]
    m = m_from_positions(
        tables["positions"].drop(columns="task"), {f"q{n}": GIVEN for n in range(6)}, [1500]
    ).iloc[:, 0]

    assert len(plain.pairs) == 36
    assert row["votes"] == row[["votes_a", "votes_b", "equally_good", "equally_bad"]].sum() == 8
    assert row["vote_share"] == (row["votes_a"] + (row["equally_good"] + row["equally_bad"]) / 2) / 8
    assert row["difference M@1500"] == pytest.approx(
        m[row["topic"], row["system_a"]] - m[row["topic"], row["system_b"]]
    )


def test_a_band_holds_more_than_its_points_under_every_convention(plain):
    """Also where people count as a sample: a band that is narrower than an interval would hold nothing."""
    known = plain.curve.dropna(subset=["low", "band_low"])

    assert set(known["ties"]) == {"against", "half", "drop", "weighted"}
    assert (plain.curve["low"].isna() == plain.curve["band_low"].isna()).all()
    assert (known["band_low"] <= known["low"] + 1e-12).all()
    assert (known["band_high"] >= known["high"] - 1e-12).all()


def test_comparisons_are_of_every_two_measures_and_corrected_together(tables):
    """Holm over the task's table, never below the plain p."""
    found = measured(tables, model=model(stops=300.0)).comparisons

    couples = {frozenset(couple) for couple in zip(found["measure"], found["against"], strict=True)}
    measures = ("M@1500", "M@1500 uniform P", "M@stops")
    assert couples == {frozenset(couple) for couple in itertools.combinations(measures, 2)}
    known = found.dropna(subset="p_t")
    assert (known["p_holm"] >= known["p_t"]).all()


def test_preferences_with_nothing_but_the_required_columns_are_enough(tables):
    """Logs from elsewhere have no judgment ids, times or languages."""
    needed = ["worker", "task", "topic", "pair", "system_left", "system_right", "choice"]
    bare = table("preferences", tables["preferences"][needed])

    found = measured(tables | {"preferences": bare})

    assert value(found, "M@1500") == pytest.approx(agreement_by_hand(tables, 1500, "against"))
    assert math.isnan(value(found, "M@1500", column="mean_decision_seconds"))


def test_a_summary_that_meets_nothing_scores_zero(tables):
    """Its run is known from study.json although it has no row in positions."""
    positions = tables["positions"]
    bare = tables | {"positions": positions[positions["system"] != "delta"]}
    runs = {system: NamedFile(path=Path("nowhere.xml")) for system in SYSTEMS}
    sources = {TASK: TaskSources(kind="summary_pairs", systems=runs)}

    pairs = measured(bare, sources=sources).pairs.set_index(["topic", "system_a", "system_b"])
    m = m_from_positions(positions.drop(columns="task"), {f"q{n}": GIVEN for n in range(6)}, [1500]).iloc[
        :, 0
    ]

    assert pairs.loc[("q0", "alpha", "delta"), "difference M@1500"] == pytest.approx(m["q0", "alpha"])
    with pytest.raises(InputError, match="judged without a run: delta"):
        measured(bare)


def test_the_seed_alone_decides_every_draw(tables):
    """The same tables and seed give the same numbers."""
    one, other = (agree(ScoreSources(tables=tables), seed=7) for _ in range(2))

    pd.testing.assert_frame_equal(one.agreement, other.agreement)
    pd.testing.assert_frame_equal(one.curve, other.curve)


def test_the_measure_that_made_the_preferences_agrees_most():
    """Truth L = 400: the cross-fitted patience beats the default, and M without decay."""
    tables = study(3, topics=20, workers=10, patience=400.0)
    found = measured(tables, model=model(preferences=400.0))
    curve = found.curve[found.curve["ties"] == "against"]

    assert value(found, "M@preferences") > curve["agreement"].iloc[-1]
    assert value(found, "M@preferences") > value(found, "M@1500")
