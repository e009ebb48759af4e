"""A place that cannot be written to is refused before the work, by every command that writes."""

import errno

import click
import pytest

from study_app.cli import cli
from study_app.cli.options import OutPath
from tests.study_app.prefcal_command import run_here

WRITES = {"-o", "--out", "--output", "--plots"}


def commands(group=cli, path=()):
    """Yield every command with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def outputs():
    """Yield (words of the command, option, its type) for every option that names a place to write to."""
    for words, command in commands():
        for option in command.params:
            if WRITES & set(option.opts):
                yield words, next(name for name in option.opts if name in WRITES), option.type


OUTPUTS = list(outputs())


@pytest.mark.parametrize(("words", "option", "kind"), OUTPUTS, ids=[" ".join((*w, o)) for w, o, _ in OUTPUTS])
def test_every_command_refuses_a_file_in_the_way(words, option, kind, tmp_path, monkeypatch, capsys):
    """One line with the place, what is wrong and a cure; exit 1, nothing on stdout."""
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "out.svg"
    ended = run_here(monkeypatch, capsys, *words, option, place)

    assert isinstance(kind, OutPath)
    assert (ended.code, ended.out) == (1, "")
    assert (
        ended.err
        == f"{place}:1: the folder cannot be made: {tmp_path / 'file'} is a file; choose another place\n"
    )


def test_there_are_such_commands():
    """The rule above is about more than a few."""
    assert {("fit",), ("agree",), ("plan", "away"), ("score", "msu"), ("remind",)} <= {
        words for words, *_ in OUTPUTS
    }


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path, monkeypatch, capsys):
    """The wrong one is said with what to name instead."""
    (tmp_path / "file").touch()
    model = run_here(monkeypatch, capsys, "fit", tmp_path, "-o", tmp_path)
    plots = run_here(monkeypatch, capsys, "fit", tmp_path, "-o", "m.json", "--plots", tmp_path / "file")
    tables = run_here(monkeypatch, capsys, "export", tmp_path / "file" / "tables")

    assert (
        model.err
        == f"{tmp_path}:1: this is a folder, and a file is to be written; name a file in it, such as {tmp_path}/NAME\n"
    )
    assert plots.err == f"{tmp_path}/file:1: this is a file, and a folder is needed; name a folder\n"
    assert tables.err.endswith(
        f"the folder cannot be made: {tmp_path}/file is a file; choose another place\n"
    )


def test_a_folder_that_takes_no_files_is_refused(tmp_path, monkeypatch, capsys):
    """As one without permission, or on a full disk: the same line."""

    def denied(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", denied)
    ended = run_here(monkeypatch, capsys, "fit", tmp_path, "-o", tmp_path / "a" / "b" / "m.json")

    assert (
        ended.err == f"{tmp_path}/a/b/m.json:1: cannot be written (Permission denied); choose another place\n"
    )


def test_a_full_disk_asks_for_room_and_not_for_another_place(tmp_path, monkeypatch, capsys):
    """What is there already, parts of a sweep above all, stays of use where it is."""

    def full(_file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("metrics.files.sync", full)
    ended = run_here(monkeypatch, capsys, "measures", "-o", tmp_path / "m.txt")

    assert ended.err == (
        f"{tmp_path}/m.txt:1: cannot be written (No space left on device); "
        "make room there and run the same command again\n"
    )


def test_asking_leaves_no_trace(tmp_path, monkeypatch, capsys):
    """Neither a folder nor a file, when the work fails for another reason."""
    ended = run_here(monkeypatch, capsys, "fit", tmp_path / "nowhere", "-o", tmp_path / "new" / "m.json")

    assert ended.code == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_written_with_its_folder(tmp_path, monkeypatch, capsys):
    """Nobody has to make it first."""
    ended = run_here(monkeypatch, capsys, "measures", "-o", tmp_path / "new" / "deep" / "measures.txt")

    assert ended.code == 0
    assert "MMeasure" in (tmp_path / "new" / "deep" / "measures.txt").read_text()
