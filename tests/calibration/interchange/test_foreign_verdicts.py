"""Verdicts that others made are recognised by what stands in their columns; what cannot be told apart is asked."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.interchange.verdicts import VerdictRules, read_foreign_verdicts
from metrics.errors import InputError

SYSTEMS = {"q1": {"A1", "B1", "C1"}, "q2": {"A1", "B1", "C1"}, "q3": {"A1", "B1"}}


def read(tmp_path, text, **rules):
    path = tmp_path / "verdicts.csv"
    path.write_text(text, encoding="utf-8")
    return read_foreign_verdicts(path, SYSTEMS, VerdictRules(**rules))


def rows(found):
    frame = found.rows.astype(object)
    return frame.where(frame.notna(), None).to_numpy().tolist()


def faults(tmp_path, text, **rules):
    with pytest.raises(InputError) as raised:
        read(tmp_path, text, **rules)
    return [str(fault).partition("verdicts.csv:")[2] for fault in raised.value.faults]


BOTH = [["q1", "A1", "B1", "left", None, 1], ["q2", "C1", "B1", "equally_good", None, 1]]


@pytest.mark.parametrize(
    "text",
    [
        "topic,first,second,verdict\nq1,A1,B1,first\nq2,C1,B1,tie\n",
        "verdict;who;x;y\nA1;q1;A1;B1\n=;q2;C1;B1\n",
        "q1 A1 B1 A1\nq2 C1 B1 =\n",
        "query\ta\tb\twinner\r\nq1\tA1\tB1\ta\r\nq2\tC1\tB1\tequally_good\r\n",
        "topic,right,left,verdict\nq1,B1,A1,left\nq2,B1,C1,tie\n",
    ],
)
def test_columns_are_told_by_what_stands_in_them(tmp_path, text):
    """Whatever they are called, in whatever order, with a header or without; named sides are heeded."""
    assert rows(read(tmp_path, text)) == BOTH


def test_strengths_are_read_where_there_is_such_a_column(tmp_path):
    """By its header or where it is named; one that does not fit its verdict is refused with its line."""
    text = "topic,a,b,verdict,strength\nq1,A1,B1,A1,2\nq2,C1,B1,tie,0\nq3,A1,B1,,\n"
    assert read(tmp_path, text).rows["strength"].fillna(-1).tolist() == [2, 0, -1]
    named = read(tmp_path, "q1 A1 B1 A1 3\n", columns=("topic", "left", "right", "verdict", "strength"))
    assert named.rows["strength"].tolist() == [3]
    for odd in ("q1,A1,B1,A1,0", "q1,A1,B1,tie,1", "q1,A1,B1,,1", "q1,A1,B1,A1,4", "q1,A1,B1,A1,x"):
        [fault] = faults(tmp_path, f"topic,a,b,verdict,strength\n{odd}\n")
        assert fault.startswith("2: strength is neither 1 to 3 beside a side nor 0 beside a tie")


def test_contradictions_are_kept_and_pairs_asked_again_are_repeats_in_the_order_of_the_file(tmp_path):
    """As of verdicts over both orders; the columns' order is not that of the sides."""
    found = read(tmp_path, "topic,first,second,verdict\nq1,A1,B1,first\nq1,B1,A1,contradicts\nq1,A1,B1,\n")

    assert [row[3:] for row in rows(found)] == [
        ["left", None, 1],
        ["contradicts", None, 2],
        ["no_answer", None, 3],
    ]
    assert any("over both orders" in note for note in found.notes)
    assert any(note.startswith("2 verdicts on 1 pair that had one before") for note in found.notes)


SHOWN = "topic,a,b,verdict,order\nq1,A1,B1,a,1\nq1,B1,A1,a,2\n"
FIXED = "topic,a,b,verdict,order\nq1,A1,B1,A1,1\nq1,A1,B1,A1,2\n"


def test_sides_follow_from_the_order_where_pairs_stand_in_both(tmp_path):
    """Columns that were exchanged with the order are as shown; others are the same in both."""
    assert rows(read(tmp_path, SHOWN)) == [
        ["q1", "A1", "B1", "left", 1, 1],
        ["q1", "B1", "A1", "left", 2, 1],
    ]
    assert rows(read(tmp_path, FIXED)) == [
        ["q1", "A1", "B1", "left", 1, 1],
        ["q1", "B1", "A1", "right", 2, 1],
    ]


@pytest.mark.parametrize(("verdict_is", "meant"), [("column", "right"), ("side", "left")])
def test_a_word_where_columns_stay_is_asked_for(tmp_path, verdict_is, meant):
    """In the second order `a` may be the column, or the side on which another system stood."""
    text = FIXED.replace(",A1,1", ",a,1").replace(",A1,2", ",a,2")

    assert "--verdict-is column or --verdict-is side" in faults(tmp_path, text)[0]
    assert [row[3] for row in rows(read(tmp_path, text, verdict_is=verdict_is))] == ["left", meant]


def test_without_an_order_the_columns_say_none_unless_the_user_does(tmp_path):
    """Nothing is guessed from how systems stand in a row."""
    text = "topic,a,b,verdict\nq1,A1,B1,a\nq1,B1,A1,a\n"
    found = read(tmp_path, text)

    assert [row[4:] for row in rows(found)] == [[None, 1], [None, 2]]
    assert "1 pair stand in both orders" in found.notes[0]
    assert [row[4:] for row in rows(read(tmp_path, text, sides="shown"))] == [[1, 1], [2, 1]]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("topic,a,b,verdict\nq1,A1,B1,A1\nq1,A1,B1,better\nq2,A1,B1,better\n", "3: unknown verdict 'better' (2 rows, the first here)"),
        ("topic,a,b,verdict,order\nq1,A1,B1,a,1\nq1,A1,B1,a,3\n", "3: order is neither 1 nor 2"),
        ("topic,a,b,verdict,order\nq1,A1,B1,a,2\n", "2: there is an order, and the rows do not tell whether the two systems stand as shown"),
        ("topic,a,b,verdict,repeat\nq1,A1,B1,a,1\nq1,B1,A1,a,1\nq1,A1,B1,a,1\n", "3: the same pair, order and repeat occur in an earlier row (2 rows, the first here)"),
        ("qid,x,y,said,n\nq1,A1,B1,better,1\nq2,C1,B1,worse,1\n", "2: qid, x, y hold topics and systems, but no column a verdict that is understood; say which column it is, as in --columns topic,left,right,verdict,-"),
        ("topic,a,b,verdict\nx,y,z,a\n", "2: no columns hold topics and systems of the tables"),
        ("x,a,b,d\nq1,A1,B1,B1\nq2,B1,A1,A1\n", "2: several columns may be topic, the two systems and the verdict"),
        ("topic,a,b,verdict\nq1,A1,B1\n", "2: fields expected: 4"),
        ("topic,a,b,verdict,order\nq1,A1,B1,contradicts,1\nq1,B1,A1,b,2\n", "2: verdicts are said to contradict each other over both orders, and each has an order"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_or_told_is_one_line_with_the_count(tmp_path, text, fault):
    """And how to say it."""
    [found] = faults(tmp_path, text)
    assert found.startswith(fault)


def test_columns_can_be_named(tmp_path):
    """In the order of the file; what is not read is a hyphen; a wrong name is a fault."""
    text = "q1,A1,B1,B1,x,m-1\nq2,B1,A1,A1,y,m-1\n"
    found = read(tmp_path, text, columns=("topic", "left", "verdict", "right", "-", "model"))

    assert [row[1:4] for row in rows(found)] == [["A1", "B1", "right"], ["B1", "A1", "right"]]
    assert found.models == ("m-1",)
    assert "there is no 'wrong'" in faults(tmp_path, text, columns=("topic", "left", "wrong", "right"))[0]


def test_a_missing_order_is_said_with_the_count(tmp_path):
    """These verdicts are kept; which side stood where is not known of them."""
    found = read(tmp_path, SHOWN + "q2,A1,B1,a,\n")

    assert found.rows["order"].isna().sum() == 1
    assert found.notes == ("1 row without an order, the first on line 4",)


VERDICT = st.tuples(
    st.sampled_from(sorted(SYSTEMS)), st.booleans(), st.sampled_from(["A1", "B1", "tie", "no_answer"])
)


@given(
    said=st.lists(VERDICT, min_size=1, max_size=8, unique_by=lambda each: each[:2]),
    fixed=st.booleans(),
    names=st.permutations(range(5)),
)
def test_a_system_that_is_preferred_is_preferred_however_it_is_written(said, fixed, names, tmp_path_factory):
    """In any order of columns; sides as shown or the same in both orders: votes for a system and its side are the same."""
    tmp_path = tmp_path_factory.mktemp("said")
    said = [*said, ("q1", False, "A1"), ("q1", True, "B1")]
    said = list({each[:2]: each for each in said}.values())
    lines = []
    for topic, is_second, verdict in said:
        sides = ["B1", "A1"] if is_second and not fixed else ["A1", "B1"]
        cells = [topic, *sides, verdict, str(1 + is_second)]
        lines.append(",".join(cells[place] for place in names))
    header = ["topic", "a", "b", "verdict", "order"]
    text = "\n".join([",".join(header[place] for place in names), *lines, ""])
    found = read(tmp_path, text, verdict_is="system").rows

    for (topic, is_second, verdict), row in zip(said, found.itertuples(), strict=True):
        assert (row.topic, row.order, row.system_left) == (topic, 1 + is_second, "B1" if is_second else "A1")
        meant = {row.system_left: "left", row.system_right: "right", "tie": "equally_good"}
        assert row.choice == meant.get(verdict, "no_answer")
    assert isinstance(found, pd.DataFrame)


@pytest.mark.parametrize("sides", [None, "shown", "fixed"])
def test_where_all_is_of_the_first_order_nobody_is_asked_how_sides_stand(tmp_path, sides):
    """The columns are as shown either way."""
    found = read(tmp_path, "topic,a,b,verdict,order\nq1,A1,B1,a,1\nq2,C1,B1,b,1\n", sides=sides)
    assert rows(found) == [["q1", "A1", "B1", "left", 1, 1], ["q2", "C1", "B1", "right", 1, 1]]
