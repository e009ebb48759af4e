"""What people answered, and how the exclusion rule sees them, as the tables say it."""

from datetime import timedelta

import pandas as pd
import pytest

from study_app.export import export_study
from tests.study_app.stored_study import COLLECTION, LATER, NOON


def records(table, *columns):
    return list(table[list(columns)].itertuples(index=False, name=None))


def test_the_newest_revision_counts_and_is_numbered(stored, exported):
    """Who goes back and changes an answer means the later one."""
    showing = stored.showing(stored.slot(stored.worker("ann")), "good", "flat")
    stored.judge(showing, "left")
    stored.judge(showing, "equally_bad", revision=2)

    preferences = exported()["preferences"]

    assert records(preferences, "choice", "revision") == [("equally_bad", 2)]


def test_a_judgment_says_who_saw_what_where_and_for_how_long(stored, exported):
    """Every column that this kind of study fills."""
    showing = stored.showing(stored.slot(stored.worker("ann")), "flat", "good")
    stored.judge(showing, "right", late=True)

    (row,) = exported()["preferences"].to_dict("records")

    assert {name: value for name, value in row.items() if pd.notna(value)} == {
        "judgment": "ann.1.1",
        "worker": "ann",
        "task": "pairs",
        "topic": "MC-1",
        "pair": "MC-1:good~flat",
        "system_left": "flat",
        "system_right": "good",
        "choice": "right",
        "shown_at": NOON + timedelta(minutes=10),
        "decided_at": NOON + timedelta(minutes=10, seconds=12.5),
        "decision_seconds": 12.5,
        "position": 1,
        "layout": "stacked",
        "timing": "browser",
        "language": "en",
        "revision": 1,
        "late": True,
    }  # fmt: skip


def test_positions_run_over_all_queries_of_a_task(stored, exported):
    """The third pair of somebody who does two queries may be the first of the second query."""
    worker = stored.worker("ann")
    for topic in ("MC-1", "MC-2"):
        slot = stored.slot(worker, topic=topic)
        for left, right in (("good", "flat"), ("flat", "none")):
            stored.judge(stored.showing(slot, left, right), "left")

    assert records(exported()["preferences"], "topic", "position") == [
        ("MC-1", 1), ("MC-1", 2), ("MC-2", 3), ("MC-2", 4)
    ]  # fmt: skip


def test_a_repeat_names_the_judgment_it_repeats(stored, exported):
    """So that fits can leave it out and consistency can be judged."""
    slot = stored.slot(stored.worker("ann"))
    first = stored.showing(slot, "good", "flat")
    stored.judge(first, "left")
    stored.judge(stored.showing(slot, "flat", "good", repeats=first), "right")

    assert records(exported()["preferences"], "judgment", "pair", "validation_of") == [
        ("ann.1.1", "MC-1:good~flat", pytest.approx(float("nan"), nan_ok=True)),
        ("ann.1.2", "MC-1:good~flat", "ann.1.1"),
    ]


def test_those_who_did_not_finish_count_and_those_who_withdrew_do_not(stored, exported):
    """Every stored judgment counts until its giver takes the consent back; then only the fact remains."""
    for name, left_at in (("ann", None), ("bob", LATER)):
        worker = stored.worker(name, withdrawn_at=left_at)
        stored.judge(stored.showing(stored.slot(worker), "good", "flat"), "left")
        stored.vote(stored.slot(worker, task="votes"), ["I1"])

    tables = exported(raw=True)

    assert records(tables["workers"], "worker", "withdrawn_at")[1] == ("bob", LATER)
    assert tables["workers"]["mean_search_seconds"].isna().tolist() == [False, True]
    for name in ("preferences", "intent_votes", "searches"):
        assert set(tables[name]["worker"]) == {"ann"}, name


def test_who_never_consented_is_in_no_table(stored, exported):
    """Nothing of them may be passed on, not even that they came."""
    stored.worker("ann", consented_at=None)

    assert exported()["workers"].empty


def test_a_ballot_is_a_row_a_tick_and_an_empty_one_a_row_without_intent(stored, exported):
    """The number of people asked is the denominator; who ticked nothing was asked too."""
    stored.vote(stored.slot(stored.worker("ann"), task="votes"), ["I1", "I2"])
    bob = stored.slot(stored.worker("bob"), task="votes")
    stored.vote(bob, ["I2"])
    stored.vote(bob, [], revision=2)
    stored.slot(stored.worker("cat"), task="votes")

    votes = exported()["intent_votes"]

    assert records(votes.fillna("none"), "worker", "topic", "intent") == [
        ("ann", "MC-1", "I1"), ("ann", "MC-1", "I2"), ("bob", "MC-1", "none")
    ]  # fmt: skip


def test_every_intent_stands_once_whether_ticked_or_not(exported):
    """Two tasks offer the same queries here; P(i|q) is the collection's."""
    assert records(exported()["intents"], "topic", "intent", "probability") == [
        ("MC-1", "I1", 0.75), ("MC-1", "I2", 0.25), ("MC-2", "I3", 1)
    ]  # fmt: skip
    assert COLLECTION["probability.tsv"].count("\n") == 3


def test_a_search_that_was_not_left_has_no_row(stored, exported):
    """Its length is not known."""
    stored.slot(stored.worker("ann"), search_seconds=211.5)
    stored.slot(stored.worker("bob"), search_seconds=None)

    assert records(exported()["searches"], "worker", "topic", "seconds") == [("ann", "MC-1", 211.5)]


def test_positions_are_those_of_the_loaded_collection(exported):
    """Offsets in counted characters; each with the name of its task."""
    positions = exported()["positions"]

    met = positions[(positions["system"] == "good") & (positions["intent"] == "I2")]
    assert records(met, "task", "topic", "iunit", "importance", "offset_chars") == [
        ("pairs", "MC-1", "U1", 0, 13), ("pairs", "MC-1", "U3", 3, 33), ("pairs", "MC-1", "U2", 0, 52)
    ]  # fmt: skip


def judged_twice(stored, name, *answers, search_seconds=240):
    """A worker with pairs (first answer, answer to the repeat with sides swapped)."""
    slot = stored.slot(stored.worker(name), search_seconds=search_seconds)
    for first_answer, second_answer in answers:
        first = stored.showing(slot, "good", "flat")
        stored.judge(first, first_answer)
        stored.judge(stored.showing(slot, "flat", "good", repeats=first), second_answer)


def test_consistent_is_the_same_system_or_an_equal_option_both_times(stored, exported):
    """Left, then right with sides swapped, is the same system; good and bad are both equal."""
    judged_twice(stored, "ann", ("left", "right"), ("equally_good", "equally_bad"), ("left", "left"))

    (row,) = exported()["workers"].to_dict("records")

    assert row["consistency"] == pytest.approx(2 / 3)
    assert row["excluded"] is False


def test_the_rule_excludes_short_searches_and_inconsistent_answers_and_says_which(stored, exported):
    """200 s on average, 40 % of at least three repeats; the version of the rule stands beside the reason."""
    wrong = ("left", "left")
    judged_twice(stored, "ann", search_seconds=199.9)
    judged_twice(stored, "bob", wrong, wrong, ("left", "right"))
    judged_twice(stored, "cat", wrong, wrong)
    judged_twice(stored, "dan", wrong, wrong, wrong, search_seconds=150)

    workers = exported()["workers"].fillna({"reason": ""})

    assert records(workers, "worker", "excluded", "reason") == [
        ("ann", True, "rule 2: search"),
        ("bob", True, "rule 2: consistency"),
        ("cat", False, ""),
        ("dan", True, "rule 2: search, consistency"),
    ]


def test_a_workers_row_says_how_their_part_ended_and_which_flags_are_up(stored, exported):
    """Nobody is excluded for a flag; who is still at work has ended in no way."""
    stored.worker("ann", completed_at=LATER)
    stored.worker("bob", stopped_at=LATER, stopped_as="failed_checks")
    stored.worker("cat", completed_at=NOON, withdrawn_at=LATER)
    slot = stored.slot(stored.worker("dan"))
    for _ in range(8):
        stored.judge(stored.showing(slot, "good", "flat"), "left", seconds=2)

    assert records(
        exported()["workers"].fillna({"ended_as": "", "flags": ""}), "worker", "ended_as", "excluded", "flags"
    )[::3] == [("ann", "complete", False, ""), ("dan", "", False, "dwell, straight_lining")]
    assert exported()["workers"]["ended_as"].tolist()[1:3] == ["failed_checks", "withdrawn"]


def test_repeats_and_changed_answers_count_for_straight_lining_only(stored, exported):
    """A pair may be recognised, and the time of a change is not that of looking."""
    slot = stored.slot(stored.worker("ann"))
    quick = [stored.showing(slot, "good", "flat") for _ in range(2)]
    changed = [stored.showing(slot, "good", "none") for _ in range(3)]
    for showing in [*quick, *(stored.showing(slot, "flat", "none", repeats=quick[0]) for _ in range(3))]:
        stored.judge(showing, "left", seconds=1)
    for showing in changed:
        stored.judge(showing, "right", seconds=1)
        stored.judge(showing, "left", seconds=1, revision=2)

    assert exported()["workers"]["flags"].tolist() == ["straight_lining"]


def test_the_mean_search_is_over_all_queries(stored, exported):
    """180 s and 240 s are 210 s: not excluded."""
    worker = stored.worker("ann")
    stored.slot(worker, topic="MC-1", search_seconds=180)
    stored.slot(worker, topic="MC-2", search_seconds=240)

    assert records(exported()["workers"], "mean_search_seconds", "excluded") == [(210, False)]


def test_the_summary_counts_people_and_repeats(stored, tmp_path):
    """The four-option rate stands beside the one that excludes: here 1 of 3 against 2 of 3."""
    judged_twice(stored, "ann", ("left", "right"), ("equally_good", "equally_bad"), ("left", "left"))
    judged_twice(stored, "bob", search_seconds=10)
    stored.worker("cat", completed_at=LATER)
    stored.worker("dan", completed_at=NOON, withdrawn_at=LATER)

    summary = export_study(stored.session, stored.study, tmp_path / "tables", now=LATER)

    assert (summary.workers, summary.completed, summary.withdrawn, summary.excluded) == (4, 1, 1, 1)
    assert (summary.validations, summary.consistent, summary.same_option) == (3, 2, 1)
