"""The documentation tells the truth: what it shows exists, and what exists is shown."""

import re
import shlex
from pathlib import Path

import click
import pytest

from study_app.cli import COMMANDS, CONVERT, DB, PLAN, SCORE, STUDY, cli

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    *(ROOT / name for name in ("CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md")),
    *sorted((ROOT / "examples").rglob("README.md")),
]


def shown_commands() -> list[tuple[str, str]]:
    """Every line of a code block, fenced or indented, that begins with `prefcal `."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        fenced = "\n".join(re.findall(r"^```\w*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL))
        lines = re.findall(r"^ {4}(.*)$", text, flags=re.MULTILINE) + fenced.splitlines()
        typed = [re.match(r"(?:\$ )?prefcal (?!demo:)(.*)", line) for line in lines]
        found += [(page.name, match[1].split(" #")[0].strip()) for match in typed if match]
    return found


def resolve(words: list[str]) -> click.Command:
    """Follow the words of a command line to its command."""
    command: click.Command = cli
    for word in words:
        if not isinstance(command, click.Group) or word.startswith("-"):
            break
        found = command.get_command(click.Context(command), word)
        assert found is not None, f"no command {word!r}"
        command = found
    return command


@pytest.mark.parametrize(("page", "line"), shown_commands())
def test_every_command_line_shown_exists_with_its_options(page, line):
    """A reader can type what stands in a code block."""
    words = shlex.split(line.replace("[", " ").replace("]", " ").replace("|", " "))
    command = resolve(words)
    known = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
    known |= {"-h", "--help", "--version"}

    unknown = [word for word in words if re.match(r"^--?[a-z]", word) and word.split("=")[0] not in known]
    assert not unknown, f"{page}: prefcal {line}"


@pytest.mark.parametrize(
    "name",
    [
        *COMMANDS,
        *(
            f"{group} {name}"
            for group, names in {
                "score": SCORE,
                "study": STUDY,
                "db": DB,
                "plan": PLAN,
                "convert": CONVERT,
            }.items()
            for name in names
        ),
    ],
)
def test_every_command_is_shown_somewhere_and_says_what_it_is_for(name):
    """No command without documentation, no command without help."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)

    assert f"prefcal {name}" in text
    assert resolve(name.split(" ")).help


def test_readme_links_lead_somewhere():
    """Every relative link of a page names a file that is there."""
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
