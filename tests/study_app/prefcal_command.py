"""Running `prefcal` as its users do, in this process or in one of its own."""

import subprocess
import sys
from typing import NamedTuple

import pytest

from study_app.cli import main


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def run_here(monkeypatch, capsys, *arguments):
    """Run the command in this process: fast, and with its real exit code and streams."""
    monkeypatch.setattr("sys.argv", ["prefcal", *map(str, arguments)])
    with pytest.raises(SystemExit) as exit_:
        main()
    return Ended(exit_.value.code or 0, *capsys.readouterr())


def run_apart(*arguments, options=()):
    """Run the command in a fresh interpreter: what it imports and prints is only its own."""
    program = [sys.executable, *options, "-c", "from study_app.cli import main; main()"]
    ended = subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True, check=False)
    return Ended(ended.returncode, ended.stdout, ended.stderr)
