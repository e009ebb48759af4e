"""Options that `prefcal import` and `prefcal import-visits` have in common."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from study_app.cli.places import OutFolder

Command = Callable[..., Any]
_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|"}


def meanings_of(known: Callable[[], Sequence[str]]) -> Callable[..., dict[str, str]]:
    """Return a callback that splits values like SAID=CHOICE at the last equals sign; ``known`` gives the choices."""

    def split(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
        meanings, words = {}, known() if values else ()
        for value in values:
            said, equals, meant = value.rpartition("=")
            if not equals or meant not in words:
                kind = str(param.metavar).partition("=")[2]
                wrong = f"{value!r} is not like {param.metavar}, {kind} one of {', '.join(words)}"
                raise click.BadParameter(wrong, ctx=ctx, param=param)
            meanings[said] = meant
        return meanings

    return split


def _delimiter(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return a delimiter that may be written as a word."""
    character = _WORDS.get(value, value)
    if len(character) != 1 or character in '"\r\n':
        wrong = (
            f"{value!r} is no single character; write it between quotes, or one of comma, semicolon, tab, bar"
        )
        raise click.BadParameter(wrong, ctx=ctx, param=param)
    return character


def _time_format(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    from calibration.interchange.times import EPOCHS

    if value is not None and "%" not in value and value not in EPOCHS:
        wrong = f"{value!r} is neither {' nor '.join(EPOCHS)}, nor has it a % as in '%d/%m/%Y %H:%M'"
        raise click.BadParameter(wrong, ctx=ctx, param=param)
    return value


def delimiter_option(command: Command) -> Command:
    """Add --delimiter."""
    return click.option(
        "--delimiter",
        metavar="CHARACTER",
        default=",",
        callback=_delimiter,
        help="What stands between two fields of FILE, such as ';', or in a word: comma, semicolon, tab, bar. Default: "
        "comma.",
    )(command)


def time_format_option(command: Command) -> Command:
    """Add --time-format."""
    return click.option(
        "--time-format",
        metavar="FORMAT",
        callback=_time_format,
        help="How times are written: epoch-s or epoch-ms for seconds or milliseconds since 1970, else as Python's "
        "strptime says it, such as '%d/%m/%Y %H:%M'. Default: ISO 8601, or numbers that can only be one of the two. "
        "Times without a zone are UTC.",
    )(command)


def folder_option(command: Command) -> Command:
    """Add -o."""
    return click.option(
        "-o",
        "--output",
        "folder",
        type=OutFolder(),
        metavar="DIR",
        required=True,
        help="Folder for the tables.",
    )(command)


def tell(file: Path, notes: Sequence[str], warnings: Sequence[str]) -> None:
    """Say on stderr what was taken for granted about a file, and what is suspicious."""
    for warning in warnings:
        click.echo(f"warning: {file}: {warning}", err=True)
    for note in notes:
        click.echo(f"note: {file}: {note}", err=True)
