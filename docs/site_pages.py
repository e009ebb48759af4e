"""Pages of the site that are written from the code: a page for each command, and one for each kind of Python name.

The kinds are the rows of the table at the end of python.md, which a test holds to `prefcal.__all__`.
"""

import re
from dataclasses import fields
from inspect import cleandoc
from pathlib import Path

import click

from metrics.registry import Measure
from study_app.cli import cli

PYTHON_PAGE = Path(__file__).with_name("python.md")
ATTRIBUTES = re.compile(r"Attributes\n-+\n(.*?)(?=\n\n\w+\n-+\n|\s*\Z)", re.DOTALL)
ROW = re.compile(r"^\| ([^|`]+) \| (`.*) \|$", re.MULTILINE)


def write_pages(folder: Path) -> None:
    """Write every generated page and the two lists of them."""
    folder.mkdir(exist_ok=True)
    commands = {f"command-{name}": command_page(name) for name in cli.list_commands(context("prefcal", cli))}
    kinds = {f"python-{slug(kind)}": python_page(kind, names) for kind, names in public_names().items()}
    _write(folder, commands | kinds)
    _write(
        folder,
        {
            "commands": contents(
                "Commands", "Every command with its options, as `--help` prints them.", commands
            ),
            "python-names": contents(
                "Python names", "Every public name of `prefcal`: what it takes, returns and raises.", kinds
            ),
        },
    )


def _write(folder: Path, pages: dict[str, str]) -> None:
    """Write what has changed, so that only this is built again."""
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def contents(title: str, sentence: str, pages: dict[str, str]) -> str:
    """Return a page that lists other pages."""
    return "\n".join([f"# {title}", "", sentence, "", "```{toctree}", ":maxdepth: 1", "", *pages, "```", ""])


def slug(title: str) -> str:
    """Return a title as part of an address."""
    return re.sub(r"\W+", "-", title.lower())


def context(name: str, command: click.Command, parent: click.Context | None = None) -> click.Context:
    """Return the context in which click prints a command's help, 100 columns wide."""
    return click.Context(command, info_name=name, parent=parent, max_content_width=100, terminal_width=100)


def command_page(name: str) -> str:
    """Return the page of a command, with its subcommands below it."""
    outer = context("prefcal", cli)
    command = cli.get_command(outer, name)
    if command is None:
        raise LookupError(name)
    inner = context(name, command, outer)
    parts = [f"# prefcal {name}", "", *_help(command, inner)]
    if isinstance(command, click.Group):
        for below in command.list_commands(inner):
            sub = command.get_command(inner, below)
            if sub is not None:
                parts += [f"## prefcal {name} {below}", "", *_help(sub, context(below, sub, inner))]
    return "\n".join(parts)


def _help(command: click.Command, where: click.Context) -> list[str]:
    """Return a command's help as lines of Markdown."""
    return ["```text", command.get_help(where), "```", ""]


def public_names() -> dict[str, list[str]]:
    """Return the kinds of public names, each with its names, as python.md lists them."""
    table = PYTHON_PAGE.read_text(encoding="utf-8").partition("## All public names")[2]
    return {kind: re.findall(r"`(\w+)`", names) for kind, names in ROW.findall(table)}


def python_page(kind: str, names: list[str]) -> str:
    """Return the page of one kind of names."""
    directives = [line for name in names for line in (f"## {name}", "", *_name(name))]
    return "\n".join([f"# Python: {kind}", "", *directives])


def _name(name: str) -> list[str]:
    """Return the entry of one name: a class with its members, or a function."""
    directive = "autofunction" if name[0].islower() else "autoclass"
    return ["```{eval-rst}", f".. {directive}:: prefcal.{name}", "```", ""]


def say_source(value: object, lines: list[str]) -> None:
    """Add to the docstring of a measure its paper and equation, its name in score tables, and the parameters of its family."""
    if not (isinstance(value, type) and issubclass(value, Measure)) or value is Measure:
        return
    lines[1:1] = ["", f"Source: {value.source}. Called ``{value.name}`` in score tables."]
    text, inherited = "\n".join(lines), "\n".join(family_parameters(value))
    own = ATTRIBUTES.search(text)
    if inherited:
        end = own.end() if own else text.index("Examples\n--")
        section = f"\n{inherited}" if own else f"Attributes\n----------\n{inherited}\n\n"
        lines[:] = (text[:end] + section + text[end:]).split("\n")


def family_parameters(measure: type[Measure]) -> list[str]:
    """Return what the classes above a measure say of its parameters, as entries of a section Attributes."""
    known = {field.name for field in fields(measure)}
    above = [
        ATTRIBUTES.search(cleandoc(each.__dict__.get("__doc__") or "")) for each in measure.__mro__[1:-1]
    ]
    entries = [entry for found in above if found for entry in re.split(r"\n(?=\S)", found[1])]
    return [entry for entry in entries if known & set(re.findall(r"\w+", entry.partition(" : ")[0]))]
