"""Running `prefcal` as its users do, in this process or in one of its own."""

import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from markupsafe import Markup

import calibration.fit.user_model_fit  # noqa: F401 - what it says of the class of options needs the class itself
from study_app.cli import main
from study_app.report.drawing import canvas


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


def run_in_thread(monkeypatch, capsys, *arguments):
    """Run the command as `run_here` does, in a thread of its own: a browser of another test may have left its event loop in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(run_here, monkeypatch, capsys, *arguments).result()


def run_once(*arguments):
    """Run the command in this process, for a fixture that several tests look at: it has no streams of one test."""
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr("sys.argv", ["prefcal", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
    return Ended(exit_.value.code or 0, out.getvalue(), err.getvalue())


def without_pdf(monkeypatch):
    """Let figures have no PDF, whose font takes half of the time of a report: for tests that do not look at it."""
    saved = canvas._saved
    monkeypatch.setattr(
        canvas,
        "_saved",
        lambda drawing, title, form: b"%PDF-" if form == "pdf" else saved(drawing, title, form),
    )


def without_figures(monkeypatch):
    """Let figures be empty: for tests that read what is written beside them, many times over."""
    monkeypatch.setattr(
        "study_app.report.build.render_drawing",
        lambda *_, **__: canvas.RenderedDrawing(svg="<svg/>", pdf=b"%PDF-", inline=Markup("<svg/>")),
    )


def run_line(monkeypatch, capsys, line, folder):
    """Run a line that begins with prefcal as a shell in a folder would, patterns of file names too; it must end well."""
    monkeypatch.chdir(folder)
    words = [
        name
        for word in shlex.split(line)[1:]
        for name in sorted(str(path.relative_to(folder)) for path in Path(folder).glob(word) if "*" in word)
        or [word]
    ]
    ended = run_here(monkeypatch, capsys, *words)
    assert ended.code == 0, f"{line}\n{ended.err}"
    return ended.out


def run_apart(*arguments, options=()):
    """Run the command in a fresh interpreter: what it imports and prints is only its own."""
    program = [sys.executable, *options, "-c", "from study_app.cli import main; main()"]
    ended = subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True, check=False)
    return Ended(ended.returncode, ended.stdout, ended.stderr)


HEAVY = frozenset({"pandas", "scipy", "numba", "matplotlib", "flask", "sqlalchemy", "pydantic"})
"""Modules that take long to import; commands of small scores do without."""


def modules_of(*arguments):
    """Run the command in a fresh interpreter, which must end well; return the modules that it imports."""
    ended = run_apart(*arguments, options=["-X", "importtime"])
    assert ended.code == 0, ended.err
    return {line.rpartition("|")[2].strip() for line in ended.err.splitlines()}
