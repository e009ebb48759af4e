"""Names of measures, as tables or the registry print them.

An unknown name is refused with the nearest known one.

``M@840``, ``MMeasure(patience=840)`` and ``MMeasure(patience=840, layers='both')`` are one measure, which the tables call
``M@840``. What was fitted to the study (``M@preferences``) is a name, yet no measure by itself.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from calibration.agree.measures.kinds import KINDS
from calibration.agree.measures.variants import CONVERTED_MARK, ParameterOrigin, ScoredMeasure
from calibration.agree.result import OPTIONS, Arguments, NamedComparisons
from metrics.errors import Fault, InputError, closest_name, input_fault, join_names
from metrics.ranked.named import INSTALL, IrMeasuresMeasure, has_ir_measures, ranked_measure
from metrics.registry import Measure, all_measures
from metrics.summaries.score import MMeasure

OF_MODEL = ("@preferences", "@grid", "@stops", "@fitted", "fitted P")
"""Suffixes of names that only a user model can score."""
_AT_DEPTH = re.compile(r"\w+@.*")
_NUMBERED = re.compile(r"(?P<name>.+)(?P<mark>[@-])(?P<number>inf|[0-9]+(?:\.[0-9]+)?)")


def resolved(
    named_comparisons: NamedComparisons,
    variants: Sequence[ScoredMeasure],
    *,
    task: str,
    kind: str,
    place: str,
) -> tuple[NamedComparisons, list[str]]:
    """Return a study's comparisons by full names, and notes on missing ones.

    A measure that has no scores here (no files, no model) is left out with a sentence.

    Raises
    ------
    InputError
        If there is no measure of a name in tasks of this kind, or it was fitted to the preferences that would judge it.
    """
    named, absent, faults = _found(named_comparisons, {task: variants}, {task: kind}, within=f"task {task}")
    if faults:
        raise InputError([replace(fault, path=place) for fault in faults])
    notes = [
        f"{task}: no comparison with {name}, which the study names: "
        + ("it needs the user model that prefcal fit makes" if _is_fitted(name) else "its files are not here")
        for name in absent
    ]
    return named[task], notes


def resolved_for_all(
    named_comparisons: NamedComparisons,
    variants: Mapping[str, Sequence[ScoredMeasure]],
    kinds: Mapping[str, str],
    *,
    arguments: Arguments = OPTIONS,
    options: str | None = None,
) -> dict[str, NamedComparisons]:
    """Return the comparisons of a command for each task, by full names.

    Parameters
    ----------
    named_comparisons : Wanted
        What is named.
    variants : mapping of str to sequence of ScoredMeasure
        By task.
    kinds : mapping of str to str
        Task -> kind, of the same tasks.
    arguments : Arguments
        What messages call that with which an agreement is asked for.
    options : str, optional
        What messages call that which names these measures; by default ``arguments.named``.

    Raises
    ------
    InputError
        If no task has a measure of a name, or nothing here scores it, or one was fitted to the preferences that would judge it.
    """
    named, absent, faults = _found(named_comparisons, variants, kinds, within="any task")
    faults = [*(_unscored(name, arguments) for name in absent), *faults]
    if faults:
        raise InputError(
            [replace(fault, problem=f"{options or arguments.named}: {fault.problem}") for fault in faults]
        )
    return named


def _found(
    named_comparisons: NamedComparisons,
    variants: Mapping[str, Sequence[ScoredMeasure]],
    kinds: Mapping[str, str],
    *,
    within: str,
) -> tuple[dict[str, NamedComparisons], list[str], list[Fault]]:
    """Return comparisons by task, known names without scores, and faults."""
    measures_by_name = {
        task: found_measures(named_comparisons.names, of_task, kinds[task])
        for task, of_task in variants.items()
    }
    fair = {
        variant.measure
        for of_task in variants.values()
        for variant in of_task
        if variant.fit is not ParameterOrigin.IN_SAMPLE
    }
    missing = [
        name
        for name in named_comparisons.names
        if not any(name in of_task for of_task in measures_by_name.values())
    ]
    absent = [name for name in missing if any(is_name(name, kind) for kind in kinds.values())]
    faults = [_unknown(name, fair, within, set(kinds.values())) for name in missing if name not in absent]
    full = dict.fromkeys(full for of_task in measures_by_name.values() for full in of_task.values())
    faults += [_in_sample(name, within) for name in full if name not in fair]
    faults += dict.fromkeys(
        fault for of_task in measures_by_name.values() for fault in _same(named_comparisons, of_task)
    )
    named = {
        task: named_comparisons.without(set(named_comparisons.names) - set(names)).renamed(names)
        for task, names in measures_by_name.items()
    }
    return named, absent, faults


def is_name(name: str, kind: str) -> bool:
    """Return whether a measure of this name exists for this kind of task."""
    return kind in KINDS and (
        _plain(name, kind) in KINDS[kind].names or measure_called(name, kind) is not None
    )


def nearest_name(name: str, kind: str) -> str | None:
    """Return the known measure name of a kind of task most like a name, or None."""
    return closest_name(name, (*KINDS[kind].names, *KINDS[kind].classes)) if kind in KINDS else None


def what_is_missing(kind: str) -> str | None:
    """Return a hint to install a library that reads more names, if any."""
    reads_more = kind in KINDS and KINDS[kind].reads is ranked_measure
    return INSTALL if reads_more and not has_ir_measures() else None


def found_measures(names: Sequence[str], variants: Sequence[ScoredMeasure], kind: str) -> dict[str, str]:
    """Return measures by name; unknown names are absent.

    A text may name the measure itself, its label in the tables, or either one converted.
    """
    known = {one.measure for one in variants}
    candidates = {name: tuple(_forms(name, kind)) for name in names}
    return {
        name: next(one for one in forms if one in known)
        for name, forms in candidates.items()
        if known & set(forms)
    }


def measure_called(name: str, kind: str) -> Measure | None:
    """Return the measure of this name in tasks of a kind, or None.

    Parameters
    ----------
    name : str
        As tables print it, with or without ``(converted)``, or as `metrics.registry.parse_measure` reads it; for ranked
        lists also any of ir_measures, as `metrics.ranked.named.ranked_measure` reads it.
    kind : str
        Kind of task, as in `KINDS`.
    """
    if kind not in KINDS:
        return None
    plain = name.strip().removesuffix(f" {CONVERTED_MARK}")
    printed = _printed(plain, kind)
    if printed is not None:
        return printed
    try:
        return _of_registry(plain, kind)
    except InputError:
        return None


def printed_name(measure: Measure, kind: str) -> str:
    """Return the name of a measure in tables: the inverse of `measure_called`."""
    if isinstance(measure, IrMeasuresMeasure):
        return measure.column
    parameters = measure.parameters()
    endings = [ending for key, value, ending in KINDS[kind].endings if parameters.get(key) == value]
    short = measure.column + "".join(endings)
    return short if measure_called(short, kind) == measure else repr(measure)


def raise_if_misspelt(name: str, kinds: Collection[str]) -> None:
    """Raise `InputError` for a name in a known notation that is no measure.

    The notation is the registry's or that of ir_measures.
    """
    kinds = [kind for kind in kinds if kind in KINDS]
    is_outside = _AT_DEPTH.fullmatch(name) and all(KINDS[kind].reads is ranked_measure for kind in kinds)
    if "(" not in name.removesuffix(CONVERTED_MARK) and not is_outside:
        return
    if not any(measure_called(name, kind) for kind in kinds):
        for kind in kinds:
            _of_registry(name, kind)


def _forms(name: str, kind: str) -> Iterator[str]:
    """Yield the names that a measure may have in the tables."""
    measure = measure_called(name, kind)
    for form in (name,) if measure is None else (name, printed_name(measure, kind)):
        yield form
        yield f"{form} {CONVERTED_MARK}"


def _is_fitted(name: str) -> bool:
    return name.removesuffix(f" {CONVERTED_MARK}").endswith(OF_MODEL)


def _unscored(name: str, arguments: Arguments) -> Fault:
    cure = arguments.files
    if _is_fitted(name):
        cure = f"give {arguments.model}, from tables that can tell its parameters"
    return Fault(problem=f"nothing here scores {name!r}", cure=cure)


def _same(named_comparisons: NamedComparisons, measures_by_name: Mapping[str, str]) -> list[Fault]:
    """Return the fault of a primary comparison of a measure with itself."""
    full = {measures_by_name.get(name, name) for name in named_comparisons.primary or ()}
    if len(full) != 1:
        return []
    return [Fault(problem=f"both measures of primary are {full.pop()}", cure="name two that differ")]


def _plain(name: str, kind: str) -> str:
    """Return a name without its mark, of a ranked list's measure at the default depth."""
    if KINDS[kind].with_depth:
        return re.sub(r"@[0-9]+", "@10", name)
    return name.removesuffix(f" {CONVERTED_MARK}")


def _unknown(name: str, known: Collection[str], task: str, kinds: Collection[str]) -> Fault:
    """Return the fault of an unknown name, with the nearest known one."""
    try:
        raise_if_misspelt(name, kinds)
    except InputError as error:
        return error.faults[0]
    near = closest_name(
        name, [*known, *(written for kind in KINDS.keys() & kinds for written in KINDS[kind].classes)]
    )
    cure = f"did you mean {near!r}? " if near else ""
    return Fault(
        problem=f"there is no measure {name!r} in {task}",
        cure=f"{cure}known are {join_names(sorted(known), most=30)}, and the like (see docs/agreement.md)",
    )


def _in_sample(name: str, task: str) -> Fault:
    return Fault(
        problem=f"{name!r} was fitted to the preferences of {task} that would judge it",
        cure=f"name {name.replace(' in sample', '')!r}, which is cross-fitted",
    )


def _of_registry(text: str, kind: str) -> Measure:
    """Parse a measure in the registry's or ir_measures' notation, and check it.

    It must be a measure whose agreement can be computed.
    """
    measures_by_name = KINDS[kind].reads(text)
    able = KINDS[kind].classes
    if isinstance(measures_by_name, IrMeasuresMeasure):
        return measures_by_name
    if type(measures_by_name).__name__ not in able:
        raise input_fault(f"{text} does not score {kind}", cure=f"what does is {join_names(able, most=30)}")
    if isinstance(measures_by_name, MMeasure) and measures_by_name.truncate is not None:
        raise input_fault(
            f"{text}: agreement is of whole summaries", cure="leave out truncate, or give scores of your own"
        )
    return measures_by_name


def _printed(text: str, kind: str) -> Measure | None:
    """Parse a measure as tables print it.

    The text has the name, the main parameter and the ablations of an M-measure.
    """
    more: dict[str, str] = {}
    for key, value, ending in reversed(KINDS[kind].endings):
        if text.endswith(ending) and key not in more:
            more[key], text = value, text.removesuffix(ending)
    numbered = _NUMBERED.fullmatch(text)
    known = all_measures()
    for cls in (known[name] for name in KINDS[kind].classes):
        if not more and cls().column == text:
            return cls()
        if numbered is not None and numbered["name"] == cls.name:
            measures_by_name = _with_number(cls, numbered, more)
            if measures_by_name is not None:
                return measures_by_name
    return None


def _with_number(cls: type[Measure], numbered: re.Match[str], more: Mapping[str, str]) -> Measure | None:
    """Return a measure with this number as its main parameter, or None.

    The number follows the name.
    """
    text = numbered["number"]
    number = int(text) if text.isdecimal() else float(text)
    try:
        measures_by_name = cls(**{next(iter(cls.defaults())): number}, **more)
    except ValueError:
        return None
    return measures_by_name if measures_by_name.column.startswith(f"{cls.name}{numbered['mark']}") else None
