"""The measures that a study or a command names for comparison: found by name, or refused with the nearest known ones."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType

from pydantic import JsonValue

from calibration.agree.measures.measure_names import CLASSES, measure_called, printed_name, raise_if_misspelt
from calibration.agree.measures.variants import CONVERTED_MARK, Fit, Variant
from calibration.patience.grid import PAPER_PATIENCE
from metrics.errors import Fault, InputError
from metrics.registry import short_number
from metrics.wording import listed, nearest

OPTIONS = "--primary, --compare"
_AT_DEFAULT = tuple(f"M@{short_number(patience)}" for patience in PAPER_PATIENCE.values())
_PARTS = ("", " first layer only", " second layers only", " uniform P", " fitted P")

POSSIBLE: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "summary_pairs": frozenset("".join(parts) for parts in product(_AT_DEFAULT, _PARTS))
        | {"M@preferences", "M@grid", "M@stops"},
        "stream_pairs": frozenset({"ELG-1", "ELG-0", "nCG-1", "nCG-0", "T11U", "MSU@0.5", "ELG", "LC", "HM"})
        | {"T11U@preferences", "Contingency@preferences", "MSU@fitted"},
        "ranked_pairs": frozenset(
            {"TIA-nDCG@10", "TIA-P@10", "TIA-ERR@10", "TIA-AP", "T-SBR@10", "TIA-SBR@10"}
        )
        | {"IA-nDCG@10", "IA-P@10", "IA-ERR@10", "SBR@10"}
        | {"TIA-nDCG@10 fitted P", "TIA-ERR@10 fitted P", "TIA-SBR@10 fitted P"},
    }
)
"""Kind of task -> what its measures are called, whether or not files and model for them are there; unmarked."""
OF_MODEL = ("@preferences", "@grid", "@stops", "@fitted", "fitted P")
"""How names end of what only a user model can score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a study or a command names.

    Attributes
    ----------
    primary : (str, str) or None
        The measure, and what it is compared with.
    compare : tuple of str
        The measures of the family; the first is what the others are compared with, a single one is compared with the
        task's main measure. Empty: every measure neither fitted in sample nor converted, against the main one.
    at_analysis : bool
        They were named when the answers were there, and not in the study file.
    """

    primary: tuple[str, str] | None = None
    compare: tuple[str, ...] = ()
    at_analysis: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Every measure that is named."""
        return tuple(dict.fromkeys((*(self.primary or ()), *self.compare)))

    def without(self, names: Collection[str]) -> "Wanted":
        """Return the same without some measures; a primary comparison needs both of its own."""
        keeps_primary = self.primary is not None and not set(self.primary) & set(names)
        return replace(
            self,
            primary=self.primary if keeps_primary else None,
            compare=tuple(name for name in self.compare if name not in names),
        )

    def renamed(self, names: Mapping[str, str]) -> "Wanted":
        """Return the same by other names."""
        primary = None if self.primary is None else (names[self.primary[0]], names[self.primary[1]])
        compare = tuple(dict.fromkeys(names[name] for name in self.compare))
        return replace(self, primary=primary, compare=compare)


def wanted_by_study(protocol: Mapping[str, JsonValue]) -> Wanted:
    """Return what a task's protocol names as `primary` and `compare`."""
    primary, compare = protocol.get("primary"), protocol.get("compare")
    pair = tuple(map(str, primary)) if isinstance(primary, list) else ()
    return Wanted(
        primary=(pair[0], pair[1]) if len(pair) == 2 else None,
        compare=tuple(map(str, compare)) if isinstance(compare, list) else (),
    )


def resolved(
    wanted: Wanted, variants: Sequence[Variant], *, task: str, kind: str, place: str
) -> tuple[Wanted, list[str]]:
    """Return what a study wants by the measures' full names, and why something of it is left out.

    What the task's kind has but nothing here scores (no files, no model) is left out with a sentence.

    Raises
    ------
    InputError
        If there is no measure of a name in tasks of this kind, or it was fitted to the preferences that would judge it.
    """
    found = found_measures(wanted.names, variants, kind)
    fair = {one.measure for one in variants if one.fit is not Fit.IN_SAMPLE}
    missing = [name for name in wanted.names if name not in found]
    absent = [name for name in missing if is_name(name, kind)]
    faults = [_unknown(name, fair, f"task {task}", {kind}) for name in missing if name not in absent]
    faults += [_in_sample(full, f"task {task}") for full in found.values() if full not in fair]
    faults += _same(wanted, found)
    if faults:
        raise InputError([replace(fault, path=place) for fault in faults])
    notes = [
        f"{task}: no comparison with {name}, which the study names: "
        + ("it needs what prefcal fit finds (--model)" if _is_fitted(name) else "its files are not here")
        for name in absent
    ]
    return wanted.without(absent).renamed(found), notes


def resolved_for_all(
    wanted: Wanted, variants: Mapping[str, Sequence[Variant]], kinds: Mapping[str, str]
) -> dict[str, Wanted]:
    """Return what a command wants of each task, by the measures' full names; a task compares what it has of it.

    Parameters
    ----------
    wanted : Wanted
        What is named.
    variants : mapping of str to sequence of Variant
        By task.
    kinds : mapping of str to str
        Task -> kind, of the same tasks.

    Raises
    ------
    InputError
        If no task has a measure of a name, or nothing here scores it, or one was fitted to the preferences that would judge it.
    """
    found = {task: found_measures(wanted.names, of_task, kinds[task]) for task, of_task in variants.items()}
    fair = {one.measure for of_task in variants.values() for one in of_task if one.fit is not Fit.IN_SAMPLE}
    known = {name for of_task in found.values() for name in of_task}
    faults = [
        _unscored(name)
        if any(is_name(name, kind) for kind in kinds.values())
        else _unknown(name, fair, "any task", set(kinds.values()))
        for name in wanted.names
        if name not in known
    ]
    full = dict.fromkeys(full for of_task in found.values() for full in of_task.values())
    faults += [_in_sample(name, "any task") for name in full if name not in fair]
    faults += list(dict.fromkeys(fault for of_task in found.values() for fault in _same(wanted, of_task)))
    if faults:
        raise InputError([replace(fault, problem=f"{OPTIONS}: {fault.problem}") for fault in faults])
    return {
        task: wanted.without(set(wanted.names) - set(names)).renamed(names) for task, names in found.items()
    }


def is_name(name: str, kind: str) -> bool:
    """Say whether tasks of a kind can have a measure of a name, whether or not files and model for it are there."""
    return _plain(name, kind) in POSSIBLE.get(kind, ()) or measure_called(name, kind) is not None


def nearest_name(name: str, kind: str) -> str | None:
    """Return the measure of tasks of a kind whose name is most like another name, None where none is like it."""
    return nearest(name, (*POSSIBLE.get(kind, ()), *CLASSES.get(kind, ())))


def found_measures(names: Sequence[str], variants: Sequence[Variant], kind: str) -> dict[str, str]:
    """Return name -> measure: itself, or what the tables call it, or either converted; others are absent."""
    known = {one.measure for one in variants}
    candidates = {name: tuple(_forms(name, kind)) for name in names}
    return {
        name: next(one for one in forms if one in known)
        for name, forms in candidates.items()
        if known & set(forms)
    }


def _forms(name: str, kind: str) -> Iterator[str]:
    """Yield what a measure may stand as in the tables."""
    measure = measure_called(name, kind)
    for form in (name,) if measure is None else (name, printed_name(measure, kind)):
        yield form
        yield f"{form} {CONVERTED_MARK}"


def _is_fitted(name: str) -> bool:
    return name.removesuffix(f" {CONVERTED_MARK}").endswith(OF_MODEL)


def _unscored(name: str) -> Fault:
    cure = "name its files with --collection KIND=PATH and --run NAME=PATH"
    if _is_fitted(name):
        cure = "give --model FILE, as prefcal fit writes it from tables that can tell its parameters"
    return Fault(problem=f"nothing here scores {name!r}", cure=cure)


def _same(wanted: Wanted, found: Mapping[str, str]) -> list[Fault]:
    """Return what is wrong where both names of the primary comparison are of one measure."""
    full = {found.get(name, name) for name in wanted.primary or ()}
    if len(full) != 1:
        return []
    return [Fault(problem=f"both measures of primary are {full.pop()}", cure="name two that differ")]


def _plain(name: str, kind: str) -> str:
    """Return a name without its mark, of a ranked list's measure at the default depth."""
    if kind == "ranked_pairs":
        return re.sub(r"@[0-9]+", "@10", name)
    return name.removesuffix(f" {CONVERTED_MARK}")


def _unknown(name: str, known: Collection[str], task: str, kinds: Collection[str]) -> Fault:
    """Return why there is no measure of a name: what is wrong in the registry's notation, else the nearest known ones."""
    try:
        raise_if_misspelt(name, kinds)
    except InputError as error:
        return error.faults[0]
    near = nearest(name, [*known, *(written for kind in kinds for written in CLASSES.get(kind, ()))])
    cure = f"did you mean {near!r}? " if near else ""
    return Fault(
        problem=f"there is no measure {name!r} in {task}",
        cure=f"{cure}known are {listed(sorted(known), most=30)}, and the like (prefcal agree --help)",
    )


def _in_sample(name: str, task: str) -> Fault:
    return Fault(
        problem=f"{name!r} was fitted to the preferences of {task} that would judge it",
        cure=f"name {name.replace(' in sample', '')!r}, which is cross-fitted",
    )
