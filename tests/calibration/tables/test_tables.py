"""The tables' definitions: a contract with logs from elsewhere, and the rules that rows keep."""

import pandas as pd
import pytest

from calibration.tables.definition import ColumnType
from calibration.tables.files import check_frame, checked_tables
from calibration.tables.tables import TABLES
from metrics.errors import InputError

REQUIRED = {
    "workers": "worker",
    "preferences": "task topic system_left system_right choice",
    "criteria": "judgment criterion choice",
    "intents": "topic intent",
    "intent_votes": "worker topic intent",
    "importance": "worker topic intent iunit rating",
    "searches": "worker topic seconds",
    "answers": "worker question value",
    "follows": "worker topic started_at ended_at",
    "visits": "worker topic start end end_reason",
    "prompts": "worker topic sent_at",
    "activity": "worker topic page at kind",
    "reads": "worker topic page item kind words dwell_seconds",
    "stops": "worker topic chars_read text_chars reached_end",
    "lateness": "worker topic nugget visits_late useful",
    "media": "task topic system media",
    "positions": "topic system intent iunit importance offset_chars",
    "push_cells": "topic system gain nonrelevant_eventful silent_eventful nonrelevant_silent silent_silent",
}


def problems(table: str, *rows: dict[str, object]) -> list[str]:
    """Return each fault of rows that stand in one table."""
    try:
        check_frame(pd.DataFrame(rows), TABLES[table])
    except InputError as error:
        return [fault.problem for fault in error.faults]
    return []


def test_what_a_table_requires_is_a_contract():
    """Others write these files: a new required column would break their logs."""
    assert {name: " ".join(table.required_names) for name, table in TABLES.items()} == REQUIRED


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_every_table_and_column_says_in_a_sentence_what_it_is(table):
    """The definitions are the documentation; docs/tables.md is made of them."""
    assert table.doc.endswith(".")
    assert all(column.doc.endswith(".") for column in table.columns)


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_a_definition_is_consistent(table):
    """Names stand once, keys are columns, and only texts have choices and only numbers bounds."""
    assert len(set(table.column_names)) == len(table.columns)
    assert set(table.key) <= set(table.column_names)
    for column in table.columns:
        numeric = column.kind in (ColumnType.NUMBER, ColumnType.INTEGER)
        assert not column.choices or column.kind is ColumnType.TEXT
        assert numeric or (column.low is None and column.high is None)


def test_an_empty_table_has_every_column_in_its_type():
    """Stages take a missing table for an empty one."""
    empty = TABLES["visits"].empty()

    assert tuple(empty.columns) == TABLES["visits"].column_names
    pd.testing.assert_frame_equal(check_frame(empty, TABLES["visits"]), empty)


JUDGMENT = {
    "judgment": "j1",
    "worker": "w",
    "task": "t",
    "topic": "q",
    "pair": "p",
    "system_left": "A",
    "system_right": "B",
    "choice": "left",
}


def test_a_system_is_not_compared_with_itself():
    """Such a row tells nothing about systems."""
    assert problems("preferences", JUDGMENT | {"system_right": "A"}) == [
        "system_left and system_right are the same system"
    ]


def test_a_validation_repeat_names_a_judgment_of_the_table():
    """Otherwise consistency would silently be computed on fewer repeats."""
    repeat = JUDGMENT | {"judgment": "j2", "validation_of": "j1"}

    assert problems("preferences", JUDGMENT, repeat) == []
    assert problems("preferences", JUDGMENT, repeat | {"validation_of": "j9"}) == [
        "validation_of names no judgment of this table"
    ]


@pytest.mark.parametrize("table", ["preferences", "criteria"])
def test_a_side_has_a_strength_and_a_tie_has_none(table):
    """A signed strength could not be told otherwise; without grades the cell stays empty."""
    rows = [("left", 1), ("right", 3), ("equally_good", 0), ("equally_bad", None), ("left", None)]
    odd = [("left", 0), ("equally_good", 2)]
    judged = [
        JUDGMENT | {"judgment": f"j{number}", "criterion": "correct", "choice": choice, "strength": strength}
        for number, (choice, strength) in enumerate([*rows, *odd])
    ]

    assert problems(table, *judged[: len(rows)]) == []
    assert (
        problems(table, *judged)
        == ["strength is 0 of a choice for a side, or above 0 of a choice for neither"] * 2
    )
    assert problems(table, judged[0] | {"strength": 4}) == ["strength: 4 is out of range"]


def test_a_repeat_is_of_no_gold_pair():
    """A gold pair counts nowhere, so that what repeats it would repeat nothing."""
    gold, repeat = JUDGMENT | {"gold": "right"}, JUDGMENT | {"judgment": "j2", "validation_of": "j1"}

    assert problems("preferences", gold, JUDGMENT | {"judgment": "j2"}) == []
    for rows in ([gold, repeat], [JUDGMENT, repeat | {"gold": "left"}]):
        assert problems("preferences", *rows) == ["it is a repeat, and it or what it repeats is a gold pair"]


def test_a_criterion_is_asked_with_a_judgment_and_once():
    """Otherwise an answer would be lost in silence, or count twice."""
    row = {"judgment": "j1", "criterion": "correct", "choice": "left"}
    tables = {
        "preferences": pd.DataFrame([JUDGMENT]),
        "criteria": pd.DataFrame([row, row | {"judgment": "j9"}]),
    }

    assert problems("criteria", row, row) == ["the same judgment, criterion as line 2"]
    for given in (tables, {"criteria": tables["criteria"][1:]}):
        with pytest.raises(InputError, match="judgment names no judgment of table preferences") as caught:
            checked_tables(given)
        assert len(caught.value.faults) == 1


FOLLOW = {
    "worker": "w",
    "topic": "q",
    "started_at": "2026-03-01T00:00:00Z",
    "ended_at": "2026-03-08T00:00:00Z",
}


def test_a_follow_ends_after_it_starts():
    """A negative time followed would enter the likelihood of away times."""
    assert problems("follows", FOLLOW) == []
    assert problems("follows", FOLLOW | {"ended_at": "2026-02-28T23:00:00Z"}) == [
        "ended_at is before started_at"
    ]


def visit(number: int, start: str, end: str, **more: object) -> dict[str, object]:
    times = {"start": f"2026-03-01T{start}Z", "end": f"2026-03-01T{end}Z"}
    return {"worker": "w", "topic": "q", "visit": number, "end_reason": "left"} | times | more


def test_visits_of_one_worker_and_topic_do_not_overlap():
    """Two tabs are one visit; the fault stands at the later one, whatever the order of the rows."""
    short, long = visit(1, "10:05:00", "10:06:00"), visit(2, "10:00:00", "10:30:00")

    assert problems("visits", short, long) == [
        "the visit starts before an earlier one of this worker and topic ended"
    ]
    assert problems("visits", short | {"topic": "r"}, long) == []


def test_an_overlap_with_a_visit_before_the_last_one_is_found():
    """A long visit may reach beyond the one that follows it."""
    rows = [
        visit(1, "10:00:00", "11:00:00"),
        visit(2, "10:10:00", "10:20:00"),
        visit(3, "10:30:00", "10:40:00"),
    ]

    assert len(problems("visits", *rows)) == 2


def test_a_visit_may_start_when_the_one_before_ends():
    """Times have milliseconds; equal ones are no overlap."""
    assert problems("visits", visit(1, "10:00:00", "10:10:00"), visit(2, "10:10:00", "10:20:00")) == []


def test_a_key_names_a_row_once():
    """The later row is at fault and says which one it repeats."""
    worker = {"worker": "w"}

    assert problems("workers", worker, {"worker": "v"}, worker, worker) == [
        "the same worker as line 2",
        "the same worker as line 2",
    ]


def test_a_key_is_compared_on_the_columns_that_are_there():
    """Follows without a column system have one row a worker and topic; with numbers in the key all goes as well."""
    assert problems("follows", FOLLOW, FOLLOW) == ["the same worker, topic as line 2"]
    assert problems("visits", visit(1, "10:00:00", "10:01:00"), visit(1, "11:00:00", "11:01:00")) == [
        "the same worker, topic, visit as line 2"
    ]


def test_probabilities_of_a_topic_add_up_to_one_or_are_all_unknown():
    """Halved ones, or one left empty by mistake, would weigh the intents otherwise than the collection does."""

    def rows(topic, *shares):
        return [{"topic": topic, "intent": f"i{n}", "probability": p} for n, p in enumerate(shares)]

    fault = "it is the first probability of a topic whose probabilities do not add up to 1"
    assert problems("intents", *rows("a", 0.3, 0.7), *rows("b", 0.333, 0.333, 0.333)) == []
    assert problems("intents", *rows("a", None, None), *rows("b", 1.0, None)) == []
    assert (
        problems("intents", *rows("a", None, 0.7), *rows("b", 0.5, 0.5), *rows("c", 0.6, 0.6)) == [fault] * 2
    )
