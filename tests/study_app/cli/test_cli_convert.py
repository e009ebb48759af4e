"""`prefcal import` and `prefcal convert`: what goes in comes out, faults leave nothing behind."""

import click
import pytest

from calibration.tables.files import read_tables
from calibration.tables.study_json import read_study
from study_app.cli import CONVERT, cli
from tests.study_app.prefcal_command import run_here

LINES = "q1\tx\ty\tw1\ta\nq1\tx\ty\tw2\tequally_bad\nq2\ty\tx\tw1\tb\n"
CSV = "query,person,first,second,winner\nq1,w1,x,y,x\nq1,w2,x,y,same\n"
COLUMNS = (
    *("--topic", "query", "--worker", "person"),
    *("--left", "first", "--right", "second", "--choice", "winner"),
)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run `prefcal`."""
    return lambda *arguments: run_here(monkeypatch, capsys, *arguments)


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text(LINES)
    return path


def test_lines_become_tables_and_lines_again(run, lines, tmp_path):
    """Tables that `prefcal check` accepts."""
    made = run("convert", "lines-to-tables", lines, "-o", tmp_path / "tables", "--task", "mine")
    back = run("convert", "tables-to-lines", tmp_path / "tables")

    assert made.out == f"{tmp_path}/tables: 3 preferences\n"
    assert (back.out, back.err) == (LINES, "")
    assert run("check", tmp_path / "tables").code == 0
    assert read_study(tmp_path / "tables").study == "mine"


def test_where_nobody_knows_who_judged_that_is_said(run, tmp_path):
    """Before anybody wonders about intervals; not where it is known."""
    (tmp_path / "won.txt").write_text("q1 x y y\nq2 y x y\n")
    (tmp_path / "won.csv").write_text(CSV.replace("same", "y"))
    made = run(
        *("convert", "lines-to-tables", tmp_path / "won.txt", "-o", tmp_path / "a"),
        *("--columns", "topic,left,right,winner"),
    )
    nobody = run("import", tmp_path / "won.csv", "-o", tmp_path / "b", *COLUMNS[:2], *COLUMNS[4:])
    known = run("import", tmp_path / "won.csv", "-o", tmp_path / "c", *COLUMNS)

    note = "who judged is not known: intervals are then over topics\n"
    assert made.err == f"note: {tmp_path}/won.txt: {note}"
    assert nobody.err == f"note: {tmp_path}/won.csv: {note}"
    assert (known.code, known.err) == (0, "")


def test_what_is_left_out_of_the_lines_is_counted(run, lines, tmp_path):
    """On stderr, so that the lines can go on to another tool."""
    run("convert", "lines-to-tables", lines, "-o", tmp_path / "tables")
    back = run(
        "convert", "tables-to-lines", tmp_path / "tables", "--winner-first", "-o", tmp_path / "out.txt"
    )

    assert (tmp_path / "out.txt").read_text() == "q1\tx\ty\tw1\nq2\tx\ty\tw1\n"
    assert (back.out, back.err) == ("", "1 of 3 judgments left out\n")


def test_a_task_is_named_where_there_are_several_and_must_be_there(run, lines, tmp_path):
    """Lines do not say of which task they are."""
    run("convert", "lines-to-tables", lines, "-o", tmp_path / "tables", "--task", "one")
    wrong = run("convert", "tables-to-lines", tmp_path / "tables", "--task", "two")

    assert (wrong.code, wrong.out) == (1, "")
    assert wrong.err.endswith("there is no task 'two'; give --task, one of one\n")


def test_scores_go_to_trec_eval_and_come_back(run, tmp_path):
    """The name of a run may be given; the CSV is what `prefcal agree --scores` reads."""
    scores = tmp_path / "scores.csv"
    scores.write_text("run,topic,metric,value\na,q1,m,0.5\na,all,m,0.5\nb,q1,m,0.25\nb,all,m,0.25\n")
    made = run("convert", "scores-to-trec", scores, "-o", tmp_path / "eval")
    files = sorted((tmp_path / "eval").iterdir())
    back = run("convert", "trec-to-scores", files[0], f"beta={files[1]}")

    assert made.out == f"{tmp_path}/eval: 4 scores of 2 runs\n"
    assert [path.name for path in files] == ["a.eval", "b.eval"]
    assert back.out == scores.read_text().replace("b,", "beta,")


def test_a_csv_of_another_tool_becomes_tables(run, tmp_path):
    """The winner's name needs no explanation, their word for a tie does."""
    path = tmp_path / "other.csv"
    path.write_text(CSV)
    made = run("import", path, *COLUMNS, "--answer", "same=equally_good", "-o", tmp_path / "tables")

    assert made.out == f"{tmp_path}/tables: 2 preferences\n"
    assert read_tables(tmp_path / "tables")["preferences"]["choice"].tolist() == ["left", "equally_good"]


def test_a_fault_is_one_line_with_its_cure_and_nothing_is_written(run, tmp_path):
    """Exit 1."""
    path = tmp_path / "other.csv"
    path.write_text(CSV)
    ended = run("import", path, *COLUMNS, "-o", tmp_path / "tables")

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"{path}:3: winner: what 'same' means is not known; say it with --answer")
    assert not (tmp_path / "tables").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--answer", "same=equal"), "'same=equal' is not like SAID=CHOICE"),
        (("--visit-gap", "300"), "--visit-gap needs --shown-at and --decided-at"),
    ],
)
def test_wrong_usage_says_how(run, tmp_path, arguments, said):
    """Exit 2."""
    ended = run("import", tmp_path / "other.csv", *COLUMNS, *arguments, "-o", tmp_path / "tables")

    assert ended.code == 2
    assert said in " ".join(ended.err.split())


@pytest.mark.parametrize("name", CONVERT)
def test_no_option_is_left_unexplained(name):
    """Each has a sentence of help."""
    command = cli.get_command(None, "convert").get_command(None, name)

    assert command.help
    assert all(option.help.endswith(".") for option in command.params if isinstance(option, click.Option))


def test_what_the_fields_are_can_be_said_and_texts_are_left_out_with_a_note(run, tmp_path):
    """One note for all files."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.eval").write_text("q1\tmine\t0.5\nq1\trelstring\t'1 0'\n")
    files = [tmp_path / "a.eval", tmp_path / "b.eval"]
    asked = run("convert", "trec-to-scores", files[0])
    assert asked.code == 0  # relstring is known, so the metric is
    ended = run("convert", "trec-to-scores", "--columns", "topic,metric,value", *files)
    assert ended.out == "run,topic,metric,value\na,q1,mine,0.5\nb,q1,mine,0.5\n"
    assert (
        ended.err == f"{files[0]}, {files[1]}: relstring is left out: its values are texts, and no scores\n"
    )
    for wrong in ("topic,value", "metric,metric,value", "run,metric,score"):
        assert run("convert", "trec-to-scores", "--columns", wrong, files[0]).code == 2
