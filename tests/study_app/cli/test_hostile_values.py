"""Whatever somebody writes behind an option: a sentence, never a traceback."""

import click
import pytest

import study_app.cli as command_line
from metrics.errors import PrefcalError
from study_app.cli import cli
from tests.study_app.prefcal_command import run_here

VALUES = ("\udcff", "nan", "-inf", "9" * 400, "00010101:99991231", "x" * 300, "a=", "\x1b[31m", ".")
ENDS = (PrefcalError, click.ClickException, click.exceptions.Exit, OSError, SystemExit)
"""What `main` says in a sentence."""

COMMANDS = ("status", "correlate", "check", "fit", "agree", "report", "doctor", "retention", "import")
GROUPS = ("score", "convert", "db")


def commands():
    """Return the commands that read files or numbers, by their words."""
    for name in COMMANDS:
        yield (name,), cli.get_command(click.Context(cli), name)
    for name in GROUPS:
        group = cli.get_command(click.Context(cli), name)
        for inner in group.list_commands(click.Context(group)):
            yield (name, inner), group.get_command(click.Context(group), inner)


@pytest.mark.parametrize("value", VALUES, ids=ascii)
def test_no_value_of_any_option_ends_in_a_traceback(tmp_path, monkeypatch, value):
    """Every option of the commands that read files, each with every value."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFCAL_DATABASE_URL", "sqlite:///none.sqlite3")
    for words, command in commands():
        needed = {
            one.name: [one.opts[-1], "20150720:20150721" if one.name == "scored" else "none"]
            for one in command.params
            if isinstance(one, click.Option) and one.required
        }
        files = [value for one in command.params if isinstance(one, click.Argument)]
        for option in command.params:
            if isinstance(option, click.Option) and not option.is_flag:
                others = [word for name, given in needed.items() if name != option.name for word in given]
                with pytest.raises(ENDS):
                    cli.main(
                        [*words, *others, option.opts[-1], *[value] * option.nargs, "--", *files],
                        standalone_mode=False,
                    )


def test_a_run_that_no_file_can_be_called_after_is_said(tmp_path, monkeypatch, capsys):
    """Scores of it cannot be written into a file of its name."""
    (tmp_path / "scores.csv").write_text("run,topic,metric,value\na\0b,t,m,1\n")
    ended = run_here(
        monkeypatch, capsys, "convert", "scores-to-trec", tmp_path / "scores.csv", "-o", tmp_path / "out"
    )
    assert ended.code == 1
    assert "cannot be the name of a file" in ended.err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "too little memory"),
        (FileNotFoundError(2, "No such file or directory", "x"), "x:1: cannot be used (No such file"),
    ],
)
def test_too_little_memory_is_one_sentence(monkeypatch, capsys, error, said):
    """And so is whatever else the system refuses, wherever it does."""

    def refuse(**_):
        raise error

    monkeypatch.setattr(command_line, "cli", refuse)
    with pytest.raises(SystemExit, match="1"):
        command_line.main()
    assert said in capsys.readouterr().err
