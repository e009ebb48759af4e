"""What a measure can be called in a study file or a command: as tables of agreement print it, or as the registry does.

``M@840``, ``MMeasure(patience=840)`` and ``MMeasure(patience=840, layers='both')`` are one measure, which the tables call
``M@840``. What was fitted to the study (``M@preferences``) is no measure by itself: `calibration.agree.measures.named_measures` knows it.
"""

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

from calibration.agree.measures.variants import CONVERTED_MARK
from metrics.errors import InputError, input_fault
from metrics.registry import Measure, all_measures, parse_measure
from metrics.summaries.score import MMeasure
from metrics.wording import listed

CLASSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "summary_pairs": ("MMeasure",),
        "stream_pairs": (
            *("ELG", "NCG", "T11U", "Contingency", "SilencePrecision", "SilenceRecall"),
            *("ExpectedGain", "ExpectedLatencyGain", "NormalisedGain", "NormalisedLatencyGain"),
            *("Comprehensiveness", "LatencyComprehensiveness", "HarmonicMean", "MSU", "MSUPerSecond"),
        ),
        "ranked_pairs": (
            *("TIANDCG", "TIAP", "TIAERR", "TIAAP", "TSBR", "TIASBR"),
            *("IANDCG", "IAP", "IAERR", "SBR"),
        ),
    }
)
"""Kind of task -> the measures of the registry that give one of its systems a score, the more the better."""

_ENDINGS: tuple[tuple[str, str, str], ...] = (
    ("layers", "first", " first layer only"),
    ("layers", "second", " second layers only"),
    ("intents", "uniform", " uniform P"),
    ("intents", "fitted", " fitted P"),
)
"""Parameter, value and what it adds to the name of an M-measure, in the order in which they stand there."""
_NUMBERED = re.compile(r"(?P<name>.+)(?P<mark>[@-])(?P<number>inf|[0-9]+(?:\.[0-9]+)?)")


def measure_called(name: str, kind: str) -> Measure | None:
    """Return the measure that a name stands for in tasks of a kind, None where it is no name of a measure.

    Parameters
    ----------
    name : str
        As tables print it, with or without ``(converted)``, or as `metrics.registry.parse_measure` reads it.
    kind : str
        ``summary_pairs``, ``stream_pairs`` or ``ranked_pairs``.
    """
    plain = name.strip().removesuffix(f" {CONVERTED_MARK}")
    printed = _printed(plain, kind)
    if printed is not None:
        return printed
    try:
        return _of_registry(plain, kind)
    except InputError:
        return None


def printed_name(measure: Measure, kind: str) -> str:
    """Return what tables of agreement call a measure; ``measure_called(printed_name(m, kind), kind) == m``."""
    parameters = measure.parameters()
    endings = [ending for key, value, ending in _ENDINGS if parameters.get(key) == value]
    short = measure.column + "".join(endings)
    return short if _printed(short, kind) == measure else repr(measure)


def raise_if_misspelt(name: str, kinds: Collection[str]) -> None:
    """Raise `InputError` with what is wrong where a name is in the registry's notation, yet no measure of these kinds."""
    if "(" not in name.removesuffix(CONVERTED_MARK):
        return
    kinds = [kind for kind in kinds if kind in CLASSES]
    if not any(measure_called(name, kind) for kind in kinds):
        for kind in kinds:
            _of_registry(name, kind)


def _of_registry(text: str, kind: str) -> Measure:
    """Read a measure in the registry's notation, and see that agreement can be computed of it."""
    found = parse_measure(text)
    able = CLASSES.get(kind, ())
    if type(found).__name__ not in able:
        raise input_fault(f"{text} does not score {kind}", cure=f"what does is {listed(able, most=30)}")
    if isinstance(found, MMeasure) and found.truncate is not None:
        raise input_fault(
            f"{text}: agreement is of whole summaries", cure="leave out truncate, or give --scores"
        )
    return found


def _printed(text: str, kind: str) -> Measure | None:
    """Read a measure as tables print it: name, main parameter, and what an M-measure is without."""
    more: dict[str, str] = {}
    if kind == "summary_pairs":
        for key, value, ending in reversed(_ENDINGS):
            if text.endswith(ending) and key not in more:
                more[key], text = value, text.removesuffix(ending)
    numbered = _NUMBERED.fullmatch(text)
    known = all_measures()
    for cls in (known[name] for name in CLASSES.get(kind, ())):
        if not more and cls().column == text:
            return cls()
        if numbered is not None and numbered["name"] == cls.name:
            found = _with_number(cls, numbered, more)
            if found is not None:
                return found
    return None


def _with_number(cls: type[Measure], numbered: re.Match[str], more: Mapping[str, str]) -> Measure | None:
    """Return a measure whose main parameter is the number behind its name, None where that is no such measure."""
    text = numbered["number"]
    number = int(text) if text.isdecimal() else float(text)
    try:
        found = cls(**{next(iter(cls.defaults())): number}, **more)
    except ValueError:
        return None
    return found if found.column.startswith(f"{cls.name}{numbered['mark']}") else None
