"""Which judgments count, and as a vote for whom."""

from collections.abc import Iterable

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from calibration.rank.judgments import tasks_judged
from calibration.tables.files import check_frame, read_tables, write_tables
from calibration.tables.preferences import VOTES, judged_pairs, pair_votes, votes_by_pair
from calibration.tables.tables import CHOICES, TABLES


def preferences(rows: Iterable[dict[str, str]]) -> pd.DataFrame:
    named = [
        {"judgment": f"j{i}", "worker": f"w{i}", "task": "t", "topic": "q", "pair": "p"} | row
        for i, row in enumerate(rows)
    ]
    return check_frame(pd.DataFrame(named), TABLES["preferences"])


def workers(**marks: dict[str, str]) -> pd.DataFrame:
    return check_frame(pd.DataFrame([{"worker": w} | row for w, row in marks.items()]), TABLES["workers"])


def shown(left: str, right: str, choice: str, **more: str) -> dict[str, str]:
    return {"system_left": left, "system_right": right, "choice": choice} | more


def counts(votes: pd.DataFrame) -> dict[str, int]:
    return votes.loc[0, list(VOTES)].to_dict()


def test_a_choice_is_a_vote_for_the_system_that_stood_on_the_chosen_side():
    """The choice refers to the shown side; the pair's own order is the alphabet's."""
    votes = pair_votes(
        preferences([shown("B", "A", "left"), shown("A", "B", "left"), shown("B", "A", "left")])
    )

    assert (votes.loc[0, "system_a"], votes.loc[0, "system_b"]) == ("A", "B")
    assert counts(votes) == {"votes_a": 1, "votes_b": 2, "equally_good": 0, "equally_bad": 0}


def test_the_two_equal_options_are_counted_apart_and_favour_nobody():
    """Fits take them together as ties; other analyses tell them apart."""
    votes = pair_votes(preferences([shown("B", "A", "equally_good"), shown("A", "B", "equally_bad")]))

    assert counts(votes) == {"votes_a": 0, "votes_b": 0, "equally_good": 1, "equally_bad": 1}


def test_a_validation_repeat_is_no_second_vote():
    """A repeat checks the worker; counting it would weigh some workers double."""
    rows = [shown("A", "B", "left"), shown("B", "A", "right", worker="w0", validation_of="j0")]

    assert counts(pair_votes(preferences(rows)))["votes_a"] == 1


def test_excluded_and_withdrawn_workers_do_not_vote():
    """Excluded ones vote again with exclude=False; a consent taken back stays taken back."""
    rows = preferences([shown("A", "B", "left"), shown("A", "B", "left"), shown("A", "B", "left")])
    marks = workers(w1={"excluded": "true"}, w2={"withdrawn_at": "2026-03-01T10:00:00.000Z"})

    assert counts(pair_votes(rows, workers=marks))["votes_a"] == 1
    assert counts(pair_votes(rows, workers=marks, exclude=False))["votes_a"] == 2


def test_a_worker_in_no_workers_row_counts():
    """Tables from elsewhere may have no workers table, or an incomplete one."""
    assert counts(pair_votes(preferences([shown("A", "B", "right")]), workers=workers(x={})))["votes_b"] == 1


def test_one_couple_is_one_pair_even_under_two_ids():
    """Logs from elsewhere may number each order of the sides."""
    votes = pair_votes(preferences([shown("A", "B", "left", pair="2"), shown("B", "A", "left", pair="1")]))

    assert votes["pair"].to_list() == ["1"]


def test_the_same_systems_on_another_topic_or_task_are_another_pair():
    """Preferences are per topic; a task may compare the same systems in another form."""
    rows = [shown("A", "B", "left"), shown("A", "B", "left", topic="r"), shown("A", "B", "left", task="u")]

    assert len(pair_votes(preferences(rows))) == 3


def test_no_judgments_give_no_pairs_in_the_same_columns():
    """An empty table flows through like any other."""
    empty = pair_votes(TABLES["preferences"].empty())

    assert list(empty.columns) == ["task", "topic", "pair", "system_a", "system_b", *VOTES]
    assert len(empty) == 0


judgment = st.builds(
    lambda systems, choice, topic: shown(*systems, choice, topic=topic),
    st.permutations("ABC").map(lambda systems: systems[:2]),
    st.sampled_from(CHOICES),
    st.sampled_from("qr"),
)
SWAPPED = {"left": "right", "right": "left"}


@given(st.lists(judgment, min_size=1, max_size=30))
def test_swapping_sides_and_choice_changes_nothing(rows):
    """Which side a system stood on carries no meaning once the choice is resolved."""
    mirrored = [
        row
        | {
            "system_left": row["system_right"],
            "system_right": row["system_left"],
            "choice": SWAPPED.get(row["choice"], row["choice"]),
        }
        for row in rows
    ]

    there, back = (judged_pairs(preferences(each)).drop(columns="is_swapped") for each in (rows, mirrored))
    pd.testing.assert_frame_equal(there, back)


@given(st.lists(judgment, min_size=1, max_size=30))
def test_every_judgment_is_counted_once(rows):
    """The worker-level rows and the counts tell the same story."""
    table = preferences(rows)

    assert pair_votes(table)[list(VOTES)].to_numpy().sum() == len(judged_pairs(table)) == len(rows)


def test_texts_and_categories_count_the_same(tmp_path):
    """A large table is read with its names as categories; systems may have stood on one side alone."""
    rows = [
        shown("B", "A", "left", worker="w2", topic="r"),
        shown("C", "A", "right", worker="w1", topic="r"),
        shown("B", "A", "equally_bad", worker="w1"),
        shown("C", "B", "equally_good", worker="w3", task="u"),
        shown("A", "B", "right", worker="w1", validation_of="j2"),
    ]
    write_tables({"preferences": preferences(rows), "workers": workers(w3={"excluded": "true"})}, tmp_path)
    texts, compact = (read_tables(tmp_path, compact=names) for names in ((), ["preferences"]))

    assert compact["preferences"]["system_left"].dtype == "category"
    pd.testing.assert_frame_equal(
        compact["preferences"].astype(texts["preferences"].dtypes), texts["preferences"]
    )
    for exclude in (True, False):
        judged = [
            judged_pairs(one["preferences"], workers=one["workers"], exclude=exclude)
            for one in (texts, compact)
        ]
        pd.testing.assert_frame_equal(judged[1].astype(judged[0].dtypes), judged[0])
        pd.testing.assert_frame_equal(votes_by_pair(judged[1]), votes_by_pair(judged[0]))
        ours, theirs = (
            [(one.systems, one.left.tolist()) for one in tasks_judged(tables, exclude=exclude)]
            for tables in (texts, compact)
        )
        assert ours == theirs
