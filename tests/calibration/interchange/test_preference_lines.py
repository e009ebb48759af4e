"""Preferences as lines: what is written is what is read, and what each line may say."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.interchange.plain_files import preference_lines, read_preference_lines
from calibration.tables.files import check_frame
from calibration.tables.tables import CHOICES, TABLES
from metrics.errors import InputError

NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), min_size=1).filter(
    lambda name: name == name.strip() and not name.startswith("#") and len(name.splitlines()) == 1
)
ROWS = st.tuples(NAMES, st.lists(NAMES, min_size=2, max_size=2, unique=True), NAMES, st.sampled_from(CHOICES))


def table(rows, **columns):
    frame = pd.DataFrame(
        [(topic, *pair, worker, choice) for topic, pair, worker, choice in rows],
        columns=["topic", "left", "right", "worker", "choice"],
    )
    named = frame.rename(columns={"left": "system_left", "right": "system_right"})
    named["judgment"] = [f"J{number}" for number in range(1, len(frame) + 1)]
    return check_frame(named.assign(task="preferences", **columns), TABLES["preferences"])


def read(tmp_path, text, **options):
    path = tmp_path / "lines.txt"
    path.write_text(text, encoding="utf-8", newline="")
    return read_preference_lines(path, **options)


@given(rows=st.lists(ROWS, min_size=1, max_size=5))
def test_what_is_written_is_read_again(tmp_path_factory, rows):
    """Sides, choices, blanks in names: all of it."""
    written = table(rows)
    path = tmp_path_factory.mktemp("lines") / "lines.txt"
    path.write_text(preference_lines(written), encoding="utf-8", newline="")

    pd.testing.assert_frame_equal(read_preference_lines(path), written)


def test_a_line_says_topic_a_b_worker_and_choice(tmp_path):
    """By tabs or blanks; = is equally good; the rest says nothing."""
    found = read(tmp_path, "# mine\n\nq1\tmy run\tother\tw 1\tb\nq2  x y w =\n", task="t")

    assert found[["topic", "system_left", "worker", "choice"]].to_numpy().tolist() == [
        ["q1", "my run", "w 1", "right"],
        ["q2", "x", "w", "equally_good"],
    ]
    assert set(found["task"]) == {"t"}


WINNER_OR_WORKER = "say which: --columns topic,left,right,winner or --columns topic,left,right,worker"
OTHER_CODES = "say --columns topic,left,right,worker if it is the worker; prefcal import reads choices of any words from a CSV with a header"
NAME_OTHER = "name a file with lines of topic a b worker choice"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "q d1 d2 d2\nq d3 d1 d3\n",
            "four fields; the fourth is one of the two systems on every line, so it may be the winner, not a worker; "
            + WINNER_OR_WORKER,
        ),
        (
            "q d1 d2 d2\nq d3 d1 =\n",
            "four fields; the fourth is one of the two systems on 1 of 2 lines, so it may be the winner, not a worker; "
            + WINNER_OR_WORKER,
        ),
        (
            "q x y a\nq x y b\n",
            "four fields; the fourth is a choice on every line, and no field says who judged; say so: --columns topic,left,right,choice",
        ),
        (
            "q x y 1\nq x z 2\n",
            "four fields; the fourth is a number on every line, so it may be a choice, a grade or a score, not a worker; "
            + OTHER_CODES,
        ),
        (
            "q x y Left\nq x z right\n",
            "four fields; the fourth is a word such as left, tie or first, so it may be a choice, a grade or a score, not a worker; "
            + OTHER_CODES,
        ),
        (
            "q 0 d1 1\nq 0 d2 0\n",
            "the second field is 0 on every line: these are judgments of documents (qrels); " + NAME_OTHER,
        ),
        (
            "q Q0 d1 w\n",
            "the second field is Q0 on every line: these are judgments of documents (qrels); " + NAME_OTHER,
        ),
        (
            "MB1 624 1438000000 tag\n",
            "the third field is a time on every line: this is a run of push notifications; " + NAME_OTHER,
        ),
        (
            "q a 3 1\nq b 4 0\n",
            "four fields; the fourth is a number on every line, so it may be a choice, a grade or a score, not a worker; "
            + OTHER_CODES,
        ),
        (
            "q x y w x\nq y x w x\n",
            (
                "five fields; the fifth is one of the two systems on every line, so it may be the winner; say so: --columns "
                "topic,left,right,worker,winner"
            ),
        ),
        (
            "q b a w a\n",
            (
                "the choice 'a' is also the system on the other side; say which: --columns topic,left,right,worker,choice or "
                "--columns topic,left,right,worker,winner"
            ),
        ),
    ],
)
def test_what_the_fields_are_is_asked_where_the_values_leave_it_open(tmp_path, text, fault):
    """Lines of other tools with as many fields: 5,574 votes of a public file were read as their opposite."""
    with pytest.raises(InputError) as raised:
        read(tmp_path, text)

    assert [str(told).split("lines.txt:1: ")[1] for told in raised.value.faults] == [fault]


@pytest.mark.parametrize(
    ("columns", "line", "expected"),
    [
        ("topic,left,right,winner", "q x y y", ["q", "x", "y", "right"]),
        ("topic,left,right,winner", "q x y =", ["q", "x", "y", "equally_good"]),
        ("topic,a,b,choice", "q x y b", ["q", "x", "y", "right"]),
        ("topic,left,right", "q x y", ["q", "x", "y", "left"]),
        ("worker,topic,left,right,winner", "w q b a a", ["q", "b", "a", "right"]),
        ("topic,left,right,worker", "q x y x", ["q", "x", "y", "left"]),
        ("topic,left,right,worker,choice", "q b a w a", ["q", "b", "a", "left"]),
    ],
)
@pytest.mark.parametrize("said", ["option", "header"])
def test_columns_are_said_by_an_option_or_by_a_header(tmp_path, columns, line, expected, said):
    """Then nothing is asked; without a worker who judged is not known."""
    names = columns.split(",")
    found = (
        read(tmp_path, line, columns=names)
        if said == "option"
        else read(tmp_path, f"{' '.join(names)}\n{line}\n")
    )
    assert found[["topic", "system_left", "system_right", "choice"]].to_numpy().tolist() == [expected]
    assert found["worker"].notna().all() == ("worker" in names)


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ("topic,left,right,votes", "there is no column 'votes'"),
        ("topic,left,winner", "there is no right among the columns"),
        ("topic,left,right,left", "a column is named twice"),
        ("topic,left,right,winner,choice", "winner and choice are one thing"),
    ],
)
def test_columns_that_say_too_little_are_refused(tmp_path, columns, problem):
    """Before a line is read."""
    with pytest.raises(InputError, match=problem):
        read(tmp_path, "q x y x\n", columns=columns.split(","))


def test_a_winner_that_is_neither_system_is_a_fault(tmp_path):
    """And so is a line with another number of fields than columns."""
    with pytest.raises(InputError) as raised:
        read(tmp_path, "q x y z\nq x y\n", columns=("topic", "left", "right", "winner"))
    assert [str(told).split("lines.txt:")[1] for told in raised.value.faults] == [
        "1: the winner is 'z'; write one of =, equally_good, equally_bad, x, y",
        "2: 4 fields expected, got 3; write topic, left, right, winner, separated by tabs",
    ]


def test_winners_of_a_public_file_are_read_as_they_are(shared):
    """TREC CAsT 2019: of 3,743 lines each names its winner."""
    path = shared / "data/cast-2019/local.pref.gz"
    with pytest.raises(InputError, match="so it may be the winner, not a worker"):
        read_preference_lines(path)
    found = read_preference_lines(path, columns=("topic", "left", "right", "winner"))
    wins = found["choice"].value_counts()
    assert wins.sum() == 3743
    assert wins["right"] > 1000


def test_four_fields_in_all_lines_say_that_a_is_preferred(tmp_path):
    """Lists of winner and loser."""
    assert list(read(tmp_path, "q1 x y w\nq2 y x v\n")["choice"]) == ["left", "left"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("q1 x y w\nq1 x y v b\n", "1: 5 fields expected, got 4"),
        ("q1 x y b\nq1 x y v b\n", "1: 'b' is a choice, and one of the fields before it is missing"),
        ("q1 x y w\nq1 x y =\n", "2: '=' is a choice, and one of the fields before it is missing"),
    ],
)
def test_a_line_that_lost_a_field_is_no_vote_for_a(tmp_path, text, fault):
    """Among lines of five, or with a choice where the worker belongs."""
    with pytest.raises(InputError) as raised:
        read(tmp_path, text)

    assert [str(told).split("lines.txt:")[1] for told in raised.value.faults] == [
        f"{fault}; write topic, a, b, worker, choice, separated by tabs"
    ]


def test_every_line_that_is_none_is_named(tmp_path):
    """All at once, with what to write."""
    with pytest.raises(InputError) as raised:
        read(tmp_path, "q x y\nq x x w a\nq x y w left\nq\t\ty\tw\ta\n")

    assert [str(fault).split("lines.txt:")[1] for fault in raised.value.faults] == [
        "1: 5 fields expected, got 3; write topic, a, b, worker, choice, separated by tabs",
        "2: 'x' is compared with itself; name two systems",
        "3: the choice is 'left'; write one of a, b, =, equally_good, equally_bad",
        "4: 'a' is a choice, and one of the fields before it is missing; write topic, a, b, worker, choice, separated by tabs",
    ]


def test_a_file_without_a_preference_is_a_fault(tmp_path):
    """Comments alone are nothing."""
    with pytest.raises(InputError, match="no preference; write lines of topic a b worker choice"):
        read(tmp_path, "# nothing\n")


def test_the_winner_comes_first_for_tools_without_ties():
    """Four fields, the tie left out."""
    rows = [
        ("q", ["x", "y"], "w", "right"),
        ("q", ["x", "y"], "v", "left"),
        ("q", ["x", "y"], "u", "equally_bad"),
    ]

    assert preference_lines(table(rows), winner_first=True) == "q\ty\tx\tw\nq\tx\ty\tv\n"


def test_repeats_and_excluded_workers_are_left_out():
    """As in every fit and agreement; --exclude none keeps the excluded, never those who withdrew."""
    rows = [("q", ["x", "y"], worker, "left") for worker in ("w", "w", "out", "gone")]
    judged = table(rows, validation_of=[None, "J1", None, None])
    workers = pd.DataFrame(
        {"worker": ["out", "gone"], "excluded": [True, False], "withdrawn_at": [None, "2026-03-01T00:00:00Z"]}
    )
    people = check_frame(workers, TABLES["workers"])

    assert preference_lines(judged, workers=people) == "q\tx\ty\tw\ta\n"
    assert preference_lines(judged, workers=people, exclude=False) == "q\tx\ty\tw\ta\nq\tx\ty\tout\ta\n"


def test_names_that_would_break_a_line_are_faults():
    """A tab in a system's name, a topic that looks like a comment."""
    with pytest.raises(InputError, match=r"system_left 'a\\tb' cannot stand in a line") as raised:
        preference_lines(table([("#1", ["a\tb", "y"], "w", "left")]))

    assert len(raised.value.faults) == 2


def test_lines_are_of_one_task():
    """They have no place to say which."""
    rows = table([("q", ["x", "y"], "w", "left"), ("q", ["x", "y"], "w", "left")])

    with pytest.raises(ValueError, match="of one"):
        preference_lines(rows.assign(task=["one", "two"]))


@pytest.mark.parametrize("line", ["t1,a b,c d,w1,left", "q,a x b,y,w", "q;a;b;w;a"])
def test_a_csv_by_mistake_is_told_on_every_line(tmp_path, line):
    """Its blanks are inside cells: four parts between them are no four fields."""
    with pytest.raises(InputError) as raised:
        read(tmp_path, f"{line}\n{line}\n")

    assert [str(fault).split("lines.txt:")[1] for fault in raised.value.faults] == [
        f"{number}: fields are separated by commas or semicolons; write tabs between them; prefcal import reads a CSV with "
        "a header"
        for number in (1, 2)
    ]
    assert read(tmp_path, "q\ta,b,c,d\ty\tw\n")["system_left"].item() == "a,b,c,d"
