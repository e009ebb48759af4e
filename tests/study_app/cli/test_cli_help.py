"""The help of the commands that a study is run by, as somebody reads it who has never seen one."""

import gc
import os

import click
import pytest

from study_app.cli import NEW_OBJECTS, ONE_THREAD, STUDY, cli
from tests.study_app.prefcal_command import run_here

RUN_BY = ("serve", "status", "study", *(f"study {name}" for name in STUDY))


def command_of(words):
    """Return a command by its name."""
    found: click.Command = cli
    for word in words.split():
        found = found.get_command(click.Context(found), word)
    return found


def shown(words):
    """Return a command's help on one line."""
    command = command_of(words)
    return " ".join(command.get_help(click.Context(command, info_name=words)).split())


@pytest.mark.parametrize("words", RUN_BY)
def test_every_option_says_what_it_is_before_its_values_and_default(words):
    """`--port ... 0 takes a free one.` says nothing to who does not know that it is a port to listen at."""
    options = [option for option in command_of(words).params if isinstance(option, click.Option)]
    said = {option.name: option.help or "" for option in options}
    assert {
        name: text for name, text in said.items() if not text[:1].isalpha() or text.startswith("Default")
    } == {}


@pytest.mark.parametrize(
    ("words", "pieces"),
    [
        (
            "serve",
            [
                "prefcal study load FILE",
                "or name its file here",
                "0.0.0.0 other machines too",
                "docs/deploy.md",
            ],
        ),
        ("study", ["one YAML file", "docs/study-file.md", "after load comes prefcal serve"]),
        (
            "status",
            ["done counts finished places", "live those that a worker holds now", "room the free ones"],
        ),
    ],
)
def test_help_says_what_comes_before_and_what_the_words_mean(words, pieces):
    """Without the documentation at hand."""
    assert [piece for piece in pieces if piece not in shown(words)] == []


def test_libraries_take_one_thread_unless_somebody_says_otherwise(monkeypatch, capsys):
    """Fits have small matrices, on which several threads keep each other waiting, twice as long as one works alone."""
    first, *others = ONE_THREAD
    monkeypatch.setenv(first, "3")
    for name in others:
        monkeypatch.delenv(name, raising=False)
    assert run_here(monkeypatch, capsys, "--help").code == 0
    assert [os.environ[name] for name in ONE_THREAD] == ["3", "1", "1"]


def test_garbage_is_looked_for_in_long_rounds(monkeypatch, capsys):
    """A command's libraries and tables stay until it ends: looking through them took a tenth of a report's time."""
    before = gc.get_threshold()
    gc.set_threshold(700)
    try:
        assert run_here(monkeypatch, capsys, "--help").code == 0
        assert gc.get_threshold()[0] == NEW_OBJECTS > 700
    finally:
        gc.set_threshold(*before)
