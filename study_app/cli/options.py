"""Options of commands as fields of dataclasses.

A field made by `option` is an option; `with_options(sizes=PairSizes)` adds those of a class to a command, which gets the
instance as ``sizes``. `__post_init__` refuses options that contradict each other.
"""

import functools
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, get_args, get_origin

import click

from metrics.files import check_file_place, check_folder_place

Command: TypeAlias = Callable[..., None]
F = TypeVar("F", bound=Callable[..., Any])
OPTION = "click.option"
"""Key of a field's metadata."""
MAX_COUNT = 1_000_000
"""More people, draws or entries than this are a slip of the hand."""
COUNT = click.IntRange(1, MAX_COUNT)


class FiniteFloat(click.FloatRange):
    """Number within a range that is neither infinite nor nan.

    Infinity passes every comparison and nan none, so a plain range would let them through.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or end the command with its usage."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


LEVEL = FiniteFloat(0, 1, min_open=True, max_open=True)
POSITIVE = FiniteFloat(min=0, min_open=True)


class OutPath(click.Path):
    """File or folder to write, whose folder is created; `-` may be the terminal."""

    def __init__(self, *, is_folder: bool = False, terminal: bool = False) -> None:
        super().__init__(path_type=Path, allow_dash=terminal)
        self.is_folder = is_folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path.

        Raises
        ------
        InputError
            If nothing can be written there.
        """
        path: Any = super().convert(value, param, ctx)
        if not (self.allow_dash and str(path) == "-"):
            (check_folder_place if self.is_folder else check_file_place)(path)
        return path


OUT_FILE, OUT_FOLDER = OutPath(), OutPath(is_folder=True)


def option(*flags: str, **attributes: Any) -> Any:
    """Return a dataclass field that is an option, as `click.option` would make it.

    Parameters
    ----------
    *flags : str
        By default `--` and the field's name with hyphens.
    **attributes
        A default is shown in the help unless ``show_default`` says otherwise. A field of type bool is a flag, one of ``tuple[X, ...]``
        may be given several times.
    """
    if attributes.get("default") is not None:
        attributes.setdefault("show_default", True)
    return field(default=attributes.get("default"), metadata={OPTION: (flags, attributes)})


def one_of(*choices: str, flags: tuple[str, ...] = (), **attributes: Any) -> Any:
    """Return an option with some values to choose from, the default first."""
    return option(*flags, type=click.Choice(choices), default=choices[0], **attributes)


def seed_option(of: str = "Random seed; the same seed gives the same numbers.") -> Any:
    """Return the option `--seed`."""
    return option(type=click.IntRange(min=0), default=1, help=of)


def exclude_option() -> Any:
    """Return the option `--exclude`."""
    return one_of("rules", "none", help="Leave out the workers that the study's rules exclude, or keep them.")


def parquet_option() -> Any:
    """Return the option `--parquet`."""
    return option(help="Write every table as Parquet too, also those below 100,000 rows.")


def same_answers_option() -> Any:
    """Return the option `--same-answers`."""
    return one_of(
        "apart",
        "one-cluster",
        help="Workers who give the same answers as each other count apart, or each group of them as one person.",
    )


def assist_option(numbers: str) -> Any:
    """Return the option `--assist`, of a command that prints such numbers."""
    return option(
        metavar="JUDGE",
        help=f"Judge that is no person and judged more pairs than people did: {numbers} stand beside those of people alone,"
        " assisted by its verdicts (prediction-powered).",
    )


def by_option() -> Any:
    """Return the option `--by`, of a command that counts choices."""
    return option(
        metavar="CRITERION",
        help="Count what people answered about this criterion (table criteria), in place of the overall choices.",
    )


def with_options(**classes: type) -> Callable[[Command], Command]:
    """Add the options of dataclasses to a command.

    The command gets an instance of each by the name given here.
    """

    def add(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(*arguments: Any, **given: Any) -> None:
            made = {
                name: cls(**{each.name: given.pop(each.name) for each in _options(cls)})
                for name, cls in classes.items()
            }
            command(*arguments, **made, **given)

        with_all: Command = wrapped
        for each in reversed([each for cls in classes.values() for each in _options(cls)]):
            flags, attributes = each.metadata[OPTION]
            usual = f"--{each.name.rstrip('_').replace('_', '-')}"
            kind = {"is_flag": True} if each.type is bool else {}
            if get_origin(each.type) is tuple and get_args(each.type)[-1] is Ellipsis:
                kind = {"multiple": True}
            with_all = click.option(*(flags or (usual,)), each.name, **(kind | attributes))(with_all)
        return with_all

    return add


def _options(cls: type) -> list[Any]:
    return [each for each in fields(cls) if OPTION in each.metadata]


def output_file(meaning: str, *, metavar: str = "FILE", required: bool = True) -> Callable[[F], F]:
    """Add the option `-o` for a file to a command, as parameter ``output``."""
    return click.option("-o", "--output", type=OUT_FILE, metavar=metavar, required=required, help=meaning)


def output_folder(meaning: str, *, metavar: str = "DIR", required: bool = True) -> Callable[[F], F]:
    """Add the option `-o` for a folder to a command, as parameter ``output``."""
    return click.option("-o", "--output", type=OUT_FOLDER, metavar=metavar, required=required, help=meaning)


def port_option(default: int, meaning: str = "Port to listen at; 0 takes a free one.") -> Callable[[F], F]:
    """Add the option `--port` to a command."""
    return click.option(
        "--port", type=click.IntRange(0, 65535), default=default, show_default=True, help=meaning
    )


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, kw_only=True)
class ComputeOptions:
    """Processes or cluster for long computations."""

    jobs: int = option(
        type=click.IntRange(min=1),
        default=cores,
        show_default="every core",
        metavar="N",
        help="Processes on this machine. The numbers are the same with any number of them.",
    )
    scheduler: str | None = option(
        metavar="ADDRESS",
        help="Work on a running Dask cluster instead, such as tcp://10.0.0.1:8786; needs prefcal[cluster].",
    )


def typed_options(context: click.Context, values: Mapping[str, Any]) -> list[str]:
    """Return arguments and options as typed behind a command, without defaults.

    Parameters
    ----------
    context : Context
        Of the command.
    values : mapping of str to value
        Name of a parameter -> its value; parameters that are not in it are left out.
    """
    words: list[str] = []
    for param in context.command.params:
        value = values.get(str(param.name))
        if isinstance(param, click.Argument) and value is not None:
            words.append(str(value))
        elif value and value != param.get_default(context):
            for given in _given(param, value):
                words += [param.opts[-1], *given]
    return words


def _given(param: click.Parameter, value: Any) -> list[list[str]]:
    """Return the words behind each occurrence of an option."""
    if value is True:
        return [[]]
    if isinstance(value, dict):
        return [[f"{name}={path}"] for name, path in value.items()]
    if param.multiple:
        return [[str(each)] for each in value]
    return [list(value)] if param.nargs > 1 else [[str(value)]]
