"""Measures of ranked lists by name.

A name that the package has itself means its own measure; every other one is read in the notation of ir_measures, such as ``nDCG@10`` or
``RBP(p=0.8)``. `metrics.ranked.score` scores those. Source: MacAvaney, Macdonald, Ounis: Streamlining Evaluation with ir-measures (ECIR
2022).
"""

import ast
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

from metrics.errors import InputError, closest_name, input_fault, join_names
from metrics.ranked.measures import (
    DEPTH,
    IAERR,
    IANDCG,
    IAP,
    RBP,
    TIAAP,
    TIAERR,
    TIANDCG,
    TIAP,
    Compat,
    MeasureAtDepth,
    RankedMeasure,
)
from metrics.ranked.recall import SBR, TIASBR, TSBR
from metrics.registry import Measure, Parameter, parse_measure
from metrics.results import check_several, label_measures

OWN: Mapping[str, type[RankedMeasure]] = {
    cls.__name__: cls
    for cls in (TIAP, TIANDCG, TIAERR, TIAAP, TSBR, TIASBR, IAP, IANDCG, IAERR, SBR, RBP, Compat)
}
"""The package's own measures, by the name of their class."""
COMPUTED_HERE = ("RBP", "ERR")
"""Measures in the notation of ir_measures that `metrics.ranked.score` computes."""
INSTALL = "pip install 'prefcal[measures]'"
MAX_GRADE = 4
"""Largest grade g for which ERR's (2^g - 1) / 16 is a probability."""
LIMITS = {"cutoff": (1, 1_000_000), "rel": (1, 1_000_000), "p": (0, math.nextafter(1, 0))}
"""Smallest and largest value of a parameter.

A depth of 0 would end the process.
"""
ALWAYS_SHOWN = "p"
"""Parameters shown in a name even at their default: the persistence."""
_HEAD = re.compile(r"\s*(\w+)")
_PRINTED = re.compile(r"(?P<name>[A-Za-z-]+)(?:\((?P<parameters>[^()]*)\))?(?:@(?P<k>[0-9]{1,6}))?")
THEIRS = "rel"
"""Parameters of ir_measures' RBP that the package's RBP lacks."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class IrMeasuresMeasure(Measure):
    """Measure of ir_measures; `ranked_measure` makes one from a checked name.

    Attributes
    ----------
    text : str
        In the notation of ir_measures, which is also what tables call it.
    """

    name = "ir_measures"
    family = "ranked"
    source = "MacAvaney, Macdonald and Ounis, ECIR 2022"
    definition = "A measure of ir_measures."
    timed = False
    text: str = "nDCG@10"

    @property
    def by_subtopic(self) -> bool:
        """True if it is a measure of diversity."""
        return bool(ir_measures().pyndeval.supports(in_their_notation(self.text)))

    @property
    def column(self) -> str:
        """Column name in the notation of ir_measures: ``RBP(p=0.8)``."""
        return self.text

    @property
    def largest_grade(self) -> int | None:
        """Largest grade of ERR and of nDCG with exponential gains: 4; None: any.

        The tool of each of them sets this limit.
        """
        limited = self.text.startswith("ERR@") or self.text == "ERR" or "exp-log2" in self.text
        return MAX_GRADE if limited else None

    def __repr__(self) -> str:
        return self.text


ListMeasure: TypeAlias = RankedMeasure | IrMeasuresMeasure
"""Measure of a ranked list, of the package or of ir_measures."""
Measures: TypeAlias = Iterable[ListMeasure | str] | Mapping[str, ListMeasure | str]


def ranked_measure(text: str) -> ListMeasure:
    """Read the name of a measure of ranked lists.

    It accepts the package's printed names and column names, then those of ir_measures.

    Parameters
    ----------
    text : str
        ``TIANDCG(k=5)``, ``TIA-nDCG@5``, ``nDCG@10``, ``RBP(p=0.8)``.

    Raises
    ------
    InputError
        If there is no such measure, a parameter is wrong, or ir_measures or the tool that it needs is not installed.

    Examples
    --------
    >>> ranked_measure("IA-P@5")
    IAP(k=5)
    """
    printed = _printed(text.strip())
    if printed is not None:
        return printed
    head = _HEAD.match(text)
    if head is not None and head[1] in OWN and THEIRS not in text:
        measure = parse_measure(text)
        if isinstance(measure, RankedMeasure):
            return measure
    return _plain_measure(text.strip())


def ranked_labels(measures: Measures) -> dict[str, ListMeasure]:
    """Label measures as `metrics.results.label_measures` does.

    It reads texts with `ranked_measure`.
    """
    check_several(measures, "measures")
    if isinstance(measures, Mapping):
        return {label: _read(measure) for label, measure in measures.items()}
    return label_measures([_read(measure) for measure in measures])


def has_ir_measures() -> bool:
    """Return whether ir_measures is installed."""
    return find_spec("ir_measures") is not None


def ir_measures() -> Any:
    """Import ir_measures; it must be installed."""
    return import_module("ir_measures")


def _read(measure: ListMeasure | str) -> ListMeasure:
    return ranked_measure(measure) if isinstance(measure, str) else measure


def _printed(text: str) -> RankedMeasure | None:
    """Read a column name of the package's measures, such as ``IA-P@5``.

    Other forms are ``TIA-AP`` and ``IA-nDCG(gains=graded)@10``.

    Raises
    ------
    InputError
        If it is one of these, and a parameter is wrong.
    """
    written = _PRINTED.fullmatch(text)
    cls = next(
        (own_class for own_class in OWN.values() if written and own_class.name == written["name"]), None
    )
    if written is None or cls is None or (issubclass(cls, MeasureAtDepth) and written["k"] is None):
        return None
    given = dict(map(_parameter, filter(None, (written["parameters"] or "").split(","))))
    if written["k"] is not None:
        given[DEPTH] = int(written["k"])
    if THEIRS in given:
        return None
    unknown = next((name for name in given if name not in cls.defaults()), None)
    if unknown is not None:
        problem = f"{text}: {cls.name} has no parameter {unknown!r}"
        raise input_fault(problem, cure=f"known are {join_names(cls.defaults())}")
    try:
        return cls(**given)
    except ValueError as error:
        raise input_fault(f"{text}: {error}", cure="see `prefcal measures`") from None


def _parameter(text: str) -> tuple[str, Parameter]:
    """Read ``gains=graded`` or ``p=0.8``: a Python literal, or a bare word."""
    name, _, value = (part.strip() for part in text.partition("="))
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value


def _plain_measure(text: str) -> IrMeasuresMeasure:
    """Read and check a measure of ir_measures."""
    if not has_ir_measures():
        head = _HEAD.match(text)
        near = closest_name(head[1], OWN, cutoff=0.8) if head else None
        problem = f"prefcal has no measure {text!r} of its own{f' (did you mean {near}?)' if near else ''}"
        raise input_fault(f"{problem}; those of ir_measures need it installed", cure=INSTALL)
    try:
        measure = in_their_notation(text)
    except NameError:
        raise _unknown(text) from None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise input_fault(
            f"{text!r} is not a measure", cure="write it like nDCG@10, RBP(p=0.8) or TIANDCG(k=10)"
        ) from None
    _check_parameters(measure, text)
    _check_tool(measure, text)
    return IrMeasuresMeasure(text=_written(measure))


def in_their_notation(text: str) -> Any:
    """Parse ``Name(key=value)@depth``.

    It replaces ir_measures' own parser, which uses names of `ast` that Python 3.14 no longer has.

    Raises
    ------
    NameError
        If ir_measures has no such measure.
    SyntaxError, ValueError, TypeError
        If it is written wrongly.
    """
    node = ast.parse(text, mode="eval").body
    depth: Any = None
    given: dict[str, Any] = {}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        depth = ast.literal_eval(node.right)
        node = node.left
    if isinstance(node, ast.Call) and not node.args:
        given = {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
        node = node.func
    if not isinstance(node, ast.Name):
        raise TypeError(text)
    theirs = ir_measures().measures.registry.get(node.id)
    if theirs is None:
        raise NameError(node.id)
    return theirs(**given) if depth is None else theirs(**given, **{theirs.AT_PARAM: depth})


def _unknown(text: str) -> InputError:
    """Return an unknown-measure error with the closest known name."""
    head = _HEAD.match(text)
    name = head[1] if head else text
    known = list(ir_measures().measures.registry)
    near = closest_name(name, [*OWN, *known])
    cure = f"did you mean {near}? " if near else ""
    return input_fault(
        f"neither prefcal nor ir_measures has a measure {name!r} of ranked lists",
        cure=f"{cure}ir_measures has {join_names(known, most=12)} (https://ir-measur.es)",
    )


def _check_parameters(measure: Any, text: str) -> None:
    """Raise if a parameter is unknown, missing, or out of range."""
    known = measure.SUPPORTED_PARAMS
    for key in measure.params:
        if key not in known:
            cure = f"it has {join_names(known) or 'none'}"
            raise input_fault(f"{text}: {measure.NAME} has no parameter {key!r}", cure=cure)
    for key, about in known.items():
        if key not in measure.params and about.required:
            cure = f"write {measure.NAME}@10" if key == "cutoff" else f"write {measure.NAME}({key}=...)"
            what = "a depth" if key == "cutoff" else f"the parameter {key}"
            raise input_fault(f"{text}: {measure.NAME} needs {what}", cure=cure)
        value = measure.params.get(key, about.default)
        if key in measure.params and not _fits(key, value, about):
            raise input_fault(f"{text}: {key} cannot be {value!r}", cure=f"it is the {about.desc}")


def _fits(key: str, value: Any, about: Any) -> bool:
    """Return whether ir_measures accepts a value, and its tools can handle it."""
    if key in LIMITS:
        low, high = LIMITS[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            return False
    return bool(about.validate(value))


def _check_tool(measure: Any, text: str) -> None:
    """Raise if no installed tool computes a measure."""
    if measure.NAME in COMPUTED_HERE or ir_measures().DefaultPipeline.supports(measure):
        return
    able = [provider for provider in ir_measures().DefaultPipeline.providers if provider.supports(measure)]
    if able:
        tools = join_names(provider.NAME for provider in able)
        cure = able[0].install_instructions() or f"install {able[0].NAME}"
        raise input_fault(f"{text}: ir_measures needs {tools} for it, which is not installed", cure=cure)
    raise input_fault(
        f"{text}: ir_measures has no tool that computes it with these parameters",
        cure=f"see https://ir-measur.es for those of {measure.NAME}",
    )


def _written(measure: Any) -> str:
    """Format a measure in the notation of ir_measures.

    Parameters at their defaults are left out, except a persistence.
    """
    at, given = measure.AT_PARAM, measure.params
    shown = [
        f"{key}={measure[key]!r}"
        for key, about in measure.SUPPORTED_PARAMS.items()
        if key != at and (key == ALWAYS_SHOWN or (key in given and given[key] != about.default))
    ]
    parameters = f"({','.join(shown)})" if shown else ""
    return f"{measure.__name__}{parameters}" + (f"@{given[at]}" if at in given else "")
