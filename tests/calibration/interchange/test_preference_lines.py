"""Preferences as lines: what is written is what is read, and what each line may say."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.interchange.plain_files import preference_lines, read_preference_lines
from calibration.tables.files import checked
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
    return checked(named.assign(task="preferences", **columns), TABLES["preferences"])


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
    people = checked(workers, TABLES["workers"])

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
