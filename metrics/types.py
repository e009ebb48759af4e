"""What a measure is: a frozen, comparable value that prints as the text it can be read back from.

Definition is kept apart from computation. A measure says what is to be computed; the function `score_FAMILY` of
its family's module computes it. A family's measures are declared with `metrics.registry.measure`.
"""

import math
from dataclasses import fields
from numbers import Integral, Real
from types import UnionType
from typing import Any, ClassVar, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

Parameter: TypeAlias = float | str | bool | None

UNIONS = (Union, UnionType)


class Measure:
    """Base of every measure; a subclass is declared with `metrics.registry.measure`.

    Parameters are dataclass fields annotated `float`, `int`, `bool`, `str`, a `Literal` or one of these `| None`,
    each with a default; the main one comes first. Their values are checked against the annotation.

    Attributes
    ----------
    name : str
        As score tables print it, without parameters: ``M``, ``ELG``.
    family : str
        The subcommand of `prefcal score` that computes it: ``summaries``.
    source : str
        Paper and equation.
    definition : str
        One line that says what is computed.

    Raises
    ------
    ValueError
        If a parameter's value does not fit its annotation.
    """

    __slots__ = ()

    name: ClassVar[str]
    family: ClassVar[str]
    source: ClassVar[str]
    definition: ClassVar[str]

    def __post_init__(self) -> None:
        """Check each parameter; a subclass with rules of its own calls this first."""
        hints = get_type_hints(type(self))
        for name, value in self.parameters().items():
            if not _fits(value, hints[name]):
                raise ValueError(f"{name} must be {_described(hints[name])}, got {value!r}")

    @property
    def column(self) -> str:
        """What stands in the column ``metric`` of a score table; subclasses add parameters: ``M@840``."""
        return self.name

    def parameters(self) -> dict[str, Parameter]:
        """Every parameter and its value, in the order of declaration."""
        return {field.name: getattr(self, field.name) for field in _fields(type(self))}

    @classmethod
    def defaults(cls) -> dict[str, Parameter]:
        """Every parameter and its default, in the order of declaration."""
        return {field.name: field.default for field in _fields(cls)}

    def __repr__(self) -> str:
        """``MMeasure(patience=1500)``: the main parameter, and each other one that is not at its default."""
        defaults = self.defaults()
        shown = [
            f"{name}={shown_value(value)}"
            for position, (name, value) in enumerate(self.parameters().items())
            if position == 0 or value != defaults[name]
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def short_number(number: float) -> str:
    """Print a number as short as it goes without loss: ``840``, ``0.1``, ``inf``."""
    if isinstance(number, Integral) or (abs(number) < 1e15 and number == int(number)):
        return str(int(number))
    return repr(float(number))


def shown_value(value: Parameter) -> str:
    """Print a parameter's value as `metrics.registry.parse_measure` reads it."""
    if isinstance(value, Real) and not isinstance(value, bool):
        return short_number(value)
    return repr(value)


def _fields(cls: type[Measure]) -> tuple[Any, ...]:
    """Return the dataclass fields, in order."""
    return fields(cls)  # type: ignore[arg-type]  # the decorator `measure` makes every subclass a dataclass


def _fits(value: Parameter, hint: Any) -> bool:
    """Say whether a value is one of those an annotation allows; NaN and bool are no numbers."""
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if get_origin(hint) in UNIONS:
        return any(_fits(value, part) for part in get_args(hint))
    if hint in (int, float):
        kind = Integral if hint is int else Real
        return isinstance(value, kind) and not isinstance(value, bool) and -math.inf <= value <= math.inf
    return isinstance(value, hint)


def _described(hint: Any) -> str:
    """Put an annotation in words: ``'both', 'first' or 'second'``, ``a number or None``."""
    if get_origin(hint) is Literal:
        *others, last = map(repr, get_args(hint))
        return f"{', '.join(others)} or {last}" if others else last
    if get_origin(hint) in UNIONS:
        return " or ".join(_described(part) for part in get_args(hint))
    words = {
        int: "a whole number",
        float: "a number",
        bool: "True or False",
        str: "a text",
        type(None): "None",
    }
    return words[hint]
