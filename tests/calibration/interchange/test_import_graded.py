"""Graded answers of other tools: scales in one column, or side and strength in two."""

import pandas as pd
import pytest

import prefcal
from calibration.interchange.plain_files import read_preference_lines
from metrics.errors import InputError
from tests.study_app.prefcal_command import run_here

NAMED = {"topic": "q", "worker": "who", "left": "a", "right": "b", "choice": "best"}
SCALE = {"-2": "left:2", "-1": "left:1", "0": "equally_good", "1": "right:1", "2": "right:2"}


def frame(*answers, **more):
    """Return a table of a tool with these answers."""
    return pd.DataFrame({"q": "t", "who": "w", "a": "A", "b": "B", "best": list(answers), **more})


def read(source, **given):
    table = prefcal.import_preferences(source, **NAMED, **given).preferences
    return list(
        zip(
            table["choice"],
            table["strength"].astype(object).where(table["strength"].notna(), None),
            strict=True,
        )
    )


def test_a_scale_of_likert_is_read_by_what_its_answers_mean():
    """Signed numbers or words; a tie has strength 0, and no answer is no judgment."""
    given = read(frame("-2", "1", "0", "", "2"), answers=SCALE)

    assert given == [("left", 2), ("right", 1), ("equally_good", 0), ("right", 2)]


def test_a_strength_may_stand_in_a_column_of_its_own():
    """Empty where neither side is better, or nobody said how much."""
    given = read(frame("A", "B", "equally_bad", "left", strong=["1", "3", "", ""]), strength="strong")

    assert given == [("left", 1), ("right", 3), ("equally_bad", None), ("left", None)]


def test_answers_without_grades_have_no_strength():
    """The table is as it was before there were any."""
    assert read(frame("A", "equally_good")) == [("left", None), ("equally_good", None)]


@pytest.mark.parametrize(
    ("best", "strong", "answers", "said"),
    [
        (["A", "B"], ["1", "4"], {}, "frame:3: strong: '4' is no strength; write 1 to 3"),
        (["A", "B"], ["0", "1"], {}, "frame:2: strong: 0 beside the choice left"),
        (["equally_good"], ["2"], {}, "frame:2: strong: 2 beside the choice equally_good"),
        (["-2"], ["2"], SCALE, "frame:2: strong: its answer says a strength already; leave --strength out"),
        (
            ["x"],
            ["2"],
            {"x": "left:9"},
            "answer 'x' is said to mean 'left:9'; name one of left, right",
        ),
    ],
)
def test_a_strength_that_cannot_be_is_named_with_its_line(best, strong, answers, said):
    """Nothing is guessed."""
    with pytest.raises(InputError) as caught:
        prefcal.import_preferences(frame(*best, strong=strong), **NAMED, strength="strong", answers=answers)
    assert [str(fault)[: len(said)] for fault in caught.value.faults] == [said]


def test_answers_about_criteria_become_their_table(tmp_path, monkeypatch, capsys):
    """With the strengths that their answers say; of rows with an overall answer, and where there is one about the criterion."""
    table = frame("-2", "", "1", correct=["-1", "2", ""], short=["A", "B", "equally_good"])
    read = prefcal.import_preferences(
        table, **NAMED, answers=SCALE, criteria={"right": "correct", "short": "short"}
    )
    asked = read.criteria

    assert read.preferences["judgment"].tolist() == ["J1", "J2"]
    assert asked[["judgment", "criterion", "choice"]].to_numpy().tolist() == [
        ["J1", "right", "left"],
        ["J1", "short", "left"],
        ["J2", "short", "equally_good"],
    ]
    assert asked["strength"].tolist()[0] == 1
    assert asked["strength"][1:].isna().all()
    assert prefcal.import_preferences(table, **NAMED, answers=SCALE).criteria is None

    table.to_csv(tmp_path / "survey.csv", index=False)
    options = [word for name, column in NAMED.items() for word in (f"--{name}", column)]
    options += [f"--answer={said}={meant}" for said, meant in SCALE.items()]
    options += ["--criterion", "right=correct", "--criterion", "short=short", "-o", tmp_path / "tables"]
    ended = run_here(monkeypatch, capsys, "import", tmp_path / "survey.csv", *options)
    assert ended.out.strip().endswith("2 preferences, 3 answers about criteria, 1 without an answer")
    assert len(pd.read_csv(tmp_path / "tables" / "criteria.csv")) == 3

    without = [word for word in options if word not in {"--criterion", "right=correct", "short=short"}]
    again = run_here(monkeypatch, capsys, "import", tmp_path / "survey.csv", *without)
    assert again.code == 1
    assert "these answers about criteria are of the preferences that would be replaced" in again.err


def test_an_unknown_answer_about_a_criterion_is_named_with_its_column():
    """And a column that is not there."""
    with pytest.raises(InputError, match="correct: unknown choice 'maybe'"):
        prefcal.import_preferences(frame("A", correct=["maybe"]), **NAMED, criteria={"right": "correct"})
    with pytest.raises(InputError, match="correctness"):
        prefcal.import_preferences(frame("A"), **NAMED, criteria={"right": "correctness"})


def test_lines_may_say_how_much_better(tmp_path):
    """By a header or named columns; the winner or the choice beside it."""
    named = "topic\tleft\tright\tworker\twinner\tstrength\nq\tA\tB\tw\tB\t2\nq\tA\tB\tv\t=\t0\n"
    (tmp_path / "named.txt").write_text(named)
    (tmp_path / "plain.txt").write_text("q\tA\tB\ta\t1\nq\tA\tB\tb\t3\n")
    columns = ["topic", "left", "right", "choice", "strength"]
    first, second = (
        read_preference_lines(tmp_path / "named.txt"),
        read_preference_lines(tmp_path / "plain.txt", columns=columns),
    )

    assert first[["choice", "strength"]].to_numpy().tolist() == [["right", 2], ["equally_good", 0]]
    assert second[["choice", "strength"]].to_numpy().tolist() == [["left", 1], ["right", 3]]
    (tmp_path / "plain.txt").write_text("q\tA\tB\ta\t0\nq\tA\tB\tb\t4\nq\tA\tB\t=\t1\n")
    with pytest.raises(InputError) as caught:
        read_preference_lines(tmp_path / "plain.txt", columns=columns)
    assert [(fault.line, fault.problem) for fault in caught.value.faults] == [
        (1, "the strength is '0'"),
        (2, "the strength is '4'"),
        (3, "the strength is '1'"),
    ]


def test_strengths_go_through_lines_and_come_back(tmp_path, monkeypatch, capsys):
    """Below a line that names the fields; one that is not known stays so, and what has no place is said."""
    said = frame("A", "B", "equally_bad", "left", strong=["1", "3", "", ""])
    tables = prefcal.import_preferences(said, **NAMED, strength="strong").preferences
    tables["judgment"] = ["J1", "J2", "J3", "J4"]
    tables.loc[3, "strength"] = pd.NA
    asked = pd.DataFrame({"judgment": ["J1"], "criterion": "short", "choice": "left"})
    prefcal.write_tables({"preferences": tables, "criteria": asked}, tmp_path / "t")
    ended = run_here(monkeypatch, capsys, "convert", "tables-to-lines", tmp_path / "t", "-o", tmp_path / "l")
    back = read_preference_lines(tmp_path / "l")

    assert (tmp_path / "l").read_text().splitlines()[0].split() == [
        *("topic", "left", "right", "worker", "choice", "strength")
    ]
    assert ended.err == "note: lines have no place for answers about criteria; these stay in the tables\n"
    columns = ["topic", "system_left", "system_right", "worker", "choice", "strength"]
    pd.testing.assert_frame_equal(back[columns], tables[columns])
    first = run_here(monkeypatch, capsys, "convert", "tables-to-lines", tmp_path / "t", "--winner-first")
    assert (first.out.count("\n"), "do not say how much better" in first.err) == (3, True)


def test_the_command_reads_a_scale_and_rank_takes_it(tmp_path, monkeypatch, capsys):
    """From a CSV of another tool to worths by graded answers in two commands."""
    rows = [
        (
            f"q{topic}",
            f"w{worker}",
            *("AB" if (topic + worker) % 2 else "BA"),
            str((-1) ** (topic + worker) * [2, 1, -1][(topic * worker) % 3]),
        )
        for topic in range(6)
        for worker in range(6)
    ]
    pd.DataFrame(rows, columns=list(NAMED.values())).to_csv(tmp_path / "survey.csv", index=False)
    options = [word for name, column in NAMED.items() for word in (f"--{name}", column)]
    meanings = [f"--answer={said}={meant}" for said, meant in SCALE.items()]
    tables = tmp_path / "tables"
    ended = run_here(
        monkeypatch, capsys, "import", tmp_path / "survey.csv", "-o", tables, *options, *meanings
    )
    ranked = run_here(monkeypatch, capsys, "rank", tables, "--ordinal")

    assert (ended.code, ranked.code) == (0, 0), ended.err + ranked.err
    assert pd.read_csv(tables / "preferences.csv")["strength"].isin([1, 2]).all()
    assert (
        "has the highest worth by graded answers" in ranked.out or "do not tell which is first" in ranked.out
    )
