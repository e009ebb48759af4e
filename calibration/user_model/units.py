"""Parameters as a paper prints them: names, units and digits.

Units are hours, words a second, or characters. Files and `--format csv|json` keep the names of `calibration.user_model.model.PARAMETERS`
and all digits.
"""

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibration.user_model.model import LOG_SPEED, PARAMETERS, PATIENCE, QUANTILES, plain_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibration.user_model.model import ParameterEntry

LABELS = {
    "away_mean_seconds": "time away, mean",
    "away_sd_seconds": "time away, sd",
    "away_median_seconds": "time away, median",
    "away_quartile_low_seconds": "time away, lower quartile",
    "away_quartile_high_seconds": "time away, upper quartile",
    "session_mean_seconds": "session, mean",
    "session_sd_seconds": "session, sd",
    "session_median_seconds": "session, median",
    "session_quartile_low_seconds": "session, lower quartile",
    "session_quartile_high_seconds": "session, upper quartile",
    "away_session_correlation": "away with session, r",
    "reading_speed_mu": "reading speed, median",
    "reading_speed_sigma": "reading speed, ln sd",
    "lateness_decay": "lateness decay L",
    "lateness_p0": "of use in time, p0",
    "lateness_floor": "of use at any time",
    "patience_chars": "patience L",
    "patience_chars_preferences": "patience L by votes",
    "patience_chars_stops": "patience L by stops",
    "patience_chars_grid": "patience L by grid",
    "rbp_p": "persistence p of RBP",
    "push_P_E": "push weight P_E",
    "push_S_E": "push weight S_E",
    "push_P_0": "push weight P_0",
    "push_S_0": "push weight S_0",
    "push_alpha": "push weight alpha",
    "preference_fleiss_kappa": "judges, Fleiss' kappa",
    "preference_krippendorff_alpha": "judges, Krippendorff's alpha",
    "preference_fleiss_kappa_4": "four answers, Fleiss' kappa",
    "preference_krippendorff_alpha_4": "four answers, Krippendorff's alpha",
    "consistency_share": "repeats, share alike",
    "consistency_kappa": "repeats, kappa",
    "identical_share": "repeats, share of the same option",
    "identical_kappa": "repeats, kappa of the same option",
    "left_share": "share of left",
    "importance_weighted_kappa": "importance, weighted kappa",
    "importance_alpha": "importance, alpha",
    "importance_alpha_ordinal": "importance, ordinal alpha",
}
"""Printed names of the parameters, and of the measures of workers."""
IN_THE_FILE_ONLY = frozenset({"patience_chars_spread", "patience_chars_grid"}) | QUANTILES
"""Parameters that describe others, absent from tables for people.

The model and machine-readable output contain them.
"""
BY_SOURCE = ("patience_chars_preferences", "patience_chars_stops")
TIMES = (("days", 86_400.0, 3), ("h", 3_600.0, 2), ("min", 60.0, 2), ("s", 1.0, 0))
"""Units of time: name, seconds, and the smallest number of them to print."""
DIGITS = 3
MAX_DECIMALS, MAX_LOG = 3, 700.0
MAX_PRINTED = 1e9
"""Largest printed number in any unit; larger ones are bounds of the unidentified."""


@dataclass(frozen=True, slots=True)
class DisplayScale:
    """Unit and digits of one parameter in print.

    Attributes
    ----------
    unit : str
        Behind the estimate; empty for a share or a ratio.
    divisor : float
        Machine's units in one of ``unit``.
    is_log : bool
        The parameter is a logarithm, and its exponential is printed.
    decimals : int
        Digits after the point, of the estimate and of everything beside it.
    """

    unit: str
    divisor: float
    is_log: bool
    decimals: int

    def number(self, value: float | None) -> str:
        """Format a value without its unit: `1,041`, `.617`.

        None becomes `no bound`; a value that rounds to 0 becomes `below .001`, or as many digits as there
        are.
        """
        if value is None:
            return "no bound"
        number = self._read(value)
        if abs(number) >= MAX_PRINTED:
            return f"{'below -' if number < 0 else 'over '}{MAX_PRINTED:,.0f}"
        text = f"{number:,.{self.decimals}f}"
        if number and not text.strip("-0.,"):
            text = f"{'above -' if number < 0 else 'below '}{10.0**-self.decimals:.{self.decimals}f}"
        return re.sub(r"(?<![\d,])0\.", ".", text)

    def amount(self, value: float | None) -> str:
        """Format a value with its unit: `9.4 h`."""
        return f"{self.number(value)} {self.unit}".rstrip()

    def interval(self, interval: tuple[float | None, float | None]) -> str:
        """Format an interval, in words if an end is open."""
        low, high = interval
        if low is not None and high is not None:
            return f"{self.number(low)} to {self.number(high)}"
        if low == 0 and high is None:
            return "cannot be told"
        if low is None and high is None:
            return "no interval"
        return f"at least {self.number(low)}" if high is None else f"at most {self.number(high)}"

    def _read(self, value: float) -> float:
        return math.exp(min(value, MAX_LOG)) if self.is_log else value / self.divisor


def scales(parameters: "Mapping[str, ParameterEntry]") -> dict[str, DisplayScale]:
    """Return the scale of each parameter; times of one family share a unit.

    The unit is that of the family's first time.
    """
    display_scales: dict[str, DisplayScale] = {}
    units: dict[str, tuple[str, float]] = {}
    for name, entry in parameters.items():
        plain, typical = plain_name(name), _typical(entry)
        unit, divisor = _unit(plain, entry.unit), 1.0
        if plain.endswith("_seconds"):
            unit, divisor = units.setdefault(plain.partition("_")[0], _time_unit(typical))
        is_log = plain == LOG_SPEED
        size = abs(math.exp(typical) if is_log else typical / divisor)
        display_scales[name] = DisplayScale(unit, divisor, is_log, _decimals(size))
    return display_scales


def for_people(parameters: "Mapping[str, ParameterEntry]") -> "dict[str, ParameterEntry]":
    """Return the parameters of a table for people, without descriptive ones.

    A patience by source is left out where it equals `patience_chars`.
    """
    kept = {}
    for name, entry in parameters.items():
        plain = plain_name(name)
        patience = parameters.get(name.replace(plain, PATIENCE))
        is_patience = plain in BY_SOURCE and patience is not None and entry.estimate == patience.estimate
        if plain not in IN_THE_FILE_ONLY and not is_patience:
            kept[name] = entry
    return kept


def label(name: str, parameters: "Mapping[str, ParameterEntry]") -> str:
    """Return the name of a parameter in a paper, with language or source if needed.

    The label names the language of several, and says `by stops` of a patience without one by votes.
    """
    plain = plain_name(name)
    by_stops = plain == PATIENCE and name.replace(plain, BY_SOURCE[0]) not in parameters
    return f"{LABELS.get(plain, plain)}{name.removeprefix(plain)}{' by stops' if by_stops else ''}"


def other_laws(entry: "ParameterEntry", scale: DisplayScale) -> str:
    """Return the range of a parameter under other laws that the data leave open.

    For example: `8.1 (drop-outs) to 11.5 (tail)`.

    A law that prints the same number as the estimate is left out.
    """
    own, size = scale.number(entry.estimate), _size(entry.estimate)
    seen = [law for law in entry.sensitivity if scale.number(law.estimate) != own]
    below = [law for law in seen if _size(law.estimate) < size]
    above = [law for law in seen if _size(law.estimate) > size]
    lowest = min(below, key=lambda law: _size(law.estimate), default=None)
    highest = max(above, key=lambda law: _size(law.estimate), default=None)
    ends = [f"{scale.number(law.estimate)} ({law.law})" for law in (lowest, highest) if law]
    return " to ".join(ends) if len(ends) != 1 else f"{'to' if highest else 'from'} {ends[0]}"


def _size(value: float | None) -> float:
    return math.inf if value is None else value


def _typical(entry: "ParameterEntry") -> float:
    """Return the estimate, or a finite end of the interval if it is infinite."""
    known = (entry.estimate, *entry.interval)
    return next((value for value in known if value is not None and math.isfinite(value)), 1.0)


def _unit(plain: str, of_file: str) -> str:
    if plain == LOG_SPEED:
        return "chars/s" if "char" in of_file else "words/s"
    return "chars" if PARAMETERS.get(plain) == "counted characters" else ""


def _time_unit(seconds: float) -> tuple[str, float]:
    return next((unit, size) for unit, size, least in TIMES if seconds >= least * size)


def _decimals(size: float) -> int:
    """Return the digits after the point for `DIGITS` significant ones."""
    if size == 0:
        return DIGITS - 1
    return min(MAX_DECIMALS, max(0, DIGITS - 1 - math.floor(math.log10(size))))
