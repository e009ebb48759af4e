"""docs/interoperability.md is run from top to bottom, and names all there is."""

import re
from pathlib import Path

from calibration.interchange.plain_files import MEANINGS
from study_app.cli import CONVERT, cli
from tests.study_app.prefcal_command import run_here

DOC = Path(__file__).resolve().parents[1] / "docs" / "interoperability.md"
TEXT = DOC.read_text(encoding="utf-8")


def sessions() -> list[tuple[str, list[str]]]:
    """Every command shown with `$`, and the lines shown below it."""
    found = []
    for block in re.findall(r"(?:^    [^\n]*\n)+", TEXT, flags=re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("    $ "):
                found.append((line.removeprefix("    $ prefcal "), []))
            elif found and block.startswith("    $ "):
                found[-1][1].append(line.removeprefix("    "))
    return found


def shown(kind: str, place: int) -> str:
    """The text of a fenced block."""
    return re.findall(rf"^```{kind}\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)[place]


def test_every_command_prints_what_is_shown(monkeypatch, capsys, tmp_path):
    """One after the other, in a folder with the files shown."""
    import shlex

    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.csv").write_text(shown("csv", 0))
    (tmp_path / "log.csv").write_text(shown("csv", 1))
    (tmp_path / "verdicts.csv").write_text(shown("csv", 2))
    (tmp_path / "scores.csv").write_text(shown("csv", 3))
    (tmp_path / "examples").symlink_to(DOC.parents[1] / "examples")
    (tmp_path / "winners.txt").write_text(shown("none", 0))

    assert sessions()
    for command, expected in sessions():
        ended = run_here(monkeypatch, capsys, *shlex.split(command))
        assert (ended.out + ended.err).splitlines() == expected, command
    assert (tmp_path / "preferences.txt").read_text() == shown("text", 0)


def test_its_python_runs(monkeypatch, capsys, tmp_path):
    """It prints the lines shown."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.csv").write_text(shown("csv", 0))
    exec(shown("python", 0), {})

    assert capsys.readouterr().out == shown("text", 0) + "\n"
    exec(shown("python", 1), {})
    assert capsys.readouterr().out == "4 1\n"


def test_it_names_every_option_and_choice():
    """What is missing here cannot be looked up anywhere but in --help."""
    commands = [cli.get_command(None, name) for name in ("import", "import-visits")]
    commands += [cli.get_command(None, "convert").get_command(None, name) for name in CONVERT]
    commands.append(cli.get_command(None, "judge").get_command(None, "import"))
    options = {option for command in commands for parameter in command.params for option in parameter.opts}

    missing = {option for option in options if option.startswith("--") and option not in TEXT}
    assert missing == {"--output"}
    assert not [word for word in MEANINGS if f"`{word}`" not in TEXT]
