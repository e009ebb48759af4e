"""Measures as values: declaration, listing by name, and reading from text.

A measure is a frozen, comparable value: it says what is to be computed, and the function `score_FAMILY` of its family's
module computes it. That module is imported only when one of its measures is asked for and not known yet.
"""

import ast
import importlib
import math
from dataclasses import dataclass, fields
from numbers import Integral, Real
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from metrics.errors import InputError, closest_name, input_fault, join_names

Parameter: TypeAlias = float | str | bool | None


@dataclass(frozen=True, slots=True)
class ParameterRange:
    """Range of a number, in the annotation of a parameter.

    Attributes
    ----------
    low, high : float
        Its ends, which belong to it.
    words : str
        What messages say that the number must: ``be from 0 to 1``.
    """

    low: float
    high: float
    words: str


Share: TypeAlias = Annotated[float, ParameterRange(0, 1, "be from 0 to 1")]
UNIONS = (Union, UnionType)


class Measure:
    """Base of every measure; `metrics.registry.measure` declares a subclass.

    Parameters are dataclass fields annotated `float`, `int`, `bool`, `str`, a `Literal` or one of these `| None`,
    each with a default; the main one comes first. Their values are checked against the annotation, which may be `Annotated` with the
    range of a number (`ParameterRange`).

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
        If a parameter's value does not fit its annotation, or is out of its range.

    Examples
    --------
    >>> import prefcal
    >>> found = prefcal.measure("M(patience=840)")
    >>> isinstance(found, Measure), found.family, found.source
    (True, 'summaries', 'Kato et al., EVIA 2016, eq. 2')
    """

    __slots__ = ()

    name: ClassVar[str]
    family: ClassVar[str]
    source: ClassVar[str]
    definition: ClassVar[str]

    def __post_init__(self) -> None:
        """Check each parameter; a subclass with rules of its own calls this first."""
        hints, ranges = get_type_hints(type(self)), get_type_hints(type(self), include_extras=True)
        for name, value in self.parameters().items():
            if not _fits(value, hints[name]):
                raise ValueError(f"{name} must be {_described(hints[name])}, got {value!r}")
            for bounds in _ranges(ranges[name]):
                if isinstance(value, Real) and not bounds.low <= value <= bounds.high:
                    raise ValueError(f"{name} must {bounds.words}, got {value!r}")

    @property
    def column(self) -> str:
        """Name in the column ``metric`` of score tables.

        Subclasses add parameters: ``M@840``.
        """
        return self.name

    def parameters(self) -> dict[str, Parameter]:
        """Every parameter and its value, in the order of declaration."""
        return {field.name: getattr(self, field.name) for field in _fields(type(self))}

    @classmethod
    def defaults(cls) -> dict[str, Parameter]:
        """Every parameter and its default, in the order of declaration."""
        return {field.name: field.default for field in _fields(cls)}

    def __repr__(self) -> str:
        """Format as ``MMeasure(patience=1500)``, with parameters not at their defaults.

        The main parameter is always included.
        """
        defaults = self.defaults()
        shown = [
            f"{name}={shown_value(value)}"
            for position, (name, value) in enumerate(self.parameters().items())
            if position == 0 or value != defaults[name]
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def short_number(number: float) -> str:
    """Format a number as short as it goes without loss: ``840``, ``0.1``, ``inf``."""
    if isinstance(number, Integral) or (abs(number) < 1e15 and number == int(number)):
        return str(int(number))
    return repr(float(number))


def changed_parameters(measure: Measure, *, behind: str = "", always: str = "") -> str:
    """Format the parameters that are not at their defaults: ``(gains=graded)``.

    Parameters
    ----------
    measure : Measure
        With its parameters.
    behind : str
        A parameter that is left out, since it stands behind the name, as the depth in ``IA-P@10``.
    always : str
        A parameter that is written at its default too, as a persistence.
    """
    defaults = measure.defaults()
    shown = [
        f"{name}={value if isinstance(value, str) else shown_value(value)}"
        for name, value in measure.parameters().items()
        if name == always or (name != behind and value != defaults[name])
    ]
    return f"({','.join(shown)})" if shown else ""


def shown_value(value: Parameter) -> str:
    """Format a parameter's value as `metrics.registry.parse_measure` reads it."""
    if isinstance(value, Real) and not isinstance(value, bool):
        return short_number(value)
    return repr(value)


def _fields(cls: type[Measure]) -> tuple[Any, ...]:
    """Return the dataclass fields, in order."""
    return fields(cls)  # type: ignore[arg-type]  # the decorator `measure` makes every subclass a dataclass


def _fits(value: Parameter, annotation: Any) -> bool:
    """Return whether a value fits an annotation; NaN and bool are no numbers."""
    if get_origin(annotation) is Literal:
        return value in get_args(annotation)
    if get_origin(annotation) in UNIONS:
        return any(_fits(value, part) for part in get_args(annotation))
    if annotation in (int, float):
        kind = Integral if annotation is int else Real
        return isinstance(value, kind) and not isinstance(value, bool) and -math.inf <= value <= math.inf
    return isinstance(value, annotation)


def _ranges(annotation: Any) -> list[ParameterRange]:
    """Return the ranges in an annotation, also in a part of a union."""
    if get_origin(annotation) is Annotated:
        return [bounds for bounds in annotation.__metadata__ if isinstance(bounds, ParameterRange)]
    parts = get_args(annotation) if get_origin(annotation) in UNIONS else ()
    return [bounds for part in parts for bounds in _ranges(part)]


def _described(annotation: Any) -> str:
    """Describe an annotation: ``'both', 'first' or 'second'``, ``a number or None``."""
    if get_origin(annotation) is Literal:
        *others, last = map(repr, get_args(annotation))
        return f"{', '.join(others)} or {last}" if others else last
    if get_origin(annotation) in UNIONS:
        return " or ".join(_described(part) for part in get_args(annotation))
    words = {
        int: "a whole number",
        float: "a number",
        bool: "True or False",
        str: "a text",
        type(None): "None",
    }
    return words[annotation]


FAMILY_MODULES: tuple[str, ...] = (
    "metrics.summaries.score",
    "metrics.push.contingency",
    "metrics.updates.score",
    "metrics.msu.score",
    "metrics.ranked.score",
    "metrics.answers.score",
)
M = TypeVar("M", bound=Measure)
_known: dict[str, type[Measure]] = {}


@overload
def measure(what: str) -> Measure: ...


@overload
@dataclass_transform(frozen_default=True, kw_only_default=True)
def measure(what: type[M]) -> type[M]: ...


def measure(what: str | type[M]) -> Measure | type[M]:
    """Return the measure that a text names, or declare a class as a measure.

    Uses are ``measure("M(patience=840)")`` and ``@measure``.

    A class becomes a frozen, keyword-only dataclass and is entered in the registry::

        @measure
        class MMeasure(Measure):
            name = "M"
            family = "summaries"
            source = "Kato et al., EVIA 2016, eq. 2"
            definition = "Expected U-measure over the intents of the query."
            patience: float = 1500

    Parameters
    ----------
    what : str or class
        A text as `parse_measure` takes it, with either name, or the class of a new measure.

    Returns
    -------
    Measure or class
        The measure that the text names; the class itself, declared.

    Raises
    ------
    InputError
        If the text is no measure, see `parse_measure`.
    ValueError
        If another class of that name is registered already.

    Examples
    --------
    >>> measure("M(patience=840)")
    MMeasure(patience=840)
    >>> measure("ELG(silent_days=0)").column
    'ELG-0'
    """
    if isinstance(what, str):
        return parse_measure(what, printed=True)
    if not isinstance(what, type):
        raise input_fault(f"{what!r} names no measure", cure='give one text, such as "M(patience=840)"')
    declared = dataclass(frozen=True, kw_only=True, slots=True, repr=False)(what)
    other = _known.get(declared.__name__)
    if other is not None and other.__module__ != declared.__module__:
        raise ValueError(f"a measure {declared.__name__} exists already in {other.__module__}")
    _known[declared.__name__] = declared
    return declared


def all_measures() -> dict[str, type[Measure]]:
    """Return every measure class by name, the package's families first.

    Returns
    -------
    dict of str to class
        Name of the class -> the class; what `prefcal measures` lists.

    Examples
    --------
    >>> all_measures()["ELG"]().name
    'ELG'
    """
    for module in FAMILY_MODULES:
        importlib.import_module(module)
    return dict(_known)


def parse_measure(text: str, *, printed: bool = False) -> Measure:
    """Read a measure from the text that it prints as; ``parse_measure(repr(m)) == m``.

    Parameters
    ----------
    text : str
        ``MMeasure(patience=840, layers='first')``; the bare name means the defaults.
    printed : bool
        Take the name that score tables print too, ``M(patience=840)``.

    Raises
    ------
    InputError
        If the text is no measure, or names an unknown measure or parameter, or a value is out of range.
    """
    name, arguments = _parsed(text)
    cls = _class_named(name, printed=printed)
    unknown = [key for key in arguments if key not in cls.defaults()]
    if unknown:
        raise _unknown(f"{name} has no parameter {unknown[0]!r}", unknown[0], list(cls.defaults()))
    try:
        return cls(**arguments)
    except ValueError as error:
        raise input_fault(f"{text}: {error}", cure="see `prefcal measures`") from None


def _class_named(name: str, *, printed: bool) -> type[Measure]:
    """Find a measure class by its name, else by its printed name.

    The first match counts; families are imported when the name is unknown so far.
    """
    cls = _known.get(name) or all_measures().get(name)
    if cls is None and printed:
        cls = next((measure_class for measure_class in _known.values() if measure_class.name == name), None)
    if cls is None:
        raise _unknown(f"there is no measure {name!r}", name, list(_known))
    return cls


def _parsed(text: str) -> tuple[str, dict[str, Parameter]]:
    """Split ``Name(key=value, ...)`` into name and arguments, without evaluation."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
        if isinstance(node, ast.Name):
            return node.id, {}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
            return node.func.id, {str(word.arg): _value(word.value) for word in node.keywords}
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        pass
    raise input_fault(f"{text!r} is not a measure", cure="write it like MMeasure(patience=1500)")


def _value(node: ast.expr) -> Parameter:
    """Parse one argument: a Python literal, with ``inf`` for infinity."""
    value: Parameter = ast.literal_eval(_WithInfinity().visit(node))
    return value


class _WithInfinity(ast.NodeTransformer):
    """Transformer that replaces the name ``inf`` by the number.

    Python has no literal for it.
    """

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(math.inf) if node.id == "inf" else node


def _unknown(problem: str, name: str, known: list[str]) -> InputError:
    near = closest_name(name, known)
    return input_fault(
        problem, cure=f"did you mean {near}?" if near else f"known are {join_names(known) or 'none'}"
    )
